#include <stdlib.h>

#include "formula_state.h"
#include "symbol_table.h"

const char *tmaring__shape_text(tmaring_shape shape)
{
  static const char *const text[] = {"[]", "[N]", "[M]", "[M,N]"};
  return text[shape];
}

int tmaring__shape_has_columns(tmaring_shape shape)
{
  return (shape & TMARING_SHAPE_ROW) != 0;
}

static int compares(tmaring__syntax kind)
{
  return kind >= TMARING__SYNTAX_LT && kind <= TMARING__SYNTAX_NE;
}

static tmaring_status need_number(const tmaring_formula *formula, const tmaring__syntax_node *node, int32_t operand)
{
  const tmaring__syntax_node *argument = &formula->tree.node[node->arg[operand]];
  if (!argument->condition) return TMARING_OK;
  return tmaring__place_fail(&formula->source, TMARING_ERROR_TYPE, argument->offset,
                             "operand %d of %s: got a condition, needs a number; write where(condition, 1, 0)",
                             (int)operand + 1, tmaring__syntax_text(node->kind));
}

static tmaring_status need_condition(const tmaring_formula *formula, const tmaring__syntax_node *node)
{
  const tmaring__syntax_node *argument = &formula->tree.node[node->arg[0]];
  if (argument->condition) return TMARING_OK;
  return tmaring__place_fail(
      &formula->source, TMARING_ERROR_TYPE, argument->offset,
      "operand 1 of where: got a number, needs a condition; compare it, as in where(a != 0, b, c)");
}

static tmaring_status check_kinds(const tmaring_formula *formula, const tmaring__syntax_node *node)
{
  const int chooses = node->kind == TMARING__SYNTAX_WHERE;
  if (chooses) TMARING__TRY(need_condition(formula, node));
  for (int32_t i = chooses; i < 3 && node->arg[i] >= 0; ++i) TMARING__TRY(need_number(formula, node, i));
  return TMARING_OK;
}

/* [M] with [N] makes [M,N], and a scalar goes with everything: the shapes' bits are what a value depends on. */
static tmaring_status infer_shape(const tmaring_formula *formula, tmaring__syntax_node *node)
{
  unsigned shape = TMARING_SHAPE_SCALAR;
  for (int i = 0; i < 3 && node->arg[i] >= 0; ++i) shape |= (unsigned)formula->tree.node[node->arg[i]].shape;
  node->shape = (tmaring_shape)shape;
  if (!tmaring__syntax_reduces(node->kind)) return TMARING_OK;
  const char *name = tmaring__syntax_text(node->kind);
  if (!tmaring__shape_has_columns(node->shape))
    return tmaring__place_fail(
        &formula->source, TMARING_ERROR_SHAPE, node->offset,
        "%s over the row: got %s, needs a value per column, [M,N] or [N]; this is one value per %s, "
        "use it as it is",
        name, tmaring__shape_text(node->shape), node->shape == TMARING_SHAPE_COLUMN ? "row" : "launch");
  node->shape = TMARING_SHAPE_COLUMN;
  return TMARING_OK;
}

static tmaring_status type_name(tmaring_formula *formula, tmaring__syntax_node *node)
{
  TMARING__TRY(tmaring__symbol_resolve(formula, node));
  const tmaring__symbol *symbol = &formula->symbol[node->symbol];
  node->shape = symbol->shape;
  node->condition = symbol->kind == TMARING__SYMBOL_ASSIGNED && formula->tree.node[symbol->root].condition;
  return TMARING_OK;
}

static tmaring_status type_node(tmaring_formula *formula, tmaring__syntax_node *node)
{
  if (node->kind == TMARING__SYNTAX_NAME) return type_name(formula, node);
  TMARING__TRY(check_kinds(formula, node));
  node->condition = compares(node->kind);
  return infer_shape(formula, node);
}

static tmaring_status type_statements(tmaring_formula *formula)
{
  for (int32_t i = 0; i < formula->tree.statement_count; ++i) {
    const tmaring__statement *statement = &formula->tree.statement[i];
    for (int32_t node = statement->first; node <= statement->root; ++node)
      TMARING__TRY(type_node(formula, &formula->tree.node[node]));
    TMARING__TRY(tmaring__symbol_add_assigned(formula, statement));
  }
  return TMARING_OK;
}

static void add_tensor(tmaring_formula *formula, int32_t symbol, int32_t is_output, tmaring_shape shape, int32_t index)
{
  static const tmaring__slot_kind inputs[4] = {TMARING__SLOT_INPUT, TMARING__SLOT_VECTOR, TMARING__SLOT_ROW_SCALAR,
                                               TMARING__SLOT_INPUT};
  tmaring__formula_tensor *tensor = &formula->tensor[formula->tensor_count++];
  tensor->symbol = symbol;
  tensor->is_output = is_output;
  tensor->shape = shape;
  tensor->slot.index = index;
  tensor->slot.kind = !is_output                      ? inputs[shape]
                      : shape == TMARING_SHAPE_COLUMN ? TMARING__SLOT_ROW_OUTPUT
                                                      : TMARING__SLOT_OUTPUT;
}

static tmaring_status list_parameter(tmaring_formula *formula, int32_t index)
{
  const tmaring__symbol *symbol = &formula->symbol[index];
  if (symbol->reads == 0)
    return tmaring__place_fail(&formula->source, TMARING_ERROR_SYNTAX, symbol->offset,
                               "%s is declared but never used; use it or take it out of the header", symbol->name);
  if (symbol->shape == TMARING_SHAPE_SCALAR)
    formula->scalar[formula->scalar_count++] = index;
  else
    add_tensor(formula, index, 0, symbol->shape, symbol->index);
  return TMARING_OK;
}

static tmaring_status list_output(tmaring_formula *formula, int32_t index)
{
  const tmaring__symbol *symbol = &formula->symbol[index];
  const int per_row = symbol->shape == TMARING_SHAPE_COLUMN;
  const tmaring_shape shape = per_row ? TMARING_SHAPE_COLUMN : TMARING_SHAPE_MATRIX;
  const int32_t most = per_row ? TMARING_MAX_VECTORS : TMARING_MAX_STREAMS;
  if (formula->tree.node[symbol->root].condition)
    return tmaring__place_fail(&formula->source, TMARING_ERROR_TYPE, symbol->offset,
                               "output %s: got a condition, needs a number; write %s = where(condition, 1, 0)",
                               symbol->name, symbol->name);
  if (formula->output_count[shape] == most)
    return tmaring__place_fail(&formula->source, TMARING_ERROR_CAPACITY, symbol->offset,
                               "%s outputs: got %d with %s, needs at most %d; split the formula",
                               tmaring__shape_text(shape), (int)most + 1, symbol->name, (int)most);
  add_tensor(formula, index, 1, shape, formula->output_count[shape]++);
  return TMARING_OK;
}

static tmaring_status list_parameters(tmaring_formula *formula)
{
  for (int32_t i = 0; i < formula->symbol_count; ++i)
    if (formula->symbol[i].kind == TMARING__SYMBOL_PARAMETER) TMARING__TRY(list_parameter(formula, i));
  if (formula->parameter_count[TMARING_SHAPE_MATRIX] > 0) return TMARING_OK;
  return tmaring__place_fail(&formula->source, TMARING_ERROR_UNSUPPORTED, formula->tree.statement[0].word.offset,
                             "[M,N] inputs: got none, needs at least one to stream; a bare name or x[M,N] makes one");
}

static tmaring_status list_outputs(tmaring_formula *formula)
{
  for (int32_t i = 0; i < formula->symbol_count; ++i) {
    const tmaring__symbol *symbol = &formula->symbol[i];
    if (symbol->kind == TMARING__SYMBOL_ASSIGNED && (symbol->reads == 0 || symbol->out))
      TMARING__TRY(list_output(formula, i));
  }
  return TMARING_OK;
}

tmaring_status tmaring__typing_run(tmaring_formula *formula)
{
  formula->symbol = calloc((size_t)formula->tree.statement_count + TMARING__MAX_PARAMETERS, sizeof *formula->symbol);
  if (!formula->symbol) return tmaring__fail(TMARING_ERROR_MEMORY, "formula: got no memory for its names; free some");
  TMARING__TRY(tmaring__symbol_add_declared(formula));
  TMARING__TRY(type_statements(formula));
  TMARING__TRY(list_parameters(formula));
  return list_outputs(formula);
}

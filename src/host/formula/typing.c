/* Names, shapes and kinds of every node. */
#include <stdlib.h>

#include "formula_state.h"
#include "symbol_table.h"

static int compares(tmaring__syntax kind)
{
  return kind >= TMARING__SYNTAX_LT && kind <= TMARING__SYNTAX_NE;
}

static tmaring_status need_number(const tmaring_formula *formula, const tmaring__syntax_node *node, int32_t operand)
{
  const tmaring__syntax_node *argument = &formula->tree.node[node->arg[operand]];
  const int32_t place = operand + 1 + (node->kind == TMARING__SYNTAX_CAST || node->kind == TMARING__SYNTAX_CAST_AS);
  if (!argument->condition) return TMARING_OK;
  return tmaring__place_fail(&formula->source, TMARING_ERROR_TYPE, argument->offset,
                             "operand %d of %s: got a condition, needs a number; write where(condition, 1, 0)",
                             (int)place, tmaring__syntax_text(node->kind));
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

/* What all reductions need. */
static tmaring_status need_columns(const tmaring_formula *formula, const tmaring__syntax_node *node, const char *over)
{
  if (tmaring__dims_have_columns(node->dims)) return TMARING_OK;
  return tmaring__place_fail(
      &formula->source, TMARING_ERROR_SHAPE, node->offset,
      "%s over %s: got %s, needs a value per column, [M,N], [N] or [M,N/k]; this is one value per %s, use it as it is",
      tmaring__syntax_text(node->kind), over, tmaring__dims_text(node->dims),
      node->dims.shape == TMARING_SHAPE_COLUMN ? "row" : "launch");
}

static void join_operands(const tmaring_formula *formula, tmaring__syntax_node *node)
{
  const tmaring__dims scalar = {TMARING_SHAPE_SCALAR, 0};
  node->dims = scalar;
  for (int i = 0; i < 3 && node->arg[i] >= 0; ++i) {
    const tmaring__syntax_node *argument = &formula->tree.node[node->arg[i]];
    node->dims = tmaring__dims_join(node->dims, argument->dims);
    node->reduced |= argument->reduced;
  }
}

static void set_dims(tmaring__syntax_node *node, tmaring_shape shape, int32_t group_cols)
{
  node->dims.shape = shape;
  node->dims.group_cols = group_cols;
}

static tmaring_status type_operation(const tmaring_formula *formula, tmaring__syntax_node *node)
{
  const tmaring__syntax kind = node->kind;
  TMARING__TRY(check_kinds(formula, node));
  join_operands(formula, node);
  node->condition = compares(kind);
  if (tmaring__syntax_reduces_row(kind)) {
    TMARING__TRY(need_columns(formula, node, "the row"));
    set_dims(node, TMARING_SHAPE_COLUMN, 0);
    node->reduced = 1;
  } else if (tmaring__syntax_reduces_group(kind)) {
    TMARING__TRY(need_columns(formula, node, "groups of columns"));
    set_dims(node, TMARING_SHAPE_GROUP, node->index);
  } else if (tmaring__syntax_reduces_column(kind)) {
    TMARING__TRY(need_columns(formula, node, "the rows"));
    set_dims(node, TMARING_SHAPE_ROW, 0);
  }
  return TMARING_OK;
}

static tmaring_status fail_double(const tmaring_formula *formula, const tmaring__syntax_node *node)
{
  const char *name = formula->symbol[node->symbol].name;
  return tmaring__place_fail(
      &formula->source, TMARING_ERROR_SHAPE, node->offset,
      "%s: got %s[M,2N] as a whole, needs a part of N columns; write first(%s) and second(%s) for "
      "its halves, or even(%s) and odd(%s) for every other column",
      name, name, name, name, name, name);
}

static tmaring_status type_name(tmaring_formula *formula, tmaring__syntax_node *node)
{
  TMARING__TRY(tmaring__symbol_resolve(formula, node));
  tmaring__symbol *symbol = &formula->symbol[node->symbol];
  if (symbol->dims.shape == TMARING_SHAPE_DOUBLE) return fail_double(formula, node);
  ++symbol->reads;
  node->dims = symbol->dims;
  if (symbol->kind != TMARING__SYMBOL_ASSIGNED) return TMARING_OK;
  node->condition = formula->tree.node[symbol->root].condition;
  node->reduced = formula->tree.node[symbol->root].reduced;
  return TMARING_OK;
}

/* A parameter is read by halves or by even and odd columns: its stream is laid out for one of them. */
static tmaring_status check_manner(const tmaring_formula *formula, const tmaring__syntax_node *node)
{
  const tmaring__symbol *symbol = &formula->symbol[node->symbol];
  int32_t line, column;
  if (symbol->halves == 0 || symbol->interleaved == 0) return TMARING_OK;
  const int halves_first = symbol->halves < symbol->interleaved;
  tmaring__place_find(&formula->source, (halves_first ? symbol->halves : symbol->interleaved) - 1, &line, &column);
  return tmaring__place_fail(
      &formula->source, TMARING_ERROR_SHAPE, node->offset,
      "%s(%s): %s is read by %s since line %d, column %d, and an input is read in one manner; use "
      "%s, or give it as two inputs",
      tmaring__syntax_text(node->kind), symbol->name, symbol->name, halves_first ? "halves" : "even and odd columns",
      (int)line, (int)column, halves_first ? "first and second" : "even and odd");
}

/* first(x), second(x), even(x), odd(x) */
static tmaring_status type_part(tmaring_formula *formula, tmaring__syntax_node *node)
{
  TMARING__TRY(tmaring__symbol_resolve(formula, node));
  tmaring__symbol *symbol = &formula->symbol[node->symbol];
  const int halves = node->kind == TMARING__SYNTAX_FIRST || node->kind == TMARING__SYNTAX_SECOND;
  if (symbol->kind != TMARING__SYMBOL_PARAMETER || symbol->dims.shape != TMARING_SHAPE_DOUBLE)
    return tmaring__place_fail(&formula->source, TMARING_ERROR_SHAPE, node->word.offset,
                               "%s: got %s%s, needs an input [M,2N]; declare one in the header, or write %s(x[M,2N])",
                               tmaring__syntax_text(node->kind), symbol->name, tmaring__dims_text(symbol->dims),
                               tmaring__syntax_text(node->kind));
  int32_t *first_read = halves ? &symbol->halves : &symbol->interleaved;
  if (*first_read == 0) *first_read = node->offset + 1;
  ++symbol->reads;
  set_dims(node, TMARING_SHAPE_MATRIX, 0);
  return check_manner(formula, node);
}

/* cast(x, a): x says the type alone, which is no reading of it. */
static tmaring_status type_cast_as(tmaring_formula *formula, tmaring__syntax_node *node)
{
  TMARING__TRY(type_operation(formula, node));
  TMARING__TRY(tmaring__symbol_resolve(formula, node));
  tmaring__symbol *symbol = &formula->symbol[node->symbol];
  ++symbol->casts;
  if (symbol->kind == TMARING__SYMBOL_PARAMETER &&
      (symbol->dims.shape == TMARING_SHAPE_MATRIX || symbol->dims.shape == TMARING_SHAPE_DOUBLE))
    return TMARING_OK;
  return tmaring__place_fail(&formula->source, TMARING_ERROR_TYPE, node->word.offset,
                             "cast: got %s, %s%s, needs a type (f32, f16, bf16, f64, e4m3, e5m2, i8, i32) or an input "
                             "[M,N] or [M,2N], whose type it takes",
                             symbol->name, symbol->kind == TMARING__SYMBOL_PARAMETER ? "an input " : "assigned, ",
                             tmaring__dims_text(symbol->dims));
}

static tmaring_status check_label(const tmaring_formula *formula, const tmaring__syntax_node *label, const char *input)
{
  if (tmaring__dims_have_columns(label->dims))
    return tmaring__place_fail(
        &formula->source, TMARING_ERROR_SHAPE, label->offset,
        "label of %s: got %s, needs one column number per row, [M]; a bare name is [M,N] until its "
        "shape is given, so write %s[label[M]] or declare it",
        input, tmaring__dims_text(label->dims), input);
  if (!label->reduced) return TMARING_OK;
  return tmaring__place_fail(&formula->source, TMARING_ERROR_UNSUPPORTED, label->offset,
                             "label of %s: got a value that needs the row to be read first, needs one that is known "
                             "before; for the value at argmax(a) write max(a)",
                             input);
}

static tmaring_status type_gather(tmaring_formula *formula, tmaring__syntax_node *node)
{
  TMARING__TRY(check_kinds(formula, node));
  TMARING__TRY(tmaring__symbol_resolve(formula, node));
  tmaring__symbol *symbol = &formula->symbol[node->symbol];
  if (symbol->kind != TMARING__SYMBOL_PARAMETER || symbol->dims.shape != TMARING_SHAPE_MATRIX)
    return tmaring__place_fail(
        &formula->source, TMARING_ERROR_SHAPE, node->word.offset,
        "%s[label]: %s is %s%s, needs an input [M,N]; only inputs are read at a column of choice", symbol->name,
        symbol->name, symbol->kind == TMARING__SYMBOL_PARAMETER ? "an input " : "assigned, ",
        tmaring__dims_text(symbol->dims));
  ++symbol->reads;
  set_dims(node, TMARING_SHAPE_COLUMN, 0);
  node->reduced = 1;
  return check_label(formula, &formula->tree.node[node->arg[0]], symbol->name);
}

static tmaring_status type_node(tmaring_formula *formula, tmaring__syntax_node *node)
{
  switch (node->kind) {
  case TMARING__SYNTAX_NAME: return type_name(formula, node);
  case TMARING__SYNTAX_GATHER: return type_gather(formula, node);
  case TMARING__SYNTAX_CAST_AS: return type_cast_as(formula, node);
  case TMARING__SYNTAX_COL: set_dims(node, TMARING_SHAPE_ROW, 0); return TMARING_OK;
  case TMARING__SYNTAX_ROW: set_dims(node, TMARING_SHAPE_COLUMN, 0); return TMARING_OK;
  default: return tmaring__syntax_reads_double(node->kind) ? type_part(formula, node) : type_operation(formula, node);
  }
}

static tmaring_status type_statement(tmaring_formula *formula, const tmaring__statement *statement)
{
  for (int32_t i = statement->first; i <= statement->root; ++i) {
    tmaring__syntax_node *node = &formula->tree.node[i];
    TMARING__TRY(type_node(formula, node));
    if (i != statement->root && tmaring__syntax_reduces_column(node->kind))
      return tmaring__place_fail(&formula->source, TMARING_ERROR_SYNTAX, node->offset,
                                 "%s over the rows: got it as a part of an expression, needs a statement of its own, "
                                 "name = %s(a); its value is there only when all rows are over",
                                 tmaring__syntax_text(node->kind), tmaring__syntax_text(node->kind));
  }
  return tmaring__symbol_add_assigned(formula, statement);
}

tmaring_status tmaring__typing_run(tmaring_formula *formula)
{
  formula->symbol = calloc((size_t)formula->tree.statement_count + TMARING__MAX_PARAMETERS, sizeof *formula->symbol);
  if (!formula->symbol) return tmaring__fail(TMARING_ERROR_MEMORY, "formula: got no memory for its names; free some");
  TMARING__TRY(tmaring__symbol_add_declared(formula));
  for (int32_t i = 0; i < formula->tree.statement_count; ++i)
    TMARING__TRY(type_statement(formula, &formula->tree.statement[i]));
  return TMARING_OK;
}

/* Syntax tree to program: names become the nodes they stand for, equal nodes become one, constants are folded, and what
 * no output needs is left out. Nothing is reassociated, so fp32 results are those of the text as written. */
#include <stdlib.h>
#include <string.h>

#include "formula_state.h"

typedef struct lowering {
  const tmaring_formula *formula;
  tmaring__node *node; /* every node made, reachable or not */
  int32_t *origin;     /* its place in the text */
  int32_t node_count;
  int32_t *lowered; /* syntax node -> node */
} lowering;

/* A syntax node makes at most three nodes (a mean), a name none. */
enum { NODES_PER_SYNTAX_NODE = 3 };

/* Bits, not values: 0 and -0 are two constants, and a NaN is itself. */
static int same_node(const tmaring__node *a, const tmaring__node *b)
{
  return a->op == b->op && a->index == b->index && memcmp(a->arg, b->arg, sizeof a->arg) == 0 &&
         memcmp(&a->value, &b->value, sizeof a->value) == 0;
}

static int reduces(tmaring__op op)
{
  return op == TMARING__OP_REDUCE_SUM || op == TMARING__OP_REDUCE_MAX || op == TMARING__OP_REDUCE_MIN;
}

static void place_node(const lowering *l, tmaring__node *made)
{
  made->per_col = made->op == TMARING__OP_INPUT || made->op == TMARING__OP_VECTOR;
  made->level = 0;
  for (int i = 0; i < 3 && made->arg[i] >= 0; ++i) {
    const tmaring__node *argument = &l->node[made->arg[i]];
    made->per_col |= argument->per_col;
    if (argument->level > made->level) made->level = argument->level;
  }
  if (!reduces(made->op)) return;
  made->per_col = 0;
  ++made->level;
}

static int32_t add_node(lowering *l, tmaring__node made, int32_t origin)
{
  for (int32_t i = 0; i < l->node_count; ++i)
    if (same_node(&l->node[i], &made)) return i;
  place_node(l, &made);
  l->node[l->node_count] = made;
  l->origin[l->node_count] = origin;
  return l->node_count++;
}

static int32_t add_leaf(lowering *l, tmaring__op op, int32_t index, float value, int32_t origin)
{
  const tmaring__node made = {.op = op, .arg = {-1, -1, -1}, .index = index, .value = value};
  return add_node(l, made, origin);
}

/* fp32 as the backends would compute it. A separate variable per step: no excess precision, no contraction. */
static int fold(tmaring__op op, float a, float b, float *value)
{
  switch (op) {
  case TMARING__OP_ADD: *value = a + b; return 1;
  case TMARING__OP_SUB: *value = a - b; return 1;
  case TMARING__OP_MUL: *value = a * b; return 1;
  case TMARING__OP_DIV: *value = a / b; return 1;
  case TMARING__OP_NEG: *value = -a; return 1;
  default: return 0;
  }
}

static int32_t add_operation(lowering *l, tmaring__op op, const int32_t arg[3], int32_t origin)
{
  const tmaring__node made = {.op = op, .arg = {arg[0], arg[1], arg[2]}};
  const tmaring__node *a = &l->node[arg[0]];
  const tmaring__node *b = arg[1] >= 0 ? &l->node[arg[1]] : a;
  float value;
  if (a->op == TMARING__OP_CONSTANT && b->op == TMARING__OP_CONSTANT && fold(op, a->value, b->value, &value))
    return add_leaf(l, TMARING__OP_CONSTANT, 0, value, origin);
  return add_node(l, made, origin);
}

static tmaring__op operation(tmaring__syntax kind)
{
  static const tmaring__op op[TMARING__SYNTAX_COUNT] = {
      [TMARING__SYNTAX_ADD] = TMARING__OP_ADD,
      [TMARING__SYNTAX_SUB] = TMARING__OP_SUB,
      [TMARING__SYNTAX_MUL] = TMARING__OP_MUL,
      [TMARING__SYNTAX_DIV] = TMARING__OP_DIV,
      [TMARING__SYNTAX_NEG] = TMARING__OP_NEG,
      [TMARING__SYNTAX_LT] = TMARING__OP_LT,
      [TMARING__SYNTAX_LE] = TMARING__OP_LE,
      [TMARING__SYNTAX_GT] = TMARING__OP_GT,
      [TMARING__SYNTAX_GE] = TMARING__OP_GE,
      [TMARING__SYNTAX_EQ] = TMARING__OP_EQ,
      [TMARING__SYNTAX_NE] = TMARING__OP_NE,
      [TMARING__SYNTAX_WHERE] = TMARING__OP_WHERE,
      [TMARING__SYNTAX_ABS] = TMARING__OP_ABS,
      [TMARING__SYNTAX_MIN] = TMARING__OP_MIN,
      [TMARING__SYNTAX_MAX] = TMARING__OP_MAX,
      [TMARING__SYNTAX_EXP] = TMARING__OP_EXP,
      [TMARING__SYNTAX_LOG] = TMARING__OP_LOG,
      [TMARING__SYNTAX_SQRT] = TMARING__OP_SQRT,
      [TMARING__SYNTAX_RSQRT] = TMARING__OP_RSQRT,
      [TMARING__SYNTAX_TANH] = TMARING__OP_TANH,
      [TMARING__SYNTAX_SIGMOID] = TMARING__OP_SIGMOID,
      [TMARING__SYNTAX_ROW_SUM] = TMARING__OP_REDUCE_SUM,
      [TMARING__SYNTAX_ROW_MEAN] = TMARING__OP_REDUCE_SUM,
      [TMARING__SYNTAX_ROW_MAX] = TMARING__OP_REDUCE_MAX,
      [TMARING__SYNTAX_ROW_MIN] = TMARING__OP_REDUCE_MIN,
  };
  return op[kind];
}

static int32_t lower_name(lowering *l, const tmaring__syntax_node *node)
{
  static const tmaring__op leaf[4] = {TMARING__OP_SCALAR, TMARING__OP_VECTOR, TMARING__OP_ROW_SCALAR,
                                      TMARING__OP_INPUT};
  const tmaring__symbol *symbol = &l->formula->symbol[node->symbol];
  if (symbol->kind == TMARING__SYMBOL_ASSIGNED) return l->lowered[symbol->root];
  return add_leaf(l, leaf[symbol->shape], symbol->index, 0, node->offset);
}

static int32_t lower_node(lowering *l, const tmaring__syntax_node *node)
{
  int32_t arg[3];
  for (int i = 0; i < 3; ++i) arg[i] = node->arg[i] < 0 ? -1 : l->lowered[node->arg[i]];
  switch (node->kind) {
  case TMARING__SYNTAX_NAME: return lower_name(l, node);
  case TMARING__SYNTAX_NUMBER: return add_leaf(l, TMARING__OP_CONSTANT, 0, (float)node->number, node->offset);
  case TMARING__SYNTAX_COLUMNS: return add_leaf(l, TMARING__OP_COLUMNS, 0, 0, node->offset);
  default: break;
  }
  const int32_t made = add_operation(l, operation(node->kind), arg, node->offset);
  if (node->kind != TMARING__SYNTAX_ROW_MEAN) return made;
  const int32_t division[3] = {made, add_leaf(l, TMARING__OP_COLUMNS, 0, 0, node->offset), -1};
  return add_operation(l, TMARING__OP_DIV, division, node->offset);
}

/* Marks what the outputs need. Operands come before their uses, so one walk backwards reaches everything. */
static void mark(const lowering *l, int32_t *kept)
{
  const tmaring_formula *formula = l->formula;
  for (int32_t i = 0; i < formula->tensor_count; ++i)
    if (formula->tensor[i].is_output) kept[l->lowered[formula->symbol[formula->tensor[i].symbol].root]] = 1;
  for (int32_t i = l->node_count - 1; i >= 0; --i)
    for (int a = 0; kept[i] && a < 3 && l->node[i].arg[a] >= 0; ++a) kept[l->node[i].arg[a]] = 1;
}

/* Copies what is kept into the program. kept[i] becomes the node's number there, -1 for the rest. */
static tmaring_status compact(const lowering *l, int32_t *kept, tmaring__program *program)
{
  for (int32_t i = 0; i < l->node_count; ++i) {
    if (!kept[i]) {
      kept[i] = -1;
      continue;
    }
    if (program->node_count == TMARING__MAX_NODES)
      return tmaring__place_fail(&l->formula->source, TMARING_ERROR_CAPACITY, l->origin[i],
                                 "operations: got more than %d, needs at most as many; split the formula",
                                 TMARING__MAX_NODES);
    tmaring__node *node = &program->node[program->node_count];
    *node = l->node[i];
    for (int a = 0; a < 3 && node->arg[a] >= 0; ++a) node->arg[a] = kept[node->arg[a]];
    kept[i] = program->node_count++;
  }
  return TMARING_OK;
}

/* Reduction passes, and the reductions of each, against the limits. */
static tmaring_status count_passes(const lowering *l, const int32_t *kept, tmaring__program *program)
{
  int32_t count[TMARING_MAX_PASSES] = {0};
  for (int32_t i = 0; i < l->node_count; ++i) {
    const tmaring__node *node = &l->node[i];
    if (kept[i] < 0 || !reduces(node->op)) continue;
    if (node->level > TMARING_MAX_PASSES - 1)
      return tmaring__place_fail(
          &l->formula->source, TMARING_ERROR_CAPACITY, l->origin[i],
          "reductions that need one another's results: got %d, needs at most %d; split the formula", (int)node->level,
          TMARING_MAX_PASSES - 1);
    if (++count[node->level - 1] > TMARING_MAX_REDUCTIONS)
      return tmaring__place_fail(&l->formula->source, TMARING_ERROR_CAPACITY, l->origin[i],
                                 "reductions in pass %d over the row: got %d, needs at most %d; split the formula",
                                 (int)node->level - 1, (int)count[node->level - 1], TMARING_MAX_REDUCTIONS);
    if (node->level > program->reduction_passes) program->reduction_passes = node->level;
  }
  return TMARING_OK;
}

static void set_outputs(const lowering *l, const int32_t *kept, tmaring__program *program)
{
  const tmaring_formula *formula = l->formula;
  for (int32_t i = 0; i < formula->tensor_count; ++i) {
    const tmaring__formula_tensor *tensor = &formula->tensor[i];
    if (!tensor->is_output) continue;
    const int32_t node = kept[l->lowered[formula->symbol[tensor->symbol].root]];
    if (tensor->slot.kind == TMARING__SLOT_OUTPUT)
      program->output[tensor->slot.index] = node;
    else
      program->row_output[tensor->slot.index] = node;
  }
  program->output_count = formula->output_count[TMARING_SHAPE_MATRIX];
  program->row_output_count = formula->output_count[TMARING_SHAPE_COLUMN];
  program->input_count = formula->parameter_count[TMARING_SHAPE_MATRIX];
  program->vector_count = formula->parameter_count[TMARING_SHAPE_ROW];
  program->row_scalar_count = formula->parameter_count[TMARING_SHAPE_COLUMN];
  program->scalar_count = formula->parameter_count[TMARING_SHAPE_SCALAR];
  program->passes = program->reduction_passes + (program->output_count > 0);
}

static tmaring_status lower(lowering *l, int32_t *kept, tmaring__program *program)
{
  for (int32_t i = 0; i < l->formula->tree.node_count; ++i) l->lowered[i] = lower_node(l, &l->formula->tree.node[i]);
  mark(l, kept);
  TMARING__TRY(compact(l, kept, program));
  TMARING__TRY(count_passes(l, kept, program));
  set_outputs(l, kept, program);
  return TMARING_OK;
}

tmaring_status tmaring__lowering_run(tmaring_formula *formula)
{
  const size_t syntax_nodes = (size_t)formula->tree.node_count, most = NODES_PER_SYNTAX_NODE * syntax_nodes;
  lowering l = {.formula = formula};
  l.node = malloc(most * sizeof *l.node);
  l.origin = malloc(most * sizeof *l.origin);
  l.lowered = malloc(syntax_nodes * sizeof *l.lowered);
  int32_t *kept = calloc(most, sizeof *kept);
  const tmaring_status status =
      l.node && l.origin && l.lowered && kept
          ? lower(&l, kept, &formula->program)
          : tmaring__fail(TMARING_ERROR_MEMORY, "formula: got no memory to lower it; free some");
  free(l.node);
  free(l.origin);
  free(l.lowered);
  free(kept);
  return status;
}

/* Syntax tree to nodes: names become the nodes they stand for. Nothing is reassociated, so results are those of the
 * text as written. */
#include <stdlib.h>

#include "assembly.h"
#include "formula_state.h"

typedef struct lowering {
  const tmaring_formula *formula;
  tmaring__node_table table;
  int32_t *lowered; /* syntax node -> node */
} lowering;

/* A syntax node makes at most four nodes (a logsumexp), a name of a statement none. */
enum { NODES_PER_SYNTAX_NODE = 4 };

/* sum(exp(a - max(a))) of the very same a needs the row once: running maximum and sum. */
static int32_t add_sum(lowering *l, int32_t a, int32_t origin)
{
  const tmaring__node *power = &l->table.node[a];
  if (power->op == TMARING__OP_EXP && l->table.node[power->arg[0]].op == TMARING__OP_SUB) {
    const tmaring__node *below = &l->table.node[power->arg[0]], *high = &l->table.node[below->arg[1]];
    if (high->op == TMARING__OP_REDUCE_MAX && high->arg[0] == below->arg[0])
      return tmaring__node_unary(&l->table, TMARING__OP_REDUCE_EXPSUM, below->arg[0], origin);
  }
  return tmaring__node_unary(&l->table, TMARING__OP_REDUCE_SUM, a, origin);
}

static int32_t lower_name(lowering *l, const tmaring__syntax_node *node)
{
  static const tmaring__op leaf[TMARING__SHAPES] = {[TMARING_SHAPE_SCALAR] = TMARING__OP_SCALAR,
                                                    [TMARING_SHAPE_ROW] = TMARING__OP_VECTOR,
                                                    [TMARING_SHAPE_COLUMN] = TMARING__OP_ROW_SCALAR,
                                                    [TMARING_SHAPE_MATRIX] = TMARING__OP_INPUT,
                                                    [TMARING_SHAPE_GROUP] = TMARING__OP_GROUP_SCALE};
  const tmaring__symbol *symbol = &l->formula->symbol[node->symbol];
  if (symbol->kind == TMARING__SYMBOL_ASSIGNED) return l->lowered[symbol->root];
  return tmaring__node_leaf(&l->table, leaf[symbol->dims.shape], symbol->index, 0, node->offset);
}

/* The op of what is lowered to one operation of the same operands; TMARING__OP_COUNT for the rest. */
static tmaring__op operation(tmaring__syntax kind)
{
  switch (kind) {
#define LOWERS_TO(op)                                                                                                  \
  case TMARING__SYNTAX_##op: return TMARING__OP_##op;
    LOWERS_TO(ADD)
    LOWERS_TO(SUB)
    LOWERS_TO(MUL)
    LOWERS_TO(DIV)
    LOWERS_TO(NEG)
    LOWERS_TO(LT)
    LOWERS_TO(LE)
    LOWERS_TO(GT)
    LOWERS_TO(GE)
    LOWERS_TO(EQ)
    LOWERS_TO(NE)
    LOWERS_TO(WHERE)
    LOWERS_TO(ABS)
    LOWERS_TO(MIN)
    LOWERS_TO(MAX)
    LOWERS_TO(EXP)
    LOWERS_TO(LOG)
    LOWERS_TO(SQRT)
    LOWERS_TO(RSQRT)
    LOWERS_TO(TANH)
    LOWERS_TO(SIGMOID)
    LOWERS_TO(ERF)
    LOWERS_TO(ROUND)
#undef LOWERS_TO
  default: return TMARING__OP_COUNT;
  }
}

static int32_t lower_leaf(lowering *l, const tmaring__syntax_node *node)
{
  const int32_t stream = node->symbol >= 0 ? l->formula->symbol[node->symbol].index : 0, origin = node->offset;
  switch (node->kind) {
  case TMARING__SYNTAX_NAME: return lower_name(l, node);
  case TMARING__SYNTAX_NUMBER: return tmaring__node_leaf(&l->table, TMARING__OP_CONSTANT, 0, node->number, origin);
  case TMARING__SYNTAX_COLUMNS: return tmaring__node_leaf(&l->table, TMARING__OP_COLUMNS, 0, 0, origin);
  case TMARING__SYNTAX_ROWS: return tmaring__node_leaf(&l->table, TMARING__OP_ROWS, 0, 0, origin);
  case TMARING__SYNTAX_COL: return tmaring__node_leaf(&l->table, TMARING__OP_COL, 0, 0, origin);
  case TMARING__SYNTAX_ROW: return tmaring__node_leaf(&l->table, TMARING__OP_ROW, 0, 0, origin);
  case TMARING__SYNTAX_FIRST: return tmaring__node_leaf(&l->table, TMARING__OP_INPUT, stream, 0, origin);
  case TMARING__SYNTAX_SECOND: return tmaring__node_leaf(&l->table, TMARING__OP_INPUT, stream + 1, 0, origin);
  case TMARING__SYNTAX_EVEN: return tmaring__node_leaf(&l->table, TMARING__OP_INPUT_EVEN, stream, 0, origin);
  case TMARING__SYNTAX_ODD: return tmaring__node_leaf(&l->table, TMARING__OP_INPUT_ODD, stream, 0, origin);
  default: return -1;
  }
}

static int32_t lower_reduction(lowering *l, const tmaring__syntax_node *node, int32_t a)
{
  const int32_t origin = node->offset;
  int32_t part;
  switch (node->kind) {
  case TMARING__SYNTAX_ROW_SUM: return add_sum(l, a, origin);
  case TMARING__SYNTAX_ROW_MEAN:
    part = add_sum(l, a, origin);
    return tmaring__node_binary(&l->table, TMARING__OP_DIV, part,
                                tmaring__node_leaf(&l->table, TMARING__OP_COLUMNS, 0, 0, origin), origin);
  case TMARING__SYNTAX_ROW_MAX: return tmaring__node_unary(&l->table, TMARING__OP_REDUCE_MAX, a, origin);
  case TMARING__SYNTAX_ROW_MIN: return tmaring__node_unary(&l->table, TMARING__OP_REDUCE_MIN, a, origin);
  case TMARING__SYNTAX_ROW_AMAX:
    return tmaring__node_unary(&l->table, TMARING__OP_REDUCE_MAX,
                               tmaring__node_unary(&l->table, TMARING__OP_ABS, a, origin), origin);
  case TMARING__SYNTAX_ROW_ARGMAX: return tmaring__node_unary(&l->table, TMARING__OP_REDUCE_ARGMAX, a, origin);
  case TMARING__SYNTAX_ROW_LOGSUMEXP:
    part = tmaring__node_unary(&l->table, TMARING__OP_REDUCE_MAX, a, origin);
    a = tmaring__node_unary(&l->table, TMARING__OP_REDUCE_EXPSUM, a, origin);
    a = tmaring__node_unary(&l->table, TMARING__OP_LOG, a, origin);
    return tmaring__node_binary(&l->table, TMARING__OP_ADD, part, a, origin);
  case TMARING__SYNTAX_GROUP_SUM:
    return tmaring__node_indexed(&l->table, TMARING__OP_GROUP_SUM, a, node->index, origin);
  case TMARING__SYNTAX_GROUP_MAX:
    return tmaring__node_indexed(&l->table, TMARING__OP_GROUP_MAX, a, node->index, origin);
  case TMARING__SYNTAX_GROUP_MIN:
    return tmaring__node_indexed(&l->table, TMARING__OP_GROUP_MIN, a, node->index, origin);
  case TMARING__SYNTAX_GROUP_AMAX:
    return tmaring__node_indexed(&l->table, TMARING__OP_GROUP_MAX,
                                 tmaring__node_unary(&l->table, TMARING__OP_ABS, a, origin), node->index, origin);
  default: return a; /* over the rows: its operand is accumulated in the last pass */
  }
}

/* Operations that the program has no node of their own for, or that name an input. */
static int32_t lower_call(lowering *l, const tmaring__syntax_node *node, const int32_t arg[3])
{
  const int32_t stream = node->symbol >= 0 ? l->formula->symbol[node->symbol].index : 0, origin = node->offset;
  switch (node->kind) {
  case TMARING__SYNTAX_CLAMP:
    return tmaring__node_binary(&l->table, TMARING__OP_MIN,
                                tmaring__node_binary(&l->table, TMARING__OP_MAX, arg[0], arg[1], origin), arg[2],
                                origin);
  case TMARING__SYNTAX_SILU:
    return tmaring__node_binary(&l->table, TMARING__OP_MUL, arg[0],
                                tmaring__node_unary(&l->table, TMARING__OP_SIGMOID, arg[0], origin), origin);
  case TMARING__SYNTAX_CAST:
    /* both fp32 and double are whole in double */
    return node->index == TMARING_F64 ? arg[0]
                                      : tmaring__node_indexed(&l->table, TMARING__OP_CAST, arg[0], node->index, origin);
  case TMARING__SYNTAX_CAST_AS: return tmaring__node_indexed(&l->table, TMARING__OP_CAST_AS, arg[0], stream, origin);
  case TMARING__SYNTAX_GATHER:
    return tmaring__node_binary(&l->table, TMARING__OP_GATHER,
                                tmaring__node_leaf(&l->table, TMARING__OP_INPUT, stream, 0, origin), arg[0], origin);
  default: return lower_reduction(l, node, arg[0]);
  }
}

static int32_t lower_node(lowering *l, const tmaring__syntax_node *node)
{
  int32_t arg[3];
  for (int i = 0; i < 3; ++i) arg[i] = node->arg[i] < 0 ? -1 : l->lowered[node->arg[i]];
  if (arg[0] < 0) return lower_leaf(l, node);
  const tmaring__op op = operation(node->kind);
  return op == TMARING__OP_COUNT ? lower_call(l, node, arg) : tmaring__node_operation(&l->table, op, arg, node->offset);
}

tmaring_status tmaring__lowering_run(tmaring_formula *formula)
{
  const size_t syntax_nodes = (size_t)formula->tree.node_count, most = NODES_PER_SYNTAX_NODE * syntax_nodes;
  lowering l = {.formula = formula};
  l.table.node = malloc(most * sizeof *l.table.node);
  l.table.origin = malloc(most * sizeof *l.table.origin);
  l.lowered = malloc(syntax_nodes * sizeof *l.lowered);
  tmaring_status status = TMARING_ERROR_MEMORY;
  if (l.table.node && l.table.origin && l.lowered) {
    for (int32_t i = 0; i < formula->tree.node_count; ++i) l.lowered[i] = lower_node(&l, &formula->tree.node[i]);
    status = tmaring__assembly_run(formula, &l.table, l.lowered);
  } else {
    tmaring__fail(status, "formula: got no memory to lower it; free some");
  }
  free(l.table.node);
  free(l.table.origin);
  free(l.lowered);
  return status;
}

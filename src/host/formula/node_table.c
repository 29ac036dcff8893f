#include "node_table.h"

#include <math.h>
#include <string.h>

/* Bits, not values: 0 and -0 are two constants, and a NaN is itself. */
static int same_node(const tmaring__node *a, const tmaring__node *b)
{
  return a->op == b->op && a->index == b->index && memcmp(a->arg, b->arg, sizeof a->arg) == 0 &&
         memcmp(&a->value, &b->value, sizeof a->value) == 0;
}

static int differs_by_column(tmaring__op op)
{
  return tmaring__op_streams(op) || op == TMARING__OP_VECTOR || op == TMARING__OP_GROUP_SCALE || op == TMARING__OP_COL;
}

static void place_node(const tmaring__node_table *table, tmaring__node *made)
{
  made->per_col = differs_by_column(made->op);
  made->level = 0;
  for (int i = 0; i < 3 && made->arg[i] >= 0; ++i) {
    const tmaring__node *argument = &table->node[made->arg[i]];
    made->per_col |= argument->per_col;
    if (argument->level > made->level) made->level = argument->level;
  }
  if (!tmaring__op_reduces(made->op)) return;
  made->per_col = 0;
  ++made->level;
}

static int32_t add_node(tmaring__node_table *table, tmaring__node made, int32_t origin)
{
  for (int32_t i = 0; i < table->count; ++i)
    if (same_node(&table->node[i], &made)) return i;
  place_node(table, &made);
  table->node[table->count] = made;
  table->origin[table->count] = origin;
  return table->count++;
}

int32_t tmaring__node_leaf(tmaring__node_table *table, tmaring__op op, int32_t index, double value, int32_t origin)
{
  const tmaring__node made = {.op = op, .arg = {-1, -1, -1}, .index = index, .value = value};
  return add_node(table, made, origin);
}

static int fold(tmaring__op op, double a, double b, double *value)
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

/* The same operation in fp32. A float and a double operation of the same operands: double holds what + - * / of two
 * floats need to be rounded to fp32 once. */
static float in_float(tmaring__op op, float a, float b)
{
  double value = 0;
  fold(op, a, b, &value);
  return (float)value;
}

/* A program computes in fp32 or in double, by the types of its plan. A constant takes an operation's place only where
 * it gives both what they would have computed. */
static int folds(tmaring__op op, const tmaring__node *a, const tmaring__node *b, double *value)
{
  if (a->op != TMARING__OP_CONSTANT || b->op != TMARING__OP_CONSTANT || !fold(op, a->value, b->value, value)) return 0;
  const float constant = (float)*value, computed = in_float(op, (float)a->value, (float)b->value);
  return memcmp(&constant, &computed, sizeof constant) == 0 || (isnan(constant) && isnan(computed));
}

int32_t tmaring__node_operation(tmaring__node_table *table, tmaring__op op, const int32_t arg[3], int32_t origin)
{
  const tmaring__node made = {.op = op, .arg = {arg[0], arg[1], arg[2]}};
  const tmaring__node *a = &table->node[arg[0]];
  const tmaring__node *b = arg[1] >= 0 ? &table->node[arg[1]] : a;
  double value;
  if (folds(op, a, b, &value)) return tmaring__node_leaf(table, TMARING__OP_CONSTANT, 0, value, origin);
  return add_node(table, made, origin);
}

int32_t tmaring__node_unary(tmaring__node_table *table, tmaring__op op, int32_t a, int32_t origin)
{
  const int32_t arg[3] = {a, -1, -1};
  return tmaring__node_operation(table, op, arg, origin);
}

int32_t tmaring__node_binary(tmaring__node_table *table, tmaring__op op, int32_t a, int32_t b, int32_t origin)
{
  const int32_t arg[3] = {a, b, -1};
  return tmaring__node_operation(table, op, arg, origin);
}

int32_t tmaring__node_indexed(tmaring__node_table *table, tmaring__op op, int32_t a, int32_t index, int32_t origin)
{
  const tmaring__node made = {.op = op, .arg = {a, -1, -1}, .index = index};
  return add_node(table, made, origin);
}

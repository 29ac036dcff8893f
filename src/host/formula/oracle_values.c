#include <math.h>
#include <string.h>

#include "../base/convert.h"
#include "../base/mathlib.h"
#include "oracle.h"

const tmaring__syntax_node *tmaring__oracle_node(const tmaring__oracle *o, int32_t node)
{
  return &o->formula->tree.node[node];
}

int tmaring__oracle_varies(const tmaring__oracle *o, int32_t node)
{
  return tmaring__dims_have_columns(tmaring__oracle_node(o, node)->dims);
}

double *tmaring__oracle_value(const tmaring__oracle *o, int32_t node)
{
  return o->value + (size_t)o->stands_for[node] * TMARING__ORACLE_CHUNK;
}

int64_t tmaring__oracle_groups(const tmaring__oracle *o, int32_t group_cols)
{
  return tmaring_ceil_div(o->cols, group_cols);
}

static double larger(double a, double b)
{
  return isnan(a) || a > b ? a : b;
}

static double smaller(double a, double b)
{
  return isnan(a) || a < b ? a : b;
}

static double sigmoid(double a)
{
  return 1 / (1 + tmaring__math.exp(-a));
}

/* One value of a node from the values of its operands. */
static double apply(tmaring__syntax kind, double a, double b, double c)
{
  switch (kind) {
  case TMARING__SYNTAX_ADD: return a + b;
  case TMARING__SYNTAX_SUB: return a - b;
  case TMARING__SYNTAX_MUL: return a * b;
  case TMARING__SYNTAX_DIV: return a / b;
  case TMARING__SYNTAX_NEG: return -a;
  case TMARING__SYNTAX_LT: return a < b;
  case TMARING__SYNTAX_LE: return a <= b;
  case TMARING__SYNTAX_GT: return a > b;
  case TMARING__SYNTAX_GE: return a >= b;
  case TMARING__SYNTAX_EQ: return a == b;
  case TMARING__SYNTAX_NE: return a != b;
  case TMARING__SYNTAX_WHERE: return a != 0 ? b : c;
  case TMARING__SYNTAX_ABS: return fabs(a);
  case TMARING__SYNTAX_MIN: return smaller(a, b);
  case TMARING__SYNTAX_MAX: return larger(a, b);
  case TMARING__SYNTAX_CLAMP: return smaller(larger(a, b), c);
  case TMARING__SYNTAX_EXP: return tmaring__math.exp(a);
  case TMARING__SYNTAX_LOG: return tmaring__math.log(a);
  case TMARING__SYNTAX_SQRT: return tmaring__math.sqrt(a);
  case TMARING__SYNTAX_RSQRT: return 1 / tmaring__math.sqrt(a);
  case TMARING__SYNTAX_TANH: return tmaring__math.tanh(a);
  case TMARING__SYNTAX_SIGMOID: return sigmoid(a);
  case TMARING__SYNTAX_SILU: return a * sigmoid(a);
  case TMARING__SYNTAX_ERF: return tmaring__math.erf(a);
  case TMARING__SYNTAX_ROUND: return tmaring__round_even(a);
  default: return 0; /* leaves, casts and reductions, which are evaluated elsewhere */
  }
}

static void apply_many(const tmaring__oracle *o, int32_t node, int32_t count)
{
  static const double none = 0;
  const double *operand[3];
  ptrdiff_t step[3];
  const tmaring__syntax_node *syntax = tmaring__oracle_node(o, node);
  for (int i = 0; i < 3; ++i) {
    operand[i] = syntax->arg[i] < 0 ? &none : tmaring__oracle_value(o, syntax->arg[i]);
    step[i] = syntax->arg[i] >= 0 && tmaring__oracle_varies(o, syntax->arg[i]) ? 1 : 0;
  }
  double *out = tmaring__oracle_value(o, node);
  for (int32_t i = 0; i < count; ++i)
    out[i] = apply(syntax->kind, operand[0][i * step[0]], operand[1][i * step[1]], operand[2][i * step[2]]);
}

/* The tensor parameter that a node names. */
static int32_t tensor_of(const tmaring__oracle *o, const tmaring__syntax_node *syntax)
{
  int32_t tensor = 0;
  while (o->formula->tensor[tensor].symbol != syntax->symbol) ++tensor;
  return tensor;
}

static void cast_many(const tmaring__oracle *o, int32_t node, int32_t count)
{
  const tmaring__syntax_node *syntax = tmaring__oracle_node(o, node);
  const double *in = tmaring__oracle_value(o, syntax->arg[0]);
  double *out = tmaring__oracle_value(o, node);
  const int known = syntax->kind == TMARING__SYNTAX_CAST || o->dtypes != NULL;
  const int32_t dtype = syntax->kind == TMARING__SYNTAX_CAST ? syntax->index
                        : known                              ? (int32_t)o->dtypes[tensor_of(o, syntax)]
                                                             : 0;
  for (int32_t i = 0; i < count; ++i) out[i] = known ? tmaring__dtype_round(dtype, in[i]) : in[i];
}

/* Where a part of N columns of an [M,2N] input begins in the row, and how far apart its columns are. */
static void read_part(const tmaring__oracle *o, int32_t node, const tmaring__oracle_span *span)
{
  const tmaring__syntax_node *syntax = tmaring__oracle_node(o, node);
  const int halves = syntax->kind == TMARING__SYNTAX_FIRST || syntax->kind == TMARING__SYNTAX_SECOND;
  const int64_t begin = syntax->kind == TMARING__SYNTAX_SECOND ? o->cols : syntax->kind == TMARING__SYNTAX_ODD;
  const double *row = o->data[tensor_of(o, syntax)] + span->row * 2 * o->cols;
  double *out = tmaring__oracle_value(o, node);
  for (int32_t i = 0; i < span->count; ++i) out[i] = row[begin + (span->col + i) * (halves ? 1 : 2)];
}

static void read_parameter(const tmaring__oracle *o, int32_t node, const tmaring__oracle_span *span)
{
  const tmaring__syntax_node *syntax = tmaring__oracle_node(o, node);
  const tmaring__symbol *symbol = &o->formula->symbol[syntax->symbol];
  const size_t bytes = (size_t)span->count * sizeof(double);
  const int32_t k = symbol->dims.group_cols;
  double *out = tmaring__oracle_value(o, node);
  if (symbol->dims.shape == TMARING_SHAPE_SCALAR) {
    out[0] = o->scalars ? o->scalars[symbol->index] : symbol->default_value;
    return;
  }
  const double *data = o->data[tensor_of(o, syntax)];
  switch (symbol->dims.shape) {
  case TMARING_SHAPE_ROW: memcpy(out, data + span->col, bytes); break;
  case TMARING_SHAPE_COLUMN: out[0] = data[span->row]; break;
  case TMARING_SHAPE_GROUP:
    for (int32_t i = 0; i < span->count; ++i)
      out[i] = data[span->row * tmaring__oracle_groups(o, k) + (span->col + i) / k];
    break;
  default: memcpy(out, data + span->row * o->cols + span->col, bytes); break;
  }
}

/* x[label]; NaN where the label is no column. */
static void read_label(const tmaring__oracle *o, int32_t node, int64_t row)
{
  const tmaring__syntax_node *syntax = tmaring__oracle_node(o, node);
  const double label = tmaring__oracle_value(o, syntax->arg[0])[0];
  const int is_column = label >= 0 && label < (double)o->cols && label == (double)(int64_t)label;
  tmaring__oracle_value(o, node)[0] =
      is_column ? o->data[tensor_of(o, syntax)][row * o->cols + (int64_t)label] : (double)NAN;
}

static void read_groups(const tmaring__oracle *o, int32_t node, const tmaring__oracle_span *span)
{
  const int32_t k = tmaring__oracle_node(o, node)->index;
  double *out = tmaring__oracle_value(o, node);
  for (int32_t i = 0; i < span->count; ++i) out[i] = o->group[node][(span->col + i) / k];
}

void tmaring__oracle_evaluate(const tmaring__oracle *o, int32_t node, const tmaring__oracle_span *span)
{
  const tmaring__syntax_node *syntax = tmaring__oracle_node(o, node);
  double *out = tmaring__oracle_value(o, node);
  if (o->stands_for[node] != node) return;
  switch (syntax->kind) {
  case TMARING__SYNTAX_NUMBER: out[0] = syntax->number; return;
  case TMARING__SYNTAX_COLUMNS: out[0] = (double)o->cols; return;
  case TMARING__SYNTAX_ROWS: out[0] = (double)o->rows; return;
  case TMARING__SYNTAX_ROW: out[0] = (double)span->row; return;
  case TMARING__SYNTAX_COL:
    for (int32_t i = 0; i < span->count; ++i) out[i] = (double)(span->col + i);
    return;
  case TMARING__SYNTAX_NAME: read_parameter(o, node, span); return;
  case TMARING__SYNTAX_GATHER: read_label(o, node, span->row); return;
  case TMARING__SYNTAX_CAST:
  case TMARING__SYNTAX_CAST_AS: cast_many(o, node, span->count); return;
  default: break;
  }
  if (tmaring__syntax_reads_double(syntax->kind))
    read_part(o, node, span);
  else if (tmaring__syntax_reduces_group(syntax->kind))
    read_groups(o, node, span);
  else
    apply_many(o, node, span->count);
}

double tmaring__oracle_identity(tmaring__syntax kind)
{
  switch (kind) {
  case TMARING__SYNTAX_ROW_MIN:
  case TMARING__SYNTAX_GROUP_MIN: return INFINITY;
  case TMARING__SYNTAX_ROW_AMAX:
  case TMARING__SYNTAX_GROUP_AMAX: return 0;
  case TMARING__SYNTAX_ROW_MAX:
  case TMARING__SYNTAX_GROUP_MAX:
  case TMARING__SYNTAX_COLUMN_MAX:
  case TMARING__SYNTAX_ROW_ARGMAX:
  case TMARING__SYNTAX_ROW_LOGSUMEXP: return -INFINITY;
  default: return 0;
  }
}

double tmaring__oracle_join(tmaring__syntax kind, double total, double value)
{
  switch (kind) {
  case TMARING__SYNTAX_ROW_MIN:
  case TMARING__SYNTAX_GROUP_MIN: return smaller(total, value);
  case TMARING__SYNTAX_ROW_MAX:
  case TMARING__SYNTAX_GROUP_MAX:
  case TMARING__SYNTAX_COLUMN_MAX: return larger(total, value);
  case TMARING__SYNTAX_ROW_AMAX:
  case TMARING__SYNTAX_GROUP_AMAX: return larger(total, fabs(value));
  default: return total + value;
  }
}

/* state[0] is the column, state[1] its value: the first NaN, else the first of the greatest. */
static void join_argmax(double state[2], double value, int64_t col)
{
  if (isnan(state[1]) || !(isnan(value) || value > state[1])) return;
  state[0] = (double)col;
  state[1] = value;
}

/* state[0] is the maximum so far, state[1] the sum of exp(value - maximum). */
static void join_logsumexp(double state[2], double value)
{
  if (isnan(state[0]) || value == -INFINITY) return;
  if (value <= state[0]) {
    state[1] += tmaring__math.exp(value - state[0]);
    return;
  }
  state[1] = state[1] * tmaring__math.exp(state[0] - value) + 1;
  state[0] = value;
}

void tmaring__oracle_reduction_start(const tmaring__oracle *o, int32_t node)
{
  const tmaring__syntax kind = tmaring__oracle_node(o, node)->kind;
  double *state = tmaring__oracle_value(o, node);
  for (int64_t g = 0; o->group[node] && g < tmaring__oracle_groups(o, tmaring__oracle_node(o, node)->index); ++g)
    o->group[node][g] = tmaring__oracle_identity(kind);
  state[0] = kind == TMARING__SYNTAX_ROW_ARGMAX ? 0 : tmaring__oracle_identity(kind);
  state[1] = kind == TMARING__SYNTAX_ROW_ARGMAX ? tmaring__oracle_identity(kind) : 0;
}

static double add_many(tmaring__syntax kind, double total, const double *operand, int32_t count)
{
  if (kind == TMARING__SYNTAX_ROW_SUM || kind == TMARING__SYNTAX_ROW_MEAN)
    for (int32_t i = 0; i < count; ++i) total += operand[i];
  else
    for (int32_t i = 0; i < count; ++i) total = tmaring__oracle_join(kind, total, operand[i]);
  return total;
}

void tmaring__oracle_reduction_add(const tmaring__oracle *o, int32_t node, const tmaring__oracle_span *span)
{
  const tmaring__syntax_node *syntax = tmaring__oracle_node(o, node);
  const double *operand = tmaring__oracle_value(o, syntax->arg[0]);
  double *state = tmaring__oracle_value(o, node), *group = o->group[node];
  if (!group && syntax->kind != TMARING__SYNTAX_ROW_ARGMAX && syntax->kind != TMARING__SYNTAX_ROW_LOGSUMEXP) {
    state[0] = add_many(syntax->kind, state[0], operand, span->count);
    return;
  }
  for (int32_t i = 0; i < span->count; ++i) {
    const int64_t col = span->col + i, g = group ? col / syntax->index : 0;
    if (group)
      group[g] = tmaring__oracle_join(syntax->kind, group[g], operand[i]);
    else if (syntax->kind == TMARING__SYNTAX_ROW_ARGMAX)
      join_argmax(state, operand[i], col);
    else
      join_logsumexp(state, operand[i]);
  }
}

void tmaring__oracle_reduction_end(const tmaring__oracle *o, int32_t node)
{
  const tmaring__syntax kind = tmaring__oracle_node(o, node)->kind;
  double *state = tmaring__oracle_value(o, node);
  if (kind == TMARING__SYNTAX_ROW_MEAN) state[0] /= (double)o->cols;
  if (kind == TMARING__SYNTAX_ROW_LOGSUMEXP)
    state[0] = isfinite(state[0]) ? state[0] + tmaring__math.log(state[1]) : (double)NAN;
}

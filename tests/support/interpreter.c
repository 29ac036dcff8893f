#include "interpreter.h"

#include <criterion/criterion.h>
#include <math.h>

#include "../../src/host/base/convert.h"

static double rounded(const interpreter *m, double value)
{
  return m->fp32 ? (double)(float)value : value;
}

static double operate(const interpreter *m, const tmaring__node *node, double a, double b, double c)
{
  switch (node->op) {
  case TMARING__OP_ADD: return a + b;
  case TMARING__OP_SUB: return a - b;
  case TMARING__OP_MUL: return a * b;
  case TMARING__OP_DIV: return a / b;
  case TMARING__OP_NEG: return -a;
  case TMARING__OP_ABS: return fabs(a);
  case TMARING__OP_MIN: return fmin(a, b);
  case TMARING__OP_MAX: return fmax(a, b);
  case TMARING__OP_EXP: return exp(a);
  case TMARING__OP_LOG: return log(a);
  case TMARING__OP_SQRT: return sqrt(a);
  case TMARING__OP_RSQRT: return 1 / sqrt(a);
  case TMARING__OP_TANH: return tanh(a);
  case TMARING__OP_SIGMOID: return 1 / (1 + exp(-a));
  case TMARING__OP_ERF: return erf(a);
  case TMARING__OP_ROUND: return rint(a);
  case TMARING__OP_CAST: return tmaring__dtype_round(node->index, a);
  case TMARING__OP_CAST_AS: return tmaring__dtype_round(m->dtype[node->index], a);
  case TMARING__OP_LT: return a < b;
  case TMARING__OP_LE: return a <= b;
  case TMARING__OP_GT: return a > b;
  case TMARING__OP_GE: return a >= b;
  case TMARING__OP_EQ: return a == b;
  case TMARING__OP_NE: return a != b;
  case TMARING__OP_WHERE: return a != 0 ? b : c;
  default: cr_assert_fail("op %d is no operation", (int)node->op); return 0;
  }
}

int interpreter_groups(int32_t group_cols)
{
  return (INTERPRETER_COLS + group_cols - 1) / group_cols;
}

static double operand(const interpreter *m, int32_t i, int col)
{
  return i < 0 ? 0 : m->value[i][m->program->node[i].per_col ? col : 0];
}

static double evaluate(const interpreter *m, int32_t i, int row, int col)
{
  const tmaring__node *node = &m->program->node[i];
  const int32_t n = node->index;
  switch (node->op) {
  case TMARING__OP_CONSTANT: return rounded(m, node->value);
  case TMARING__OP_INPUT: return m->input[n][row * m->pitch[n] + col];
  case TMARING__OP_INPUT_EVEN: return m->input[n][row * m->pitch[n] + 2 * col];
  case TMARING__OP_INPUT_ODD: return m->input[n][row * m->pitch[n] + 2 * col + 1];
  case TMARING__OP_VECTOR: return m->vector[n][col];
  case TMARING__OP_ROW_SCALAR: return m->row_scalar[n][row];
  case TMARING__OP_GROUP_SCALE: {
    const int32_t k = m->program->group_input_cols[n];
    return m->group_input[n][row * interpreter_groups(k) + col / k];
  }
  case TMARING__OP_SCALAR: return m->scalar[n];
  case TMARING__OP_COLUMNS: return INTERPRETER_COLS;
  case TMARING__OP_ROWS: return m->rows;
  case TMARING__OP_COL: return col;
  case TMARING__OP_ROW: return row;
  default:
    return rounded(m, operate(m, node, operand(m, node->arg[0], col), operand(m, node->arg[1], col),
                              operand(m, node->arg[2], col)));
  }
}

static double join(const interpreter *m, tmaring__op op, double total, double value)
{
  switch (op) {
  case TMARING__OP_GROUP_MAX:
  case TMARING__OP_REDUCE_MAX: return fmax(total, value);
  case TMARING__OP_GROUP_MIN:
  case TMARING__OP_REDUCE_MIN: return fmin(total, value);
  default: return rounded(m, total + value);
  }
}

/* Every column of a group gets what its group has in common. */
static void group(interpreter *m, int32_t i)
{
  const tmaring__node *node = &m->program->node[i];
  for (int first = 0; first < INTERPRETER_COLS; first += node->index) {
    const int end = first + node->index < INTERPRETER_COLS ? first + node->index : INTERPRETER_COLS;
    double total = operand(m, node->arg[0], first);
    for (int col = first + 1; col < end; ++col) total = join(m, node->op, total, operand(m, node->arg[0], col));
    for (int col = first; col < end; ++col) m->value[i][col] = total;
  }
}

/* One read: the maximum so far, and the sum of exp below it. */
static double sum_powers(const interpreter *m, int32_t a)
{
  double high = -INFINITY, sum = 0;
  for (int col = 0; col < INTERPRETER_COLS; ++col) {
    const double value = operand(m, a, col), up = rounded(m, exp(rounded(m, high - value)));
    if (value > high) {
      sum = rounded(m, rounded(m, sum * up) + 1);
      high = value;
    } else {
      sum = rounded(m, sum + rounded(m, exp(rounded(m, value - high))));
    }
  }
  return sum;
}

static double find_greatest(const interpreter *m, int32_t a)
{
  int best = 0;
  for (int col = 1; col < INTERPRETER_COLS; ++col)
    if (operand(m, a, col) > operand(m, a, best)) best = col;
  return best;
}

static double reduce(const interpreter *m, int32_t i)
{
  const tmaring__node *node = &m->program->node[i];
  const int32_t a = node->arg[0];
  if (node->op == TMARING__OP_GATHER) return operand(m, a, (int)operand(m, node->arg[1], 0));
  if (node->op == TMARING__OP_REDUCE_EXPSUM) return sum_powers(m, a);
  if (node->op == TMARING__OP_REDUCE_ARGMAX) return find_greatest(m, a);
  double total = operand(m, a, 0);
  for (int col = 1; col < INTERPRETER_COLS; ++col) total = join(m, node->op, total, operand(m, a, col));
  return total;
}

/* Values of the row that a pass may use, as soon as the passes before are over. */
static void evaluate_row_values(interpreter *m, int row, int32_t level)
{
  const tmaring__program *p = m->program;
  for (int32_t i = 0; i < p->node_count; ++i)
    if (!p->node[i].per_col && p->node[i].level == level && !tmaring__op_reduces(p->node[i].op))
      m->value[i][0] = evaluate(m, i, row, 0);
}

static void store(interpreter *m, int row)
{
  const tmaring__program *p = m->program;
  for (int col = 0; col < INTERPRETER_COLS; ++col) {
    for (int32_t i = 0; i < p->output_count; ++i)
      m->output[i][row * INTERPRETER_COLS + col] = operand(m, p->output[i], col);
    for (int32_t i = 0; i < p->group_output_count; ++i) {
      const int32_t k = p->group_output_cols[i];
      if (col % k == 0) m->group_output[i][row * interpreter_groups(k) + col / k] = operand(m, p->group_output[i], col);
    }
    for (int32_t i = 0; i < p->column_output_count; ++i) {
      double *total = &m->column_output[i][col];
      const double value = operand(m, p->column_output[i].node, col);
      *total = row == 0 ? value : join(m, (tmaring__op)p->column_output[i].op, *total, value);
      if (p->column_output[i].mean && row == m->rows - 1) *total = rounded(m, *total / m->rows);
    }
  }
}

static void run_pass(interpreter *m, int row, int32_t pass)
{
  const tmaring__program *p = m->program;
  evaluate_row_values(m, row, pass);
  for (int32_t i = 0; i < p->node_count; ++i) {
    if (!p->node[i].per_col || p->node[i].level > pass) continue;
    if (tmaring__op_groups(p->node[i].op))
      group(m, i);
    else
      for (int col = 0; col < INTERPRETER_COLS; ++col) m->value[i][col] = evaluate(m, i, row, col);
  }
  for (int32_t i = 0; i < p->node_count; ++i)
    if (tmaring__op_reduces(p->node[i].op) && p->node[i].level == pass + 1) m->value[i][0] = reduce(m, i);
  if (pass == p->passes - 1) store(m, row);
}

void interpreter_run(interpreter *m, int rows)
{
  const tmaring__program *p = m->program;
  m->rows = rows;
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < TMARING__MAX_NODES; ++i) /* used before it is there: seen in the result */
      for (int col = 0; col < INTERPRETER_COLS; ++col) m->value[i][col] = NAN;
    for (int32_t pass = 0; pass < p->passes; ++pass) run_pass(m, row, pass);
    if (p->passes == p->reduction_passes) evaluate_row_values(m, row, p->passes);
    for (int32_t i = 0; i < p->row_output_count; ++i) m->row_output[i][row] = m->value[p->row_output[i]][0];
  }
}

/* Reductions of the CPU backend on programs made by hand: groups of columns, rows with two partial results, gathers. */
#include <criterion/criterion.h>
#include <math.h>

#include "support/lane_rig.h"

#define OP(name) TMARING__OP_##name

/* Eighths without 0, of both signs; exact in every type with three bits of fraction. */
static double plain(int64_t row, int64_t col)
{
  const int64_t n = (row * 7 + col * 13) % 28 - 14;
  return (double)(n < 0 ? n : n + 1) / 8.0;
}

static double positive(int64_t row, int64_t col)
{
  return 0.5 + (double)((row * 5 + col * 3) % 17) / 8.0;
}

static double steep(int64_t row, int64_t col)
{
  return (double)((row * 11 + col * 29) % 97) - 40.0 + (double)(col % 8) / 8.0;
}

static int32_t columns_of(int number)
{
  static const int32_t cols[] = {37, 1, 64, 131, 256, 300};
  return cols[number % 6];
}

/* ---- groups of columns ---- */

typedef struct group_due {
  double sum, max, min, magnitude;
} group_due;

static group_due group_of(const lane_case *c, int32_t x, int64_t row, int32_t group, int32_t k)
{
  group_due g = {0, -INFINITY, INFINITY, 0};
  for (int32_t j = group * k; j < (group + 1) * k && j < c->cols; ++j) {
    const double value = lane_value(c, x, row, j);
    g.sum += value;
    g.magnitude += fabs(value);
    if (value > g.max) g.max = value;
    if (value < g.min) g.min = value;
  }
  return g;
}

/* y = x - max of k + sum of 2k; outputs of both, and the least of k, per group. */
static void groups(tmaring_dtype dtype, int32_t k, int way)
{
  lane_case c;
  int32_t x, y, sums, least, node, max, sum;
  lane_begin(&c, 14, columns_of(way + k));
  c.way = lane_way_make(way);
  x = lane_matrix_make(&c, dtype, c.cols, plain);
  node = lane_input(&c, x);
  max = lane_indexed(&c, OP(GROUP_MAX), node, k);
  sum = lane_indexed(&c, OP(GROUP_SUM), node, 2 * k);
  sums = lane_group_output(&c, sum, 2 * k, TMARING_F32, way % 2);
  least = lane_group_output(&c, lane_indexed(&c, OP(GROUP_MIN), node, k), k, dtype, (way + 1) % 2);
  y = lane_output(&c, lane_node(&c, OP(ADD), lane_node(&c, OP(SUB), node, max, -1), sum, -1), TMARING_F32);
  lane_run(&c);
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int32_t g = 0; g * 2 * k < c.cols; ++g) lane_expect(&c, sums, i, g, group_of(&c, x, i, g, 2 * k).sum, 0);
    for (int32_t g = 0; g * k < c.cols; ++g) lane_expect(&c, least, i, g, group_of(&c, x, i, g, k).min, 0);
    for (int32_t j = 0; j < c.cols; ++j) {
      const double due = lane_value(&c, x, i, j) - group_of(&c, x, i, j / k, k).max;
      lane_expect(&c, y, i, j, due + group_of(&c, x, i, j / (2 * k), 2 * k).sum, 0); /* eighths: sums are exact */
    }
  }
  lane_end(&c);
}

Test(row_reduction, groups_of_columns, .timeout = 120)
{
  static const tmaring_dtype types[] = {TMARING_F32, TMARING_BF16, TMARING_E4M3, TMARING_F64};
  for (int way = 0; way < LANE_WAYS; ++way) {
    for (int32_t k = 8; k <= 64; k *= 2) groups(types[(way + k / 8) % 4], k, way);
  }
}

/* Scales per group, by rows and by columns of memory; a group's value counts once per column in a reduction. */
static void scaled(int32_t k, int way)
{
  const int64_t groups_per_row = (columns_of(way) + k - 1) / k;
  lane_case c;
  int32_t x, scale, y, s, product;
  lane_begin(&c, 10, columns_of(way));
  c.way = lane_way_make(way);
  x = lane_matrix_make(&c, TMARING_E4M3, c.cols, plain);
  if (way % 2) {
    const lane_tensor by_columns = {
        .dtype = TMARING_F32, .rows = c.rows, .cols = groups_per_row, .pitch = 4, .step = 4 * (c.rows + 3)};
    scale = lane_tensor_take(&c, &by_columns, 1, positive);
  } else {
    scale = lane_tensor_make(&c, TMARING_F32, c.rows, groups_per_row, 2, positive);
  }
  product = lane_group_input(&c, scale, k);
  s = lane_row_output(&c, lane_node(&c, OP(REDUCE_SUM), product, -1, -1), TMARING_F32);
  y = lane_output(&c, lane_node(&c, OP(MUL), lane_input(&c, x), product, -1), TMARING_F32);
  lane_run(&c);
  for (int64_t i = 0; i < c.rows; ++i) {
    double sum = 0;
    for (int32_t j = 0; j < c.cols; ++j) {
      sum += lane_value(&c, scale, i, j / k);
      lane_expect(&c, y, i, j, lane_value(&c, x, i, j) * lane_value(&c, scale, i, j / k), 0);
    }
    lane_expect(&c, s, i, 0, sum, 0);
  }
  lane_end(&c);
}

Test(row_reduction, scales_per_group, .timeout = 30)
{
  for (int way = 0; way < LANE_WAYS; ++way) {
    scaled(32, way);
    scaled(64, way);
  }
}

/* ---- reductions with two partial results ---- */

/* Rows by number: greatest value at several places, NaN twice, NaN at the end, all -inf, +inf. */
static double contest(int64_t row, int64_t col)
{
  const int64_t hash = (row * 31 + col * 17) % 50;
  if (row % 6 == 1 && (col % 90 == 20 || col % 90 == 31)) return NAN;
  if (row % 6 == 2) return -INFINITY;
  if (row % 6 == 3) return col % 70 == 9 ? (double)INFINITY : (double)hash;
  if (row % 6 == 4) return (double)-hash;
  return (double)hash / 4;
}

static int32_t first_of_all(const lane_case *c, int32_t x, int64_t row)
{
  int32_t best = 0;
  for (int32_t j = 0; j < c->cols; ++j) {
    const double value = lane_value(c, x, row, j), leader = lane_value(c, x, row, best);
    if (isnan(value)) return j;
    if (value > leader) best = j;
  }
  return best;
}

Test(row_reduction, argmax, .timeout = 60)
{
  static const tmaring_dtype types[] = {TMARING_F32, TMARING_F16, TMARING_F64};
  static const tmaring_dtype labels[] = {TMARING_I64, TMARING_I32, TMARING_F32};
  for (int i = 0; i < 36; ++i) {
    lane_case c;
    int32_t x, s;
    lane_begin(&c, 25, columns_of(i / 12 + i));
    c.way = lane_way_make(i % LANE_WAYS);
    x = lane_matrix_make(&c, types[i / 12], c.cols, contest);
    s = lane_row_output(&c, lane_node(&c, OP(REDUCE_ARGMAX), lane_input(&c, x), -1, -1), labels[i % 3]);
    lane_run(&c);
    for (int64_t row = 0; row < c.rows; ++row) lane_expect(&c, s, row, 0, first_of_all(&c, x, row), 0);
    lane_end(&c);
  }
}

/* Rows by number: steep, NaN, all -inf, +inf, some -inf, rising. */
static double exponents(int64_t row, int64_t col)
{
  if (row % 6 == 1) return col == 0 ? (double)NAN : 1.0;
  if (row % 6 == 2) return -INFINITY;
  if (row % 6 == 3) return col % 40 == 0 ? (double)INFINITY : 2.0;
  if (row % 6 == 4 && col % 3) return -INFINITY;
  return row % 6 == 5 ? (double)col / 2 : steep(row, col);
}

static double sum_of_exp(const lane_case *c, int32_t x, int64_t row, double *max)
{
  double sum = 0;
  *max = -INFINITY;
  for (int32_t j = 0; j < c->cols; ++j) {
    const double value = lane_value(c, x, row, j);
    if (isnan(value) || value > *max) *max = value;
    if (isnan(value)) break;
  }
  for (int32_t j = 0; j < c->cols; ++j) sum += exp(lane_value(c, x, row, j) - *max);
  return isinf(*max) ? (double)NAN : sum;
}

/* softmax in two passes: the maximum and the sum below it in one. */
Test(row_reduction, sums_of_exp, .timeout = 60)
{
  for (int i = 0; i < 24; ++i) {
    const tmaring_dtype dtype = i < 12 ? TMARING_F32 : TMARING_F64;
    const double eps = i < 12 ? 0x1p-24 : 0x1p-53;
    lane_case c;
    int32_t x, s, y, max, sum;
    lane_begin(&c, 13, columns_of(i));
    c.way = lane_way_make(i % LANE_WAYS);
    x = lane_input(&c, lane_matrix_make(&c, dtype, c.cols, exponents));
    max = lane_node(&c, OP(REDUCE_MAX), x, -1, -1);
    sum = lane_node(&c, OP(REDUCE_EXPSUM), x, -1, -1);
    s = lane_row_output(&c, sum, dtype);
    y = lane_output(
        &c, lane_node(&c, OP(DIV), lane_node(&c, OP(EXP), lane_node(&c, OP(SUB), x, max, -1), -1, -1), sum, -1), dtype);
    lane_run(&c);
    cr_assert_eq(c.program.passes, 2);
    for (int64_t row = 0; row < c.rows; ++row) {
      double greatest;
      const double total = sum_of_exp(&c, c.input[0], row, &greatest);
      lane_expect(&c, s, row, 0, total, 16 * eps * total);
      for (int32_t col = 0; col < c.cols; ++col) {
        const double due = exp(lane_value(&c, c.input[0], row, col) - greatest) / total;
        lane_expect(&c, y, row, col, due, 64 * eps * due + 0x1p-140);
      }
    }
    lane_end(&c);
  }
}

/* max and min give NaN where there is one. */
Test(row_reduction, greatest_and_least_of_rows_with_nan, .timeout = 30)
{
  for (int way = 0; way < LANE_WAYS; ++way) {
    lane_case c;
    int32_t x, most, least;
    lane_begin(&c, 13, columns_of(way));
    c.way = lane_way_make(way);
    x = lane_matrix_make(&c, TMARING_F32, c.cols, contest);
    most = lane_row_output(&c, lane_node(&c, OP(REDUCE_MAX), lane_input(&c, x), -1, -1), TMARING_F32);
    least = lane_row_output(&c, lane_node(&c, OP(REDUCE_MIN), 0, -1, -1), TMARING_F32);
    lane_run(&c);
    for (int64_t i = 0; i < c.rows; ++i) {
      double max = -INFINITY, min = INFINITY;
      for (int32_t j = 0; j < c.cols && !isnan(max); ++j) {
        const double value = lane_value(&c, x, i, j);
        max = isnan(value) || value > max ? value : max;
        min = isnan(value) || value < min ? value : min;
      }
      lane_expect(&c, most, i, 0, max, 0);
      lane_expect(&c, least, i, 0, min, 0);
    }
    lane_end(&c);
  }
}

/* Two partial results each: five of them are two too many for a pass. */
Test(row_reduction, partial_results_are_counted, .timeout = 30)
{
  lane_case c;
  lane_begin(&c, 3, 40);
  lane_input(&c, lane_matrix_make(&c, TMARING_F32, c.cols, plain));
  for (int i = 0; i < 4; ++i) lane_row_output(&c, lane_node(&c, OP(REDUCE_ARGMAX), 0, -1, -1), TMARING_F32);
  lane_run(&c);
  lane_node(&c, OP(REDUCE_EXPSUM), 0, -1, -1);
  cr_assert_eq(lane_try(&c), TMARING_ERROR_CAPACITY);
  lane_end(&c);
}

/* ---- gather ---- */

static double label(int64_t row, int64_t col)
{
  static const double at[] = {0, 36, 5, -1, 1000, -100, 17};
  return at[(row + col) % 7];
}

static double broken(int64_t row, int64_t col)
{
  static const double at[] = {0.5, 3, NAN, INFINITY, -0.0, 1e30, -3};
  return at[(row + col) % 7];
}

static double picked(const lane_case *c, int32_t x, int64_t row, double at)
{
  return at >= 0 && at < c->cols && at == floor(at) ? lane_value(c, x, row, (int64_t)at) : (double)NAN;
}

/* One element per row, by a label and by an expression of it. */
Test(row_reduction, gather, .timeout = 30)
{
  static const tmaring_dtype labels[] = {TMARING_I64, TMARING_I32, TMARING_F32};
  for (int i = 0; i < 36; ++i) {
    const tmaring_dtype dtype = i % 2 ? TMARING_BF16 : TMARING_F32;
    lane_case c;
    int32_t x, at, s, t, y, node, next;
    lane_begin(&c, 20, columns_of(i / 12));
    c.way = lane_way_make(i % LANE_WAYS);
    x = lane_matrix_make(&c, dtype, c.cols, plain);
    at = lane_tensor_make(&c, labels[i % 3], c.rows, 1, 0, i % 3 == 2 ? broken : label);
    node = lane_row_scalar(&c, at);
    next = lane_node(&c, OP(ADD), node, lane_number(&c, 1), -1);
    node = lane_node(&c, OP(GATHER), lane_input(&c, x), node, -1);
    s = lane_row_output(&c, node, TMARING_F32);
    t = lane_row_output(&c, lane_node(&c, OP(GATHER), node - 1, next, -1), TMARING_F32);
    y = lane_output(&c, lane_node(&c, OP(ADD), node - 1, node, -1), dtype);
    lane_run(&c);
    for (int64_t row = 0; row < c.rows; ++row) {
      const double value = lane_value(&c, at, row, 0), due = picked(&c, x, row, value);
      lane_expect(&c, s, row, 0, due, 0);
      lane_expect(&c, t, row, 0, picked(&c, x, row, value + 1), 0);
      for (int32_t col = 0; col < c.cols; ++col) lane_expect(&c, y, row, col, lane_value(&c, x, row, col) + due, 0);
    }
    lane_end(&c);
  }
}

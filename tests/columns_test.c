/* Column reductions of the CPU backend on programs made by hand: values, and the order in which they are added. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "support/lane_rig.h"
#include "support/number.h"

#define OP(name) TMARING__OP_##name

/* Eighths of both signs: their sums are exact. */
static double plain(int64_t row, int64_t col)
{
  const int64_t n = (row * 7 + col * 13) % 28 - 14;
  return (double)(n < 0 ? n : n + 1) / 8.0;
}

/* Sums of these depend on the order. */
static double uneven(int64_t row, int64_t col)
{
  return sin((double)(row * 37 + col * 11)) * (row % 5 ? 1.0 : 1000.0);
}

static double with_nan(int64_t row, int64_t col)
{
  return row == 4 && col % 9 == 2 ? (double)NAN : plain(row, col);
}

typedef struct column_due {
  double sum, max;
} column_due;

static column_due due_of(const lane_case *c, int32_t x, int64_t rows, int32_t col)
{
  column_due d = {0, -INFINITY};
  for (int64_t i = 0; i < rows; ++i) {
    const double value = lane_value(c, x, i, col);
    d.sum += value;
    if (isnan(value) || value > d.max) d.max = value;
    if (isnan(value)) break;
  }
  return d;
}

/* Sum, mean and maximum of every column, beside y = 2 x and the sum of every row. */
static void all_kinds(tmaring_dtype dtype, int64_t rows, int32_t cols, int way)
{
  lane_case c;
  int32_t x, node, y, s, sum, mean, max;
  lane_begin(&c, rows, cols);
  c.way = lane_way_make(way);
  x = lane_matrix_make(&c, dtype, c.cols, plain);
  node = lane_input(&c, x);
  y = lane_output(&c, lane_node(&c, OP(ADD), node, node, -1), dtype);
  s = way % 3 ? -1 : lane_row_output(&c, lane_node(&c, OP(REDUCE_SUM), node, -1, -1), TMARING_F32);
  sum = lane_column_output(&c, node, OP(REDUCE_SUM), 0, way % 2 ? dtype : TMARING_F32);
  mean = lane_column_output(&c, node, OP(REDUCE_SUM), 1, TMARING_F32);
  max = lane_column_output(&c, node, OP(REDUCE_MAX), 0, dtype);
  lane_run(&c);
  for (int32_t j = 0; j < cols; ++j) {
    const column_due due = due_of(&c, x, rows, j);
    lane_expect(&c, sum, 0, j, due.sum, 0);
    lane_expect(&c, max, 0, j, due.max, 0);
    lane_expect(&c, mean, 0, j, due.sum / (double)rows, 0);
  }
  for (int64_t i = 0; i < rows; ++i) {
    double total = 0;
    for (int32_t j = 0; j < cols; ++j) {
      total += lane_value(&c, x, i, j);
      lane_expect(&c, y, i, j, 2 * lane_value(&c, x, i, j), 0);
    }
    if (s >= 0) lane_expect(&c, s, i, 0, total, 0);
  }
  lane_end(&c);
}

Test(columns, sums_means_and_maxima, .timeout = 120)
{
  static const tmaring_dtype types[] = {TMARING_F32, TMARING_BF16, TMARING_F64};
  static const int64_t rows[] = {1, 16, 37, 130};
  static const int32_t cols[] = {1, 37, 64, 300};
  for (int way = 0; way < LANE_WAYS; ++way) {
    for (int i = 0; i < 8; ++i) all_kinds(types[i % 3], rows[(i + way) % 4], cols[(i + way / 4) % 4], way);
  }
}

/* Without another output, in both places for accumulators, also in the last pass of a longer program. */
Test(columns, alone_and_after_reductions, .timeout = 60)
{
  for (int i = 0; i < 2 * LANE_WAYS; ++i) {
    lane_case c;
    int32_t x, node, total, direct, after;
    lane_begin(&c, 29, 90);
    c.way = lane_way_make(i / 2);
    c.way.columns_staged = i % 2;
    x = lane_matrix_make(&c, TMARING_F32, c.cols, plain);
    node = lane_input(&c, x);
    total = lane_node(&c, OP(REDUCE_SUM), node, -1, -1);
    direct = lane_column_output(&c, node, OP(REDUCE_SUM), 0, TMARING_F32);
    after = lane_column_output(&c, lane_node(&c, OP(ADD), node, total, -1), OP(REDUCE_SUM), 0, TMARING_F32);
    lane_run(&c);
    for (int32_t j = 0; j < c.cols; ++j) {
      double sum = due_of(&c, x, c.rows, j).sum;
      lane_expect(&c, direct, 0, j, sum, 0);
      for (int64_t row = 0; row < c.rows; ++row) {
        for (int32_t k = 0; k < c.cols; ++k) sum += lane_value(&c, x, row, k);
      }
      lane_expect(&c, after, 0, j, sum, 0);
    }
    lane_end(&c);
  }
}

Test(columns, nan_in_a_column, .timeout = 30)
{
  for (int way = 0; way < LANE_WAYS; ++way) {
    lane_case c;
    int32_t x, sum, max;
    lane_begin(&c, 13, 60);
    c.way = lane_way_make(way);
    x = lane_matrix_make(&c, TMARING_F32, c.cols, with_nan);
    sum = lane_column_output(&c, lane_input(&c, x), OP(REDUCE_SUM), 0, TMARING_F32);
    max = lane_column_output(&c, 0, OP(REDUCE_MAX), 0, TMARING_F32);
    lane_run(&c);
    for (int32_t j = 0; j < c.cols; ++j) {
      const column_due due = due_of(&c, x, c.rows, j);
      lane_expect(&c, sum, 0, j, due.sum, 0);
      lane_expect(&c, max, 0, j, due.max, 0);
    }
    lane_end(&c);
  }
}

/* ---- the number of rows ---- */

/* No rows: what nothing adds up to. */
Test(columns, no_rows, .timeout = 30)
{
  static const int64_t none = 0;
  for (int i = 0; i < 2 * LANE_WAYS; ++i) {
    lane_case c;
    int32_t x, sum, mean, max;
    lane_begin(&c, i % 2 ? 20 : 0, 33);
    c.way = lane_way_make(i / 2);
    if (i % 2) c.rows_address = &none;
    x = lane_input(&c, lane_matrix_make(&c, TMARING_F32, c.cols, plain));
    sum = lane_column_output(&c, x, OP(REDUCE_SUM), 0, TMARING_F32);
    mean = lane_column_output(&c, x, OP(REDUCE_SUM), 1, TMARING_F32);
    max = lane_column_output(&c, x, OP(REDUCE_MAX), 0, TMARING_F32);
    lane_run(&c);
    for (int32_t j = 0; j < c.cols; ++j) {
      lane_expect(&c, sum, 0, j, 0.0, 0);
      lane_expect(&c, mean, 0, j, NAN, 0);
      lane_expect(&c, max, 0, j, -INFINITY, 0);
    }
    lane_end(&c);
  }
}

/* M from memory, below the bound: sums, means and M itself follow it. */
Test(columns, row_count_from_memory, .timeout = 30)
{
  static const int64_t rows[] = {1, 7, 40, 99};
  for (int i = 0; i < 4 * LANE_WAYS; ++i) {
    const int64_t kept = rows[i % 4] < 40 ? rows[i % 4] : 40;
    lane_case c;
    int32_t x, node, sum, mean;
    lane_begin(&c, 40, 52);
    c.way = lane_way_make(i / 4);
    c.rows_address = &rows[i % 4];
    x = lane_matrix_make(&c, TMARING_F32, c.cols, plain);
    node = lane_input(&c, x);
    mean = lane_column_output(&c, node, OP(REDUCE_SUM), 1, TMARING_F32);
    node = lane_node(&c, OP(ADD), node, lane_indexed(&c, OP(ROWS), -1, 0), -1);
    sum = lane_column_output(&c, node, OP(REDUCE_SUM), 0, TMARING_F32);
    lane_run(&c);
    for (int32_t j = 0; j < c.cols; ++j) {
      const double due = due_of(&c, x, kept, j).sum;
      lane_expect(&c, sum, 0, j, due + (double)(kept * kept), 0);
      lane_expect(&c, mean, 0, j, due / (double)kept, 0);
    }
    lane_end(&c);
  }
}

/* ---- order ---- */

/* The sum of a column as abi/args.h has it: chunks of rows; within one a sum per seat; then strands. Seats of a fill
 * take rows in turn: `seats_per_unit` at a time, units one after another. */
static float in_order(const lane_case *c, int32_t x, int32_t col)
{
  const tmaring_args *a = &c->args;
  const int32_t at_once = 32 >> a->scope.lanes_log2, units = c->way.warps / c->way.per_row, seats = units * at_once;
  const int64_t fill_rows = a->walk.tile_rows, chunk_rows = fill_rows * a->walk.chunk;
  float strand[16] = {0}, partial[128];
  int64_t number = 0;
  for (int64_t first = 0; first < c->rows; first += chunk_rows) {
    memset(partial, 0, sizeof partial);
    for (int64_t row = first; row < first + chunk_rows && row < c->rows; ++row) {
      const int64_t in_fill = (row - first) % fill_rows, unit = in_fill / a->scope.unit_rows;
      const int64_t seat = unit * at_once + in_fill % a->scope.unit_rows % at_once;
      partial[seat] += (float)lane_value(c, x, row, col);
    }
    for (int32_t seat = 0; seat < seats; ++seat, ++number) strand[number % 16] += partial[seat];
  }
  for (int distance = 8; distance > 0; distance /= 2) {
    for (int j = 0; j < distance; ++j) strand[j] += strand[j + distance];
  }
  return strand[0];
}

static void play_order(const lane_way *way)
{
  lane_case c;
  int32_t x, sum;
  lane_begin(&c, 211, 45);
  c.way = *way;
  x = lane_matrix_make(&c, TMARING_F32, c.cols, uneven);
  sum = lane_column_output(&c, lane_input(&c, x), OP(REDUCE_SUM), 0, TMARING_F32);
  lane_run(&c);
  for (int32_t j = 0; j < c.cols; ++j) lane_expect(&c, sum, 0, j, (double)in_order(&c, x, j), 0);
  lane_end(&c);
}

/* Bit for bit, for any order of tiles, policy, number of workers, and schedule of the roles. */
Test(columns, the_order_of_a_sum_is_fixed, .timeout = 120)
{
  for (int number = 0; number < LANE_WAYS; ++number) {
    lane_way way = lane_way_make(number);
    way.spread = 0;
    for (way.order = TMARING_ORDER_SPLIT; way.order <= TMARING_ORDER_TICKET; ++way.order) {
      way.policy = way.order == TMARING_ORDER_TICKET ? TMARING_POLICY_EXACT : (way.order + number) % 3;
      way.workers = 1 + (number + way.order) % 6;
      way.columns_staged = (number / 2 + way.order) % 2;
      way.seed = (uint64_t)(way.order * 5);
      play_order(&way);
    }
  }
}

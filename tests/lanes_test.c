/* The arithmetic of the CPU backend on programs made by hand: every kind of node, tensor and output, in every way of
 * holding a row, against numbers worked out here. */
#include <criterion/criterion.h>
#include <math.h>

#include "support/lane_rig.h"
#include "support/number.h"

#define OP(name) TMARING__OP_##name

/* Eighths without 0, of both signs; exact in every type with three bits of fraction. */
static double plain(int64_t row, int64_t col)
{
  const int64_t n = (row * 7 + col * 13) % 28 - 14;
  return (double)(n < 0 ? n : n + 1) / 8.0;
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

/* ---- types ---- */

static void copy_types(tmaring_dtype from, tmaring_dtype to, int way)
{
  lane_case c;
  int32_t x, y;
  lane_begin(&c, 9, columns_of(way + from));
  c.way = lane_way_make(way);
  x = lane_matrix_make(&c, from, c.cols, plain);
  y = lane_output(&c, lane_input(&c, x), to);
  lane_run(&c);
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int32_t j = 0; j < c.cols; ++j) lane_expect(&c, y, i, j, lane_value(&c, x, i, j), 0);
  }
  lane_end(&c);
}

Test(lanes, every_type_to_every_type, .timeout = 60)
{
  for (int from = 0; from < TMARING_I64; ++from) {
    for (int to = 0; to < TMARING_I64; ++to) copy_types((tmaring_dtype)from, (tmaring_dtype)to, (3 * from + to) % 12);
  }
}

/* (x + 1.5 * 2^27) - 1.5 * 2^27 keeps whole multiples of 16 in fp32, and everything in double. */
static void add_and_take(tmaring_dtype dtype, double step)
{
  lane_case c;
  int32_t x, y, large;
  lane_begin(&c, 5, 70);
  x = lane_matrix_make(&c, dtype, c.cols, steep);
  large = lane_number(&c, 0x1.8p27);
  y = lane_output(&c, lane_node(&c, OP(SUB), lane_node(&c, OP(ADD), lane_input(&c, x), large, -1), large, -1), dtype);
  lane_run(&c);
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int32_t j = 0; j < c.cols; ++j) {
      const double value = lane_value(&c, x, i, j);
      lane_expect(&c, y, i, j, step > 0 ? nearbyint(value / step) * step : value, 0);
    }
  }
  lane_end(&c);
}

Test(lanes, programs_are_in_fp32_or_in_double, .timeout = 30)
{
  add_and_take(TMARING_F32, 16.0);
  add_and_take(TMARING_F64, 0.0);
  add_and_take(TMARING_I32, 0.0);
}

/* Scalars of either kind, N, M, and the numbers of rows and columns. */
static void numbers(tmaring_dtype dtype, int way)
{
  lane_case c;
  int32_t x, y, s, sum;
  lane_begin(&c, 13, columns_of(way));
  c.way = lane_way_make(way);
  x = lane_matrix_make(&c, dtype, c.cols, plain);
  c.args.scalar[1] = 0.1f;
  c.args.wide_scalar[1] = 0.1;
  c.program.scalar_count = 2;
  sum = lane_node(&c, OP(ADD), lane_indexed(&c, OP(COLUMNS), -1, 0), lane_indexed(&c, OP(ROWS), -1, 0), -1);
  s = lane_row_output(&c, lane_node(&c, OP(MUL), sum, lane_indexed(&c, OP(ROW), -1, 0), -1), dtype);
  sum = lane_node(&c, OP(ADD), lane_input(&c, x), lane_indexed(&c, OP(COL), -1, 0), -1);
  y = lane_output(&c, lane_node(&c, OP(MUL), sum, lane_indexed(&c, OP(SCALAR), -1, 1), -1), dtype);
  lane_run(&c);
  for (int64_t i = 0; i < c.rows; ++i) {
    lane_expect(&c, s, i, 0, (double)(c.cols + c.rows) * (double)i, 0);
    for (int32_t j = 0; j < c.cols; ++j) {
      const double a = lane_value(&c, x, i, j) + j;
      lane_expect(&c, y, i, j, dtype == TMARING_F64 ? a * 0.1 : (double)((float)a * 0.1f), 0);
    }
  }
  lane_end(&c);
}

Test(lanes, numbers_of_rows_and_columns, .timeout = 30)
{
  for (int way = 0; way < LANE_WAYS; ++way) {
    numbers(TMARING_F32, way);
    numbers(TMARING_F64, way);
  }
}

/* ---- streams ---- */

/* y = 3 * first + second, of pairs or of halves. */
static void gated(tmaring_dtype dtype, int way, int paired)
{
  lane_case c;
  int32_t x, y, a, b;
  lane_begin(&c, 11, columns_of(way + paired));
  c.way = lane_way_make(way);
  x = lane_matrix_make(&c, dtype, 2 * c.cols, plain);
  if (paired) {
    const int32_t stream = lane_paired(&c, x);
    a = lane_indexed(&c, OP(INPUT_EVEN), -1, stream);
    b = lane_indexed(&c, OP(INPUT_ODD), -1, stream);
  } else {
    a = lane_half(&c, x, 0);
    b = lane_half(&c, x, 1);
  }
  y = lane_output(&c, lane_node(&c, OP(ADD), lane_node(&c, OP(MUL), a, lane_number(&c, 3), -1), b, -1), TMARING_F32);
  lane_run(&c);
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int32_t j = 0; j < c.cols; ++j) {
      const double first = lane_value(&c, x, i, paired ? 2 * j : j);
      lane_expect(&c, y, i, j, 3 * first + lane_value(&c, x, i, paired ? 2 * j + 1 : c.cols + j), 0);
    }
  }
  lane_end(&c);
}

Test(lanes, pairs_and_halves, .timeout = 60)
{
  for (int way = 0; way < LANE_WAYS; ++way) {
    for (int dtype = 0; dtype < TMARING_I64; ++dtype) gated((tmaring_dtype)dtype, way, (way + dtype) % 2);
  }
}

/* A flat fill knows columns, though not rows. */
Test(lanes, flat_fills, .timeout = 30)
{
  for (int i = 0; i < 6; ++i) {
    const tmaring_dtype dtype = i % 2 ? TMARING_E4M3 : TMARING_F64;
    lane_case c;
    int32_t x, w, y, product;
    lane_begin(&c, 23, columns_of(i));
    c.way.scope = TMARING_SCOPE_FLAT;
    c.way.tile_rows = 5;
    c.way.mode = i % 3;
    c.way.shift = i;
    x = lane_matrix_make(&c, dtype, c.cols, plain);
    w = lane_tensor_make(&c, TMARING_I32, 1, c.cols, 0, steep);
    product = lane_node(&c, OP(MUL), lane_input(&c, x), lane_indexed(&c, OP(COL), -1, 0), -1);
    y = lane_output(&c, lane_node(&c, OP(ADD), product, lane_vector(&c, w), -1), TMARING_F32);
    lane_run(&c);
    for (int64_t row = 0; row < c.rows; ++row) {
      for (int32_t col = 0; col < c.cols; ++col)
        lane_expect(&c, y, row, col, lane_value(&c, x, row, col) * col + lane_value(&c, w, 0, col), 0);
    }
    lane_end(&c);
  }
}

/* Nothing is read: y = row * 2 + col. */
Test(lanes, programs_without_inputs, .timeout = 30)
{
  for (int way = 0; way < LANE_WAYS; ++way) {
    lane_case c;
    int32_t y, two;
    lane_begin(&c, 17, columns_of(way));
    c.way = lane_way_make(way);
    two = lane_node(&c, OP(MUL), lane_indexed(&c, OP(ROW), -1, 0), lane_number(&c, 2), -1);
    y = lane_output(&c, lane_node(&c, OP(ADD), two, lane_indexed(&c, OP(COL), -1, 0), -1),
                    way % 2 ? TMARING_F32 : TMARING_I32);
    lane_run(&c);
    for (int64_t i = 0; i < c.rows; ++i) {
      for (int32_t j = 0; j < c.cols; ++j) lane_expect(&c, y, i, j, (double)(2 * i + j), 0);
    }
    lane_end(&c);
  }
}

/* ---- ops ---- */

/* One op of one operand, per column and per row. */
static void apply(tmaring__op op, int32_t index, double (*due)(double x, int dtype), tmaring_dtype dtype, int dtype_due,
                  double slack)
{
  lane_case c;
  int32_t x, v, y, s;
  lane_begin(&c, 11, 67);
  x = lane_matrix_make(&c, dtype, c.cols, steep);
  v = lane_tensor_make(&c, dtype, c.rows, 1, 2, steep);
  y = lane_output(&c, lane_indexed(&c, op, lane_input(&c, x), index), dtype);
  s = lane_row_output(&c, lane_indexed(&c, op, lane_row_scalar(&c, v), index), dtype);
  lane_run(&c);
  for (int64_t i = 0; i < c.rows; ++i) {
    const double row = due(lane_value(&c, v, i, 0), dtype_due);
    lane_expect(&c, s, i, 0, row, slack * fabs(row));
    for (int32_t j = 0; j < c.cols; ++j) {
      const double value = due(lane_value(&c, x, i, j), dtype_due);
      lane_expect(&c, y, i, j, value, slack * fabs(value));
    }
  }
  lane_end(&c);
}

static double due_erf(double x, int dtype)
{
  (void)dtype;
  return erf(x);
}

static double due_round(double x, int dtype)
{
  (void)dtype;
  return nearbyint(x);
}

static double due_cast(double x, int dtype)
{
  return number_round((tmaring_dtype)dtype, x);
}

Test(lanes, erf_round_and_casts, .timeout = 30)
{
  apply(OP(ERF), 0, due_erf, TMARING_F32, 0, 0x1p-22);
  apply(OP(ERF), 0, due_erf, TMARING_F64, 0, 0x1p-51);
  apply(OP(ROUND), 0, due_round, TMARING_F32, 0, 0);
  apply(OP(ROUND), 0, due_round, TMARING_F64, 0, 0);
  for (int dtype = 0; dtype < TMARING_I64; ++dtype) {
    apply(OP(CAST), dtype, due_cast, TMARING_F32, dtype, 0);
    apply(OP(CAST), dtype, due_cast, TMARING_F64, dtype, 0);
  }
  apply(OP(CAST_AS), 0, due_cast, TMARING_BF16, TMARING_BF16, 0);
}

/* cast(x, a) follows the stream, not the output. */
Test(lanes, cast_to_the_type_of_a_stream, .timeout = 30)
{
  for (int dtype = 0; dtype < TMARING_I64; ++dtype) {
    lane_case c;
    int32_t x, y, third;
    lane_begin(&c, 6, 50);
    x = lane_matrix_make(&c, (tmaring_dtype)dtype, c.cols, steep);
    third = lane_node(&c, OP(DIV), lane_input(&c, x), lane_number(&c, 3), -1);
    y = lane_output(&c, lane_indexed(&c, OP(CAST_AS), third, 0), TMARING_F32);
    lane_run(&c);
    for (int64_t i = 0; i < c.rows; ++i) {
      for (int32_t j = 0; j < c.cols; ++j) {
        const double value = lane_value(&c, x, i, j);
        const double quotient = c.code.wide ? value / 3.0 : (double)((float)value / 3.0f);
        lane_expect(&c, y, i, j, number_round((tmaring_dtype)dtype, quotient), 0);
      }
    }
    lane_end(&c);
  }
}

/* ---- [M] tensors ---- */

/* One value for all rows, strided values, and strided outputs; labels of all whole types. */
Test(lanes, values_per_row, .timeout = 30)
{
  static const tmaring_dtype types[] = {TMARING_F32, TMARING_E4M3, TMARING_I8, TMARING_I32, TMARING_I64, TMARING_F64};
  for (int i = 0; i < 24; ++i) {
    lane_case c;
    int32_t x, one, each, y, s;
    lane_begin(&c, 19, columns_of(i));
    c.way = lane_way_make(i % LANE_WAYS);
    x = lane_matrix_make(&c, TMARING_F32, c.cols, plain);
    one = lane_tensor_make(&c, types[i % 6], 1, 1, 0, steep);
    each = lane_tensor_make(&c, types[(i + 1) % 6], c.rows, 1, i % 4, steep);
    y = lane_output(&c, lane_node(&c, OP(MUL), lane_input(&c, x), lane_row_scalar(&c, one), -1), TMARING_F32);
    s = lane_row_output(&c, lane_row_scalar(&c, each), types[(i + 2) % 6]);
    lane_run(&c);
    for (int64_t row = 0; row < c.rows; ++row) {
      lane_expect(&c, s, row, 0, lane_value(&c, each, row, 0), 0);
      for (int32_t col = 0; col < c.cols; ++col)
        lane_expect(&c, y, row, col, lane_value(&c, x, row, col) * lane_value(&c, one, 0, 0), 0);
    }
    lane_end(&c);
  }
}

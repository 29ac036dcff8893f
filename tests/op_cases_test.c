/* Cases from the field about what ops compute. Each test has the name of its case and of its backend; what the case is
 * about stands above it. Besides the judge, which knows the op, each case checks the numbers it was reported with. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/field_case.h"
#include "support/modes.h"
#include "support/op_trial.h"

static void row_numbers(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  (void)t;
  (void)input;
  for (int64_t i = 0; i < count; ++i) values[i] = (double)row;
}

/* F07: surplus slots wrap onto the first rows, are loaded and computed, and must not count. */
static int64_t sum_row_numbers(const venue *v, tally *sum, op_trial *t)
{
  float sums[1024];
  const float want = (float)(t->rows * (t->rows - 1) / 2);
  t->fill = row_numbers;
  t->keep[0] = sums;
  t->options.order = TMARING_ORDER_SPLIT;
  t->options.policy = TMARING_POLICY_WRAP;
  const trial_result result = op_trial_count(sum, t, v);
  for (int i = 0; i < 1024; ++i) cr_assert_eq(sums[i], want, "column %d: got %.9g", i, (double)sums[i]);
  return result.report.surplus_slots;
}

FIELD_CASE(F07b)
{
  int64_t surplus = 0;
  for (int mode = 0; mode < MODE_CHOICES; ++mode) {
    for (int32_t workers = 1; workers <= 132; workers = workers == 1 ? 13 : workers == 13 ? 131 : workers + 1) {
      op_trial even = op_trial_begin("col_sum", TMARING_F32, 1000, 1024), odd = even;
      mode_choose(&even.options, (mode_choice)mode);
      even.options.workers = workers;
      even.options.stages = 2;
      surplus += sum_row_numbers(v, sum, &even);
      odd.rows = 997;
      odd.options = even.options;
      odd.options.stages = 3;
      surplus += sum_row_numbers(v, sum, &odd);
    }
  }
  cr_expect_gt(surplus, 0, "no slot wrapped");
}

static void ramp(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  const double base = *(const double *)t->context;
  (void)row;
  for (int64_t i = 0; i < count; ++i) values[i] = input == 0 ? base + (double)i * 0.001 : input == 1 ? 1.0 : 0.0;
}

/* F14: a mean that is large beside the spread. The variance of squares less the square of the mean loses its digits. */
FIELD_CASE(F14)
{
  static const struct {
    double base, first, last, within;
  } listed[] = {{0.0, -1.341641, 1.341641, 2e-3},
                {100.0, -1.341528, 1.341357, 2e-3},
                {1000.0, -1.341508, 1.344237, 1e-2},
                {10000.0, -1.331333, 1.331333, 0.1}};
  for (size_t i = 0; i < sizeof listed / sizeof listed[0]; ++i) {
    float y[3 * 16];
    op_trial t = op_trial_begin("layernorm", TMARING_F32, 3, 16);
    t.fill = ramp;
    t.context = &listed[i].base;
    t.keep[0] = y;
    op_trial_count(sum, &t, v);
    for (int r = 0; r < 3; ++r) {
      cr_expect_leq(fabs(y[16 * r] - listed[i].first), listed[i].within, "base %g: %g", listed[i].base, y[16 * r]);
      cr_expect_leq(fabs(y[16 * r + 15] - listed[i].last), listed[i].within, "base %g: %g", listed[i].base,
                    y[16 * r + 15]);
    }
  }
  for (int dtype = 0; dtype < RECIPE_DTYPES; ++dtype) {
    op_trial t = op_trial_begin("layernorm", (tmaring_dtype)dtype, 33, 769);
    t.data = DATA_OFFSET;
    t.out = TMARING_F32;
    op_trial_count(sum, &t, v);
  }
}

static void all_300(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  (void)t;
  (void)row;
  for (int64_t i = 0; i < count; ++i) values[i] = input == 0 ? 300.0 : 1.0;
}

/* F15: squares whose sum f16 cannot hold. */
FIELD_CASE(F15)
{
  uint16_t y[2 * 512];
  op_trial t = op_trial_begin("rmsnorm", TMARING_F16, 2, 512);
  t.fill = all_300;
  t.scalar[0] = 1e-5;
  t.keep[0] = y;
  op_trial_count(sum, &t, v);
  for (int i = 0; i < 2 * 512; ++i) cr_assert_eq(number_read(TMARING_F16, &y[i]), 1.0, "at %d: %04x", i, y[i]);
}

enum { SOFTMAX_ROWS = 9 };

/* Row 5 is the control; rows 0 and 8 stand beside rows with NaN. */
static void infinite_rows(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  (void)t;
  (void)input;
  for (int64_t i = 0; i < count; ++i) values[i] = sin((double)(i + 7 * row));
  for (int64_t i = 0; (row == 1 || row == 7) && i < count; ++i) values[i] = -INFINITY;
  for (int64_t i = 0; row == 6 && i < count; ++i) values[i] = NAN;
  if (row == 2) values[17] = INFINITY;
  if (row == 3) values[0] = values[63] = INFINITY;
  if (row == 4) values[40] = NAN;
  if (row == 7) values[0] = NAN;
}

static void check_softmax(const float *y)
{
  for (int r = 0; r < SOFTMAX_ROWS; ++r) {
    const int finite = r == 0 || r == 5 || r == 8;
    double total = 0.0;
    for (int i = 0; i < 64; ++i) {
      total += y[64 * r + i];
      cr_expect_eq(isnan(y[64 * r + i]) != 0, !finite, "row %d, column %d: %g", r, i, y[64 * r + i]);
    }
    if (finite) cr_expect_leq(fabs(total - 1.0), 1e-6, "row %d sums to %.9g", r, total);
  }
}

/* F16: rows of infinities and NaN give NaN, as in PyTorch; their neighbours are as they would be alone. */
FIELD_CASE(F16)
{
  static const char *const ops[] = {"softmax", "log_softmax", "softmax_scaled"};
  for (size_t op = 0; op < sizeof ops / sizeof ops[0]; ++op) {
    for (int dtype = 0; dtype < RECIPE_DTYPES; ++dtype) {
      float y[SOFTMAX_ROWS * 64];
      op_trial t = op_trial_begin(ops[op], (tmaring_dtype)dtype, SOFTMAX_ROWS, 64);
      t.out = TMARING_F32;
      t.fill = infinite_rows;
      t.keep[0] = y;
      op_trial_count(sum, &t, v);
      if (op == 0) check_softmax(y);
    }
  }
}

static void thirteen(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  (void)t;
  (void)input;
  for (int64_t i = 0; i < count; ++i) values[i] = row == 0 ? 0.0 : (double)(i + 1);
}

/* Quantizes [2,13], row 0 all zero, row 1 = 1..13, with 1e30 behind each row. */
static void quantize_thirteen(const venue *v, tally *sum, const char *op, tmaring_dtype in, float *scale,
                              uint8_t *codes)
{
  op_state s;
  op_trial t = op_trial_begin(op, in, 2, 13);
  t.layout = OP_ODD;
  t.fill = thirteen;
  t.keep[0] = scale;
  t.keep[1] = codes;
  if (op_open(&s, &t, v) && op_fill_gaps(&s, op_input_tensor(&s, 0), 1e30) && op_launch(&s)) op_judge(&s);
  tally_count(sum, &s.result);
  op_close(&s);
  for (int i = 0; i < 13; ++i) cr_expect_eq(codes[i], 0x00, "%s: code %d of the zero row: %02x", op, i, codes[i]);
  cr_expect(isfinite(scale[0]) && scale[0] > 0.0f, "%s: %g", op, scale[0]);
}

/* F17: a row of zeros has a finite positive scale; what lies past 13 columns never enters the maximum. */
FIELD_CASE(F17)
{
  for (int dtype = 0; dtype < RECIPE_DTYPES; ++dtype) {
    uint8_t codes[2 * 13];
    float scale[2];
    quantize_thirteen(v, sum, "quantize_fp8_row", (tmaring_dtype)dtype, scale, codes);
    cr_expect_leq(fabs(scale[1] - 13.0 / 448.0), 2e-9, "%.9g", scale[1]);
    cr_expect_eq(codes[25], 0x7e, "13: %02x", codes[25]);
    cr_expect_eq(codes[13], 0x61, "1: %02x", codes[13]);
    quantize_thirteen(v, sum, "quantize_fp8_group", (tmaring_dtype)dtype, scale, codes);
    cr_expect_leq(fabs(scale[1] - 13.0 / 448.0), 2e-9, "%.9g", scale[1]);
    quantize_thirteen(v, sum, "quantize_i8_row", (tmaring_dtype)dtype, scale, codes);
    cr_expect_eq(codes[25], 127, "13: %d", codes[25]);
  }
}

static void ends_of_e4m3(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  static const double listed[] = {448.0, 464.0, 480.0, 1e4, -1e4, INFINITY, NAN, 0x1p-9, 0x1p-10, 1.5 * 0x1p-10};
  (void)t;
  (void)row;
  for (int64_t i = 0; i < count; ++i) values[i] = input == 0 ? listed[i] : 1.0;
}

/* F18: e4m3 has no infinities: what is too large becomes the largest, NaN stays NaN; ties go to the even code. */
FIELD_CASE(F18)
{
  static const uint8_t want[] = {0x7e, 0x7e, 0x7e, 0x7e, 0xfe, 0x7e, 0x7f, 0x01, 0x00, 0x01};
  static const tmaring_dtype inputs[] = {TMARING_F32, TMARING_BF16, TMARING_F64};
  for (int i = 0; i < 6; ++i) {
    uint8_t codes[10];
    op_trial t = op_trial_begin(i % 2 ? "quantize_fp8" : "cast", inputs[i / 2], 1, 10);
    if (i % 2 == 0) t.out = TMARING_E4M3;
    t.fill = ends_of_e4m3;
    t.keep[0] = codes;
    op_trial_count(sum, &t, v);
    for (int k = 0; k < 10; ++k) cr_expect_eq(codes[k], want[k], "%s, value %d: %02x", t.op->name, k, codes[k]);
  }
}

/* The tests' own references and tolerances: right fp32 arithmetic passes, and each known way to get it wrong is
 * rejected. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "support/noise.h"
#include "support/recipe.h"
#include "support/verdict.h"

#define COLS 512

typedef struct sheet {
  double x[COLS], w[COLS], b[COLS];
  double want[COLS], bound[COLS], got[COLS];
  tmaring_dtype dtype;
} sheet;

/* A row of data of the type, and what the recipe says of it. Sums of the functions below go four ways: 128 steps and
 * two more. */
static void lay(sheet *s, recipe_name formula, tmaring_dtype dtype, data_kind kind)
{
  noise n = noise_seed(7);
  s->dtype = dtype;
  for (int i = 0; i < COLS; ++i) {
    s->x[i] = number_round(dtype, data_value(&n, kind, 0));
    s->w[i] = number_round(dtype, data_value(&n, DATA_PLAIN, 0));
    s->b[i] = number_round(dtype, data_value(&n, DATA_PLAIN, 0));
  }
  const recipe_row in = {COLS, COLS / 4 + 2, {s->x, s->w, s->b}};
  const expected_row out[RECIPE_MAX_OUTPUTS] = {{s->want, s->bound}};
  recipe_find(formula)->evaluate(&in, out);
}

static int64_t misses(const sheet *s, int64_t count)
{
  int64_t missed = 0;
  for (int64_t i = 0; i < count; ++i) {
    missed += !verdict_near(s->dtype, number_round(s->dtype, s->got[i]), s->want[i], s->bound[i]);
  }
  return missed;
}

static float sum4(const float *x)
{
  float part[4] = {0, 0, 0, 0};
  for (int i = 0; i < COLS; ++i) part[i % 4] += x[i];
  return (part[0] + part[1]) + (part[2] + part[3]);
}

/* What may go wrong. */
typedef enum fault {
  RIGHT,
  SUM_IN_F16,
  VARIANCE_BY_SQUARES, /* E[x^2] - E[x]^2 */
  VARIANCE_OF_SAMPLE,  /* divided by N - 1 */
  ROUND_EARLY,         /* to the output's type before the weight */
  ROUND_DOWN,          /* towards zero */
  ONE_ROW_SHORT,       /* the last element is left out of the sum */
  COARSE_ROOT,         /* 12 good bits */
  NO_MAXIMUM
} fault;

static double half(double value)
{
  return number_round(TMARING_F16, value);
}

static float sum_of(const float *x, fault f)
{
  if (f == SUM_IN_F16) {
    double sum = 0.0;
    for (int i = 0; i < COLS; ++i) sum = half(sum + half(x[i]));
    return (float)sum;
  }
  return f == ONE_ROW_SHORT ? sum4(x) - x[COLS - 1] : sum4(x);
}

static float root(float x, fault f)
{
  const float r = 1.0f / sqrtf(x);
  return f == COARSE_ROOT ? r * (1.0f + 1.0f / 4096.0f) : r;
}

static void run_row_sum(sheet *s, fault f)
{
  float x[COLS];
  for (int i = 0; i < COLS; ++i) x[i] = (float)s->x[i];
  s->got[0] = sum_of(x, f);
}

static void run_rmsnorm(sheet *s, fault f)
{
  float squares[COLS];
  for (int i = 0; i < COLS; ++i) squares[i] = (float)s->x[i] * (float)s->x[i];
  const float scale = root(sum_of(squares, f) / COLS + 1e-6f, f);
  for (int i = 0; i < COLS; ++i) {
    const float normal = (float)s->x[i] * scale;
    s->got[i] = (f == ROUND_EARLY ? (float)number_round(s->dtype, normal) : normal) * (float)s->w[i];
    if (f == ROUND_DOWN) s->got[i] -= copysign(number_half_ulp(s->dtype, s->got[i]) * 0.999, s->got[i]);
  }
}

static void run_layernorm(sheet *s, fault f)
{
  float x[COLS], squares[COLS];
  for (int i = 0; i < COLS; ++i) x[i] = (float)s->x[i];
  const float mean = sum_of(x, f) / COLS;
  for (int i = 0; i < COLS; ++i) {
    squares[i] = f == VARIANCE_BY_SQUARES ? x[i] * x[i] : (x[i] - mean) * (x[i] - mean);
  }
  float variance = sum4(squares) / (f == VARIANCE_OF_SAMPLE ? COLS - 1 : COLS);
  if (f == VARIANCE_BY_SQUARES) variance -= mean * mean;
  const float scale = root(variance + 1e-5f, f);
  for (int i = 0; i < COLS; ++i) {
    float normal = (x[i] - mean) * scale * (float)s->w[i];
    if (f == ROUND_EARLY) normal = (float)number_round(s->dtype, normal);
    s->got[i] = normal + (float)s->b[i];
  }
}

static void run_softmax(sheet *s, fault f)
{
  float x[COLS], terms[COLS], most = -INFINITY;
  for (int i = 0; i < COLS; ++i) most = fmaxf(most, x[i] = (float)s->x[i]);
  if (f == NO_MAXIMUM) most = 0.0f;
  for (int i = 0; i < COLS; ++i) {
    terms[i] = expf(x[i] - most);
    if (f == ROUND_EARLY) terms[i] = (float)number_round(s->dtype, terms[i]);
  }
  const float sum = sum_of(terms, f);
  for (int i = 0; i < COLS; ++i) s->got[i] = terms[i] / sum;
}

typedef struct mutant {
  recipe_name formula;
  tmaring_dtype dtype;
  data_kind data;
  fault fault;
} mutant;

static int64_t run_mutant(sheet *s, const mutant *m)
{
  lay(s, m->formula, m->dtype, m->data);
  switch (m->formula) {
  case RECIPE_RMSNORM: run_rmsnorm(s, m->fault); break;
  case RECIPE_LAYERNORM: run_layernorm(s, m->fault); break;
  case RECIPE_SOFTMAX: run_softmax(s, m->fault); break;
  default: run_row_sum(s, m->fault); return misses(s, 1);
  }
  return misses(s, COLS);
}

Test(reference, right_arithmetic_passes, .timeout = 20)
{
  static const recipe_name formulas[] = {RECIPE_RMSNORM, RECIPE_LAYERNORM, RECIPE_SOFTMAX, RECIPE_ROW_SUM};
  static const data_kind kinds[] = {DATA_PLAIN, DATA_POSITIVE, DATA_OFFSET, DATA_STEEP};
  sheet s;
  for (int f = 0; f < 4; ++f) {
    for (int k = 0; k < 4; ++k) {
      for (int dtype = 0; dtype < RECIPE_DTYPES; ++dtype) {
        const mutant m = {formulas[f], (tmaring_dtype)dtype, kinds[k], RIGHT};
        cr_expect_eq(run_mutant(&s, &m), 0, "%s, type %d, data %d", recipe_find(m.formula)->name, dtype, k);
      }
    }
  }
}

Test(reference, wrong_arithmetic_is_rejected, .timeout = 20)
{
  static const mutant mutants[] = {
      {RECIPE_ROW_SUM, TMARING_F32, DATA_PLAIN, SUM_IN_F16},
      {RECIPE_ROW_SUM, TMARING_F16, DATA_POSITIVE, SUM_IN_F16},
      {RECIPE_ROW_SUM, TMARING_F32, DATA_PLAIN, ONE_ROW_SHORT},
      {RECIPE_RMSNORM, TMARING_F16, DATA_PLAIN, SUM_IN_F16},
      {RECIPE_RMSNORM, TMARING_F32, DATA_PLAIN, ONE_ROW_SHORT},
      {RECIPE_RMSNORM, TMARING_F32, DATA_PLAIN, COARSE_ROOT},
      {RECIPE_RMSNORM, TMARING_F16, DATA_PLAIN, ROUND_EARLY},
      {RECIPE_RMSNORM, TMARING_BF16, DATA_PLAIN, ROUND_EARLY},
      {RECIPE_RMSNORM, TMARING_F16, DATA_PLAIN, ROUND_DOWN},
      {RECIPE_RMSNORM, TMARING_BF16, DATA_PLAIN, ROUND_DOWN},
      {RECIPE_LAYERNORM, TMARING_F32, DATA_OFFSET, VARIANCE_BY_SQUARES},
      {RECIPE_LAYERNORM, TMARING_F32, DATA_PLAIN, VARIANCE_OF_SAMPLE},
      {RECIPE_LAYERNORM, TMARING_F16, DATA_PLAIN, ROUND_EARLY},
      {RECIPE_LAYERNORM, TMARING_BF16, DATA_PLAIN, ROUND_EARLY},
      {RECIPE_LAYERNORM, TMARING_F16, DATA_POSITIVE, SUM_IN_F16},
      {RECIPE_SOFTMAX, TMARING_F16, DATA_PLAIN, SUM_IN_F16},
      {RECIPE_SOFTMAX, TMARING_F16, DATA_PLAIN, ROUND_EARLY},
      {RECIPE_SOFTMAX, TMARING_F32, DATA_PLAIN, ONE_ROW_SHORT},
      {RECIPE_SOFTMAX, TMARING_F32, DATA_OFFSET, NO_MAXIMUM},
  };
  sheet s;
  for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; ++i) {
    cr_expect_gt(run_mutant(&s, &mutants[i]), 0, "mutant %zu of %s passes", i, recipe_find(mutants[i].formula)->name);
  }
}

Test(reference, exact_results_are_compared_exactly, .timeout = 10)
{
  const double next = 1.0 + 0x1p-23;
  cr_expect(verdict_near(TMARING_F32, 1.0, 1.0, 0.0));
  cr_expect_not(verdict_near(TMARING_F32, next, 1.0, 0.0));
  cr_expect_not(verdict_near(TMARING_F32, 0.0, 1.0, 0.5));
  cr_expect_not(verdict_near(TMARING_F32, NAN, 1.0, 1e30));
  cr_expect(verdict_near(TMARING_F32, NAN, NAN, 0.0));
  cr_expect_not(verdict_near(TMARING_BF16, 1.0 + 0x1p-7, 1.0, 1e-9));
}

/* Against values worked out by hand from the formats. */
Test(reference, small_types_round_to_nearest_even, .timeout = 10)
{
  cr_expect_eq(number_round(TMARING_F16, 1.0 + 0x1p-11), 1.0);
  cr_expect_eq(number_round(TMARING_F16, 1.0 + 3 * 0x1p-11), 1.0 + 0x1p-9);
  cr_expect_eq(number_round(TMARING_F16, 65519.0), 65504.0);
  cr_expect(isinf(number_round(TMARING_F16, 65520.0)));
  cr_expect_eq(number_round(TMARING_F16, 0x1p-25), 0.0);
  cr_expect_eq(number_round(TMARING_F16, 3 * 0x1p-25), 0x1p-23);
  cr_expect_eq(number_round(TMARING_BF16, 1.0 + 0x1p-8), 1.0);
  cr_expect_eq(number_round(TMARING_BF16, 1.0 + 3 * 0x1p-8), 1.0 + 0x1p-6);
  cr_expect_eq(number_half_ulp(TMARING_F16, 1.5), 0x1p-11);
  cr_expect_eq(number_half_ulp(TMARING_BF16, 3.0), 0x1p-7);
  cr_expect_eq(number_round(TMARING_F64, 0.1), 0.1);
  cr_expect_eq(number_round(TMARING_F32, 0.1), 0x1.99999ap-4);
}

/* fp8 saturates; a value just past a midpoint goes up, also where f16 or bf16 would first make it the midpoint. */
Test(reference, fp8_rounds_once_and_saturates, .timeout = 10)
{
  cr_expect_eq(number_round(TMARING_E4M3, 17.0), 16.0);
  cr_expect_eq(number_round(TMARING_E4M3, 19.0), 20.0);
  cr_expect_eq(number_round(TMARING_E4M3, 17.0 + 0x1p-20), 18.0);
  cr_expect_eq(number_round(TMARING_E4M3, 1e9), 448.0);
  cr_expect_eq(number_round(TMARING_E4M3, -INFINITY), -448.0);
  cr_expect_eq(number_round(TMARING_E4M3, 0x1p-10), 0.0);
  cr_expect_eq(number_round(TMARING_E4M3, 3 * 0x1p-10), 0x1p-8);
  cr_expect_eq(number_round(TMARING_E5M2, 9.0), 8.0);
  cr_expect_eq(number_round(TMARING_E5M2, 11.0), 12.0);
  cr_expect_eq(number_round(TMARING_E5M2, INFINITY), 57344.0);
  cr_expect(isnan(number_round(TMARING_E4M3, NAN)));
  cr_expect_eq(number_least(TMARING_E4M3), 0x1p-9);
  cr_expect_eq(number_least(TMARING_E5M2), 0x1p-16);
  cr_expect_eq(number_least(TMARING_F32), 0x1p-149);
}

Test(reference, integers_round_to_even_and_saturate, .timeout = 10)
{
  int64_t whole;
  cr_expect_eq(number_round(TMARING_I8, 2.5), 2.0);
  cr_expect_eq(number_round(TMARING_I8, -3.5), -4.0);
  cr_expect_eq(number_round(TMARING_I8, 127.4), 127.0);
  cr_expect_eq(number_round(TMARING_I8, 1e6), 127.0);
  cr_expect_eq(number_round(TMARING_I8, -INFINITY), -128.0);
  cr_expect_eq(number_round(TMARING_I8, NAN), 0.0);
  cr_expect_eq(number_round(TMARING_I32, 1e10), 2147483647.0);
  cr_expect_eq(number_round(TMARING_I32, -1e10), -2147483648.0);
  number_write(TMARING_I64, &whole, 1e30);
  cr_expect_eq(whole, INT64_MAX);
  number_write(TMARING_I64, &whole, -1e30);
  cr_expect_eq(whole, INT64_MIN);
  number_write(TMARING_I64, &whole, -100.0);
  cr_expect_eq(whole, -100);
}

static void check_bits(tmaring_dtype dtype, uint64_t bits, double value)
{
  uint64_t written = 0;
  number_write(dtype, &written, value);
  cr_expect_eq(written, bits, "%g as %llx, not %llx", value, (unsigned long long)written, (unsigned long long)bits);
  cr_expect_eq(number_read(dtype, &bits), value, "%llx", (unsigned long long)bits);
}

Test(reference, bits_of_the_types, .timeout = 10)
{
  check_bits(TMARING_F16, 0x3c00, 1.0);
  check_bits(TMARING_F16, 0xc000, -2.0);
  check_bits(TMARING_F16, 0x7bff, 65504.0);
  check_bits(TMARING_F16, 0x0001, 0x1p-24);
  check_bits(TMARING_F16, 0x0400, 0x1p-14);
  check_bits(TMARING_F16, 0xfc00, -INFINITY);
  check_bits(TMARING_F16, 0x3555, 0x1.554p-2);
  check_bits(TMARING_BF16, 0x3f80, 1.0);
  check_bits(TMARING_BF16, 0xc040, -3.0);
  check_bits(TMARING_BF16, 0x0001, 0x1p-133);
  check_bits(TMARING_BF16, 0x7f80, INFINITY);
  check_bits(TMARING_F32, 0xc0000000, -2.0);
  check_bits(TMARING_F64, 0x3ff8000000000000, 1.5);
  check_bits(TMARING_E4M3, 0x7e, 448.0);
  check_bits(TMARING_E4M3, 0xb8, -1.0);
  check_bits(TMARING_E4M3, 0x08, 0x1p-6);
  check_bits(TMARING_E4M3, 0x07, 7 * 0x1p-9);
  check_bits(TMARING_E5M2, 0x7b, 57344.0);
  check_bits(TMARING_E5M2, 0x3c, 1.0);
  check_bits(TMARING_E5M2, 0x81, -0x1p-16);
  check_bits(TMARING_I8, 0x80, -128.0);
  check_bits(TMARING_I32, 0xfffffffe, -2.0);
  check_bits(TMARING_I64, 0xffffffffffffff9c, -100.0);
}

Test(reference, special_codes_are_read, .timeout = 10)
{
  static const uint8_t e4m3[] = {0x7f, 0xff}, e5m2[] = {0x7d, 0x7f, 0xfe};
  for (int i = 0; i < 2; ++i) cr_expect(isnan(number_read(TMARING_E4M3, &e4m3[i])));
  for (int i = 0; i < 3; ++i) cr_expect(isnan(number_read(TMARING_E5M2, &e5m2[i])));
  cr_expect_eq(number_read(TMARING_E5M2, (const uint8_t[]){0x7c}), INFINITY);
  cr_expect_eq(number_read(TMARING_E5M2, (const uint8_t[]){0xfc}), -INFINITY);
}

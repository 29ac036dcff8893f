/* The oracle against libm and against loops written out here. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/noise.h"
#include "tmaring/formula.h"

enum { ROWS = 5, COLS = 301, CELLS = ROWS * COLS }; /* more columns than the oracle takes at once */

static double data_x[CELLS], data_z[CELLS], data_w[COLS], data_s[ROWS], got[CELLS], got_more[CELLS];

static void fill(double *data, int count, uint64_t seed)
{
  noise n = noise_seed(seed);
  for (int i = 0; i < count; ++i) data[i] = data_value(&n, DATA_PLAIN, 0);
}

static void fill_all(void)
{
  fill(data_x, CELLS, 1);
  fill(data_z, CELLS, 2);
  fill(data_w, COLS, 3);
  fill(data_s, ROWS, 4);
  memset(got, 0xff, sizeof got);
  memset(got_more, 0xff, sizeof got_more);
}

static double *named(const char *name, int32_t output)
{
  if (output >= 0) return output == 0 ? got : got_more;
  return name[0] == 'x' ? data_x : name[0] == 'z' ? data_z : name[0] == 'w' ? data_w : data_s;
}

/* Evaluates over the inputs x and z [M,N], w[N], s[M]; the first output comes into got, the second into got_more. */
static void evaluate(const char *text, int64_t rows, int64_t cols, const double *scalars)
{
  tmaring_formula *formula;
  tmaring_parameter p;
  double *data[8];
  int32_t outputs = 0;
  cr_assert_eq(tmaring_formula_parse(&formula, text), TMARING_OK, "%s\n%s", text, tmaring_last_detail());
  for (int32_t i = 0; i < tmaring_formula_tensor_count(formula); ++i) {
    cr_assert_eq(tmaring_formula_tensor(formula, i, &p), TMARING_OK);
    data[i] = named(p.name, p.is_output ? outputs++ : -1);
  }
  cr_assert_eq(tmaring_formula_evaluate(formula, rows, cols, data, scalars, NULL), TMARING_OK, "%s",
               tmaring_last_detail());
  tmaring_formula_free(formula);
}

/* Same number, or both NaN. */
static int same(double a, double b)
{
  return a == b || (isnan(a) && isnan(b));
}

static int near(double a, double b)
{
  return same(a, b) || fabs(a - b) <= 1e-12 * (1 + fabs(b));
}

#define X data_x[i]
#define Z data_z[i]
#define W data_w[i % COLS]
#define S data_s[i / COLS]

/* Evaluates the text, and the C expression for every element. */
#define EVERYWHERE(text, expression)                                                                                   \
  do {                                                                                                                 \
    fill_all();                                                                                                        \
    evaluate(text, ROWS, COLS, NULL);                                                                                  \
    for (int i = 0; i < CELLS; ++i)                                                                                    \
      cr_assert(same(got[i], expression), "%s at %d: got %a, needs %a", text, i, got[i], (double)(expression));        \
    ++compared;                                                                                                        \
  } while (0)

Test(formula_oracle, functions_are_those_of_libm, .timeout = 10)
{
  int compared = 0;
  EVERYWHERE("y = x + z", X + Z);
  EVERYWHERE("y = x - z", X - Z);
  EVERYWHERE("y = x * z", X * Z);
  EVERYWHERE("y = x / z", X / Z);
  EVERYWHERE("y = -x", -X);
  EVERYWHERE("y = abs(x)", fabs(X));
  EVERYWHERE("y = min(x, z)", fmin(X, Z));
  EVERYWHERE("y = max(x, z)", fmax(X, Z));
  EVERYWHERE("y = exp(x)", exp(X));
  EVERYWHERE("y = log(x)", log(X));
  EVERYWHERE("y = sqrt(x)", sqrt(X));
  EVERYWHERE("y = rsqrt(x)", 1 / sqrt(X));
  EVERYWHERE("y = tanh(x)", tanh(X));
  EVERYWHERE("y = sigmoid(x)", 1 / (1 + exp(-X)));
  EVERYWHERE("y = where(x < z, x, 2)", X < Z ? X : 2);
  EVERYWHERE("y = where(x < x, 1, z)", Z);
  EVERYWHERE("y = where(x <= x, 1, z)", 1);
  EVERYWHERE("y = where(x > x, 1, z)", Z);
  EVERYWHERE("y = where(x >= z, 1, z)", X >= Z ? 1 : Z);
  EVERYWHERE("y = where(x <= z, 1, z)", X <= Z ? 1 : Z);
  EVERYWHERE("y = where(x > z, 1, z)", X > Z ? 1 : Z);
  EVERYWHERE("y = where(x >= x, 1, z)", 1);
  EVERYWHERE("y = where(abs(x) == x, 1, z)", X > 0 ? 1 : Z);
  EVERYWHERE("y = where(abs(x) != x, 1, z)", X < 0 ? 1 : Z);
  EVERYWHERE("y = x * N", X * COLS);
  EVERYWHERE("y = x * M", X * ROWS);
  EVERYWHERE("y = x + col", X + i % COLS);
  EVERYWHERE("y = x + row", X + i / COLS);
  EVERYWHERE("y = clamp(x, -1, s[M])", fmin(fmax(X, -1), S));
  EVERYWHERE("y = erf(x)", erf(X));
  EVERYWHERE("y = round(x * 3)", rint(X * 3));
  EVERYWHERE("y = round(where(x > 0, col, -col) / 2)", rint((X > 0 ? i % COLS : -(i % COLS)) / 2.0));
  EVERYWHERE("y = silu(x)", X * (1 / (1 + exp(-X))));
  fprintf(stderr, "formula_oracle: %d functions and operators over %d elements each\n", compared, CELLS);
}

Test(formula_oracle, precedence_and_associativity, .timeout = 10)
{
  int compared = 0;
  EVERYWHERE("y = x + z * w[N]", X + Z * W);
  EVERYWHERE("y = (x + z) * w[N]", (X + Z) * W);
  EVERYWHERE("y = x - z - w[N]", X - Z - W);
  EVERYWHERE("y = x - (z - w[N])", X - (Z - W));
  EVERYWHERE("y = x / z / w[N]", X / Z / W);
  EVERYWHERE("y = x / z * w[N]", X / Z * W);
  EVERYWHERE("y = -x * z + -w[N]", -X * Z + -W);
  EVERYWHERE("y = x * -z - -w[N]", X * -Z - -W);
  EVERYWHERE("y = - -x - - -z", X - -(-Z) * 1);
  EVERYWHERE("y = where(x + 1 < z * 2, x - 1, z)", X + 1 < Z * 2 ? X - 1 : Z);
  EVERYWHERE("y = where(-x > z - 1, x / 2, z)", -X > Z - 1 ? X / 2 : Z);
  EVERYWHERE("y = x * 1.5e1 + .25 - 2. / 4", X * 15 + .25 - .5);
  cr_expect_eq(compared, 12);
}

Test(formula_oracle, shapes_broadcast, .timeout = 10)
{
  int compared = 0;
  EVERYWHERE("y = x * w[N] + s[M]", X * W + S);
  EVERYWHERE("y = s[M] * w[N]; m = max(x)", S * W);
  EVERYWHERE("y = w[N]; m = max(x)", W);
  EVERYWHERE("y = 3; m = max(x)", 3);
  EVERYWHERE("y = N * 2; m = max(x)", 2 * COLS);
  EVERYWHERE("y = where(s[M] > 0, x, w[N])", S > 0 ? X : W);
  EVERYWHERE("y = where(w[N] > 0, s[M], 1) + 0 * x", (W > 0 ? S : 1) + 0 * X);
  EVERYWHERE("f(x[M,N], w[N], s[M]; a = 2, b = -0.5) = x * a + w * b + s", X * 2 + W * -0.5 + S);
  cr_expect_eq(compared, 8);
}

Test(formula_oracle, reductions_of_rows, .timeout = 10)
{
  static const char *const text[] = {"y = sum(x)",
                                     "y = mean(x)",
                                     "y = max(x)",
                                     "y = min(x)",
                                     "y = sum(w[N]) + 0 * max(x)",
                                     "y = -mean(x * w[N]) + s[M]",
                                     "y = amax(x - 2)",
                                     "y = argmax(x)",
                                     "y = argmax(-x)",
                                     "y = logsumexp(x)",
                                     "y = logsumexp(x * 400) + 0 * argmax(x)",
                                     "f(x[M,N]) = argmax(where(col < 150, x, -9))"};
  for (size_t t = 0; t < sizeof text / sizeof text[0]; ++t) {
    fill_all();
    evaluate(text[t], ROWS, COLS, NULL);
    for (int row = 0; row < ROWS; ++row) {
      const double *x = data_x + row * COLS;
      double sum = 0, high = x[0], low = x[0], sum_w = 0, dot = 0, power = 0, steep = 0;
      int highest = 0, lowest = 0, highest_half = 0;
      for (int i = 0; i < COLS; ++i) {
        sum += x[i];
        sum_w += data_w[i];
        dot += x[i] * data_w[i];
        high = fmax(high, x[i]);
        low = fmin(low, x[i]);
        if (x[i] > x[highest]) highest = i;
        if (x[i] < x[lowest]) lowest = i;
        if (i < 150 && x[i] > x[highest_half]) highest_half = i;
      }
      for (int i = 0; i < COLS; ++i) {
        power += exp(x[i] - high);
        steep += exp(400 * x[i] - 400 * high);
      }
      const double want[] = {sum,
                             sum / COLS,
                             high,
                             low,
                             sum_w,
                             -dot / COLS + data_s[row],
                             2 - low,
                             highest,
                             lowest,
                             high + log(power),
                             400 * high + log(steep),
                             highest_half};
      cr_expect(near(got[row], want[t]), "%s: got %a, needs %a", text[t], got[row], want[t]);
    }
    for (int i = ROWS; i < CELLS; ++i) cr_assert(isnan(got[i]), "%s writes past its rows", text[t]);
  }
}

/* Row by row: mean and variance in two passes, softmax with its maximum subtracted. */
static void by_hand(const double *x, double *rms, double *norm, double *soft)
{
  double squares = 0, mean = 0, variance = 0, high = x[0], total = 0;
  for (int i = 0; i < COLS; ++i) {
    squares += x[i] * x[i] / COLS;
    mean += x[i] / COLS;
    high = fmax(high, x[i]);
  }
  for (int i = 0; i < COLS; ++i) {
    variance += (x[i] - mean) * (x[i] - mean) / COLS;
    total += exp(x[i] - high);
  }
  for (int i = 0; i < COLS; ++i) {
    rms[i] = x[i] / sqrt(squares + 1e-6) * data_w[i];
    norm[i] = (x[i] - mean) / sqrt(variance + 1e-5) * data_w[i];
    soft[i] = exp(x[i] - high) / total;
  }
}

Test(formula_oracle, norms_and_softmax, .timeout = 10)
{
  static const char *const text[] = {"rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x*x) + eps) * w",
                                     "mu = mean(x); d = x - mu; y = d * rsqrt(mean(d*d) + 1e-5) * w[N]",
                                     "e = exp(x - max(x)); y = e / sum(e)"};
  double want[3][COLS];
  for (int t = 0; t < 3; ++t) {
    fill_all();
    evaluate(text[t], ROWS, COLS, NULL);
    for (int row = 0; row < ROWS; ++row) {
      by_hand(data_x + row * COLS, want[0], want[1], want[2]);
      for (int i = 0; i < COLS; ++i)
        cr_assert(near(got[row * COLS + i], want[t][i]), "%s at %d, %d: got %a, needs %a", text[t], row, i,
                  got[row * COLS + i], want[t][i]);
    }
  }
}

Test(formula_oracle, several_statements_and_outputs, .timeout = 10)
{
  fill_all();
  evaluate("t = x * 2; out u = t + z; v = u * t", ROWS, COLS, NULL);
  for (int i = 0; i < CELLS; ++i) {
    cr_assert_eq(got[i], X * 2 + Z);
    cr_assert_eq(got_more[i], (X * 2 + Z) * (X * 2));
  }
  fill_all();
  evaluate("a = x; b = a; out m = max(b); c = b - m; y = c", ROWS, COLS, NULL);
  for (int i = 0; i < CELLS; ++i) cr_assert_eq(got_more[i], X - got[i / COLS]);
}

Test(formula_oracle, special_values, .timeout = 10)
{
  static const double special[] = {NAN, INFINITY, -INFINITY, 0.0, 1.0, -1.0};
  enum { SPECIALS = 6 };
  fill_all();
  for (int i = 0; i < SPECIALS * SPECIALS; ++i) {
    data_x[i] = special[i / SPECIALS];
    data_z[i] = special[i % SPECIALS];
  }
  evaluate("y = max(x, z); v = min(x, z)", SPECIALS, SPECIALS, NULL);
  for (int i = 0; i < SPECIALS * SPECIALS; ++i) {
    const int bad = isnan(X) || isnan(Z);
    cr_expect(same(got[i], bad ? NAN : fmax(X, Z)), "max(%g, %g) = %g", X, Z, got[i]);
    cr_expect(same(got_more[i], bad ? NAN : fmin(X, Z)), "min(%g, %g) = %g", X, Z, got_more[i]);
  }
  evaluate("y = max(z); v = min(z)", 2, SPECIALS, NULL); /* a NaN anywhere in the row */
  cr_expect(isnan(got[0]) && isnan(got_more[1]));
  evaluate("y = where(x == x, 1, 0); v = where(x != x, 1, where(x < 0, 2, 3))", SPECIALS, SPECIALS, NULL);
  for (int i = 0; i < SPECIALS * SPECIALS; ++i) {
    cr_expect_eq(got[i], isnan(X) ? 0 : 1);
    cr_expect_eq(got_more[i], isnan(X) ? 1 : X < 0 ? 2 : 3);
  }
  for (int i = 0; i < SPECIALS; ++i) data_x[i] = -INFINITY;
  evaluate("e = exp(x - max(x)); y = e / sum(e)", 1, SPECIALS, NULL);
  for (int i = 0; i < SPECIALS; ++i) cr_expect(isnan(got[i]), "softmax of -inf alone is NaN");
  evaluate("y = sigmoid(x); v = tanh(x)", 1, SPECIALS, NULL);
  cr_expect(got[0] == 0 && got_more[0] == -1);
}

Test(formula_oracle, scalars_and_defaults, .timeout = 10)
{
  static const char *const text = "f(x[M,N]; a = 3, b = 0.5) = x * a + b";
  const double given[] = {-2, 7};
  fill_all();
  evaluate(text, ROWS, COLS, NULL);
  for (int i = 0; i < CELLS; ++i) cr_assert_eq(got[i], X * 3 + 0.5);
  evaluate(text, ROWS, COLS, given);
  for (int i = 0; i < CELLS; ++i) cr_assert_eq(got[i], X * -2 + 7);
}

Test(formula_oracle, an_output_may_be_an_input, .timeout = 10)
{
  tmaring_formula *formula;
  double *data[] = {data_x, data_z, data_x, data_z};
  static double want_a[CELLS], want_b[CELLS];
  fill_all();
  evaluate("a = x - max(x) * z; b = z + x", ROWS, COLS, NULL);
  memcpy(want_a, got, sizeof want_a);
  memcpy(want_b, got_more, sizeof want_b);
  cr_assert_eq(tmaring_formula_parse(&formula, "a = x - max(x) * z; b = z + x"), TMARING_OK);
  cr_assert_eq(tmaring_formula_evaluate(formula, ROWS, COLS, data, NULL, NULL), TMARING_OK);
  cr_expect_arr_eq(data_x, want_a, sizeof want_a);
  cr_expect_arr_eq(data_z, want_b, sizeof want_b);
  tmaring_formula_free(formula);
}

Test(formula_oracle, refuses_arguments, .timeout = 5)
{
  tmaring_formula *formula;
  double *data[] = {data_x, got}, *missing[] = {data_x, NULL};
  const double scalar = 1;
  cr_assert_eq(tmaring_formula_parse(&formula, "y = x * eps[]"), TMARING_OK);
  cr_expect_eq(tmaring_formula_evaluate(NULL, 1, 1, data, &scalar, NULL), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_evaluate(formula, -1, 1, data, &scalar, NULL), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_evaluate(formula, 1, 0, data, &scalar, NULL), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_evaluate(formula, 1, 1, NULL, &scalar, NULL), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_evaluate(formula, 1, 1, missing, &scalar, NULL), TMARING_ERROR_ARGUMENT);
  cr_expect(strstr(tmaring_last_detail(), "data[1]: got NULL, needs the values of y") != NULL);
  cr_expect_eq(tmaring_formula_evaluate(formula, 1, 1, data, NULL, NULL), TMARING_ERROR_ARGUMENT);
  cr_expect(strstr(tmaring_last_detail(), "needs a value for eps, which has no default") != NULL);
  cr_expect_eq(tmaring_formula_evaluate(formula, 0, 1, NULL, &scalar, NULL), TMARING_OK);
  tmaring_formula_free(formula);
}

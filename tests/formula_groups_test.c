/* The oracle against loops written out here: groups of columns, rows of 2N, labels, casts, reductions over the rows. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/noise.h"
#include "tmaring/formula.h"

enum { ROWS = 5, COLS = 301, CELLS = ROWS * COLS, TENSORS = 8 }; /* more columns than the oracle takes at once */

static double data_x[CELLS], data_z[CELLS], data_p[2 * CELLS], data_g[CELLS], data_w[COLS], data_s[ROWS];
static double got[4][CELLS];

static void fill(double *data, int count, uint64_t seed)
{
  noise n = noise_seed(seed);
  for (int i = 0; i < count; ++i) data[i] = data_value(&n, DATA_PLAIN, 0);
}

static void fill_all(void)
{
  fill(data_x, CELLS, 1);
  fill(data_z, CELLS, 2);
  fill(data_p, 2 * CELLS, 3);
  fill(data_g, CELLS, 4);
  fill(data_w, COLS, 5);
  fill(data_s, ROWS, 6);
  memset(got, 0xff, sizeof got);
}

static double *input(const char *name)
{
  switch (name[0]) {
  case 'x': return data_x;
  case 'z': return data_z;
  case 'p': return data_p;
  case 'g': return data_g;
  case 'w': return data_w;
  default: return data_s;
  }
}

/* Evaluates over the inputs x and z [M,N], p [M,2N], g [M,N/k], w[N], s[M], of the types given if any are; outputs come
 * into got in their order. */
static void evaluate_typed(const char *text, int64_t rows, int64_t cols, const tmaring_dtype *dtypes)
{
  tmaring_formula *formula;
  tmaring_parameter p;
  double *data[TENSORS];
  int32_t outputs = 0;
  cr_assert_eq(tmaring_formula_parse(&formula, text), TMARING_OK, "%s\n%s", text, tmaring_last_detail());
  for (int32_t i = 0; i < tmaring_formula_tensor_count(formula); ++i) {
    cr_assert_eq(tmaring_formula_tensor(formula, i, &p), TMARING_OK);
    data[i] = p.is_output ? got[outputs++] : input(p.name);
  }
  cr_assert_eq(tmaring_formula_evaluate(formula, rows, cols, data, NULL, dtypes), TMARING_OK, "%s",
               tmaring_last_detail());
  tmaring_formula_free(formula);
}

static void evaluate(const char *text)
{
  fill_all();
  evaluate_typed(text, ROWS, COLS, NULL);
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

/* ---- groups of columns ---- */

enum { SUM, MAX, MIN, AMAX };

/* One group: `count` values from `x`. */
static double group_of(const double *x, int count, int kind)
{
  double total = kind == AMAX ? fabs(x[0]) : x[0];
  for (int i = 1; i < count; ++i)
    total = kind == SUM   ? total + x[i]
            : kind == MAX ? fmax(total, x[i])
            : kind == MIN ? fmin(total, x[i])
                          : fmax(total, fabs(x[i]));
  return total;
}

static void check_groups(const char *name, int kind, int k)
{
  char text[100];
  const int groups = (COLS + k - 1) / k;
  snprintf(text, sizeof text, "f(x[M,N]) = out t = %s(x, %d); y = x - t", name, k);
  evaluate(text);
  for (int row = 0; row < ROWS; ++row) {
    for (int g = 0; g < groups; ++g) {
      const int first = g * k, count = COLS - first < k ? COLS - first : k;
      const double want = group_of(&data_x[row * COLS + first], count, kind);
      cr_assert(near(got[0][row * groups + g], want), "%s, row %d, group %d: got %a, needs %a", text, row, g,
                got[0][row * groups + g], want);
      for (int c = first; c < first + count; ++c)
        cr_assert(near(got[1][row * COLS + c], data_x[row * COLS + c] - want), "%s at %d, %d", text, row, c);
    }
  }
  cr_assert(isnan(got[0][ROWS * groups]), "%s writes past its groups", text);
}

Test(formula_groups, reductions_of_groups, .timeout = 10)
{
  static const int sizes[] = {2, 8, 128, 256, 1024};
  for (int i = 0; i < 5; ++i) {
    check_groups("gsum", SUM, sizes[i]);
    check_groups("gmax", MAX, sizes[i]);
    check_groups("gmin", MIN, sizes[i]);
    check_groups("gamax", AMAX, sizes[i]);
  }
}

#define X(row, col) data_x[(row)*COLS + (col)]
#define Z(row, col) data_z[(row)*COLS + (col)]

/* Evaluates the text, and the C expression for every row and column. */
#define EVERYWHERE(text, expression)                                                                                   \
  do {                                                                                                                 \
    evaluate(text);                                                                                                    \
    for (int r = 0; r < ROWS; ++r)                                                                                     \
      for (int c = 0; c < COLS; ++c)                                                                                   \
        cr_assert(near(got[0][r * COLS + c], expression), "%s at %d, %d: got %a, needs %a", text, r, c,                \
                  got[0][r * COLS + c], (double)(expression));                                                         \
  } while (0)

#define GROUP(k) data_g[r * ((COLS + (k)-1) / (k)) + c / (k)]

Test(formula_groups, inputs_of_a_value_per_group, .timeout = 10)
{
  EVERYWHERE("y = x * g[M,N/128]", X(r, c) * GROUP(128));
  EVERYWHERE("y = x * g[M,N/2] - s[M]", X(r, c) * GROUP(2) - data_s[r]);
  EVERYWHERE("y = where(g[M,N/256] > 0, w[N], col) + 0 * x", GROUP(256) > 0 ? data_w[c] : c);
  evaluate("f(g[M,N/64], s[M]) = g * s + 1");
  for (int i = 0; i < ROWS * 5; ++i) cr_assert_eq(got[0][i], data_g[i] * data_s[i / 5] + 1);
}

/* Over the row a group counts once per column; groups of groups likewise. */
Test(formula_groups, groups_are_values_per_column, .timeout = 10)
{
  evaluate("f(x[M,N], g[M,N/128]) = a = sum(g); b = gsum(gmax(x, 4), 256); c = mean(gsum(x, 2)) * 0 + argmax(g)");
  for (int r = 0; r < ROWS; ++r) {
    double groups[2] = {0, 0}, total = 0;
    int best = 0;
    for (int c = 0; c < COLS; ++c) {
      total += GROUP(128);
      if (GROUP(128) > data_g[r * 3 + best / 128]) best = c;
      const int first = c / 4 * 4;
      groups[c / 256] += group_of(&X(r, first), COLS - first < 4 ? COLS - first : 4, MAX);
    }
    cr_expect(near(got[0][r], total), "sum: got %a, needs %a", got[0][r], total);
    cr_expect_eq(got[2][r], best, "argmax: got %g, needs %d", got[2][r], best);
    for (int g = 0; g < 2; ++g) cr_expect(near(got[1][2 * r + g], groups[g]));
  }
}

/* A reduction of a group may need one of the row, and the reverse. */
Test(formula_groups, groups_and_rows_need_one_another, .timeout = 10)
{
  evaluate("f(x[M,N]) = d = x - mean(x); t = gamax(d, 256); out m = max(t - d); y = d / t - m");
  for (int r = 0; r < ROWS; ++r) {
    double d[COLS], t[COLS], mean = 0, high = -INFINITY;
    for (int c = 0; c < COLS; ++c) mean += X(r, c) / COLS;
    for (int c = 0; c < COLS; ++c) d[c] = X(r, c) - mean;
    for (int c = 0; c < COLS; ++c) t[c] = group_of(d + c / 256 * 256, c < 256 ? 256 : COLS - 256, AMAX);
    for (int c = 0; c < COLS; ++c) high = fmax(high, t[c] - d[c]);
    cr_expect(near(got[0][r], high));
    for (int c = 0; c < COLS; ++c) cr_assert(near(got[1][r * COLS + c], d[c] / t[c] - high), "at %d, %d", r, c);
  }
}

/* ---- rows of 2N, labels ---- */

Test(formula_groups, parts_of_rows_of_2n, .timeout = 10)
{
#define P(col) data_p[r * 2 * COLS + (col)]
  EVERYWHERE("f(p[M,2N]) = first(p) - second(p) / 2", P(c) - P(COLS + c) / 2);
  EVERYWHERE("f(p[M,2N]) = even(p) - odd(p) / 2", P(2 * c) - P(2 * c + 1) / 2);
  EVERYWHERE("f(p[M,2N], x[M,N]) = odd(p) * x", P(2 * c + 1) * X(r, c));
  EVERYWHERE("f(p[M,2N]) = silu(first(p)) * second(p)", P(c) / (1 + exp(-P(c))) * P(COLS + c));
  EVERYWHERE("f(p[M,2N]) = second(p) - max(second(p)) * 0", P(COLS + c));
}

Test(formula_groups, labels, .timeout = 10)
{
  static const double labels[ROWS] = {0, COLS - 1, 129, -0.0, 7}, strange[ROWS] = {-1, COLS, 1.5, NAN, 1e300};
  fill_all();
  memcpy(data_s, labels, sizeof labels);
  evaluate_typed("f(x[M,N], s[M]) = x[s]", ROWS, COLS, NULL);
  for (int r = 0; r < ROWS; ++r) cr_expect_eq(got[0][r], X(r, (int)labels[r]), "row %d", r);
  evaluate_typed("f(x[M,N], z[M,N], s[M]) = k = s / s * 5 + row; y = x[k] - z[row] * x", ROWS, COLS, NULL);
  for (int r = 1; r < ROWS; ++r)
    for (int c = 0; c < COLS; ++c)
      cr_assert(same(got[0][r * COLS + c], labels[r] == 0 ? NAN : X(r, 5 + r) - Z(r, r) * X(r, c)), "%d, %d", r, c);
  memcpy(data_s, strange, sizeof strange);
  evaluate_typed("f(x[M,N], s[M]) = x[s]", ROWS, COLS, NULL);
  for (int r = 0; r < ROWS; ++r) cr_expect(isnan(got[0][r]), "label %g gives %g", strange[r], got[0][r]);
  data_s[0] = INFINITY;
  data_s[1] = -INFINITY;
  evaluate_typed("f(x[M,N], s[M]) = x[s]", 2, COLS, NULL);
  cr_expect(isnan(got[0][0]) && isnan(got[0][1]));
}

Test(formula_groups, cross_entropy, .timeout = 10)
{
  static const double labels[ROWS] = {3, -100, 300, COLS, 0};
  fill_all();
  memcpy(data_s, labels, sizeof labels);
  evaluate_typed("f(x[M,N], s[M]) = where(s == -100, 0, logsumexp(x) - x[s])", ROWS, COLS, NULL);
  for (int r = 0; r < ROWS; ++r) {
    double high = X(r, 0), power = 0;
    for (int c = 0; c < COLS; ++c) high = fmax(high, X(r, c));
    for (int c = 0; c < COLS; ++c) power += exp(X(r, c) - high);
    const double loss = r == 1 ? 0 : r == 3 ? NAN : high + log(power) - X(r, (int)labels[r]);
    cr_expect(near(got[0][r], loss), "row %d: got %a, needs %a", r, got[0][r], loss);
  }
}

/* ---- casts ---- */

Test(formula_groups, casts, .timeout = 10)
{
  static const struct {
    const char *type;
    double in, out;
  } rows[] = {{"f32", 0.1, 0x1.99999ap-4},
              {"f32", 1e300, INFINITY},
              {"f16", 0.1, 0x1.998p-4},
              {"f16", 65520, INFINITY},
              {"bf16", 0.1, 0x1.9ap-4},
              {"bf16", 1 + 0x1p-8, 1},
              {"bf16", 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-7}, /* one rounding: through fp32 it would be a tie */
              {"f64", 0.1, 0.1},
              {"e4m3", 464, 448},
              {"e4m3", -1e4, -448},
              {"e4m3", INFINITY, 448},
              {"e4m3", 17, 16},
              {"e4m3", 0x1.8p-10, 0x1p-9},
              {"e5m2", 1e6, 57344},
              {"e5m2", 1.1, 1},
              {"i8", 2.5, 2},
              {"i8", -3.5, -4},
              {"i8", 200, 127},
              {"i8", -INFINITY, -128},
              {"i32", 3e9, 2147483647},
              {"i32", 1e6 + 0.5, 1e6},
              {"i32", NAN, 0},
              {"i8", NAN, 0},
              {"e4m3", NAN, NAN},
              {"f16", NAN, NAN}};
  char text[60];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    snprintf(text, sizeof text, "y = cast(%s, x)", rows[i].type);
    data_x[0] = rows[i].in;
    evaluate_typed(text, 1, 1, NULL);
    cr_expect(same(got[0][0], rows[i].out), "cast(%s, %a): got %a, needs %a", rows[i].type, rows[i].in, got[0][0],
              rows[i].out);
  }
}

Test(formula_groups, casts_to_the_type_of_an_input, .timeout = 10)
{
  static const tmaring_dtype dtypes[] = {TMARING_F16, TMARING_BF16, TMARING_F32};
  data_x[0] = 0.1;
  data_p[0] = 0.3;
  data_p[1] = 0.1;
  evaluate_typed("f(x[M,N], p[M,2N]) = cast(p, x) * even(p) + 0 * odd(p)", 1, 1, dtypes);
  cr_expect_eq(got[0][0], 0x1.9ap-4 * 0.3);
  evaluate_typed("f(x[M,N], p[M,2N]) = cast(x, first(p)) + second(p) * cast(x, x)", 1, 1, dtypes);
  cr_expect_eq(got[0][0], 0x1.334p-2 + 0.1 * 0x1.998p-4);
  evaluate_typed("f(x[M,N], p[M,2N]) = cast(x, first(p)) + second(p) * cast(x, x)", 1, 1, NULL);
  cr_expect_eq(got[0][0], 0.3 + 0.1 * 0.1);
}

/* ---- reductions over the rows ---- */

Test(formula_groups, reductions_over_the_rows, .timeout = 10)
{
  evaluate("f(x[M,N], w[N]) = d = x - max(x); a = colsum(d * w); b = colmean(x); c = colmax(d); e = colsum(w)");
  for (int c = 0; c < COLS; ++c) {
    double sum = 0, mean = 0, high = -INFINITY;
    for (int r = 0; r < ROWS; ++r) {
      const double d = X(r, c) - group_of(&X(r, 0), COLS, MAX);
      sum += d * data_w[c];
      mean += X(r, c) / ROWS;
      high = fmax(high, d);
    }
    cr_assert(near(got[0][c], sum) && near(got[1][c], mean) && near(got[2][c], high), "column %d", c);
    cr_assert(near(got[3][c], ROWS * data_w[c]), "column %d", c);
  }
  for (int i = 0; i < 4; ++i) cr_expect(isnan(got[i][COLS]), "output %d writes past its columns", i);
}

Test(formula_groups, no_rows, .timeout = 5)
{
  tmaring_formula *formula;
  double *data[] = {NULL, got[0], NULL, got[1], got[2]};
  fill_all();
  cr_assert_eq(tmaring_formula_parse(&formula, "f(x[M,N]) = a = colsum(x); y = x; b = colmean(x); c = colmax(x)"),
               TMARING_OK);
  cr_assert_eq(tmaring_formula_evaluate(formula, 0, COLS, data, NULL, NULL), TMARING_OK, "%s", tmaring_last_detail());
  for (int c = 0; c < COLS; ++c) cr_assert(got[0][c] == 0 && isnan(got[1][c]) && got[2][c] == -INFINITY);
  data[1] = NULL;
  cr_expect_eq(tmaring_formula_evaluate(formula, 0, COLS, data, NULL, NULL), TMARING_ERROR_ARGUMENT);
  cr_expect(strstr(tmaring_last_detail(), "data[1]: got NULL, needs the values of a") != NULL);
  cr_expect_eq(tmaring_formula_evaluate(formula, 0, COLS, NULL, NULL, NULL), TMARING_ERROR_ARGUMENT);
  tmaring_formula_free(formula);
}

/* rmsnorm backward, dz = x = [1, 0, 0, 0]: dx = 0.00079952, where an output written too early gives -3.9976. */
Test(formula_groups, backward_in_place, .timeout = 5)
{
  static const char *const text = "f(x[M,N], z[M,N]; eps = 1e-4) = rs = rsqrt(mean(x*x) + eps); h = x * rs\n"
                                  "dx = rs * (z - h * mean(z * h)); dw = colsum(z * h)";
  tmaring_formula *formula;
  for (int target = 0; target < 2; ++target) {
    double x[] = {1, 0, 0, 0}, z[] = {1, 0, 0, 0}, *data[] = {x, z, target ? x : z, got[0]};
    cr_assert_eq(tmaring_formula_parse(&formula, text), TMARING_OK, "%s", tmaring_last_detail());
    cr_assert_eq(tmaring_formula_evaluate(formula, 1, 4, data, NULL, NULL), TMARING_OK);
    cr_expect_float_eq(data[2][0], 0.00079952, 1e-8, "got %g", data[2][0]);
    cr_expect(data[2][1] == 0 && data[2][3] == 0);
    cr_expect_float_eq(got[0][0], 1.9996, 1e-5);
    tmaring_formula_free(formula);
  }
}

/* Outputs of fewer values may take the place of inputs, whose other readers come later in the row. */
Test(formula_groups, outputs_of_groups_and_columns_may_be_inputs, .timeout = 5)
{
  static const char *const text = "f(x[M,N], g[M,N/256], w[N], s[M]) = out t = g + 1; y = x * g * s - w\n"
                                  "d = colsum(x * w); out m = s * 2";
  static double want[4][CELLS];
  tmaring_formula *formula;
  double *data[] = {data_x, data_g, data_w, data_s, data_g, data_x, data_w, data_s};
  evaluate(text);
  memcpy(want, got, sizeof want);
  cr_assert_eq(tmaring_formula_parse(&formula, text), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_formula_evaluate(formula, ROWS, COLS, data, NULL, NULL), TMARING_OK);
  cr_expect_arr_eq(data_g, want[0], ROWS * 2 * sizeof(double));
  cr_expect_arr_eq(data_x, want[1], CELLS * sizeof(double));
  cr_expect_arr_eq(data_w, want[2], COLS * sizeof(double));
  cr_expect_arr_eq(data_s, want[3], ROWS * sizeof(double));
  tmaring_formula_free(formula);
}

/* ---- special values ---- */

/* One output [M] of one row. */
static double of_row(const char *text, const double *row, int cols)
{
  memcpy(data_x, row, (size_t)cols * sizeof *row);
  evaluate_typed(text, 1, cols, NULL);
  return got[0][0];
}

Test(formula_groups, special_values, .timeout = 5)
{
  static const double low[] = {-INFINITY, -INFINITY}, high[] = {1, INFINITY, 2}, bad[] = {INFINITY, NAN, NAN},
                      tie[] = {1, 3, 3, 2}, some[] = {-INFINITY, 5, -INFINITY}, zero[] = {-0.0, 0};
  cr_expect_eq(of_row("y = argmax(x)", low, 2), 0);
  cr_expect_eq(of_row("y = argmax(x)", high, 3), 1);
  cr_expect_eq(of_row("y = argmax(x)", bad, 3), 1, "the first NaN wins");
  cr_expect_eq(of_row("y = argmax(x)", tie, 4), 1, "of equals the first");
  cr_expect_eq(of_row("y = argmax(x)", zero, 2), 0);
  cr_expect(isnan(of_row("y = logsumexp(x)", low, 2)));
  cr_expect(isnan(of_row("y = logsumexp(x)", high, 3)));
  cr_expect(isnan(of_row("y = logsumexp(x)", bad, 3)));
  cr_expect_eq(of_row("y = logsumexp(x)", some, 3), 5);
  cr_expect_eq(of_row("y = amax(x)", low, 2), INFINITY);
  cr_expect(isnan(of_row("y = amax(x)", bad, 3)));
  cr_expect(isnan(of_row("y = sum(gmax(x, 2))", bad, 3)));
  cr_expect(isnan(of_row("y = silu(min(x))", low, 2)), "-inf * 0");
  cr_expect_eq(of_row("y = erf(max(x))", high, 3), 1);
  cr_expect(of_row("y = round(max(x) - 3.5)", tie, 4) == 0 && signbit(got[0][0]), "-0.5 to -0");
  cr_expect(isnan(of_row("y = clamp(max(x), 0, 1)", bad, 3)));
  cr_expect(isnan(of_row("f(x[M,N]) = colmax(x)", bad + 1, 1)));
}

/* The scale of a zero row is finite and positive, and its codes are zero. */
Test(formula_groups, quantization, .timeout = 5)
{
  static const char *const text = "f(x[M,N]) = out s = max(amax(x) / 448, 1 / (448 * 512)); q = cast(e4m3, x / s)";
  memset(data_x, 0, sizeof data_x);
  for (int c = 0; c < 13; ++c) data_x[13 + c] = c + 1;
  evaluate_typed(text, 2, 13, NULL);
  cr_expect(got[0][0] > 0 && got[0][0] < 1e-5 && got[1][0] == 0 && got[1][12] == 0);
  cr_expect_float_eq(got[0][1], 13.0 / 448, 1e-12);
  cr_expect(got[1][25] == 448 && got[1][13] == 36, "13: %g, 1: %g", got[1][25], got[1][13]);
}

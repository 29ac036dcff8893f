/* The language: what is accepted and as what. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tmaring/formula.h"

enum { TEXT_BYTES = 400 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static size_t append(char *text, size_t used, const char *more)
{
  return used + (size_t)snprintf(text + used, TEXT_BYTES - used, "%s", more);
}

static size_t append_shape(char *text, size_t used, const tmaring_parameter *p)
{
  static const char *const shape_text[] = {"[]", "[N]", "[M]", "[M,N]", NULL, "[M,2N]"};
  char group[40];
  snprintf(group, sizeof group, "[M,N/%d]", (int)p->group_cols);
  cr_assert_eq(p->group_cols != 0, p->shape == TMARING_SHAPE_GROUP);
  return append(text, used, p->shape == TMARING_SHAPE_GROUP ? group : shape_text[p->shape]);
}

/* "x[M,N] w[N] -> y[M,N]; eps=0.5 alpha" */
static void signature(const tmaring_formula *formula, char text[TEXT_BYTES])
{
  char number[40];
  size_t used = 0;
  int32_t outputs = 0;
  tmaring_parameter p;
  text[0] = 0;
  for (int32_t i = 0; i < tmaring_formula_tensor_count(formula); ++i) {
    cr_assert_eq(tmaring_formula_tensor(formula, i, &p), TMARING_OK);
    cr_assert_eq(tmaring_formula_find(formula, p.name), i);
    if (i > 0) used = append(text, used, " ");
    if (p.is_output && outputs++ == 0) used = append(text, used, "-> ");
    used = append(text, used, p.name);
    used = append_shape(text, used, &p);
  }
  for (int32_t i = 0; i < tmaring_formula_scalar_count(formula); ++i) {
    cr_assert_eq(tmaring_formula_scalar(formula, i, &p), TMARING_OK);
    cr_assert_eq(p.shape, TMARING_SHAPE_SCALAR);
    used = append(text, used, i > 0 ? " " : "; ");
    used = append(text, used, p.name);
    snprintf(number, sizeof number, "=%g", p.default_value);
    if (p.has_default) used = append(text, used, number);
  }
}

typedef struct accepted {
  const char *text, *signature;
} accepted;

static const accepted accepted_table[] = {
    {"y = x + x", "x[M,N] -> y[M,N]"},
    {"  y=x+x  ", "x[M,N] -> y[M,N]"},
    {"\n\n;;# first\ny = x # second\n;\n\n", "x[M,N] -> y[M,N]"},
    {"y = x\r\nz = x\r\n", "x[M,N] -> y[M,N] z[M,N]"},
    {"y = (x\n  + # inside parentheses a newline is a blank\n  x)", "x[M,N] -> y[M,N]"},
    {"y = a * x[M,N] + b", "a[M,N] x[M,N] b[M,N] -> y[M,N]"},
    {"y = x * w[N] + w", "x[M,N] w[N] -> y[M,N]"},
    {"y = x * w[N] + w[N]", "x[M,N] w[N] -> y[M,N]"},
    {"y = x * s[M] + eps[ ] * a[]", "x[M,N] s[M] -> y[M,N]; eps a"},
    {"y = x [ M , N ]", "x[M,N] -> y[M,N]"},
    {"mu = mean(x); d = x - mu; y = d * rsqrt(mean(d*d) + 1e-5) * w[N] + b[N]", "x[M,N] w[N] b[N] -> y[M,N]"},
    {"y = sum(x)", "x[M,N] -> y[M]"},
    {"y = sum(x) * w[N]", "x[M,N] w[N] -> y[M,N]"},
    {"m = max(x); y = x - m[M]", "x[M,N] -> y[M,N]"},
    {"out m = max(x); y = x - m", "x[M,N] -> m[M] y[M,N]"},
    {"out out = x; y = out + x", "x[M,N] -> out[M,N] y[M,N]"},
    {"out = x + x", "x[M,N] -> out[M,N]"},
    {"y = x; z = w[N]; t = 3; u = N", "x[M,N] w[N] -> y[M,N] z[M,N] t[M,N] u[M,N]"},
    {"c = x > 0; y = where(c, x, 0)", "x[M,N] -> y[M,N]"},
    {"y = where(x != x, 1, 2)", "x[M,N] -> y[M,N]"},
    {"y = where((x < 1), min(x, 1), max(x, .5))", "x[M,N] -> y[M,N]"},
    {"y = - - -x--x", "x[M,N] -> y[M,N]"},
    {"y = 1. + .5 + 1e3 + 1E-3 + 2.5e+1 + 007 + x", "x[M,N] -> y[M,N]"},
    {"y = 1.4e-45 + 3.4028235e38 + 0e999 + x", "x[M,N] -> y[M,N]"},
    {"y = x + 1e300 - 4.9e-324 + 3.4028236e38", "x[M,N] -> y[M,N]"},
    {"_a1 = X_2", "X_2[M,N] -> _a1[M,N]"},
    {"rmsnorm(x[M,N], w[N]; eps) = x * rsqrt(mean(x*x) + eps) * w", "x[M,N] w[N] -> y[M,N]; eps"},
    {"f(w[N], x[M,N], s[M]; eps = 1e-6, alpha, low = -2) = x * w * s + eps * alpha + low",
     "w[N] x[M,N] s[M] -> y[M,N]; eps=1e-06 alpha low=-2"},
    {"f(x[M,N]) = y = x; z = x", "x[M,N] -> y[M,N] z[M,N]"},
    {"f(x[M,N]) =\n  out m = max(x)\n  y = x - m\n", "x[M,N] -> m[M] y[M,N]"},
    {"f(x[M,N],\n  w[N];\n  eps) =\n\n  x * w + eps\n\n", "x[M,N] w[N] -> y[M,N]; eps"},
    {"f(x[M,N]) = out = x", "x[M,N] -> out[M,N]"},
    {"f(out[M,N]) = out + out", "out[M,N] -> y[M,N]"},
    {"f(f[M,N]) = f", "f[M,N] -> y[M,N]"},
    {"f(x[M,N]; a) = x[M,N] * a[]", "x[M,N] -> y[M,N]; a"},
    {"silu(x[M,N]) = silu(x)", "x[M,N] -> y[M,N]"},
    {"cast(x[M,2N]) = first(x)", "x[M,2N] -> y[M,N]"},
    /* no tensors, or no matrices, among the parameters */
    {"fill(; value) = value", "-> y[M,N]; value"},
    {"f() = col + row * N / M", "-> y[M,N]"},
    {"f(s[M], w[N]) =\n out t = s * 2\n y = w * s", "s[M] w[N] -> t[M] y[M,N]"},
    /* numbers of the language */
    {"y = x + M", "x[M,N] -> y[M,N]"},
    {"y = where(col < row, x, 0); t = row / M; u = N + M", "x[M,N] -> y[M,N] t[M] u[M,N]"},
    {"y = sum(col) * 0 + sum(x)", "x[M,N] -> y[M]"},
    /* groups of columns */
    {"y = x * s[M,N/128]", "x[M,N] s[M,N/128] -> y[M,N]"},
    {"y = x * s [ M , N / 2 ] + s", "x[M,N] s[M,N/2] -> y[M,N]"},
    {"y = x + s[M,N/4] + t[M,N/1024] + t[M,N/1024]", "x[M,N] s[M,N/4] t[M,N/1024] -> y[M,N]"},
    {"y = gamax(x, 128)", "x[M,N] -> y[M,N/128]"},
    {"y = gsum(x, 32) / 32 * s[M] + a[]", "x[M,N] s[M] -> y[M,N/32]; a"},
    {"y = s[M,N/8] * r[M] - 3 + gmin(x, 8); z = gmin(x, 8.0)", "s[M,N/8] r[M] x[M,N] -> y[M,N/8] z[M,N/8]"},
    {"y = gmax(x, 8) - gmax(x, 16)", "x[M,N] -> y[M,N]"},
    {"y = gmax(x, 8) - w[N]", "x[M,N] w[N] -> y[M,N]"},
    {"y = gmax(x, 8) - col", "x[M,N] -> y[M,N]"},
    {"y = where(row < 2, gmax(x, 8), M)", "x[M,N] -> y[M,N/8]"},
    {"y = where(x < 2, gmax(x, 8), 0)", "x[M,N] -> y[M,N]"},
    {"y = clamp(gsum(x, 2), s[M], a[])", "x[M,N] s[M] -> y[M,N/2]; a"},
    {"y = gsum(gamax(x, 4), 256); z = sum(gamax(x, 4))", "x[M,N] -> y[M,N/256] z[M]"},
    {"y = gsum(w[N], 4) + 0 * max(x)", "w[N] x[M,N] -> y[M,N/4]"},
    {"out s = max(gamax(x, 128), 1e-10) / 448; q = x / s", "x[M,N] -> s[M,N/128] q[M,N]"},
    {"f(x[M,N], s[M,N/64]) = x * s[M,N/64]", "x[M,N] s[M,N/64] -> y[M,N]"},
    /* rows of 2N */
    {"f(x[M,2N]) = silu(first(x)) * second(x)", "x[M,2N] -> y[M,N]"},
    {"f(x[ M, 2 N ]) = even(x) - odd(x[M,2N])", "x[M,2N] -> y[M,N]"},
    {"y = first(x[M,2N]) + second(x)", "x[M,2N] -> y[M,N]"},
    {"f(x[M,2N], z[M,2N]) = odd(x) + first(z) * second(z)", "x[M,2N] z[M,2N] -> y[M,N]"},
    {"f(a[M,2N], b[M,2N], c[M,2N], d[M,2N]) = odd(a) + even(b) + odd(c) * odd(d)",
     "a[M,2N] b[M,2N] c[M,2N] d[M,2N] -> y[M,N]"},
    {"f(a[M,2N], b[M,2N]) = first(a) + second(b)", "a[M,2N] b[M,2N] -> y[M,N]"},
    {"f(x[M,2N]) = cast(x, first(x))", "x[M,2N] -> y[M,N]"},
    /* casts: a type's name wins inside cast, and is an ordinary name elsewhere */
    {"y = cast(bf16, x)", "x[M,N] -> y[M,N]"},
    {"y = cast(x, x * 2)", "x[M,N] -> y[M,N]"},
    {"y = cast(x, z) + x", "x[M,N] z[M,N] -> y[M,N]"},
    {"y = cast(x, z + x)", "x[M,N] z[M,N] -> y[M,N]"},
    {"m = cast(f16, mean(x)); y = cast(i8, x) + cast(i32, m) + cast(f64, x) + cast(e4m3, 3) + cast(e5m2, x)",
     "x[M,N] -> y[M,N]"},
    {"f(x[M,N], f32[M,N], i8[M]) = cast(f32, x * i8) + f32", "x[M,N] f32[M,N] i8[M] -> y[M,N]"},
    /* labels */
    {"f(x[M,N], label[M]) = x[label]", "x[M,N] label[M] -> y[M]"},
    {"f(x[M,N], label[M]) = logsumexp(x) - x[label]", "x[M,N] label[M] -> y[M]"},
    {"y = x[label[M]]", "x[M,N] label[M] -> y[M]"},
    {"y = x[ k[] ] + x[row]", "x[M,N] -> y[M]; k"},
    {"k = s[M] + 1; y = x - x[k] - z[M,N]", "s[M] x[M,N] z[M,N] -> y[M,N]"},
    {"f(K[M], x[M,N]) = x[K]", "K[M] x[M,N] -> y[M]"},
    /* reductions over the rows */
    {"dw = colsum(x)", "x[M,N] -> dw[N]"},
    {"f(x[M,N]) = colmean(x * x)", "x[M,N] -> y[N]"},
    {"f(dy[M,N], x[M,N]) =\n rs = rsqrt(mean(x * x))\n dx = rs * dy\n out dw = colsum(dy * x * rs)\n db = (colmax(dy))",
     "dy[M,N] x[M,N] -> dx[M,N] dw[N] db[N]"},
    {"f(w[N]) = colsum(w)", "w[N] -> y[N]"},
    {"f(s[M,N/2]) = colsum(s)", "s[M,N/2] -> y[N]"},
    /* the other functions */
    {"y = amax(x) + argmax(x) + logsumexp(x)", "x[M,N] -> y[M]"},
    {"y = round(erf(silu(clamp(x, -1, 1))))", "x[M,N] -> y[M,N]"},
};

Test(formula, accepts, .timeout = 10)
{
  char text[TEXT_BYTES];
  for (size_t i = 0; i < COUNT(accepted_table); ++i) {
    const accepted *row = &accepted_table[i];
    tmaring_formula *formula = NULL;
    const tmaring_status status = tmaring_formula_parse(&formula, row->text);
    cr_assert_eq(status, TMARING_OK, "%s\n%s", row->text, tmaring_last_detail());
    signature(formula, text);
    cr_expect_str_eq(text, row->signature, "%s: got %s", row->text, text);
    tmaring_formula_free(formula);
  }
}

Test(formula, calls_refuse_what_is_no_formula, .timeout = 5)
{
  tmaring_formula *formula;
  tmaring_parameter p;
  cr_expect_eq(tmaring_formula_parse(NULL, "y = x"), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_parse(&formula, NULL), TMARING_ERROR_ARGUMENT);
  cr_expect_null(formula);
  tmaring_formula_free(NULL);
  cr_expect_eq(tmaring_formula_tensor_count(NULL), 0);
  cr_expect_eq(tmaring_formula_scalar_count(NULL), 0);
  cr_expect_eq(tmaring_formula_find(NULL, "x"), -1);
  cr_assert_eq(tmaring_formula_parse(&formula, "y = x * eps[]"), TMARING_OK);
  cr_expect_eq(tmaring_formula_tensor(formula, 0, NULL), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_tensor(NULL, 0, &p), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_tensor(formula, -1, &p), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_tensor(formula, 2, &p), TMARING_ERROR_ARGUMENT);
  cr_expect(strstr(tmaring_last_detail(), "got 2, needs 0 to 1; the formula has 2 tensors") != NULL);
  cr_expect_eq(tmaring_formula_scalar(formula, 1, &p), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_find(formula, "eps"), -1);
  cr_expect_eq(tmaring_formula_find(formula, NULL), -1);
  cr_expect_eq(tmaring_formula_scalar(formula, 0, &p), TMARING_OK);
  cr_expect_eq(p.size, sizeof p);
  cr_expect_str_eq(p.name, "eps");
  cr_expect_eq(p.has_default, 0);
  tmaring_formula_free(formula);
}

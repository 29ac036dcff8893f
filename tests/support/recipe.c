#include "recipe.h"

#include <math.h>

static double largest(const double *x, int64_t n)
{
  double m = x[0];
  for (int64_t i = 1; i < n; ++i) m = x[i] > m ? x[i] : m;
  return m;
}

/* Sum of x and of |x|. */
static double total(const double *x, int64_t n, double *magnitude)
{
  double sum = 0.0, size = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    sum += x[i];
    size += fabs(x[i]);
  }
  *magnitude = size;
  return sum;
}

static void twice(const recipe_row *in, const expected_row *out)
{
  for (int64_t i = 0; i < in->cols; ++i) {
    out->value[i] = 2.0 * in->input[0][i];
    out->bound[i] = 0.0;
  }
}

static void add_one(const recipe_row *in, const expected_row *out)
{
  for (int64_t i = 0; i < in->cols; ++i) {
    out->value[i] = in->input[0][i] + 1.0;
    out->bound[i] = U32 * fabs(out->value[i]);
  }
}

/* The sum of squares has a relative error of depth + 2 roundings, halved by the root; rsqrt, the division by N and
 * three products add their own. */
static void rmsnorm(const recipe_row *in, const expected_row *out)
{
  const double *x = in->input[0], *w = in->input[1];
  double squares = 0.0;
  for (int64_t i = 0; i < in->cols; ++i) squares += x[i] * x[i];
  const double scale = 1.0 / sqrt(squares / (double)in->cols + 1e-6);
  for (int64_t i = 0; i < in->cols; ++i) {
    out->value[i] = x[i] * scale * w[i];
    out->bound[i] = U32 * (0.5 * in->depth + 8.0) * fabs(out->value[i]);
  }
}

/* The mean's error shifts every deviation alike, so it enters the variance squared only. */
static void layernorm(const recipe_row *in, const expected_row *out)
{
  const double *x = in->input[0], *w = in->input[1], *b = in->input[2];
  const double n = (double)in->cols;
  double magnitude, squares = 0.0;
  const double mean = total(x, in->cols, &magnitude) / n;
  for (int64_t i = 0; i < in->cols; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const double variance = squares / n + 1e-5, scale = 1.0 / sqrt(variance);
  const double shift = in->cols == 1 ? 0.0 : U32 * (in->depth + 2.0) * magnitude / n;
  const double spread = U32 * (in->depth + 6.0) + shift * shift / variance;
  for (int64_t i = 0; i < in->cols; ++i) {
    const double deviation = x[i] - mean, normal = deviation * scale * w[i];
    out->value[i] = normal + b[i];
    out->bound[i] = fabs(w[i]) * scale * (shift + U32 * fabs(deviation)) + fabs(normal) * (0.5 * spread + 8.0 * U32) +
                    2.0 * U32 * (fabs(normal) + fabs(b[i]));
  }
}

/* exp(t) of a rounded t is off by |t| roundings and by those of exp itself. */
static void softmax(const recipe_row *in, const expected_row *out)
{
  const double *x = in->input[0];
  const double most = largest(x, in->cols);
  double sum = 0.0, drift = 0.0;
  for (int64_t i = 0; i < in->cols; ++i) {
    const double term = exp(x[i] - most);
    sum += term;
    drift += term * (2.0 * (most - x[i]) + 4.0);
  }
  for (int64_t i = 0; i < in->cols; ++i) {
    const double own = 2.0 * (most - x[i]) + 4.0;
    out->value[i] = exp(x[i] - most) / sum;
    out->bound[i] = U32 * (own + drift / sum + in->depth + 4.0) * out->value[i] + 1e-38;
  }
}

static void row_sum(const recipe_row *in, const expected_row *out)
{
  double magnitude;
  out->value[0] = total(in->input[0], in->cols, &magnitude);
  out->bound[0] = in->cols == 1 ? 0.0 : U32 * in->depth * magnitude;
}

static void row_mean(const recipe_row *in, const expected_row *out)
{
  double magnitude;
  const double n = (double)in->cols;
  out->value[0] = total(in->input[0], in->cols, &magnitude) / n;
  out->bound[0] = U32 * (in->depth + 2.0) * magnitude / n;
}

static void row_max(const recipe_row *in, const expected_row *out)
{
  out->value[0] = largest(in->input[0], in->cols);
  out->bound[0] = 0.0;
}

static void scale_add(const recipe_row *in, const expected_row *out)
{
  const double *a = in->input[0], *b = in->input[1], s = in->input[2][0];
  for (int64_t i = 0; i < in->cols; ++i) {
    out->value[i] = a[i] + b[i] * s;
    out->bound[i] = U32 * (fabs(b[i] * s) + fabs(out->value[i]));
  }
}

static void sum_and_difference(const recipe_row *in, const expected_row *out)
{
  const double *a = in->input[0], *b = in->input[1];
  for (int64_t i = 0; i < in->cols; ++i) {
    out[0].value[i] = a[i] + b[i];
    out[1].value[i] = a[i] - b[i];
    for (int o = 0; o < 2; ++o) out[o].bound[i] = U32 * fabs(out[o].value[i]);
  }
}

static void centered(const recipe_row *in, const expected_row *out)
{
  const double *x = in->input[0];
  row_mean(in, &out[1]);
  for (int64_t i = 0; i < in->cols; ++i) {
    out[0].value[i] = x[i] - out[1].value[0];
    out[0].bound[i] = out[1].bound[0] + U32 * fabs(out[0].value[i]);
  }
}

#define MATRIX(name)                                                                                                   \
  {                                                                                                                    \
    name, TMARING_SHAPE_MATRIX                                                                                         \
  }
#define VECTOR(name)                                                                                                   \
  {                                                                                                                    \
    name, TMARING_SHAPE_ROW                                                                                            \
  }
#define COLUMN(name)                                                                                                   \
  {                                                                                                                    \
    name, TMARING_SHAPE_COLUMN                                                                                         \
  }

static const recipe table[RECIPE_COUNT] = {
    {"x+x", "y = x + x", 1, {MATRIX("x")}, 1, {TMARING_SHAPE_MATRIX}, twice},
    {"x+1", "y = x + 1", 1, {MATRIX("x")}, 1, {TMARING_SHAPE_MATRIX}, add_one},
    {"rmsnorm",
     "y = x * rsqrt(mean(x*x) + 1e-6) * w[N]",
     2,
     {MATRIX("x"), VECTOR("w")},
     1,
     {TMARING_SHAPE_MATRIX},
     rmsnorm},
    {"layernorm",
     "mu = mean(x); d = x - mu; y = d * rsqrt(mean(d*d) + 1e-5) * w[N] + b[N]",
     3,
     {MATRIX("x"), VECTOR("w"), VECTOR("b")},
     1,
     {TMARING_SHAPE_MATRIX},
     layernorm},
    {"softmax", "e = exp(x - max(x)); y = e / sum(e)", 1, {MATRIX("x")}, 1, {TMARING_SHAPE_MATRIX}, softmax},
    {"row sum", "y = sum(x)", 1, {MATRIX("x")}, 1, {TMARING_SHAPE_COLUMN}, row_sum},
    {"row mean", "y = mean(x)", 1, {MATRIX("x")}, 1, {TMARING_SHAPE_COLUMN}, row_mean},
    {"row max", "y = max(x)", 1, {MATRIX("x")}, 1, {TMARING_SHAPE_COLUMN}, row_max},
    {"a+b*s", "y = a + b * s[M]", 3, {MATRIX("a"), MATRIX("b"), COLUMN("s")}, 1, {TMARING_SHAPE_MATRIX}, scale_add},
    {"a+b, a-b",
     "y = a + b; z = a - b",
     2,
     {MATRIX("a"), MATRIX("b")},
     2,
     {TMARING_SHAPE_MATRIX, TMARING_SHAPE_MATRIX},
     sum_and_difference},
    {"centered",
     "y = x - mean(x); m = mean(x)",
     1,
     {MATRIX("x")},
     2,
     {TMARING_SHAPE_MATRIX, TMARING_SHAPE_COLUMN},
     centered},
};

const recipe *recipe_find(recipe_name name)
{
  return &table[name];
}

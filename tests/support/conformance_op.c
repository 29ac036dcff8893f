/* References of the conformance list's programs that are no ready ops, in double with an error bound per value. */
#include "conformance.h"

#include "op_evaluate.h"

static ball exponential(const op_row *in, int64_t i)
{
  return ball_exp(&in->a, op_input(in, 0, i));
}

static ball twice(const op_row *in, int64_t i)
{
  return ball_add(&in->a, op_input(in, 0, i), op_input(in, 0, i));
}

static ball product_and_sum(const op_row *in, int64_t i)
{
  return ball_add(&in->a, ball_mul(&in->a, op_input(in, 0, i), op_input(in, 1, i)), op_input(in, 2, i));
}

/* The mean is off by `shift`, all deviations alike, so that it enters the variance squared; the sum of squares, the
 * division by N and the root have relative errors, halved by the root. */
static void standardize(const op_row *in, const expected_row *out, double eps)
{
  const double *x = in->input[0], n = (double)in->cols, unit = ball_unit(&in->a), depth = in->a.depth;
  double sum = 0.0, magnitude = 0.0, squares = 0.0;
  for (int64_t i = 0; i < in->cols; ++i) sum += x[i], magnitude += fabs(x[i]);
  const double mean = sum / n, shift = unit * (depth + 2.0) * magnitude / n;
  for (int64_t i = 0; i < in->cols; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const double variance = squares / n + eps, scale = 1.0 / sqrt(variance);
  const double spread = unit * (depth + 6.0) + shift * shift / variance;
  for (int64_t i = 0; i < in->cols; ++i) {
    const double deviation = x[i] - mean, v = deviation * scale;
    op_put(out, i, ball_of(v, scale * (shift + unit * fabs(deviation)) + fabs(v) * (0.5 * spread + 6.0 * unit)));
  }
}

static void standard(const op_row *in, const expected_row *out)
{
  standardize(in, out, 0.0);
}

static void standard_eps(const op_row *in, const expected_row *out)
{
  standardize(in, out, 1e-5);
}

static const struct {
  op_reference reference;
  const char *formula;
} ops[CONFORMANCE_OPS] = {
    {{"exp", OP_POINTWISE, "x>y", "float", "float", 1, OP_JOIN_SUM, NULL, exponential}, "y = exp(x)"},
    {{"x + x", OP_POINTWISE, "x>y", "float", "float", 1, OP_JOIN_SUM, NULL, twice}, "y = x + x"},
    {{"a * b + c", OP_POINTWISE, "xxx>y", "float", "float", 3, OP_JOIN_SUM, NULL, product_and_sum}, "y = a * b + c"},
    {{"(x - mean) / sqrt(var)", OP_NORM, "x>y", "float", "float", 1, OP_JOIN_SUM, standard, NULL},
     "d = x - mean(x); y = d / sqrt(mean(d * d))"},
    {{"(x - mean) / sqrt(var + eps)", OP_NORM, "x>y", "float", "float", 1, OP_JOIN_SUM, standard_eps, NULL},
     "d = x - mean(x); y = d / sqrt(mean(d * d) + 1e-5)"},
};

op_trial conformance_trial(conformance_op op, int64_t rows, int64_t cols)
{
  op_trial t = op_trial_begin("copy", TMARING_F32, rows, cols);
  t.op = &ops[op].reference;
  t.formula = ops[op].formula;
  return t;
}

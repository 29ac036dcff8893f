/* Norms, and their gradients. */
#include "op_evaluate.h"

#include "verdict.h"

ball op_settled(const op_row *in, int output, int64_t i, ball b)
{
  const double got = in->got[output][i];
  const int right = isfinite(got) && !isinf(b.e) && verdict_near(in->output_type[output], got, b.v, b.e);
  return right ? ball_exact(got) : b;
}

ball op_settled_unrounded(const op_row *in, int output, int64_t i, ball b)
{
  const tmaring_dtype working = in->a.wide ? TMARING_F64 : TMARING_F32;
  return in->output_type[output] == working ? op_settled(in, output, i, b) : b;
}

static ball mean_of_products(const op_row *in, const ball *x, const ball *y)
{
  ball_sum s = ball_sum_begin();
  for (int64_t i = 0; i < in->cols; ++i) ball_sum_add(&s, ball_mul(&in->a, x[i], y[i]));
  const ball sum = ball_sum_end(&in->a, &s, in->a.depth);
  return ball_div(&in->a, sum, ball_constant(&in->a, (double)in->cols));
}

ball op_inverse_rms(const op_row *in, const ball *x, ball eps)
{
  return ball_rsqrt(&in->a, ball_add(&in->a, mean_of_products(in, x, x), eps));
}

/* Shared by the variants: x * rs per element. */
static ball normal(const op_row *in, const ball *x, ball rs, int64_t i)
{
  return ball_mul(&in->a, x[i], rs);
}

void op_rmsnorm(const op_row *in, const expected_row *out)
{
  const ball *x = op_load(in, 0, 0), rs = op_inverse_rms(in, x, op_scalar(in, 0));
  for (int64_t i = 0; i < in->cols; ++i) op_put(out, i, ball_mul(&in->a, normal(in, x, rs, i), op_input(in, 1, i)));
}

void op_rmsnorm_hf(const op_row *in, const expected_row *out)
{
  const ball *x = op_load(in, 0, 0), rs = op_inverse_rms(in, x, op_scalar(in, 0));
  for (int64_t i = 0; i < in->cols; ++i)
    op_put(out, i, ball_mul(&in->a, op_cast(in, normal(in, x, rs, i)), op_input(in, 1, i)));
}

void op_rmsnorm_gemma(const op_row *in, const expected_row *out)
{
  const ball *x = op_load(in, 0, 0), rs = op_inverse_rms(in, x, op_scalar(in, 0));
  for (int64_t i = 0; i < in->cols; ++i) {
    const ball weight = ball_add(&in->a, ball_exact(1.0), op_input(in, 1, i));
    op_put(out, i, ball_mul(&in->a, normal(in, x, rs, i), weight));
  }
}

/* h = x + r into scratch and output 0; y from it into output 1. */
static void add_rmsnorm_of(const op_row *in, const expected_row *out, int rounded)
{
  ball *h = in->scratch[0];
  for (int64_t i = 0; i < in->cols; ++i) {
    h[i] = ball_add(&in->a, op_input(in, 0, i), op_input(in, 1, i));
    if (rounded) h[i] = op_cast(in, h[i]);
    op_put(&out[0], i, h[i]);
    h[i] = rounded ? op_settled(in, 0, i, h[i]) : op_settled_unrounded(in, 0, i, h[i]);
  }
  const ball rs = op_inverse_rms(in, h, op_scalar(in, 0));
  for (int64_t i = 0; i < in->cols; ++i) op_put(&out[1], i, ball_mul(&in->a, normal(in, h, rs, i), op_input(in, 2, i)));
}

void op_add_rmsnorm(const op_row *in, const expected_row *out)
{
  add_rmsnorm_of(in, out, 1);
}

void op_add_rmsnorm_f32sum(const op_row *in, const expected_row *out)
{
  add_rmsnorm_of(in, out, 0);
}

/* Deviations from the mean, in place of x, and 1 / sqrt(variance + eps). The mean's error shifts every deviation alike,
 * so it enters the variance squared, and only makes it larger. */
static ball deviations(const op_row *in, ball *x, ball eps)
{
  const arithmetic *a = &in->a;
  const ball mean = op_mean(in, x), centre = isinf(mean.e) ? mean : ball_exact(mean.v);
  const double shift = mean.e;
  ball_sum s = ball_sum_begin();
  for (int64_t i = 0; i < in->cols; ++i) {
    const ball d = ball_sub(a, x[i], centre);
    ball_sum_add(&s, ball_mul(a, ball_of(d.v, isinf(d.e) ? d.e : 0.0), d));
    x[i] = isfinite(d.v) && isfinite(d.e) ? ball_of(d.v, d.e + shift * (1.0 + ball_unit(a))) : d;
  }
  ball variance = ball_div(a, ball_sum_end(a, &s, a->depth + 2.0), ball_constant(a, (double)in->cols));
  if (isfinite(variance.v) && in->cols > 1)
    variance = ball_of(variance.v + shift * shift / 2.0, variance.e + shift * shift / 2.0);
  return ball_rsqrt(a, ball_add(a, variance, eps));
}

void op_layernorm(const op_row *in, const expected_row *out)
{
  const arithmetic *a = &in->a;
  ball *d = op_load(in, 0, 0);
  const ball scale = deviations(in, d, op_scalar(in, 0));
  for (int64_t i = 0; i < in->cols; ++i) {
    const ball weighted = ball_mul(a, ball_mul(a, d[i], scale), op_input(in, 1, i));
    op_put(out, i, ball_add(a, weighted, op_input(in, 2, i)));
  }
}

/* Inputs dy, x, w: x becomes xh = x * rs in place, dy * w stands in scratch 1, and dy * xh are the terms of dw. */
static void weigh(const op_row *in, ball *x, ball rs, const expected_row *dw)
{
  const arithmetic *a = &in->a;
  ball *g = in->scratch[1];
  for (int64_t i = 0; i < in->cols; ++i) {
    x[i] = ball_mul(a, x[i], rs);
    g[i] = ball_mul(a, op_input(in, 0, i), op_input(in, 2, i));
    op_put(dw, i, ball_mul(a, op_input(in, 0, i), x[i]));
  }
}

void op_rmsnorm_backward(const op_row *in, const expected_row *out)
{
  const arithmetic *a = &in->a;
  ball *x = op_load(in, 1, 0);
  const ball *g = in->scratch[1], rs = op_inverse_rms(in, x, op_scalar(in, 0));
  weigh(in, x, rs, &out[1]);
  const ball along = mean_of_products(in, g, x);
  for (int64_t i = 0; i < in->cols; ++i)
    op_put(&out[0], i, ball_mul(a, rs, ball_sub(a, g[i], ball_mul(a, x[i], along))));
}

void op_layernorm_backward(const op_row *in, const expected_row *out)
{
  const arithmetic *a = &in->a;
  ball *x = op_load(in, 1, 0);
  const ball *g = in->scratch[1], rs = deviations(in, x, op_scalar(in, 0));
  weigh(in, x, rs, &out[1]);
  const ball mean = op_mean(in, g), along = mean_of_products(in, g, x);
  for (int64_t i = 0; i < in->cols; ++i) {
    const ball rest = ball_sub(a, ball_sub(a, g[i], mean), ball_mul(a, x[i], along));
    op_put(&out[0], i, ball_mul(a, rs, rest));
    op_put(&out[2], i, op_input(in, 0, i));
  }
}

/* Ops that find a scale and divide by it. */
#include "op_evaluate.h"

/* Greatest magnitude of x[first, last). */
static ball greatest(const ball *x, int64_t first, int64_t last)
{
  ball most = ball_abs(x[first]);
  for (int64_t i = first + 1; i < last; ++i) most = ball_max(most, ball_abs(x[i]));
  return most;
}

static ball ratio(const op_row *in, double up, double down)
{
  return ball_div(&in->a, ball_constant(&in->a, up), ball_constant(&in->a, down));
}

/* max(amax / 448, 1 / (448 * 512)) into output s, and x / s into output q. */
static void quantize_rows(const op_row *in, const ball *x, const expected_row *out, int s, int q)
{
  const arithmetic *a = &in->a;
  const ball raw = ball_div(a, greatest(x, 0, in->cols), ball_exact(448.0));
  const ball scale = ball_max(raw, ratio(in, 1.0, 448.0 * 512.0));
  op_put(&out[s], 0, scale);
  const ball by = op_settled_unrounded(in, s, 0, scale);
  for (int64_t i = 0; i < in->cols; ++i) op_put(&out[q], i, ball_div(a, x[i], by));
}

void op_quantize_fp8_row(const op_row *in, const expected_row *out)
{
  quantize_rows(in, op_load(in, 0, 0), out, 0, 1);
}

void op_quantize_fp8_group(const op_row *in, const expected_row *out)
{
  const arithmetic *a = &in->a;
  const ball *x = op_load(in, 0, 0);
  for (int64_t first = 0; first < in->cols; first += 128) {
    const int64_t last = first + 128 < in->cols ? first + 128 : in->cols;
    const ball most = ball_max(greatest(x, first, last), ball_constant(a, 1e-10));
    const ball scale = ball_div(a, most, ball_exact(448.0));
    op_put(&out[0], first / 128, scale);
    const ball by = op_settled_unrounded(in, 0, first / 128, scale);
    for (int64_t i = first; i < last; ++i) op_put(&out[1], i, ball_div(a, x[i], by));
  }
}

void op_quantize_i8_row(const op_row *in, const expected_row *out)
{
  const arithmetic *a = &in->a;
  const ball *x = op_load(in, 0, 0);
  const ball most = ball_max(greatest(x, 0, in->cols), ball_constant(a, 1e-10));
  const ball scale = ball_div(a, most, ball_exact(127.0));
  op_put(&out[0], 0, scale);
  const ball by = op_settled_unrounded(in, 0, 0, scale);
  for (int64_t i = 0; i < in->cols; ++i) {
    const ball whole = ball_whole(ball_div(a, x[i], by));
    op_put(&out[1], i, ball_min(ball_max(whole, ball_exact(-127.0)), ball_exact(127.0)));
  }
}

/* x * rs * w, rounded to x's type, in place of x. */
static void normalize(const op_row *in, ball *x, int weight)
{
  const ball rs = op_inverse_rms(in, x, op_scalar(in, 0));
  for (int64_t i = 0; i < in->cols; ++i)
    x[i] = op_cast(in, ball_mul(&in->a, ball_mul(&in->a, x[i], rs), op_input(in, weight, i)));
}

void op_rmsnorm_quantize_fp8_row(const op_row *in, const expected_row *out)
{
  ball *x = op_load(in, 0, 0);
  normalize(in, x, 1);
  quantize_rows(in, x, out, 0, 1);
}

void op_add_rmsnorm_quantize_fp8_row(const op_row *in, const expected_row *out)
{
  ball *h = in->scratch[0];
  for (int64_t i = 0; i < in->cols; ++i) {
    const ball sum = op_cast(in, ball_add(&in->a, op_input(in, 0, i), op_input(in, 1, i)));
    op_put(&out[0], i, sum);
    h[i] = op_settled(in, 0, i, sum);
  }
  normalize(in, h, 2);
  quantize_rows(in, h, out, 1, 2);
}

void op_silu_mul_quantize_fp8_row(const op_row *in, const expected_row *out)
{
  ball *y = in->scratch[0];
  for (int64_t i = 0; i < in->cols; ++i) {
    const ball gate = op_silu_of(&in->a, op_input(in, 0, i));
    y[i] = op_cast(in, ball_mul(&in->a, gate, op_input(in, 0, in->cols + i)));
  }
  quantize_rows(in, y, out, 0, 1);
}

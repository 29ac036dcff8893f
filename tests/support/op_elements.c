/* Ops that work element by element. */
#include "op_evaluate.h"

ball op_add(const op_row *in, int64_t i)
{
  return ball_add(&in->a, op_input(in, 0, i), op_input(in, 1, i));
}

ball op_mul(const op_row *in, int64_t i)
{
  return ball_mul(&in->a, op_input(in, 0, i), op_input(in, 1, i));
}

ball op_scale(const op_row *in, int64_t i)
{
  return ball_mul(&in->a, op_input(in, 0, i), op_scalar(in, 0));
}

ball op_axpby(const op_row *in, int64_t i)
{
  const ball left = ball_mul(&in->a, op_input(in, 0, i), op_scalar(in, 0));
  return ball_add(&in->a, left, ball_mul(&in->a, op_input(in, 1, i), op_scalar(in, 1)));
}

/* Also cast: the types differ, the formula does not. */
ball op_copy(const op_row *in, int64_t i)
{
  return op_input(in, 0, i);
}

ball op_fill(const op_row *in, int64_t i)
{
  (void)i;
  return op_scalar(in, 0);
}

ball op_relu(const op_row *in, int64_t i)
{
  return ball_max(op_input(in, 0, i), ball_exact(0.0));
}

ball op_silu_of(const arithmetic *a, ball x)
{
  return ball_mul(a, x, ball_sigmoid(a, x));
}

ball op_silu(const op_row *in, int64_t i)
{
  return op_silu_of(&in->a, op_input(in, 0, i));
}

static ball gelu_tanh_of(const arithmetic *a, ball x)
{
  const ball cube = ball_mul(a, ball_mul(a, ball_mul(a, ball_constant(a, 0.044715), x), x), x);
  const ball inner = ball_mul(a, ball_constant(a, 0.7978845608028654), ball_add(a, x, cube));
  const ball one = ball_add(a, ball_exact(1.0), ball_tanh(a, inner));
  return ball_mul(a, ball_mul(a, ball_exact(0.5), x), one);
}

ball op_gelu_tanh(const op_row *in, int64_t i)
{
  return gelu_tanh_of(&in->a, op_input(in, 0, i));
}

ball op_gelu_erf(const op_row *in, int64_t i)
{
  const arithmetic *a = &in->a;
  const ball x = op_input(in, 0, i), root = ball_constant(a, 0.7071067811865476);
  const ball one = ball_add(a, ball_exact(1.0), ball_erf(a, ball_mul(a, x, root)));
  return ball_mul(a, ball_mul(a, ball_exact(0.5), x), one);
}

ball op_silu_mul(const op_row *in, int64_t i)
{
  return ball_mul(&in->a, op_silu_of(&in->a, op_input(in, 0, i)), op_input(in, 0, in->cols + i));
}

ball op_gelu_mul(const op_row *in, int64_t i)
{
  return ball_mul(&in->a, gelu_tanh_of(&in->a, op_input(in, 0, i)), op_input(in, 0, in->cols + i));
}

ball op_silu_mul_rounded(const op_row *in, int64_t i)
{
  const ball gate = op_cast(in, op_silu_of(&in->a, op_input(in, 0, i)));
  return ball_mul(&in->a, gate, op_input(in, 0, in->cols + i));
}

/* Scalars: limit, alpha, beta. */
static ball swiglu_of(const op_row *in, ball gate, ball up)
{
  const arithmetic *a = &in->a;
  const ball limit = op_scalar(in, 0);
  const ball clipped = ball_min(gate, limit);
  const ball act = ball_mul(a, clipped, ball_sigmoid(a, ball_mul(a, op_scalar(in, 1), clipped)));
  const ball inside = ball_min(ball_max(up, ball_negative(limit)), limit);
  return ball_mul(a, act, ball_add(a, inside, op_scalar(in, 2)));
}

ball op_swiglu_clamp(const op_row *in, int64_t i)
{
  return swiglu_of(in, op_input(in, 0, i), op_input(in, 0, in->cols + i));
}

ball op_swiglu_clamp_interleaved(const op_row *in, int64_t i)
{
  return swiglu_of(in, op_input(in, 0, 2 * i), op_input(in, 0, 2 * i + 1));
}

ball op_quantize_fp8(const op_row *in, int64_t i)
{
  return ball_div(&in->a, op_input(in, 0, i), op_input(in, 1, 0));
}

ball op_dequantize_fp8_row(const op_row *in, int64_t i)
{
  return ball_mul(&in->a, op_input(in, 0, i), op_input(in, 1, 0));
}

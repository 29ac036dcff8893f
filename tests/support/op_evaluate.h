/* The references themselves, one per op, and what they share. */
#ifndef TMARING_TESTS_OP_EVALUATE_H
#define TMARING_TESTS_OP_EVALUATE_H

#include "op_reference.h"

op_element op_add, op_mul, op_scale, op_axpby, op_copy, op_fill, op_relu, op_silu, op_gelu_tanh, op_gelu_erf;
op_element op_silu_mul, op_gelu_mul, op_silu_mul_rounded, op_swiglu_clamp, op_swiglu_clamp_interleaved;
op_element op_quantize_fp8, op_dequantize_fp8_row;
op_evaluate op_row_sum, op_row_mean, op_row_max, op_row_min, op_row_amax, op_row_argmax, op_col_terms;
op_evaluate op_softmax, op_log_softmax, op_softmax_scaled, op_cross_entropy;
op_evaluate op_rmsnorm, op_rmsnorm_hf, op_rmsnorm_gemma, op_add_rmsnorm, op_add_rmsnorm_f32sum, op_layernorm;
op_evaluate op_rmsnorm_backward, op_layernorm_backward;
op_evaluate op_quantize_fp8_row, op_quantize_fp8_group, op_quantize_i8_row, op_rmsnorm_quantize_fp8_row;
op_evaluate op_add_rmsnorm_quantize_fp8_row, op_silu_mul_quantize_fp8_row;

static inline ball op_input(const op_row *in, int tensor, int64_t i)
{
  return ball_exact(in->input[tensor][i]);
}

/* What a tensor's [M] value or a [N] vector holds goes the same way; a scalar parameter by its number. */
static inline ball op_scalar(const op_row *in, int scalar)
{
  return ball_constant(&in->a, in->scalar[scalar]);
}

static inline void op_put(const expected_row *out, int64_t i, ball b)
{
  out->value[i] = b.v;
  out->bound[i] = b.e;
}

/* Rounded to the type of input 0: cast(x, ...). */
static inline ball op_cast(const op_row *in, ball b)
{
  return ball_cast(in->input_type[0], b);
}

/* A value that the backend stored as it is, and goes on with: where what it stored is right, that is the value. */
ball op_settled(const op_row *in, int output, int64_t i, ball b);
/* The same for a value in the backend's own arithmetic: settled only where the output's type holds it unrounded. */
ball op_settled_unrounded(const op_row *in, int output, int64_t i, ball b);

/* Mean of a row of n values; 1 / sqrt(mean of squares + eps). */
ball op_mean(const op_row *in, const ball *x);
ball op_inverse_rms(const op_row *in, const ball *x, ball eps);
/* Input `tensor` as balls in scratch. */
ball *op_load(const op_row *in, int tensor, int scratch);

ball op_silu_of(const arithmetic *a, ball x);

#endif

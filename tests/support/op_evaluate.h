/* The references themselves, one per op, and what they share. */
#ifndef TMARING_TESTS_OP_EVALUATE_H
#define TMARING_TESTS_OP_EVALUATE_H

#include "op_reference.h"

#define OP_ELEMENTS(X)                                                                                                 \
  X(add)                                                                                                               \
  X(mul)                                                                                                               \
  X(scale)                                                                                                             \
  X(axpby)                                                                                                             \
  X(copy)                                                                                                              \
  X(fill)                                                                                                              \
  X(relu)                                                                                                              \
  X(silu) X(gelu_tanh) X(gelu_erf) X(silu_mul) X(gelu_mul) X(silu_mul_rounded) X(swiglu_clamp)                         \
      X(swiglu_clamp_interleaved) X(quantize_fp8) X(dequantize_fp8_row)

#define OP_ROWS(X)                                                                                                     \
  X(row_sum)                                                                                                           \
  X(row_mean)                                                                                                          \
  X(row_max)                                                                                                           \
  X(row_min)                                                                                                           \
  X(row_amax)                                                                                                          \
  X(row_argmax)                                                                                                        \
  X(col_terms)                                                                                                         \
  X(softmax) X(log_softmax) X(softmax_scaled) X(cross_entropy) X(rmsnorm) X(rmsnorm_hf) X(rmsnorm_gemma)               \
      X(add_rmsnorm) X(add_rmsnorm_f32sum) X(layernorm) X(rmsnorm_backward) X(layernorm_backward) X(quantize_fp8_row)  \
          X(quantize_fp8_group) X(quantize_i8_row) X(rmsnorm_quantize_fp8_row) X(add_rmsnorm_quantize_fp8_row)         \
              X(silu_mul_quantize_fp8_row)

#define OP_DECLARE_ELEMENT(name) op_element op_##name;
#define OP_DECLARE_ROW(name)     op_evaluate op_##name;
OP_ELEMENTS(OP_DECLARE_ELEMENT)
OP_ROWS(OP_DECLARE_ROW)
#undef OP_DECLARE_ELEMENT
#undef OP_DECLARE_ROW

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

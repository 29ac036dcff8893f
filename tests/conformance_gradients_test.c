/* Conformance list, section 8, backward: gradients of RMSNorm and LayerNorm, an inner reduction and column sums in one pass,
 * at 2048 x {1024, 1280, ..., 8192} and 16384 x 2048. f32: every fourth of the widths. The CPU backend runs fewer rows. */
#include <criterion/criterion.h>

#include "support/conformance.h"

static void run_shape(conformance *c, const venue *v, const char *op, tmaring_dtype dtype, int64_t rows, int64_t cols)
{
  trial_result result;
  const op_trial whole = op_trial_begin(op, dtype, rows, cols);
  op_trial t = whole;
  if (!conformance_takes(c)) return;
  if (v->backend == TMARING_BACKEND_CPU && t.rows > 61) t.rows = 61;
  if (t.rows == whole.rows || conformance_compile(&whole, v, &result)) result = conformance_run(&t, v);
  conformance_count(c, &result);
}

static void run_op(conformance *c, const venue *v, const char *op, tmaring_dtype dtype, int64_t step)
{
  for (int64_t cols = 1024; cols <= 8192; cols += step) run_shape(c, v, op, dtype, 2048, cols);
  run_shape(c, v, op, dtype, 16384, 2048);
}

CONFORMANCE_TEST(rmsnorm_gradient_bf16, 8, "rmsnorm backward, bf16")
{
  run_op(c, v, "rmsnorm_backward", TMARING_BF16, 256);
}

CONFORMANCE_TEST(layernorm_gradient_bf16, 8, "layernorm backward, bf16")
{
  run_op(c, v, "layernorm_backward", TMARING_BF16, 256);
}

CONFORMANCE_TEST(rmsnorm_gradient_f32, 8, "rmsnorm backward, f32")
{
  run_op(c, v, "rmsnorm_backward", TMARING_F32, 1024);
}

CONFORMANCE_TEST(layernorm_gradient_f32, 8, "layernorm backward, f32")
{
  run_op(c, v, "layernorm_backward", TMARING_F32, 1024);
}

/* Conformance list, section 8, forward: norms and softmax at {SM/2, 2048} x 13 sizes of hidden layers, at [2049,10240] and
 * [2049,8192], and at [1024,1023] in bf16, planned as users get them. The CPU backend runs fewer rows. */
#include <criterion/criterion.h>

#include "support/conformance.h"

/* Hidden sizes of language models that nvFuser's normalization tests go through. */
static const int32_t hidden[13] = {768, 1024, 1280, 1536, 1600, 2048, 2560, 4096, 5120, 6656, 8192, 12288, 18432};

static void run_one(conformance *c, const venue *v, const op_trial *whole)
{
  trial_result result;
  op_trial t = *whole;
  if (!conformance_takes(c)) return;
  if (v->backend == TMARING_BACKEND_CPU && t.rows > 61) t.rows = 61;
  if (t.rows == whole->rows || conformance_compile(whole, v, &result)) result = conformance_run(&t, v);
  conformance_count(c, &result);
}

static void run_shape(conformance *c, const venue *v, const char *op, int64_t rows, int64_t cols)
{
  static const tmaring_dtype dtypes[] = {TMARING_F32, TMARING_BF16};
  for (int d = 0; d < 2; ++d) {
    const op_trial t = op_trial_begin(op, dtypes[d], rows, cols);
    run_one(c, v, &t);
  }
}

static void run_op(conformance *c, const venue *v, const char *op)
{
  const op_trial odd = op_trial_begin(op, TMARING_BF16, 1024, 1023);
  for (int i = 0; i < 13; ++i) {
    run_shape(c, v, op, v->machine.sm_count / 2, hidden[i]);
    run_shape(c, v, op, 2048, hidden[i]);
  }
  run_shape(c, v, op, 2049, 10240);
  run_shape(c, v, op, 2049, 8192);
  run_one(c, v, &odd);
}

CONFORMANCE_TEST(layernorm_shapes, 8, "layernorm")
{
  run_op(c, v, "layernorm");
}

CONFORMANCE_TEST(rmsnorm_shapes, 8, "rmsnorm")
{
  run_op(c, v, "rmsnorm");
}

CONFORMANCE_TEST(softmax_shapes, 8, "softmax")
{
  run_op(c, v, "softmax");
}

/* Ready ops under random plans on small matrices: whatever the planner accepts passes the checker and the judge. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "support/op_trial.h"
#include "support/random_options.h"

static void choose_types(op_trial *t, noise *n)
{
  tmaring_dtype types[TMARING_DTYPE_COUNT];
  const int32_t inputs = op_reference_inputs(t->op, types);
  t->in = types[noise_below(n, inputs)];
  const int32_t outputs = op_reference_outputs(t->op, t->in, types);
  t->out = types[noise_below(n, outputs)];
  t->mixed = noise_below(n, 2);
}

static op_trial random_trial(noise *n)
{
  const int32_t cols = PICK(n, 1, 2, 3, 7, 8, 16, 31, 33, 64, 100, 128, 129, 255, 256, 384, 500, 777);
  const int32_t rows = PICK(n, 0, 1, 2, 3, 5, 13, 31, 57, 64, 100);
  const op_reference *op = op_reference_at(noise_below(n, op_reference_count()));
  op_trial t = op_trial_begin(op->name, TMARING_F32, rows, cols);
  choose_types(&t, n);
  t.layout = (op_layout)noise_below(n, OP_LAYOUTS);
  t.data = PICK(n, DATA_PLAIN, DATA_STEEP, DATA_WHOLE);
  t.one_value = noise_below(n, 4) == 0;
  t.hint = PICK(n, -1, -1, 1000);
  t.seed = noise_next(n) >> 40;
  const int32_t over = noise_below(n, 2);
  if (noise_below(n, 3) == 0 && op_trial_may_alias(&t, over)) t.in_place = over;
  random_options(&t.options, n, cols);
  if (noise_below(n, 2)) random_paths(&t.options, n);
  return t;
}

/* The first of the plans that the CPU backend runs; their kernels can be compiled ahead (gpu_test.sh pack). */
enum { GPU_PLANS = 200 };

static void run_plans(const venue *v, int32_t count)
{
  tally sum = tally_begin("random plans of ops", v->name);
  noise n = noise_seed(21);
  for (int32_t i = 0; i < count; ++i) {
    const op_trial t = random_trial(&n);
    if (tally_takes(&sum)) op_trial_count(&sum, &t, v);
  }
  tally_close(&sum);
  const int32_t run = sum.passed + sum.failed + sum.refused;
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_assert_geq(100 * sum.passed, 60 * run, "accepted %d of %d", (int)sum.passed, (int)run);
}

Test(op_plans, random_cpu, .timeout = 300)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  run_plans(&v, getenv("TMARING_TEST_COMPILE") ? GPU_PLANS : 2000);
}

Test(op_plans, random_cuda, .timeout = 500)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  run_plans(&v, GPU_PLANS);
  venue_close(&v);
}

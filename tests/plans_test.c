/* Random plans on small matrices: most are accepted, and every accepted one passes the checker, the reference and the
 * oracle. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <stdio.h>

#include "support/random_options.h"
#include "support/tally.h"

static trial random_trial(noise *n)
{
  const int32_t cols = PICK(n, 1, 2, 3, 7, 8, 16, 31, 33, 64, 100, 128, 129, 255, 256, 500, 777);
  const int32_t rows = PICK(n, 0, 1, 2, 3, 5, 13, 31, 57, 64, 100);
  trial t =
      trial_begin((recipe_name)noise_below(n, RECIPE_COUNT), (tmaring_dtype)noise_below(n, RECIPE_DTYPES), rows, cols);
  if (noise_below(n, 4) == 0) t.output_dtype = (tmaring_dtype)noise_below(n, RECIPE_DTYPES);
  trial_lay_out(&t, (trial_layout)noise_below(n, LAYOUT_COUNT));
  random_options(&t.options, n, cols);
  if (noise_below(n, 2)) random_paths(&t.options, n);
  t.seed = noise_next(n) >> 40;
  t.hint = PICK(n, -1, -1, 1000);
  t.data = noise_below(n, 4) ? DATA_PLAIN : DATA_POSITIVE;
  t.oracle = 1;
  return t;
}

/* The first of the plans that the CPU backend runs; their kernels can be compiled ahead (gpu_test.sh pack). */
enum { GPU_PLANS = 400 };

static void run_plans(const venue *v, int32_t count, uint64_t seed)
{
  tally sum = tally_begin("random plans", v->name);
  noise n = noise_seed(seed);
  for (int32_t i = 0; i < count; ++i) {
    const trial t = random_trial(&n);
    if (!tally_takes(&sum)) continue;
    const trial_result result = trial_run(&t, v);
    tally_count(&sum, &result);
  }
  tally_close(&sum);
  const int32_t run = sum.passed + sum.failed + sum.refused;
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_assert_geq(100 * sum.passed, 60 * run, "accepted %d of %d", (int)sum.passed, (int)run);
}

Test(plans, random_cpu, .timeout = 900)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  run_plans(&v, getenv("TMARING_TEST_COMPILE") ? GPU_PLANS : 1000, 20);
}

Test(plans, random_cuda, .timeout = 500)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  run_plans(&v, GPU_PLANS, 20);
  venue_close(&v);
}

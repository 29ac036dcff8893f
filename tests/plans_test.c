/* Random plans on small matrices: most are accepted, and every accepted one passes the checker, the reference and the
 * oracle. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <stdio.h>

#include "support/modes.h"
#include "support/tally.h"

static int32_t pick(noise *n, const int32_t *from, int32_t count)
{
  return from[noise_below(n, count)];
}

#define PICK(n, ...)                                                                                                   \
  pick((n), (const int32_t[]){__VA_ARGS__}, (int32_t)(sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)))

static void choose_block(tmaring_plan_options *o, noise *n)
{
  static const int32_t blocks[][3] = {{32, 1, 1}, {64, 1, 1}, {128, 1, 1}, {96, 1, 1},
                                      {32, 4, 1}, {32, 2, 2}, {64, 2, 1},  {256, 1, 1}};
  const int32_t which = noise_below(n, 2 * (int32_t)(sizeof blocks / sizeof blocks[0]));
  if (which >= (int32_t)(sizeof blocks / sizeof blocks[0])) return;
  for (int i = 0; i < 3; ++i) o->consumers[i] = blocks[which][i];
}

static void choose_ring(tmaring_plan_options *o, noise *n)
{
  mode_choose(o, (mode_choice)noise_below(n, MODE_CHOICES));
  choose_block(o, n);
  o->stages = PICK(n, TMARING_AUTO, 1, 2, 3, 4, 5, 8, 16);
  if (o->stages > 0 && noise_below(n, 3)) o->prefetch = noise_below(n, 2 * o->stages) - o->stages;
  o->release = PICK(n, TMARING_AUTO, TMARING_RELEASE_WARP, TMARING_RELEASE_THREAD);
  o->store = PICK(n, TMARING_AUTO, TMARING_STORE_DIRECT, TMARING_STORE_BULK);
}

static void choose_walk(tmaring_plan_options *o, noise *n, int32_t cols)
{
  o->order =
      PICK(n, TMARING_AUTO, TMARING_ORDER_SPLIT, TMARING_ORDER_BLOCKED, TMARING_ORDER_CYCLIC, TMARING_ORDER_TICKET);
  o->policy = PICK(n, TMARING_AUTO, TMARING_POLICY_WRAP, TMARING_POLICY_SKIP, TMARING_POLICY_EXACT);
  o->scope = PICK(n, TMARING_AUTO, TMARING_AUTO, TMARING_SCOPE_FLAT, TMARING_SCOPE_LANES, TMARING_SCOPE_WARP,
                  TMARING_SCOPE_GROUP, TMARING_SCOPE_CTA);
  if (o->scope == TMARING_SCOPE_LANES) o->lanes_per_row = PICK(n, TMARING_AUTO, 1, 2, 4, 8, 16);
  if (o->scope == TMARING_SCOPE_GROUP) o->warps_per_row = PICK(n, TMARING_AUTO, 2, 4);
  o->tile_rows = PICK(n, TMARING_AUTO, TMARING_AUTO, 1, 2, 3, 8, 13);
  o->piece_cols = PICK(n, TMARING_AUTO, TMARING_AUTO, TMARING_AUTO, cols, 64, 256);
  o->workers = PICK(n, TMARING_AUTO, 1, 2, 5, 13, 132);
}

static trial random_trial(noise *n)
{
  const int32_t cols = PICK(n, 1, 2, 3, 7, 8, 16, 31, 33, 64, 100, 128, 129, 255, 256, 500, 777);
  const int32_t rows = PICK(n, 0, 1, 2, 3, 5, 13, 31, 57, 64, 100);
  trial t = trial_begin((recipe_name)noise_below(n, RECIPE_COUNT), (tmaring_dtype)noise_below(n, TMARING_DTYPE_COUNT),
                        rows, cols);
  if (noise_below(n, 4) == 0) t.output_dtype = (tmaring_dtype)noise_below(n, TMARING_DTYPE_COUNT);
  trial_lay_out(&t, (trial_layout)noise_below(n, LAYOUT_COUNT));
  choose_ring(&t.options, n);
  choose_walk(&t.options, n, cols);
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

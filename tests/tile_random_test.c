/* Tile programs with everything drawn at random: each runs and is right, or is refused with a reason. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "support/noise.h"
#include "support/tile_trial.h"

static const tmaring_dtype any_type[] = {TMARING_F32, TMARING_F16, TMARING_BF16, TMARING_F64,
                                         TMARING_I8,  TMARING_I32, TMARING_E4M3, TMARING_I64};

static int32_t maybe(noise *n, int32_t limit)
{
  return noise_below(n, 2) ? TMARING_AUTO : noise_below(n, limit);
}

static void draw_ring(noise *n, tmaring_tile_options *o)
{
  o->mode = maybe(n, 2);
  o->war = maybe(n, 2);
  o->role_axis = maybe(n, 3);
  o->order = maybe(n, 4);
  o->policy = maybe(n, 3);
  o->release = maybe(n, 2);
  o->load = maybe(n, 2);
  o->store = maybe(n, 3);
  o->swizzle = maybe(n, 4);
  if (noise_below(n, 2)) o->consumers[0] = 32 << noise_below(n, 4);
  if (noise_below(n, 2)) o->workers = 1 + noise_below(n, 9);
  if (noise_below(n, 2)) return;
  o->stages = 1 + noise_below(n, 6);
  if (noise_below(n, 2)) o->prefetch = noise_below(n, 2 * o->stages) - o->stages;
}

static void draw_copy(noise *n, tile_trial *t)
{
  const int32_t elem = (int32_t)tmaring_dtype_bytes((tmaring_i32)t->dtype);
  t->rank = 1 + noise_below(n, 5);
  for (int32_t d = 0; d < TMARING_MAX_RANK; ++d) {
    t->dims[d] = d < t->rank ? 1 + noise_below(n, d == 0 ? 200 : 60 >> t->rank) : 1;
    if (noise_below(n, 3) == 0)
      t->options.box[d] = d == 0 ? 16 / elem * (1 + noise_below(n, 12)) : 1 + noise_below(n, 9);
    if (d > 0 && noise_below(n, 4) == 0) t->options.element_strides[d] = 1 + noise_below(n, 8);
  }
}

static void draw_matmul(noise *n, tile_trial *t)
{
  t->dtype = any_type[noise_below(n, 3)];
  t->output = noise_below(n, 2) ? TMARING_F32 : t->dtype;
  t->broadcast = noise_below(n, 4) == 0;
  for (int32_t d = 0; d < 3; ++d) {
    t->dims[d] = 1 + noise_below(n, 140);
    if (noise_below(n, 2)) t->options.box[d] = 16 << noise_below(n, 3);
  }
}

static tile_trial draw(uint64_t seed)
{
  noise n = noise_seed(seed);
  tile_trial t = tile_trial_make((tmaring_tile_op)noise_below(&n, 3), any_type[noise_below(&n, 8)], 2, NULL);
  t.seed = seed;
  t.gap = noise_below(&n, 3) == 0 ? 16 * (size_t)noise_below(&n, 4) : 0;
  draw_ring(&n, &t.options);
  if (t.op == TMARING_TILE_COPY) {
    draw_copy(&n, &t);
  } else if (t.op == TMARING_TILE_MATMUL) {
    draw_matmul(&n, &t);
  } else {
    for (int32_t d = 0; d < 2; ++d) {
      t.dims[d] = 1 + noise_below(&n, 300);
      if (noise_below(&n, 2)) t.options.box[d] = 16 << noise_below(&n, 4);
    }
  }
  return t;
}

VENUE_TEST(tile_random, programs)
{
  const char *count_text = getenv("TMARING_TEST_RANDOM");
  /* On a GPU most of them are a kernel to compile. */
  const int count = count_text ? atoi(count_text) : v->backend == TMARING_BACKEND_CPU ? 600 : 30;
  int passed = 0;
  for (int i = 0; i < count; ++i) {
    const tile_trial t = draw(1000 + (uint64_t)i);
    tile_result r;
    tile_trial_run(v, &t, &r);
    cr_assert(r.outcome != TILE_FAILED, "case %d, op %d, %s, %lld x %lld x %lld: %s", i, t.op,
              tmaring_dtype_name(t.dtype), (long long)t.dims[0], (long long)t.dims[1], (long long)t.dims[2], r.text);
    passed += r.outcome == TILE_PASSED;
    if (r.outcome == TILE_REFUSED && getenv("TMARING_TEST_VERBOSE")) cr_log_warn("case %d: %s", i, r.text);
  }
  cr_assert(2 * passed > count, "%d of %d ran", passed, count);
}

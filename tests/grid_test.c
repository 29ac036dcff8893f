/* The seed grid: x + x, f32 [8191,256], one row per fill, 132 workers; stages {2,4} x prefetch -S..S-1 x five modes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/modes.h"
#include "support/tally.h"

typedef struct grid_shape {
  int64_t rows, cols;
  int64_t slots, surplus; /* what the split must give on 132 workers */
} grid_shape;

static const grid_shape seed_shape = {8191, 256, 8448, 257};
static const grid_shape small_shape = {997, 64, 1056, 59};

/* Every worker's slots, one after another: each tile once as a valid fill, the surplus inside the matrix or left out.
 */
static int walk_is_right(const tmaring_args *args, const grid_shape *shape, char *text, size_t size)
{
  const tmaring_walk *w = &args->walk;
  int64_t slots = 0, surplus = 0, outside = 0;
  unsigned char *seen = calloc((size_t)shape->rows, 1);
  if (!seen) return 0;
  for (int32_t worker = 0; worker < w->workers; ++worker) {
    tmaring_trip trip;
    tmaring_trip_begin(&trip, w, worker);
    slots += w->slots;
    surplus += w->slots - tmaring_walk_valid_slots(w, worker);
    for (; tmaring_trip_live(&trip, w); tmaring_trip_next(&trip, w)) {
      tmaring_fill fill;
      tmaring_walk_fill(w, trip.tile, trip.part, &fill);
      outside += fill.row < 0 || fill.row >= shape->rows || fill.rows != 1;
      if (fill.valid && fill.row < shape->rows) seen[fill.row] += 1;
    }
  }
  int64_t once = 0;
  for (int64_t r = 0; r < shape->rows; ++r) once += seen[r] == 1;
  free(seen);
  snprintf(text, size, "walk: %lld slots, %lld surplus, %lld outside, %lld of %lld rows once", (long long)slots,
           (long long)surplus, (long long)outside, (long long)once, (long long)shape->rows);
  return slots == shape->slots && surplus == shape->surplus && outside == 0 && once == shape->rows;
}

static trial grid_trial(const grid_shape *shape, int32_t stages, int32_t prefetch, mode_choice mode)
{
  trial t = trial_begin(RECIPE_DOUBLE, TMARING_F32, shape->rows, shape->cols);
  mode_choose(&t.options, mode);
  t.options.stages = stages;
  t.options.prefetch = prefetch;
  t.options.workers = 132;
  t.options.order = TMARING_ORDER_SPLIT;
  t.options.tile_rows = 1;
  return t;
}

static void run_case(tally *sum, const trial *t, const venue *v, const grid_shape *shape)
{
  char text[256];
  trial_result result = trial_run(t, v);
  if (result.outcome == TRIAL_REFUSED) result.outcome = TRIAL_FAILED; /* every cell of the grid runs */
  if (result.outcome == TRIAL_PASSED && !walk_is_right(&result.args, shape, text, sizeof text)) {
    tally_note(sum, 0, text);
    return;
  }
  tally_count(sum, &result);
}

/* The 60 cases under one policy and one kind of store. */
static void run_grid(tally *sum, const venue *v, const grid_shape *shape, int32_t policy, int32_t store)
{
  for (int32_t stages = 2; stages <= 4; stages += 2) {
    for (int32_t prefetch = -stages; prefetch < stages; ++prefetch) {
      for (int mode = 0; mode < MODE_CHOICES; ++mode) {
        trial t = grid_trial(shape, stages, prefetch, (mode_choice)mode);
        t.options.policy = policy;
        t.options.store = store;
        if (tally_takes(sum)) run_case(sum, &t, v, shape);
      }
    }
  }
}

static void close_grid(const tally *sum)
{
  tally_close(sum);
  cr_assert_eq(sum->seen % 60, 0);
  cr_assert_eq(sum->failed, 0, "%s", sum->first_failure);
  cr_assert_eq(sum->passed, (sum->seen + sum->step - 1) / sum->step);
}

static void run_seed(const venue *v)
{
  tally sum = tally_begin("grid", v->name);
  run_grid(&sum, v, &seed_shape, TMARING_POLICY_WRAP, TMARING_AUTO);
  tally_row(&sum, 1);
  close_grid(&sum);
}

/* All policies and both kinds of store. */
static void run_policies(const venue *v, const grid_shape *shape)
{
  tally sum = tally_begin("grid of policies and stores", v->name);
  for (int32_t policy = TMARING_POLICY_WRAP; policy <= TMARING_POLICY_EXACT; ++policy) {
    run_grid(&sum, v, shape, policy, TMARING_STORE_DIRECT);
    run_grid(&sum, v, shape, policy, TMARING_STORE_BULK);
  }
  close_grid(&sum);
}

Test(grid, seed_cpu, .timeout = 900)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  run_seed(&v);
}

/* The emulator's time goes with the elements, so the policies run on a smaller matrix with a surplus of its own. */
Test(grid, policies_cpu, .timeout = 900)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  run_policies(&v, &small_shape);
}

Test(grid, seed_cuda, .timeout = 300)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  run_seed(&v);
  venue_close(&v);
}

Test(grid, policies_cuda, .timeout = 500)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  run_policies(&v, &seed_shape);
  venue_close(&v);
}

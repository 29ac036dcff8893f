/* Cases from the field. Each test has the name of its case and of its backend; what the case is about stands above it.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/field_case.h"
#include "support/modes.h"
#include "support/rig.h"

/* The bulk size of every load of a launch, as the kernel would derive it for a base at a multiple of 256 plus `shift`:
 * a multiple of 16 from a multiple of 16, inside the tensor. */
static int loads_are_whole(const trial_result *result, size_t shift, int64_t rows)
{
  tmaring_args args = result->args;
  tmaring_stream *s = &args.input[0];
  s->base = 4096 + shift;
  s->hull_end = s->base + (tmaring_u64)(rows - 1) * (tmaring_u64)s->pitch + (tmaring_u64)args.walk.cols * s->elem_bytes;
  for (int32_t worker = 0; worker < args.walk.workers; ++worker) {
    tmaring_trip trip;
    tmaring_trip_begin(&trip, &args.walk, worker);
    for (; tmaring_trip_live(&trip, &args.walk); tmaring_trip_next(&trip, &args.walk)) {
      tmaring_fill fill;
      tmaring_walk_fill(&args.walk, trip.tile, trip.part, &fill);
      for (int32_t i = 0; i < tmaring_run_count(s, fill.rows); ++i) {
        const tmaring_run r = tmaring_run_at(s, &fill, 0, fill.rows, i);
        const tmaring_window w = tmaring_run_load_window(s, &r);
        const tmaring_u64 begin = result->info.aligned ? r.address : w.begin;
        const tmaring_u32 bytes = result->info.aligned ? r.bytes : w.bytes;
        if (begin % 16 || bytes % 16 || (bytes && (begin < s->base || begin + bytes > s->hull_end))) return 0;
      }
    }
  }
  return 1;
}

/* F04: rows whose bytes are no multiple of 16: 1023 bf16 (2046), 33 f32 (132). Sums of ones are exact. */
static void sum_of_ones(const venue *v, tally *sum, tmaring_dtype dtype, int64_t cols)
{
  float sums[3] = {0, 0, 0};
  trial t = trial_begin(RECIPE_ROW_SUM, dtype, 3, cols);
  t.output_dtype = TMARING_F32;
  t.data = DATA_ONES;
  t.keep = sums;
  const trial_result result = field_run(sum, v, &t);
  for (int i = 0; i < 3; ++i) cr_expect_eq(sums[i], (float)cols, "row %d of %d: %g", i, (int)cols, sums[i]);
  cr_expect(loads_are_whole(&result, 0, 3));
}

FIELD_CASE(F04)
{
  sum_of_ones(v, sum, TMARING_BF16, 1023);
  sum_of_ones(v, sum, TMARING_BF16, 1024);
  sum_of_ones(v, sum, TMARING_F32, 33);
  sum_of_ones(v, sum, TMARING_F32, 32);
}

/* F05: base addresses that are no multiple of 16. At 16 the aligned path runs. */
FIELD_CASE(F05)
{
  for (int side = 0; side < 2; ++side) {
    for (size_t shift = 0; shift <= 16; shift += 4) {
      trial t = trial_begin(RECIPE_ADD_ONE, TMARING_F32, 9, 256);
      t.shift[side] = shift;
      const trial_result result = field_run(sum, v, &t);
      cr_expect_eq(result.info.aligned, shift % 16 == 0, "side %d, shift %zu", side, shift);
      if (side == 0) cr_expect(loads_are_whole(&result, shift, 9));
    }
  }
}

/* F07: a split that does not divide. The surplus slots wrap onto the first rows and are never stored. */
static void wrapped_rows(const venue *v, tally *sum, int64_t rows, int32_t stages, int64_t slots, int64_t wrapped)
{
  trial t = trial_begin(RECIPE_ADD_ONE, TMARING_F32, rows, 1024);
  t.data = DATA_ROW_NUMBER;
  t.options.workers = 132;
  t.options.stages = stages;
  t.options.order = TMARING_ORDER_SPLIT;
  t.options.policy = TMARING_POLICY_WRAP;
  t.options.tile_rows = 1;
  const tmaring_walk w = field_run(sum, v, &t).args.walk;
  int64_t seen = 0, next = 0;
  for (int32_t worker = 0; worker < w.workers; ++worker) {
    tmaring_trip trip;
    tmaring_trip_begin(&trip, &w, worker);
    for (; tmaring_trip_live(&trip, &w); tmaring_trip_next(&trip, &w), ++seen) {
      tmaring_fill fill;
      tmaring_walk_fill(&w, trip.tile, trip.part, &fill);
      if (!fill.valid) cr_assert_eq(fill.row, next++); /* rows 0, 1, 2, ... in turn */
    }
  }
  cr_expect_eq(seen, slots);
  cr_expect_eq(next, wrapped);
}

FIELD_CASE(F07a)
{
  wrapped_rows(v, sum, 1000, 2, 1056, 56);
  wrapped_rows(v, sum, 997, 3, 1188, 191);
}

/* F08: more stages than trips. The same bits as with one stage. */
static void short_loop(const venue *v, tally *sum, int64_t rows, mode_choice mode, int32_t order)
{
  const size_t bytes = (size_t)rows * 512 * sizeof(float);
  void *kept[2] = {calloc(1, bytes), calloc(1, bytes)};
  for (int deep = 0; deep < 2; ++deep) {
    trial t = trial_begin(RECIPE_RMSNORM, TMARING_F32, rows, 512);
    mode_choose(&t.options, mode);
    t.options.workers = 132;
    t.options.tile_rows = 1;
    t.options.order = order;
    t.options.scope = TMARING_SCOPE_WARP;
    t.options.stages = deep ? 4 : 1;
    t.options.prefetch = deep ? 3 : 0;
    t.keep = kept[deep];
    field_run(sum, v, &t);
  }
  cr_expect_arr_eq(kept[0], kept[1], bytes);
  free(kept[0]);
  free(kept[1]);
}

FIELD_CASE(F08)
{
  for (int64_t trips = 1; trips <= 3; ++trips) {
    for (int mode = 0; mode < MODE_CHOICES; ++mode) {
      for (int32_t order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_TICKET; ++order) {
        short_loop(v, sum, 132 * trips, (mode_choice)mode, order);
      }
    }
  }
}

/* F09: a single trip, then two: the same path, one copy of N * 4 bytes per fill. */
FIELD_CASE(F09)
{
  for (int64_t rows = 1; rows <= 2; ++rows) {
    trial t = trial_begin(RECIPE_DOUBLE, TMARING_F32, rows, 64);
    mode_choose(&t.options, MODE_SPECIALIZED_X);
    t.options.workers = 1;
    t.options.tile_rows = 1;
    t.options.stages = 2;
    t.options.order = TMARING_ORDER_BLOCKED;
    t.options.store = TMARING_STORE_DIRECT;
    const trial_result result = field_run(sum, v, &t);
    cr_expect_eq(result.report.fills, rows);
    cr_expect_eq(result.report.copies, rows);
    cr_expect_eq(result.info.aligned, 1);
    cr_expect_eq(result.args.cta.mode, TMARING_MODE_WARP_SPECIALIZED);
  }
}

/* F10: two stages, results staged over the input: a stage is refilled only after its bulk store has read it. */
FIELD_CASE(F10)
{
  for (int mode = 0; mode < MODE_CHOICES; ++mode) {
    for (int32_t stages = 1; stages <= 3; ++stages) {
      for (int32_t prefetch = 0; prefetch < stages; ++prefetch) {
        trial t = trial_begin(RECIPE_DOUBLE, TMARING_F32, 3 * 7, 256);
        mode_choose(&t.options, (mode_choice)mode);
        t.options.workers = 3;
        t.options.tile_rows = 1;
        t.options.stages = stages;
        t.options.prefetch = prefetch;
        t.options.order = TMARING_ORDER_BLOCKED;
        t.options.store = TMARING_STORE_BULK;
        const trial_result result = field_run(sum, v, &t);
        cr_expect_eq(result.info.store, TMARING_STORE_BULK);
        cr_expect_eq(result.info.in_place, 1);
      }
    }
  }
}

/* F13: zero rows, then at once four. */
FIELD_CASE(F13)
{
  for (int formula = 0; formula < RECIPE_COUNT; ++formula) {
    trial t = trial_begin((recipe_name)formula, TMARING_BF16, 0, 2520);
    field_run(sum, v, &t);
    t.rows = 4;
    field_run(sum, v, &t);
    t.hint = 0; /* a plan made for no rows runs four */
    field_run(sum, v, &t);
  }
}

/* F21: without a driver everything but the cuda backend works, and that says so. What the shared library needs to load
 * is looked at where it is built. */
Test(cases, F21_cpu, .timeout = 900)
{
  venue cpu;
  rig r;
  tmaring_kernel *kernel = (tmaring_kernel *)&cpu; /* must be reset */
  tmaring_machine machine;
  memset(&machine, 0, sizeof machine);
  machine.size = sizeof machine;
  cr_assert_null(venue_open(&cpu, TMARING_BACKEND_CPU));
  cr_assert(rig_make(&r, &cpu, 133, 256, NULL));
  cr_expect_eq(rig_launch(&r, 133, NULL, 0), TMARING_OK);
  cr_expect(rig_right(&r, 133));
  const tmaring_status status = tmaring_machine_query(&machine, 0);
  if (status != TMARING_OK) {
    cr_expect(status == TMARING_ERROR_NO_DRIVER || status == TMARING_ERROR_DEVICE, "%s", tmaring_status_name(status));
    cr_expect_neq(tmaring_last_detail()[0], 0);
    cr_expect_eq(tmaring_prepare(&kernel, r.plan, TMARING_BACKEND_CUDA), status);
    cr_expect_null(kernel);
    cr_expect_neq(tmaring_last_detail()[0], 0);
  }
  rig_free(&r);
}

typedef struct first_calls_of {
  rig *r;
  tmaring_status status;
  char detail[400]; /* the detail belongs to the thread that made the calls */
} first_calls_of;

static void *first_calls(void *argument)
{
  first_calls_of *calls = argument;
  calls->status = rig_prepare(calls->r, NULL);
  if (calls->status == TMARING_OK) calls->status = rig_launch(calls->r, calls->r->rows, calls->r->venue->stream, 0);
  if (calls->status != TMARING_OK) snprintf(calls->detail, sizeof calls->detail, "%s", tmaring_last_detail());
  return NULL;
}

/* F22: the main thread has a context and a stream; a thread without either makes the library's first calls on that
 * stream. */
Test(cases, F22_cuda, .timeout = 60)
{
  venue v;
  rig r;
  pthread_t thread;
  first_calls_of calls = {&r, TMARING_OK, ""};
  VENUE_NEED_CUDA(&v);
  cr_assert(rig_furnish(&r, &v, 997, 256));
  cr_assert_eq(pthread_create(&thread, NULL, first_calls, &calls), 0);
  cr_assert_eq(pthread_join(thread, NULL), 0);
  cr_expect(calls.status == TMARING_OK, "%s: %s", tmaring_status_name(calls.status), calls.detail);
  cr_expect(venue_settle(&v));
  cr_expect(rig_right(&r, 997));
  rig_free(&r);
  venue_close(&v);
}

/* A trial in which the last row tile and the surplus slots run past the tensors, in memory of exactly their size. */
static trial unsafe_trial(void)
{
  trial t = trial_begin(RECIPE_DOUBLE, TMARING_F32, 131, 256);
  t.options.workers = 4;
  t.options.tile_rows = 4;
  t.options.stages = 2;
  t.options.order = TMARING_ORDER_BLOCKED;
  t.options.policy = TMARING_POLICY_UNSAFE;
  t.own_memory = 1;
  return t;
}

/* The unprotected policy exists so that this can fail: the checker sees it in the plan, the emulator in the launch. */
Test(cases, unsafe_cpu, .timeout = 900)
{
  venue v;
  trial t = unsafe_trial();
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  const trial_result planned = trial_run(&t, &v);
  cr_expect_eq(planned.outcome, TRIAL_FAILED);
  cr_expect_eq(planned.status, TMARING_ERROR_CHECK, "%s", planned.text);
  cr_expect_not_null(strstr(planned.text, "tmaring_check"), "%s", planned.text);
  t.unchecked = 1;
  const trial_result launched = trial_run(&t, &v);
  cr_expect_eq(launched.outcome, TRIAL_FAILED);
  cr_expect_eq(launched.status, TMARING_ERROR_CHECK, "%s", launched.text);
  cr_expect_not_null(strstr(launched.text, "tmaring_launch"), "%s", launched.text);
  t.options.policy = TMARING_POLICY_WRAP;
  t.unchecked = 0;
  const trial_result safe = trial_run(&t, &v);
  cr_expect_eq(safe.outcome, TRIAL_PASSED, "%s", safe.text);
}

/* Reads and writes out of bounds on a GPU, on purpose: only where TMARING_TEST_UNSAFE=1, under memcheck, which must
 * report it. The test itself has nothing to say. */
Test(cases, unsafe_cuda, .timeout = 120)
{
  venue v;
  const char *wanted = getenv("TMARING_TEST_UNSAFE");
  if (!wanted || strcmp(wanted, "1") != 0)
    cr_skip_test("out of bounds on purpose: set TMARING_TEST_UNSAFE=1 under memcheck");
  VENUE_NEED_CUDA(&v);
  trial t = unsafe_trial();
  t.unchecked = 1;
  const trial_result result = trial_run(&t, &v);
  printf("unsafe: %s (cuda)\n", result.outcome == TRIAL_PASSED ? "ran" : result.text);
}

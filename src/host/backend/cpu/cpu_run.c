#include "../../base/mathlib.h"
#include "cpu_run.h"

#include <stdlib.h>
#include <string.h>

#include "../../check/ring_roles.h"
#include "lanes.h"
#include "memory.h"

typedef struct worker {
  tmaring__ring ring;
  tmaring__ring_state *state;
  tmaring__env env;
  tmaring__memory memory;
  tmaring__lanes lanes;
  uint64_t seed;
  int random; /* bulk stores may also read at once */
  int ended;
} worker;

/* What all workers of a launch share. */
typedef struct launch {
  const tmaring_args *args;
  const tmaring__code *code;
  const tmaring__program *program;
  tmaring_walk walk;
  tmaring__lanes_plan plan;
  uint64_t *covered;
  tmaring__fault_note fault;
} launch;

/* More tiles than this are not marked one by one: 2^26 bits are 8 MiB. */
#define MAX_COVERED (1ll << 26)

static void data_copy(void *self, uint64_t address, uint32_t offset, uint32_t bytes)
{
  tmaring__memory_copy(&((worker *)self)->memory, address, offset, bytes);
}

static void data_poison(void *self, uint32_t offset, uint32_t bytes)
{
  tmaring__memory_poison(&((worker *)self)->memory, offset, bytes);
}

static void data_store(void *self, int32_t actor, uint64_t address, uint32_t offset, uint32_t bytes)
{
  worker *w = self;
  if (w->random && tmaring__random_next(&w->seed) % 2) {
    tmaring__memory_store(&w->memory, address, offset, bytes);
  } else {
    tmaring__memory_store_late(&w->memory, actor, address, offset, bytes);
  }
}

static void data_store_edge(void *self, uint64_t address, uint32_t offset, uint32_t bytes)
{
  tmaring__memory_store(&((worker *)self)->memory, address, offset, bytes);
}

static void data_commit(void *self, int32_t actor)
{
  tmaring__memory_commit(&((worker *)self)->memory, actor);
}

static void data_drain(void *self, int32_t actor, uint32_t pending)
{
  tmaring__memory_drain(&((worker *)self)->memory, actor, pending);
}

static void data_accumulate(void *self, int32_t warp, const tmaring_fill *fill, uint32_t stage, int32_t iteration,
                            int32_t pass)
{
  tmaring__lanes_accumulate(&((worker *)self)->lanes, warp, fill, stage, iteration, pass);
}

static void data_partial(void *self, int32_t warp, uint32_t buffer, int32_t pass)
{
  tmaring__lanes_partial(&((worker *)self)->lanes, warp, buffer, pass);
}

static void data_finish(void *self, int32_t warp, uint32_t buffer, const tmaring_fill *fill, int32_t iteration,
                        int32_t pass)
{
  tmaring__lanes_finish(&((worker *)self)->lanes, warp, buffer, fill, iteration, pass);
}

static void data_row_store(void *self, int32_t warp, const tmaring_fill *fill, int32_t iteration)
{
  tmaring__lanes_row_store(&((worker *)self)->lanes, warp, fill, iteration);
}

static uint32_t *counters(const tmaring_args *args)
{
  return (uint32_t *)(uintptr_t)args->counter_address;
}

static uint32_t data_claim(void *self)
{
  return counters(((worker *)self)->ring.args)[0]++;
}

static const tmaring__data_calls data_calls = {data_copy,   data_poison,    data_store,      data_store_edge,
                                               data_commit, data_drain,     data_accumulate, data_partial,
                                               data_finish, data_row_store, data_claim};

static tmaring_status make_worker(worker *w, const launch *run, uint64_t seed)
{
  memset(w, 0, sizeof *w);
  w->ring.args = run->args;
  w->ring.code = run->code;
  w->ring.program = run->program;
  w->ring.walk = run->walk;
  w->ring.data = &data_calls;
  w->ring.self = w;
  w->ring.covered = run->covered;
  w->seed = seed;
  w->random = seed != TMARING__LAZY;
  TMARING__TRY(tmaring__ring_prepare(&w->ring));
  w->state = malloc(w->ring.bytes);
  if (!w->state)
    return tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory, needs %zu bytes; free some", w->ring.bytes);
  TMARING__TRY(tmaring__memory_make(&w->memory, run->args->smem.total, w->ring.actors));
  return tmaring__lanes_make(&w->lanes, &run->plan, run->args, run->code, w->memory.shared);
}

static void release_worker(worker *w)
{
  tmaring__lanes_release(&w->lanes);
  tmaring__memory_release(&w->memory);
  free(w->state);
}

static void start_worker(worker *w, launch *run, int32_t index)
{
  w->ring.worker = index;
  w->ended = 0;
  tmaring__memory_reset(&w->memory, w->ring.actors);
  tmaring__ring_start(&w->ring, w->state, &run->fault);
  tmaring__schedule_begin(&w->env, &w->ring, w->state, &run->fault);
}

/* The last worker to end leaves the counters as it found them. */
static void end_worker(worker *w, const launch *run)
{
  uint32_t *counter = counters(run->args);
  w->ended = 1;
  if (!tmaring_uses_tickets(&run->walk)) return;
  counter[1] += 1;
  if (counter[1] == (uint32_t)run->walk.workers) counter[0] = counter[1] = 0;
}

static tmaring_status run_in_turn(launch *run, uint64_t seed)
{
  worker w;
  tmaring_status status = make_worker(&w, run, seed);
  for (int32_t i = 0; status == TMARING_OK && i < run->walk.workers && run->fault.kind == TMARING__FAULT_NONE; ++i) {
    start_worker(&w, run, i);
    while (tmaring__schedule_turn(&w.env, &w.seed) != TMARING__DONE) continue;
    end_worker(&w, run);
    if (w.memory.failed)
      status = tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory for stores; free some");
  }
  release_worker(&w);
  return status;
}

static tmaring_status interleave(worker *workers, launch *run)
{
  int32_t left = run->walk.workers;
  while (left > 0) {
    for (int32_t i = 0; i < run->walk.workers; ++i) {
      worker *w = &workers[i];
      if (w->ended || tmaring__schedule_turn(&w->env, &w->seed) != TMARING__DONE) continue;
      if (w->memory.failed)
        return tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory for stores; free some");
      if (run->fault.kind != TMARING__FAULT_NONE) return TMARING_OK;
      end_worker(w, run);
      left -= 1;
    }
  }
  return TMARING_OK;
}

static tmaring_status run_together(launch *run, uint64_t seed)
{
  worker *workers = calloc((size_t)run->walk.workers, sizeof *workers);
  tmaring_status status = TMARING_OK;
  if (!workers)
    return tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory for %d workers; free some",
                         run->walk.workers);
  for (int32_t i = 0; status == TMARING_OK && i < run->walk.workers; ++i) {
    status = make_worker(&workers[i], run, seed == TMARING__LAZY ? seed : seed + (uint64_t)i);
    if (status == TMARING_OK) start_worker(&workers[i], run, i);
  }
  if (status == TMARING_OK) status = interleave(workers, run);
  for (int32_t i = 0; i < run->walk.workers; ++i) release_worker(&workers[i]);
  free(workers);
  return status;
}

static tmaring_status check_covered(const launch *run)
{
  if (run->fault.kind != TMARING__FAULT_NONE) return tmaring__fail(TMARING_ERROR_CHECK, "%s", run->fault.text);
  for (int64_t t = 0; run->covered && t < run->walk.tiles; ++t) {
    if (run->covered[t / 64] >> (t % 64) & 1u) continue;
    return tmaring__fail(TMARING_ERROR_CHECK, "tile %lld of %lld: never stored; the walk must visit every tile",
                         (long long)t, (long long)run->walk.tiles);
  }
  return TMARING_OK;
}

/* M from memory, at most the bound that the launch was told. */
static void set_rows(launch *run)
{
  int64_t rows;
  run->walk = run->args->walk;
  if (run->args->rows_address == 0) return;
  memcpy(&rows, (const void *)(uintptr_t)run->args->rows_address, sizeof rows);
  tmaring_walk_set_rows(&run->walk, tmaring_max_i64(0, tmaring_min_i64(rows, run->walk.rows)));
}

static tmaring_status run_workers(launch *run, uint64_t seed)
{
  if (run->walk.tiles <= MAX_COVERED) {
    run->covered = calloc((size_t)(run->walk.tiles / 64 + 1), sizeof *run->covered);
    if (!run->covered) {
      return tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory for %lld tiles; free some",
                           (long long)run->walk.tiles);
    }
  }
  TMARING__TRY(tmaring_uses_tickets(&run->walk) ? run_together(run, seed) : run_in_turn(run, seed));
  return check_covered(run);
}

tmaring_status tmaring__cpu_run(const tmaring_args *args, const tmaring__code *code, const tmaring__program *program,
                                uint64_t seed, tmaring__fault_note *fault)
{
  TMARING__TRY(tmaring__mathlib_load());
  launch *run = calloc(1, sizeof *run);
  tmaring_status status;
  if (!run) return tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory for a launch; free some");
  run->args = args;
  run->code = code;
  run->program = program;
  set_rows(run);
  status = tmaring__lanes_plan_make(&run->plan, program, args);
  if (status == TMARING_OK) status = run_workers(run, seed);
  if (fault) *fault = run->fault;
  free(run->covered);
  free(run);
  return status;
}

#include "../../base/mathlib.h"
#include "cpu_run.h"

#include <stdlib.h>
#include <string.h>

#include "../../check/ring_roles.h"
#include "lanes.h"
#include "memory.h"
#include "tile_lanes.h"

typedef struct cta {
  const tmaring_args *args;
  const tmaring__boxes *boxes;
  tmaring__memory memory;
  tmaring__lanes lanes;      /* formulas */
  tmaring__tile_lanes tiles; /* tile programs */
  uint64_t seed;
  int random; /* bulk stores may also read at once */
} cta;

/* A worker: one CTA, or those of a cluster. */
typedef struct worker {
  tmaring__team team;
  cta cta[TMARING_MAX_CLUSTER]; /* by rank */
  tmaring__ring_state *states;
  uint64_t seed;
  int ended;
} worker;

/* What all workers of a launch share. */
typedef struct launch {
  const tmaring_args *args;
  const tmaring__boxes *boxes;
  const tmaring__code *code;
  const tmaring__program *program;
  tmaring_walk walk;
  tmaring__lanes_plan plan; /* formulas */
  tmaring__data_calls calls;
  uint64_t *covered;
  tmaring__fault_note fault;
} launch;

/* More tiles than this are not marked one by one: 2^26 bits are 8 MiB. */
#define MAX_COVERED (1ll << 26)

static int32_t ctas_of(const launch *run)
{
  return tmaring_walk_shared(&run->walk) ? run->walk.cluster : 1;
}

/* Units of CTAs that run together: workers, or with multicast clusters of them. */
static int32_t groups_of(const launch *run)
{
  return run->code->multicast ? run->walk.workers / run->args->multicast : run->walk.workers;
}

static void data_copy(void *self, uint64_t address, uint32_t offset, uint32_t bytes)
{
  tmaring__memory_copy(&((cta *)self)->memory, address, offset, bytes);
}

static void data_copy_box(void *self, int32_t tensor, const int32_t *coordinates, uint32_t offset)
{
  cta *c = self;
  tmaring__memory_load_box(&c->memory, &c->boxes->map[tensor], coordinates, offset);
}

static void data_store_box(void *self, int32_t actor, int32_t tensor, const int32_t *coordinates, uint32_t offset)
{
  cta *c = self;
  const tmaring_tensor_map_tiled *map = &c->boxes->map[TMARING_TILED_OUTPUTS + tensor];
  if (c->random && tmaring__random_next(&c->seed) % 2) {
    tmaring__memory_store_box(&c->memory, map, coordinates, offset);
  } else {
    tmaring__memory_store_box_late(&c->memory, actor, map, coordinates, offset);
  }
}

static void data_poison(void *self, uint32_t offset, uint32_t bytes)
{
  tmaring__memory_poison(&((cta *)self)->memory, offset, bytes);
}

static void data_store(void *self, int32_t actor, uint64_t address, uint32_t offset, uint32_t bytes)
{
  cta *c = self;
  if (c->random && tmaring__random_next(&c->seed) % 2) {
    tmaring__memory_store(&c->memory, address, offset, bytes);
  } else {
    tmaring__memory_store_late(&c->memory, actor, address, offset, bytes);
  }
}

static void data_store_edge(void *self, uint64_t address, uint32_t offset, uint32_t bytes)
{
  tmaring__memory_store(&((cta *)self)->memory, address, offset, bytes);
}

static void data_commit(void *self, int32_t actor)
{
  tmaring__memory_commit(&((cta *)self)->memory, actor);
}

static void data_drain(void *self, int32_t actor, uint32_t pending)
{
  tmaring__memory_drain(&((cta *)self)->memory, actor, pending);
}

static void data_accumulate(void *self, int32_t warp, const tmaring_fill *fill, uint32_t stage, int32_t iteration,
                            int32_t pass)
{
  const tmaring__lanes *lanes = &((cta *)self)->lanes;
  lanes->calls->accumulate(lanes, warp, fill, stage, iteration, pass);
}

static void data_partial(void *self, int32_t warp, uint32_t buffer, int32_t pass)
{
  const tmaring__lanes *lanes = &((cta *)self)->lanes;
  lanes->calls->partial(lanes, warp, buffer, pass);
}

static void data_finish(void *self, int32_t warp, uint32_t buffer, const tmaring_fill *fill, int32_t iteration,
                        int32_t pass)
{
  const tmaring__lanes *lanes = &((cta *)self)->lanes;
  lanes->calls->finish(lanes, warp, buffer, fill, iteration, pass);
}

static void data_row_store(void *self, int32_t warp, const tmaring_fill *fill, int32_t iteration)
{
  const tmaring__lanes *lanes = &((cta *)self)->lanes;
  lanes->calls->row_store(lanes, warp, fill, iteration);
}

static void data_columns(void *self, int32_t warp, const tmaring_fill *fill, int end)
{
  const tmaring__lanes *lanes = &((cta *)self)->lanes;
  lanes->calls->columns(lanes, warp, fill, end);
}

static uint32_t *counters(const tmaring_args *args)
{
  return (uint32_t *)(uintptr_t)args->counter_address;
}

static uint32_t data_claim(void *self)
{
  return counters(((cta *)self)->args)[0]++;
}

static const tmaring__data_calls data_calls = {.copy = data_copy,
                                               .copy_box = data_copy_box,
                                               .poison = data_poison,
                                               .store = data_store,
                                               .store_box = data_store_box,
                                               .store_edge = data_store_edge,
                                               .commit = data_commit,
                                               .drain = data_drain,
                                               .accumulate = data_accumulate,
                                               .partial = data_partial,
                                               .finish = data_finish,
                                               .row_store = data_row_store,
                                               .columns = data_columns,
                                               .claim = data_claim};

static void tile_accumulate(void *self, int32_t warp, const tmaring_fill *fill, uint32_t stage, int32_t iteration,
                            int32_t pass)
{
  (void)iteration; /* a fill is one row, in one pass */
  (void)pass;
  tmaring__tile_lanes_accumulate(&((cta *)self)->tiles, warp, fill, stage);
}

static void tile_row_store(void *self, int32_t warp, const tmaring_fill *fill, int32_t iteration)
{
  (void)self, (void)warp, (void)fill, (void)iteration; /* nothing is one value per row */
}

static void tile_columns(void *self, int32_t warp, const tmaring_fill *fill, int end)
{
  tmaring__tile_lanes_columns(&((cta *)self)->tiles, warp, fill, end);
}

/* What a launch computes: a formula's program or a tile program. */
static int is_tiles(const launch *run)
{
  return run->boxes && run->boxes->work;
}

static tmaring__data_calls calls_of(const launch *run)
{
  tmaring__data_calls calls = data_calls;
  if (!is_tiles(run)) return calls;
  calls.accumulate = tile_accumulate;
  calls.row_store = tile_row_store;
  calls.columns = tile_columns;
  return calls;
}

static tmaring_status make_lanes(cta *c, const launch *run, const tmaring__ring *ring)
{
  if (is_tiles(run)) return tmaring__tile_lanes_make(&c->tiles, run->args, run->boxes, c->memory.shared);
  return tmaring__lanes_make(&c->lanes, &run->plan, run->args, &ring->walk, run->code, c->memory.shared);
}

static tmaring_status make_cta(worker *w, const launch *run, int32_t rank)
{
  cta *c = &w->cta[rank];
  tmaring__ring *ring = &w->team.ring[rank];
  ring->self = c;
  c->args = run->args;
  c->boxes = run->boxes;
  c->seed = w->seed + (uint64_t)rank;
  c->random = w->seed != TMARING__LAZY;
  TMARING__TRY(tmaring__memory_make(&c->memory, run->args->smem.total, ring->actors));
  TMARING__TRY(make_lanes(c, run, ring));
  for (int32_t k = 0; k < w->team.count; ++k) c->lanes.peer[k] = &w->cta[k].lanes;
  return TMARING_OK;
}

static tmaring_status make_worker(worker *w, const launch *run, uint64_t seed)
{
  tmaring__ring ring;
  memset(&ring, 0, sizeof ring);
  ring.args = run->args;
  ring.boxes = run->boxes;
  ring.code = run->code;
  ring.program = run->program;
  ring.walk = run->walk;
  ring.data = &run->calls;
  ring.covered = run->covered;
  TMARING__TRY(tmaring__ring_prepare(&ring));
  tmaring__team_make(&w->team, &ring);
  w->seed = seed;
  w->states = malloc((size_t)w->team.count * ring.bytes);
  if (!w->states)
    return tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory, needs %zu bytes; free some",
                         (size_t)w->team.count * ring.bytes);
  for (int32_t r = 0; r < w->team.count; ++r) TMARING__TRY(make_cta(w, run, r));
  return TMARING_OK;
}

static worker *take_workers(int32_t count)
{
  worker *workers = calloc((size_t)count, sizeof *workers);
  if (!workers) tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory for %d workers; free some", count);
  return workers;
}

static void release_workers(worker *workers, int32_t count)
{
  for (int32_t i = 0; workers && i < count; ++i) {
    worker *w = &workers[i];
    for (int32_t r = 0; r < w->team.count; ++r) {
      tmaring__lanes_release(&w->cta[r].lanes);
      tmaring__tile_lanes_release(&w->cta[r].tiles);
      tmaring__memory_release(&w->cta[r].memory);
    }
    free(w->states);
  }
  free(workers);
}

static void start_worker(worker *w, launch *run, int32_t index)
{
  w->ended = 0;
  for (int32_t r = 0; r < w->team.count; ++r) {
    w->team.ring[r].worker = run->code->multicast ? index * w->team.count + r : index;
    tmaring__memory_reset(&w->cta[r].memory, w->team.ring[r].actors);
  }
  tmaring__team_start(&w->team, w->states, &run->fault);
}

static tmaring_status memory_status(const worker *w)
{
  int failed = 0;
  for (int32_t r = 0; r < w->team.count; ++r) failed |= w->cta[r].memory.failed;
  return failed ? tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory for stores, or a tensor map that its "
                                                      "check refuses; free some, or correct the map")
                : TMARING_OK;
}

static tmaring_status run_in_turn(launch *run, uint64_t seed)
{
  worker *w = take_workers(1);
  tmaring_status status = w ? make_worker(w, run, seed) : TMARING_ERROR_MEMORY;
  for (int32_t i = 0; status == TMARING_OK && i < groups_of(run) && run->fault.kind == TMARING__FAULT_NONE; ++i) {
    start_worker(w, run, i);
    while (tmaring__schedule_turn(&w->team, &w->seed) != TMARING__DONE) continue;
    status = memory_status(w);
  }
  release_workers(w, 1);
  return status;
}

/* The last worker to end leaves the counters of the tickets as it found them. */
static void end_worker(worker *w, const launch *run)
{
  uint32_t *counter = counters(run->args);
  w->ended = 1;
  counter[1] += 1;
  if (counter[1] == (uint32_t)groups_of(run)) counter[0] = counter[1] = 0;
}

static tmaring_status interleave(worker *workers, launch *run)
{
  int32_t left = groups_of(run);
  while (left > 0) {
    for (int32_t i = 0; i < groups_of(run); ++i) {
      worker *w = &workers[i];
      if (w->ended || tmaring__schedule_turn(&w->team, &w->seed) != TMARING__DONE) continue;
      TMARING__TRY(memory_status(w));
      if (run->fault.kind != TMARING__FAULT_NONE) return TMARING_OK;
      end_worker(w, run);
      left -= 1;
    }
  }
  return TMARING_OK;
}

static tmaring_status run_together(launch *run, uint64_t seed)
{
  const int32_t count = groups_of(run);
  worker *workers = take_workers(count);
  tmaring_status status = workers ? TMARING_OK : TMARING_ERROR_MEMORY;
  for (int32_t i = 0; status == TMARING_OK && i < count; ++i) {
    status = make_worker(&workers[i], run, seed == TMARING__LAZY ? seed : seed + (uint64_t)i);
    if (status == TMARING_OK) start_worker(&workers[i], run, i);
  }
  if (status == TMARING_OK) status = interleave(workers, run);
  release_workers(workers, count);
  return status;
}

static tmaring_status check_covered(const launch *run)
{
  if (run->fault.kind != TMARING__FAULT_NONE) return tmaring__fail(TMARING_ERROR_CHECK, "%s", run->fault.text);
  const int64_t ctas = ctas_of(run);
  for (int64_t t = 0; run->covered && t < run->walk.tiles * ctas; ++t) {
    if (run->covered[t / 64] >> (t % 64) & 1u) continue;
    return tmaring__fail(TMARING_ERROR_CHECK,
                         "tile %lld of %lld: never stored by rank %lld; the walk must visit every tile",
                         (long long)(t / ctas), (long long)run->walk.tiles, (long long)(t % ctas));
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
  if (run->walk.tiles <= MAX_COVERED / ctas_of(run)) {
    run->covered = calloc((size_t)(run->walk.tiles * ctas_of(run) / 64 + 1), sizeof *run->covered);
    if (!run->covered) {
      return tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory for %lld tiles; free some",
                           (long long)run->walk.tiles);
    }
  }
  if (run->args->walk.rows == 0) return TMARING_OK; /* no worker: addresses of inputs may be 0 */
  TMARING__TRY(tmaring_uses_tickets(&run->walk) ? run_together(run, seed) : run_in_turn(run, seed));
  return check_covered(run);
}

tmaring_status tmaring__cpu_run(const tmaring_args *args, const tmaring__boxes *boxes, const tmaring__code *code,
                                const tmaring__program *program, uint64_t seed, tmaring__fault_note *fault)
{
  TMARING__TRY(tmaring__mathlib_load());
  launch *run = calloc(1, sizeof *run);
  tmaring_status status;
  if (!run) return tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory for a launch; free some");
  run->args = args;
  run->boxes = boxes;
  run->code = code;
  run->program = program;
  set_rows(run);
  run->calls = calls_of(run);
  status = is_tiles(run) ? TMARING_OK : tmaring__lanes_plan_make(&run->plan, program, args);
  if (status == TMARING_OK) status = run_workers(run, seed);
  if (status == TMARING_OK && !is_tiles(run) && program->column_output_count > 0)
    tmaring__lanes_calls_of(code)->join_columns(args, &run->walk, program);
  if (fault) *fault = run->fault;
  free(run->covered);
  free(run);
  return status;
}

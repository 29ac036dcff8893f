/* Coverage: every tile is visited by one worker, once. */
#include <stdlib.h>

#include "../base/detail.h"
#include "check_args.h"
#include "tmaring/abi/frames.h"

#define REFUSE(...) return tmaring__fail(TMARING_ERROR_CHECK, __VA_ARGS__)
#define MAX_BITMAP  (1ll << 22)

/* The tiles of all workers, one by one, by the very functions that roles walk with. */
static tmaring_status mark_tiles(const tmaring_walk *w, uint64_t *seen)
{
  for (int32_t worker = 0; worker < w->workers; ++worker) {
    tmaring_trip trip;
    for (tmaring_trip_begin(&trip, w, worker); tmaring_trip_live(&trip, w);) {
      const int64_t tile = trip.tile;
      if (tile < w->tiles && (seen[tile / 64] >> (tile % 64) & 1u))
        REFUSE("worker %d: tile %lld is visited twice", worker, (long long)tile);
      if (tile < w->tiles) seen[tile / 64] |= 1ull << (tile % 64);
      while (!tmaring_trip_next(&trip, w)) continue;
    }
  }
  for (int64_t tile = 0; tile < w->tiles; ++tile) {
    if (!(seen[tile / 64] >> (tile % 64) & 1u))
      REFUSE("tile %lld of %lld: visited by no worker", (long long)tile, (long long)w->tiles);
  }
  return TMARING_OK;
}

/* Too many tiles to mark: every worker has an arithmetic sequence. They are disjoint when they follow one another or
 * differ modulo their step, and they are all of the tiles when their lengths add up. */
static tmaring_status add_tiles(const tmaring_walk *w)
{
  int64_t sum = 0;
  for (int32_t worker = 0; worker < w->workers; ++worker) {
    const int64_t first = tmaring_walk_first(w, worker), step = w->step;
    const int disjoint = step == 1 ? first == worker * w->slots : step == w->workers && first == worker;
    if (!disjoint)
      REFUSE("worker %d: starts at tile %lld with step %lld, which meets another worker's", worker, (long long)first,
             (long long)step);
    sum += tmaring_min_i64(tmaring__slots_run(w, worker), tmaring_walk_valid_slots(w, worker));
  }
  if (sum != w->tiles) REFUSE("workers: visit %lld tiles of %lld", (long long)sum, (long long)w->tiles);
  return TMARING_OK;
}

/* The derived fields of the walk are what follows from its rows. */
static tmaring_status check_cut(const tmaring_walk *w)
{
  tmaring_walk due = *w;
  tmaring_walk_set_rows(&due, w->rows);
  if (due.tiles == w->tiles && due.slots == w->slots && due.stride == w->stride && due.step == w->step &&
      due.limit == w->limit && due.row_limit == w->row_limit)
    return TMARING_OK;
  if (due.tiles == w->tiles && due.slots == w->slots)
    REFUSE("walk: stride, step and limits do not follow from order and policy; call tmaring_walk_derive");
  REFUSE("walk: got %lld tiles and %lld slots, %lld rows need %lld and %lld", (long long)w->tiles, (long long)w->slots,
         (long long)w->rows, (long long)due.tiles, (long long)due.slots);
}

tmaring_status tmaring__check_coverage(const tmaring_args *args, tmaring_check_report *report)
{
  const tmaring_walk *w = &args->walk;
  const int64_t ctas = tmaring_walk_shared(w) ? w->cluster : 1; /* each has a fill of its own for its slice */
  uint64_t *seen;
  tmaring_status status;
  TMARING__TRY(check_cut(w));
  report->tiles = w->tiles;
  if (tmaring_uses_tickets(w)) { /* tile c, then C + counter++: each number is handed out once */
    report->fills = w->tiles * tmaring_walk_fills_per_tile(w);
    return TMARING_OK;
  }
  if (w->policy != TMARING_POLICY_EXACT) report->surplus_slots = w->slots * w->workers - w->tiles;
  for (int32_t worker = 0; worker < w->workers; ++worker)
    report->fills += tmaring__slots_run(w, worker) * tmaring_walk_fills_per_tile(w) * ctas;
  if (w->tiles > MAX_BITMAP) return add_tiles(w);
  seen = calloc((size_t)(w->tiles / 64 + 1), sizeof *seen);
  if (!seen)
    return tmaring__fail(TMARING_ERROR_MEMORY, "check: got no memory for %lld tiles; free some", (long long)w->tiles);
  status = mark_tiles(w, seen);
  free(seen);
  return status;
}

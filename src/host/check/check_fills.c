/* Coverage of the tiles, and the geometry of every fill: bounds, alignment, sizes.
 *
 * Fills of one worker are translates of each other: from slot to slot every address moves by the same number of bytes,
 * so that everything taken modulo 32 (16-byte units, and the frame of a vector of 8 floats) comes back after at most 32
 * slots, and every address lies between those of the first and the last slot. Only within 32 slots of either end can a
 * window be clipped by the hull or a tile be short. So the first and the last 64 slots are checked one by one, and what
 * lies between is proven by them; the same holds for the pieces of a long row. */
#include <stdlib.h>
#include <string.h>

#include "../base/detail.h"
#include "check_args.h"
#include "tmaring/abi/frames.h"

#define REFUSE(...)  return tmaring__fail(TMARING_ERROR_CHECK, __VA_ARGS__)
#define ENDS         64
#define PERIOD       32
#define MAX_BITMAP   (1ll << 22)
#define EXPECT_LIMIT (1u << 20)

/* ---- coverage ---- */

static int64_t slots_run(const tmaring_walk *w, int32_t worker)
{
  const int64_t slots = tmaring_walk_slots(w, worker);
  if (w->policy != TMARING_POLICY_SKIP) return slots;
  return tmaring_min_i64(slots, tmaring_walk_valid_slots(w, worker));
}

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
    sum += tmaring_min_i64(slots_run(w, worker), tmaring_walk_valid_slots(w, worker));
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
    report->fills += slots_run(w, worker) * tmaring_walk_fills_per_tile(w);
  if (w->tiles > MAX_BITMAP) return add_tiles(w);
  seen = calloc((size_t)(w->tiles / 64 + 1), sizeof *seen);
  if (!seen)
    return tmaring__fail(TMARING_ERROR_MEMORY, "check: got no memory for %lld tiles; free some", (long long)w->tiles);
  status = mark_tiles(w, seen);
  free(seen);
  return status;
}

/* ---- one fill ---- */

typedef struct proof {
  const tmaring_args *args;
  const tmaring__code *code;
  const tmaring__program *program;
  int32_t worker;
  int64_t tile; /* raw */
} proof;

static tmaring_status check_bounds(const proof *p, const tmaring_stream *s, const char *what, uint64_t address,
                                   uint64_t bytes)
{
  if (address >= s->base && address + bytes <= s->hull_end) return TMARING_OK;
  REFUSE("worker %d, tile %lld, %s: copy outside the tensor: bytes [%lld, %lld) of %lld; the walk must stay inside",
         p->worker, (long long)p->tile, what, (long long)(address - s->base), (long long)(address - s->base + bytes),
         (long long)(s->hull_end - s->base));
}

static tmaring_status check_bulk(const proof *p, const tmaring_stream *s, const char *what, const tmaring_run *r,
                                 const tmaring_window *w)
{
  const uint64_t offset = (uint64_t)r->offset + (w->begin - r->address);
  TMARING__TRY(check_bounds(p, s, what, w->begin, w->bytes));
  if ((w->begin | offset | w->bytes) % TMARING_BULK != 0) {
    REFUSE("worker %d, tile %lld, %s: address, shared offset and size modulo 16 are %u, %u, %u; all must be 0",
           p->worker, (long long)p->tile, what, (unsigned)(w->begin % TMARING_BULK), (unsigned)(offset % TMARING_BULK),
           w->bytes % TMARING_BULK);
  }
  if (offset + w->bytes > s->slot_bytes || offset > s->slot_bytes) {
    REFUSE("worker %d, tile %lld, %s: bytes [%lld, %lld) of a slot of %u", p->worker, (long long)p->tile, what,
           (long long)offset, (long long)(offset + w->bytes), s->slot_bytes);
  }
  return TMARING_OK;
}

/* A run as the roles handle it: without edges whole by the copy engine. */
static tmaring_window window_of(const proof *p, const tmaring_stream *s, const tmaring_run *r, int load)
{
  tmaring_window w = {r->address, r->bytes, 0, 0};
  if (p->code->aligned) return w;
  return load ? tmaring_run_load_window(s, r) : tmaring_run_store_window(r);
}

/* Without a bulk part (its begin may then lie past the run) the head is all of the run. */
static int leaves_no_gap(const tmaring_window *w, const tmaring_run *r)
{
  if (w->bytes == 0) return w->head == r->bytes && w->tail == 0;
  return w->begin <= r->address + w->head && w->begin + w->bytes + w->tail >= r->address + r->bytes;
}

static tmaring_status check_run(const proof *p, const tmaring_stream *s, const char *what, const tmaring_run *r,
                                int load, int64_t *copies, uint64_t *bytes)
{
  const tmaring_window w = window_of(p, s, r, load);
  TMARING__TRY(check_bounds(p, s, what, r->address, r->bytes));
  if ((uint64_t)r->offset + r->bytes > s->slot_bytes) {
    REFUSE("worker %d, tile %lld, %s: bytes [%u, %llu) of a slot of %u", p->worker, (long long)p->tile, what, r->offset,
           (unsigned long long)r->offset + r->bytes, s->slot_bytes);
  }
  if (w.bytes > 0) TMARING__TRY(check_bulk(p, s, what, r, &w));
  if (!leaves_no_gap(&w, r)) {
    REFUSE("worker %d, tile %lld, %s: head %u, bulk %u and tail %u leave a gap in %u bytes", p->worker,
           (long long)p->tile, what, w.head, w.bytes, w.tail, r->bytes);
  }
  *copies += w.bytes > 0;
  *bytes += load ? w.bytes : r->bytes;
  return TMARING_OK;
}

static tmaring_status check_loads(const proof *p, const tmaring_fill *fill, int64_t *copies)
{
  uint64_t bytes = 0;
  for (int32_t i = 0; i < p->args->input_count; ++i) {
    const tmaring_stream *s = &p->args->input[i];
    for (int32_t k = 0; k < tmaring_run_count(s, fill->rows); ++k) {
      const tmaring_run r = tmaring_run_at(s, fill, 0, fill->rows, k);
      TMARING__TRY(check_run(p, s, "load", &r, 1, copies, &bytes));
    }
  }
  if (bytes >= EXPECT_LIMIT) {
    REFUSE("worker %d, tile %lld: expects %llu bytes, a barrier counts below %u", p->worker, (long long)p->tile,
           (unsigned long long)bytes, EXPECT_LIMIT);
  }
  return TMARING_OK;
}

/* In place every element must lie where the input's did. */
static tmaring_status check_in_place(const proof *p, const tmaring_fill *fill)
{
  const int32_t rows = p->code->aligned ? 1 : fill->rows; /* aligned: no phase anywhere */
  for (int32_t i = 0; i < p->args->output_count; ++i) {
    for (int32_t k = 0; k < p->args->input_count; ++k) {
      if (p->args->output[i].slot != p->args->input[k].slot) continue;
      for (int32_t j = 0; j < rows; ++j) {
        const uint32_t out = tmaring_run_row_offset(&p->args->output[i], fill, j),
                       in = tmaring_run_row_offset(&p->args->input[k], fill, j);
        if (out != in) {
          REFUSE(
              "worker %d, tile %lld, row %d: output %d is staged at %u over input %d at %u; the bases need one phase",
              p->worker, (long long)p->tile, j, i, out, k, in);
        }
      }
    }
  }
  return TMARING_OK;
}

static tmaring_status check_staged(const proof *p, const tmaring_fill *fill, tmaring_store_frame *range,
                                   int64_t *copies, uint64_t *bytes)
{
  for (range->tensor = 0; range->tensor < p->args->output_count; ++range->tensor) {
    const tmaring_stream *s = &p->args->output[range->tensor];
    for (range->run = 0; range->run < tmaring_run_count(s, range->last - range->first); ++range->run) {
      const tmaring_run r = tmaring_store_run_at(p->args, s, range, fill);
      TMARING__TRY(check_run(p, s, "store", &r, 0, copies, bytes));
    }
  }
  return TMARING_OK;
}

static tmaring_status check_direct(const proof *p, const tmaring_fill *fill)
{
  for (int32_t i = 0; i < p->args->output_count; ++i) {
    const tmaring_stream *s = &p->args->output[i];
    const uint64_t first = tmaring_stream_address(s, fill->row, fill->col),
                   last = tmaring_stream_address(s, fill->row + fill->rows - 1, fill->col);
    TMARING__TRY(check_bounds(p, s, "store", first, (uint64_t)fill->cols * s->elem_bytes));
    TMARING__TRY(check_bounds(p, s, "store", last, (uint64_t)fill->cols * s->elem_bytes));
  }
  return TMARING_OK;
}

static tmaring_status check_stores(const proof *p, const tmaring_fill *fill, int64_t *copies)
{
  const tmaring_args *a = p->args;
  const int32_t step = a->scope.warps_per_row, warps = tmaring_cta_consumer_warps(&a->cta);
  uint64_t bytes = 0, due = 0;
  tmaring_store_frame range = {0, 0, 0, 0, 0};
  if (!tmaring_fill_stores(fill, p->code->pieces, p->program->passes)) return TMARING_OK;
  if (!p->code->staged) return check_direct(p, fill);
  TMARING__TRY(check_in_place(p, fill));
  for (int32_t warp = 0; warp < warps; warp += step) {
    if (a->cta.mode == TMARING_MODE_PIPELINED) {
      tmaring_store_all(&range, a, fill);
      warp = warps;
    } else {
      tmaring_store_unit(&range, a, fill, warp / step, warp, !p->code->aligned);
    }
    TMARING__TRY(check_staged(p, fill, &range, copies, &bytes));
  }
  for (int32_t i = 0; i < a->output_count; ++i)
    due += (uint64_t)fill->rows * (uint64_t)fill->cols * a->output[i].elem_bytes;
  if (bytes != due)
    REFUSE("worker %d, tile %lld: stores %llu bytes of %llu", p->worker, (long long)p->tile, (unsigned long long)bytes,
           (unsigned long long)due);
  return TMARING_OK;
}

/* ---- all fills ---- */

/* Copies of items 0 .. count-1, of which those near the ends were counted: `near` has the last period before the gap.
 */
static int64_t extrapolate(int64_t counted, int64_t count, const int64_t *near)
{
  for (int64_t i = 0; count > 2 * ENDS && i < PERIOD; ++i) {
    const int64_t gap = count - 2 * ENDS; /* items ENDS .. count - ENDS - 1 */
    counted += near[i] * (gap / PERIOD + (i < gap % PERIOD ? 1 : 0));
  }
  return counted;
}

/* All pieces of a tile: passes load the same, and the last one stores. */
static tmaring_status check_tile(const proof *p, int64_t *copies)
{
  const tmaring_walk *w = &p->args->walk;
  const int32_t pieces = w->spread ? 1 : w->pieces, passes = w->spread ? 1 : w->passes;
  int64_t near[PERIOD] = {0}, counted = 0;
  for (int32_t piece = 0; piece < pieces; ++piece) {
    int64_t loads = 0, stores = 0;
    tmaring_fill fill;
    if (piece == ENDS && pieces > 2 * ENDS) piece = pieces - ENDS;
    tmaring_walk_fill(w, p->tile, (passes - 1) * pieces + piece, &fill);
    TMARING__TRY(check_loads(p, &fill, &loads));
    TMARING__TRY(check_stores(p, &fill, &stores));
    if (piece >= ENDS - PERIOD && piece < ENDS) near[piece - (ENDS - PERIOD)] = loads * passes + stores;
    counted += loads * passes + stores;
  }
  *copies = extrapolate(counted, pieces, near);
  return TMARING_OK;
}

static tmaring_status check_worker(proof *p, int64_t first, int64_t step, int64_t slots, int64_t *copies)
{
  int64_t near[PERIOD] = {0}, counted = 0;
  for (int64_t slot = 0; slot < slots; ++slot) {
    int64_t tile_copies = 0;
    if (slot == ENDS && slots > 2 * ENDS) slot = slots - ENDS;
    p->tile = first + slot * step;
    TMARING__TRY(check_tile(p, &tile_copies));
    if (slot >= ENDS - PERIOD && slot < ENDS) near[slot - (ENDS - PERIOD)] = tile_copies;
    counted += tile_copies;
  }
  *copies += extrapolate(counted, slots, near);
  return TMARING_OK;
}

tmaring_status tmaring__check_fills(const tmaring_args *args, const tmaring__code *code,
                                    const tmaring__program *program, tmaring_check_report *report)
{
  proof p = {args, code, program, 0, 0};
  const tmaring_walk *w = &args->walk;
  /* Any worker may get any ticket: one worker stands for all. */
  if (tmaring_uses_tickets(w)) return check_worker(&p, 0, 1, w->tiles, &report->copies);
  for (p.worker = 0; p.worker < w->workers; ++p.worker) {
    const int64_t run = slots_run(w, p.worker), valid = tmaring_min_i64(run, tmaring_walk_valid_slots(w, p.worker));
    const int64_t first = tmaring_walk_first(w, p.worker), step = w->step;
    TMARING__TRY(check_worker(&p, first, step, valid, &report->copies));
    TMARING__TRY(check_worker(&p, first + valid * step, step, run - valid, &report->copies)); /* surplus */
  }
  return TMARING_OK;
}

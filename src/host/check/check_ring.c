/* Plays the role loops of every kind of worker through the ring model: tags only, lazily and at random.
 *
 * Long trips are cut. The ring's state repeats: two fills with the same number modulo 2 S have the same stage and
 * parity, and once every stage has been used and refilled, what the model holds (barriers, cursors, tags and
 * knowledge, all relative to the fill) depends on that remainder alone. A trip of more than 4 S + 3 fills therefore
 * shows nothing that the one with the same remainder modulo 2 S and at least 2 S + 4 fills does not show. The same
 * holds for the surplus part of a trip, for the pieces of a long row, and for the fills of a chunk, of which the
 * last chunk's may hold no rows. Rows of a chunk in pieces follow one another as tiles do, and three of them show
 * it. */
#include <string.h>

#include "../base/detail.h"
#include "../plan/extent.h"
#include "box.h"
#include "check_args.h"
#include "schedule.h"

#define MAX_KINDS 64

/* What tells workers apart, as far as the ring is concerned. */
typedef struct kind {
  int64_t valid, surplus; /* slots, cut */
  int64_t last_rows;      /* rows of the last tile */
  int32_t chunk;          /* fills, in pieces rows, of each tile, cut */
} kind;

static int64_t cut(int64_t count, int64_t least, int64_t period)
{
  return count < least + period ? count : least + (count - least) % period;
}

static int32_t period_of(const tmaring_args *a)
{
  return 2 * (int32_t)a->stages;
}

static int64_t cut_fills(const tmaring_args *a, int64_t fills)
{
  return a->walk.pieces > 1 ? cut(fills, 2, 1) : cut(fills, period_of(a) + 4, period_of(a));
}

/* Cuts a tile of `rows` rows: those of its fills that hold rows, and those that do not. */
static void cut_tile(const tmaring_args *a, int64_t rows, kind *k)
{
  const int64_t each = a->walk.tile_rows;
  const int64_t full = tmaring_ceil_div(rows, each), last = rows - (full - 1) * each;
  const int64_t kept = cut_fills(a, full), empty = cut_fills(a, a->walk.chunk - full);
  k->chunk = (int32_t)(kept + empty);
  k->last_rows = (kept - 1) * each + last;
}

static void set_hulls(tmaring_stream *s, int32_t count, const tmaring_walk *w)
{
  for (int32_t i = 0; i < count; ++i)
    s[i].hull_end = s[i].base + (uint64_t)tmaring__stream_bytes(&s[i], w->rows, w->cols);
}

/* A matrix of `tiles` tiles, the last of which has k->last_rows rows, cut as the plan cuts its own. */
static void shrink(tmaring_args *a, int64_t tiles, int64_t slots, const kind *k)
{
  tmaring_walk *w = &a->walk;
  const int32_t tail = w->cols - (w->pieces - 1) * w->piece_cols;
  w->chunk = k->chunk;
  w->tiles = tiles;
  w->slots = slots;
  w->rows = tiles > 0 ? (tiles - 1) * w->tile_rows * w->chunk + k->last_rows : 0;
  if (w->spread && tiles > 0) {
    w->pieces = (int32_t)tiles;
    w->rows = k->last_rows;
  } else if (w->pieces > 1) {
    w->pieces = (int32_t)cut(w->pieces, period_of(a) + 4, period_of(a));
  }
  tmaring_walk_derive(w);
  if (w->pieces > 1 || w->spread) w->cols = (w->pieces - 1) * w->piece_cols + tail;
  set_hulls(a->input, a->input_count, w);
  set_hulls(a->output, a->output_count, w);
}

/* Maps of the shrunk matrix: as many rows and columns as it has. */
static void shrink_boxes(tmaring__boxes *boxes, const tmaring_args *a)
{
  tmaring__boxes_enter(boxes, a);
  for (int32_t i = 0; i < TMARING_MAX_TILED; ++i) {
    const tmaring_tile *t = &boxes->tile[i];
    for (int32_t d = 0; ((uint32_t)boxes->used >> i & 1u) && d < t->rank; ++d) {
      if (t->follows[d] == TMARING_TILE_COLUMN) boxes->map[i].dims[d] = (uint64_t)(a->walk.cols >> t->scale[d]);
    }
  }
}

static tmaring_status play(const tmaring_args *args, const tmaring__boxes *boxes, const tmaring__code *code,
                           const tmaring__program *program, int32_t worker, tmaring_check_report *report)
{
  tmaring__ring ring;
  tmaring__fault_note fault;
  tmaring__boxes own;
  memset(&ring, 0, sizeof ring);
  if (boxes) {
    own = *boxes;
    shrink_boxes(&own, args);
    ring.boxes = &own;
  }
  ring.args = args;
  ring.code = code;
  ring.program = program;
  ring.walk = args->walk;
  ring.worker = worker;
  TMARING__TRY(tmaring__ring_prepare(&ring));
  for (uint64_t seed = TMARING__LAZY; seed < 3; ++seed) {
    TMARING__TRY(tmaring__schedule_run(&ring, seed, &fault, &report->steps, NULL));
  }
  return TMARING_OK;
}

/* A worker of this kind is the second of two with as many slots each: the first has the tiles before. */
static tmaring_status play_kind(const tmaring_args *args, const tmaring__boxes *boxes, const tmaring__code *code,
                                const tmaring__program *program, const kind *k, tmaring_check_report *report)
{
  tmaring_args a = *args;
  const int64_t slots = k->valid + k->surplus;
  a.walk.order = TMARING_ORDER_BLOCKED;
  a.walk.workers = 2;
  shrink(&a, slots + k->valid, slots, k);
  return play(&a, boxes, code, program, 1, report);
}

static tmaring_status play_tickets(const tmaring_args *args, const tmaring__boxes *boxes, const tmaring__code *code,
                                   const tmaring__program *program, int64_t tiles, const kind *k,
                                   tmaring_check_report *report)
{
  tmaring_args a = *args;
  a.walk.workers = 1;
  shrink(&a, tiles, tiles, k);
  return play(&a, boxes, code, program, 0, report);
}

/* Rows of the last tile, and of every other. */
static int64_t tile_rows_of(const tmaring_walk *w, int last)
{
  const int64_t all = (int64_t)w->tile_rows * w->chunk, chunks = tmaring_column_chunks(w);
  return last && chunks > 0 ? w->rows - (chunks - 1) * all : all;
}

static kind kind_of(const tmaring_args *a, int32_t worker)
{
  const tmaring_walk *w = &a->walk;
  const int32_t period = period_of(a), per_tile = tmaring_walk_fills_per_tile(w);
  const int64_t valid = tmaring_walk_valid_slots(w, worker),
                least = per_tile > 1 ? (period + 4) / per_tile + 2 : period + 4;
  const int64_t end = tmaring_walk_first(w, worker) + (valid - 1) * w->step;
  kind k;
  k.valid = w->tiles > 0 ? cut(valid, least, period) : 0;
  k.surplus = w->tiles > 0 ? cut(w->slots - valid, least, period) : 0;
  cut_tile(a, tile_rows_of(w, valid > 0 && end >= w->tiles - (w->spread ? w->pieces : 1)), &k);
  return k;
}

static int known(const kind *kinds, int32_t count, const kind *k)
{
  for (int32_t i = 0; i < count; ++i) {
    if (kinds[i].valid == k->valid && kinds[i].surplus == k->surplus && kinds[i].last_rows == k->last_rows &&
        kinds[i].chunk == k->chunk)
      return 1;
  }
  return 0;
}

tmaring_status tmaring__check_ring(const tmaring_args *args, const tmaring__boxes *boxes, const tmaring__code *code,
                                   const tmaring__program *program, tmaring_check_report *report)
{
  const tmaring_walk *w = &args->walk;
  const int64_t stages = args->stages, trips[] = {0, 1, stages - 1, stages, stages + 1, 2 * stages + 1, 4 * stages + 3};
  kind kinds[MAX_KINDS], last;
  int32_t count = 0;
  cut_tile(args, tile_rows_of(w, 1), &last);
  for (size_t i = 0; tmaring_uses_tickets(w) && i < sizeof trips / sizeof *trips; ++i) {
    if (trips[i] <= w->tiles) TMARING__TRY(play_tickets(args, boxes, code, program, trips[i], &last, report));
  }
  for (int32_t worker = 0; !tmaring_uses_tickets(w) && worker < w->workers; ++worker) {
    const kind k = kind_of(args, worker);
    if (known(kinds, count, &k)) continue;
    if (count < MAX_KINDS) kinds[count++] = k;
    TMARING__TRY(play_kind(args, boxes, code, program, &k, report));
  }
  return TMARING_OK;
}

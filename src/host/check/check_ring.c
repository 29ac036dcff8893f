/* Plays the role loops of every kind of worker through the ring model: tags only, lazily and at random.
 *
 * Long trips are cut. The ring's state repeats: two fills with the same number modulo 2 S have the same stage and
 * parity, and once every stage has been used and refilled, what the model holds (barriers, cursors, tags and knowledge,
 * all relative to the fill) depends on that remainder alone. A trip of more than 4 S + 3 fills therefore shows nothing
 * that the one with the same remainder modulo 2 S and at least 2 S + 4 fills does not show. The same holds for the
 * surplus part of a trip and for the pieces of a long row. */
#include <string.h>

#include "../base/detail.h"
#include "check_args.h"
#include "schedule.h"

#define MAX_KINDS 64

/* What tells workers apart, as far as the ring is concerned. */
typedef struct kind {
  int64_t valid, surplus; /* slots, cut */
  int64_t last_rows;      /* rows of the last tile */
} kind;

static int64_t cut(int64_t count, int64_t least, int64_t period)
{
  return count < least + period ? count : least + (count - least) % period;
}

static void set_hulls(tmaring_stream *s, int32_t count, const tmaring_walk *w)
{
  for (int32_t i = 0; i < count; ++i) {
    s[i].hull_end = s[i].base;
    if (w->rows > 0) s[i].hull_end += (uint64_t)((w->rows - 1) * s[i].pitch) + (uint64_t)w->cols * s[i].elem_bytes;
  }
}

/* A matrix of `tiles` tiles, the last of which has `last_rows` rows, cut as the plan cuts its own. */
static void shrink(tmaring_args *a, int64_t tiles, int64_t slots, int64_t last_rows)
{
  tmaring_walk *w = &a->walk;
  const int32_t tail = w->cols - (w->pieces - 1) * w->piece_cols, period = 2 * (int32_t)a->stages;
  w->tiles = tiles;
  w->slots = slots;
  w->rows = tiles > 0 ? (tiles - 1) * w->tile_rows + last_rows : 0;
  if (w->spread && tiles > 0) {
    w->pieces = (int32_t)tiles;
    w->rows = 1;
  } else if (w->pieces > 1) {
    w->pieces = (int32_t)cut(w->pieces, period + 4, period);
    w->rows = tiles;
  }
  tmaring_walk_derive(w);
  if (w->pieces > 1 || w->spread) w->cols = (w->pieces - 1) * w->piece_cols + tail;
  set_hulls(a->input, a->input_count, w);
  set_hulls(a->output, a->output_count, w);
}

static tmaring_status play(const tmaring_args *args, const tmaring__code *code, const tmaring__program *program,
                           int32_t worker, tmaring_check_report *report)
{
  tmaring__ring ring;
  tmaring__fault_note fault;
  memset(&ring, 0, sizeof ring);
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
static tmaring_status play_kind(const tmaring_args *args, const tmaring__code *code, const tmaring__program *program,
                                const kind *k, tmaring_check_report *report)
{
  tmaring_args a = *args;
  const int64_t slots = k->valid + k->surplus;
  a.walk.order = TMARING_ORDER_BLOCKED;
  a.walk.workers = 2;
  shrink(&a, slots + k->valid, slots, k->last_rows);
  return play(&a, code, program, 1, report);
}

static tmaring_status play_tickets(const tmaring_args *args, const tmaring__code *code, const tmaring__program *program,
                                   int64_t tiles, int64_t last_rows, tmaring_check_report *report)
{
  tmaring_args a = *args;
  a.walk.workers = 1;
  shrink(&a, tiles, tiles, last_rows);
  return play(&a, code, program, 0, report);
}

static kind kind_of(const tmaring_args *a, int32_t worker, int64_t last_rows)
{
  const tmaring_walk *w = &a->walk;
  const int32_t period = 2 * (int32_t)a->stages, per_tile = tmaring_walk_fills_per_tile(w);
  const int64_t valid = tmaring_walk_valid_slots(w, worker),
                least = per_tile > 1 ? (period + 4) / per_tile + 2 : period + 4;
  const int64_t end = tmaring_walk_first(w, worker) + (valid - 1) * w->step;
  kind k;
  k.valid = w->tiles > 0 ? cut(valid, least, period) : 0;
  k.surplus = w->tiles > 0 ? cut(w->slots - valid, least, period) : 0;
  k.last_rows = valid > 0 && end == w->tiles - 1 ? last_rows : w->tile_rows;
  return k;
}

static int known(const kind *kinds, int32_t count, const kind *k)
{
  for (int32_t i = 0; i < count; ++i) {
    if (kinds[i].valid == k->valid && kinds[i].surplus == k->surplus && kinds[i].last_rows == k->last_rows) return 1;
  }
  return 0;
}

tmaring_status tmaring__check_ring(const tmaring_args *args, const tmaring__code *code, const tmaring__program *program,
                                   tmaring_check_report *report)
{
  const tmaring_walk *w = &args->walk;
  const int64_t stages = args->stages, trips[] = {0, 1, stages - 1, stages, stages + 1, 2 * stages + 1, 4 * stages + 3};
  const int64_t last_rows = w->pieces > 1 || w->tiles == 0 ? w->tile_rows : w->rows - (w->tiles - 1) * w->tile_rows;
  kind kinds[MAX_KINDS];
  int32_t count = 0;
  for (size_t i = 0; tmaring_uses_tickets(w) && i < sizeof trips / sizeof *trips; ++i) {
    if (trips[i] <= w->tiles) TMARING__TRY(play_tickets(args, code, program, trips[i], last_rows, report));
  }
  for (int32_t worker = 0; !tmaring_uses_tickets(w) && worker < w->workers; ++worker) {
    const kind k = kind_of(args, worker, last_rows);
    if (known(kinds, count, &k)) continue;
    if (count < MAX_KINDS) kinds[count++] = k;
    TMARING__TRY(play_kind(args, code, program, &k, report));
  }
  return TMARING_OK;
}

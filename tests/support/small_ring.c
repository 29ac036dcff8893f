#include "small_ring.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void set_scope(small_ring *r, const small_spec *spec)
{
  tmaring_args *a = &r->args;
  a->scope.kind = spec->cluster ? TMARING_SCOPE_CLUSTER : spec->per_row > 1 ? TMARING_SCOPE_GROUP : TMARING_SCOPE_WARP;
  a->scope.vec = r->code.vec = 4;
  a->scope.lanes_log2 = 5;
  a->scope.warps_per_row = spec->per_row;
  a->scope.unit_rows = 1;
  a->cta.mode = r->code.mode = spec->mode == SMALL_WS ? TMARING_MODE_WARP_SPECIALIZED : TMARING_MODE_PIPELINED;
  a->cta.war = spec->mode == SMALL_MBARRIER ? TMARING_WAR_MBARRIER : TMARING_WAR_CTA_BARRIER;
  a->cta.release = spec->release;
  a->cta.consumers[0] = 32 * spec->warps;
  a->cta.consumers[1] = a->cta.consumers[2] = 1;
  a->cta.slab = spec->mode == SMALL_WS ? 32 : 0;
  a->cta.squads = r->code.squads = spec->squads > 1 ? spec->squads : 1;
  a->cta.turns = spec->turns;
}

/* Workers have trips + surplus slots each; the last one has `trips` of them filled, so it gets the surplus. */
static void set_walk(small_ring *r, const small_spec *spec, int cols)
{
  tmaring_walk *w = &r->args.walk;
  const int slots = spec->trips + spec->surplus, tickets = spec->order == TMARING_ORDER_TICKET;
  const int squads = spec->squads > 1 ? spec->squads : 1, shared = squads > 1 && spec->turns == 0;
  w->chunk = spec->chunk > 0 ? spec->chunk : shared ? squads : 1;
  w->pieces = spec->pieces > 0 ? spec->pieces : 1;
  w->cols = cols * w->pieces;
  w->piece_cols = cols;
  w->cluster = spec->cluster;
  if (spec->cluster > 0) { /* slices are whole vectors */
    w->piece_cols = (cols + 3) / 4 * 4;
    w->cols = w->piece_cols * (spec->cluster - 1) + cols;
  }
  w->passes = w->pieces > 1 ? r->program.passes : 1;
  w->tile_rows = w->pieces > 1 ? 1 : spec->warps / spec->per_row / squads;
  w->workers = spec->surplus > 0 ? 2 : 1;
  w->order = spec->order;
  w->policy = spec->policy;
  w->split_stages = spec->stages;
  w->tiles = spec->surplus > 0 ? slots + spec->trips : spec->trips;
  w->slots = tickets ? w->tiles : slots;
  w->rows = w->tiles * w->tile_rows * w->chunk;
  if (w->chunk > 1 && w->rows > 0) w->rows -= w->tile_rows * (w->chunk - 2) + 1; /* fills with fewer rows, and none */
  tmaring_walk_derive(w);
  r->ring.worker = w->workers - 1;
}

/* ---- streams ---- */

#define CLIPPED 96 /* floats of a box that is wider than its row */
#define HALF    32 /* of one of a piece's two */

static void set_map(small_ring *r, const tmaring_stream *s, int at, int width, int rows)
{
  tmaring_tensor_map_tiled *m = &r->boxes.map[at];
  const tmaring_tensor_map_tiled empty = TMARING_TENSOR_MAP_TILED_INIT;
  *m = empty;
  m->rank = 2;
  m->address = s->base;
  m->dims[0] = (uint64_t)r->args.walk.cols;
  m->dims[1] = (uint64_t)(r->args.walk.rows > 0 ? r->args.walk.rows : 1);
  m->strides[1] = (uint64_t)s->pitch;
  m->box[0] = (uint32_t)width;
  m->box[1] = (uint32_t)rows;
}

/* Boxes of `rows` rows, or of every row where that is 1. */
static void set_tile(small_ring *r, tmaring_stream *s, int at, int width, int boxes, int rows)
{
  tmaring_tile *t = &r->boxes.tile[at];
  r->boxes.used |= 1 << at;
  t->rank = 2;
  t->boxes = t->along = boxes;
  t->by_row = rows == 1;
  t->box_bytes = t->box_pitch = 4u * (uint32_t)(width * rows);
  t->box_step[0] = boxes > 1 ? width : 0;
  t->follows[0] = TMARING_TILE_COLUMN;
  t->follows[1] = TMARING_TILE_ROW;
  s->dense = 0;
  s->slot_row = 4u * (uint32_t)(width * boxes);
  set_map(r, s, at, width, rows);
}

static void set_boxes(small_ring *r, const small_spec *spec, tmaring_stream *s, int at)
{
  const tmaring_walk *w = &r->args.walk;
  const int together = at == 0 && !spec->tiled_store && w->pieces == 1 && !spec->cluster && !spec->edges;
  if (together) {
    set_tile(r, s, at, w->cols, 1, w->tile_rows);
  } else if (w->pieces > 1 || spec->cluster) {
    set_tile(r, s, at, HALF, 2, 1);
  } else {
    set_tile(r, s, at, CLIPPED, 1, 1);
  }
}

/* Slots are all as large as the largest needs. */
static uint32_t slot_bytes(const small_ring *r, const small_spec *spec)
{
  const tmaring_walk *w = &r->args.walk;
  const uint32_t runs = tmaring_run_slot_bytes(4u * (uint32_t)w->piece_cols, w->tile_rows, 1, !spec->edges);
  int tiled = spec->tiled_store;
  for (int i = 0; i < spec->inputs; ++i) tiled |= spec->path[i] == TMARING_LOAD_TILE;
  return tiled ? 4u * CLIPPED * (uint32_t)w->tile_rows : runs;
}

static void set_stream(small_ring *r, const small_spec *spec, tmaring_stream *s, int number, uint32_t slot, int tiled)
{
  const tmaring_walk *w = &r->args.walk;
  s->elem_bytes = 4;
  s->pitch = tiled ? (tmaring_i64)tmaring_round_up(4ull * (uint64_t)w->cols, 16) : 4ll * w->cols;
  s->dense = 1;
  s->base = ((uint64_t)(number + 1) << 20) + (tiled || spec->edges == 0 ? 0u : spec->edges == 1 ? 4u : 6u);
  s->hull_end = s->base + (uint64_t)(w->rows * s->pitch);
  s->slot_row = tmaring_run_slot_row(4u * (uint32_t)w->piece_cols, !spec->edges);
  s->slot_bytes = slot_bytes(r, spec);
  s->slot = slot * s->slot_bytes;
}

static void set_input(small_ring *r, const small_spec *spec, int i)
{
  tmaring_stream *s = &r->args.input[i];
  const int tiled = spec->path[i] == TMARING_LOAD_TILE;
  set_stream(r, spec, s, i, (uint32_t)i, tiled);
  s->path = r->code.load[i] = spec->path[i];
  if (tiled) set_boxes(r, spec, s, i);
  if (s->path == TMARING_LOAD_DIRECT) s->slot_bytes = 0;
}

/* In place it is laid out as input 0 is, whose path then has a slot. */
static void set_output(small_ring *r, const small_spec *spec, uint32_t slot)
{
  tmaring_stream *s = &r->args.output[0];
  const int in_place = slot == 0 && spec->inputs > 0, tiled = spec->tiled_store && spec->staged;
  set_stream(r, spec, s, 8, slot, tiled || (in_place && spec->path[0] == TMARING_LOAD_TILE));
  s->path = r->code.tiled_store = tiled;
  if (tiled) set_boxes(r, spec, s, TMARING_TILED_OUTPUTS);
  if (!in_place) return;
  s->dense = r->args.input[0].dense;
  s->slot_row = r->args.input[0].slot_row;
}

/* In place where that is asked for and input 0 is laid out in its slot as the results are. */
static int is_apart(const small_spec *spec)
{
  if (spec->staged == 2 || spec->inputs == 0 || spec->path[0] == TMARING_LOAD_DIRECT) return 1;
  return spec->tiled_store && spec->path[0] != TMARING_LOAD_TILE;
}

small_spec small_spec_blocked(int mode, int stages, int warps, int trips)
{
  const small_spec spec = {.mode = mode,
                           .stages = stages,
                           .distance = stages - 1,
                           .warps = warps,
                           .per_row = 1,
                           .trips = trips,
                           .order = TMARING_ORDER_BLOCKED,
                           .policy = TMARING_POLICY_EXACT,
                           .release = TMARING_RELEASE_WARP};
  return spec;
}

void small_ring_make(small_ring *r, const small_spec *spec)
{
  const uint32_t inputs = (uint32_t)spec->inputs, apart = (uint32_t)is_apart(spec);
  memset(r, 0, sizeof *r);
  r->args.abi_version = TMARING_ABI_VERSION;
  r->args.stages = (uint32_t)spec->stages;
  r->args.distance = (uint32_t)spec->distance;
  r->program.reduction_passes = spec->reductions;
  r->program.passes = spec->reductions + 1;
  r->program.output_count = r->args.output_count = 1;
  r->program.column_output_count = r->args.column_output_count = spec->chunk > 0;
  r->args.input_count = spec->inputs;
  r->code.group = spec->per_row > 1 || spec->cluster > 0;
  r->code.cluster = spec->cluster > 0;
  r->code.aligned = !spec->edges;
  r->code.staged = spec->staged > 0;
  r->code.pieces = spec->pieces > 1;
  set_scope(r, spec);
  set_walk(r, spec, spec->edges ? 33 : 64);
  r->args.store_lag =
      tmaring_ring_store_lag(r->args.stages, r->args.distance, tmaring_squad_gap(&r->args.cta, &r->args.walk));
  for (int i = 0; i < spec->inputs; ++i) set_input(r, spec, i);
  set_output(r, spec, apart ? inputs : 0);
  tmaring_smem_layout(&r->args.smem, r->args.stages, (inputs + apart) * r->args.output[0].slot_bytes, 0, 0,
                      r->code.group ? (uint32_t)spec->warps : 0);
  r->ring.args = &r->args;
  r->ring.boxes = &r->boxes;
  r->ring.code = &r->code;
  r->ring.program = &r->program;
  r->ring.walk = r->args.walk;
  cr_assert_eq(tmaring__ring_prepare(&r->ring), TMARING_OK, "%s", tmaring_last_detail());
}

const char *small_ring_text(const small_spec *spec)
{
  static const char *const mode[] = {"ws", "cta-barrier", "mbarrier"};
  static const char *const order[] = {"split", "blocked", "cyclic", "ticket"};
  static const char *const policy[] = {"wrap", "skip", "exact", "unsafe"};
  static const char path[] = "btaod"; /* a letter per tmaring_load_path */
  static char text[280];
  snprintf(text, sizeof text,
           "%s S=%d P=%d warps=%d/%d inputs=%d staged=%d trips=%d %s %s release=%d surplus=%d edges=%d reductions=%d "
           "pieces=%d chunk=%d cluster=%d squads=%d turns=%d paths=%c%c tiled_store=%d",
           mode[spec->mode], spec->stages, spec->distance, spec->warps, spec->per_row, spec->inputs, spec->staged,
           spec->trips, order[spec->order], policy[spec->policy], spec->release, spec->surplus, spec->edges,
           spec->reductions, spec->pieces, spec->chunk, spec->cluster, spec->squads, spec->turns, path[spec->path[0]],
           path[spec->path[1]], spec->tiled_store);
  return text;
}

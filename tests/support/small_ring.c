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

static void set_stream(small_ring *r, tmaring_stream *s, int number, uint32_t slot, int edges)
{
  const tmaring_walk *w = &r->args.walk;
  s->elem_bytes = 4;
  s->pitch = 4ll * w->cols;
  s->dense = 1;
  s->base = ((uint64_t)(number + 1) << 20) + (edges ? 4 : 0);
  s->hull_end = s->base + (uint64_t)(w->rows * s->pitch);
  s->slot_row = tmaring_run_slot_row(4u * (uint32_t)w->piece_cols, !edges);
  s->slot_bytes = tmaring_run_slot_bytes(4u * (uint32_t)w->piece_cols, w->tile_rows, 1, !edges);
  s->slot = slot * s->slot_bytes;
}

void small_ring_make(small_ring *r, const small_spec *spec)
{
  const uint32_t inputs = (uint32_t)spec->inputs, apart = spec->staged == 2 || inputs == 0;
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
  for (int i = 0; i < spec->inputs; ++i) set_stream(r, &r->args.input[i], i, (uint32_t)i, spec->edges);
  set_stream(r, &r->args.output[0], 8, apart ? inputs : 0, spec->edges);
  tmaring_smem_layout(&r->args.smem, r->args.stages, (inputs + apart) * r->args.output[0].slot_bytes, 0, 0,
                      r->code.group ? (uint32_t)spec->warps : 0);
  r->ring.args = &r->args;
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
  static char text[240];
  snprintf(text, sizeof text,
           "%s S=%d P=%d warps=%d/%d inputs=%d staged=%d trips=%d %s %s release=%d surplus=%d edges=%d reductions=%d "
           "pieces=%d chunk=%d cluster=%d squads=%d turns=%d",
           mode[spec->mode], spec->stages, spec->distance, spec->warps, spec->per_row, spec->inputs, spec->staged,
           spec->trips, order[spec->order], policy[spec->policy], spec->release, spec->surplus, spec->edges,
           spec->reductions, spec->pieces, spec->chunk, spec->cluster, spec->squads, spec->turns);
  return text;
}

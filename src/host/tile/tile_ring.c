/* Step 3 of a tile plan: roles, walk and stages. */
#include <string.h>

#include "../plan/block.h"
#include "../plan/plan_options.h"
#include "../plan/tuning.h"
#include "tile_state.h"

/* Threads that compute: a copy's only wait and store. */
#define CONSUMERS      128
#define CONSUMERS_COPY 32
/* Stages where they are left open, and values of a product's sums that a thread may hold. */
#define STAGES   4
#define MAX_SUMS 128
/* Slots of swizzled boxes begin where the pattern does. */
#define SLOT_BYTES 1024

/* ---- roles ---- */

/* Blocks of 16 x 16 results are shared out to `along` warps by rows, and by columns to as many as are left. */
static int shares(int32_t warps, int32_t rows, int32_t cols, int32_t along)
{
  return warps % along == 0 && rows % along == 0 && cols % (warps / along) == 0;
}

/* Warps along m of so many in all; 0: they cannot share the results out equally. */
static int32_t warps_along(const tmaring__tile_draft *w, int32_t warps)
{
  const int32_t rows = w->box[1] / 16, cols = w->box[0] / 16;
  int32_t along = rows;
  while (along > 0 && !shares(warps, rows, cols, along)) --along;
  return along;
}

static int32_t open_consumers(const tmaring__tile_draft *w)
{
  int32_t warps = CONSUMERS / 32;
  if (w->op == TMARING_TILE_COPY && w->code.staged) return CONSUMERS_COPY;
  while (w->op == TMARING_TILE_MATMUL && !warps_along(w, warps)) --warps; /* one warp takes any */
  return 32 * warps;
}

static tmaring_status decide_block(tmaring__tile_draft *w)
{
  tmaring__decision decision;
  tmaring__facts facts;
  tmaring_plan_options common;
  memset(&decision, 0, sizeof decision);
  memset(&facts, 0, sizeof facts);
  facts.program = w->work.program;
  facts.work = TUNING_HEAVY_WORK;
  decision.cluster = 1;
  decision.cta.squads = 1;
  tmaring__tile_options_common(&common, &w->options);
  tmaring__decide_roles(&decision.cta, &common, 0, w->notes);
  if (common.consumers[0] == TMARING_AUTO && common.consumers[1] == TMARING_AUTO && common.consumers[2] == TMARING_AUTO)
    common.consumers[0] = open_consumers(w);
  TMARING__TRY(tmaring__block_decide(&decision, &common, &facts, &w->machine, w->notes));
  w->args.cta = decision.cta;
  w->code.mode = decision.cta.mode;
  memcpy(w->code.registers, decision.registers, sizeof w->code.registers);
  w->code.max_threads = decision.max_threads;
  w->code.min_ctas = w->ctas_per_sm = decision.max_ctas;
  return TMARING_OK;
}

/* All warps see every fill: one unit, whose first thread stores. */
static void enter_scope(tmaring__tile_draft *w)
{
  tmaring_scope *s = &w->args.scope;
  s->kind = TMARING_SCOPE_CTA;
  s->vec = w->code.vec = 4;
  s->lanes_log2 = 5;
  s->warps_per_row = tmaring_cta_consumer_warps(&w->args.cta);
  s->unit_rows = 1;
  s->fixed = w->code.fixed = 1;
  w->code.group = 1;
  w->code.squads = 1;
  w->code.debug = tmaring__asked_or(w->options.debug, 0);
}

static tmaring_status share_product(tmaring__tile_draft *w)
{
  const int32_t warps = tmaring_cta_consumer_warps(&w->args.cta), rows = w->box[1] / 16, cols = w->box[0] / 16;
  const int32_t along = warps_along(w, warps);
  if (along == 0)
    return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                         "consumers: got %d warps, needs a number that shares out %d x %d blocks of 16 x 16 results "
                         "equally, by rows times columns",
                         warps, rows, cols);
  if (rows * cols / warps * 8 > MAX_SUMS)
    return tmaring__fail(TMARING_ERROR_CAPACITY,
                         "consumers: got %d warps, each thread of which would hold %d sums, at most %d; use more "
                         "warps or a smaller box",
                         warps, rows * cols / warps * 8, MAX_SUMS);
  w->work.warps[0] = along;
  w->work.warps[1] = warps / along;
  return TMARING_OK;
}

/* ---- stages ---- */

static void enter_stream(tmaring_stream *s, const tmaring__tile_draft *w, int32_t t)
{
  const tmaring_panel *p = &w->boxes.panel[t];
  s->dtype = (tmaring_i32)w->tensor[t].dtype;
  s->elem_bytes = p->elem_bytes;
  s->pitch = p->stride[1];
  s->slot_row = p->layout.row_bytes;
  s->dense = 1;
}

static uint32_t slot_bytes(const tmaring__tile_draft *w, int32_t t)
{
  const tmaring_panel *p = &w->boxes.panel[t];
  const uint32_t row = (uint32_t)p->box[0] * p->elem_bytes;
  const uint32_t bytes = p->layout.box_pitch * (row / p->layout.span_bytes);
  return (uint32_t)tmaring_round_up(bytes, p->layout.swizzle ? SLOT_BYTES : 128);
}

static int swizzled(const tmaring__tile_draft *w)
{
  int some = 0;
  for (int32_t t = 0; t < w->count; ++t) some |= w->boxes.panel[t].layout.swizzle != TMARING_SWIZZLE_NONE;
  return some;
}

/* A slot per input, and one for results that are staged apart: swizzled slots come first. Returns a stage's bytes. */
static uint32_t enter_slots(tmaring__tile_draft *w)
{
  tmaring_stream *out = &w->args.output[0];
  uint32_t end = 0;
  w->args.input_count = w->output;
  w->args.output_count = w->code.staged;
  for (int32_t t = 0; t < w->count; ++t) {
    tmaring_stream *s = t == w->output ? out : &w->args.input[t];
    enter_stream(s, w, t);
    if (t == w->output && !w->code.staged) continue;
    s->slot_bytes = slot_bytes(w, t);
    s->slot = end;
    end += s->slot_bytes;
  }
  for (int32_t t = 0; t < w->output; ++t) w->args.input[t].path = w->load;
  out->path = w->code.tiled_store;
  if (w->op == TMARING_TILE_COPY && w->code.staged) { /* in place */
    end = w->args.input[0].slot_bytes;
    out->slot = w->args.input[0].slot;
  }
  return (uint32_t)tmaring_round_up(end, swizzled(w) ? SLOT_BYTES : 128);
}

static void lay_out(tmaring_smem *m, uint32_t stages, uint32_t stage_bytes)
{
  tmaring_smem_layout(m, stages, stage_bytes, 0, 0, 0);
  m->stages = (uint32_t)tmaring_round_up(m->stages, SLOT_BYTES);
  m->total = m->stages + stages * stage_bytes;
}

static int64_t budget(const tmaring__tile_draft *w)
{
  const int32_t share = w->machine.smem_per_sm_bytes / w->ctas_per_sm - w->machine.smem_reserved_bytes;
  return share < w->machine.smem_per_block_bytes ? share : w->machine.smem_per_block_bytes;
}

static int fits(const tmaring__tile_draft *w, uint32_t stages, uint32_t stage_bytes)
{
  tmaring_smem m;
  lay_out(&m, stages, stage_bytes);
  return m.total <= budget(w);
}

/* As many CTAs per SM as have the stages asked for, or two; then the most stages that fit. */
static tmaring_status decide_stages(tmaring__tile_draft *w)
{
  const uint32_t stage_bytes = enter_slots(w);
  const int32_t asked = w->options.stages;
  const uint32_t least = asked == TMARING_AUTO ? 2u : (uint32_t)asked;
  uint32_t stages = asked == TMARING_AUTO ? STAGES : (uint32_t)asked;
  while (w->ctas_per_sm > 1 && !fits(w, least, stage_bytes)) w->ctas_per_sm /= 2;
  while (asked == TMARING_AUTO && stages > 1 && !fits(w, stages, stage_bytes)) --stages;
  lay_out(&w->args.smem, stages, stage_bytes);
  w->args.stages = stages;
  if (fits(w, stages, stage_bytes)) return TMARING_OK;
  return tmaring__fail(
      TMARING_ERROR_CAPACITY,
      "stages: %u of %u bytes need %u bytes of shared memory, a CTA may have %lld; use fewer stages or "
      "a smaller box",
      stages, stage_bytes, w->args.smem.total, (long long)budget(w));
}

static void decide_distance(tmaring__tile_draft *w)
{
  const int32_t stages = (int32_t)w->args.stages, p = w->options.prefetch;
  const int lags =
      w->code.staged && w->code.mode == TMARING_MODE_PIPELINED && stages >= 2; /* its last store still reads */
  w->args.distance = (uint32_t)(p != TMARING_AUTO ? tmaring_ring_distance(p, stages) : stages - 1 - lags);
  w->args.store_lag = tmaring_ring_store_lag(w->args.stages, w->args.distance, 1);
}

static tmaring_status check_distance(const tmaring__tile_draft *w)
{
  if (w->args.distance < w->args.stages) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ARGUMENT,
                       "prefetch: got %d, needs %d .. %d with %u stages; a negative p means "
                       "stages + p",
                       w->options.prefetch, -(int32_t)w->args.stages, (int32_t)w->args.stages - 1, w->args.stages);
}

/* ---- walk ---- */

static int64_t tiles_of(const tmaring_grid *g)
{
  int64_t tiles = 1;
  for (int32_t d = 0; d < TMARING_MAX_RANK; ++d) tiles *= g->extent[d];
  return tiles;
}

static double bytes_moved(const tmaring__tile_draft *w)
{
  double bytes = 0;
  for (int32_t t = 0; t < w->count; ++t) {
    double own = w->boxes.panel[t].elem_bytes;
    for (int32_t d = 0; d < w->tensor[t].rank; ++d) own *= w->boxes.panel[t].dims[d];
    bytes += own;
  }
  return bytes;
}

static void decide_order(tmaring_walk *walk, const tmaring__tile_draft *w)
{
  const int32_t open = bytes_moved(w) >= TUNING_TICKET_BYTES ? TMARING_ORDER_TICKET : TMARING_ORDER_CYCLIC;
  tmaring__decision decision = {.cluster = 1};
  tmaring_plan_options common;
  tmaring__tile_options_common(&common, &w->options);
  tmaring__decide_walk(&decision, &common, w->notes);
  walk->policy = decision.policy;
  walk->order = tmaring__asked_or(decision.order, open);
}

static void enter_walk(tmaring__tile_draft *w)
{
  tmaring_walk *walk = &w->args.walk;
  const tmaring_grid *g = &w->boxes.grid;
  const int64_t tiles = tiles_of(g);
  decide_order(walk, w);
  walk->cols = 1;
  for (int32_t d = 0; d < w->tensor[w->output].rank; ++d) walk->cols *= w->boxes.panel[w->output].box[d];
  walk->tile_rows = walk->pieces = walk->passes = 1;
  walk->piece_cols = walk->cols;
  walk->chunk = g->steps;
  walk->split_stages = (tmaring_i32)w->args.stages;
  walk->workers = tmaring__asked_or(w->options.workers, w->machine.sm_count * w->ctas_per_sm);
  if (walk->workers > tiles) walk->workers = (tmaring_i32)tiles;
  if (w->options.workers != TMARING_AUTO && walk->workers < w->options.workers)
    tmaring__note_add(w->notes, "workers %d -> %d: as many as there are tiles", w->options.workers, walk->workers);
  tmaring_walk_set_rows(walk, tiles * g->steps);
}

tmaring_status tmaring__tile_ring(tmaring__tile_draft *w)
{
  w->args.abi_version = TMARING_ABI_VERSION;
  TMARING__TRY(decide_block(w));
  enter_scope(w);
  if (w->op == TMARING_TILE_MATMUL) TMARING__TRY(share_product(w));
  TMARING__TRY(decide_stages(w));
  if (w->code.registers[1] == 0) w->code.min_ctas = w->ctas_per_sm;
  decide_distance(w);
  TMARING__TRY(check_distance(w));
  enter_walk(w);
  return TMARING_OK;
}

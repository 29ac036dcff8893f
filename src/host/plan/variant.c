#include "variant.h"

#include <string.h>

#include "../base/detail.h"
#include "../describe/tensor_check.h"
#include "column.h"
#include "explain.h"
#include "load_path.h"
#include "multicast.h"
#include "row_limit.h"
#include "squad.h"
#include "stage_map.h"
#include "tmaring/abi/frames.h"
#include "tuning.h"

/* What every step here reads. */
typedef struct work {
  const tmaring__candidates *list;
  const tmaring__facts *facts;
  const tmaring__decision *decision;
  const tmaring_machine *machine;
} work;

#define CLASSES TMARING__MAX_VARIANTS
static const double class_bytes[2][CLASSES - 1] = {TUNING_CLASS_BYTES, TUNING_COLUMN_CLASS_BYTES};

/* ---- row counts ---- */

static int64_t bytes_per_row(const tmaring__facts *facts)
{
  return tmaring_max_i64(1, facts->bytes_per_row);
}

/* Largest M of a class. */
static int64_t class_limit(const work *w, int32_t index)
{
  const double *bytes = class_bytes[tmaring__facts_columns(w->facts)];
  return index == CLASSES - 1 ? INT64_MAX : (int64_t)(bytes[index] / (double)bytes_per_row(w->facts));
}

/* An M that stands for the class: the hinted one where it lies in it, else one towards its end. */
static int64_t class_rows(const work *w, int32_t index)
{
  const int64_t above = index == 0 ? 0 : class_limit(w, index - 1), upto = class_limit(w, index), hint = w->facts->rows;
  if (hint > above && hint <= upto) return hint;
  if (index == CLASSES - 1) return tmaring_max_i64(1, 8 * above);
  return tmaring_max_i64(1, above + (upto - above) / 2);
}

/* The same for column reductions: whatever M is hinted, chunks and with them the order of sums stay. */
static int64_t class_rows_of_columns(const work *w, int32_t index)
{
  const int64_t above = index == 0 ? 0 : class_limit(w, index - 1);
  if (index < CLASSES - 1) return tmaring_max_i64(1, above + (class_limit(w, index) - above) / 2);
  return tmaring_max_i64(1, TUNING_COLUMN_LAST_CLASS * above);
}

static int32_t class_order(const work *w, int32_t index)
{
  if (w->decision->order != TMARING_AUTO) return w->decision->order;
  const int much = index > 0 && class_bytes[tmaring__facts_columns(w->facts)][index - 1] >= TUNING_TICKET_BYTES;
  return much ? TMARING_ORDER_TICKET : TMARING_ORDER_CYCLIC;
}

/* An end mark for each squad is found where its turn is one fill. */
static int32_t order_for(const tmaring__candidate *c, const work *w, int32_t order)
{
  if (order != TMARING_ORDER_TICKET || !tmaring__squads_take_several(c, w->decision)) return order;
  return TMARING_ORDER_CYCLIC;
}

static int32_t class_of(const work *w, int64_t rows)
{
  int32_t index = 0;
  while (index < CLASSES - 1 && rows > class_limit(w, index)) ++index;
  return index;
}

/* ---- arguments ---- */

static void enter_walk(tmaring_walk *walk, const tmaring__candidate *c, const work *w, int32_t order)
{
  walk->cols = w->facts->cols;
  walk->workers = c->workers;
  walk->order = order;
  walk->policy = order == TMARING_ORDER_TICKET ? TMARING_POLICY_EXACT : w->decision->policy;
  walk->tile_rows = c->tile_rows;
  walk->chunk = c->chunk;
  walk->cluster = c->cluster;
  walk->pieces = c->pieces;
  walk->piece_cols = c->piece_cols;
  walk->passes = c->passes;
  walk->spread = c->spread;
  walk->split_stages = c->stages;
}

static void enter_args(tmaring__variant *variant, const tmaring__candidate *c, const work *w, int32_t order)
{
  tmaring_args *args = &variant->args;
  memset(args, 0, sizeof *args);
  args->abi_version = TMARING_ABI_VERSION;
  args->stages = (tmaring_u32)c->stages;
  args->distance = (tmaring_u32)c->distance;
  args->cta = w->decision->cta;
  args->scope = c->scope;
  args->multicast = w->decision->multicast;
  enter_walk(&args->walk, c, w, order);
  args->store_lag = tmaring_ring_store_lag(
      args->stages, args->distance, tmaring_squad_gap(&args->cta, &args->walk)); /* read by consumers that store */
  tmaring__stage_map(args, &variant->boxes, c, w->facts, w->decision);
}

static int same_scope(const tmaring_scope *a, const tmaring_scope *b)
{
  return a->kind == b->kind && a->warps_per_row == b->warps_per_row && a->lanes_log2 == b->lanes_log2;
}

static int same_ring(const tmaring_args *a, const tmaring__candidate *c)
{
  const int staged = a->vector_count > 0 && a->vector[0].smem != TMARING_NOT_STAGED;
  return a->stages == (tmaring_u32)c->stages && a->distance == (tmaring_u32)c->distance && staged == c->vectors_staged;
}

static int same_variant(const tmaring_args *a, const tmaring__candidate *c, int32_t order)
{
  const tmaring_walk *w = &a->walk;
  return w->order == order && w->tile_rows == c->tile_rows && w->chunk == c->chunk && w->pieces == c->pieces &&
         w->piece_cols == c->piece_cols && w->cluster == c->cluster && w->workers == c->workers &&
         same_scope(&a->scope, &c->scope) && same_ring(a, c);
}

/* Adds a variant, or widens the last one where it is the same. */
static void add_variant(tmaring_plan *plan, const tmaring__candidate *c, const work *w, int32_t order, int64_t limit)
{
  const int64_t most = tmaring__row_limit(c, w->facts, w->decision, order);
  tmaring__variant *last = plan->variant_count > 0 ? &plan->variant[plan->variant_count - 1] : NULL;
  if (!last || !same_variant(&last->args, c, order)) {
    last = &plan->variant[plan->variant_count++];
    enter_args(last, c, w, order);
    last->ctas_per_sm = c->ctas_per_sm;
  }
  last->rows_limit = tmaring_min_i64(limit, tmaring_min_i64(most, tmaring__row_limit_of_paths(&last->args)));
}

static void enter_code(tmaring_plan *plan, const tmaring__candidate *c, const work *w)
{
  const tmaring__key key = tmaring__key_of(c);
  const tmaring__decision *d = w->decision;
  plan->code.mode = d->cta.mode;
  plan->code.flat = key.flat;
  plan->code.group = key.group;
  plan->code.pieces = key.pieces;
  plan->code.strips = key.strips;
  plan->code.cluster = key.cluster;
  plan->code.aligned = w->facts->aligned;
  plan->code.staged = tmaring__decision_stages(d);
  plan->code.tiled_store = d->store == TMARING_STORE_TILE;
  memcpy(plan->code.load, d->load, sizeof plan->code.load);
  plan->code.vec = w->facts->vec;
  memcpy(plan->code.registers, d->registers, sizeof plan->code.registers);
  plan->code.max_threads = d->max_threads;
  plan->code.min_ctas = d->max_ctas;
  plan->code.debug = d->debug;
  plan->code.wide = w->facts->wide;
  plan->code.fixed = w->facts->fixed;
  plan->code.grouped = w->facts->grouped;
  plan->code.squads = d->cta.squads;
  plan->code.multicast = d->multicast > 1;
}

static void explain(const tmaring__candidate *c, const tmaring__cost *cost, int64_t rows, tmaring__notes *notes)
{
  tmaring__text text = {0};
  tmaring__candidate_print(&text, c);
  if (text.data) {
    tmaring__note_add(notes, "chosen at M = %lld: %s: %.2f us (ramp %.2f, memory %.2f, workers %.2f)", (long long)rows,
                      text.data, cost->total_ns / 1e3, cost->ramp_ns / 1e3, cost->memory_ns / 1e3,
                      cost->worker_ns / 1e3);
  }
  tmaring__text_free(&text);
}

/* The candidate for launches of a class, M `rows` standing for it. 0: none fits. */
static int choose_at(const work *w, const tmaring__key *key, int32_t order, int64_t rows, int32_t index,
                     tmaring__candidate *chosen)
{
  const tmaring__candidate *best = tmaring__choose(w->list, w->facts, w->decision, w->machine, key, order, rows);
  if (!best) return 0;
  *chosen = *best;
  if (tmaring__facts_columns(w->facts))
    chosen->chunk = tmaring__column_chunk(best, w->facts, w->decision, class_rows_of_columns(w, index));
  return 1;
}

/* The hinted M decides the code; without a hint a middling one does. */
static int64_t rows_of_code(const work *w)
{
  return w->facts->rows > 0 ? w->facts->rows : class_rows(w, CLASSES - 2);
}

const tmaring__candidate *tmaring__variants_prefer(const tmaring__candidates *list, const tmaring__facts *facts,
                                                   const tmaring__decision *decision, const tmaring_machine *machine,
                                                   double *cost_ns)
{
  const work w = {list, facts, decision, machine};
  const int64_t rows = rows_of_code(&w);
  const int32_t order = class_order(&w, class_of(&w, rows));
  const tmaring__candidate *best = tmaring__choose(list, facts, decision, machine, NULL, order, rows);
  if (best) *cost_ns = tmaring__cost_estimate(best, facts, decision, machine, order, rows).total_ns;
  return best;
}

static int choose_code(tmaring_plan *plan, const work *w, tmaring__candidate *best, tmaring__notes *notes)
{
  const int64_t rows = rows_of_code(w);
  const int32_t index = class_of(w, rows), order = class_order(w, index);
  if (!choose_at(w, NULL, order, rows, index, best)) return 0;
  const tmaring__cost cost =
      tmaring__cost_estimate(best, w->facts, w->decision, w->machine, order, w->facts->rows > 0 ? w->facts->rows : 0);
  plan->cost_us = cost.total_ns / 1e3;
  explain(best, &cost, w->facts->rows, notes);
  tmaring__explain_choice(best, w->facts, w->decision, notes);
  if (order_for(best, w, order) != order)
    tmaring__note_add(notes, "order ticket -> cyclic: a squad's turn takes several fills, an end mark takes one");
  enter_code(plan, best, w);
  return 1;
}

/* What all variants have in common is part of the code: the thread that feeds then computes no coordinates. */
static void enter_box_ranks(tmaring_plan *plan)
{
  for (int32_t t = 0; t < TMARING_MAX_STREAMS; ++t) {
    if (plan->code.load[t] != TMARING_LOAD_TILE || (plan->variant[0].boxes.used >> t & 1) == 0) continue;
    const int32_t rank = tmaring_tile_box_rank(&plan->variant[0].boxes.tile[t]);
    int same = 1;
    for (int32_t i = 1; i < plan->variant_count; ++i)
      same &= tmaring_tile_box_rank(&plan->variant[i].boxes.tile[t]) == rank;
    plan->code.box_rank[t] = same ? rank : 0;
  }
}

tmaring_status tmaring__variants_make(tmaring_plan *plan, const tmaring__candidates *list, const tmaring__facts *facts,
                                      const tmaring__decision *decision, tmaring__notes *notes)
{
  const work w = {list, facts, decision, &plan->machine};
  tmaring__candidate c;
  if (!choose_code(plan, &w, &c, notes)) return tmaring__choose_refuse(list, facts);
  const tmaring__key key = tmaring__key_of(&c);
  for (int32_t i = 0; i < CLASSES; ++i) {
    const int64_t limit = class_limit(&w, i);
    const int32_t order = class_order(&w, i);
    if (limit < 1 || (i > 0 && limit <= class_limit(&w, i - 1))) continue;
    choose_at(&w, &key, order, class_rows(&w, i), i, &c);
    add_variant(plan, &c, &w, order_for(&c, &w, order), limit);
  }
  enter_box_ranks(plan);
  return TMARING_OK;
}

const tmaring__variant *tmaring__plan_variant(const tmaring_plan *plan, int64_t rows)
{
  int32_t i = 0;
  while (i < plan->variant_count - 1 && rows > plan->variant[i].rows_limit) ++i;
  return &plan->variant[i];
}

/* Tiles of the split order are dealt out in groups of S. */
static int64_t shares(const tmaring_walk *walk)
{
  return walk->order == TMARING_ORDER_SPLIT ? tmaring_ceil_div(walk->tiles, walk->split_stages) : walk->tiles;
}

tmaring_status tmaring__variant_set_rows(const tmaring_plan *plan, tmaring_args *args, int64_t rows)
{
  const int64_t limit = plan->variant[plan->variant_count - 1].rows_limit;
  if (rows < 0) return tmaring__fail(TMARING_ERROR_ARGUMENT, "rows: got %lld, needs 0 or more", (long long)rows);
  if (rows > limit) return tmaring__row_limit_refuse(plan, &plan->variant[plan->variant_count - 1].args, rows, limit);
  tmaring_walk_set_rows(&args->walk, rows);
  const int32_t together = args->multicast > 1 ? args->multicast : 1;
  const int64_t most = tmaring__multicast_workers(shares(&args->walk), together, 1);
  if (most < args->walk.workers) { /* no worker, or cluster of them, without work, so that surplus slots stay few */
    args->walk.workers = (tmaring_i32)most;
    tmaring_walk_set_rows(&args->walk, rows);
  }
  return TMARING_OK;
}

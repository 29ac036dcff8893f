#include "candidate.h"

#include <string.h>

#include "cluster.h"
#include "column.h"
#include "multicast.h"
#include "load_path.h"
#include "row_scope.h"
#include "stage_map.h"
#include "tuning.h"

/* An mbarrier counts transaction bytes up to 2^20 - 1. */
#define MAX_FILL_BYTES ((1 << 20) - 1)

static const int32_t fill_targets[] = TUNING_FILL_BYTES;
#define FILL_TARGETS ((int32_t)(sizeof fill_targets / sizeof fill_targets[0]))
/* The last ones are for rows that are reduced. */
#define FILL_TARGETS_POINTWISE (FILL_TARGETS - TUNING_FILL_BYTES_REDUCING)
static const int32_t per_lane[] = TUNING_VECTORS_PER_LANE;
#define PER_LANES ((int32_t)(sizeof per_lane / sizeof per_lane[0]))

/* What all candidates of a plan are made from. */
typedef struct maker {
  const tmaring__facts *facts;
  const tmaring__decision *decision;
  const tmaring_machine *machine;
  tmaring__candidates *list;
  int32_t least_stages;   /* where the options leave them open; 0: by the CTAs per SM */
  int32_t columns_staged; /* accumulators of column reductions go to shared memory */
  int32_t per_lane;       /* of the candidates; 0: the first of the list */
} maker;

/* ---- stages ---- */

static int32_t fewest_stages(const tmaring__candidate *c, const maker *m)
{
  const tmaring__decision *d = m->decision;
  const int32_t by_ctas = c->ctas_per_sm > 2 ? TUNING_MIN_STAGES_MANY : TUNING_MIN_STAGES;
  const int32_t overlap = m->least_stages > 0 ? m->least_stages : by_ctas;
  const int32_t prefetch = d->prefetch;
  const int32_t needs = prefetch == TMARING_AUTO ? 1 : prefetch < 0 ? -prefetch : prefetch + 1;
  if (d->stages != TMARING_AUTO) return d->stages;
  return needs > overlap ? needs : overlap;
}

/* Bytes that loads must keep in flight: in proportion to their part of the traffic. */
static int64_t flight_bytes(const tmaring__facts *facts)
{
  const int64_t bytes = 2 * TUNING_FLIGHT_BYTES * facts->load_bytes / facts->bytes_per_row;
  return tmaring_max_i64(bytes, TUNING_FLIGHT_BYTES);
}

/* As many as keep enough bytes in flight, one of them being computed on. */
static int32_t most_stages(const tmaring__candidate *c, const maker *m, int64_t load_bytes)
{
  const int32_t fewest = fewest_stages(c, m);
  if (m->decision->stages != TMARING_AUTO) return m->decision->stages;
  if (load_bytes == 0) return fewest;
  const int64_t wanted = 1 + tmaring_ceil_div(flight_bytes(m->facts), c->ctas_per_sm * load_bytes);
  const int64_t most = tmaring_max_i64(fewest, tmaring_min_i64(wanted, TUNING_MAX_STAGES));
  return (int32_t)(tmaring_ceil_div(most, m->decision->cta.squads) * m->decision->cta.squads);
}

static int32_t distance_of(const tmaring__decision *d, int32_t stages)
{
  if (d->prefetch != TMARING_AUTO) return tmaring_ring_distance(d->prefetch, stages);
  const int store_lags = d->cta.mode == TMARING_MODE_PIPELINED && tmaring__decision_stages(d);
  return stages >= 2 && store_lags ? stages - 2 : stages - 1;
}

static int32_t budget_of(const tmaring_machine *machine, int32_t ctas)
{
  const int32_t share = machine->smem_per_sm_bytes / ctas - machine->smem_reserved_bytes;
  return share < machine->smem_per_block_bytes ? share : machine->smem_per_block_bytes;
}

/* Layout with the most stages that fit; 0 where not even the fewest do. */
static int fit_stages(tmaring__candidate *c, const maker *m, int64_t stage_bytes, int64_t load_bytes)
{
  const int32_t fewest = fewest_stages(c, m), step = m->decision->stages == TMARING_AUTO ? m->decision->cta.squads : 1;
  const int64_t column_bytes = tmaring__stage_column_bytes(c, m->facts, m->decision);
  tmaring_smem smem;
  c->stages = fewest;
  c->needs_bytes = stage_bytes * fewest + column_bytes;
  if (stage_bytes > MAX_FILL_BYTES || column_bytes > c->budget_bytes) return 0;
  for (c->stages = most_stages(c, m, load_bytes); c->stages >= fewest; c->stages -= step) {
    tmaring__stage_layout(&smem, c, m->facts, m->decision, stage_bytes);
    c->needs_bytes = smem.total;
    if (c->needs_bytes <= c->budget_bytes) return 1;
  }
  c->stages = fewest;
  return 0;
}

/* [N] inputs go to shared memory where they fit beside the stages. Fills without shared memory have a limit, too. */
static void fit(tmaring__candidate *c, const maker *m)
{
  int64_t load_bytes;
  c->columns_staged = m->columns_staged;
  if (tmaring__candidate_strips(c) && tmaring__column_held(c, m->facts) > 0)
    c->columns_staged = 0; /* accumulators are in registers */
  c->stages = fewest_stages(c, m);
  if (tmaring__candidate_elements(c) > TMARING__MAX_FILL_ELEMENTS) return;
  const int64_t stage_bytes = tmaring__stage_bytes(c, m->facts, m->decision, &load_bytes);
  c->vectors_staged = m->facts->vector_bytes > 0 && m->facts->vector_bytes <= TUNING_VECTOR_BYTES;
  c->fits = fit_stages(c, m, stage_bytes, load_bytes);
  if (!c->fits && c->vectors_staged && m->decision->multicast == 1) { /* stages are worth more than the copy */
    c->vectors_staged = 0;
    c->fits = fit_stages(c, m, stage_bytes, load_bytes);
  }
  if (c->fits) c->distance = distance_of(m->decision, c->stages);
}

/* ---- cuts ---- */

static void add(const maker *m, tmaring__candidate *c)
{
  tmaring__candidates *list = m->list;
  tmaring__row_scope_share(c, m->facts, m->decision);
  fit(c, m);
  for (int32_t i = 0; i < list->count && !tmaring__facts_columns(m->facts);
       ++i) { /* two targets may come to the same cut */
    const tmaring__candidate *other = &list->item[i];
    if (other->ctas_per_sm == c->ctas_per_sm && other->tile_rows == c->tile_rows && other->pieces == c->pieces &&
        other->cluster == c->cluster && other->scope.warps_per_row == c->scope.warps_per_row)
      return;
  }
  if (list->count < TMARING__MAX_CANDIDATES) list->item[list->count++] = *c;
}

static void begin(const maker *m, tmaring__candidate *c, int32_t ctas)
{
  memset(c, 0, sizeof *c);
  c->ctas_per_sm = ctas;
  c->workers = m->decision->workers != TMARING_AUTO ? m->decision->workers : m->machine->sm_count * ctas;
  if (m->decision->multicast > 1)
    c->workers = (int32_t)tmaring__multicast_workers(c->workers, m->decision->multicast, 0);
  c->budget_bytes = budget_of(m->machine, ctas);
  c->tile_rows = c->pieces = c->passes = c->cluster = 1;
  c->chunk = m->decision->cta.turns == TMARING_TURNS_COOPERATIVE ? m->decision->cta.squads : 1;
  c->piece_cols = m->facts->cols;
  c->per_lane = m->per_lane > 0 ? m->per_lane : per_lane[0];
}

/* 1 where some stream's rows are copied one by one. */
static int copies_rows(const maker *m)
{
  const tmaring__decision *d = m->decision;
  int copies = tmaring__decision_stages(d);
  for (int32_t i = 0; i < m->facts->program->input_count; ++i)
    copies |= d->load[i] != TMARING_LOAD_TILE && d->load[i] != TMARING_LOAD_DIRECT;
  return copies && !m->facts->dense;
}

/* Rows per fill for a target size: whole rounds of the consumers, or of the 16-byte period of odd dense rows. */
static int32_t rows_for(const maker *m, tmaring__candidate *c, int32_t target)
{
  const tmaring__facts *facts = m->facts;
  const int64_t row = facts->dense
                          ? tmaring__candidate_row_bytes(c, facts)
                          : (int64_t)tmaring_round_up((tmaring_u64)tmaring__candidate_row_bytes(c, facts) + 15, 16);
  int64_t rows = tmaring_max_i64(1, target / row);
  if (copies_rows(m)) rows = tmaring_min_i64(rows, TUNING_MAX_RUNS);
  c->tile_rows = (int32_t)rows; /* the scope may depend on whether a fill is one row */
  tmaring__row_scope_pick(c, facts, m->decision, m->machine);
  const int32_t round = c->scope.kind == TMARING_SCOPE_FLAT
                            ? 1
                            : tmaring_scope_at_a_time(&c->scope, tmaring_cta_squad_warps(&m->decision->cta));
  if (rows >= round)
    rows -= rows % round;
  else if (tmaring__facts_columns(facts) && round <= TUNING_MAX_RUNS)
    rows = round; /* every seat has a row */
  if (facts->dense && rows >= facts->row_period) rows -= rows % facts->row_period;
  return (int32_t)rows;
}

/* Rows per fill that the options leave no choice about; 0: searched. The split order is about single rows, but for
 * column reductions, whose fills are the same in every order. */
static int32_t rows_given(const maker *m)
{
  const tmaring__decision *d = m->decision;
  if (d->tile_rows != TMARING_AUTO) return d->tile_rows;
  if (tmaring__facts_columns(m->facts)) return 0;
  const int flat_pitched = d->scope == TMARING_SCOPE_FLAT && !m->facts->dense;
  return d->order == TMARING_ORDER_SPLIT || flat_pitched ? 1 : 0;
}

static void add_whole(const maker *m, int32_t ctas, int32_t target)
{
  tmaring__candidate c;
  const int32_t given = rows_given(m);
  begin(m, &c, ctas);
  c.tile_rows = given ? given : rows_for(m, &c, target);
  tmaring__row_scope_pick(&c, m->facts, m->decision, m->machine);
  add(m, &c);
}

static void cut_row(tmaring__candidate *c, const tmaring__facts *facts, int64_t piece_cols)
{
  const tmaring__program *program = facts->program;
  c->piece_cols = (int32_t)piece_cols;
  c->pieces = (int32_t)tmaring_ceil_div(facts->cols, piece_cols);
  /* a piece may be a tile of its own where nothing is written once per row, and where tile indexes stay within 31 bits
   */
  const int fits = tmaring__facts_columns(facts) || facts->rows <= 2147483647 / c->pieces;
  c->spread = program->reduction_passes == 0 && program->row_output_count == 0 && fits;
  c->passes = program->reduction_passes > 0 ? program->passes : 1;
}

static void add_pieces(const maker *m, int32_t ctas, int32_t target)
{
  tmaring__candidate c;
  const tmaring__facts *facts = m->facts;
  const int32_t asked = m->decision->piece_cols;
  int64_t cols = asked;
  begin(m, &c, ctas);
  if (tmaring__decision_strips(m->decision, facts)) c.tile_rows = m->decision->tile_rows;
  if (asked == TMARING_AUTO) { /* pieces of one size, as far as whole units allow */
    const int64_t most = tmaring_max_i64(facts->unit, target / facts->widest_bytes / facts->unit * facts->unit);
    const int64_t pieces = tmaring_ceil_div(facts->cols, most);
    cols = tmaring_ceil_div(tmaring_ceil_div(facts->cols, pieces), facts->unit) * facts->unit;
  }
  if (cols >= facts->cols) return;
  cut_row(&c, facts, cols);
  tmaring__row_scope_pick(&c, facts, m->decision, m->machine);
  add(m, &c);
}

static int32_t units_of(const maker *m, const tmaring__candidate *c)
{
  return tmaring_cta_squad_warps(&m->decision->cta) / c->scope.warps_per_row;
}

/* A large fill is for a row per group of warps, not for several one after another. */
static int has_rows_to_spare(const maker *m, const tmaring__candidate *c)
{
  return c->scope.warps_per_row > 1 && c->tile_rows > units_of(m, c);
}

/* One kind of cut with every size of fill. Where rows are reduced, fewer warps may share one: two rows at a time hide
 * what one row waits for; more did not pay. */
static void list_fills(const maker *m, void (*cut)(const maker *, int32_t, int32_t), int32_t ctas)
{
  const int joins = tmaring__facts_joins(m->facts);
  maker own = *m;
  for (int32_t p = 0; p < (joins ? PER_LANES : 1); ++p) {
    const int32_t before = m->list->count;
    own.per_lane = per_lane[p];
    for (int32_t i = 0; i < (joins ? FILL_TARGETS : FILL_TARGETS_POINTWISE); ++i) {
      const int32_t count = m->list->count;
      cut(&own, ctas, fill_targets[i]);
      if (i >= FILL_TARGETS_POINTWISE && m->list->count > count && has_rows_to_spare(m, &m->list->item[count]))
        m->list->count = count;
    }
    if (m->list->count > before && units_of(m, &m->list->item[m->list->count - 1]) >= 2) return;
  }
}

/* For the most CTAs per SM and for each half of it. With reductions fewer CTAs are tried only where nothing else fits. */
static int list_cuts(const maker *m, void (*cut)(const maker *, int32_t, int32_t))
{
  const int all = m->facts->program->reduction_passes == 0;
  int fits = 0;
  for (int32_t ctas = m->decision->max_ctas; ctas >= 1 && (all || !fits); ctas /= 2) {
    const int32_t before = m->list->count;
    list_fills(m, cut, ctas);
    for (int32_t i = before; i < m->list->count; ++i) fits |= m->list->item[i].fits;
  }
  return fits;
}

/* ---- clusters ---- */

/* A slice of whole units per CTA, none without columns. */
static void add_cluster(const maker *m, int32_t ctas)
{
  const tmaring__facts *facts = m->facts;
  const tmaring__decision *d = m->decision;
  tmaring__candidate c;
  begin(m, &c, 1);
  c.cluster = ctas;
  c.piece_cols = tmaring__cluster_slice(facts, ctas);
  if (c.piece_cols == 0) return;
  if (d->workers == TMARING_AUTO) c.workers = m->machine->sm_count / ctas;
  tmaring__row_scope_pick(&c, facts, d, m->machine);
  if (c.workers > 0) add(m, &c);
}

/* Every size of cluster, with stages enough to load ahead; where none has them, with one. */
static void list_clusters(const maker *m)
{
  const int32_t asked = m->decision->cluster;
  maker own = *m;
  int fits = 0;
  for (own.least_stages = TUNING_CLUSTER_STAGES; own.least_stages > 0 && !fits; --own.least_stages) {
    m->list->count = 0;
    for (int32_t ctas = 2; ctas <= TMARING_MAX_CLUSTER; ctas *= 2) {
      if (asked == TMARING_AUTO || asked == ctas) add_cluster(&own, ctas);
    }
    for (int32_t i = 0; i < m->list->count; ++i) fits |= m->list->item[i].fits;
  }
}

/* ---- column reductions ---- */

/* One way to share out shared memory between stages and accumulators. */
typedef struct column_way {
  int32_t pieces;
  int32_t columns_staged;
  int32_t least_stages;
} column_way;

/* A row's values meet its accumulators in shared memory if that can be had: beside three stages, beside two, by pieces.
 * Rows that are reduced are not cut for it: pieces of them are streamed once per pass. */
static const column_way ways_reducing[] = {{0, 1, 3}, {0, 1, 2}, {0, 0, 2}, {1, 1, 3}, {1, 0, 3}};
static const column_way ways[] = {{0, 1, 3}, {0, 1, 2}, {1, 1, 3}, {1, 0, 3}, {0, 0, 2}};
#define WAYS ((int32_t)(sizeof ways / sizeof ways[0]))

/* 1: the candidate fits; it is the last of the list. */
static int try_columns(const maker *m, const column_way *way, int32_t ctas)
{
  tmaring__candidates *list = m->list;
  const int32_t before = list->count;
  if (way->pieces)
    add_pieces(m, ctas, TUNING_COLUMN_PIECE_BYTES);
  else
    add_whole(m, ctas, TUNING_COLUMN_FILL_BYTES);
  if (list->count == before) return 0; /* the row is no longer than a piece */
  tmaring__candidate *c = &list->item[list->count - 1];
  if (c->columns_staged && tmaring__column_smem_bytes(c, m->facts, m->decision) > TUNING_COLUMN_SMEM_BYTES) c->fits = 0;
  return c->fits;
}

/* For the most CTAs per SM: first the scope that suits the rows, then that of one row at a time, which has one seat. */
static int try_way(const maker *m, const column_way *way)
{
  const tmaring__decision *d = m->decision;
  tmaring__decision one = *d;
  maker own = *m;
  one.scope = TMARING_SCOPE_CTA;
  own.columns_staged = way->columns_staged;
  own.least_stages = way->least_stages;
  for (int32_t ctas = d->max_ctas; ctas >= 1; ctas /= 2) {
    own.decision = d;
    if (try_columns(&own, way, ctas)) return 1;
    own.decision = &one;
    if (d->scope == TMARING_SCOPE_AUTO && try_columns(&own, way, ctas)) return 1;
  }
  return 0;
}

/* The first way that fits is the only one: what the machine or the hinted M would prefer must not change the sums. */
static void list_columns(const maker *m)
{
  const column_way *all = m->facts->program->reduction_passes > 0 ? ways_reducing : ways;
  const int32_t asked = m->decision->piece_cols;
  for (int32_t i = 0; i < WAYS; ++i) {
    if (asked != TMARING_AUTO && (asked < m->facts->cols) != all[i].pieces) continue;
    if (rows_given(m) > 1 && all[i].pieces && !tmaring__decision_strips(m->decision, m->facts)) continue;
    if (try_way(m, &all[i])) return;
  }
}

void tmaring__candidates_list(tmaring__candidates *list, const tmaring__facts *facts, const tmaring__decision *decision,
                              const tmaring_machine *machine)
{
  const maker m = {facts, decision, machine, list, 0, 0, 0};
  list->count = 0;
  if (tmaring__decision_shares(decision)) {
    list_clusters(&m);
    return;
  }
  if (tmaring__facts_columns(facts)) {
    list_columns(&m);
    return;
  }
  if (decision->piece_cols != TMARING_AUTO && decision->piece_cols < facts->cols) {
    list_cuts(&m, add_pieces);
    return;
  }
  const int whole = list_cuts(&m, add_whole);
  const int open = decision->piece_cols == TMARING_AUTO && rows_given(&m) <= 1;
  const int long_rows = facts->program->reduction_passes == 0 && decision->order != TMARING_ORDER_SPLIT &&
                        (int64_t)facts->cols * facts->widest_bytes > TUNING_LONG_ROW_BYTES;
  if (open && (!whole || long_rows)) list_cuts(&m, add_pieces);
}

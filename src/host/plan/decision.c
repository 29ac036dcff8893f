#include "decision.h"

#include <string.h>

#include "block.h"
#include "cluster.h"
#include "multicast.h"
#include "load_path.h"
#include "plan_options.h"
#include "squad.h"
#include "stage_map.h"
#include "tuning.h"

static const char *const order_name[] = {"split", "blocked", "cyclic", "ticket"};
static const char *const policy_name[] = {"wrap", "skip", "exact", "unsafe"};
static const char *const scope_name[] = {"auto", "flat", "lanes", "warp", "group", "cta", "cluster"};

const char *tmaring__order_name(int32_t order)
{
  return order >= 0 && order < 4 ? order_name[order] : "auto";
}

const char *tmaring__policy_name(int32_t policy)
{
  return policy >= 0 && policy < 4 ? policy_name[policy] : "auto";
}

const char *tmaring__scope_name(int32_t kind)
{
  return kind > 0 && kind < 7 ? scope_name[kind] : scope_name[0];
}

const char *tmaring__mode_name(int32_t mode)
{
  return mode == TMARING_MODE_PIPELINED ? "pipelined" : "warp-specialized";
}

/* An open mode follows what else is asked for. */
static int32_t decide_mode(const tmaring_plan_options *o, int shared, tmaring__notes *notes)
{
  if (shared) {
    if (o->mode == TMARING_MODE_WARP_SPECIALIZED)
      tmaring__note_add(notes, "mode warp-specialized -> pipelined: a barrier of a cluster takes every thread");
    return TMARING_MODE_PIPELINED;
  }
  if (o->mode != TMARING_AUTO) return o->mode;
  if (o->registers[1] != TMARING_AUTO && o->registers[1] != 0) return TMARING_MODE_WARP_SPECIALIZED;
  if (o->role_axis != TMARING_AUTO || o->squads == 2) return TMARING_MODE_WARP_SPECIALIZED;
  return o->war != TMARING_AUTO ? TMARING_MODE_PIPELINED : TUNING_MODE;
}

void tmaring__decide_roles(tmaring_cta *cta, const tmaring_plan_options *o, int shared, tmaring__notes *notes)
{
  cta->mode = decide_mode(o, shared, notes);
  cta->release = tmaring__asked_or(o->release, TMARING_RELEASE_WARP);
  if (cta->mode == TMARING_MODE_WARP_SPECIALIZED) {
    cta->role_axis = tmaring__asked_or(o->role_axis, TMARING_AXIS_X);
    cta->war = TMARING_WAR_CTA_BARRIER;
    if (o->war != TMARING_AUTO)
      tmaring__note_add(notes, "war: left out: the empty barriers are what a warp-specialized producer waits for");
    return;
  }
  cta->role_axis = TMARING_AXIS_X;
  cta->war = tmaring__asked_or(o->war, TUNING_WAR);
  if (o->role_axis != TMARING_AUTO) tmaring__note_add(notes, "role_axis: left out: a pipelined CTA has one role");
  if (cta->war == TMARING_WAR_CTA_BARRIER && cta->release != TMARING_RELEASE_WARP) {
    tmaring__note_add(notes, "release thread -> warp: with WAR by CTA barrier nobody arrives at the empty barriers");
    cta->release = TMARING_RELEASE_WARP;
  }
}

void tmaring__decide_walk(tmaring__decision *d, const tmaring_plan_options *o, tmaring__notes *notes)
{
  d->order = o->order;
  d->policy = tmaring__asked_or(o->policy, TMARING_POLICY_EXACT);
  d->workers = o->workers;
  d->stages = o->stages;
  d->prefetch = o->prefetch;
  if (d->order == TMARING_AUTO && d->policy != TMARING_POLICY_EXACT) {
    d->order = TMARING_ORDER_CYCLIC;
    tmaring__note_add(notes, "order auto -> cyclic: policy %s is about surplus slots, tickets have none",
                      tmaring__policy_name(d->policy));
  }
  if (tmaring__decision_shares(d) && (d->order == TMARING_AUTO || d->order == TMARING_ORDER_TICKET)) {
    if (d->order == TMARING_ORDER_TICKET)
      tmaring__note_add(notes, "order ticket -> cyclic: the CTAs of a cluster go the same way, by themselves");
    d->order = TMARING_ORDER_CYCLIC;
  }
  if (d->order == TMARING_ORDER_TICKET && d->policy != TMARING_POLICY_EXACT) {
    tmaring__note_add(notes, "policy %s -> exact: tickets have no surplus", tmaring__policy_name(d->policy));
    d->policy = TMARING_POLICY_EXACT;
  }
}

static tmaring_status decide_store(tmaring__decision *d, const tmaring_plan_options *o, const tmaring__facts *facts,
                                   tmaring__notes *notes)
{
  d->store = tmaring__asked_or(o->store, TUNING_STORE);
  const char *name = d->store == TMARING_STORE_TILE ? "tile" : "bulk";
  if (tmaring__decision_stages(d) && facts->program->output_count == 0) {
    if (o->store != TMARING_AUTO)
      tmaring__note_add(notes, "store %s -> direct: the formula has no [M,N] output; values per row go from registers",
                        name);
    d->store = TMARING_STORE_DIRECT;
  }
  if (tmaring__decision_stages(d) && tmaring__decision_ring_inputs(d, facts) == 0) {
    tmaring__note_add(notes, "store %s -> direct: no [M,N] input is loaded, so that stages hold nothing", name);
    d->store = TMARING_STORE_DIRECT;
  }
  return d->store == TMARING_STORE_TILE ? tmaring__store_tiles_check(facts) : TMARING_OK;
}

/* 1 where elements of the output lie at the input's offsets of the slot, each where one element of the input was. */
static int same_places(const tmaring__facts *facts, int32_t input, const tmaring_stream *out)
{
  const tmaring_stream *in = &facts->input[input];
  if (in->paired || facts->half[input]) return 0; /* two columns' elements for one result, or rows of another tensor */
  return in->elem_bytes == out->elem_bytes && in->pitch == out->pitch && in->group_rows == out->group_rows &&
         in->group_pitch == out->group_pitch;
}

/* 1 where the copies that store can take the rows from where the ones that loaded have put them: boxes begin at 128
 * bytes, which tiled inputs can be laid out for. */
static int same_rows(const tmaring__decision *d, int32_t input)
{
  if (d->store == TMARING_STORE_TILE && d->cta.mode != TMARING_MODE_PIPELINED)
    return d->load[input] == TMARING_LOAD_TILE;
  return tmaring__decision_rings(d, input);
}

/* An output may take the slot of an input whose elements lie at the same offsets of it, each input once. Aligned plans
 * only: else the two tensors' rows have phases of their own. */
static void decide_in_place(tmaring__decision *d, const tmaring__facts *facts, tmaring__notes *notes)
{
  int32_t taken[TMARING_MAX_STREAMS] = {0};
  for (int32_t o = 0; o < TMARING_MAX_STREAMS; ++o) d->in_place[o] = -1;
  if (!tmaring__decision_stages(d)) return;
  if (!facts->aligned) {
    tmaring__note_add(
        notes, "staged results have slots of their own: in place needs N, pitch and alignment in whole 16 bytes");
    return;
  }
  for (int32_t o = 0; o < facts->program->output_count; ++o) {
    for (int32_t i = 0; i < facts->program->input_count && d->in_place[o] < 0; ++i) {
      if (taken[i] || !same_rows(d, i) || !same_places(facts, i, &facts->output[o])) continue;
      d->in_place[o] = i;
      taken[i] = 1;
    }
  }
}

static const char *flat_obstacle(const tmaring__facts *facts, const tmaring__decision *d)
{
  const tmaring__program *p = facts->program;
  if (p->column_output_count > 0) return "the formula reduces columns";
  if (p->group_cols_most > 0) return "the formula has groups of columns";
  if (p->reduction_passes > 0) return "the formula reduces over rows";
  if (p->vector_count > 0) return "the formula has [N] inputs";
  if (p->row_scalar_count + p->row_output_count > 0) return "the formula has values per row";
  if (!facts->flat_free) return "the formula numbers rows or columns";
  if (d->store == TMARING_STORE_TILE) return "results that go by tensor maps are stored row by row";
  if (tmaring__decision_strips(d, facts)) return "a fill holds pieces of several rows";
  if (d->tile_rows != TMARING_AUTO && d->tile_rows > 1 && !tmaring__stage_joins_rows(facts, d))
    return facts->dense ? "rows lie apart in the stage" : "pitched rows are not one run of memory";
  return NULL;
}

/* Lanes that a row needs so that they hold its widest group of columns, or all of it. */
static int32_t lanes_of_group(const tmaring__facts *facts)
{
  const int64_t group = tmaring_min_i64(facts->program->group_cols_most,
                                        (int64_t)tmaring_round_up((tmaring_u64)facts->cols, (tmaring_u64)facts->vec));
  int32_t lanes = 1;
  while (lanes * facts->vec < group) lanes *= 2;
  return lanes;
}

static void decide_lanes(tmaring__decision *d, const tmaring__facts *facts, tmaring__notes *notes)
{
  const int32_t least = lanes_of_group(facts), group = facts->program->group_cols_most;
  if (d->scope != TMARING_SCOPE_LANES) return;
  if (least > 16) {
    tmaring__note_add(notes, "scope lanes -> warp: a group of %d columns takes %d lanes", group, least);
    d->scope = TMARING_SCOPE_WARP;
    d->lanes_per_row = TMARING_AUTO;
  } else if (d->lanes_per_row != TMARING_AUTO && d->lanes_per_row < least) {
    tmaring__note_add(notes, "lanes_per_row %d -> %d: the lanes of a row hold a whole group of %d columns",
                      d->lanes_per_row, least, group);
    d->lanes_per_row = least;
  }
}

static void decide_scope(tmaring__decision *d, const tmaring_plan_options *o, const tmaring__facts *facts,
                         tmaring__notes *notes)
{
  d->scope = tmaring__asked_or(o->scope, TMARING_SCOPE_AUTO);
  if (d->scope == TMARING_SCOPE_CLUSTER) d->scope = TMARING_SCOPE_AUTO;
  if (tmaring__decision_shares(d)) d->scope = TMARING_SCOPE_CLUSTER;
  if (d->scope == TMARING_SCOPE_AUTO && o->warps_per_row != TMARING_AUTO) d->scope = TMARING_SCOPE_GROUP;
  if (d->scope == TMARING_SCOPE_AUTO && o->lanes_per_row != TMARING_AUTO) d->scope = TMARING_SCOPE_LANES;
  const char *obstacle = flat_obstacle(facts, d);
  if (d->scope == TMARING_SCOPE_FLAT && obstacle) {
    tmaring__note_add(notes, "scope flat -> auto: %s", obstacle);
    d->scope = TMARING_SCOPE_AUTO;
  }
  d->warps_per_row = d->scope == TMARING_SCOPE_GROUP ? o->warps_per_row : TMARING_AUTO;
  d->lanes_per_row = d->scope == TMARING_SCOPE_LANES ? o->lanes_per_row : TMARING_AUTO;
  if (o->warps_per_row != TMARING_AUTO && d->scope != TMARING_SCOPE_GROUP)
    tmaring__note_add(notes, "warps_per_row: left out: it belongs to scope group, the scope is %s",
                      tmaring__scope_name(d->scope));
  if (o->lanes_per_row != TMARING_AUTO && d->scope != TMARING_SCOPE_LANES)
    tmaring__note_add(notes, "lanes_per_row: left out: it belongs to scope lanes, the scope is %s",
                      tmaring__scope_name(d->scope));
  decide_lanes(d, facts, notes);
}

static tmaring_status check_group(const tmaring__decision *d)
{
  const int32_t warps = tmaring_cta_squad_warps(&d->cta), each = d->warps_per_row;
  const int32_t units = TMARING_MAX_GROUP_UNITS_OF(d->cta.squads);
  const char *whose = d->cta.squads > 1 ? " of a squad" : "";
  if (d->scope != TMARING_SCOPE_GROUP || each == TMARING_AUTO) return TMARING_OK;
  if (warps % each != 0) {
    return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                         "warps_per_row: got %d, needs a divisor of the %d consumer warps%s; change one of them", each,
                         warps, whose);
  }
  if (each > 1 && each < warps && warps / each > units) {
    return tmaring__fail(
        TMARING_ERROR_UNSUPPORTED,
        "warps_per_row: got %d, which makes %d groups of the %d consumer warps%s; a CTA has barriers for %d: "
        "use more warps per row",
        each, warps / each, warps, whose, units);
  }
  return TMARING_OK;
}

/* Fills of a row are counted in 31 bits, over all passes. */
#define MAX_PIECES (1 << 24)

/* Pieces are whole units (vectors, 16 bytes of every tensor, groups of columns), and not too many of them. */
static int32_t whole_piece(int32_t asked, const tmaring__facts *facts, tmaring__notes *notes)
{
  const int64_t least = tmaring_max_i64(asked, tmaring_ceil_div(facts->cols, MAX_PIECES));
  const int64_t whole = tmaring_ceil_div(least, facts->unit) * facts->unit;
  if (whole != asked) {
    tmaring__note_add(notes, "piece_cols %d -> %lld: pieces are whole units of %d columns, at most %d of a row", asked,
                      (long long)whole, facts->unit, MAX_PIECES);
  }
  return whole < facts->cols ? (int32_t)whole : facts->cols;
}

/* A fill is a slice of one row. */
static void share_row(tmaring__decision *d, tmaring__notes *notes)
{
  if (d->tile_rows != TMARING_AUTO && d->tile_rows != 1)
    tmaring__note_add(notes, "tile_rows %d -> 1: a fill of a cluster's CTA holds a slice of one row", d->tile_rows);
  if (d->piece_cols != TMARING_AUTO)
    tmaring__note_add(notes, "piece_cols: left out: the slices of a cluster follow from N");
  d->tile_rows = 1;
  d->piece_cols = TMARING_AUTO;
}

/* Why a fill cannot hold pieces of several rows. */
static const char *strip_obstacle(const tmaring__facts *facts, int32_t piece_cols)
{
  const tmaring__program *p = facts->program;
  const int64_t pieces = tmaring_ceil_div(facts->cols, piece_cols);
  if (p->reduction_passes > 0) return "the formula reduces over rows";
  if (p->row_output_count > 0) return "a value per row is written once";
  if (!tmaring__facts_columns(facts) && facts->rows > 2147483647 / pieces) return "as many tiles are not counted";
  return NULL;
}

/* Pieces are of one row, or strips of several where each can be a tile. */
static void decide_pieces(tmaring__decision *d, const tmaring_plan_options *o, const tmaring__facts *facts,
                          tmaring__notes *notes)
{
  d->tile_rows = o->tile_rows;
  d->piece_cols = o->piece_cols;
  if (tmaring__decision_shares(d)) {
    share_row(d, notes);
    return;
  }
  if (d->piece_cols == TMARING_AUTO) return;
  d->piece_cols = d->piece_cols >= facts->cols ? facts->cols : whole_piece(d->piece_cols, facts, notes);
  if (!tmaring__decision_strips(d, facts)) return;
  const char *obstacle = strip_obstacle(facts, d->piece_cols);
  if (!obstacle) return;
  tmaring__note_add(notes, "tile_rows %d -> 1: a fill holds a piece of one row, since %s", d->tile_rows, obstacle);
  d->tile_rows = 1;
}

tmaring_status tmaring__decide(tmaring__decision *decision, const tmaring_plan_options *options,
                               const tmaring__facts *facts, const tmaring_machine *machine, tmaring__notes *notes)
{
  memset(decision, 0, sizeof *decision);
  TMARING__TRY(tmaring__options_check(options));
  decision->debug = tmaring__asked_or(options->debug, 0);
  decision->cluster = tmaring__cluster_decide(options, facts, machine, notes);
  tmaring__decide_roles(&decision->cta, options, tmaring__decision_shares(decision), notes);
  tmaring__squads_decide(decision, options, facts, notes);
  TMARING__TRY(tmaring__block_decide(decision, options, facts, machine, notes));
  tmaring__decide_walk(decision, options, notes);
  tmaring__multicast_decide(decision, options, facts, machine, notes);
  TMARING__TRY(tmaring__load_decide(decision, options, facts, notes));
  TMARING__TRY(decide_store(decision, options, facts, notes));
  decide_in_place(decision, facts, notes);
  decide_pieces(decision, options, facts, notes);
  decide_scope(decision, options, facts, notes);
  return check_group(decision);
}

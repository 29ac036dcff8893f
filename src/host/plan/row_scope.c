#include "row_scope.h"

#include "stage_map.h"
#include "tuning.h"

/* Vectors that n elements can touch: one more where their frame starts in front of them. */
static int64_t vectors_of(int64_t n, const tmaring__facts *facts)
{
  return tmaring_ceil_div(n, facts->vec) + !(facts->aligned || facts->fixed);
}

static int32_t log2_lanes(int64_t vectors)
{
  int32_t log2 = 0;
  while (log2 < 5 && (int64_t)1 << log2 < vectors) ++log2;
  return log2;
}

/* The smallest divisor of a squad's warps that is at least `least` and leaves few enough groups. */
static int32_t group_of(int64_t least, int32_t warps, int32_t units)
{
  int32_t each = 1;
  while (each < warps && (each < least || warps % each != 0 || (each > 1 && warps / each > units))) ++each;
  return each;
}

static int32_t most_units(const tmaring__decision *d)
{
  return TMARING_MAX_GROUP_UNITS_OF(d->cta.squads);
}

/* Column reductions add rows up in an order that follows from the scope: the machine has no say in it. */
static int few_rows(const tmaring__facts *facts, const tmaring_machine *machine)
{
  return !tmaring__facts_columns(facts) && facts->rows > 0 &&
         facts->rows <= (int64_t)TUNING_FEW_ROWS_PER_SM * machine->sm_count;
}

static void set_kind(tmaring_scope *scope, int32_t kind, int32_t lanes_log2, int32_t warps_per_row)
{
  scope->kind = kind;
  scope->lanes_log2 = lanes_log2;
  scope->warps_per_row = warps_per_row;
}

/* Short rows share a warp; long rows get as many warps as keep each lane at a few vectors. */
static void pick_by_row(tmaring_scope *scope, const tmaring__decision *d, int64_t vectors, int32_t warps,
                        int64_t per_lane)
{
  const int32_t each = group_of(tmaring_ceil_div(vectors, 32 * per_lane), warps, most_units(d));
  if (vectors <= 16) {
    set_kind(scope, TMARING_SCOPE_LANES, log2_lanes(vectors), 1);
  } else if (each == 1) {
    set_kind(scope, TMARING_SCOPE_WARP, 5, 1);
  } else {
    set_kind(scope, each == warps ? TMARING_SCOPE_CTA : TMARING_SCOPE_GROUP, 5, each);
  }
}

/* A group of one warp is the scope warp, a group of all of them the scope CTA. */
static void pick_group(tmaring_scope *scope, const tmaring__decision *d, int64_t vectors, int32_t warps,
                       int64_t per_lane)
{
  int32_t each = d->warps_per_row;
  if (each == TMARING_AUTO)
    each = group_of(tmaring_max_i64(2, tmaring_ceil_div(vectors, 32 * per_lane)), warps, most_units(d));
  set_kind(scope, each == 1 ? TMARING_SCOPE_WARP : each == warps ? TMARING_SCOPE_CTA : TMARING_SCOPE_GROUP, 5, each);
}

static int32_t lanes_asked(const tmaring__decision *d, int64_t vectors)
{
  if (d->lanes_per_row != TMARING_AUTO) return log2_lanes(d->lanes_per_row);
  const int32_t log2 = log2_lanes(vectors);
  return log2 < 4 ? log2 : 4;
}

void tmaring__row_scope_pick(tmaring__candidate *candidate, const tmaring__facts *facts,
                             const tmaring__decision *decision, const tmaring_machine *machine)
{
  tmaring_scope *scope = &candidate->scope;
  const int32_t warps = tmaring_cta_squad_warps(&decision->cta), passes = facts->program->reduction_passes;
  const int64_t vectors = vectors_of(candidate->piece_cols, facts);
  const int flat_free = facts->flat_free && tmaring__stage_is_run(candidate, facts, decision);
  const int few = few_rows(facts, machine);
  int32_t kind = decision->scope;
  scope->vec = facts->vec;
  scope->fixed = facts->fixed;
  if (kind == TMARING_SCOPE_AUTO && flat_free) kind = TMARING_SCOPE_FLAT;
  const int strips = tmaring__candidate_strips(candidate);
  if (candidate->pieces > 1 && !strips && (passes > 0 || kind == TMARING_SCOPE_AUTO)) kind = TMARING_SCOPE_CTA;
  switch (kind) {
  case TMARING_SCOPE_FLAT: set_kind(scope, kind, 5, 1); break;
  case TMARING_SCOPE_LANES: set_kind(scope, kind, lanes_asked(decision, vectors), 1); break;
  case TMARING_SCOPE_WARP: set_kind(scope, kind, 5, 1); break;
  case TMARING_SCOPE_GROUP: pick_group(scope, decision, vectors, warps, candidate->per_lane); break;
  case TMARING_SCOPE_CLUSTER:
  case TMARING_SCOPE_CTA: set_kind(scope, kind, 5, warps); break;
  default:
    pick_by_row(scope, decision, vectors, warps, few ? TUNING_VECTORS_PER_LANE_FEW_ROWS : candidate->per_lane);
    break;
  }
}

void tmaring__row_scope_share(tmaring__candidate *candidate, const tmaring__facts *facts,
                              const tmaring__decision *decision)
{
  tmaring_scope *scope = &candidate->scope;
  const int32_t warps = tmaring_cta_squad_warps(&decision->cta);
  scope->unit_rows = 1;
  scope->chunk_vecs = 0;
  if (scope->kind == TMARING_SCOPE_FLAT) {
    const int64_t vectors = vectors_of((int64_t)candidate->tile_rows * candidate->piece_cols, facts);
    const int32_t units = facts->unit / facts->vec; /* a warp's chunk is whole 16 bytes, as bulk stores take them */
    scope->chunk_vecs = (int32_t)(tmaring_ceil_div(tmaring_ceil_div(vectors, warps), units) * units);
  } else {
    scope->unit_rows = (int32_t)tmaring_ceil_div(candidate->tile_rows, warps / scope->warps_per_row);
  }
}

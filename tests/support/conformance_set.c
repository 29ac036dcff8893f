/* The grid's parameter sets, what they force, and whether a plan holds what was forced. */
#include "conformance.h"

#include <stdio.h>
#include <string.h>

#include "conformance_grid.h"
#include "modes.h"

#define SET(index, stages, prefetch, distance, rows, cols, type, load)                                                 \
  {index, stages, prefetch, distance, rows, cols, SET_##type, TMARING_LOAD_##load},

const conformance_set conformance_sets[CONFORMANCE_SETS] = {CONFORMANCE_GRID(SET)};

static const mode_choice mode_of[SET_TYPES] = {MODE_PIPELINED_MBARRIER, MODE_PIPELINED_CTA, MODE_SPECIALIZED_X,
                                               MODE_SPECIALIZED_X,      MODE_SPECIALIZED_Y, MODE_SPECIALIZED_Y};

void conformance_force(const conformance_set *set, tmaring_plan_options *options)
{
  const int sharing = set->type == SET_ON_X_SHARED || set->type == SET_ON_Y_SHARED;
  mode_choose(options, mode_of[set->type]);
  options->consumers[0] = 256;
  options->consumers[1] = options->consumers[2] = 1;
  options->registers[0] = sharing ? 64 : 0;
  options->registers[1] = sharing ? 168 : 0;
  options->stages = set->stages;
  options->prefetch = set->prefetch;
  options->load = set->load;
  options->order = TMARING_ORDER_BLOCKED;
  options->policy = set->index % 3;
}

/* An option, and what the plan has. */
typedef struct held {
  const char *name;
  int32_t asked, got;
} held;

static int differ(const held *list, int32_t count, char *text, size_t size)
{
  for (int32_t i = 0; i < count; ++i) {
    if (list[i].asked == TMARING_AUTO || list[i].asked == list[i].got) continue;
    snprintf(text, size, "%s: the plan has %d, %d is forced", list[i].name, (int)list[i].got, (int)list[i].asked);
    return 1;
  }
  return 0;
}

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof(array)[0]))

static int roles_differ(const tmaring_plan_options *o, const tmaring_args *a, const tmaring_plan_info *info, char *text,
                        size_t size)
{
  const int specialized = a->cta.mode == TMARING_MODE_WARP_SPECIALIZED;
  const held list[] = {{"mode", o->mode, a->cta.mode},
                       {"war", specialized ? TMARING_AUTO : o->war, a->cta.war},
                       {"role_axis", o->role_axis, specialized ? a->cta.role_axis : -1},
                       {"consumers[0]", o->consumers[0], a->cta.consumers[0]},
                       {"consumers[1]", o->consumers[1], a->cta.consumers[1]},
                       {"consumers[2]", o->consumers[2], a->cta.consumers[2]},
                       {"registers[0]", o->registers[0], info->registers[0]},
                       {"registers[1]", o->registers[1], info->registers[1]},
                       {"squads", o->squads, a->cta.squads},
                       {"turns", o->turns, a->cta.turns}};
  return differ(list, COUNT(list), text, size);
}

/* A launch has no more workers than tiles. */
static int walk_differs(const tmaring_plan_options *o, const tmaring_args *a, const tmaring_plan_info *info, char *text,
                        size_t size)
{
  const int64_t tiles = tmaring_max_i64(1, a->walk.tiles);
  const int32_t workers = o->workers != TMARING_AUTO && o->workers > tiles ? (int32_t)tiles : o->workers;
  const int64_t pieces = o->piece_cols == TMARING_AUTO ? TMARING_AUTO : tmaring_walk_fill_cols(&a->walk);
  const held list[] = {{"order", o->order, a->walk.order},
                       {"policy", o->policy, a->walk.policy},
                       {"workers", workers, a->walk.workers},
                       {"tile_rows", o->tile_rows, a->walk.tile_rows},
                       {"piece_cols", o->piece_cols, (int32_t)pieces},
                       {"cluster", o->cluster, (int32_t)tmaring_max_i64(1, a->walk.cluster)},
                       {"scope", o->scope, a->scope.kind},
                       {"warps_per_row", o->warps_per_row, a->scope.warps_per_row},
                       {"lanes_per_row", o->lanes_per_row, tmaring_scope_lanes(&a->scope)},
                       {"store", o->store, info->store},
                       {"debug", o->debug, info->debug}};
  return differ(list, COUNT(list), text, size);
}

static int ring_differs(const tmaring_plan_options *o, const tmaring_args *a, char *text, size_t size)
{
  const int open = o->stages == TMARING_AUTO || o->prefetch == TMARING_AUTO;
  const held list[] = {{"stages", o->stages, (int32_t)a->stages},
                       {"distance",
                        open              ? TMARING_AUTO
                        : o->prefetch < 0 ? o->stages + o->prefetch
                                          : o->prefetch,
                        (int32_t)a->distance}};
  if (differ(list, COUNT(list), text, size)) return 1;
  for (int32_t t = 0; t < a->input_count; ++t) {
    const held path = {"load", o->loads[t] == TMARING_AUTO ? o->load : o->loads[t], a->input[t].path};
    if (differ(&path, 1, text, size)) return 1;
  }
  return 0;
}

int conformance_holds(const tmaring_plan_options *asked, const tmaring_args *args, const tmaring_plan_info *info,
                      char *text, size_t size)
{
  return !roles_differ(asked, args, info, text, size) && !walk_differs(asked, args, info, text, size) &&
         !ring_differs(asked, args, text, size);
}

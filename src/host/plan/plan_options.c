#include "plan_options.h"

#include <stddef.h>

#include "../base/detail.h"

void tmaring_plan_options_init(tmaring_plan_options *options)
{
  if (!options) return;
  options->size = sizeof *options;
  options->mode = options->war = options->role_axis = TMARING_AUTO;
  for (int i = 0; i < 3; ++i) options->consumers[i] = TMARING_AUTO;
  options->registers[0] = options->registers[1] = TMARING_AUTO;
  options->stages = options->prefetch = TMARING_AUTO;
  options->order = options->policy = options->release = options->store = TMARING_AUTO;
  options->scope = options->warps_per_row = options->lanes_per_row = TMARING_AUTO;
  options->tile_rows = options->piece_cols = options->workers = TMARING_AUTO;
  options->debug = options->cluster = TMARING_AUTO;
  options->load = options->squads = options->turns = options->multicast = TMARING_AUTO;
  for (int i = 0; i < TMARING_MAX_STREAMS; ++i) options->loads[i] = TMARING_AUTO;
}

typedef struct option_range {
  const char *name;
  size_t offset;
  int32_t low, high;
} option_range;

#define RANGE(field, low, high)                                                                                        \
  {                                                                                                                    \
#field, offsetof(tmaring_plan_options, field), low, high                                                           \
  }

/* Registers have rules of their own (block.c). Sizes are bounded so that products of two stay within 64 bits. */
static const option_range ranges[] = {
    RANGE(mode, 0, 1),
    RANGE(war, 0, 1),
    RANGE(role_axis, 0, 2),
    RANGE(consumers[0], 1, 1024),
    RANGE(consumers[1], 1, 1024),
    RANGE(consumers[2], 1, 64),
    RANGE(stages, 1, TMARING_MAX_STAGES),
    RANGE(prefetch, -TMARING_MAX_STAGES, TMARING_MAX_STAGES - 1),
    RANGE(order, 0, 3),
    RANGE(policy, 0, 3),
    RANGE(release, 0, 1),
    RANGE(store, 0, 2),
    RANGE(scope, 0, 6),
    RANGE(warps_per_row, 1, 32),
    RANGE(lanes_per_row, 1, 16),
    RANGE(tile_rows, 1, 1 << 20),
    RANGE(piece_cols, 1, 2147483647),
    RANGE(workers, 1, 1 << 20),
    RANGE(debug, 0, 1),
    RANGE(cluster, 1, TMARING_MAX_CLUSTER),
    RANGE(load, 0, 4),
    RANGE(loads[0], 0, 4),
    RANGE(loads[1], 0, 4),
    RANGE(loads[2], 0, 4),
    RANGE(loads[3], 0, 4),
    RANGE(squads, 1, 2),
    RANGE(turns, 0, 1),
    RANGE(multicast, 1, TMARING_MAX_CLUSTER),
};

static tmaring_status check_prefetch(const tmaring_plan_options *o)
{
  if (o->stages == TMARING_AUTO || o->prefetch == TMARING_AUTO) return TMARING_OK;
  if (o->prefetch >= -o->stages && o->prefetch < o->stages) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ARGUMENT,
                       "prefetch: got %d, needs %d .. %d with %d stages; a negative p means stages + p", o->prefetch,
                       -o->stages, o->stages - 1, o->stages);
}

tmaring_status tmaring__options_check(const tmaring_plan_options *options)
{
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; ++i) {
    const int32_t got = *(const int32_t *)(const void *)((const char *)options + ranges[i].offset);
    if (got == TMARING_AUTO || (got >= ranges[i].low && got <= ranges[i].high)) continue;
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "%s: got %d, needs %d .. %d or TMARING_AUTO", ranges[i].name, got,
                         ranges[i].low, ranges[i].high);
  }
  const int32_t lanes = options->lanes_per_row;
  if (lanes != TMARING_AUTO && (lanes & (lanes - 1)) != 0)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "lanes_per_row: got %d, needs 1, 2, 4, 8 or 16", lanes);
  const int32_t cluster = options->cluster;
  const int32_t multicast = options->multicast;
  if (cluster != TMARING_AUTO && (cluster & (cluster - 1)) != 0)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "cluster: got %d, needs 1, 2, 4 or 8", cluster);
  if (multicast != TMARING_AUTO && (multicast & (multicast - 1)) != 0)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "multicast: got %d, needs 1, 2, 4 or 8", multicast);
  return check_prefetch(options);
}

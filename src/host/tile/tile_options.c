#include "../plan/plan_options.h"
#include "tile_state.h"

void tmaring_tile_options_init(tmaring_tile_options *options)
{
  if (!options) return;
  options->size = sizeof *options;
  for (int d = 0; d < TMARING_MAX_RANK; ++d) options->box[d] = options->element_strides[d] = TMARING_AUTO;
  for (int i = 0; i < 3; ++i) options->consumers[i] = TMARING_AUTO;
  options->registers[0] = options->registers[1] = TMARING_AUTO;
  options->swizzle = options->load = options->store = TMARING_AUTO;
  options->mode = options->war = options->role_axis = TMARING_AUTO;
  options->stages = options->prefetch = TMARING_AUTO;
  options->order = options->policy = options->release = TMARING_AUTO;
  options->workers = options->debug = TMARING_AUTO;
}

void tmaring__tile_options_common(tmaring_plan_options *common, const tmaring_tile_options *options)
{
  tmaring_plan_options_init(common);
  common->mode = options->mode;
  common->war = options->war;
  common->role_axis = options->role_axis;
  for (int i = 0; i < 3; ++i) common->consumers[i] = options->consumers[i];
  for (int i = 0; i < 2; ++i) common->registers[i] = options->registers[i];
  common->stages = options->stages;
  common->prefetch = options->prefetch;
  common->order = options->order;
  common->policy = options->policy;
  common->release = options->release;
  common->store = options->store;
  common->workers = options->workers;
  common->debug = options->debug;
}

static tmaring_status check_axis(const char *name, int32_t axis, int32_t got, int32_t high)
{
  if (got == TMARING_AUTO || (got >= 1 && got <= high)) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ARGUMENT, "%s[%d]: got %d, needs 1 .. %d or TMARING_AUTO", name, axis, got, high);
}

static tmaring_status check_paths(const tmaring_tile_options *o)
{
  if (o->swizzle != TMARING_AUTO && (o->swizzle < TMARING_SWIZZLE_NONE || o->swizzle > TMARING_SWIZZLE_128B))
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "swizzle: got %d, needs 0 .. 3 or TMARING_AUTO", o->swizzle);
  if (o->load == TMARING_AUTO || o->load == TMARING_LOAD_TILE || o->load == TMARING_LOAD_BULK) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                       "load: got %d, needs TMARING_LOAD_TILE, TMARING_LOAD_BULK or TMARING_AUTO: boxes are loaded by "
                       "the copy engine",
                       o->load);
}

/* Boxes over 256 elements are refused by the tensor's map, which knows the axis; here only what no box can be. */
tmaring_status tmaring__tile_options_check(const tmaring_tile_options *options)
{
  tmaring_plan_options common;
  TMARING__NEED_SIZE(options);
  for (int32_t d = 0; d < TMARING_MAX_RANK; ++d) {
    TMARING__TRY(check_axis("box", d, options->box[d], 1 << 20));
    TMARING__TRY(check_axis("element_strides", d, options->element_strides[d], 8));
  }
  TMARING__TRY(check_paths(options));
  tmaring__tile_options_common(&common, options);
  return tmaring__options_check(&common);
}

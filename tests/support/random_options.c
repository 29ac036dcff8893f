#include "random_options.h"

#include "modes.h"

int32_t random_pick(noise *n, const int32_t *from, int32_t count)
{
  return from[noise_below(n, count)];
}

static void choose_block(tmaring_plan_options *o, noise *n)
{
  static const int32_t blocks[][3] = {{32, 1, 1}, {64, 1, 1}, {128, 1, 1}, {96, 1, 1},
                                      {32, 4, 1}, {32, 2, 2}, {64, 2, 1},  {256, 1, 1}};
  const int32_t which = noise_below(n, 2 * (int32_t)(sizeof blocks / sizeof blocks[0]));
  if (which >= (int32_t)(sizeof blocks / sizeof blocks[0])) return;
  for (int i = 0; i < 3; ++i) o->consumers[i] = blocks[which][i];
}

static void choose_ring(tmaring_plan_options *o, noise *n)
{
  mode_choose(o, (mode_choice)noise_below(n, MODE_CHOICES));
  choose_block(o, n);
  o->stages = PICK(n, TMARING_AUTO, 1, 2, 3, 4, 5, 8, 16);
  if (o->stages > 0 && noise_below(n, 3)) o->prefetch = noise_below(n, 2 * o->stages) - o->stages;
  o->release = PICK(n, TMARING_AUTO, TMARING_RELEASE_WARP, TMARING_RELEASE_THREAD);
  o->store = PICK(n, TMARING_AUTO, TMARING_STORE_DIRECT, TMARING_STORE_BULK);
}

static void choose_walk(tmaring_plan_options *o, noise *n, int32_t cols)
{
  o->order =
      PICK(n, TMARING_AUTO, TMARING_ORDER_SPLIT, TMARING_ORDER_BLOCKED, TMARING_ORDER_CYCLIC, TMARING_ORDER_TICKET);
  o->policy = PICK(n, TMARING_AUTO, TMARING_POLICY_WRAP, TMARING_POLICY_SKIP, TMARING_POLICY_EXACT);
  o->scope = PICK(n, TMARING_AUTO, TMARING_AUTO, TMARING_SCOPE_FLAT, TMARING_SCOPE_LANES, TMARING_SCOPE_WARP,
                  TMARING_SCOPE_GROUP, TMARING_SCOPE_CTA);
  if (o->scope == TMARING_SCOPE_LANES) o->lanes_per_row = PICK(n, TMARING_AUTO, 1, 2, 4, 8, 16);
  if (o->scope == TMARING_SCOPE_GROUP) o->warps_per_row = PICK(n, TMARING_AUTO, 2, 4);
  o->tile_rows = PICK(n, TMARING_AUTO, TMARING_AUTO, 1, 2, 3, 8, 13);
  o->piece_cols = PICK(n, TMARING_AUTO, TMARING_AUTO, TMARING_AUTO, cols, 64, 256);
  o->workers = PICK(n, TMARING_AUTO, 1, 2, 5, 13, 132);
}

void random_options(tmaring_plan_options *options, noise *n, int32_t cols)
{
  choose_ring(options, n);
  choose_walk(options, n, cols);
}

void random_paths(tmaring_plan_options *options, noise *n)
{
  options->load = PICK(n, TMARING_AUTO, TMARING_LOAD_BULK, TMARING_LOAD_TILE, TMARING_LOAD_TILE, TMARING_LOAD_ASYNC,
                       TMARING_LOAD_ORDINARY, TMARING_LOAD_DIRECT);
  for (int i = 0; i < TMARING_MAX_STREAMS; ++i) {
    if (noise_below(n, 3) == 0) options->loads[i] = noise_below(n, TMARING_LOAD_DIRECT + 1);
  }
  mode_avoid_wide(options);
  if (noise_below(n, 4) == 0) options->store = TMARING_STORE_TILE;
  if (noise_below(n, 3) == 0 && options->mode != TMARING_MODE_PIPELINED) {
    options->squads = 2;
    options->turns = PICK(n, TMARING_AUTO, TMARING_TURNS_COOPERATIVE, TMARING_TURNS_ALTERNATING);
  }
}

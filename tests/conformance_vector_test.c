/* Conformance list, section 2, programs over a vector: y = exp(x) of N values in tiles of 256.
 *
 *     upstream      loop nest                       here
 *     single-dim    one CTA: N/256 tiles in turn    a row [1,N] in pieces of 256, a fill each; 1 worker, then 3: the
 *                                                   tiles do not divide among them
 *     unrolled      one CTA: N/1024 fills of 4      [N/256,256], 4 rows per fill, one after another in the fill: each
 *                   tiles, unrolled                 row has its own bounds
 *     unswitched    the same, one predicate for     the same fills where every run is a whole number of aligned
 *                   all 4 tiles                     16-byte units: nothing is masked inside a fill
 *
 * N/1024 is 1 or 2: fewer fills than stages, which upstream only checks to throw. */
#include <criterion/criterion.h>

#include "support/conformance.h"

enum { TILE_COLS = 256 };

static op_trial make_single(const conformance_set *set, int32_t way)
{
  op_trial t = conformance_trial(CONFORMANCE_EXP, 1, set->cols);
  conformance_force(set, &t.options);
  t.options.piece_cols = TILE_COLS;
  t.options.workers = way == 0 ? 1 : 3;
  return t;
}

static int is_single(const conformance_set *set, const tmaring_args *args, const tmaring_plan_info *info)
{
  (void)info;
  return args->walk.tiles == set->cols / TILE_COLS && tmaring_walk_fills_per_tile(&args->walk) == 1;
}

static op_trial make_unrolled(const conformance_set *set, int32_t way)
{
  op_trial t = conformance_trial(CONFORMANCE_EXP, set->cols / TILE_COLS, TILE_COLS);
  (void)way;
  conformance_force(set, &t.options);
  t.options.tile_rows = 4;
  t.options.workers = 1;
  t.options.scope = TMARING_SCOPE_WARP;
  return t;
}

static int is_unrolled(const conformance_set *set, const tmaring_args *args, const tmaring_plan_info *info)
{
  (void)info;
  return args->walk.tiles == set->cols / TILE_COLS / 4;
}

static op_trial make_unswitched(const conformance_set *set, int32_t way)
{
  op_trial t = make_unrolled(set, way);
  t.options.scope = TMARING_AUTO;
  return t;
}

static int is_unswitched(const conformance_set *set, const tmaring_args *args, const tmaring_plan_info *info)
{
  return is_unrolled(set, args, info) && info->aligned == 1;
}

CONFORMANCE_TEST(single_dim, 2, "single-dim")
{
  static const conformance_program program = {make_single, 2, is_single};
  conformance_run_program(c, &program, v);
}

CONFORMANCE_TEST(unrolled, 2, "unrolled (4)")
{
  static const conformance_program program = {make_unrolled, 1, is_unrolled};
  conformance_run_program(c, &program, v);
}

CONFORMANCE_TEST(unswitched, 2, "unswitched (4)")
{
  static const conformance_program program = {make_unswitched, 1, is_unswitched};
  conformance_run_program(c, &program, v);
}

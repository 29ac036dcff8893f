/* Conformance list, section 2, reductions over [M,N].
 *
 *     upstream           loop nest                                here
 *     inner reduction    CTA per 4 rows, a row per stage, all     a row per fill, ceil(M/4) workers, scope cta
 *                        threads on it
 *     outer reduction    CTA per 256 columns: M rows in turn      pieces of 256, N/256 workers; rows in chunks of fixed
 *                                                                 size, which a second kernel joins
 *     persistent         as inner reduction: (x - mean) /         the same, without eps as upstream computes it, and with
 *                        sqrt(var), the row stays in its stage    it; data with a variance well above 0 */
#include <criterion/criterion.h>

#include "support/conformance.h"

enum { CTA_ROWS = 4, TILE_COLS = 256 };

/* A row per stage, four rows per CTA. */
static void force_rows(const conformance_set *set, tmaring_plan_options *options)
{
  conformance_force(set, options);
  options->tile_rows = 1;
  options->workers = (int32_t)tmaring_ceil_div(set->rows, CTA_ROWS);
  options->scope = TMARING_SCOPE_CTA;
  options->cluster = 1;
}

static int has_rows(const conformance_set *set, const tmaring_args *args, const tmaring_plan_info *info)
{
  (void)set;
  (void)info;
  return args->walk.slots == CTA_ROWS && args->walk.pieces == 1;
}

static op_trial make_inner(const conformance_set *set, int32_t way)
{
  op_trial t = op_trial_begin("row_sum", TMARING_F32, set->rows, set->cols);
  (void)way;
  force_rows(set, &t.options);
  return t;
}

static op_trial make_outer(const conformance_set *set, int32_t way)
{
  op_trial t = op_trial_begin("col_sum", TMARING_F32, set->rows, set->cols);
  (void)way;
  conformance_force(set, &t.options);
  t.options.piece_cols = TILE_COLS;
  t.options.workers = set->cols / TILE_COLS;
  return t;
}

static int is_outer(const conformance_set *set, const tmaring_args *args, const tmaring_plan_info *info)
{
  (void)info;
  return args->walk.spread == 1 && args->walk.pieces == set->cols / TILE_COLS;
}

static op_trial make_persistent(const conformance_set *set, int32_t way)
{
  op_trial t = conformance_trial(way == 0 ? CONFORMANCE_STANDARD : CONFORMANCE_STANDARD_EPS, set->rows, set->cols);
  force_rows(set, &t.options);
  return t;
}

CONFORMANCE_TEST(inner_reduction, 2, "inner reduction")
{
  static const conformance_program program = {make_inner, 1, has_rows};
  conformance_run_program(c, &program, v);
}

CONFORMANCE_TEST(outer_reduction, 2, "outer reduction")
{
  static const conformance_program program = {make_outer, 1, is_outer};
  conformance_run_program(c, &program, v);
}

CONFORMANCE_TEST(persistent, 2, "persistent")
{
  static const conformance_program program = {make_persistent, 2, has_rows};
  conformance_run_program(c, &program, v);
}

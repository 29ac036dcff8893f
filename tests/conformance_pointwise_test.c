/* Conformance list, section 2, pointwise programs over [M,N].
 *
 *     upstream           loop nest                              here
 *     multi-dim          CTA per 4 rows: boxes of 4 x 256       4 rows x 256 columns per fill, ceil(M/4) workers
 *     pointwise          CTA per row: N/256 tiles of 256, a     pieces of 256, M workers; both inputs complete on the
 *                        and b by the same path                 one full barrier of their stage
 *     pointwise mixed    the same, b by cp.async                the same with loads[1] = ASYNC */
#include <criterion/criterion.h>

#include "support/conformance.h"

enum { TILE_COLS = 256, BOX_ROWS = 4 };

static op_trial make_multi_dim(const conformance_set *set, int32_t way)
{
  op_trial t = conformance_trial(CONFORMANCE_EXP, set->rows, set->cols);
  (void)way;
  conformance_force(set, &t.options);
  t.options.tile_rows = BOX_ROWS;
  t.options.piece_cols = TILE_COLS;
  t.options.workers = (int32_t)tmaring_ceil_div(set->rows, BOX_ROWS);
  return t;
}

static int is_multi_dim(const conformance_set *set, const tmaring_args *args, const tmaring_plan_info *info)
{
  const tmaring_walk *w = &args->walk;
  (void)info;
  return w->tiles == tmaring_ceil_div(w->rows, BOX_ROWS) * set->cols / TILE_COLS && w->slots == set->cols / TILE_COLS;
}

static op_trial make_pointwise(const conformance_set *set, int32_t way)
{
  op_trial t = op_trial_begin("add", TMARING_F32, set->rows, set->cols);
  (void)way;
  conformance_force(set, &t.options);
  t.options.piece_cols = TILE_COLS;
  t.options.workers = set->rows;
  return t;
}

static int is_pointwise(const conformance_set *set, const tmaring_args *args, const tmaring_plan_info *info)
{
  (void)info;
  return args->input_count == 2 && args->input[0].slot_bytes > 0 && args->input[1].slot_bytes > 0 &&
         args->walk.slots == set->cols / TILE_COLS;
}

static op_trial make_mixed(const conformance_set *set, int32_t way)
{
  op_trial t = make_pointwise(set, way);
  t.options.loads[1] = TMARING_LOAD_ASYNC;
  return t;
}

CONFORMANCE_TEST(multi_dim, 2, "multi-dim")
{
  static const conformance_program program = {make_multi_dim, 1, is_multi_dim};
  conformance_run_program(c, &program, v);
}

CONFORMANCE_TEST(pointwise, 2, "pointwise")
{
  static const conformance_program program = {make_pointwise, 1, is_pointwise};
  conformance_run_program(c, &program, v);
}

CONFORMANCE_TEST(pointwise_mixed, 2, "pointwise mixed")
{
  static const conformance_program program = {make_mixed, 1, is_pointwise};
  conformance_run_program(c, &program, v);
}

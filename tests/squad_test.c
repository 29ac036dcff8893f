/* Two consumer squads from end to end: row formulas in both kinds of turns, against the reference; and column sums,
 * whose bits are those of a CTA that is one squad. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/field_case.h"
#include "support/modes.h"
#include "support/random_options.h"

static void with_squads(trial *t, int32_t turns)
{
  t->options.mode = TMARING_MODE_WARP_SPECIALIZED;
  t->options.war = TMARING_AUTO;
  t->options.squads = 2;
  t->options.turns = turns;
}

static void pass(tally *sum, const trial *t, const venue *v)
{
  char name[160];
  trial_name(t, name, sizeof name);
  const trial_result r = trial_run(t, v);
  tally_count(sum, &r);
  cr_expect_eq(r.outcome, TRIAL_PASSED, "%s, turns %d: %s", name, (int)t->options.turns, r.text);
  cr_expect_eq(r.args.cta.squads, 2, "%s", name);
}

/* Stages that are always one squad's and stages that change hands, every order, direct and staged results. */
FIELD_CASE(squads_of_row_formulas)
{
  static const recipe_name formulas[] = {RECIPE_DOUBLE,  RECIPE_RMSNORM,   RECIPE_SOFTMAX,
                                         RECIPE_ROW_SUM, RECIPE_LAYERNORM, RECIPE_TWO};
  static const int64_t shapes[][2] = {{997, 256}, {131, 1000}, {1, 64}, {2, 4096}, {64, 129}};
  for (int i = 0; i < 96; ++i) {
    trial t = trial_begin(formulas[i % 6], i % 2 ? TMARING_BF16 : TMARING_F32, shapes[i % 5][0], shapes[i % 5][1]);
    with_squads(&t, i / 3 % 2);
    t.options.order = i / 2 % 4;
    t.options.stages = 1 + i % 5;
    t.options.prefetch = i % 3 ? t.options.stages - 1 : 0;
    t.options.store = i / 4 % 2;
    t.options.release = i / 8 % 2;
    t.options.workers = i % 7 ? TMARING_AUTO : 3;
    if (!tally_takes(sum)) continue;
    pass(sum, &t, v);
  }
}

/* Blocks of several dimensions, the producer on every axis, with and without register pairs. */
FIELD_CASE(squads_in_blocks_of_every_shape)
{
  static const int32_t shapes[][3] = {{32, 4, 2}, {128, 2, 1}, {256, 1, 1}};
  int shared = 0;
  for (int i = 0; i < 36; ++i) {
    trial t = trial_begin(i % 2 ? RECIPE_RMSNORM : RECIPE_DOUBLE, TMARING_F32, 331, 512);
    with_squads(&t, i / 2 % 2);
    for (int k = 0; k < 3; ++k) t.options.consumers[k] = shapes[i / 12][k];
    t.options.role_axis = i / 4 % 3;
    if (!tally_takes(sum)) continue;
    pass(sum, &t, v);
    t.options.registers[0] = 64;
    t.options.registers[1] = 160;
    const trial_result r = trial_run(&t, v);
    if (r.outcome == TRIAL_REFUSED) continue; /* no layout of whole warpgroups on this axis */
    tally_count(sum, &r);
    shared += r.outcome == TRIAL_PASSED && r.info.registers[0] > 0;
  }
  if (sum->step == 1) cr_expect_geq(shared, 12, "%d plans shared registers", shared);
}

/* Rows longer than a stage: a turn is several fills. */
FIELD_CASE(squads_of_rows_in_pieces)
{
  static const recipe_name formulas[] = {RECIPE_RMSNORM, RECIPE_SOFTMAX, RECIPE_ROW_SUM, RECIPE_DOUBLE};
  for (int i = 0; i < 48; ++i) {
    trial t = trial_begin(formulas[i % 4], TMARING_F32, 37 + i, 1003 + i);
    with_squads(&t, i / 4 % 2);
    t.options.piece_cols = 64 << i % 3;
    t.options.stages = 1 + i % 6;
    t.options.order = i / 5 % 4;
    t.options.policy = i / 2 % 3;
    t.options.store = i / 8 % 2;
    t.options.workers = 1 + i % 9;
    if (!tally_takes(sum)) continue;
    pass(sum, &t, v);
  }
}

/* Whatever else is asked for. */
FIELD_CASE(squads_with_random_options)
{
  noise n = noise_seed(77);
  for (int i = 0; i < 300; ++i) {
    const int32_t cols = PICK(&n, 1, 7, 16, 33, 64, 129, 256, 500, 777);
    const int32_t rows = PICK(&n, 0, 1, 2, 3, 13, 31, 64, 100);
    trial t = trial_begin((recipe_name)noise_below(&n, RECIPE_COUNT), (tmaring_dtype)noise_below(&n, RECIPE_DTYPES),
                          rows, cols);
    trial_lay_out(&t, (trial_layout)noise_below(&n, LAYOUT_COUNT));
    random_options(&t.options, &n, cols);
    with_squads(&t, noise_below(&n, 2));
    t.seed = noise_next(&n) >> 40;
    if (!tally_takes(sum)) continue;
    const trial_result r = trial_run(&t, v);
    if (r.outcome == TRIAL_REFUSED) continue; /* an odd number of warps, or units that do not divide a squad */
    tally_count(sum, &r);
  }
  if (sum->step == 1) cr_expect_geq(sum->passed, 200, "%d plans were accepted", (int)sum->passed);
}

/* ---- column sums ---- */

#define ROWS 1000

typedef struct sums {
  float y[2048];
} sums;

static void column_sums(const venue *v, const float *x, int64_t cols, const tmaring_plan_options *options, sums *out)
{
  tmaring_tensor tensor[2] = {TMARING_TENSOR_INIT, TMARING_TENSOR_INIT};
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  tmaring_formula *formula = NULL;
  tmaring_plan *plan = NULL;
  tmaring_kernel *kernel = NULL;
  void *data[2] = {v->place->take((size_t)(ROWS * cols) * 4), v->place->take((size_t)cols * 4)};
  tensor[0].rows = ROWS;
  tensor[1].rows = 1;
  tensor[0].cols = tensor[1].cols = cols;
  tmaring_plan_options chosen = *options;
  mode_override_release(&chosen);
  cr_assert_eq(tmaring_formula_parse(&formula, "y = colsum(x)"), TMARING_OK);
  cr_assert_eq(tmaring_plan_create(&plan, formula, tensor, 2, &v->machine, &chosen), TMARING_OK, "%s",
               tmaring_last_detail());
  cr_assert_eq(tmaring_check(plan, ROWS, &(tmaring_check_report){.size = sizeof(tmaring_check_report)}), TMARING_OK,
               "%s", tmaring_last_detail());
  cr_assert_eq(trial_compile(plan), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_prepare(&kernel, plan, v->backend), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert(data[0] && data[1] && v->place->upload(data[0], x, (size_t)(ROWS * cols) * 4));
  params.rows = ROWS;
  params.data = data;
  params.workspace = v->place->take(tmaring_workspace_bytes(plan, ROWS));
  cr_assert_not_null(params.workspace);
  cr_assert_eq(tmaring_workspace_init(kernel, params.workspace, v->stream), TMARING_OK);
  cr_assert_eq(tmaring_launch(kernel, &params, v->stream), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert(venue_settle(v) && v->place->download(out->y, data[1], (size_t)cols * 4));
  v->place->give(params.workspace);
  for (int i = 0; i < 2; ++i) v->place->give(data[i]);
  tmaring_kernel_free(kernel);
  tmaring_plan_free(plan);
  tmaring_formula_free(formula);
}

/* Uneven values, so that another order of sums is seen. */
VENUE_TEST(squad_columns, bits_are_those_of_one_squad)
{
  static const int64_t widths[] = {64, 256, 1000, 2048};
  float *x = malloc(sizeof *x * ROWS * 2048);
  cr_assert_not_null(x);
  for (int w = 0; w < 4; ++w) {
    const int64_t cols = widths[w];
    sums two, one;
    tmaring_plan_options options;
    for (int64_t i = 0; i < ROWS * cols; ++i) x[i] = sinf((float)(i % 7919 * 37)) * (i % 5 ? 1.0f : 1000.0f);
    tmaring_plan_options_init(&options);
    options.mode = TMARING_MODE_WARP_SPECIALIZED;
    options.consumers[0] = 256;
    options.squads = 2;
    options.order = w;
    column_sums(v, x, cols, &options, &two);
    options.consumers[0] = 128;
    options.squads = 1;
    options.order = TMARING_ORDER_BLOCKED;
    column_sums(v, x, cols, &options, &one);
    cr_expect_eq(memcmp(two.y, one.y, sizeof(float) * (size_t)cols), 0, "%d columns", (int)cols);
    for (int64_t c = 0; c < cols; ++c) {
      double due = 0, magnitude = 0;
      for (int64_t r = 0; r < ROWS; ++r) due += x[r * cols + c], magnitude += fabs(x[r * cols + c]);
      cr_assert_leq(fabs(two.y[c] - due), 40 * 0x1p-24 * magnitude, "%d columns: column %d", (int)cols, (int)c);
    }
  }
  free(x);
}

/* Tiled inputs whose rows follow one another in the slot: the flat scope takes a fill of them as one run, as it does with
 * bulk copies. On both backends, with every store, in every mode. */
#include <criterion/criterion.h>
#include <string.h>

#include "../src/host/check/check_args.h"
#include "../src/host/plan/plan_state.h"
#include "support/draft.h"
#include "support/modes.h"
#include "support/tally.h"

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof(array)[0]))

/* ---- plans ---- */

static tmaring_plan *plan_of(draft *d, const char *formula, tmaring_dtype dtype, int32_t cols)
{
  *d = draft_make(formula, dtype, 65537, cols);
  d->options.load = TMARING_LOAD_TILE;
  return draft_accept(d);
}

static void expect_alike(const tmaring_args *a, const tmaring_args *b)
{
  cr_expect_eq(a->scope.kind, TMARING_SCOPE_FLAT);
  cr_expect_eq(a->scope.chunk_vecs, b->scope.chunk_vecs);
  cr_expect_eq(a->walk.tile_rows, b->walk.tile_rows);
  cr_expect_eq(a->walk.order, b->walk.order);
  cr_expect_eq(a->stages, b->stages);
  cr_expect_eq(a->smem.stage_bytes, b->smem.stage_bytes);
  cr_expect_eq(a->input[0].dense, 1);
  cr_expect_eq(a->output[0].dense, 1);
}

/* Whole aligned rows: the same scope, fills and ring as with bulk copies, whatever M. */
Test(tile_flat, plans_are_those_of_bulk_copies, .timeout = 10)
{
  static const tmaring_dtype dtypes[] = {TMARING_F32, TMARING_BF16, TMARING_F64, TMARING_E4M3};
  static const int32_t cols[] = {16, 512, 1024, 4096};
  for (int32_t i = 0; i < COUNT(dtypes) * COUNT(cols); ++i) {
    draft d;
    tmaring_plan *tile = plan_of(&d, "y = x + x", dtypes[i / COUNT(cols)], cols[i % COUNT(cols)]);
    d.options.load = TMARING_LOAD_BULK;
    tmaring_plan *bulk = draft_accept(&d);
    for (int64_t rows = 1; rows <= 1 << 20; rows *= 32) {
      const tmaring_args a = draft_args(tile, rows), b = draft_args(bulk, rows);
      expect_alike(&a, &b);
      cr_expect_eq(tmaring_check(tile, rows, NULL), TMARING_OK, "%s", tmaring_last_detail());
    }
    tmaring_plan_free(tile);
    tmaring_plan_free(bulk);
    draft_free(&d);
  }
}

/* Rows that boxes leave gaps between: 422 elements of 8 bytes are no equal parts of 64 bytes. */
Test(tile_flat, rows_with_gaps_keep_their_scope, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 65537, 844);
  d.options.load = TMARING_LOAD_TILE;
  d.options.tile_rows = 4;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 65537);
  cr_expect_neq(a.scope.kind, TMARING_SCOPE_FLAT);
  cr_expect_eq(a.input[0].dense, 0);
  cr_expect_gt(a.input[0].slot_row, 844 * 4);
  tmaring_plan_free(plan);
  d.options.scope = TMARING_SCOPE_FLAT;
  plan = draft_accept(&d);
  cr_expect_not_null(draft_note(plan, "scope flat -> auto: rows lie apart in the stage"));
  tmaring_plan_free(plan);
  d.options.tile_rows = TMARING_AUTO;
  plan = draft_accept(&d);
  const tmaring_args one = draft_args(plan, 65537);
  cr_expect(one.scope.kind == TMARING_SCOPE_FLAT && one.walk.tile_rows == 1, "a single row is one run");
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* What lies between rows in memory does not come into the slot; where results lie apart too, they have rows. */
Test(tile_flat, pitched_inputs_are_runs_and_pitched_results_are_not, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 65537, 256);
  d.options.load = TMARING_LOAD_TILE;
  d.tensor[draft_tensor(&d, "x")].pitch = 320;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 65537);
  cr_expect(a.scope.kind == TMARING_SCOPE_FLAT && a.walk.tile_rows > 1 && a.input[0].dense == 1);
  tmaring_plan_free(plan);
  d.tensor[draft_tensor(&d, "y")].pitch = 320;
  d.options.store = TMARING_STORE_BULK;
  plan = draft_accept(&d);
  const tmaring_args over = draft_args(plan, 65537);
  cr_expect_eq(draft_info(plan).in_place, 1);
  cr_expect(over.scope.kind != TMARING_SCOPE_FLAT && over.walk.tile_rows > 1);
  cr_expect(over.input[0].dense == 0 && over.output[0].dense == 0, "stored row by row");
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* Boxes of several rows are stored by a thread that has the whole fill. */
Test(tile_flat, one_storer_stores_boxes_of_several_rows, .timeout = 10)
{
  for (int i = 0; i < 3; ++i) {
    draft d = draft_make("y = x + x", TMARING_BF16, 65537, 4096);
    d.options.load = TMARING_LOAD_TILE;
    d.options.store = TMARING_STORE_TILE;
    d.options.tile_rows = 4;
    d.options.mode = i == 0 ? TMARING_MODE_PIPELINED : TMARING_MODE_WARP_SPECIALIZED;
    if (i > 0) d.options.scope = i == 1 ? TMARING_SCOPE_CTA : TMARING_SCOPE_WARP;
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args a = draft_args(plan, 65537);
    const tmaring_tile *t = &tmaring__plan_variant(plan, 65537)->boxes.tile[TMARING_TILED_OUTPUTS];
    cr_expect_eq(a.scope.kind == TMARING_SCOPE_FLAT, i == 0);
    cr_expect_eq(t->by_row, i == 2);
    cr_expect_eq(t->box_bytes, i == 2 ? 8192 : 4 * 8192);
    cr_expect_eq(tmaring_check(plan, 65537, NULL), TMARING_OK, "%s", tmaring_last_detail());
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* ---- faults ---- */

typedef struct fault {
  const char *words;
  int32_t mode, tile_rows;
  void (*change)(tmaring_plan *plan, tmaring__variant *v);
} fault;

static void apart(tmaring_plan *plan, tmaring__variant *v)
{
  (void)plan;
  v->args.input[0].dense = 0;
}

static void gap(tmaring_plan *plan, tmaring__variant *v)
{
  (void)plan;
  v->args.input[0].slot_row += 16;
}

static void by_row(tmaring_plan *plan, tmaring__variant *v)
{
  (void)plan;
  v->boxes.tile[TMARING_TILED_OUTPUTS].by_row = 1;
}

static void several_storers(tmaring_plan *plan, tmaring__variant *v)
{
  plan->code.mode = v->args.cta.mode = TMARING_MODE_WARP_SPECIALIZED;
  v->args.cta.slab = 32;
}

Test(tile_flat, the_checker_knows_runs, .timeout = 10)
{
  static const fault faults[] = {{"a flat scope takes them as one", TMARING_MODE_WARP_SPECIALIZED, 8, apart},
                                 {"taken as one run", TMARING_MODE_WARP_SPECIALIZED, 8, gap},
                                 {"needs boxes per row", TMARING_MODE_PIPELINED, 1, by_row},
                                 {"needs boxes per row", TMARING_MODE_PIPELINED, 8, several_storers}};
  for (int32_t i = 0; i < COUNT(faults); ++i) {
    draft d = draft_make("y = x + x", TMARING_F32, 997, 256);
    d.options.load = TMARING_LOAD_TILE;
    d.options.mode = faults[i].mode;
    d.options.tile_rows = faults[i].tile_rows;
    if (faults[i].mode == TMARING_MODE_PIPELINED) d.options.store = TMARING_STORE_TILE;
    tmaring_plan *plan = draft_accept(&d);
    cr_assert_eq(tmaring_check(plan, 997, NULL), TMARING_OK, "%s", tmaring_last_detail());
    for (int32_t k = 0; k < plan->variant_count; ++k) faults[i].change(plan, &plan->variant[k]);
    cr_expect_eq(tmaring_check(plan, 997, NULL), TMARING_ERROR_CHECK, "%d passed", (int)i);
    cr_expect_not_null(strstr(tmaring_last_detail(), faults[i].words), "%d: %s", (int)i, tmaring_last_detail());
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* ---- trials ---- */

/* Bytes of a row, whole 16 each: one box of a row, 13 units, up to 2 KiB as one dimension, beyond as two; the last but
 * one leaves gaps. */
static const int32_t widths[] = {16, 48, 208, 1040, 2048, 3344, 4096, 3376, 8192};
static const int32_t rows_listed[] = {1, 7, 131, 997}, fills[] = {TMARING_AUTO, 3, 16};
static const tmaring_dtype dtypes[] = {TMARING_E4M3, TMARING_BF16, TMARING_F32, TMARING_F64, TMARING_F16, TMARING_I8};
static const recipe_name formulas[] = {RECIPE_DOUBLE, RECIPE_ADD_ONE, RECIPE_TWO};
#define TRIALS (COUNT(widths) * MODE_CHOICES * 3 * COUNT(dtypes))

static trial flat_trial(int32_t i)
{
  const int32_t width = widths[i % COUNT(widths)], mode = i / COUNT(widths) % MODE_CHOICES;
  const int32_t store = i / (COUNT(widths) * MODE_CHOICES) % 3, type = i / (COUNT(widths) * MODE_CHOICES * 3);
  const int32_t bytes = (int32_t)tmaring_dtype_bytes((int32_t)dtypes[type]);
  trial t =
      trial_begin(formulas[(i + type) % COUNT(formulas)], dtypes[type], rows_listed[(i / 7 + type) % 4], width / bytes);
  mode_choose(&t.options, (mode_choice)mode);
  t.options.load = TMARING_LOAD_TILE;
  if (i % 5 == 4) t.options.loads[1] = TMARING_LOAD_BULK; /* of a formula with two: mixed */
  t.options.store = store;
  t.options.tile_rows = fills[(i / 3 + mode) % 3];
  if (t.options.tile_rows != TMARING_AUTO && t.options.tile_rows * width > 16384) t.options.tile_rows = TMARING_AUTO;
  if (i % 4 == 3) t.options.order = TMARING_ORDER_TICKET;
  if (i % 7 == 2 && i % 5 != 4) t.pitch[0] = t.cols + 48 / bytes; /* inputs alone */
  t.seed = (uint64_t)i + 1;
  return t;
}

/* 1 where the scope has to be flat. */
static int must_be_flat(const trial *t)
{
  const int gaps = t->cols * tmaring_dtype_bytes((int32_t)t->dtype) == 3376;
  return !gaps && (t->options.store != TMARING_STORE_TILE || t->options.mode == TMARING_MODE_PIPELINED);
}

VENUE_TEST_FOR(tile_flat, trials, 900, 500)
{
  const int64_t limit = v->backend == TMARING_BACKEND_CPU ? 200000 : (int64_t)1 << 40;
  tally sum = tally_begin("tiled runs", v->name);
  int32_t flat = 0;
  for (int32_t i = 0; i < TRIALS; ++i) {
    trial t = flat_trial(i);
    if (t.rows * t.cols > limit) t.rows = 131;
    if (!tally_takes(&sum)) continue;
    const trial_result result = trial_run(&t, v);
    tally_count(&sum, &result);
    if (result.outcome != TRIAL_PASSED) continue;
    flat += result.args.scope.kind == TMARING_SCOPE_FLAT;
    if (must_be_flat(&t)) cr_expect_eq(result.args.scope.kind, TMARING_SCOPE_FLAT, "case %d", (int)i);
  }
  tally_close(&sum);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_assert_eq(sum.refused, 0);
  cr_assert_gt(2 * flat, sum.passed);
}

/* f32 [M, N] in fills of `rows`: rank of the box that a fill is, as the code has it; and the checker refuses any other. */
static void expect_box_rank(int32_t cols, int32_t piece_cols, int32_t rows, int32_t rank)
{
  draft d = draft_make("y = x + x", TMARING_F32, 997, cols);
  tmaring_check_report report = {sizeof report, 0, 0, 0, 0, 0};
  d.options.load = TMARING_LOAD_TILE;
  d.options.tile_rows = rows;
  d.options.piece_cols = piece_cols;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(plan->code.box_rank[0], rank, "%d columns in pieces of %d: rank %d", cols, piece_cols,
               plan->code.box_rank[0]);
  cr_expect_eq(tmaring_check(plan, 997, &report), TMARING_OK, "%s", tmaring_last_detail());
  plan->code.box_rank[0] = rank == 2 ? 3 : 2;
  cr_expect_eq(tmaring_check(plan, 997, &report), TMARING_ERROR_CHECK);
  cr_expect(strstr(tmaring_last_detail(), "one box of rank"), "%s", tmaring_last_detail());
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* Only a fill that is one box of whole rows lets the code do without coordinates: not pieces, not boxes per row. */
Test(tile_flat, the_code_knows_fills_of_one_box, .timeout = 10)
{
  expect_box_rank(4096, 4096, 1, 3);
  expect_box_rank(256, 256, 8, 2);
  expect_box_rank(1024, 512, 1, 0);
  expect_box_rank(1024, 512, 4, 0);
  expect_box_rank(1028, 1028, 4, 0); /* 257 * 4: no equal parts */
}

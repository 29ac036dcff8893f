/* Plans of load and store paths: what is refused and why, what is changed with a note, and where things lie. */
#include <criterion/criterion.h>
#include <string.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"
#include "support/noise.h"
#include "support/random_options.h"

static void expect_refused(const draft *d, const char *first, const char *second, const char *what)
{
  tmaring_status status;
  tmaring_plan *plan = draft_plan(d, &status);
  cr_expect_null(plan, "%s", what);
  cr_expect_eq(status, TMARING_ERROR_UNSUPPORTED, "%s: %s", what, tmaring_status_name(status));
  cr_expect_not_null(strstr(tmaring_last_detail(), first), "%s: \"%s\" lacks %s", what, tmaring_last_detail(), first);
  cr_expect_not_null(strstr(tmaring_last_detail(), second), "%s: \"%s\" lacks %s", what, tmaring_last_detail(), second);
  tmaring_plan_free(plan);
}

static void expect_note(const draft *d, const char *words)
{
  tmaring_plan *plan = draft_accept(d);
  cr_expect_not_null(draft_note(plan, words), "no note with \"%s\"", words);
  tmaring_plan_free(plan);
}

static const tmaring__boxes *boxes_of(const tmaring_plan *plan, int64_t rows)
{
  return &tmaring__plan_variant(plan, rows)->boxes;
}

/* ---- refusals ---- */

/* f32 [128,1733]: 6932 bytes from row to row, 4 modulo 16; with a pitch of 6944 the same rows go. */
Test(load_plan, F01_stride_that_is_no_multiple_of_16, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 128, 1733);
  d.options.load = TMARING_LOAD_TILE;
  expect_refused(&d, "stride", "multiple of 16", "6932 bytes");
  cr_expect_not_null(strstr(tmaring_last_detail(), "6932"), "%s", tmaring_last_detail());
  d.tensor[draft_tensor(&d, "x")].pitch = 1736;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(boxes_of(plan, 128)->used, 1);
  cr_expect_eq(boxes_of(plan, 128)->map[0].strides[boxes_of(plan, 128)->map[0].rank - 1], 6944);
  tmaring_plan_free(plan);
  d.options.store = TMARING_STORE_TILE;
  expect_refused(&d, "y: store tile", "stride", "store");
  draft_free(&d);
  d = draft_make("y = x + x", TMARING_I8, 128, 44);
  d.options.load = TMARING_LOAD_TILE;
  expect_refused(&d, "stride", "44", "44 bytes");
  d.tensor[0].pitch = d.tensor[1].pitch = 48;
  tmaring_plan_free(draft_accept(&d));
  draft_free(&d);
}

/* Boxes have at most 256 elements on an axis, and all bytes of a fill are expected at once. */
Test(load_plan, F02_boxes_are_within_256, .timeout = 10)
{
  static const int32_t cols[] = {512, 320, 1024, 4096, 24576}, rows[] = {1, 4, 100, 16, 1};
  for (int i = 0; i < 5; ++i) {
    draft d = draft_make("y = x + x", TMARING_BF16, 1000, cols[i]);
    d.options.load = TMARING_LOAD_TILE;
    d.options.tile_rows = i < 3 ? rows[i] : 1;
    d.options.piece_cols = cols[i];
    d.options.stages = 1;
    tmaring_plan *plan = draft_accept(&d);
    const tmaring__boxes *b = boxes_of(plan, 1000);
    for (int32_t k = 0; k < b->map[0].rank; ++k)
      cr_expect(b->map[0].box[k] >= 1 && b->map[0].box[k] <= 256, "%d columns: box %u", cols[i], b->map[0].box[k]);
    tmaring_fill fill = {0};
    fill.rows = d.options.tile_rows;
    fill.cols = cols[i];
    if (i < 2) cr_expect_eq(tmaring_tile_bytes(&b->tile[0], &fill), (uint32_t)(rows[i] * cols[i] * 2));
    cr_expect_lt(tmaring_tile_bytes(&b->tile[0], &fill), 1u << 20);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

Test(load_plan, F05_base_alignment, .timeout = 10)
{
  draft d = draft_make("y = x + 1", TMARING_F32, 1, 256);
  for (uint32_t alignment = 4; alignment < 16; alignment *= 2) {
    d.tensor[draft_tensor(&d, "x")].alignment = alignment;
    d.options.load = TMARING_LOAD_TILE;
    expect_refused(&d, "x: load tile: base alignment", "needs 16", "base");
    d.options.load = TMARING_AUTO;
    tmaring_plan_free(draft_accept(&d));
  }
  d.tensor[draft_tensor(&d, "x")].alignment = 16;
  d.options.load = TMARING_LOAD_TILE;
  tmaring_plan_free(draft_accept(&d));
  draft_free(&d);
}

Test(load_plan, what_has_no_tensor_map, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 120, 256);
  d.options.loads[0] = TMARING_LOAD_TILE;
  d.tensor[draft_tensor(&d, "x")].group_rows = 3;
  d.tensor[draft_tensor(&d, "x")].group_pitch = 1024;
  expect_refused(&d, "rows per group", "one pitch", "groups");
  draft_free(&d);
  d = draft_make("y = even(x[M,2N]) + odd(x)", TMARING_F64, 100, 256);
  d.options.load = TMARING_LOAD_TILE;
  expect_refused(&d, "pair", "8", "pairs of 16 bytes");
  draft_free(&d);
  d = draft_make("y = first(x[M,2N]) + second(x)", TMARING_F32, 100, 258); /* a half begins at 1032 bytes */
  d.options.load = TMARING_LOAD_TILE;
  expect_refused(&d, "base alignment", "got 8", "second half");
  draft_free(&d);
  d = draft_make("y = x + x", TMARING_F32, 100, 256);
  d.tensor[draft_tensor(&d, "x")].pitch = (int64_t)1 << 38;
  d.options.load = TMARING_LOAD_TILE;
  expect_refused(&d, "stride", "2^40", "2^40 bytes");
  draft_free(&d);
}

/* Stores by tensor maps write whole 16-byte units: no row may end between two, whatever the pitch leaves behind it. */
Test(load_plan, rows_stored_by_maps_are_whole_units, .timeout = 10)
{
  static const int32_t cols[] = {1, 7, 100, 1732, 1736};
  for (int i = 0; i < 5; ++i) {
    const int whole = cols[i] % 8 == 0;
    draft d = draft_make("y = x + x; z = x - 1", TMARING_BF16, 128, cols[i]);
    for (int32_t t = 0; t < 3; ++t) d.tensor[t].pitch = 1744;
    d.options.load = TMARING_LOAD_TILE;
    tmaring_plan_free(draft_accept(&d)); /* loads clip at elements */
    d.options.store = TMARING_STORE_TILE;
    if (whole) tmaring_plan_free(draft_accept(&d));
    if (!whole) expect_refused(&d, "y: store tile: row: got N = ", "needs a multiple of 16 bytes", "row");
    if (!whole) cr_expect_not_null(strstr(tmaring_last_detail(), "pad N, or take store bulk"));
    d.options.store = TMARING_STORE_BULK;
    tmaring_plan_free(draft_accept(&d));
    draft_free(&d);
  }
  draft d = draft_make("y = x + x", TMARING_BF16, 128, 1732);
  d.tensor[draft_tensor(&d, "y")].pitch = 1744;
  d.options.store = TMARING_STORE_TILE;
  expect_refused(&d, "got N = 1732", "3464 bytes", "1732 columns");
  draft_free(&d);
}

/* ---- notes ---- */

Test(load_plan, what_makes_no_sense_is_changed_with_a_note, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 1000, 256);
  expect_note(&d, "load bulk");
  d.options.loads[2] = TMARING_LOAD_TILE;
  expect_note(&d, "loads[2]: left out");
  d.options.loads[2] = TMARING_AUTO;
  d.options.load = TMARING_LOAD_TILE;
  expect_note(&d, "x: load tile: boxes of 128 x 1 elements of 8 bytes");
  d.options.scope = TMARING_SCOPE_FLAT;
  d.options.store = TMARING_STORE_TILE;
  expect_note(&d, "scope flat -> auto");
  d.options.policy = TMARING_POLICY_UNSAFE;
  expect_note(&d, "policy unsafe: the hardware clips");
  draft_free(&d);
  d = draft_make("s = sum(x)", TMARING_F32, 1000, 256);
  d.options.store = TMARING_STORE_TILE;
  expect_note(&d, "store tile -> direct");
  draft_free(&d);
  d = draft_make("y = x + x", TMARING_BF16, 1000, 257);
  d.options.load = TMARING_LOAD_ASYNC;
  expect_note(&d, "no whole 4 bytes");
  d.options.load = TMARING_LOAD_DIRECT;
  expect_note(&d, "no input goes through the ring");
  d.options.store = TMARING_STORE_BULK;
  expect_note(&d, "store bulk -> direct");
  draft_free(&d);
}

/* x[label] picks an element that another thread may have the place of. */
Test(load_plan, gathered_inputs_stay_in_the_ring, .timeout = 10)
{
  draft d = draft_make("l = log(sum(exp(x - max(x)))) + max(x) - x[label[M]]", TMARING_F32, 1000, 256);
  d.tensor[draft_tensor(&d, "label")].dtype = TMARING_I32;
  d.options.load = TMARING_LOAD_DIRECT;
  expect_note(&d, "x: load direct -> bulk");
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(draft_info(plan).loads[0], TMARING_LOAD_BULK);
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* ---- what comes out ---- */

Test(load_plan, paths_are_described, .timeout = 10)
{
  draft d = draft_make("y = a + b + c + e", TMARING_F32, 1000, 256);
  for (int i = 0; i < 4; ++i) d.options.loads[i] = 1 + i;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_plan_info info = draft_info(plan);
  const tmaring_args a = draft_args(plan, 1000);
  cr_expect_eq(info.inputs, 4);
  for (int i = 0; i < 4; ++i) {
    cr_expect_eq(info.loads[i], 1 + i);
    cr_expect_eq(a.input[i].path, 1 + i);
  }
  cr_expect_eq(a.input[3].slot_bytes, 0, "what is read directly has no slot");
  cr_expect_eq(boxes_of(plan, 1000)->used, 1, "one input is tiled");
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* One path for all, and another for one of them. */
Test(load_plan, one_input_may_differ, .timeout = 10)
{
  draft d = draft_make("y = a * b", TMARING_F32, 1000, 256);
  d.options.load = TMARING_LOAD_TILE;
  d.options.loads[1] = TMARING_LOAD_BULK;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_plan_info info = draft_info(plan);
  cr_expect(info.loads[0] == TMARING_LOAD_TILE && info.loads[1] == TMARING_LOAD_BULK);
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* Results over a tiled input begin where its rows do; boxes that are stored begin at 128 bytes. */
Test(load_plan, results_in_place_share_the_rows, .timeout = 10)
{
  static const int32_t cols[] = {4, 36, 96, 256, 1024, 2056, 4100};
  for (int i = 0; i < 14; ++i) {
    draft d = draft_make("y = x * max(x)", TMARING_F32, 1000, cols[i / 2]);
    d.options.load = TMARING_LOAD_TILE;
    d.options.store = i % 2 ? TMARING_STORE_TILE : TMARING_STORE_BULK;
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args a = draft_args(plan, 1000);
    cr_expect_eq(draft_info(plan).in_place, 1);
    cr_expect_eq(draft_info(plan).store, d.options.store);
    cr_expect(a.output[0].slot == a.input[0].slot && a.output[0].slot_row == a.input[0].slot_row &&
              a.output[0].slot_bytes == a.input[0].slot_bytes && a.output[0].dense == a.input[0].dense);
    cr_expect_eq(a.output[0].dense, a.walk.tile_rows == 1 || a.output[0].slot_row == (uint32_t)cols[i / 2] * 4);
    const int by_row = i % 2 && boxes_of(plan, 1000)->tile[TMARING_TILED_OUTPUTS].by_row;
    cr_expect_eq(a.output[0].slot_row % (by_row ? 128 : 16), 0);
    cr_expect_eq(a.output[0].path, i % 2);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* A bulk input's rows follow one another: boxes are stored from slots of their own. */
Test(load_plan, boxes_are_not_stored_over_runs, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 1000, 100);
  d.options.store = TMARING_STORE_TILE;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 1000);
  cr_expect_eq(draft_info(plan).in_place, 0);
  cr_expect_geq(a.output[0].slot, a.input[0].slot + a.input[0].slot_bytes);
  cr_expect_neq(a.scope.kind, TMARING_SCOPE_FLAT);
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* A coordinate has 31 bits. */
Test(load_plan, rows_of_boxes_are_31_bits, .timeout = 10)
{
  tmaring_args args;
  draft d = draft_make("y = x + x", TMARING_I8, 1000, 16);
  d.options.load = TMARING_LOAD_TILE;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(tmaring_plan_args(plan, TMARING_MAX_COORDINATES, &args), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_eq(tmaring_plan_args(plan, TMARING_MAX_COORDINATES + 1ll, &args), TMARING_ERROR_CAPACITY);
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* ---- all together ---- */

static const char *const formulas[] = {"y = x + x",     "y = a + b; z = a - b", "y = x * max(x)",   "s = sum(x)",
                                       "k = colsum(x)", "y = x * w[N] + s[M]",  "y = a * b + c - e"};

static int32_t apart(const tmaring_stream *a, const tmaring_stream *b)
{
  return a->slot + a->slot_bytes <= b->slot || b->slot + b->slot_bytes <= a->slot;
}

static void expect_slots(const tmaring_args *a)
{
  for (int32_t i = 0; i < a->input_count; ++i) {
    const tmaring_stream *s = &a->input[i];
    cr_assert_eq(s->slot % 128, 0);
    cr_assert_leq(s->slot + s->slot_bytes, a->smem.stage_bytes);
    cr_assert_eq(s->slot_bytes == 0, s->path == TMARING_LOAD_DIRECT);
    for (int32_t k = 0; k < i; ++k) cr_assert(apart(s, &a->input[k]));
  }
}

/* One thread stores all rows of a fill. */
static int has_one_storer(const tmaring_args *a)
{
  return a->cta.mode == TMARING_MODE_PIPELINED || a->scope.warps_per_row == tmaring_cta_squad_warps(&a->cta);
}

static void expect_boxes(const tmaring_args *a, const tmaring__boxes *b)
{
  for (int32_t i = 0; i < TMARING_MAX_TILED; ++i) {
    const int output = i >= TMARING_TILED_OUTPUTS;
    const int32_t index = i % TMARING_TILED_OUTPUTS;
    const tmaring_stream *s = output ? &a->output[index] : &a->input[index];
    const int tiled = output ? index < a->output_count && s->path : index < a->input_count && s->path == 1;
    tmaring_tensor_map_tiled map = b->map[i];
    cr_assert_eq(b->used >> i & 1, tiled);
    if (!tiled) continue;
    for (int32_t d = 0; d < map.rank; ++d) {
      if (b->tile[i].follows[d] == TMARING_TILE_ROW) map.dims[d] = 1000;
    }
    map.address = 4096;
    cr_assert_eq(tmaring_tensor_map_check_tiled(&map), TMARING_OK, "%s", tmaring_last_detail());
    cr_assert_eq(tmaring_tensor_map_tiled_bytes(&map), b->tile[i].box_bytes);
    cr_assert(s->slot_row % 16 == 0 && (!b->tile[i].by_row || s->slot_row % 128 == 0));
    cr_assert(!s->dense || a->walk.tile_rows == 1 ||
              (a->walk.pieces == 1 && s->slot_row == (uint32_t)a->walk.cols * s->elem_bytes));
    cr_assert(!output || b->tile[i].by_row || has_one_storer(a));
  }
}

Test(load_plan, random_paths_lie_well, .timeout = 120)
{
  noise n = noise_seed(1234);
  int32_t made = 0, tiled = 0, strips = 0;
  for (int i = 0; i < 4000; ++i) {
    const int32_t cols = PICK(&n, 1, 16, 36, 64, 100, 256, 1000, 1024, 4096, 8200, 40000);
    const tmaring_dtype dtype = (tmaring_dtype)PICK(&n, TMARING_F32, TMARING_BF16, TMARING_F64, TMARING_E4M3);
    tmaring_status status;
    draft d = draft_make(formulas[noise_below(&n, 7)], dtype, 1000, cols);
    random_options(&d.options, &n, cols);
    random_paths(&d.options, &n);
    tmaring_plan *plan = draft_plan(&d, &status);
    cr_assert(
        plan || ((status == TMARING_ERROR_UNSUPPORTED || status == TMARING_ERROR_CAPACITY) && tmaring_last_detail()[0]),
        "%s: %s", tmaring_status_name(status), tmaring_last_detail());
    for (int32_t k = 0; plan && k < plan->variant_count; ++k) {
      const tmaring__variant *v = &plan->variant[k];
      expect_slots(&v->args);
      expect_boxes(&v->args, &v->boxes);
      tiled += v->boxes.used != 0;
      strips += tmaring_walk_strips(&v->args.walk);
    }
    if (plan && d.options.policy != TMARING_POLICY_UNSAFE)
      cr_assert_eq(tmaring_check(plan, 997, NULL), TMARING_OK, "%d: %s", i, tmaring_last_detail());
    made += plan != NULL;
    tmaring_plan_free(plan);
    draft_free(&d);
  }
  cr_expect(made > 1600 && tiled > 800 && strips > 100, "%d made, %d tiled, %d strips", made, tiled, strips);
}

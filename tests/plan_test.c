/* The planner: what follows from tensors, scopes, pieces, staged results; ownership. */
#include <criterion/criterion.h>
#include <string.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"

#define RMSNORM "rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * w"
#define SOFTMAX "softmax(x[M,N]) = e = exp(x - max(x)); y = e / sum(e)"

/* ---- what follows from tensors ---- */

Test(plan, h200_numbers, .timeout = 10)
{
  tmaring_machine m;
  tmaring_machine_h200(&m);
  cr_expect_eq(m.size, sizeof m);
  cr_expect_eq(m.sm_count, 132);
  cr_expect_eq(m.smem_per_block_bytes, 232448);
  cr_expect_eq(m.smem_per_sm_bytes - m.smem_reserved_bytes, m.smem_per_block_bytes);
}

Test(plan, dtype_names, .timeout = 10)
{
  tmaring_dtype dtype = TMARING_F32;
  cr_expect_eq(tmaring_dtype_parse("bf16", &dtype), TMARING_OK);
  cr_expect_eq(dtype, TMARING_BF16);
  cr_expect_str_eq(tmaring_dtype_name(TMARING_F16), "f16");
  cr_expect_null(tmaring_dtype_name((tmaring_dtype)TMARING_DTYPE_COUNT));
  cr_expect_null(tmaring_dtype_name((tmaring_dtype)-1));
  for (int i = 0; i < TMARING_DTYPE_COUNT; ++i) {
    cr_expect_eq(tmaring_dtype_parse(tmaring_dtype_name((tmaring_dtype)i), &dtype), TMARING_OK);
    cr_expect_eq((int)dtype, i);
  }
  cr_expect_eq(tmaring_dtype_parse("f8", &dtype), TMARING_ERROR_TYPE);
  cr_expect_not_null(strstr(tmaring_last_detail(), "got \"f8\""), "%s", tmaring_last_detail());
  cr_expect_not_null(strstr(tmaring_last_detail(), "f32 f16 bf16 f64 e4m3 e5m2 i8 i32 i64"), "%s",
                     tmaring_last_detail());
}

/* Columns, pitch of the input, alignment of the input, types: and whether all runs are whole 16-byte units. */
typedef struct unit_case {
  int64_t cols, pitch;
  uint32_t alignment;
  tmaring_dtype in, out;
  int32_t vec, aligned;
} unit_case;

Test(plan, F04_F05_whole_units, .timeout = 10)
{
  static const unit_case cases[] = {
      {256, 0, 0, TMARING_F32, TMARING_F32, 4, 1},     {1024, 0, 0, TMARING_BF16, TMARING_BF16, 8, 1},
      {1023, 0, 0, TMARING_BF16, TMARING_BF16, 8, 0},  {33, 0, 0, TMARING_F32, TMARING_F32, 4, 0},
      {32, 0, 0, TMARING_F32, TMARING_F32, 4, 1},      {256, 0, 4, TMARING_F32, TMARING_F32, 4, 0},
      {256, 0, 8, TMARING_F32, TMARING_F32, 4, 0},     {256, 0, 16, TMARING_F32, TMARING_F32, 4, 1},
      {256, 257, 16, TMARING_F32, TMARING_F32, 4, 0},  {256, 260, 16, TMARING_F32, TMARING_F32, 4, 1},
      {260, 0, 16, TMARING_F32, TMARING_BF16, 8, 0},   {264, 0, 16, TMARING_F32, TMARING_BF16, 8, 1},
      {264, 268, 256, TMARING_F32, TMARING_F16, 8, 1}, {1, 0, 2, TMARING_F16, TMARING_F32, 8, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    draft d = draft_make("y = x + 1", cases[i].in, 999, cases[i].cols);
    d.tensor[0].pitch = cases[i].pitch;
    d.tensor[0].alignment = cases[i].alignment;
    d.tensor[1].dtype = cases[i].out;
    tmaring_plan *plan = draft_accept(&d);
    cr_expect_eq(draft_info(plan).aligned, cases[i].aligned, "case %zu", i);
    cr_expect_eq(draft_args(plan, 999).scope.vec, cases[i].vec, "case %zu", i);
    cr_expect_eq(draft_note(plan, "edges") != NULL, !cases[i].aligned, "case %zu: the plan says so", i);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

Test(plan, bytes_per_row_counts_streams_and_values, .timeout = 10)
{
  draft d = draft_make("s = sum(x * w[N]); y = x - v[M]", TMARING_BF16, 10, 100);
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(draft_info(plan).bytes_per_row, 2 * 100 + 2 * 100 + 2 + 2);
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* ---- scopes ---- */

static tmaring_scope scope_of(draft *d, int64_t rows)
{
  tmaring_plan *plan = draft_accept(d);
  const tmaring_scope scope = draft_args(plan, rows).scope;
  tmaring_plan_free(plan);
  draft_free(d);
  return scope;
}

Test(plan, scope_follows_the_row, .timeout = 10)
{
  static const struct {
    const char *formula;
    int64_t cols;
    int32_t kind, lanes, warps_per_row;
  } cases[] = {
      {"y = x + x", 256, TMARING_SCOPE_FLAT, 32, 1},    {"s = sum(x)", 3, TMARING_SCOPE_LANES, 2, 1},
      {"s = sum(x)", 64, TMARING_SCOPE_LANES, 16, 1},   {"s = sum(x)", 256, TMARING_SCOPE_WARP, 32, 1},
      {"s = sum(x)", 1024, TMARING_SCOPE_GROUP, 32, 2}, {"s = sum(x)", 8192, TMARING_SCOPE_CTA, 32, 8},
      {"y = x * w[N]", 256, TMARING_SCOPE_WARP, 32, 1}, {"y = x * v[M]", 16, TMARING_SCOPE_LANES, 4, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    draft d = draft_make(cases[i].formula, TMARING_F32, 100000, cases[i].cols);
    const tmaring_scope s = scope_of(&d, 100000);
    cr_expect_eq(s.kind, cases[i].kind, "case %zu: scope %d", i, s.kind);
    cr_expect_eq(1 << s.lanes_log2, cases[i].lanes, "case %zu: %d lanes", i, 1 << s.lanes_log2);
    cr_expect_eq(s.warps_per_row, cases[i].warps_per_row, "case %zu: %d warps", i, s.warps_per_row);
  }
}

Test(plan, forced_scopes_stay, .timeout = 10)
{
  for (int32_t kind = TMARING_SCOPE_FLAT; kind <= TMARING_SCOPE_CTA; ++kind) {
    draft d = draft_make("y = x + x", TMARING_F32, 1000, 256);
    d.options.scope = kind;
    cr_expect_eq(scope_of(&d, 1000).kind, kind);
  }
}

Test(plan, pitched_rows_are_flat_one_by_one, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 1000, 256);
  d.tensor[0].pitch = 512;
  d.options.scope = TMARING_SCOPE_FLAT;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 1000);
  cr_expect_eq(a.scope.kind, TMARING_SCOPE_FLAT);
  cr_expect_eq(a.walk.tile_rows, 1);
  cr_expect_eq(a.input[0].dense, 1, "one row is one run");
  cr_expect_eq(a.input[0].pitch, 2048);
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan, flat_needs_a_formula_without_rows, .timeout = 10)
{
  static const char *const formulas[] = {"s = sum(x)", "y = x * w[N]", "y = x * v[M]", RMSNORM};
  for (size_t i = 0; i < sizeof formulas / sizeof formulas[0]; ++i) {
    draft d = draft_make(formulas[i], TMARING_F32, 1000, 256);
    d.options.scope = TMARING_SCOPE_FLAT;
    tmaring_plan *plan = draft_accept(&d);
    cr_expect_neq(draft_args(plan, 1000).scope.kind, TMARING_SCOPE_FLAT, "%s", formulas[i]);
    cr_expect_not_null(draft_note(plan, "scope flat -> auto"), "%s", formulas[i]);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* ---- pieces ---- */

Test(plan, rows_longer_than_a_stage_come_in_pieces, .timeout = 10)
{
  draft d = draft_make(SOFTMAX, TMARING_F32, 1024, 131072);
  d.options.cluster = 1;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 1024);
  cr_expect_gt(a.walk.pieces, 1);
  cr_expect_eq(a.walk.spread, 0);
  cr_expect_eq(a.walk.passes, draft_info(plan).passes);
  cr_expect_eq(a.walk.tile_rows, 1);
  cr_expect_eq(a.scope.kind, TMARING_SCOPE_CTA);
  cr_expect_eq(a.walk.piece_cols % a.scope.vec, 0);
  cr_expect_eq(plan->code.pieces, 1);
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan, pieces_of_pointwise_rows_are_tiles, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 64, 151937);
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 64);
  cr_expect_eq(a.walk.spread, 1);
  cr_expect_eq(a.walk.passes, 1);
  cr_expect_eq(a.walk.tiles, 64 * (int64_t)a.walk.pieces);
  cr_expect_eq(a.scope.kind, TMARING_SCOPE_FLAT);
  cr_expect_eq(plan->code.pieces, 0);
  tmaring_args past;
  const int64_t limit = plan->variant[plan->variant_count - 1].rows_limit;
  cr_expect_eq(tmaring_plan_args(plan, limit, &past), TMARING_OK);
  cr_expect_lt(past.walk.tiles, (int64_t)1 << 31, "tile indexes of pieces stay within 31 bits");
  cr_expect_eq(tmaring_plan_args(plan, limit + 1, &past), TMARING_ERROR_CAPACITY);
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan, values_per_row_are_not_spread, .timeout = 10)
{
  draft d = draft_make("y = x + 1; s = v[M] * 2", TMARING_F32, 64, 151937);
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(draft_args(plan, 64).walk.spread, 0, "each row's value is stored once");
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan, forced_pieces_are_whole_vectors, .timeout = 10)
{
  draft d = draft_make(RMSNORM, TMARING_BF16, 100, 1000);
  d.options.piece_cols = 101;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 100);
  cr_expect_eq(a.walk.piece_cols, 104);
  cr_expect_eq(a.walk.pieces, 10);
  cr_expect_not_null(draft_note(plan, "piece_cols 101 -> 104"));
  tmaring_plan_free(plan);
  d.options.piece_cols = 1000;
  plan = draft_accept(&d);
  cr_expect_eq(draft_args(plan, 100).walk.pieces, 1, "N columns: whole rows");
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* ---- staged results ---- */

static void expect_in_place(draft *d, int32_t in_place, int32_t slot_of_input)
{
  d->options.store = TMARING_STORE_BULK;
  tmaring_plan *plan = draft_accept(d);
  const tmaring_args a = draft_args(plan, 1000);
  cr_expect_eq(draft_info(plan).in_place, in_place);
  cr_expect_eq(draft_info(plan).store, TMARING_STORE_BULK);
  if (slot_of_input >= 0) {
    cr_expect_eq(a.output[0].slot, a.input[slot_of_input].slot);
  } else {
    cr_expect_geq(a.output[0].slot, a.input[0].slot + a.input[0].slot_bytes);
  }
  tmaring_plan_free(plan);
  draft_free(d);
}

Test(plan, in_place_needs_the_same_offsets, .timeout = 10)
{
  draft same = draft_make("y = x + 1", TMARING_F32, 1000, 256);
  expect_in_place(&same, 1, 0);
  draft odd = draft_make("y = x + 1", TMARING_F32, 1000, 255);
  expect_in_place(&odd, 0, -1);
  draft narrow = draft_make("y = x + 1", TMARING_F32, 1000, 256);
  narrow.tensor[1].dtype = TMARING_BF16;
  expect_in_place(&narrow, 0, -1);
  draft pitched = draft_make("y = x + 1", TMARING_F32, 1000, 256);
  pitched.tensor[1].pitch = 512;
  expect_in_place(&pitched, 0, -1);
  draft second = draft_make("y = a + b", TMARING_F32, 1000, 256);
  second.tensor[0].pitch = 512;
  expect_in_place(&second, 1, 1);
}

Test(plan, bulk_stores_need_a_matrix, .timeout = 10)
{
  draft d = draft_make("s = sum(x)", TMARING_F32, 1000, 256);
  d.options.store = TMARING_STORE_BULK;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(draft_info(plan).store, TMARING_STORE_DIRECT);
  cr_expect_not_null(draft_note(plan, "store bulk -> direct"));
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* ---- ownership ---- */

Test(plan, formula_and_arguments_may_go_first, .timeout = 10)
{
  draft d = draft_make(RMSNORM, TMARING_BF16, 100, 256);
  tmaring_plan *plan = draft_accept(&d);
  draft_free(&d);
  memset(&d, 0xa5, sizeof d);
  tmaring_plan *kept = tmaring__plan_retain(plan);
  tmaring_plan_free(plan);
  cr_expect_eq(draft_args(kept, 100).walk.cols, 256);
  cr_expect_float_eq(draft_args(kept, 100).scalar[0], 1e-6f, 1e-12f);
  tmaring_plan_free(kept);
  tmaring_plan_free(NULL);
}

Test(plan, options_may_be_left_out, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 100, 256);
  tmaring_plan *plan = NULL;
  cr_assert_eq(tmaring_plan_create(&plan, d.formula, d.tensor, d.count, &d.machine, NULL), TMARING_OK);
  cr_expect_not_null(draft_note(plan, "chosen at M = 100"));
  cr_expect_null(tmaring_plan_note(plan, -1));
  cr_expect_null(tmaring_plan_note(plan, draft_info(plan).note_count));
  cr_expect_gt(draft_info(plan).cost_us, 0.0);
  tmaring_plan_free(plan);
  draft_free(&d);
}

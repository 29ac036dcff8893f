/* The planner: column reductions. How rows are cut into chunks, that nothing but the data decides it, where
 * accumulators and partial results are. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"
#include "support/noise.h"

#define RMSNORM_BACKWARD                                                                                               \
  "f(dy[M,N], x[M,N], w[N]; eps = 1e-6) = rs = rsqrt(mean(x*x) + eps); xh = x * rs; g = dy * w; "                      \
  "dx = rs * (g - xh * mean(g * xh)); dw = colsum(dy * xh)"

static const char *const formulas[] = {
    "y = colsum(x)",
    "y = colmax(x)",
    "y = colmean(x); z = colsum(x * x); s = x[v[M]]",
    RMSNORM_BACKWARD,
    "y = x + 1; b = colsum(x)",
    "out t = max(x) * 2; y = colsum(x / t)",
    "f(x[M,2N]) = y = silu(first(x)) * second(x); b = colsum(y + 0 * first(x))",
    "s = gamax(x, 32); y = colsum(x / s)",
    "f(w[N]) = colsum(w * row)",
};
#define FORMULAS ((int32_t)(sizeof formulas / sizeof formulas[0]))

static draft column_draft(int32_t formula, tmaring_dtype dtype, int64_t rows, int64_t cols)
{
  return draft_make(formulas[formula], dtype, rows, cols);
}

/* ---- the same sums everywhere ---- */

/* What decides who adds which rows, and in which order. */
typedef struct cut {
  int32_t tile_rows, chunk, pieces, piece_cols, passes, spread, seats;
  tmaring_scope scope;
  tmaring_cta cta;
} cut;

static cut cut_of(const draft *d, int64_t rows)
{
  cut c;
  tmaring_plan *plan = draft_accept(d);
  const tmaring_args a = draft_args(plan, rows);
  memset(&c, 0, sizeof c);
  c.tile_rows = a.walk.tile_rows;
  c.chunk = a.walk.chunk;
  c.pieces = a.walk.pieces;
  c.piece_cols = a.walk.piece_cols;
  c.passes = a.walk.passes;
  c.spread = a.walk.spread;
  c.seats = tmaring_column_seats(&a);
  c.scope = a.scope;
  c.cta = a.cta;
  tmaring_plan_free(plan);
  return c;
}

static void hint(draft *d, int64_t rows)
{
  for (int32_t i = 0; i < d->count; ++i) {
    const tmaring__slot slot = tmaring__formula_slot(d->formula, i);
    const int per_column = slot.kind == TMARING__SLOT_VECTOR || slot.kind == TMARING__SLOT_COLUMN_OUTPUT;
    if (!per_column) d->tensor[i].rows = rows;
  }
}

static void expect_one_cut(int32_t formula, tmaring_dtype dtype, int64_t cols)
{
  static const int32_t sms[] = {132, 114, 78, 26, 16, 4, 1};
  static const int64_t rows[] = {1, 5, 133, 1000, 8191, 65537, 1048573};
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
    draft d = column_draft(formula, dtype, 0, cols);
    const cut due = cut_of(&d, rows[r]);
    for (size_t s = 0; s < sizeof sms / sizeof sms[0]; ++s) {
      for (int32_t order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_TICKET; ++order) {
        d.machine.sm_count = sms[s];
        d.options.order = order;
        d.options.policy = TMARING_POLICY_WRAP + (order + (int32_t)s) % 3;
        d.options.workers = s % 2 ? TMARING_AUTO : 7 + (int32_t)s;
        hint(&d, rows[(r + s) % 7]);
        const cut got = cut_of(&d, rows[r]);
        cr_assert_eq(memcmp(&got, &due, sizeof got), 0,
                     "formula %d, %d columns, %d rows, %d SMs, order %d: chunks of %d x %d rows, not %d x %d", formula,
                     (int)cols, (int)rows[r], sms[s], order, got.chunk, got.tile_rows, due.chunk, due.tile_rows);
      }
    }
    draft_free(&d);
  }
}

Test(plan_columns, sums_do_not_depend_on_the_machine_or_the_order, .timeout = 60)
{
  static const int64_t cols[] = {3, 64, 256, 1000, 4096, 12289, 40000, 151937};
  for (int32_t f = 0; f < FORMULAS; ++f) {
    for (size_t c = 0; c < sizeof cols / sizeof cols[0]; ++c)
      expect_one_cut(f, c % 3 == 0 ? TMARING_BF16 : c % 3 == 1 ? TMARING_F32 : TMARING_F64, cols[c]);
  }
}

/* ---- the cut ---- */

Test(plan_columns, about_a_thousand_chunks_of_much_data, .timeout = 10)
{
  static const struct {
    int32_t formula;
    tmaring_dtype dtype;
    int64_t rows, cols;
  } cases[] = {{0, TMARING_F32, 65537, 4096},  {0, TMARING_BF16, 65537, 4096}, {0, TMARING_F32, 1048573, 256},
               {3, TMARING_BF16, 16384, 8192}, {4, TMARING_F32, 65537, 1024},  {0, TMARING_F64, 65537, 2048},
               {3, TMARING_F32, 16384, 4096}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    draft d = column_draft(cases[i].formula, cases[i].dtype, cases[i].rows, cases[i].cols);
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args a = draft_args(plan, cases[i].rows);
    const int64_t chunks = tmaring_column_chunks(&a.walk);
    cr_expect(chunks >= 256 && chunks <= 4096, "case %zu: %d chunks", i, (int)chunks);
    cr_expect_geq(a.walk.chunk * a.walk.tile_rows, 4 * tmaring_column_seats(&a), "case %zu", i);
    cr_expect_eq(a.walk.tile_rows % tmaring_column_seats(&a), 0, "case %zu: every seat has rows in a fill", i);
    cr_expect_eq(a.columns_staged, 1, "case %zu", i);
    cr_expect_not_null(draft_note(plan, "rows per chunk"));
    cr_expect_not_null(draft_note(plan, "bytes of shared memory"));
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

Test(plan_columns, scopes_have_fixed_frames, .timeout = 10)
{
  for (int32_t f = 0; f < FORMULAS; ++f) {
    draft d = column_draft(f, TMARING_F32, 1000, 257);
    d.options.scope = TMARING_SCOPE_FLAT;
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args a = draft_args(plan, 1000);
    cr_expect_eq(a.scope.fixed, 1);
    cr_expect_eq(plan->code.fixed, 1);
    cr_expect_neq(a.scope.kind, TMARING_SCOPE_FLAT);
    cr_expect_not_null(draft_note(plan, "scope flat -> auto: the formula reduces columns"));
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* Columns, and where their sums are while rows go by. */
typedef struct place_case {
  int32_t formula;
  tmaring_dtype dtype;
  int64_t cols;
  int32_t staged, pieces, spread;
} place_case;

Test(plan_columns, accumulators_go_where_they_fit, .timeout = 10)
{
  static const place_case cases[] = {
      {0, TMARING_F32, 4096, 1, 0, 0},   {0, TMARING_F32, 12288, 1, 0, 0}, {0, TMARING_F32, 20000, 1, 1, 1},
      {0, TMARING_F32, 25600, 1, 1, 1},  {0, TMARING_F32, 25608, 0, 1, 1}, {0, TMARING_F64, 12808, 0, 1, 1},
      {3, TMARING_BF16, 16384, 1, 0, 0}, {3, TMARING_F32, 12288, 0, 0, 0}, {3, TMARING_F32, 32768, 0, 1, 0},
      {3, TMARING_F32, 20000, 1, 1, 0},  {5, TMARING_F32, 40000, 0, 1, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const place_case *c = &cases[i];
    draft d = column_draft(c->formula, c->dtype, 1000, c->cols);
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args a = draft_args(plan, 1000);
    cr_expect_eq(a.columns_staged, c->staged, "case %zu: %d", i, a.columns_staged);
    cr_expect_eq(a.walk.pieces > 1, c->pieces, "case %zu: %d pieces", i, a.walk.pieces);
    cr_expect_eq(a.walk.spread, c->spread, "case %zu", i);
    cr_expect_eq(a.walk.passes, c->pieces ? tmaring__formula_program(d.formula)->passes : 1, "case %zu", i);
    cr_expect_eq(draft_note(plan, "in the workspace") != NULL, !c->staged, "case %zu", i);
    if (c->staged) cr_expect_leq(a.smem.columns + (uint32_t)(4 * c->cols), a.smem.stages, "case %zu", i);
    cr_expect_eq(tmaring_check(plan, 1000, NULL), TMARING_OK, "case %zu: %s", i, tmaring_last_detail());
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* A chunk of spread pieces: (rows, piece) is a tile. */
Test(plan_columns, tiles_of_long_rows, .timeout = 10)
{
  draft d = column_draft(0, TMARING_F32, 1000, 40000);
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 1000);
  cr_expect_eq(a.walk.tiles, tmaring_ceil_div(1000, a.walk.chunk) * a.walk.pieces);
  cr_expect_eq(tmaring_column_chunks(&a.walk), tmaring_ceil_div(1000, a.walk.chunk));
  cr_expect_eq(tmaring_walk_fills_per_tile(&a.walk), a.walk.chunk);
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan_columns, what_is_asked_is_done, .timeout = 10)
{
  draft d = column_draft(0, TMARING_F32, 10000, 1000);
  d.options.tile_rows = 3;
  d.options.scope = TMARING_SCOPE_WARP;
  d.options.stages = 5;
  d.options.order = TMARING_ORDER_SPLIT;
  tmaring_plan *plan = draft_accept(&d);
  tmaring_args a = draft_args(plan, 10000);
  cr_expect_eq(a.walk.tile_rows, 3);
  cr_expect_eq(a.scope.kind, TMARING_SCOPE_WARP);
  cr_expect_eq(a.stages, 5);
  cr_expect_eq(a.walk.split_stages, 5);
  tmaring_plan_free(plan);
  d.options.tile_rows = TMARING_AUTO;
  d.options.piece_cols = 128;
  plan = draft_accept(&d);
  a = draft_args(plan, 10000);
  cr_expect_eq(a.walk.pieces, 8);
  cr_expect_eq(a.walk.spread, 1);
  cr_expect_eq(tmaring_check(plan, 10000, NULL), TMARING_OK, "%s", tmaring_last_detail());
  tmaring_plan_free(plan);
  d.options.piece_cols = 1000;
  plan = draft_accept(&d);
  cr_expect_eq(draft_args(plan, 10000).walk.pieces, 1);
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan_columns, matrices_beside_may_be_stored_in_bulk, .timeout = 10)
{
  draft d = column_draft(4, TMARING_F32, 1000, 1024);
  d.options.store = TMARING_STORE_BULK;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(draft_info(plan).store, TMARING_STORE_BULK);
  cr_expect_eq(draft_info(plan).in_place, 1);
  cr_expect_eq(tmaring_check(plan, 1000, NULL), TMARING_OK, "%s", tmaring_last_detail());
  tmaring_plan_free(plan);
  draft_free(&d);
  d = column_draft(0, TMARING_F32, 1000, 1024);
  d.options.store = TMARING_STORE_BULK;
  plan = draft_accept(&d);
  cr_expect_eq(draft_info(plan).store, TMARING_STORE_DIRECT, "there is no matrix to store");
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan_columns, nothing_fits_names_the_numbers, .timeout = 10)
{
  draft d = column_draft(3, TMARING_F32, 1000, 4096);
  tmaring_status status;
  d.options.stages = 16;
  d.options.piece_cols = 4096;
  cr_expect_null(draft_plan(&d, &status));
  cr_expect_eq(status, TMARING_ERROR_CAPACITY);
  cr_expect_not_null(strstr(tmaring_last_detail(), "allows 232448"), "%s", tmaring_last_detail());
  draft_free(&d);
}

/* ---- the workspace ---- */

/* Where the last partial result of a launch ends. */
static size_t partials_end(const tmaring_plan *plan, const tmaring_args *a)
{
  const int64_t chunks = tmaring_column_chunks(&a->walk), stride = tmaring_column_stride(a);
  if (chunks == 0) return TMARING_PARTIALS_OFFSET;
  const int64_t last =
      tmaring_partial_index(a, &a->walk, a->column_output_count - 1, chunks - 1, tmaring_column_seats(a) - 1);
  return TMARING_PARTIALS_OFFSET + (size_t)(last + stride) * (plan->code.wide ? 8 : 4);
}

Test(plan_columns, the_workspace_holds_every_launch_up_to_its_rows, .timeout = 30)
{
  noise n = noise_seed(31);
  for (int i = 0; i < 400; ++i) {
    draft d = column_draft(noise_below(&n, FORMULAS), noise_below(&n, 2) ? TMARING_F32 : TMARING_F64,
                           noise_below(&n, 2) ? 0 : 4096, 1 + noise_below(&n, noise_below(&n, 2) ? 500 : 50000));
    tmaring_plan *plan = draft_accept(&d);
    const int64_t most = 1 + noise_below(&n, 1 << (1 + noise_below(&n, 20)));
    const size_t bytes = tmaring_workspace_bytes(plan, most);
    cr_assert_eq(tmaring_workspace_bytes(plan, 0), TMARING_PARTIALS_OFFSET);
    cr_assert_eq(tmaring_workspace_bytes(plan, -5), TMARING_PARTIALS_OFFSET);
    for (int k = 0; k < 20; ++k) {
      const int64_t rows = k == 0 ? most : noise_below(&n, (int32_t)most + 1);
      const tmaring_args a = draft_args(plan, rows);
      cr_assert_leq(partials_end(plan, &a), bytes, "%d of %d rows", (int)rows, (int)most);
    }
    for (int32_t v = 0; v < plan->variant_count; ++v) { /* the largest M of each class up to it */
      if (plan->variant[v].rows_limit > most) continue;
      const tmaring_args a = draft_args(plan, plan->variant[v].rows_limit);
      cr_assert_leq(partials_end(plan, &a), bytes);
    }
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

Test(plan_columns, the_workspace_is_no_larger_than_the_data, .timeout = 10)
{
  draft d = column_draft(0, TMARING_F32, 65537, 4096);
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_leq(tmaring_workspace_bytes(plan, 65537), (size_t)65537 * 4096 * 4 / 16);
  cr_expect_leq(tmaring_workspace_bytes(plan, 65537), tmaring_workspace_bytes(plan, 1 << 20));
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan_columns, row_counts_end_where_tiles_do, .timeout = 10)
{
  for (int32_t f = 0; f < 2; ++f) {
    draft d = column_draft(f, TMARING_F32, 1000, f ? 60000 : 8);
    tmaring_args a;
    d.options.order = TMARING_ORDER_TICKET;
    tmaring_plan *plan = draft_accept(&d);
    const int64_t limit = plan->variant[plan->variant_count - 1].rows_limit;
    cr_expect_eq(tmaring_plan_args(plan, limit, &a), TMARING_OK);
    cr_expect_lt(a.walk.tiles, (int64_t)1 << 31);
    cr_expect_gt(a.walk.tiles, 0);
    cr_expect_eq(tmaring_plan_args(plan, limit + 1, &a), TMARING_ERROR_CAPACITY);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* ---- all of it, proven ---- */

static void random_options(tmaring_plan_options *o, noise *n, int32_t cols)
{
  o->mode = noise_below(n, 2) ? TMARING_AUTO : noise_below(n, 2);
  o->order = noise_below(n, 3) ? noise_below(n, 4) : TMARING_AUTO;
  o->policy = noise_below(n, 3);
  o->store = noise_below(n, 2);
  o->stages = noise_below(n, 3) ? TMARING_AUTO : 1 + noise_below(n, 6);
  o->scope = noise_below(n, 3) ? TMARING_AUTO : TMARING_SCOPE_LANES + noise_below(n, 4);
  o->consumers[0] = noise_below(n, 3) ? TMARING_AUTO : 32 << noise_below(n, 4);
  o->tile_rows = noise_below(n, 3) ? TMARING_AUTO : 1 + noise_below(n, 20);
  o->piece_cols = noise_below(n, 4) ? TMARING_AUTO : 1 + noise_below(n, cols);
  o->workers = noise_below(n, 3) ? TMARING_AUTO : 1 + noise_below(n, 20);
}

Test(plan_columns, random_plans_pass_the_checker, .timeout = 120)
{
  static const tmaring_dtype types[] = {TMARING_F32, TMARING_BF16, TMARING_F64, TMARING_E4M3, TMARING_I32};
  noise n = noise_seed(77);
  int32_t accepted = 0, long_chunks = 0;
  for (int i = 0; i < 1500; ++i) {
    const int32_t cols = 1 + noise_below(&n, noise_below(&n, 3) ? 300 : 30000);
    const int64_t rows = noise_below(&n, noise_below(&n, 2) ? 50 : 5000);
    draft d = column_draft(noise_below(&n, FORMULAS), types[noise_below(&n, 5)], noise_below(&n, 2) ? 0 : rows, cols);
    tmaring_status status;
    random_options(&d.options, &n, cols);
    for (int32_t t = 0; t < d.count; ++t) {
      if (noise_below(&n, 4) == 0 && d.tensor[t].cols >= cols)
        d.tensor[t].pitch = d.tensor[t].cols + noise_below(&n, 9);
      if (noise_below(&n, 4) == 0) d.tensor[t].alignment = tmaring_dtype_bytes((int32_t)d.tensor[t].dtype);
    }
    tmaring_plan *plan = draft_plan(&d, &status);
    cr_assert(plan || status == TMARING_ERROR_CAPACITY || status == TMARING_ERROR_UNSUPPORTED, "%s: %s",
              tmaring_status_name(status), tmaring_last_detail());
    if (plan) {
      accepted += 1;
      long_chunks += draft_args(plan, rows).walk.chunk > 64;
      cr_assert_eq(tmaring_check(plan, rows, NULL), TMARING_OK, "plan %d: %s", i, tmaring_last_detail());
    }
    tmaring_plan_free(plan);
    draft_free(&d);
  }
  printf("plan_columns: %d of 1500 accepted, %d with long chunks\n", accepted, long_chunks);
  cr_expect_geq(accepted, 1000);
  cr_expect_geq(long_chunks, 20);
}

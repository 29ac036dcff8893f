/* The planner: tensors of every shape and type, how they are laid out, and which of them are refused. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"

#define HALVES "f(x[M,2N]) = silu(first(x)) * second(x)"
#define PAIRS  "f(x[M,2N]) = even(x) * odd(x)"
#define GROUPS "f(x[M,N]) = out s = max(gamax(x, 128), 1e-10) / 448; q = x / s"

/* ---- refused tensors ---- */

typedef struct refusal {
  const char *formula, *tensor;
  void (*change)(tmaring_tensor *t);
  tmaring_status status;
  const char *words[3]; /* field, got, needs */
} refusal;

#define CHANGE(name, body)                                                                                             \
  static void name(tmaring_tensor *t)                                                                                  \
  {                                                                                                                    \
    body;                                                                                                              \
  }

CHANGE(as_i64, t->dtype = TMARING_I64)
CHANGE(odd_double, t->cols = 255)
CHANGE(short_double, t->cols = 254)
CHANGE(more_groups, t->cols = 3)
CHANGE(many_rows, t->rows = 100)
CHANGE(one_value, t->pitch = TMARING_ONE_VALUE)
CHANGE(with_step, t->step = 2)
CHANGE(negative_step, t->step = -1)
CHANGE(huge_step, t->step = (int64_t)1 << 50)
CHANGE(close_steps, (t->step = 3, t->pitch = 2))
CHANGE(in_groups, (t->group_rows = 4, t->group_pitch = 4096))
CHANGE(groups_of_none, (t->group_rows = 0, t->group_pitch = 4096))
CHANGE(groups_of_less, (t->group_rows = -4, t->group_pitch = 4096))
CHANGE(groups_too_large, (t->group_rows = ((int64_t)1 << 30) + 1, t->group_pitch = (int64_t)1 << 36))
CHANGE(groups_too_close, (t->group_rows = 4, t->group_pitch = 1023))
CHANGE(groups_without_pitch, t->group_rows = 4)
CHANGE(groups_too_far, (t->group_rows = 4, t->group_pitch = (int64_t)1 << 50))
CHANGE(groups_past_64_bits, (t->group_rows = 1 << 30, t->pitch = (int64_t)1 << 36, t->group_pitch = 4096))

static const refusal refusals[] = {
    {"y = x + 1", "x", as_i64, TMARING_ERROR_TYPE, {"x.dtype", "got i64", "[M]"}},
    {"y = x * w[N]", "w", as_i64, TMARING_ERROR_TYPE, {"w.dtype", "got i64", "[M]"}},
    {HALVES, "x", odd_double, TMARING_ERROR_SHAPE, {"x.cols", "got 255", "512: 2N with N = 256 of y"}},
    {"f(x[M,2N]) = sum(first(x) * second(x))", "x", odd_double, TMARING_ERROR_SHAPE, {"x.cols", "got 255", "even"}},
    {PAIRS, "x", short_double, TMARING_ERROR_SHAPE, {"x.cols", "got 254", "512"}},
    {GROUPS, "s", more_groups, TMARING_ERROR_SHAPE, {"s.cols", "got 3", "2: a value per group of 128 columns"}},
    {"y = colsum(x)", "y", many_rows, TMARING_ERROR_SHAPE, {"y.rows", "got 100", "needs 1"}},
    {"s = sum(x)", "s", one_value, TMARING_ERROR_SHAPE, {"s.pitch", "TMARING_ONE_VALUE", "1 or more"}},
    {"y = x * v[M]", "x", one_value, TMARING_ERROR_SHAPE, {"x.pitch", "got -1", "at least cols = 256"}},
    {GROUPS, "s", one_value, TMARING_ERROR_SHAPE, {"s.pitch", "got -1", "at least 1"}},
    {"y = x * v[M]", "v", with_step, TMARING_ERROR_SHAPE, {"v.step", "got 2", "needs 0"}},
    {GROUPS, "x", with_step, TMARING_ERROR_SHAPE, {"x.step", "got 2", "needs 0"}},
    {GROUPS, "s", negative_step, TMARING_ERROR_SHAPE, {"s.step", "got -1", "at least 1"}},
    {GROUPS, "s", huge_step, TMARING_ERROR_SHAPE, {"s.step", "1125899906842624", "at most"}},
    {GROUPS, "s", close_steps, TMARING_ERROR_SHAPE, {"s.step", "got 3 with pitch 2", "needs 1000 rows"}},
    {"y = x * v[M]", "v", in_groups, TMARING_ERROR_SHAPE, {"v.group_rows", "got 4", "matrices"}},
    {"y = x * w[N]", "w", in_groups, TMARING_ERROR_SHAPE, {"w.group_rows", "got 4", "matrices"}},
    {GROUPS, "s", in_groups, TMARING_ERROR_SHAPE, {"s.group_rows", "got 4", "matrices"}},
    {"y = x + 1", "x", groups_of_none, TMARING_ERROR_SHAPE, {"x.group_rows", "got 0 with group_pitch 4096", "1 .. "}},
    {"y = x + 1", "x", groups_of_less, TMARING_ERROR_SHAPE, {"x.group_rows", "got -4", "1 .. 1073741824"}},
    {"y = x + 1", "x", groups_too_large, TMARING_ERROR_SHAPE, {"x.group_rows", "got 1073741825", "1073741824"}},
    {"y = x + 1", "x", groups_too_close, TMARING_ERROR_SHAPE, {"x.group_pitch", "got 1023", "the 1024 elements"}},
    {"y = x + 1", "x", groups_without_pitch, TMARING_ERROR_SHAPE, {"x.group_pitch", "got 0", "the 1024 elements"}},
    {"y = x + 1", "x", groups_too_far, TMARING_ERROR_SHAPE, {"x.group_pitch", "1125899906842624", "at most"}},
    {"y = x + 1", "x", groups_past_64_bits, TMARING_ERROR_SHAPE, {"x.group_rows", "1073741824", "2^63"}},
};

static void expect_words(const char *what, const char *const *words)
{
  for (int i = 0; i < 3 && words[i]; ++i)
    cr_expect_not_null(strstr(tmaring_last_detail(), words[i]), "%s: \"%s\" lacks \"%s\"", what, tmaring_last_detail(),
                       words[i]);
}

Test(plan_shapes, refused_tensors_are_named, .timeout = 10)
{
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; ++i) {
    const refusal *r = &refusals[i];
    char what[32];
    tmaring_status status;
    draft d = draft_make(r->formula, TMARING_F32, 1000, 256);
    r->change(&d.tensor[draft_tensor(&d, r->tensor)]);
    snprintf(what, sizeof what, "case %zu", i);
    cr_expect_null(draft_plan(&d, &status), "%s", what);
    cr_expect_eq(status, r->status, "%s: %s, \"%s\"", what, tmaring_status_name(status), tmaring_last_detail());
    expect_words(what, r->words);
    draft_free(&d);
  }
}

/* The same changes to sound tensors, in what they allow. */
Test(plan_shapes, strides_that_are_served, .timeout = 10)
{
  draft d = draft_make("y = x * v[M] + u[M]; s = sum(x)", TMARING_F32, 1000, 256);
  d.tensor[draft_tensor(&d, "v")].pitch = 7;
  d.tensor[draft_tensor(&d, "u")].pitch = TMARING_ONE_VALUE;
  d.tensor[draft_tensor(&d, "u")].rows = 1;
  d.tensor[draft_tensor(&d, "s")].pitch = 3;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 1000);
  cr_expect_eq(a.row_scalar[tmaring__formula_slot(d.formula, draft_tensor(&d, "v")).index].pitch, 28);
  cr_expect_eq(a.row_scalar[tmaring__formula_slot(d.formula, draft_tensor(&d, "u")).index].pitch, 0,
               "one for all rows");
  cr_expect_eq(a.row_output[0].pitch, 12);
  cr_expect_eq(draft_info(plan).bytes_per_row, 2 * 1024 + 4 + 4, "u is read once, not per row");
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan_shapes, i64_holds_labels_and_column_numbers, .timeout = 10)
{
  draft d = draft_make("i = argmax(x); l = x[label[M]]", TMARING_BF16, 100, 256);
  d.tensor[draft_tensor(&d, "label")].dtype = d.tensor[draft_tensor(&d, "i")].dtype = TMARING_I64;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(plan->code.wide, 0);
  cr_expect_eq(draft_args(plan, 100).row_scalar[0].pitch, 8);
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan_shapes, something_must_tell_N, .timeout = 10)
{
  static const char *const formulas[] = {"f(v[M]) = v * 2", "f(v[M,N/4]) = v * 2", "f(v[M]; a) = out s = v * a"};
  for (size_t i = 0; i < sizeof formulas / sizeof formulas[0]; ++i) {
    tmaring_formula *formula = NULL;
    tmaring_tensor tensor[2] = {TMARING_TENSOR_INIT, TMARING_TENSOR_INIT};
    tmaring_machine machine;
    tmaring_plan *plan = NULL;
    tmaring_machine_h200(&machine);
    cr_assert_eq(tmaring_formula_parse(&formula, formulas[i]), TMARING_OK, "%s", tmaring_last_detail());
    tensor[0].cols = tensor[1].cols = 1;
    cr_expect_eq(tmaring_plan_create(&plan, formula, tensor, 2, &machine, NULL), TMARING_ERROR_UNSUPPORTED, "%s",
                 formulas[i]);
    cr_expect_not_null(strstr(tmaring_last_detail(), "tells N"), "%s", tmaring_last_detail());
    tmaring_formula_free(formula);
  }
}

/* ---- numbers of columns and rows ---- */

Test(plan_shapes, fp32_counts_columns_up_to_2_to_the_24, .timeout = 10)
{
  static const struct {
    const char *formula, *word;
  } cases[] = {{"y = x + col", "col:"}, {"s = argmax(x)", "argmax"}, {"s = x[v[M]]", "gather"}};
  for (size_t i = 0; i < 3; ++i) {
    draft d = draft_make(cases[i].formula, TMARING_F32, 10, (1 << 24) + 1);
    tmaring_status status;
    cr_expect_null(draft_plan(&d, &status), "%s", cases[i].formula);
    cr_expect_eq(status, TMARING_ERROR_CAPACITY, "%s", cases[i].formula);
    cr_expect_not_null(strstr(tmaring_last_detail(), cases[i].word), "%s", tmaring_last_detail());
    cr_expect_not_null(strstr(tmaring_last_detail(), "got N = 16777217, needs at most 16777216"), "%s",
                       tmaring_last_detail());
    d.tensor[0].dtype = TMARING_F64;
    tmaring_plan *plan = draft_accept(&d);
    tmaring_plan_free(plan);
    for (int32_t t = 0; t < d.count; ++t)
      if (d.tensor[t].cols > 1) d.tensor[t].cols = 1 << 24;
    d.tensor[0].dtype = TMARING_F32;
    plan = draft_accept(&d);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

Test(plan_shapes, numbered_rows_and_columns_are_not_flat, .timeout = 10)
{
  static const char *const formulas[] = {"y = x + col", "y = x * row", "y = where(col < row, x, 0)"};
  for (size_t i = 0; i < 3; ++i) {
    draft d = draft_make(formulas[i], TMARING_F32, 1000, 256);
    d.options.scope = TMARING_SCOPE_FLAT;
    tmaring_plan *plan = draft_accept(&d);
    cr_expect_neq(draft_args(plan, 1000).scope.kind, TMARING_SCOPE_FLAT, "%s", formulas[i]);
    cr_expect_not_null(draft_note(plan, "numbers rows or columns"), "%s", formulas[i]);
    cr_expect_eq(plan->code.fixed, 0, "%s", formulas[i]);
    cr_expect_eq(draft_note(plan, "row: row numbers") != NULL, i > 0, "%s", formulas[i]);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* ---- nothing to load ---- */

Test(plan_shapes, formulas_without_an_input_matrix, .timeout = 10)
{
  static const char *const formulas[] = {"fill(; value = 2) = value", "f(w[N]) = w", "f(v[M], w[N]) = v * w + col",
                                         "f(w[N], v[M]) = out s = sum(w) * v"};
  for (size_t i = 0; i < 4; ++i) {
    for (int32_t store = TMARING_STORE_DIRECT; store <= TMARING_STORE_BULK; ++store) {
      for (int64_t cols = 1; cols < 200000; cols = 7 * cols + 3) {
        draft d = draft_make(formulas[i], TMARING_F32, 1000, cols);
        d.options.store = store;
        tmaring_plan *plan = draft_accept(&d);
        const tmaring_args a = draft_args(plan, 1000);
        cr_expect_eq(a.input_count, 0);
        cr_expect_eq(a.smem.stage_bytes, 0, "a fill holds nothing");
        cr_expect_eq(draft_info(plan).store, TMARING_STORE_DIRECT);
        cr_expect_not_null(draft_note(plan, "no input is streamed"));
        cr_expect(draft_info(plan).cost_us > 0.0 && draft_info(plan).cost_us < 1e4, "%g us", draft_info(plan).cost_us);
        cr_expect_eq(tmaring_check(plan, 1000, NULL), TMARING_OK, "%s: %s", formulas[i], tmaring_last_detail());
        tmaring_plan_free(plan);
        draft_free(&d);
      }
    }
  }
}

Test(plan_shapes, bulk_stores_need_stages_to_store_from, .timeout = 10)
{
  draft d = draft_make("fill(; value) = value", TMARING_BF16, 1000, 256);
  d.options.store = TMARING_STORE_BULK;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_not_null(draft_note(plan, "store bulk -> direct: no [M,N] input"));
  cr_expect_eq(draft_args(plan, 1000).scope.kind, TMARING_SCOPE_FLAT);
  tmaring_plan_free(plan);
  draft_free(&d);
}

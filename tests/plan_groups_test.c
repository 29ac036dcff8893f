/* The planner: groups of columns, which lanes hold them, and where their values go. */
#include <criterion/criterion.h>
#include <string.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"

#define GROUPS "f(x[M,N]) = out s = max(gamax(x, 128), 1e-10) / 448; q = x / s"

/* ---- groups of columns ---- */

typedef struct group_case {
  const char *formula;
  tmaring_dtype dtype;
  const char *words[2]; /* refused; NULL: planned */
} group_case;

Test(plan_groups, a_warp_holds_a_group, .timeout = 10)
{
  static const group_case cases[] = {
      {"y = x * gsum(x, 256)", TMARING_BF16, {NULL, NULL}},
      {"y = x * gsum(x, 512)", TMARING_BF16, {"k = 512", "8 .. 256"}},
      {"y = x * gsum(x, 8)", TMARING_BF16, {NULL, NULL}},
      {"y = x * gsum(x, 4)", TMARING_BF16, {"k = 4", "8 .. 256"}},
      {"y = x * gsum(x, 4)", TMARING_F32, {NULL, NULL}},
      {"y = x * gsum(x, 256)", TMARING_F32, {"k = 256", "4 .. 128"}},
      {"y = x * gsum(x, 2)", TMARING_F64, {NULL, NULL}},
      {"y = x * gsum(x, 128)", TMARING_F64, {"k = 128", "2 .. 64"}},
      {"y = x * gsum(x, 16) * gmin(x, 2)", TMARING_F32, {"k = 2", "4 .. 128"}},
      {"f(q[M,N], s[M,N/256]) = q * s", TMARING_F32, {"k = 256", "4 .. 128"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    draft d = draft_make(cases[i].formula, cases[i].dtype, 100, 1024);
    tmaring_status status;
    tmaring_plan *plan = draft_plan(&d, &status);
    cr_expect_eq(status, cases[i].words[0] ? TMARING_ERROR_UNSUPPORTED : TMARING_OK, "case %zu: %s", i,
                 tmaring_last_detail());
    for (int k = 0; k < 2 && cases[i].words[k]; ++k)
      cr_expect_not_null(strstr(tmaring_last_detail(), cases[i].words[k]), "case %zu: %s", i, tmaring_last_detail());
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

Test(plan_groups, groups_have_fixed_frames_and_are_not_flat, .timeout = 10)
{
  draft d = draft_make(GROUPS, TMARING_BF16, 1000, 250);
  d.options.scope = TMARING_SCOPE_FLAT;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 1000);
  cr_expect_eq(plan->code.fixed, 1);
  cr_expect_eq(a.scope.fixed, 1);
  cr_expect_neq(a.scope.kind, TMARING_SCOPE_FLAT);
  cr_expect_not_null(draft_note(plan, "scope flat -> auto: the formula has groups of columns"));
  cr_expect_not_null(draft_note(plan, "128 columns"));
  cr_expect_eq(a.group_output_count, 1);
  cr_expect_eq(a.group_output[0].pitch, 4, "dense: 2 groups of bf16");
  cr_expect_eq(a.group_output[0].step, 2);
  cr_expect_eq(draft_info(plan).bytes_per_row, 2 * 500 + 4);
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan_groups, lanes_of_a_row_hold_its_groups, .timeout = 10)
{
  static const struct {
    const char *formula;
    int64_t cols;
    int32_t lanes, kind, got; /* asked; what it comes to */
    const char *note;
  } cases[] = {
      {"y = x * gsum(x, 64)", 256, 2, TMARING_SCOPE_LANES, 8, "lanes_per_row 2 -> 8"},
      {"y = x * gsum(x, 64)", 256, 8, TMARING_SCOPE_LANES, 8, NULL},
      {"y = x * gsum(x, 64)", 256, 16, TMARING_SCOPE_LANES, 16, NULL},
      {"y = x * gsum(x, 64)", 20, 2, TMARING_SCOPE_LANES, 4, "lanes_per_row 2 -> 4"}, /* all of a short row */
      {"y = x * gsum(x, 256)", 512, 8, TMARING_SCOPE_WARP, 32, "scope lanes -> warp"},
      {"y = x * gsum(x, 256)", 512, TMARING_AUTO, TMARING_SCOPE_WARP, 32, "scope lanes -> warp"},
      {"y = x * gsum(x, 128)", 512, TMARING_AUTO, TMARING_SCOPE_LANES, 16, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    draft d = draft_make(cases[i].formula, TMARING_BF16, 1000, cases[i].cols);
    d.options.scope = TMARING_SCOPE_LANES;
    d.options.lanes_per_row = cases[i].lanes;
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_scope s = draft_args(plan, 1000).scope;
    cr_expect_eq(s.kind, cases[i].kind, "case %zu: scope %d", i, s.kind);
    cr_expect_eq(1 << s.lanes_log2, cases[i].got, "case %zu: %d lanes", i, 1 << s.lanes_log2);
    if (cases[i].note)
      cr_expect_not_null(draft_note(plan, cases[i].note), "case %zu", i);
    else
      cr_expect(!draft_note(plan, "lanes_per_row") && !draft_note(plan, "scope lanes ->"), "case %zu", i);
    cr_expect_eq(tmaring_check(plan, 1000, NULL), TMARING_OK, "case %zu: %s", i, tmaring_last_detail());
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* Column-major scales: groups M apart, so that the step bounds the rows. */
Test(plan_groups, column_major_outputs_bound_the_rows, .timeout = 10)
{
  draft d = draft_make(GROUPS, TMARING_F32, 1000, 256);
  tmaring_tensor *s = &d.tensor[draft_tensor(&d, "s")];
  tmaring_status status;
  tmaring_args a;
  s->pitch = 1;
  s->step = 1000;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(tmaring_plan_args(plan, 1000, &a), TMARING_OK);
  cr_expect_eq(a.group_output[0].pitch, 4);
  cr_expect_eq(a.group_output[0].step, 4000);
  cr_expect_eq(tmaring_plan_args(plan, 1001, &a), TMARING_ERROR_CAPACITY, "the next group begins there");
  cr_expect_not_null(draft_note(plan, "rows: at most 1000"));
  tmaring_plan_free(plan);
  s->step = 999;
  cr_expect_null(draft_plan(&d, &status));
  cr_expect_eq(status, TMARING_ERROR_SHAPE);
  d.tensor[0].rows = s->rows = d.tensor[2].rows = 0;
  for (int32_t i = 0; i < d.count; ++i) d.tensor[i].rows = 0;
  plan = draft_accept(&d);
  cr_expect_eq(tmaring_plan_args(plan, 999, &a), TMARING_OK, "without a hint the launch is refused, not the plan");
  cr_expect_eq(tmaring_plan_args(plan, 1000, &a), TMARING_ERROR_CAPACITY);
  tmaring_plan_free(plan);
  draft_free(&d);
}

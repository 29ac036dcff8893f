/* When the planner has the CTAs of a cluster share rows, how it cuts them, and what it says. */
#include <criterion/criterion.h>
#include <stddef.h>
#include <string.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"

#define SOFTMAX "softmax(x[M,N]) = e = exp(x - max(x)); y = e / sum(e)"

static void check(const tmaring_plan *plan, int64_t rows)
{
  cr_assert_eq(tmaring_check(plan, rows, NULL), TMARING_OK, "%s", tmaring_last_detail());
}

/* ---- left to the planner ---- */

typedef struct choice {
  tmaring_dtype dtype;
  int64_t rows, cols;
  int32_t cluster, stages; /* cluster 1: none */
} choice;

/* The smallest cluster whose CTAs load ahead, where there are rows enough; more CTAs where there are few rows; one
 * stage where there is no more room; none where a CTA has room for rows, or eight have none. */
Test(cluster_plan, size_follows_from_the_row, .timeout = 30)
{
  static const choice choices[] = {
      {TMARING_F32, 4096, 4096, 1, 0},    {TMARING_F32, 4096, 32768, 2, 2},   {TMARING_BF16, 4096, 32768, 1, 0},
      {TMARING_BF16, 4096, 65536, 2, 2},  {TMARING_F32, 1024, 131072, 8, 2},  {TMARING_BF16, 1024, 131072, 4, 2},
      {TMARING_BF16, 1024, 151937, 4, 2}, {TMARING_BF16, 64, 151937, 8, 2},   {TMARING_F32, 1024, 151937, 8, 2},
      {TMARING_F32, 1, 151937, 8, 2},     {TMARING_F32, 1024, 262144, 8, 1},  {TMARING_BF16, 1024, 262144, 8, 2},
      {TMARING_F32, 1024, 300007, 8, 1},  {TMARING_F32, 1024, 1000000, 1, 0}, {TMARING_E4M3, 1024, 151937, 2, 2},
      {TMARING_F64, 1024, 200000, 8, 1},
  };
  for (size_t i = 0; i < sizeof choices / sizeof choices[0]; ++i) {
    const choice *c = &choices[i];
    draft d = draft_make(SOFTMAX, c->dtype, c->rows, c->cols);
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args args = draft_args(plan, c->rows);
    cr_expect_eq(args.walk.cluster, c->cluster, "case %d: got %d CTAs", (int)i, (int)args.walk.cluster);
    if (c->cluster > 1) cr_expect_eq((int32_t)args.stages, c->stages, "case %d: got %u stages", (int)i, args.stages);
    if (c->cluster > 1) cr_expect_not_null(draft_note(plan, "each row is read once"), "case %d", (int)i);
    cr_expect_eq(plan->code.cluster, c->cluster > 1);
    check(plan, c->rows < 300 ? c->rows : 300);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* What the launch is like: a worker is a cluster, all threads of a CTA are consumers, slices are the row. */
Test(cluster_plan, arguments, .timeout = 30)
{
  draft d = draft_make(SOFTMAX, TMARING_F32, 1024, 151937);
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args args = draft_args(plan, 1024);
  const tmaring_walk *w = &args.walk;
  cr_assert_eq(args.scope.kind, TMARING_SCOPE_CLUSTER);
  cr_assert_eq(args.scope.warps_per_row, tmaring_cta_consumer_warps(&args.cta));
  cr_assert_eq(args.cta.mode, TMARING_MODE_PIPELINED);
  cr_assert_neq(w->order, TMARING_ORDER_TICKET);
  cr_assert_eq(w->workers, 132 / w->cluster);
  cr_assert_eq(tmaring_workspace_bytes(plan, 1024), 0);
  cr_assert(w->rank == 0 && w->pieces == 1 && w->tile_rows == 1 && w->piece_cols % 4 == 0);
  cr_assert((w->cluster - 1) * w->piece_cols < w->cols && w->cluster * w->piece_cols >= w->cols);
  cr_assert_eq(draft_args(plan, 3).walk.workers, 3); /* no cluster without a row */
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* A row that is read once anyway gains by more SMs where rows are few. */
Test(cluster_plan, few_rows_of_one_pass, .timeout = 30)
{
  draft d = draft_make("n = argmax(x)", TMARING_F32, 4, 151937);
  tmaring_plan *plan = draft_accept(&d);
  cr_assert_eq(draft_args(plan, 4).walk.cluster, 8);
  check(plan, 4);
  tmaring_plan_free(plan);
  draft_free(&d);
}

typedef struct change {
  size_t offset; /* of an option */
  int32_t value;
} change;

#define SET(field, value)                                                                                              \
  {                                                                                                                    \
    offsetof(tmaring_plan_options, field), value                                                                       \
  }

static void apply(tmaring_plan_options *options, const change *changes, int count)
{
  for (int i = 0; i < count; ++i) {
    if (changes[i].offset > 0) memcpy((char *)options + changes[i].offset, &changes[i].value, sizeof changes[i].value);
  }
}

/* Whoever asks for something that clusters cannot do is not given one. */
Test(cluster_plan, options_that_leave_no_room_for_it, .timeout = 30)
{
  static const change changes[] = {
      SET(cluster, 1),
      SET(mode, TMARING_MODE_WARP_SPECIALIZED),
      SET(role_axis, TMARING_AXIS_Y),
      SET(order, TMARING_ORDER_TICKET),
      SET(piece_cols, 4096),
      SET(scope, TMARING_SCOPE_CTA),
      SET(warps_per_row, 4),
      SET(workers, 100),
  };
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; ++i) {
    draft d = draft_make(SOFTMAX, TMARING_F32, 1024, 151937);
    apply(&d.options, &changes[i], 1);
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args args = draft_args(plan, 1024);
    cr_expect(args.walk.cluster == 1 && args.walk.passes == 2, "case %d: %d CTAs", (int)i, (int)args.walk.cluster);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* ---- asked for ---- */

Test(cluster_plan, sizes_asked_for, .timeout = 30)
{
  for (int32_t ctas = 2; ctas <= 8; ctas *= 2) {
    for (int64_t cols = 33; cols < 9000; cols = cols * 5 / 2 + 1) {
      draft d = draft_make(SOFTMAX, TMARING_F16, 10, cols);
      d.options.cluster = ctas;
      if (cols % 2) d.options.scope = TMARING_SCOPE_CLUSTER;
      tmaring_plan *plan = draft_accept(&d);
      const tmaring_args args = draft_args(plan, 10);
      int32_t due = ctas; /* slices are units of eight columns, and none is empty */
      while ((due - 1) * ((cols + 8 * due - 1) / (8 * due) * 8) >= cols) due /= 2;
      cr_expect_eq(args.walk.cluster, due, "N = %d: got %d", (int)cols, (int)args.walk.cluster);
      check(plan, 10);
      tmaring_plan_free(plan);
      draft_free(&d);
    }
  }
}

typedef struct normal_case {
  const char *formula;
  int64_t cols;
  change changes[2];
  int32_t cluster; /* what comes of it */
  const char *note;
} normal_case;

#define RMSNORM_BACKWARD                                                                                               \
  "f(dy[M,N], x[M,N], w[N]; eps = 1e-6) = rs = rsqrt(mean(x * x) + eps); xh = x * rs; dw = colsum(dy * xh); "          \
  "dx = rs * (dy * w - xh * mean(dy * w * xh))"

Test(cluster_plan, what_makes_no_sense_is_normalised_with_a_note, .timeout = 30)
{
  static const normal_case cases[] = {
      {"y = x + x", 4096, {SET(cluster, 4), {0, 0}}, 1, "scope cluster -> auto: nothing is reduced"},
      {RMSNORM_BACKWARD, 4096, {SET(cluster, 4), {0, 0}}, 1, "scope cluster -> auto: the formula reduces columns"},
      {SOFTMAX, 3, {SET(cluster, 4), {0, 0}}, 1, "leave no two CTAs a slice each"},
      {SOFTMAX, 12, {SET(cluster, 8), {0, 0}}, 2, "cluster 8 -> 2"},
      {SOFTMAX, 4096, {SET(cluster, 4), SET(mode, TMARING_MODE_WARP_SPECIALIZED)}, 4, "mode warp-specialized -> pipe"},
      {SOFTMAX, 4096, {SET(cluster, 4), SET(role_axis, TMARING_AXIS_Z)}, 4, "role_axis: left out"},
      {SOFTMAX, 4096, {SET(cluster, 4), SET(order, TMARING_ORDER_TICKET)}, 4, "order ticket -> cyclic"},
      {SOFTMAX, 4096, {SET(cluster, 4), SET(tile_rows, 3)}, 4, "tile_rows 3 -> 1"},
      {SOFTMAX, 4096, {SET(cluster, 4), SET(piece_cols, 64)}, 4, "piece_cols: left out"},
      {SOFTMAX, 4096, {SET(cluster, 4), SET(warps_per_row, 2)}, 4, "warps_per_row: left out"},
      {SOFTMAX, 4096, {SET(cluster, 4), SET(scope, TMARING_SCOPE_WARP)}, 1, "cluster: left out"},
      {SOFTMAX, 4096, {SET(cluster, 1), SET(scope, TMARING_SCOPE_CLUSTER)}, 1, "cluster is 1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    draft d = draft_make(cases[i].formula, TMARING_F32, 50, cases[i].cols);
    apply(&d.options, cases[i].changes, 2);
    tmaring_plan *plan = draft_accept(&d);
    cr_expect_not_null(draft_note(plan, cases[i].note), "case %d: no note '%s'", (int)i, cases[i].note);
    cr_expect_eq(draft_args(plan, 50).walk.cluster, cases[i].cluster, "case %d", (int)i);
    check(plan, 50);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* Few SMs hold few CTAs at a time. */
Test(cluster_plan, machines_with_few_sms, .timeout = 30)
{
  draft d = draft_make(SOFTMAX, TMARING_F32, 50, 4096);
  d.machine.sm_count = 5;
  d.options.cluster = 8;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args args = draft_args(plan, 50);
  cr_assert(args.walk.cluster == 4 && args.walk.workers == 1);
  cr_assert_not_null(draft_note(plan, "cluster 8 -> 4"));
  tmaring_plan_free(plan);
  draft_free(&d);
}

typedef struct refusal {
  int64_t cols;
  change changes[2];
  tmaring_status status;
  const char *words;
} refusal;

Test(cluster_plan, what_cannot_be_is_refused, .timeout = 30)
{
  static const refusal refusals[] = {
      {4096, {SET(cluster, 3), {0, 0}}, TMARING_ERROR_ARGUMENT, "cluster: got 3"},
      {4096, {SET(cluster, 16), {0, 0}}, TMARING_ERROR_ARGUMENT, "cluster: got 16"},
      {4096, {SET(scope, 7), {0, 0}}, TMARING_ERROR_ARGUMENT, "scope: got 7"},
      {1000000, {SET(cluster, 8), {0, 0}}, TMARING_ERROR_CAPACITY, "shared memory: needs"},
      {262144, {SET(cluster, 8), SET(stages, 3)}, TMARING_ERROR_CAPACITY, "shared memory: needs"},
  };
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; ++i) {
    tmaring_status status;
    draft d = draft_make(SOFTMAX, TMARING_F32, 50, refusals[i].cols);
    apply(&d.options, refusals[i].changes, 2);
    cr_expect_null(draft_plan(&d, &status));
    cr_expect_eq(status, refusals[i].status, "case %d: %s", (int)i, tmaring_status_name(status));
    cr_expect_not_null(strstr(tmaring_last_detail(), refusals[i].words), "case %d: %s", (int)i, tmaring_last_detail());
    draft_free(&d);
  }
}

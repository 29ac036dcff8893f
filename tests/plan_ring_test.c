/* The planner: ring, shared memory, rows and workers. */
#include <criterion/criterion.h>
#include <string.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"

#define RMSNORM "rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * w"

/* ---- the ring ---- */

Test(plan_ring, prefetch_is_the_distance, .timeout = 10)
{
  for (int32_t stages = 1; stages <= 5; ++stages) {
    for (int32_t p = -stages; p < stages; ++p) {
      draft d = draft_make("y = x + x", TMARING_F32, 8191, 256);
      d.options.stages = stages;
      d.options.prefetch = p;
      tmaring_plan *plan = draft_accept(&d);
      const tmaring_args a = draft_args(plan, 8191);
      cr_expect_eq((int32_t)a.stages, stages);
      cr_expect_eq((int32_t)a.distance, p < 0 ? stages + p : p);
      tmaring_plan_free(plan);
      draft_free(&d);
    }
  }
}

Test(plan_ring, open_distance_leaves_a_pipelined_store_time, .timeout = 10)
{
  static const struct {
    int32_t mode, store, stages, distance, lag;
  } cases[] = {{0, 0, 4, 3, 0}, {0, 1, 4, 2, 0}, {0, 1, 2, 0, 0}, {0, 1, 1, 0, 0},
               {1, 0, 4, 3, 0}, {1, 1, 4, 3, 1}, {1, 1, 1, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    draft d = draft_make("y = x + x", TMARING_F32, 8191, 256);
    d.options.mode = cases[i].mode;
    d.options.store = cases[i].store;
    d.options.stages = cases[i].stages;
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args a = draft_args(plan, 8191);
    cr_expect_eq((int32_t)a.distance, cases[i].distance, "case %zu", i);
    if (cases[i].mode == TMARING_MODE_WARP_SPECIALIZED && cases[i].store == TMARING_STORE_BULK)
      cr_expect_eq((int32_t)a.store_lag, cases[i].lag, "case %zu", i);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

Test(plan_ring, F08_the_ring_may_be_longer_than_the_loop, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 132, 512);
  d.options.stages = 4;
  d.options.prefetch = 3;
  d.options.tile_rows = 1;
  d.options.workers = 132;
  tmaring_plan *plan = draft_accept(&d);
  for (int64_t trips = 1; trips <= 3; ++trips) {
    const tmaring_args a = draft_args(plan, 132 * trips);
    cr_expect_eq(a.walk.slots, trips);
    cr_expect_eq(a.walk.workers, 132);
    cr_expect_eq(a.stages, 4);
  }
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* ---- shared memory ---- */

static tmaring_status plan_with_limit(int32_t limit, int64_t *needs)
{
  draft d = draft_make("y = x + x", TMARING_F32, 100, 1024);
  tmaring_status status;
  d.options.stages = 4;
  d.options.tile_rows = 2; /* 4 x 8 KiB and the barriers */
  d.machine.smem_per_block_bytes = limit;
  tmaring_plan *plan = draft_plan(&d, &status);
  if (plan) *needs = draft_args(plan, 100).smem.total;
  tmaring_plan_free(plan);
  draft_free(&d);
  return status;
}

Test(plan_ring, F23_over_the_limit_names_both_numbers, .timeout = 10)
{
  int64_t needs = 0;
  cr_assert_eq(plan_with_limit(232448, &needs), TMARING_OK);
  cr_assert_eq(needs, 4 * 8192 + 128);
  cr_expect_eq(plan_with_limit((int32_t)needs, &needs), TMARING_OK, "exactly the limit fits");
  cr_expect_eq(plan_with_limit((int32_t)needs - 1, &needs), TMARING_ERROR_CAPACITY);
  cr_expect_not_null(strstr(tmaring_last_detail(), "32896"), "%s", tmaring_last_detail());
  cr_expect_not_null(strstr(tmaring_last_detail(), "32895"), "%s", tmaring_last_detail());
}

Test(plan_ring, F23_the_whole_opt_in_can_be_used, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 100, 32);
  tmaring_status status;
  d.options.stages = 1;
  d.options.tile_rows = (232448 - 128) / 128;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(draft_args(plan, 100000).smem.total, 232448);
  tmaring_plan_free(plan);
  d.options.tile_rows += 1;
  cr_expect_null(draft_plan(&d, &status));
  cr_expect_eq(status, TMARING_ERROR_CAPACITY);
  cr_expect_not_null(strstr(tmaring_last_detail(), "needs 232576"), "%s", tmaring_last_detail());
  cr_expect_not_null(strstr(tmaring_last_detail(), "allows 232448"), "%s", tmaring_last_detail());
  draft_free(&d);
}

Test(plan_ring, row_vectors_go_to_shared_memory_while_they_are_small, .timeout = 10)
{
  draft small = draft_make(RMSNORM, TMARING_BF16, 4096, 4096);
  tmaring_plan *plan = draft_accept(&small);
  tmaring_args a = draft_args(plan, 4096);
  cr_expect_eq(a.vector[0].smem, a.smem.vectors);
  cr_expect_leq(a.vector[0].smem + 8192, a.smem.stages);
  tmaring_plan_free(plan);
  draft_free(&small);
  draft large = draft_make(RMSNORM, TMARING_F32, 4096, 100000);
  plan = draft_accept(&large);
  cr_expect_eq(draft_args(plan, 4096).vector[0].smem, TMARING_NOT_STAGED);
  tmaring_plan_free(plan);
  draft_free(&large);
}

/* ---- rows and workers ---- */

Test(plan_ring, F13_no_rows, .timeout = 10)
{
  draft d = draft_make(RMSNORM, TMARING_BF16, 0, 2520);
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args none = draft_args(plan, 0), four = draft_args(plan, 4);
  cr_expect_eq(none.walk.tiles, 0);
  cr_expect_eq(none.walk.slots, 0);
  cr_expect_geq(none.walk.workers, 1);
  cr_expect_eq(four.walk.rows, 4);
  cr_expect_gt(four.walk.tiles, 0);
  tmaring_args args;
  cr_expect_eq(tmaring_plan_args(plan, -1, &args), TMARING_ERROR_ARGUMENT);
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan_ring, F25_any_number_of_sms, .timeout = 10)
{
  static const int32_t counts[] = {132, 114, 78, 26, 16, 4, 1};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
    draft d = draft_make("y = x + 1", TMARING_F32, 1000, 1024);
    d.machine.sm_count = counts[i];
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args a = draft_args(plan, 1000);
    cr_expect_leq(a.walk.workers, counts[i] * draft_info(plan).ctas_per_sm);
    cr_expect_geq(a.walk.workers, counts[i]);
    cr_expect_geq(a.walk.slots * a.walk.workers, a.walk.tiles);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

Test(plan_ring, workers_are_trimmed_to_the_work, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 8191, 256);
  d.options.tile_rows = 1;
  d.options.stages = 4;
  d.options.workers = 132;
  d.options.policy = TMARING_POLICY_WRAP;
  for (int32_t order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_TICKET; ++order) {
    d.options.order = order;
    tmaring_plan *plan = draft_accept(&d);
    cr_expect_eq(draft_args(plan, 10).walk.workers, order == TMARING_ORDER_SPLIT ? 3 : 10);
    cr_expect_eq(draft_args(plan, 1).walk.workers, 1);
    cr_expect_eq(draft_args(plan, 8191).walk.workers, 132);
    cr_expect_eq(tmaring_workspace_bytes(plan, 1000), order == TMARING_ORDER_TICKET ? TMARING_WORKSPACE_BYTES : 0u);
    tmaring_plan_free(plan);
  }
  draft_free(&d);
}

Test(plan_ring, variants_have_one_code_and_rising_limits, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 8191, 256);
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_gt(plan->variant_count, 1);
  for (int32_t i = 0; i < plan->variant_count; ++i) {
    const tmaring__variant *v = &plan->variant[i];
    cr_expect_eq(v->args.scope.kind, TMARING_SCOPE_FLAT);
    cr_expect_leq(v->ctas_per_sm, plan->code.min_ctas);
    cr_expect_eq(tmaring__plan_variant(plan, v->rows_limit), v);
    if (i == 0) continue;
    cr_expect_gt(v->rows_limit, plan->variant[i - 1].rows_limit);
    cr_expect_eq(tmaring__plan_variant(plan, plan->variant[i - 1].rows_limit + 1), v);
  }
  cr_expect_eq(plan->variant[plan->variant_count - 1].args.walk.order, TMARING_ORDER_TICKET, "much data: tickets");
  cr_expect_eq(plan->variant[0].args.walk.order, TMARING_ORDER_CYCLIC, "little data: no atomics");
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan_ring, F12_addresses_of_the_last_row_fit, .timeout = 10)
{
  static const int64_t shapes[][2] = {{131072, 16384}, {175000, 12288}, {4194305, 512}, {150000, 16384}};
  for (size_t i = 0; i < 4; ++i) {
    draft d = draft_make(RMSNORM, TMARING_BF16, shapes[i][0], shapes[i][1]);
    tmaring_plan *plan = draft_accept(&d);
    tmaring_args a = draft_args(plan, shapes[i][0]);
    tmaring_fill fill;
    tmaring_walk_fill(&a.walk, a.walk.tiles - 1, 0, &fill);
    cr_expect_eq(fill.row + fill.rows, shapes[i][0]);
    cr_expect_eq(tmaring_stream_address(&a.input[0], shapes[i][0] - 1, 0),
                 (uint64_t)(shapes[i][0] - 1) * (uint64_t)shapes[i][1] * 2);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

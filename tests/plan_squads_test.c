/* The planner: two consumer squads, how they are normalised or refused, and whose barriers a fill has. */
#include <criterion/criterion.h>
#include <string.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"
#include "tmaring/abi/frames.h"

static draft squad_draft(const char *formula, int64_t rows, int64_t cols, int32_t turns)
{
  draft d = draft_make(formula, TMARING_F32, rows, cols);
  d.options.squads = 2;
  d.options.turns = turns;
  return d;
}

static void expect_check(const tmaring_plan *plan, int64_t rows)
{
  tmaring_check_report report;
  report.size = sizeof report;
  cr_expect_eq(tmaring_check(plan, rows, &report), TMARING_OK, "%s", tmaring_last_detail());
}

Test(plan_squads, squads_make_a_producer_and_halve_the_arrivals, .timeout = 10)
{
  for (int32_t turns = 0; turns < 2; ++turns) {
    draft d = squad_draft("y = x + x", 8191, 256, turns);
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args a = draft_args(plan, 8191);
    cr_expect_eq(a.cta.mode, TMARING_MODE_WARP_SPECIALIZED);
    cr_expect_eq(a.cta.squads, 2);
    cr_expect_eq(a.cta.turns, turns);
    cr_expect_eq(plan->code.squads, 2);
    cr_expect_eq(tmaring_ring_empty_count(TMARING_RELEASE_WARP, (uint32_t)tmaring_cta_squad_warps(&a.cta)),
                 (uint32_t)tmaring_cta_consumer_warps(&a.cta) / 2);
    cr_expect_eq(a.walk.chunk, turns ? 1 : 2);
    cr_expect_eq(a.stages % 2, 0, "each stage is one squad's");
    expect_check(plan, 8191);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* 6 stages, 4 rows each, 2 groups: the fills in flight, at most 6 of them, have a pair of barriers each. */
Test(plan_squads, F06_no_two_loads_in_flight_share_a_barrier, .timeout = 30)
{
  for (int32_t turns = 0; turns < 2; ++turns) {
    draft d = squad_draft("y = x + x", 132 * 50 + 3, 128, turns);
    d.options.stages = 6;
    d.options.tile_rows = 4;
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args a = draft_args(plan, 132 * 50 + 3);
    cr_expect_eq(a.stages, 6);
    cr_expect_eq(a.walk.tile_rows, 4);
    cr_expect_leq(a.distance + 1, a.stages, "fills in flight");
    for (uint32_t k = 0; k < 48; ++k) {
      tmaring_cursor at, other;
      tmaring_cursor_init(&at);
      tmaring_cursor_skip(&at, k, a.stages);
      for (uint32_t i = 1; i <= a.distance; ++i) { /* those that may be in flight along with it */
        other = at;
        tmaring_cursor_skip(&other, i, a.stages);
        cr_assert_neq(other.stage, at.stage, "fills %u and %u", k, k + i);
      }
    }
    expect_check(plan, 132 * 50 + 3);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

typedef struct normalised {
  const char *formula, *note;
  int32_t mode, turns, order, piece_cols, scope;
  int32_t squads, due_turns;
} normalised;

Test(plan_squads, what_makes_no_sense_is_normalised, .timeout = 10)
{
  static const normalised cases[] = {
      {"y = x + x", "squads 2 -> 1", TMARING_MODE_PIPELINED, TMARING_AUTO, TMARING_AUTO, TMARING_AUTO, TMARING_AUTO, 1,
       0},
      {"y = colsum(x)", "turns cooperative -> alternating", TMARING_AUTO, 0, TMARING_AUTO, TMARING_AUTO, TMARING_AUTO,
       2, 1},
      {"y = x / sum(x)", "order ticket -> cyclic", TMARING_AUTO, 1, TMARING_ORDER_TICKET, 64, TMARING_AUTO, 2, 1},
      {"y = x / sum(x)", "squads 2 -> 1", TMARING_AUTO, 1, TMARING_AUTO, TMARING_AUTO, TMARING_SCOPE_CLUSTER, 1, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    draft d = squad_draft(cases[i].formula, 500, 512, cases[i].turns);
    d.options.mode = cases[i].mode;
    d.options.order = cases[i].order;
    d.options.piece_cols = cases[i].piece_cols;
    d.options.scope = cases[i].scope;
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args a = draft_args(plan, 500);
    cr_expect_not_null(draft_note(plan, cases[i].note), "case %zu", i);
    cr_expect_eq(a.cta.squads, cases[i].squads, "case %zu", i);
    cr_expect_eq(a.cta.turns, cases[i].due_turns, "case %zu", i);
    if (cases[i].order == TMARING_ORDER_TICKET) cr_expect_eq(a.walk.order, TMARING_ORDER_CYCLIC);
    expect_check(plan, 500);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

Test(plan_squads, turns_belong_to_squads, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 100, 64);
  d.options.turns = TMARING_TURNS_ALTERNATING;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_not_null(draft_note(plan, "turns: left out"));
  cr_expect_eq(draft_args(plan, 100).cta.turns, 0);
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan_squads, an_odd_number_of_warps_is_refused, .timeout = 10)
{
  tmaring_status status;
  draft d = squad_draft("y = x + x", 100, 64, 1);
  d.options.consumers[0] = 96;
  cr_expect_null(draft_plan(&d, &status));
  cr_expect_eq(status, TMARING_ERROR_UNSUPPORTED);
  cr_expect_not_null(strstr(tmaring_last_detail(), "3 warps"), "%s", tmaring_last_detail());
  d.options.consumers[0] = 256;
  d.options.scope = TMARING_SCOPE_GROUP;
  d.options.warps_per_row = 8;
  cr_expect_null(draft_plan(&d, &status));
  cr_expect_not_null(strstr(tmaring_last_detail(), "4 consumer warps of a squad"), "%s", tmaring_last_detail());
  d.options.squads = 3;
  cr_expect_null(draft_plan(&d, &status));
  cr_expect_eq(status, TMARING_ERROR_ARGUMENT);
  draft_free(&d);
}

/* Two squads have barriers for six units each, two of the sixteen pass turns. */
Test(plan_squads, units_of_both_squads_have_barriers_of_their_own, .timeout = 10)
{
  draft d = squad_draft("y = x / sum(x)", 1000, 4096, 1);
  d.options.consumers[0] = 896; /* two squads of 14 warps */
  d.options.scope = TMARING_SCOPE_GROUP;
  tmaring_status status;
  d.options.warps_per_row = 2; /* seven units each: one too many */
  cr_expect_null(draft_plan(&d, &status));
  cr_expect_eq(status, TMARING_ERROR_UNSUPPORTED);
  d.options.warps_per_row = TMARING_AUTO;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 1000);
  const int32_t units = tmaring_cta_consumer_warps(&a.cta) / a.scope.warps_per_row;
  cr_expect_leq(units, (int32_t)TMARING_TURN_BARRIER - 1);
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* A lag of one store needs the lead to reach the squad's next fill. */
Test(plan_squads, stores_lag_where_the_lead_reaches_the_next_own_fill, .timeout = 10)
{
  for (int32_t p = 0; p < 4; ++p) {
    draft d = squad_draft("y = x + x", 1000, 256, 1);
    d.options.stages = 4;
    d.options.prefetch = p;
    d.options.store = TMARING_STORE_BULK;
    tmaring_plan *plan = draft_accept(&d);
    cr_expect_eq(draft_args(plan, 1000).store_lag, p >= 2 ? 1u : 0u, "P = %d", p);
    expect_check(plan, 1000);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* Plans of strips: fills of several rows by a piece of their columns. */
#include <criterion/criterion.h>

#include "../src/host/check/check_args.h"
#include "support/draft.h"

Test(strip_plan, strips_are_several_rows_of_a_piece, .timeout = 10)
{
  draft d = draft_make("y = x * w[N] + s[M]", TMARING_F32, 1000, 4096);
  d.options.tile_rows = 16;
  d.options.piece_cols = 256;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 1000);
  cr_expect(tmaring_walk_strips(&a.walk));
  cr_expect_eq(a.walk.tiles, 63 * 16);
  cr_expect_eq(a.walk.pieces, 16);
  cr_expect_eq(a.input[0].dense, 0);
  cr_expect_eq(a.input[0].slot_row, 1024);
  cr_expect_neq(a.scope.kind, TMARING_SCOPE_FLAT);
  cr_expect_eq(tmaring_check(plan, 1000, NULL), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_not_null(draft_note(plan, "strips: a fill is 16 rows of 256 columns"));
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* Few columns per thread stay in registers: no accumulators in shared memory. Chunks do not depend on order, policy or
 * SM count. */
Test(strip_plan, columns_go_down_strips, .timeout = 10)
{
  draft d = draft_make("k = colsum(x)", TMARING_F32, 100000, 16384);
  int32_t chunk = 0, seats = 0;
  d.options.tile_rows = 8;
  d.options.piece_cols = 512;
  for (int i = 0; i < 8; ++i) {
    d.options.order = i % 4;
    d.machine.sm_count = i < 4 ? 132 : 78;
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args a = draft_args(plan, 100000);
    cr_expect(tmaring_walk_strips(&a.walk) && a.walk.tile_rows == 8 && a.walk.pieces == 32);
    cr_expect_eq(a.columns_staged, 0);
    cr_expect_leq(a.smem.total, 232448);
    if (i == 0) chunk = a.walk.chunk, seats = tmaring_column_seats(&a);
    cr_expect_eq(a.walk.chunk, chunk);
    cr_expect_eq(tmaring_column_seats(&a), seats);
    tmaring_plan_free(plan);
  }
  draft_free(&d);
}

/* What the checker says of a plan's arguments after a change; addresses far apart. */
static tmaring_status check_changed(const tmaring_plan *plan, void (*change)(tmaring_args *args, tmaring__code *code))
{
  tmaring_args args = draft_args(plan, 1000);
  tmaring__code code = plan->code;
  tmaring_check_report report;
  tmaring_stream *stream[2] = {&args.input[0], &args.output[0]};
  for (int i = 0; i < 2; ++i) {
    stream[i]->base = (uint64_t)(i + 1) << 30;
    stream[i]->hull_end = stream[i]->base + (uint64_t)(1000 * stream[i]->pitch);
  }
  change(&args, &code);
  return tmaring__check_args(&args, NULL, &code, tmaring__formula_program(plan->formula), 232448, &report);
}

static void change_nothing(tmaring_args *args, tmaring__code *code)
{
  (void)args, (void)code;
}

static void change_dense(tmaring_args *args, tmaring__code *code)
{
  (void)code;
  args->input[0].dense = 1;
}

static void change_code(tmaring_args *args, tmaring__code *code)
{
  (void)args;
  code->strips = 0;
}

static void change_spread(tmaring_args *args, tmaring__code *code)
{
  (void)code;
  args->walk.spread = 0;
  tmaring_walk_set_rows(&args->walk, 1000);
}

static void change_slot(tmaring_args *args, tmaring__code *code)
{
  (void)code;
  args->input[0].slot_row -= 16;
}

static void change_units(tmaring_args *args, tmaring__code *code)
{
  (void)code;
  args->scope.unit_rows = 1;
}

Test(strip_plan, the_checker_knows_strips, .timeout = 10)
{
  static void (*const changes[])(tmaring_args *, tmaring__code *) = {change_dense, change_code, change_spread,
                                                                     change_slot, change_units};
  draft d = draft_make("y = x + x", TMARING_F32, 1000, 1024);
  d.options.tile_rows = 32;
  d.options.piece_cols = 128;
  d.options.consumers[0] = 128;
  tmaring_plan *plan = draft_accept(&d);
  cr_assert_eq(check_changed(plan, change_nothing), TMARING_OK, "%s", tmaring_last_detail());
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; ++i)
    cr_expect_eq(check_changed(plan, changes[i]), TMARING_ERROR_CHECK, "change %zu", i);
  tmaring_plan_free(plan);
  draft_free(&d);
}

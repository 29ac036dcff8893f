/* The CPU backend with data, on kernel arguments made by hand. */
#define _POSIX_C_SOURCE 199309L
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "../src/host/check/check_args.h"
#include "support/hand_case.h"
#include "support/number.h"

static const tmaring_dtype dtypes[] = {TMARING_F32, TMARING_F16, TMARING_BF16};

/* Ways to hold a row, for `cols` columns. */
static int set_scope(hand_spec *s, int way)
{
  switch (way) {
  case 0: return 1; /* a warp per row */
  case 1:           /* 4 lanes per row, 8 rows at a time */
    s->scope = TMARING_SCOPE_LANES;
    s->lanes_log2 = 2;
    s->tile_rows = 32;
    return 1;
  case 2: /* two warps per row */
    s->scope = TMARING_SCOPE_GROUP;
    s->per_row = 2;
    s->tile_rows = 3;
    return 1;
  case 3:
    s->scope = TMARING_SCOPE_CTA;
    s->per_row = s->warps;
    s->tile_rows = 2;
    return 1;
  default:
    s->scope = TMARING_SCOPE_FLAT;
    s->tile_rows = 5;
    return s->formula == HAND_DOUBLE;
  }
}

static void set_mode(hand_spec *s, int mode)
{
  s->mode = mode == 0 ? TMARING_MODE_WARP_SPECIALIZED : TMARING_MODE_PIPELINED;
  s->war = mode == 2 ? TMARING_WAR_MBARRIER : TMARING_WAR_CTA_BARRIER;
}

Test(emulator, every_formula_type_and_scope, .timeout = 120)
{
  const int32_t cols[] = {1, 3, 33, 64, 257};
  for (int formula = 0; formula < HAND_COUNT; ++formula) {
    for (int way = 0; way < 5; ++way) {
      for (int i = 0; i < 15; ++i) {
        hand_spec s = hand_spec_make((hand_formula)formula, dtypes[i % 3], 21, cols[i / 3]);
        set_mode(&s, (formula + way + i) % 3);
        s.staged = (way + i) % 3;
        if (set_scope(&s, way)) hand_pass(&s);
      }
    }
  }
}

Test(emulator, row_counts, .timeout = 60)
{
  const int64_t rows[] = {0, 1, 2, 131, 133};
  for (int i = 0; i < 5; ++i) {
    for (int order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_TICKET; ++order) {
      for (int policy = TMARING_POLICY_WRAP; policy <= TMARING_POLICY_EXACT; ++policy) {
        hand_spec s = hand_spec_make(HAND_RMSNORM, TMARING_F32, rows[i], 33);
        s.order = order;
        s.policy = policy;
        s.workers = 7;
        s.tile_rows = 1 + (order + policy) % 4;
        s.staged = policy % 2;
        set_mode(&s, (order + policy) % 3);
        hand_pass(&s);
      }
    }
  }
}

/* Bases that are no multiple of 16, of input, output or both; dense and pitched. */
Test(emulator, F05_base_offsets_and_pitches, .timeout = 120)
{
  for (int shift = 0; shift < 16; shift += 2) {
    for (int i = 0; i < 12; ++i) {
      hand_spec s =
          hand_spec_make(i % 2 ? HAND_SOFTMAX : HAND_DOUBLE, shift % 4 ? TMARING_BF16 : TMARING_F32, 13, 40 + i % 3);
      s.in_shift = i % 4 < 3 ? shift : 0;
      s.out_shift = i % 4 > 0 ? shift : 0;
      s.pitch_gap = i < 6 ? 0 : 3 + i;
      s.staged = s.in_shift == s.out_shift ? i % 3 : 2 * (i % 2);
      set_mode(&s, i % 3);
      if (i % 5 == 4) set_scope(&s, 4 - i % 2);
      hand_pass(&s);
    }
  }
}

Test(emulator, F04_sizes_that_are_no_multiple_of_16, .timeout = 30)
{
  hand_spec s = hand_spec_make(HAND_ROW_SUM, TMARING_BF16, 3, 1023);
  hand_pass(&s);
  s.data = DATA_ONES;
  hand_pass(&s);
  s = hand_spec_make(HAND_ROW_SUM, TMARING_F32, 3, 33);
  s.data = DATA_ONES;
  hand_pass(&s);
  s.cols = 32;
  hand_pass(&s);
}

Test(emulator, rows_in_pieces, .timeout = 60)
{
  for (int formula = 0; formula < HAND_COUNT; ++formula) {
    for (int i = 0; i < 12; ++i) {
      hand_spec s = hand_spec_make((hand_formula)formula, dtypes[i % 3], 5, 500 + 12 * (i % 4) + i % 2);
      s.pieces = 2 + i % 5;
      s.scope = TMARING_SCOPE_CTA;
      s.per_row = s.warps;
      s.order = i % 4;
      s.staged = i % 3;
      s.spread = i % 2 && formula == HAND_DOUBLE;
      if (s.spread) set_scope(&s, i % 3 ? 4 : 3);
      s.in_shift = s.out_shift = i % 4 == 3 ? 4 : 0;
      set_mode(&s, i % 3);
      hand_pass(&s);
    }
  }
}

Test(emulator, in_place_in_global_memory, .timeout = 30)
{
  for (int i = 0; i < 12; ++i) {
    hand_spec s = hand_spec_make(i % 2 ? HAND_LAYERNORM : HAND_DOUBLE, dtypes[i % 3], 29, 33 + i);
    s.exact_global = 1;
    s.staged = i / 2 % 3;
    s.order = i % 4;
    s.in_shift = s.out_shift = 4 * (i % 3);
    set_mode(&s, i % 3);
    hand_pass(&s);
  }
}

Test(emulator, random_schedules_give_the_same_bits, .timeout = 60)
{
  hand_spec s = hand_spec_make(HAND_LAYERNORM, TMARING_F32, 23, 131);
  hand_case lazy;
  set_scope(&s, 2);
  s.staged = 1;
  hand_make(&lazy, &s);
  cr_assert_eq(hand_run(&lazy, NULL), TMARING_OK);
  for (s.seed = 1; s.seed < 6; ++s.seed) {
    hand_case c;
    set_mode(&s, (int)(s.seed % 3));
    hand_make(&c, &s);
    cr_assert_eq(hand_run(&c, NULL), TMARING_OK, "%s", tmaring_last_detail());
    hand_verify(&c);
    cr_assert_arr_eq(c.out.after, lazy.out.after, c.out.total);
    hand_free(&c);
  }
  hand_free(&lazy);
}

/* 132 workers, 2 stages: 1056 slots, 56 of them wrapped onto rows 0..55; none may be stored (F07 a). */
Test(emulator, F07_wrapped_rows, .timeout = 60)
{
  const int64_t rows[] = {1000, 997}, stages[] = {2, 3}, surplus[] = {56, 191};
  for (int i = 0; i < 2; ++i) {
    hand_spec s = hand_spec_make(HAND_DOUBLE, TMARING_F32, rows[i], 64);
    hand_case c;
    tmaring_check_report report;
    s.data = DATA_ROW_NUMBER;
    s.workers = 132;
    s.stages = (int32_t)stages[i];
    s.distance = 1;
    s.order = TMARING_ORDER_SPLIT;
    s.policy = TMARING_POLICY_WRAP;
    s.tile_rows = 1;
    s.staged = 1;
    hand_make(&c, &s);
    cr_assert_eq(tmaring__check_args(&c.args, NULL, &c.code, tmaring__formula_program(c.formula), 1u << 20, &report),
                 TMARING_OK, "%s", tmaring_last_detail());
    cr_assert_eq(report.surplus_slots, surplus[i]);
    cr_assert_eq(report.fills, rows[i] + surplus[i]);
    cr_assert_eq(hand_run(&c, NULL), TMARING_OK, "%s", tmaring_last_detail());
    hand_verify(&c);
    hand_free(&c);
  }
}

/* More stages than trips: as many trips as workers, then two and three (F08); one and two rows in one worker (F09). */
Test(emulator, F08_F09_fewer_trips_than_stages, .timeout = 60)
{
  for (int trips = 1; trips <= 3; ++trips) {
    for (int mode = 0; mode < 3; ++mode) {
      hand_spec s = hand_spec_make(HAND_DOUBLE, TMARING_F32, 132 * trips, 64);
      s.workers = 132;
      s.stages = 4;
      s.distance = 3;
      s.tile_rows = 1;
      s.staged = trips % 2;
      set_mode(&s, mode);
      hand_pass(&s);
      s.rows = trips;
      s.workers = 1;
      s.stages = 2;
      s.distance = 1;
      hand_pass(&s);
    }
  }
}

/* In place, two stages, seven tiles: stores read their source at the last legal moment, and refills must wait for it.
 */
Test(emulator, F10_refill_waits_for_the_store, .timeout = 30)
{
  for (int mode = 0; mode < 3; ++mode) {
    for (int distance = 0; distance < 2; ++distance) {
      hand_spec s = hand_spec_make(HAND_DOUBLE, TMARING_F32, 28, 64);
      s.workers = 1;
      s.stages = 2;
      s.distance = distance;
      s.staged = 1;
      set_mode(&s, mode);
      hand_pass(&s);
    }
  }
}

/* The lag of one store is what two stages with no prefetch cannot have: the model must say so (F10). */
Test(emulator, F10_too_long_a_lag_is_found, .timeout = 30)
{
  hand_spec s = hand_spec_make(HAND_DOUBLE, TMARING_F32, 28, 64);
  hand_case c;
  tmaring__fault_note fault;
  s.workers = 1;
  s.stages = 2;
  s.distance = 0;
  s.staged = 1;
  hand_make(&c, &s);
  c.args.store_lag = 1;
  cr_assert_eq(hand_run(&c, &fault), TMARING_ERROR_CHECK);
  cr_assert_eq(fault.kind, TMARING__FAULT_DEADLOCK, "%s", fault.text);
  cr_assert_eq(tmaring__check_args(&c.args, NULL, &c.code, tmaring__formula_program(c.formula), 1u << 20, NULL),
               TMARING_ERROR_CHECK);
  hand_free(&c);
}

Test(emulator, unsafe_policy_is_stopped_at_the_first_copy_outside, .timeout = 30)
{
  hand_spec s = hand_spec_make(HAND_DOUBLE, TMARING_F32, 13, 64);
  hand_case c;
  tmaring__fault_note fault;
  ptrdiff_t at;
  s.policy = TMARING_POLICY_UNSAFE;
  s.staged = 1;
  hand_make(&c, &s);
  cr_assert_eq(hand_run(&c, &fault), TMARING_ERROR_CHECK);
  cr_assert_eq(fault.kind, TMARING__FAULT_HULL, "%s", fault.text);
  cr_assert(guarded_intact(&c.out, 0, &at));
  cr_assert_eq(tmaring__check_args(&c.args, NULL, &c.code, tmaring__formula_program(c.formula), 1u << 20, NULL),
               TMARING_ERROR_CHECK);
  cr_assert_not_null(strstr(tmaring_last_detail(), "outside the tensor"), "%s", tmaring_last_detail());
  hand_free(&c);
}

Test(emulator, tickets_reset_themselves, .timeout = 30)
{
  hand_spec s = hand_spec_make(HAND_RMSNORM, TMARING_F32, 101, 65);
  hand_case c;
  s.order = TMARING_ORDER_TICKET;
  s.workers = 5;
  s.tile_rows = 2;
  hand_make(&c, &s);
  for (int i = 0; i < 3; ++i) {
    cr_assert_eq(hand_run(&c, NULL), TMARING_OK, "%s", tmaring_last_detail());
    hand_verify(&c);
    cr_assert_eq(c.workspace[0] | c.workspace[1], 0);
  }
  hand_free(&c);
}

/* M from memory, at most the bound of the launch. */
Test(emulator, row_count_from_memory, .timeout = 30)
{
  const int64_t rows[] = {0, 1, 17, 40, 99};
  for (int i = 0; i < 5; ++i) {
    const int64_t kept = rows[i] < 40 ? rows[i] : 40;
    hand_spec s = hand_spec_make(HAND_DOUBLE, TMARING_F32, 40, 64);
    hand_case c;
    ptrdiff_t at;
    hand_make(&c, &s);
    c.args.rows_address = (uint64_t)(uintptr_t)&rows[i];
    cr_assert_eq(hand_run(&c, NULL), TMARING_OK, "%s", tmaring_last_detail());
    c.out.rows = kept; /* later rows count as gap: they must be as they were */
    c.spec.rows = kept;
    cr_assert(guarded_intact(&c.out, 0, &at));
    hand_verify(&c);
    hand_free(&c);
  }
}

/* NaN or nothing but -inf in a row gives NaN there, and leaves the neighbours alone. */
Test(emulator, F16_softmax_of_special_rows, .timeout = 30)
{
  hand_spec s = hand_spec_make(HAND_SOFTMAX, TMARING_F32, 5, 64);
  hand_case c;
  hand_make(&c, &s);
  for (int i = 0; i < 64; ++i) {
    number_write(TMARING_F32, guarded_row(&c.in, 1) + 4 * i, -INFINITY);
    number_write(TMARING_F32, guarded_row(&c.in, 3) + 4 * i, i == 0 ? (double)NAN : -INFINITY);
  }
  cr_assert_eq(hand_run(&c, NULL), TMARING_OK);
  for (int row = 0; row < 5; ++row) {
    double sum = 0;
    for (int i = 0; i < 64; ++i) sum += number_read(TMARING_F32, guarded_row_after(&c.out, row) + 4 * i);
    cr_assert(row % 2 ? isnan(sum) : fabs(sum - 1) < 1e-5, "row %d: %g", row, sum);
  }
  hand_free(&c);
}

Test(emulator, fast_mode_is_fast, .timeout = 60)
{
  hand_spec s = hand_spec_make(HAND_DOUBLE, TMARING_F32, 8191, 256);
  struct timespec begin, end;
  hand_case c;
  s.workers = 132;
  s.tile_rows = 1;
  s.scope = TMARING_SCOPE_FLAT;
  hand_make(&c, &s);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  cr_assert_eq(hand_run(&c, NULL), TMARING_OK);
  clock_gettime(CLOCK_MONOTONIC, &end);
  cr_assert_lt((double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec), 2.0);
  hand_verify(&c);
  hand_free(&c);
}

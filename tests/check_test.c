/* The checker: what it proves about arguments, and that each fault put into them is found. */
#define _POSIX_C_SOURCE 199309L
#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

#include "../src/host/check/check_args.h"
#include "support/hand_case.h"

#define SMEM_LIMIT 232448u

static tmaring_status check(const hand_case *c, tmaring_check_report *report)
{
  return tmaring__check_args(&c->args, NULL, &c->code, tmaring__formula_program(c->formula), SMEM_LIMIT, report);
}

static hand_spec staged_spec(void)
{
  hand_spec s = hand_spec_make(HAND_DOUBLE, TMARING_F32, 100, 64);
  s.staged = 1;
  return s;
}

/* One change to sound arguments, and a word of the message it must lead to. */
typedef struct fault_case {
  const char *word;
  void (*break_it)(hand_case *c);
} fault_case;

static void break_version(hand_case *c)
{
  c->args.abi_version += 1;
}
static void break_distance(hand_case *c)
{
  c->args.distance = c->args.stages;
}
static void break_lag(hand_case *c)
{
  c->args.store_lag = 0;
}
static void break_roles(hand_case *c)
{
  c->args.cta.consumers[0] -= 16;
}
static void break_mode(hand_case *c)
{
  c->code.mode = TMARING_MODE_PIPELINED;
}
static void break_units(hand_case *c)
{
  c->args.scope.unit_rows = 0;
}
static void break_vec(hand_case *c)
{
  c->args.scope.vec = 8;
}
static void break_barriers(hand_case *c)
{
  c->args.smem.empty = c->args.smem.full;
}
static void break_total(hand_case *c)
{
  c->args.smem.total -= 128;
}
static void break_slot(hand_case *c)
{
  c->args.input[0].slot = 64;
}
static void break_slot_size(hand_case *c)
{
  c->args.input[0].slot_bytes -= 128;
}
static void break_overlap(hand_case *c)
{
  c->args.output[0].slot = 128;
  c->args.smem.stage_bytes += 128;
  c->args.smem.total += 128 * c->args.stages;
}
static void break_hull(hand_case *c)
{
  c->args.input[0].hull_end -= 16;
}
static void break_out_hull(hand_case *c)
{
  c->args.output[0].hull_end -= 16;
}
static void break_alignment(hand_case *c)
{
  c->args.input[0].slot_bytes += 128; /* so that the shifted row still fits */
  c->args.smem.stage_bytes += 128;
  c->args.smem.total += 128 * c->args.stages;
  c->args.input[0].base += 4;
  c->args.input[0].hull_end += 4;
}
static void break_pitch(hand_case *c)
{
  c->args.input[0].pitch += 4096;
}
static void break_tiles(hand_case *c)
{
  c->args.walk.tiles -= 1;
}
static void break_slots(hand_case *c)
{
  c->args.walk.slots -= 1;
}

static void break_stride(hand_case *c)
{
  c->args.walk.stride += 1;
}
static void break_limit(hand_case *c)
{
  c->args.walk.limit += 1;
}

static const fault_case faults[] = {
    {"abi_version", break_version},
    {"distance", break_distance},
    {"store_lag", break_lag},
    {"mixes roles", break_roles},
    {"code.mode", break_mode},
    {"unit_rows", break_units},
    {"vec", break_vec},
    {"smem", break_barriers},
    {"smem.total", break_total},
    {"slot", break_slot},
    {"slot of", break_slot_size},
    {"overlaps", break_overlap},
    {"outside", break_hull},
    {"outside", break_out_hull},
    {"modulo 16", break_alignment},
    {"dense, though", break_pitch},
    {"walk", break_tiles},
    {"walk", break_slots},
    {"walk", break_stride},
    {"walk", break_limit},
};

Test(check, every_fault_is_found, .timeout = 60)
{
  const hand_spec s = staged_spec();
  hand_case c;
  hand_make(&c, &s);
  cr_assert_eq(check(&c, NULL), TMARING_OK, "%s", tmaring_last_detail());
  hand_free(&c);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
    hand_make(&c, &s);
    faults[i].break_it(&c);
    cr_assert_eq(check(&c, NULL), TMARING_ERROR_CHECK, "fault %zu", i);
    cr_assert_not_null(strstr(tmaring_last_detail(), faults[i].word), "fault %zu: %s", i, tmaring_last_detail());
    hand_free(&c);
  }
}

Test(check, report_counts, .timeout = 60)
{
  hand_spec s = staged_spec();
  hand_case c;
  tmaring_check_report r;
  s.policy = TMARING_POLICY_WRAP; /* 25 tiles over 3 workers: 27 slots */
  hand_make(&c, &s);
  cr_assert_eq(check(&c, &r), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(r.tiles, 25);
  cr_assert_eq(r.fills, 27);
  cr_assert_eq(r.surplus_slots, 2);
  cr_assert_eq(r.copies, 27 + 25 * 4); /* one load per fill; a store per warp of each tile */
  cr_assert_gt(r.steps, 27 * 4);
  hand_free(&c);
  s.policy = TMARING_POLICY_SKIP; /* the slots are there, and nothing is filled in them */
  hand_make(&c, &s);
  cr_assert_eq(check(&c, &r), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert(r.tiles == 25 && r.fills == 25 && r.surplus_slots == 2);
  hand_free(&c);
  s.policy = TMARING_POLICY_EXACT;
  hand_make(&c, &s);
  cr_assert_eq(check(&c, &r), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert(r.tiles == 25 && r.fills == 25 && r.surplus_slots == 0, "%lld surplus slots", (long long)r.surplus_slots);
  hand_free(&c);
}

/* Counted in full or carried on from both ends: the same number of copies. Rows of 65 floats go through all phases. */
Test(check, long_trips_are_counted_as_if_walked, .timeout = 60)
{
  for (int gap = 0; gap < 3; ++gap) {
    tmaring_check_report one, many;
    hand_spec s = hand_spec_make(HAND_DOUBLE, TMARING_F32, 4 * 977, 65);
    hand_case c;
    s.in_shift = s.out_shift = 4;
    s.pitch_gap = gap;
    s.staged = 1;
    s.workers = 1; /* 977 slots: carried on */
    hand_make(&c, &s);
    cr_assert_eq(check(&c, &one), TMARING_OK, "%s", tmaring_last_detail());
    hand_free(&c);
    s.workers = 100; /* 10 slots each: every one is walked */
    hand_make(&c, &s);
    cr_assert_eq(check(&c, &many), TMARING_OK, "%s", tmaring_last_detail());
    hand_free(&c);
    cr_assert_eq(one.copies, many.copies, "%lld and %lld", (long long)one.copies, (long long)many.copies);
    cr_assert_eq(one.tiles, many.tiles);
  }
}

/* The arithmetic proof of coverage, which takes over from the bitmap, and a row count where offsets pass 2^32. */
Test(check, many_tiles, .timeout = 60)
{
  for (int order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_TICKET; ++order) {
    hand_spec s = staged_spec();
    hand_case c;
    tmaring_check_report r;
    s.order = order;
    s.workers = 132;
    hand_make(&c, &s);
    tmaring_walk_set_rows(&c.args.walk, 1ll << 31);
    c.args.input[0].base = 1ull << 44;
    c.args.output[0].base = 1ull << 45;
    c.args.input[0].hull_end = c.args.input[0].base + (256ull << 31);
    c.args.output[0].hull_end = c.args.output[0].base + (256ull << 31);
    cr_assert_eq(check(&c, &r), TMARING_OK, "%s", tmaring_last_detail());
    cr_assert_eq(r.tiles, 1ll << 29);
    c.args.input[0].hull_end -= 1;
    cr_assert_eq(check(&c, &r), TMARING_ERROR_CHECK);
    hand_free(&c);
  }
}

Test(check, a_million_rows_in_200_ms, .timeout = 60)
{
  hand_spec s = staged_spec();
  struct timespec begin, end;
  hand_case c;
  double best = 1;
  s.workers = 132;
  s.tile_rows = 1;
  s.policy = TMARING_POLICY_WRAP;
  hand_make(&c, &s);
  tmaring_walk_set_rows(&c.args.walk, 1000000);
  c.args.input[0].hull_end = c.args.input[0].base + 256 * 1000000ull;
  c.args.output[0].hull_end = c.args.output[0].base + 256 * 1000000ull;
  for (int i = 0; i < 3; ++i) { /* the best of three: other work may share the machine */
    double seconds;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    cr_assert_eq(check(&c, NULL), TMARING_OK, "%s", tmaring_last_detail());
    clock_gettime(CLOCK_MONOTONIC, &end);
    seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    best = seconds < best ? seconds : best;
  }
  cr_assert_lt(best, 0.2, "%g s", best);
  hand_free(&c);
}

/* In place over an input of another phase: elements would not lie where they were read. */
Test(check, in_place_needs_one_phase, .timeout = 30)
{
  hand_spec s = staged_spec();
  hand_case c;
  s.in_shift = 4;
  s.out_shift = 8;
  hand_make(&c, &s);
  cr_assert_eq(check(&c, NULL), TMARING_ERROR_CHECK);
  cr_assert_not_null(strstr(tmaring_last_detail(), "phase"), "%s", tmaring_last_detail());
  hand_free(&c);
}

static tmaring_plan *make_plan(tmaring_formula **formula, int32_t policy, uint32_t alignment, int64_t cols)
{
  tmaring_tensor tensors[2] = {TMARING_TENSOR_INIT, TMARING_TENSOR_INIT};
  tmaring_plan_options options;
  tmaring_machine machine;
  tmaring_plan *plan = NULL;
  tmaring_machine_h200(&machine);
  tmaring_plan_options_init(&options);
  options.policy = policy;
  options.order = TMARING_ORDER_SPLIT;
  options.store = TMARING_STORE_BULK;
  for (int i = 0; i < 2; ++i) {
    tensors[i].rows = 1000;
    tensors[i].cols = cols;
    tensors[i].alignment = alignment;
  }
  cr_assert_eq(tmaring_formula_parse(formula, "y = x + x"), TMARING_OK);
  cr_assert_eq(tmaring_plan_create(&plan, *formula, tensors, 2, &machine, &options), TMARING_OK, "%s",
               tmaring_last_detail());
  return plan;
}

/* Through the public call: plans of every alignment pass, and `unsafe` is refused for leaving the tensor. */
Test(check, plans, .timeout = 60)
{
  for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
    for (int32_t policy = TMARING_POLICY_WRAP; policy <= TMARING_POLICY_UNSAFE; ++policy) {
      tmaring_check_report report;
      tmaring_formula *formula;
      tmaring_plan *plan = make_plan(&formula, policy, alignment, alignment == 16 ? 256 : 257);
      const int sound = policy != TMARING_POLICY_UNSAFE;
      report.size = sizeof report;
      cr_assert_eq(tmaring_check(plan, 1000, &report), sound ? TMARING_OK : TMARING_ERROR_CHECK, "%s",
                   tmaring_last_detail());
      if (sound) cr_assert_gt(report.copies, 0);
      if (!sound) cr_assert_not_null(strstr(tmaring_last_detail(), "outside the tensor"), "%s", tmaring_last_detail());
      cr_assert_eq(tmaring_check(plan, 0, NULL), TMARING_OK);
      report.size = 1;
      cr_assert_eq(tmaring_check(plan, 1000, &report), TMARING_ERROR_ARGUMENT);
      cr_assert_eq(tmaring_check(NULL, 1000, NULL), TMARING_ERROR_ARGUMENT);
      tmaring_plan_free(plan);
      tmaring_formula_free(formula);
    }
  }
}

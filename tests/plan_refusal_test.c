/* The planner: what it normalises, with a note, and what it refuses, naming the field, what it got and what it needs.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"

/* ---- normalised ---- */

typedef struct change {
  size_t offset; /* of an option */
  int32_t value;
} change;

#define SET(field, value)                                                                                              \
  {                                                                                                                    \
    offsetof(tmaring_plan_options, field), value                                                                       \
  }
#define NONE                                                                                                           \
  {                                                                                                                    \
    (size_t) - 1, 0                                                                                                    \
  }

static void apply(tmaring_plan_options *options, const change *changes, int count)
{
  for (int i = 0; i < count; ++i) {
    if (changes[i].offset == (size_t)-1) continue;
    memcpy((char *)options + changes[i].offset, &changes[i].value, sizeof changes[i].value);
  }
}

typedef struct normal_case {
  const char *formula;
  change changes[3];
  const char *note;
} normal_case;

Test(plan_refusal, what_makes_no_sense_is_normalised_with_a_note, .timeout = 10)
{
  static const normal_case cases[] = {
      {"y = x + x", {SET(order, TMARING_ORDER_TICKET), SET(policy, TMARING_POLICY_WRAP), NONE}, "policy wrap -> exact"},
      {"y = x + x", {SET(order, TMARING_ORDER_TICKET), SET(policy, TMARING_POLICY_SKIP), NONE}, "policy skip -> exact"},
      {"y = x + x",
       {SET(order, TMARING_ORDER_TICKET), SET(policy, TMARING_POLICY_UNSAFE), NONE},
       "policy unsafe -> exact"},
      {"y = x + x", {SET(policy, TMARING_POLICY_WRAP), NONE, NONE}, "order auto -> cyclic"},
      {"s = sum(x)", {SET(store, TMARING_STORE_BULK), NONE, NONE}, "store bulk -> direct"},
      {"s = sum(x)", {SET(scope, TMARING_SCOPE_FLAT), NONE, NONE}, "scope flat -> auto"},
      {"y = x + x", {SET(mode, 0), SET(role_axis, TMARING_AXIS_Y), NONE}, "role_axis"},
      {"y = x + x", {SET(mode, 1), SET(war, TMARING_WAR_MBARRIER), NONE}, "war"},
      {"y = x + x", {SET(mode, 0), SET(war, 0), SET(release, TMARING_RELEASE_THREAD)}, "release thread -> warp"},
      {"y = x + x", {SET(mode, 0), SET(registers[0], 40), SET(registers[1], 168)}, "registers 40, 168 -> none"},
      {"y = x + x", {SET(scope, TMARING_SCOPE_WARP), SET(warps_per_row, 4), NONE}, "warps_per_row"},
      {"y = x + x", {SET(scope, TMARING_SCOPE_WARP), SET(lanes_per_row, 4), NONE}, "lanes_per_row"},
      {"y = x * max(x)", {SET(piece_cols, 64), SET(tile_rows, 3), NONE}, "tile_rows 3 -> 1"},
      {"y = x + 1; s = sum(x)", {SET(piece_cols, 64), SET(tile_rows, 3), NONE}, "reduces over rows"},
      {"y = x + x",
       {SET(mode, 1), SET(registers[0], 40), SET(registers[1], 160)},
       "registers of the consumers 160 -> 168"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    draft d = draft_make(cases[i].formula, TMARING_F32, 1000, 256);
    d.options.consumers[0] = 256; /* the numbers below are of this block */
    apply(&d.options, cases[i].changes, 3);
    tmaring_plan *plan = draft_accept(&d);
    cr_expect_not_null(draft_note(plan, cases[i].note), "case %zu: no note with \"%s\"", i, cases[i].note);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

Test(plan_refusal, an_open_mode_follows_what_is_asked, .timeout = 10)
{
  static const struct {
    change changes[3];
    int32_t mode;
  } cases[] = {{{SET(war, TMARING_WAR_MBARRIER), NONE, NONE}, TMARING_MODE_PIPELINED},
               {{SET(role_axis, TMARING_AXIS_Z), NONE, NONE}, TMARING_MODE_WARP_SPECIALIZED},
               {{SET(registers[0], 40), SET(registers[1], 168), NONE}, TMARING_MODE_WARP_SPECIALIZED}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    draft d = draft_make("y = x + x", TMARING_F32, 1000, 256);
    apply(&d.options, cases[i].changes, 3);
    tmaring_plan *plan = draft_accept(&d);
    cr_expect_eq(draft_args(plan, 1000).cta.mode, cases[i].mode, "case %zu", i);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* ---- refused options ---- */

/* The status, and every word in the detail; no plan. Frees the draft. */
static void expect_refused(draft *d, tmaring_status expected, const char *const *words, const char *what)
{
  tmaring_status status;
  tmaring_plan *plan = draft_plan(d, &status);
  cr_expect_null(plan);
  cr_expect_eq(status, expected, "%s: %s, \"%s\"", what, tmaring_status_name(status), tmaring_last_detail());
  for (int i = 0; i < 3 && words[i]; ++i)
    cr_expect_not_null(strstr(tmaring_last_detail(), words[i]), "%s: \"%s\" lacks \"%s\"", what, tmaring_last_detail(),
                       words[i]);
  draft_free(d);
}

typedef struct refused_case {
  change changes[3];
  tmaring_status status;
  const char *words[3]; /* field, got, needs */
} refused_case;

static const refused_case out_of_range[] = {
    {{SET(stages, 17), NONE, NONE}, TMARING_ERROR_ARGUMENT, {"stages", "17", "1 .. 16"}},
    {{SET(stages, 0), NONE, NONE}, TMARING_ERROR_ARGUMENT, {"stages", "got 0", "1 .. 16"}},
    {{SET(mode, 2), NONE, NONE}, TMARING_ERROR_ARGUMENT, {"mode", "got 2", "0 .. 1"}},
    {{SET(order, 4), NONE, NONE}, TMARING_ERROR_ARGUMENT, {"order", "got 4", "0 .. 3"}},
    {{SET(policy, -1), NONE, NONE}, TMARING_ERROR_ARGUMENT, {"policy", "got -1", "0 .. 3"}},
    {{SET(scope, 7), NONE, NONE}, TMARING_ERROR_ARGUMENT, {"scope", "got 7", "0 .. 6"}},
    {{SET(workers, 0), NONE, NONE}, TMARING_ERROR_ARGUMENT, {"workers", "got 0", NULL}},
    {{SET(tile_rows, 0), NONE, NONE}, TMARING_ERROR_ARGUMENT, {"tile_rows", "got 0", NULL}},
    {{SET(lanes_per_row, 3), NONE, NONE}, TMARING_ERROR_ARGUMENT, {"lanes_per_row", "got 3", "8 or 16"}},
    {{SET(stages, 2), SET(prefetch, 2), NONE}, TMARING_ERROR_ARGUMENT, {"prefetch", "got 2", "-2 .. 1"}},
    {{SET(stages, 2), SET(prefetch, -3), NONE}, TMARING_ERROR_ARGUMENT, {"prefetch", "got -3", "-2 .. 1"}},
    {{SET(scope, 4), SET(warps_per_row, 3), NONE},
     TMARING_ERROR_UNSUPPORTED,
     {"warps_per_row", "got 3", "divisor of the 8"}},
    {{SET(registers[0], 16), SET(registers[1], 160), NONE},
     TMARING_ERROR_UNSUPPORTED,
     {"producer", "got 16", "24 .. 256"}},
    {{SET(registers[0], 40), SET(registers[1], 264), NONE},
     TMARING_ERROR_UNSUPPORTED,
     {"consumers", "got 264", "24 .. 256"}},
    {{SET(registers[0], 44), SET(registers[1], 160), NONE},
     TMARING_ERROR_UNSUPPORTED,
     {"producer", "got 44", "multiple of 8"}},
    {{SET(registers[0], 168), SET(registers[1], 40), NONE}, TMARING_ERROR_UNSUPPORTED, {"registers", "168", "40"}},
    {{SET(registers[0], 40), SET(registers[1], 240), NONE}, TMARING_ERROR_CAPACITY, {"registers", "66560", "64512"}},
    {{SET(registers[0], 40), NONE, NONE}, TMARING_ERROR_UNSUPPORTED, {"registers", "consumers", NULL}},
    {{SET(consumers[0], 96), SET(registers[0], 40), SET(registers[1], 168)},
     TMARING_ERROR_UNSUPPORTED,
     {"96", "128", NULL}},
    {{SET(consumers[0], 48), NONE, NONE}, TMARING_ERROR_UNSUPPORTED, {"48x1x1", "multiple of 32", NULL}},
    {{SET(consumers[0], 1024), SET(mode, 1), NONE}, TMARING_ERROR_CAPACITY, {"1024x1x1", "axis x", "1024"}},
    {{SET(consumers[0], 1024), SET(consumers[1], 2), NONE}, TMARING_ERROR_CAPACITY, {"2048", "1024", NULL}},
    {{SET(tile_rows, 1000), NONE, NONE}, TMARING_ERROR_CAPACITY, {"needs 3072128", "allows 232448", "tile_rows"}},
    {{SET(stages, 16), SET(tile_rows, 15), NONE}, TMARING_ERROR_CAPACITY, {"needs 246144", "allows 232448", NULL}},
};

Test(plan_refusal, options_out_of_range, .timeout = 10)
{
  for (size_t i = 0; i < sizeof out_of_range / sizeof out_of_range[0]; ++i) {
    char what[32];
    draft d = draft_make("y = x + x", TMARING_F32, 1000, 256);
    d.options.consumers[0] = 256; /* the numbers below are of this block */
    apply(&d.options, out_of_range[i].changes, 3);
    snprintf(what, sizeof what, "case %zu", i);
    expect_refused(&d, out_of_range[i].status, out_of_range[i].words, what);
  }
}

Test(plan_refusal, too_many_groups_for_the_barriers, .timeout = 10)
{
  static const char *const words[3] = {"warps_per_row", "16 groups", "14"};
  draft d = draft_make("s = sum(x)", TMARING_F32, 1000, 256);
  d.options.mode = TMARING_MODE_PIPELINED;
  d.options.consumers[0] = 1024;
  d.options.scope = TMARING_SCOPE_GROUP;
  d.options.warps_per_row = 2;
  expect_refused(&d, TMARING_ERROR_UNSUPPORTED, words, "16 groups of 2 warps");
}

/* ---- fills of too many elements ---- */

/* Nothing is streamed in, so that no shared memory bounds the fill. */
Test(plan_refusal, rows_of_a_fill_are_bounded_without_shared_memory, .timeout = 10)
{
  static const char *const words[3] = {"got 4294967296 elements (1048576 rows of 4096 columns", "at most 1073741824",
                                       "tile_rows"};
  draft d = draft_make("fill(; value = 1) = value", TMARING_BF16, 1048576, 4096);
  d.options.tile_rows = 262144;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(draft_args(plan, 1048576).walk.tile_rows, 262144);
  cr_expect_eq(tmaring_check(plan, 1048576, NULL), TMARING_OK, "%s", tmaring_last_detail());
  tmaring_plan_free(plan);
  d.options.tile_rows = 1048576;
  expect_refused(&d, TMARING_ERROR_CAPACITY, words, "2^32 elements");
  d = draft_make("fill(; value = 1) = value", TMARING_BF16, 0, 2147483647);
  d.options.tile_rows = 1048576;
  expect_refused(&d, TMARING_ERROR_CAPACITY, (const char *const[3]){"fill", "N = 2147483647", "1073741824"}, "2^51");
}

#define LONG_COLUMNS "f(w[N]) = r = sum(w); dw = colsum(w*r)"
#define LONG_GROUPS  "f(w[N]) = r = sum(w); out s = gamax(w,128)*r; y = w/s"

Test(plan_refusal, longest_rows_are_cut_without_shared_memory, .timeout = 10)
{
  static const char *const formulas[] = {LONG_COLUMNS, LONG_GROUPS, "fill(; value = 1) = value"};
  static const int32_t clusters[] = {TMARING_AUTO, 1, 2, 8};
  for (int i = 0; i < 12; ++i) {
    draft d = draft_make(formulas[i / 4], TMARING_F32, 0, 2147483647);
    d.options.cluster = clusters[i % 4];
    tmaring_plan *plan = draft_accept(&d);
    for (int32_t v = 0; v < plan->variant_count; ++v) {
      const tmaring_walk *w = &plan->variant[v].args.walk;
      cr_expect(w->pieces > 1 || w->cluster > 1, "%s", formulas[i / 4]);
      cr_expect_leq((int64_t)w->tile_rows * tmaring_walk_fill_cols(w), (int64_t)1 << 30, "%s", formulas[i / 4]);
    }
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

Test(plan_refusal, longest_rows_are_refused_whole, .timeout = 10)
{
  static const char *const words[3] = {"fill", "N = 2147483647", "at most 1073741824"};
  static const char *const formulas[] = {LONG_COLUMNS, LONG_GROUPS, "fill(; value = 1) = value"};
  static const int32_t cols[] = {2147483647, 1 << 30 | 1 << 10};
  for (int i = 0; i < 6; ++i) {
    draft d = draft_make(formulas[i / 2], TMARING_F32, 0, 2147483647);
    d.options.piece_cols = cols[i % 2];
    d.options.cluster = 1;
    expect_refused(&d, TMARING_ERROR_CAPACITY, words, formulas[i / 2]);
  }
}

/* ---- the block ---- */

typedef struct block_case {
  int32_t x, y, z, axis, registers, slab; /* slab 0: refused */
} block_case;

Test(plan_refusal, the_thinnest_slab_of_whole_warps, .timeout = 10)
{
  static const block_case cases[] = {
      {32, 4, 2, 0, 0, 32}, {32, 4, 2, 1, 0, 1},  {32, 4, 2, 2, 0, 1},    {128, 2, 1, 0, 0, 32},
      {128, 2, 1, 1, 0, 1}, {128, 2, 1, 2, 0, 1}, {256, 1, 1, 0, 0, 32},  {256, 1, 1, 1, 0, 1},
      {256, 1, 1, 2, 0, 1}, {48, 2, 1, 2, 0, 1},  {48, 2, 1, 1, 0, 2},    {48, 2, 1, 0, 0, 0},
      {16, 4, 1, 0, 0, 0},  {16, 4, 1, 1, 0, 2},  {256, 1, 1, 0, 1, 128}, {128, 2, 1, 0, 1, 128},
      {128, 2, 1, 1, 1, 1}, {32, 4, 2, 0, 1, 0},  {32, 4, 2, 2, 1, 1},    {8, 1, 64, 2, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const block_case *c = &cases[i];
    draft d = draft_make("y = x + x", TMARING_F32, 1000, 256);
    const int32_t consumers[3] = {c->x, c->y, c->z};
    tmaring_status status;
    memcpy(d.options.consumers, consumers, sizeof consumers);
    d.options.role_axis = c->axis;
    if (c->registers) d.options.registers[0] = 24, d.options.registers[1] = 128;
    tmaring_plan *plan = draft_plan(&d, &status);
    if (c->slab == 0) {
      cr_expect_null(plan, "case %zu", i);
      cr_expect(status == TMARING_ERROR_UNSUPPORTED || status == TMARING_ERROR_CAPACITY, "case %zu", i);
      cr_expect_not_null(strstr(tmaring_last_detail(), "axis"), "case %zu: %s", i, tmaring_last_detail());
    } else {
      cr_assert_not_null(plan, "case %zu: %s", i, tmaring_last_detail());
      const tmaring_cta cta = draft_args(plan, 1000).cta;
      cr_expect_eq(cta.slab, c->slab, "case %zu: slab %d", i, cta.slab);
      cr_expect_eq(tmaring_cta_fault(&cta), 0, "case %zu", i);
    }
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

Test(plan_refusal, mixed_roles_are_named, .timeout = 10)
{
  static const char *const words[3] = {"48x2x1", "axis x", "mix roles in the warp of thread 48"};
  draft d = draft_make("y = x + x", TMARING_F32, 1000, 256);
  d.options.consumers[0] = 48;
  d.options.consumers[1] = 2;
  d.options.role_axis = TMARING_AXIS_X;
  expect_refused(&d, TMARING_ERROR_UNSUPPORTED, words, "48x2 on x");
}

Test(plan_refusal, register_sharing_takes_the_whole_pool, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 1000, 256);
  d.options.consumers[0] = 256;
  d.options.registers[0] = 40;
  d.options.registers[1] = 232;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(plan->code.max_threads, 384, "the bound is exact: it fixes the pool");
  cr_expect_eq(plan->code.min_ctas, 1);
  cr_expect_eq(plan->code.registers[0], 40);
  cr_expect_eq(plan->code.registers[1], 232);
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* ---- refused tensors ---- */

typedef struct tensor_case {
  int32_t tensor;
  tmaring_tensor given;
  tmaring_status status;
  const char *words[3];
} tensor_case;

#define TENSOR(dtype, rows, cols, pitch, alignment)                                                                    \
  {                                                                                                                    \
    sizeof(tmaring_tensor), dtype, rows, cols, pitch, alignment, 0, 0, 0                                               \
  }

/* y = x * w[N] + v[M] over [100,256]: tensors x, w, v, y. */
Test(plan_refusal, tensors_are_named, .timeout = 10)
{
  static const tensor_case cases[] = {
      {0, TENSOR((tmaring_dtype)9, 100, 256, 0, 0), TMARING_ERROR_TYPE, {"x.dtype", "got 9", NULL}},
      {0, TENSOR(TMARING_F32, 100, 0, 0, 0), TMARING_ERROR_SHAPE, {"x.cols", "got 0", "1 .. 2147483647"}},
      {0, TENSOR(TMARING_F32, 100, 2147483648, 0, 0), TMARING_ERROR_SHAPE, {"x.cols", "2147483648", NULL}},
      {0, TENSOR(TMARING_F32, -1, 256, 0, 0), TMARING_ERROR_SHAPE, {"x.rows", "got -1", NULL}},
      {0, TENSOR(TMARING_F32, 100, 256, 255, 0), TMARING_ERROR_SHAPE, {"x.pitch", "got 255", "256"}},
      {0, TENSOR(TMARING_F32, 100, 256, (int64_t)1 << 60, 0), TMARING_ERROR_SHAPE, {"x.pitch", "at most", NULL}},
      {0, TENSOR(TMARING_F32, 100, 256, 0, 12), TMARING_ERROR_ALIGNMENT, {"x.alignment", "got 12", "power of two"}},
      {0, TENSOR(TMARING_F32, 100, 256, 0, 2), TMARING_ERROR_ALIGNMENT, {"x.alignment", "got 2", "size 4"}},
      {1, TENSOR(TMARING_F32, 1, 255, 0, 0), TMARING_ERROR_SHAPE, {"w.cols", "got 255", "256: N of x"}},
      {1, TENSOR(TMARING_F32, 100, 256, 0, 0), TMARING_ERROR_SHAPE, {"w.rows", "got 100", "needs 1"}},
      {2, TENSOR(TMARING_F32, 100, 256, 0, 0), TMARING_ERROR_SHAPE, {"v.cols", "got 256", "needs 1"}},
      {2, TENSOR(TMARING_F32, 99, 1, 0, 0), TMARING_ERROR_SHAPE, {"v.rows", "got 99", "100: M of x"}},
      {2, TENSOR(TMARING_F32, 100, 1, -2, 0), TMARING_ERROR_SHAPE, {"v.pitch", "got -2", "at least 1"}},
      {2, TENSOR(TMARING_F32, 100, 1, (int64_t)1 << 60, 0), TMARING_ERROR_SHAPE, {"v.pitch", "at most", NULL}},
      {3, TENSOR(TMARING_F32, 100, 257, 0, 0), TMARING_ERROR_SHAPE, {"y.cols", "got 257", "256: N of x"}},
      {3, TENSOR(TMARING_F32, 101, 256, 0, 0), TMARING_ERROR_SHAPE, {"y.rows", "got 101", "100: M of x"}},
      {3,
       {7, TMARING_F32, 100, 256, 0, 0, 0, 0, 0},
       TMARING_ERROR_ARGUMENT,
       {"y.size", "got 7", "TMARING_TENSOR_INIT"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    char what[32];
    draft d = draft_make("y = x * w[N] + v[M]", TMARING_F32, 100, 256);
    d.tensor[cases[i].tensor] = cases[i].given;
    snprintf(what, sizeof what, "case %zu", i);
    expect_refused(&d, cases[i].status, cases[i].words, what);
  }
}

Test(plan_refusal, machines_without_limits, .timeout = 10)
{
  static const char *const words[3] = {"sm_count", "got 0", "1 .. 65536"};
  draft d = draft_make("y = x + x", TMARING_F32, 100, 256);
  d.machine.sm_count = 0;
  expect_refused(&d, TMARING_ERROR_ARGUMENT, words, "no SM");
}

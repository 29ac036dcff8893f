/* The planner: how tensors of every type and shape are streamed: vectors, pieces, halves, pairs, groups of rows. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"

#define HALVES "f(x[M,2N]) = silu(first(x)) * second(x)"
#define PAIRS  "f(x[M,2N]) = even(x) * odd(x)"
#define GROUPS "f(x[M,N]) = out s = max(gamax(x, 128), 1e-10) / 448; q = x / s"

/* ---- vectors, units, arithmetic ---- */

typedef struct type_case {
  tmaring_dtype in, out;
  int64_t cols;
  int32_t vec, aligned, wide;
} type_case;

Test(plan_streams, vectors_follow_the_narrowest_type, .timeout = 10)
{
  static const type_case cases[] = {
      {TMARING_F64, TMARING_F64, 64, 2, 1, 1},   {TMARING_F64, TMARING_F64, 63, 2, 0, 1},
      {TMARING_F64, TMARING_F32, 64, 4, 1, 1},   {TMARING_F64, TMARING_E4M3, 64, 8, 1, 1},
      {TMARING_F32, TMARING_I32, 64, 4, 1, 1},   {TMARING_I32, TMARING_I32, 64, 4, 1, 1},
      {TMARING_BF16, TMARING_E4M3, 64, 8, 1, 0}, {TMARING_BF16, TMARING_E4M3, 72, 8, 0, 0},
      {TMARING_E4M3, TMARING_E4M3, 80, 8, 1, 0}, {TMARING_E4M3, TMARING_F32, 8, 8, 0, 0},
      {TMARING_I8, TMARING_F16, 16, 8, 1, 0},    {TMARING_E5M2, TMARING_I8, 17, 8, 0, 0},
      {TMARING_F32, TMARING_F16, 64, 8, 1, 0},   {TMARING_I32, TMARING_E5M2, 64, 8, 1, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const type_case *c = &cases[i];
    draft d = draft_make("y = x + 1", c->in, 999, c->cols);
    d.tensor[1].dtype = c->out;
    tmaring_plan *plan = draft_accept(&d);
    cr_expect_eq(plan->code.vec, c->vec, "case %zu: vec %d", i, plan->code.vec);
    cr_expect_eq(plan->code.aligned, c->aligned, "case %zu", i);
    cr_expect_eq(plan->code.wide, c->wide, "case %zu", i);
    cr_expect_eq(draft_note(plan, "wide") != NULL, c->wide, "case %zu", i);
    cr_expect_eq(tmaring_check(plan, 999, NULL), TMARING_OK, "case %zu: %s", i, tmaring_last_detail());
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* Warps store their own parts of a flat fill: whole 16 bytes of one-byte types too. */
Test(plan_streams, flat_chunks_are_whole_units, .timeout = 10)
{
  for (int32_t dtype = 0; dtype < TMARING_I64; ++dtype) {
    for (int64_t cols = 64; cols <= 1024; cols += 48) {
      draft d = draft_make("y = x + 1", TMARING_F32, 100, cols);
      d.tensor[1].dtype = (tmaring_dtype)dtype;
      d.options.store = TMARING_STORE_BULK;
      d.options.scope = TMARING_SCOPE_FLAT;
      d.options.consumers[0] = 32 << cols % 5;
      tmaring_plan *plan = draft_accept(&d);
      const tmaring_args a = draft_args(plan, 100);
      cr_expect_eq(a.scope.chunk_vecs * a.scope.vec * (int32_t)a.output[0].elem_bytes % 16, 0, "%s, %d columns",
                   tmaring_dtype_name((tmaring_dtype)dtype), (int)cols);
      cr_expect_eq(tmaring_check(plan, 100, NULL), TMARING_OK, "%s", tmaring_last_detail());
      tmaring_plan_free(plan);
      draft_free(&d);
    }
  }
}

Test(plan_streams, narrow_values_do_not_widen, .timeout = 10)
{
  draft d = draft_make("y = x * v[M]", TMARING_F32, 100, 64);
  d.tensor[draft_tensor(&d, "v")].dtype = TMARING_I32;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(plan->code.wide, 0, "values per row of i32 are numbers in fp32");
  tmaring_plan_free(plan);
  d.tensor[draft_tensor(&d, "v")].dtype = TMARING_F64;
  plan = draft_accept(&d);
  cr_expect_eq(plan->code.wide, 1);
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* 16 columns of one byte are whole units, though a vector is 8. */
Test(plan_streams, pieces_are_whole_units_and_groups, .timeout = 10)
{
  static const struct {
    const char *formula;
    tmaring_dtype dtype;
    int32_t asked, piece;
  } cases[] = {{"y = x + 1", TMARING_E4M3, 100, 112},
               {"y = x + 1", TMARING_F64, 101, 102},
               {"y = x + 1", TMARING_BF16, 100, 104},
               {GROUPS, TMARING_BF16, 100, 128},
               {"y = x * gsum(x, 32); z = x * gmax(x, 64)", TMARING_F32, 65, 128}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    draft d = draft_make(cases[i].formula, cases[i].dtype, 100, 1024);
    char note[48];
    d.options.piece_cols = cases[i].asked;
    tmaring_plan *plan = draft_accept(&d);
    cr_expect_eq(draft_args(plan, 100).walk.piece_cols, cases[i].piece, "case %zu: %d", i,
                 draft_args(plan, 100).walk.piece_cols);
    snprintf(note, sizeof note, "piece_cols %d -> %d", cases[i].asked, cases[i].piece);
    cr_expect_not_null(draft_note(plan, note), "case %zu", i);
    cr_expect_eq(tmaring_check(plan, 100, NULL), TMARING_OK, "case %zu: %s", i, tmaring_last_detail());
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

Test(plan_streams, long_rows_are_cut_between_groups, .timeout = 10)
{
  draft d = draft_make(GROUPS, TMARING_BF16, 64, 151937);
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_walk w = draft_args(plan, 64).walk;
  cr_expect_gt(w.pieces, 1);
  cr_expect_eq(w.piece_cols % 128, 0);
  cr_expect_eq(w.spread, 1, "a group lies in one piece");
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* ---- what is streamed, and how ---- */

Test(plan_streams, halves_are_two_streams, .timeout = 10)
{
  draft d = draft_make(HALVES, TMARING_BF16, 1000, 256);
  d.options.store = TMARING_STORE_BULK;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 1000);
  cr_expect_eq(a.input_count, 2);
  cr_expect_eq(draft_info(plan).bytes_per_row, 2 * 512 + 512);
  for (int i = 0; i < 2; ++i) {
    cr_expect_eq(a.input[i].pitch, 1024);
    cr_expect_eq(a.input[i].elem_bytes, 2);
    cr_expect_eq(a.input[i].paired, 0);
    cr_expect_eq(a.input[i].dense, a.walk.tile_rows == 1, "rows lie apart, a single one is one run");
  }
  cr_expect_neq(a.input[0].slot, a.input[1].slot);
  cr_expect_eq(draft_info(plan).in_place, 0, "a half is no place for results");
  cr_expect_eq(plan->code.aligned, 1);
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan_streams, pairs_are_one_stream, .timeout = 10)
{
  draft d = draft_make(PAIRS, TMARING_BF16, 1000, 256);
  d.tensor[1].dtype = TMARING_F32; /* as wide as a pair */
  d.options.store = TMARING_STORE_BULK;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 1000);
  cr_expect_eq(a.input_count, 1);
  cr_expect_eq(a.input[0].paired, 1);
  cr_expect_eq(a.input[0].elem_bytes, 4);
  cr_expect_eq(a.input[0].pitch, 1024);
  cr_expect_eq(a.input[0].dense, 1);
  cr_expect_eq(a.output[0].paired, 0);
  cr_expect_eq(a.scope.kind, TMARING_SCOPE_FLAT, "nothing in it knows rows");
  cr_expect_eq(draft_info(plan).in_place, 0, "two elements are read for each result");
  cr_expect_eq(tmaring_check(plan, 1000, NULL), TMARING_OK, "%s", tmaring_last_detail());
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* The second half begins N elements further: its place counts too. */
Test(plan_streams, halves_are_aligned_where_N_is, .timeout = 10)
{
  static const struct {
    int64_t cols;
    uint32_t alignment;
    int32_t aligned;
  } cases[] = {{256, 16, 1}, {256, 8, 0}, {252, 16, 0}, {250, 16, 0}, {264, 16, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    draft d = draft_make(HALVES, TMARING_BF16, 100, cases[i].cols);
    d.tensor[0].alignment = cases[i].alignment;
    tmaring_plan *plan = draft_accept(&d);
    cr_expect_eq(plan->code.aligned, cases[i].aligned, "case %zu", i);
    cr_expect_eq(tmaring_check(plan, 100, NULL), TMARING_OK, "case %zu: %s", i, tmaring_last_detail());
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* q in a fused qkv buffer: 32 heads of 128, tokens 6144 elements apart. */
static draft heads(int64_t tokens)
{
  draft d = draft_make("rmsnorm(x[M,N], w[N]; eps = 1e-5) = x * rsqrt(mean(x * x) + eps) * w", TMARING_BF16,
                       32 * tokens, 128);
  for (int32_t i = 0; i < d.count; i += 2) {
    d.tensor[i].pitch = 128;
    d.tensor[i].group_rows = 32;
    d.tensor[i].group_pitch = 6144;
  }
  return d;
}

Test(plan_streams, F19_rows_come_in_groups, .timeout = 10)
{
  draft d = heads(3);
  d.options.store = TMARING_STORE_BULK;
  tmaring_plan *plan = draft_accept(&d);
  const tmaring_args a = draft_args(plan, 96);
  cr_expect_eq(a.input[0].group_rows, 32);
  cr_expect_eq(a.input[0].group_pitch, 12288);
  cr_expect_eq(tmaring_stream_row(&a.input[0], 33), 12288 + 256);
  cr_expect_eq(a.input[0].dense, a.walk.tile_rows == 1);
  cr_expect_eq(plan->code.grouped, 1);
  cr_expect_eq(plan->code.aligned, 1);
  cr_expect_eq(draft_info(plan).in_place, 1, "both have the same groups");
  cr_expect_not_null(draft_note(plan, "grouped"));
  cr_expect_eq(tmaring_check(plan, 96, NULL), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_eq(tmaring_check(plan, 1000000, NULL), TMARING_OK, "%s", tmaring_last_detail());
  tmaring_plan_free(plan);
  d.tensor[2].group_rows = d.tensor[2].group_pitch = 0;
  plan = draft_accept(&d);
  cr_expect_eq(draft_info(plan).in_place, 0, "rows of the output follow one another");
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(plan_streams, groups_that_follow_one_another_are_none, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 1000, 256);
  d.tensor[0].group_rows = 4;
  d.tensor[0].group_pitch = 1024;
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(draft_args(plan, 1000).input[0].group_rows, 0);
  cr_expect_eq(draft_args(plan, 1000).scope.kind, TMARING_SCOPE_FLAT);
  cr_expect_eq(plan->code.grouped, 0);
  tmaring_plan_free(plan);
  d.tensor[0].group_pitch = 1028;
  plan = draft_accept(&d);
  cr_expect_eq(plan->code.grouped, 1);
  cr_expect_eq(plan->code.aligned, 1);
  tmaring_plan_free(plan);
  d.tensor[0].group_pitch = 1025;
  plan = draft_accept(&d);
  cr_expect_eq(plan->code.aligned, 0, "every second group begins off 16 bytes");
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* Grouped rows are numbered in 31 bits, and far groups leave room for fewer. */
Test(plan_streams, grouped_rows_have_a_limit, .timeout = 10)
{
  static const struct {
    int64_t group_rows, group_pitch, most;
  } cases[] = {{32, 6144, 2147483647}, {1, 6144, 2147483647}, {1, (int64_t)1 << 39, (int64_t)1 << 21}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    draft d = heads(3);
    tmaring_args a;
    d.tensor[0].group_rows = cases[i].group_rows;
    d.tensor[0].group_pitch = cases[i].group_pitch;
    tmaring_plan *plan = draft_accept(&d);
    cr_expect_eq(tmaring_plan_args(plan, cases[i].most, &a), TMARING_OK, "case %zu: %s", i, tmaring_last_detail());
    cr_expect_eq(tmaring_plan_args(plan, cases[i].most + 1, &a), TMARING_ERROR_CAPACITY, "case %zu", i);
    cr_expect_eq(tmaring_check(plan, cases[i].most, NULL), TMARING_OK, "case %zu: %s", i, tmaring_last_detail());
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

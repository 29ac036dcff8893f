/* Encoding a launch: addresses and hulls, alignment, overlap, scalars, workspace. Needs no backend: nothing is read. */
#define _POSIX_C_SOURCE 199309L
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"
#include "support/noise.h"

/* A plan, and addresses far apart and well aligned for its tensors. */
typedef struct post {
  draft d;
  tmaring_plan *plan;
  void *data[DRAFT_MAX_TENSORS];
  tmaring_launch_params params;
  tmaring_args args;
} post;

static void *place(uint64_t address)
{
  return (void *)(uintptr_t)address;
}

#define FIELD ((uint64_t)1 << 32)

static void post_plan(post *p)
{
  const tmaring_launch_params empty = TMARING_LAUNCH_PARAMS_INIT;
  p->plan = draft_accept(&p->d);
  p->params = empty;
  p->params.rows = 100;
  p->params.data = p->data;
  p->params.workspace = place(64);
  for (int32_t i = 0; i < p->d.count; ++i) p->data[i] = place(FIELD * (uint64_t)(i + 1));
}

static void post_make(post *p, const char *formula)
{
  memset(p, 0, sizeof *p);
  p->d = draft_make(formula, TMARING_F32, 100, 256);
  post_plan(p);
}

static void post_free(post *p)
{
  tmaring_plan_free(p->plan);
  draft_free(&p->d);
}

static tmaring_status encode(post *p)
{
  return tmaring__encode(p->plan, &p->params, &p->args, &(tmaring__boxes){0});
}

static void expect_refused(post *p, tmaring_status expected, const char *first, const char *second)
{
  const tmaring_status status = encode(p);
  cr_expect_eq(status, expected, "%s: \"%s\"", tmaring_status_name(status), tmaring_last_detail());
  cr_expect_not_null(strstr(tmaring_last_detail(), first), "\"%s\" lacks %s", tmaring_last_detail(), first);
  cr_expect_not_null(strstr(tmaring_last_detail(), second), "\"%s\" lacks %s", tmaring_last_detail(), second);
}

static void expect_encoded(post *p, const char *what)
{
  const tmaring_status status = encode(p);
  cr_expect_eq(status, TMARING_OK, "%s: %s", what, tmaring_last_detail());
}

/* ---- addresses ---- */

Test(encode, addresses_and_hulls, .timeout = 10)
{
  post p;
  memset(&p, 0, sizeof p);
  p.d = draft_make("s = sum(x * w[N]); y = x - v[M]", TMARING_F32, 100, 256);
  p.d.tensor[0].pitch = 300;
  p.d.tensor[tmaring_formula_find(p.d.formula, "y")].dtype = TMARING_BF16;
  post_plan(&p);
  expect_encoded(&p, "all apart");
  const tmaring_args *a = &p.args;
  cr_expect_eq(a->input[0].base, FIELD);
  cr_expect_eq(a->input[0].hull_end, FIELD + 99 * 1200 + 1024, "the gap after the last row is no part of the hull");
  cr_expect_eq(a->vector[0].base, (uint64_t)(uintptr_t)p.data[tmaring_formula_find(p.d.formula, "w")]);
  cr_expect_eq(a->row_scalar[0].base, (uint64_t)(uintptr_t)p.data[tmaring_formula_find(p.d.formula, "v")]);
  cr_expect_eq(a->row_output[0].base, (uint64_t)(uintptr_t)p.data[tmaring_formula_find(p.d.formula, "s")]);
  cr_expect_eq(a->output[0].base, (uint64_t)(uintptr_t)p.data[tmaring_formula_find(p.d.formula, "y")]);
  cr_expect_eq(a->output[0].hull_end, a->output[0].base + 100 * 512);
  cr_expect_eq(a->abi_version, TMARING_ABI_VERSION);
  cr_expect_eq(a->walk.rows, 100);
  post_free(&p);
}

Test(encode, F12_hulls_past_32_bits, .timeout = 10)
{
  post p;
  memset(&p, 0, sizeof p);
  p.d = draft_make("y = x + 1", TMARING_BF16, 4194305, 512);
  post_plan(&p);
  p.params.rows = 4194305;
  p.data[1] = place((uint64_t)1 << 40);
  expect_encoded(&p, "4 GiB apart");
  cr_expect_eq(p.args.input[0].hull_end - p.args.input[0].base, 4294968320u);
  p.data[1] = place(FIELD + 4294968304u);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "x");
  p.data[1] = place(FIELD + 4294968320u);
  expect_encoded(&p, "end to end");
  post_free(&p);
}

Test(encode, F13_no_rows_need_no_data, .timeout = 10)
{
  post p;
  post_make(&p, "y = x + 1");
  p.params.rows = 0;
  p.params.data = NULL;
  p.params.workspace = NULL;
  expect_encoded(&p, "M = 0");
  cr_expect_eq(p.args.walk.tiles, 0);
  post_free(&p);
}

/* ---- alignment ---- */

Test(encode, F05_alignment_is_what_the_plan_was_told, .timeout = 10)
{
  for (uint32_t shift = 4; shift <= 16; shift += 4) {
    post p;
    post_make(&p, "y = x + 1");
    p.data[0] = place(FIELD + shift);
    if (shift == 16) {
      expect_encoded(&p, "16 bytes on");
    } else {
      char words[32];
      snprintf(words, sizeof words, "%u modulo 16", shift);
      expect_refused(&p, TMARING_ERROR_ALIGNMENT, "x: got address", words);
    }
    post_free(&p);
  }
}

Test(encode, F05_a_plan_told_of_less_takes_any_element, .timeout = 10)
{
  post p;
  memset(&p, 0, sizeof p);
  p.d = draft_make("y = x + 1", TMARING_F32, 100, 256);
  p.d.tensor[0].alignment = p.d.tensor[1].alignment = 4;
  post_plan(&p);
  for (uint64_t shift = 0; shift < 32; shift += 4) {
    p.data[0] = place(FIELD + shift);
    p.data[1] = place(2 * FIELD + 12);
    expect_encoded(&p, "4-byte steps");
  }
  p.data[1] = place(2 * FIELD + 2);
  expect_refused(&p, TMARING_ERROR_ALIGNMENT, "y", "element size 4");
  post_free(&p);
}

/* ---- overlap ---- */

Test(encode, F20_in_place_is_exact_or_nothing, .timeout = 10)
{
  post p;
  post_make(&p, "y = x + 1");
  p.data[1] = p.data[0];
  expect_encoded(&p, "in place");
  p.data[1] = place(FIELD + 16);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y: got bytes", "overlap x at");
  p.data[1] = place(FIELD + 100 * 1024 - 16);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "x");
  p.data[1] = place(FIELD + 100 * 1024);
  expect_encoded(&p, "right after");
  p.data[1] = place(FIELD - 100 * 1024);
  expect_encoded(&p, "right before");
  p.data[1] = place(FIELD - 100 * 1024 + 16);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "x");
  post_free(&p);
}

Test(encode, in_place_with_another_type_or_pitch_is_refused, .timeout = 10)
{
  post type, pitch;
  memset(&type, 0, sizeof type);
  type.d = draft_make("y = x + 1", TMARING_F32, 100, 256);
  type.d.tensor[1].dtype = TMARING_F16;
  post_plan(&type);
  type.data[1] = type.data[0];
  expect_refused(&type, TMARING_ERROR_ALIAS, "y", "x");
  post_free(&type);
  memset(&pitch, 0, sizeof pitch);
  pitch.d = draft_make("y = x + 1", TMARING_F32, 100, 256);
  pitch.d.tensor[1].pitch = 512;
  post_plan(&pitch);
  pitch.data[1] = pitch.data[0];
  expect_refused(&pitch, TMARING_ERROR_ALIAS, "y", "x");
  post_free(&pitch);
}

Test(encode, inputs_may_share_memory_outputs_may_not, .timeout = 10)
{
  post p;
  post_make(&p, "y = a + b; z = a - b");
  p.data[1] = p.data[0];
  expect_encoded(&p, "a is b");
  p.data[1] = place(FIELD + 16);
  expect_encoded(&p, "a and b overlap");
  p.data[3] = p.data[2];
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "z");
  p.data[3] = place(4 * FIELD);
  p.data[2] = p.data[0];
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "b");
  p.data[1] = p.data[0];
  expect_encoded(&p, "y is a is b");
  post_free(&p);
}

Test(encode, vectors_and_values_are_kept_apart, .timeout = 10)
{
  post p;
  post_make(&p, "s = sum(x * w[N]); y = x - v[M]");
  const int32_t w = tmaring_formula_find(p.d.formula, "w"), s = tmaring_formula_find(p.d.formula, "s");
  const int32_t v = tmaring_formula_find(p.d.formula, "v"), y = tmaring_formula_find(p.d.formula, "y");
  expect_encoded(&p, "all apart");
  p.data[s] = p.data[v];
  expect_refused(&p, TMARING_ERROR_ALIAS, "s", "v");
  p.data[s] = place((uint64_t)(uintptr_t)p.data[v] + 400);
  expect_encoded(&p, "s after v");
  p.data[w] = place((uint64_t)(uintptr_t)p.data[y] + 1024);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "w");
  post_free(&p);
}

/* Views of one buffer: columns [0,128) and [128,256) of rows 256 apart. */
Test(encode, column_ranges_of_one_buffer_are_apart, .timeout = 10)
{
  post p;
  memset(&p, 0, sizeof p);
  p.d = draft_make("y = x + 1", TMARING_F32, 100, 128);
  p.d.tensor[0].pitch = p.d.tensor[1].pitch = 256;
  post_plan(&p);
  p.data[1] = place(FIELD + 512);
  expect_encoded(&p, "x left of y");
  p.data[1] = place(FIELD - 512);
  expect_encoded(&p, "y left of x");
  p.data[1] = place(FIELD + 10 * 1024 + 512);
  expect_encoded(&p, "ten rows on");
  p.data[1] = place(FIELD + 496);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "x");
  p.data[1] = place(FIELD + 528);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "x");
  p.data[1] = place(FIELD + 1024);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "x");
  post_free(&p);
}

/* Byte by byte, for small matrices at random places: refused exactly where a byte is shared and it is not in place. */
static int shares_a_byte(const post *p, const uint64_t *base, int64_t rows)
{
  static unsigned char taken[8192];
  memset(taken, 0, sizeof taken);
  for (int32_t t = 0; t < 2; ++t) {
    const tmaring_tensor *x = &p->plan->tensor[t];
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t b = 0; b < x->cols * 4; ++b) {
        unsigned char *byte = &taken[base[t] + (uint64_t)(r * x->pitch * 4 + b)];
        if (t == 1 && *byte) return 1;
        *byte = 1;
      }
    }
  }
  return 0;
}

Test(encode, overlap_is_found_exactly_where_pitches_agree, .timeout = 60)
{
  noise n = noise_seed(3);
  int32_t shared = 0, free_of_it = 0;
  for (int i = 0; i < 3000; ++i) {
    post p;
    memset(&p, 0, sizeof p);
    p.d = draft_make("y = x + 1", TMARING_F32, 0, 1 + noise_below(&n, 12));
    p.d.tensor[0].pitch = p.d.tensor[1].pitch = p.d.tensor[0].cols + noise_below(&n, 20);
    p.d.tensor[0].alignment = p.d.tensor[1].alignment = 4;
    post_plan(&p);
    p.params.rows = 1 + noise_below(&n, 9);
    const uint64_t base[2] = {4 * (uint64_t)noise_below(&n, 300), 4 * (uint64_t)noise_below(&n, 300)};
    p.data[0] = place(FIELD + base[0]);
    p.data[1] = place(FIELD + base[1]);
    const int expected = base[0] != base[1] && shares_a_byte(&p, base, p.params.rows);
    cr_assert_eq(encode(&p), expected ? TMARING_ERROR_ALIAS : TMARING_OK, "%d", i);
    shared += expected;
    free_of_it += !expected;
    post_free(&p);
  }
  cr_expect_gt(shared, 300);
  cr_expect_gt(free_of_it, 300);
}

/* ---- the rest ---- */

Test(encode, scalars_and_their_defaults, .timeout = 10)
{
  post p;
  const double values[2] = {3.0, 0.1};
  post_make(&p, "f(x[M,N]; a, b = 2) = x * a + b");
  expect_refused(&p, TMARING_ERROR_ARGUMENT, "scalars", "a, which has no default");
  p.params.scalars = values;
  expect_encoded(&p, "both");
  cr_expect_eq(p.args.scalar[0], 3.0f);
  cr_expect_eq(p.args.scalar[1], 0.1f);
  cr_expect_eq(p.args.wide_scalar[0], 3.0);
  cr_expect_eq(p.args.wide_scalar[1], 0.1, "not by way of fp32");
  post_free(&p);
  post_make(&p, "f(x[M,N]; b = 2) = x + b");
  expect_encoded(&p, "default");
  cr_expect_eq(p.args.scalar[0], 2.0f);
  cr_expect_eq(p.args.wide_scalar[0], 2.0);
  post_free(&p);
}

Test(encode, bad_parameters_are_named, .timeout = 10)
{
  post p;
  post_make(&p, "y = x + 1");
  p.data[1] = NULL;
  expect_refused(&p, TMARING_ERROR_ARGUMENT, "data[1] (y)", "NULL");
  p.params.data = NULL;
  expect_refused(&p, TMARING_ERROR_ARGUMENT, "data", "NULL");
  p.params.rows = -5;
  expect_refused(&p, TMARING_ERROR_ARGUMENT, "rows", "-5");
  p.params.rows = INT64_MAX;
  expect_refused(&p, TMARING_ERROR_CAPACITY, "rows", "at most");
  p.params.rows = 100;
  p.params.flags = 4;
  expect_refused(&p, TMARING_ERROR_ARGUMENT, "flags", "0x4");
  p.params.size = 8;
  expect_refused(&p, TMARING_ERROR_ARGUMENT, "size", "got 8");
  post_free(&p);
}

Test(encode, tickets_need_a_workspace, .timeout = 10)
{
  post p;
  memset(&p, 0, sizeof p);
  p.d = draft_make("y = x + 1", TMARING_F32, 100, 256);
  p.d.options.order = TMARING_ORDER_TICKET;
  post_plan(&p);
  expect_encoded(&p, "with workspace");
  cr_expect_eq(p.args.counter_address, 64);
  p.params.workspace = place(68);
  expect_refused(&p, TMARING_ERROR_ALIGNMENT, "workspace", "multiple of 8");
  p.params.workspace = NULL;
  expect_refused(&p, TMARING_ERROR_ARGUMENT, "workspace", "tmaring_workspace_init");
  post_free(&p);
}

Test(encode, rows_from_the_device, .timeout = 10)
{
  post p;
  post_make(&p, "y = x + 1");
  p.params.rows_device = place(4096);
  expect_encoded(&p, "M in device memory");
  cr_expect_eq(p.args.rows_address, 4096);
  cr_expect_eq(p.args.walk.rows, 100);
  p.params.rows_device = place(4100);
  expect_refused(&p, TMARING_ERROR_ALIGNMENT, "rows_device", "multiple of 8");
  post_free(&p);
}

/* Prints what the host pays per launch before the driver is called. */
Test(encode, cost_of_a_launch, .timeout = 30)
{
  post p;
  struct timespec start, end;
  const int rounds = 200000;
  uint64_t sum = 0;
  post_make(&p, "rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * w");
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < rounds; ++i) {
    p.params.rows = 1 + i % 100;
    cr_assert_eq(encode(&p), TMARING_OK);
    sum += p.args.input[0].hull_end;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  cr_expect_gt(sum, 0);
  const double ns = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
  printf("encode: %.0f ns per launch\n", ns / rounds);
  post_free(&p);
}

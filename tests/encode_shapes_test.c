/* Encoding a launch with tensors of every shape: addresses, hulls, what may overlap, no rows, the workspace of column
 * reductions. Needs no backend: nothing is read. */
#include <criterion/criterion.h>
#include <string.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"
#include "support/noise.h"

typedef struct post {
  draft d;
  tmaring_plan *plan;
  void *data[DRAFT_MAX_TENSORS];
  tmaring_launch_params params;
  tmaring_args args;
} post;

#define FIELD ((uint64_t)1 << 32)

static void *place(uint64_t address)
{
  return (void *)(uintptr_t)address;
}

static int32_t tensor_of(const post *p, const char *name)
{
  const int32_t index = tmaring_formula_find(p->d.formula, name);
  cr_assert_geq(index, 0, "%s", name);
  return index;
}

static void post_begin(post *p, const char *formula, int64_t rows, int64_t cols)
{
  memset(p, 0, sizeof *p);
  p->d = draft_make(formula, TMARING_F32, rows, cols);
}

static void post_plan(post *p, int64_t rows)
{
  const tmaring_launch_params empty = TMARING_LAUNCH_PARAMS_INIT;
  p->plan = draft_accept(&p->d);
  p->params = empty;
  p->params.rows = rows;
  p->params.data = p->data;
  p->params.workspace = place(256);
  for (int32_t i = 0; i < p->d.count; ++i) p->data[i] = place(FIELD * (uint64_t)(i + 1));
}

static void post_free(post *p)
{
  tmaring_plan_free(p->plan);
  draft_free(&p->d);
}

static void expect_encoded(post *p, const char *what)
{
  const tmaring_status status = tmaring__encode(p->plan, &p->params, &p->args, &(tmaring__boxes){0});
  cr_expect_eq(status, TMARING_OK, "%s: %s", what, tmaring_last_detail());
}

static void expect_refused(post *p, tmaring_status expected, const char *first, const char *second)
{
  const tmaring_status status = tmaring__encode(p->plan, &p->params, &p->args, &(tmaring__boxes){0});
  cr_expect_eq(status, expected, "%s: \"%s\"", tmaring_status_name(status), tmaring_last_detail());
  cr_expect_not_null(strstr(tmaring_last_detail(), first), "\"%s\" lacks %s", tmaring_last_detail(), first);
  cr_expect_not_null(strstr(tmaring_last_detail(), second), "\"%s\" lacks %s", tmaring_last_detail(), second);
}

/* Tensor `a` at an offset in bytes from tensor `b`. */
static void put(post *p, const char *a, const char *b, int64_t offset)
{
  p->data[tensor_of(p, a)] = place((uint64_t)(uintptr_t)p->data[tensor_of(p, b)] + (uint64_t)offset);
}

/* ---- addresses and hulls ---- */

Test(encode_shapes, halves_lie_N_apart, .timeout = 10)
{
  post p;
  post_begin(&p, "f(x[M,2N]) = silu(first(x)) * second(x)", 100, 256);
  p.d.tensor[0].pitch = 600;
  post_plan(&p, 100);
  expect_encoded(&p, "apart");
  cr_expect_eq(p.args.input[0].base, FIELD);
  cr_expect_eq(p.args.input[1].base, FIELD + 1024);
  for (int i = 0; i < 2; ++i) /* either may be read up to the end of both */
    cr_expect_eq(p.args.input[i].hull_end, FIELD + 99 * 2400 + 2048);
  post_free(&p);
}

Test(encode_shapes, pairs_take_both_columns, .timeout = 10)
{
  post p;
  post_begin(&p, "f(x[M,2N]) = even(x) * odd(x)", 100, 256);
  post_plan(&p, 100);
  expect_encoded(&p, "apart");
  cr_expect_eq(p.args.input[0].base, FIELD);
  cr_expect_eq(p.args.input[0].hull_end, FIELD + 100 * 2048);
  post_free(&p);
}

Test(encode_shapes, F19_hulls_of_groups, .timeout = 10)
{
  post p;
  post_begin(&p, "y = x + 1", 96, 128);
  p.d.tensor[0].group_rows = 32;
  p.d.tensor[0].group_pitch = 6144;
  post_plan(&p, 96);
  expect_encoded(&p, "three tokens");
  cr_expect_eq(p.args.input[0].hull_end, FIELD + 4 * (2 * 6144 + 32 * 128));
  p.params.rows = 65;
  expect_encoded(&p, "two, and a head");
  cr_expect_eq(p.args.input[0].hull_end, FIELD + 4 * (2 * 6144 + 128));
  post_free(&p);
}

/* ---- [M,2N] and groups of rows: what an output may lie over ---- */

Test(encode_shapes, F20_no_output_replaces_a_double, .timeout = 10)
{
  static const char *const formulas[] = {"f(x[M,2N]) = first(x) * second(x)", "f(x[M,2N]) = even(x) * odd(x)"};
  for (size_t i = 0; i < 2; ++i) {
    post p;
    post_begin(&p, formulas[i], 100, 256);
    p.d.tensor[1].pitch = 512; /* that of x */
    post_plan(&p, 100);
    put(&p, "y", "x", 0);
    expect_refused(&p, TMARING_ERROR_ALIAS, "y: got bytes", "overlap x at");
    put(&p, "y", "x", 1024);
    expect_refused(&p, TMARING_ERROR_ALIAS, "y", "x");
    put(&p, "y", "x", 100 * 2048 - 16);
    expect_refused(&p, TMARING_ERROR_ALIAS, "y", "x");
    put(&p, "y", "x", 100 * 2048);
    expect_encoded(&p, "right after");
    put(&p, "y", "x", -(99 * 2048 + 1024));
    expect_encoded(&p, "right before");
    post_free(&p);
  }
}

Test(encode_shapes, F20_columns_beside_a_double, .timeout = 10)
{
  post p;
  post_begin(&p, "f(x[M,2N]) = first(x) * second(x)", 100, 256);
  p.d.tensor[0].pitch = p.d.tensor[1].pitch = 768;
  post_plan(&p, 100);
  put(&p, "y", "x", 2048);
  expect_encoded(&p, "the last third of a row");
  put(&p, "y", "x", 2032);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "x");
  put(&p, "y", "x", -1024);
  expect_encoded(&p, "the first third");
  post_free(&p);
}

Test(encode_shapes, F20_in_place_with_the_same_groups, .timeout = 10)
{
  post p;
  post_begin(&p, "y = x + 1", 96, 128);
  for (int i = 0; i < 2; ++i) {
    p.d.tensor[i].group_rows = 32;
    p.d.tensor[i].group_pitch = 6144;
  }
  post_plan(&p, 96);
  put(&p, "y", "x", 0);
  expect_encoded(&p, "in place");
  put(&p, "y", "x", 4 * 4096);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "groups of rows"); /* past 6144 - 4096 into the next token */
  put(&p, "y", "x", 4 * 128);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "x");
  post_free(&p);
  post_begin(&p, "y = x + 1", 24, 128); /* k and v: 8 heads each, in one buffer */
  for (int i = 0; i < 2; ++i) {
    p.d.tensor[i].group_rows = 8;
    p.d.tensor[i].group_pitch = 6144;
  }
  post_plan(&p, 24);
  put(&p, "y", "x", 4 * 1024);
  expect_encoded(&p, "v after k");
  put(&p, "y", "x", -4 * 1024);
  expect_encoded(&p, "k after v");
  put(&p, "y", "x", 4 * 1020);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "x");
  post_free(&p);
}

Test(encode_shapes, F20_other_groups_are_not_in_place, .timeout = 10)
{
  static const int64_t groups[][2] = {{16, 6144}, {32, 6148}, {0, 0}};
  for (size_t i = 0; i < 3; ++i) {
    post p;
    post_begin(&p, "y = x + 1", 96, 128);
    p.d.tensor[0].group_rows = 32;
    p.d.tensor[0].group_pitch = 6144;
    p.d.tensor[1].group_rows = groups[i][0];
    p.d.tensor[1].group_pitch = groups[i][1];
    post_plan(&p, 96);
    put(&p, "y", "x", 0);
    expect_refused(&p, TMARING_ERROR_ALIAS, "y", "x");
    post_free(&p);
  }
}

/* Byte by byte, small grouped matrices at random places: never accepted where a byte is shared out of place, and where
 * both have the same strides refused for nothing else. */
static int64_t row_at(const tmaring_tensor *t, int64_t row)
{
  if (t->group_rows == 0) return row * t->pitch;
  return row / t->group_rows * t->group_pitch + row % t->group_rows * t->pitch;
}

static int shares_a_byte(const post *p, const uint64_t *base)
{
  static unsigned char taken[1 << 16];
  memset(taken, 0, sizeof taken);
  for (int32_t t = 0; t < 2; ++t) {
    const tmaring_tensor *x = &p->plan->tensor[t];
    for (int64_t r = 0; r < p->params.rows; ++r) {
      for (int64_t b = 0; b < x->cols * 4; ++b) {
        unsigned char *byte = &taken[base[t] + (uint64_t)(row_at(x, r) * 4 + b)];
        if (t == 1 && *byte) return 1;
        *byte = 1;
      }
    }
  }
  return 0;
}

static void random_groups(tmaring_tensor *t, noise *n)
{
  t->alignment = 4;
  t->pitch = t->cols + noise_below(n, 8);
  t->group_rows = 1 + noise_below(n, 4);
  t->group_pitch = (t->group_rows - 1) * t->pitch + t->cols + noise_below(n, 2 * (int32_t)t->pitch + 30);
}

Test(encode_shapes, F20_overlap_of_groups_is_found, .timeout = 60)
{
  noise n = noise_seed(9);
  int32_t shared = 0, apart = 0, needless = 0;
  for (int i = 0; i < 6000; ++i) {
    post p;
    post_begin(&p, "y = x + 1", 0, 1 + noise_below(&n, 8));
    const int same = noise_below(&n, 4) > 0;
    random_groups(&p.d.tensor[0], &n);
    random_groups(&p.d.tensor[1], &n);
    if (same) p.d.tensor[1] = p.d.tensor[0];
    post_plan(&p, 1 + noise_below(&n, 14));
    const uint64_t base[2] = {4 * (uint64_t)noise_below(&n, 300), 4 * (uint64_t)noise_below(&n, 300)};
    p.data[0] = place(FIELD + base[0]);
    p.data[1] = place(FIELD + base[1]);
    const int expected = shares_a_byte(&p, base) && !(same && base[0] == base[1]);
    const tmaring_status status = tmaring__encode(p.plan, &p.params, &p.args, &(tmaring__boxes){0});
    cr_assert(status == TMARING_OK || status == TMARING_ERROR_ALIAS, "%s", tmaring_last_detail());
    if (expected) cr_assert_eq(status, TMARING_ERROR_ALIAS, "%d: shared bytes were accepted", i);
    shared += expected;
    apart += !expected && status == TMARING_OK;
    needless += !expected && status != TMARING_OK;
    post_free(&p);
  }
  cr_expect_gt(shared, 1000);
  cr_expect_gt(apart, 1000);
  cr_expect_lt(needless * 10, 6000, "%d refused without need", needless);
}

/* ---- values per row ---- */

Test(encode_shapes, values_of_a_pitch, .timeout = 10)
{
  post p;
  post_begin(&p, "y = x * v[M]; s = sum(x)", 100, 256);
  p.d.tensor[tensor_of(&p, "v")].pitch = 2;
  p.d.tensor[tensor_of(&p, "s")].pitch = 2;
  p.d.tensor[tensor_of(&p, "v")].alignment = p.d.tensor[tensor_of(&p, "s")].alignment = 4;
  post_plan(&p, 100);
  put(&p, "s", "v", 0);
  expect_refused(&p, TMARING_ERROR_ALIAS, "s", "v");
  put(&p, "s", "v", 4);
  expect_encoded(&p, "two columns of one array");
  put(&p, "s", "v", 8 * 99 + 4);
  expect_encoded(&p, "after all of it");
  put(&p, "s", "v", 8 * 99);
  expect_refused(&p, TMARING_ERROR_ALIAS, "s", "v");
  put(&p, "s", "v", -8 * 50);
  expect_refused(&p, TMARING_ERROR_ALIAS, "s", "v");
  post_free(&p);
}

Test(encode_shapes, one_value_takes_one_place, .timeout = 10)
{
  post p;
  post_begin(&p, "y = x * v[M]; s = sum(x)", 100, 256);
  p.d.tensor[tensor_of(&p, "v")].pitch = TMARING_ONE_VALUE;
  p.d.tensor[tensor_of(&p, "v")].alignment = p.d.tensor[tensor_of(&p, "s")].alignment = 4;
  post_plan(&p, 100);
  put(&p, "s", "v", 4);
  expect_encoded(&p, "right after");
  cr_expect_eq(p.args.row_scalar[0].pitch, 0);
  put(&p, "s", "v", 0);
  expect_refused(&p, TMARING_ERROR_ALIAS, "s", "v");
  put(&p, "s", "v", -4 * 99);
  expect_refused(&p, TMARING_ERROR_ALIAS, "s", "v");
  put(&p, "s", "v", -4 * 100);
  expect_encoded(&p, "right before");
  post_free(&p);
}

/* Scales [M, 4] beside a second set of them: by rows, and by columns. */
Test(encode_shapes, values_of_groups_by_row_and_by_column, .timeout = 10)
{
  post p;
  post_begin(&p, "f(q[M,N], a[M,N/64]) = out s = gamax(q, 64); y = q * a / s", 100, 256);
  tmaring_tensor *a = &p.d.tensor[tensor_of(&p, "a")], *s = &p.d.tensor[tensor_of(&p, "s")];
  a->pitch = s->pitch = 8;
  post_plan(&p, 100);
  put(&p, "s", "a", 16);
  expect_encoded(&p, "halves of rows of 8");
  put(&p, "s", "a", 32 * 99 + 16);
  expect_encoded(&p, "after all of it");
  put(&p, "s", "a", 32);
  expect_refused(&p, TMARING_ERROR_ALIAS, "s", "a");
  post_free(&p);
  post_begin(&p, "f(q[M,N], a[M,N/64]) = out s = gamax(q, 64); y = q * a / s", 100, 256);
  a = &p.d.tensor[tensor_of(&p, "a")], s = &p.d.tensor[tensor_of(&p, "s")];
  a->pitch = s->pitch = 1;
  a->step = s->step = 208;
  a->alignment = s->alignment = 4;
  post_plan(&p, 100);
  put(&p, "s", "a", 400);
  expect_encoded(&p, "the second hundred of each group's 208");
  put(&p, "s", "a", 396);
  expect_refused(&p, TMARING_ERROR_ALIAS, "s", "a");
  put(&p, "s", "a", 4 * (3 * 208 + 100));
  expect_encoded(&p, "after all of it");
  post_free(&p);
}

/* ---- column reductions ---- */

Test(encode_shapes, results_of_columns_are_kept_apart, .timeout = 10)
{
  post p;
  post_begin(&p, "y = colsum(x * w[N]); z = colmax(x)", 100, 256);
  post_plan(&p, 100);
  expect_encoded(&p, "apart");
  cr_expect_eq(p.args.column_output[0].base, (uint64_t)(uintptr_t)p.data[tensor_of(&p, "y")]);
  cr_expect_eq(p.args.partials_address, 256 + TMARING_PARTIALS_OFFSET);
  put(&p, "y", "z", 1008);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "z");
  put(&p, "y", "z", 1024);
  expect_encoded(&p, "side by side");
  put(&p, "y", "w", 0);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "w");
  put(&p, "y", "x", 1024);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "x");
  post_free(&p);
}

Test(encode_shapes, F13_no_rows_have_results_of_columns, .timeout = 10)
{
  post p;
  post_begin(&p, "y = colsum(x * w[N]); z = colmax(x); s = sum(x)", 100, 256);
  post_plan(&p, 0);
  for (int32_t i = 0; i < p.d.count; ++i) p.data[i] = NULL;
  p.params.workspace = NULL;
  expect_refused(&p, TMARING_ERROR_ARGUMENT, "(y)", "NULL");
  p.data[tensor_of(&p, "y")] = place(FIELD);
  p.data[tensor_of(&p, "z")] = place(FIELD + 512);
  expect_refused(&p, TMARING_ERROR_ALIAS, "y", "z");
  p.data[tensor_of(&p, "z")] = place(FIELD + 1028);
  expect_refused(&p, TMARING_ERROR_ALIGNMENT, "z", "4 modulo 16");
  p.data[tensor_of(&p, "z")] = place(FIELD + 1024);
  expect_encoded(&p, "nothing else is touched");
  cr_expect_eq(p.args.walk.tiles, 0);
  cr_expect_eq(p.args.column_output[1].base, FIELD + 1024);
  p.params.data = NULL;
  expect_refused(&p, TMARING_ERROR_ARGUMENT, "data", "NULL");
  post_free(&p);
}

Test(encode_shapes, column_reductions_need_a_workspace, .timeout = 10)
{
  post p;
  post_begin(&p, "y = colsum(x)", 100, 256);
  p.d.options.order = TMARING_ORDER_CYCLIC;
  post_plan(&p, 100);
  expect_encoded(&p, "with one");
  cr_expect_eq(p.args.counter_address, 0, "no tickets");
  p.params.workspace = place(264);
  expect_refused(&p, TMARING_ERROR_ALIGNMENT, "workspace", "multiple of 16");
  p.params.workspace = NULL;
  expect_refused(&p, TMARING_ERROR_ARGUMENT, "workspace", "partial results");
  post_free(&p);
  post_begin(&p, "y = colsum(x)", 100, 256);
  p.d.options.order = TMARING_ORDER_TICKET;
  post_plan(&p, 100);
  expect_encoded(&p, "both");
  cr_expect_eq(p.args.counter_address, 256);
  cr_expect_eq(p.args.partials_address, 256 + TMARING_PARTIALS_OFFSET);
  post_free(&p);
}

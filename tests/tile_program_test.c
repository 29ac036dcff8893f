/* Tile programs on both backends: copies, transposes and products of every shape that leaves parts of boxes over. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/host/tile/tile_state.h"
#include "support/tile_trial.h"

static void expect_pass(const venue *v, const tile_trial *t)
{
  tile_result r;
  tile_trial_run(v, t, &r);
  cr_assert(r.outcome == TILE_PASSED, "op %d, %s, %lld x %lld x %lld: %s", t->op, tmaring_dtype_name(t->dtype),
            (long long)t->dims[0], (long long)t->dims[1], (long long)t->dims[2], r.text);
}

/* TMARING_TEST_SUBSET=n: every n-th case. */
static int chosen(void)
{
  static int number;
  const char *subset = getenv("TMARING_TEST_SUBSET");
  const int every = subset && atoi(subset) > 0 ? atoi(subset) : 1;
  return number++ % every == 0;
}

/* ---- copies ---- */

static const struct copy_shape {
  int32_t rank;
  int64_t dims[TMARING_MAX_RANK], large[TMARING_MAX_RANK]; /* on the host; on a GPU */
} copy_shapes[] = {
    {1, {4099}, {1 << 20}},
    {2, {128, 37}, {128, 1024}},
    {3, {128, 8, 5}, {128, 8, 1024}},
    {4, {68, 9, 4, 3}, {1024, 1024, 8, 4}},
    {5, {32, 5, 7, 3, 2}, {128, 32, 1024, 8, 4}},
    {2, {1, 129}, {1, 1027}},
    {3, {24, 1, 17}, {24, 1, 1023}},
    {2, {33, 1}, {331, 1}},
};

static tile_trial copy_of(const venue *v, const struct copy_shape *s, tmaring_dtype dtype)
{
  return tile_trial_make(TMARING_TILE_COPY, dtype, s->rank, v->backend == TMARING_BACKEND_CPU ? s->dims : s->large);
}

VENUE_TEST(tile_program, copies)
{
  static const tmaring_dtype dtype[] = {TMARING_F32, TMARING_F16, TMARING_F64, TMARING_I8};
  for (size_t i = 0; i < sizeof copy_shapes / sizeof *copy_shapes; ++i) {
    for (size_t j = 0; j < sizeof dtype / sizeof *dtype; ++j) {
      tile_trial t = copy_of(v, &copy_shapes[i], dtype[j]);
      if (chosen()) expect_pass(v, &t);
    }
  }
}

/* Every swizzle, load path and store path gives back the same bytes. Small: paths do not depend on the size. */
VENUE_TEST(tile_program, copy_paths)
{
  static const int32_t load[] = {TMARING_LOAD_TILE, TMARING_LOAD_BULK};
  for (size_t i = 1; i < 5; ++i) {
    for (int32_t c = 0; c < 24; ++c) {
      tile_trial t = tile_trial_make(TMARING_TILE_COPY, TMARING_F32, copy_shapes[i].rank, copy_shapes[i].dims);
      t.options.swizzle = c % 4;
      t.options.load = load[c / 4 % 2];
      t.options.store = c / 8;
      t.options.box[0] = 32 >> c % 3;
      t.options.box[1] = 7;
      t.gap = 16;
      if (chosen()) expect_pass(v, &t);
    }
  }
}

VENUE_TEST(tile_program, copy_boxes)
{
  static const int32_t box[][3] = {{4, 3, 5}, {8, 1, 1}, {4, 5, 3}, {64, 2, 3}, {256, 1, 1}, {12, 256, 1}};
  static const int32_t step[][3] = {{1, 1, 1}, {1, 2, 1}, {1, 3, 2}, {1, 1, 8}};
  for (size_t b = 0; b < sizeof box / sizeof *box; ++b) {
    for (size_t s = 0; s < sizeof step / sizeof *step; ++s) {
      const int32_t store = (int32_t)(b + s) % 3; /* rows that a map stores are whole 16 bytes */
      tile_trial t = tile_trial_make(TMARING_TILE_COPY, TMARING_F32, 3,
                                     (const int64_t[]){store == TMARING_STORE_TILE ? 52 : 53, 29, 17});
      for (int d = 0; d < 3; ++d) {
        t.options.box[d] = box[b][d] * step[s][d] > 256 ? 256 / step[s][d] : box[b][d];
        t.options.element_strides[d] = step[s][d];
      }
      t.options.store = store;
      t.options.load = s % 2 ? TMARING_LOAD_BULK : TMARING_LOAD_TILE;
      if (chosen()) expect_pass(v, &t);
    }
  }
}

/* ---- transposes ---- */

static void expect_transposes(const venue *v, int32_t load)
{
  static const int64_t shape[][2] = {{127, 131}, {127, 144}, {1, 257}, {251, 1}, {1, 1}, {64, 64}, {67, 509}};
  static const tmaring_dtype dtype[] = {TMARING_F32, TMARING_BF16, TMARING_F64, TMARING_I8};
  for (size_t i = 0; i < sizeof shape / sizeof *shape; ++i) {
    for (size_t j = 0; j < sizeof dtype / sizeof *dtype; ++j) {
      for (int32_t store = 0; store < 3; ++store) {
        tile_trial t = tile_trial_make(TMARING_TILE_TRANSPOSE, dtype[j], 2, shape[i]);
        const int whole = shape[i][1] * tmaring_dtype_bytes((tmaring_i32)dtype[j]) % 16 == 0;
        if (store == TMARING_STORE_TILE && !whole) continue; /* refused: see refusals_have_names */
        t.options.load = load;
        t.options.store = store;
        if (chosen()) expect_pass(v, &t);
      }
    }
  }
}

VENUE_TEST(tile_program, transposes_by_maps)
{
  expect_transposes(v, TMARING_LOAD_TILE);
}

VENUE_TEST(tile_program, transposes_by_rows)
{
  expect_transposes(v, TMARING_LOAD_BULK);
}

/* ---- products ---- */

static tile_trial matmul_of(tmaring_dtype dtype, int64_t n, int64_t m, int64_t k)
{
  return tile_trial_make(TMARING_TILE_MATMUL, dtype, 3, (const int64_t[]){n, m, k});
}

static const tmaring_dtype product_types[] = {TMARING_F32, TMARING_F16, TMARING_BF16};

VENUE_TEST(tile_program, products)
{
  static const int64_t size[] = {1, 17, 64, 65, 128, 500, 1024};
  const int sizes = v->backend == TMARING_BACKEND_CPU ? 4 : 7;
  for (int i = 0; i < sizes * sizes * sizes; ++i) {
    const int64_t n = size[i % sizes], m = size[i / sizes % sizes], k = size[i / sizes / sizes];
    tile_trial t = matmul_of(product_types[i % 3], n, m, k);
    t.output = i % 2 ? TMARING_F32 : t.dtype;
    t.options.load = i / 2 % 2 ? TMARING_LOAD_BULK : TMARING_LOAD_TILE;
    if (n * m * k > ((int64_t)1 << 24) && i / 3 % 3 != 0) continue; /* of the largest some: the oracle takes long */
    if (chosen()) expect_pass(v, &t);
  }
}

/* Every mode, with 1 to 8 stages and every prefetch distance. */
VENUE_TEST(tile_program, products_of_every_ring)
{
  static const int32_t order[] = {TMARING_ORDER_SPLIT, TMARING_ORDER_BLOCKED, TMARING_ORDER_CYCLIC,
                                  TMARING_ORDER_TICKET};
  for (int32_t mode = 0; mode < 5; ++mode) {
    for (int32_t stages = 1; stages <= 8; ++stages) {
      for (int32_t prefetch = -stages; prefetch < stages; ++prefetch) {
        tile_trial t = matmul_of(product_types[(stages + mode) % 3], 65, 81, 150);
        t.options.mode = mode < 2 ? TMARING_MODE_PIPELINED : TMARING_MODE_WARP_SPECIALIZED;
        t.options.war = mode < 2 ? mode : TMARING_AUTO;
        t.options.role_axis = mode < 2 ? TMARING_AUTO : mode - 2;
        if (mode == 3) t.options.consumers[0] = 32, t.options.consumers[1] = 4;
        t.options.stages = stages;
        t.options.prefetch = prefetch;
        t.options.box[0] = 32, t.options.box[1] = 32, t.options.box[2] = 32;
        t.options.consumers[0] = 32;
        t.options.order = order[(uint32_t)(prefetch + stages) % 4];
        t.options.policy = prefetch % 2 ? TMARING_POLICY_WRAP : TMARING_POLICY_EXACT;
        t.options.workers = 2 + stages % 3;
        t.options.load = stages % 2 ? TMARING_LOAD_TILE : TMARING_LOAD_BULK;
        if (chosen()) expect_pass(v, &t);
      }
    }
  }
}

/* Larger blocks, every thread's own release, register sharing, bounded waits. */
VENUE_TEST(tile_program, products_of_every_block)
{
  for (int32_t i = 0; i < 24; ++i) {
    tile_trial t = matmul_of(product_types[i % 3], 97, 130, 75);
    t.options.consumers[0] = i / 3 % 2 ? 128 : 256;
    t.options.consumers[1] = i / 3 % 2 ? 2 : 1;
    t.options.role_axis = i % 3;
    t.options.mode = TMARING_MODE_WARP_SPECIALIZED;
    t.options.release = i / 6 % 2;
    t.options.debug = i / 12;
    t.options.load = i % 2 ? TMARING_LOAD_BULK : TMARING_LOAD_TILE;
    if (i >= 18) t.options.registers[0] = 64, t.options.registers[1] = 168;
    if (i >= 18) t.options.role_axis = TMARING_AXIS_Y;
    if (chosen()) expect_pass(v, &t);
  }
}

VENUE_TEST(tile_program, products_of_broadcast_operands)
{
  for (int i = 0; i < 6; ++i) {
    tile_trial t = matmul_of(product_types[i % 3], i < 3 ? 70 : 1, i == 4 ? 1 : 50, i == 5 ? 1 : 90);
    t.broadcast = 1;
    if (chosen()) expect_pass(v, &t);
  }
}

/* Where the store is open, rows that end between two 16-byte units are not stored by a map. */
Test(tile_program, open_stores, .timeout = 10)
{
  static const struct {
    int64_t cols;
    tmaring_dtype dtype;
    int tiled, staged;
  } due[] = {{64, TMARING_F32, 1, 1}, {53, TMARING_F32, 0, 1}, {3, TMARING_F32, 0, 0}, {100, TMARING_I8, 0, 1},
             {112, TMARING_I8, 1, 1}, {1, TMARING_F64, 0, 0},  {2, TMARING_F64, 1, 1}};
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  for (size_t i = 0; i < sizeof due / sizeof *due; ++i) {
    tile_result r;
    tile_trial t = tile_trial_make(TMARING_TILE_COPY, due[i].dtype, 2, (const int64_t[]){due[i].cols, 19});
    tile_trial_run(&v, &t, &r);
    cr_assert_eq(r.outcome, TILE_PASSED, "%s", r.text);
    cr_expect_eq(r.args.output_count, due[i].staged, "%lld columns", (long long)due[i].cols);
    if (due[i].staged) cr_expect_eq(r.args.output[0].path, due[i].tiled, "%lld columns", (long long)due[i].cols);
  }
}

/* ---- mutants: each of these must be seen ---- */

static void expect_seen(const venue *v, tile_trial *t, void (*tamper)(tmaring_tile_plan *plan), const char *what)
{
  tile_result r;
  expect_pass(v, t);
  t->tamper = tamper;
  tile_trial_run(v, t, &r);
  cr_assert(r.outcome == TILE_FAILED, "%s went unseen", what);
}

static void other_swizzle(tmaring_tile_plan *plan)
{
  plan->plan.variant[0].boxes.panel[0].layout.swizzle = TMARING_SWIZZLE_64B;
}

static void no_mask(tmaring_tile_plan *plan)
{
  plan->work.masked = 0;
}

static void dropped_step(tmaring_tile_plan *plan)
{
  plan->plan.variant[0].boxes.tile[1].scale[1] *= 2;
}

static void clipped_too_late(tmaring_tile_plan *plan)
{
  plan->plan.variant[0].boxes.panel[1].dims[0] += 1;
}

Test(tile_program, mutants, .timeout = 60)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  tile_trial t = tile_trial_make(TMARING_TILE_TRANSPOSE, TMARING_F32, 2, (const int64_t[]){67, 71});
  expect_seen(&v, &t, other_swizzle, "a wrong swizzle");
  t = tile_trial_make(TMARING_TILE_TRANSPOSE, TMARING_F32, 2, (const int64_t[]){67, 71});
  expect_seen(&v, &t, clipped_too_late, "a row stored too far");
  t = matmul_of(TMARING_F32, 33, 34, 70);
  t.options.load = TMARING_LOAD_BULK;
  expect_seen(&v, &t, no_mask, "what lies past k");
  t = matmul_of(TMARING_BF16, 33, 34, 200);
  expect_seen(&v, &t, dropped_step, "a step of k taken twice as far");
}

/* What the check says about boxes that the hardware does not take, or takes too much of. */
static void expect_check(int32_t index, int32_t box_elements, uint64_t dims, const char *words)
{
  const tmaring_tile_tensor empty = TMARING_TILE_TENSOR_INIT;
  tmaring_tile_tensor tensor[2] = {empty, empty};
  tmaring_tile_options options;
  tmaring_tile_plan *plan = NULL;
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  tmaring_tile_options_init(&options);
  for (int t = 0; t < 2; ++t) tensor[t].rank = 2, tensor[t].dims[0] = 128, tensor[t].dims[1] = 9;
  cr_assert_eq(tmaring_tile_plan_create(&plan, TMARING_TILE_COPY, tensor, 2, &v.machine, &options), TMARING_OK, "%s",
               tmaring_last_detail());
  cr_assert_eq(tmaring_tile_check(plan, NULL), TMARING_OK, "%s", tmaring_last_detail());
  tmaring__boxes *b = &plan->plan.variant[0].boxes;
  b->tile[index].scale[0] = box_elements;
  b->map[index].dims[0] = dims;
  cr_expect_eq(tmaring_tile_check(plan, NULL), TMARING_ERROR_CHECK, "%s", words);
  cr_expect(strstr(tmaring_last_detail(), words), "\"%s\" lacks %s", tmaring_last_detail(), words);
  tmaring_tile_plan_free(plan);
}

Test(tile_program, boxes_of_whole_units, .timeout = 30)
{
  expect_check(0, 127, 128, "x: its boxes begin at multiples of 127");
  expect_check(TMARING_TILED_OUTPUTS, 126, 128, "y: its boxes begin at multiples of 126");
  expect_check(TMARING_TILED_OUTPUTS, 128, 127, "y: its boxes would store outside the tensor");
}

/* ---- refusals ---- */

static void expect_refused(tile_trial *t, tmaring_status status, const char *words)
{
  venue v;
  tile_result r;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  tile_trial_run(&v, t, &r);
  cr_assert(r.outcome == TILE_REFUSED && r.status == status, "%s: %s (%s)", words, r.text,
            tmaring_status_name(r.status));
  cr_assert(strstr(r.text, words), "%s: %s", words, r.text);
}

Test(tile_program, refusals_have_names, .timeout = 30)
{
  const int64_t dims[] = {64, 64};
  tile_trial t = tile_trial_make(TMARING_TILE_COPY, TMARING_F32, 2, dims);
  t.options.box[0] = 300;
  expect_refused(&t, TMARING_ERROR_SHAPE, "x: box[0]");
  t = tile_trial_make(TMARING_TILE_COPY, TMARING_F32, 2, dims);
  t.options.box[0] = 2; /* 8 bytes */
  expect_refused(&t, TMARING_ERROR_ALIGNMENT, "x: box[0]");
  t = tile_trial_make(TMARING_TILE_COPY, TMARING_F32, 2, dims);
  t.gap = 4;
  expect_refused(&t, TMARING_ERROR_ALIGNMENT, "x: strides[1]");
  t.options.load = TMARING_LOAD_BULK;
  expect_refused(&t, TMARING_ERROR_ALIGNMENT, "x: stride");
  t = tile_trial_make(TMARING_TILE_COPY, TMARING_F32, 2, dims);
  t.options.element_strides[0] = 2;
  expect_refused(&t, TMARING_ERROR_UNSUPPORTED, "x: element_strides[0]");
  t = tile_trial_make(TMARING_TILE_COPY, TMARING_F32, 2, dims);
  t.options.load = TMARING_LOAD_ASYNC;
  expect_refused(&t, TMARING_ERROR_UNSUPPORTED, "load");
  for (int op = TMARING_TILE_COPY; op <= TMARING_TILE_TRANSPOSE; ++op) {
    t = tile_trial_make((tmaring_tile_op)op, TMARING_F16, 2, (const int64_t[]){53, 53});
    t.options.store = TMARING_STORE_TILE;
    expect_refused(&t, TMARING_ERROR_ALIGNMENT,
                   "y: dims[0]: got 53 elements, 106 bytes, store tile needs a multiple of");
  }
  t = tile_trial_make(TMARING_TILE_TRANSPOSE, TMARING_F32, 2, dims);
  t.options.element_strides[1] = 2;
  expect_refused(&t, TMARING_ERROR_UNSUPPORTED, "element_strides[1]");
}

Test(tile_program, refusals_of_products_have_names, .timeout = 30)
{
  tile_trial t = matmul_of(TMARING_F64, 64, 64, 64);
  expect_refused(&t, TMARING_ERROR_TYPE, "a: dtype");
  t = matmul_of(TMARING_F32, 64, 64, 64);
  t.options.box[2] = 12;
  expect_refused(&t, TMARING_ERROR_UNSUPPORTED, "box[2]");
  t = matmul_of(TMARING_F32, 64, 64, 64);
  t.options.consumers[0] = 96;
  expect_refused(&t, TMARING_ERROR_UNSUPPORTED, "consumers");
  t = matmul_of(TMARING_F32, 64, 64, 64);
  t.options.stages = 16;
  expect_refused(&t, TMARING_ERROR_CAPACITY, "stages");
  t = matmul_of(TMARING_F32, 64, 64, 64);
  t.options.stages = 2;
  t.options.prefetch = 2;
  expect_refused(&t, TMARING_ERROR_ARGUMENT, "prefetch");
}

/* Axes that are not there: nothing asked of them is left out in silence. */
Test(tile_program, axes_past_the_rank_are_refused, .timeout = 30)
{
  static const struct {
    tmaring_tile_op op;
    int32_t rank, axis;
  } cases[] = {{TMARING_TILE_COPY, 1, 4},      {TMARING_TILE_COPY, 2, 2},   {TMARING_TILE_COPY, 4, 4},
               {TMARING_TILE_TRANSPOSE, 2, 2}, {TMARING_TILE_MATMUL, 3, 3}, {TMARING_TILE_MATMUL, 3, 4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char words[60];
    tile_trial t = tile_trial_make(cases[i].op, TMARING_F32, cases[i].rank, (const int64_t[]){64, 64, 64, 2, 1});
    venue v;
    cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
    t.options.box[cases[i].axis] = 1;
    t.options.element_strides[cases[i].axis] = 1;
    expect_pass(&v, &t);
    t.options.box[cases[i].axis] = 7;
    snprintf(words, sizeof words, "box[%d]: got 7, needs 1", cases[i].axis);
    expect_refused(&t, TMARING_ERROR_ARGUMENT, words);
    t.options.box[cases[i].axis] = TMARING_AUTO;
    t.options.element_strides[cases[i].axis] = 2;
    snprintf(words, sizeof words, "element_strides[%d]: got 2, needs 1", cases[i].axis);
    expect_refused(&t, cases[i].op == TMARING_TILE_COPY ? TMARING_ERROR_ARGUMENT : TMARING_ERROR_UNSUPPORTED, words);
  }
}

/* Coordinates along every axis are below 2^31, also of the box behind the last one. */
Test(tile_program, long_axes_are_refused, .timeout = 30)
{
  const tmaring_tile_tensor empty = TMARING_TILE_TENSOR_INIT;
  tmaring_machine machine;
  memset(&machine, 0, sizeof machine);
  tmaring_machine_h200(&machine);
  for (int past = 0; past < 2; ++past) {
    tmaring_tile_tensor tensor[2] = {empty, empty};
    tmaring_tile_plan *plan = NULL;
    for (int t = 0; t < 2; ++t) {
      tensor[t].rank = 2;
      tensor[t].dims[0] = 16;
      tensor[t].dims[1] = TMARING_MAX_COORDINATES + (int64_t)past;
    }
    cr_expect_eq(tmaring_tile_plan_create(&plan, TMARING_TILE_COPY, tensor, 2, &machine, NULL),
                 past ? TMARING_ERROR_SHAPE : TMARING_OK, "%s", tmaring_last_detail());
    if (past) cr_expect(strstr(tmaring_last_detail(), "x: dims[1]: got 2146435072, needs 1 .. 2146435071"));
    tmaring_tile_plan_free(plan);
  }
}

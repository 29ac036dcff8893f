/* Every way from memory to a thread and back, on both backends: the same results by each load path, alone and mixed,
 * with every kind of store, in every mode. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/modes.h"
#include "support/op_trial.h"
#include "support/pairwise.h"

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof(array)[0]))

/* ---- formulas of up to two matrices ---- */

typedef enum factor {
  FACTOR_FORMULA,
  FACTOR_DTYPE,
  FACTOR_PATHS,
  FACTOR_STORE,
  FACTOR_MODE,
  FACTOR_ORDER,
  FACTOR_LAYOUT,
  FACTOR_COLS,
  FACTOR_ROWS,
  FACTOR_STAGES,
  FACTORS
} factor;

static const recipe_name formulas[] = {RECIPE_DOUBLE,  RECIPE_TWO,     RECIPE_SCALE_ADD, RECIPE_RMSNORM,
                                       RECIPE_SOFTMAX, RECIPE_ROW_SUM, RECIPE_CENTERED};
/* Of the first and of the second matrix. */
static const int32_t paths[][2] = {
    {TMARING_LOAD_TILE, TMARING_LOAD_TILE},     {TMARING_LOAD_ASYNC, TMARING_LOAD_ASYNC},
    {TMARING_LOAD_ORDINARY, TMARING_AUTO},      {TMARING_LOAD_DIRECT, TMARING_LOAD_DIRECT},
    {TMARING_LOAD_BULK, TMARING_LOAD_ASYNC},    {TMARING_LOAD_TILE, TMARING_LOAD_ORDINARY},
    {TMARING_LOAD_DIRECT, TMARING_LOAD_TILE},   {TMARING_LOAD_ASYNC, TMARING_LOAD_DIRECT},
    {TMARING_LOAD_ORDINARY, TMARING_LOAD_TILE},
};
static const int32_t cols_listed[] = {1, 7, 64, 100, 257, 1024, 1733}, rows_listed[] = {0, 1, 2, 131, 997};
static const struct {
  int32_t order, policy;
} walks[] = {{TMARING_ORDER_SPLIT, TMARING_POLICY_WRAP},
             {TMARING_ORDER_BLOCKED, TMARING_POLICY_SKIP},
             {TMARING_ORDER_CYCLIC, TMARING_POLICY_EXACT},
             {TMARING_ORDER_TICKET, TMARING_AUTO}};

static const int32_t levels[FACTORS] = {
    COUNT(formulas), RECIPE_DTYPES, COUNT(paths),       TMARING_STORE_TILE + 1, MODE_CHOICES,
    COUNT(walks),    LAYOUT_COUNT,  COUNT(cols_listed), COUNT(rows_listed),     3};

static trial path_trial(const int32_t *row)
{
  trial t = trial_begin(formulas[row[FACTOR_FORMULA]], (tmaring_dtype)row[FACTOR_DTYPE], rows_listed[row[FACTOR_ROWS]],
                        cols_listed[row[FACTOR_COLS]]);
  mode_choose(&t.options, (mode_choice)row[FACTOR_MODE]);
  for (int i = 0; i < 2; ++i) t.options.loads[i] = paths[row[FACTOR_PATHS]][i];
  t.options.store = row[FACTOR_STORE];
  t.options.order = walks[row[FACTOR_ORDER]].order;
  t.options.policy = walks[row[FACTOR_ORDER]].policy;
  t.options.stages = 1 + row[FACTOR_STAGES];
  trial_lay_out(&t, (trial_layout)row[FACTOR_LAYOUT]);
  return t;
}

/* 1 where a tensor map of these rows exists; of those that are stored, where they are whole 16 bytes. */
static int has_map(const trial *t, int side)
{
  const int64_t bytes = tmaring_dtype_bytes(side ? t->output_dtype : t->dtype);
  if (side && t->cols * bytes % 16 != 0) return 0;
  return t->shift[side] % 16 == 0 && (t->pitch[side] ? t->pitch[side] : t->cols) * bytes % 16 == 0;
}

static int expects_refusal(const trial *t)
{
  const recipe *r = recipe_find(t->formula);
  int32_t matrices = 0, tiled = 0, stores = 0, rings = 0;
  for (int32_t i = 0; i < r->input_count; ++i) {
    if (r->input[i].shape != TMARING_SHAPE_MATRIX) continue;
    tiled |= t->options.loads[matrices] == TMARING_LOAD_TILE;
    rings |= t->options.loads[matrices] != TMARING_LOAD_DIRECT;
    matrices += 1;
  }
  for (int32_t i = 0; i < r->output_count; ++i) stores |= r->output[i] == TMARING_SHAPE_MATRIX;
  return (tiled && !has_map(t, 0)) || (stores && rings && t->options.store == TMARING_STORE_TILE && !has_map(t, 1));
}

VENUE_TEST_FOR(load_paths, pairs, 900, 500)
{
  const int64_t limit = v->backend == TMARING_BACKEND_CPU ? 200000 : (int64_t)1 << 40;
  tally sum = tally_begin("load paths", v->name);
  pairwise *cover = pairwise_build(levels, FACTORS, 11);
  cr_assert(cover && pairwise_missing(cover) == 0);
  for (int32_t i = 0; i < cover->rows; ++i) {
    trial t = path_trial(cover->row[i]);
    if (t.rows * t.cols > limit) t.rows = 131;
    t.seed = (uint64_t)i + 1;
    if (!tally_takes(&sum)) continue;
    const trial_result result = trial_run(&t, v);
    tally_count(&sum, &result);
    if (result.outcome == TRIAL_FAILED) continue;
    cr_expect_eq(result.outcome == TRIAL_REFUSED, expects_refusal(&t), "case %d: %s", i, result.text);
  }
  free(cover);
  tally_close(&sum);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_assert_gt(sum.passed, sum.refused);
}

/* ---- one row after another of the catalogue ---- */

typedef struct op_case {
  const char *op;
  tmaring_dtype dtype;
  int64_t rows, cols;
  op_layout layout;
} op_case;

/* Halves, pairs, groups of columns, values per row and per group, gathers, column reductions; elements of 1, 2, 4 and 8
 * bytes. */
static const op_case ops[] = {
    {"add", TMARING_E4M3, 131, 256, OP_DENSE},
    {"mul", TMARING_F64, 57, 130, OP_DENSE},
    {"axpby", TMARING_I8, 31, 96, OP_PITCHED},
    {"cast", TMARING_I32, 64, 100, OP_DENSE},
    {"row_argmax", TMARING_F16, 131, 520, OP_DENSE},
    {"col_sum", TMARING_F32, 1000, 96, OP_DENSE},
    {"col_max", TMARING_BF16, 333, 256, OP_PITCHED},
    {"add_rmsnorm", TMARING_BF16, 97, 768, OP_DENSE},
    {"layernorm", TMARING_F64, 33, 258, OP_DENSE},
    {"cross_entropy", TMARING_F32, 131, 1000, OP_DENSE},
    {"silu_mul", TMARING_BF16, 131, 512, OP_DENSE},
    {"swiglu_clamp_interleaved", TMARING_F16, 57, 128, OP_DENSE},
    {"quantize_fp8_group", TMARING_BF16, 31, 512, OP_DENSE},
    {"quantize_i8_row", TMARING_F32, 57, 384, OP_PITCHED},
    {"dequantize_fp8_row", TMARING_BF16, 57, 256, OP_DENSE},
    {"rmsnorm_backward", TMARING_F32, 257, 128, OP_DENSE},
    {"layernorm_backward", TMARING_BF16, 131, 256, OP_PITCHED},
    {"rmsnorm", TMARING_F32, 3, 40000, OP_DENSE}, /* rows of several pieces, or of a cluster */
    {"softmax", TMARING_BF16, 5, 131072, OP_DENSE},
    {"scale", TMARING_F32, 7, 100000, OP_DENSE}, /* pieces that are tiles */
};

static op_trial op_trial_of(const op_case *c, int32_t path, int32_t i)
{
  op_trial t = op_trial_begin(c->op, c->dtype, c->rows, c->cols);
  t.layout = c->layout;
  t.options.load = path;
  t.options.store = i % 3 == 2 ? TMARING_STORE_BULK : TMARING_AUTO;
  mode_choose(&t.options, (mode_choice)(i % MODE_CHOICES));
  t.seed = (uint64_t)i + 1;
  return t;
}

VENUE_TEST_FOR(load_paths, ops, 900, 500)
{
  tally sum = tally_begin("load paths of ops", v->name);
  for (int32_t i = 0; i < COUNT(ops) * (TMARING_LOAD_DIRECT + 1); ++i) {
    const op_trial t = op_trial_of(&ops[i / (TMARING_LOAD_DIRECT + 1)], i % (TMARING_LOAD_DIRECT + 1), i);
    if (tally_takes(&sum)) op_trial_count(&sum, &t, v);
  }
  tally_close(&sum);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_assert_eq(sum.refused, 0, "all of them have whole 16 bytes");
}

/* ---- strips ---- */

static const op_case strips[] = {
    {"add", TMARING_F32, 131, 700, OP_DENSE},          {"scale", TMARING_BF16, 997, 257, OP_DENSE},
    {"axpby", TMARING_F16, 57, 1000, OP_ODD},          {"silu_mul", TMARING_BF16, 131, 640, OP_DENSE},
    {"quantize_fp8", TMARING_F32, 100, 512, OP_DENSE}, {"dequantize_fp8_row", TMARING_BF16, 57, 640, OP_PITCHED},
    {"col_sum", TMARING_F32, 1000, 384, OP_DENSE},     {"col_mean", TMARING_BF16, 333, 257, OP_SHIFTED},
    {"col_max", TMARING_F64, 131, 200, OP_DENSE},      {"col_sum", TMARING_F16, 5, 4096, OP_DENSE},
};

static const int32_t heights[] = {2, 3, 8, 16, 33}, widths[] = {16, 64, 128, 256};

static op_trial strip_trial(int32_t i)
{
  op_trial t = op_trial_begin(strips[i % COUNT(strips)].op, strips[i % COUNT(strips)].dtype,
                              strips[i % COUNT(strips)].rows, strips[i % COUNT(strips)].cols);
  t.layout = strips[i % COUNT(strips)].layout;
  t.options.tile_rows = heights[i % COUNT(heights)];
  t.options.piece_cols = widths[i / 2 % COUNT(widths)];
  mode_choose(&t.options, (mode_choice)(i % MODE_CHOICES));
  t.options.load = i / 3 % (TMARING_LOAD_DIRECT + 1);
  t.options.store = i / 5 % (TMARING_STORE_TILE + 1);
  t.options.order = walks[i % COUNT(walks)].order;
  t.options.policy = walks[i % COUNT(walks)].policy;
  t.seed = (uint64_t)i + 1;
  return t;
}

VENUE_TEST_FOR(load_paths, strips, 900, 500)
{
  tally sum = tally_begin("strips", v->name);
  int32_t seen = 0;
  for (int32_t i = 0; i < 120; ++i) {
    const op_trial t = strip_trial(i);
    if (!tally_takes(&sum)) continue;
    const trial_result result = op_trial_count(&sum, &t, v);
    seen += result.outcome == TRIAL_PASSED && tmaring_walk_strips(&result.args.walk);
  }
  tally_close(&sum);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_assert_geq(2 * seen, sum.passed, "%d of %d were strips", seen, sum.passed);
  cr_assert_geq(sum.passed, 2 * sum.refused);
}

/* The same bits by every path, in every order, mode and policy, on any number of SMs. */
VENUE_TEST_FOR(load_paths, column_sums_of_strips_keep_their_bits, 300, 300)
{
  static const int32_t sms[] = {132, 78, 1, 16};
  float first[384], own[384];
  for (int32_t i = 0; i < 12; ++i) {
    op_trial t = op_trial_begin("col_sum", TMARING_F32, 1000, 384);
    tmaring_machine machine = v->machine;
    machine.sm_count = sms[i % 4];
    t.machine = &machine;
    t.options.tile_rows = 8;
    t.options.piece_cols = 128;
    t.options.consumers[0] = 128;
    t.options.load = i % (TMARING_LOAD_DIRECT + 1);
    t.options.order = walks[i % 4].order;
    t.options.policy = walks[i % 4].policy;
    if (i > 0) mode_choose(&t.options, (mode_choice)(i % MODE_CHOICES));
    t.keep[0] = i ? own : first;
    const trial_result result = op_trial_run(&t, v);
    cr_assert_eq(result.outcome, TRIAL_PASSED, "%s", result.text);
    cr_assert(tmaring_walk_strips(&result.args.walk));
    if (i) cr_expect_eq(memcmp(own, first, sizeof own), 0, "way %d: other bits", i);
  }
}

/* ---- M from memory ---- */

/* The sum of a column of ones is the number of rows; boxes may hold rows past it. */
static void count_rows(const venue *v, int32_t path, int32_t tall, int64_t *rows)
{
  static const int64_t counts[] = {0, 1, 131, 700, 1000};
  op_state s;
  op_trial t = op_trial_begin("col_sum", TMARING_F32, 1000, 64);
  t.fill = op_fill_ones;
  t.options.load = path;
  if (tall) t.options.tile_rows = 16, t.options.piece_cols = 32;
  cr_assert(op_open(&s, &t, v), "%s", s.result.text);
  for (int k = 0; k < COUNT(counts); ++k) {
    double y[64];
    cr_assert(op_launch_rows(&s, rows, counts[k]), "%s", s.result.text);
    op_read(&s, op_output(&s, 0), 1, 0, y);
    for (int i = 0; i < 64; ++i)
      cr_expect_eq(y[i], (double)counts[k], "path %d, %d rows: %g", path, (int)counts[k], y[i]);
  }
  op_close(&s);
}

VENUE_TEST_FOR(load_paths, rows_from_memory, 300, 300)
{
  int64_t *rows = v->place->take(sizeof *rows);
  cr_assert_not_null(rows);
  for (int32_t i = 0; i < 2 * (TMARING_LOAD_DIRECT + 1); ++i) count_rows(v, i / 2, i % 2, rows);
  v->place->give(rows);
}

/* Rows shared by the CTAs of a cluster, on the CPU backend with programs and arguments made by hand: slices, partial
 * results across CTAs, gathers, [M] outputs of one rank, and what its emulator says of arguments that break them. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../src/host/check/check_args.h"
#include "support/lane_rig.h"

#define OP(name) TMARING__OP_##name

/* A way per number: every size of cluster, mode, place of results, order, policy and number of stages comes up. */
static lane_way way_of(int number)
{
  static const int32_t ctas[] = {2, 4, 8, 3};
  static const int32_t orders[] = {TMARING_ORDER_CYCLIC, TMARING_ORDER_BLOCKED, TMARING_ORDER_SPLIT};
  static const int32_t policies[] = {TMARING_POLICY_EXACT, TMARING_POLICY_WRAP, TMARING_POLICY_SKIP};
  const lane_way way = {.scope = TMARING_SCOPE_CLUSTER,
                        .lanes_log2 = 5,
                        .warps = 1 + number % 3,
                        .per_row = 1 + number % 3,
                        .tile_rows = 1,
                        .chunk = 1,
                        .pieces = 1,
                        .mode = 1 + number / 2 % 2,
                        .staged = number / 3 % 3,
                        .order = orders[number / 2 % 3],
                        .policy = policies[number / 5 % 3],
                        .workers = 1 + number % 5,
                        .stages = 1 + number / 4 % 3,
                        .gap = number % 7 == 3 ? 5 : 0,
                        .shift = number / 2 % 4,
                        .group_rows = number % 11 == 6 ? 3 : 0,
                        .seed = number % 4 == 3 ? (uint64_t)number : TMARING__LAZY,
                        .cluster = ctas[number % 4]};
  return way;
}

#define WAYS 60

static void begin(lane_case *c, int number)
{
  static const int64_t rows[] = {3, 17, 1, 0, 6};
  static const int32_t cols[] = {257, 64, 300, 1031, 128, 33};
  lane_begin(c, rows[number % 5], cols[number % 6]);
  c->way = way_of(number);
}

static tmaring_dtype type_of(int number)
{
  static const tmaring_dtype types[] = {TMARING_F32, TMARING_BF16, TMARING_F16, TMARING_F64};
  return types[number / 2 % 4];
}

/* Steep rows, and of six in turn: one with NaN, one of -inf alone, one with +inf. */
static double steep(int64_t row, int64_t col)
{
  if (row % 6 == 3 && col % 60 == 41) return NAN;
  if (row % 6 == 4) return -INFINITY;
  if (row % 6 == 5 && col % 50 == 49) return INFINITY;
  return (double)((row * 11 + col * 29) % 97) / 4 - 10.0;
}

/* Eighths, so that sums are exact in any order. */
static double eighths(int64_t row, int64_t col)
{
  return (double)((row * 7 + col * 13) % 57 - 28) / 8.0;
}

/* ---- reductions ---- */

static double sum_of_exp(const lane_case *c, int32_t x, int64_t row, double *max)
{
  double sum = 0;
  *max = -INFINITY;
  for (int32_t j = 0; j < c->cols && !isnan(*max); ++j) {
    const double value = lane_value(c, x, row, j);
    if (isnan(value) || value > *max) *max = value;
  }
  for (int32_t j = 0; j < c->cols; ++j) sum += exp(lane_value(c, x, row, j) - *max);
  return isinf(*max) ? (double)NAN : sum;
}

/* Two passes, two partial results, and a result per row. */
Test(cluster, softmax, .timeout = 60)
{
  for (int i = 0; i < WAYS; ++i) {
    const tmaring_dtype dtype = type_of(i);
    const double eps = dtype == TMARING_F64 ? 0x1p-53 : 0x1p-24;
    lane_case c;
    int32_t in, x, s, y, max, sum;
    begin(&c, i);
    in = lane_matrix_make(&c, dtype, c.cols, steep);
    x = lane_input(&c, in);
    max = lane_node(&c, OP(REDUCE_MAX), x, -1, -1);
    sum = lane_node(&c, OP(REDUCE_EXPSUM), x, -1, -1);
    s = lane_row_output(&c, sum, dtype);
    y = lane_output(
        &c, lane_node(&c, OP(DIV), lane_node(&c, OP(EXP), lane_node(&c, OP(SUB), x, max, -1), -1, -1), sum, -1), dtype);
    lane_run(&c);
    for (int64_t row = 0; row < c.rows; ++row) {
      double top;
      const double total = sum_of_exp(&c, in, row, &top);
      lane_expect(&c, s, row, 0, total, 64 * eps * total);
      for (int32_t col = 0; col < c.cols; ++col) {
        const double due = exp(lane_value(&c, in, row, col) - top) / total;
        lane_expect(&c, y, row, col, due, 64 * eps * due + 0x1p-140);
      }
    }
    lane_end(&c);
  }
}

static int32_t first_of_all(const lane_case *c, int32_t x, int64_t row)
{
  int32_t best = 0;
  for (int32_t j = 0; j < c->cols; ++j) {
    const double value = lane_value(c, x, row, j);
    if (isnan(value)) return j;
    if (value > lane_value(c, x, row, best)) best = j;
  }
  return best;
}

/* Column numbers are those of the row, whoever has the column; ties across CTAs go to the lowest. */
Test(cluster, argmax, .timeout = 60)
{
  for (int i = 0; i < WAYS; ++i) {
    lane_case c;
    int32_t x, s;
    begin(&c, i);
    x = lane_matrix_make(&c, type_of(i), c.cols, steep);
    s = lane_row_output(&c, lane_node(&c, OP(REDUCE_ARGMAX), lane_input(&c, x), -1, -1), TMARING_I64);
    lane_run(&c);
    for (int64_t row = 0; row < c.rows; ++row) lane_expect(&c, s, row, 0, first_of_all(&c, x, row), 0);
    lane_end(&c);
  }
}

/* Three passes that depend on one another: two buffers of partial results are used in turn, and used again. */
Test(cluster, passes_in_a_row, .timeout = 60)
{
  for (int i = 0; i < WAYS; ++i) {
    lane_case c;
    int32_t in, x, sum, most, least, s, t, y;
    begin(&c, i);
    in = lane_matrix_make(&c, type_of(i) == TMARING_BF16 ? TMARING_F32 : type_of(i), c.cols, eighths);
    x = lane_input(&c, in);
    sum = lane_node(&c, OP(REDUCE_SUM), x, -1, -1);
    most = lane_node(&c, OP(REDUCE_MAX), lane_node(&c, OP(SUB), x, sum, -1), -1, -1);
    least = lane_node(&c, OP(REDUCE_MIN), lane_node(&c, OP(SUB), x, most, -1), -1, -1);
    s = lane_row_output(&c, sum, TMARING_F32);
    t = lane_row_output(&c, least, TMARING_F32);
    y = lane_output(&c, lane_node(&c, OP(SUB), x, least, -1), TMARING_F32);
    lane_run(&c);
    cr_assert_eq(c.program.passes, 4);
    for (int64_t row = 0; row < c.rows; ++row) {
      double total = 0, high = -INFINITY, low = INFINITY;
      for (int32_t col = 0; col < c.cols; ++col) {
        const double value = lane_value(&c, in, row, col);
        total += value;
        high = value > high ? value : high;
        low = value < low ? value : low;
      }
      const double last = low - (high - total);
      lane_expect(&c, s, row, 0, total, 0);
      lane_expect(&c, t, row, 0, last, 0);
      for (int32_t col = 0; col < c.cols; ++col) lane_expect(&c, y, row, col, lane_value(&c, in, row, col) - last, 0);
    }
    lane_end(&c);
  }
}

/* Groups of columns stay within a slice. */
Test(cluster, groups_of_columns, .timeout = 60)
{
  for (int i = 0; i < WAYS; ++i) {
    const int32_t k = i % 2 ? 32 : 64;
    lane_case c;
    int32_t in, x, group, g, s, y;
    begin(&c, i);
    in = lane_matrix_make(&c, TMARING_BF16, c.cols, eighths);
    x = lane_input(&c, in);
    group = lane_indexed(&c, OP(GROUP_MAX), x, k);
    g = lane_group_output(&c, group, k, TMARING_F32, i % 3 == 0);
    s = lane_row_output(&c, lane_node(&c, OP(REDUCE_SUM), group, -1, -1), TMARING_F32);
    y = lane_output(&c, lane_node(&c, OP(SUB), x, group, -1), TMARING_F32);
    lane_run(&c);
    for (int64_t row = 0; row < c.rows; ++row) {
      double sum = 0;
      for (int32_t first = 0; first < c.cols; first += k) {
        const int32_t end = first + k < c.cols ? first + k : c.cols;
        double most = -INFINITY;
        for (int32_t col = first; col < end; ++col) most = fmax(most, lane_value(&c, in, row, col));
        lane_expect(&c, g, row, first / k, most, 0);
        for (int32_t col = first; col < end; ++col)
          lane_expect(&c, y, row, col, lane_value(&c, in, row, col) - most, 0);
        sum += most * (end - first);
      }
      lane_expect(&c, s, row, 0, sum, 0);
    }
    lane_end(&c);
  }
}

/* ---- gather ---- */

static double label(int64_t row, int64_t col)
{
  static const double at[] = {0, 63, 32, -1, 1e6, 17, 0.5};
  return at[(row + col) % 7];
}

/* One CTA stages the element, all of them need it. */
Test(cluster, gather, .timeout = 60)
{
  for (int i = 0; i < WAYS; ++i) {
    lane_case c;
    int32_t in, at, x, picked, s, y;
    begin(&c, i);
    in = lane_matrix_make(&c, type_of(i), c.cols, eighths);
    at = lane_tensor_make(&c, TMARING_F32, c.rows, 1, 0, label);
    x = lane_input(&c, in);
    picked = lane_node(&c, OP(GATHER), x, lane_row_scalar(&c, at), -1);
    s = lane_row_output(&c, picked, TMARING_F32);
    y = lane_output(&c, lane_node(&c, OP(ADD), x, picked, -1), TMARING_F32);
    lane_run(&c);
    for (int64_t row = 0; row < c.rows; ++row) {
      const double where = lane_value(&c, at, row, 0);
      const int there = where >= 0 && where < c.cols && where == floor(where);
      const double due = there ? lane_value(&c, in, row, (int64_t)where) : (double)NAN;
      lane_expect(&c, s, row, 0, due, 0);
      for (int32_t col = 0; col < c.cols; ++col) lane_expect(&c, y, row, col, lane_value(&c, in, row, col) + due, 0);
    }
    lane_end(&c);
  }
}

/* ---- M from memory, and determinism ---- */

Test(cluster, rows_from_memory, .timeout = 60)
{
  for (int i = 0; i < WAYS; ++i) {
    const int64_t bound = 7, told = i % 9;
    lane_case c;
    int32_t in, s;
    begin(&c, i);
    c.rows = bound;
    c.rows_address = &told;
    in = lane_matrix_make(&c, TMARING_F32, c.cols, eighths);
    s = lane_row_output(&c, lane_node(&c, OP(REDUCE_SUM), lane_input(&c, in), -1, -1), TMARING_F64);
    lane_run(&c);
    for (int64_t row = 0; row < (told < bound ? told : bound); ++row) {
      double total = 0;
      for (int32_t col = 0; col < c.cols; ++col) total += lane_value(&c, in, row, col);
      lane_expect(&c, s, row, 0, total, 0);
    }
    for (int64_t row = told; row < bound; ++row) /* as they were */
      cr_assert_eq(lane_value(&c, s, row, 0), -77.0 - (double)(row % 2), "row %d was stored", (int)row);
    lane_end(&c);
  }
}

static double thirds(int64_t row, int64_t col)
{
  return (double)((row * 7 + col * 13) % 101) / 3.0;
}

/* The order of a sum follows from the slices and the warps alone. */
Test(cluster, sums_are_the_same_in_every_schedule, .timeout = 60)
{
  double first[17];
  for (int i = 0; i < 24; ++i) {
    lane_case c;
    int32_t in, s;
    lane_begin(&c, 17, 1031);
    c.way = way_of(i);
    c.way.cluster = 4;
    c.way.warps = c.way.per_row = 3;
    c.way.shift = 0;
    c.way.gap = 0;
    c.way.group_rows = 0;
    in = lane_matrix_make(&c, TMARING_F32, c.cols, thirds);
    s = lane_row_output(&c, lane_node(&c, OP(REDUCE_SUM), lane_input(&c, in), -1, -1), TMARING_F32);
    lane_run(&c);
    for (int64_t row = 0; row < c.rows; ++row) {
      if (i == 0) first[row] = lane_value(&c, s, row, 0);
      cr_assert_eq(lane_value(&c, s, row, 0), first[row], "way %d, row %d", i, (int)row);
    }
    lane_end(&c);
  }
}

/* ---- the checker ---- */

static void sum_case(lane_case *c, int number)
{
  begin(c, number);
  lane_row_output(
      c, lane_node(c, OP(REDUCE_SUM), lane_input(c, lane_matrix_make(c, TMARING_F32, c->cols, eighths)), -1, -1),
      TMARING_F32);
  lane_set_args(c);
}

static tmaring_status check(const lane_case *c, tmaring_check_report *report)
{
  return tmaring__check_args(&c->args, NULL, &c->code, &c->program, 232448, report);
}

/* A CTA has a fill of its own for each slot of its worker. */
Test(cluster, sound_arguments_are_proven, .timeout = 60)
{
  for (int i = 0; i < WAYS; ++i) {
    lane_case c;
    tmaring_check_report report;
    sum_case(&c, i);
    cr_assert_eq(check(&c, &report), TMARING_OK, "way %d: %s", i, tmaring_last_detail());
    cr_assert_eq(report.tiles, c.rows);
    if (c.way.policy != TMARING_POLICY_WRAP) cr_assert_eq(report.fills, c.rows * c.args.walk.cluster);
    cr_assert(report.steps > 0 && (report.copies > 0) == (c.rows > 0));
    lane_end(&c);
  }
}

/* One change to sound arguments, and a word of the message it must lead to. */
typedef struct break_case {
  const char *word;
  void (*break_it)(lane_case *c);
} break_case;

static void break_count(lane_case *c)
{
  c->args.walk.cluster = 1;
}
static void break_code(lane_case *c)
{
  c->code.cluster = 0;
}
static void break_kind(lane_case *c)
{
  c->args.scope.kind = TMARING_SCOPE_CTA;
}
static void break_rank(lane_case *c)
{
  c->args.walk.rank = 1;
}
static void break_size(lane_case *c)
{
  c->args.walk.cluster = 9;
}
static void break_mode(lane_case *c)
{
  c->args.cta.mode = c->code.mode = TMARING_MODE_WARP_SPECIALIZED;
  c->args.cta.slab = 32;
}
static void break_order(lane_case *c)
{
  c->args.walk.order = TMARING_ORDER_TICKET;
  tmaring_walk_set_rows(&c->args.walk, c->rows);
}
static void break_rows(lane_case *c)
{
  c->args.walk.tile_rows = 2;
  c->args.scope.unit_rows = 2;
  tmaring_walk_set_rows(&c->args.walk, c->rows);
}
static void break_empty_slice(lane_case *c)
{
  c->args.walk.piece_cols = c->cols;
  c->args.input[0].slot_row = c->args.input[0].slot_bytes = 4096;
  c->args.smem.stage_bytes = 4096;
  c->args.smem.total = c->args.smem.stages + 4096 * c->args.stages;
}
static void break_missing_columns(lane_case *c)
{
  c->args.walk.piece_cols -= 16;
}
static void break_vector(lane_case *c)
{
  c->args.walk.piece_cols -= 1;
  c->args.walk.cluster += 1;
}
static void break_slot(lane_case *c)
{
  c->args.input[0].slot_bytes -= 128;
}

Test(cluster, unsound_arguments_are_found, .timeout = 60)
{
  static const break_case cases[] = {
      {"code.cluster", break_count},
      {"code.cluster", break_code},
      {"must agree", break_kind},
      {"rank", break_rank},
      {"2 to 8", break_size},
      {"pipelined", break_mode},
      {"static order", break_order},
      {"per tile", break_rows},
      {"left without", break_empty_slice},
      {"piece_cols", break_missing_columns},
      {"whole vectors", break_vector},
      {"slot", break_slot},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    lane_case c;
    sum_case(&c, 12); /* 3 rows of 257 floats in 2 slices */
    cr_assert_eq(check(&c, NULL), TMARING_OK, "%s", tmaring_last_detail());
    cases[i].break_it(&c);
    cr_assert_eq(check(&c, NULL), TMARING_ERROR_CHECK, "case %d passes", (int)i);
    cr_assert_not_null(strstr(tmaring_last_detail(), cases[i].word), "case %d: %s", (int)i, tmaring_last_detail());
    lane_end(&c);
  }
}

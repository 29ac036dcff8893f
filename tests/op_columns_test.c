/* Column reductions give the same bits whoever does the work, in whatever order. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/modes.h"
#include "support/op_trial.h"

enum { MAX_COLUMN_OUTPUTS = 3 };

/* What a column reduction may depend on: not on what follows here. */
typedef struct way {
  int32_t order, policy, mode, sms, workers;
} way;

typedef struct columns {
  const char *op;
  tmaring_dtype dtype;
  int64_t rows, cols;
  int32_t first; /* outputs from here on are [N] */
} columns;

static const columns listed[] = {
    {"col_sum", TMARING_F32, 1000, 96, 0},          {"col_sum", TMARING_BF16, 8191, 257, 0},
    {"col_mean", TMARING_F16, 333, 1024, 0},        {"col_max", TMARING_F32, 333, 64, 0},
    {"col_sum", TMARING_F32, 5, 40000, 0},          {"rmsnorm_backward", TMARING_BF16, 257, 769, 1},
    {"rmsnorm_backward", TMARING_F32, 100, 128, 1}, {"layernorm_backward", TMARING_F32, 131, 256, 1},
    {"rmsnorm_backward", TMARING_F64, 57, 64, 1},
};

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof(array)[0]))

static way way_of(int32_t i)
{
  static const int32_t sms[] = {132, 114, 78, 16, 4, 1, 264}, workers[] = {TMARING_AUTO, 7, 1, 131};
  const way w = {i % 4, i / 2 % 3, i % MODE_CHOICES, sms[i % COUNT(sms)], i < 8 ? TMARING_AUTO : workers[i % 4]};
  return w;
}

static void clear(unsigned char *bits[MAX_COLUMN_OUTPUTS])
{
  for (int o = 0; o < MAX_COLUMN_OUTPUTS; ++o) free(bits[o]);
}

/* Runs one way; `bits` is what the first way left, or is filled by it. */
static void run_way(tally *sum, const venue *v, const columns *c, int32_t i, unsigned char *bits[MAX_COLUMN_OUTPUTS])
{
  const way w = way_of(i);
  tmaring_machine machine = v->machine;
  unsigned char *own[MAX_COLUMN_OUTPUTS] = {NULL};
  op_trial t = op_trial_begin(c->op, c->dtype, c->rows, c->cols);
  machine.sm_count = w.sms;
  t.machine = &machine;
  if (i > 0) { /* the first one is the planner's choice */
    t.options.order = w.order;
    t.options.policy = w.policy;
    t.options.workers = w.workers;
    mode_choose(&t.options, (mode_choice)w.mode);
  }
  for (int32_t o = c->first; o < c->first + MAX_COLUMN_OUTPUTS; ++o)
    t.keep[o] = own[o - c->first] = calloc((size_t)c->cols, sizeof(double));
  op_trial_count(sum, &t, v);
  for (int o = 0; o < MAX_COLUMN_OUTPUTS; ++o) {
    cr_assert_not_null(own[o]);
    if (i == 0) bits[o] = own[o];
    cr_expect(memcmp(bits[o], own[o], (size_t)c->cols * sizeof(double)) == 0,
              "%s: output %d: other bits with order %d, policy %d, mode %d, %d SMs, %d workers", c->op, o, w.order,
              w.policy, w.mode, w.sms, w.workers);
  }
  if (i > 0) clear(own);
}

static void run_all(const venue *v)
{
  tally sum = tally_begin("columns", v->name);
  for (int32_t k = 0; k < COUNT(listed); ++k) {
    unsigned char *bits[MAX_COLUMN_OUTPUTS] = {NULL};
    for (int32_t i = 0; i < 28; ++i) run_way(&sum, v, &listed[k], i, bits);
    clear(bits);
  }
  tally_close(&sum);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_assert_eq(sum.refused, 0, "%s", sum.reason[0].text);
}

Test(op_columns, same_bits_cpu, .timeout = 300)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  run_all(&v);
}

Test(op_columns, same_bits_cuda, .timeout = 300)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  run_all(&v);
  venue_close(&v);
}

/* M from memory: rows past it are not there, whatever they hold. */
static void run_bound(const venue *v, const char *op, int64_t *rows)
{
  static const int64_t counts[] = {0, 1, 131, 132, 700, 1000};
  op_state s;
  op_trial t = op_trial_begin(op, TMARING_F32, 1000, 64);
  t.fill = op_fill_ones;
  cr_assert(op_open(&s, &t, v), "%s", s.result.text);
  for (int k = 0; k < COUNT(counts); ++k) {
    double y[64];
    cr_assert(op_launch_rows(&s, rows, counts[k]), "%s", s.result.text);
    op_read(&s, op_output(&s, 0), 1, 0, y);
    const double total = (double)counts[k], want = strcmp(op, "col_sum") == 0 ? total : total / total;
    for (int i = 0; i < 64; ++i)
      cr_expect(y[i] == want || (y[i] != y[i] && want != want), "%s of %d rows: %g", op, (int)counts[k], y[i]);
  }
  op_close(&s);
}

static void run_bounds(const venue *v)
{
  int64_t *rows = v->place->take(sizeof *rows);
  run_bound(v, "col_sum", rows);
  run_bound(v, "col_mean", rows);
  v->place->give(rows);
}

Test(op_columns, rows_from_memory_cpu, .timeout = 60)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  run_bounds(&v);
}

Test(op_columns, rows_from_memory_cuda, .timeout = 60)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  run_bounds(&v);
  venue_close(&v);
}

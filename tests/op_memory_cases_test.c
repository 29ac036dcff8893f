/* Cases from the field about where ops read and write: strided views, in place, workspaces. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "support/field_case.h"
#include "support/op_trial.h"

enum { TOKENS = 3, HEADS = 32, HEAD = 128, QKV = 6144 };

static void query_values(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  (void)t;
  (void)row;
  for (int64_t i = 0; i < count; ++i) values[i] = input == 1 ? 1.0 : i < 64 ? 1.0 : 3.0;
}

/* The q heads inside [tokens, q and k and v]. */
static void describe_queries(op_tensor *tensor)
{
  tensor->described.pitch = HEAD;
  tensor->described.group_rows = HEADS;
  tensor->described.group_pitch = QKV;
}

static void check_queries(op_state *s)
{
  for (int64_t r = 0; r < TOKENS * HEADS; ++r) {
    double y[HEAD];
    op_read(s, op_output(s, 0), 1, r, y);
    for (int i = 0; i < HEAD; ++i)
      cr_assert_eq(y[i], number_round(TMARING_BF16, i < 64 ? 0.44721 : 1.34164), "row %d, %d: %g", (int)r, i, y[i]);
  }
}

/* F19: q heads normalized where they lie, between k and v of 10000, which the judge's guards watch. */
static void normalize_queries(const venue *v, tally *sum, int32_t in_place)
{
  op_state s;
  op_trial t = op_trial_begin("rmsnorm", TMARING_BF16, TOKENS * HEADS, HEAD);
  t.fill = query_values;
  t.in_place = in_place;
  if (op_begin(&s, &t, v)) {
    describe_queries(op_input_tensor(&s, 0));
    describe_queries(op_output(&s, 0));
    if (op_ready(&s) && op_fill_gaps(&s, op_input_tensor(&s, 0), 10000.0) && op_launch(&s) && op_judge(&s))
      check_queries(&s);
  }
  tally_count(sum, &s.result);
  op_close(&s);
}

FIELD_CASE(F19)
{
  normalize_queries(v, sum, 0);
  normalize_queries(v, sum, -1);
}

/* dz = x = [1,0,0,0], w = 1. */
static void one_and_zeros(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  const int32_t weight = t->op->family == OP_BACKWARD ? 2 : 1;
  (void)row;
  for (int64_t i = 0; i < count; ++i) values[i] = input == weight || i == 0 ? 1.0 : 0.0;
}

static void check_first(const char *what, const float *y, double first, double within)
{
  cr_expect_leq(fabs(y[0] - first), within, "%s: %.9g", what, y[0]);
  for (int i = 1; i < 4; ++i) cr_expect_eq(y[i], 0.0f, "%s: value %d is %g", what, i, y[i]);
}

/* An output over its input but 16 bytes further. */
static void overlap(const venue *v, const op_trial *t)
{
  op_state s;
  void *data[OP_MAX_TENSORS];
  cr_assert(op_open(&s, t, v), "%s", s.result.text);
  tmaring_launch_params params = op_launch_params(&s, data);
  data[2] = (unsigned char *)data[0] + 16;
  cr_expect_eq(tmaring_launch(s.kernel, &params, v->stream), TMARING_ERROR_ALIAS);
  cr_expect_neq(tmaring_last_detail()[0], 0);
  op_close(&s);
}

/* F20: results over what they are made of. */
FIELD_CASE(F20)
{
  float y[8];
  for (int32_t over = -1; over < 2; ++over) {
    op_trial t = op_trial_begin("rmsnorm_backward", TMARING_F32, 1, 4);
    t.fill = one_and_zeros;
    t.scalar[0] = 1e-4;
    t.in_place = over;
    t.keep[0] = y;
    op_trial_count(sum, &t, v);
    check_first("backward", y, 0.00079952, 1e-6);
    t = op_trial_begin("rmsnorm_backward", TMARING_F32, 33, 769); /* rows of which each needs all its passes */
    t.in_place = over;
    op_trial_count(sum, &t, v);
  }
  op_trial t = op_trial_begin("rmsnorm", TMARING_F32, 2, 4);
  t.fill = one_and_zeros;
  t.scalar[0] = 1e-4;
  overlap(v, &t);
  t.in_place = 0;
  t.keep[0] = y;
  op_trial_count(sum, &t, v);
  check_first("forward", y, 1.99960, 1e-5);
}

static void zeros_and_ones(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  static const double of_input[] = {-1.0, 0.0, 1.0}; /* dy, x, w */
  (void)t;
  (void)row;
  for (int64_t i = 0; i < count; ++i) values[i] = of_input[input];
}

/* Everything in the workspace but the counters, which launches leave ready, becomes NaN. */
static void spoil(const op_state *s)
{
  unsigned char nan[4096];
  memset(nan, 0xff, sizeof nan);
  for (size_t at = TMARING_PARTIALS_OFFSET; at < s->workspace_bytes; at += sizeof nan) {
    const size_t left = s->workspace_bytes - at, bytes = left < sizeof nan ? left : sizeof nan;
    cr_assert(s->venue->place->upload((unsigned char *)s->workspace + at, nan, bytes));
  }
}

/* F27: what idle workers leave in the workspace never enters a sum. */
FIELD_CASE(F27)
{
  static const uint32_t zeros[4];
  static const int64_t rows[] = {1, 2, 5, 133};
  for (int k = 0; k < 4; ++k) {
    op_state s;
    op_trial t = op_trial_begin("rmsnorm_backward", TMARING_F32, rows[k], 4);
    uint32_t dw[4] = {1, 1, 1, 1};
    t.fill = zeros_and_ones;
    t.keep[1] = dw;
    cr_assert(op_open(&s, &t, v), "%s", s.result.text);
    cr_expect_gt(s.workspace_bytes, TMARING_PARTIALS_OFFSET);
    for (int launch = 0; launch < 10; ++launch) {
      spoil(&s);
      if (op_launch(&s)) op_judge(&s);
      tally_count(sum, &s.result);
      cr_expect_arr_eq(dw, zeros, sizeof dw, "launch %d: %08x %08x", launch, dw[0], dw[1]);
    }
    op_close(&s);
  }
}

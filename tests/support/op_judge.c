/* Compares what an op left in memory with the reference. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "op_trial.h"
#include "verdict.h"

/* Rows compared in full where a tensor has more columns and more values than these. */
#define FULL_COLS   4096
#define FULL_VALUES (1 << 22)
#define SAMPLED     48

typedef struct op_judgement {
  op_state *state;
  op_row in;
  double *input[OP_MAX_TENSORS], *got[OP_MAX_TENSORS];
  expected_row want[OP_MAX_TENSORS];
  ball_sum *column_sum[OP_MAX_TENSORS]; /* of [N] outputs */
  ball *column_max[OP_MAX_TENSORS];
  int by_columns; /* some output is [N]: every row counts */
} op_judgement;

static int take_output(op_judgement *j, const op_tensor *tensor)
{
  const size_t count = (size_t)j->state->trial->cols; /* no output has more values per row */
  const int o = tensor->index;
  j->got[o] = calloc(count, sizeof(double));
  j->want[o].value = calloc(count, sizeof(double));
  j->want[o].bound = calloc(count, sizeof(double));
  j->in.got[o] = j->got[o];
  j->in.output_type[o] = tensor->described.dtype;
  if (!j->got[o] || !j->want[o].value || !j->want[o].bound) return 0;
  if (tensor->shape != TMARING_SHAPE_ROW) return 1;
  j->by_columns = 1;
  j->column_sum[o] = calloc(count, sizeof(ball_sum));
  j->column_max[o] = calloc(count, sizeof(ball));
  for (size_t i = 0; j->column_max[o] && i < count; ++i) j->column_max[o][i] = ball_exact(-INFINITY);
  return j->column_sum[o] && j->column_max[o];
}

static int take(op_judgement *j)
{
  op_state *s = j->state;
  int whole = 1;
  for (int32_t i = 0; i < s->count; ++i) {
    const op_tensor *tensor = &s->tensor[i];
    if (tensor->is_output) {
      whole &= take_output(j, tensor);
      continue;
    }
    j->input[tensor->index] = calloc((size_t)tensor->count, sizeof(double));
    whole &= j->input[tensor->index] != NULL;
    j->in.input[tensor->index] = j->input[tensor->index];
    j->in.input_type[tensor->index] = tensor->described.dtype;
  }
  for (int i = 0; i < OP_SCRATCH; ++i)
    whole &= (j->in.scratch[i] = calloc((size_t)s->trial->cols, sizeof(ball))) != NULL;
  return whole ? 1 : op_fail(s, "no memory for the reference");
}

static void give(op_judgement *j)
{
  for (int i = 0; i < OP_MAX_TENSORS; ++i) {
    free(j->input[i]);
    free(j->got[i]);
    free(j->want[i].value);
    free(j->want[i].bound);
    free(j->column_sum[i]);
    free(j->column_max[i]);
  }
  for (int i = 0; i < OP_SCRATCH; ++i) free(j->in.scratch[i]);
}

static int compare(op_judgement *j, const op_tensor *tensor, int64_t row, int64_t count)
{
  const int o = tensor->index;
  const expected_row *want = &j->want[o];
  const tmaring_dtype dtype = tensor->described.dtype;
  const int64_t i = verdict_row(dtype, j->got[o], want->value, want->bound, count);
  j->state->judged += count;
  for (int64_t k = 0; k < count; ++k) j->state->undecided += isinf(want->bound[k]) != 0;
  if (i == count) return 1;
  return op_fail(j->state, "%s at (%lld, %lld): got %.9g, needs %.9g within %.3g", tensor->name, (long long)row,
                 (long long)i, j->got[o][i], want->value[i], verdict_tolerance(dtype, want->value[i], want->bound[i]));
}

/* The row's terms of an [N] output. */
static void join(op_judgement *j, const op_tensor *tensor)
{
  const int o = tensor->index, greatest = j->state->trial->op->join == OP_JOIN_MAX;
  for (int64_t i = 0; i < tensor->count; ++i) {
    const ball term = ball_of(j->want[o].value[i], j->want[o].bound[i]);
    if (greatest) {
      j->column_max[o][i] = ball_max(j->column_max[o][i], term);
    } else {
      ball_sum_add(&j->column_sum[o][i], term);
    }
  }
}

/* Inputs as they were before the run, and what the run left. */
static void read_row(op_judgement *j, int64_t row)
{
  op_state *s = j->state;
  for (int32_t i = 0; i < s->count; ++i) {
    op_tensor *tensor = &s->tensor[i];
    if (tensor->shape == TMARING_SHAPE_ROW && (tensor->is_output || row > 0)) continue;
    op_read(s, tensor, tensor->is_output, row, tensor->is_output ? j->got[tensor->index] : j->input[tensor->index]);
  }
}

static int judge_row(op_judgement *j, int64_t row, int compared)
{
  op_state *s = j->state;
  j->in.row = row;
  read_row(j, row);
  op_reference_row(s->trial->op, &j->in, j->want);
  for (int32_t i = 0; i < s->count; ++i) {
    const op_tensor *tensor = &s->tensor[i];
    if (!tensor->is_output) continue;
    if (tensor->shape == TMARING_SHAPE_ROW) {
      join(j, tensor);
    } else if (compared && !compare(j, tensor, row, tensor->count)) {
      return 0;
    }
  }
  return 1;
}

static int judge_columns(op_judgement *j, op_tensor *tensor)
{
  const op_trial *t = j->state->trial;
  const arithmetic *a = &j->in.a;
  const double depth = j->state->plan ? trial_column_depth(&j->state->result.args) : (double)t->rows;
  const int o = tensor->index;
  for (int64_t i = 0; i < tensor->count; ++i) {
    ball b = t->op->join == OP_JOIN_MAX ? j->column_max[o][i] : ball_sum_end(a, &j->column_sum[o][i], depth);
    if (t->op->join == OP_JOIN_MEAN) b = ball_div(a, b, ball_constant(a, (double)t->rows));
    j->want[o].value[i] = b.v;
    j->want[o].bound[i] = b.e;
  }
  op_read(j->state, tensor, 1, 0, j->got[o]);
  return compare(j, tensor, 0, tensor->count);
}

/* A row that is not compared was written all the same: its ends are not the filler. */
static int written(op_state *s, int64_t row)
{
  for (int32_t i = 0; i < s->count; ++i) {
    op_tensor *tensor = &s->tensor[i];
    if (!tensor->is_output || !tensor->memory.memory || tensor->shape != TMARING_SHAPE_MATRIX) continue;
    const size_t bytes = tmaring_dtype_bytes(tensor->described.dtype);
    for (int end = 0; end < 2 && bytes > 1; ++end) {
      const unsigned char *at = op_element_at(s, tensor, 1, row, end ? tensor->count - 1 : 0);
      size_t same = 0;
      while (same < bytes && at[same] == GUARD_POISON) ++same;
      if (same == bytes) return op_fail(s, "row %lld of %s was not written", (long long)row, tensor->name);
    }
  }
  return 1;
}

static int judge_rows(op_judgement *j)
{
  const op_trial *t = j->state->trial;
  const int full = t->cols <= FULL_COLS || t->rows * t->cols <= FULL_VALUES;
  const int64_t every = t->rows / SAMPLED + 1;
  noise n = noise_seed(t->seed);
  for (int64_t r = 0, chosen = 0; r < t->rows; ++r) {
    if (r % every == 0) chosen = r + noise_below(&n, (int32_t)every);
    const int compared = full || r == chosen || r < 2 || r >= t->rows - 2;
    if ((compared || j->by_columns) && !judge_row(j, r, compared)) return 0;
    if (!compared && !written(j->state, r)) return 0;
  }
  return 1;
}

static int judge_guards(op_state *s)
{
  for (int32_t i = 0; i < s->count; ++i) {
    const op_tensor *tensor = &s->tensor[i];
    const int written = tensor->is_output || (s->trial->in_place == tensor->index && s->trial->in_place >= 0);
    ptrdiff_t at;
    if (!tensor->memory.memory || guarded_intact(&tensor->memory, !written, &at)) continue;
    return op_fail(s, "%s: byte %td from its base was overwritten", tensor->name, at);
  }
  return 1;
}

static void keep_rows(op_state *s)
{
  for (int32_t i = 0; i < s->count; ++i) {
    op_tensor *tensor = &s->tensor[i];
    unsigned char *to = tensor->is_output ? s->trial->keep[tensor->index] : NULL;
    const guarded *g = op_memory(s, tensor);
    for (int64_t r = 0; to && r < g->rows; ++r)
      memcpy(to + (size_t)r * g->row_bytes, guarded_row_after(g, r), g->row_bytes);
  }
}

int op_judge(op_state *s)
{
  op_judgement j;
  memset(&j, 0, sizeof j);
  j.state = s;
  j.in.a.wide = s->wide;
  j.in.a.depth = s->plan ? trial_row_depth(&s->result.args) : (double)s->trial->cols;
  j.in.rows = s->trial->rows;
  j.in.cols = s->trial->cols;
  j.in.scalar = s->scalar;
  int well = judge_guards(s) && take(&j) && judge_rows(&j);
  for (int32_t i = 0; well && i < s->count; ++i) {
    op_tensor *tensor = &s->tensor[i];
    if (tensor->is_output && tensor->shape == TMARING_SHAPE_ROW) well = judge_columns(&j, tensor);
  }
  if (well && !s->trial->near_overflow && s->undecided * 10 > s->judged)
    well = op_fail(s, "%lld of %lld values are next to an overflow: this compares nothing", (long long)s->undecided,
                   (long long)s->judged);
  keep_rows(s);
  give(&j);
  return well;
}

/* Compares what a trial left in memory with the reference. */
#include "trial_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "verdict.h"

typedef struct judge {
  trial_state *state;
  double *input[RECIPE_MAX_TENSORS]; /* one row, or all of [N] */
  double *got;
  expected_row want[RECIPE_MAX_OUTPUTS];
  double *oracle[TRIAL_MAX_TENSORS]; /* dense tensors of tmaring_formula_evaluate, or NULL */
  double depth;
} judge;

/* Vector by halves, steps of a thread, lanes, warps; one more step for a frame that does not begin at a vector. In a
 * cluster the warps of all CTAs are joined 32 at a time, and then by lanes. */
double trial_row_depth(const tmaring_args *args)
{
  const tmaring_scope *s = &args->scope;
  const tmaring_walk *w = &args->walk;
  const int64_t per_step = (int64_t)s->vec << s->lanes_log2, warps = tmaring_max_i64(1, s->warps_per_row);
  const int64_t cols = tmaring_walk_shared(w) ? w->piece_cols : w->cols;
  const int64_t steps = tmaring_ceil_div(cols, per_step * warps) + w->pieces;
  const int64_t joins = tmaring_walk_shared(w) ? tmaring_ceil_div(warps * w->cluster, 32) + 5 : warps;
  return (double)(steps + 4 + s->lanes_log2 + joins);
}

/* The rows of a chunk, at most; the partial results of a strand; the strands. */
double trial_column_depth(const tmaring_args *args)
{
  const tmaring_walk *w = &args->walk;
  const int64_t partials = tmaring_column_chunks(w) * tmaring_column_seats(args);
  const int64_t rows = tmaring_min_i64(w->rows, (int64_t)w->chunk * w->tile_rows);
  return (double)(rows + tmaring_ceil_div(partials, TMARING_COLUMN_STRANDS) + 5);
}

static int take(judge *j)
{
  trial_state *s = j->state;
  const size_t cols = (size_t)s->trial->cols;
  int whole = 1;
  for (int32_t i = 0; i < s->recipe->input_count; ++i) whole &= (j->input[i] = calloc(cols, sizeof(double))) != NULL;
  for (int32_t o = 0; o < s->recipe->output_count; ++o) {
    whole &= (j->want[o].value = calloc(cols, sizeof(double))) != NULL;
    whole &= (j->want[o].bound = calloc(cols, sizeof(double))) != NULL;
  }
  j->got = calloc(cols, sizeof(double));
  return whole && j->got ? 1 : trial_fail(s, "no memory for the reference");
}

static void give(judge *j)
{
  for (int32_t i = 0; i < RECIPE_MAX_TENSORS; ++i) free(j->input[i]);
  for (int32_t o = 0; o < RECIPE_MAX_OUTPUTS; ++o) {
    free(j->want[o].value);
    free(j->want[o].bound);
  }
  for (int32_t i = 0; i < TRIAL_MAX_TENSORS; ++i) free(j->oracle[i]);
  free(j->got);
}

/* Elements of one row of a tensor, and where the row begins. */
static int64_t row_of(const trial_state *s, const trial_tensor *tensor, int64_t row, int64_t *skip)
{
  const size_t bytes = tmaring_dtype_bytes(tensor->described.dtype);
  *skip = tensor->shape == TMARING_SHAPE_COLUMN ? row * (int64_t)bytes : 0;
  return tensor->shape == TMARING_SHAPE_COLUMN ? 1 : s->trial->cols;
}

/* Reads the inputs of a row. Row vectors are read with row 0. */
static void read_inputs(judge *j, int64_t row)
{
  trial_state *s = j->state;
  for (int32_t i = 0; i < s->count; ++i) {
    const trial_tensor *tensor = &s->tensor[i];
    int64_t skip;
    const int64_t count = row_of(s, tensor, row, &skip);
    if (tensor->is_output || (tensor->shape == TMARING_SHAPE_ROW && row > 0)) continue;
    const int64_t line = tensor->shape == TMARING_SHAPE_MATRIX ? row : 0;
    number_read_row(tensor->described.dtype, j->input[tensor->index], guarded_row(&tensor->memory, line) + skip, count);
  }
}

static int compare_output(judge *j, int32_t index, int64_t row)
{
  trial_state *s = j->state;
  const trial_tensor *tensor = &s->tensor[index];
  const expected_row *want = &j->want[tensor->index];
  int64_t skip;
  const int64_t count = row_of(s, tensor, row, &skip);
  const int64_t line = tensor->shape == TMARING_SHAPE_MATRIX ? row : 0;
  const tmaring_dtype dtype = tensor->described.dtype;
  number_read_row(dtype, j->got, guarded_row_after(trial_memory(s, index), line) + skip, count);
  const int64_t i = verdict_row(dtype, j->got, want->value, want->bound, count);
  if (i == count) return 1;
  return trial_fail(s, "output %d at (%lld, %lld): got %.9g, needs %.9g within %.3g", (int)tensor->index,
                    (long long)row, (long long)i, j->got[i], want->value[i],
                    verdict_tolerance(dtype, want->value[i], want->bound[i]));
}

/* Two references in double: they agree to far more digits than any tensor holds. */
static int compare_oracle(judge *j, int32_t index, int64_t row)
{
  trial_state *s = j->state;
  const trial_tensor *tensor = &s->tensor[index];
  const expected_row *want = &j->want[tensor->index];
  const int64_t count = tensor->shape == TMARING_SHAPE_COLUMN ? 1 : s->trial->cols;
  for (int64_t i = 0; i < count; ++i) {
    const double oracle = j->oracle[index][row * count + i];
    if (!(fabs(oracle - want->value[i]) <= 1e-9 * (1.0 + fabs(want->value[i]))))
      return trial_fail(s, "tmaring_formula_evaluate, output %d at (%lld, %lld): got %.17g, needs %.17g",
                        (int)tensor->index, (long long)row, (long long)i, oracle, want->value[i]);
  }
  return 1;
}

static int judge_row(judge *j, int64_t row)
{
  trial_state *s = j->state;
  recipe_row in;
  memset(&in, 0, sizeof in);
  in.cols = s->trial->cols;
  in.depth = j->depth;
  for (int32_t i = 0; i < s->recipe->input_count; ++i) in.input[i] = j->input[i];
  read_inputs(j, row);
  s->recipe->evaluate(&in, j->want);
  for (int32_t i = 0; i < s->count; ++i) {
    if (!s->tensor[i].is_output) continue;
    if (!compare_output(j, i, row)) return 0;
    if (s->trial->oracle && !compare_oracle(j, i, row)) return 0;
  }
  return 1;
}

/* A dense copy in double. */
static double *spread_out(trial_state *s, const trial_tensor *tensor)
{
  const int64_t lines = tensor->shape == TMARING_SHAPE_MATRIX ? s->trial->rows : 1;
  const int64_t count = tensor->shape == TMARING_SHAPE_COLUMN ? s->trial->rows : s->trial->cols;
  double *dense = calloc((size_t)(lines * count) + 1, sizeof(double));
  for (int64_t r = 0; dense && count > 0 && r < lines && !tensor->is_output; ++r) {
    number_read_row(tensor->described.dtype, dense + r * count, guarded_row(&tensor->memory, r), count);
  }
  return dense;
}

static int ask_oracle(judge *j)
{
  trial_state *s = j->state;
  for (int32_t i = 0; i < s->count; ++i) {
    j->oracle[i] = spread_out(s, &s->tensor[i]);
    if (!j->oracle[i]) return trial_fail(s, "no memory for the oracle");
  }
  const tmaring_status status =
      tmaring_formula_evaluate(s->formula, s->trial->rows, s->trial->cols, j->oracle, NULL, NULL);
  return status == TMARING_OK ? 1 : trial_fail_call(s, status, "tmaring_formula_evaluate");
}

static int judge_guards(trial_state *s)
{
  for (int32_t i = 0; i < s->count; ++i) {
    const trial_tensor *tensor = &s->tensor[i];
    const int in_place = s->trial->in_place && !tensor->is_output && tensor->index == 0;
    ptrdiff_t at;
    if (!tensor->memory.memory || guarded_intact(&tensor->memory, !tensor->is_output && !in_place, &at)) continue;
    return trial_fail(s, "%s %d: byte %td from its base was overwritten", tensor->is_output ? "output" : "input",
                      (int)tensor->index, at);
  }
  return 1;
}

static void keep_rows(trial_state *s)
{
  unsigned char *to = s->trial->keep;
  for (int32_t i = 0; to && i < s->count; ++i) {
    if (!s->tensor[i].is_output || s->tensor[i].index != 0) continue;
    const guarded *g = trial_memory(s, i);
    for (int64_t r = 0; r < g->rows; ++r) memcpy(to + (size_t)r * g->row_bytes, guarded_row_after(g, r), g->row_bytes);
  }
}

int trial_judge(trial_state *s)
{
  judge j;
  memset(&j, 0, sizeof j);
  j.state = s;
  j.depth = trial_row_depth(&s->result->args);
  int well = judge_guards(s) && take(&j) && (!s->trial->oracle || ask_oracle(&j));
  for (int64_t r = 0; well && r < s->trial->rows; ++r) well = judge_row(&j, r);
  if (well) keep_rows(s);
  give(&j);
  return well;
}

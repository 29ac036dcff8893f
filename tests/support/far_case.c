#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "far_state.h"
#include "number.h"
#include "trial.h"

static const char *const formulas[] = {
    [FAR_COPY] = "copy(x[M,N]) = x",
    [FAR_DOUBLE] = "y = x + x",
    [FAR_ROW_SUM] = "row_sum(x[M,N]) = sum(x)",
    [FAR_SOFTMAX] = "softmax(x[M,N]) = e = exp(x - max(x)); y = e / sum(e)",
    [FAR_RMSNORM] = "rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * w",
    [FAR_COL_SUM] = "col_sum(x[M,N]) = colsum(x)",
    [FAR_QUANTIZE] = "f(x[M,N]) = out s = max(amax(x), 1e-10) / 448; q = x / s",
    [FAR_QUANTIZE_GROUPS] = "f(x[M,N]) = out s = max(gamax(x, 128), 1e-10) / 448; q = x / s",
};

int far_fail(far_state *s, const char *format, ...)
{
  va_list list;
  va_start(list, format);
  vsnprintf(s->text, s->size, format, list);
  va_end(list);
  return 0;
}

static uint32_t bytes_of(const tmaring_tensor *t)
{
  return tmaring_dtype_bytes((tmaring_i32)t->dtype);
}

/* ---- tensors ---- */

static tmaring_dtype result_type(const far_case *c)
{
  if (c->work == FAR_COPY || c->work == FAR_DOUBLE) return c->dtype;
  return c->work == FAR_QUANTIZE || c->work == FAR_QUANTIZE_GROUPS ? TMARING_E4M3 : TMARING_BF16;
}

static void lay_matrix(const far_case *c, tmaring_tensor *t, tmaring_dtype dtype)
{
  t->dtype = dtype;
  t->rows = c->rows;
  t->cols = c->cols;
  t->pitch = c->pitch;
  t->group_rows = c->group_rows;
  t->group_pitch = c->group_pitch;
}

static void describe(far_state *s, int32_t i, const tmaring_parameter *p)
{
  const tmaring_tensor empty = TMARING_TENSOR_INIT;
  tmaring_tensor *t = &s->tensor[i];
  *t = empty;
  t->rows = 1;
  t->cols = s->c->cols;
  if (p->shape == TMARING_SHAPE_MATRIX) {
    s->part[i] = p->is_output ? FAR_Y : FAR_X;
    lay_matrix(s->c, t, p->is_output ? result_type(s->c) : s->c->dtype);
  } else if (p->shape == TMARING_SHAPE_ROW) {
    s->part[i] = p->is_output ? FAR_SUMS : FAR_W;
    t->dtype = p->is_output ? TMARING_F32 : TMARING_BF16;
  } else {
    s->part[i] = FAR_VALUES;
    t->rows = s->c->rows;
    t->cols = p->shape == TMARING_SHAPE_GROUP ? (s->c->cols + FAR_GROUP_COLS - 1) / FAR_GROUP_COLS : 1;
    t->pitch = s->c->value_pitch;
    t->step = s->c->value_step;
  }
}

/* 1; or 0: refused or failed, *status. */
static int make_plan(far_state *s, int32_t load, tmaring_status *status)
{
  tmaring_plan_options options;
  tmaring_machine machine;
  *status = tmaring_formula_parse(&s->formula, formulas[s->c->work]);
  if (*status != TMARING_OK) return 0;
  s->count = tmaring_formula_tensor_count(s->formula);
  for (int32_t i = 0; i < s->count; ++i) {
    tmaring_parameter p;
    memset(&p, 0, sizeof p);
    p.size = sizeof p;
    tmaring_formula_tensor(s->formula, i, &p);
    describe(s, i, &p);
  }
  tmaring_machine_h200(&machine);
  tmaring_plan_options_init(&options);
  options.load = load;
  *status = tmaring_plan_create(&s->plan, s->formula, s->tensor, s->count, s->v ? &s->v->machine : &machine, &options);
  return *status == TMARING_OK;
}

/* ---- memory ---- */

static size_t tensor_bytes(const tmaring_tensor *t)
{
  return (size_t)far_extent(t) * bytes_of(t);
}

static size_t needed_bytes(const far_state *s)
{
  size_t bytes = tmaring_workspace_bytes(s->plan, s->c->rows) + 256;
  for (int32_t i = 0; i < s->count; ++i) bytes += tensor_bytes(&s->tensor[i]);
  return bytes;
}

static int take_all(far_state *s)
{
  if (!far_take(&s->workspace, s->v, tmaring_workspace_bytes(s->plan, s->c->rows) + 256))
    return far_fail(s, "the workspace could not be taken");
  for (int32_t i = 0; i < s->count; ++i) {
    if (!far_take(&s->memory[i], s->v, tensor_bytes(&s->tensor[i])))
      return far_fail(s, "tensor %d could not be taken", i);
  }
  return 1;
}

static int write_vector(far_state *s, int32_t i)
{
  for (int64_t col = 0; col < s->tensor[i].cols; ++col)
    number_write(TMARING_BF16, s->line + 2 * col, far_value(TMARING_BF16, (uint64_t)col));
  return far_write(&s->memory[i], 0, s->line, (size_t)s->tensor[i].cols * 2) || far_fail(s, "w could not be written");
}

static int fill_all(far_state *s)
{
  for (int32_t i = 0; i < s->count; ++i) {
    if (s->part[i] == FAR_W && !write_vector(s, i)) return 0;
    if (s->part[i] != FAR_X) continue;
    const char *failure = far_fill(&s->memory[i], &s->tensor[i]);
    if (failure) return far_fail(s, "%s", failure);
  }
  return 1;
}

/* ---- the launch ---- */

static int launch(far_state *s)
{
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  void *data[FAR_MAX_TENSORS];
  for (int32_t i = 0; i < s->count; ++i) data[i] = s->memory[i].data;
  params.rows = s->c->rows;
  params.data = data;
  params.workspace = s->workspace.data;
  if (tmaring_prepare(&s->kernel, s->plan, s->v->backend) != TMARING_OK ||
      tmaring_workspace_init(s->kernel, params.workspace, s->v->stream) != TMARING_OK ||
      tmaring_launch(s->kernel, &params, s->v->stream) != TMARING_OK)
    return far_fail(s, "%s", tmaring_last_detail());
  return venue_settle(s->v) || far_fail(s, "the launch left an error on the stream");
}

/* ---- from end to end ---- */

static void release(far_state *s)
{
  tmaring_kernel_free(s->kernel);
  tmaring_plan_free(s->plan);
  tmaring_formula_free(s->formula);
  for (int32_t i = 0; i < s->count; ++i) far_give(&s->memory[i]);
  far_give(&s->workspace);
  free(s);
}

static int is_tiled(const far_state *s)
{
  tmaring_args args;
  return tmaring_plan_args(s->plan, s->c->rows, &args) == TMARING_OK && args.input[0].path == TMARING_LOAD_TILE;
}

static far_outcome run_case(far_state *s, int32_t load)
{
  tmaring_status status;
  if (!make_plan(s, load, &status)) {
    far_fail(s, "%s", tmaring_last_detail());
    const int named = strstr(s->text, "load") != NULL;
    return load != TMARING_LOAD_BULK && named && status == TMARING_ERROR_UNSUPPORTED ? FAR_REFUSED : FAR_FAILED;
  }
  if (load == TMARING_LOAD_TILE && !is_tiled(s)) {
    far_fail(s, "load tile: the planner took another path");
    return FAR_REFUSED;
  }
  s->bytes = needed_bytes(s);
  const size_t free_bytes = far_free_bytes(s->v);
  if (free_bytes < s->bytes + s->bytes / 16) {
    far_fail(s, "needs %.1f GiB of memory, %.1f are free", (double)s->bytes / 0x1p30, (double)free_bytes / 0x1p30);
    return FAR_NO_ROOM;
  }
  if (!take_all(s)) return s->v->backend == TMARING_BACKEND_CPU ? FAR_NO_ROOM : FAR_FAILED;
  return fill_all(s) && launch(s) && far_judge(s) ? FAR_PASSED : FAR_FAILED;
}

static far_state *begin(const far_case *c, const venue *v, char *text, size_t size)
{
  far_state *s = calloc(1, sizeof *s);
  if (!s) abort();
  s->c = c;
  s->v = v;
  s->text = text;
  s->size = size;
  text[0] = 0;
  return s;
}

far_outcome far_run(const far_case *c, const venue *v, int32_t load, char *text, size_t size)
{
  static const char *const outcomes[] = {"passed", "refused", "no room", "FAILED"};
  far_state *s = begin(c, v, text, size);
  const far_outcome outcome = run_case(s, load);
  printf("far %s [%lld,%lld] pitch %lld %s load %s: %s, %d rows judged, %.2f GiB%s%s\n", c->name, (long long)c->rows,
         (long long)c->cols, (long long)c->pitch, v->name, load == TMARING_LOAD_TILE ? "tile" : "bulk",
         outcomes[outcome], s->rows, (double)s->bytes / 0x1p30, text[0] ? ": " : "", text);
  fflush(stdout);
  release(s);
  return outcome;
}

const char *far_plan(const far_case *c, int32_t load)
{
  static char text[640];
  tmaring_status status;
  far_state *s = begin(c, NULL, text, sizeof text);
  if (!make_plan(s, load, &status) || (status = tmaring_check(s->plan, c->rows, NULL)) != TMARING_OK ||
      (status = trial_compile(s->plan)) != TMARING_OK)
    far_fail(s, "%s: %s", c->name, tmaring_last_detail());
  if (load == TMARING_LOAD_TILE && status == TMARING_ERROR_UNSUPPORTED && strstr(text, "load")) text[0] = 0;
  release(s);
  return text[0] ? text : NULL;
}

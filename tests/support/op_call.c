#include "op_call.h"

#include <stdlib.h>
#include <string.h>

#include "../../src/host/ops/plan_cache.h"

#define CALL(name, made)                                                                                               \
  static tmaring_status call_##name(const tmaring_view *v, const double *s, const tmaring_call *call,                  \
                                    struct CUstream_st *stream)                                                        \
  {                                                                                                                    \
    (void)s;                                                                                                           \
    return made;                                                                                                       \
  }

CALL(add, tmaring_add(v, v + 1, v + 2, call, stream))
CALL(mul, tmaring_mul(v, v + 1, v + 2, call, stream))
CALL(scale, tmaring_scale(v, v + 1, s[0], call, stream))
CALL(axpby, tmaring_axpby(v, v + 1, v + 2, s[0], s[1], call, stream))
CALL(copy, tmaring_copy(v, v + 1, call, stream))
CALL(cast, tmaring_cast(v, v + 1, call, stream))
CALL(fill, tmaring_fill_value(v, s[0], call, stream))
CALL(relu, tmaring_relu(v, v + 1, call, stream))
CALL(silu, tmaring_silu(v, v + 1, call, stream))
CALL(gelu_tanh, tmaring_gelu_tanh(v, v + 1, call, stream))
CALL(gelu_erf, tmaring_gelu_erf(v, v + 1, call, stream))
CALL(row_sum, tmaring_row_sum(v, v + 1, call, stream))
CALL(row_mean, tmaring_row_mean(v, v + 1, call, stream))
CALL(row_max, tmaring_row_max(v, v + 1, call, stream))
CALL(row_min, tmaring_row_min(v, v + 1, call, stream))
CALL(row_amax, tmaring_row_amax(v, v + 1, call, stream))
CALL(row_argmax, tmaring_row_argmax(v, v + 1, call, stream))
CALL(col_sum, tmaring_col_sum(v, v + 1, call, stream))
CALL(col_max, tmaring_col_max(v, v + 1, call, stream))
CALL(col_mean, tmaring_col_mean(v, v + 1, call, stream))
CALL(rmsnorm, tmaring_rmsnorm(v, v + 1, v + 2, s[0], call, stream))
CALL(rmsnorm_hf, tmaring_rmsnorm_hf(v, v + 1, v + 2, s[0], call, stream))
CALL(rmsnorm_gemma, tmaring_rmsnorm_gemma(v, v + 1, v + 2, s[0], call, stream))
CALL(add_rmsnorm, tmaring_add_rmsnorm(v, v + 1, v + 2, v + 3, v + 4, s[0], call, stream))
CALL(add_rmsnorm_f32sum, tmaring_add_rmsnorm_f32sum(v, v + 1, v + 2, v + 3, v + 4, s[0], call, stream))
CALL(layernorm, tmaring_layernorm(v, v + 1, v + 2, v + 3, s[0], call, stream))
CALL(softmax, tmaring_softmax(v, v + 1, call, stream))
CALL(log_softmax, tmaring_log_softmax(v, v + 1, call, stream))
CALL(softmax_scaled, tmaring_softmax_scaled(v, v + 1, s[0], call, stream))
CALL(silu_mul, tmaring_silu_mul(v, v + 1, call, stream))
CALL(gelu_mul, tmaring_gelu_mul(v, v + 1, call, stream))
CALL(silu_mul_rounded, tmaring_silu_mul_rounded(v, v + 1, call, stream))
CALL(swiglu_clamp, tmaring_swiglu_clamp(v, v + 1, s[0], s[1], s[2], call, stream))
CALL(swiglu_clamp_interleaved, tmaring_swiglu_clamp_interleaved(v, v + 1, s[0], s[1], s[2], call, stream))
CALL(quantize_fp8, tmaring_quantize_fp8(v, v + 1, v + 2, call, stream))
CALL(quantize_fp8_row, tmaring_quantize_fp8_row(v, v + 1, v + 2, call, stream))
CALL(quantize_fp8_group, tmaring_quantize_fp8_group(v, v + 1, v + 2, call, stream))
CALL(quantize_i8_row, tmaring_quantize_i8_row(v, v + 1, v + 2, call, stream))
CALL(rmsnorm_quantize_fp8_row, tmaring_rmsnorm_quantize_fp8_row(v, v + 1, v + 2, v + 3, s[0], call, stream))
CALL(add_rmsnorm_quantize_fp8_row,
     tmaring_add_rmsnorm_quantize_fp8_row(v, v + 1, v + 2, v + 3, v + 4, v + 5, s[0], call, stream))
CALL(silu_mul_quantize_fp8_row, tmaring_silu_mul_quantize_fp8_row(v, v + 1, v + 2, call, stream))
CALL(dequantize_fp8_row, tmaring_dequantize_fp8_row(v, v + 1, v + 2, call, stream))
CALL(cross_entropy, tmaring_cross_entropy(v, v + 1, v + 2, call, stream))
CALL(rmsnorm_backward, tmaring_rmsnorm_backward(v, v + 1, v + 2, v + 3, v + 4, s[0], call, stream))
CALL(layernorm_backward, tmaring_layernorm_backward(v, v + 1, v + 2, v + 3, v + 4, v + 5, s[0], call, stream))

#define ROW(name, group, types, ahead, formula, alias) {#name, call_##name},

static const struct {
  const char *name;
  op_call_run *run;
} table[] = {TMARING__READY_LIST(ROW)};

op_call_run *op_call_find(const char *name)
{
  for (int32_t i = 0; i < op_call_count(); ++i)
    if (strcmp(table[i].name, name) == 0) return table[i].run;
  return NULL;
}

int32_t op_call_count(void)
{
  return (int32_t)(sizeof table / sizeof table[0]);
}

static tmaring_view view_of(op_state *s, op_tensor *tensor)
{
  const tmaring_tensor *d = &tensor->described;
  tmaring_view view = TMARING_VIEW_INIT;
  view.data = op_memory(s, tensor)->data;
  view.dtype = d->dtype;
  view.rows = tensor->shape == TMARING_SHAPE_ROW ? 1 : s->trial->rows;
  view.cols = d->cols;
  view.pitch = d->pitch;
  view.step = d->step;
  view.group_rows = d->group_rows;
  view.group_pitch = d->group_pitch;
  return view;
}

/* Formulas number inputs first. */
void op_call_views(op_state *s, tmaring_view *views)
{
  int32_t count = 0;
  for (int outputs = 1; outputs >= 0; --outputs) {
    for (int32_t i = 0; i < s->count; ++i)
      if (s->tensor[i].is_output == outputs) views[count++] = view_of(s, &s->tensor[i]);
  }
}

static int fail(op_state *s, tmaring_status status, const char *call)
{
  s->result.status = status;
  return op_fail(s, "%s: %s: %s", call, tmaring_status_name(status), tmaring_last_detail());
}

int op_call_begin(op_state *s, const tmaring_view *views, tmaring_call *call)
{
  const tmaring_call empty = TMARING_CALL_INIT;
  const tmaring_view *list[TMARING_OP_MAX_TENSORS];
  const int32_t index = tmaring_op_find(s->trial->op->name);
  *call = empty;
  call->backend = s->venue->backend;
  for (int32_t i = 0; i < s->count; ++i) list[i] = &views[i];
  const tmaring_status status = tmaring_op_workspace_bytes(index, list, s->count, call, &s->workspace_bytes);
  if (status != TMARING_OK) return fail(s, status, "tmaring_op_workspace_bytes");
  if (s->workspace_bytes == 0) return 1;
  s->workspace = s->venue->place->take(s->workspace_bytes);
  if (!s->workspace) return op_fail(s, "no memory for the workspace of %zu bytes", s->workspace_bytes);
  call->workspace = s->workspace;
  call->workspace_bytes = s->workspace_bytes;
  const tmaring_status init =
      tmaring_op_workspace_init(s->workspace, s->workspace_bytes, call->backend, s->venue->stream);
  return init == TMARING_OK ? 1 : fail(s, init, "tmaring_op_workspace_init");
}

/* trial_compile for the plan that the call will make. */
static int compile(op_state *s, const tmaring_view *views, const tmaring_call *call)
{
  const tmaring_view *list[TMARING_OP_MAX_TENSORS];
  const tmaring__op_state *op;
  tmaring__op_request request;
  tmaring_plan *plan = NULL;
  if (!getenv("TMARING_TEST_COMPILE")) return 1;
  for (int32_t i = 0; i < s->count; ++i) list[i] = &views[i];
  tmaring_status status = tmaring__op_state_get(tmaring_op_find(s->trial->op->name), &op);
  if (status == TMARING_OK) status = tmaring__op_request_make(&request, op, list, s->count, call);
  if (status == TMARING_OK) status = tmaring__plan_cache_plan(&request, &plan);
  if (status == TMARING_OK) status = trial_compile(plan);
  tmaring_plan_free(plan);
  return status == TMARING_OK ? 1 : fail(s, status, "compile");
}

int op_call_make(op_state *s, const tmaring_view *views, const tmaring_call *call)
{
  if (!compile(s, views, call)) return 0;
  const tmaring_status status = op_call_find(s->trial->op->name)(views, s->scalar, call, s->venue->stream);
  if (status != TMARING_OK) return fail(s, status, "the call");
  return venue_settle(s->venue) ? op_download(s) : op_fail(s, "the kernel ended with an error");
}

trial_result op_call_trial(const op_trial *t, const venue *v, int with_workspace)
{
  op_state s;
  tmaring_view views[TMARING_OP_MAX_TENSORS];
  tmaring_call call;
  int well = op_begin(&s, t, v) && op_furnish(&s);
  if (well) op_call_views(&s, views);
  well = well && op_call_begin(&s, views, &call);
  if (!with_workspace) call.workspace = NULL;
  if (well && op_call_make(&s, views, &call)) op_judge(&s);
  op_close(&s);
  return s.result;
}

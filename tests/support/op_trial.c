#include "op_trial.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "modes.h"
#include "op_layout.h"
#include "tmaring/ops.h"

int op_fail(op_state *s, const char *format, ...)
{
  char name[400];
  va_list arguments;
  s->result.outcome = TRIAL_FAILED;
  op_trial_name(s->trial, name, sizeof name);
  const int used = snprintf(s->result.text, sizeof s->result.text, "%s (%s): ", name, s->venue->name);
  va_start(arguments, format);
  vsnprintf(s->result.text + used, sizeof s->result.text - (size_t)used, format, arguments);
  va_end(arguments);
  return 0;
}

static int fail_call(op_state *s, tmaring_status status, const char *call)
{
  s->result.status = status;
  return op_fail(s, "%s: %s: %s", call, tmaring_status_name(status), tmaring_last_detail());
}

static int parse(op_state *s)
{
  tmaring_op_info info;
  const char *text = s->trial->formula;
  if (!text) {
    info.size = sizeof info;
    const tmaring_status found = tmaring_op_describe(tmaring_op_find(s->trial->op->name), &info);
    if (found != TMARING_OK) return fail_call(s, found, "tmaring_op_describe");
    text = info.formula;
  }
  const tmaring_status status = tmaring_formula_parse(&s->formula, text);
  return status == TMARING_OK ? 1 : fail_call(s, status, "tmaring_formula_parse");
}

static int works_in_double(const op_tensor *tensor)
{
  const int matrix = tensor->shape == TMARING_SHAPE_MATRIX || tensor->shape == TMARING_SHAPE_DOUBLE;
  return tensor->described.dtype == TMARING_F64 || (matrix && tensor->described.dtype == TMARING_I32);
}

static int bind_tensors(op_state *s)
{
  int32_t outputs = 0, inputs = 0;
  s->count = tmaring_formula_tensor_count(s->formula);
  if (s->count != (int32_t)strlen(s->trial->op->types) - 1) return op_fail(s, "%d tensor parameters", (int)s->count);
  for (int32_t i = 0; i < s->count; ++i) {
    op_tensor *tensor = &s->tensor[i];
    tmaring_parameter parameter;
    parameter.size = sizeof parameter;
    const tmaring_status status = tmaring_formula_tensor(s->formula, i, &parameter);
    if (status != TMARING_OK) return fail_call(s, status, "tmaring_formula_tensor");
    tensor->name = parameter.name;
    tensor->shape = parameter.shape;
    tensor->group_cols = parameter.group_cols;
    tensor->is_output = parameter.is_output != 0;
    tensor->index = tensor->is_output ? outputs++ : inputs++;
    op_lay_out(tensor, s->trial, op_reference_letter(s->trial->op, i));
    s->wide |= works_in_double(tensor);
  }
  return 1;
}

/* Defaults of the formula, and values that go with the names of those that have none. */
static int bind_scalars(op_state *s)
{
  static const struct {
    const char *name;
    double value;
  } usual[] = {{"s", 0.75},    {"alpha", 1.25}, {"beta", -0.5},      {"value", 2.7},
               {"limit", 1.5}, {"eps", 1e-5},   {"temperature", 1.7}};
  const int32_t count = tmaring_formula_scalar_count(s->formula);
  for (int32_t i = 0; i < count && i < OP_MAX_SCALARS; ++i) {
    tmaring_parameter parameter;
    parameter.size = sizeof parameter;
    tmaring_formula_scalar(s->formula, i, &parameter);
    s->scalar[i] = parameter.has_default ? parameter.default_value : NAN;
    for (size_t k = 0; isnan(s->scalar[i]) && k < sizeof usual / sizeof usual[0]; ++k) {
      if (strcmp(usual[k].name, parameter.name) == 0) s->scalar[i] = usual[k].value;
    }
    if (!isnan(s->trial->scalar[i])) s->scalar[i] = s->trial->scalar[i];
    if (!s->wide) s->scalar[i] = (float)s->scalar[i]; /* what the kernel's argument holds */
    if (isnan(s->scalar[i])) return op_fail(s, "no value for scalar %s", parameter.name);
  }
  return count <= OP_MAX_SCALARS ? 1 : op_fail(s, "%d scalars", (int)count);
}

static int refuse(op_state *s, tmaring_status status)
{
  if (tmaring_last_detail()[0] == 0) return op_fail(s, "refused with %s without a reason", tmaring_status_name(status));
  s->result.outcome = TRIAL_REFUSED;
  s->result.status = status;
  snprintf(s->result.text, sizeof s->result.text, "%s", tmaring_last_detail());
  return 0;
}

int op_plan(op_state *s)
{
  const op_trial *t = s->trial;
  tmaring_tensor tensor[OP_MAX_TENSORS];
  tmaring_plan_options options = t->options;
  for (int32_t i = 0; i < s->count; ++i) tensor[i] = s->tensor[i].described;
  mode_override_release(&options);
  const tmaring_status status = tmaring_plan_create(&s->plan, s->formula, tensor, s->count,
                                                    t->machine ? t->machine : &s->venue->machine, &options);
  if (status == TMARING_ERROR_UNSUPPORTED || status == TMARING_ERROR_CAPACITY) return refuse(s, status);
  if (status != TMARING_OK) return fail_call(s, status, "tmaring_plan_create");
  s->result.info.size = sizeof s->result.info;
  s->result.report.size = sizeof s->result.report;
  tmaring_plan_describe(s->plan, &s->result.info);
  const tmaring_status args = tmaring_plan_args(s->plan, t->rows, &s->result.args);
  if (args != TMARING_OK) return fail_call(s, args, "tmaring_plan_args");
  const tmaring_status check = tmaring_check(s->plan, t->rows, &s->result.report);
  if (check != TMARING_OK) return fail_call(s, check, "tmaring_check");
  const tmaring_status compiled = trial_compile(s->plan);
  return compiled == TMARING_OK ? 1 : fail_call(s, compiled, "compile");
}

static int prepare(op_state *s)
{
  const tmaring_status status = tmaring_prepare(&s->kernel, s->plan, s->venue->backend);
  if (status != TMARING_OK) return fail_call(s, status, "tmaring_prepare");
  s->workspace_bytes = tmaring_workspace_bytes(s->plan, s->trial->rows);
  if (s->workspace_bytes == 0) return 1;
  s->workspace = s->venue->place->take(s->workspace_bytes);
  if (!s->workspace) return op_fail(s, "no memory for the workspace of %zu bytes", s->workspace_bytes);
  const tmaring_status init = tmaring_workspace_init(s->kernel, s->workspace, s->venue->stream);
  return init == TMARING_OK ? 1 : fail_call(s, init, "tmaring_workspace_init");
}

int op_begin(op_state *s, const op_trial *t, const venue *v)
{
  memset(s, 0, sizeof *s);
  s->trial = t;
  s->venue = v;
  s->seed = t->seed;
  s->result.outcome = TRIAL_PASSED;
  return parse(s) && bind_tensors(s) && bind_scalars(s);
}

int op_ready(op_state *s)
{
  return op_plan(s) && op_furnish(s) && prepare(s);
}

int op_open(op_state *s, const op_trial *t, const venue *v)
{
  return op_begin(s, t, v) && op_ready(s);
}

tmaring_launch_params op_launch_params(op_state *s, void **data)
{
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  for (int32_t i = 0; i < s->count; ++i) data[i] = op_memory(s, &s->tensor[i])->data;
  params.rows = s->trial->rows;
  params.data = data;
  params.scalars = s->scalar;
  params.workspace = s->workspace;
  return params;
}

static int launch_with(op_state *s, const tmaring_launch_params *params)
{
  const tmaring_status status = tmaring_launch(s->kernel, params, s->venue->stream);
  if (status != TMARING_OK) return fail_call(s, status, "tmaring_launch");
  return venue_settle(s->venue) ? op_download(s) : op_fail(s, "the kernel ended with an error");
}

int op_launch(op_state *s)
{
  void *data[OP_MAX_TENSORS];
  const tmaring_launch_params params = op_launch_params(s, data);
  return launch_with(s, &params);
}

int op_launch_rows(op_state *s, int64_t *device, int64_t rows)
{
  void *data[OP_MAX_TENSORS];
  tmaring_launch_params params = op_launch_params(s, data);
  params.rows_device = device;
  if (!s->venue->place->upload(device, &rows, sizeof rows)) return op_fail(s, "upload of M failed");
  return launch_with(s, &params);
}

int op_download(op_state *s)
{
  for (int32_t i = 0; i < s->count; ++i) {
    if (s->tensor[i].memory.memory && !guarded_download(&s->tensor[i].memory)) return op_fail(s, "download failed");
  }
  return 1;
}

void op_close(op_state *s)
{
  tmaring_kernel_free(s->kernel);
  tmaring_plan_free(s->plan);
  tmaring_formula_free(s->formula);
  if (s->workspace) s->venue->place->give(s->workspace);
  for (int32_t i = 0; i < s->count && i < OP_MAX_TENSORS; ++i) {
    if (s->tensor[i].memory.place) guarded_give(&s->tensor[i].memory);
  }
}

trial_result op_trial_run(const op_trial *t, const venue *v)
{
  op_state s;
  if (op_open(&s, t, v) && op_launch(&s)) {
    if (t->tamper) t->tamper(&s);
    op_judge(&s);
  }
  op_close(&s);
  return s.result;
}

trial_result op_trial_count(tally *sum, const op_trial *t, const venue *v)
{
  const trial_result result = op_trial_run(t, v);
  tally_count(sum, &result);
  return result;
}

#include "trial_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/host/jit/code_store.h"
#include "modes.h"
#include "number.h"

int trial_fail(trial_state *s, const char *format, ...)
{
  char name[256];
  va_list arguments;
  s->result->outcome = TRIAL_FAILED;
  trial_name(s->trial, name, sizeof name);
  const int used = snprintf(s->result->text, sizeof s->result->text, "%s (%s): ", name, s->venue->name);
  va_start(arguments, format);
  vsnprintf(s->result->text + used, sizeof s->result->text - (size_t)used, format, arguments);
  va_end(arguments);
  return 0;
}

int trial_fail_call(trial_state *s, tmaring_status status, const char *call)
{
  s->result->status = status;
  return trial_fail(s, "%s: %s: %s", call, tmaring_status_name(status), tmaring_last_detail());
}

guarded *trial_memory(trial_state *s, int32_t tensor)
{
  guarded *own = &s->tensor[tensor].memory;
  if (own->memory) return own;
  for (int32_t i = 0; i < s->count; ++i) {
    if (!s->tensor[i].is_output && s->tensor[i].index == 0) return &s->tensor[i].memory;
  }
  return own;
}

static int32_t input_index(const recipe *r, const char *name)
{
  for (int32_t i = 0; i < r->input_count; ++i) {
    if (strcmp(r->input[i].name, name) == 0) return i;
  }
  return -1;
}

static uint32_t alignment_of(size_t shift)
{
  if (shift % 16 == 0) return 16;
  return (uint32_t)(shift & (~shift + 1));
}

static void describe(trial_tensor *tensor, const trial *t)
{
  const tmaring_tensor empty = TMARING_TENSOR_INIT;
  const int side = tensor->is_output;
  const int64_t hint = t->hint < 0 ? t->rows : t->hint;
  tensor->described = empty;
  tensor->described.dtype = side ? t->output_dtype : t->dtype;
  tensor->described.rows = tensor->shape == TMARING_SHAPE_ROW ? 1 : hint;
  tensor->described.cols = tensor->shape == TMARING_SHAPE_COLUMN ? 1 : t->cols;
  if (tensor->shape == TMARING_SHAPE_MATRIX) tensor->described.pitch = t->pitch[side];
  tensor->described.alignment = alignment_of(t->shift[side]);
}

/* Fits the formula's parameters to the recipe's. */
static int bind(trial_state *s)
{
  const recipe *r = s->recipe;
  int32_t outputs = 0;
  s->count = tmaring_formula_tensor_count(s->formula);
  if (s->count != r->input_count + r->output_count) return trial_fail(s, "%d tensor parameters", (int)s->count);
  for (int32_t i = 0; i < s->count; ++i) {
    trial_tensor *tensor = &s->tensor[i];
    tmaring_parameter parameter;
    parameter.size = sizeof parameter;
    const tmaring_status status = tmaring_formula_tensor(s->formula, i, &parameter);
    if (status != TMARING_OK) return trial_fail_call(s, status, "tmaring_formula_tensor");
    tensor->is_output = parameter.is_output != 0;
    tensor->shape = parameter.shape;
    tensor->index = tensor->is_output ? outputs++ : input_index(r, parameter.name);
    if (tensor->index < 0 || tensor->index >= RECIPE_MAX_TENSORS) return trial_fail(s, "parameter %s", parameter.name);
    if (tensor->shape != (tensor->is_output ? r->output[tensor->index] : r->input[tensor->index].shape))
      return trial_fail(s, "shape %d of %s", (int)tensor->shape, parameter.name);
    describe(tensor, s->trial);
  }
  return outputs == r->output_count ? 1 : trial_fail(s, "%d outputs", (int)outputs);
}

static int parse(trial_state *s)
{
  const tmaring_status status = tmaring_formula_parse(&s->formula, s->recipe->text);
  return status == TMARING_OK ? bind(s) : trial_fail_call(s, status, "tmaring_formula_parse");
}

static int refuse(trial_state *s, tmaring_status status)
{
  if (tmaring_last_detail()[0] == 0)
    return trial_fail(s, "refused with %s without a reason", tmaring_status_name(status));
  s->result->outcome = TRIAL_REFUSED;
  s->result->status = status;
  snprintf(s->result->text, sizeof s->result->text, "%s", tmaring_last_detail());
  return 0;
}

tmaring_status trial_compile(const tmaring_plan *plan)
{
  tmaring__machine_code code;
  if (!getenv("TMARING_TEST_COMPILE")) return TMARING_OK;
  const tmaring_status status = tmaring__machine_code_of(plan, &code);
  if (status == TMARING_OK) tmaring__machine_code_free(&code);
  return status;
}

static int plan(trial_state *s)
{
  const trial *t = s->trial;
  tmaring_tensor tensor[TRIAL_MAX_TENSORS];
  tmaring_plan_options options = t->options;
  for (int32_t i = 0; i < s->count; ++i) tensor[i] = s->tensor[i].described;
  mode_override_release(&options);
  const tmaring_status status = tmaring_plan_create(&s->plan, s->formula, tensor, s->count,
                                                    t->machine ? t->machine : &s->venue->machine, &options);
  if (status == TMARING_ERROR_UNSUPPORTED || status == TMARING_ERROR_CAPACITY) return refuse(s, status);
  if (status != TMARING_OK) return trial_fail_call(s, status, "tmaring_plan_create");
  s->result->info.size = sizeof s->result->info;
  s->result->report.size = sizeof s->result->report;
  tmaring_plan_describe(s->plan, &s->result->info);
  const tmaring_status args = tmaring_plan_args(s->plan, t->rows, &s->result->args);
  if (args != TMARING_OK) return trial_fail_call(s, args, "tmaring_plan_args");
  const tmaring_status check = tmaring_check(s->plan, t->rows, &s->result->report);
  if (check != TMARING_OK && !t->unchecked) return trial_fail_call(s, check, "tmaring_check");
  const tmaring_status compiled = trial_compile(s->plan);
  return compiled == TMARING_OK ? 1 : trial_fail_call(s, compiled, "compile");
}

static void fill_row(const trial *t, const trial_tensor *tensor, noise *n, unsigned char *to, int64_t row,
                     int64_t count)
{
  const size_t bytes = tmaring_dtype_bytes(tensor->described.dtype);
  const data_kind kind = tensor->index == 0 ? t->data : DATA_PLAIN;
  for (int64_t i = 0; i < count; ++i) {
    number_write(tensor->described.dtype, to + (size_t)i * bytes, data_value(n, kind, row));
  }
}

/* Memory of one tensor, filled and uploaded. */
static int furnish(trial_state *s, trial_tensor *tensor)
{
  const trial *t = s->trial;
  const size_t bytes = tmaring_dtype_bytes(tensor->described.dtype);
  const int matrix = tensor->shape == TMARING_SHAPE_MATRIX;
  const int64_t count = tensor->shape == TMARING_SHAPE_COLUMN ? t->rows : t->cols;
  const int64_t pitch = tensor->described.pitch ? tensor->described.pitch : count;
  const int64_t rows = matrix ? t->rows : count > 0;
  noise n = noise_seed(t->seed * 16 + (uint64_t)tensor->index + 1);
  if (!guarded_take(&tensor->memory, s->venue->place, rows, (size_t)count * bytes, (size_t)pitch * bytes,
                    t->shift[tensor->is_output], t->own_memory ? 0 : GUARD_BAND_BYTES))
    return trial_fail(s, "no memory for %lld rows of %lld", (long long)rows, (long long)count);
  if (!tensor->is_output) {
    for (int64_t r = 0; r < rows; ++r) fill_row(t, tensor, &n, guarded_row(&tensor->memory, r), r, count);
  }
  return guarded_upload(&tensor->memory) ? 1 : trial_fail(s, "upload failed");
}

static int furnish_all(trial_state *s)
{
  for (int32_t i = 0; i < s->count; ++i) {
    trial_tensor *tensor = &s->tensor[i];
    if (s->trial->in_place && tensor->is_output && tensor->index == 0) continue;
    if (!furnish(s, tensor)) return 0;
  }
  return 1;
}

static int prepare(trial_state *s)
{
  const size_t bytes = tmaring_workspace_bytes(s->plan, s->trial->rows);
  const tmaring_status status = tmaring_prepare(&s->kernel, s->plan, s->venue->backend);
  if (status != TMARING_OK) return trial_fail_call(s, status, "tmaring_prepare");
  if (bytes == 0) return 1;
  s->workspace = s->venue->place->take(bytes);
  if (!s->workspace) return trial_fail(s, "no memory for the workspace");
  const tmaring_status init = tmaring_workspace_init(s->kernel, s->workspace, s->venue->stream);
  return init == TMARING_OK ? 1 : trial_fail_call(s, init, "tmaring_workspace_init");
}

static int launch(trial_state *s)
{
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  void *data[TRIAL_MAX_TENSORS];
  for (int32_t i = 0; i < s->count; ++i) data[i] = trial_memory(s, i)->data;
  params.rows = s->trial->rows;
  params.data = data;
  params.workspace = s->workspace;
  const tmaring_status status = tmaring_launch(s->kernel, &params, s->venue->stream);
  if (status != TMARING_OK) return trial_fail_call(s, status, "tmaring_launch");
  if (!venue_settle(s->venue)) return trial_fail(s, "the kernel ended with an error");
  for (int32_t i = 0; i < s->count; ++i) {
    if (s->tensor[i].memory.memory && !guarded_download(&s->tensor[i].memory)) return trial_fail(s, "download failed");
  }
  return 1;
}

static void clear(trial_state *s)
{
  tmaring_kernel_free(s->kernel);
  tmaring_plan_free(s->plan);
  tmaring_formula_free(s->formula);
  if (s->workspace) s->venue->place->give(s->workspace);
  for (int32_t i = 0; i < s->count; ++i) {
    if (s->tensor[i].memory.place) guarded_give(&s->tensor[i].memory);
  }
}

trial_result trial_run(const trial *t, const venue *v)
{
  trial_result result;
  trial_state s;
  memset(&result, 0, sizeof result);
  memset(&s, 0, sizeof s);
  result.outcome = TRIAL_PASSED;
  s.trial = t;
  s.venue = v;
  s.result = &result;
  s.recipe = recipe_find(t->formula);
  if (parse(&s) && plan(&s) && furnish_all(&s) && prepare(&s) && launch(&s)) trial_judge(&s);
  clear(&s);
  return result;
}

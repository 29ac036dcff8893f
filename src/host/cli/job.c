#include "job.h"

#include <stdio.h>
#include <string.h>

static int load_parameters(tmaring__job *job)
{
  job->count = tmaring_formula_tensor_count(job->formula);
  for (int32_t i = 0; i < job->count; ++i) {
    job->parameter[i].size = sizeof job->parameter[i];
    const tmaring_status status = tmaring_formula_tensor(job->formula, i, &job->parameter[i]);
    if (status != TMARING_OK) return tmaring__complain(status, "formula");
  }
  return 0;
}

static const tmaring__named_value *find_value(const tmaring__request *request, const char *name)
{
  for (int32_t i = 0; i < request->scalar_count; ++i)
    if (strcmp(request->scalar[i].name, name) == 0) return &request->scalar[i];
  return NULL;
}

static int load_scalar(tmaring__job *job, int32_t index, int32_t *used)
{
  tmaring_parameter parameter = {sizeof parameter, NULL, TMARING_SHAPE_SCALAR, 0, 0, 0, 0};
  const tmaring_status status = tmaring_formula_scalar(job->formula, index, &parameter);
  if (status != TMARING_OK) return tmaring__complain(status, "formula");
  const tmaring__named_value *const given = find_value(job->request, parameter.name);
  *used += given != NULL;
  if (!given && !parameter.has_default)
    return tmaring__misuse(job->request->command,
                           "--scalar: got no value for '%s', which has no default; add --scalar %s=VALUE",
                           parameter.name, parameter.name);
  job->scalar[index] = given ? given->value : parameter.default_value;
  return 0;
}

/* Reports the first --scalar that names no scalar of the formula. */
static int refuse_scalar(const tmaring__job *job)
{
  for (int32_t i = 0; i < job->request->scalar_count; ++i) {
    tmaring_parameter parameter = {sizeof parameter, NULL, TMARING_SHAPE_SCALAR, 0, 0, 0, 0};
    int found = 0;
    for (int32_t k = 0; k < job->scalar_count && !found; ++k)
      found = tmaring_formula_scalar(job->formula, k, &parameter) == TMARING_OK &&
              strcmp(parameter.name, job->request->scalar[i].name) == 0;
    if (!found)
      return tmaring__misuse(job->request->command, "--scalar: got '%s', needs a scalar parameter of the formula",
                             job->request->scalar[i].name);
  }
  return 0;
}

static int load_scalars(tmaring__job *job)
{
  int32_t used = 0;
  job->scalar_count = tmaring_formula_scalar_count(job->formula);
  for (int32_t i = 0; i < job->scalar_count; ++i) {
    const int code = load_scalar(job, i, &used);
    if (code) return code;
  }
  return used == job->request->scalar_count ? 0 : refuse_scalar(job);
}

int tmaring__job_begin(tmaring__job *job, const tmaring__request *request)
{
  memset(job, 0, sizeof *job);
  job->request = request;
  const tmaring_status status = tmaring_formula_parse(&job->formula, request->formula);
  if (status != TMARING_OK) return tmaring__complain(status, NULL);
  const int code = load_parameters(job);
  if (code) return code;
  return request->bit & (TMARING__FOR_RUN | TMARING__FOR_BENCH) ? load_scalars(job) : 0;
}

void tmaring__job_end(tmaring__job *job)
{
  tmaring_plan_free(job->plan);
  tmaring_formula_free(job->formula);
}

int32_t tmaring__job_find(const tmaring__job *job, const char *option, const char *name, int32_t kind)
{
  char names[256] = "";
  const int32_t index = tmaring_formula_find(job->formula, name);
  if (index >= 0 && (kind < 0 || job->parameter[index].is_output == kind)) return index;
  for (int32_t i = 0; i < job->count; ++i) {
    const size_t used = strlen(names);
    if (kind >= 0 && job->parameter[i].is_output != kind) continue;
    snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", job->parameter[i].name);
  }
  tmaring__misuse(job->request->command, "%s: got '%s', needs %s of the formula: %s", option, name,
                  kind < 0 ? "a tensor"
                  : kind   ? "an output"
                           : "an input",
                  names);
  return -1;
}

void tmaring__job_set_extent(tmaring__job *job, int32_t index)
{
  const tmaring_parameter *const parameter = &job->parameter[index];
  tmaring_tensor *const tensor = &job->tensor[index];
  tensor->rows = parameter->shape == TMARING_SHAPE_ROW ? 1 : job->rows;
  switch (parameter->shape) {
  case TMARING_SHAPE_COLUMN: tensor->cols = 1; break;
  case TMARING_SHAPE_DOUBLE: tensor->cols = 2 * job->cols; break;
  case TMARING_SHAPE_GROUP: tensor->cols = tmaring_ceil_div(job->cols, parameter->group_cols); break;
  default: tensor->cols = job->cols;
  }
}

static int describe_named(tmaring__job *job, const tmaring__binding *binding)
{
  const int32_t index = tmaring__job_find(job, "--tensor", binding->name, -1);
  if (index < 0) return TMARING__EXIT_USAGE;
  tmaring_tensor *const tensor = &job->tensor[index];
  if (binding->type >= 0) tensor->dtype = (tmaring_dtype)binding->type;
  if (binding->type >= 0) job->typed[index] = 1;
  tensor->pitch = binding->pitch;
  tensor->step = binding->step;
  tensor->group_rows = binding->group_rows;
  tensor->group_pitch = binding->group_pitch;
  tensor->alignment = binding->alignment;
  return 0;
}

int tmaring__job_describe(tmaring__job *job)
{
  const tmaring__request *const request = job->request;
  job->rows = request->rows;
  job->cols = request->cols;
  for (int32_t i = 0; i < job->count; ++i) {
    const tmaring_tensor blank = TMARING_TENSOR_INIT;
    job->tensor[i] = blank;
    tmaring__job_set_extent(job, i);
  }
  for (int32_t i = 0; i < request->tensor_count; ++i) {
    const int code = describe_named(job, &request->tensor[i]);
    if (code) return code;
  }
  tmaring__job_complete_types(job);
  return 0;
}

/* Enters --load NAME=PATH; both halves of an [M,2N] input take it. */
static int name_load(const tmaring__job *job, const tmaring__named_path *load, tmaring_plan_options *options)
{
  const int32_t index = tmaring__job_find(job, "--load", load->name, 0);
  if (index < 0) return TMARING__EXIT_USAGE;
  const tmaring__slot slot = tmaring__formula_slot(job->formula, index);
  if (slot.kind != TMARING__SLOT_INPUT)
    return tmaring__misuse(job->request->command, "--load: got '%s', needs an [M,N] input: others are not streamed",
                           load->name);
  options->loads[slot.index] = load->path;
  if (slot.second >= 0) options->loads[slot.second] = load->path;
  return 0;
}

int tmaring__job_plan(tmaring__job *job)
{
  tmaring_plan_options options = job->request->plan;
  for (int32_t i = 0; i < job->request->load_count; ++i) {
    const int code = name_load(job, &job->request->load[i], &options);
    if (code) return code;
  }
  if (job->request->sm_count) job->machine.sm_count = job->request->sm_count;
  const tmaring_status status =
      tmaring_plan_create(&job->plan, job->formula, job->tensor, job->count, &job->machine, &options);
  return status == TMARING_OK ? 0 : tmaring__complain(status, "plan");
}

int tmaring__job_make_plan(tmaring__job *job, const tmaring__request *request)
{
  int code = tmaring__job_begin(job, request);
  if (code) return code;
  tmaring_machine_h200(&job->machine);
  if (request->machine == TMARING__MACHINE_DEVICE) {
    const tmaring_status status = tmaring_machine_query(&job->machine, 0);
    if (status != TMARING_OK) return tmaring__complain(status, "--machine device");
  }
  code = tmaring__job_describe(job);
  return code ? code : tmaring__job_plan(job);
}

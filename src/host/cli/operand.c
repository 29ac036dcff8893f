#define _POSIX_C_SOURCE 200809L
#include "operand.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Fails with "--in x: file: got ..., needs ...". */
static int misfit(const tmaring__operands *operands, const tmaring__job *job, int32_t index, const char *needs)
{
  const tmaring__npy *const a = &operands->array[index];
  char shape[64];
  if (a->dims == 1)
    snprintf(shape, sizeof shape, "(%lld,)", (long long)a->shape[0]);
  else
    snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)a->shape[0], (long long)a->shape[1]);
  const tmaring_status status = tmaring__fail(TMARING_ERROR_SHAPE, "%s: %s: shape: got %s, needs %s",
                                              job->parameter[index].name, operands->path[index], shape, needs);
  return tmaring__complain(status, "--in");
}

/* A matrix is a file of two dimensions, [N] and [M] are files of one; nothing is reshaped by guess. */
static int check_dims(const tmaring__operands *operands, const tmaring__job *job, int32_t index)
{
  const int wanted = job->parameter[index].shape == TMARING_SHAPE_MATRIX ? 2 : 1;
  if (operands->array[index].dims == wanted) return 0;
  if (wanted == 2)
    return misfit(operands, job, index, "two dimensions for [M,N]; save a.reshape(1, -1), or declare it [N]");
  return misfit(operands, job, index, "one dimension for [N] or [M]; save a.ravel(), or declare it [M,N]");
}

/* M and N come from the first input that has them; every later one must agree. */
static int match_extent(const tmaring__operands *operands, const tmaring__job *job, int32_t index, int64_t found,
                        int64_t *extent, const char *letter)
{
  char needs[96];
  if (*extent < 0) *extent = found;
  if (*extent == found) return 0;
  snprintf(needs, sizeof needs, "%s = %lld as in the inputs before it; use files of one size", letter,
           (long long)*extent);
  return misfit(operands, job, index, needs);
}

static int match_shape(const tmaring__operands *operands, tmaring__job *job, int32_t index)
{
  const tmaring__npy *const a = &operands->array[index];
  const tmaring_shape shape = job->parameter[index].shape;
  int code = check_dims(operands, job, index);
  if (!code && shape != TMARING_SHAPE_ROW) code = match_extent(operands, job, index, a->shape[0], &job->rows, "M");
  if (!code && shape == TMARING_SHAPE_ROW) code = match_extent(operands, job, index, a->shape[0], &job->cols, "N");
  if (!code && shape == TMARING_SHAPE_MATRIX) code = match_extent(operands, job, index, a->shape[1], &job->cols, "N");
  return code;
}

static int bind_file(tmaring__operands *operands, const tmaring__job *job, const tmaring__binding *binding,
                     int is_output)
{
  const int32_t index = tmaring__job_find(job, is_output ? "--out" : "--in", binding->name, is_output);
  if (index < 0) return TMARING__EXIT_USAGE;
  operands->path[index] = binding->path;
  operands->type[index] = binding->type;
  return 0;
}

static int check_bound(const tmaring__operands *operands, const tmaring__job *job)
{
  for (int32_t i = 0; i < job->count; ++i) {
    const char *const name = job->parameter[i].name;
    if (operands->path[i]) continue;
    if (job->parameter[i].is_output)
      return tmaring__misuse(job->request->command,
                             "--out: got no file for '%s', needs one; add --out %s=FILE (/dev/null drops it)", name,
                             name);
    return tmaring__misuse(job->request->command, "--in: got no file for '%s', needs one; add --in %s=FILE", name,
                           name);
  }
  return 0;
}

/* A device such as /dev/null takes any number of outputs. */
static int is_device(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* The last of two outputs in one file would be all that is left of them. */
static int check_apart(const tmaring__operands *operands, const tmaring__job *job)
{
  for (int32_t i = 0; i < job->count; ++i) {
    if (!job->parameter[i].is_output || is_device(operands->path[i])) continue;
    for (int32_t k = i + 1; k < job->count; ++k) {
      if (!job->parameter[k].is_output || strcmp(operands->path[i], operands->path[k]) != 0) continue;
      return tmaring__misuse(job->request->command, "--out: got '%s' for '%s' and '%s', needs a file for each",
                             operands->path[i], job->parameter[i].name, job->parameter[k].name);
    }
  }
  return 0;
}

static int bind_files(tmaring__operands *operands, const tmaring__job *job)
{
  const tmaring__request *const request = job->request;
  int code = 0;
  for (int32_t i = 0; i < request->in_count && !code; ++i) code = bind_file(operands, job, &request->in[i], 0);
  for (int32_t i = 0; i < request->out_count && !code; ++i) code = bind_file(operands, job, &request->out[i], 1);
  if (!code) code = check_bound(operands, job);
  return code ? code : check_apart(operands, job);
}

static int read_inputs(tmaring__operands *operands, const tmaring__job *job)
{
  for (int32_t i = 0; i < job->count; ++i) {
    if (job->parameter[i].is_output) continue;
    const tmaring_status status = tmaring__npy_read(&operands->array[i], operands->path[i], operands->type[i]);
    if (status != TMARING_OK) return tmaring__complain(status, "--in");
  }
  return 0;
}

static int size_from_inputs(const tmaring__operands *operands, tmaring__job *job)
{
  job->rows = job->cols = -1;
  for (int32_t i = 0; i < job->count; ++i) {
    if (job->parameter[i].is_output) continue;
    const int code = match_shape(operands, job, i);
    if (code) return code;
  }
  if (job->rows >= 0 && job->cols >= 0) return 0;
  return tmaring__complain(
      tmaring__fail(TMARING_ERROR_SHAPE, "formula: got no input that tells M and N, needs an [M,N] input; declare one"),
      NULL);
}

/* Type of an output that no :TYPE names: the first [M,N] input's; f32 for [M]. */
static tmaring_dtype default_type(const tmaring__operands *operands, const tmaring__job *job, int32_t index)
{
  if (tmaring__job_is_row_output(job, index)) return TMARING_F32;
  for (int32_t i = 0; i < job->count; ++i)
    if (!job->parameter[i].is_output && job->parameter[i].shape == TMARING_SHAPE_MATRIX)
      return operands->array[i].dtype;
  return TMARING_F32;
}

static int make_output(tmaring__operands *operands, tmaring__job *job, int32_t index)
{
  tmaring__npy *const a = &operands->array[index];
  const int matrix = job->parameter[index].shape == TMARING_SHAPE_MATRIX;
  a->dtype = operands->type[index] < 0 ? default_type(operands, job, index) : (tmaring_dtype)operands->type[index];
  a->dims = matrix ? 2 : 1;
  a->shape[0] = job->rows;
  a->shape[1] = matrix ? job->cols : 1;
  const tmaring_status status = tmaring__npy_allocate(a);
  if (status != TMARING_OK) return tmaring__complain(status, "--out");
  memset(a->data, 0xff, a->bytes);
  return 0;
}

static void describe(const tmaring__operands *operands, tmaring__job *job, int32_t index)
{
  const tmaring_tensor blank = TMARING_TENSOR_INIT;
  job->tensor[index] = blank;
  job->tensor[index].dtype = operands->array[index].dtype;
  tmaring__job_set_extent(job, index);
}

int tmaring__operands_load(tmaring__operands *operands, tmaring__job *job)
{
  memset(operands, 0, sizeof *operands);
  int code = bind_files(operands, job);
  if (!code) code = read_inputs(operands, job);
  if (!code) code = size_from_inputs(operands, job);
  for (int32_t i = 0; i < job->count && !code; ++i) {
    if (job->parameter[i].is_output) code = make_output(operands, job, i);
    describe(operands, job, i);
  }
  return code;
}

int tmaring__operands_store(const tmaring__operands *operands, const tmaring__job *job)
{
  for (int32_t i = 0; i < job->count; ++i) {
    if (!job->parameter[i].is_output) continue;
    const tmaring_status status = tmaring__npy_write(&operands->array[i], operands->path[i]);
    if (status != TMARING_OK) return tmaring__complain(status, "--out");
  }
  return 0;
}

void tmaring__operands_free(tmaring__operands *operands)
{
  for (int32_t i = 0; i < TMARING__MAX_TENSORS; ++i) tmaring__npy_free(&operands->array[i]);
}

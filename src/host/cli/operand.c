#include "operand.h"

#include <stdio.h>
#include <string.h>

#include "npy.h"

int tmaring__operands_is_one_value(const tmaring__operands *operands, const tmaring__job *job, int32_t index)
{
  const tmaring__array *const a = &operands->array[index];
  return !job->parameter[index].is_output && job->parameter[index].shape == TMARING_SHAPE_COLUMN && a->dims <= 1 &&
         tmaring__array_count(a) == 1 && job->rows != 1;
}

/* A matrix has two dimensions, [N] and [M] have one. */
static int make_output(tmaring__operands *operands, const tmaring__job *job, int32_t index)
{
  tmaring__array *const a = &operands->array[index];
  const tmaring_tensor *const tensor = &job->tensor[index];
  const tmaring_shape shape = job->parameter[index].shape;
  a->dtype = tensor->dtype;
  a->dims = shape == TMARING_SHAPE_ROW || shape == TMARING_SHAPE_COLUMN ? 1 : 2;
  a->shape[0] = shape == TMARING_SHAPE_ROW ? tensor->cols : tensor->rows;
  a->shape[1] = tensor->cols;
  const tmaring_status status = tmaring__array_allocate(a);
  if (status != TMARING_OK) return tmaring__complain(status, "--out");
  memset(a->data, 0xff, a->bytes);
  return 0;
}

static void take_types(const tmaring__operands *operands, tmaring__job *job)
{
  for (int32_t i = 0; i < job->count; ++i) {
    const int32_t declared = operands->file[i]->type;
    const tmaring_tensor blank = TMARING_TENSOR_INIT;
    job->tensor[i] = blank;
    job->typed[i] = !job->parameter[i].is_output || declared >= 0;
    if (!job->typed[i]) continue;
    job->tensor[i].dtype = job->parameter[i].is_output ? (tmaring_dtype)declared : operands->array[i].dtype;
  }
  tmaring__job_complete_types(job);
}

int tmaring__operands_load(tmaring__operands *operands, tmaring__job *job)
{
  memset(operands, 0, sizeof *operands);
  int code = tmaring__operands_open(operands, job);
  if (!code) code = tmaring__operands_size(operands, job);
  if (code) return code;
  take_types(operands, job);
  for (int32_t i = 0; i < job->count && !code; ++i) {
    tmaring__job_set_extent(job, i);
    if (job->parameter[i].is_output) code = make_output(operands, job, i);
  }
  return code;
}

/* Largest power of two, up to 16, that the address is a multiple of; 16 also where elements themselves lie askew, for
 * then they are copied. */
static uint32_t alignment_of(const tmaring__array *array)
{
  const uintptr_t address = (uintptr_t)array->data;
  const uint32_t lowest = (uint32_t)((address | 16) & (0 - (address | 16)));
  return lowest < tmaring_dtype_bytes((tmaring_i32)array->dtype) ? 16 : lowest;
}

void tmaring__operands_describe(const tmaring__operands *operands, tmaring__job *job, int32_t backend)
{
  for (int32_t i = 0; i < job->count; ++i) {
    tmaring_tensor *const tensor = &job->tensor[i];
    tensor->alignment = backend == TMARING_BACKEND_CPU ? alignment_of(&operands->array[i]) : 16;
    if (tmaring__operands_is_one_value(operands, job, i)) tensor->pitch = TMARING_ONE_VALUE;
  }
}

int tmaring__operands_align(tmaring__operands *operands, const tmaring__job *job)
{
  for (int32_t i = 0; i < job->count; ++i) {
    tmaring__array *const array = &operands->array[i];
    const size_t past = (uintptr_t)array->data % job->tensor[i].alignment;
    if (past == 0) continue;
    const size_t offset = (size_t)((const unsigned char *)array->data - array->file.data);
    const tmaring_status status = tmaring__array_detach(array);
    if (status != TMARING_OK) return tmaring__complain(status, "--in");
    fprintf(stderr, "tmaring: --in %s: copied to memory: its data begin at byte %zu of '%s', no multiple of %u\n",
            job->parameter[i].name, offset, operands->file[i]->path, job->tensor[i].alignment);
  }
  return 0;
}

int tmaring__operands_store(const tmaring__operands *operands, const tmaring__job *job)
{
  for (int32_t i = 0; i < job->count; ++i) {
    if (!job->parameter[i].is_output) continue;
    const tmaring_status status = tmaring__npy_write(&operands->array[i], operands->file[i]->path);
    if (status != TMARING_OK) return tmaring__complain(status, "--out");
  }
  return 0;
}

void tmaring__operands_free(tmaring__operands *operands)
{
  for (int32_t i = 0; i < TMARING__MAX_TENSORS; ++i) tmaring__array_free(&operands->array[i]);
}

/* Which file is which tensor's, and the opening of the inputs. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/stat.h>

#include "npy.h"
#include "operand.h"
#include "safetensors.h"

static int bind_file(tmaring__operands *operands, const tmaring__job *job, const tmaring__binding *binding,
                     int is_output)
{
  const int32_t index = tmaring__job_find(job, is_output ? "--out" : "--in", binding->name, is_output);
  if (index < 0) return TMARING__EXIT_USAGE;
  operands->file[index] = binding;
  return 0;
}

static int check_bound(const tmaring__operands *operands, const tmaring__job *job)
{
  for (int32_t i = 0; i < job->count; ++i) {
    const char *const name = job->parameter[i].name;
    if (operands->file[i]) continue;
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
    const char *const path = operands->file[i]->path;
    if (!job->parameter[i].is_output || is_device(path)) continue;
    for (int32_t k = i + 1; k < job->count; ++k) {
      if (!job->parameter[k].is_output || strcmp(path, operands->file[k]->path) != 0) continue;
      return tmaring__misuse(job->request->command, "--out: got '%s' for '%s' and '%s', needs a file for each", path,
                             job->parameter[i].name, job->parameter[k].name);
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

static int is_same_file(const char *a, const char *b)
{
  struct stat of_a, of_b;
  return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* 1 where an output goes over this file: a mapping would lose its ground when the output is opened. */
static int is_written_over(const tmaring__operands *operands, const tmaring__job *job, const char *path)
{
  for (int32_t i = 0; i < job->count; ++i)
    if (job->parameter[i].is_output && is_same_file(operands->file[i]->path, path)) return 1;
  return 0;
}

static tmaring_status open_input(tmaring__operands *operands, const tmaring__job *job, int32_t index)
{
  const tmaring__binding *const file = operands->file[index];
  tmaring__array *const array = &operands->array[index];
  if (file->is_safetensors)
    TMARING__TRY(tmaring__safetensors_open(array, file->path, file->tensor));
  else
    TMARING__TRY(tmaring__npy_open(array, file->path, file->type));
  if (!array->file.mapped || !is_written_over(operands, job, file->path)) return TMARING_OK;
  return tmaring__array_detach(array);
}

int tmaring__operands_open(tmaring__operands *operands, const tmaring__job *job)
{
  int code = bind_files(operands, job);
  for (int32_t i = 0; i < job->count && !code; ++i) {
    if (job->parameter[i].is_output) continue;
    const tmaring_status status = open_input(operands, job, i);
    if (status != TMARING_OK) code = tmaring__complain(status, "--in");
  }
  return code;
}

/* Types that nobody has said. */
#include <string.h>

#include "job.h"
#include "tmaring/ops.h"

static int is_matrix(const tmaring__job *job, int32_t index)
{
  return job->parameter[index].shape == TMARING_SHAPE_MATRIX || job->parameter[index].shape == TMARING_SHAPE_DOUBLE;
}

static void set_type(tmaring__job *job, int32_t index, tmaring_dtype dtype)
{
  if (job->typed[index]) return;
  job->tensor[index].dtype = dtype;
  job->typed[index] = 1;
}

/* Those that an op of the catalogue fixes: codes, scales and labels. */
static void take_usual_types(tmaring__job *job)
{
  tmaring_op_info info;
  memset(&info, 0, sizeof info);
  info.size = sizeof info;
  if (job->request->op < 0 || tmaring_op_describe(job->request->op, &info) != TMARING_OK) return;
  for (int32_t i = 0; i < info.tensor_count; ++i) {
    const int32_t index = tmaring_formula_find(job->formula, info.tensor[i].name);
    if (index >= 0 && info.dtype[i] != TMARING_OP_ANY_TYPE) set_type(job, index, (tmaring_dtype)info.dtype[i]);
  }
}

static tmaring_dtype first_matrix_type(const tmaring__job *job)
{
  for (int32_t i = 0; i < job->count; ++i)
    if (!job->parameter[i].is_output && job->parameter[i].shape == TMARING_SHAPE_MATRIX) return job->tensor[i].dtype;
  for (int32_t i = 0; i < job->count; ++i)
    if (!job->parameter[i].is_output && job->parameter[i].shape == TMARING_SHAPE_DOUBLE) return job->tensor[i].dtype;
  return (tmaring_dtype)job->request->type;
}

/* 1 where arithmetic is in double. */
static int is_wide(const tmaring__job *job)
{
  for (int32_t i = 0; i < job->count; ++i) {
    if (job->typed[i] && job->tensor[i].dtype == TMARING_F64) return 1;
    if (job->typed[i] && job->tensor[i].dtype == TMARING_I32 && is_matrix(job, i)) return 1;
  }
  return 0;
}

void tmaring__job_complete_types(tmaring__job *job)
{
  take_usual_types(job);
  for (int32_t i = 0; i < job->count; ++i)
    if (!job->parameter[i].is_output) set_type(job, i, (tmaring_dtype)job->request->type);
  const tmaring_dtype matrix = first_matrix_type(job);
  for (int32_t i = 0; i < job->count; ++i)
    if (is_matrix(job, i)) set_type(job, i, matrix);
  const tmaring_dtype other = is_wide(job) ? TMARING_F64 : TMARING_F32;
  for (int32_t i = 0; i < job->count; ++i) set_type(job, i, other);
}

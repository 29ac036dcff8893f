/* What a command works on: the parsed formula, its tensors and scalars, the machine and the plan. */
#ifndef TMARING_HOST_JOB_H
#define TMARING_HOST_JOB_H

#include "request.h"

typedef struct tmaring__job {
  const tmaring__request *request;
  tmaring_formula *formula;
  tmaring_machine machine;
  tmaring_plan *plan;
  int64_t rows, cols;
  int32_t count; /* tensors */
  tmaring_parameter parameter[TMARING__MAX_TENSORS];
  tmaring_tensor tensor[TMARING__MAX_TENSORS];
  int32_t typed[TMARING__MAX_TENSORS]; /* 1: the tensor's type is known */
  int32_t scalar_count;
  double scalar[TMARING_MAX_SCALARS];
} tmaring__job;

/* Each returns 0, or an exit code after a message. tmaring__job_end in either case. */

/* Parses the request's formula, and takes scalars from it where the command launches. */
int tmaring__job_begin(tmaring__job *job, const tmaring__request *request);
void tmaring__job_end(tmaring__job *job);

/* Describes the tensors from --shape, --type and --tensor. */
int tmaring__job_describe(tmaring__job *job);
/* Begins, describes and plans for the machine that the request names. */
int tmaring__job_make_plan(tmaring__job *job, const tmaring__request *request);
/* Makes the plan for job->machine. */
int tmaring__job_plan(tmaring__job *job);

/* Fills a tensor's rows and cols from its parameter's shape, and M and N of the job. */
void tmaring__job_set_extent(tmaring__job *job, int32_t index);
/* Gives types to the tensors that have none yet. An op of the catalogue says the usual ones; [M,N] outputs take the
 * first [M,N] (or [M,2N]) input's; other outputs are f32, and f64 where the formula runs in double. */
void tmaring__job_complete_types(tmaring__job *job);
/* Index of the tensor that a binding names, or -1 after a message; `kind` is -1 for any, 0 for inputs, 1 for outputs.
 */
int32_t tmaring__job_find(const tmaring__job *job, const char *option, const char *name, int32_t kind);

#endif

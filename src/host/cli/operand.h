/* The tensors of a run as arrays in files and in host memory. */
#ifndef TMARING_HOST_OPERAND_H
#define TMARING_HOST_OPERAND_H

#include "array.h"
#include "job.h"

typedef struct tmaring__operands {
  tmaring__array array[TMARING__MAX_TENSORS];         /* by tensor parameter */
  const tmaring__binding *file[TMARING__MAX_TENSORS]; /* the request's */
} tmaring__operands;

/* Each returns 0, or an exit code after a message. tmaring__operands_free in either case. */

/* Opens the inputs, takes M and N from them, and makes room for the outputs, filled with bytes 0xff (NaN) so that an
 * element that nothing writes is seen. Then the types of all tensors are known. */
int tmaring__operands_load(tmaring__operands *operands, tmaring__job *job);
/* Describes all tensors in the job for a backend: the cpu backend works on the files' own memory, wherever its
 * elements lie, cuda on aligned copies. */
void tmaring__operands_describe(const tmaring__operands *operands, tmaring__job *job, int32_t backend);
/* For a launch on the host: copies the inputs that are less aligned than the plan needs, and says so. */
int tmaring__operands_align(tmaring__operands *operands, const tmaring__job *job);
int tmaring__operands_store(const tmaring__operands *operands, const tmaring__job *job);
void tmaring__operands_free(tmaring__operands *operands);

/* 1 for an [M] input of one value that all rows share. */
int tmaring__operands_is_one_value(const tmaring__operands *operands, const tmaring__job *job, int32_t index);

/* Steps of load. Binds the request's files to tensors and opens the inputs. */
int tmaring__operands_open(tmaring__operands *operands, const tmaring__job *job);
/* Takes M and N of the job from the inputs, or from --shape, and checks every input against them. */
int tmaring__operands_size(const tmaring__operands *operands, tmaring__job *job);

#endif

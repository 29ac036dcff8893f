/* The tensors of a run as arrays in files and in host memory. */
#ifndef TMARING_HOST_OPERAND_H
#define TMARING_HOST_OPERAND_H

#include "job.h"
#include "npy.h"

typedef struct tmaring__operands {
  tmaring__npy array[TMARING__MAX_TENSORS]; /* by tensor parameter */
  const char *path[TMARING__MAX_TENSORS];   /* the request's */
  int32_t type[TMARING__MAX_TENSORS];       /* as declared on the command line, or -1 */
} tmaring__operands;

/* Each returns 0, or an exit code after a message. tmaring__operands_free in either case. */

/* Reads the inputs, takes M and N from them, describes all tensors in the job, and makes room for the outputs, filled
 * with bytes 0xff (NaN) so that an element that nothing writes is seen. */
int tmaring__operands_load(tmaring__operands *operands, tmaring__job *job);
int tmaring__operands_store(const tmaring__operands *operands, const tmaring__job *job);
void tmaring__operands_free(tmaring__operands *operands);

#endif

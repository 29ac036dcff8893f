/* Checks what a caller says about tensors and machines, before anything is planned. */
#ifndef TMARING_HOST_TENSOR_CHECK_H
#define TMARING_HOST_TENSOR_CHECK_H

#include "tmaring/formula.h"
#include "tmaring/machine.h"
#include "tmaring/tensor.h"

/* What the tensors seen so far agree on. Starts as {0}. */
typedef struct tmaring__extent {
  int64_t cols;           /* N; 0: no tensor has told it yet */
  int64_t rows;           /* hinted M; 0: no tensor has told it yet */
  const char *cols_owner; /* parameters that told them, for messages */
  const char *rows_owner;
} tmaring__extent;

/* Largest pitch in bytes. Keeps (rows - 1) * pitch far from 64-bit overflow for any row count that memory can hold. */
#define TMARING__MAX_PITCH_BYTES ((int64_t)1 << 40)

/* Most rows of a group of rows (tmaring_stream.group_rows). */
#define TMARING__MAX_GROUP_ROWS ((int64_t)1 << 30)

/* Largest distance between the first and the last value of a row of an [M,N/k] tensor. */
#define TMARING__MAX_ROW_BYTES ((int64_t)1 << 60)

/* Most rows of a tensor, and of a launch: beyond any memory, and far enough from overflow for tile arithmetic. */
#define TMARING__MAX_ROWS ((int64_t)1 << 48)

/* Checks one tensor against its parameter and against the extent of those before it, and fills in what the caller
 * left at 0 (pitch, step, alignment). Matrices come first: others are checked against the N they agree on; an
 * [M,N/k] tensor needs it known. Errors: ARGUMENT, TYPE, SHAPE, ALIGNMENT, each naming the parameter, what it got,
 * what it needs, and a remedy. */
tmaring_status tmaring__tensor_check(const tmaring_parameter *parameter, tmaring_tensor *tensor,
                                     tmaring__extent *extent);

/* Refuses a machine with limits that no plan can be made for. */
tmaring_status tmaring__machine_check(const tmaring_machine *machine);

#endif

/* The inside of a far case: what planning, launching and judging share. */
#ifndef TMARING_TESTS_FAR_STATE_H
#define TMARING_TESTS_FAR_STATE_H

#include "far_case.h"
#include "tmaring/launch.h"

#define FAR_MAX_TENSORS 4
#define FAR_RANDOM_ROWS 1000
#define FAR_MAX_ROWS    (FAR_RANDOM_ROWS + 64)
#define FAR_MAX_COLS    16384
#define FAR_GROUP_COLS  128

/* What a tensor is to a case. */
typedef enum far_part { FAR_X, FAR_W, FAR_Y, FAR_VALUES, FAR_SUMS } far_part;

typedef struct far_state {
  const far_case *c;
  const venue *v;
  tmaring_formula *formula;
  tmaring_plan *plan;
  tmaring_kernel *kernel;
  int32_t count;
  far_part part[FAR_MAX_TENSORS];
  tmaring_tensor tensor[FAR_MAX_TENSORS];
  far_memory memory[FAR_MAX_TENSORS];
  far_memory workspace;
  size_t bytes;
  int64_t row[FAR_MAX_ROWS]; /* that are judged */
  int32_t rows;
  double x[FAR_MAX_COLS];
  unsigned char line[FAR_MAX_COLS * 2];
  char *text;
  size_t size;
} far_state;

/* Writes why the case fails; 0. */
int far_fail(far_state *s, const char *format, ...);
/* Judges a launch that has ended. 1, or 0 and why. */
int far_judge(far_state *s);

#endif

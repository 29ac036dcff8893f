/* One launch over tensors that pass 2^31, judged in places: the rows around every 2^30, 2^31 and 2^32 elements and bytes, the first
 * and the last, and a thousand others. */
#ifndef TMARING_TESTS_FAR_CASE_H
#define TMARING_TESTS_FAR_CASE_H

#include "far_memory.h"
#include "tmaring/plan.h"

/* What is computed of x[M,N], i8 or bf16. */
typedef enum far_work {
  FAR_COPY,
  FAR_DOUBLE,         /* x + x */
  FAR_ROW_SUM,        /* f32 [M] */
  FAR_SOFTMAX,        /* bf16 */
  FAR_RMSNORM,        /* bf16, times w[N] */
  FAR_COL_SUM,        /* f32 [N] */
  FAR_QUANTIZE,       /* e4m3, and f32 scales [M] */
  FAR_QUANTIZE_GROUPS /* the same per 128 columns, scales [M,N/128] */
} far_work;

typedef struct far_case {
  const char *name;
  far_work work;
  tmaring_dtype dtype; /* of x */
  int64_t rows, cols;
  int64_t pitch;                   /* of matrices, elements; 0: dense */
  int64_t group_rows, group_pitch; /* of matrices */
  int64_t value_pitch, value_step; /* of scales and sums per row */
} far_case;

typedef enum far_outcome { FAR_PASSED, FAR_REFUSED, FAR_NO_ROOM, FAR_FAILED } far_outcome;

/* Runs a case with a load path, and prints a line. Refused: the planner does not serve that path here. No room: the device
 * has less free memory than is needed. text: why. */
far_outcome far_run(const far_case *c, const venue *v, int32_t load, char *text, size_t size);

/* Plans a case, proves the plan, and compiles its kernels where TMARING_TEST_COMPILE is in the environment. Needs no memory and no
 * GPU. NULL, or what failed (static until the next call). */
const char *far_plan(const far_case *c, int32_t load);

#endif

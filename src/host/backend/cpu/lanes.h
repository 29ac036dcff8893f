/* Lanes: the arithmetic of a worker's warps, in fp32 and in the order that abi/scope.h lays down for the kernel.
 *
 * A warp handles one step at a time: 32 lanes times `vec` elements, cut into one segment per row that it handles at
 * once. Every node of the program is evaluated for a whole step before the next. Values that are the same along a row
 * are kept once per row. */
#ifndef TMARING_HOST_LANES_H
#define TMARING_HOST_LANES_H

#include "../../plan/plan_state.h"

#define TMARING__STEP_ELEMS (32 * TMARING_MAX_VEC)

/* What one pass over a row evaluates. */
typedef struct tmaring__lanes_pass {
  int32_t node_count, broadcast_count, reduction_count, output_count;
  int32_t node[TMARING__MAX_NODES];      /* per column, in order */
  int32_t broadcast[TMARING__MAX_NODES]; /* per row, read by the former */
  int32_t reduction[TMARING_MAX_REDUCTIONS];
  int32_t output[TMARING_MAX_STREAMS]; /* indexes of [M,N] outputs */
} tmaring__lanes_pass;

/* The program sorted by pass; shared by all workers, made once. */
typedef struct tmaring__lanes_plan {
  const tmaring__program *program;
  tmaring__lanes_pass pass[TMARING_MAX_PASSES];
  int32_t row_count[TMARING_MAX_PASSES + 1]; /* per row, by level, reductions apart */
  int32_t row[TMARING_MAX_PASSES + 1][TMARING__MAX_NODES];
} tmaring__lanes_plan;

typedef struct tmaring__lanes {
  const tmaring_args *args;
  const tmaring__code *code;
  const tmaring__lanes_plan *plan;
  unsigned char *shared; /* the worker's shared memory; not owned */
  float *step;           /* [nodes][TMARING__STEP_ELEMS] */
  float *rows;           /* [warps][nodes][32]: value for each row handled at a time */
  float *sums;           /* [warps][TMARING_MAX_REDUCTIONS][32]: accumulator of each lane */
  float *scratch;        /* [2][TMARING_MAX_REDUCTIONS][warps] */
} tmaring__lanes;

/* ERROR_UNSUPPORTED for a program that this scope does not serve. */
tmaring_status tmaring__lanes_plan_make(tmaring__lanes_plan *plan, const tmaring__program *program,
                                        const tmaring_args *args);
/* ERROR_MEMORY; release also after a failure. */
tmaring_status tmaring__lanes_make(tmaring__lanes *lanes, const tmaring__lanes_plan *plan, const tmaring_args *args,
                                   const tmaring__code *code, unsigned char *shared);
void tmaring__lanes_release(tmaring__lanes *lanes);

/* The primitives of abi/roles.h that compute. */
void tmaring__lanes_accumulate(tmaring__lanes *l, int32_t warp, const tmaring_fill *fill, uint32_t stage,
                               int32_t iteration, int32_t pass);
void tmaring__lanes_partial(tmaring__lanes *l, int32_t warp, uint32_t buffer, int32_t pass);
void tmaring__lanes_finish(tmaring__lanes *l, int32_t warp, uint32_t buffer, const tmaring_fill *fill,
                           int32_t iteration, int32_t pass);
void tmaring__lanes_row_store(tmaring__lanes *l, int32_t warp, const tmaring_fill *fill, int32_t iteration);

/* out[i] = op(a[i], b[i], c[i]) for `count` elements, a multiple of 32. No array may be `out`. */
void tmaring__lanes_evaluate(tmaring__op op, float *out, const float *a, const float *b, const float *c, int32_t count);
/* max and min, NaN if either is NaN. */
float tmaring__lanes_max(float a, float b);
float tmaring__lanes_min(float a, float b);

#endif

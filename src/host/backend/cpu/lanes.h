/* Lanes: the arithmetic of a CTA's warps, in the order that abi/scope.h lays down for the kernel, and in the kernel's
 * real: fp32, or double where the code is wide.
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
  int32_t node_count, broadcast_count, reduction_count, gather_count;
  int32_t node[TMARING__MAX_NODES];      /* per column, in order */
  int32_t broadcast[TMARING__MAX_NODES]; /* per row, read by the former */
  int32_t reduction[TMARING_MAX_REDUCTIONS];
  int32_t gather[TMARING__MAX_NODES]; /* per row, read from the stage */
  int32_t last;                       /* 1: outputs are stored, column reductions take their values */
} tmaring__lanes_pass;

/* The program sorted by pass; shared by all CTAs, made once. */
typedef struct tmaring__lanes_plan {
  const tmaring__program *program;
  tmaring__lanes_pass pass[TMARING_MAX_PASSES];
  int32_t row_count[TMARING_MAX_PASSES + 1]; /* per row, by level, reductions apart */
  int32_t row[TMARING_MAX_PASSES + 1][TMARING__MAX_NODES];
} tmaring__lanes_plan;

typedef struct tmaring__lanes_calls tmaring__lanes_calls;

typedef struct tmaring__lanes {
  const tmaring_args *args;
  const tmaring_walk *walk; /* of this launch's M, with the CTA's rank */
  const tmaring__code *code;
  const tmaring__lanes_plan *plan;
  const tmaring__lanes_calls *calls;
  unsigned char *shared;                                  /* the CTA's shared memory; not owned */
  const struct tmaring__lanes *peer[TMARING_MAX_CLUSTER]; /* in a cluster: its CTAs by rank, this one among them */
  void *step;                                             /* reals [nodes][TMARING__STEP_ELEMS] */
  void *rows;    /* reals [warps][nodes][32]: value for each row handled at a time */
  void *sums;    /* pairs of reals [warps][TMARING_MAX_REDUCTIONS][32]: accumulator of each lane */
  void *scratch; /* pairs of reals [2][TMARING_MAX_REDUCTIONS][warps] */
} tmaring__lanes;

/* The primitives of abi/roles.h that compute, for one kind of real. */
struct tmaring__lanes_calls {
  size_t real_bytes;
  void (*accumulate)(const tmaring__lanes *l, int32_t warp, const tmaring_fill *fill, uint32_t stage, int32_t iteration,
                     int32_t pass);
  void (*partial)(const tmaring__lanes *l, int32_t warp, uint32_t buffer, int32_t pass);
  void (*finish)(const tmaring__lanes *l, int32_t warp, uint32_t buffer, const tmaring_fill *fill, int32_t iteration,
                 int32_t pass);
  void (*row_store)(const tmaring__lanes *l, int32_t warp, const tmaring_fill *fill, int32_t iteration);
  void (*columns)(const tmaring__lanes *l, int32_t warp, const tmaring_fill *fill, int end);
  /* After all workers: the column outputs from the partial results in the workspace, in the order of abi/args.h. */
  void (*join_columns)(const tmaring_args *args, const tmaring_walk *walk, const tmaring__program *program);
};

extern const tmaring__lanes_calls tmaring__lanes_f32, tmaring__lanes_f64;

static inline const tmaring__lanes_calls *tmaring__lanes_calls_of(const tmaring__code *code)
{
  return code->wide ? &tmaring__lanes_f64 : &tmaring__lanes_f32;
}

/* ERROR_UNSUPPORTED for a program that this scope does not serve, ERROR_CAPACITY for too many reductions in a pass. */
tmaring_status tmaring__lanes_plan_make(tmaring__lanes_plan *plan, const tmaring__program *program,
                                        const tmaring_args *args);
/* The walk is this launch's and stays the caller's. ERROR_MEMORY; release also after a failure. */
tmaring_status tmaring__lanes_make(tmaring__lanes *lanes, const tmaring__lanes_plan *plan, const tmaring_args *args,
                                   const tmaring_walk *walk, const tmaring__code *code, unsigned char *shared);
void tmaring__lanes_release(tmaring__lanes *lanes);

#endif

/* The inside of a tile plan, and the steps that make one: shape, panels, ring, source. */
#ifndef TMARING_HOST_TILE_STATE_H
#define TMARING_HOST_TILE_STATE_H

#include "../base/text.h"
#include "../plan/decision.h"
#include "../plan/plan_state.h"
#include "tmaring/abi/panel.h"
#include "tmaring/tile_program.h"

/* A plan like any other, without a formula: backends load and launch it by its source and its arguments. Its one
 * variant has the panels and maps; kernels keep it (tmaring__plan_retain). */
struct tmaring_tile_plan {
  tmaring_plan plan; /* first: a pointer to it is one to this */
  tmaring__tile_work work;
  int32_t count;
  tmaring_tile_tensor tensor[TMARING_MAX_PANELS]; /* strides and alignment entered; matmul: of rank 2 */
  int64_t bytes[TMARING_MAX_PANELS];              /* from element 0 to the last one's end */
};

/* What is decided, step by step. */
typedef struct tmaring__tile_draft {
  tmaring_tile_op op;
  int32_t count, output; /* tensors; which of them is written */
  tmaring_tile_tensor tensor[TMARING_MAX_PANELS];
  tmaring_tile_options options; /* as asked */
  tmaring_machine machine;
  int32_t box[TMARING_MAX_RANK]; /* of the output; matmul: n, m, k */
  int32_t load;                  /* TMARING_LOAD_TILE or BULK */
  int32_t store;                 /* tmaring_store */
  int32_t ctas_per_sm;
  tmaring__boxes boxes;
  tmaring__tile_work work;
  tmaring__code code;
  tmaring_args args;
  tmaring__notes *notes;
} tmaring__tile_draft;

/* Name of tensor `t` in messages: x and y, or a, b and c. */
const char *tmaring__tile_name(tmaring_tile_op op, int32_t t);
/* Fails with the thread's detail, the tensor's name before it. */
tmaring_status tmaring__tile_blame(tmaring_tile_op op, int32_t t, tmaring_status status);

/* Step 1: tensors that agree, with defaults entered. ARGUMENT, TYPE, SHAPE, UNSUPPORTED. */
tmaring_status tmaring__tile_shape(tmaring__tile_draft *draft, const tmaring_tile_tensor *tensors, int32_t count);
int64_t tmaring__tile_tensor_bytes(const tmaring_tile_tensor *tensor);
/* Step 2: boxes, the paths that serve them, panels, maps and grid; work.dtype and the like. */
tmaring_status tmaring__tile_panels(tmaring__tile_draft *draft);
/* Step 3: roles, walk, stages and the map of shared memory. */
tmaring_status tmaring__tile_ring(tmaring__tile_draft *draft);
/* Step 4: CUDA C of the kernel. The text is the caller's. */
void tmaring__tile_source(tmaring__text *out, const tmaring__tile_draft *draft);

/* Enters the address of tensor t. */
void tmaring__tile_place(const tmaring_tile_plan *plan, int32_t t, uint64_t address, tmaring_args *args,
                         tmaring__boxes *boxes);

/* Ranges of the options. ARGUMENT. */
tmaring_status tmaring__tile_options_check(const tmaring_tile_options *options);
/* The part of them that plans of formulas have too. */
void tmaring__tile_options_common(tmaring_plan_options *common, const tmaring_tile_options *options);

#endif

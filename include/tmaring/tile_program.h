/* Tile programs: work on boxes of tensors of rank 1 .. 5 through the ring, for what is no formula over rows: copies,
 * transposes, a small matrix product on the tensor cores. Planned, checked, prepared and launched like formulas; all
 * sizes are fixed in the plan. */
#ifndef TMARING_TILE_PROGRAM_H
#define TMARING_TILE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "launch.h"
#include "plan.h"
#include "tensor_map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tensors in this order: inputs, then the output. dims are innermost first. */
typedef enum tmaring_tile_op {
  TMARING_TILE_COPY = 0,      /* y = x, same dims; with element strides y is as large as what is taken of x */
  TMARING_TILE_TRANSPOSE = 1, /* y[n, m] = x[m, n]; rank 2 */
  TMARING_TILE_MATMUL = 2     /* c[m, n] = sum over k of a[m, k] * b[k, n]; rank 2, or more with dims of size 1 beside
                                 (broadcast operands). f32, f16, bf16 in; c is f32 or of the inputs' type; sums in fp32;
                                 f32 products as accurate as fp32 where operands are 0 or at least 2^-115; where a
                                 product overflows, or an operand is infinite, NaN may stand for infinity (cuda) */
} tmaring_tile_op;

typedef struct tmaring_tile_tensor {
  size_t size; /* sizeof, set by TMARING_TILE_TENSOR_INIT */
  tmaring_dtype dtype;
  int32_t rank;
  int64_t dims[TMARING_MAX_RANK];    /* elements, innermost first */
  int64_t strides[TMARING_MAX_RANK]; /* elements; all 0: dense. strides[0] is 1 */
  uint32_t alignment;                /* bytes: every address given at launch is a multiple of this; 0: 16 */
} tmaring_tile_tensor;

#define TMARING_TILE_TENSOR_INIT                                                                                       \
  {                                                                                                                    \
    sizeof(tmaring_tile_tensor), TMARING_F32, 0, {0}, {0}, 0                                                           \
  }

/* Every field may be TMARING_AUTO. What does not fit is refused by name; of axes past the rank only 1 fits. */
typedef struct tmaring_tile_options {
  size_t size;                               /* sizeof, set by tmaring_tile_options_init */
  int32_t box[TMARING_MAX_RANK];             /* elements of a tile of the output (matmul: n, m, k of a step) */
  int32_t element_strides[TMARING_MAX_RANK]; /* copy: of x, 1 .. 8 */
  int32_t swizzle;                           /* tmaring_swizzle of what is staged */
  int32_t load;  /* TMARING_LOAD_TILE, or TMARING_LOAD_BULK: a 1D bulk copy per row of the box */
  int32_t store; /* tmaring_store; TILE: dims[0] of the output in bytes is a multiple of 16 */
  int32_t mode, war, role_axis;
  int32_t consumers[3];
  int32_t registers[2];
  int32_t stages, prefetch;
  int32_t order, policy, release;
  int32_t workers, debug;
} tmaring_tile_options;

TMARING_API void tmaring_tile_options_init(tmaring_tile_options *options);

typedef struct tmaring_tile_plan tmaring_tile_plan;
typedef struct tmaring_tile_kernel tmaring_tile_kernel;

/* Makes a plan; the caller's. Needs no GPU. Immutable: any number of threads may use it. Errors: ARGUMENT, TYPE, SHAPE,
 * ALIGNMENT, UNSUPPORTED, CAPACITY, MEMORY. */
TMARING_API tmaring_status tmaring_tile_plan_create(tmaring_tile_plan **plan, tmaring_tile_op op,
                                                    const tmaring_tile_tensor *tensors, int32_t count,
                                                    const tmaring_machine *machine,
                                                    const tmaring_tile_options *options);
TMARING_API void tmaring_tile_plan_free(tmaring_tile_plan *plan);
/* The kernel's arguments, addresses zero. */
TMARING_API tmaring_status tmaring_tile_plan_args(const tmaring_tile_plan *plan, tmaring_args *args);
/* One sentence per choice and normalisation; NULL past the end. */
TMARING_API const char *tmaring_tile_plan_note(const tmaring_tile_plan *plan, int32_t index);
/* As tmaring_check. */
TMARING_API tmaring_status tmaring_tile_check(const tmaring_tile_plan *plan, tmaring_check_report *report);
/* Bytes of workspace of a launch: 0 unless the walk uses tickets. */
TMARING_API size_t tmaring_tile_workspace_bytes(const tmaring_tile_plan *plan);

/* As tmaring_prepare, tmaring_workspace_init and tmaring_launch. data: the address of each tensor; the output is apart
 * from the inputs. flags: TMARING_LAUNCH_*. */
TMARING_API tmaring_status tmaring_tile_prepare(tmaring_tile_kernel **kernel, const tmaring_tile_plan *plan,
                                                tmaring_backend backend);
TMARING_API void tmaring_tile_kernel_free(tmaring_tile_kernel *kernel);
TMARING_API tmaring_status tmaring_tile_workspace_init(const tmaring_tile_kernel *kernel, void *workspace,
                                                       struct CUstream_st *stream);
TMARING_API tmaring_status tmaring_tile_launch(const tmaring_tile_kernel *kernel, void *const *data, void *workspace,
                                               uint32_t flags, struct CUstream_st *stream);

/* As tmaring_kernel_fault: the record of a wait that did not end, of plans with debug 1. */
TMARING_API tmaring_status tmaring_tile_kernel_fault(const tmaring_tile_kernel *kernel, tmaring_fault *fault);

#ifdef __cplusplus
}
#endif

#endif

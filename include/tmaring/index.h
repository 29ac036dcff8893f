/* Which integer type indexes of a launch need, and a grid that stays within the limits of a launch. For callers with
 * kernels of their own; the library's kernels take 64-bit addresses per fill and 32-bit offsets within one. */
#ifndef TMARING_INDEX_H
#define TMARING_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "abi/index.h"
#include "machine.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TMARING_MAX_STRIDED_RANK 8

/* Any strided view. Element (i0, i1, ...) lies sum(i[d] * strides[d]) elements from the base address. */
typedef struct tmaring_strided {
  size_t size;                               /* sizeof(tmaring_strided), set by TMARING_STRIDED_INIT */
  int64_t dims[TMARING_MAX_STRIDED_RANK];    /* 0 or more; a 0 makes the view empty */
  int64_t strides[TMARING_MAX_STRIDED_RANK]; /* elements; 0 and negative ones too */
  int32_t rank;                              /* 0 .. TMARING_MAX_STRIDED_RANK; 0: one element */
} tmaring_strided;

#define TMARING_STRIDED_INIT                                                                                           \
  {                                                                                                                    \
    sizeof(tmaring_strided), {0}, {0}, 0                                                                               \
  }

/* What was decided, and by which tensor: the first that needs 64 bits; where none does, the one that comes closest. */
typedef struct tmaring_index_report {
  size_t size;    /* sizeof(tmaring_index_report), set by TMARING_INDEX_REPORT_INIT */
  int32_t width;  /* 32 or 64: for TMARING_INDEX_SWITCH and tmaring_index_dispatch */
  int32_t tensor; /* index of the deciding one; -1 where there are none */
  int64_t numel;  /* its elements; INT64_MAX: that many or more */
  int64_t offset; /* of the element that lies furthest from its base address, in elements, on either side; as above */
} tmaring_index_report;

#define TMARING_INDEX_REPORT_INIT                                                                                      \
  {                                                                                                                    \
    sizeof(tmaring_index_report), 0, 0, 0, 0                                                                           \
  }

/* Decides over every tensor whose offsets the type is used for: inputs, outputs, scales. 32 only if for each of them the
 * number of elements and the largest reachable offset are below TMARING_INDEX_LIMIT (2^31 - 1): a small view with large
 * strides needs 64. tensors[i].rows is the M of the launch; pitch, step and groups of rows are read as a plan reads them
 * (0: dense, TMARING_ONE_VALUE). No product wraps: sizes past 2^63 are 64. Needs no GPU; any thread.
 * Errors: ARGUMENT (NULL, another struct size, count < 0), TYPE, SHAPE (a negative extent, pitch or step), by name. */
TMARING_API tmaring_status tmaring_index_width(const tmaring_tensor *tensors, int32_t count,
                                               tmaring_index_report *report);
/* The same for views of any rank. ARGUMENT, SHAPE. */
TMARING_API tmaring_status tmaring_index_width_of_strided(const tmaring_strided *views, int32_t count,
                                                          tmaring_index_report *report);

/* CTAs of a launch. */
typedef struct tmaring_launch_grid {
  size_t size; /* sizeof(tmaring_launch_grid), set by TMARING_LAUNCH_GRID_INIT */
  uint32_t x, y, z;
} tmaring_launch_grid;

#define TMARING_LAUNCH_GRID_INIT                                                                                       \
  {                                                                                                                    \
    sizeof(tmaring_launch_grid), 0, 0, 0                                                                               \
  }

/* Most CTAs of a grid on x; on y and on z. CUDA C++ programming guide, compute capability 9.0. */
#define TMARING_MAX_GRID_X  2147483647
#define TMARING_MAX_GRID_YZ 65535

/* A grid for walks with a grid's stride along each axis (tmaring_grid_walk): at most one thread per item, at most
 * ctas_per_sm CTAs for each SM of the machine in all, x first, and never past the limits above, however many items
 * there are. At least 1 on every axis, also without items: a launch of 0 CTAs is an error of CUDA's.
 * items: along x, y, z, 0 or more. threads: of a CTA along x, y, z, 1 or more, at most 1024 in all. ctas_per_sm: 1 .. 32.
 * Any thread. ERROR_ARGUMENT, ERROR_SHAPE. */
TMARING_API tmaring_status tmaring_grid_for(tmaring_launch_grid *grid, const int64_t items[3], const int32_t threads[3],
                                            int32_t ctas_per_sm, const tmaring_machine *machine);

#ifdef __cplusplus
}
#endif

#endif

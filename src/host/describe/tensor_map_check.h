/* Limits of the tensor copy engine, as cuda.h states them for cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col. */
#ifndef TMARING_HOST_TENSOR_MAP_CHECK_H
#define TMARING_HOST_TENSOR_MAP_CHECK_H

#include "tmaring/tensor_map.h"

#define TMARING__MAP_UNIT_BYTES 16 /* of addresses, strides and inner boxes */
#define TMARING__MAP_MAX_DIM    ((uint64_t)1 << 32)
#define TMARING__MAP_MAX_STRIDE ((uint64_t)1 << 40) /* exclusive */
#define TMARING__MAP_MAX_STEP   8                   /* element strides */
#define TMARING__MAP_MAX_PIXELS 1024
#define TMARING__MAP_MAX_SHARED (227u * 1024u) /* bytes of shared memory that a block of sm_90 may have */

/* What both kinds of map have. */
typedef struct tmaring__map_view {
  tmaring_dtype dtype;
  int32_t rank, lowest_rank;
  uint64_t address;
  const uint64_t *dims, *strides;
  const uint32_t *element_strides;
  const char *inner_name; /* of the field with the elements of a row in shared memory */
  uint32_t inner;
  int32_t swizzle, fill, l2_bytes;
} tmaring__map_view;

/* All limits of the fields above but `inner`. ARGUMENT, TYPE, SHAPE, ALIGNMENT, UNSUPPORTED. */
tmaring_status tmaring__map_view_check(const tmaring__map_view *view);
/* The row of a box in shared memory, at most 256 elements: ALIGNMENT, SHAPE. */
tmaring_status tmaring__map_inner_check(const tmaring__map_view *view);
/* Refuses a copy that needs more shared memory than a block may have: CAPACITY. */
tmaring_status tmaring__map_shared_check(const char *field, uint64_t bytes);

/* Bytes within which a swizzle exchanges units; 0: it does not. */
static inline uint32_t tmaring__swizzle_span(int32_t swizzle)
{
  return swizzle == TMARING_SWIZZLE_NONE ? 0 : 16u << swizzle;
}

/* Bytes from row to row of a box in shared memory: a swizzled row takes its whole span. */
static inline uint32_t tmaring__map_row_pitch(uint32_t row_bytes, int32_t swizzle)
{
  const uint32_t span = tmaring__swizzle_span(swizzle);
  return row_bytes < span ? span : row_bytes;
}

/* Every how manieth element is taken along axis d. */
static inline uint32_t tmaring__map_step(const uint32_t *element_strides, int32_t d)
{
  return d == 0 || element_strides[d] == 0 ? 1 : element_strides[d];
}

/* Elements that a box of a tiled map takes along axis d. */
static inline uint32_t tmaring__box_count(const tmaring_tensor_map_tiled *map, int32_t d)
{
  const uint32_t step = tmaring__map_step(map->element_strides, d);
  return (map->box[d] + step - 1) / step;
}

/* Window origins of a map of pixels along spatial axis i (w, h, d): lower .. dims + upper - 1. */
static inline int64_t tmaring__pixel_end(const tmaring_tensor_map_im2col *map, int32_t i)
{
  return (int64_t)map->dims[1 + i] + map->upper[i];
}

#endif

/* Descriptors of the tensor copy engine (tensor maps), for the library's own kernels and for anybody else's: C structs
 * in, 128 opaque bytes out. Every limit is checked on the host before the driver is asked, so that a message names the
 * field, what it got and what it needs. The same structs drive copies on the host, so that a kernel's loads can be
 * reproduced without a GPU. */
#ifndef TMARING_TENSOR_MAP_H
#define TMARING_TENSOR_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "abi/base.h"
#include "abi/tile.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TMARING_TENSOR_MAP_BYTES     128 /* of a map; the step of an array of maps */
#define TMARING_TENSOR_MAP_ALIGNMENT 64  /* of storage: what the copy engine needs, and every driver accepts */
#define TMARING_MAX_BOX              256 /* elements of a box on one axis */

/* How the 16-byte units of a box lie in shared memory: within each span, units are exchanged by the row's number. */
typedef enum tmaring_swizzle {
  TMARING_SWIZZLE_NONE = 0,
  TMARING_SWIZZLE_32B = 1, /* bit 4 ^= bit 7 of the offset */
  TMARING_SWIZZLE_64B = 2, /* bits 4-5 ^= bits 7-8 */
  TMARING_SWIZZLE_128B = 3 /* bits 4-6 ^= bits 7-9 */
} tmaring_swizzle;

/* What is loaded for elements outside the tensor. */
typedef enum tmaring_map_fill {
  TMARING_FILL_ZERO = 0,
  TMARING_FILL_NAN = 1 /* f32, f16, bf16, f64: every 16 bits are 0x7ff7 */
} tmaring_map_fill;

/* A box of a tensor of rank 1 .. 5, dimension 0 the innermost. Sizes in elements, strides in bytes. */
typedef struct tmaring_tensor_map_tiled {
  size_t size; /* sizeof, set by TMARING_TENSOR_MAP_TILED_INIT */
  tmaring_dtype dtype;
  int32_t rank;
  uint64_t address;                   /* of element 0 in global memory, a multiple of 16 */
  uint64_t dims[TMARING_MAX_RANK];    /* 1 .. 2^32 */
  uint64_t strides[TMARING_MAX_RANK]; /* bytes; [0] the element size or 0; others multiples of 16 below 2^40 */
  uint32_t box[TMARING_MAX_RANK];     /* elements a box spans, 1 .. 256; box[0] * element size a multiple of 16 */
  uint32_t element_strides[TMARING_MAX_RANK]; /* every how manieth element of the box is taken, 1 .. 8; 0: 1 */
  int32_t swizzle;                            /* tmaring_swizzle: the inner box must not exceed the span */
  int32_t fill;                               /* tmaring_map_fill */
  int32_t l2_bytes;                           /* promotion of requests to L2: 0, 64, 128, 256 */
} tmaring_tensor_map_tiled;

#define TMARING_TENSOR_MAP_TILED_INIT                                                                                  \
  {                                                                                                                    \
    sizeof(tmaring_tensor_map_tiled), TMARING_F32, 0, 0, {0}, {0}, {0}, {0}, 0, 0, 0                                   \
  }

/* Pixels of a tensor of rank 3 .. 5 (N, D, H, W, C with C as dimension 0): a copy takes `pixels` positions of a filter's
 * window, in the order of the output, `channels` each. */
typedef struct tmaring_tensor_map_im2col {
  size_t size; /* sizeof, set by TMARING_TENSOR_MAP_IM2COL_INIT */
  tmaring_dtype dtype;
  int32_t rank;
  uint64_t address;
  uint64_t dims[TMARING_MAX_RANK];
  uint64_t strides[TMARING_MAX_RANK];
  int32_t lower[3];  /* bounding box of window origins, W first: lower corner (minus the padding before) ... */
  int32_t upper[3];  /* ... and upper corner: padding behind minus the dilated window's extent less one */
  uint32_t channels; /* per pixel, 1 .. 256 */
  uint32_t pixels;   /* per copy, 1 .. 1024 */
  uint32_t element_strides[TMARING_MAX_RANK]; /* of the convolution, W first from [1]; 1 .. 8; 0: 1 */
  int32_t swizzle, fill, l2_bytes;
} tmaring_tensor_map_im2col;

#define TMARING_TENSOR_MAP_IM2COL_INIT                                                                                 \
  {                                                                                                                    \
    sizeof(tmaring_tensor_map_im2col), TMARING_F32, 0, 0, {0}, {0}, {0}, {0}, 0, 0, {0}, 0, 0, 0                       \
  }

/* Checks every limit. Needs no GPU and no driver; any thread. ERROR_ALIGNMENT, TYPE, SHAPE, ARGUMENT,
 * UNSUPPORTED; CAPACITY where a box is larger than the shared memory of a block. */
TMARING_API tmaring_status tmaring_tensor_map_check_tiled(const tmaring_tensor_map_tiled *map);
TMARING_API tmaring_status tmaring_tensor_map_check_im2col(const tmaring_tensor_map_im2col *map);

/* Bytes that one copy writes to shared memory and completes on its barrier: the whole box, also where the tensor clips
 * it. 0 for a map that does not pass its check. */
TMARING_API uint32_t tmaring_tensor_map_tiled_bytes(const tmaring_tensor_map_tiled *map);
TMARING_API uint32_t tmaring_tensor_map_im2col_bytes(const tmaring_tensor_map_im2col *map);

/* Bytes of shared memory that a copy needs: as many, but that each row of a swizzled box takes the swizzle's whole span,
 * also where the row is shorter. 0 for a map that does not pass its check. */
TMARING_API uint32_t tmaring_tensor_map_tiled_room(const tmaring_tensor_map_tiled *map);
TMARING_API uint32_t tmaring_tensor_map_im2col_room(const tmaring_tensor_map_im2col *map);

/* Cuts map->box, whose extents may be over 256 here, into equal boxes that the hardware takes: map->box becomes one of
 * them, counts[d] says how many lie next to each other on axis d. An axis that no equal parts of at most 256 elements
 * (inner: of a multiple of 16 bytes, within the swizzle span) divide is refused. F: 2 x 256 stays, 320 is 2 x 160. */
TMARING_API tmaring_status tmaring_tensor_map_split(tmaring_tensor_map_tiled *map, uint32_t counts[TMARING_MAX_RANK]);

/* Checks, then encodes with the driver. `storage`: 128 bytes of the caller's on a multiple of 64, host memory; the same
 * struct gives the same bytes. Copy it to a kernel's __grid_constant__ parameter, constant or global memory. Any thread;
 * needs no context. Besides the check's: ERROR_NO_DRIVER (no libcuda), ERROR_DRIVER. */
TMARING_API tmaring_status tmaring_tensor_map_encode_tiled(void *storage, const tmaring_tensor_map_tiled *map);
TMARING_API tmaring_status tmaring_tensor_map_encode_im2col(void *storage, const tmaring_tensor_map_im2col *map);
/* Enters another base address, a multiple of 16, in an encoded map. */
TMARING_API tmaring_status tmaring_tensor_map_replace_address(void *storage, uint64_t address);

/* What the copy engine does, on the host: `address` is then a host address. `shared` stands for shared memory from a
 * multiple of 1024 bytes on (the swizzle goes by the offset from there), `offset`, a multiple of 128, is where the box
 * lies in it: tmaring_tensor_map_*_room bytes. Coordinates may lie outside the tensor, those of loads also below 0;
 * coordinates[0] * element size is a multiple of 16 (measured: on the GPU any other ends the kernel with an illegal
 * instruction). A load writes tmaring_tensor_map_*_bytes. A store leaves out rows outside the tensor, but of a row it
 * writes whole 16-byte units (measured): where dims[0] * element size is no multiple of 16, what shared memory holds up to
 * the next one goes behind the row's last element. Any thread. Besides the check's: ARGUMENT, ALIGNMENT, UNSUPPORTED (a store that begins
 * below 0: on the GPU it ends the kernel). */
TMARING_API tmaring_status tmaring_tensor_map_load(const tmaring_tensor_map_tiled *map, const int32_t *coordinates,
                                                   void *shared, size_t offset);
TMARING_API tmaring_status tmaring_tensor_map_store(const tmaring_tensor_map_tiled *map, const int32_t *coordinates,
                                                    const void *shared, size_t offset);
/* coordinates: c (a multiple of 16 bytes, as above), w, h, d, n as the rank has them, w, h and d a position of the window (lower .. dims + upper - 1);
 * offsets: of the place in the window, w, h, d, at most 65535, 255 or 31 with rank 3, 4 or 5. */
TMARING_API tmaring_status tmaring_tensor_map_load_im2col(const tmaring_tensor_map_im2col *map,
                                                          const int32_t *coordinates, const uint16_t *offsets,
                                                          void *shared, size_t offset);

#ifdef __cplusplus
}
#endif

#endif

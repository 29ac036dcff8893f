/* Rows of boxes in shared memory: where they lie, what fills them up. */
#ifndef TMARING_HOST_MAP_ROW_H
#define TMARING_HOST_MAP_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "tmaring/tensor_map.h"

/* What all rows of a copy have in common. */
typedef struct tmaring__map_row {
  uint32_t bytes; /* of a row, a multiple of 16 */
  uint32_t pitch; /* from row to row */
  uint32_t units; /* 16-byte units that the swizzle exchanges: 1 (none), 2, 4, 8 */
  int32_t fill;   /* tmaring_map_fill */
} tmaring__map_row;

tmaring__map_row tmaring__map_row_of(uint32_t inner, tmaring_dtype dtype, int32_t swizzle, int32_t fill);

/* Of a row's `extent` elements, the first at coordinate `first`, those inside a dimension: `lead` outside, then `run`. */
typedef struct tmaring__map_clip {
  uint32_t lead, run;
} tmaring__map_clip;

tmaring__map_clip tmaring__map_clip_of(int64_t first, uint32_t extent, uint64_t dim);

/* Writes the row at offset `at` (before swizzling) of `shared`: `run` bytes of source behind `lead` bytes of filling, and
 * filling up to the end. */
void tmaring__map_row_load(const tmaring__map_row *row, unsigned char *shared, size_t at, const unsigned char *source,
                           uint32_t lead, uint32_t run);
/* Stores the 16-byte units in which `run` bytes behind the first `lead` ones, a multiple of 16, lie: each of them whole, as
 * the copy engine does. */
void tmaring__map_row_store(const tmaring__map_row *row, const unsigned char *shared, size_t at, unsigned char *target,
                            uint32_t lead, uint32_t run);

#endif

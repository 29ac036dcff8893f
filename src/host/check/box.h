/* Boxes of tensor maps in numbers: their bytes, and how many of them a tensor has. */
#ifndef TMARING_HOST_BOX_H
#define TMARING_HOST_BOX_H

#include "../plan/plan_state.h"

#define TMARING__BOX_ALIGN 128u /* of a box in shared memory */

/* Bytes that a copy moves and completes, wherever it lies. */
uint32_t tmaring__box_bytes(const tmaring_tensor_map_tiled *map);
/* Bytes of the box at these coordinates that lie inside the tensor: what a store writes. */
uint64_t tmaring__box_inside(const tmaring_tensor_map_tiled *map, const int32_t *coordinates);

/* Bytes from the tensor's first element to the box's, along dimension 0: the copy engine takes multiples of 16 alone. */
int64_t tmaring__box_begin(const tmaring_tensor_map_tiled *map, const int32_t *coordinates);
/* Bytes that a store of the box writes behind the last element of each row: the copy engine stores whole 16-byte units,
 * also the one in which the row ends. */
uint32_t tmaring__box_overrun(const tmaring_tensor_map_tiled *map, const int32_t *coordinates);

/* Enters in the maps what follows from the arguments: addresses, and the rows of the dimension that follows them. */
void tmaring__boxes_enter(tmaring__boxes *boxes, const tmaring_args *args);

/* Of tile programs; NULL where fills are rows. */
static inline const tmaring_grid *tmaring__boxes_grid(const tmaring__boxes *boxes)
{
  return boxes->grid.steps > 0 ? &boxes->grid : NULL;
}

#endif

/* The boxes of a fill. */
#ifndef TMARING_HOST_CHECK_BOXES_H
#define TMARING_HOST_CHECK_BOXES_H

#include "../plan/plan_state.h"

/* Rows [first, last) of a fill of tiled stream `index` (as in tmaring_tiles): that its boxes hold every element once, in
 * its place, and begin at whole units of 16 bytes. Stores: and that they write nothing else. Streams have passed tmaring__check_paths. *copies grows. */
tmaring_status tmaring__check_boxes(const tmaring_args *args, const tmaring__boxes *boxes, int32_t index,
                                    const tmaring_fill *fill, int32_t first, int32_t last, int64_t *copies);

#endif

/* The arithmetic of tile programs: what warps of a CTA do with the slots of a stage, element by element where the kernels
 * of include/tmaring/device do it in vectors and on tensor cores. Places in slots are found by the same functions
 * (abi/panel.h). Sums are fp32, one fill's after another's. */
#ifndef TMARING_HOST_TILE_LANES_H
#define TMARING_HOST_TILE_LANES_H

#include "../../base/detail.h"
#include "../../plan/plan_state.h"
#include "tmaring/abi/panel.h"

typedef struct tmaring__tile_lanes {
  const tmaring_args *args;
  const tmaring__boxes *boxes;
  unsigned char *shared; /* the CTA's shared memory; not owned */
  float *sums;           /* matmul: of the tile, m x n */
  float *operand[2];     /* matmul: panels of a and b of the fill at hand */
} tmaring__tile_lanes;

/* ERROR_MEMORY; release also after a failure. */
tmaring_status tmaring__tile_lanes_make(tmaring__tile_lanes *lanes, const tmaring_args *args,
                                        const tmaring__boxes *boxes, unsigned char *shared);
void tmaring__tile_lanes_release(tmaring__tile_lanes *lanes);
/* A warp's part of a fill. */
void tmaring__tile_lanes_accumulate(const tmaring__tile_lanes *lanes, int32_t warp, const tmaring_fill *fill,
                                    uint32_t stage);
/* Before the first and after the last fill of a tile: its sums start anew, and are stored. */
void tmaring__tile_lanes_columns(const tmaring__tile_lanes *lanes, int32_t warp, const tmaring_fill *fill, int end);

#endif

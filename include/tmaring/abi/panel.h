/* Panels of a tile program (tile.h): which elements a fill has to do with, and its rows as runs of memory. */
#ifndef TMARING_ABI_PANEL_H
#define TMARING_ABI_PANEL_H

#include "run.h"

/* The first element of a fill's panel, one number per dimension. */
typedef struct tmaring_origin {
  tmaring_i32 at[TMARING_MAX_RANK];
} tmaring_origin;

TMARING_FN void tmaring_panel_origin(const tmaring_panel *p, const tmaring_grid *g, const tmaring_fill *fill,
                                     tmaring_origin *origin)
{
  tmaring_grid_place place;
  tmaring_grid_place_of(g, fill, &place);
  for (int d = 0; d < TMARING_MAX_RANK; ++d) {
    origin->at[d] = tmaring_grid_number(&place, p->follows[d]) * p->box[d]; /* the planner keeps this below 2^31 */
  }
}

/* Rows of a panel: runs along dimension 0. */
TMARING_FN tmaring_i32 tmaring_panel_rows(const tmaring_panel *p)
{
  return p->box[1] * p->box[2] * p->box[3] * p->box[4];
}

/* Row `i` of a panel: what of it lies inside the tensor at `base`; bytes 0: nothing does. The offset is that of a
 * slot without swizzle, in one box. */
TMARING_FN tmaring_run tmaring_panel_row(const tmaring_panel *p, tmaring_u64 base, const tmaring_origin *origin,
                                         tmaring_i32 i)
{
  tmaring_run r;
  const tmaring_i32 inside = p->dims[0] - origin->at[0];
  tmaring_u32 left = (tmaring_u32)i;
  r.offset = (tmaring_u32)i * p->layout.row_bytes;
  r.address = base + (tmaring_u64)(origin->at[0] * p->stride[0]);
  r.bytes = inside > 0 ? (tmaring_u32)(inside < p->box[0] ? inside : p->box[0]) * p->elem_bytes : 0;
  for (int d = 1; d < TMARING_MAX_RANK; ++d) {
    const tmaring_u32 next = d < p->rank - 1 ? left / (tmaring_u32)p->box[d] : 0;
    const tmaring_i64 at = origin->at[d] + (tmaring_i64)(left - next * (tmaring_u32)p->box[d]);
    if (at >= p->dims[d]) r.bytes = 0;
    r.address += (tmaring_u64)at * (tmaring_u64)p->stride[d]; /* past the tensor it may wrap: no bytes then */
    left = next;
  }
  return r;
}

/* Bytes of all its rows. */
TMARING_FN tmaring_u32 tmaring_panel_bytes(const tmaring_panel *p, const tmaring_origin *origin)
{
  tmaring_u32 elements = p->elem_bytes;
  for (int d = 0; d < TMARING_MAX_RANK; ++d) {
    const tmaring_i32 inside = p->dims[d] - origin->at[d];
    elements *= (tmaring_u32)(inside < 0 ? 0 : inside < p->box[d] ? inside : p->box[d]);
  }
  return elements;
}

#endif

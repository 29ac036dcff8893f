/* One copy between global and shared memory, of whatever kind: where it lies, and the checks that kinds share. Each returns
 * 0 where it has entered a fault. */
#ifndef TMARING_HOST_RING_PIECE_H
#define TMARING_HOST_RING_PIECE_H

#include "ring_roles.h"

typedef struct tmaring__piece {
  const char *primitive;
  const tmaring_stream *stream;
  uint32_t stage, fill, offset, bytes; /* offset in the slot */
  uint64_t address;                    /* of a box its number among the fill's copies */
} tmaring__piece;

/* Offsets in shared memory: of the slot, and of the piece. */
uint32_t tmaring__piece_slot(const tmaring__ring *r, const tmaring__piece *p);
uint32_t tmaring__piece_shared(const tmaring__ring *r, const tmaring__piece *p);

int tmaring__piece_in_slot(tmaring__env *e, const tmaring__piece *p);
/* The same, and inside the tensor's hull. */
int tmaring__piece_inside(tmaring__env *e, const tmaring__piece *p);
/* Whole 16-byte units on both sides. */
int tmaring__piece_aligned(tmaring__env *e, const tmaring__piece *p);
/* Copy i of a fill's boxes of tiled stream `index`: of the walk's own fill, as large as its map has it, in its slot, and
 * aligned both there and in the tensor. */
int tmaring__piece_box(tmaring__env *e, const tmaring__piece *p, int32_t index, const tmaring_fill *fill, int32_t i);

#endif

/* How the boxes of a tensor map make up a fill: the second load path.
 *
 * A fill of a *tiled* stream is `boxes` copies of one box each. Where a copy goes in the slot and which coordinates it
 * takes follow from the fill and the number of the copy, here and nowhere else. The copy engine clips at the tensor's
 * edges, fills up what lies outside, and always completes the whole box's bytes. Coordinate 0 is a multiple of 16 bytes;
 * stores write whole 16-byte units of a row, so that rows of tiled outputs are whole ones (../tensor_map.h).
 *
 *     rows in one box (by_row 0)               rows in boxes of their own (by_row 1)
 *     slot  [row 0][row 1] ... [row R-1]       slot  [row 0: box 0 | box 1 | ...][row 1: box 0 | ...] ...
 *
 * In both, row j of the fill starts slot_row bytes after row j - 1 (run.h), so that computation does not see the path. */
#ifndef TMARING_ABI_TILE_H
#define TMARING_ABI_TILE_H

#include "walk.h"

#define TMARING_MAX_RANK 5

/* Path of an [M,N] input from global memory to the threads that use it. */
typedef enum tmaring_load_path {
  TMARING_LOAD_BULK = 0,     /* 1D bulk copies into the ring */
  TMARING_LOAD_TILE = 1,     /* tensor-map copies into the ring */
  TMARING_LOAD_ASYNC = 2,    /* cp.async by the warp that feeds the ring */
  TMARING_LOAD_ORDINARY = 3, /* ordinary loads and stores to shared memory by that warp */
  TMARING_LOAD_DIRECT = 4    /* not in the ring: each thread loads what it uses */
} tmaring_load_path;

/* What a coordinate follows. */
typedef enum tmaring_tile_axis {
  TMARING_TILE_NOTHING = 0, /* 0 */
  TMARING_TILE_ROW = 1,     /* the fill's row */
  TMARING_TILE_COLUMN = 2,  /* the fill's column, in the map's elements */
  TMARING_TILE_STEP = 3,    /* grids: number of the fill within its tile */
  TMARING_TILE_GRID = 4     /* grids: digit 0 .. 4 of the tile's number, TMARING_TILE_GRID + digit */
} tmaring_tile_axis;

typedef struct tmaring_tile {
  tmaring_i32 rank;
  tmaring_i32 boxes;     /* copies of a fill; by_row: of a row */
  tmaring_i32 by_row;    /* 1: every row of the fill has boxes of its own */
  tmaring_u32 box_bytes; /* of one copy */
  tmaring_u32
      box_pitch; /* bytes between the copies of a row (by_row) or of a fill, a multiple of 128 where boxes > 1 */
  tmaring_i32 box_step[2]; /* what copy b adds to coordinates 0 and 1: (b % along) * [0], (b / along) * [1] */
  tmaring_i32 along;       /* copies along dimension 0 */
  tmaring_i32 follows[TMARING_MAX_RANK]; /* tmaring_tile_axis of each coordinate */
  tmaring_i32 scale[TMARING_MAX_RANK];   /* what it is multiplied by; COLUMN: divided by (a power of two, as a shift) */
} tmaring_tile;

/* Grids: work that is no matrix of rows. A tile program walks `tiles * steps` rows of one fill each, in chunks of `steps`
 * (walk.h), so that a tile's fills follow one another; tile numbers are digits of mixed radix, digit 0 fastest. */
typedef struct tmaring_grid {
  tmaring_i32 steps;                    /* fills per tile */
  tmaring_i32 extent[TMARING_MAX_RANK]; /* tiles along each digit; unused: 1 */
} tmaring_grid;

/* A fill's place in a grid. */
typedef struct tmaring_grid_place {
  tmaring_i32 step;
  tmaring_i32 digit[TMARING_MAX_RANK];
} tmaring_grid_place;

TMARING_FN void tmaring_grid_place_of(const tmaring_grid *g, const tmaring_fill *fill, tmaring_grid_place *place)
{
  tmaring_u32 tile = (tmaring_u32)fill->row / (tmaring_u32)g->steps; /* the planner keeps grids below 2^31 fills */
  place->step = (tmaring_i32)((tmaring_u32)fill->row - tile * (tmaring_u32)g->steps);
  for (int d = 0; d < TMARING_MAX_RANK; ++d) {
    const tmaring_u32 next = tile / (tmaring_u32)g->extent[d];
    place->digit[d] = (tmaring_i32)(tile - next * (tmaring_u32)g->extent[d]);
    tile = next;
  }
}

/* The number of the place that a coordinate follows, STEP or GRID + digit. No index at run time: digits stay in
 * registers. */
TMARING_FN tmaring_i32 tmaring_grid_number(const tmaring_grid_place *place, tmaring_i32 follows)
{
  tmaring_i32 number = follows == TMARING_TILE_STEP ? place->step : 0;
  for (int digit = 0; digit < TMARING_MAX_RANK; ++digit) {
    if (follows == TMARING_TILE_GRID + digit) number = place->digit[digit];
  }
  return number;
}

/* Rank of a box that is a whole fill, from column 0 on; 0: the fill takes several, or begins elsewhere. */
TMARING_FN tmaring_i32 tmaring_tile_box_rank(const tmaring_tile *t)
{
  if (t->boxes != 1 || t->by_row || t->follows[t->rank - 1] != TMARING_TILE_ROW) return 0;
  for (int d = 0; d < t->rank - 1; ++d) {
    if (t->follows[d] != TMARING_TILE_NOTHING) return 0;
  }
  return t->rank;
}

/* Copies that a fill takes. A chunk may reach past the last row: such a fill has no rows and no copies. */
TMARING_FN tmaring_i32 tmaring_tile_copies(const tmaring_tile *t, const tmaring_fill *fill)
{
  return t->by_row ? t->boxes * fill->rows : fill->rows > 0 ? t->boxes : 0;
}

/* Bytes that they complete on the barrier. */
TMARING_FN tmaring_u32 tmaring_tile_bytes(const tmaring_tile *t, const tmaring_fill *fill)
{
  return (tmaring_u32)tmaring_tile_copies(t, fill) * t->box_bytes;
}

/* Offset in the slot of copy `i`; row_bytes: the stream's slot_row. */
TMARING_FN tmaring_u32 tmaring_tile_offset(const tmaring_tile *t, tmaring_u32 row_bytes, tmaring_i32 i)
{
  const tmaring_i32 row = t->by_row ? i / t->boxes : 0, box = i - row * t->boxes;
  return (tmaring_u32)row * row_bytes + (tmaring_u32)box * t->box_pitch;
}

/* Most rows of an input or output that has a tensor map, and of elements along an axis of a tile program: coordinates of
 * every box of a fill, also of one behind the tensor's end, are below 2^31. No fill reaches 2^20 rows: shared memory holds
 * fewer bytes. */
#define TMARING_MAX_COORDINATES 2146435071 /* 2^31 - 1 - 2^20 */

/* Coordinates of copy `i`, all TMARING_MAX_RANK of them. grid: NULL but for tile programs. */
TMARING_FN void tmaring_tile_coordinates(const tmaring_tile *t, const tmaring_grid *grid, const tmaring_fill *fill,
                                         tmaring_i32 i, tmaring_i32 *coordinate)
{
  const tmaring_i32 row = t->by_row ? i / t->boxes : 0, box = i - row * t->boxes;
  tmaring_grid_place place = {0, {0}};
  if (grid) tmaring_grid_place_of(grid, fill, &place);
  for (int d = 0; d < TMARING_MAX_RANK; ++d) {
    const tmaring_i32 follows = t->follows[d];
    coordinate[d] = 0;
    if (follows == TMARING_TILE_ROW) coordinate[d] = (tmaring_i32)fill->row + row;
    if (follows == TMARING_TILE_COLUMN) coordinate[d] = fill->col >> t->scale[d];
    if (grid && follows >= TMARING_TILE_STEP) coordinate[d] = tmaring_grid_number(&place, follows) * t->scale[d];
  }
  coordinate[0] += box % t->along * t->box_step[0];
  coordinate[1] += box / t->along * t->box_step[1];
}

/* How rows lie in a slot. A row wider than a span lies in several boxes, one after another; within a span, 16-byte units
 * are exchanged by the address, as tensor maps do it (tmaring_swizzle). */
typedef struct tmaring_layout {
  tmaring_i32 swizzle;    /* 0 none, 1: 32 B, 2: 64 B, 3: 128 B */
  tmaring_u32 span_bytes; /* of a row in one box */
  tmaring_u32 row_bytes;  /* between rows */
  tmaring_u32 box_pitch;  /* between boxes */
} tmaring_layout;

/* Where the byte at this offset of an unswizzled slot lies. Slots begin at multiples of 1024 bytes. */
TMARING_FN tmaring_u32 tmaring_swizzled(tmaring_i32 swizzle, tmaring_u32 offset)
{
  return offset ^ ((offset >> 7 & ((1u << swizzle) - 1u)) << 4);
}

/* Offset in the slot of byte `byte` of row `row`. */
TMARING_FN tmaring_u32 tmaring_layout_offset(const tmaring_layout *l, tmaring_i32 row, tmaring_u32 byte)
{
  const tmaring_u32 box = byte / l->span_bytes;
  const tmaring_u32 offset = box * l->box_pitch + (tmaring_u32)row * l->row_bytes + byte - box * l->span_bytes;
  return tmaring_swizzled(l->swizzle, offset);
}

/* Grids: a tensor of a tile program by its elements: for copies of single rows, and for what threads access themselves.
 * A panel is the box of the tensor that one fill, or one tile, has to do with. Elements that strides of the program
 * leave out are not counted. */
typedef struct tmaring_panel {
  tmaring_i32 rank;
  tmaring_i32 dims[TMARING_MAX_RANK];    /* of the tensor; unused: 1 */
  tmaring_i32 box[TMARING_MAX_RANK];     /* of a panel; unused: 1 */
  tmaring_i32 follows[TMARING_MAX_RANK]; /* tmaring_tile_axis: NOTHING, STEP, GRID + digit */
  tmaring_i64 stride[TMARING_MAX_RANK];  /* bytes */
  tmaring_u32 elem_bytes;
  tmaring_layout layout;
} tmaring_panel;

#define TMARING_MAX_PANELS 3

/* A tensor map as the copy engine reads it: opaque. In kernel parameters, constant or global memory. */
typedef struct tmaring_map {
#if defined(__CUDACC__) || defined(__cplusplus)
  alignas(64)
#else
  _Alignas(64)
#endif
      tmaring_u64 word[16];
} tmaring_map;

TMARING_STATIC_ASSERT(sizeof(tmaring_map) == 128, "size of a tensor map");

/* The second parameter of kernels with tiled streams: input t at [t], output t at [TMARING_TILED_OUTPUTS + t]. */
#define TMARING_MAX_TILED     8
#define TMARING_TILED_OUTPUTS 4

typedef struct tmaring_tiles {
  tmaring_map map[TMARING_MAX_TILED];
  tmaring_tile tile[TMARING_MAX_TILED];
  tmaring_grid grid;                       /* steps 0: rows, no grid */
  tmaring_panel panel[TMARING_MAX_PANELS]; /* grids: inputs, then the output */
} tmaring_tiles;

#endif

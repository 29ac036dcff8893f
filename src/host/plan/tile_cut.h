/* How the boxes of a tensor map make up the fills of a stream (tmaring/abi/tile.h draws them). */
#ifndef TMARING_HOST_TILE_CUT_H
#define TMARING_HOST_TILE_CUT_H

#include "facts.h"

/* What is asked of it. */
typedef struct tmaring__tile_need {
  int32_t cols;      /* N */
  int32_t fill_cols; /* columns that a fill holds of a row, at most: N, or a piece's or slice's */
  int32_t rows;      /* rows of a fill, at most */
  int32_t by_row;    /* 1: every row has boxes of its own, as stores by several threads need it */
  int32_t
      row_unit;  /* rows begin at multiples of so many bytes in the slot: 16, or 128 where they are stored as boxes */
  int32_t exact; /* 1: no box reaches past the fill's rows and columns, but for the last ones of the tensor */
} tmaring__tile_need;

typedef struct tmaring__tile_cut {
  tmaring_tile tile;
  tmaring_tensor_map_tiled map; /* address, and the size of the dimension that follows the rows: 0 */
  tmaring_u32 slot_row;         /* bytes between rows in the slot */
  int64_t slot_bytes;           /* a multiple of 128; past any shared memory where the fill is far too large */
} tmaring__tile_cut;

/* The fewest boxes that the hardware takes (256 elements per axis): a box of whole rows, or of rows cut in equal parts as
 * a third dimension; else boxes per row. Map elements are as wide as N allows, up to 8 bytes. The stream can be tiled
 * (load_path.h). 0: exact boxes do not exist for these columns. */
int tmaring__tile_cut_make(tmaring__tile_cut *cut, const tmaring_stream *stream, const tmaring__tile_need *need);

/* Columns of which whole pieces can be stored as boxes: 128 bytes of each of `count` streams. */
int32_t tmaring__tile_unit(const tmaring_stream *streams, int32_t count);

#endif

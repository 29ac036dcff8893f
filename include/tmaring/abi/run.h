/* Contiguous runs: what of a fill is one piece of memory, which bytes of it the copy engine may take, and where they
 * lie in the stage.
 *
 * A bulk copy needs source, destination and size in multiples of 16 bytes. Loads take the 16-byte window around a run,
 * clipped to the tensor's hull (base to last byte); at most 15 bytes at either end of the hull go by ordinary loads.
 * The run keeps its phase (address modulo 16) in shared memory, so no shifting is needed. Stores never take a window:
 * the aligned interior goes by bulk store, head and tail by ordinary stores.
 *
 *     global   ----|--------|========|========|=====---|        | : 16-byte boundaries, = : the run
 *     load         [ window                            ]        read whole, neighbours ignored
 *     store              hh [ interior        ] tttt            h, t: ordinary stores */
#ifndef TMARING_ABI_RUN_H
#define TMARING_ABI_RUN_H

#include "tile.h"

#define TMARING_BULK 16u

/* One streamed tensor [M, N] as kernel and emulator see it. */
typedef struct tmaring_stream {
  tmaring_u64 base;        /* address of element (0, 0) */
  tmaring_u64 hull_end;    /* address past the last byte that may be read; the hull begins at base */
  tmaring_i64 pitch;       /* bytes between rows, of a group where rows come in groups */
  tmaring_i64 group_pitch; /* bytes between groups of rows */
  tmaring_i32 group_rows;  /* rows per group, at most 2^30; 0: one pitch for all rows */
  tmaring_i32 paired;   /* 1: an element is a pair of neighbours in memory, of which a formula reads even or odd ones */
  tmaring_u32 slot;     /* offset of the tensor's part of a stage, a multiple of 128 */
  tmaring_u32 slot_row; /* bytes between rows in the stage where rows are runs of their own, a multiple of 16 */
  tmaring_u32 slot_bytes;
  tmaring_i32 dtype;      /* tmaring_dtype */
  tmaring_u32 elem_bytes; /* of a pair where paired */
  tmaring_i32 path;       /* inputs: tmaring_load_path; outputs: 1 where stores go by tensor maps, else 0 */
  tmaring_i32 dense;      /* 1: a fill is one run: whole rows follow one another, or it holds no more than one row.
                             Tiled: in the slot, where runs have their offsets; rows may lie apart in memory */
} tmaring_stream;

typedef struct tmaring_run {
  tmaring_u64 address;
  tmaring_u32 bytes;
  tmaring_u32 offset; /* in the slot; offset % 16 == address % 16 */
} tmaring_run;

/* What of a run the copy engine takes, and the ordinary bytes before and after. */
typedef struct tmaring_window {
  tmaring_u64 begin;      /* multiple of 16 */
  tmaring_u32 bytes;      /* multiple of 16; 0: nothing for the copy engine */
  tmaring_u32 head, tail; /* ordinary bytes at the run's begin and end */
} tmaring_window;

/* Bytes from row 0 to a row. Rows of a grouped stream are below 2^31 (the planner sees to it). */
TMARING_FN tmaring_i64 tmaring_stream_row(const tmaring_stream *s, tmaring_i64 row)
{
  tmaring_u32 group;
  if (s->group_rows == 0) return row * s->pitch;
  group = (tmaring_u32)row / (tmaring_u32)s->group_rows;
  return (tmaring_i64)group * s->group_pitch + (row - (tmaring_i64)group * s->group_rows) * s->pitch;
}

/* Address of element (row, col). The one 64-bit multiplication per fill. */
TMARING_FN tmaring_u64 tmaring_stream_address(const tmaring_stream *s, tmaring_i64 row, tmaring_i32 col)
{
  return s->base + (tmaring_u64)tmaring_stream_row(s, row) + (tmaring_u64)col * s->elem_bytes;
}

TMARING_FN tmaring_i32 tmaring_run_count(const tmaring_stream *s, tmaring_i32 rows)
{
  return s->dense ? (rows > 0 ? 1 : 0) : rows;
}

/* Run i of rows [first, last) of a fill. */
TMARING_FN tmaring_run tmaring_run_at(const tmaring_stream *s, const tmaring_fill *fill, tmaring_i32 first,
                                      tmaring_i32 last, tmaring_i32 i)
{
  tmaring_run r;
  const tmaring_u32 row_bytes = (tmaring_u32)fill->cols * s->elem_bytes;
  if (s->dense) {
    const tmaring_u64 start = tmaring_stream_address(s, fill->row, fill->col);
    r.address = start + (tmaring_u64)first * row_bytes;
    r.bytes = (tmaring_u32)(last - first) * row_bytes;
    r.offset = (tmaring_u32)(start & (TMARING_BULK - 1)) + (tmaring_u32)first * row_bytes;
  } else {
    r.address = tmaring_stream_address(s, fill->row + first + i, fill->col);
    r.bytes = row_bytes;
    r.offset = (tmaring_u32)(first + i) * s->slot_row + (tmaring_u32)(r.address & (TMARING_BULK - 1));
  }
  return r;
}

/* Offset in the slot of row j's first element of this fill. */
TMARING_FN tmaring_u32 tmaring_run_row_offset(const tmaring_stream *s, const tmaring_fill *fill, tmaring_i32 j)
{
  const tmaring_run r = tmaring_run_at(s, fill, j, j + 1, 0);
  return r.offset;
}

/* The window of a load. */
TMARING_FN tmaring_window tmaring_run_load_window(const tmaring_stream *s, const tmaring_run *r)
{
  tmaring_window w;
  const tmaring_u64 run_end = r->address + r->bytes;
  tmaring_u64 begin = tmaring_round_down(r->address, TMARING_BULK);
  tmaring_u64 end = tmaring_round_up(run_end, TMARING_BULK);
  if (begin < s->base) begin += TMARING_BULK;
  if (end > s->hull_end) end -= TMARING_BULK;
  w.begin = begin;
  if (end <= begin) { /* the hull holds no aligned 16 bytes here */
    w.bytes = 0;
    w.head = r->bytes;
    w.tail = 0;
    return w;
  }
  w.bytes = (tmaring_u32)(end - begin);
  w.head = begin > r->address ? (tmaring_u32)(begin - r->address) : 0u;
  w.tail = run_end > end ? (tmaring_u32)(run_end - end) : 0u;
  return w;
}

/* What of a run a warp's cp.async takes, in units of 4 bytes and more, and the ordinary bytes around it. Nothing outside
 * the run is read. */
#define TMARING_ASYNC 4u

TMARING_FN tmaring_window tmaring_run_inner_window(const tmaring_run *r, tmaring_u32 unit)
{
  tmaring_window w;
  const tmaring_u64 run_end = r->address + r->bytes;
  const tmaring_u64 begin = tmaring_round_up(r->address, unit);
  const tmaring_u64 end = tmaring_round_down(run_end, unit);
  w.begin = begin;
  if (end <= begin) {
    w.bytes = 0;
    w.head = r->bytes;
    w.tail = 0;
    return w;
  }
  w.bytes = (tmaring_u32)(end - begin);
  w.head = (tmaring_u32)(begin - r->address);
  w.tail = (tmaring_u32)(run_end - end);
  return w;
}

/* A run of an input as its path takes it: what the copy engine or cp.async does, and what ordinary loads do. */
TMARING_FN tmaring_window tmaring_run_path_window(const tmaring_stream *s, const tmaring_run *r, tmaring_i32 path)
{
  tmaring_window w;
  if (path == TMARING_LOAD_BULK) return tmaring_run_load_window(s, r);
  if (path == TMARING_LOAD_ASYNC) return tmaring_run_inner_window(r, TMARING_ASYNC);
  w.begin = r->address;
  w.bytes = w.tail = 0;
  w.head = r->bytes;
  return w;
}

/* The interior of a store. */
TMARING_FN tmaring_window tmaring_run_store_window(const tmaring_run *r)
{
  return tmaring_run_inner_window(r, TMARING_BULK);
}

/* Bytes between rows in a stage where every row is a run of its own: room for the window at any phase. */
TMARING_FN tmaring_u32 tmaring_run_slot_row(tmaring_u32 row_bytes, tmaring_i32 aligned)
{
  return (tmaring_u32)tmaring_round_up(row_bytes + (aligned ? 0u : 15u), TMARING_BULK);
}

/* Bytes of a tensor's slot in a stage for fills of up to `rows` rows. */
TMARING_FN tmaring_u32 tmaring_run_slot_bytes(tmaring_u32 row_bytes, tmaring_i32 rows, tmaring_i32 dense,
                                              tmaring_i32 aligned)
{
  const tmaring_u32 bytes = dense ? tmaring_run_slot_row(row_bytes * (tmaring_u32)rows, aligned)
                                  : tmaring_run_slot_row(row_bytes, aligned) * (tmaring_u32)rows;
  return (tmaring_u32)tmaring_round_up(bytes, 128);
}

#endif

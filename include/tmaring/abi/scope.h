/* Row scope: which thread of the consumers holds which elements, and the order of every partial sum.
 *
 * A *unit* is the set of warps that share a row: one warp, a group of warps, or all of them. A unit owns `unit_rows`
 * consecutive rows of a fill and handles them in iterations. Threads take vectors of `vec` elements in turn. In the
 * flat scope (pointwise, dense) the fill is one long row and each warp owns one contiguous chunk of it.
 *
 *     lanes   32/lanes rows at a time in one warp        warp   one row at a time per warp
 *     group   warps_per_row warps share a row                    cta    all consumer warps share a row
 *     cluster as cta, and the CTAs of a cluster share the row: each has a slice of its columns (walk.h)
 *
 * Frames. A row may start anywhere. Vector i of a row covers elements [i*vec - phase, i*vec - phase + vec): `phase` is
 * the element offset of the row's start from the last vector boundary in memory, so that vectors are aligned where the
 * tensor is. Elements outside [0, n) are masked. Aligned plans have phase 0.
 *
 * Sums: within a vector by halves (TMARING_JOIN_VECTOR), then vector after vector in one accumulator per thread, then a
 * butterfly over the row's lanes (xor lanes/2 ... 1), then warp 0, 1, ... of the unit. In a cluster that would be long:
 * there lane l of each warp takes partial results l, l + 32, ... of all warps of rank 0, 1, ..., and a butterfly joins
 * the lanes. */
#ifndef TMARING_ABI_SCOPE_H
#define TMARING_ABI_SCOPE_H

#include "base.h"

typedef enum tmaring_scope_kind {
  TMARING_SCOPE_AUTO = 0,
  TMARING_SCOPE_FLAT = 1,
  TMARING_SCOPE_LANES = 2,
  TMARING_SCOPE_WARP = 3,
  TMARING_SCOPE_GROUP = 4,
  TMARING_SCOPE_CTA = 5,
  TMARING_SCOPE_CLUSTER = 6
} tmaring_scope_kind;

#define TMARING_MAX_VEC 8

/* Named barriers of a CTA. 0 is all its threads'. Units of a cross-warp scope have one each: 1 + unit, over all squads.
 * With two squads, 13 and 14 pass turns. 15 ends the start-up. */
#define TMARING_MAX_GROUP_UNITS       14
#define TMARING_MAX_GROUP_UNITS_OF(q) ((q) > 1 ? 12 / (q) : TMARING_MAX_GROUP_UNITS) /* per squad, of q squads */
#define TMARING_TURN_BARRIER          13u
#define TMARING_START_BARRIER         15u

typedef struct tmaring_scope {
  tmaring_i32 kind;          /* tmaring_scope_kind, never AUTO */
  tmaring_i32 vec;           /* elements per thread and step: 16 bytes of the narrowest streamed type, at most 8 */
  tmaring_i32 lanes_log2;    /* lanes per row: 1 << lanes_log2, at most 32 */
  tmaring_i32 warps_per_row; /* divides the consumer warps */
  tmaring_i32 unit_rows;     /* rows of a fill per unit */
  tmaring_i32 chunk_vecs;    /* flat: vectors per warp; else 0 */
  tmaring_i32 fixed; /* 1: frames start at the row's first element, so that a thread holds the same columns of every
                                row: column reductions, group reductions */
} tmaring_scope;

/* A thread's place, fixed for the kernel. */
typedef struct tmaring_seat {
  tmaring_i32 unit;   /* which unit of the CTA */
  tmaring_i32 member; /* which warp of the unit */
  tmaring_i32 row;    /* which of the rows handled at a time */
  tmaring_i32 start;  /* first vector */
} tmaring_seat;

TMARING_FN tmaring_i32 tmaring_scope_lanes(const tmaring_scope *s)
{
  return 1 << s->lanes_log2;
}

/* Rows that `warps` consumer warps handle at a time. */
TMARING_FN tmaring_i32 tmaring_scope_at_a_time(const tmaring_scope *s, tmaring_i32 warps)
{
  return warps / s->warps_per_row * (32 >> s->lanes_log2);
}

/* Iterations in which a unit handles `rows` rows, 32 / lanes of them at a time. */
TMARING_FN tmaring_i32 tmaring_scope_iterations(const tmaring_scope *s, tmaring_i32 rows)
{
  return (rows + (32 >> s->lanes_log2) - 1) >> (5 - s->lanes_log2);
}

TMARING_FN tmaring_i32 tmaring_scope_stride(const tmaring_scope *s)
{
  return s->kind == TMARING_SCOPE_FLAT ? 32 : s->warps_per_row << s->lanes_log2;
}

TMARING_FN tmaring_seat tmaring_scope_seat(const tmaring_scope *s, tmaring_i32 warp, tmaring_i32 lane)
{
  tmaring_seat seat;
  seat.unit = warp / s->warps_per_row;
  seat.member = warp - seat.unit * s->warps_per_row;
  seat.row = lane >> s->lanes_log2;
  seat.start = seat.member * 32 + (lane & (tmaring_scope_lanes(s) - 1));
  if (s->kind == TMARING_SCOPE_FLAT) seat.start = warp * s->chunk_vecs + lane;
  return seat;
}

/* One past the last vector of a thread's seat, for a row (or flat fill) of n elements at this phase. */
TMARING_FN tmaring_i32 tmaring_scope_end(const tmaring_scope *s, tmaring_i32 warp, tmaring_i32 phase, tmaring_i32 n)
{
  const tmaring_i32 vectors = (tmaring_i32)((tmaring_u32)(phase + n + s->vec - 1) / (tmaring_u32)s->vec);
  const tmaring_i32 chunk_end = (warp + 1) * s->chunk_vecs;
  return s->kind == TMARING_SCOPE_FLAT && chunk_end < vectors ? chunk_end : vectors;
}

/* Rows [first, last) of a fill of `rows` rows that belong to a unit. */
TMARING_FN void tmaring_scope_unit_rows(const tmaring_scope *s, tmaring_i32 unit, tmaring_i32 rows, tmaring_i32 *first,
                                        tmaring_i32 *last)
{
  if (s->kind == TMARING_SCOPE_FLAT) {
    *first = 0;
    *last = 1;
    return;
  }
  *first = (tmaring_i32)tmaring_min_i64(rows, unit * s->unit_rows);
  *last = (tmaring_i32)tmaring_min_i64(rows, *first + s->unit_rows);
}

/* Elements [first, last) of a flat fill of n elements that belong to a warp. */
TMARING_FN void tmaring_scope_flat_range(const tmaring_scope *s, tmaring_i32 warp, tmaring_i32 phase, tmaring_i32 n,
                                         tmaring_i32 *first, tmaring_i32 *last)
{
  const tmaring_i64 begin = (tmaring_i64)warp * s->chunk_vecs * s->vec - phase;
  const tmaring_i64 end = begin + (tmaring_i64)s->chunk_vecs * s->vec;
  *first = (tmaring_i32)tmaring_min_i64(n, tmaring_max_i64(0, begin));
  *last = (tmaring_i32)tmaring_min_i64(n, tmaring_max_i64(0, end));
}

/* Element phase of an address in vectors of `vec`. */
TMARING_FN tmaring_i32 tmaring_scope_phase(tmaring_u64 address, tmaring_u32 elem_bytes, tmaring_i32 vec)
{
  return (tmaring_i32)((address / elem_bytes) & (tmaring_u64)(vec - 1));
}

/* A vector's values joined by halves, for any join(a, b): ((0,1),(2,3)),((4,5),(6,7)). vec is 2, 4 or 8. */
#define TMARING_JOIN_TWO(join, v)  join((v)[0], (v)[1])
#define TMARING_JOIN_FOUR(join, v) join(TMARING_JOIN_TWO(join, v), TMARING_JOIN_TWO(join, (v) + 2))
#define TMARING_JOIN_VECTOR(join, v, vec)                                                                              \
  ((vec) == 2   ? TMARING_JOIN_TWO(join, v)                                                                            \
   : (vec) == 4 ? TMARING_JOIN_FOUR(join, v)                                                                           \
                : join(TMARING_JOIN_FOUR(join, v), TMARING_JOIN_FOUR(join, (v) + (vec)-4)))

/* Lanes that share a group of `cols` columns (a power of two, vec .. 32 * vec): neighbours, since frames are fixed. Rows
 * shorter than a group are one group. */
TMARING_FN tmaring_i32 tmaring_scope_group_lanes(const tmaring_scope *s, tmaring_i32 cols)
{
  const tmaring_i32 lanes = cols / s->vec, row = tmaring_scope_lanes(s);
  return lanes < row ? lanes : row;
}

#endif

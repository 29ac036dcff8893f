/* Which elements a warp handles: the part of the lanes that knows no real. */
#ifndef TMARING_HOST_LANES_FRAME_H
#define TMARING_HOST_LANES_FRAME_H

#include "lanes.h"

/* One row (flat: the whole fill) that a warp handles at this time. */
typedef struct tmaring__segment {
  int32_t row;   /* of the fill; -1: no row here */
  int32_t count; /* elements of the row */
  int32_t phase;
  int32_t end;       /* one past the last vector of this warp */
  int32_t first;     /* element at the segment's start in this step; negative in front of the row */
  int32_t low, high; /* elements of the segment that are inside, relative to its start */
} tmaring__segment;

/* A warp at a step of a pass over its rows. */
typedef struct tmaring__lanes_frame {
  const tmaring_fill *fill;
  int32_t warp, pass; /* warp: of the CTA's consumers */
  uint32_t stage;
  int32_t flat;
  int32_t rows, lanes; /* rows at a time; lanes per row */
  int32_t size;        /* elements of a segment in a step */
  tmaring__segment segment[32];
} tmaring__lanes_frame;

/* Finds the rows of an iteration. */
void tmaring__lanes_frame_begin(const tmaring__lanes *l, tmaring__lanes_frame *f, const tmaring_fill *fill,
                                int32_t warp, int32_t iteration);

/* Index of a warp in its squad. */
static inline int32_t tmaring__lanes_squad_warp(const tmaring__lanes *l, int32_t warp)
{
  return warp % tmaring_cta_squad_warps(&l->args->cta);
}

/* Places every segment at step i. 0: no row reaches it. */
int tmaring__lanes_frame_step(const tmaring__lanes *l, tmaring__lanes_frame *f, int32_t i);

/* First element of a row in its stage. */
unsigned char *tmaring__lanes_staged(const tmaring__lanes *l, const tmaring__lanes_frame *f,
                                     const tmaring_stream *stream, int32_t row);

/* First element of a row of an input: in its stage, or where it lies if it is read directly. */
const unsigned char *tmaring__lanes_source(const tmaring__lanes *l, const tmaring__lanes_frame *f,
                                           const tmaring_stream *stream, int32_t row);

/* Number of the column that element i of a segment lies in. */
static inline int32_t tmaring__lanes_col(const tmaring__lanes_frame *f, const tmaring__segment *s, int32_t i)
{
  return f->fill->col + (f->flat ? (s->first + i) % f->fill->cols : s->first + i);
}

/* Value of a row, [M] or [M,N/k], and group of columns. */
static inline unsigned char *tmaring__lanes_value(const tmaring__lanes_frame *f, const tmaring_vector *v,
                                                  const tmaring__segment *s, int32_t group)
{
  return (unsigned char *)(uintptr_t)tmaring_vector_address(v, f->fill->row + s->row, group);
}

#endif

/* Bytes that a tensor takes, from its address to past its last byte. */
#ifndef TMARING_HOST_EXTENT_H
#define TMARING_HOST_EXTENT_H

#include "../formula/program.h"

/* The rows of a stream; the last one ends them, grouped or not. */
static inline int64_t tmaring__stream_bytes(const tmaring_stream *stream, int64_t rows, int64_t cols)
{
  return rows > 0 ? tmaring_stream_row(stream, rows - 1) + cols * (int64_t)stream->elem_bytes : 0;
}

/* Where a tensor parameter that is not streamed stands in the arguments; NULL for one that is. */
static inline tmaring_vector *tmaring__slot_vector(tmaring_args *args, tmaring__slot slot)
{
  switch (slot.kind) {
  case TMARING__SLOT_VECTOR: return &args->vector[slot.index];
  case TMARING__SLOT_ROW_SCALAR: return &args->row_scalar[slot.index];
  case TMARING__SLOT_GROUP_INPUT: return &args->group_input[slot.index];
  case TMARING__SLOT_ROW_OUTPUT: return &args->row_output[slot.index];
  case TMARING__SLOT_GROUP_OUTPUT: return &args->group_output[slot.index];
  case TMARING__SLOT_COLUMN_OUTPUT: return &args->column_output[slot.index];
  default: return NULL;
  }
}

/* 1 for [N] tensors: their values follow one another, whatever M. */
static inline int tmaring__slot_per_column(tmaring__slot slot)
{
  return slot.kind == TMARING__SLOT_VECTOR || slot.kind == TMARING__SLOT_COLUMN_OUTPUT;
}

/* Values per row, `groups` of them. */
static inline int64_t tmaring__vector_bytes(const tmaring_vector *vector, int64_t rows, int64_t groups)
{
  if (rows == 0) return 0;
  return (rows - 1) * vector->pitch + (groups - 1) * vector->step + (int64_t)tmaring_dtype_bytes(vector->dtype);
}

#endif

/* Step 1 of planning: what is known before anything is decided. */
#ifndef TMARING_HOST_FACTS_H
#define TMARING_HOST_FACTS_H

#include "plan_state.h"

typedef struct tmaring__facts {
  const tmaring__program *program;
  const tmaring_formula *formula;            /* whose names messages use */
  tmaring_stream input[TMARING_MAX_STREAMS]; /* strides, types and dense; addresses and slots are 0 */
  tmaring_stream output[TMARING_MAX_STREAMS];
  uint32_t input_alignment[TMARING_MAX_STREAMS]; /* bytes; of the second half of an [M,2N] tensor: of that half */
  uint32_t output_alignment[TMARING_MAX_STREAMS];
  tmaring_vector vector[TMARING_MAX_VECTORS]; /* these six: types, pitches and steps */
  tmaring_vector row_scalar[TMARING_MAX_VECTORS];
  tmaring_vector row_output[TMARING_MAX_VECTORS];
  tmaring_vector group_input[TMARING_MAX_VECTORS];
  tmaring_vector group_output[TMARING_MAX_VECTORS];
  tmaring_vector column_output[TMARING_MAX_VECTORS];
  int64_t rows;         /* hinted M; 0: not told */
  int32_t cols;         /* N */
  int32_t vec;          /* elements in 16 bytes of the narrowest streamed type, 2 .. 8 */
  int32_t unit;         /* columns that are whole vectors, whole 16 bytes of every stream and whole groups */
  int32_t widest_bytes; /* element size of the widest streamed type */
  int32_t aligned;      /* bases, strides and N are whole 16-byte units in every streamed tensor */
  int32_t dense;        /* rows of every streamed tensor follow one another */
  int32_t wide;         /* arithmetic in double */
  int32_t fixed;        /* a thread holds the same columns of every row */
  int32_t grouped;      /* some stream's rows come in groups */
  int32_t half[TMARING_MAX_STREAMS]; /* per input: 1: one half of an [M,2N] tensor */
  int32_t work;            /* per element: 1 for every operation, 8 for a quotient or function, 16 for a group */
  int32_t flat_free;       /* nothing in the formula ties an element to its row or column */
  int32_t row_period;      /* rows after which a dense fill starts on a 16-byte boundary again */
  int64_t load_bytes;      /* per row: streamed inputs */
  int64_t bytes_per_row;   /* compulsory traffic: streamed inputs once, outputs once, values per row and group */
  int64_t rows_most;       /* M that strides leave room for */
  uint32_t vector_bytes;   /* [N] inputs, each rounded up to 16 */
  int32_t vectors_aligned; /* to 16 bytes, all of them */
} tmaring__facts;

/* Checks the tensors (entering defaults in them) and gathers what they and the formula say. facts->program points into
 * the formula. Errors: ARGUMENT, TYPE, SHAPE, ALIGNMENT, UNSUPPORTED, CAPACITY. */
tmaring_status tmaring__facts_gather(tmaring__facts *facts, const tmaring_formula *formula, tmaring_tensor *tensors,
                                     int32_t count);

/* Raises `unit` to what every output can be stored of as whole boxes of tensor maps. */
void tmaring__facts_widen(tmaring__facts *facts);

/* Name of the tensor that is stream, vector, ... `index`; lives until the formula is freed. */
const char *tmaring__facts_name(const tmaring__facts *facts, tmaring__slot_kind kind, int32_t index);

/* 1 where the formula reduces columns: tiles are then chunks of rows (column.h). */
static inline int tmaring__facts_columns(const tmaring__facts *facts)
{
  return facts->program->column_output_count > 0;
}

/* 1 where values of a row are joined, over all of it or over groups of its columns. */
static inline int tmaring__facts_joins(const tmaring__facts *facts)
{
  return facts->program->reduction_passes > 0 || facts->program->group_cols_most > 0;
}

#endif

/* Step 1 of planning: what is known before anything is decided. */
#ifndef TMARING_HOST_FACTS_H
#define TMARING_HOST_FACTS_H

#include "plan_state.h"

typedef struct tmaring__facts {
  const tmaring__program *program;
  tmaring_stream input[TMARING_MAX_STREAMS]; /* pitch, types and dense; addresses and slots are 0 */
  tmaring_stream output[TMARING_MAX_STREAMS];
  tmaring_i32 vector_dtype[TMARING_MAX_VECTORS];
  tmaring_i32 row_scalar_dtype[TMARING_MAX_VECTORS];
  tmaring_i32 row_output_dtype[TMARING_MAX_VECTORS];
  int64_t rows;          /* hinted M; 0: not told */
  int32_t cols;          /* N */
  int32_t vec;           /* elements in 16 bytes of the narrowest streamed type */
  int32_t widest_bytes;  /* element size of the widest streamed type */
  int32_t aligned;       /* bases, pitches and N are whole 16-byte units in every streamed tensor */
  int32_t dense;         /* rows of every streamed tensor follow one another */
  int32_t flat_free;     /* nothing in the formula ties an element to its row or column */
  int32_t row_period;    /* rows after which a dense fill starts on a 16-byte boundary again */
  int64_t load_bytes;    /* per row: [M,N] inputs */
  int64_t bytes_per_row; /* compulsory traffic: streamed inputs once, outputs once, values per row */
  int64_t max_pitch_bytes;
  uint32_t vector_bytes; /* [N] inputs, each rounded up to 16 */
} tmaring__facts;

/* Checks the tensors (entering defaults in them) and gathers what they and the formula say. facts->program points into
 * the formula. Errors: ARGUMENT, TYPE, SHAPE, ALIGNMENT, UNSUPPORTED. */
tmaring_status tmaring__facts_gather(tmaring__facts *facts, const tmaring_formula *formula, tmaring_tensor *tensors,
                                     int32_t count);

#endif

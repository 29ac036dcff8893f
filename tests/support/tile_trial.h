/* One run of a tile program on a backend, judged by a definition of its own: bytes of copies and transposes one by one,
 * products in double. */
#ifndef TMARING_TESTS_TILE_TRIAL_H
#define TMARING_TESTS_TILE_TRIAL_H

#include "tmaring/tile_program.h"
#include "venue.h"

typedef struct tile_trial {
  tmaring_tile_op op;
  tmaring_dtype dtype, output;    /* of the inputs; of matmul's c */
  int32_t rank;                   /* copy */
  int64_t dims[TMARING_MAX_RANK]; /* copy, transpose: of x, innermost first; matmul: n, m, k */
  size_t gap;                     /* bytes between rows beyond what makes them multiples of 16 */
  int broadcast;                  /* matmul: a is [m, k, 1], b is [1, k, n] */
  tmaring_tile_options options;
  void (*tamper)(tmaring_tile_plan *plan); /* NULL, or makes a mutant of the plan, which then goes unchecked */
  uint64_t seed;
} tile_trial;

typedef enum tile_outcome { TILE_PASSED = 0, TILE_FAILED, TILE_REFUSED } tile_outcome;

typedef struct tile_result {
  tile_outcome outcome;
  tmaring_status status; /* where a call failed */
  tmaring_args args;     /* of the plan */
  double worst;          /* matmul: largest error as a multiple of what is allowed */
  char text[600];        /* what failed, or why it was refused */
} tile_result;

/* A trial with default options. */
tile_trial tile_trial_make(tmaring_tile_op op, tmaring_dtype dtype, int32_t rank, const int64_t *dims);
void tile_trial_run(const venue *v, const tile_trial *trial, tile_result *result);

#endif

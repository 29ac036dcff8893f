/* Pairwise covers: few rows in which every pair of levels of every two factors occurs. Greedy, seeded, the same every
 * time. */
#ifndef TMARING_TESTS_PAIRWISE_H
#define TMARING_TESTS_PAIRWISE_H

#include <stdint.h>

#define PAIRWISE_MAX_FACTORS 16
#define PAIRWISE_MAX_LEVELS  16
#define PAIRWISE_MAX_ROWS    512

typedef struct pairwise {
  int32_t factors;
  int32_t levels[PAIRWISE_MAX_FACTORS];
  int32_t rows;
  int32_t row[PAIRWISE_MAX_ROWS][PAIRWISE_MAX_FACTORS]; /* level of each factor */
} pairwise;

/* Builds the cover of `factors` factors of levels[i] levels each. NULL: out of memory or of rows. The caller frees it.
 */
pairwise *pairwise_build(const int32_t *levels, int32_t factors, uint64_t seed);
/* Pairs that no row of the cover has: 0. Counted anew from the rows. */
int32_t pairwise_missing(const pairwise *p);

#endif

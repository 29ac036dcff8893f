/* Seeded random numbers and the input data of tests. Never zeros: a zero hides a lost term. */
#ifndef TMARING_TESTS_NOISE_H
#define TMARING_TESTS_NOISE_H

#include <stdint.h>

typedef struct noise {
  uint64_t state;
} noise;

noise noise_seed(uint64_t seed);
uint64_t noise_next(noise *n);
/* Uniform in [0, limit). */
int32_t noise_below(noise *n, int32_t limit);
/* Uniform in [low, high). */
double noise_between(noise *n, double low, double high);

typedef enum data_kind {
  DATA_PLAIN = 0,  /* [-2, 2] without (-1/64, 1/64) */
  DATA_POSITIVE,   /* [0.5, 2] */
  DATA_OFFSET,     /* 100 + [-0.5, 0.5]: a mean that is large beside the spread */
  DATA_ONES,       /* 1 */
  DATA_ROW_NUMBER, /* the row's number */
  DATA_STEEP,      /* [-16, 16]: wide range for exp */
  DATA_WHOLE       /* -7 .. 7 without 0: sums of them and of their squares are exact in fp32 */
} data_kind;

double data_value(noise *n, data_kind kind, int64_t row);

#endif

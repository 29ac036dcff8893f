/* Times of repeated measurements, and the clock of the host. */
#ifndef TMARING_HOST_STATISTICS_H
#define TMARING_HOST_STATISTICS_H

#include <stddef.h>

/* Of a sample, in its unit. */
typedef struct tmaring__statistics {
  size_t count;
  double median, low, high; /* low and high: smallest and largest */
  double quartile_spread;   /* third quartile minus first */
} tmaring__statistics;

/* Sorts the sample. All zero for count 0. Quantiles lie between neighbours where they must. */
void tmaring__statistics_make(tmaring__statistics *statistics, double *sample, size_t count);

/* Microseconds of a clock that only goes forward. */
double tmaring__now_us(void);

#endif

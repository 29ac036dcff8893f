#define _POSIX_C_SOURCE 200809L
#include "statistics.h"

#include <stdlib.h>
#include <time.h>

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double fraction)
{
  const double at = fraction * (double)(count - 1);
  const size_t below = (size_t)at;
  const size_t above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

void tmaring__statistics_make(tmaring__statistics *statistics, double *sample, size_t count)
{
  const tmaring__statistics empty = {0, 0, 0, 0, 0};
  *statistics = empty;
  if (count == 0) return;
  qsort(sample, count, sizeof *sample, ascending);
  statistics->count = count;
  statistics->median = quantile(sample, count, 0.5);
  statistics->low = sample[0];
  statistics->high = sample[count - 1];
  statistics->quartile_spread = quantile(sample, count, 0.75) - quantile(sample, count, 0.25);
}

double tmaring__now_us(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

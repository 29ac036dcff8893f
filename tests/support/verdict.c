#include "verdict.h"

#include <math.h>

double verdict_tolerance(tmaring_dtype dtype, double want, double bound)
{
  const double below = fabs(number_round(dtype, want - bound) - want);
  const double above = fabs(number_round(dtype, want + bound) - want);
  return below > above ? below : above;
}

int verdict_near(tmaring_dtype dtype, double got, double want, double bound)
{
  if (isinf(bound)) return 1;
  const double nearest = number_round(dtype, want);
  if (isnan(nearest) || isnan(got)) return isnan(nearest) && isnan(got);
  if (got == nearest) return 1;
  return got >= number_round(dtype, want - bound) && got <= number_round(dtype, want + bound);
}

int64_t verdict_row(tmaring_dtype dtype, const double *got, const double *want, const double *bound, int64_t count)
{
  for (int64_t i = 0; i < count; ++i) {
    if (!verdict_near(dtype, got[i], want[i], bound[i])) return i;
  }
  return count;
}

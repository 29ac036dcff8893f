#include "verdict.h"

#include <math.h>

static double roundoff(tmaring_dtype dtype)
{
  return dtype == TMARING_F32 ? 0x1p-24 : dtype == TMARING_F16 ? 0x1p-11 : 0x1p-8;
}

double verdict_tolerance(tmaring_dtype dtype, double want, double bound)
{
  if (bound == 0.0) return fabs(number_round(dtype, want) - want);
  /* an fp32 result has its last rounding within the bound */
  const double last = dtype == TMARING_F32 ? 0.0 : number_half_ulp(dtype, fabs(want) + bound);
  return (last + bound) * (1.0 + 1e-6); /* roundings of roundings */
}

int verdict_near(tmaring_dtype dtype, double got, double want, double bound)
{
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
  if (got == want) return 1;
  if (bound == 0.0) return got == number_round(dtype, want);
  const double error = fabs(got - want);
  const double at_least = dtype == TMARING_F32 ? bound : bound + 0.5 * roundoff(dtype) * fabs(want);
  if (error <= at_least) return 1; /* the common case, without the exact half ulp */
  return error <= verdict_tolerance(dtype, want, bound);
}

int64_t verdict_row(tmaring_dtype dtype, const double *got, const double *want, const double *bound, int64_t count)
{
  for (int64_t i = 0; i < count; ++i) {
    if (!verdict_near(dtype, got[i], want[i], bound[i])) return i;
  }
  return count;
}

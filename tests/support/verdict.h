/* Is a result near enough? Tolerances follow the arithmetic: a bound of the steps before, and one rounding to the
 * output's type. Rounding is monotonic, so a right result lies between the roundings of want - bound and want + bound:
 * the nearest value of the type itself, and a neighbour only next to a midpoint. */
#ifndef TMARING_TESTS_VERDICT_H
#define TMARING_TESTS_VERDICT_H

#include <stdint.h>

#include "number.h"

/* Distance that `got` may have from `want`. bound 0: none beyond the rounding of `want` itself. */
double verdict_tolerance(tmaring_dtype dtype, double want, double bound);
/* NaN stands for what the type makes of it (integers: 0). An infinite bound lets everything pass. */
int verdict_near(tmaring_dtype dtype, double got, double want, double bound);
/* First of count elements that is too far off, or count. */
int64_t verdict_row(tmaring_dtype dtype, const double *got, const double *want, const double *bound, int64_t count);

#endif

/* Elements of every type as doubles, and doubles rounded to a type: written apart from what the backends use. */
#ifndef TMARING_HOST_ELEMENT_H
#define TMARING_HOST_ELEMENT_H

#include <stddef.h>

#include "tmaring/tensor.h"

/* Element `index` of an array at any address; exact, but for i64 past 2^53. */
double tmaring__element(const void *data, tmaring_dtype dtype, size_t index);
/* What a tensor of the type holds after `value` was stored: the nearest value, ties to even. Floats overflow to
 * infinity, e4m3, e5m2 and integers saturate; integers hold 0 for NaN. */
double tmaring__element_round(tmaring_dtype dtype, double value);
/* Half the distance from 1 to the next number; 0 for integers. */
double tmaring__element_roundoff(tmaring_dtype dtype);

#endif

/* Elements of every type as doubles: exact, apart from what the backends use. */
#ifndef TMARING_HOST_ELEMENT_H
#define TMARING_HOST_ELEMENT_H

#include <stddef.h>

#include "tmaring/tensor.h"

/* Element `index` of an array. */
double tmaring__element(const void *data, tmaring_dtype dtype, size_t index);
/* Half the distance from 1 to the next number: 2^-24, 2^-11, 2^-8. */
double tmaring__element_roundoff(tmaring_dtype dtype);
/* Smallest number above zero, and largest finite one. */
double tmaring__element_smallest(tmaring_dtype dtype);
double tmaring__element_largest(tmaring_dtype dtype);

#endif

/* Numbers as tensors store them, converted by tables and by arithmetic of the tests' own: nothing of the library. */
#ifndef TMARING_TESTS_NUMBER_H
#define TMARING_TESTS_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "tmaring/abi/base.h"

/* Nearest value of the type, ties to even. */
double number_round(tmaring_dtype dtype, double value);
/* Writes the nearest value; reads one. Any address. */
void number_write(tmaring_dtype dtype, void *to, double value);
double number_read(tmaring_dtype dtype, const void *from);
/* A row at a time. */
void number_read_row(tmaring_dtype dtype, double *to, const void *from, int64_t count);

/* Half of the distance between neighbouring values of the type at |value|: what one rounding may cost. */
double number_half_ulp(tmaring_dtype dtype, double value);

#endif

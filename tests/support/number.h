/* Numbers as tensors store them, converted by tables and by arithmetic of the tests' own: nothing of the library. */
#ifndef TMARING_TESTS_NUMBER_H
#define TMARING_TESTS_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "tmaring/abi/base.h"

/* Nearest value of the type, ties to even. Beyond the largest: infinity (f16, bf16, f32), the largest (fp8, integers).
 * Integers: 0 for NaN. */
double number_round(tmaring_dtype dtype, double value);
/* Writes the nearest value; reads one. Any address. */
void number_write(tmaring_dtype dtype, void *to, double value);
double number_read(tmaring_dtype dtype, const void *from);
/* A row at a time. */
void number_read_row(tmaring_dtype dtype, double *to, const void *from, int64_t count);

/* Half of the distance between neighbouring values of the type at |value|: what one rounding may cost. */
double number_half_ulp(tmaring_dtype dtype, double value);
/* Largest finite value. */
double number_largest(tmaring_dtype dtype);
/* Smallest positive value. */
double number_least(tmaring_dtype dtype);
/* 1 for i8, i32, i64. */
int number_is_integer(tmaring_dtype dtype);

#endif

/* Shapes of tensors and of expressions. */
#ifndef TMARING_HOST_DIMS_H
#define TMARING_HOST_DIMS_H

#include "tmaring/formula.h"

typedef struct tmaring__dims {
  tmaring_shape shape;
  int32_t group_cols; /* k of [M,N/k]; 0 for other shapes */
} tmaring__dims;

#define TMARING__MIN_GROUP_COLS 2
#define TMARING__MAX_GROUP_COLS 1024

/* "[M,N]", "[N]", "[M]", "[]", "[M,N/128]", "[M,2N]". */
const char *tmaring__dims_text(tmaring__dims dims);
int tmaring__dims_equal(tmaring__dims a, tmaring__dims b);
/* 1 for [M,N], [N] and [M,N/k]: values differ from column to column. */
int tmaring__dims_have_columns(tmaring__dims dims);
/* What an operation on both has: a scalar goes with everything, [M] with [N] makes [M,N], and [M,N/k] stays so only
 * with scalars, [M] and the same k. Not for [M,2N], which no operation takes. */
tmaring__dims tmaring__dims_join(tmaring__dims a, tmaring__dims b);
/* 1 for a power of two within the limits above. */
int tmaring__dims_group_fits(double cols);

#endif

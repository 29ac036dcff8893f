/* The C library's mathematics, opened at run time, so that libtmaring needs nothing but libc to link or load. */
#ifndef TMARING_HOST_MATHLIB_H
#define TMARING_HOST_MATHLIB_H

#include "detail.h"

/* X(name, type) */
#define TMARING__MATHLIB_LIST(X)                                                                                       \
  X(exp, double)                                                                                                       \
  X(log, double)                                                                                                       \
  X(sqrt, double)                                                                                                      \
  X(tanh, double)                                                                                                      \
  X(erf, double)                                                                                                       \
  X(expf, float)                                                                                                       \
  X(logf, float)                                                                                                       \
  X(sqrtf, float)                                                                                                      \
  X(tanhf, float)                                                                                                      \
  X(erff, float)

typedef struct tmaring__mathlib {
#define TMARING__MATHLIB_MEMBER(name, type) type (*name)(type);
  TMARING__MATHLIB_LIST(TMARING__MATHLIB_MEMBER)
#undef TMARING__MATHLIB_MEMBER
} tmaring__mathlib;

/* The functions; valid after a successful tmaring__mathlib_load, which every way to them makes first. */
extern tmaring__mathlib tmaring__math;

/* Opens libm once; any thread. ERROR_INTERNAL where the C library has none. */
tmaring_status tmaring__mathlib_load(void);

#endif

/* Comparison of a run's outputs with the oracle, tmaring_formula_evaluate in double.
 *
 * An output element passes where it is what its type makes, by one rounding to nearest even, of some number within
 *     e = rtol * |reference| + atol
 * of the reference: an fp8 or integer code is the reference's own, or its neighbour's only where a midpoint lies
 * within e. NaN passes for NaN; an infinite reference has e = 0. With u = 2^-24, or 2^-53 where the formula runs in
 * double:
 *     rtol = (64 + N/16) u, and 2 u_T for every cast(T, ...): a value close to a midpoint may be rounded either way
 *     atol = (64 + N/16) u * largest finite |reference| of this output; for fp8 and integers 8 u * that
 * Outputs [N] have the rows that a thread adds one after another in place of N/16. A column number (argmax) is exact.
 * Where the formula has round(...), integers may be the next number. Formulas that cancel more than that need --rtol
 * and --atol of their own. */
#ifndef TMARING_HOST_VERIFY_H
#define TMARING_HOST_VERIFY_H

#include "operand.h"

typedef struct tmaring__tolerance {
  double relative, absolute;
} tmaring__tolerance;

/* The tolerance of an output whose largest finite |reference| is given. */
tmaring__tolerance tmaring__tolerance_of(const tmaring__job *job, int32_t index, double largest);

/* How far past the numbers that pass `got` lies: 0 passes. */
double tmaring__tolerance_excess(tmaring__tolerance t, tmaring_dtype dtype, double got, double reference);

/* Prints a line per output on stderr. 0, TMARING__EXIT_FAILED on a mismatch, or another exit code after a message. */
int tmaring__verify(const tmaring__operands *operands, const tmaring__job *job);

#endif

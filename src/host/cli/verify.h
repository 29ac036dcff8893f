/* Comparison of a run's outputs with the oracle, tmaring_formula_evaluate in double.
 *
 * An output element passes where |got - reference| <= rtol * |reference| + atol, and where both are NaN or the same
 * infinity; an infinity also stands for a reference that rounds past the largest number of the type. With u = 2^-24 and
 * u_T the roundoff of the output's type:
 *     rtol = 2 u_T + (64 + N/16) u      the output's rounding, and sums and functions in fp32
 *     atol = (64 + N/16) u * largest finite |reference| of this output + the smallest number of the type
 * Formulas that cancel more than that need --rtol and --atol of their own. */
#ifndef TMARING_HOST_VERIFY_H
#define TMARING_HOST_VERIFY_H

#include "operand.h"

/* Prints a line per output on stderr. 0, TMARING__EXIT_FAILED on a mismatch, or another exit code after a message. */
int tmaring__verify(const tmaring__operands *operands, const tmaring__job *job);

#endif

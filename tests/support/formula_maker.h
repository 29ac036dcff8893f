/* Random formulas, well typed and within the language's limits, each with a bound of the rounding errors its evaluation
 * may gather: the tolerance of a comparison follows the arithmetic. */
#ifndef TMARING_TESTS_FORMULA_MAKER_H
#define TMARING_TESTS_FORMULA_MAKER_H

#include <stdint.h>

enum { MADE_TEXT_BYTES = 8000, MADE_INPUTS = 12, MADE_NAMES = 3 };

/* Names of the inputs that a formula may have, and their shapes as written. p is read by halves or by even and odd
 * columns; k holds whole numbers below the number of columns; casts may take the type of x. */
extern const char *const made_inputs[MADE_INPUTS][2];

typedef struct made_output {
  char name[8];
  double error; /* in units of the rounding error of 1 */
} made_output;

typedef struct made_formula {
  char text[MADE_TEXT_BYTES];
  int32_t outputs;
  made_output output[MADE_NAMES + 2]; /* every name that may be an output */
} made_formula;

/* The formula of a seed, for inputs in [-2, 2] that are exact in fp32 and at least two rows of `cols` columns. */
void formula_make(made_formula *made, uint64_t seed, int32_t rows, int32_t cols);

#endif

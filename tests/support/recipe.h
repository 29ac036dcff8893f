/* Formulas that the tests run, each with a reference in double written by hand, apart from the library's oracle, and
 * with a bound of what fp32 arithmetic may add. */
#ifndef TMARING_TESTS_RECIPE_H
#define TMARING_TESTS_RECIPE_H

#include <stdint.h>

#include "tmaring/formula.h"

#define RECIPE_MAX_TENSORS 6
#define RECIPE_MAX_OUTPUTS 3
/* The first types of the list, whose arithmetic is fp32: what the bounds below are for. */
#define RECIPE_DTYPES 3

/* Unit roundoff of fp32. */
#define U32 (1.0 / 16777216.0)

/* One row of inputs. Index i is input i of the recipe. */
typedef struct recipe_row {
  int64_t cols;
  double depth;                            /* roundings along the longest chain of additions of a row sum */
  const double *input[RECIPE_MAX_TENSORS]; /* [M,N]: the row; [N]: all; [M]: one value */
} recipe_row;

/* One row of an output: values, and how far an fp32 result may be away from each before it is rounded to the output's
 * type. bound 0: fp32 gives the value itself. */
typedef struct expected_row {
  double *value, *bound;
} expected_row;

typedef struct recipe_input {
  const char *name;
  tmaring_shape shape;
} recipe_input;

typedef struct recipe {
  const char *name, *text;
  int32_t input_count;
  recipe_input input[RECIPE_MAX_TENSORS];
  int32_t output_count;
  tmaring_shape output[RECIPE_MAX_OUTPUTS]; /* in the formula's order */
  void (*evaluate)(const recipe_row *in, const expected_row *out);
} recipe;

typedef enum recipe_name {
  RECIPE_DOUBLE,  /* x + x */
  RECIPE_ADD_ONE, /* x + 1 */
  RECIPE_RMSNORM,
  RECIPE_LAYERNORM,
  RECIPE_SOFTMAX,
  RECIPE_ROW_SUM,   /* [M] */
  RECIPE_ROW_MEAN,  /* [M] */
  RECIPE_ROW_MAX,   /* [M] */
  RECIPE_SCALE_ADD, /* a + b * s, s per row */
  RECIPE_TWO,       /* a + b and a - b */
  RECIPE_CENTERED,  /* x - mean(x), and the mean [M] */
  RECIPE_COUNT
} recipe_name;

const recipe *recipe_find(recipe_name name);

#endif

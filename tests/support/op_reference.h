/* A reference for each ready op, written by hand in double with an error bound per value, apart from the library's
 * formulas and from its oracle. */
#ifndef TMARING_TESTS_OP_REFERENCE_H
#define TMARING_TESTS_OP_REFERENCE_H

#include "op_ball.h"
#include "recipe.h"

#define OP_MAX_TENSORS 8
#define OP_SCRATCH     3

/* One row of inputs, and what the backend stored for it. Index i is input i, or output i, of the formula. */
typedef struct op_row {
  arithmetic a;
  int64_t rows, cols, row;
  const double *input[OP_MAX_TENSORS];      /* [M,N]: the row; [M,2N]: its 2N values; [N]: all; [M]: one value */
  tmaring_dtype input_type[OP_MAX_TENSORS]; /* types in memory */
  tmaring_dtype output_type[OP_MAX_TENSORS];
  const double *got[OP_MAX_TENSORS]; /* outputs as stored: what later values are derived from */
  const double *scalar;
  ball *scratch[OP_SCRATCH]; /* N each */
} op_row;

/* Fills a row of every output: [M,N]: N values; [M,N/k]: a value per group; [M]: one; [N]: the row's N terms, which the
 * judge joins over the rows. */
typedef void op_evaluate(const op_row *in, const expected_row *out);
/* The same for ops that work element by element. */
typedef ball op_element(const op_row *in, int64_t i);

/* How terms of [N] outputs are joined. */
typedef enum op_join { OP_JOIN_SUM, OP_JOIN_MEAN, OP_JOIN_MAX } op_join;

typedef enum op_family {
  OP_POINTWISE,
  OP_REDUCTION, /* over rows and over columns */
  OP_SOFTMAX,
  OP_NORM,
  OP_GATED,
  OP_QUANTIZE,
  OP_BACKWARD,
  OP_FAMILIES
} op_family;

typedef struct op_reference {
  const char *name;
  op_family family;
  /* A letter per tensor parameter, inputs > outputs: x the type of inputs, y that of outputs, w a weight (as x, or
   * f32), s f32, l a label (i64 or i32), n a column number (i64 or i32), q fp8 codes (e4m3 or e5m2), e e4m3, i i8. */
  const char *types;
  /* What x and y may be. "any": f32 f16 bf16 f64 e4m3 e5m2 i8 i32; "float": the first four; "single": the first three;
   * "total": float, i32; "real": float, i32, i64; "same": as x; "other": any but x. */
  const char *inputs, *outputs;
  int32_t over; /* output 0 may lie over each of so many first inputs, where the types are the same */
  op_join join;
  op_evaluate *evaluate; /* this or `element` */
  op_element *element;
} op_reference;

/* Every op of the catalogue. */
int32_t op_reference_count(void);
const op_reference *op_reference_at(int32_t index);
/* NULL: there is none. */
const op_reference *op_reference_find(const char *name);

/* Letter of a tensor parameter of the formula. */
char op_reference_letter(const op_reference *op, int32_t tensor);
/* Types x may be, and those y may be for x of type `in`; returns how many. `types` has room for TMARING_DTYPE_COUNT. */
int32_t op_reference_inputs(const op_reference *op, tmaring_dtype *types);
int32_t op_reference_outputs(const op_reference *op, tmaring_dtype in, tmaring_dtype *types);

/* Runs `evaluate` or `element`. */
void op_reference_row(const op_reference *op, const op_row *in, const expected_row *out);

#endif

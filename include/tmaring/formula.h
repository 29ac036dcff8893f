/* Row formulas: text in, a typed formula out. The grammar is in docs/formulas.md.
 *
 *     rmsnorm(x[M,N], w[N]; eps) = x * rsqrt(mean(x*x) + eps) * w
 *     y = x + x
 *     mu = mean(x); d = x - mu; y = d * rsqrt(mean(d*d) + 1e-5) * w[N] + b[N]
 *     silu_mul(x[M,2N]) = silu(first(x)) * second(x) */
#ifndef TMARING_FORMULA_H
#define TMARING_FORMULA_H

#include <stddef.h>
#include <stdint.h>

#include "abi/base.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tmaring_formula tmaring_formula;

typedef enum tmaring_shape {
  TMARING_SHAPE_SCALAR = 0, /* one value per launch */
  TMARING_SHAPE_ROW = 1,    /* [N]: one value per column */
  TMARING_SHAPE_COLUMN = 2, /* [M]: one value per row */
  TMARING_SHAPE_MATRIX = 3, /* [M,N] */
  TMARING_SHAPE_GROUP = 4,  /* [M,N/k]: one value per row and k columns, [M, ceil(N/k)]; the last group may be short */
  TMARING_SHAPE_DOUBLE = 5  /* [M,2N]: an input of rows of 2N, read by halves or by even and odd columns */
} tmaring_shape;

typedef struct tmaring_parameter {
  size_t size;      /* sizeof(tmaring_parameter) */
  const char *name; /* owned by the formula */
  tmaring_shape shape;
  int32_t is_output;
  int32_t has_default; /* scalars: `eps = 1e-6` in the header */
  double default_value;
  int32_t group_cols; /* k of [M,N/k]; 0 for other shapes */
} tmaring_parameter;

/* Parses and types a formula. On ERROR_SYNTAX, ERROR_TYPE or ERROR_SHAPE the detail has line, column, the line itself
 * and a caret under the place. *formula is the caller's (tmaring_formula_free), NULL on failure. Any thread. */
TMARING_API tmaring_status tmaring_formula_parse(tmaring_formula **formula, const char *text);
TMARING_API void tmaring_formula_free(tmaring_formula *formula);

/* Tensor parameters in the order in which plans and launches take them: inputs as they are declared or first appear,
 * then outputs; scalars are counted apart. A formula is immutable: any number of threads may read it. */
TMARING_API int32_t tmaring_formula_tensor_count(const tmaring_formula *formula);
TMARING_API int32_t tmaring_formula_scalar_count(const tmaring_formula *formula);
TMARING_API tmaring_status tmaring_formula_tensor(const tmaring_formula *formula, int32_t index,
                                                  tmaring_parameter *out);
TMARING_API tmaring_status tmaring_formula_scalar(const tmaring_formula *formula, int32_t index,
                                                  tmaring_parameter *out);
/* Index of a tensor parameter by name; -1 if there is none. */
TMARING_API int32_t tmaring_formula_find(const tmaring_formula *formula, const char *name);

/* The oracle: evaluates the formula's syntax tree in double, one row after another, sharing nothing with the lowered
 * program that the backends run. data[i] is tensor parameter i, dense doubles: [M*N], [N], [M], [M * ceil(N/k)] or
 * [M * 2N]; outputs are written, unrounded, and may take the place of inputs of their shape. With rows == 0 only [N]
 * outputs are written, and only they need data. scalars may be NULL where every scalar has a default. dtypes may be
 * NULL, or give the type of each tensor parameter, for cast(x, a): without it such casts do nothing. Host memory
 * only. */
TMARING_API tmaring_status tmaring_formula_evaluate(const tmaring_formula *formula, int64_t rows, int64_t cols,
                                                    double *const *data, const double *scalars,
                                                    const tmaring_dtype *dtypes);

#ifdef __cplusplus
}
#endif

#endif

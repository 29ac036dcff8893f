/* Tensors as the caller describes them. */
#ifndef TMARING_TENSOR_H
#define TMARING_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#include "abi/base.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix [rows, cols], a row vector [cols] (rows = 1), a column of per-row values [rows] (cols = 1), or values per
 * group of columns [rows, groups]. Elements of a matrix's row are contiguous. Row r of a matrix lies r * pitch elements
 * after row 0; with group_rows > 0, as in a view [tokens, heads, d] of a wider buffer,
 * (r / group_rows) * group_pitch + (r % group_rows) * pitch. The library never owns the memory. */
typedef struct tmaring_tensor {
  size_t size; /* sizeof(tmaring_tensor), set by TMARING_TENSOR_INIT */
  tmaring_dtype dtype;
  int64_t rows;        /* M. A plan takes it as a hint: the real M comes with the launch */
  int64_t cols;        /* N, 1 <= N < 2^31; 2N of [M,2N], 1 of [M], the number of groups ceil(N/k) of [M,N/k] */
  int64_t pitch;       /* elements between the starts of two rows; 0: cols. Matrices: at least cols; [M] and [M,N/k]: at
                          least 1. An [M] input may have TMARING_ONE_VALUE: all rows share one value (rows may be 1) */
  uint32_t alignment;  /* bytes: every base address given at launch is a multiple of this. Power of two, at least the
                          element size; 0: 16. Below 16 a plan serves the tensor through unaligned windows */
  int64_t step;        /* [M,N/k]: elements between two groups of a row; 0: 1. Column-major: pitch 1, step M. Values of
                          an output keep apart: a launch has no more rows than the step leaves room for */
  int64_t group_rows;  /* matrices: rows per group (heads); 0: none. At most 2^30 */
  int64_t group_pitch; /* elements between the starts of two groups of rows (tokens); at least what a group spans */
} tmaring_tensor;

#define TMARING_ONE_VALUE (-1)

#define TMARING_TENSOR_INIT                                                                                            \
  {                                                                                                                    \
    sizeof(tmaring_tensor), TMARING_F32, 0, 0, 0, 0, 0, 0, 0                                                           \
  }

/* "f32", "f16", "bf16", "e4m3", ...; NULL for a value outside the enum. Any thread. */
TMARING_API const char *tmaring_dtype_name(tmaring_dtype dtype);
/* The reverse. ERROR_TYPE names what it got and the names there are. */
TMARING_API tmaring_status tmaring_dtype_parse(const char *name, tmaring_dtype *dtype);

#ifdef __cplusplus
}
#endif

#endif

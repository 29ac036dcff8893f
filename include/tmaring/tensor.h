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

/* A matrix [rows, cols], a row vector [cols] (rows = 1) or a column of per-row values [rows] (cols = 1). Elements of a
 * row are contiguous. The library never owns the memory. */
typedef struct tmaring_tensor {
  size_t size; /* sizeof(tmaring_tensor), set by TMARING_TENSOR_INIT */
  tmaring_dtype dtype;
  int64_t rows;       /* M. A plan takes it as a hint: the real M comes with the launch */
  int64_t cols;       /* N, 1 <= N < 2^31 */
  int64_t pitch;      /* elements between the starts of two rows; 0: cols. At least cols */
  uint32_t alignment; /* bytes: every base address given at launch is a multiple of this. Power of two, at least the
                         element size; 0: 16. Below 16 a plan serves the tensor through unaligned windows */
} tmaring_tensor;

#define TMARING_TENSOR_INIT                                                                                            \
  {                                                                                                                    \
    sizeof(tmaring_tensor), TMARING_F32, 0, 0, 0, 0                                                                    \
  }

/* "f32", "f16", "bf16"; NULL for a value outside the enum. Any thread. */
TMARING_API const char *tmaring_dtype_name(tmaring_dtype dtype);
/* The reverse. ERROR_TYPE names what it got and the names there are. */
TMARING_API tmaring_status tmaring_dtype_parse(const char *name, tmaring_dtype *dtype);

#ifdef __cplusplus
}
#endif

#endif

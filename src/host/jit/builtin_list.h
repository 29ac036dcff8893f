/* What is compiled ahead of time: plans of formulas, and calls of the ready ops. Plans that lead to the same code share
 * one kernel: code varies by how a row is spread over threads and by whether everything is aligned, not by N. */
#ifndef TMARING_HOST_BUILTIN_LIST_H
#define TMARING_HOST_BUILTIN_LIST_H

#include <stdint.h>

#include "tmaring/abi/base.h"

/* Formulas of the examples, in each type and shape. */
static const char *const builtin_formula[] = {
    "y = x + x",
    "y = a + b",
    "rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * w",
    "layernorm(x[M,N], w[N], b[N]; eps = 1e-5) = m = mean(x); d = x - m; y = d * rsqrt(mean(d * d) + eps) * w + b",
    "softmax(x[M,N]) = e = exp(x - max(x)); y = e / sum(e)",
    "s = sum(x)",
};

static const tmaring_dtype builtin_dtype[] = {TMARING_F32, TMARING_F16, TMARING_BF16};

/* M, N, alignment in bytes (raised to the element size). */
typedef struct builtin_shape {
  int64_t rows, cols;
  uint32_t alignment;
} builtin_shape;

static const builtin_shape formula_shape[] = {
    {1048573, 256, 16},
    {16384, 4096, 16},
    {8191, 769, 1},
    {1024, 151936, 16},
};

/* The ops of the catalogue, in the types that it says, for N that servers have. Calls plan without a hint of M. What is
 * rare is left out, so that all of it stays within 400 kernels and 12 MB. */
typedef struct builtin_sizes {
  const char *ops; /* names of ops, and of groups of ops */
  uint32_t alignment;
  int64_t cols[14]; /* ends with 0 */
} builtin_sizes;

static const builtin_sizes op_sizes[] = {
    {"pointwise row column norm softmax gated quantize gradient",
     16,
     {2048, 2880, 3584, 4096, 5120, 5376, 6144, 7168, 8192, 12288, 16384, 18432}},
    {"row column softmax gated rmsnorm rmsnorm_hf rmsnorm_gemma layernorm quantize_fp8 quantize_fp8_row "
     "quantize_fp8_group quantize_i8_row silu_mul_quantize_fp8_row dequantize_fp8_row",
     16,
     {64, 128, 256, 768}},
    {"gated silu_mul_quantize_fp8_row", 16, {1536, 14336, 28672}},
    {"add mul copy cast row_sum row_max row_argmax rmsnorm add_rmsnorm layernorm softmax", 1, {111, 500, 769}},
    {"softmax", 16, {32000, 128256, 131072, 151936, 262144}},
    {"softmax", 1, {151937}},
};

/* The op `cast`: from, to. */
static const tmaring_dtype builtin_cast[][2] = {
    {TMARING_BF16, TMARING_F32}, {TMARING_F32, TMARING_BF16},  {TMARING_F16, TMARING_F32},
    {TMARING_F32, TMARING_F16},  {TMARING_BF16, TMARING_E4M3},
};

#endif

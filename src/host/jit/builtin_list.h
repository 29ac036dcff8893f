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

/* M, N, alignment in bytes (raised to the element size): per-head rows, hidden rows, odd rows, long rows. */
typedef struct builtin_shape {
  int64_t rows, cols;
  uint32_t alignment;
  const char *ops; /* names of ops, and of groups of ops */
} builtin_shape;

static const builtin_shape formula_shape[] = {
    {1048573, 256, 16, ""},
    {16384, 4096, 16, ""},
    {8191, 769, 1, ""},
    {1024, 151936, 16, ""},
};

/* The ops of the catalogue, in the types that it says. Calls plan without a hint of M. What is rare is left out, so that
 * all of it stays within 400 kernels and 12 MB. */
static const builtin_shape op_shape[] = {
    {0, 128, 16,
     "row column softmax gated rmsnorm rmsnorm_hf rmsnorm_gemma layernorm quantize_fp8 quantize_fp8_row "
     "quantize_fp8_group quantize_i8_row silu_mul_quantize_fp8_row dequantize_fp8_row"},
    {0, 4096, 16, "pointwise row column norm softmax gated quantize gradient"},
    {0, 769, 1, "add mul copy cast row_sum row_max row_argmax rmsnorm add_rmsnorm layernorm softmax"},
    {0, 151936, 16, "softmax"},
    {0, 151937, 1, "softmax"},
};

/* The op `cast`: from, to. */
static const tmaring_dtype builtin_cast[][2] = {
    {TMARING_BF16, TMARING_F32}, {TMARING_F32, TMARING_BF16},  {TMARING_F16, TMARING_F32},
    {TMARING_F32, TMARING_F16},  {TMARING_BF16, TMARING_E4M3},
};

#endif

/* What is compiled ahead of time: the plans of these formulas, for each type and each of these row lengths and
 * alignments. Plans that lead to the same code share one kernel. */
#ifndef TMARING_HOST_BUILTIN_LIST_H
#define TMARING_HOST_BUILTIN_LIST_H

#include <stdint.h>

#include "tmaring/abi/base.h"

static const char *const builtin_formula[] = {
    "y = x + x",
    "y = a + b",
    "rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * w",
    "layernorm(x[M,N], w[N], b[N]; eps = 1e-5) = m = mean(x); d = x - m; y = d * rsqrt(mean(d * d) + eps) * w + b",
    "softmax(x[M,N]) = e = exp(x - max(x)); y = e / sum(e)",
    "s = sum(x)",
};

static const tmaring_dtype builtin_dtype[] = {TMARING_F32, TMARING_F16, TMARING_BF16};

/* M, N, alignment in bytes: per-head rows, hidden rows, odd rows, long rows. */
static const struct builtin_shape {
  int64_t rows, cols;
  uint32_t alignment;
} builtin_shape[] = {
    {1048573, 256, 16},
    {16384, 4096, 16},
    {8191, 769, 2},
    {1024, 151936, 16},
};

#endif

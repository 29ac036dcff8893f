/* The ready ops: the one place where they are listed. */
#ifndef TMARING_HOST_OP_LIST_H
#define TMARING_HOST_OP_LIST_H

/* X(name, group, types, ahead, formula, alias)
 *
 * types: of the tensors as calls take them, outputs before inputs: the codes of op_table.c. ahead: types of the call
 * that are compiled ahead of time. alias: what may share memory. A header may not have the name of a function: such
 * formulas are written without one. */
#define TMARING__READY_LIST(X)                                                                                         \
  X(add, "pointwise", TYPES(ANY, ANY, ANY), ALL, "add(a[M,N], b[M,N]) = a + b", "y may be a or b")                     \
  X(mul, "pointwise", TYPES(ANY, ANY, ANY), ALL, "mul(a[M,N], b[M,N]) = a * b", "y may be a or b")                     \
  X(scale, "pointwise", TYPES(ANY, ANY), HALF, "scale(x[M,N]; s) = x * s", "y may be x")                               \
  X(axpby, "pointwise", TYPES(ANY, ANY, ANY), HALF, "axpby(a[M,N], b[M,N]; alpha, beta) = a * alpha + b * beta",       \
    "y may be a or b")                                                                                                 \
  X(copy, "pointwise", TYPES(ANY, ANY), HALF, "copy(x[M,N]) = x", "y may be x")                                        \
  X(cast, "pointwise", TYPES(ANY, ANY), 0, "y = x", "nothing: the types differ")                                       \
  X(fill, "pointwise", TYPES(ANY), HALF, "fill(; value) = value", "nothing: there is one tensor")                      \
  X(relu, "pointwise", TYPES(ANY, ANY), HALF, "relu(x[M,N]) = max(x, 0)", "y may be x")                                \
  X(silu, "pointwise", TYPES(ANY, ANY), HALF, "y = silu(x)", "y may be x")                                             \
  X(gelu_tanh, "pointwise", TYPES(ANY, ANY), HALF,                                                                     \
    "gelu_tanh(x[M,N]) = 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))", "y may be x")         \
  X(gelu_erf, "pointwise", TYPES(ANY, ANY), HALF, "gelu_erf(x[M,N]) = 0.5 * x * (1 + erf(x * 0.7071067811865476))",    \
    "y may be x")                                                                                                      \
  X(row_sum, "row", TYPES(VALUE, ANY), ALL, "row_sum(x[M,N]) = sum(x)", "nothing")                                     \
  X(row_mean, "row", TYPES(VALUE, ANY), HALF, "row_mean(x[M,N]) = mean(x)", "nothing")                                 \
  X(row_max, "row", TYPES(VALUE, ANY), HALF, "row_max(x[M,N]) = max(x)", "nothing")                                    \
  X(row_min, "row", TYPES(VALUE, ANY), HALF, "row_min(x[M,N]) = min(x)", "nothing")                                    \
  X(row_amax, "row", TYPES(VALUE, ANY), HALF, "row_amax(x[M,N]) = amax(x)", "nothing")                                 \
  X(row_argmax, "row", TYPES(INDEX, ANY), ALL, "row_argmax(x[M,N]) = argmax(x)", "nothing")                            \
  X(col_sum, "column", TYPES(TOTAL, ANY), ALL, "col_sum(x[M,N]) = colsum(x)", "nothing")                               \
  X(col_max, "column", TYPES(TOTAL, ANY), HALF, "col_max(x[M,N]) = colmax(x)", "nothing")                              \
  X(col_mean, "column", TYPES(TOTAL, ANY), HALF, "col_mean(x[M,N]) = colmean(x)", "nothing")                           \
  X(rmsnorm, "norm", TYPES(T, T, T), ALL, "rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * w",      \
    "y may be x")                                                                                                      \
  X(rmsnorm_hf, "norm", TYPES(T, T, T), HALF,                                                                          \
    "rmsnorm_hf(x[M,N], w[N]; eps = 1e-6) = cast(x, x * rsqrt(mean(x * x) + eps)) * w", "y may be x")                  \
  X(rmsnorm_gemma, "norm", TYPES(T, T, T), HALF,                                                                       \
    "rmsnorm_gemma(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * (1 + w)", "y may be x")                  \
  X(add_rmsnorm, "norm", TYPES(T, T, T, T, T), HALF,                                                                   \
    "add_rmsnorm(x[M,N], r[M,N], w[N]; eps = 1e-6) = out h = cast(x, x + r); "                                         \
    "y = h * rsqrt(mean(h * h) + eps) * w",                                                                            \
    "h may be r or x, y the other of them")                                                                            \
  X(add_rmsnorm_f32sum, "norm", TYPES(T, T, T, T, T), HALF,                                                            \
    "add_rmsnorm_f32sum(x[M,N], r[M,N], w[N]; eps = 1e-6) = out h = x + r; y = h * rsqrt(mean(h * h) + eps) * w",      \
    "h may be r or x, y the other of them")                                                                            \
  X(layernorm, "norm", TYPES(T, T, T, T), ALL,                                                                         \
    "layernorm(x[M,N], w[N], b[N]; eps = 1e-5) = m = mean(x); d = x - m; y = d * rsqrt(mean(d * d) + eps) * w + b",    \
    "y may be x")                                                                                                      \
  X(softmax, "softmax", TYPES(T, T), ALL, "softmax(x[M,N]) = e = exp(x - max(x)); y = e / sum(e)", "y may be x")       \
  X(log_softmax, "softmax", TYPES(T, T), ALL, "log_softmax(x[M,N]) = d = x - max(x); y = d - log(sum(exp(d)))",        \
    "y may be x")                                                                                                      \
  X(softmax_scaled, "softmax", TYPES(T, T), HALF,                                                                      \
    "softmax_scaled(x[M,N]; temperature) = z = x * (1 / temperature); e = exp(z - max(z)); y = e / sum(e)",            \
    "y may be x")                                                                                                      \
  X(cross_entropy, "softmax", TYPES(LOSS, T, LABEL), ALL,                                                              \
    "cross_entropy(x[M,N], label[M]) = loss = where(label == -100, 0, logsumexp(x) - x[label])", "nothing")            \
  X(silu_mul, "gated", TYPES(T, T), HALF, "silu_mul(x[M,2N]) = silu(first(x)) * second(x)", "nothing")                 \
  X(gelu_mul, "gated", TYPES(T, T), HALF,                                                                              \
    "gelu_mul(x[M,2N]) = g = first(x); "                                                                               \
    "y = 0.5 * g * (1 + tanh(0.7978845608028654 * (g + 0.044715 * g * g * g))) * second(x)",                           \
    "nothing")                                                                                                         \
  X(silu_mul_rounded, "gated", TYPES(T, T), HALF, "silu_mul_rounded(x[M,2N]) = cast(x, silu(first(x))) * second(x)",   \
    "nothing")                                                                                                         \
  X(swiglu_clamp, "gated", TYPES(T, T), HALF,                                                                          \
    "swiglu_clamp(x[M,2N]; limit, alpha, beta) = g = min(first(x), limit); "                                           \
    "y = g * sigmoid(alpha * g) * (clamp(second(x), -limit, limit) + beta)",                                           \
    "nothing")                                                                                                         \
  X(swiglu_clamp_interleaved, "gated", TYPES(T, T), HALF,                                                              \
    "swiglu_clamp_interleaved(x[M,2N]; limit, alpha, beta) = g = min(even(x), limit); "                                \
    "y = g * sigmoid(alpha * g) * (clamp(odd(x), -limit, limit) + beta)",                                              \
    "nothing")                                                                                                         \
  X(quantize_fp8, "quantize", TYPES(FP8, T, SCALE), HALF, "quantize_fp8(x[M,N], s[M]) = q = x / s", "nothing")         \
  X(quantize_fp8_row, "quantize", TYPES(SCALE, E4M3, T), HALF,                                                         \
    "quantize_fp8_row(x[M,N]) = out s = max(amax(x) / 448, 1 / (448 * 512)); q = x / s", "nothing")                    \
  X(quantize_fp8_group, "quantize", TYPES(SCALE, E4M3, T), HALF,                                                       \
    "quantize_fp8_group(x[M,N]) = out s = max(gamax(x, 128), 1e-10) / 448; q = x / s", "nothing")                      \
  X(quantize_i8_row, "quantize", TYPES(SCALE, I8, T), HALF,                                                            \
    "quantize_i8_row(x[M,N]) = out s = max(amax(x), 1e-10) / 127; q = clamp(round(x / s), -127, 127)", "nothing")      \
  X(rmsnorm_quantize_fp8_row, "quantize", TYPES(SCALE, E4M3, T, T), HALF,                                              \
    "rmsnorm_quantize_fp8_row(x[M,N], w[N]; eps = 1e-6) = y = cast(x, x * rsqrt(mean(x * x) + eps) * w); "             \
    "out s = max(amax(y) / 448, 1 / (448 * 512)); q = y / s",                                                          \
    "nothing")                                                                                                         \
  X(add_rmsnorm_quantize_fp8_row, "quantize", TYPES(T, SCALE, E4M3, T, T, T), HALF,                                    \
    "add_rmsnorm_quantize_fp8_row(x[M,N], r[M,N], w[N]; eps = 1e-6) = out h = cast(x, x + r); "                        \
    "y = cast(x, h * rsqrt(mean(h * h) + eps) * w); out s = max(amax(y) / 448, 1 / (448 * 512)); q = y / s",           \
    "h may be r or x")                                                                                                 \
  X(silu_mul_quantize_fp8_row, "quantize", TYPES(SCALE, E4M3, T), HALF,                                                \
    "silu_mul_quantize_fp8_row(x[M,2N]) = y = cast(x, silu(first(x)) * second(x)); "                                   \
    "out s = max(amax(y) / 448, 1 / (448 * 512)); q = y / s",                                                          \
    "nothing")                                                                                                         \
  X(dequantize_fp8_row, "quantize", TYPES(T, CODE, SCALE), HALF, "dequantize_fp8_row(q[M,N], s[M]) = q * s",           \
    "nothing")                                                                                                         \
  X(rmsnorm_backward, "gradient", TYPES(T, T, T, T, T), HALF,                                                          \
    "rmsnorm_backward(dy[M,N], x[M,N], w[N]; eps = 1e-6) = rs = rsqrt(mean(x * x) + eps); xh = x * rs; g = dy * w; "   \
    "dx = rs * (g - xh * mean(g * xh)); dw = colsum(dy * xh)",                                                         \
    "dx may be dy or x")                                                                                               \
  X(layernorm_backward, "gradient", TYPES(T, T, T, T, T, T), HALF,                                                     \
    "layernorm_backward(dy[M,N], x[M,N], w[N]; eps = 1e-5) = d = x - mean(x); rs = rsqrt(mean(d * d) + eps); "         \
    "xh = d * rs; g = dy * w; dx = rs * (g - mean(g) - xh * mean(g * xh)); dw = colsum(dy * xh); db = colsum(dy)",     \
    "dx may be dy or x")

typedef enum tmaring__ready {
#define TMARING__READY_ENUM(name, group, types, ahead, formula, alias) TMARING__READY_##name,
  TMARING__READY_LIST(TMARING__READY_ENUM)
#undef TMARING__READY_ENUM
      TMARING__READY_COUNT
} tmaring__ready;

#endif

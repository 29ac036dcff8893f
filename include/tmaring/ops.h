/* Ready ops: one call each, without formulas, plans or kernels to keep. The table of ops is docs/ops.md.
 *
 *     tmaring_view x = tmaring_view_matrix(x_data, TMARING_BF16, 16, 4096), y = ..., w = tmaring_view_row(...);
 *     tmaring_rmsnorm(&y, &x, &w, 1e-6, NULL, stream);
 *
 * Every op is a formula of the catalogue (tmaring_op_describe). The first call with new types, N, strides or alignment
 * plans and loads, and may take long; the result is kept for the process, and later calls find it without a lock. */
#ifndef TMARING_OPS_H
#define TMARING_OPS_H

#include <stddef.h>
#include <stdint.h>

#include "launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arguments ---- */

/* A tensor with its address. Fields from `dtype` on are those of tmaring_tensor; the alignment is found from the
 * address. A row vector [N] has rows 1, a value per row [M] has cols 1. M of all views is the same; an [M] input whose
 * pitch is TMARING_ONE_VALUE has one value for all rows, and its rows are not read. */
typedef struct tmaring_view {
  size_t size; /* sizeof(tmaring_view), set by TMARING_VIEW_INIT */
  void *data;  /* device address (cuda) or host address (cpu) */
  tmaring_dtype dtype;
  int64_t rows, cols;              /* of [M,2N] tensors cols is 2N, of [M,N/k] tensors the number of groups */
  int64_t pitch, step;             /* elements; 0: dense. A change of a step or a pitch means another plan */
  int64_t group_rows, group_pitch; /* two-level rows, [tokens, heads, d]; 0: none */
} tmaring_view;

#define TMARING_VIEW_INIT                                                                                              \
  {                                                                                                                    \
    sizeof(tmaring_view), NULL, TMARING_F32, 0, 0, 0, 0, 0, 0                                                          \
  }

/* A dense matrix [rows, cols]; set pitch, group_rows and group_pitch afterwards where rows are strided. */
static inline tmaring_view tmaring_view_matrix(const void *data, tmaring_dtype dtype, int64_t rows, int64_t cols)
{
  tmaring_view view = TMARING_VIEW_INIT;
  view.data = (void *)data; /* inputs are not written */
  view.dtype = dtype;
  view.rows = rows;
  view.cols = cols;
  return view;
}

/* A row vector [N]. */
static inline tmaring_view tmaring_view_row(const void *data, tmaring_dtype dtype, int64_t cols)
{
  return tmaring_view_matrix(data, dtype, 1, cols);
}

/* A value per row [M]. */
static inline tmaring_view tmaring_view_column(const void *data, tmaring_dtype dtype, int64_t rows)
{
  return tmaring_view_matrix(data, dtype, rows, 1);
}

#define TMARING_CALL_PREPARE                                                                                           \
  0x10000u /* plans and loads what the call would launch, and launches nothing. Data may be NULL, which counts as      \
              aligned to 16 bytes */

/* How to run. NULL in its place: on the GPU, without a workspace. */
typedef struct tmaring_call {
  size_t size; /* sizeof(tmaring_call), set by TMARING_CALL_INIT */
  tmaring_backend backend;
  void *workspace; /* NULL, or tmaring_op_workspace_bytes, initialised once by tmaring_op_workspace_init. Only column
                      reductions need one; others run tickets where they have one, faster for large M. Launches that
                      may run at the same time need one each; all ops of a stream may share one */
  size_t workspace_bytes;
  const int64_t *rows_device; /* NULL, or where the device reads M; the views' rows are then the upper bound */
  uint32_t flags;             /* TMARING_LAUNCH_*, TMARING_CALL_* */
} tmaring_call;

#define TMARING_CALL_INIT                                                                                              \
  {                                                                                                                    \
    sizeof(tmaring_call), TMARING_BACKEND_CUDA, NULL, 0, NULL, 0                                                       \
  }

/* ---- the catalogue ---- */

#define TMARING_OP_MAX_TENSORS 6
#define TMARING_OP_MAX_SCALARS 3
#define TMARING_OP_ANY_TYPE    (-1)

/* Static storage. Tensors are in the order in which calls take them: outputs, then inputs. */
typedef struct tmaring_op_info {
  size_t size; /* sizeof(tmaring_op_info) */
  const char *name, *group, *formula;
  const char *alias; /* what may share memory; everything else must be apart */
  int32_t output_count, tensor_count, scalar_count;
  tmaring_parameter tensor[TMARING_OP_MAX_TENSORS];
  uint32_t dtypes[TMARING_OP_MAX_TENSORS]; /* types a tensor may have: bit 1 << TMARING_F32, ... */
  int32_t dtype[TMARING_OP_MAX_TENSORS];   /* its usual type; TMARING_OP_ANY_TYPE: that of the call, such as bf16 */
  uint32_t ahead; /* types of the call for which kernels are compiled ahead of time, in a build with NVRTC */
  tmaring_parameter scalar[TMARING_OP_MAX_SCALARS];
} tmaring_op_info;

/* Ops are numbered from 0, in the order of docs/ops.md; a release may add some in between. */
TMARING_API int32_t tmaring_op_count(void);
/* ERROR_ARGUMENT for an index outside of the catalogue; MEMORY. Any thread. */
TMARING_API tmaring_status tmaring_op_describe(int32_t index, tmaring_op_info *info);
/* Index of an op by name; -1 where there is none. */
TMARING_API int32_t tmaring_op_find(const char *name);

/* ---- calls by index ---- */

/* What the call of each op does: checks the views, finds the plan, launches. views: outputs, then inputs (`count` in
 * all), as in tmaring_op_info. scalars: in the formula's order, or NULL where all have defaults. Asynchronous on the
 * stream, capturable, any thread; one view must not be written by two calls at a time. M = 0 succeeds without a launch
 * (column reductions write what they are for no rows), and data may then be NULL. Errors name the parameter: ARGUMENT,
 * TYPE (with the types it may have), SHAPE, ALIGNMENT, ALIAS, CAPACITY, UNSUPPORTED; NOT_PREPARED where a stream under
 * capture meets a call that was neither made nor prepared before; else as tmaring_prepare and tmaring_launch. */
TMARING_API tmaring_status tmaring_op_launch(int32_t index, const tmaring_view *const *views, int32_t count,
                                             const double *scalars, const tmaring_call *call,
                                             struct CUstream_st *stream);
/* The same with TMARING_CALL_PREPARE: for use before a capture. Waits for other threads that plan or load. */
TMARING_API tmaring_status tmaring_op_prepare(int32_t index, const tmaring_view *const *views, int32_t count,
                                              const tmaring_call *call, struct CUstream_st *stream);
/* Bytes of workspace that the call makes use of with M rows or fewer, M of the views: 0 where it has no use for one.
 * Plans for the device of the current context, without loading anything. */
TMARING_API tmaring_status tmaring_op_workspace_bytes(int32_t index, const tmaring_view *const *views, int32_t count,
                                                      const tmaring_call *call, size_t *bytes);
/* Makes memory a workspace, ordered on the stream (cpu: at once). Once: calls leave it ready, for any op. Any op takes
 * any workspace that is large enough. */
TMARING_API tmaring_status tmaring_op_workspace_init(void *workspace, size_t bytes, tmaring_backend backend,
                                                     struct CUstream_st *stream);
/* Frees every plan and kernel that calls have made: before a context is destroyed or the library unloaded. No call of an
 * op may be running or in flight; calls after it start anew. */
TMARING_API void tmaring_ops_reset(void);

/* ---- the ops: tmaring_NAME(outputs, inputs, scalars, call, stream) ----
 *
 * Errors, threads and streams as in tmaring_op_launch. Shapes are behind the names; T is f32, f16, bf16 or f64, and
 * "any" these, e4m3, e5m2, i8 and i32. Tensors of one call may have different types. What may share memory is said at
 * the end; everything else must be apart. */

/* Pointwise: any. In place: y may be an input of its type. */

/* y[M,N] = a[M,N] + b[M,N] */
TMARING_API tmaring_status tmaring_add(const tmaring_view *y, const tmaring_view *a, const tmaring_view *b,
                                       const tmaring_call *call, struct CUstream_st *stream);
/* y[M,N] = a[M,N] * b[M,N] */
TMARING_API tmaring_status tmaring_mul(const tmaring_view *y, const tmaring_view *a, const tmaring_view *b,
                                       const tmaring_call *call, struct CUstream_st *stream);
/* y[M,N] = x[M,N] * s */
TMARING_API tmaring_status tmaring_scale(const tmaring_view *y, const tmaring_view *x, double s,
                                         const tmaring_call *call, struct CUstream_st *stream);
/* y[M,N] = a[M,N] * alpha + b[M,N] * beta */
TMARING_API tmaring_status tmaring_axpby(const tmaring_view *y, const tmaring_view *a, const tmaring_view *b,
                                         double alpha, double beta, const tmaring_call *call,
                                         struct CUstream_st *stream);
/* y[M,N] = x[M,N], by rows of any strides */
TMARING_API tmaring_status tmaring_copy(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                        struct CUstream_st *stream);
/* y[M,N] = x[M,N], of another type: one rounding to nearest even; fp8 and integers saturate */
TMARING_API tmaring_status tmaring_cast(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                        struct CUstream_st *stream);
/* y[M,N] = value. The op `fill`; the library's own struct has that name. */
TMARING_API tmaring_status tmaring_fill_value(const tmaring_view *y, double value, const tmaring_call *call,
                                              struct CUstream_st *stream);
/* y[M,N] = max(x[M,N], 0); NaN stays NaN */
TMARING_API tmaring_status tmaring_relu(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                        struct CUstream_st *stream);
/* y[M,N] = x * sigmoid(x) */
TMARING_API tmaring_status tmaring_silu(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                        struct CUstream_st *stream);
/* y[M,N] = x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))) */
TMARING_API tmaring_status tmaring_gelu_tanh(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                             struct CUstream_st *stream);
/* y[M,N] = x/2 * (1 + erf(x / sqrt(2))) */
TMARING_API tmaring_status tmaring_gelu_erf(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                            struct CUstream_st *stream);

/* Over rows: y[M] = f(x[M,N]), x any, y T, i32 or i64. NaN in a row gives NaN. */

TMARING_API tmaring_status tmaring_row_sum(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                           struct CUstream_st *stream);
TMARING_API tmaring_status tmaring_row_mean(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                            struct CUstream_st *stream);
TMARING_API tmaring_status tmaring_row_max(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                           struct CUstream_st *stream);
TMARING_API tmaring_status tmaring_row_min(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                           struct CUstream_st *stream);
/* The largest absolute value. */
TMARING_API tmaring_status tmaring_row_amax(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                            struct CUstream_st *stream);
/* Column of the first NaN, else of the first of the greatest values. */
TMARING_API tmaring_status tmaring_row_argmax(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                              struct CUstream_st *stream);

/* Over columns: y[N] = f(x[M,N]), x any, y T or i32. Need a workspace. The same bits for any grid and order of work;
 * with rows_device the views' rows, the bound, pick the chunks that are summed, not the M on the device. */

TMARING_API tmaring_status tmaring_col_sum(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                           struct CUstream_st *stream);
TMARING_API tmaring_status tmaring_col_max(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                           struct CUstream_st *stream);
TMARING_API tmaring_status tmaring_col_mean(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                            struct CUstream_st *stream);

/* Norms: T. rs = rsqrt(mean(x*x) + eps); eps is added to the mean. */

/* y[M,N] = x[M,N] * rs * w[N]; y may be x */
TMARING_API tmaring_status tmaring_rmsnorm(const tmaring_view *y, const tmaring_view *x, const tmaring_view *w,
                                           double eps, const tmaring_call *call, struct CUstream_st *stream);
/* y = (x * rs, rounded to x's type) * w; y may be x */
TMARING_API tmaring_status tmaring_rmsnorm_hf(const tmaring_view *y, const tmaring_view *x, const tmaring_view *w,
                                              double eps, const tmaring_call *call, struct CUstream_st *stream);
/* y = x * rs * (1 + w); y may be x */
TMARING_API tmaring_status tmaring_rmsnorm_gemma(const tmaring_view *y, const tmaring_view *x, const tmaring_view *w,
                                                 double eps, const tmaring_call *call, struct CUstream_st *stream);
/* h[M,N] = x[M,N] + r[M,N], rounded to x's type; y[M,N] = h * rsqrt(mean(h*h) + eps) * w[N]. h may be r or x, and y the
 * other */
TMARING_API tmaring_status tmaring_add_rmsnorm(const tmaring_view *h, const tmaring_view *y, const tmaring_view *x,
                                               const tmaring_view *r, const tmaring_view *w, double eps,
                                               const tmaring_call *call, struct CUstream_st *stream);
/* The same with y from the sum before it is rounded; only the stored h is rounded. */
TMARING_API tmaring_status tmaring_add_rmsnorm_f32sum(const tmaring_view *h, const tmaring_view *y,
                                                      const tmaring_view *x, const tmaring_view *r,
                                                      const tmaring_view *w, double eps, const tmaring_call *call,
                                                      struct CUstream_st *stream);
/* y[M,N] = (x - mean(x)) * rsqrt(variance + eps) * w[N] + b[N], the variance over N; y may be x */
TMARING_API tmaring_status tmaring_layernorm(const tmaring_view *y, const tmaring_view *x, const tmaring_view *w,
                                             const tmaring_view *b, double eps, const tmaring_call *call,
                                             struct CUstream_st *stream);

/* Softmax and cross entropy: T; y may be x. Rows with NaN or +inf, or of -inf alone, give NaN. */

/* y[M,N] = exp(x - max(x)) / sum(exp(x - max(x))) */
TMARING_API tmaring_status tmaring_softmax(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                           struct CUstream_st *stream);
/* y[M,N] = x - max(x) - log(sum(exp(x - max(x)))) */
TMARING_API tmaring_status tmaring_log_softmax(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                               struct CUstream_st *stream);
/* softmax of x / temperature */
TMARING_API tmaring_status tmaring_softmax_scaled(const tmaring_view *y, const tmaring_view *x, double temperature,
                                                  const tmaring_call *call, struct CUstream_st *stream);
/* loss[M] = logsumexp(x) - x[label], x [M,N], label[M] i32 or i64. Label -100 gives 0, any other outside [0, N) NaN. */
TMARING_API tmaring_status tmaring_cross_entropy(const tmaring_view *loss, const tmaring_view *x,
                                                 const tmaring_view *label, const tmaring_call *call,
                                                 struct CUstream_st *stream);

/* Gated units: T. x is [M,2N] with cols = 2N, y is [M,N] and apart from x. gate, up: first and second half of a row. */

/* y = silu(gate) * up */
TMARING_API tmaring_status tmaring_silu_mul(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                            struct CUstream_st *stream);
/* y = gelu_tanh(gate) * up */
TMARING_API tmaring_status tmaring_gelu_mul(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                            struct CUstream_st *stream);
/* y = (silu(gate), rounded to x's type) * up */
TMARING_API tmaring_status tmaring_silu_mul_rounded(const tmaring_view *y, const tmaring_view *x,
                                                    const tmaring_call *call, struct CUstream_st *stream);
/* g = min(gate, limit); y = g * sigmoid(alpha * g) * (clamp(up, -limit, limit) + beta) */
TMARING_API tmaring_status tmaring_swiglu_clamp(const tmaring_view *y, const tmaring_view *x, double limit,
                                                double alpha, double beta, const tmaring_call *call,
                                                struct CUstream_st *stream);
/* The same with gate in the even and up in the odd columns of x. */
TMARING_API tmaring_status tmaring_swiglu_clamp_interleaved(const tmaring_view *y, const tmaring_view *x, double limit,
                                                            double alpha, double beta, const tmaring_call *call,
                                                            struct CUstream_st *stream);

/* Quantization: x T. Codes saturate; a row of zeros gives zeros and a positive scale. Outputs are apart from all else,
 * but h may be r or x. */

/* q[M,N] = x[M,N] / s[M], q e4m3 or e5m2, s f32 */
TMARING_API tmaring_status tmaring_quantize_fp8(const tmaring_view *q, const tmaring_view *x, const tmaring_view *s,
                                                const tmaring_call *call, struct CUstream_st *stream);
/* s[M] = max(amax(x) / 448, 1 / (448 * 512)); q[M,N] = x / s, q e4m3, s f32 */
TMARING_API tmaring_status tmaring_quantize_fp8_row(const tmaring_view *s, const tmaring_view *q, const tmaring_view *x,
                                                    const tmaring_call *call, struct CUstream_st *stream);
/* The same per 128 columns: s[M,N/128] = max(amax, 1e-10) / 448, cols = ceil(N/128), by rows (pitch) or by columns
 * (pitch 1, step: rows of the buffer) */
TMARING_API tmaring_status tmaring_quantize_fp8_group(const tmaring_view *s, const tmaring_view *q,
                                                      const tmaring_view *x, const tmaring_call *call,
                                                      struct CUstream_st *stream);
/* s[M] = max(amax(x), 1e-10) / 127; q[M,N] = x / s to nearest even within +-127, q i8, s f32 */
TMARING_API tmaring_status tmaring_quantize_i8_row(const tmaring_view *s, const tmaring_view *q, const tmaring_view *x,
                                                   const tmaring_call *call, struct CUstream_st *stream);
/* quantize_fp8_row of rmsnorm(x, w), which is rounded to x's type first */
TMARING_API tmaring_status tmaring_rmsnorm_quantize_fp8_row(const tmaring_view *s, const tmaring_view *q,
                                                            const tmaring_view *x, const tmaring_view *w, double eps,
                                                            const tmaring_call *call, struct CUstream_st *stream);
/* h = x + r, rounded to x's type; s and q as rmsnorm_quantize_fp8_row of h */
TMARING_API tmaring_status tmaring_add_rmsnorm_quantize_fp8_row(const tmaring_view *h, const tmaring_view *s,
                                                                const tmaring_view *q, const tmaring_view *x,
                                                                const tmaring_view *r, const tmaring_view *w,
                                                                double eps, const tmaring_call *call,
                                                                struct CUstream_st *stream);
/* quantize_fp8_row of silu_mul(x[M,2N]), which is rounded to x's type first */
TMARING_API tmaring_status tmaring_silu_mul_quantize_fp8_row(const tmaring_view *s, const tmaring_view *q,
                                                             const tmaring_view *x, const tmaring_call *call,
                                                             struct CUstream_st *stream);
/* y[M,N] = q[M,N] * s[M], q e4m3, e5m2 or i8, s f32, y T */
TMARING_API tmaring_status tmaring_dequantize_fp8_row(const tmaring_view *y, const tmaring_view *q,
                                                      const tmaring_view *s, const tmaring_call *call,
                                                      struct CUstream_st *stream);

/* Gradients: T. Need a workspace. dx may be dy or x. */

/* Of y = rmsnorm(x, w), from dy: dx[M,N], and dw[N] summed over the rows. */
TMARING_API tmaring_status tmaring_rmsnorm_backward(const tmaring_view *dx, const tmaring_view *dw,
                                                    const tmaring_view *dy, const tmaring_view *x,
                                                    const tmaring_view *w, double eps, const tmaring_call *call,
                                                    struct CUstream_st *stream);
/* Of y = layernorm(x, w, b): dx[M,N], dw[N], db[N]. */
TMARING_API tmaring_status tmaring_layernorm_backward(const tmaring_view *dx, const tmaring_view *dw,
                                                      const tmaring_view *db, const tmaring_view *dy,
                                                      const tmaring_view *x, const tmaring_view *w, double eps,
                                                      const tmaring_call *call, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif

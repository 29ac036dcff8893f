/* The call of each op: its arguments in the order of the catalogue. */
#include "op_table.h"

#define RUN(op, views, scalars)                                                                                        \
  tmaring_op_launch(TMARING__READY_##op, views, (int32_t)(sizeof(views) / sizeof *(views)), scalars, call, stream)

tmaring_status tmaring_add(const tmaring_view *y, const tmaring_view *a, const tmaring_view *b,
                           const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, a, b};
  return RUN(add, views, NULL);
}

tmaring_status tmaring_mul(const tmaring_view *y, const tmaring_view *a, const tmaring_view *b,
                           const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, a, b};
  return RUN(mul, views, NULL);
}

tmaring_status tmaring_scale(const tmaring_view *y, const tmaring_view *x, double s, const tmaring_call *call,
                             struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(scale, views, &s);
}

tmaring_status tmaring_axpby(const tmaring_view *y, const tmaring_view *a, const tmaring_view *b, double alpha,
                             double beta, const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, a, b};
  const double scalars[] = {alpha, beta};
  return RUN(axpby, views, scalars);
}

tmaring_status tmaring_copy(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                            struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(copy, views, NULL);
}

tmaring_status tmaring_cast(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                            struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(cast, views, NULL);
}

tmaring_status tmaring_fill_value(const tmaring_view *y, double value, const tmaring_call *call,
                                  struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y};
  return RUN(fill, views, &value);
}

tmaring_status tmaring_relu(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                            struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(relu, views, NULL);
}

tmaring_status tmaring_silu(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                            struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(silu, views, NULL);
}

tmaring_status tmaring_gelu_tanh(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                 struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(gelu_tanh, views, NULL);
}

tmaring_status tmaring_gelu_erf(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(gelu_erf, views, NULL);
}

tmaring_status tmaring_row_sum(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                               struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(row_sum, views, NULL);
}

tmaring_status tmaring_row_mean(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(row_mean, views, NULL);
}

tmaring_status tmaring_row_max(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                               struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(row_max, views, NULL);
}

tmaring_status tmaring_row_min(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                               struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(row_min, views, NULL);
}

tmaring_status tmaring_row_amax(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(row_amax, views, NULL);
}

tmaring_status tmaring_row_argmax(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                  struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(row_argmax, views, NULL);
}

tmaring_status tmaring_col_sum(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                               struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(col_sum, views, NULL);
}

tmaring_status tmaring_col_max(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                               struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(col_max, views, NULL);
}

tmaring_status tmaring_col_mean(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(col_mean, views, NULL);
}

tmaring_status tmaring_rmsnorm(const tmaring_view *y, const tmaring_view *x, const tmaring_view *w, double eps,
                               const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x, w};
  return RUN(rmsnorm, views, &eps);
}

tmaring_status tmaring_rmsnorm_hf(const tmaring_view *y, const tmaring_view *x, const tmaring_view *w, double eps,
                                  const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x, w};
  return RUN(rmsnorm_hf, views, &eps);
}

tmaring_status tmaring_rmsnorm_gemma(const tmaring_view *y, const tmaring_view *x, const tmaring_view *w, double eps,
                                     const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x, w};
  return RUN(rmsnorm_gemma, views, &eps);
}

tmaring_status tmaring_add_rmsnorm(const tmaring_view *h, const tmaring_view *y, const tmaring_view *x,
                                   const tmaring_view *r, const tmaring_view *w, double eps, const tmaring_call *call,
                                   struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {h, y, x, r, w};
  return RUN(add_rmsnorm, views, &eps);
}

tmaring_status tmaring_add_rmsnorm_f32sum(const tmaring_view *h, const tmaring_view *y, const tmaring_view *x,
                                          const tmaring_view *r, const tmaring_view *w, double eps,
                                          const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {h, y, x, r, w};
  return RUN(add_rmsnorm_f32sum, views, &eps);
}

tmaring_status tmaring_layernorm(const tmaring_view *y, const tmaring_view *x, const tmaring_view *w,
                                 const tmaring_view *b, double eps, const tmaring_call *call,
                                 struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x, w, b};
  return RUN(layernorm, views, &eps);
}

tmaring_status tmaring_softmax(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                               struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(softmax, views, NULL);
}

tmaring_status tmaring_log_softmax(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                   struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(log_softmax, views, NULL);
}

tmaring_status tmaring_softmax_scaled(const tmaring_view *y, const tmaring_view *x, double temperature,
                                      const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(softmax_scaled, views, &temperature);
}

tmaring_status tmaring_silu_mul(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(silu_mul, views, NULL);
}

tmaring_status tmaring_gelu_mul(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(gelu_mul, views, NULL);
}

tmaring_status tmaring_silu_mul_rounded(const tmaring_view *y, const tmaring_view *x, const tmaring_call *call,
                                        struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  return RUN(silu_mul_rounded, views, NULL);
}

tmaring_status tmaring_swiglu_clamp(const tmaring_view *y, const tmaring_view *x, double limit, double alpha,
                                    double beta, const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  const double scalars[] = {limit, alpha, beta};
  return RUN(swiglu_clamp, views, scalars);
}

tmaring_status tmaring_swiglu_clamp_interleaved(const tmaring_view *y, const tmaring_view *x, double limit,
                                                double alpha, double beta, const tmaring_call *call,
                                                struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, x};
  const double scalars[] = {limit, alpha, beta};
  return RUN(swiglu_clamp_interleaved, views, scalars);
}

tmaring_status tmaring_quantize_fp8(const tmaring_view *q, const tmaring_view *x, const tmaring_view *s,
                                    const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {q, x, s};
  return RUN(quantize_fp8, views, NULL);
}

tmaring_status tmaring_quantize_fp8_row(const tmaring_view *s, const tmaring_view *q, const tmaring_view *x,
                                        const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {s, q, x};
  return RUN(quantize_fp8_row, views, NULL);
}

tmaring_status tmaring_quantize_fp8_group(const tmaring_view *s, const tmaring_view *q, const tmaring_view *x,
                                          const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {s, q, x};
  return RUN(quantize_fp8_group, views, NULL);
}

tmaring_status tmaring_quantize_i8_row(const tmaring_view *s, const tmaring_view *q, const tmaring_view *x,
                                       const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {s, q, x};
  return RUN(quantize_i8_row, views, NULL);
}

tmaring_status tmaring_rmsnorm_quantize_fp8_row(const tmaring_view *s, const tmaring_view *q, const tmaring_view *x,
                                                const tmaring_view *w, double eps, const tmaring_call *call,
                                                struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {s, q, x, w};
  return RUN(rmsnorm_quantize_fp8_row, views, &eps);
}

tmaring_status tmaring_add_rmsnorm_quantize_fp8_row(const tmaring_view *h, const tmaring_view *s, const tmaring_view *q,
                                                    const tmaring_view *x, const tmaring_view *r, const tmaring_view *w,
                                                    double eps, const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {h, s, q, x, r, w};
  return RUN(add_rmsnorm_quantize_fp8_row, views, &eps);
}

tmaring_status tmaring_silu_mul_quantize_fp8_row(const tmaring_view *s, const tmaring_view *q, const tmaring_view *x,
                                                 const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {s, q, x};
  return RUN(silu_mul_quantize_fp8_row, views, NULL);
}

tmaring_status tmaring_dequantize_fp8_row(const tmaring_view *y, const tmaring_view *q, const tmaring_view *s,
                                          const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {y, q, s};
  return RUN(dequantize_fp8_row, views, NULL);
}

tmaring_status tmaring_cross_entropy(const tmaring_view *loss, const tmaring_view *x, const tmaring_view *label,
                                     const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {loss, x, label};
  return RUN(cross_entropy, views, NULL);
}

tmaring_status tmaring_rmsnorm_backward(const tmaring_view *dx, const tmaring_view *dw, const tmaring_view *dy,
                                        const tmaring_view *x, const tmaring_view *w, double eps,
                                        const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {dx, dw, dy, x, w};
  return RUN(rmsnorm_backward, views, &eps);
}

tmaring_status tmaring_layernorm_backward(const tmaring_view *dx, const tmaring_view *dw, const tmaring_view *db,
                                          const tmaring_view *dy, const tmaring_view *x, const tmaring_view *w,
                                          double eps, const tmaring_call *call, struct CUstream_st *stream)
{
  const tmaring_view *const views[] = {dx, dw, db, dy, x, w};
  return RUN(layernorm_backward, views, &eps);
}

/* Numbers. Arithmetic is done in a value type T, float or double; memory holds the element types of abi/base.h. Loading
 * is exact, or one rounding to T; storing is one rounding to nearest even. fp8 and integers saturate, and a NaN becomes
 * the NaN 0x7f, or the integer 0. */
#ifndef TMARING_DEVICE_NUMBER_CUH
#define TMARING_DEVICE_NUMBER_CUH

#include "ptx.cuh"

/* ---- functions: one name for float and double ---- */

/* NaN if either is NaN; max(-0, +0) is +0 and min(-0, +0) is -0. */
TMARING_DEVICE float tmaring_max(float a, float b)
{
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
TMARING_DEVICE float tmaring_min(float a, float b)
{
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
TMARING_DEVICE double tmaring_max(double a, double b)
{
  if (a == b) return __longlong_as_double(__double_as_longlong(a) & __double_as_longlong(b));
  return a > b || a != a ? a : b;
}
TMARING_DEVICE double tmaring_min(double a, double b)
{
  if (a == b) return __longlong_as_double(__double_as_longlong(a) | __double_as_longlong(b));
  return a < b || a != a ? a : b;
}

/* A product that is rounded by itself, never together with a sum. */
TMARING_DEVICE float tmaring_product(float a, float b)
{
  return __fmul_rn(a, b);
}
TMARING_DEVICE double tmaring_product(double a, double b)
{
  return __dmul_rn(a, b);
}

#define TMARING_FUNCTION(name, of_float, of_double)                                                                    \
  TMARING_DEVICE float tmaring_##name(float x)                                                                         \
  {                                                                                                                    \
    return of_float(x);                                                                                                \
  }                                                                                                                    \
  TMARING_DEVICE double tmaring_##name(double x)                                                                       \
  {                                                                                                                    \
    return of_double(x);                                                                                               \
  }
TMARING_FUNCTION(abs, fabsf, fabs)
TMARING_FUNCTION(exp, expf, exp)
TMARING_FUNCTION(log, logf, log)
TMARING_FUNCTION(sqrt, sqrtf, sqrt)
TMARING_FUNCTION(rsqrt, rsqrtf, rsqrt)
TMARING_FUNCTION(tanh, tanhf, tanh)
TMARING_FUNCTION(erf, erff, erf)
TMARING_FUNCTION(round, rintf, rint)
#undef TMARING_FUNCTION

/* 1 / (1 + exp(-x)) without overflow: far below 0 it keeps its subnormal values. The divisor lies in [1, 2], where the
 * reciprocal instruction is within 1 ulp. */
TMARING_DEVICE float tmaring_sigmoid(float x)
{
  const float t = expf(-fabsf(x));
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(1.0f + t));
  return (x < 0.0f ? t : 1.0f) * r;
}
TMARING_DEVICE double tmaring_sigmoid(double x)
{
  const double t = exp(-fabs(x));
  return (x < 0.0 ? t : 1.0) / (1.0 + t);
}

template <class T> TMARING_DEVICE T tmaring_infinity(void)
{
  return (T)__int_as_float(0x7f800000);
}
template <class T> TMARING_DEVICE T tmaring_nan(void)
{
  return (T)__int_as_float(0x7fffffff);
}

/* ---- many quotients by one divisor ---- */

/* A divisor and its reciprocal; the reciprocal is 0 where quotients take the long way. */
template <class T> struct tmaring_divisor;
template <> struct tmaring_divisor<float> {
  float by, reciprocal;
};
template <> struct tmaring_divisor<double> {
  double by;
};

TMARING_DEVICE tmaring_divisor<float> tmaring_divisor_of(float by)
{
  const bool plain = by >= 0x1p-45f && by <= 0x1p24f;
  return {by, plain ? __frcp_rn(by) : 0.0f};
}
TMARING_DEVICE tmaring_divisor<double> tmaring_divisor_of(double by)
{
  return {by};
}

/* q[v] = x[v] / d, correctly rounded; a subnormal quotient may be one unit off. The product with the reciprocal is off by
 * less than 2 ulp, and one step on its exact remainder rounds it. (Only a quotient next to a midpoint could go wrong;
 * for all pairs of significands with such quotients the outcome was compared with a division.) Scaling keeps the
 * remainder of the smallest numbers exact; -0 keeps its sign. Numbers out of range, infinities and NaN go by double. */
template <int V> TMARING_DEVICE void tmaring_divide(float *q, const float *x, const tmaring_divisor<float> &d)
{
  float most = 0.0f;
#pragma unroll
  for (int v = 0; v < V; ++v) {
    const float scaled = __fmul_rn(x[v], 0x1p48f), near = __fmul_rn(scaled, d.reciprocal);
    q[v] = __fmul_rn(__fmaf_rn(-__fmaf_rn(near, d.by, -scaled), d.reciprocal, near), 0x1p-48f);
    most = tmaring_max(most, fabsf(x[v]));
  }
  if (most <= 0x1p32f && d.reciprocal != 0.0f) return;
  double reciprocal;
  asm volatile("rcp.rn.f64 %0, %1;" : "=d"(reciprocal) : "d"((double)d.by)); /* volatile: not ahead of the loop */
#pragma unroll
  for (int v = 0; v < V; ++v) q[v] = (float)((double)x[v] * reciprocal);
}
template <int V> TMARING_DEVICE void tmaring_divide(double *q, const double *x, const tmaring_divisor<double> &d)
{
#pragma unroll
  for (int v = 0; v < V; ++v) q[v] = x[v] / d.by;
}

/* ---- element types ---- */

template <int DTYPE> struct tmaring_element;
#define TMARING_ELEMENT(name, value, text, size)                                                                       \
  template <> struct tmaring_element<value> {                                                                          \
    static constexpr int bytes = size;                                                                                 \
  };
TMARING_DTYPE_LIST(TMARING_ELEMENT)
#undef TMARING_ELEMENT

template <int DTYPE> TMARING_DEVICE constexpr int tmaring_bytes(void)
{
  return tmaring_element<DTYPE>::bytes;
}

TMARING_DEVICE float tmaring_from_f16(tmaring_u32 bits)
{
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"((tmaring_u16)bits));
  return r;
}
TMARING_DEVICE float tmaring_from_bf16(tmaring_u32 bits)
{
  return __uint_as_float(bits << 16);
}

/* Two fp8 values, as two f16, which hold them exactly. */
template <int DTYPE> TMARING_DEVICE tmaring_u32 tmaring_from_fp8x2(tmaring_u32 bits)
{
  tmaring_u32 r;
  if (DTYPE == TMARING_E4M3) {
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"((tmaring_u16)bits));
  } else {
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"((tmaring_u16)bits));
  }
  return r;
}

/* Two values rounded to nearest even; `low` in the low half. */
TMARING_DEVICE tmaring_u32 tmaring_to_f16x2(float low, float high)
{
  tmaring_u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
TMARING_DEVICE tmaring_u32 tmaring_to_bf16x2(float low, float high)
{
  tmaring_u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
template <int DTYPE> TMARING_DEVICE tmaring_u32 tmaring_to_fp8x2(float low, float high)
{
  tmaring_u16 r;
  if (DTYPE == TMARING_E4M3) {
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
  }
  return r;
}

/* Saturating; NaN is 0. The conversion instructions say so for floats; from and to 64 bits they make another number of a
 * NaN. */
TMARING_DEVICE tmaring_i32 tmaring_to_i32(float x)
{
  return __float2int_rn(x);
}
TMARING_DEVICE tmaring_i32 tmaring_to_i32(double x)
{
  return x == x ? __double2int_rn(x) : 0;
}
TMARING_DEVICE tmaring_i64 tmaring_to_i64(float x)
{
  return x == x ? __float2ll_rn(x) : 0;
}
TMARING_DEVICE tmaring_i64 tmaring_to_i64(double x)
{
  return x == x ? __double2ll_rn(x) : 0;
}

/* Two integers saturated to i8, in the low half; the low half of `above` in the high one. */
TMARING_DEVICE tmaring_u32 tmaring_to_i8x2(tmaring_i32 low, tmaring_i32 high, tmaring_u32 above)
{
  tmaring_u32 r;
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(high), "r"(low), "r"(above));
  return r;
}

/* A float on the way to a type of at most 11 bits of precision: a double is cut, and where something was lost the last
 * bit is set (rounding to odd), so that the second rounding comes out as if it were the only one. */
TMARING_DEVICE float tmaring_narrow(float x)
{
  return x;
}
TMARING_DEVICE float tmaring_narrow(double x)
{
  const float cut = __double2float_rz(x);
  return (double)cut == x ? cut : __uint_as_float(__float_as_uint(cut) | 1u);
}

/* COUNT values out of the words that memory holds; the first in the lowest bits. */
template <int DTYPE, int COUNT, class T> TMARING_DEVICE void tmaring_decode(T *v, const tmaring_u32 *w)
{
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    if constexpr (DTYPE == TMARING_F32) {
      v[i] = (T)__uint_as_float(w[i]);
    } else if constexpr (DTYPE == TMARING_I32) {
      v[i] = (T)(tmaring_i32)w[i];
    } else if constexpr (DTYPE == TMARING_F64) {
      v[i] = (T)__hiloint2double((int)w[2 * i + 1], (int)w[2 * i]);
    } else if constexpr (DTYPE == TMARING_I64) {
      v[i] = (T)(tmaring_i64)((tmaring_u64)w[2 * i + 1] << 32 | w[2 * i]);
    } else if constexpr (DTYPE == TMARING_F16) {
      v[i] = (T)tmaring_from_f16(i % 2 ? w[i / 2] >> 16 : w[i / 2]);
    } else if constexpr (DTYPE == TMARING_BF16) {
      v[i] = (T)(i % 2 ? __uint_as_float(w[i / 2] & 0xffff0000u) : tmaring_from_bf16(w[i / 2]));
    } else if constexpr (DTYPE == TMARING_I8) { /* 2^23 + 128 + i8, less 2^23 + 128: cheaper than a conversion */
      const tmaring_u32 biased = __byte_perm(w[i / 4] ^ 0x80808080u, 0x4b000000u, 0x7540u | i % 4);
      v[i] = (T)(__uint_as_float(biased) - 8388736.0f);
    } else {
      const tmaring_u32 two = tmaring_from_fp8x2<DTYPE>(i % 4 < 2 ? w[i / 4] : w[i / 4] >> 16);
      v[i] = (T)tmaring_from_f16(i % 2 ? two >> 16 : two);
    }
  }
}

/* Value i of v, 0 past the end, on its way to a small type. */
template <int COUNT, class T> TMARING_DEVICE float tmaring_narrow_at(const T *v, int i)
{
  return i < COUNT ? tmaring_narrow(v[i]) : 0.0f;
}
template <int COUNT, class T> TMARING_DEVICE tmaring_i32 tmaring_i32_at(const T *v, int i)
{
  return i < COUNT ? tmaring_to_i32(v[i]) : 0;
}

/* The reverse of decode. */
template <int DTYPE, int COUNT, class T> TMARING_DEVICE void tmaring_encode(tmaring_u32 *w, const T *v)
{
  constexpr int per_word = tmaring_bytes<DTYPE>() < 4 ? 4 / tmaring_bytes<DTYPE>() : 1;
#pragma unroll
  for (int i = 0; i < COUNT; i += per_word) {
    tmaring_u32 *to = w + i * tmaring_bytes<DTYPE>() / 4;
    if constexpr (DTYPE == TMARING_F32) {
      *to = __float_as_uint((float)v[i]);
    } else if constexpr (DTYPE == TMARING_I32) {
      *to = (tmaring_u32)tmaring_to_i32(v[i]);
    } else if constexpr (DTYPE == TMARING_F64 || DTYPE == TMARING_I64) {
      const tmaring_i64 bits = DTYPE == TMARING_F64 ? __double_as_longlong((double)v[i]) : tmaring_to_i64(v[i]);
      to[0] = (tmaring_u32)bits, to[1] = (tmaring_u32)((tmaring_u64)bits >> 32);
    } else if constexpr (DTYPE == TMARING_F16) {
      *to = tmaring_to_f16x2(tmaring_narrow(v[i]), tmaring_narrow_at<COUNT>(v, i + 1));
    } else if constexpr (DTYPE == TMARING_BF16) {
      *to = tmaring_to_bf16x2(tmaring_narrow(v[i]), tmaring_narrow_at<COUNT>(v, i + 1));
    } else if constexpr (DTYPE == TMARING_I8) {
      *to = tmaring_to_i8x2(tmaring_to_i32(v[i]), tmaring_i32_at<COUNT>(v, i + 1),
                            tmaring_to_i8x2(tmaring_i32_at<COUNT>(v, i + 2), tmaring_i32_at<COUNT>(v, i + 3), 0));
    } else {
      *to = tmaring_to_fp8x2<DTYPE>(tmaring_narrow(v[i]), tmaring_narrow_at<COUNT>(v, i + 1)) |
            tmaring_to_fp8x2<DTYPE>(tmaring_narrow_at<COUNT>(v, i + 2), tmaring_narrow_at<COUNT>(v, i + 3)) << 16;
    }
  }
}

/* x rounded to an element type, and back. */
template <int DTYPE, class T> TMARING_DEVICE T tmaring_cast(T x)
{
  tmaring_u32 w[2];
  T r;
  tmaring_encode<DTYPE, 1>(w, &x);
  tmaring_decode<DTYPE, 1>(&r, w);
  return r;
}

#endif

/* Types and qualifiers that every header in abi/ is written with.
 *
 * abi/ is compiled by gcc, g++, clang, nvcc and NVRTC (without any include path), so these headers include nothing but
 * each other, and stay in the subset of C11, C++17 and CUDA: no restrict, _Generic, designated initializers, flexible
 * arrays or implicit conversions from void *. */
#ifndef TMARING_ABI_BASE_H
#define TMARING_ABI_BASE_H

/* Version of everything in abi/ that is laid out in memory: a kernel refuses arguments of another version. */
#define TMARING_ABI_VERSION 3

typedef signed int tmaring_i32;
typedef unsigned int tmaring_u32;
typedef signed long long tmaring_i64;
typedef unsigned long long tmaring_u64;
typedef unsigned short tmaring_u16;

#if defined(__CUDACC__)
/* A function both sides run. */
#define TMARING_FN static __host__ __device__ __forceinline__
#else
#define TMARING_FN static inline
#endif

#if defined(__cplusplus)
#define TMARING_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define TMARING_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

TMARING_STATIC_ASSERT(sizeof(tmaring_i32) == 4 && sizeof(tmaring_i64) == 8, "fixed widths");
TMARING_STATIC_ASSERT(sizeof(void *) == 8, "64-bit addresses");

/* Element types of tensors in memory. X(enumerator, value, name, bytes). Arithmetic is fp32, or double where a tensor is
 * f64 or an [M,N] tensor is i32. i64 is for labels: [M] inputs, and [M] outputs that hold a column number. */
#define TMARING_DTYPE_LIST(X)                                                                                          \
  X(F32, 0, "f32", 4)                                                                                                  \
  X(F16, 1, "f16", 2)                                                                                                  \
  X(BF16, 2, "bf16", 2)                                                                                                \
  X(F64, 3, "f64", 8)                                                                                                  \
  X(E4M3, 4, "e4m3", 1) /* fp8 without infinities: largest 448, NaN 0x7f and 0xff */                                   \
  X(E5M2, 5, "e5m2", 1) /* fp8 with infinities: largest finite 57344 */                                                \
  X(I8, 6, "i8", 1)                                                                                                    \
  X(I32, 7, "i32", 4)                                                                                                  \
  X(I64, 8, "i64", 8)

typedef enum tmaring_dtype {
#define TMARING_DTYPE_ENUM(name, value, text, bytes) TMARING_##name = value,
  TMARING_DTYPE_LIST(TMARING_DTYPE_ENUM)
#undef TMARING_DTYPE_ENUM
      TMARING_DTYPE_COUNT
} tmaring_dtype;

/* Size of one element in bytes; 0 for a value outside the enum. */
TMARING_FN tmaring_u32 tmaring_dtype_bytes(tmaring_i32 dtype)
{
  switch (dtype) {
#define TMARING_DTYPE_BYTES(name, value, text, bytes)                                                                  \
  case value: return bytes;
    TMARING_DTYPE_LIST(TMARING_DTYPE_BYTES)
#undef TMARING_DTYPE_BYTES
  }
  return 0;
}

TMARING_FN tmaring_i64 tmaring_ceil_div(tmaring_i64 a, tmaring_i64 b)
{
  return (a + b - 1) / b;
}

TMARING_FN tmaring_u64 tmaring_round_down(tmaring_u64 a, tmaring_u64 power_of_two)
{
  return a & ~(power_of_two - 1);
}

TMARING_FN tmaring_u64 tmaring_round_up(tmaring_u64 a, tmaring_u64 power_of_two)
{
  return (a + power_of_two - 1) & ~(power_of_two - 1);
}

TMARING_FN tmaring_i64 tmaring_min_i64(tmaring_i64 a, tmaring_i64 b)
{
  return a < b ? a : b;
}

TMARING_FN tmaring_i64 tmaring_max_i64(tmaring_i64 a, tmaring_i64 b)
{
  return a > b ? a : b;
}

#endif

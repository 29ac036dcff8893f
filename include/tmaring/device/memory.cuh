/* Vectors of elements in memory: typed loads and stores that mask what lies outside a row. Values are float or double
 * (number.cuh). */
#ifndef TMARING_DEVICE_MEMORY_CUH
#define TMARING_DEVICE_MEMORY_CUH

#include "number.cuh"

/* Elements and vectors of one row of a fill, and columns: 32 bits, as everything inside a tile. TMARING_INDEX_64 widens
 * it, to measure what that would cost (scripts/index_width_report.sh). */
#if defined(TMARING_INDEX_64)
typedef tmaring_i64 tmaring_index;
#else
typedef tmaring_i32 tmaring_index;
#endif

/* ---- words ---- */

/* Shared memory is accessed through pointers into tmaring_shared. Global memory goes by explicit instructions: a
 * pointer made from an address would be generic, and every shared load would then have to wait behind the stores before
 * it. Volatile keeps them behind the wait for the preceding kernel; without a memory clobber shared accesses still move
 * past them. No load is a .nc one, not even of what this kernel never writes: the preceding kernel may still be writing
 * it when this one starts. */
enum tmaring_space { TMARING_SHARED, TMARING_GLOBAL };

#define TMARING_LOAD_GLOBAL(text, outputs, p) asm volatile("ld.global." text:outputs : "l"(p));
#define TMARING_OUT_2(a, b)                   "=r"(a), "=r"(b)
#define TMARING_OUT_4(a, b, c, d)             "=r"(a), "=r"(b), "=r"(c), "=r"(d)

/* BYTES (1, 2, 4, 8, or a multiple of 16) at a place aligned to as many, at most 16. */
template <int BYTES, tmaring_space SPACE>
static __device__ __forceinline__ void tmaring_read(tmaring_u32 *w, const unsigned char *p)
{
  constexpr bool shared = SPACE == TMARING_SHARED;
  if constexpr (BYTES == 1) {
    if (shared) {
      w[0] = *p;
    } else {
      TMARING_LOAD_GLOBAL("u8 %0, [%1];", "=r"(w[0]), p)
    }
  } else if constexpr (BYTES == 2) {
    if (shared) {
      w[0] = *reinterpret_cast<const tmaring_u16 *>(p);
    } else {
      TMARING_LOAD_GLOBAL("u16 %0, [%1];", "=r"(w[0]), p)
    }
  } else if constexpr (BYTES == 4) {
    if (shared) {
      w[0] = *reinterpret_cast<const tmaring_u32 *>(p);
    } else {
      TMARING_LOAD_GLOBAL("u32 %0, [%1];", "=r"(w[0]), p)
    }
  } else if constexpr (BYTES == 8) {
    if (shared) {
      const uint2 q = *reinterpret_cast<const uint2 *>(p);
      w[0] = q.x, w[1] = q.y;
    } else {
      TMARING_LOAD_GLOBAL("v2.u32 {%0, %1}, [%2];", TMARING_OUT_2(w[0], w[1]), p)
    }
  } else {
#pragma unroll
    for (int i = 0; i < BYTES / 4; i += 4) {
      if (shared) {
        const uint4 q = *reinterpret_cast<const uint4 *>(p + 4 * i);
        w[i] = q.x, w[i + 1] = q.y, w[i + 2] = q.z, w[i + 3] = q.w;
      } else {
        TMARING_LOAD_GLOBAL("v4.u32 {%0, %1, %2, %3}, [%4];", TMARING_OUT_4(w[i], w[i + 1], w[i + 2], w[i + 3]),
                            p + 4 * i)
      }
    }
  }
}

#undef TMARING_LOAD_GLOBAL
#undef TMARING_OUT_2
#undef TMARING_OUT_4

template <int BYTES, tmaring_space SPACE>
static __device__ __forceinline__ void tmaring_write(unsigned char *p, const tmaring_u32 *w)
{
  constexpr bool shared = SPACE == TMARING_SHARED;
  if constexpr (BYTES == 1) {
    if (shared) {
      *p = (unsigned char)w[0];
    } else {
      asm volatile("st.global.u8 [%0], %1;" ::"l"(p), "r"(w[0]));
    }
  } else if constexpr (BYTES == 2) {
    if (shared) {
      *reinterpret_cast<tmaring_u16 *>(p) = (tmaring_u16)w[0];
    } else {
      asm volatile("st.global.u16 [%0], %1;" ::"l"(p), "h"((tmaring_u16)w[0]));
    }
  } else if constexpr (BYTES == 4) {
    if (shared) {
      *reinterpret_cast<tmaring_u32 *>(p) = w[0];
    } else {
      asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(w[0]));
    }
  } else if constexpr (BYTES == 8) {
    if (shared) {
      *reinterpret_cast<uint2 *>(p) = make_uint2(w[0], w[1]);
    } else {
      asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(w[0]), "r"(w[1]));
    }
  } else {
#pragma unroll
    for (int i = 0; i < BYTES / 4; i += 4) {
      if (shared) {
        *reinterpret_cast<uint4 *>(p + 4 * i) = make_uint4(w[i], w[i + 1], w[i + 2], w[i + 3]);
      } else {
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p + 4 * i), "r"(w[i]), "r"(w[i + 1]),
                     "r"(w[i + 2]), "r"(w[i + 3]));
      }
    }
  }
}

/* Words that COUNT elements take, at least one. */
template <int DTYPE, int COUNT> static __device__ __forceinline__ constexpr int tmaring_words(void)
{
  return (COUNT * tmaring_bytes<DTYPE>() + 3) / 4;
}

/* 8 bytes, or a multiple of 16, from any element of shared memory: the aligned units around them, shifted. Up to 15
 * bytes on either side are read and dropped; they lie in the same slot, where nobody writes: results lie over inputs in
 * aligned plans only, whose vectors are never shifted. */
template <int DTYPE, int BYTES>
static __device__ __forceinline__ void tmaring_read_shifted(tmaring_u32 *w, const unsigned char *p)
{
  constexpr int unit = BYTES < 16 ? BYTES : 16, words = BYTES / 4, all = words + unit / 4;
  const tmaring_u32 shift = (tmaring_u32) reinterpret_cast<tmaring_u64>(p) & (unit - 1);
  tmaring_u32 q[all];
#pragma unroll
  for (int i = 0; i < all; i += unit / 4) tmaring_read<unit, TMARING_SHARED>(q + i, p - shift + 4 * i);
  if (unit == 16) {
#pragma unroll
    for (int i = 0; i + 2 < all; ++i) q[i] = shift & 8 ? q[i + 2] : q[i];
  }
  if (tmaring_bytes<DTYPE>() < 8) {
#pragma unroll
    for (int i = 0; i < words + 1 && i + 1 < all; ++i) q[i] = shift & 4 ? q[i + 1] : q[i];
  }
#pragma unroll
  for (int i = 0; i < words; ++i)
    w[i] = tmaring_bytes<DTYPE>() < 4 ? __funnelshift_r(q[i], q[i + 1], 8 * (shift & 3)) : q[i];
}

/* ---- elements ---- */

/* One element. */
template <int DTYPE, tmaring_space SPACE, class T>
static __device__ __forceinline__ T tmaring_load_one(const unsigned char *p)
{
  tmaring_u32 w[2];
  T value;
  tmaring_read<tmaring_bytes<DTYPE>(), SPACE>(w, p);
  tmaring_decode<DTYPE, 1>(&value, w);
  return value;
}

template <int DTYPE, tmaring_space SPACE, class T>
static __device__ __forceinline__ void tmaring_store_one(unsigned char *p, T value)
{
  tmaring_u32 w[2];
  tmaring_encode<DTYPE, 1>(w, &value);
  tmaring_write<tmaring_bytes<DTYPE>(), SPACE>(p, w);
}

template <int DTYPE, int COUNT> static __device__ __forceinline__ bool tmaring_is_aligned(const unsigned char *p)
{
  constexpr int bytes = COUNT * tmaring_bytes<DTYPE>() < 16 ? COUNT * tmaring_bytes<DTYPE>() : 16;
  return (reinterpret_cast<tmaring_u64>(p) & (bytes - 1)) == 0;
}

/* COUNT elements that all lie inside their row. */
template <int DTYPE, int COUNT, bool ALIGNED, tmaring_space SPACE, class T>
static __device__ __forceinline__ bool tmaring_load_inside(T *v, const unsigned char *p)
{
  constexpr int bytes = COUNT * tmaring_bytes<DTYPE>();
  tmaring_u32 w[tmaring_words<DTYPE, COUNT>()];
  if (ALIGNED || tmaring_is_aligned<DTYPE, COUNT>(p)) {
    tmaring_read<bytes, SPACE>(w, p);
  } else if constexpr (SPACE == TMARING_SHARED && bytes >= 8) {
    tmaring_read_shifted<DTYPE, bytes>(w, p);
  } else {
    return false;
  }
  tmaring_decode<DTYPE, COUNT>(v, w);
  return true;
}

/* Elements [c, c + V) of a row of n elements; those outside are 0. With WHOLE the caller knows that all lie inside and
 * are aligned. */
template <int DTYPE, int V, bool WHOLE, tmaring_space SPACE, class T>
static __device__ __forceinline__ void tmaring_load(T *v, const unsigned char *row, tmaring_index c, tmaring_index n)
{
  const unsigned char *p = row + (tmaring_i64)c * tmaring_bytes<DTYPE>();
  if constexpr (WHOLE) {
    tmaring_load_inside<DTYPE, V, true, SPACE>(v, p);
  } else {
    if (c >= 0 && c <= n - V && tmaring_load_inside<DTYPE, V, false, SPACE>(v, p)) return;
#pragma unroll
    for (int i = 0; i < V; ++i)
      v[i] = c + i >= 0 && c + i < n ? tmaring_load_one<DTYPE, SPACE, T>(p + i * tmaring_bytes<DTYPE>()) : (T)0;
  }
}

/* The same of a row of pairs: first and second of each. */
template <int DTYPE, int V, bool WHOLE, tmaring_space SPACE, class T>
static __device__ __forceinline__ void tmaring_load_pairs(T *even, T *odd, const unsigned char *row, tmaring_index c,
                                                          tmaring_index n)
{
  constexpr int bytes = tmaring_bytes<DTYPE>();
  const unsigned char *p = row + (tmaring_i64)c * 2 * bytes;
  T v[2 * V];
  if constexpr (WHOLE) {
    tmaring_load_inside<DTYPE, 2 * V, true, SPACE>(v, p);
  } else if (!(c >= 0 && c <= n - V && tmaring_load_inside<DTYPE, 2 * V, false, SPACE>(v, p))) {
#pragma unroll
    for (int i = 0; i < 2 * V; ++i)
      v[i] = c + i / 2 >= 0 && c + i / 2 < n ? tmaring_load_one<DTYPE, SPACE, T>(p + i * bytes) : (T)0;
  }
#pragma unroll
  for (int i = 0; i < V; ++i) even[i] = v[2 * i], odd[i] = v[2 * i + 1];
}

template <int DTYPE, int V, bool WHOLE, tmaring_space SPACE, class T>
static __device__ __forceinline__ void tmaring_store(unsigned char *row, const T *v, tmaring_index c, tmaring_index n)
{
  unsigned char *p = row + (tmaring_i64)c * tmaring_bytes<DTYPE>();
  tmaring_u32 w[tmaring_words<DTYPE, V>()];
  if constexpr (WHOLE) {
    tmaring_encode<DTYPE, V>(w, v);
    tmaring_write<V * tmaring_bytes<DTYPE>(), SPACE>(p, w);
  } else if (c >= 0 && c <= n - V && tmaring_is_aligned<DTYPE, V>(p)) {
    tmaring_encode<DTYPE, V>(w, v);
    tmaring_write<V * tmaring_bytes<DTYPE>(), SPACE>(p, w);
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) {
      if (c + i >= 0 && c + i < n) tmaring_store_one<DTYPE, SPACE>(p + i * tmaring_bytes<DTYPE>(), v[i]);
    }
  }
}

#endif

/* Access to the elements of a row: which of them a thread holds (scope.h), and typed vector loads and stores that mask
 * what lies outside the row. Arithmetic is fp32; loads widen, stores round to nearest even. */
#ifndef TMARING_DEVICE_ROW_CUH
#define TMARING_DEVICE_ROW_CUH

#include "ring.cuh"

/* A thread's share of one row of a fill (or of a whole flat fill). */
struct tmaring_span {
  tmaring_i32 row;                /* row within the fill */
  bool active;                    /* false: there is no such row; the span is empty */
  tmaring_i32 phase;              /* element phase of the frame */
  tmaring_i32 n;                  /* elements of the row in this fill */
  tmaring_i32 start, end, stride; /* vectors */
};

template <bool FLAT, bool EDGES, class E>
static __device__ __forceinline__ tmaring_span tmaring_row_span(E *e, const tmaring_fill *fill, int iteration)
{
  const tmaring_scope *scope = &e->view.scope;
  tmaring_span s;
  tmaring_i32 first, last;
  tmaring_scope_unit_rows(scope, e->seat.unit, fill->rows, &first, &last);
  s.row = FLAT ? 0 : first + iteration * (32 >> scope->lanes_log2) + e->seat.row;
  s.active = FLAT || s.row < last;
  s.n = FLAT ? fill->rows * fill->cols : fill->cols;
  s.phase = tmaring_frame_phase(&e->view, fill, s.active ? s.row : 0, EDGES);
  s.start = e->seat.start;
  s.end = s.active ? tmaring_scope_end(scope, e->warp, s.phase, s.n) : 0;
  s.stride = tmaring_scope_stride(scope);
  return s;
}

/* Where the row starts in the stage. */
template <class E>
static __device__ __forceinline__ unsigned char *
tmaring_row_staged(E *e, const tmaring_stream *t, const tmaring_fill *fill, tmaring_u32 stage, const tmaring_span &s)
{
  return tmaring_shared + e->stage(stage) + t->slot + tmaring_run_row_offset(t, fill, s.row);
}

/* Where the row starts in global memory. */
static __device__ __forceinline__ unsigned char *tmaring_row_global(const tmaring_stream *t, const tmaring_fill *fill,
                                                                    const tmaring_span &s)
{
  return reinterpret_cast<unsigned char *>(tmaring_stream_address(t, fill->row + s.row, fill->col));
}

/* ---- elements ---- */

template <int DTYPE> static __device__ __forceinline__ constexpr int tmaring_bytes(void)
{
  return DTYPE == TMARING_F32 ? 4 : 2;
}

template <int DTYPE> static __device__ __forceinline__ tmaring_u32 tmaring_round_two(float low, float high)
{
  return DTYPE == TMARING_F16 ? tmaring_to_f16x2(low, high) : tmaring_to_bf16x2(low, high);
}

/* One 4-byte word of a vector: one f32, or two 16-bit elements. */
template <int DTYPE> static __device__ __forceinline__ void tmaring_unpack(tmaring_u32 word, float *v)
{
  if (DTYPE == TMARING_F32) {
    v[0] = __uint_as_float(word);
  } else if (DTYPE == TMARING_F16) {
    v[0] = tmaring_from_f16(word & 0xffffu);
    v[1] = tmaring_from_f16(word >> 16);
  } else {
    v[0] = __uint_as_float(word << 16);
    v[1] = __uint_as_float(word & 0xffff0000u);
  }
}

template <int DTYPE> static __device__ __forceinline__ tmaring_u32 tmaring_pack(const float *v)
{
  return DTYPE == TMARING_F32 ? __float_as_uint(v[0])
                              : tmaring_round_two<DTYPE>(v[0], DTYPE == TMARING_F32 ? 0.0f : v[1]);
}

/* Shared memory is accessed through pointers into tmaring_shared. Global memory goes by explicit instructions: a
 * pointer made from an address would be generic, and every shared load would then have to wait behind the stores before
 * it. Volatile keeps them behind the wait for the preceding kernel; without a memory clobber shared accesses still move
 * past them. */
enum tmaring_space { TMARING_SHARED, TMARING_GLOBAL };

/* WORDS 4-byte words: 2, or a multiple of 4. The place is aligned to 16 bytes (2 words: 8). */
template <int WORDS, tmaring_space SPACE>
static __device__ __forceinline__ void tmaring_read_words(tmaring_u32 *w, const unsigned char *p)
{
  if (WORDS == 2) {
    uint2 q;
    if (SPACE == TMARING_SHARED) {
      q = *reinterpret_cast<const uint2 *>(p);
    } else {
      asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(q.x), "=r"(q.y) : "l"(p));
    }
    w[0] = q.x, w[1] = q.y;
  }
#pragma unroll
  for (int i = 0; i + 3 < WORDS; i += 4) {
    uint4 q;
    if (SPACE == TMARING_SHARED) {
      q = *reinterpret_cast<const uint4 *>(p + 4 * i);
    } else {
      asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(q.x), "=r"(q.y), "=r"(q.z), "=r"(q.w)
                   : "l"(p + 4 * i));
    }
    w[i] = q.x, w[i + 1] = q.y, w[i + 2] = q.z, w[i + 3] = q.w;
  }
}

template <int WORDS, tmaring_space SPACE>
static __device__ __forceinline__ void tmaring_write_words(unsigned char *p, const tmaring_u32 *w)
{
  if (WORDS == 2) {
    if (SPACE == TMARING_SHARED) {
      *reinterpret_cast<uint2 *>(p) = make_uint2(w[0], w[1]);
    } else {
      asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(w[0]), "r"(w[1]));
    }
  }
#pragma unroll
  for (int i = 0; i + 3 < WORDS; i += 4) {
    if (SPACE == TMARING_SHARED) {
      *reinterpret_cast<uint4 *>(p + 4 * i) = make_uint4(w[i], w[i + 1], w[i + 2], w[i + 3]);
    } else {
      asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p + 4 * i), "r"(w[i]), "r"(w[i + 1]), "r"(w[i + 2]),
                   "r"(w[i + 3]));
    }
  }
}

template <int DTYPE, int V, tmaring_space SPACE>
static __device__ __forceinline__ void tmaring_load_aligned(float *v, const unsigned char *p)
{
  constexpr int per_word = 4 / tmaring_bytes<DTYPE>(), words = V / per_word;
  tmaring_u32 w[words];
  tmaring_read_words<words, SPACE>(w, p);
#pragma unroll
  for (int i = 0; i < words; ++i) tmaring_unpack<DTYPE>(w[i], v + i * per_word);
}

template <int DTYPE, int V, tmaring_space SPACE>
static __device__ __forceinline__ void tmaring_store_aligned(unsigned char *p, const float *v)
{
  constexpr int per_word = 4 / tmaring_bytes<DTYPE>(), words = V / per_word;
  tmaring_u32 w[words];
#pragma unroll
  for (int i = 0; i < words; ++i) w[i] = tmaring_pack<DTYPE>(v + i * per_word);
  tmaring_write_words<words, SPACE>(p, w);
}

template <int DTYPE, tmaring_space SPACE>
static __device__ __forceinline__ float tmaring_load_one(const unsigned char *p)
{
  if (DTYPE == TMARING_F32) {
    float value;
    if (SPACE == TMARING_SHARED) return *reinterpret_cast<const float *>(p);
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(p));
    return value;
  }
  tmaring_u16 bits;
  if (SPACE == TMARING_SHARED) {
    bits = *reinterpret_cast<const tmaring_u16 *>(p);
  } else {
    asm volatile("ld.global.u16 %0, [%1];" : "=h"(bits) : "l"(p));
  }
  return DTYPE == TMARING_F16 ? tmaring_from_f16(bits) : tmaring_from_bf16(bits);
}

template <int DTYPE, tmaring_space SPACE>
static __device__ __forceinline__ void tmaring_store_one(unsigned char *p, float value)
{
  if (DTYPE == TMARING_F32) {
    if (SPACE == TMARING_SHARED) {
      *reinterpret_cast<float *>(p) = value;
    } else {
      asm volatile("st.global.f32 [%0], %1;" ::"l"(p), "f"(value));
    }
    return;
  }
  const tmaring_u16 bits = (tmaring_u16)tmaring_round_two<DTYPE>(value, 0.0f);
  if (SPACE == TMARING_SHARED) {
    *reinterpret_cast<tmaring_u16 *>(p) = bits;
  } else {
    asm volatile("st.global.u16 [%0], %1;" ::"l"(p), "h"(bits));
  }
}

template <int DTYPE, int V> static __device__ __forceinline__ bool tmaring_is_aligned(const unsigned char *p)
{
  constexpr int bytes = V * tmaring_bytes<DTYPE>() < 16 ? V * tmaring_bytes<DTYPE>() : 16;
  return (reinterpret_cast<tmaring_u64>(p) & (bytes - 1)) == 0;
}

/* Elements [c, c + V) of a row of n elements; those outside are 0. With WHOLE the caller knows that all lie inside and
 * are aligned. */
template <int DTYPE, int V, bool WHOLE, tmaring_space SPACE>
static __device__ __forceinline__ void tmaring_load(float *v, const unsigned char *row, int c, int n)
{
  const unsigned char *p = row + (tmaring_i64)c * tmaring_bytes<DTYPE>();
  if (WHOLE || (c >= 0 && c <= n - V && tmaring_is_aligned<DTYPE, V>(p))) {
    tmaring_load_aligned<DTYPE, V, SPACE>(v, p);
    return;
  }
#pragma unroll
  for (int i = 0; i < V; ++i) {
    v[i] = c + i >= 0 && c + i < n ? tmaring_load_one<DTYPE, SPACE>(p + i * tmaring_bytes<DTYPE>()) : 0.0f;
  }
}

template <int DTYPE, int V, bool WHOLE, tmaring_space SPACE>
static __device__ __forceinline__ void tmaring_store(unsigned char *row, const float *v, int c, int n)
{
  unsigned char *p = row + (tmaring_i64)c * tmaring_bytes<DTYPE>();
  if (WHOLE || (c >= 0 && c <= n - V && tmaring_is_aligned<DTYPE, V>(p))) {
    tmaring_store_aligned<DTYPE, V, SPACE>(p, v);
    return;
  }
#pragma unroll
  for (int i = 0; i < V; ++i) {
    if (c + i >= 0 && c + i < n) tmaring_store_one<DTYPE, SPACE>(p + i * tmaring_bytes<DTYPE>(), v[i]);
  }
}

/* ---- [N] inputs ---- */

/* Consumers copy the [N] inputs that are kept in shared memory; a barrier among them must follow. */
template <class E> static __device__ __forceinline__ void tmaring_vectors_stage(E *e)
{
  const int threads = tmaring_cta_consumer_threads(&e->view.cta), index = e->warp * 32 + e->lane;
  for (int k = 0; k < e->args->vector_count; ++k) {
    const tmaring_vector *vector = &e->args->vector[k];
    if (vector->smem == TMARING_NOT_STAGED) continue;
    const unsigned char *from = reinterpret_cast<const unsigned char *>(vector->base);
    unsigned char *to = tmaring_shared + vector->smem;
    const int bytes = e->walk.cols * (int)tmaring_dtype_bytes(vector->dtype);
    const int whole = (vector->base & 15) == 0 ? bytes / 16 : 0;
#pragma unroll 4
    for (int i = index; i < whole; i += threads) {
      reinterpret_cast<uint4 *>(to)[i] = reinterpret_cast<const uint4 *>(from)[i];
    }
    for (int i = whole * 8 + index; i < bytes / 2; i += threads) { /* sizes and addresses are even */
      reinterpret_cast<tmaring_u16 *>(to)[i] = reinterpret_cast<const tmaring_u16 *>(from)[i];
    }
  }
}

/* V values of [N] input k from column `col` (which may lie outside [0, N): then 0). */
template <int DTYPE, int V, bool WHOLE, class E>
static __device__ __forceinline__ void tmaring_load_vector(E *e, float *v, int k, int col)
{
  const tmaring_vector *vector = &e->args->vector[k];
  if (vector->smem != TMARING_NOT_STAGED) {
    tmaring_load<DTYPE, V, WHOLE, TMARING_SHARED>(v, tmaring_shared + vector->smem, col, e->walk.cols);
  } else {
    tmaring_load<DTYPE, V, false, TMARING_GLOBAL>(v, reinterpret_cast<const unsigned char *>(vector->base), col,
                                                  e->walk.cols);
  }
}

/* 1 / (1 + exp(-x)) without overflow: far below 0 it keeps its subnormal values. */
static __device__ __forceinline__ float tmaring_sigmoid(float x)
{
  const float t = expf(-fabsf(x));
  return (x < 0.0f ? t : 1.0f) / (1.0f + t);
}

/* ---- reductions ---- */

struct tmaring_sum {
  static __device__ __forceinline__ float identity()
  {
    return 0.0f;
  }
  static __device__ __forceinline__ float join(float a, float b)
  {
    return a + b;
  }
};
struct tmaring_greatest {
  static __device__ __forceinline__ float identity()
  {
    return -__int_as_float(0x7f800000);
  }
  static __device__ __forceinline__ float join(float a, float b)
  {
    return tmaring_max(a, b);
  }
};
struct tmaring_least {
  static __device__ __forceinline__ float identity()
  {
    return __int_as_float(0x7f800000);
  }
  static __device__ __forceinline__ float join(float a, float b)
  {
    return tmaring_min(a, b);
  }
};

template <class OP, int V> static __device__ __forceinline__ float tmaring_join_vector(const float *v)
{
  return TMARING_JOIN_VECTOR(OP::join, v, V);
}

/* Butterfly over the lanes of a row; all lanes of the warp call. */
template <class OP, class E> static __device__ __forceinline__ float tmaring_join_lanes(E *e, float value)
{
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, distance);
    if (distance < (1 << e->view.scope.lanes_log2)) value = OP::join(value, other);
  }
  return value;
}

/* Partial result number r of warp w in buffer `flip`: two buffers, used in turn, so that one barrier per reduction is
 * enough. */
template <class E> static __device__ __forceinline__ float *tmaring_scratch(E *e, int flip, int r, int w)
{
  const int warps = tmaring_cta_consumer_warps(&e->view.cta);
  return reinterpret_cast<float *>(tmaring_shared + e->view.smem.scratch) +
         (flip * TMARING_MAX_REDUCTIONS + r) * warps + w;
}

/* Joins the partial results of a unit's warps in order. */
template <class OP, class E> static __device__ __forceinline__ float tmaring_join_warps(E *e, int flip, int r)
{
  const int first = e->seat.unit * e->view.scope.warps_per_row;
  float value = *tmaring_scratch(e, flip, r, first);
  for (int w = 1; w < e->view.scope.warps_per_row; ++w)
    value = OP::join(value, *tmaring_scratch(e, flip, r, first + w));
  return value;
}

/* Value of a [M] input at a row. */
template <int DTYPE, class E>
static __device__ __forceinline__ float tmaring_load_row_scalar(E *e, int k, tmaring_i64 row)
{
  return tmaring_load_one<DTYPE, TMARING_GLOBAL>(reinterpret_cast<const unsigned char *>(e->args->row_scalar[k].base) +
                                                 row * tmaring_bytes<DTYPE>());
}

#endif

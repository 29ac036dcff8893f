/* c[m, n] = sum over k of a[m, k] * b[k, n], on the tensor cores: the kernel class of the matrix product. Constants of
 * a program beside those of tile.cuh:
 *
 *     static constexpr int kWarpsM = 4, kWarpsN = 1;  // consumer warps side by side
 *     static constexpr int kIn = TMARING_F32, kOut = TMARING_F32;
 *     static constexpr bool kMasked = false;          // slots hold something else than zeros past k
 *     static constexpr bool kPairs = true;            // two neighbours of c are one aligned store
 *
 * A warp has MI x NI blocks of 16 x 16 results. Sums of one fill are made by the tensor cores, which drop bits, and are
 * added up in fp32 with rounding. f32 operands are split in two parts of 11 bits each, high + low; high * high + high *
 * low + low * high leaves out what fp32 does not hold either. f32 operands below 2^-115 lose what lies
 * under 2^-136. Finite ones make NaN only where a sum, or a product of two (parts have signs of their own), overflows;
 * infinite ones do. */
#ifndef TMARING_DEVICE_PRODUCT_CUH
#define TMARING_DEVICE_PRODUCT_CUH

#include "tile.cuh"

/* ---- instructions: d += a * b for 16 x 8 results. Lane 4 g + t has of a rows g and g + 8, of b column g ---- */

TMARING_DEVICE void tmaring_mma_tf32(float *d, const tmaring_u32 *a, const tmaring_u32 *b)
{
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <int DTYPE> TMARING_DEVICE void tmaring_mma_16(float *d, const tmaring_u32 *a, const tmaring_u32 *b)
{
  if constexpr (DTYPE == TMARING_F16)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Four matrices of 8 x 8 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8. */
template <bool TRANSPOSED> TMARING_DEVICE void tmaring_load_matrices(tmaring_u32 *r, tmaring_u32 shared)
{
  if constexpr (TRANSPOSED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared)
                 : "memory");
}

/* x = high + low, to within 2^-22 of it; each has 11 bits, rounded to nearest. Where the high part would round to infinity,
 * low would be infinite with the other sign: from there on both are cut off, to within 2^-21. NaN stays NaN. */
TMARING_DEVICE void tmaring_split(tmaring_u32 *high, tmaring_u32 *low, float x)
{
  const tmaring_u32 half = fabsf(x) < __uint_as_float(0x7f7ff000u) ? 0x1000u : 0u; /* (2 - 2^-11) 2^127 */
  *high = (__float_as_uint(x) + half) & 0xffffe000u;
  *low = (__float_as_uint(x - __uint_as_float(*high)) + half) & 0xffffe000u;
}

/* ---- fragments: 16 rows of a, 16 columns of b, for 8 (f32) or 16 values of k from `k` on ---- */

/* Elements past `depth` count as zero. */
TMARING_DEVICE float tmaring_keep_one(float x, int k, int depth)
{
  return k < depth ? x : 0.0f;
}
TMARING_DEVICE tmaring_u32 tmaring_keep_pair(tmaring_u32 pair, int k, int depth)
{
  return pair & ((k < depth ? 0xffffu : 0u) | (k + 1 < depth ? 0xffff0000u : 0u));
}

template <class P, int DTYPE> struct tmaring_fragments;

/* Of k + 0 .. 7 lane t has k + 2 t and k + 2 t + 1: the order of a sum's terms is free, and so they are one load. */
template <class P> struct tmaring_fragments<P, TMARING_F32> {
  static constexpr int kStep = 8;
  tmaring_u32 high[4], low[4];

  template <class E> __device__ __forceinline__ float one(E *e, tmaring_u32 slot, int t, int row, int column)
  {
    return *reinterpret_cast<const float *>(tmaring_shared +
                                            tmaring_slot_place(e, slot, P::layout(t), row, (tmaring_u32)column * 4));
  }
  template <class E> __device__ __forceinline__ void load_a(E *e, tmaring_u32 slot, int m, int k, int depth)
  {
    const int row = m + e->lane / 4, column = k + 2 * (e->lane % 4);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float2 pair = *reinterpret_cast<const float2 *>(
          tmaring_shared + tmaring_slot_place(e, slot, P::layout(0), row + 8 * i, (tmaring_u32)column * 4));
      const float first = P::kMasked ? tmaring_keep_one(pair.x, column, depth) : pair.x;
      const float second = P::kMasked ? tmaring_keep_one(pair.y, column + 1, depth) : pair.y;
      tmaring_split(&high[i], &low[i], first);
      tmaring_split(&high[i + 2], &low[i + 2], second);
    }
  }
  /* Columns n .. n + 7 in [0] and [1], the next eight in [2] and [3]. */
  template <class E> __device__ __forceinline__ void load_b(E *e, tmaring_u32 slot, int n, int k, int depth)
  {
    const int column = n + e->lane / 4, row = k + 2 * (e->lane % 4);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float x = one(e, slot, 1, row + i % 2, column + i / 2 * 8);
      tmaring_split(&high[i], &low[i], P::kMasked ? tmaring_keep_one(x, row + i % 2, depth) : x);
    }
  }
  static __device__ __forceinline__ void multiply(float *d, const tmaring_fragments &a, const tmaring_fragments &b,
                                                  int half)
  {
    tmaring_mma_tf32(d, a.low, b.high + 2 * half);
    tmaring_mma_tf32(d, a.high, b.low + 2 * half);
    tmaring_mma_tf32(d, a.high, b.high + 2 * half);
  }
};

template <class P> struct tmaring_fragments_16 {
  static constexpr int kStep = 16;
  tmaring_u32 r[4];

  template <class E> __device__ __forceinline__ void load_a(E *e, tmaring_u32 slot, int m, int k, int depth)
  {
    const int row = m + e->lane % 16, column = k + e->lane / 16 * 8;
    tmaring_load_matrices<false>(r, e->smem + tmaring_slot_place(e, slot, P::layout(0), row, (tmaring_u32)column * 2));
    if constexpr (P::kMasked) {
#pragma unroll
      for (int i = 0; i < 4; ++i) r[i] = tmaring_keep_pair(r[i], k + i / 2 * 8 + 2 * (e->lane % 4), depth);
    }
  }
  template <class E> __device__ __forceinline__ void load_b(E *e, tmaring_u32 slot, int n, int k, int depth)
  {
    const int row = k + e->lane % 16, column = n + e->lane / 16 * 8;
    tmaring_load_matrices<true>(r, e->smem + tmaring_slot_place(e, slot, P::layout(1), row, (tmaring_u32)column * 2));
    if constexpr (P::kMasked) {
#pragma unroll
      for (int i = 0; i < 4; ++i) r[i] = tmaring_keep_pair(r[i], k + i % 2 * 8 + 2 * (e->lane % 4), depth);
    }
  }
  static __device__ __forceinline__ void multiply(float *d, const tmaring_fragments_16 &a,
                                                  const tmaring_fragments_16 &b, int half)
  {
    tmaring_mma_16<P::kIn>(d, a.r, b.r + 2 * half);
  }
};
template <class P> struct tmaring_fragments<P, TMARING_F16> : tmaring_fragments_16<P> {
};
template <class P> struct tmaring_fragments<P, TMARING_BF16> : tmaring_fragments_16<P> {
};

/* ---- the class ---- */

template <class P> struct tmaring_tile_matmul : tmaring_tile_class<P> {
  static constexpr bool kColumns = true; /* a tile's fills are the steps of k */
  static constexpr int MI = P::kSide1 / 16 / P::kWarpsM, NI = P::kSide0 / 16 / P::kWarpsN;
  typedef tmaring_fragments<P, P::kIn> fragments;

  float sum[MI][NI][8]; /* of a block: 16 x 8 results, then the next eight columns */

  template <class E> __device__ __forceinline__ void columns_begin(E *, const tmaring_fill *)
  {
#pragma unroll
    for (int i = 0; i < MI * NI * 8; ++i) sum[i / (NI * 8)][i / 8 % NI][i % 8] = 0.0f;
  }

  /* Values of k that this fill has. */
  template <class E> static __device__ __forceinline__ int depth_of(E *e, const tmaring_fill *fill)
  {
    const tmaring_panel *a = &e->tiles->panel[0];
    tmaring_origin origin;
    if (!P::kMasked) return P::kSide2;
    tmaring_panel_origin(a, &e->tiles->grid, fill, &origin);
    return (int)tmaring_min_i64(P::kSide2, a->dims[0] - (tmaring_i64)origin.at[0]);
  }

  template <class E>
  __device__ __forceinline__ void accumulate(E *e, const tmaring_fill *fill, tmaring_u32 stage, int, int)
  {
    const tmaring_u32 a_slot = tmaring_input_slot(e, stage, 0), b_slot = tmaring_input_slot(e, stage, 1);
    const int m = e->warp % P::kWarpsM * MI * 16, n = e->warp / P::kWarpsM * NI * 16, depth = depth_of(e, fill);
#pragma unroll
    for (int ni = 0; ni < NI; ++ni) {
      float part[MI][8] = {};
#pragma unroll 2
      for (int k = 0; k < P::kSide2; k += fragments::kStep) {
        fragments a, b;
        b.load_b(e, b_slot, n + ni * 16, k, depth);
#pragma unroll
        for (int mi = 0; mi < MI; ++mi) {
          a.load_a(e, a_slot, m + mi * 16, k, depth);
          fragments::multiply(part[mi], a, b, 0);
          fragments::multiply(part[mi] + 4, a, b, 1);
        }
      }
#pragma unroll
      for (int i = 0; i < MI * 8; ++i) sum[i / 8][ni][i % 8] += part[i / 8][i % 8];
    }
  }

  /* Two neighbours of a row of c. */
  template <class E>
  static __device__ __forceinline__ void put(E *e, const tmaring_panel *c, tmaring_i64 row, tmaring_i64 column,
                                             const float *value)
  {
    constexpr int bytes = tmaring_bytes<P::kOut>();
    unsigned char *to = reinterpret_cast<unsigned char *>(e->view.output[0].base + (tmaring_u64)(row * c->stride[1]) +
                                                          (tmaring_u64)(column * bytes));
    if (row >= c->dims[1] || column >= c->dims[0]) return;
    const bool both = column + 1 < c->dims[0];
    if (P::kPairs && both) {
      tmaring_u32 w[2];
      tmaring_encode<P::kOut, 2>(w, value);
      tmaring_write<2 * bytes, TMARING_GLOBAL>(to, w);
      return;
    }
    tmaring_store_one<P::kOut, TMARING_GLOBAL>(to, value[0]);
    if (both) tmaring_store_one<P::kOut, TMARING_GLOBAL>(to + bytes, value[1]);
  }

  template <class E> __device__ __forceinline__ void columns_end(E *e, const tmaring_fill *fill)
  {
    const tmaring_panel *c = &e->tiles->panel[2];
    tmaring_origin origin;
    tmaring_panel_origin(c, &e->tiles->grid, fill, &origin);
    const tmaring_i64 m = origin.at[1] + e->warp % P::kWarpsM * MI * 16 + e->lane / 4;
    const tmaring_i64 n = origin.at[0] + e->warp / P::kWarpsM * NI * 16 + e->lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < MI * NI * 4; ++i) {
      const int mi = i / (NI * 4), ni = i / 4 % NI, half = i / 2 % 2, low = i % 2; /* low: rows 8 .. 15 */
      put(e, c, m + mi * 16 + low * 8, n + ni * 16 + half * 8, &sum[mi][ni][half * 4 + low * 2]);
    }
  }
};

#endif

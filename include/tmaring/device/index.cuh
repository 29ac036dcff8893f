/* Kernels that are written once and instantiated for 32-bit and 64-bit indexes: the types of abi/index.h under one name
 * each. I is tmaring_i32 or tmaring_i64.
 *
 *     template <class I> __global__ void add(const float *a, const float *b, float *y, I n)
 *     {
 *       for (tmaring_grid_walk<I> w(n); w.live(); w.next()) y[w.at()] = a[w.at()] + b[w.at()];
 *     }
 *
 * Host side, in CUDA C++: the instance for a width, and a launch that stays within a grid's limits:
 *
 *     tmaring_index_width(tensors, 3, &report);
 *     tmaring_grid_for(&grid, (const int64_t[3]){n, 1, 1}, (const int32_t[3]){256, 1, 1}, 8, &machine);
 *     TMARING_INDEX_SWITCH(report.width, add<index_t><<<dim3(grid.x, grid.y, grid.z), 256>>>(a, b, y, (index_t)n););
 *
 * A grid of any size gives every index once: fewer threads than elements take several each, more have none. */
#ifndef TMARING_DEVICE_INDEX_CUH
#define TMARING_DEVICE_INDEX_CUH

#include "../abi/index.h"

/* The types that belong to an index type, and their functions under one name. */
template <class I> struct tmaring_index_of;

#define TMARING_INDEX_TYPES(name, index)                                                                               \
  template <> struct tmaring_index_of<index> {                                                                         \
    typedef tmaring_stride_##name stride;                                                                              \
    typedef tmaring_divisor_##name divisor;                                                                            \
    static __host__ __device__ __forceinline__ void begin(stride *s, tmaring_i64 first, tmaring_i64 step, index count) \
    {                                                                                                                  \
      tmaring_stride_begin_##name(s, first, step, count);                                                              \
    }                                                                                                                  \
    static __host__ __device__ __forceinline__ void next(stride *s)                                                    \
    {                                                                                                                  \
      tmaring_stride_next_##name(s);                                                                                   \
    }                                                                                                                  \
    static __host__ __device__ __forceinline__ void make(divisor *d, index by)                                         \
    {                                                                                                                  \
      tmaring_divisor_make_##name(d, by);                                                                              \
    }                                                                                                                  \
    static __host__ __device__ __forceinline__ index quotient(const divisor &d, index n)                               \
    {                                                                                                                  \
      return tmaring_divisor_quotient_##name(&d, n);                                                                   \
    }                                                                                                                  \
  };

TMARING_INDEX_TYPES(i32, tmaring_i32)
TMARING_INDEX_TYPES(i64, tmaring_i64)

#undef TMARING_INDEX_TYPES

/* A thread's share of [0, count) along one axis of the grid (tmaring_axis): its global index on that axis, then steps of
 * all threads on it. */
template <class I, int AXIS = 0> struct tmaring_grid_walk {
  typename tmaring_index_of<I>::stride way;

  __device__ __forceinline__ explicit tmaring_grid_walk(I count)
  {
    const tmaring_i64 threads = AXIS == 0 ? blockDim.x : AXIS == 1 ? blockDim.y : blockDim.z;
    const tmaring_i64 block = AXIS == 0 ? blockIdx.x : AXIS == 1 ? blockIdx.y : blockIdx.z;
    const tmaring_i64 blocks = AXIS == 0 ? gridDim.x : AXIS == 1 ? gridDim.y : gridDim.z;
    const tmaring_i64 thread = AXIS == 0 ? threadIdx.x : AXIS == 1 ? threadIdx.y : threadIdx.z;
    tmaring_index_of<I>::begin(&way, block * threads + thread, blocks * threads, count);
  }
  __device__ __forceinline__ bool live() const
  {
    return way.live != 0;
  }
  __device__ __forceinline__ void next()
  {
    tmaring_index_of<I>::next(&way);
  }
  __device__ __forceinline__ I at() const
  {
    return way.at;
  }
};

/* Quotient and remainder by a number that stays the same: made on the host, passed to the kernel by value. */
template <class I> struct tmaring_index_divisor {
  typename tmaring_index_of<I>::divisor by;

  __host__ __device__ __forceinline__ explicit tmaring_index_divisor(I divisor)
  {
    tmaring_index_of<I>::make(&by, divisor);
  }
  __host__ __device__ __forceinline__ I quotient(I n) const
  {
    return tmaring_index_of<I>::quotient(by, n);
  }
  __host__ __device__ __forceinline__ void split(I n, I *quotient, I *remainder) const
  {
    const I q = tmaring_index_of<I>::quotient(by, n);
    *quotient = q;
    *remainder = n - q * (I)by.divisor;
  }
};

#if !defined(__CUDACC_RTC__)
/* Host code: f(I()) with the type of a width: 32, or any other value for 64. For lambdas; TMARING_INDEX_SWITCH does
 * without. */
template <class F> static inline auto tmaring_index_dispatch(int width, F f) -> decltype(f(tmaring_i32()))
{
  return width == 32 ? f(tmaring_i32()) : f(tmaring_i64());
}
#endif

#endif

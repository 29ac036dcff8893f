/* Reductions over a row, and over groups of columns. A thread keeps a state while it goes along a row; an operation OP
 * on values of type T says how:
 *
 *     value, state                types
 *     relative                    true: a state is a sum relative to a maximum, the fields sum and top
 *     missing()                   what an element outside the row counts as
 *     identity()                  the state before the first element
 *     take<V>(s, v, first, c, n)  adds V values to *s: v[i] is element c + i of the n elements of a row from column
 *                                 `first` on; those outside are missing()
 *     join(a, b)                  of two states; symmetric to the last bit, unless relative
 *     across(s, distance)         the state of the lane at this distance (xor)
 *     put(p, step, s), get(p, step)   through slots p[0], p[step]
 *     result(s)                   value of the row
 *
 * Sums are added up in the order of scope.h. */
#ifndef TMARING_DEVICE_REDUCE_CUH
#define TMARING_DEVICE_REDUCE_CUH

#include "row.cuh"

/* ---- sum, max, min: the state is the value so far ---- */

struct tmaring_adding {
  template <class T> TMARING_DEVICE T missing(void)
  {
    return 0;
  }
  template <class T> TMARING_DEVICE T join(T a, T b)
  {
    return a + b;
  }
};

struct tmaring_raising {
  template <class T> TMARING_DEVICE T missing(void)
  {
    return -tmaring_infinity<T>();
  }
  template <class T> TMARING_DEVICE T join(T a, T b)
  {
    return tmaring_max(a, b);
  }
};

struct tmaring_lowering {
  template <class T> TMARING_DEVICE T missing(void)
  {
    return tmaring_infinity<T>();
  }
  template <class T> TMARING_DEVICE T join(T a, T b)
  {
    return tmaring_min(a, b);
  }
};

template <class T, class JOIN> struct tmaring_plain {
  typedef T value;
  typedef T state;
  static constexpr bool relative = false;
  TMARING_DEVICE T missing(void)
  {
    return JOIN::template missing<T>();
  }
  TMARING_DEVICE T identity(void)
  {
    return missing();
  }
  TMARING_DEVICE T join(T a, T b)
  {
    return JOIN::join(a, b);
  }
  template <int V> TMARING_DEVICE T total(const T *v)
  {
    return TMARING_JOIN_VECTOR(join, v, V);
  }
  template <int V> TMARING_DEVICE void take(T *s, const T *v, int, int, int)
  {
    *s = join(*s, total<V>(v));
  }
  TMARING_DEVICE T across(T s, int distance)
  {
    return __shfl_xor_sync(0xffffffffu, s, distance);
  }
  TMARING_DEVICE void put(T *p, int, T s)
  {
    *p = s;
  }
  TMARING_DEVICE T get(const T *p, int)
  {
    return *p;
  }
  TMARING_DEVICE T result(T s)
  {
    return s;
  }
};

template <class T> using tmaring_sum = tmaring_plain<T, tmaring_adding>;
template <class T> using tmaring_greatest = tmaring_plain<T, tmaring_raising>;
template <class T> using tmaring_least = tmaring_plain<T, tmaring_lowering>;

/* ---- argmax: the column of the first NaN, else of the first greatest value ---- */

#define TMARING_NO_COLUMN 0x7fffffff

template <class T> struct tmaring_argmax {
  typedef T value;
  struct state {
    T top;
    tmaring_i32 col;
  };
  static constexpr bool relative = false;
  TMARING_DEVICE T missing(void)
  {
    return -tmaring_infinity<T>();
  }
  TMARING_DEVICE state identity(void)
  {
    return {missing(), TMARING_NO_COLUMN};
  }
  TMARING_DEVICE state join(state a, state b)
  {
    const bool a_nan = a.top != a.top, b_nan = b.top != b.top;
    const bool same = a_nan ? b_nan : a.top == b.top, b_first = b_nan ? !a_nan : b.top > a.top;
    return b_first || (same && b.col < a.col) ? b : a;
  }
  /* Columns ascend along a thread's way, so that among equals the one it has stays. Few vectors raise the maximum. */
  template <int V> TMARING_DEVICE void take(state *s, const T *v, int first, int c, int n)
  {
    const T top = tmaring_greatest<T>::template total<V>(v);
    if (s->col != TMARING_NO_COLUMN && (s->top != s->top || top <= s->top)) return;
#pragma unroll
    for (int i = 0; i < V; ++i) {
      const bool better = s->col == TMARING_NO_COLUMN || (s->top == s->top && !(v[i] <= s->top));
      if (better && c + i >= 0 && c + i < n) *s = {v[i], first + c + i};
    }
  }
  TMARING_DEVICE state across(state s, int distance)
  {
    return {__shfl_xor_sync(0xffffffffu, s.top, distance), __shfl_xor_sync(0xffffffffu, s.col, distance)};
  }
  TMARING_DEVICE void put(T *p, int step, state s)
  {
    p[0] = s.top;
    *reinterpret_cast<tmaring_i32 *>(p + step) = s.col;
  }
  TMARING_DEVICE state get(const T *p, int step)
  {
    return {p[0], *reinterpret_cast<const tmaring_i32 *>(p + step)};
  }
  TMARING_DEVICE T result(state s)
  {
    return (T)s.col;
  }
};

/* ---- sum of exp(a - max(a)) in one read: the sum so far is relative to the maximum so far ---- */

template <class T> struct tmaring_expsum {
  typedef T value;
  struct state {
    T top, sum;
  };
  static constexpr bool relative = true;
  TMARING_DEVICE T missing(void)
  {
    return -tmaring_infinity<T>();
  }
  TMARING_DEVICE state identity(void)
  {
    return {missing(), 0};
  }
  /* What exponents are relative to: finite where nothing but -inf was seen. */
  TMARING_DEVICE T reference(T top)
  {
    return top == -tmaring_infinity<T>() ? (T)0 : top;
  }
  /* The sum so far, relative to a maximum that is at least its own. */
  TMARING_DEVICE T below(state s, T top)
  {
    return s.sum * tmaring_exp(s.top - reference(top));
  }
  TMARING_DEVICE state join(state a, state b)
  {
    const T top = tmaring_max(a.top, b.top);
    return {top, below(a, top) + below(b, top)};
  }
  template <int V> TMARING_DEVICE void take(state *s, const T *v, int, int, int)
  {
    const T top = tmaring_max(s->top, tmaring_greatest<T>::template total<V>(v)), base = reference(top);
    T power[V];
#pragma unroll
    for (int i = 0; i < V; ++i) power[i] = tmaring_exp(v[i] - base);
    s->sum = below(*s, top) + tmaring_sum<T>::template total<V>(power);
    s->top = top;
  }
  TMARING_DEVICE state across(state s, int distance)
  {
    return {__shfl_xor_sync(0xffffffffu, s.top, distance), __shfl_xor_sync(0xffffffffu, s.sum, distance)};
  }
  TMARING_DEVICE void put(T *p, int step, state s)
  {
    p[0] = s.top;
    p[step] = s.sum;
  }
  TMARING_DEVICE state get(const T *p, int step)
  {
    return {p[0], p[step]};
  }
  TMARING_DEVICE T result(state s)
  {
    return tmaring_abs(s.top) == tmaring_infinity<T>() ? tmaring_nan<T>() : s.sum;
  }
};

/* ---- from thread to row ---- */

/* Butterfly over the lanes of a row; all lanes of the warp call. Both lanes of a pair come to the same bits, since join
 * is symmetric. */
template <class OP, class E>
static __device__ __forceinline__ typename OP::state tmaring_butterfly(E *e, typename OP::state s)
{
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    const typename OP::state other = OP::across(s, distance);
    if (distance < (1 << e->view.scope.lanes_log2)) s = OP::join(s, other);
  }
  return s;
}

/* Joins the states of a row's lanes. Sums of exponentials: first the maximum, then the sums relative to it, so that each
 * lane takes one exponential. */
template <class OP, class E>
static __device__ __forceinline__ typename OP::state tmaring_join_lanes(E *e, typename OP::state s)
{
  typedef typename OP::value T;
  if constexpr (OP::relative) {
    const T top = tmaring_butterfly<tmaring_greatest<T>>(e, s.top);
    return {top, tmaring_butterfly<tmaring_sum<T>>(e, OP::below(s, top))};
  } else {
    return tmaring_butterfly<OP>(e, s);
  }
}

/* Slot `slot` of warp w in buffer `flip`: two buffers, used in turn, so that one barrier per reduction is enough. */
template <class T, class E> static __device__ __forceinline__ T *tmaring_scratch(E *e, int flip, int slot, int w)
{
  const int warps = tmaring_cta_consumer_warps(&e->view.cta);
  return reinterpret_cast<T *>(tmaring_shared + e->view.smem.scratch) + (flip * TMARING_MAX_REDUCTIONS + slot) * warps +
         w;
}

/* Leaves a warp's partial result, from its first slot on. */
template <class OP, class E>
static __device__ __forceinline__ void tmaring_leave_partial(E *e, int flip, int slot, typename OP::state s)
{
  typedef typename OP::value T;
  if (e->lane == 0) OP::put(tmaring_scratch<T>(e, flip, slot, e->warp), tmaring_cta_consumer_warps(&e->view.cta), s);
}

/* Joins the partial results of a unit's warps in order; sums of exponentials as above. */
template <class OP, class E>
static __device__ __forceinline__ typename OP::state tmaring_join_warps(E *e, int flip, int slot)
{
  typedef typename OP::value T;
  const int step = tmaring_cta_consumer_warps(&e->view.cta), count = e->view.scope.warps_per_row;
  const T *from = tmaring_scratch<T>(e, flip, slot, e->cta_unit() * count);
  typename OP::state s = OP::get(from, step);
  if constexpr (OP::relative) {
    T top = s.top;
    for (int w = 1; w < count; ++w) top = tmaring_max(top, from[w]);
    s = {top, OP::below(s, top)};
    for (int w = 1; w < count; ++w) s.sum += OP::below(OP::get(from + w, step), top);
  } else {
    for (int w = 1; w < count; ++w) s = OP::join(s, OP::get(from + w, step));
  }
  return s;
}

/* Joins the partial results of all CTAs of a cluster: lane by lane, rank by rank, then a butterfly. */
template <class OP, class E>
static __device__ __forceinline__ typename OP::state tmaring_join_cluster(E *e, int flip, int slot)
{
  typedef typename OP::value T;
  const tmaring_u32 warps = (tmaring_u32)tmaring_cta_consumer_warps(&e->view.cta);
  typename OP::state s = OP::identity();
  for (tmaring_u32 i = (tmaring_u32)e->lane; i < warps * (tmaring_u32)e->walk.cluster; i += 32) {
    const tmaring_u32 rank = i / warps;
    const T *from = tmaring_cluster_map(tmaring_scratch<T>(e, flip, slot, (int)(i - rank * warps)), rank);
    const typename OP::state next = OP::get(from, (int)warps);
    s = i == (tmaring_u32)e->lane ? next : OP::join(s, next);
  }
  return tmaring_join_lanes<OP>(e, s);
}

/* ---- groups of columns ---- */

/* Joins a value per lane over the lanes that share a group of COLS columns. All lanes of the warp call. */
template <class OP, int V, int COLS, class E>
static __device__ __forceinline__ typename OP::value tmaring_join_group(E *e, const typename OP::value *v)
{
  const int lanes = tmaring_scope_group_lanes(&e->view.scope, COLS);
  typename OP::value value = OP::template total<V>(v);
#pragma unroll
  for (int distance = COLS / V / 2 < 16 ? COLS / V / 2 : 16; distance > 0; distance /= 2) {
    const typename OP::value other = OP::across(value, distance);
    if (distance < lanes) value = OP::join(value, other);
  }
  return value;
}

#endif

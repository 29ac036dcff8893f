/* A row as a thread sees it: which of its elements the thread holds (scope.h), where the row lies in the stage and in
 * global memory, and the values that belong to columns, rows and groups. Elements are loaded and stored by memory.cuh.
 */
#ifndef TMARING_DEVICE_ROW_CUH
#define TMARING_DEVICE_ROW_CUH

#include "memory.cuh"
#include "ring.cuh"

/* A thread's share of one row of a fill (or of a whole flat fill). */
struct tmaring_span {
  tmaring_i32 row;                  /* row within the fill */
  bool active;                      /* false: there is no such row; the span is empty */
  tmaring_index phase;              /* element phase of the frame */
  tmaring_index n;                  /* elements of the row in this fill; 0 where there is no such row */
  tmaring_index start, end, stride; /* vectors */
};

/* Where a loop over a row finds its tensors: the streams' rows of this fill, and values per group of columns. A kernel
 * sets what it uses. */
struct tmaring_places {
  const unsigned char *x[TMARING_MAX_STREAMS];
  unsigned char *y[TMARING_MAX_STREAMS];
  tmaring_u64 group_in[TMARING_MAX_VECTORS], group_out[TMARING_MAX_VECTORS];
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
  s.n = FLAT ? fill->rows * fill->cols : s.active ? fill->cols : 0;
  s.phase = tmaring_frame_phase(&e->view, fill, s.active ? s.row : 0, EDGES);
  s.start = e->seat.start;
  s.end = s.active ? tmaring_scope_end(scope, e->squad_warp(), s.phase, s.n) : 0;
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

/* Which vectors of a row a loop may take whole, without looking at every element: [begin, whole) lie inside the row and
 * are aligned in every tensor. The loop ends at `end`. */
struct tmaring_reach {
  tmaring_index begin, whole, end;
};

/* `aligned`: every tensor of the loop is aligned at the frame's vectors. */
template <int V> static __device__ __forceinline__ tmaring_reach tmaring_row_reach(const tmaring_span &s, bool aligned)
{
  tmaring_reach r;
  r.begin = s.phase > 0 ? 1 : 0;
  r.whole = aligned ? (tmaring_index)tmaring_min_i64(s.end, (s.phase + s.n) / V) : 0;
  r.end = s.end;
  return r;
}

/* The same where lanes work together within the loop (groups of columns; fixed frames): all lanes of the warp take as
 * many steps and agree about each, so that lanes without a vector, or without a row, take part. */
template <int V, class E>
static __device__ __forceinline__ tmaring_reach tmaring_warp_reach(E *e, const tmaring_fill *fill,
                                                                   const tmaring_span &s, bool aligned)
{
  const tmaring_i32 lanes = tmaring_scope_lanes(&e->view.scope), own = e->lane & (lanes - 1);
  const tmaring_i32 whole = __all_sync(0xffffffffu, s.active && aligned) ? fill->cols / V : 0;
  tmaring_reach r;
  r.begin = 0;
  r.whole = whole - lanes + 1 + own;
  r.end = (fill->cols + V - 1) / V + own;
  return r;
}

/* Takes `step` for i, i + stride, ... below end; in twos or fours, so that their loads are under way together. */
#define TMARING_STEPS_1(i, end, stride, step)                                                                          \
  for (; i < (end); i += (stride)) step;
#define TMARING_STEPS_2(i, end, stride, step)                                                                          \
  for (; i + (stride) < (end); i += (stride)) {                                                                        \
    step;                                                                                                              \
    i += (stride);                                                                                                     \
    step;                                                                                                              \
  }                                                                                                                    \
  TMARING_STEPS_1(i, end, stride, step)
#define TMARING_STEPS_4(i, end, stride, step)                                                                          \
  for (; i + 3 * (stride) < (end); i += (stride)) {                                                                    \
    step;                                                                                                              \
    i += (stride);                                                                                                     \
    step;                                                                                                              \
    i += (stride);                                                                                                     \
    step;                                                                                                              \
    i += (stride);                                                                                                     \
    step;                                                                                                              \
  }                                                                                                                    \
  TMARING_STEPS_1(i, end, stride, step)

/* ---- [N] inputs ---- */

/* Consumers copy [N] input k, where it is kept in shared memory; a barrier among them must follow. */
template <int DTYPE, class E> static __device__ __forceinline__ void tmaring_stage_vector(E *e, int k)
{
  const tmaring_vector *vector = &e->args->vector[k];
  if (vector->smem == TMARING_NOT_STAGED) return;
  const int threads = tmaring_cta_consumer_threads(&e->view.cta), index = e->warp * 32 + e->lane;
  const unsigned char *from = reinterpret_cast<const unsigned char *>(vector->base);
  unsigned char *to = tmaring_shared + vector->smem;
  constexpr int unit = tmaring_bytes<DTYPE>();
  const int whole = (vector->base & 15) == 0 ? e->walk.cols / (16 / unit) : 0;
#pragma unroll 4
  for (int i = index; i < whole; i += threads)
    reinterpret_cast<uint4 *>(to)[i] = reinterpret_cast<const uint4 *>(from)[i];
#pragma unroll 4
  for (int i = whole * (16 / unit) + index; i < e->walk.cols; i += threads) {
    tmaring_u32 w[2];
    tmaring_read<unit, TMARING_GLOBAL>(w, from + i * unit);
    tmaring_write<unit, TMARING_SHARED>(to + i * unit, w);
  }
}

/* Where [N] inputs are read: as the plan's variants have it, or as the arguments say. */
enum tmaring_vector_home { TMARING_HOME_SHARED, TMARING_HOME_GLOBAL, TMARING_HOME_ASK };

/* V values of [N] input k from column `col` (which may lie outside [0, N): then 0). WHOLE: all lie inside, and are
 * aligned. */
template <int DTYPE, int V, bool WHOLE, tmaring_vector_home HOME, class T, class E>
static __device__ __forceinline__ void tmaring_load_vector(E *e, T *v, int k, tmaring_index col)
{
  const tmaring_vector *vector = &e->args->vector[k];
  const bool global = HOME == TMARING_HOME_GLOBAL || (HOME == TMARING_HOME_ASK && vector->smem == TMARING_NOT_STAGED);
  if (global) {
    tmaring_load<DTYPE, V, WHOLE && HOME == TMARING_HOME_GLOBAL, TMARING_GLOBAL>(
        v, reinterpret_cast<const unsigned char *>(vector->base), col, e->walk.cols);
  } else {
    tmaring_load<DTYPE, V, WHOLE && HOME != TMARING_HOME_GLOBAL, TMARING_SHARED>(v, tmaring_shared + vector->smem, col,
                                                                                 e->walk.cols);
  }
}

/* ---- values per row ---- */

/* Value of a [M] tensor. */
template <int DTYPE, class T>
static __device__ __forceinline__ T tmaring_load_value(const tmaring_vector *vector, tmaring_i64 row)
{
  return tmaring_load_one<DTYPE, TMARING_GLOBAL, T>(
      reinterpret_cast<const unsigned char *>(tmaring_vector_address(vector, row, 0)));
}

template <int DTYPE, class T>
static __device__ __forceinline__ void tmaring_store_value(const tmaring_vector *vector, tmaring_i64 row, T value)
{
  tmaring_store_one<DTYPE, TMARING_GLOBAL>(reinterpret_cast<unsigned char *>(tmaring_vector_address(vector, row, 0)),
                                           value);
}

/* Value of a [M,N/k] tensor at a column, k being COLS; row: address of the row's first value. */
template <int COLS>
static __device__ __forceinline__ unsigned char *tmaring_group_value(const tmaring_vector *vector, tmaring_u64 row,
                                                                     tmaring_i32 col)
{
  return reinterpret_cast<unsigned char *>(row + (tmaring_u64)((tmaring_u32)col / COLS) * (tmaring_u64)vector->step);
}

template <int DTYPE, int COLS, class T>
static __device__ __forceinline__ T tmaring_load_group(const tmaring_vector *vector, tmaring_u64 row, tmaring_i32 col)
{
  return tmaring_load_one<DTYPE, TMARING_GLOBAL, T>(tmaring_group_value<COLS>(vector, row, col));
}

template <int DTYPE, int COLS, class T>
static __device__ __forceinline__ void tmaring_store_group(const tmaring_vector *vector, tmaring_u64 row,
                                                           tmaring_i32 col, T value)
{
  tmaring_store_one<DTYPE, TMARING_GLOBAL>(tmaring_group_value<COLS>(vector, row, col), value);
}

/* Element of a row at column `at` of the matrix, where this fill holds it; else `found`, what was known before. In a
 * cluster one CTA alone has it: then it is taken from global memory, as it is where the input is DIRECT. */
template <int DTYPE, class T, bool DIRECT = false, class E>
static __device__ __forceinline__ T tmaring_gather(E *e, const tmaring_stream *t, const tmaring_fill *fill,
                                                   tmaring_u32 stage, const tmaring_span &s, T at, T found)
{
  constexpr bool cluster = E::kernel_class::kCluster;
  const tmaring_i32 first = cluster ? 0 : fill->col, cols = cluster ? e->walk.cols : fill->cols;
  if (!s.active || !(at >= (T)first && at - (T)first < (T)cols)) return found;
  const int col = (int)at;
  if ((T)col != at) return found;
  if (cluster || DIRECT)
    return tmaring_load_one<DTYPE, TMARING_GLOBAL, T>(
        reinterpret_cast<const unsigned char *>(tmaring_stream_address(t, fill->row + s.row, col)));
  return tmaring_load_one<DTYPE, TMARING_SHARED, T>(tmaring_row_staged(e, t, fill, stage, s) +
                                                    (tmaring_i64)(col - fill->col) * tmaring_bytes<DTYPE>());
}

#endif

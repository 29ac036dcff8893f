/* Reductions over the rows (abi/args.h says where partial results lie). Frames are fixed, so that a thread holds the
 * same columns of every row: accumulators are its own, and need no ordering with other threads. */
#ifndef TMARING_DEVICE_COLUMN_CUH
#define TMARING_DEVICE_COLUMN_CUH

#include "reduce.cuh"

/* A thread's row of accumulators of one column output in one chunk of rows: from column 0, in shared memory where
 * args.columns_staged, and the partial result in the workspace. */
struct tmaring_column_place {
  unsigned char *staged, *partial;
};

template <class T> struct tmaring_dtype_of;
template <> struct tmaring_dtype_of<float> {
  static constexpr int value = TMARING_F32;
};
template <> struct tmaring_dtype_of<double> {
  static constexpr int value = TMARING_F64;
};

template <class T, class E>
static __device__ __forceinline__ tmaring_column_place tmaring_column_at(E *e, const tmaring_fill *fill, int output)
{
  const tmaring_args *a = &e->view;
  const tmaring_i32 seat = tmaring_column_seat(a, &e->seat);
  const tmaring_i32 row = E::squads > 1 ? e->squad * tmaring_column_seats(a) + seat : seat;
  const tmaring_i64 first = (tmaring_i64)(row * a->column_output_count + output) * tmaring_column_stride(a);
  tmaring_column_place place;
  place.staged = tmaring_shared + a->smem.columns + (tmaring_u32)first * sizeof(T);
  place.partial = reinterpret_cast<unsigned char *>(a->partials_address) +
                  tmaring_partial_index(a, &e->walk, output, fill->chunk, seat) * sizeof(T);
  return place;
}

template <int V, tmaring_space SPACE, class T>
static __device__ __forceinline__ void tmaring_column_read(T *v, const unsigned char *row, int col)
{
  tmaring_load<tmaring_dtype_of<T>::value, V, true, SPACE>(v, row, col, 0);
}

template <int V, tmaring_space SPACE, class T>
static __device__ __forceinline__ void tmaring_column_write(unsigned char *row, const T *v, int col)
{
  tmaring_store<tmaring_dtype_of<T>::value, V, true, SPACE>(row, v, col, 0);
}

/* Calls visit(col) for the first column of each vector that this thread holds in the fill's piece; with PIECES, in every
 * piece of the row. */
template <bool PIECES, int V, class E, class VISIT>
static __device__ __forceinline__ void tmaring_own_columns(E *e, const tmaring_fill *fill, VISIT visit)
{
  const tmaring_i32 stride = tmaring_scope_stride(&e->view.scope), pieces = PIECES ? e->walk.pieces : 1;
  for (tmaring_i32 piece = 0; piece < pieces; ++piece) {
    const tmaring_i32 col = PIECES ? piece * e->walk.piece_cols : fill->col;
    const tmaring_i32 end = PIECES ? (tmaring_i32)tmaring_min_i64(e->walk.piece_cols, e->walk.cols - col) : fill->cols;
    for (tmaring_i32 i = e->seat.start; i * V < end; i += stride) visit(col + i * V);
  }
}

/* The accumulators of a chunk start anew. */
template <class OP, bool PIECES, int V, class E>
static __device__ __forceinline__ void tmaring_columns_clear(E *e, const tmaring_fill *fill,
                                                             const tmaring_column_place &place)
{
  typename OP::value v[V];
#pragma unroll
  for (int i = 0; i < V; ++i) v[i] = OP::identity();
  tmaring_own_columns<PIECES, V>(e, fill, [&](tmaring_i32 col) {
    if (e->view.columns_staged) {
      tmaring_column_write<V, TMARING_SHARED>(place.staged, v, col);
    } else {
      tmaring_column_write<V, TMARING_GLOBAL>(place.partial, v, col);
    }
  });
}

/* Joins V values of columns col ... */
template <class OP, int V, tmaring_space SPACE, class T>
static __device__ __forceinline__ void tmaring_columns_add(unsigned char *row, const T *v, int col)
{
  T sum[V];
  tmaring_column_read<V, SPACE>(sum, row, col);
#pragma unroll
  for (int i = 0; i < V; ++i) sum[i] = OP::join(sum[i], v[i]);
  tmaring_column_write<V, SPACE>(row, sum, col);
}

template <class OP, int V, class E, class T>
static __device__ __forceinline__ void tmaring_columns_take(E *e, const tmaring_column_place &place, const T *v,
                                                            int col)
{
  if (e->view.columns_staged) {
    tmaring_columns_add<OP, V, TMARING_SHARED>(place.staged, v, col);
  } else {
    tmaring_columns_add<OP, V, TMARING_GLOBAL>(place.partial, v, col);
  }
}

/* And become partial results. */
template <class T, bool PIECES, int V, class E>
static __device__ __forceinline__ void tmaring_columns_leave(E *e, const tmaring_fill *fill,
                                                             const tmaring_column_place &place)
{
  if (!e->view.columns_staged) return;
  tmaring_own_columns<PIECES, V>(e, fill, [&](tmaring_i32 col) {
    T v[V];
    tmaring_column_read<V, TMARING_SHARED>(v, place.staged, col);
    tmaring_column_write<V, TMARING_GLOBAL>(place.partial, v, col);
  });
}

/* ---- accumulators in registers: few columns per thread, step k of the loop over a row holding the same ones each time.
 * Joined in the same order, and left at the same place ---- */

template <class OP, int STEPS, int V>
static __device__ __forceinline__ void tmaring_held_clear(typename OP::value (&sum)[STEPS][V])
{
#pragma unroll
  for (int k = 0; k < STEPS; ++k) {
#pragma unroll
    for (int i = 0; i < V; ++i) sum[k][i] = OP::identity();
  }
}

template <class OP, int V>
static __device__ __forceinline__ void tmaring_held_take(typename OP::value (&sum)[V], const typename OP::value *v)
{
#pragma unroll
  for (int i = 0; i < V; ++i) sum[i] = OP::join(sum[i], v[i]);
}

template <int STEPS, int V, class E, class T>
static __device__ __forceinline__ void tmaring_held_leave(E *e, const tmaring_fill *fill, int output,
                                                          const T (&sum)[STEPS][V])
{
  const tmaring_column_place place = tmaring_column_at<T>(e, fill, output);
#pragma unroll
  for (int k = 0; k < STEPS; ++k) {
    const tmaring_i32 c = (e->seat.start + k * tmaring_scope_stride(&e->view.scope)) * V;
    if (c < fill->cols) tmaring_column_write<V, TMARING_GLOBAL>(place.partial, sum[k], fill->col + c);
  }
}

/* ---- the second kernel: blocks of 32 x TMARING_COLUMN_STRANDS threads, 32 columns each ---- */

/* The walk of this launch, after the kernel that left the partial results. */
static __device__ __forceinline__ tmaring_walk tmaring_columns_wait(const tmaring_args *args)
{
  tmaring_dependency_wait();
  tmaring_dependency_launch();
  return args->rows_address ? tmaring_walk_of_rows(args) : args->walk;
}

/* A strand's share of the partial results of a column, of a kernel with that many squads. Eight loads are under way at a
 * time; past the end there is the identity, which changes nothing. */
template <class OP, int SQUADS>
static __device__ __forceinline__ typename OP::value tmaring_strand(const tmaring_args *args, const tmaring_walk *walk,
                                                                    int output, tmaring_i64 col)
{
  typedef typename OP::value T;
  const tmaring_i64 rows =
      tmaring_column_chunks(walk) *
      tmaring_scope_at_a_time(&args->scope, tmaring_cta_consumer_warps(&args->cta) / SQUADS); /* seats */
  const tmaring_i64 step = TMARING_COLUMN_STRANDS * tmaring_column_stride(args);
  const T *from = reinterpret_cast<const T *>(args->partials_address) + col +
                  (output * rows + threadIdx.y) * tmaring_column_stride(args);
  T sum = OP::identity(), next[8];
  for (tmaring_i64 r = threadIdx.y; r < rows; r += 8 * TMARING_COLUMN_STRANDS, from += 8 * step) {
#pragma unroll
    for (int i = 0; i < 8; ++i) next[i] = r + i * TMARING_COLUMN_STRANDS < rows ? from[i * step] : OP::identity();
#pragma unroll
    for (int i = 0; i < 8; ++i) sum = OP::join(sum, next[i]);
  }
  return sum;
}

/* Makes column output `output` of its partial results. */
template <class OP, bool MEAN, int DTYPE, int SQUADS = 1>
static __device__ __forceinline__ void tmaring_columns_finish(const tmaring_args *args, const tmaring_walk *walk,
                                                              int output)
{
  typedef typename OP::value T;
  __shared__ T strand[TMARING_COLUMN_STRANDS][32];
  const int j = (int)threadIdx.y, lane = (int)threadIdx.x;
  const tmaring_i64 col = (tmaring_i64)blockIdx.x * 32 + lane;
  const bool inside = col < walk->cols;
  __syncthreads(); /* the previous output has been read */
  strand[j][lane] = inside ? tmaring_strand<OP, SQUADS>(args, walk, output, col) : OP::identity();
  for (int half = TMARING_COLUMN_STRANDS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (j < half) strand[j][lane] = OP::join(strand[j][lane], strand[j + half][lane]);
  }
  if (j != 0 || !inside) return;
  const T sum = MEAN ? strand[0][lane] / (T)walk->rows : strand[0][lane];
  tmaring_store_one<DTYPE, TMARING_GLOBAL>(
      reinterpret_cast<unsigned char *>(args->column_output[output].base) + col * tmaring_bytes<DTYPE>(), sum);
}

#endif

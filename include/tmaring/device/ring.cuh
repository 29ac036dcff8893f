/* The role loops of abi/roles.h on the GPU. A kernel class K supplies what a formula or a kernel author computes:
 *
 *   struct my_kernel {
 *     static constexpr int kInputs = 1, kOutputs = 1; // streamed tensors
 *     static constexpr int kReductions = 0;    // passes over a row that end in a reduction
 *     static constexpr int kPasses = 1;        // passes in all
 *     static constexpr bool kGroup = false;    // rows are shared by several warps
 *     static constexpr bool kCluster = false;  // and by the CTAs of a cluster
 *     static constexpr bool kStaged = false;   // results go through shared memory and bulk stores
 *     static constexpr bool kEdges = false;    // runs may not be whole 16-byte units
 *     static constexpr bool kPieces = false;   // rows longer than a stage
 *     static constexpr bool kColumns = false;  // reductions over the rows: tiles are chunks of fills
 *     static constexpr bool kStrips = false;   // fills may be pieces of several rows; may be left out
 *     static constexpr bool kDebug = false;    // bounded waits
 *     // these may be left out (tmaring_paths):
 *     static constexpr int kLoad[TMARING_MAX_STREAMS] = {TMARING_LOAD_BULK}; // path of each input, as args->input has it
 *     static constexpr int kBoxRank[TMARING_MAX_STREAMS] = {0}; // of a tiled input whose fill is one box of whole rows
 *     static constexpr bool kTiledStore = false; // staged results go by tensor maps
 *     static constexpr bool kGrid = false;       // fills are places in a grid (tile.h), not rows
 *     static constexpr bool kMulticast = false; // [N] inputs come by multicast
 *     static constexpr int kSquads = 2;        // squads of consumers (abi/cta.h); may be left out where there is one
 *     static __device__ void specialise(tmaring_args *a);  // enters what is constant for this kernel, so that it folds
 *     template <class E> __device__ void begin(E *e);      // once per consumer thread, before the first fill
 *     // a pass over the rows that this thread shares in; the ends of a reduction; [M] results. F: const tmaring_fill *
 *     template <class E> __device__ void accumulate(E *e, F fill, tmaring_u32 stage, int iteration, int pass);
 *     template <class E> __device__ void partial(E *e, F fill, int iteration, int pass);
 *     template <class E> __device__ void finish(E *e, F fill, int iteration, int pass);
 *     template <class E> __device__ void row_store(E *e, F fill, int iteration);
 *     // with kColumns: before the first and after the last fill of a tile, by every consumer thread
 *     template <class E> __device__ void columns_begin(E *e, F fill);
 *     template <class E> __device__ void columns_end(E *e, F fill);
 *   };
 *
 * All threads of a warp call these together. tmaring_ring_run<K> is a whole kernel body: barriers, roles, ring, end.
 * Where an input or the stores are tiled, it takes the kernel's second parameter too, const __grid_constant__
 * tmaring_tiles. */
#ifndef TMARING_DEVICE_RING_CUH
#define TMARING_DEVICE_RING_CUH

#include "../abi/frames.h"
#include "paths.cuh"
#include "ptx.cuh"

/* All dynamic shared memory; laid out as tmaring_smem says. */
extern __shared__ __align__(128) unsigned char tmaring_shared[];

/* K::kMulticast, or false. */
template <class K, class = void> struct tmaring_multicast_of {
  static constexpr bool value = false;
};
template <class K> struct tmaring_multicast_of<K, typename tmaring_void<decltype(K::kMulticast)>::type> {
  static constexpr bool value = K::kMulticast;
};

/* K::kSquads, or 1. */
template <class K, class = void> struct tmaring_squads_of {
  static constexpr int value = 1;
};
template <class K> struct tmaring_squads_of<K, decltype((void)K::kSquads)> {
  static constexpr int value = K::kSquads;
};

/* What a thread knows about itself. */
template <class K> struct tmaring_env : tmaring_env_tiles<tmaring_paths<K>::second> {
  typedef K kernel_class;
  static constexpr int squads = tmaring_squads_of<K>::value;
  static constexpr bool multicast = tmaring_multicast_of<K>::value;
  const tmaring_args *args; /* the kernel's parameter, for run-time indexes */
  tmaring_args view;        /* the same with K::specialise applied: constants fold, the rest stays in the parameter */
  tmaring_walk walk;        /* of the arguments, or cut anew from an M in device memory */
  K *kernel;
  tmaring_u32 smem; /* 32-bit address of tmaring_shared */
  tmaring_i32 worker, role, warp, lane;
  tmaring_i32 squad;    /* kernels of several squads: the one that this consumer belongs to */
  tmaring_seat seat;    /* in its squad */
  tmaring_u64 waits[2]; /* debug kernels: waits at full and at empty that have ended, each in the order of the fills */
  bool issuer;          /* pipelined: feeds the ring and stores; wide kernels: its whole warp */
  bool storer;          /* warp-specialized: stores for its unit */
  bool feeder;          /* multicast: loads this CTA's share */

  __device__ __forceinline__ tmaring_u32 full(tmaring_u32 stage) const
  {
    return smem + view.smem.full + 8 * stage;
  }
  __device__ __forceinline__ tmaring_u32 empty(tmaring_u32 stage) const
  {
    return smem + view.smem.empty + 8 * stage;
  }
  /* Index of the warp in its squad. */
  __device__ __forceinline__ tmaring_i32 squad_warp() const
  {
    return squads > 1 ? warp - squad * tmaring_cta_squad_warps(&view.cta) : warp;
  }
  /* Index of the unit among those of all squads. */
  __device__ __forceinline__ tmaring_i32 cta_unit() const
  {
    return squads > 1 ? warp / view.scope.warps_per_row : seat.unit;
  }
  /* Offset of a stage in tmaring_shared. */
  __device__ __forceinline__ tmaring_u32 stage(tmaring_u32 s) const
  {
    return view.smem.stages + s * view.smem.stage_bytes;
  }
  __device__ __forceinline__ volatile tmaring_i64 *ticket(tmaring_u32 s) const
  {
    return reinterpret_cast<volatile tmaring_i64 *>(tmaring_shared + view.smem.tickets) + s;
  }
};

/* K::kStrips, false where K does not say. */
template <class K, class = void> struct tmaring_has_strips {
  static constexpr bool value = false;
};
template <class K> struct tmaring_has_strips<K, decltype((void)K::kStrips)> {
  static constexpr bool value = K::kStrips;
};

/* ---- primitives -------------------------------------------------------------------------------------------------- */

#define TMARING_DEBUG_TRIES 1000000u /* of up to some microseconds each: seconds, not minutes */

/* A debug kernel's wait gave up: leaves the record and stops the grid. Waits give up together, and a trap stops them
 * all: who comes later lets the first one finish its record. */
template <class E>
static __device__ void tmaring_raise_fault(E *e, tmaring_u32 barrier, tmaring_u32 stage, tmaring_u32 parity)
{
  tmaring_fault *record = reinterpret_cast<tmaring_fault *>(e->args->fault_address);
  volatile tmaring_u32 *raised = record ? &record->raised : nullptr;
  if (record && atomicCAS(&record->raised, 0u, 2u) == 0u) {
    record->worker = (tmaring_u32)e->worker;
    record->role = (tmaring_u32)e->role;
    record->barrier = barrier;
    record->stage = stage;
    record->parity = parity;
    record->fill = e->waits[barrier];
    __threadfence_system();
    *raised = 1;
    __threadfence_system();
  }
  for (tmaring_u32 i = 0; record && *raised != 1 && i < TMARING_DEBUG_TRIES; ++i) {
  }
  __trap();
}

template <class K>
static __device__ __forceinline__ void tmaring_wait(tmaring_env<K> *e, tmaring_u32 which, tmaring_u32 stage,
                                                    tmaring_u32 parity)
{
  const tmaring_u32 barrier = which == 0 ? e->full(stage) : e->empty(stage);
  if constexpr (K::kDebug) {
    for (tmaring_u32 i = 0; !tmaring_mbarrier_try_wait(barrier, parity); ++i) {
      if (i == TMARING_DEBUG_TRIES) tmaring_raise_fault(e, which, stage, parity);
    }
    e->waits[which] += 1;
  } else {
    while (!tmaring_mbarrier_try_wait(barrier, parity)) {
    }
  }
}

/* Arrivals at empty: one lane per warp, or every thread. `others`: the storer's own arrival comes later. */
template <class E> static __device__ __forceinline__ void tmaring_release_stage(E *e, tmaring_u32 stage, bool others)
{
  if (e->view.cta.release == TMARING_RELEASE_THREAD) {
    if (!(others && e->storer)) tmaring_mbarrier_arrive(e->empty(stage));
    return;
  }
  if (!others) __syncwarp();
  if (e->lane == 0 && !(others && e->storer)) tmaring_mbarrier_arrive(e->empty(stage));
}

/* Stream t of COUNT, as an index at run time: constants that all of them have in common fold. */
template <int COUNT>
static __device__ __forceinline__ tmaring_stream tmaring_stream_at(const tmaring_stream *known,
                                                                   const tmaring_stream *streams, tmaring_i32 t)
{
  if (COUNT == 1) return known[0];
  tmaring_stream s = streams[t];
  bool dense = true, grouped = false, alike = true;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    dense = dense && known[i].dense;
    grouped = grouped || known[i].group_rows != 0;
    alike = alike && known[i].elem_bytes == known[0].elem_bytes;
  }
  if (dense) s.dense = 1;
  if (!grouped) s.group_rows = 0;
  if (alike) s.elem_bytes = known[0].elem_bytes;
  return s;
}
/* A pointer to it, for the expression it stands in. */
#define TMARING_STREAM_AT(count, known, streams, t)                                                                    \
  (&static_cast<const tmaring_stream &>(tmaring_stream_at<count>(known, streams, t)))

template <class K>
static __device__ __forceinline__ void tmaring_columns_begin(tmaring_env<K> *e, const tmaring_fill *fill)
{
  if constexpr (K::kColumns) e->kernel->columns_begin(e, fill);
}
template <class K>
static __device__ __forceinline__ void tmaring_columns_end(tmaring_env<K> *e, const tmaring_fill *fill)
{
  if constexpr (K::kColumns) e->kernel->columns_end(e, fill);
}

/* A turn is passed in a barrier of the squad that waits for it, which takes the threads of both. */
template <class E> static __device__ __forceinline__ void tmaring_turn_wait(E *e)
{
  tmaring_named_barrier(TMARING_TURN_BARRIER + (tmaring_u32)e->squad,
                        64u * (tmaring_u32)tmaring_cta_squad_warps(&e->view.cta));
}
template <class E> static __device__ __forceinline__ void tmaring_turn_pass(E *e)
{
  tmaring_named_barrier_arrive(TMARING_TURN_BARRIER + (e->squad + 1 < E::squads ? (tmaring_u32)e->squad + 1 : 0u),
                               64u * (tmaring_u32)tmaring_cta_squad_warps(&e->view.cta));
}

/* ---- [N] inputs by multicast ---- */

template <class E>
static __device__ __forceinline__ void tmaring_vectors_load(E *e, int i, tmaring_u32 offset, tmaring_u32 bytes)
{
  const tmaring_vector *v = &e->args->vector[i];
  tmaring_bulk_load_multicast(e->smem + v->smem + offset, v->base + offset, bytes, e->smem + e->view.smem.vector_full,
                              (tmaring_u16)((1u << e->view.multicast) - 1));
}
template <class E> static __device__ __forceinline__ void tmaring_vectors_wait(E *e)
{
  tmaring_u32 tries = 0;
  while (!tmaring_mbarrier_try_wait(e->smem + e->view.smem.vector_full, 0)) {
    if (E::kernel_class::kDebug && ++tries == TMARING_DEBUG_TRIES) tmaring_raise_fault(e, 0, 0, 0);
  }
}

/* ---- binding ----------------------------------------------------------------------------------------------------- */

#define ROLE_FN(name)             template <class TMARING_E> static __device__ __forceinline__ void name
#define ROLE_ENV                  TMARING_E
#define ROLE_BEGIN(f)             ((void)0)
#define ROLE_END(f)               ((void)0)
#define ROLE_POINT(f)             ((void)0)
#define ROLE_WAIT(f, try_, block) block
#define ROLE_CALL(f, call)        call
#define ROLE_UNROLL               _Pragma("unroll")
#define ROLE_ARGS(e)              (&(e)->view)
#define ROLE_ARGS_AS_GIVEN(e)     ((e)->args)
#define ROLE_WALK(e)              (&(e)->walk)
#define ROLE_INPUT(e, t)          TMARING_STREAM_AT(TMARING_E::kernel_class::kInputs, (e)->view.input, (e)->args->input, t)
#define ROLE_OUTPUT(e, t)         TMARING_STREAM_AT(TMARING_E::kernel_class::kOutputs, (e)->view.output, (e)->args->output, t)
#define ROLE_WORKER(e)            ((e)->worker)
#define ROLE_WARP(e)              ((e)->squad_warp())
#define ROLE_UNIT(e)              ((e)->seat.unit)
#define ROLE_SQUADS(e)            (TMARING_E::squads)
#define ROLE_SQUAD(e)             ((e)->squad)
#define ROLE_IS_ISSUER(e)         ((e)->issuer)
#define ROLE_IS_STORER(e)         ((e)->storer)
#define ROLE_KERNEL(e)            (*(e)->kernel)
#define ROLE_IS_GROUP(e)          (ROLE_KERNEL(e).kGroup)
#define ROLE_IS_CLUSTER(e)        (ROLE_KERNEL(e).kCluster)
#define ROLE_IS_STAGED(e)         (ROLE_KERNEL(e).kStaged)
#define ROLE_HAS_EDGES(e)         (ROLE_KERNEL(e).kEdges)
#define ROLE_HAS_PIECES(e)        (ROLE_KERNEL(e).kPieces)
#define ROLE_HAS_STRIPS(e)        (tmaring_has_strips<typename TMARING_E::kernel_class>::value)
#define ROLE_REDUCTIONS(e)        (ROLE_KERNEL(e).kReductions)
#define ROLE_PASSES(e)            (ROLE_KERNEL(e).kPasses)
#define ROLE_TRY_FULL(e, s, p)    true
#define ROLE_TRY_EMPTY(e, s, p)   true
#define ROLE_BLOCK_FULL(e, s, p)  tmaring_wait(e, 0, s, p)
#define ROLE_BLOCK_EMPTY(e, s, p) tmaring_wait(e, 1, s, p)
#define ROLE_PATH(e, t)           tmaring_paths<typename TMARING_E::kernel_class>::of(t)
#define ROLE_TILE(e, t)           (&static_cast<const tmaring_tile &>(tmaring_input_tile(e, t)))
#define ROLE_IS_GRID(e)           (tmaring_paths<typename TMARING_E::kernel_class>::grid)
#define ROLE_GRID(e)              tmaring_grid_at(e)
#define ROLE_PANEL(e, t)          tmaring_panel_at(e, t)
#define ROLE_OUTPUT_TILE(e, t)    tmaring_tile_at(e, TMARING_TILED_OUTPUTS + (t))
#define ROLE_HAS_ASYNC(e)         (tmaring_paths<typename TMARING_E::kernel_class>::async)
#define ROLE_IS_WIDE(e)           (tmaring_paths<typename TMARING_E::kernel_class>::wide)
#define ROLE_HAS_TILED_STORES(e)  (tmaring_paths<typename TMARING_E::kernel_class>::tiled_stores)
/* What one lane does where a whole warp may stand. An expression: a loop around it, though it folds, costs code. */
#define TMARING_BY_ONE(e, call)  (!ROLE_IS_WIDE(e) || (e)->lane == 0 ? (void)(call) : (void)0)
#define ROLE_EXPECT(e, s, bytes) TMARING_BY_ONE(e, tmaring_mbarrier_arrive_expect_tx((e)->full(s), bytes))
#define ROLE_LOAD(e, t, s, offset, address, bytes)                                                                     \
  TMARING_BY_ONE(e, tmaring_bulk_load((e)->smem + (e)->stage(s) + ROLE_INPUT(e, t)->slot + (offset), address, bytes,   \
                                      (e)->full(s)))
#define ROLE_LOAD_TILE(e, t, s, fill, i) tmaring_load_tile(e, t, ROLE_INPUT(e, t), s, fill, i)
#define ROLE_LOAD_ASYNC(e, t, s, offset, address, bytes)                                                               \
  tmaring_async_wide((e)->smem + (e)->stage(s) + ROLE_INPUT(e, t)->slot + (offset), address, bytes, (e)->lane)
#define ROLE_ASYNC_ARRIVE(e, s) tmaring_async_arrive((e)->full(s))
#define ROLE_LOAD_ORDINARY(e, t, s, offset, address, bytes)                                                            \
  tmaring_load_ordinary(e, tmaring_shared + (e)->stage(s) + ROLE_INPUT(e, t)->slot + (offset), address, bytes)
#define ROLE_STORE(e, t, s, offset, address, bytes)                                                                    \
  TMARING_BY_ONE(e, tmaring_bulk_store(address, (e)->smem + (e)->stage(s) + ROLE_OUTPUT(e, t)->slot + (offset), bytes))
#define ROLE_STORE_EDGE(e, t, s, offset, address, bytes)                                                               \
  TMARING_BY_ONE(e, tmaring_copy_bytes(reinterpret_cast<unsigned char *>(address),                                     \
                                       tmaring_shared + (e)->stage(s) + ROLE_OUTPUT(e, t)->slot + (offset), bytes))
#define ROLE_STORE_TILE(e, t, s, fill, i) tmaring_store_tile(e, t, ROLE_OUTPUT(e, t), s, fill, i)
#define ROLE_COMMIT(e)                    TMARING_BY_ONE(e, tmaring_bulk_commit())
#define ROLE_WAIT_READ(f, e, n)           tmaring_stores_read(e, n)
#define ROLE_FENCE(e)                     tmaring_fence_proxy_async()
#define ROLE_RELEASE(e, s)                tmaring_release_stage(e, s, false)
#define ROLE_RELEASE_OTHERS(e, s)         tmaring_release_stage(e, s, true)
#define ROLE_RELEASE_STORER(e, s)         tmaring_mbarrier_arrive((e)->empty(s))
#define ROLE_WARP_SYNC(e)                 __syncwarp()
#define ROLE_GROUP_SYNC(f, e)                                                                                          \
  tmaring_named_barrier(1u + (tmaring_u32)(e)->cta_unit(), 32u * (tmaring_u32)(e)->view.scope.warps_per_row)
#define ROLE_TURN_WAIT(f, e)                   tmaring_turn_wait(e)
#define ROLE_TURN_PASS(e)                      tmaring_turn_pass(e)
#define ROLE_CTA_SYNC(f, e)                    __syncthreads()
#define ROLE_END_SYNC(f, e)                    __syncthreads()
#define ROLE_FENCE_ALL(e)                      tmaring_fence_proxy_async_all()
#define ROLE_RANK(e)                           ((tmaring_i32)tmaring_cluster_rank())
#define ROLE_IS_FEEDER(e)                      ((e)->feeder)
#define ROLE_IS_CONSUMER(e)                    ((e)->role == TMARING_ROLE_CONSUMER)
#define ROLE_VECTORS_EXPECT(e, bytes)          tmaring_mbarrier_arrive_expect_tx((e)->smem + (e)->view.smem.vector_full, bytes)
#define ROLE_VECTORS_LOAD(e, i, offset, bytes) tmaring_vectors_load(e, i, offset, bytes)
#define ROLE_VECTORS_REST(e, i, offset, bytes)                                                                         \
  tmaring_copy_bytes(tmaring_shared + (e)->args->vector[i].smem + (offset),                                            \
                     reinterpret_cast<const unsigned char *>((e)->args->vector[i].base) + (offset), bytes)
#define ROLE_TRY_VECTORS(e)                          true
#define ROLE_BLOCK_VECTORS(e)                        tmaring_vectors_wait(e)
#define ROLE_INVAL(e, s)                             (e)->inval(s)
#define ROLE_CLUSTER_SYNC(f, e)                      tmaring_cluster_sync()
#define ROLE_TICKET_PUT(e, s, tile)                  TMARING_BY_ONE(e, *(e)->ticket(s) = (tile))
#define ROLE_TICKET_GET(e, s, tile)                  (*(tile) = *(e)->ticket(s))
#define ROLE_TICKET_CLAIM(e, tile)                   (*(tile) = tmaring_claim_ticket(e))
#define ROLE_ACCUMULATE(e, fill, s, iteration, pass) (e)->kernel->accumulate(e, fill, s, iteration, pass)
#define ROLE_PARTIAL(e, fill, iteration, pass)       (e)->kernel->partial(e, fill, iteration, pass)
#define ROLE_FINISH(e, fill, iteration, pass)        (e)->kernel->finish(e, fill, iteration, pass)
#define ROLE_ROW_STORE(e, fill, iteration)           (e)->kernel->row_store(e, fill, iteration)
#define ROLE_HAS_COLUMNS(e)                          (ROLE_KERNEL(e).kColumns)
#define ROLE_COLUMNS_BEGIN(e, fill)                  tmaring_columns_begin(e, fill)
#define ROLE_COLUMNS_END(e, fill)                    tmaring_columns_end(e, fill)

#include "../abi/roles.h"

/* ---- kernel body ------------------------------------------------------------------------------------------------- */

/* One thread initialises the barriers; after a barrier of the CTA they hold for everyone. Uniform addresses: a lane per
 * stage would take turns, and slower ones. */
template <class TMARING_E> static __device__ __forceinline__ void tmaring_ring_init(TMARING_E *e)
{
  const tmaring_u32 warps = (tmaring_u32)tmaring_cta_squad_warps(&e->view.cta);
  const tmaring_u32 releases = tmaring_ring_empty_count(e->view.cta.release, warps);
#pragma unroll 4
  for (tmaring_u32 s = 0; s < e->view.stages; ++s) {
    tmaring_mbarrier_init(e->full(s), tmaring_ring_full_count(ROLE_HAS_ASYNC(e)));
    tmaring_mbarrier_init(e->empty(s), releases);
  }
  if (tmaring_multicast_of<typename TMARING_E::kernel_class>::value)
    tmaring_mbarrier_init(e->smem + e->view.smem.vector_full, 1);
  tmaring_fence_mbarrier_init();
}

/* The feeding thread of the last CTA to finish sets the counters back, after every claim has returned. */
template <class E> static __device__ __forceinline__ void tmaring_tickets_end(E *e)
{
  if (!tmaring_uses_tickets(&e->walk)) return;
  unsigned *counter = reinterpret_cast<unsigned *>(e->view.counter_address);
  if (atomicAdd(counter + 1, 1u) == (unsigned)e->walk.workers - 1u) {
    counter[0] = 0;
    counter[1] = 0;
  }
}

/* Finds this thread's role and seat. */
template <class K>
static __device__ __forceinline__ void tmaring_env_init(tmaring_env<K> *e, const tmaring_args *args, K *kernel)
{
  const tmaring_thread thread = tmaring_cta_thread(&args->cta, (int)threadIdx.x, (int)threadIdx.y, (int)threadIdx.z);
  e->args = args;
  if (K::kDebug) e->waits[0] = e->waits[1] = 0;
  e->view = *args;
  K::specialise(&e->view);
  e->view.cta.squads = tmaring_env<K>::squads;
  e->walk = e->view.walk;
  e->kernel = kernel;
  asm volatile("mov.u32 %0, %1;"
               : "=r"(e->smem)
               : "r"(tmaring_smem_address(tmaring_shared))); /* kept, not recomputed */
  e->worker = (tmaring_i32)blockIdx.x;
  if (K::kCluster) {
    e->worker = (tmaring_i32)(blockIdx.x / (tmaring_u32)e->walk.cluster);
    e->walk.rank = (tmaring_i32)tmaring_cluster_rank();
  }
  e->role = thread.role;
  e->warp = thread.index / 32;
  e->lane = thread.index % 32;
  e->squad = tmaring_env<K>::squads > 1 ? e->warp / tmaring_cta_squad_warps(&e->view.cta) : 0;
  e->seat = tmaring_scope_seat(&e->view.scope, e->squad_warp(), e->lane);
  const bool leader = thread.role == TMARING_ROLE_CONSUMER && e->lane == 0;
  e->issuer = (leader || (tmaring_paths<K>::wide && thread.role == TMARING_ROLE_CONSUMER)) && e->warp == 0;
  e->storer = leader && e->seat.member == 0;
  e->feeder =
      e->lane == 0 && (thread.role == TMARING_ROLE_PRODUCER || (e->issuer && args->cta.mode == TMARING_MODE_PIPELINED));
}

/* Ends the start-up of a warp-specialized CTA. The producer has initialised the barriers and goes on at once: its first
 * loads wait for nobody. Consumers wait for that, and for one another's part of begin(). */
template <class E> static __device__ __forceinline__ void tmaring_start_arrive(E *e)
{
  const tmaring_u32 threads = 32u + (tmaring_u32)tmaring_cta_consumer_threads(&e->view.cta);
  tmaring_named_barrier_arrive(TMARING_START_BARRIER, threads);
}

template <class E> static __device__ __forceinline__ void tmaring_start_wait(E *e)
{
  tmaring_named_barrier(TMARING_START_BARRIER, 32u + (tmaring_u32)tmaring_cta_consumer_threads(&e->view.cta));
}

/* Cuts the work anew for an M in device memory. Not inlined: it divides. */
static __device__ __noinline__ tmaring_walk tmaring_walk_of_rows(const tmaring_args *args)
{
  tmaring_walk walk = args->walk;
  const tmaring_i64 rows = *reinterpret_cast<const volatile tmaring_i64 *>(args->rows_address);
  tmaring_walk_set_rows(&walk, tmaring_max_i64(0, tmaring_min_i64(rows, walk.rows)));
  return walk;
}

/* Before any global access, by every CTA. The next grid may start early: it waits for the whole of this one in its
 * turn. */
template <class E> static __device__ __forceinline__ void tmaring_wait_for_inputs(E *e)
{
  tmaring_dependency_wait();
  tmaring_dependency_launch();
  if (e->view.rows_address) {
    const tmaring_walk walk = tmaring_walk_of_rows(e->args);
    e->walk.rows = walk.rows;
    e->walk.tiles = walk.tiles;
    e->walk.slots = walk.slots;
    e->walk.stride = walk.stride;
    e->walk.limit = walk.limit;
    e->walk.row_limit = walk.row_limit;
  }
}

/* By every thread, idle ones too. */
template <class E> static __device__ __forceinline__ void tmaring_share_vectors(E *e)
{
  if constexpr (E::multicast) {
    tmaring_vectors_frame frame;
    tmaring_vectors_run(e, &frame);
  }
}

template <int REGISTERS, class E> static __device__ __forceinline__ void tmaring_run_producer(E *e)
{
  if (REGISTERS > 0) tmaring_registers_give<REGISTERS>();
  if (e->role != TMARING_ROLE_PRODUCER) {
    tmaring_share_vectors(e);
    return;
  }
  if (e->lane == 0) tmaring_ring_init(e);
  __syncwarp();
  tmaring_start_arrive(e);
  if (E::multicast) tmaring_dependency_wait();
  tmaring_share_vectors(e);
  if (!tmaring_paths<typename E::kernel_class>::wide && e->lane != 0) return;
  if (tmaring_elected(e)) tmaring_prefetch_maps(e);
  tmaring_wait_for_inputs(e);
  tmaring_producer_frame frame;
  tmaring_producer_run(e, &frame);
  if (tmaring_elected(e)) tmaring_tickets_end(e);
}

template <int REGISTERS, class E> static __device__ __forceinline__ void tmaring_run_consumer(E *e)
{
  if (REGISTERS > 0) tmaring_registers_take<REGISTERS>();
  tmaring_wait_for_inputs(e);
  tmaring_share_vectors(e);
  e->kernel->begin(e);
  tmaring_start_wait(e);
  tmaring_consumer_frame frame;
  tmaring_consumer_run(e, &frame);
}

template <class E> static __device__ __forceinline__ void tmaring_run_pipelined(E *e)
{
  if (e->issuer && tmaring_elected(e)) {
    tmaring_ring_init(e);
    tmaring_prefetch_maps(e);
  }
  tmaring_wait_for_inputs(e);
  tmaring_share_vectors(e);
  e->kernel->begin(e);
  __syncthreads();
  tmaring_pipeline_frame frame;
  tmaring_pipeline_run(e, &frame);
  if (e->issuer && tmaring_elected(e)) tmaring_tickets_end(e);
}

template <bool WARP_SPECIALIZED, int REGISTERS_PRODUCER, int REGISTERS_CONSUMER, class K>
static __device__ __forceinline__ void tmaring_run_roles(tmaring_env<K> *env, const tmaring_args *args, K *kernel)
{
  tmaring_env_init(env, args, kernel);
  if (env->role == TMARING_ROLE_CONSUMER && args->abi_version != TMARING_ABI_VERSION) __trap();
  if (!WARP_SPECIALIZED) {
    tmaring_run_pipelined(env);
  } else if (env->role == TMARING_ROLE_CONSUMER) {
    tmaring_run_consumer<REGISTERS_CONSUMER>(env);
  } else {
    tmaring_run_producer<REGISTERS_PRODUCER>(env);
  }
  if constexpr (tmaring_multicast_of<K>::value) {
    tmaring_vectors_frame frame;
    __syncwarp(); /* a producer's lanes come one by one */
    tmaring_vectors_leave_run(env, &frame);
  }
}

/* A grid's whole work. REGISTERS_PRODUCER and REGISTERS_CONSUMER: register sharing, or 0. WARP_SPECIALIZED must agree
 * with args->cta.mode. Every thread of the CTA calls this once. */
template <bool WARP_SPECIALIZED, int REGISTERS_PRODUCER, int REGISTERS_CONSUMER, class K>
static __device__ __forceinline__ void tmaring_ring_run(const tmaring_args *args, K *kernel)
{
  static_assert(!tmaring_paths<K>::second, "a kernel with tiled streams, or of a grid, passes its tmaring_tiles");
  tmaring_env<K> env;
  tmaring_run_roles<WARP_SPECIALIZED, REGISTERS_PRODUCER, REGISTERS_CONSUMER>(&env, args, kernel);
}

/* The same with tiled streams. tiles: the kernel's __grid_constant__ parameter, whose maps the copy engine reads where
 * they are. */
template <bool WARP_SPECIALIZED, int REGISTERS_PRODUCER, int REGISTERS_CONSUMER, class K>
static __device__ __forceinline__ void tmaring_ring_run(const tmaring_args *args, const tmaring_tiles *tiles, K *kernel)
{
  static_assert(tmaring_paths<K>::second,
                "a kernel with tmaring_tiles has a tiled stream or a grid: kLoad, kTiledStore, kGrid");
  tmaring_env<K> env;
  env.tiles = tiles;
  tmaring_run_roles<WARP_SPECIALIZED, REGISTERS_PRODUCER, REGISTERS_CONSUMER>(&env, args, kernel);
}

/* What the end of a ring needs to know. */
struct tmaring_end_env {
  const tmaring_args &view;
  tmaring_u32 smem;
  bool issuer;

  __device__ __forceinline__ tmaring_u32 full(tmaring_u32 stage) const
  {
    return smem + view.smem.full + 8 * stage;
  }
  __device__ __forceinline__ tmaring_u32 empty(tmaring_u32 stage) const
  {
    return smem + view.smem.empty + 8 * stage;
  }
  __device__ __forceinline__ void inval(tmaring_u32 stage) const
  {
    tmaring_mbarrier_inval(full(stage));
    tmaring_mbarrier_inval(empty(stage));
    if (stage == 0 && view.multicast > 1) tmaring_mbarrier_inval(smem + view.smem.vector_full);
  }
};

/* Ends a ring for good, so that the kernel may run another one in the same shared memory, or use it for something else:
 * every thread of the CTA calls it once, after tmaring_ring_run. What the CTA has stored from registers may be loaded by
 * the next ring of the same CTA; bulk stores only wait until their source was read. A kernel that ends after its ring
 * needs none of this. */
static __device__ __forceinline__ void tmaring_ring_end(const tmaring_args *args)
{
  const bool first = threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0;
  tmaring_end_env env = {*args, tmaring_smem_address(tmaring_shared), first};
  tmaring_end_frame frame;
  __syncwarp(); /* a producer's lanes come one by one */
  tmaring_ring_end_run(&env, &frame);
}

#endif

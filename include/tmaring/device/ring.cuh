/* A kernel body around the role loops of abi/roles.h. A kernel class K supplies what a formula or a kernel author
 * computes:
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

#include "ring_binding.cuh"

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

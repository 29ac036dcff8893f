/* Hopper instructions that the ring is made of, one thin wrapper each, in raw PTX: no headers needed, NVRTC and nvcc
 * alike. Shared-memory addresses are 32-bit (tmaring_smem_address). Names follow the PTX manual. sm_90; setmaxnreg
 * needs sm_90a. */
#ifndef TMARING_DEVICE_PTX_CUH
#define TMARING_DEVICE_PTX_CUH

#include "../abi/base.h"

#define TMARING_DEVICE static __device__ __forceinline__

TMARING_DEVICE tmaring_u32 tmaring_smem_address(const void *shared)
{
  return (tmaring_u32)__cvta_generic_to_shared(shared);
}

/* ---- mbarrier: a 64-bit word in shared memory, 8-byte aligned ---- */

TMARING_DEVICE void tmaring_mbarrier_init(tmaring_u32 barrier, tmaring_u32 arrivals)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/* Makes inits visible to the copy engine; before other threads use them a barrier must follow. */
TMARING_DEVICE void tmaring_fence_mbarrier_init(void)
{
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Ends a barrier's life: its word may be used for anything else, or be initialised anew. Nobody may wait or arrive, and no
 * copy be under way. */
TMARING_DEVICE void tmaring_mbarrier_inval(tmaring_u32 barrier)
{
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

TMARING_DEVICE void tmaring_mbarrier_arrive(tmaring_u32 barrier)
{
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

TMARING_DEVICE void tmaring_mbarrier_arrive_expect_tx(tmaring_u32 barrier, tmaring_u32 bytes)
{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/* True once the phase of this parity has completed; waits for a while in hardware. Acquires at CTA scope. */
TMARING_DEVICE bool tmaring_mbarrier_try_wait(tmaring_u32 barrier, tmaring_u32 parity)
{
  tmaring_u32 done;
  asm volatile("{\n\t.reg .pred p;\n\t"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
               "selp.u32 %0, 1, 0, p;\n\t}"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done != 0;
}

/* ---- bulk copies: addresses and size multiples of 16 bytes ---- */

TMARING_DEVICE void tmaring_bulk_load(tmaring_u32 shared, tmaring_u64 global, tmaring_u32 bytes, tmaring_u32 barrier)
{
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared),
               "l"(global), "r"(bytes), "r"(barrier)
               : "memory");
}

/* The same into every CTA of the cluster whose bit is set in `mask`: at the same offset, completing on the barrier at the
 * same offset. */
TMARING_DEVICE void tmaring_bulk_load_multicast(tmaring_u32 shared, tmaring_u64 global, tmaring_u32 bytes,
                                                tmaring_u32 barrier, tmaring_u16 mask)
{
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%0], [%1], %2, [%3], %4;" ::"r"(shared),
               "l"(global), "r"(bytes), "r"(barrier), "h"(mask)
               : "memory");
}

TMARING_DEVICE void tmaring_bulk_store(tmaring_u64 global, tmaring_u32 shared, tmaring_u32 bytes)
{
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global), "r"(shared), "r"(bytes)
               : "memory");
}

TMARING_DEVICE void tmaring_bulk_commit(void)
{
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Waits until all but the `pending` newest groups of this thread have read their source. */
TMARING_DEVICE void tmaring_bulk_wait_read(tmaring_u32 pending)
{
  switch (pending) { /* the instruction takes a constant */
  case 0: asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); break;
  case 1: asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory"); break;
  case 2: asm volatile("cp.async.bulk.wait_group.read 2;" ::: "memory"); break;
  case 3: asm volatile("cp.async.bulk.wait_group.read 3;" ::: "memory"); break;
  default: asm volatile("cp.async.bulk.wait_group.read 4;" ::: "memory"); break; /* stricter than asked */
  }
}

/* ---- tensor copies: boxes that a tensor map (tensor_map.h) describes ----
 * map: address of its 128 bytes, a __grid_constant__ parameter, constant or global memory. c: RANK coordinates, the
 * innermost first; they may lie outside the tensor. shared: a multiple of 128, of 1024 where the map swizzles. */

/* Brings a map into the cache of descriptors. */
TMARING_DEVICE void tmaring_tensor_prefetch(const void *map)
{
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* Completes the whole box's bytes on the barrier, also where the tensor clips the box. c[0] * element size is a multiple of
 * 16, for loads and stores: any other ends the kernel with an illegal instruction. */
template <int RANK>
TMARING_DEVICE void tmaring_tensor_load(tmaring_u32 shared, const void *map, const tmaring_i32 *c, tmaring_u32 barrier)
{
  static_assert(RANK >= 1 && RANK <= 5, "rank of a tensor map");
  if constexpr (RANK == 1)
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3}], [%2];" ::"r"(shared),
                 "l"(map), "r"(barrier), "r"(c[0])
                 : "memory");
  if constexpr (RANK == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4}], [%2];" ::"r"(shared),
                 "l"(map), "r"(barrier), "r"(c[0]), "r"(c[1])
                 : "memory");
  if constexpr (RANK == 3)
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared),
                 "l"(map), "r"(barrier), "r"(c[0]), "r"(c[1]), "r"(c[2])
                 : "memory");
  if constexpr (RANK == 4)
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared),
                 "l"(map), "r"(barrier), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])
                 : "memory");
  if constexpr (RANK == 5)
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(shared),
                 "l"(map), "r"(barrier), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4])
                 : "memory");
}

/* Writes what lies inside the tensor; of a row whole 16-byte units, also the one that the row's last element is in. Joins
 * this thread's bulk group: tmaring_bulk_commit, tmaring_bulk_wait_read. */
template <int RANK> TMARING_DEVICE void tmaring_tensor_store(const void *map, const tmaring_i32 *c, tmaring_u32 shared)
{
  static_assert(RANK >= 1 && RANK <= 5, "rank of a tensor map");
  if constexpr (RANK == 1)
    asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%2}], [%1];" ::"l"(map), "r"(shared),
                 "r"(c[0])
                 : "memory");
  if constexpr (RANK == 2)
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
                 "r"(shared), "r"(c[0]), "r"(c[1])
                 : "memory");
  if constexpr (RANK == 3)
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
                 "r"(shared), "r"(c[0]), "r"(c[1]), "r"(c[2])
                 : "memory");
  if constexpr (RANK == 4)
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
                 "r"(shared), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])
                 : "memory");
  if constexpr (RANK == 5)
    asm volatile(
        "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
        "r"(shared), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4])
        : "memory");
}

/* A map of pixels; offset: the filter's position, RANK - 2 of them, w first. */
template <int RANK>
TMARING_DEVICE void tmaring_tensor_load_im2col(tmaring_u32 shared, const void *map, const tmaring_i32 *c,
                                               const tmaring_u16 *offset, tmaring_u32 barrier)
{
  static_assert(RANK >= 3 && RANK <= 5, "rank of a tensor map of pixels");
  if constexpr (RANK == 3)
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5}], [%2], {%6};" ::"r"(shared),
                 "l"(map), "r"(barrier), "r"(c[0]), "r"(c[1]), "r"(c[2]), "h"(offset[0])
                 : "memory");
  if constexpr (RANK == 4)
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(shared),
                 "l"(map), "r"(barrier), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "h"(offset[0]), "h"(offset[1])
                 : "memory");
  if constexpr (RANK == 5)
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10};" ::"r"(shared),
                 "l"(map), "r"(barrier), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "h"(offset[0]),
                 "h"(offset[1]), "h"(offset[2])
                 : "memory");
}

/* ---- cp.async: copies of 4, 8 or 16 bytes by single threads, source and destination multiples of the size. They are
 * generic accesses to shared memory, not the copy engine's ---- */

template <int BYTES> TMARING_DEVICE void tmaring_async_copy(tmaring_u32 shared, tmaring_u64 global)
{
  static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "size of a cp.async");
  if constexpr (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(global), "n"(BYTES) : "memory");
}

/* This thread arrives at the barrier once all of its copies so far have been written; its count must include that. */
TMARING_DEVICE void tmaring_async_arrive(tmaring_u32 barrier)
{
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

/* ---- ordering ---- */

/* This thread's generic accesses to shared memory before later accesses by the copy engine. */
TMARING_DEVICE void tmaring_fence_proxy_async(void)
{
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* The same, for global memory too. */
TMARING_DEVICE void tmaring_fence_proxy_async_all(void)
{
  asm volatile("fence.proxy.async;" ::: "memory");
}

/* Barrier `id` of `threads` threads, whole warps. */
TMARING_DEVICE void tmaring_named_barrier(tmaring_u32 id, tmaring_u32 threads)
{
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* Arrives there, and goes on. */
TMARING_DEVICE void tmaring_named_barrier_arrive(tmaring_u32 id, tmaring_u32 threads)
{
  asm volatile("barrier.cta.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* ---- clusters ---- */

TMARING_DEVICE tmaring_u32 tmaring_cluster_rank(void)
{
  tmaring_u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/* Barrier of every thread of every CTA of the cluster; what was written to shared memory before is seen after. */
TMARING_DEVICE void tmaring_cluster_sync(void)
{
  asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
}

/* The same place in the shared memory of the CTA of this rank, as a generic pointer. */
template <class T> TMARING_DEVICE const T *tmaring_cluster_map(const T *shared, tmaring_u32 rank)
{
  tmaring_u64 there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
  return reinterpret_cast<const T *>(there);
}

/* ---- launch ---- */

/* Waits for the kernels this grid depends on; nothing where the launch is not dependent. */
TMARING_DEVICE void tmaring_dependency_wait(void)
{
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

/* Lets dependent grids start once every CTA of this one has said so or ended. */
TMARING_DEVICE void tmaring_dependency_launch(void)
{
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
template <int REGISTERS> TMARING_DEVICE void tmaring_registers_give(void)
{
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS> TMARING_DEVICE void tmaring_registers_take(void)
{
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
#else /* sm_90 without the a: kernels run with the registers they were launched with */
template <int REGISTERS> TMARING_DEVICE void tmaring_registers_give(void) {}
template <int REGISTERS> TMARING_DEVICE void tmaring_registers_take(void) {}
#endif

#endif

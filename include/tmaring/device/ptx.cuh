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

/* ---- ordering ---- */

/* This thread's generic accesses to shared memory before later accesses by the copy engine. */
TMARING_DEVICE void tmaring_fence_proxy_async(void)
{
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Barrier `id` of `threads` threads, whole warps. */
TMARING_DEVICE void tmaring_named_barrier(tmaring_u32 id, tmaring_u32 threads)
{
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
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

/* ---- numbers ---- */

/* NaN if either is NaN; max(-0, +0) is +0, min(-0, +0) is -0. */
TMARING_DEVICE float tmaring_max(float a, float b)
{
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
TMARING_DEVICE float tmaring_min(float a, float b)
{
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

TMARING_DEVICE float tmaring_from_f16(tmaring_u32 bits)
{
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"((tmaring_u16)bits));
  return r;
}
TMARING_DEVICE float tmaring_from_bf16(tmaring_u32 bits)
{
  return __uint_as_float(bits << 16);
}

/* Two values rounded to nearest even; `low` in the low half. */
TMARING_DEVICE tmaring_u32 tmaring_to_f16x2(float low, float high)
{
  tmaring_u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
TMARING_DEVICE tmaring_u32 tmaring_to_bf16x2(float low, float high)
{
  tmaring_u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

#endif

/* Every tuned number of the planner. Measured on one H200 unless a line says otherwise; changing one changes speed,
 * never results, but for the order in which column reductions add up. */
#ifndef TMARING_HOST_TUNING_H
#define TMARING_HOST_TUNING_H

/* ---- defaults of what the caller leaves open ---- */

/* Producer warp and consumer warps: the ring is fed while the consumers are busy, at the price of one warp. */
#define TUNING_MODE TMARING_MODE_WARP_SPECIALIZED
/* The barrier costs each warp one arrival; the empty mbarrier costs one arrival per warp and a wait of the issuer. */
#define TUNING_WAR TMARING_WAR_CTA_BARRIER
/* Registers to global memory: 16 bytes per lane are full sectors, and no stage is held up by a store's read. */
#define TUNING_STORE TMARING_STORE_DIRECT
/* Threads that compute: 8 warps; with the producer warp 288, so that two CTAs keep 96 registers per thread (9 warps
 * each: a quarter of the SM has five of them). */
#define TUNING_CONSUMERS 256
/* Work per element from which a formula without reductions takes as many: see tmaring__facts.work (gelu_tanh bf16
 * [65537, 4096]: 1749 GB/s with 64 threads, 3338 with 256; silu_mul 3261 and 4144). */
#define TUNING_HEAVY_WORK 8
/* Without reductions a thread does little per byte: 2 warps keep up, start sooner and leave room for more CTAs
 * (docs/findings/x_plus_x.md). */
#define TUNING_CONSUMERS_POINTWISE 64
/* A cluster's CTA has an SM to itself: as many warps as two CTAs of the size above (estimated). */
#define TUNING_CONSUMERS_CLUSTER 512
/* Column reductions of rows up to this size have the 64 threads of formulas without reductions: few rows at a time
 * leave few partial results (estimated). */
#define TUNING_COLUMN_SHORT_ROW_BYTES 2048
/* Tickets won 2-7 % over blocked and cyclic on 2 GiB, and cost an atomic per tile: from this many bytes moved on. */
#define TUNING_TICKET_BYTES (64.0 * 1048576.0)

/* ---- candidates ---- */

/* Bytes of a fill per tensor. 8-16 KiB were best; smaller ones serve small M. A row longer than that is a fill of its
 * own. The last two are for rows that are reduced: several of them at a time hide what one waits for (softmax f32
 * [16384, 4096]: 3838 GB/s with 4 warps per row and two rows per fill, 3096 with the CTA on one row). */
#define TUNING_FILL_BYTES                                                                                              \
  {                                                                                                                    \
    1024, 2048, 4096, 8192, 16384, 32768, 65536                                                                        \
  }
#define TUNING_FILL_BYTES_REDUCING 2
/* CTAs per SM: one or two were best, more share out the shared memory too thinly. */
#define TUNING_MAX_CTAS 2
/* Pointwise, some 10 MB: 6.03 us with four CTAs per SM, 6.13 with two. */
#define TUNING_MAX_CTAS_POINTWISE 4
/* Registers that a thread of any formula should have; bounds the CTAs per SM. */
#define TUNING_MIN_REGISTERS 64
/* Stages: 3-6 of 8-16 KiB were best; small fills take more to keep the same bytes in flight. */
#define TUNING_MIN_STAGES 3
/* The same where three or more CTAs of an SM overlap one another as well. */
#define TUNING_MIN_STAGES_MANY 2
#define TUNING_MAX_STAGES      12
/* Bytes in flight per SM that stages are added for where as much is read as is written; more where reads are a larger
 * part. With the fill being computed on it makes
 * the 48 KiB that saturate an H200; more was slower: y = x + x [1048573, 256] at 16 KiB per fill took 510, 515 and 519
 * us with 48, 64 and 128 KiB in all. */
#define TUNING_FLIGHT_BYTES 32768
/* [N] inputs are copied to shared memory up to this size in all; beyond it the stages are worth more than the copy. */
#define TUNING_VECTOR_BYTES 32768
/* Rows of formulas without reductions are cut into pieces from this size on, so that fills stay near the sizes above.
 */
#define TUNING_LONG_ROW_BYTES 32768
/* Runs of a fill, per tensor, where rows are not dense: one lane issues them all, about 20 ns each. */
#define TUNING_MAX_RUNS 64
/* Vectors (16 bytes) per lane and row at which another warp joins the row; and the same where few rows must fill the
 * GPU. */
#define TUNING_VECTORS_PER_LANE                                                                                        \
  {                                                                                                                    \
    4, 8, 16                                                                                                           \
  }
#define TUNING_VECTORS_PER_LANE_FEW_ROWS 1
/* Rows per SM below which latency of a row counts more than throughput. */
#define TUNING_FEW_ROWS_PER_SM 2

/* ---- column reductions; changing one of these changes the order of sums, and so their last bits; estimated ---- */

/* Tiles that the largest M of a class is cut into: enough for an even load, few enough for their partial results. */
#define TUNING_COLUMN_CHUNKS 1024
/* Bytes moved at which another number of rows per chunk takes over, and the M that the last class is cut for, as a
 * multiple of where it begins. */
#define TUNING_COLUMN_CLASS_BYTES                                                                                      \
  {                                                                                                                    \
    10.0 * 1048576.0, TUNING_TICKET_BYTES, 384.0 * 1048576.0                                                           \
  }
#define TUNING_COLUMN_LAST_CLASS 3
/* Rows of a chunk per seat, at least: partial results of fp32 are then a quarter of the input's bytes or less. */
#define TUNING_COLUMN_ROWS_PER_SEAT 4
/* What the second kernel takes for one more row of partial results (128 bytes per block at 60 bytes per ns), and the
 * columns that its blocks join at a time. */
#define TUNING_COLUMN_JOIN_NS   2.1
#define TUNING_COLUMN_JOIN_COLS 4096
/* Bytes per ns of one CTA that streams a chunk. */
#define TUNING_COLUMN_RATE 20.0
/* Bytes of a fill per tensor; of a piece of a long row. */
#define TUNING_COLUMN_FILL_BYTES  8192
#define TUNING_COLUMN_PIECE_BYTES 16384
/* Accumulators are kept in shared memory up to this size; beyond it every value goes through the L2 cache. */
#define TUNING_COLUMN_SMEM_BYTES 102400
/* Launch of the second kernel behind the first. */
#define TUNING_COLUMN_KERNEL_NS 2500.0

/* ---- cost model; times in ns, rates in bytes per ns ---- */

/* Launch to first byte, and last byte to end of grid. */
#define TUNING_RAMP_NS 1500.0
/* Global memory, all SMs together: cudaMemcpy D2D reads and writes 4280 GB/s. */
#define TUNING_MEMORY_RATE 4280.0
/* One SM's share when it is alone. */
#define TUNING_SM_RATE 60.0
/* Latency under load: 48 KiB per SM in flight at the full rate (Little's law). */
#define TUNING_LATENCY_NS 1500.0
/* What of the shorter of memory time and workers' time is not hidden behind the longer, and the most that this costs
 * without reductions: a long run settles. */
#define TUNING_OVERLAP_LOSS    0.25
#define TUNING_OVERLAP_LOSS_NS 1000.0
/* What of a grid's first fills is not overlapped with anything. */
#define TUNING_FIRST_FILL_LOSS 0.3
/* Of the memory time, per CTA beyond one on an SM: their streams disturb each other's order (510, 514 and 520 us for x
 * + x [1048573, 256] with one, two and four). */
#define TUNING_CTA_LOSS 0.007
/* Per fill: barrier wait, walk, arrival. Per bulk copy beyond the first of a fill. Per step of 16 bytes per lane. */
#define TUNING_FILL_NS 600.0
#define TUNING_COPY_NS 20.0
#define TUNING_STEP_NS 12.0
/* Per step and unit of tmaring__facts.work (gelu_tanh bf16 [65537, 4096] with 64 threads). */
#define TUNING_WORK_NS 3.5
/* Per step and [N] input that is read from global memory, since shared memory had no room (layernorm bf16 [16384, 8192]
 * with two CTAs per SM and no room: 3011 GB/s; with one CTA and room: 3528). */
#define TUNING_VECTOR_NS 100.0
/* Per reduction over a row: the butterfly, and the barrier where warps share the row. */
#define TUNING_REDUCE_NS 60.0
#define TUNING_GROUP_NS  80.0
/* The same where CTAs share the row: barrier of the cluster, and the way to the peers' shared memory, per CTA of them
 * (estimated). */
#define TUNING_CLUSTER_NS     300.0
#define TUNING_CLUSTER_CTA_NS 25.0
/* Stages of a cluster's CTA: the next slice is loaded while this one is computed on; one where no more fit. */
#define TUNING_CLUSTER_STAGES 2
/* Rows that are streamed once per pass come from the L2 cache after the first time where all that are under way take
 * up to this part of it, and then count for less (estimated). */
#define TUNING_L2_PART  0.5
#define TUNING_L2_SHARE 0.5
/* A claim from the ticket counter; most of it is hidden behind the fills in flight. */
#define TUNING_TICKET_NS 20.0
/* The way to the counter and back: the producer knows its next tile no sooner (a + b bf16 [65537, 4096]: 0.96 us per
 * fill, whatever the fill holds; 3367 GB/s with one row per fill, 4270 with two). */
#define TUNING_CLAIM_NS 950.0

/* ---- variants by M: bytes moved at which another one may take over ---- */

#define TUNING_CLASS_BYTES                                                                                             \
  {                                                                                                                    \
    1.0 * 1048576.0, 10.0 * 1048576.0, TUNING_TICKET_BYTES                                                             \
  }

#endif

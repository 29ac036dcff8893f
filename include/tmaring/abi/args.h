/* Arguments of a kernel, and the layout of its shared memory. The emulator reads the same struct. */
#ifndef TMARING_ABI_ARGS_H
#define TMARING_ABI_ARGS_H

#include "cta.h"
#include "run.h"
#include "scope.h"

#define TMARING_MAX_STREAMS    4 /* [M,N] inputs, and [M,N] outputs, each */
#define TMARING_MAX_VECTORS    4 /* [N] inputs; [M] inputs; [M] outputs, each */
#define TMARING_MAX_SCALARS    8
#define TMARING_MAX_REDUCTIONS 8 /* per pass */
#define TMARING_MAX_PASSES     8

/* A [N] or [M] tensor: contiguous. */
typedef struct tmaring_vector {
  tmaring_u64 base;
  tmaring_i32 dtype;
  tmaring_u32 smem; /* [N] inputs: offset of the copy in shared memory; TMARING_NOT_STAGED: read from global memory */
} tmaring_vector;

#define TMARING_NOT_STAGED 0xffffffffu

/* Dynamic shared memory, in this order. Offsets in bytes from its 128-byte aligned start.
 *
 *     0         full barriers   8 * S
 *     8 S       empty barriers  8 * S
 *     16 S      tickets         8 * S     tile number handed from the producer to the consumers
 *     scratch   partial results 2 * TMARING_MAX_REDUCTIONS * consumer warps * 4   (cross-warp scopes only)
 *     vectors   [N] inputs that are kept in shared memory, each from a multiple of 16
 *     stages    S * stage_bytes, from a multiple of 128: per stage a slot per input, then a slot per output that is
 *               staged apart from the input (in place: the output's slot is the input's) */
typedef struct tmaring_smem {
  tmaring_u32 full, empty, tickets, scratch, vectors, stages;
  tmaring_u32 stage_bytes;
  tmaring_u32 total;
} tmaring_smem;

TMARING_FN void tmaring_smem_layout(tmaring_smem *m, tmaring_u32 stages, tmaring_u32 stage_bytes,
                                    tmaring_u32 vector_bytes, tmaring_u32 cross_warps)
{
  m->full = 0;
  m->empty = 8 * stages;
  m->tickets = 16 * stages;
  m->scratch = 24 * stages;
  m->vectors = (tmaring_u32)tmaring_round_up(m->scratch + 2u * TMARING_MAX_REDUCTIONS * cross_warps * 4u, 16);
  m->stages = (tmaring_u32)tmaring_round_up(m->vectors + vector_bytes, 128);
  m->stage_bytes = stage_bytes;
  m->total = m->stages + stages * stage_bytes;
}

/* Left by a debug kernel whose bounded wait ran out. Lies in host-visible memory and survives the trap. */
typedef struct tmaring_fault {
  tmaring_u32 raised; /* 1: the other fields hold */
  tmaring_u32 worker;
  tmaring_u32 role;    /* tmaring_role */
  tmaring_u32 barrier; /* 0 full, 1 empty */
  tmaring_u32 stage;
  tmaring_u32 parity;
  tmaring_u64 fill;
} tmaring_fault;

/* What every CTA reads first lies together: a launch starts with cold constant caches, one miss per 64 bytes. */
typedef struct tmaring_args {
  tmaring_u32 abi_version; /* TMARING_ABI_VERSION */
  tmaring_u32 stages;      /* S */
  tmaring_u32 distance;    /* P, in [0, S-1] */
  tmaring_u32 store_lag;   /* tmaring_ring_store_lag */
  tmaring_cta cta;
  tmaring_walk walk;
  tmaring_smem smem;
  tmaring_u64 rows_address;    /* 0, or device address of an int64 M <= walk.rows */
  tmaring_u64 counter_address; /* tickets: two u32 in the workspace: next ticket, CTAs done */
  tmaring_u64 fault_address;   /* debug kernels: a tmaring_fault */
  tmaring_i32 input_count, output_count, vector_count, row_scalar_count, row_output_count, scalar_count;
  tmaring_scope scope;
  tmaring_stream input[TMARING_MAX_STREAMS];
  tmaring_stream output[TMARING_MAX_STREAMS];
  tmaring_vector vector[TMARING_MAX_VECTORS];     /* [N] inputs */
  tmaring_vector row_scalar[TMARING_MAX_VECTORS]; /* [M] inputs */
  tmaring_vector row_output[TMARING_MAX_VECTORS]; /* [M] outputs */
  float scalar[TMARING_MAX_SCALARS];
} tmaring_args;

#define TMARING_WORKSPACE_BYTES 16

#endif

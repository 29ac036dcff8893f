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

/* A [N] tensor (contiguous), [M] tensor or [M,N/k] tensor. */
typedef struct tmaring_vector {
  tmaring_u64 base;
  tmaring_i32 dtype;
  tmaring_u32 smem;  /* [N] inputs: offset of the copy in shared memory; TMARING_NOT_STAGED: read from global memory */
  tmaring_i64 pitch; /* [M], [M,N/k]: bytes between the values of two rows */
  tmaring_i64 step;  /* [M,N/k]: bytes between the values of two groups */
} tmaring_vector;

#define TMARING_NOT_STAGED 0xffffffffu

/* Address of the value of a row, [M] or [M,N/k], and of group `g` of columns. */
TMARING_FN tmaring_u64 tmaring_vector_address(const tmaring_vector *v, tmaring_i64 row, tmaring_i32 g)
{
  return v->base + (tmaring_u64)(row * v->pitch) + (tmaring_u64)(g * v->step);
}

/* Dynamic shared memory, in this order. Offsets in bytes from its 128-byte aligned start.
 *
 *     0         full barriers   8 * S
 *     8 S       empty barriers  8 * S
 *     16 S      tickets         8 * S     tile number handed from the producer to the consumers
 *     scratch   partial results 2 * TMARING_MAX_REDUCTIONS * consumer warps * 8   (cross-warp scopes only)
 *     vectors   [N] inputs that are kept in shared memory, each from a multiple of 16; by multicast after a barrier and
 *               8 bytes of nothing
 *     columns   accumulators of column reductions, [squads][seats][column outputs][N rounded up to 8]; only where they
 *               fit
 *     stages    S * stage_bytes, from a multiple of 128: per stage a slot per input, then a slot per output that is
 *               staged apart from the input (in place: the output's slot is the input's) */
typedef struct tmaring_smem {
  tmaring_u32 full, empty, tickets, scratch, vectors, columns, stages;
  tmaring_u32 stage_bytes;
  tmaring_u32 total;
  tmaring_u32 vector_full; /* vectors by multicast: their barrier, the first 8 of 16 bytes in front of them */
} tmaring_smem;

TMARING_FN void tmaring_smem_layout(tmaring_smem *m, tmaring_u32 stages, tmaring_u32 stage_bytes,
                                    tmaring_u32 vector_bytes, tmaring_u32 column_bytes, tmaring_u32 cross_warps)
{
  m->full = 0;
  m->empty = 8 * stages;
  m->tickets = 16 * stages;
  m->scratch = 24 * stages;
  m->vectors = (tmaring_u32)tmaring_round_up(m->scratch + 2u * TMARING_MAX_REDUCTIONS * cross_warps * 8u, 16);
  m->columns = (tmaring_u32)tmaring_round_up(m->vectors + vector_bytes, 16);
  m->stages = (tmaring_u32)tmaring_round_up(m->columns + column_bytes, 128);
  m->stage_bytes = stage_bytes;
  m->total = m->stages + stages * stage_bytes;
  m->vector_full = m->vectors;
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
  double wide_scalar[TMARING_MAX_SCALARS]; /* the same for programs in double */
  tmaring_i32 group_input_count, group_output_count, column_output_count;
  tmaring_i32 columns_staged;   /* where code does not keep column accumulators in registers: 1: in shared memory; 0: in
                                   the workspace */
  tmaring_u64 partials_address; /* workspace: partial results of column reductions, see below */
  tmaring_vector group_input[TMARING_MAX_VECTORS];   /* [M,N/k] inputs */
  tmaring_vector group_output[TMARING_MAX_VECTORS];  /* [M,N/k] outputs */
  tmaring_vector column_output[TMARING_MAX_VECTORS]; /* [N] outputs */
  tmaring_i32 multicast; /* CTAs of a cluster that get the [N] inputs together; 0, 1: each for itself */
} tmaring_args;

/* Both parameters of a kernel; drivers before CUDA 12.1 take no more than these 4096 bytes. */
TMARING_STATIC_ASSERT((sizeof(tmaring_args) + 63) / 64 * 64 + sizeof(tmaring_tiles) <= 4096,
                      "size of kernel parameters");

/* 1 where some input takes this path (tmaring_load_path). */
TMARING_FN int tmaring_args_take(const tmaring_args *a, tmaring_i32 path)
{
  int some = 0;
  for (int t = 0; t < a->input_count; ++t) some |= a->input[t].path == path;
  return some;
}

/* 1 where loads need all lanes of the warp that feeds the ring. */
TMARING_FN int tmaring_args_wide(const tmaring_args *a)
{
  return tmaring_args_take(a, TMARING_LOAD_ASYNC) || tmaring_args_take(a, TMARING_LOAD_ORDINARY);
}

/* Workspace: the counters of tickets, and from TMARING_PARTIALS_OFFSET the partial results of column reductions: per
 * column output `chunks * seats` rows of N (rounded up to 8) values, fp32 or double. A *seat* is a place for a row among
 * those that a squad (cta.h) handles at a time; a chunk is one squad's. Each seat has an accumulator of its own, so that
 * who adds to it, and in which order, depends on the rows of the chunk alone. A second kernel joins the rows of a
 * column: strand j of TMARING_COLUMN_STRANDS takes rows j, j + STRANDS, ... in this order; then strand j joins strand
 * j + 8, 4, 2, 1. */
#define TMARING_WORKSPACE_BYTES 16
#define TMARING_PARTIALS_OFFSET 256
#define TMARING_COLUMN_STRANDS  16

TMARING_FN tmaring_i32 tmaring_column_seats(const tmaring_args *a)
{
  return tmaring_scope_at_a_time(&a->scope, tmaring_cta_squad_warps(&a->cta));
}

/* Seat of a thread. */
TMARING_FN tmaring_i32 tmaring_column_seat(const tmaring_args *a, const tmaring_seat *seat)
{
  return seat->unit * (32 >> a->scope.lanes_log2) + seat->row;
}

/* Values between two rows of accumulators or partial results. */
TMARING_FN tmaring_i64 tmaring_column_stride(const tmaring_args *a)
{
  return (tmaring_i64)tmaring_round_up((tmaring_u64)a->walk.cols, 8);
}

TMARING_FN tmaring_i64 tmaring_column_chunks(const tmaring_walk *w)
{
  return w->spread ? w->tiles / w->pieces : w->tiles;
}

/* First value of partial row (output, chunk, seat) in a launch of walk `w` (of this launch's real M). */
TMARING_FN tmaring_i64 tmaring_partial_index(const tmaring_args *a, const tmaring_walk *w, tmaring_i32 output,
                                             tmaring_i64 chunk, tmaring_i32 seat)
{
  const tmaring_i32 seats = tmaring_column_seats(a);
  const tmaring_i64 rows = tmaring_column_chunks(w) * seats;
  return (output * rows + chunk * seats + seat) * tmaring_column_stride(a);
}

#endif

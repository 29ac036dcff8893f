/* Plans: how a formula runs over tensors of given N, types, strides and alignment on a machine. M is a launch
 * parameter. */
#ifndef TMARING_PLAN_H
#define TMARING_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "abi/args.h"
#include "formula.h"
#include "machine.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tmaring_plan tmaring_plan;

/* Where results go through. */
typedef enum tmaring_store {
  TMARING_STORE_DIRECT = 0, /* from registers to global memory */
  TMARING_STORE_BULK =
      1,                 /* staged in shared memory, then bulk copies; in place over the input where that is possible */
  TMARING_STORE_TILE = 2 /* the same with tensor-map copies; N * element size of every output a multiple of 16 */
} tmaring_store;

/* Who computes where consumers are two squads, each with named barriers of its own. The full and empty barriers of a
 * stage serve one squad at a time: always the same where the stages are a multiple of a turn of both, else they change
 * hands. */
typedef enum tmaring_turns {
  TMARING_TURNS_COOPERATIVE = 0, /* every tile is cut in two fills of rows, one per squad */
  TMARING_TURNS_ALTERNATING = 1  /* tile after tile in turn (ping-pong) */
} tmaring_turns;

#define TMARING_AUTO (-2147483647 - 1)

/* Every field may be TMARING_AUTO: the planner picks. What is forced and makes no sense is normalised, and the plan's
 * notes say so; what cannot run is refused with ERROR_UNSUPPORTED or ERROR_CAPACITY and a reason. */
typedef struct tmaring_plan_options {
  size_t size;                        /* sizeof(tmaring_plan_options), set by tmaring_plan_options_init */
  int32_t mode;                       /* tmaring_mode */
  int32_t war;                        /* tmaring_war; pipelined */
  int32_t role_axis;                  /* tmaring_axis; warp-specialized */
  int32_t consumers[3];               /* threads of the consumer block on x, y, z */
  int32_t registers[2];               /* register sharing: per thread of the producer, of the consumers; 0, 0: none */
  int32_t stages;                     /* 1 .. TMARING_MAX_STAGES */
  int32_t prefetch;                   /* -stages .. stages - 1; negative p means stages + p */
  int32_t order;                      /* tmaring_order */
  int32_t policy;                     /* tmaring_policy; UNSAFE is for tests */
  int32_t release;                    /* tmaring_release */
  int32_t store;                      /* tmaring_store */
  int32_t scope;                      /* tmaring_scope_kind */
  int32_t warps_per_row;              /* scope group */
  int32_t lanes_per_row;              /* scope lanes: 1, 2, 4, 8, 16 */
  int32_t tile_rows;                  /* rows per fill */
  int32_t piece_cols;                 /* columns per piece of a row; N: whole rows. With tile_rows above 1: fills of so
                                         many rows by so many columns, where nothing is reduced over a row */
  int32_t workers;                    /* CTAs; clusters where rows are shared by CTAs */
  int32_t debug;                      /* 1: bounded waits and a fault record */
  int32_t cluster;                    /* scope cluster: CTAs that share a row: 2, 4, 8; 1: never */
  int32_t load;                       /* tmaring_load_path of every [M,N] input; AUTO: bulk */
  int32_t loads[TMARING_MAX_STREAMS]; /* the same for streamed input t (tmaring_args.input[t]): [M,N] inputs in formula
                                         order, an [M,2N] input read by halves being two; AUTO: as `load` says */
  int32_t squads;                     /* warp-specialized: 1, or 2 groups of consumer warps */
  int32_t turns;                      /* tmaring_turns; two squads */
  int32_t multicast; /* CTAs of a cluster that receive [N] inputs together, each with rows of its own: 2, 4, 8; 1:
                            never */
} tmaring_plan_options;

TMARING_API void tmaring_plan_options_init(tmaring_plan_options *options);

/* Makes a plan. tensors[i] describes tensor parameter i of the formula (count = tmaring_formula_tensor_count).
 * options may be NULL. The plan keeps what it needs of its arguments; it is the caller's (tmaring_plan_free) and
 * immutable: any number of threads may use it. Needs no GPU and no driver. Column reductions give the same bits for
 * the same data, types, alignment and options other than order, policy and workers: on any number of SMs, with any
 * hint of M. Where a launch has rows_device, its bound `rows` picks the chunks that are summed, not the M on the
 * device. Errors: ARGUMENT, TYPE, SHAPE (a tensor does not fit its parameter), ALIGNMENT, UNSUPPORTED, CAPACITY
 * (with both numbers), MEMORY. */
TMARING_API tmaring_status tmaring_plan_create(tmaring_plan **plan, const tmaring_formula *formula,
                                               const tmaring_tensor *tensors, int32_t count,
                                               const tmaring_machine *machine, const tmaring_plan_options *options);
TMARING_API void tmaring_plan_free(tmaring_plan *plan);

/* The kernel arguments a launch with `rows` rows would use, addresses zero: walk, CTA, scope, ring, shared memory map.
 */
TMARING_API tmaring_status tmaring_plan_args(const tmaring_plan *plan, int64_t rows, tmaring_args *args);

/* What the kernel's code is specialised for, and what the planner found. */
typedef struct tmaring_plan_info {
  size_t size;      /* sizeof(tmaring_plan_info) */
  int32_t store;    /* tmaring_store */
  int32_t in_place; /* 1: results are staged over the input */
  int32_t aligned;  /* 1: every run is a whole number of aligned 16-byte units */
  int32_t passes;   /* over a row: reductions first, elementwise results last */
  int32_t reduction_passes;
  int32_t registers[2];
  int32_t threads; /* per CTA */
  int32_t ctas_per_sm;
  int32_t debug;
  int64_t bytes_per_row;              /* compulsory traffic per row: streamed inputs once, outputs once */
  double cost_us;                     /* the planner's estimate at the hinted M */
  int32_t note_count;                 /* see tmaring_plan_note */
  int32_t inputs;                     /* streamed [M,N] inputs; an [M,2N] input read by halves is two */
  int32_t loads[TMARING_MAX_STREAMS]; /* tmaring_load_path of each */
} tmaring_plan_info;

TMARING_API tmaring_status tmaring_plan_describe(const tmaring_plan *plan, tmaring_plan_info *info);
/* One sentence per normalisation, fallback and choice: "policy wrap -> exact: tickets have no surplus". NULL past the
 * end. */
TMARING_API const char *tmaring_plan_note(const tmaring_plan *plan, int32_t index);

/* What the checker went through. */
typedef struct tmaring_check_report {
  size_t size;   /* sizeof(tmaring_check_report) */
  int64_t tiles; /* each stored exactly once */
  int64_t fills; /* over all CTAs, surplus included */
  int64_t surplus_slots;
  int64_t copies; /* bulk loads and stores, each inside its hull and aligned */
  int64_t steps;  /* primitives played through the ring model */
} tmaring_check_report;

/* Proves a plan for `rows` rows: bounds, alignment, coverage (each row stored exactly once), arrival and byte counts,
 * and no wait that cannot end. Walks every worker, and plays the role loops of each distinct trip count through the
 * ring model. ERROR_CHECK with the place of the first fault. report may be NULL. */
TMARING_API tmaring_status tmaring_check(const tmaring_plan *plan, int64_t rows, tmaring_check_report *report);

/* Bytes of workspace that launches of up to `rows` rows need: 0 unless the walk uses tickets or the formula reduces
 * columns (then it grows with the rows, to a fraction of the input's size). From a multiple of 16. */
TMARING_API size_t tmaring_workspace_bytes(const tmaring_plan *plan, int64_t rows);

#ifdef __cplusplus
}
#endif

#endif

/* The inside of a plan. */
#ifndef TMARING_HOST_PLAN_STATE_H
#define TMARING_HOST_PLAN_STATE_H

#include "../formula/program.h"
#include "tmaring/launch.h"
#include "tmaring/plan.h"
#include "tmaring/tensor_map.h"

/* What a kernel's code is specialised for: with the program and the types, the key of its code. Everything else is an
 * argument. */
typedef struct tmaring__code {
  int32_t mode;    /* tmaring_mode */
  int32_t flat;    /* scope flat */
  int32_t group;   /* rows are shared by several warps */
  int32_t aligned; /* no edges: every run is whole 16-byte units, every vector aligned and full */
  int32_t staged;  /* results go through shared memory */
  int32_t strips;  /* fills are pieces of several rows */
  int32_t pieces;  /* rows longer than a stage whose pieces, and passes over them, follow one another in the ring; 0
                      where each piece is a tile of its own */
  int32_t vec;     /* elements per thread and step: 2, 4 or 8 */
  int32_t registers[2]; /* setmaxnreg of producer and consumers; 0: none */
  int32_t max_threads;  /* launch bound: threads of the CTA rounded up to 160, 288, 416, 544, 1024, in a cluster to
                          512, 544, 1024; with register sharing exactly its threads, since the bound fixes the pool */
  int32_t min_ctas;     /* launch bound: CTAs per SM */
  int32_t debug;
  int32_t wide;                      /* arithmetic in double */
  int32_t fixed;                     /* scope.fixed */
  int32_t grouped;                   /* some stream's rows come in groups (tmaring_stream.group_rows) */
  int32_t cluster;                   /* rows are shared by the CTAs of a cluster; how many they are is an argument */
  int32_t load[TMARING_MAX_STREAMS]; /* tmaring_load_path of each streamed input */
  int32_t box_rank[TMARING_MAX_STREAMS]; /* tiled inputs whose fill is one box of whole rows in every variant: the rank
                                            of the map; else 0 */
  int32_t tiled_store;                   /* staged results go by tensor maps */
  int32_t squads;                        /* 1 or 2 */
  int32_t multicast;                     /* [N] inputs come by multicast; to how many CTAs is an argument */
} tmaring__code;

/* What a tile program computes, for the cpu backend; the cuda backend has it from the plan's source. */
typedef struct tmaring__tile_work {
  int32_t op;                        /* tmaring_tile_op */
  const tmaring__program *program;   /* what a ring must know: its passes, and that matmul's sums last for a tile */
  int32_t staged;                    /* results are stored from shared memory */
  int32_t masked;                    /* matmul: what lies past k is not zero in the slots */
  int32_t warps[2];                  /* matmul: consumer warps side by side along m, along n */
  int32_t dtype[TMARING_MAX_PANELS]; /* inputs, then the output */
} tmaring__tile_work;

/* The host's side of tmaring_tiles: the maps as structs, for the cpu backend as they are, for the cuda backend to encode
 * at launch. Addresses and the sizes that follow from M are entered at launch. */
typedef struct tmaring__boxes {
  int32_t used; /* mask of map and tile: input t bit t, output t bit TMARING_TILED_OUTPUTS + t */
  tmaring_grid grid;
  tmaring_panel panel[TMARING_MAX_PANELS];
  tmaring_tile tile[TMARING_MAX_TILED];
  tmaring_tensor_map_tiled map[TMARING_MAX_TILED];
  const tmaring__tile_work *work; /* tile programs; else NULL */
} tmaring__boxes;

typedef struct tmaring__variant {
  int64_t rows_limit; /* serves launches with rows <= rows_limit */
  tmaring_args args;  /* everything but rows and addresses */
  tmaring__boxes boxes;
  int32_t ctas_per_sm;
} tmaring__variant;

#define TMARING__MAX_VARIANTS 4
#define TMARING__MAX_TENSORS  (2 * TMARING_MAX_STREAMS + 6 * TMARING_MAX_VECTORS)
#define TMARING__MAX_NOTES    32

struct tmaring_plan {
  _Atomic int32_t references; /* plans are kept by kernels too: tmaring__plan_retain, tmaring_plan_free */
  tmaring_formula *formula;   /* retained; NULL: a tile program */
  char *source;               /* tile programs: the translation unit; owned */
  tmaring_machine machine;
  tmaring_plan_options options; /* as asked */
  int32_t tensor_count;
  tmaring_tensor tensor[TMARING__MAX_TENSORS]; /* pitch and alignment filled in */
  tmaring__code code;
  int32_t in_place;
  int32_t workers_forced; /* 1: the grid is not adapted to the device found at launch */
  int32_t variant_count;
  tmaring__variant variant[TMARING__MAX_VARIANTS];
  double cost_us;
  int32_t note_count;
  char *note[TMARING__MAX_NOTES];
};

/* A plan may be kept by several owners: adds one; tmaring_plan_free takes one away. Atomic. */
tmaring_plan *tmaring__plan_retain(const tmaring_plan *plan);

/* The variant for a row count; past the last one's rows_limit the last one, which tmaring__variant_set_rows then
 * refuses. */
const tmaring__variant *tmaring__plan_variant(const tmaring_plan *plan, int64_t rows);

/* Kernel arguments of a launch, and the maps of its tiled streams: picks the variant, sets the rows, enters addresses,
 * hulls and scalars after checking alignment and overlap. src/host/launch/encode.c. `data` as in tmaring_launch_params. */
tmaring_status tmaring__encode(const tmaring_plan *plan, const tmaring_launch_params *params, tmaring_args *args,
                               tmaring__boxes *boxes);

#endif

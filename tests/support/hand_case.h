/* One run of the CPU backend on kernel arguments made by hand: no planner, and an oracle that is written out here. */
#ifndef TMARING_TESTS_HAND_CASE_H
#define TMARING_TESTS_HAND_CASE_H

#include "../../src/host/backend/cpu/cpu_run.h"
#include "guarded.h"
#include "noise.h"

typedef enum hand_formula {
  HAND_DOUBLE,  /* y = x + x */
  HAND_RMSNORM, /* with w[N] */
  HAND_SOFTMAX,
  HAND_LAYERNORM, /* with w[N] and b[N] */
  HAND_ROW_SUM,   /* s[M] */
  HAND_SCALE,     /* y = x * s[M] */
  HAND_COUNT
} hand_formula;

typedef struct hand_spec {
  hand_formula formula;
  tmaring_dtype dtype;
  int64_t rows;
  int32_t cols;
  int32_t in_shift, out_shift; /* bytes past a multiple of 16 */
  int32_t pitch_gap;           /* elements between rows, in input and output */
  int32_t mode, war, release;
  int32_t scope, lanes_log2, warps, per_row;
  int32_t stages, distance, tile_rows;
  int32_t staged; /* 0 direct, 1 in place, 2 staged apart */
  int32_t order, policy, workers;
  int32_t pieces; /* 0: whole rows */
  int32_t spread;
  int32_t exact_global; /* 1: the output is the input itself */
  uint64_t seed;        /* TMARING__LAZY or random */
  data_kind data;
  int32_t path;        /* tmaring_load_path of the input. DIRECT: results in place are staged apart */
  int32_t tiled_store; /* 1: results that are staged go by tensor maps, in place if the input comes so */
  int32_t together;    /* TILE: 1: boxes of a fill's rows, where one box has a row; 0: each row has its own */
  int32_t box_cols;    /* elements of a box that has a part of a row, whole 128 bytes; 0: as many as can be */
} hand_spec;

typedef struct hand_case {
  hand_spec spec;
  tmaring_args args;
  tmaring__boxes boxes;
  tmaring__code code;
  tmaring_formula *formula;
  guarded in, out; /* of HAND_ROW_SUM: out is [M] of one column */

  guarded vector_data[2], column_data;
  uint32_t workspace[4];
} hand_case;

/* A spec that runs: rows of 64 floats, 4 warps of which each has a row, 3 stages, 3 workers. */
hand_spec hand_spec_make(hand_formula formula, tmaring_dtype dtype, int64_t rows, int32_t cols);
/* Takes memory, fills it, and makes the arguments. */
void hand_make(hand_case *c, const hand_spec *spec);
void hand_free(hand_case *c);
/* Uploads, runs, downloads. The status of the run. */
tmaring_status hand_run(hand_case *c, tmaring__fault_note *fault);
/* Asserts that every result is the oracle's and no other byte has changed. */
void hand_verify(hand_case *c);
/* All of it, for one spec. */
void hand_pass(const hand_spec *spec);
const char *hand_text(const hand_spec *spec);

#endif

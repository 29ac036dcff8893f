/* Small rings with hand-made arguments, for playing them through every order: no data, addresses made up. */
#ifndef TMARING_TESTS_SMALL_RING_H
#define TMARING_TESTS_SMALL_RING_H

#include "../../src/host/check/ring_model.h"

typedef enum small_mode { SMALL_WS, SMALL_CTA_BARRIER, SMALL_MBARRIER, SMALL_MODE_COUNT } small_mode;

typedef struct small_spec {
  int mode, stages, distance;
  int warps, per_row; /* consumer warps; warps that share a row */
  int inputs;         /* copies per fill; 0: nothing is read */
  int staged;         /* 0 direct, 1 in place over input 0, 2 staged apart */
  int trips;          /* slots of each worker that hold tiles */
  int order, policy, release;
  int surplus;    /* slots past the last tile */
  int edges;      /* rows of 33 floats from a base of 4 modulo 16; 2: of 6 modulo 16, so that cp.async has ends */
  int reductions; /* passes that reduce */
  int pieces;     /* per row; 0: whole rows */
  int chunk;      /* column reductions over tiles of so many fills (pieces: rows); 0: none. The last tile lacks rows */
  int cluster;    /* CTAs that share a row, pipelined; all warps of each take part. 0: none do */
  int squads;     /* warp-specialized: 2, of warps / 2 each; 0: one */
  int turns;      /* tmaring_turns */
  int path[TMARING_MAX_STREAMS]; /* tmaring_load_path of each input. Tiled rows are boxes of their own that the tensor's
                                    edge clips (of pieces: two boxes); input 0 without tiled stores: one box per fill */
  int tiled_store;               /* 1: results that are staged go by tensor maps */
} small_spec;

/* Everything that a ring points at, in one place: not to be moved once made. */
typedef struct small_ring {
  tmaring_args args;
  tmaring__boxes boxes;
  tmaring__code code;
  tmaring__program program;
  tmaring__ring ring;
} small_ring;

/* Blocked order, exact policy, release by warps, the longest prefetch distance; rows of one warp each; nothing is read or
 * staged: what else a ring has is set afterwards. */
small_spec small_spec_blocked(int mode, int stages, int warps, int trips);
/* Fills in a ring for the worker that owns the last tiles; asserts that it can be prepared. */
void small_ring_make(small_ring *r, const small_spec *spec);
/* "ws S=4 P=3 staged=1 trips=9 ...", in a static buffer. */
const char *small_ring_text(const small_spec *spec);

#endif

/* Step 3 of planning: candidates, each one way to cut the matrix and to share out shared memory. */
#ifndef TMARING_HOST_CANDIDATE_H
#define TMARING_HOST_CANDIDATE_H

#include "../base/text.h"
#include "decision.h"

typedef struct tmaring__candidate {
  int32_t ctas_per_sm;
  int32_t workers;
  int32_t tile_rows; /* R: rows of a fill; in pieces 1, or more where each is a tile (strips) */
  int32_t pieces, spread, passes;
  int32_t piece_cols; /* columns that a fill holds of a row, at most: of a piece, of a cluster's slice, or all */
  int32_t cluster;    /* CTAs that share a row; 1: none do */
  int32_t chunk;      /* fills (in pieces that are no tiles: rows) of a tile: more than 1 for column reductions, and for
                         squads that share tiles */
  int32_t per_lane;   /* vectors per lane of a row at which another warp joins it */
  tmaring_scope scope;
  int32_t stages, distance;
  int32_t vectors_staged; /* 1: [N] inputs are copied to shared memory */
  int32_t columns_staged; /* 1: accumulators of column reductions are in shared memory */
  int32_t budget_bytes;   /* shared memory that one CTA may take */
  int64_t needs_bytes;    /* what it takes; where it does not fit, with the fewest stages allowed */
  int32_t fits;
} tmaring__candidate;

#define TMARING__MAX_CANDIDATES 96

typedef struct tmaring__candidates {
  tmaring__candidate item[TMARING__MAX_CANDIDATES];
  int32_t count;
} tmaring__candidates;

/* Lists what there is to choose from: those that fit and those that do not. */
void tmaring__candidates_list(tmaring__candidates *list, const tmaring__facts *facts, const tmaring__decision *decision,
                              const tmaring_machine *machine);

/* 1 where a fill is a piece of several rows. */
static inline int tmaring__candidate_strips(const tmaring__candidate *candidate)
{
  return candidate->pieces > 1 && candidate->tile_rows > 1;
}

/* Elements of a fill are counted in 31 bits, in whole rounds of threads. */
#define TMARING__MAX_FILL_ELEMENTS ((int64_t)1 << 30)

static inline int64_t tmaring__candidate_elements(const tmaring__candidate *candidate)
{
  return (int64_t)candidate->tile_rows * candidate->piece_cols;
}

/* Bytes of a row (or piece) of the widest streamed tensor that a fill of this candidate holds per row. */
int64_t tmaring__candidate_row_bytes(const tmaring__candidate *candidate, const tmaring__facts *facts);

/* "2 CTAs per SM, 4 stages x 16 rows, scope flat, 66176 bytes". */
void tmaring__candidate_print(tmaring__text *text, const tmaring__candidate *candidate);

#endif

/* Where things lie in shared memory. */
#ifndef TMARING_HOST_STAGE_MAP_H
#define TMARING_HOST_STAGE_MAP_H

#include "candidate.h"
#include "tile_cut.h"

/* Bytes of one stage: a slot per input, and one per output staged apart from the inputs. 64-bit: a cut that is far too
 * large comes out as such. *load_bytes, if not NULL, gets the inputs' part. */
int64_t tmaring__stage_bytes(const tmaring__candidate *candidate, const tmaring__facts *facts,
                             const tmaring__decision *decision, int64_t *load_bytes);

/* Bytes of the accumulators of column reductions that are kept in shared memory. */
int64_t tmaring__stage_column_bytes(const tmaring__candidate *candidate, const tmaring__facts *facts,
                                    const tmaring__decision *decision);

/* The layout with the candidate's stages and what it keeps beside them. */
void tmaring__stage_layout(tmaring_smem *smem, const tmaring__candidate *candidate, const tmaring__facts *facts,
                           const tmaring__decision *decision, int64_t stage_bytes);

/* Enters streams with their slots, vectors and layout in args, and the boxes of tiled streams. Addresses stay 0. */
void tmaring__stage_map(tmaring_args *args, tmaring__boxes *boxes, const tmaring__candidate *candidate,
                        const tmaring__facts *facts, const tmaring__decision *decision);

/* The boxes of tiled input or output `index`. 0: the candidate's columns have none. */
int tmaring__stage_tiles(tmaring__tile_cut *cut, const tmaring__candidate *candidate, const tmaring__facts *facts,
                         const tmaring__decision *decision, int output, int32_t index);

/* 1 where a fill is one run to the threads that compute, as the flat scope needs it: in memory what is stored, or copied
 * as it lies there; in the slot what comes and goes by tensor maps. Those store whole rows, so that one thread has to do
 * it. */
int tmaring__stage_is_run(const tmaring__candidate *candidate, const tmaring__facts *facts,
                          const tmaring__decision *decision);

/* The same of fills of several whole rows, as many as are asked for, before there are candidates. */
int tmaring__stage_joins_rows(const tmaring__facts *facts, const tmaring__decision *decision);

/* Copies that input `index` takes per fill, at most; 0 where the ring does not carry it. */
int32_t tmaring__stage_copies(const tmaring__candidate *candidate, const tmaring__facts *facts,
                              const tmaring__decision *decision, int32_t index);

#endif

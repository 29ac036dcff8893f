/* Column reductions: how the rows are cut into chunks, and where the accumulators are.
 *
 * Which rows are added up where, and in which order, follows from chunk, fill and scope. So these follow from N, the
 * types and M's class alone: the same launch gives the same bits on any number of SMs, in any order of tiles,
 * whatever M the plan was made for. */
#ifndef TMARING_HOST_COLUMN_H
#define TMARING_HOST_COLUMN_H

#include "candidate.h"

/* Vectors per thread of accumulators that stay in registers where a thread has `steps` vectors of a fill's row, the same
 * of every row: a power of two, so that few kernels serve many N; 0: they are in memory. */
int32_t tmaring__column_held_steps(const tmaring__program *program, int32_t vec, int32_t wide, int64_t steps);
/* The same for a candidate with its scope. */
int32_t tmaring__column_held(const tmaring__candidate *candidate, const tmaring__facts *facts);

/* Bytes of all accumulators of a CTA: [seats][column outputs][N rounded up to 8]. */
int64_t tmaring__column_smem_bytes(const tmaring__candidate *candidate, const tmaring__facts *facts,
                                   const tmaring__decision *decision);

/* Fills per tile (in pieces: rows per tile) for launches of about `rows` rows. */
int32_t tmaring__column_chunk(const tmaring__candidate *candidate, const tmaring__facts *facts,
                              const tmaring__decision *decision, int64_t rows);

/* Bytes of partial results of a launch whose walk is args->walk, from TMARING_PARTIALS_OFFSET; 0 without column
 * reductions. */
int64_t tmaring__column_partial_bytes(const tmaring_args *args, int32_t wide);

#endif

/* Part of step 2 of planning: how each input gets to the threads that use it, and whether results go by tensor maps. */
#ifndef TMARING_HOST_LOAD_PATH_H
#define TMARING_HOST_LOAD_PATH_H

#include "decision.h"

/* Fills decision->load. What is asked for and makes no sense is changed, with a note; a tensor map that the hardware
 * would not take is refused: ERROR_UNSUPPORTED with the tensor, what it has and what it needs. */
tmaring_status tmaring__load_decide(tmaring__decision *decision, const tmaring_plan_options *options,
                                    const tmaring__facts *facts, tmaring__notes *notes);

/* ERROR_UNSUPPORTED where some [M,N] output cannot be stored by tensor maps. */
tmaring_status tmaring__store_tiles_check(const tmaring__facts *facts);

/* 1 where the ring carries input `index`. */
static inline int tmaring__decision_rings(const tmaring__decision *decision, int32_t index)
{
  return decision->load[index] != TMARING_LOAD_DIRECT;
}

/* Inputs that the ring carries. */
static inline int32_t tmaring__decision_ring_inputs(const tmaring__decision *decision, const tmaring__facts *facts)
{
  int32_t count = 0;
  for (int32_t i = 0; i < facts->program->input_count; ++i) count += tmaring__decision_rings(decision, i);
  return count;
}

/* 1 where some stream goes by tensor maps. */
static inline int tmaring__decision_tiled(const tmaring__decision *decision, const tmaring__facts *facts)
{
  int tiled = decision->store == TMARING_STORE_TILE;
  for (int32_t i = 0; i < facts->program->input_count; ++i) tiled |= decision->load[i] == TMARING_LOAD_TILE;
  return tiled;
}

#endif

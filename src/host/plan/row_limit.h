/* How many rows a launch may have, and why no more. */
#ifndef TMARING_HOST_ROW_LIMIT_H
#define TMARING_HOST_ROW_LIMIT_H

#include "candidate.h"
#include "plan_state.h"

/* Most rows of launches with a candidate's cut and this order. Keeps addresses (2^62), tile indexes of spread pieces (31
 * bits), the ticket counter (32 bits) and the offsets of partial results (2^61 bytes) from overflow. */
int64_t tmaring__row_limit(const tmaring__candidate *candidate, const tmaring__facts *facts,
                           const tmaring__decision *decision, int32_t order);

/* The same for how tensors are copied: coordinates of tensor maps are 32-bit. */
int64_t tmaring__row_limit_of_paths(const tmaring_args *args);

/* ERROR_CAPACITY: `rows` are more than the plan's `limit`, by the name of what is 32-bit, or of the tensor. args: of the
 * variant that has the limit. */
tmaring_status tmaring__row_limit_refuse(const tmaring_plan *plan, const tmaring_args *args, int64_t rows,
                                         int64_t limit);

#endif

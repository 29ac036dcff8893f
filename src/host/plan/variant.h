/* Step 6 of planning: variants by M. All share the code; they differ in rows per fill, stages and order. */
#ifndef TMARING_HOST_VARIANT_H
#define TMARING_HOST_VARIANT_H

#include "choose.h"

/* Chooses and enters plan->variant, plan->code and plan->cost_us. Errors: CAPACITY. */
tmaring_status tmaring__variants_make(tmaring_plan *plan, const tmaring__candidates *list, const tmaring__facts *facts,
                                      const tmaring__decision *decision, tmaring__notes *notes);

/* The candidate whose code would be chosen, and its estimated time at the M that decides it. NULL: none fits. */
const tmaring__candidate *tmaring__variants_prefer(const tmaring__candidates *list, const tmaring__facts *facts,
                                                   const tmaring__decision *decision, const tmaring_machine *machine,
                                                   double *cost_ns);

/* Sets the rows of a variant's arguments and trims the grid to the work. Refuses a row count past the last variant's
 * limit: ERROR_CAPACITY. Never allocates. */
tmaring_status tmaring__variant_set_rows(const tmaring_plan *plan, tmaring_args *args, int64_t rows);

#endif

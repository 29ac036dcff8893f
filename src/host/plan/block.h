/* The shape of a CTA: consumers, slab, registers. Part of step 2. */
#ifndef TMARING_HOST_BLOCK_H
#define TMARING_HOST_BLOCK_H

#include "decision.h"

/* Decides decision->cta.consumers, slab, threads, max_threads, max_ctas and registers; mode and axis are set. Errors:
 * UNSUPPORTED where a warp would mix roles, CAPACITY for threads or registers, each with the numbers. */
tmaring_status tmaring__block_decide(tmaring__decision *decision, const tmaring_plan_options *options,
                                     const tmaring__facts *facts, const tmaring_machine *machine,
                                     tmaring__notes *notes);

#endif

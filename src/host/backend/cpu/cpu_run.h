/* Runs a launch on the host: every worker through the role loops and the ring model, with the data. */
#ifndef TMARING_HOST_CPU_RUN_H
#define TMARING_HOST_CPU_RUN_H

#include "../../check/schedule.h"

/* Addresses in args and boxes are host addresses; boxes may be NULL where no stream is tiled. `seed`: TMARING__LAZY, or random schedules. Workers run one after another, the
 * CTAs of a cluster together; with tickets workers take turns. ERROR_CHECK with the first fault (*fault, which may be
 * NULL, has its kind): outputs are then incomplete. ERROR_MEMORY, ERROR_UNSUPPORTED, ERROR_ARGUMENT for arguments no
 * ring can be made of. Any thread. */
tmaring_status tmaring__cpu_run(const tmaring_args *args, const tmaring__boxes *boxes, const tmaring__code *code,
                                const tmaring__program *program, uint64_t seed, tmaring__fault_note *fault);

#endif

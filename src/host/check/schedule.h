/* Schedulers that play a ring from its start to its end: lazy and random. (The exhaustive one is explore.h.)
 *
 * Lazy is deterministic and as unkind as the rules allow: the issuer runs until it blocks, then every warp as far as it
 * gets; loads complete only once somebody can do nothing but wait for them, the newest first; stores read their source
 * when wait_group.read makes them. Most faults show at once. Random picks a role, a number of primitives, or a copy to
 * complete. */
#ifndef TMARING_HOST_SCHEDULE_H
#define TMARING_HOST_SCHEDULE_H

#include "ring_model.h"

#define TMARING__LAZY 0ull

/* Plays a started team on for a while: YIELDED, or DONE when its CTAs have ended or a fault is up. `seed`:
 * TMARING__LAZY, or the state of the random numbers, which moves on. Several workers are interleaved by calling this in
 * turn. */
tmaring__outcome tmaring__schedule_turn(tmaring__team *team, uint64_t *seed);
/* Starts the ring, with its peers where it is one of a cluster, and plays it to its end. ERROR_CHECK when a fault came
 * up, with its text as the detail; *steps and *copies, which may be NULL, grow by what was played. */
tmaring_status tmaring__schedule_run(const tmaring__ring *ring, uint64_t seed, tmaring__fault_note *fault,
                                     int64_t *steps, int64_t *copies);
/* Next random number. */
uint64_t tmaring__random_next(uint64_t *seed);

#endif

/* The exhaustive scheduler: every order of the roles' steps and of the copies' completions, over one worker (a CTA, or
 * a cluster of them), tags only.
 *
 * States, not interleavings, are explored: depth first, with a set of the states seen, kept as 128-bit hashes. Reduced
 * exploration branches at visible primitives alone (waits, arrivals, barriers, claims) and at completions of copies.
 * What lies between is checked against the actor's knowledge, which no step of another actor changes, so that every
 * fault that some interleaving shows is shown by one of those explored; unreduced exploration branches at every
 * primitive and is there to confirm that. Tickets: before each claim another worker may have claimed none or one. */
#ifndef TMARING_HOST_EXPLORE_H
#define TMARING_HOST_EXPLORE_H

#include "ring_model.h"

typedef struct tmaring__explore_report {
  uint64_t states, transitions;
  uint32_t depth; /* longest path */
} tmaring__explore_report;

/* ERROR_CHECK with the first fault; ERROR_CAPACITY beyond `limit` states; ERROR_MEMORY. */
tmaring_status tmaring__explore(const tmaring__ring *ring, int reduced, uint64_t limit, tmaring__explore_report *report,
                                tmaring__fault_note *fault);

#endif

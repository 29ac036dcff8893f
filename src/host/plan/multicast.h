/* [N] inputs by multicast: CTAs with rows of their own form clusters that load them together. */
#ifndef TMARING_HOST_MULTICAST_H
#define TMARING_HOST_MULTICAST_H

#include "decision.h"

/* CTAs of a cluster; 1: each CTA loads its own. Where it cannot be had it is left out, with a note. The workers that are
 * asked for become whole clusters. */
void tmaring__multicast_decide(tmaring__decision *decision, const tmaring_plan_options *options,
                               const tmaring__facts *facts, const tmaring_machine *machine, tmaring__notes *notes);

/* `workers` in whole clusters, at least one of them. */
int64_t tmaring__multicast_workers(int64_t workers, int32_t ctas, int up);

#endif

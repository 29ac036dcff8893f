/* Rows that the CTAs of a cluster share: part of step 2, and whether to weigh that against streaming rows piece by
 * piece. */
#ifndef TMARING_HOST_CLUSTER_H
#define TMARING_HOST_CLUSTER_H

#include "candidate.h"

/* 1: the options ask for no cluster, or for one that makes no sense (with a note); else 2, 4, 8, or TMARING_AUTO: any
 * of them. */
int32_t tmaring__cluster_decide(const tmaring_plan_options *options, const tmaring__facts *facts,
                                const tmaring_machine *machine, tmaring__notes *notes);

/* Columns of a slice where so many CTAs share a row; 0: some CTA would be left without. */
int32_t tmaring__cluster_slice(const tmaring__facts *facts, int32_t ctas);

/* 1 where the planner may put clusters in the place of `best` (NULL: nothing fits), which cuts rows into pieces: the
 * options leave it everything that clusters need. Then *shared are the options that ask for them. */
int tmaring__cluster_open(const tmaring_plan_options *options, const tmaring__facts *facts,
                          const tmaring_machine *machine, const tmaring__candidate *best, tmaring_plan_options *shared);

#endif

/* Step 4 of planning: what a candidate would cost at some M. */
#ifndef TMARING_HOST_COST_H
#define TMARING_HOST_COST_H

#include "candidate.h"

/* Printable terms of the estimate. */
typedef struct tmaring__cost {
  double fills;     /* of the busiest worker */
  double memory_ns; /* the bytes at the rate that the bytes in flight sustain */
  double worker_ns; /* the busiest worker's fills, one after another */
  double ramp_ns;   /* start, first fill, end */
  double total_ns;  /* ramp, the longer of the two others, and a share of the shorter */
} tmaring__cost;

tmaring__cost tmaring__cost_estimate(const tmaring__candidate *candidate, const tmaring__facts *facts,
                                     const tmaring__decision *decision, const tmaring_machine *machine, int32_t order,
                                     int64_t rows);

#endif

/* The ways a CTA can be organised, by name, and setting them in plan options. */
#ifndef TMARING_TESTS_MODES_H
#define TMARING_TESTS_MODES_H

#include <stdlib.h>
#include <string.h>

#include "tmaring/plan.h"

typedef enum mode_choice {
  MODE_PIPELINED_CTA,
  MODE_PIPELINED_MBARRIER,
  MODE_SPECIALIZED_X,
  MODE_SPECIALIZED_Y,
  MODE_SPECIALIZED_Z,
  MODE_CHOICES
} mode_choice;

static inline void mode_choose(tmaring_plan_options *options, mode_choice choice)
{
  const int specialized = choice >= MODE_SPECIALIZED_X;
  options->mode = specialized ? TMARING_MODE_WARP_SPECIALIZED : TMARING_MODE_PIPELINED;
  if (specialized) options->role_axis = (int32_t)choice - MODE_SPECIALIZED_X;
  if (!specialized) options->war = choice == MODE_PIPELINED_CTA ? TMARING_WAR_CTA_BARRIER : TMARING_WAR_MBARRIER;
}

/* TMARING_TEST_RELEASE=warp|thread in the environment overrides options->release: racecheck takes the release by one
 * lane per warp for a race. */
static inline void mode_override_release(tmaring_plan_options *options)
{
  const char *release = getenv("TMARING_TEST_RELEASE");
  if (release && strcmp(release, "warp") == 0) options->release = TMARING_RELEASE_WARP;
  if (release && strcmp(release, "thread") == 0) options->release = TMARING_RELEASE_THREAD;
}

#endif

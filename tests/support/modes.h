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

/* TMARING_TEST_RELEASE=warp|thread in the environment overrides a release: racecheck takes the release by one lane per
 * warp for a race. */
static inline void mode_override(int32_t *release)
{
  const char *wanted = getenv("TMARING_TEST_RELEASE");
  if (wanted && strcmp(wanted, "warp") == 0) *release = TMARING_RELEASE_WARP;
  if (wanted && strcmp(wanted, "thread") == 0) *release = TMARING_RELEASE_THREAD;
}

static inline void mode_override_release(tmaring_plan_options *options)
{
  mode_override(&options->release);
}

/* Under racecheck (TMARING_TEST_RELEASE=thread) no input goes through the registers of the warp that feeds: the stores of
 * its lanes, for which one lane arrives after __syncwarp, are taken for a race too. */
static inline void mode_avoid_wide(tmaring_plan_options *options)
{
  const char *wanted = getenv("TMARING_TEST_RELEASE");
  if (!wanted || strcmp(wanted, "thread") != 0) return;
  if (options->load == TMARING_LOAD_ASYNC || options->load == TMARING_LOAD_ORDINARY) options->load = TMARING_LOAD_BULK;
  for (int i = 0; i < TMARING_MAX_STREAMS; ++i) {
    if (options->loads[i] == TMARING_LOAD_ASYNC || options->loads[i] == TMARING_LOAD_ORDINARY)
      options->loads[i] = TMARING_LOAD_BULK;
  }
}

#endif

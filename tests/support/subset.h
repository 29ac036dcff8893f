/* Fewer cases where time is short: TMARING_TEST_SUBSET=n takes every n-th. */
#ifndef TMARING_TESTS_SUBSET_H
#define TMARING_TESTS_SUBSET_H

#include <stdlib.h>

static inline int subset_step(void)
{
  const char *step = getenv("TMARING_TEST_SUBSET");
  return step && atoi(step) > 0 ? atoi(step) : 1;
}

#endif

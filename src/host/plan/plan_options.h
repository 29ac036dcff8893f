/* Ranges of tmaring_plan_options. */
#ifndef TMARING_HOST_PLAN_OPTIONS_H
#define TMARING_HOST_PLAN_OPTIONS_H

#include "tmaring/plan.h"

/* Refuses values that no plan could have, by field name. ERROR_ARGUMENT. */
tmaring_status tmaring__options_check(const tmaring_plan_options *options);

static inline int32_t tmaring__asked_or(int32_t asked, int32_t otherwise)
{
  return asked == TMARING_AUTO ? otherwise : asked;
}

#endif

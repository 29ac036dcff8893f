/* Ranges of tmaring_plan_options. */
#ifndef TMARING_HOST_PLAN_OPTIONS_H
#define TMARING_HOST_PLAN_OPTIONS_H

#include "tmaring/plan.h"

/* Refuses values that no plan could have, by field name. ERROR_ARGUMENT. */
tmaring_status tmaring__options_check(const tmaring_plan_options *options);

#endif

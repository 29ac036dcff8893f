/* A prepared plan, and what all launches check. */
#ifndef TMARING_HOST_KERNEL_H
#define TMARING_HOST_KERNEL_H

#include "../backend/backend.h"
#include "tmaring/launch.h"

struct tmaring_kernel {
  tmaring_plan *plan; /* retained */
  const tmaring__backend_calls *calls;
  void *state; /* the backend's */
};

/* ARGUMENT: other bits than those of TMARING_LAUNCH_*. */
tmaring_status tmaring__flags_check(uint32_t flags);
/* Enters the parts of the workspace that the plan uses. calls: "tmaring" or "tmaring_tile", whose calls a message names.
 * ARGUMENT, ALIGNMENT. */
tmaring_status tmaring__workspace_enter(void *workspace, const char *calls, tmaring_args *args);

#endif

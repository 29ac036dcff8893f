/* The way a plan goes, in a line. */
#ifndef TMARING_HOST_PATH_TEXT_H
#define TMARING_HOST_PATH_TEXT_H

#include <stddef.h>

#include "tmaring/plan.h"

/* "ws-x, 4 stages, scope warp, aligned loads, bulk stores in place" for a launch with `rows` rows. */
void tmaring__path_text(const tmaring_plan *plan, int64_t rows, char *out, size_t capacity);
/* "pipelined" or "ws-x". */
const char *tmaring__mode_text(const tmaring_cta *cta);

#endif

/* Errors that point into the text of a formula. */
#ifndef TMARING_HOST_PLACE_H
#define TMARING_HOST_PLACE_H

#include <stdint.h>

#include "../base/detail.h"

typedef struct tmaring__source {
  const char *text; /* zero-terminated, not owned */
  int32_t length;
} tmaring__source;

/* Line and column of a byte, both from 1. Bytes count as columns: what may stand before a place on its line is ASCII.
 */
void tmaring__place_find(const tmaring__source *source, int32_t offset, int32_t *line, int32_t *column);

/* Sets a detail of three lines (place and message, the line of the text, a caret below the place) and returns status.
 * Long lines are cut around the place. */
tmaring_status tmaring__place_fail(const tmaring__source *source, tmaring_status status, int32_t offset,
                                   const char *format, ...) TMARING__PRINTF(4, 5);

#endif

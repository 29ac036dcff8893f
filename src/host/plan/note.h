/* Notes: one sentence per normalisation, fallback and choice. */
#ifndef TMARING_HOST_NOTE_H
#define TMARING_HOST_NOTE_H

#include "../base/detail.h"
#include "plan_state.h"

/* Grows while a plan is made. A note that does not fit the table is dropped; out of memory is remembered in `failed`.
 */
typedef struct tmaring__notes {
  char *text[TMARING__MAX_NOTES]; /* owned */
  int32_t count;
  int32_t failed;
} tmaring__notes;

void tmaring__note_add(tmaring__notes *notes, const char *format, ...) TMARING__PRINTF(2, 3);
void tmaring__note_free(tmaring__notes *notes);

#endif

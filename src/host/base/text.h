/* A growing text. On out of memory it turns empty and stays so: check tmaring__text_failed once, at the end. */
#ifndef TMARING_HOST_TEXT_H
#define TMARING_HOST_TEXT_H

#include <stddef.h>

#include "detail.h"

typedef struct tmaring__text {
  char *data; /* zero-terminated, or NULL while empty */
  size_t length, capacity;
  int failed;
} tmaring__text;

void tmaring__text_add(tmaring__text *text, const char *format, ...) TMARING__PRINTF(2, 3);
/* Bytes as they are, no format. */
void tmaring__text_append(tmaring__text *text, const char *bytes, size_t count);
int tmaring__text_failed(const tmaring__text *text);
void tmaring__text_free(tmaring__text *text);

#endif

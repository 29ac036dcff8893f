#include "note.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tmaring__note_add(tmaring__notes *notes, const char *format, ...)
{
  char line[320];
  va_list arguments;
  if (notes->count == TMARING__MAX_NOTES) return;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  const size_t bytes = strlen(line) + 1;
  char *copy = malloc(bytes);
  if (!copy) {
    notes->failed = 1;
    return;
  }
  memcpy(copy, line, bytes);
  notes->text[notes->count++] = copy;
}

void tmaring__note_free(tmaring__notes *notes)
{
  for (int32_t i = 0; i < notes->count; ++i) free(notes->text[i]);
  notes->count = 0;
}

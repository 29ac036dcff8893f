#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int reserve(tmaring__text *text, size_t more)
{
  if (text->failed) return 0;
  if (text->length + more + 1 <= text->capacity) return 1;
  size_t capacity = text->capacity ? text->capacity : 256;
  while (capacity < text->length + more + 1) capacity *= 2;
  char *data = realloc(text->data, capacity);
  if (!data) {
    tmaring__text_free(text);
    text->failed = 1;
    return 0;
  }
  text->data = data;
  text->capacity = capacity;
  return 1;
}

void tmaring__text_append(tmaring__text *text, const char *bytes, size_t count)
{
  if (!reserve(text, count)) return;
  memcpy(text->data + text->length, bytes, count);
  text->length += count;
  text->data[text->length] = 0;
}

void tmaring__text_add(tmaring__text *text, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int count = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (count < 0 || !reserve(text, (size_t)count)) return;
  va_start(arguments, format);
  vsnprintf(text->data + text->length, (size_t)count + 1, format, arguments);
  va_end(arguments);
  text->length += (size_t)count;
}

int tmaring__text_failed(const tmaring__text *text)
{
  return text->failed;
}

void tmaring__text_free(tmaring__text *text)
{
  free(text->data);
  text->data = NULL;
  text->length = text->capacity = 0;
}

#include "place.h"

#include <stdarg.h>
#include <stdio.h>

#include "../base/text.h"

/* The detail holds 1023 bytes: message, line and caret line have to fit together. */
enum { MESSAGE_BYTES = 600, SHOWN_BYTES = 120, SHOWN_BEFORE = 70 };

/* The part of a line that is shown. */
typedef struct window {
  int32_t begin, end;            /* bytes of the text */
  int32_t cut_before, cut_after; /* 1: the line goes on there */
} window;

void tmaring__place_find(const tmaring__source *source, int32_t offset, int32_t *line, int32_t *column)
{
  *line = *column = 1;
  for (int32_t i = 0; i < offset; ++i) {
    if (source->text[i] == '\n') {
      ++*line;
      *column = 1;
    } else {
      ++*column;
    }
  }
}

static window shown(const tmaring__source *source, int32_t offset)
{
  window w = {offset, offset, 0, 0};
  while (w.begin > 0 && source->text[w.begin - 1] != '\n') --w.begin;
  while (w.end < source->length && source->text[w.end] != '\n') ++w.end;
  if (w.end > w.begin && source->text[w.end - 1] == '\r' && w.end > offset) --w.end;
  if (w.end - w.begin <= SHOWN_BYTES) return w;
  if (offset - w.begin > SHOWN_BEFORE) {
    w.begin = offset - SHOWN_BEFORE;
    w.cut_before = 1;
  }
  if (w.end - w.begin > SHOWN_BYTES) {
    w.end = w.begin + SHOWN_BYTES;
    w.cut_after = 1;
    /* never half a UTF-8 character; the text before the place is ASCII */
    while (w.end > offset && ((unsigned char)source->text[w.end] & 0xc0u) == 0x80u) --w.end;
  }
  return w;
}

static void add_line(tmaring__text *detail, const tmaring__source *source, const window *w)
{
  tmaring__text_add(detail, "\n  %s", w->cut_before ? "..." : "");
  for (int32_t i = w->begin; i < w->end; ++i) {
    const unsigned char c = (unsigned char)source->text[i];
    const char shown_as = (c < 0x20 && c != '\t') || c == 0x7f ? '?' : (char)c;
    tmaring__text_append(detail, &shown_as, 1);
  }
  tmaring__text_add(detail, "%s", w->cut_after ? "..." : "");
}

/* Tabs are repeated, so that the caret stays below its place however wide they are. */
static void add_caret(tmaring__text *detail, const tmaring__source *source, const window *w, int32_t offset)
{
  tmaring__text_add(detail, "\n  %s", w->cut_before ? "   " : "");
  for (int32_t i = w->begin; i < offset; ++i) tmaring__text_append(detail, source->text[i] == '\t' ? "\t" : " ", 1);
  tmaring__text_append(detail, "^", 1);
}

tmaring_status tmaring__place_fail(const tmaring__source *source, tmaring_status status, int32_t offset,
                                   const char *format, ...)
{
  char message[MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  int32_t line, column;
  tmaring__place_find(source, offset, &line, &column);
  const window w = shown(source, offset);
  tmaring__text detail = {NULL, 0, 0, 0};
  tmaring__text_add(&detail, "formula: line %d, column %d: %s", (int)line, (int)column, message);
  add_line(&detail, source, &w);
  add_caret(&detail, source, &w, offset);
  tmaring__fail(status, "%s", tmaring__text_failed(&detail) ? message : detail.data);
  tmaring__text_free(&detail);
  return status;
}

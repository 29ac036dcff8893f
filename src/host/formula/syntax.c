#include "syntax.h"

#include <string.h>

const char *tmaring__syntax_text(tmaring__syntax kind)
{
  static const char *const text[TMARING__SYNTAX_COUNT] = {
#define SYNTAX_TEXT(name, text) text,
      TMARING__SYNTAX_LIST(SYNTAX_TEXT)
#undef SYNTAX_TEXT
  };
  return text[kind];
}

int tmaring__syntax_reduces(tmaring__syntax kind)
{
  return kind >= TMARING__SYNTAX_ROW_SUM;
}

int tmaring__word_is(const tmaring__word *word, const char *name)
{
  return strlen(name) == (size_t)word->length && memcmp(word->start, name, (size_t)word->length) == 0;
}

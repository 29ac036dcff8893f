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

int tmaring__syntax_reduces_row(tmaring__syntax kind)
{
  return kind >= TMARING__SYNTAX_ROW_SUM && kind <= TMARING__SYNTAX_ROW_LOGSUMEXP;
}

int tmaring__syntax_reduces_group(tmaring__syntax kind)
{
  return kind >= TMARING__SYNTAX_GROUP_SUM && kind <= TMARING__SYNTAX_GROUP_AMAX;
}

int tmaring__syntax_reduces_column(tmaring__syntax kind)
{
  return kind >= TMARING__SYNTAX_COLUMN_SUM && kind <= TMARING__SYNTAX_COLUMN_MAX;
}

int tmaring__syntax_reads_double(tmaring__syntax kind)
{
  return kind >= TMARING__SYNTAX_FIRST && kind <= TMARING__SYNTAX_ODD;
}

int tmaring__word_is(const tmaring__word *word, const char *name)
{
  return strlen(name) == (size_t)word->length && memcmp(word->start, name, (size_t)word->length) == 0;
}

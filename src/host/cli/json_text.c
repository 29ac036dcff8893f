#include "json_text.h"

#include <stdio.h>

#include "message.h"

int tmaring__json_print(json_t *json)
{
  if (!json)
    return tmaring__complain(
        tmaring__fail(TMARING_ERROR_MEMORY,
                      "got no memory or a text that is no UTF-8, needs both; print it without --json"),
        "json");
  const int failed = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
  json_decref(json);
  if (failed || putchar('\n') == EOF)
    return tmaring__complain(tmaring__fail(TMARING_ERROR_IO, "got a failing write, needs an open standard output"),
                             "json");
  return 0;
}

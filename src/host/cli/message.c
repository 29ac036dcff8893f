#include "message.h"

#include <stdarg.h>
#include <stdio.h>

int tmaring__exit_code(tmaring_status status)
{
  switch (status) {
  case TMARING_OK: return TMARING__EXIT_OK;
  case TMARING_ERROR_IO:
  case TMARING_ERROR_FORMAT: return TMARING__EXIT_FILE;
  case TMARING_ERROR_NO_DRIVER:
  case TMARING_ERROR_DEVICE:
  case TMARING_ERROR_DRIVER:
  case TMARING_ERROR_NO_COMPILER:
  case TMARING_ERROR_COMPILE:
  case TMARING_ERROR_NOT_PREPARED: return TMARING__EXIT_BACKEND;
  case TMARING_ERROR_CHECK:
  case TMARING_ERROR_FAULT: return TMARING__EXIT_FAILED;
  case TMARING_ERROR_MEMORY:
  case TMARING_ERROR_INTERNAL: return TMARING__EXIT_INTERNAL;
  default: return TMARING__EXIT_REFUSED;
  }
}

int tmaring__complain(tmaring_status status, const char *what)
{
  const char *detail = tmaring_last_detail();
  if (!detail[0]) detail = tmaring_status_text(status);
  if (what)
    fprintf(stderr, "tmaring: %s: %s\n", what, detail);
  else
    fprintf(stderr, "tmaring: %s\n", detail);
  return tmaring__exit_code(status);
}

int tmaring__misuse(const char *command, const char *format, ...)
{
  va_list arguments;
  fputs("tmaring: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, "\nTry 'tmaring%s%s --help'.\n", command ? " " : "", command ? command : "");
  return TMARING__EXIT_USAGE;
}

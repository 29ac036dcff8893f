#include "detail.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_detail[1024];

const char *tmaring_status_name(tmaring_status status)
{
  switch (status) {
#define STATUS_NAME(name, value, text)                                                                                 \
  case TMARING_##name: return #name;
    TMARING_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
  default: return "UNKNOWN";
  }
}

const char *tmaring_status_text(tmaring_status status)
{
  switch (status) {
#define STATUS_TEXT(name, value, text)                                                                                 \
  case TMARING_##name: return text;
    TMARING_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
  default: return "a status this library does not know";
  }
}

const char *tmaring_last_detail(void)
{
  return last_detail;
}

tmaring_status tmaring__fail(tmaring_status status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_detail, sizeof last_detail, format, arguments);
  va_end(arguments);
  return status;
}

int tmaring_version(void)
{
  return TMARING_VERSION_MAJOR * 10000 + TMARING_VERSION_MINOR * 100 + TMARING_VERSION_PATCH;
}

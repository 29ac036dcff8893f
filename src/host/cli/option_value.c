/* Readers of plain option values. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"

static int32_t *field_of(tmaring__request *request, const tmaring__option *option)
{
  return (int32_t *)((char *)request + option->field);
}

int tmaring__integer(const char *begin, const char *end, int64_t low, int64_t high, int64_t *value)
{
  char digits[24];
  char *stop;
  const size_t length = (size_t)(end - begin);
  if (length == 0 || length >= sizeof digits || isspace((unsigned char)begin[0]) || begin[0] == '+') return 0;
  memcpy(digits, begin, length);
  digits[length] = 0;
  errno = 0;
  const long long v = strtoll(digits, &stop, 10);
  if (errno != 0 || stop != digits + length || v < low || v > high) return 0;
  *value = v;
  return 1;
}

int tmaring__read_flag(tmaring__request *request, const tmaring__option *option, const char *text)
{
  (void)text;
  *field_of(request, option) = 1;
  return 0;
}

int tmaring__read_word(tmaring__request *request, const tmaring__option *option, const char *text)
{
  char list[160];
  if (tmaring__word_find(option->words, text, strlen(text), field_of(request, option))) return 0;
  tmaring__word_list(option->words, list, sizeof list);
  return tmaring__misuse(request->command, "--%s: got '%s', needs %s", option->name, text, list);
}

int tmaring__read_number(tmaring__request *request, const tmaring__option *option, const char *text)
{
  int64_t value;
  if (!tmaring__integer(text, text + strlen(text), option->low, option->high, &value))
    return tmaring__misuse(request->command, "--%s: got '%s', needs an integer from %lld to %lld", option->name, text,
                           (long long)option->low, (long long)option->high);
  *field_of(request, option) = (int32_t)value;
  return 0;
}

int tmaring__read_real(tmaring__request *request, const tmaring__option *option, const char *text)
{
  char *stop;
  const double value = strtod(text, &stop);
  if (stop == text || *stop || !(value >= 0) || isinf(value))
    return tmaring__misuse(request->command, "--%s: got '%s', needs a number >= 0", option->name, text);
  *(double *)((char *)request + option->field) = value;
  return 0;
}

int tmaring__read_mode(tmaring__request *request, const tmaring__option *option, const char *text)
{
  if (strcmp(text, "pipelined") == 0) {
    request->plan.mode = TMARING_MODE_PIPELINED;
    return 0;
  }
  if (strncmp(text, "ws-", 3) != 0 ||
      !tmaring__word_find(tmaring__words_axis, text + 3, strlen(text + 3), &request->plan.role_axis))
    return tmaring__misuse(request->command, "--%s: got '%s', needs pipelined, ws-x, ws-y or ws-z", option->name, text);
  request->plan.mode = TMARING_MODE_WARP_SPECIALIZED;
  return 0;
}

/* Up to `count` integers apart by commas; returns how many there were, 0 when the text is something else. */
static int integers(const char *text, int count, int64_t low, int64_t high, int64_t *value)
{
  for (int i = 0; i < count; ++i) {
    const char *const comma = strchr(text, ',');
    const char *const end = comma ? comma : text + strlen(text);
    if (!tmaring__integer(text, end, low, high, &value[i])) return 0;
    if (!comma) return i + 1;
    text = comma + 1;
  }
  return 0;
}

int tmaring__read_shape(tmaring__request *request, const tmaring__option *option, const char *text)
{
  int64_t v[2];
  if (integers(text, 2, 0, INT64_MAX, v) != 2 || v[1] < 1 || v[1] > INT32_MAX)
    return tmaring__misuse(request->command, "--%s: got '%s', needs M,N with M >= 0 and 1 <= N < 2^31 (8191,256)",
                           option->name, text);
  request->has_shape = 1;
  request->rows = v[0];
  request->cols = v[1];
  return 0;
}

int tmaring__read_consumers(tmaring__request *request, const tmaring__option *option, const char *text)
{
  int64_t v[3] = {1, 1, 1};
  if (integers(text, 3, 1, 1024, v) == 0)
    return tmaring__misuse(request->command, "--%s: got '%s', needs X, X,Y or X,Y,Z, each from 1 to 1024 (32,4,2)",
                           option->name, text);
  for (int i = 0; i < 3; ++i) request->plan.consumers[i] = (int32_t)v[i];
  return 0;
}

int tmaring__read_registers(tmaring__request *request, const tmaring__option *option, const char *text)
{
  int64_t v[2];
  if (integers(text, 2, 0, 255, v) != 2)
    return tmaring__misuse(request->command,
                           "--%s: got '%s', needs P,C: registers of the producer and of the consumers "
                           "(40,232), or 0,0 for none",
                           option->name, text);
  for (int i = 0; i < 2; ++i) request->plan.registers[i] = (int32_t)v[i];
  return 0;
}

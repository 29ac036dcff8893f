/* Readers of NAME=... option values. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"

/* Splits NAME=REST: copies the name, returns REST, or NULL where there is no name or it is too long. */
static const char *split_name(const char *text, char name[TMARING__MAX_NAME])
{
  const char *const equals = strchr(text, '=');
  if (!equals || equals == text || equals - text >= TMARING__MAX_NAME) return NULL;
  memcpy(name, text, (size_t)(equals - text));
  name[equals - text] = 0;
  return equals + 1;
}

static int is_named(const tmaring__binding *list, int32_t count, const char *name)
{
  for (int32_t i = 0; i < count; ++i)
    if (strcmp(list[i].name, name) == 0) return 1;
  return 0;
}

/* Starts the next entry of a list; a name may stand once in it. */
static int begin_entry(tmaring__request *request, const tmaring__option *option, const char *text,
                       tmaring__binding *list, int32_t count, const char **rest)
{
  if (count >= TMARING__MAX_TENSORS)
    return tmaring__misuse(request->command, "--%s: got more than %d, needs one per tensor of the formula",
                           option->name, TMARING__MAX_TENSORS);
  tmaring__binding *const entry = &list[count];
  entry->type = -1;
  *rest = split_name(text, entry->name);
  if (!*rest || !**rest)
    return tmaring__misuse(request->command, "--%s: got '%s', needs %s", option->name, text, option->value);
  if (is_named(list, count, entry->name))
    return tmaring__misuse(request->command, "--%s: got '%s' twice, needs each name once", option->name, entry->name);
  return 0;
}

#define SAFETENSORS ".safetensors"

static int set_path(tmaring__request *request, tmaring__binding *entry, const char *text, size_t length,
                    const char *tensor)
{
  entry->path = strndup(text, length);
  if (tensor) entry->tensor = strdup(tensor);
  if (entry->path && (entry->tensor || !tensor)) return 0;
  return tmaring__complain(tmaring__fail(TMARING_ERROR_MEMORY, "out of memory"), request->command);
}

/* FILE.safetensors:TENSOR, where the name begins after the first colon that follows the ending and runs to the end,
 * its own colons included. FILE[:TYPE], where only a known type after the last colon is one, for file names have
 * colons too. */
static int set_file(tmaring__request *request, tmaring__binding *entry, const char *text)
{
  const size_t length = strlen(text), ending = sizeof SAFETENSORS - 1;
  const char *const named = strstr(text, SAFETENSORS ":");
  const char *const colon = strrchr(text, ':');
  entry->is_safetensors = named || (length >= ending && strcmp(text + length - ending, SAFETENSORS) == 0);
  if (named && named[ending + 1])
    return set_path(request, entry, text, (size_t)(named - text) + ending, named + ending + 1);
  if (named) return set_path(request, entry, text, (size_t)(named - text) + ending, NULL);
  if (!entry->is_safetensors && colon && colon != text &&
      tmaring__word_find(tmaring__words_type, colon + 1, strlen(colon + 1), &entry->type))
    return set_path(request, entry, text, (size_t)(colon - text), NULL);
  return set_path(request, entry, text, length, NULL);
}

static int read_file(tmaring__request *request, const tmaring__option *option, const char *text, tmaring__binding *list,
                     int32_t *count)
{
  const char *rest;
  const int code = begin_entry(request, option, text, list, *count, &rest);
  if (code) return code;
  return set_file(request, &list[(*count)++], rest);
}

int tmaring__read_in(tmaring__request *request, const tmaring__option *option, const char *text)
{
  return read_file(request, option, text, request->in, &request->in_count);
}

int tmaring__read_out(tmaring__request *request, const tmaring__option *option, const char *text)
{
  const int code = read_file(request, option, text, request->out, &request->out_count);
  if (code || !request->out[request->out_count - 1].is_safetensors) return code;
  return tmaring__misuse(request->command, "--%s: got '%s', needs a .npy file: .safetensors files are read only",
                         option->name, text);
}

/* Number after "KEY=": 1 where the attribute has this key and a fitting number. */
static int take_number(const char *key, const char *begin, const char *end, int64_t high, int64_t *value)
{
  const size_t length = strlen(key);
  if ((size_t)(end - begin) <= length || memcmp(begin, key, length) != 0) return 0;
  return tmaring__integer(begin + length, end, 1, high, value);
}

/* One of the attributes of a tensor. */
static int set_attribute(tmaring__binding *entry, const char *begin, const char *end)
{
  static const char one[] = "pitch=one";
  const size_t length = (size_t)(end - begin);
  int64_t value;
  if (length == sizeof one - 1 && memcmp(begin, one, length) == 0) {
    entry->pitch = TMARING_ONE_VALUE;
    return 1;
  }
  if (take_number("pitch=", begin, end, INT64_MAX, &entry->pitch)) return 1;
  if (take_number("step=", begin, end, INT64_MAX, &entry->step)) return 1;
  if (take_number("group-rows=", begin, end, INT64_MAX, &entry->group_rows)) return 1;
  if (take_number("group-pitch=", begin, end, INT64_MAX, &entry->group_pitch)) return 1;
  if (take_number("align=", begin, end, 1 << 20, &value)) {
    entry->alignment = (uint32_t)value;
    return 1;
  }
  return tmaring__word_find(tmaring__words_type, begin, length, &entry->type);
}

static int refuse_attribute(const tmaring__request *request, const tmaring__option *option, const char *name,
                            const char *begin, const char *end)
{
  char types[96];
  tmaring__word_list(tmaring__words_type, types, sizeof types);
  return tmaring__misuse(request->command,
                         "--%s %s: got '%.*s', needs a type (%s), pitch=ELEMENTS, pitch=one, step=ELEMENTS, "
                         "group-rows=ROWS, group-pitch=ELEMENTS or align=BYTES",
                         option->name, name, (int)(end - begin), begin, types);
}

int tmaring__read_tensor(tmaring__request *request, const tmaring__option *option, const char *text)
{
  const char *rest;
  const int code = begin_entry(request, option, text, request->tensor, request->tensor_count, &rest);
  if (code) return code;
  tmaring__binding *const entry = &request->tensor[request->tensor_count++];
  for (int more = 1; more;) {
    const char *const comma = strchr(rest, ',');
    const char *const end = comma ? comma : rest + strlen(rest);
    if (!set_attribute(entry, rest, end)) return refuse_attribute(request, option, entry->name, rest, end);
    more = comma != NULL;
    rest = end + more;
  }
  return 0;
}

static int refuse_path(const tmaring__request *request, const tmaring__option *option, const char *text)
{
  char paths[64];
  tmaring__word_list(tmaring__words_load, paths, sizeof paths);
  return tmaring__misuse(request->command, "--%s: got '%s', needs %s, or one of them for an input: x=tile",
                         option->name, text, paths);
}

int tmaring__read_load(tmaring__request *request, const tmaring__option *option, const char *text)
{
  char name[TMARING__MAX_NAME];
  int32_t path;
  const char *const rest = split_name(text, name);
  const char *const word = rest ? rest : text;
  if (!tmaring__word_find(tmaring__words_load, word, strlen(word), &path)) return refuse_path(request, option, text);
  if (!rest) {
    request->plan.load = path;
    return 0;
  }
  for (int32_t i = 0; i < request->load_count; ++i)
    if (strcmp(request->load[i].name, name) == 0)
      return tmaring__misuse(request->command, "--%s: got '%s' twice, needs each name once", option->name, name);
  if (request->load_count >= TMARING__MAX_TENSORS)
    return tmaring__misuse(request->command, "--%s: got more than %d, needs one per input", option->name,
                           TMARING__MAX_TENSORS);
  tmaring__named_path *const entry = &request->load[request->load_count++];
  memcpy(entry->name, name, sizeof entry->name);
  entry->path = path;
  return 0;
}

int tmaring__read_scalar(tmaring__request *request, const tmaring__option *option, const char *text)
{
  char *stop;
  if (request->scalar_count >= TMARING_MAX_SCALARS)
    return tmaring__misuse(request->command, "--%s: got more than %d, needs one per scalar of the formula",
                           option->name, TMARING_MAX_SCALARS);
  tmaring__named_value *const entry = &request->scalar[request->scalar_count++];
  const char *const rest = split_name(text, entry->name);
  if (!rest) return tmaring__misuse(request->command, "--%s: got '%s', needs %s", option->name, text, option->value);
  for (int32_t i = 0; i + 1 < request->scalar_count; ++i)
    if (strcmp(request->scalar[i].name, entry->name) == 0)
      return tmaring__misuse(request->command, "--%s: got '%s' twice, needs each name once", option->name, entry->name);
  errno = 0;
  entry->value = strtod(rest, &stop);
  if (stop == rest || *stop)
    return tmaring__misuse(request->command, "--%s %s: got '%s', needs a number", option->name, entry->name, rest);
  if (errno == ERANGE && (entry->value == 0 || isinf(entry->value)))
    return tmaring__misuse(request->command, "--%s %s: got '%s', needs a number that a double can hold", option->name,
                           entry->name, rest);
  return 0;
}

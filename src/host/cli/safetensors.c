#include "safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "near_names.h"

#define METADATA "__metadata__"

static tmaring_status truncated(const char *part, uint64_t got, uint64_t needed)
{
  return tmaring__fail(TMARING_ERROR_FORMAT,
                       "%s: got %" PRIu64 " bytes, needs %" PRIu64 "; the file is truncated, fetch it again", part, got,
                       needed);
}

static tmaring_status check_header_bytes(size_t left, uint64_t length)
{
  if (length > TMARING__SAFETENSORS_MAX_HEADER_BYTES)
    return tmaring__fail(TMARING_ERROR_FORMAT,
                         "header length: got %" PRIu64 " bytes, needs at most %d; the file is no .safetensors file, or "
                         "damaged",
                         length, TMARING__SAFETENSORS_MAX_HEADER_BYTES);
  return left < length ? truncated("safetensors header", left, length) : TMARING_OK;
}

/* The header's object; *data_begin is where the data start. */
static tmaring_status load_header(const unsigned char *file, size_t bytes, json_t **header, size_t *data_begin)
{
  uint64_t length = 0;
  json_error_t error;
  if (bytes < 8) return truncated("safetensors header length", bytes, 8);
  for (int i = 0; i < 8; ++i) length |= (uint64_t)file[i] << 8 * i;
  TMARING__TRY(check_header_bytes(bytes - 8, length));
  *header = json_loadb((const char *)file + 8, (size_t)length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
  *data_begin = 8 + (size_t)length;
  if (json_is_object(*header)) return TMARING_OK;
  if (*header)
    return tmaring__fail(TMARING_ERROR_FORMAT, "safetensors header: got JSON that is no object, needs one; the file is "
                                               "no .safetensors file, or damaged");
  return tmaring__fail(
      TMARING_ERROR_FORMAT,
      "safetensors header: got no JSON (byte %d: %s), needs an object with each name once; the file is "
      "no .safetensors file, or damaged",
      error.position, error.text);
}

static tmaring_status bad_entry(const char *name, const char *got, const char *needs)
{
  return tmaring__fail(TMARING_ERROR_FORMAT, "%.200s: got %s, needs %s; the file is damaged, fetch it again", name, got,
                       needs);
}

static tmaring_status take_dtype(tmaring__array *array, const char *name, const json_t *entry)
{
  static const struct {
    const char *name;
    tmaring_dtype type;
  } known[] = {{"F64", TMARING_F64},   {"F32", TMARING_F32},      {"F16", TMARING_F16},
               {"BF16", TMARING_BF16}, {"F8_E4M3", TMARING_E4M3}, {"F8_E5M2", TMARING_E5M2},
               {"I8", TMARING_I8},     {"I32", TMARING_I32},      {"I64", TMARING_I64}};
  const json_t *const dtype = json_object_get(entry, "dtype");
  if (!json_is_string(dtype)) return bad_entry(name, "no dtype", "a string");
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    array->dtype = known[i].type;
    if (strcmp(json_string_value(dtype), known[i].name) == 0 && json_string_length(dtype) == strlen(known[i].name))
      return TMARING_OK;
  }
  return tmaring__fail(TMARING_ERROR_FORMAT,
                       "%.200s: dtype: got %.32s, needs F64, F32, F16, BF16, F8_E4M3, F8_E5M2, I8, I32 or I64; convert "
                       "the tensor",
                       name, json_string_value(dtype));
}

/* A non-negative integer. */
static int take_size(const json_t *value, int64_t *out)
{
  if (!json_is_integer(value) || json_integer_value(value) < 0) return 0;
  *out = (int64_t)json_integer_value(value);
  return 1;
}

static tmaring_status take_shape(tmaring__array *array, const char *name, const json_t *entry)
{
  const json_t *const shape = json_object_get(entry, "shape");
  const size_t dims = json_array_size(shape);
  if (!json_is_array(shape)) return bad_entry(name, "no shape", "an array of integers");
  if (dims > TMARING__ARRAY_MAX_DIMS)
    return tmaring__fail(TMARING_ERROR_FORMAT,
                         "%.200s: shape: got %zu dimensions, needs at most %d; reshape the tensor", name, dims,
                         TMARING__ARRAY_MAX_DIMS);
  for (size_t i = 0; i < dims; ++i)
    if (!take_size(json_array_get(shape, i), &array->shape[i]))
      return bad_entry(name, "a shape with something else", "integers in [0, 2^63)");
  array->dims = (int32_t)dims;
  if (!tmaring__array_measure(array, &array->bytes)) return bad_entry(name, "a shape of 2^63 bytes or more", "fewer");
  return TMARING_OK;
}

static tmaring_status take_offsets(tmaring__array *array, const char *name, const json_t *entry,
                                   const unsigned char *data, size_t data_bytes)
{
  const json_t *const offsets = json_object_get(entry, "data_offsets");
  int64_t begin, end;
  if (json_array_size(offsets) != 2 || !take_size(json_array_get(offsets, 0), &begin) ||
      !take_size(json_array_get(offsets, 1), &end))
    return bad_entry(name, "other data_offsets", "[begin, end] in [0, 2^63)");
  if (begin > end) return bad_entry(name, "data_offsets with their end before their begin", "[begin, end]");
  if ((uint64_t)end > data_bytes)
    return tmaring__fail(TMARING_ERROR_FORMAT,
                         "%.200s: data_offsets: got an end at %" PRId64
                         ", needs at most the %zu bytes of data; the file "
                         "is truncated, fetch it again",
                         name, end, data_bytes);
  if ((uint64_t)(end - begin) != array->bytes)
    return tmaring__fail(TMARING_ERROR_FORMAT,
                         "%.200s: data_offsets: got %" PRId64
                         " bytes, needs the %zu of its shape and type; the file is "
                         "damaged, fetch it again",
                         name, end - begin, array->bytes);
  array->data = (void *)(data + begin);
  return TMARING_OK;
}

static tmaring_status missing(const json_t *header, const char *name)
{
  tmaring__near_names near;
  const char *known;
  char names[512];
  json_t *value;
  tmaring__near_begin(&near, name);
  json_object_foreach((json_t *)header, known, value)
  {
    if (strcmp(known, METADATA) != 0) tmaring__near_add(&near, known);
  }
  tmaring__near_list(&near, names, sizeof names);
  return tmaring__fail(TMARING_ERROR_FORMAT, "tensor: got %s%.200s%s, needs one of the %zu in the file%s%s",
                       name ? "'" : "", name ? name : "no name", name ? "'" : "", near.known,
                       near.count ? "; near it: " : "", names);
}

static tmaring_status take_entry(tmaring__array *array, const json_t *header, const char *name,
                                 const unsigned char *data, size_t data_bytes)
{
  const json_t *const entry = name && strcmp(name, METADATA) != 0 ? json_object_get(header, name) : NULL;
  if (!entry) return missing(header, name);
  if (!json_is_object(entry)) return bad_entry(name, "something else than an object", "dtype, shape and data_offsets");
  TMARING__TRY(take_dtype(array, name, entry));
  TMARING__TRY(take_shape(array, name, entry));
  return take_offsets(array, name, entry, data, data_bytes);
}

tmaring_status tmaring__safetensors_parse(tmaring__array *array, const void *file, size_t bytes, const char *name)
{
  json_t *header = NULL;
  size_t begin = 0;
  memset(array, 0, sizeof *array);
  tmaring_status status = load_header(file, bytes, &header, &begin);
  if (status == TMARING_OK)
    status = take_entry(array, header, name, (const unsigned char *)file + begin, bytes - begin);
  json_decref(header);
  return status;
}

tmaring_status tmaring__safetensors_open(tmaring__array *array, const char *path, const char *name)
{
  tmaring__file_view view;
  memset(array, 0, sizeof *array);
  TMARING__TRY(tmaring__file_view_open(&view, path, "", 0));
  const tmaring_status status = tmaring__safetensors_parse(array, view.data, view.bytes, name);
  if (status != TMARING_OK) {
    tmaring__file_view_close(&view);
    return tmaring__at_path(status, path);
  }
  array->file = view;
  return TMARING_OK;
}

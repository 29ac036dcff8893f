/* Writing .npy files. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "npy.h"

#define MAGIC     "\x93NUMPY"
#define ALIGNMENT 64

void tmaring__npy_frame(tmaring__text *out, const char *dictionary, size_t length)
{
  size_t preamble = sizeof MAGIC - 1 + 4;
  size_t total = (size_t)tmaring_round_up(preamble + length + 1, ALIGNMENT);
  const int version = total - preamble > 65535 ? 2 : 1;
  if (version == 2) preamble += 2, total = (size_t)tmaring_round_up(preamble + length + 1, ALIGNMENT);
  const size_t header = total - preamble;
  const char rest[6] = {(char)version,
                        0,
                        (char)(header & 255),
                        (char)(header >> 8 & 255),
                        (char)(header >> 16 & 255),
                        (char)(header >> 24 & 255)};
  tmaring__text_append(out, MAGIC, sizeof MAGIC - 1);
  tmaring__text_append(out, rest, preamble - (sizeof MAGIC - 1));
  tmaring__text_append(out, dictionary, length);
  for (size_t i = preamble + length; i + 1 < total; ++i) tmaring__text_append(out, " ", 1);
  tmaring__text_append(out, "\n", 1);
}

static const char *descr_of(tmaring_dtype dtype)
{
  switch (dtype) {
  case TMARING_F64: return "<f8";
  case TMARING_F16: return "<f2";
  case TMARING_BF16: return "<u2";
  case TMARING_E4M3:
  case TMARING_E5M2: return "|u1";
  case TMARING_I8: return "|i1";
  case TMARING_I32: return "<i4";
  case TMARING_I64: return "<i8";
  default: return "<f4";
  }
}

static void add_dictionary(tmaring__text *out, const tmaring__array *array)
{
  char shape[192];
  tmaring__array_shape_text(array, shape, sizeof shape);
  tmaring__text_add(out, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr_of(array->dtype), shape);
}

static tmaring_status write_all(const tmaring__array *array, const tmaring__text *header, const char *path)
{
  FILE *const file = fopen(path, "wb");
  if (!file) return tmaring__cannot(path, "written");
  int fine = fwrite(header->data, 1, header->length, file) == header->length;
  fine = fine && (array->bytes == 0 || fwrite(array->data, 1, array->bytes, file) == array->bytes);
  const int error = errno;
  if (fclose(file) == 0 && fine) return TMARING_OK;
  if (!fine) errno = error;
  return tmaring__cannot(path, "written");
}

tmaring_status tmaring__npy_write(const tmaring__array *array, const char *path)
{
  tmaring__text dictionary = {NULL, 0, 0, 0}, header = {NULL, 0, 0, 0};
  add_dictionary(&dictionary, array);
  if (!tmaring__text_failed(&dictionary)) tmaring__npy_frame(&header, dictionary.data, dictionary.length);
  tmaring_status status = tmaring__fail(TMARING_ERROR_MEMORY, "%s: got no memory, needs a header; free some", path);
  if (header.data) status = write_all(array, &header, path);
  tmaring__text_free(&dictionary);
  tmaring__text_free(&header);
  return status;
}

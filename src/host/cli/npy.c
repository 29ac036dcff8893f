/* Reading .npy files. */
#include "npy.h"

#include <string.h>

#define MAGIC       "\x93NUMPY"
#define MAGIC_BYTES 6

static tmaring_status truncated(const char *part, size_t got, size_t needed)
{
  return tmaring__fail(TMARING_ERROR_FORMAT, "%s: got %zu bytes, needs %zu; the file is truncated, write it again",
                       part, got, needed);
}

/* Bytes of magic, version and header length by version; 0 where there is no such version. */
static size_t preamble_bytes(const unsigned char *file)
{
  if (file[6] < 1 || file[6] > 3 || file[7] != 0) return 0;
  return file[6] == 1 ? 10 : 12;
}

static tmaring_status check_start(const unsigned char *file, size_t bytes)
{
  if (bytes < 8) return truncated("npy preamble", bytes, 8);
  if (memcmp(file, MAGIC, MAGIC_BYTES) != 0)
    return tmaring__fail(TMARING_ERROR_FORMAT, "magic: got other bytes, needs \\x93NUMPY; the file is no .npy file, "
                                               "write it with numpy.save");
  if (preamble_bytes(file) == 0)
    return tmaring__fail(TMARING_ERROR_FORMAT, "version: got %d.%d, needs 1.0, 2.0 or 3.0; write it with numpy.save",
                         file[6], file[7]);
  return TMARING_OK;
}

/* Where the header lies: [*begin, *begin + *length). */
static tmaring_status find_header(const unsigned char *file, size_t bytes, size_t *begin, size_t *length)
{
  TMARING__TRY(check_start(file, bytes));
  *begin = preamble_bytes(file);
  if (bytes < *begin) return truncated("npy header length", bytes - 8, *begin - 8);
  *length = (size_t)file[8] | (size_t)file[9] << 8;
  if (*begin == 12) *length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
  if (*length > TMARING__NPY_MAX_HEADER_BYTES)
    return tmaring__fail(TMARING_ERROR_FORMAT,
                         "header length: got %zu bytes, needs at most %d; write the file again with numpy.save",
                         *length, TMARING__NPY_MAX_HEADER_BYTES);
  if (bytes - *begin < *length) return truncated("npy header", bytes - *begin, *length);
  return TMARING_OK;
}

/* Sizes are products of what a file says: each is checked before it is made. */
static tmaring_status take_elements(tmaring__array *array, const unsigned char *elements, size_t left)
{
  char shape[192];
  tmaring__array_shape_text(array, shape, sizeof shape);
  if (!tmaring__array_measure(array, &array->bytes))
    return tmaring__fail(TMARING_ERROR_FORMAT,
                         "shape: got %s, needs fewer than 2^63 bytes; the file is damaged, write it again", shape);
  if (left < array->bytes) return truncated("elements", left, array->bytes);
  if (left > array->bytes)
    return tmaring__fail(TMARING_ERROR_FORMAT,
                         "elements: got more than the %zu bytes of shape %s, needs one array per file; save them apart",
                         array->bytes, shape);
  array->data = (void *)elements;
  return TMARING_OK;
}

tmaring_status tmaring__npy_parse(tmaring__array *array, const void *file, size_t bytes, int32_t type)
{
  size_t begin = 0, length = 0;
  memset(array, 0, sizeof *array);
  TMARING__TRY(find_header(file, bytes, &begin, &length));
  const unsigned char *const header = (const unsigned char *)file + begin;
  TMARING__TRY(tmaring__npy_header(array, (const char *)header, length, type));
  return take_elements(array, header + length, bytes - begin - length);
}

tmaring_status tmaring__npy_open(tmaring__array *array, const char *path, int32_t type)
{
  tmaring__file_view view;
  memset(array, 0, sizeof *array);
  TMARING__TRY(tmaring__file_view_open(&view, path, MAGIC, MAGIC_BYTES));
  const tmaring_status status = tmaring__npy_parse(array, view.data, view.bytes, type);
  if (status != TMARING_OK) {
    tmaring__file_view_close(&view);
    return tmaring__at_path(status, path);
  }
  array->file = view;
  return TMARING_OK;
}

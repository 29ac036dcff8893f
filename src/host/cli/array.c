#include "array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

int tmaring__array_measure(const tmaring__array *array, size_t *bytes)
{
  int64_t product = (int64_t)tmaring_dtype_bytes((tmaring_i32)array->dtype);
  int empty = 0;
  for (int32_t i = 0; i < array->dims; ++i) {
    const int64_t extent = array->shape[i];
    empty |= extent == 0;
    if (extent > 0 && product > (INT64_MAX - ALIGNMENT) / extent) return 0;
    if (extent > 0) product *= extent;
  }
  *bytes = empty ? 0 : (size_t)product;
  return 1;
}

size_t tmaring__array_count(const tmaring__array *array)
{
  return array->bytes / tmaring_dtype_bytes((tmaring_i32)array->dtype);
}

int64_t tmaring__array_rows(const tmaring__array *array)
{
  int64_t rows = 1;
  for (int32_t i = 0; i + 1 < array->dims; ++i) rows *= array->shape[i];
  return rows;
}

int64_t tmaring__array_cols(const tmaring__array *array)
{
  return array->dims ? array->shape[array->dims - 1] : 1;
}

void tmaring__array_shape_text(const tmaring__array *array, char *out, size_t capacity)
{
  size_t used = (size_t)snprintf(out, capacity, "(");
  for (int32_t i = 0; i < array->dims && used < capacity; ++i)
    used += (size_t)snprintf(out + used, capacity - used, "%s%" PRId64, i ? ", " : "", array->shape[i]);
  if (used < capacity) snprintf(out + used, capacity - used, "%s", array->dims == 1 ? ",)" : ")");
}

static tmaring_status reserve(size_t bytes, void **block)
{
  /* Never an empty block: an array of no elements has an address too. */
  *block = aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
  if (*block) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_MEMORY, "array: got no memory, needs %zu bytes; use a smaller array", bytes);
}

tmaring_status tmaring__array_allocate(tmaring__array *array)
{
  char shape[192];
  size_t bytes;
  if (!tmaring__array_measure(array, &bytes)) {
    tmaring__array_shape_text(array, shape, sizeof shape);
    return tmaring__fail(TMARING_ERROR_CAPACITY, "shape: got %s, needs fewer than 2^63 bytes; use a smaller array",
                         shape);
  }
  TMARING__TRY(reserve(bytes, &array->block));
  array->data = array->block;
  array->bytes = bytes;
  return TMARING_OK;
}

tmaring_status tmaring__array_detach(tmaring__array *array)
{
  void *block;
  TMARING__TRY(reserve(array->bytes, &block));
  if (array->bytes) memcpy(block, array->data, array->bytes);
  tmaring__array_free(array);
  array->data = array->block = block;
  return TMARING_OK;
}

void tmaring__array_free(tmaring__array *array)
{
  free(array->block);
  tmaring__file_view_close(&array->file);
  array->data = array->block = NULL;
}

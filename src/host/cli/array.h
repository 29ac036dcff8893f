/* Arrays in host memory: any type, C order, from no dimension (one value) to eight. */
#ifndef TMARING_HOST_ARRAY_H
#define TMARING_HOST_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "file_view.h"
#include "tmaring/tensor.h"

#define TMARING__ARRAY_MAX_DIMS 8

typedef struct tmaring__array {
  tmaring_dtype dtype;
  int32_t dims;
  int64_t shape[TMARING__ARRAY_MAX_DIMS];
  void *data; /* `bytes` of it: memory of its own, or a place in `file`, which is read-only */
  size_t bytes;
  void *block;             /* memory of its own, from a multiple of 64; NULL: none */
  tmaring__file_view file; /* what it was read from; empty: nothing */
} tmaring__array;

/* Bytes that dtype and shape come to: 1, or 0 where they or an extent's product pass 2^63 - 1. An extent of 0 counts
 * as 1 there, so that every product of some extents is in range. */
int tmaring__array_measure(const tmaring__array *array, size_t *bytes);
/* Elements; rows of a matrix whose leading dimensions are folded into one; its columns. An array of one dimension has
 * one row. */
size_t tmaring__array_count(const tmaring__array *array);
int64_t tmaring__array_rows(const tmaring__array *array);
int64_t tmaring__array_cols(const tmaring__array *array);
/* "(3, 5)", "(7,)", "()". */
void tmaring__array_shape_text(const tmaring__array *array, char *out, size_t capacity);

/* Allocates data for dtype and shape, and sets bytes. ERROR_MEMORY, or ERROR_CAPACITY. */
tmaring_status tmaring__array_allocate(tmaring__array *array);
/* Copies the data out of the file into memory of its own and closes the file. ERROR_MEMORY; the array stays as it was.
 */
tmaring_status tmaring__array_detach(tmaring__array *array);
void tmaring__array_free(tmaring__array *array);

#endif

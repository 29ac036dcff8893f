/* .npy files, format versions 1.0, 2.0 and 3.0: one array of one or two dimensions, C order, little endian.
 *
 *     0   "\x93NUMPY"   major   minor
 *     8   header length: u16 (version 1), u32 (2 and 3), little endian
 *     10  header: a Python dictionary with 'descr', 'fortran_order', 'shape', padded with spaces, ended by a newline
 *     .   elements, from a multiple of 64
 *
 * descr '<f4' is f32 and '<f2' is f16. numpy has no bf16: '<V2', '|V2' and '<u2' are taken as bf16 where the caller
 * says so, and bf16 is written as '<V2'. */
#ifndef TMARING_HOST_NPY_H
#define TMARING_HOST_NPY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../base/text.h"
#include "tmaring/tensor.h"

#define TMARING__NPY_ANY_TYPE         (-1)
#define TMARING__NPY_MAX_HEADER_BYTES 65536 /* what three dictionary entries can need is far below */

/* An array in memory: shape[0] x shape[1] elements, or shape[0] where dims is 1 (shape[1] is 1 then). */
typedef struct tmaring__npy {
  tmaring_dtype dtype;
  int32_t dims; /* 1 or 2 */
  int64_t shape[2];
  void *data; /* bytes of it, from a multiple of 64; owned: tmaring__npy_free */
  size_t bytes;
} tmaring__npy;

/* Reads the dictionary of a header into dtype, dims, shape and bytes. `type` is a tmaring_dtype the caller declares, or
 * TMARING__NPY_ANY_TYPE. ERROR_FORMAT names the entry, what it holds, and the remedy. */
tmaring_status tmaring__npy_parse(tmaring__npy *array, const char *header, size_t length, int32_t type);

/* Reads a whole file. Nothing is left to free on failure. ERROR_IO, ERROR_FORMAT and ERROR_MEMORY; the detail begins
 * with the path. */
tmaring_status tmaring__npy_read(tmaring__npy *array, const char *path, int32_t type);
/* Writes a whole file, in place of what was there. On ERROR_IO the file may be incomplete. */
tmaring_status tmaring__npy_write(const tmaring__npy *array, const char *path);

/* Allocates data for the array's dtype, dims and shape, and sets bytes. ERROR_MEMORY, or ERROR_CAPACITY where the size
 * passes 2^63 - 1. */
tmaring_status tmaring__npy_allocate(tmaring__npy *array);
void tmaring__npy_free(tmaring__npy *array);

/* Appends magic, version, length and padded dictionary: version 1, or 2 where the header passes 65535 bytes. */
void tmaring__npy_frame(tmaring__text *out, const char *dictionary, size_t length);

#endif

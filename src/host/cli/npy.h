/* .npy files, format versions 1.0, 2.0 and 3.0: one array in C order, little endian.
 *
 *     0   "\x93NUMPY"   major   minor
 *     8   header length: u16 (version 1), u32 (2 and 3), little endian
 *     10  header: a Python dictionary with 'descr', 'fortran_order', 'shape', padded with spaces, ended by a newline
 *     .   elements, from a multiple of 64 where numpy has written the file, else from anywhere
 *
 *     descr                        type
 *     <f8 <f4 <f2 |i1 <i4 <i8      f64 f32 f16 i8 i32 i64
 *     <u2 <V2 |V2                  16 raw bits: bf16, where the caller says so
 *     |u1 <V1 |V1 <f1 |f1          8 raw bits: e4m3 or e5m2, where the caller says which
 *
 * numpy has no bf16 and no fp8; they are written as <u2 and |u1, which it reads as codes. */
#ifndef TMARING_HOST_NPY_H
#define TMARING_HOST_NPY_H

#include "../base/text.h"
#include "array.h"

#define TMARING__NPY_ANY_TYPE         (-1)
#define TMARING__NPY_MAX_HEADER_BYTES 65536 /* what three dictionary entries can need is far below */

/* Reads the dictionary of a header into dtype, dims and shape. `type` is a tmaring_dtype the caller declares, or
 * TMARING__NPY_ANY_TYPE. ERROR_FORMAT names the entry, what it holds, and the remedy. */
tmaring_status tmaring__npy_header(tmaring__array *array, const char *header, size_t length, int32_t type);
/* Reads a whole file that is in memory: the array's data point into it. ERROR_FORMAT. */
tmaring_status tmaring__npy_parse(tmaring__array *array, const void *file, size_t bytes, int32_t type);

/* Opens a file, which is mapped and never written. Nothing is left to free on failure. ERROR_IO, ERROR_FORMAT and
 * ERROR_MEMORY; the detail begins with the path. */
tmaring_status tmaring__npy_open(tmaring__array *array, const char *path, int32_t type);
/* Writes a whole file, in place of what was there. On ERROR_IO the file may be incomplete. */
tmaring_status tmaring__npy_write(const tmaring__array *array, const char *path);

/* Appends magic, version, length and padded dictionary: version 1, or 2 where the header passes 65535 bytes. */
void tmaring__npy_frame(tmaring__text *out, const char *dictionary, size_t length);

#endif

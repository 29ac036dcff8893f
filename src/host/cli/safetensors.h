/* .safetensors files: many named tensors in C order, little endian.
 *
 *     0      length of the header: u64, at most 100 MB
 *     8      header: a JSON object, padded with spaces
 *            {"name": {"dtype": "BF16", "shape": [4096], "data_offsets": [begin, end]}, ..., "__metadata__": {...}}
 *     8 + n  data; data_offsets count from here
 *
 * F64 F32 F16 BF16 F8_E4M3 F8_E5M2 I8 I32 I64 are read. Only the tensor that is asked for has to be sound, so that a
 * file may hold others of types unknown here. */
#ifndef TMARING_HOST_SAFETENSORS_H
#define TMARING_HOST_SAFETENSORS_H

#include "array.h"

#define TMARING__SAFETENSORS_MAX_HEADER_BYTES 100000000

/* Finds a tensor of a file that is in memory: the array's data point into it. `name` NULL asks for the names.
 * ERROR_FORMAT says what is wrong with the file, or, of a missing tensor, which names are close to it; ERROR_MEMORY. */
tmaring_status tmaring__safetensors_parse(tmaring__array *array, const void *file, size_t bytes, const char *name);

/* Opens a file, which is mapped and never written. Nothing is left to free on failure. ERROR_IO as well; the detail
 * begins with the path. */
tmaring_status tmaring__safetensors_open(tmaring__array *array, const char *path, const char *name);

#endif

/* .npy files for runs of the tool. */
#ifndef TMARING_TESTS_NPY_FILE_H
#define TMARING_TESTS_NPY_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "../../src/host/cli/array.h"

/* Random numbers of [-2, 2] in a file and in memory (tmaring__array_free). cols 0: one dimension. */
tmaring__array npy_file_make(const char *path, tmaring_dtype dtype, int64_t rows, int64_t cols, uint64_t seed);
/* The same numbers times `scale`. */
tmaring__array npy_file_make_scaled(const char *path, tmaring_dtype dtype, int64_t rows, int64_t cols, uint64_t seed,
                                    double scale);
/* Writes an array that is in memory. */
void npy_file_put(const char *path, const tmaring__array *array);
/* Reads a file of the type and removes it. */
tmaring__array npy_file_take(const char *path, tmaring_dtype dtype);

double npy_file_value(const tmaring__array *array, size_t index);

/* NAME=PATH[:TYPE]; a type of NULL is none. Returns out. */
const char *npy_file_binding(char out[320], const char *name, const char *path, const char *type);
/* The name that a file of codes has to be declared with; NULL for types that numpy has. */
const char *npy_file_code_type(tmaring_dtype dtype);

#endif

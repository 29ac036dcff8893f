#define _GNU_SOURCE
#include "npy_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "../../src/host/cli/npy.h"
#include "noise.h"
#include "number.h"

static const unsigned char *element(const tmaring__array *a, size_t index)
{
  return (const unsigned char *)a->data + index * tmaring_dtype_bytes((tmaring_i32)a->dtype);
}

double npy_file_value(const tmaring__array *array, size_t index)
{
  return number_read(array->dtype, element(array, index));
}

void npy_file_put(const char *path, const tmaring__array *array)
{
  cr_assert_eq(tmaring__npy_write(array, path), TMARING_OK, "%s", tmaring_last_detail());
}

tmaring__array npy_file_make_scaled(const char *path, tmaring_dtype dtype, int64_t rows, int64_t cols, uint64_t seed,
                                    double scale)
{
  noise n = noise_seed(seed);
  tmaring__array a = {.dtype = dtype, .dims = cols ? 2 : 1, .shape = {rows, cols}};
  cr_assert_eq(tmaring__array_allocate(&a), TMARING_OK);
  for (size_t i = 0; i < tmaring__array_count(&a); ++i)
    number_write(dtype, (unsigned char *)element(&a, i), scale * data_value(&n, DATA_PLAIN, 0));
  npy_file_put(path, &a);
  return a;
}

tmaring__array npy_file_make(const char *path, tmaring_dtype dtype, int64_t rows, int64_t cols, uint64_t seed)
{
  return npy_file_make_scaled(path, dtype, rows, cols, seed, 1);
}

tmaring__array npy_file_take(const char *path, tmaring_dtype dtype)
{
  tmaring__array a;
  cr_assert_eq(tmaring__npy_open(&a, path, (int32_t)dtype), TMARING_OK, "%s", tmaring_last_detail());
  unlink(path);
  return a;
}

const char *npy_file_binding(char out[320], const char *name, const char *path, const char *type)
{
  snprintf(out, 320, "%s=%s%s%s", name, path, type ? ":" : "", type ? type : "");
  return out;
}

const char *npy_file_code_type(tmaring_dtype dtype)
{
  const int is_code = dtype == TMARING_BF16 || dtype == TMARING_E4M3 || dtype == TMARING_E5M2;
  return is_code ? tmaring_dtype_name(dtype) : NULL;
}

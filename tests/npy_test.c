/* .npy files: every version and type by hand, round trips, every refusal by its words, truncation at each length,
 * mutations. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../src/host/cli/npy.h"
#include "support/noise.h"

#define ANY TMARING__NPY_ANY_TYPE

typedef struct image {
  unsigned char *data;
  size_t size;
} image;

/* A file as numpy writes it, put together here: nothing of the writer under test. */
static image make_image(int version, const char *dictionary, const void *elements, size_t bytes)
{
  const size_t preamble = version == 1 ? 10 : 12, length = strlen(dictionary) + 1;
  const size_t padded = (preamble + length + 63) / 64 * 64 - preamble;
  image file = {malloc(preamble + padded + bytes + 1), preamble + padded + bytes};
  memcpy(file.data, "\x93NUMPY", 6);
  file.data[6] = (unsigned char)version;
  file.data[7] = 0;
  for (size_t i = 8; i < preamble; ++i) file.data[i] = (unsigned char)(padded >> 8 * (i - 8));
  memset(file.data + preamble, ' ', padded);
  memcpy(file.data + preamble, dictionary, length - 1);
  file.data[preamble + padded - 1] = '\n';
  if (bytes) memcpy(file.data + preamble + padded, elements, bytes);
  return file;
}

static const char *scratch_path(void)
{
  static char path[256];
  const char *const folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/tmaring_npy_test_%ld.npy", folder ? folder : "/tmp", (long)getpid());
  return path;
}

static void put_file(const void *data, size_t size)
{
  FILE *const file = fopen(scratch_path(), "wb");
  cr_assert_not_null(file);
  cr_assert(size == 0 || fwrite(data, 1, size, file) == size);
  cr_assert_eq(fclose(file), 0);
}

/* From memory of the exact size, so that a sanitizer sees a step past the end. */
static tmaring_status parse_image(image file, tmaring__array *array, int32_t type)
{
  void *const exact = malloc(file.size);
  if (file.size) memcpy(exact, file.data, file.size);
  const tmaring_status status = tmaring__npy_parse(array, exact, file.size, type);
  volatile unsigned char sum = 0;
  for (size_t i = 0; status == TMARING_OK && i < array->bytes; ++i)
    sum = (unsigned char)(sum + ((unsigned char *)array->data)[i]);
  free(exact);
  return status;
}

static tmaring_status read_image(image file, tmaring__array *array, int32_t type)
{
  put_file(file.data, file.size);
  const tmaring_status status = tmaring__npy_open(array, scratch_path(), type);
  unlink(scratch_path());
  return status;
}

static void expect_words(const char *words)
{
  cr_expect(strstr(tmaring_last_detail(), words), "'%s' is not in: %s", words, tmaring_last_detail());
}

static void fill_bytes(noise *n, void *to, size_t count)
{
  for (size_t i = 0; i < count; ++i) ((unsigned char *)to)[i] = (unsigned char)(1 + noise_below(n, 255));
}

typedef struct accepted {
  int version;
  const char *dictionary;
  int32_t type; /* declared */
  tmaring_dtype dtype;
  int dims;
  int64_t shape[3];
} accepted;

#define HEADER(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }"

static const accepted good[] = {
    {1, HEADER("<f4", "(3, 5)"), ANY, TMARING_F32, 2, {3, 5}},
    {2, HEADER("<f4", "(3, 5)"), ANY, TMARING_F32, 2, {3, 5}},
    {3, HEADER("<f4", "(3, 5)"), ANY, TMARING_F32, 2, {3, 5}},
    {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5)}", TMARING_F32, TMARING_F32, 2, {3, 5}},
    {1, HEADER("<f2", "(7,)"), ANY, TMARING_F16, 1, {7}},
    {1, "{\"shape\":(7,),\"descr\":\"<f2\",\"fortran_order\":False}", ANY, TMARING_F16, 1, {7}},
    {1, HEADER("<f4", "(3L, 4L)"), ANY, TMARING_F32, 2, {3, 4}},
    {1, HEADER("<V2", "(2, 9)"), TMARING_BF16, TMARING_BF16, 2, {2, 9}},
    {2, HEADER("|V2", "(2, 9)"), TMARING_BF16, TMARING_BF16, 2, {2, 9}},
    {3, HEADER("<u2", "(2, 9)"), TMARING_BF16, TMARING_BF16, 2, {2, 9}},
    {1, HEADER("<f8", "(2, 9)"), ANY, TMARING_F64, 2, {2, 9}},
    {1, HEADER("<f8", "(2, 9)"), TMARING_F64, TMARING_F64, 2, {2, 9}},
    {1, HEADER("|i1", "(2, 9)"), ANY, TMARING_I8, 2, {2, 9}},
    {2, HEADER("<i1", "(9,)"), TMARING_I8, TMARING_I8, 1, {9}},
    {1, HEADER("<i4", "(2, 9)"), ANY, TMARING_I32, 2, {2, 9}},
    {1, HEADER("<i8", "(9,)"), ANY, TMARING_I64, 1, {9}},
    {1, HEADER("|u1", "(2, 9)"), TMARING_E4M3, TMARING_E4M3, 2, {2, 9}},
    {1, HEADER("|u1", "(2, 9)"), TMARING_E5M2, TMARING_E5M2, 2, {2, 9}},
    {1, HEADER("<V1", "(2, 9)"), TMARING_E4M3, TMARING_E4M3, 2, {2, 9}},
    {2, HEADER("|V1", "(2, 9)"), TMARING_E5M2, TMARING_E5M2, 2, {2, 9}},
    {1, HEADER("<f1", "(2, 9)"), TMARING_E5M2, TMARING_E5M2, 2, {2, 9}},
    {1, HEADER("<f4", "(0, 5)"), ANY, TMARING_F32, 2, {0, 5}},
    {1, HEADER("<f4", "(5, 0)"), ANY, TMARING_F32, 2, {5, 0}},
    {1, HEADER("<f4", "(1, 1)"), ANY, TMARING_F32, 2, {1, 1}},
    {1, HEADER("<f4", "(0,)"), ANY, TMARING_F32, 1, {0}},
    {1, HEADER("<f4", "()"), ANY, TMARING_F32, 0, {0}},
    {1, HEADER("<f4", "(2, 3, 4)"), ANY, TMARING_F32, 3, {2, 3, 4}},
    {1, HEADER("<f4", "(1, 1, 1, 1, 1, 2, 1, 4)"), ANY, TMARING_F32, 8, {1, 1, 1}},
    {1, "  { 'descr' :\t'<f4' ,\n'fortran_order' : False , 'shape' : ( 1 , 2 , ) , } ", ANY, TMARING_F32, 2, {1, 2}},
};

/* Elements by the shape as the file says it. */
static size_t bytes_of(const tmaring__array *a)
{
  size_t count = 1;
  for (int i = 0; i < a->dims; ++i) count *= (size_t)a->shape[i];
  return count * tmaring_dtype_bytes((tmaring_i32)a->dtype);
}

Test(npy, takes_what_numpy_writes, .timeout = 30)
{
  noise n = noise_seed(1);
  for (size_t k = 0; k < sizeof good / sizeof good[0]; ++k) {
    const accepted *const g = &good[k];
    size_t bytes = tmaring_dtype_bytes((tmaring_i32)g->dtype);
    for (int d = 0; d < g->dims; ++d) bytes *= (size_t)(g->dims == 8 ? (d == 5 ? 2 : d == 7 ? 4 : 1) : g->shape[d]);
    unsigned char elements[256];
    tmaring__array array;
    fill_bytes(&n, elements, bytes);
    image file = make_image(g->version, g->dictionary, elements, bytes);
    cr_assert_eq(read_image(file, &array, g->type), TMARING_OK, "%s: %s", g->dictionary, tmaring_last_detail());
    cr_expect_eq(array.dtype, g->dtype);
    cr_expect_eq(array.dims, g->dims);
    for (int d = 0; d < g->dims && d < 3; ++d) cr_expect_eq(array.shape[d], g->shape[d], "%s", g->dictionary);
    cr_expect_eq(array.bytes, bytes);
    cr_expect_eq(bytes_of(&array), bytes);
    cr_expect(array.file.mapped && array.block == NULL, "%s: copied", g->dictionary);
    cr_expect(bytes == 0 || memcmp(array.data, elements, bytes) == 0, "%s", g->dictionary);
    tmaring__array_free(&array);
    free(file.data);
  }
}

typedef struct refused {
  const char *dictionary;
  int32_t type;
  const char *words, *remedy;
} refused;

#define REST ", 'fortran_order': False, 'shape': (3, 4), }"

static const refused bad[] = {
    {"{'descr': '<f16'" REST, ANY, "descr: got '<f16'", "astype('<f4')"},
    {"{'descr': '<i2'" REST, ANY, "descr: got '<i2'", "astype('<f4')"},
    {"{'descr': '<u4'" REST, ANY, "descr: got '<u4'", "astype('<f4')"},
    {"{'descr': '|u1'" REST, ANY, "8 raw bits", "add :e4m3 or :e5m2"},
    {"{'descr': '|V1'" REST, TMARING_I8, "8 raw bits", "add :e4m3 or :e5m2"},
    {"{'descr': '<f1'" REST, TMARING_BF16, "8 raw bits", "add :e4m3 or :e5m2"},
    {"{'descr': '<u2'" REST, TMARING_E4M3, "16 raw bits", "add :bf16"},
    {"{'descr': '|i1'" REST, TMARING_E4M3, "needs a file of e4m3", "drop the :e4m3"},
    {"{'descr': '<i8'" REST, TMARING_I32, "needs a file of i32", "drop the :i32"},
    {"{'descr': '|b1'" REST, ANY, "descr: got '|b1'", "astype('<f4')"},
    {"{'descr': '<c8'" REST, ANY, "descr: got '<c8'", "astype('<f4')"},
    {"{'descr': '=f4'" REST, ANY, "descr: got '=f4'", "astype('<f4')"},
    {"{'descr': 'f4'" REST, ANY, "descr: got 'f4'", "astype('<f4')"},
    {"{'descr': '<f44444444444444444444444444444444444444444444444'" REST, ANY, "descr: got '<f4444", "astype('<f4')"},
    {"{'descr': '>f4'" REST, ANY, "big endian", "astype('<f4')"},
    {"{'descr': '>f2'" REST, ANY, "big endian", "astype('<f2')"},
    {"{'descr': '|O'" REST, ANY, "pickled objects", "astype('<f4')"},
    {"{'descr': [('a', '<f4'), ('b', '<f4')]" REST, ANY, "structured type", "each field"},
    {"{'descr': '<V2'" REST, ANY, "16 raw bits", ":bf16"},
    {"{'descr': '|V2'" REST, TMARING_F16, "16 raw bits", ":bf16"},
    {"{'descr': '<u2'" REST, TMARING_F32, "16 raw bits", ":bf16"},
    {"{'descr': '<f4'" REST, TMARING_BF16, "needs a file of bf16", "drop the :bf16"},
    {"{'descr': '<f2'" REST, TMARING_F32, "needs a file of f32", "convert the file"},
    {"{'descr': 4" REST, ANY, "'descr' that is no string", "numpy.save"},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4), }", ANY, "fortran_order: got True", "ascontiguousarray"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 4), }", ANY, "neither True nor False", "numpy.save"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 3, 4), }", ANY,
     "got more than 8 dimensions", "reshape"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 0, 4294967296), }", ANY, "fewer than 2^63 bytes",
     "write it again"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 12, }", ANY, "'shape' that is no tuple", "numpy.save"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 4), }", ANY, "something else than integers", "numpy.save"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3.0, 4), }", ANY, "closing parenthesis", "numpy.save"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808, 1), }", ANY,
     "something else than integers", "numpy.save"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 1), }", ANY, "fewer than 2^63 bytes",
     "write it again"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", ANY, "fewer than 2^63 bytes",
     "write it again"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2147483648, 1073741824), }", ANY, "fewer than 2^63 bytes",
     "write it again"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1048576, 1048576), }", ANY, "truncated", "write it again"},
    {"{'descr': '<f4', 'fortran_order': False}", ANY, "no 'shape'", "numpy.save"},
    {"{'descr': '<f4', 'shape': (3, 4)}", ANY, "no 'fortran_order'", "numpy.save"},
    {"{'fortran_order': False, 'shape': (3, 4)}", ANY, "no 'descr'", "numpy.save"},
    {"{'descr': '<f4', 'descr': '<f4'" REST, ANY, "key 'descr'", "once each"},
    {"{'descr': '<f4', 'extra': 1" REST, ANY, "key 'extra'", "once each"},
    {"{'descr': '<f4'" REST " 5", ANY, "text after the closing brace", "numpy.save"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)", ANY, "no closing brace", "numpy.save"},
    {"{'descr': '<f4' 'fortran_order': False}", ANY, "no closing brace", "numpy.save"},
    {"{'descr': '<f4, }", ANY, "no string", "numpy.save"},
    {"['descr']", ANY, "no dictionary", "numpy.save"},
    {"", ANY, "no dictionary", "numpy.save"},
};

Test(npy, refuses_the_rest_by_name, .timeout = 30)
{
  const float elements[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
    tmaring__array array;
    image file = make_image(1 + (int)(k % 3), bad[k].dictionary, elements, sizeof elements);
    cr_expect_eq(read_image(file, &array, bad[k].type), TMARING_ERROR_FORMAT, "%s", bad[k].dictionary);
    expect_words(bad[k].words);
    expect_words(bad[k].remedy);
    expect_words(scratch_path());
    cr_expect_null(array.data);
    free(file.data);
  }
}

#define DICTIONARY "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"

Test(npy, refuses_magic_version_and_length, .timeout = 10)
{
  const float elements[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  tmaring__array array;
  image file = make_image(2, DICTIONARY, elements, sizeof elements);
  file.data[0] = 0x92;
  cr_expect_eq(read_image(file, &array, ANY), TMARING_ERROR_FORMAT);
  expect_words("magic");
  file.data[0] = 0x93;
  file.data[6] = 4;
  cr_expect_eq(read_image(file, &array, ANY), TMARING_ERROR_FORMAT);
  expect_words("version: got 4.0");
  file.data[6] = 0;
  cr_expect_eq(read_image(file, &array, ANY), TMARING_ERROR_FORMAT);
  expect_words("version: got 0.0");
  file.data[6] = 2, file.data[7] = 1;
  cr_expect_eq(read_image(file, &array, ANY), TMARING_ERROR_FORMAT);
  expect_words("version: got 2.1");
  file.data[7] = 0, file.data[11] = 0xff;
  cr_expect_eq(read_image(file, &array, ANY), TMARING_ERROR_FORMAT);
  expect_words("header length: got 42781");
  free(file.data);
}

Test(npy, refuses_truncation_at_each_length, .timeout = 60)
{
  const float elements[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (int version = 1; version <= 3; ++version) {
    image file = make_image(version, DICTIONARY, elements, sizeof elements);
    const size_t whole = file.size;
    tmaring__array array;
    for (file.size = 0; file.size < whole; ++file.size) {
      cr_expect_eq(read_image(file, &array, ANY), TMARING_ERROR_FORMAT, "%zu bytes", file.size);
      expect_words("truncated");
    }
    cr_assert_eq(read_image(file, &array, ANY), TMARING_OK);
    tmaring__array_free(&array);
    free(file.data);
  }
}

Test(npy, refuses_more_than_one_array, .timeout = 10)
{
  const float elements[13] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
  tmaring__array array;
  image file = make_image(1, DICTIONARY, elements, sizeof elements);
  cr_expect_eq(read_image(file, &array, ANY), TMARING_ERROR_FORMAT);
  expect_words("more than the 48 bytes");
  cr_expect_null(array.data);
  free(file.data);
}

/* Headers of other hands need not be padded: elements then begin anywhere, and stay where they are. */
Test(npy, takes_elements_at_any_offset, .timeout = 10)
{
  const float elements[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (size_t past = 0; past < 16; ++past) {
    unsigned char data[256] = "\x93NUMPY\x01";
    tmaring__array array;
    const size_t length = strlen(DICTIONARY) + past;
    data[8] = (unsigned char)length;
    memset(data + 10, ' ', length);
    memcpy(data + 10, DICTIONARY, strlen(DICTIONARY));
    memcpy(data + 10 + length, elements, sizeof elements);
    image file = {data, 10 + length + sizeof elements};
    cr_assert_eq(read_image(file, &array, ANY), TMARING_OK, "%s", tmaring_last_detail());
    cr_expect_eq((uintptr_t)array.data % 16, (10 + length) % 16);
    cr_expect(memcmp(array.data, elements, sizeof elements) == 0);
    cr_assert_eq(tmaring__array_detach(&array), TMARING_OK);
    cr_expect((uintptr_t)array.data % 64 == 0 && !array.file.data);
    cr_expect(memcmp(array.data, elements, sizeof elements) == 0);
    tmaring__array_free(&array);
  }
}

static int descr_is(tmaring_dtype dtype, const char *descr)
{
  tmaring__array written = {.dtype = dtype, .dims = 1, .shape = {3}};
  char start[128] = "";
  cr_assert_eq(tmaring__array_allocate(&written), TMARING_OK);
  memset(written.data, 0, written.bytes);
  cr_assert_eq(tmaring__npy_write(&written, scratch_path()), TMARING_OK);
  FILE *const file = fopen(scratch_path(), "rb");
  cr_assert_eq(fread(start, 1, sizeof start - 1, file), sizeof start - 1);
  fclose(file);
  unlink(scratch_path());
  tmaring__array_free(&written);
  return strstr(start + 10, descr) != NULL;
}

Test(npy, writes_types_as_numpy_reads_them, .timeout = 10)
{
  static const char *const descr[TMARING_DTYPE_COUNT] = {
      [TMARING_F32] = "'<f4'", [TMARING_F16] = "'<f2'",  [TMARING_BF16] = "'<u2'",
      [TMARING_F64] = "'<f8'", [TMARING_E4M3] = "'|u1'", [TMARING_E5M2] = "'|u1'",
      [TMARING_I8] = "'|i1'",  [TMARING_I32] = "'<i4'",  [TMARING_I64] = "'<i8'"};
  for (int t = 0; t < TMARING_DTYPE_COUNT; ++t)
    cr_expect(descr_is((tmaring_dtype)t, descr[t]), "%s", tmaring_dtype_name((tmaring_dtype)t));
}

Test(npy, shapes_fold_and_print, .timeout = 10)
{
  tmaring__array a = {.dtype = TMARING_F32, .dims = 3, .shape = {2, 3, 5}};
  char text[32];
  tmaring__array_shape_text(&a, text, sizeof text);
  cr_expect_str_eq(text, "(2, 3, 5)");
  cr_expect(tmaring__array_rows(&a) == 6 && tmaring__array_cols(&a) == 5);
  a.dims = 1;
  tmaring__array_shape_text(&a, text, sizeof text);
  cr_expect_str_eq(text, "(2,)");
  cr_expect(tmaring__array_rows(&a) == 1 && tmaring__array_cols(&a) == 2);
  a.dims = 0;
  tmaring__array_shape_text(&a, text, sizeof text);
  cr_expect_str_eq(text, "()");
  a.dims = 8;
  for (int i = 0; i < 8; ++i) a.shape[i] = INT64_MAX;
  char tight[40];
  tmaring__array_shape_text(&a, tight, sizeof tight);
  cr_expect_lt(strlen(tight), sizeof tight);
}

Test(npy, names_a_file_that_is_not_there, .timeout = 10)
{
  tmaring__array array;
  cr_expect_eq(tmaring__npy_open(&array, "/nonexistent/x.npy", ANY), TMARING_ERROR_IO);
  expect_words("/nonexistent/x.npy: got 'No such file or directory'");
  array.dtype = TMARING_F32, array.dims = 1, array.shape[0] = array.shape[1] = 1;
  cr_assert_eq(tmaring__array_allocate(&array), TMARING_OK);
  memset(array.data, 1, array.bytes);
  cr_expect_eq(tmaring__npy_write(&array, "/nonexistent/y.npy"), TMARING_ERROR_IO);
  expect_words("/nonexistent/y.npy: got 'No such file or directory'");
  cr_expect_eq(tmaring__npy_write(&array, "/dev/full"), TMARING_ERROR_IO);
  expect_words("/dev/full: got 'No space left on device'");
  tmaring__array_free(&array);
}

static void expect_same(const tmaring__array *a, const tmaring__array *b)
{
  cr_expect_eq(a->dtype, b->dtype);
  cr_expect_eq(a->dims, b->dims);
  for (int i = 0; i < a->dims; ++i) cr_expect_eq(a->shape[i], b->shape[i]);
  cr_assert_eq(a->bytes, b->bytes);
  cr_expect(a->bytes == 0 || memcmp(a->data, b->data, a->bytes) == 0);
}

static void round_trip(noise *n, tmaring_dtype dtype, int dims, int64_t rows, int64_t cols)
{
  tmaring__array written = {.dtype = dtype, .dims = dims, .shape = {rows, cols}}, read;
  cr_assert_eq(tmaring__array_allocate(&written), TMARING_OK);
  cr_expect_eq((uintptr_t)written.data % 64, 0);
  fill_bytes(n, written.data, written.bytes);
  cr_assert_eq(tmaring__npy_write(&written, scratch_path()), TMARING_OK, "%s", tmaring_last_detail());
  FILE *const file = fopen(scratch_path(), "rb");
  unsigned char start[10] = {0};
  cr_assert_eq(fread(start, 1, sizeof start, file), sizeof start);
  cr_expect_eq(fseek(file, 0, SEEK_END), 0);
  cr_expect_eq((10 + start[8] + 256 * start[9]) % 64, 0);
  cr_expect_eq(ftell(file), (long)(10 + start[8] + 256 * start[9] + written.bytes));
  fclose(file);
  cr_expect_eq(start[6], 1);
  cr_assert_eq(tmaring__npy_open(&read, scratch_path(), (int32_t)dtype), TMARING_OK, "%s", tmaring_last_detail());
  expect_same(&written, &read);
  tmaring__array_free(&written);
  tmaring__array_free(&read);
  unlink(scratch_path());
}

Test(npy, round_trips, .timeout = 60)
{
  static const int64_t rows[] = {0, 1, 2, 33, 997}, cols[] = {0, 1, 3, 257};
  noise n = noise_seed(2);
  for (int t = 0; t < TMARING_DTYPE_COUNT; ++t) {
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
      round_trip(&n, (tmaring_dtype)t, 1, rows[r], 1);
      for (size_t c = 0; c < sizeof cols / sizeof cols[0]; ++c) round_trip(&n, (tmaring_dtype)t, 2, rows[r], cols[c]);
    }
  }
}

Test(npy, frames_long_headers_as_version_2, .timeout = 10)
{
  static const size_t lengths[] = {1, 53, 54, 117, 65524, 65525, 65526, 70000};
  for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; ++k) {
    tmaring__text out = {NULL, 0, 0, 0};
    char *const dictionary = malloc(lengths[k]);
    memset(dictionary, '#', lengths[k]);
    tmaring__npy_frame(&out, dictionary, lengths[k]);
    cr_assert_not(tmaring__text_failed(&out));
    const unsigned char *const b = (const unsigned char *)out.data;
    const int version = b[6];
    const size_t preamble = version == 1 ? 10 : 12;
    size_t length = b[8] + 256u * b[9];
    if (version == 2) length += 65536u * b[10];
    cr_expect_eq(version, lengths[k] > 65525 ? 2 : 1, "%zu", lengths[k]);
    cr_expect_eq(preamble + length, out.length);
    cr_expect_eq(out.length % 64, 0);
    cr_expect_eq(out.data[out.length - 1], '\n');
    cr_expect(memcmp(out.data + preamble, dictionary, lengths[k]) == 0);
    free(dictionary);
    tmaring__text_free(&out);
  }
}

Test(npy, allocation_is_safe_from_overflow, .timeout = 10)
{
  tmaring__array array = {.dtype = TMARING_F32, .dims = 2, .shape = {1ll << 40, 1ll << 40}};
  cr_expect_eq(tmaring__array_allocate(&array), TMARING_ERROR_CAPACITY);
  expect_words("shape: got (1099511627776, 1099511627776)");
  array.shape[0] = 1, array.shape[1] = INT64_MAX / 4;
  cr_expect_eq(tmaring__array_allocate(&array), TMARING_ERROR_CAPACITY);
  cr_expect_null(array.data);
}

/* Changes a few bytes, most of them in the header, into others that a header likes. */
static void mutate(noise *n, image file)
{
  static const char liked[] = "{}()[]',: 0123456789L<>|fVuOFalseTrue\n\\\"";
  for (int changes = 1 + noise_below(n, 4); changes > 0; --changes) {
    const size_t at = (size_t)noise_below(n, (int32_t)file.size);
    file.data[at] = noise_below(n, 3) ? (unsigned char)liked[noise_below(n, (int32_t)sizeof liked - 1)]
                                      : (unsigned char)noise_below(n, 256);
  }
}

/* What holds of any file. */
static void expect_sane(tmaring_status status, tmaring__array *array)
{
  if (status != TMARING_OK) {
    cr_assert(status == TMARING_ERROR_FORMAT, "%s", tmaring_status_name(status));
    cr_assert_null(array->data);
    return;
  }
  cr_assert(array->dims >= 0 && array->dims <= TMARING__ARRAY_MAX_DIMS);
  cr_assert_eq(array->bytes, bytes_of(array));
}

Test(npy, survives_mutations, .timeout = 120)
{
  const float elements[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  noise n = noise_seed(3);
  int passed = 0, failed = 0;
  for (int k = 0; k < 20000; ++k) {
    const size_t kinds = sizeof good / sizeof good[0];
    image file =
        make_image(1 + k % 3, k % 2 ? DICTIONARY : good[(size_t)k % kinds].dictionary, elements, sizeof elements);
    tmaring__array array;
    mutate(&n, file);
    if (noise_below(&n, 8) == 0) file.size = (size_t)noise_below(&n, (int32_t)file.size + 1);
    const tmaring_status status = parse_image(file, &array, k % 5 ? ANY : TMARING_BF16);
    if (status == TMARING_OK)
      ++passed;
    else
      ++failed;
    expect_sane(status, &array);
    free(file.data);
  }
  cr_expect(passed > 100 && failed > 10000, "%d passed, %d failed: the mutations test nothing", passed, failed);
}

Test(npy, parses_headers_of_random_text, .timeout = 60)
{
  static const char *const parts[] = {
      "{",  "}",  "'descr'", "'<f4'", "'fortran_order'",      "False", "True", "'shape'", "(",
      ")",  ",",  ":",       "3",     "99999999999999999999", " ",     "\n",   "L",       "'",
      "\"", "-1", "'|O'"};
  noise n = noise_seed(4);
  for (int k = 0; k < 20000; ++k) {
    char text[256] = "{";
    tmaring__array array;
    memset(&array, 0, sizeof array);
    for (int i = noise_below(&n, 24); i > 0; --i)
      strcat(text, parts[noise_below(&n, (int32_t)(sizeof parts / sizeof parts[0]))]);
    /* From memory of the exact size, so that a sanitizer sees a step past the end. */
    const size_t length = strlen(text);
    char *const exact = malloc(length);
    memcpy(exact, text, length);
    const tmaring_status status = tmaring__npy_header(&array, exact, length, ANY);
    cr_assert(status == TMARING_OK || status == TMARING_ERROR_FORMAT);
    free(exact);
  }
}

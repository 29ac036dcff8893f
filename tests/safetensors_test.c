/* .safetensors files: every type and rank, and every way in which a header can be wrong. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../src/host/cli/safetensors.h"
#include "support/noise.h"
#include "support/tool.h"

typedef struct image {
  unsigned char *data;
  size_t size;
} image;

/* Length, header, and `bytes` bytes of data: 1, 2, 3, ... */
static image make_image_of(uint64_t length, const char *header, size_t header_bytes, size_t bytes)
{
  image file = {malloc(8 + header_bytes + bytes + 1), 8 + header_bytes + bytes};
  for (int i = 0; i < 8; ++i) file.data[i] = (unsigned char)(length >> 8 * i);
  memcpy(file.data + 8, header, header_bytes);
  for (size_t i = 0; i < bytes; ++i) file.data[8 + header_bytes + i] = (unsigned char)(i + 1);
  return file;
}

static image make_image(const char *header, size_t bytes)
{
  return make_image_of(strlen(header), header, strlen(header), bytes);
}

/* From memory of the exact size, so that a sanitizer sees a step past the end; reads what is found. */
static tmaring_status parse_image(image file, tmaring__array *array, const char *name)
{
  void *const exact = malloc(file.size);
  if (file.size) memcpy(exact, file.data, file.size);
  const tmaring_status status = tmaring__safetensors_parse(array, exact, file.size, name);
  volatile unsigned char sum = 0;
  for (size_t i = 0; status == TMARING_OK && i < array->bytes; ++i)
    sum = (unsigned char)(sum + ((unsigned char *)array->data)[i]);
  free(exact);
  return status;
}

static void expect_words(const char *words)
{
  cr_expect(strstr(tmaring_last_detail(), words), "'%s' is not in: %s", words, tmaring_last_detail());
}

typedef struct accepted {
  const char *dtype;
  tmaring_dtype type;
} accepted;

Test(safetensors, takes_every_type, .timeout = 10)
{
  static const accepted good[] = {{"F64", TMARING_F64},   {"F32", TMARING_F32},      {"F16", TMARING_F16},
                                  {"BF16", TMARING_BF16}, {"F8_E4M3", TMARING_E4M3}, {"F8_E5M2", TMARING_E5M2},
                                  {"I8", TMARING_I8},     {"I32", TMARING_I32},      {"I64", TMARING_I64}};
  cr_assert_eq(sizeof good / sizeof good[0], TMARING_DTYPE_COUNT);
  for (size_t k = 0; k < sizeof good / sizeof good[0]; ++k) {
    char header[256];
    tmaring__array array;
    const size_t bytes = 6 * tmaring_dtype_bytes((tmaring_i32)good[k].type);
    snprintf(
        header, sizeof header,
        "{\"__metadata__\":{\"format\":\"pt\"},\"w\":{\"dtype\":\"%s\",\"shape\":[2,3],\"data_offsets\":[5,%zu]}}  ",
        good[k].dtype, 5 + bytes);
    image file = make_image(header, 5 + bytes);
    cr_assert_eq(tmaring__safetensors_parse(&array, file.data, file.size, "w"), TMARING_OK, "%s",
                 tmaring_last_detail());
    cr_expect_eq(array.dtype, good[k].type);
    cr_expect(array.dims == 2 && array.shape[0] == 2 && array.shape[1] == 3);
    cr_expect_eq(array.bytes, bytes);
    cr_expect_eq(array.data, file.data + 8 + strlen(header) + 5);
    free(file.data);
  }
}

Test(safetensors, takes_every_rank_and_no_elements, .timeout = 10)
{
  const char *const header =
      "{\"one\":{\"dtype\":\"I8\",\"shape\":[],\"data_offsets\":[0,1]},"
      "\"none\":{\"dtype\":\"F32\",\"shape\":[3,0],\"data_offsets\":[7,7]},"
      "\"eight\":{\"shape\":[1,1,1,1,1,1,2,3],\"extra\":null,\"data_offsets\":[1,7],\"dtype\":\"I8\"},"
      "\"other\":{\"dtype\":\"U4\",\"shape\":7}}";
  image file = make_image(header, 7);
  tmaring__array array;
  cr_expect_eq(parse_image(file, &array, "one"), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect(array.dims == 0 && array.bytes == 1);
  cr_expect_eq(parse_image(file, &array, "none"), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect(array.dims == 2 && array.bytes == 0);
  cr_expect_eq(parse_image(file, &array, "eight"), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect(array.dims == 8 && array.bytes == 6 && tmaring__array_rows(&array) == 2);
  cr_expect_eq(parse_image(file, &array, "other"), TMARING_ERROR_FORMAT);
  free(file.data);
}

#define ENTRY(body) "{\"w\":{" body "}}"

typedef struct refused {
  const char *header;
  const char *words;
} refused;

static const refused bad[] = {
    {ENTRY("\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]"), "w: dtype: got U8, needs F64, F32, F16"},
    {ENTRY("\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]"), "w: dtype: got f32"},
    {ENTRY("\"dtype\":\"F32\\u0000\",\"shape\":[1],\"data_offsets\":[0,4]"), "w: dtype: got F32"},
    {ENTRY("\"dtype\":3,\"shape\":[1],\"data_offsets\":[0,4]"), "w: got no dtype"},
    {ENTRY("\"shape\":[1],\"data_offsets\":[0,4]"), "w: got no dtype"},
    {ENTRY("\"dtype\":\"F32\",\"data_offsets\":[0,4]"), "w: got no shape"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":1,\"data_offsets\":[0,4]"), "w: got no shape"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]"), "w: got a shape with something else"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]"), "w: got a shape with something else"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[\"1\"],\"data_offsets\":[0,4]"), "w: got a shape with something else"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,4]"), "got no JSON"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]"), "w: got a shape of 2^63"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[4294967296,0,4294967296],\"data_offsets\":[0,0]"), "w: got a shape of 2^63"},
    {ENTRY("\"dtype\":\"I8\",\"shape\":[1,1,1,1,1,1,1,1,4],\"data_offsets\":[0,4]"),
     "got 9 dimensions, needs at most 8"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[1]"), "w: got other data_offsets"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]"), "w: got other data_offsets"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]"), "w: got other data_offsets"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]"), "w: got other data_offsets"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,\"4\"]"), "w: got other data_offsets"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,4]"), "w: got data_offsets with their end before"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,8]"), "got 8 bytes, needs the 4 of its shape"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,3]"), "got 3 bytes, needs the 4 of its shape"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]"), "got an end at 16, needs at most the 12 bytes"},
    {ENTRY("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[9223372036854775803,9223372036854775807]"),
     "needs at most the 12 bytes of data"},
    {"{\"w\":7}", "w: got something else than an object"},
    {"{\"w\":{},\"w\":{}}", "got no JSON (byte "},
    {ENTRY("\"dtype\":\"F32\",\"dtype\":\"F32\""), "got no JSON (byte "},
    {"{\"w\xff\":{}}", "got no JSON (byte "},
    {"{\"w\\u0000\":{}}", "got no JSON (byte "},
    {"{\"w\":", "got no JSON (byte "},
    {"{} x", "got no JSON (byte "},
    {"[1]", "got JSON that is no object"},
    {"", "got no JSON (byte "},
};

Test(safetensors, refuses_the_rest_by_name, .timeout = 30)
{
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
    tmaring__array array;
    image file = make_image(bad[k].header, 12);
    cr_expect_eq(parse_image(file, &array, "w"), TMARING_ERROR_FORMAT, "%s", bad[k].header);
    expect_words(bad[k].words);
    cr_expect_null(array.data);
    free(file.data);
  }
}

Test(safetensors, refuses_lengths_by_name, .timeout = 10)
{
  tmaring__array array;
  image file = make_image_of(100000001, "{}", 2, 0);
  cr_expect_eq(parse_image(file, &array, "w"), TMARING_ERROR_FORMAT);
  expect_words("header length: got 100000001 bytes, needs at most 100000000");
  free(file.data);
  file = make_image_of(UINT64_MAX, "{}", 2, 0);
  cr_expect_eq(parse_image(file, &array, "w"), TMARING_ERROR_FORMAT);
  expect_words("header length: got 18446744073709551615 bytes");
  free(file.data);
  file = make_image_of(100000000, "{}", 2, 0);
  cr_expect_eq(parse_image(file, &array, "w"), TMARING_ERROR_FORMAT);
  expect_words("safetensors header: got 2 bytes, needs 100000000; the file is truncated");
  free(file.data);
}

#define SOUND "{\"a.w\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]}}"

Test(safetensors, refuses_truncation_at_each_length, .timeout = 10)
{
  image file = make_image(SOUND, 12);
  const size_t whole = file.size;
  tmaring__array array;
  for (file.size = 0; file.size < whole; ++file.size) {
    cr_expect_eq(parse_image(file, &array, "a.w"), TMARING_ERROR_FORMAT, "%zu bytes", file.size);
    expect_words("truncated");
  }
  cr_expect_eq(parse_image(file, &array, "a.w"), TMARING_OK);
  free(file.data);
}

Test(safetensors, names_what_is_near_a_missing_tensor, .timeout = 10)
{
  tmaring__array array;
  image file = make_image("{\"__metadata__\":{},\"model.layers.0.norm.weight\":{},\"model.norm.weight\":{},"
                          "\"lm_head.weight\":{},\"a\":{},\"b\":{},\"c\":{},\"d\":{}}",
                          0);
  cr_expect_eq(parse_image(file, &array, "model.norm.wieght"), TMARING_ERROR_FORMAT);
  expect_words("tensor: got 'model.norm.wieght', needs one of the 7 in the file; near it: model.norm.weight, ");
  cr_expect_eq(parse_image(file, &array, "head.weight"), TMARING_ERROR_FORMAT);
  expect_words("near it: lm_head.weight, ");
  cr_expect_eq(parse_image(file, &array, NULL), TMARING_ERROR_FORMAT);
  expect_words("tensor: got no name, needs one of the 7 in the file; near it: ");
  cr_expect_eq(parse_image(file, &array, "__metadata__"), TMARING_ERROR_FORMAT);
  expect_words("tensor: got '__metadata__', needs one of the 7");
  free(file.data);
  file = make_image("{}", 0);
  cr_expect_eq(parse_image(file, &array, ""), TMARING_ERROR_FORMAT);
  cr_expect_str_eq(tmaring_last_detail(), "tensor: got '', needs one of the 0 in the file");
  free(file.data);
}

/* The longest names that a message quotes, and longer ones. */
Test(safetensors, quotes_long_names_in_part, .timeout = 10)
{
  static char name[5000], header[16000];
  tmaring__array array;
  memset(name, 'n', sizeof name - 1);
  snprintf(header, sizeof header, "{\"%s\":{},\"%s2\":{\"dtype\":\"%s\"}}", name, name, name);
  image file = make_image(header, 0);
  name[4000] = 'x';
  cr_expect_eq(parse_image(file, &array, name), TMARING_ERROR_FORMAT);
  cr_expect_lt(strlen(tmaring_last_detail()), 1024);
  expect_words("near it: nnn");
  free(file.data);
}

Test(safetensors, maps_the_file, .timeout = 10)
{
  tmaring__array array;
  image file = make_image(SOUND, 12);
  const char *const path = tool_path(1, "m.safetensors");
  FILE *const to = fopen(path, "wb");
  cr_assert(to && fwrite(file.data, file.size, 1, to) == 1 && fclose(to) == 0);
  cr_assert_eq(tmaring__safetensors_open(&array, path, "a.w"), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect(array.file.mapped && !array.block);
  cr_expect(memcmp(array.data, file.data + 8 + strlen(SOUND), 12) == 0);
  tmaring__array_free(&array);
  cr_expect_eq(tmaring__safetensors_open(&array, path, "w"), TMARING_ERROR_FORMAT);
  expect_words(path);
  expect_words("near it: a.w");
  cr_expect_eq(tmaring__safetensors_open(&array, "/dev/null", "w"), TMARING_ERROR_IO);
  unlink(path);
  free(file.data);
}

Test(safetensors, survives_mutations, .timeout = 60)
{
  static const char liked[] = "{}[]\",: 0123456789-.eFI\\_";
  noise n = noise_seed(7);
  int passed = 0, failed = 0;
  for (int k = 0; k < 20000; ++k) {
    image file = make_image(SOUND, 12);
    tmaring__array array;
    for (int changes = 1 + noise_below(&n, 3); changes > 0; --changes) {
      const size_t at = (size_t)noise_below(&n, (int32_t)file.size);
      file.data[at] = noise_below(&n, 3) ? (unsigned char)liked[noise_below(&n, (int32_t)sizeof liked - 1)]
                                         : (unsigned char)noise_below(&n, 256);
    }
    const tmaring_status status = parse_image(file, &array, "a.w");
    cr_assert(status == TMARING_OK || status == TMARING_ERROR_FORMAT, "%s", tmaring_status_name(status));
    if (status == TMARING_OK)
      ++passed;
    else
      ++failed;
    free(file.data);
  }
  cr_expect(passed > 1000 && failed > 10000, "%d passed, %d failed: the mutations test nothing", passed, failed);
}

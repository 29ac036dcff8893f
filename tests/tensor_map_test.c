/* Tensor maps without a copy: every limit, one by one, with its message; sizes; splitting; storage. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../src/host/backend/cuda/tensor_map_encode.h"
#include "support/noise.h"
#include "support/venue.h"
#include "tmaring/tensor_map.h"

/* An f32 matrix of 100 rows of 64, in boxes of 32 x 4. */
static tmaring_tensor_map_tiled plain(void)
{
  tmaring_tensor_map_tiled map = TMARING_TENSOR_MAP_TILED_INIT;
  map.rank = 2;
  map.address = 4096;
  map.dims[0] = 64, map.dims[1] = 100;
  map.strides[1] = 256;
  map.box[0] = 32, map.box[1] = 4;
  return map;
}

/* f16 images, 8 x 11 pixels of 64 channels, 3 of them; a 3 x 3 window with padding 1. */
static tmaring_tensor_map_im2col pixels(void)
{
  tmaring_tensor_map_im2col map = TMARING_TENSOR_MAP_IM2COL_INIT;
  map.dtype = TMARING_F16;
  map.rank = 4;
  map.address = 4096;
  map.dims[0] = 64, map.dims[1] = 11, map.dims[2] = 8, map.dims[3] = 3;
  map.strides[1] = 128, map.strides[2] = 11 * 128, map.strides[3] = 8 * 11 * 128;
  map.lower[0] = map.lower[1] = -1;
  map.upper[0] = map.upper[1] = -1;
  map.channels = 64, map.pixels = 50;
  return map;
}

/* ---- limits ---- */

#define MOST_WORDS 5

/* A map just beyond a limit. words: what the message has to say. ours: a limit that the driver's call cannot show. */
typedef struct limit_case {
  const char *change;
  tmaring_tensor_map_tiled map;
  tmaring_status status;
  int ours;
  const char *word[MOST_WORDS];
} limit_case;

#define LIMIT(change, is_ours, is_status, ...)                                                                         \
  do {                                                                                                                 \
    limit_case c = {#change, plain(), TMARING_##is_status, is_ours, {__VA_ARGS__}};                                    \
    tmaring_tensor_map_tiled *m = &c.map;                                                                              \
    change;                                                                                                            \
    judge(&c, state);                                                                                                  \
  } while (0)

static void each_limit(void (*judge)(const limit_case *c, void *state), void *state)
{
  LIMIT(m->size = 8, 1, ERROR_ARGUMENT, "size", "8");
  LIMIT(m->dtype = (tmaring_dtype)99, 1, ERROR_TYPE, "dtype", "99", "bf16");
  LIMIT(m->rank = 0, 0, ERROR_SHAPE, "rank", "0", "1 .. 5");
  LIMIT(m->rank = 6, 1, ERROR_SHAPE, "rank", "6", "1 .. 5");
  LIMIT(m->rank = -1, 1, ERROR_SHAPE, "rank", "-1", "1 .. 5");
  LIMIT(m->address = 4104, 0, ERROR_ALIGNMENT, "address", "0x1008", "8 bytes", "multiple of 16");
  LIMIT(m->address = 4097, 0, ERROR_ALIGNMENT, "address", "0x1001", "multiple of 16");
  LIMIT(m->dims[0] = 0, 0, ERROR_SHAPE, "dims[0]", "got 0", "2^32");
  LIMIT(m->dims[1] = 0, 0, ERROR_SHAPE, "dims[1]", "got 0", "2^32");
  LIMIT(m->dims[1] = ((uint64_t)1 << 32) + 1, 0, ERROR_SHAPE, "dims[1]", "4294967297", "2^32");
  LIMIT(m->strides[0] = 8, 1, ERROR_UNSUPPORTED, "strides[0]", "got 8", "needs 4", "f32");
  LIMIT(m->strides[1] = 264, 0, ERROR_ALIGNMENT, "strides[1]", "got 264", "multiple of 16", "272");
  LIMIT(m->strides[1] = (uint64_t)1 << 40, 0, ERROR_SHAPE, "strides[1]", "1099511627776", "2^40");
  LIMIT(m->box[0] = 0, 0, ERROR_SHAPE, "box[0]", "got 0", "256");
  LIMIT(m->box[1] = 0, 0, ERROR_SHAPE, "box[1]", "got 0", "256");
  LIMIT(m->box[0] = 260, 0, ERROR_SHAPE, "box[0]", "got 260", "256", "split");
  LIMIT(m->box[1] = 257, 0, ERROR_SHAPE, "box[1]", "got 257", "256", "split");
  LIMIT(m->box[0] = 2, 0, ERROR_ALIGNMENT, "box[0]", "8 bytes", "multiple of 16");
  LIMIT(m->box[0] = 33, 0, ERROR_ALIGNMENT, "box[0]", "132 bytes", "multiple of 16");
  LIMIT(m->element_strides[1] = 9, 0, ERROR_SHAPE, "element_strides[1]", "got 9", "1 .. 8");
  LIMIT(m->element_strides[0] = 2, 1, ERROR_UNSUPPORTED, "element_strides[0]", "got 2", "needs 1");
  LIMIT(m->swizzle = 4, 1, ERROR_ARGUMENT, "swizzle", "got 4");
  LIMIT(m->swizzle = -1, 1, ERROR_ARGUMENT, "swizzle", "got -1");
  LIMIT(m->swizzle = TMARING_SWIZZLE_32B, 0, ERROR_SHAPE, "box[0]", "128 bytes", "32", "8 elements");
  LIMIT(m->swizzle = TMARING_SWIZZLE_64B, 0, ERROR_SHAPE, "box[0]", "128 bytes", "64", "16 elements");
  LIMIT((m->swizzle = TMARING_SWIZZLE_128B, m->box[0] = 36), 0, ERROR_SHAPE, "box[0]", "144 bytes", "128", "span");
  LIMIT(m->fill = 2, 1, ERROR_ARGUMENT, "fill", "got 2");
  LIMIT((m->fill = TMARING_FILL_NAN, m->dtype = TMARING_I32), 0, ERROR_TYPE, "fill", "i32", "f16");
  LIMIT((m->fill = TMARING_FILL_NAN, m->dtype = TMARING_E4M3), 0, ERROR_TYPE, "fill", "e4m3", "f16");
  LIMIT((m->fill = TMARING_FILL_NAN, m->dtype = TMARING_E5M2), 0, ERROR_TYPE, "fill", "e5m2", "f16");
  LIMIT((m->fill = TMARING_FILL_NAN, m->dtype = TMARING_I8), 0, ERROR_TYPE, "fill", "i8", "f16");
  LIMIT(m->l2_bytes = 32, 1, ERROR_ARGUMENT, "l2_bytes", "got 32", "256");
  LIMIT((m->box[0] = 256, m->box[1] = 256), 1, ERROR_CAPACITY, "box", "262144", "232448");
}

static void says(const char *change, tmaring_status got, tmaring_status status, const char *const *word)
{
  cr_expect_eq(got, status, "%s: %s, %s", change, tmaring_status_name(got), tmaring_last_detail());
  for (int i = 0; i < MOST_WORDS && word[i]; ++i)
    cr_expect_not_null(strstr(tmaring_last_detail(), word[i]), "%s: no \"%s\" in: %s", change, word[i],
                       tmaring_last_detail());
}

static void refuse(const limit_case *c, void *state)
{
  _Alignas(64) unsigned char storage[128], before[128];
  memset(storage, 0xa5, sizeof storage);
  memcpy(before, storage, sizeof before);
  says(c->change, tmaring_tensor_map_check_tiled(&c->map), c->status, c->word);
  says(c->change, tmaring_tensor_map_encode_tiled(storage, &c->map), c->status, c->word);
  cr_expect_eq(memcmp(storage, before, sizeof storage), 0, "%s wrote", c->change);
  cr_expect_eq(tmaring_tensor_map_tiled_bytes(&c->map), 0, "%s", c->change);
  cr_expect_eq(tmaring_tensor_map_tiled_room(&c->map), 0, "%s", c->change);
  ++*(int *)state;
}

Test(tensor_map, limits_of_tiles, .timeout = 10)
{
  int cases = 0;
  const tmaring_tensor_map_tiled map = plain();
  cr_assert_eq(tmaring_tensor_map_check_tiled(&map), TMARING_OK, "%s", tmaring_last_detail());
  each_limit(refuse, &cases);
  cr_expect_geq(cases, 30);
  cr_expect_eq(tmaring_tensor_map_check_tiled(NULL), TMARING_ERROR_ARGUMENT);
}

#define TAKEN(change)                                                                                                  \
  do {                                                                                                                 \
    tmaring_tensor_map_tiled map = plain(), *m = &map;                                                                 \
    change;                                                                                                            \
    cr_expect_eq(tmaring_tensor_map_check_tiled(m), TMARING_OK, "%s: %s", #change, tmaring_last_detail());             \
  } while (0)

/* The other side of every limit. */
Test(tensor_map, up_to_the_limits, .timeout = 10)
{
  TAKEN(m->rank = 1);
  TAKEN((m->rank = 5, m->dims[2] = m->dims[3] = m->dims[4] = 1, m->box[2] = m->box[3] = m->box[4] = 1));
  TAKEN(m->address = 0); /* before a launch gives one */
  TAKEN(m->address = 4112);
  TAKEN(m->dims[1] = (uint64_t)1 << 32);
  TAKEN(m->dims[0] = 1);
  TAKEN(m->strides[0] = 4);
  TAKEN(m->strides[1] = ((uint64_t)1 << 40) - 16);
  TAKEN(m->strides[1] = 16);
  TAKEN(m->box[0] = 256);
  TAKEN(m->box[1] = 256);
  TAKEN(m->box[0] = 4);
  TAKEN(m->element_strides[1] = 8);
  TAKEN(m->element_strides[0] = 1);
  TAKEN((m->swizzle = TMARING_SWIZZLE_32B, m->box[0] = 8));
  TAKEN((m->swizzle = TMARING_SWIZZLE_64B, m->box[0] = 16));
  TAKEN((m->swizzle = TMARING_SWIZZLE_128B, m->box[0] = 32));
  TAKEN((m->swizzle = TMARING_SWIZZLE_128B, m->box[0] = 4));
  TAKEN(m->fill = TMARING_FILL_NAN);
  TAKEN((m->box[0] = 256, m->box[1] = 227)); /* 232448 bytes */
}

#define PIXEL_LIMIT(change, status, ...)                                                                               \
  do {                                                                                                                 \
    static const char *const word[MOST_WORDS] = {__VA_ARGS__};                                                         \
    _Alignas(64) unsigned char storage[128];                                                                           \
    tmaring_tensor_map_im2col map = pixels(), *m = &map;                                                               \
    change;                                                                                                            \
    says(#change, tmaring_tensor_map_check_im2col(m), TMARING_##status, word);                                         \
    says(#change, tmaring_tensor_map_encode_im2col(storage, m), TMARING_##status, word);                               \
    cr_expect_eq(tmaring_tensor_map_im2col_bytes(m), 0, "%s", #change);                                                \
    cr_expect_eq(tmaring_tensor_map_im2col_room(m), 0, "%s", #change);                                                 \
  } while (0)

static void set_volume(tmaring_tensor_map_im2col *m)
{
  m->rank = 5;
  m->dims[4] = 2;
  m->strides[4] = 3 * 8 * 11 * 128;
}

static void set_line(tmaring_tensor_map_im2col *m)
{
  m->rank = 3;
  m->dims[1] = 70000;
}

Test(tensor_map, limits_of_pixels, .timeout = 10)
{
  tmaring_tensor_map_im2col taken = pixels();
  cr_assert_eq(tmaring_tensor_map_check_im2col(&taken), TMARING_OK, "%s", tmaring_last_detail());
  PIXEL_LIMIT(m->size = 0, ERROR_ARGUMENT, "size");
  PIXEL_LIMIT(m->rank = 2, ERROR_SHAPE, "rank", "got 2", "3 .. 5");
  PIXEL_LIMIT(m->rank = 6, ERROR_SHAPE, "rank", "got 6", "3 .. 5");
  PIXEL_LIMIT(m->address = 4100, ERROR_ALIGNMENT, "address", "multiple of 16");
  PIXEL_LIMIT(m->dims[3] = 0, ERROR_SHAPE, "dims[3]", "got 0");
  PIXEL_LIMIT(m->strides[2] += 8, ERROR_ALIGNMENT, "strides[2]", "multiple of 16");
  PIXEL_LIMIT(m->channels = 0, ERROR_SHAPE, "channels", "got 0", "256");
  PIXEL_LIMIT(m->channels = 257, ERROR_SHAPE, "channels", "got 257", "256");
  PIXEL_LIMIT(m->channels = 4, ERROR_ALIGNMENT, "channels", "8 bytes", "multiple of 16");
  PIXEL_LIMIT(m->pixels = 0, ERROR_SHAPE, "pixels", "got 0", "1024");
  PIXEL_LIMIT(m->pixels = 1025, ERROR_SHAPE, "pixels", "got 1025", "1024");
  PIXEL_LIMIT(m->lower[1] = -129, ERROR_SHAPE, "lower[1]", "-129", "-128 .. 127");
  PIXEL_LIMIT(m->lower[0] = 128, ERROR_SHAPE, "lower[0]", "128", "-128 .. 127");
  PIXEL_LIMIT(m->upper[0] = 128, ERROR_SHAPE, "upper[0]", "128", "-128 .. 127");
  PIXEL_LIMIT((set_volume(m), m->lower[2] = -17), ERROR_SHAPE, "lower[2]", "-17", "-16 .. 15");
  PIXEL_LIMIT((set_volume(m), m->upper[2] = 16), ERROR_SHAPE, "upper[2]", "16", "-16 .. 15");
  PIXEL_LIMIT((set_line(m), m->lower[0] = -32769), ERROR_SHAPE, "lower[0]", "-32769", "-32768 .. 32767");
  PIXEL_LIMIT((set_line(m), m->upper[0] = 32768), ERROR_SHAPE, "upper[0]", "32768", "-32768 .. 32767");
  PIXEL_LIMIT(m->upper[0] = -12, ERROR_SHAPE, "upper[0]", "-12", "0 window positions");
  PIXEL_LIMIT(m->element_strides[2] = 9, ERROR_SHAPE, "element_strides[2]", "got 9", "1 .. 8");
  PIXEL_LIMIT(m->element_strides[0] = 2, ERROR_UNSUPPORTED, "element_strides[0]", "needs 1");
  PIXEL_LIMIT(m->swizzle = TMARING_SWIZZLE_64B, ERROR_SHAPE, "channels", "128 bytes", "64", "span");
  PIXEL_LIMIT((m->fill = TMARING_FILL_NAN, m->dtype = TMARING_I8), ERROR_TYPE, "fill", "i8");
  PIXEL_LIMIT((m->channels = 256, m->pixels = 1024), ERROR_CAPACITY, "pixels", "524288", "232448");
  taken.lower[0] = -128, taken.upper[0] = 127, taken.pixels = 1024;
  cr_expect_eq(tmaring_tensor_map_check_im2col(&taken), TMARING_OK, "%s", tmaring_last_detail());
  set_volume(&taken);
  taken.lower[0] = -16, taken.upper[0] = 15, taken.lower[1] = taken.lower[2] = 0, taken.upper[1] = taken.upper[2] = 0;
  cr_expect_eq(tmaring_tensor_map_check_im2col(&taken), TMARING_OK, "%s", tmaring_last_detail());
  set_line(&taken);
  taken.lower[0] = -32768, taken.upper[0] = 32767;
  cr_expect_eq(tmaring_tensor_map_check_im2col(&taken), TMARING_OK, "%s", tmaring_last_detail());
}

/* F01: rows whose pitch is no multiple of 16. */
Test(tensor_map, F01, .timeout = 10)
{
  static const char *const word[MOST_WORDS] = {"strides[1]", "6932", "multiple of 16", "6944"};
  static const char *const byte_word[MOST_WORDS] = {"strides[1]", "44", "multiple of 16", "48"};
  tmaring_tensor_map_tiled map = plain();
  map.dims[0] = 1733, map.dims[1] = 128, map.box[0] = 32, map.box[1] = 64;
  map.strides[1] = 6932;
  says("pitch 6932", tmaring_tensor_map_check_tiled(&map), TMARING_ERROR_ALIGNMENT, word);
  map.strides[1] = 6944;
  cr_expect_eq(tmaring_tensor_map_check_tiled(&map), TMARING_OK, "%s", tmaring_last_detail());
  map.dtype = TMARING_I8;
  map.dims[0] = 44;
  map.strides[1] = 44;
  says("pitch 44", tmaring_tensor_map_check_tiled(&map), TMARING_ERROR_ALIGNMENT, byte_word);
  map.strides[1] = 48;
  cr_expect_eq(tmaring_tensor_map_check_tiled(&map), TMARING_OK, "%s", tmaring_last_detail());
}

/* ---- sizes and splitting ---- */

Test(tensor_map, bytes, .timeout = 10)
{
  tmaring_tensor_map_tiled map = plain();
  tmaring_tensor_map_im2col image = pixels();
  cr_expect_eq(tmaring_tensor_map_tiled_bytes(&map), 512);
  map.element_strides[1] = 3; /* rows 0 and 3 of 4 */
  cr_expect_eq(tmaring_tensor_map_tiled_bytes(&map), 256);
  map.element_strides[1] = 8;
  cr_expect_eq(tmaring_tensor_map_tiled_bytes(&map), 128);
  map.dtype = TMARING_E5M2;
  cr_expect_eq(tmaring_tensor_map_tiled_bytes(&map), 32);
  cr_expect_eq(tmaring_tensor_map_tiled_room(&map), 32);
  map.element_strides[1] = 0;
  map.swizzle = TMARING_SWIZZLE_128B; /* rows of 32 bytes lie 128 apart */
  cr_expect_eq(tmaring_tensor_map_tiled_bytes(&map), 128);
  cr_expect_eq(tmaring_tensor_map_tiled_room(&map), 512);
  cr_expect_eq(tmaring_tensor_map_im2col_bytes(&image), 50 * 128);
  image.channels = 16;
  image.element_strides[1] = 2; /* takes other pixels, not fewer */
  cr_expect_eq(tmaring_tensor_map_im2col_bytes(&image), 50 * 32);
  image.swizzle = TMARING_SWIZZLE_64B;
  cr_expect_eq(tmaring_tensor_map_im2col_room(&image), 50 * 64);
}

/* F02: what is over 256 is cut, what is not stays as it is. */
static void split(uint32_t inner, uint32_t outer, int32_t swizzle, uint32_t inner_count, uint32_t outer_count)
{
  tmaring_tensor_map_tiled map = plain();
  uint32_t counts[TMARING_MAX_RANK] = {0};
  map.dtype = TMARING_BF16;
  map.dims[0] = 8192, map.dims[1] = 8192, map.strides[1] = 16384;
  map.box[0] = inner, map.box[1] = outer, map.swizzle = swizzle;
  cr_assert_eq(tmaring_tensor_map_split(&map, counts), TMARING_OK, "%u: %s", (unsigned)inner, tmaring_last_detail());
  cr_expect_eq(counts[0], inner_count, "%u: %u", (unsigned)inner, (unsigned)counts[0]);
  cr_expect_eq(counts[1], outer_count, "%u: %u", (unsigned)outer, (unsigned)counts[1]);
  cr_expect(counts[2] == 1 && counts[3] == 1 && counts[4] == 1);
  cr_expect_eq(map.box[0] * counts[0], inner);
  cr_expect_eq(map.box[1] * counts[1], outer);
  cr_expect_eq(counts[0] * counts[1] * tmaring_tensor_map_tiled_bytes(&map), inner * outer * 2);
}

Test(tensor_map, F02, .timeout = 10)
{
  split(512, 1, TMARING_SWIZZLE_NONE, 2, 1);
  split(256, 2, TMARING_SWIZZLE_NONE, 1, 1);
  split(320, 1, TMARING_SWIZZLE_NONE, 2, 1);
  split(16, 768, TMARING_SWIZZLE_NONE, 1, 3);
  split(512, 3, TMARING_SWIZZLE_128B, 8, 1);
  split(64, 514, TMARING_SWIZZLE_32B, 4, 257);
  split(264, 1, TMARING_SWIZZLE_NONE, 3, 1);
}

Test(tensor_map, split_refuses, .timeout = 10)
{
  static const char *const word[MOST_WORDS] = {"box[0]", "got 1042", "256"};
  static const char *const stride_word[MOST_WORDS] = {"strides[1]"};
  static const char *const step_word[MOST_WORDS] = {"box[1]", "got 514", "256"};
  uint32_t counts[TMARING_MAX_RANK] = {7, 7, 7, 7, 7};
  tmaring_tensor_map_tiled map = plain(), before;
  map.box[0] = 1042; /* twice a prime */
  before = map;
  says("1042", tmaring_tensor_map_split(&map, counts), TMARING_ERROR_SHAPE, word);
  cr_expect_eq(memcmp(&map, &before, sizeof map), 0);
  cr_expect_eq(counts[0], 7);
  map.box[0] = 512;
  map.strides[1] = 20;
  says("stride", tmaring_tensor_map_split(&map, counts), TMARING_ERROR_ALIGNMENT, stride_word);
  map = plain();
  map.box[1] = 514; /* parts of 2 or 1, of which a step of 4 takes unequal shares */
  map.element_strides[1] = 4;
  says("step", tmaring_tensor_map_split(&map, counts), TMARING_ERROR_SHAPE, step_word);
  map.box[1] = 512;
  cr_expect_eq(tmaring_tensor_map_split(&map, counts), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect(counts[1] == 2 && map.box[1] == 256);
  cr_expect_eq(tmaring_tensor_map_split(NULL, counts), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_tensor_map_split(&map, NULL), TMARING_ERROR_ARGUMENT);
}

/* ---- storage ---- */

/* 0 where there is no driver: what a call then returns is judged by the caller. */
static int encodes(tmaring_status status)
{
  if (status == TMARING_OK) return 1;
  cr_expect(status == TMARING_ERROR_NO_DRIVER || status == TMARING_ERROR_DEVICE, "%s: %s", tmaring_status_name(status),
            tmaring_last_detail());
  return 0;
}

/* F03: 32 behind a multiple of 64 is refused, 64 behind a multiple of 128 is not, whatever cuda.h was there. */
Test(tensor_map, F03, .timeout = 60)
{
  static _Alignas(128) unsigned char room[128 * 5];
  static const char *const word[MOST_WORDS] = {"storage", "32 bytes", "64"};
  const tmaring_tensor_map_tiled map = plain();
  const tmaring_tensor_map_im2col image = pixels();
  says("tiled", tmaring_tensor_map_encode_tiled(room + 32, &map), TMARING_ERROR_ALIGNMENT, word);
  says("pixels", tmaring_tensor_map_encode_im2col(room + 32, &image), TMARING_ERROR_ALIGNMENT, word);
  says("replace", tmaring_tensor_map_replace_address(room + 32, 4096), TMARING_ERROR_ALIGNMENT, word);
  cr_expect_eq(tmaring_tensor_map_encode_tiled(NULL, &map), TMARING_ERROR_ARGUMENT);
  for (size_t offset = 64; offset + 128 <= sizeof room; offset += 128) { /* an array of maps */
    if (!encodes(tmaring_tensor_map_encode_tiled(room + offset, &map))) continue;
    cr_expect_eq(memcmp(room + 64, room + offset, 128), 0);
    cr_expect_eq(tmaring_tensor_map_replace_address(room + offset, 8192), TMARING_OK, "%s", tmaring_last_detail());
    cr_expect_eq(tmaring_tensor_map_encode_tiled(room + offset, &map), TMARING_OK, "%s", tmaring_last_detail());
  }
}

/* A failing encoder says why and touches nothing. */
Test(tensor_map, without_a_driver, .timeout = 60)
{
  tmaring_map map;
  const tmaring_tensor_map_tiled tiles = plain();
  const tmaring_tensor_map_im2col image = pixels();
  tmaring_machine machine = {.size = sizeof machine};
  if (tmaring_machine_query(&machine, 0) == TMARING_OK) cr_skip_test("there is a driver here");
  memset(&map, 0x5a, sizeof map);
  cr_expect_not(encodes(tmaring_tensor_map_encode_tiled(&map, &tiles)));
  cr_expect_not(encodes(tmaring_tensor_map_encode_im2col(&map, &image)));
  cr_expect_not(encodes(tmaring_tensor_map_replace_address(&map, 4096)));
  cr_expect_gt(strlen(tmaring_last_detail()), 10);
  for (int i = 0; i < 16; ++i) cr_expect_eq(map.word[i], 0x5a5a5a5a5a5a5a5aull);
}

Test(tensor_map, addresses, .timeout = 10)
{
  static const char *const word[MOST_WORDS] = {"address", "multiple of 16"};
  tmaring_tensor_map_tiled map = plain();
  tmaring_map storage;
  map.address = 0;
  says("none", tmaring_tensor_map_encode_tiled(&storage, &map), TMARING_ERROR_ARGUMENT, word);
  says("none", tmaring_tensor_map_replace_address(&storage, 0), TMARING_ERROR_ARGUMENT, word);
  says("8", tmaring_tensor_map_replace_address(&storage, 4104), TMARING_ERROR_ALIGNMENT, word);
}

/* ---- with a driver ---- */

/* The same struct gives the same 128 bytes, all of them set, wherever they lie. */
static void same_bytes(const tmaring_tensor_map_tiled *map)
{
  static _Alignas(128) unsigned char room[512];
  memset(room, 0x5a, 256);
  memset(room + 256, 0xa5, 256);
  cr_assert_eq(tmaring_tensor_map_encode_tiled(room, map), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_tensor_map_encode_tiled(room + 256 + 64, map), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_eq(memcmp(room, room + 320, 128), 0);
  for (int i = 0; i < 64; ++i)
    cr_expect(room[128 + i] == 0x5a && room[256 + i] == 0xa5 && room[448 + i] == 0xa5, "wrote beside the map");
}

Test(tensor_map, same_struct_same_bytes_cuda, .timeout = 60)
{
  venue v;
  tmaring_map other, moved;
  tmaring_tensor_map_im2col image = pixels();
  VENUE_NEED_CUDA(&v);
  tmaring_tensor_map_tiled map = plain();
  same_bytes(&map);
  cr_expect_eq(tmaring_tensor_map_encode_tiled(&moved, &map), TMARING_OK);
  map.address = 1 << 20;
  cr_expect_eq(tmaring_tensor_map_encode_tiled(&other, &map), TMARING_OK);
  cr_expect_neq(memcmp(&other, &moved, sizeof other), 0);
  cr_expect_eq(tmaring_tensor_map_replace_address(&moved, 1 << 20), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_eq(memcmp(&other, &moved, sizeof other), 0, "another address is another encoding");
  map.element_strides[1] = 2, map.swizzle = TMARING_SWIZZLE_128B, map.fill = TMARING_FILL_NAN, map.l2_bytes = 128;
  same_bytes(&map);
  cr_expect_eq(tmaring_tensor_map_encode_im2col(&other, &image), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_eq(tmaring_tensor_map_encode_im2col(&moved, &image), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_eq(memcmp(&other, &moved, sizeof other), 0);
  venue_close(&v);
}

#if TMARING_WITH_CUDA

typedef struct driver_view {
  const tmaring__driver *driver;
  int refused, lax;
} driver_view;

static void ask_driver(const limit_case *c, void *state)
{
  driver_view *view = state;
  tmaring_map map;
  if (c->ours) return;
  if (tmaring__tensor_map_encode(view->driver, &map, &c->map) != TMARING_OK) {
    ++view->refused;
    return;
  }
  ++view->lax;
  printf("tensor_map: this driver takes %s\n", c->change);
}

/* The limits are the driver's: what the check refuses, the driver refuses. */
Test(tensor_map, driver_refuses_too_cuda, .timeout = 60)
{
  venue v;
  driver_view view = {NULL, 0, 0};
  VENUE_NEED_CUDA(&v);
  cr_assert_eq(tmaring__driver_get(&view.driver), TMARING_OK);
  each_limit(ask_driver, &view);
  printf("tensor_map: %d limits are the driver's too, %d are stricter here\n", view.refused, view.lax);
  cr_expect_geq(view.refused, 12);
  venue_close(&v);
}

static tmaring_tensor_map_tiled any_map(noise *n)
{
  static const tmaring_dtype types[] = {TMARING_F32,  TMARING_F16, TMARING_BF16, TMARING_F64, TMARING_E4M3,
                                        TMARING_E5M2, TMARING_I8,  TMARING_I32,  TMARING_I64};
  tmaring_tensor_map_tiled map = TMARING_TENSOR_MAP_TILED_INIT;
  map.dtype = types[noise_below(n, 9)];
  map.rank = 1 + noise_below(n, 5);
  map.address = 16 * (1 + (uint64_t)noise_below(n, 1 << 20));
  uint64_t stride = 16 * (1 + (uint64_t)noise_below(n, 100));
  for (int d = 0; d < map.rank; ++d) {
    map.dims[d] = 1 + (uint64_t)noise_below(n, 300);
    map.box[d] = 1 + (uint32_t)noise_below(n, d == 0 ? 64 : 9);
    map.element_strides[d] = (uint32_t)noise_below(n, d == 0 ? 2 : 9);
    if (d > 0) map.strides[d] = stride;
    stride *= 1 + (uint64_t)noise_below(n, 7);
  }
  map.box[0] *= 16 / tmaring_dtype_bytes((tmaring_i32)map.dtype);
  map.swizzle = noise_below(n, 4);
  map.fill = noise_below(n, 2);
  map.l2_bytes = 64 * noise_below(n, 3);
  return map;
}

/* What the check takes, the driver takes. */
Test(tensor_map, driver_takes_too_cuda, .timeout = 60)
{
  venue v;
  const tmaring__driver *driver;
  int taken = 0;
  VENUE_NEED_CUDA(&v);
  cr_assert_eq(tmaring__driver_get(&driver), TMARING_OK);
  noise n = noise_seed(11);
  for (int i = 0; i < 20000; ++i) {
    const tmaring_tensor_map_tiled map = any_map(&n);
    tmaring_map encoded;
    if (tmaring_tensor_map_check_tiled(&map) != TMARING_OK) continue;
    ++taken;
    cr_assert_eq(tmaring__tensor_map_encode(driver, &encoded, &map), TMARING_OK,
                 "map %d: rank %d, dtype %d, box[0] %u, swizzle %d, fill %d, strides[1] %llu: %s", i, (int)map.rank,
                 (int)map.dtype, (unsigned)map.box[0], (int)map.swizzle, (int)map.fill,
                 (unsigned long long)map.strides[1], tmaring_last_detail());
  }
  cr_expect_gt(taken, 3000, "%d", taken);
  venue_close(&v);
}

#endif

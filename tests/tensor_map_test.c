/* Tensor maps without a driver: every limit, one by one, with its message; sizes; splitting. */
#include <criterion/criterion.h>
#include <stddef.h>
#include <string.h>

#include "support/map_limits.h"
#include "support/noise.h"

static void refuse(const map_limit *c, void *state)
{
  _Alignas(64) unsigned char storage[128], before[128];
  memset(storage, 0xa5, sizeof storage);
  memcpy(before, storage, sizeof before);
  map_limits_says(c->change, tmaring_tensor_map_check_tiled(&c->map), c->status, c->word);
  map_limits_says(c->change, tmaring_tensor_map_encode_tiled(storage, &c->map), c->status, c->word);
  cr_expect_eq(memcmp(storage, before, sizeof storage), 0, "%s wrote", c->change);
  cr_expect_eq(tmaring_tensor_map_tiled_bytes(&c->map), 0, "%s", c->change);
  cr_expect_eq(tmaring_tensor_map_tiled_room(&c->map), 0, "%s", c->change);
  ++*(int *)state;
}

Test(tensor_map, limits_of_tiles, .timeout = 10)
{
  int cases = 0;
  const tmaring_tensor_map_tiled map = map_limits_plain();
  cr_assert_eq(tmaring_tensor_map_check_tiled(&map), TMARING_OK, "%s", tmaring_last_detail());
  map_limits_each(refuse, &cases);
  cr_expect_geq(cases, 30);
  cr_expect_eq(tmaring_tensor_map_check_tiled(NULL), TMARING_ERROR_ARGUMENT);
}

#define TAKEN(change)                                                                                                  \
  do {                                                                                                                 \
    tmaring_tensor_map_tiled map = map_limits_plain(), *m = &map;                                                      \
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
    static const char *const word[MAP_LIMIT_WORDS] = {__VA_ARGS__};                                                    \
    _Alignas(64) unsigned char storage[128];                                                                           \
    tmaring_tensor_map_im2col map = map_limits_pixels(), *m = &map;                                                    \
    change;                                                                                                            \
    map_limits_says(#change, tmaring_tensor_map_check_im2col(m), TMARING_##status, word);                              \
    map_limits_says(#change, tmaring_tensor_map_encode_im2col(storage, m), TMARING_##status, word);                    \
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
  tmaring_tensor_map_im2col taken = map_limits_pixels();
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
  static const char *const word[MAP_LIMIT_WORDS] = {"strides[1]", "6932", "multiple of 16", "6944"};
  static const char *const byte_word[MAP_LIMIT_WORDS] = {"strides[1]", "44", "multiple of 16", "48"};
  tmaring_tensor_map_tiled map = map_limits_plain();
  map.dims[0] = 1733, map.dims[1] = 128, map.box[0] = 32, map.box[1] = 64;
  map.strides[1] = 6932;
  map_limits_says("pitch 6932", tmaring_tensor_map_check_tiled(&map), TMARING_ERROR_ALIGNMENT, word);
  map.strides[1] = 6944;
  cr_expect_eq(tmaring_tensor_map_check_tiled(&map), TMARING_OK, "%s", tmaring_last_detail());
  map.dtype = TMARING_I8;
  map.dims[0] = 44;
  map.strides[1] = 44;
  map_limits_says("pitch 44", tmaring_tensor_map_check_tiled(&map), TMARING_ERROR_ALIGNMENT, byte_word);
  map.strides[1] = 48;
  cr_expect_eq(tmaring_tensor_map_check_tiled(&map), TMARING_OK, "%s", tmaring_last_detail());
}

/* ---- sizes and splitting ---- */

Test(tensor_map, bytes, .timeout = 10)
{
  tmaring_tensor_map_tiled map = map_limits_plain();
  tmaring_tensor_map_im2col image = map_limits_pixels();
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
  tmaring_tensor_map_tiled map = map_limits_plain();
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
  static const char *const word[MAP_LIMIT_WORDS] = {"box[0]", "got 1042", "256"};
  static const char *const stride_word[MAP_LIMIT_WORDS] = {"strides[1]"};
  static const char *const step_word[MAP_LIMIT_WORDS] = {"box[1]", "got 514", "256"};
  uint32_t counts[TMARING_MAX_RANK] = {7, 7, 7, 7, 7};
  tmaring_tensor_map_tiled map = map_limits_plain(), before;
  map.box[0] = 1042; /* twice a prime */
  before = map;
  map_limits_says("1042", tmaring_tensor_map_split(&map, counts), TMARING_ERROR_SHAPE, word);
  cr_expect_eq(memcmp(&map, &before, sizeof map), 0);
  cr_expect_eq(counts[0], 7);
  map.box[0] = 512;
  map.strides[1] = 20;
  map_limits_says("stride", tmaring_tensor_map_split(&map, counts), TMARING_ERROR_ALIGNMENT, stride_word);
  map = map_limits_plain();
  map.box[1] = 514; /* parts of 2 or 1, of which a step of 4 takes unequal shares */
  map.element_strides[1] = 4;
  map_limits_says("step", tmaring_tensor_map_split(&map, counts), TMARING_ERROR_SHAPE, step_word);
  map.box[1] = 512;
  cr_expect_eq(tmaring_tensor_map_split(&map, counts), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect(counts[1] == 2 && map.box[1] == 256);
  cr_expect_eq(tmaring_tensor_map_split(NULL, counts), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_tensor_map_split(&map, NULL), TMARING_ERROR_ARGUMENT);
}

/* Fields of any bits: an answer, and a size where the answer is yes. */
static void scramble(noise *n, void *memory, size_t bytes)
{
  for (size_t i = 0; i < bytes; ++i) {
    if (noise_below(n, 12) == 0) ((unsigned char *)memory)[i] = (unsigned char)noise_next(n);
  }
}

Test(tensor_map, any_bits, .timeout = 30)
{
  noise n = noise_seed(19);
  int taken = 0;
  for (int i = 0; i < 100000; ++i) {
    tmaring_tensor_map_tiled map = map_limits_plain();
    tmaring_tensor_map_im2col image = map_limits_pixels();
    uint32_t counts[TMARING_MAX_RANK];
    scramble(&n, &map.strides, sizeof map - offsetof(tmaring_tensor_map_tiled, strides));
    scramble(&n, &image.dims, sizeof image - offsetof(tmaring_tensor_map_im2col, dims));
    if (i % 2) map.rank = (int32_t)noise_next(&n), image.rank = noise_below(&n, 7);
    const int good = tmaring_tensor_map_check_tiled(&map) == TMARING_OK;
    const int good_image = tmaring_tensor_map_check_im2col(&image) == TMARING_OK;
    cr_assert_eq(tmaring_tensor_map_tiled_bytes(&map) > 0, good);
    cr_assert_eq(tmaring_tensor_map_im2col_bytes(&image) > 0, good_image);
    if (tmaring_tensor_map_split(&map, counts) == TMARING_OK)
      cr_assert_eq(tmaring_tensor_map_check_tiled(&map), TMARING_OK);
    else
      cr_assert_not(good);
    taken += good + good_image;
  }
  cr_expect_gt(taken, 20, "%d", taken);
}

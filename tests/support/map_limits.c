#include "map_limits.h"

#include <criterion/criterion.h>
#include <string.h>

tmaring_tensor_map_tiled map_limits_plain(void)
{
  tmaring_tensor_map_tiled map = TMARING_TENSOR_MAP_TILED_INIT;
  map.rank = 2;
  map.address = 4096;
  map.dims[0] = 64, map.dims[1] = 100;
  map.strides[1] = 256;
  map.box[0] = 32, map.box[1] = 4;
  return map;
}

tmaring_tensor_map_im2col map_limits_pixels(void)
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

#define LIMIT(change, is_ours, is_status, ...)                                                                         \
  do {                                                                                                                 \
    map_limit c = {#change, map_limits_plain(), TMARING_##is_status, is_ours, {__VA_ARGS__}};                          \
    tmaring_tensor_map_tiled *m = &c.map;                                                                              \
    change;                                                                                                            \
    judge(&c, state);                                                                                                  \
  } while (0)

static void tensor_limits(void (*judge)(const map_limit *c, void *state), void *state)
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
}

static void box_limits(void (*judge)(const map_limit *c, void *state), void *state)
{
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
  LIMIT((m->box[0] = 256, m->box[1] = 256), 1, ERROR_CAPACITY, "box", "262144", "232448");
}

static void fill_limits(void (*judge)(const map_limit *c, void *state), void *state)
{
  LIMIT(m->fill = 2, 1, ERROR_ARGUMENT, "fill", "got 2");
  LIMIT((m->fill = TMARING_FILL_NAN, m->dtype = TMARING_I32), 0, ERROR_TYPE, "fill", "i32", "f16");
  LIMIT((m->fill = TMARING_FILL_NAN, m->dtype = TMARING_E4M3), 0, ERROR_TYPE, "fill", "e4m3", "f16");
  LIMIT((m->fill = TMARING_FILL_NAN, m->dtype = TMARING_E5M2), 0, ERROR_TYPE, "fill", "e5m2", "f16");
  LIMIT((m->fill = TMARING_FILL_NAN, m->dtype = TMARING_I8), 0, ERROR_TYPE, "fill", "i8", "f16");
  LIMIT(m->l2_bytes = 32, 1, ERROR_ARGUMENT, "l2_bytes", "got 32", "256");
}

void map_limits_each(void (*judge)(const map_limit *c, void *state), void *state)
{
  tensor_limits(judge, state);
  box_limits(judge, state);
  fill_limits(judge, state);
}

void map_limits_says(const char *change, tmaring_status got, tmaring_status status, const char *const *word)
{
  cr_expect_eq(got, status, "%s: %s, %s", change, tmaring_status_name(got), tmaring_last_detail());
  for (int i = 0; i < MAP_LIMIT_WORDS && word[i]; ++i)
    cr_expect_not_null(strstr(tmaring_last_detail(), word[i]), "%s: no \"%s\" in: %s", change, word[i],
                       tmaring_last_detail());
}

/* Encoding tensor maps: storage, addresses, the driver, and machines without one. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../src/host/backend/cuda/tensor_map_encode.h"
#include "support/map_limits.h"
#include "support/noise.h"
#include "support/venue.h"

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
Test(tensor_map_encode, F03, .timeout = 60)
{
  static _Alignas(128) unsigned char room[128 * 5];
  static const char *const word[MAP_LIMIT_WORDS] = {"storage", "32 bytes", "64"};
  const tmaring_tensor_map_tiled map = map_limits_plain();
  const tmaring_tensor_map_im2col image = map_limits_pixels();
  map_limits_says("tiled", tmaring_tensor_map_encode_tiled(room + 32, &map), TMARING_ERROR_ALIGNMENT, word);
  map_limits_says("pixels", tmaring_tensor_map_encode_im2col(room + 32, &image), TMARING_ERROR_ALIGNMENT, word);
  map_limits_says("replace", tmaring_tensor_map_replace_address(room + 32, 4096), TMARING_ERROR_ALIGNMENT, word);
  cr_expect_eq(tmaring_tensor_map_encode_tiled(NULL, &map), TMARING_ERROR_ARGUMENT);
  for (size_t offset = 64; offset + 128 <= sizeof room; offset += 128) { /* an array of maps */
    if (!encodes(tmaring_tensor_map_encode_tiled(room + offset, &map))) continue;
    cr_expect_eq(memcmp(room + 64, room + offset, 128), 0);
    cr_expect_eq(tmaring_tensor_map_replace_address(room + offset, 8192), TMARING_OK, "%s", tmaring_last_detail());
    cr_expect_eq(tmaring_tensor_map_encode_tiled(room + offset, &map), TMARING_OK, "%s", tmaring_last_detail());
  }
}

/* A failing encoder says why and touches nothing. */
Test(tensor_map_encode, without_a_driver, .timeout = 60)
{
  tmaring_map map;
  const tmaring_tensor_map_tiled tiles = map_limits_plain();
  const tmaring_tensor_map_im2col image = map_limits_pixels();
  tmaring_machine machine = {.size = sizeof machine};
  if (tmaring_machine_query(&machine, 0) == TMARING_OK) cr_skip_test("there is a driver here");
  memset(&map, 0x5a, sizeof map);
  cr_expect_not(encodes(tmaring_tensor_map_encode_tiled(&map, &tiles)));
  cr_expect_not(encodes(tmaring_tensor_map_encode_im2col(&map, &image)));
  cr_expect_not(encodes(tmaring_tensor_map_replace_address(&map, 4096)));
  cr_expect_gt(strlen(tmaring_last_detail()), 10);
  for (int i = 0; i < 16; ++i) cr_expect_eq(map.word[i], 0x5a5a5a5a5a5a5a5aull);
}

Test(tensor_map_encode, addresses, .timeout = 10)
{
  static const char *const word[MAP_LIMIT_WORDS] = {"address", "multiple of 16"};
  tmaring_tensor_map_tiled map = map_limits_plain();
  tmaring_map storage;
  map.address = 0;
  map_limits_says("none", tmaring_tensor_map_encode_tiled(&storage, &map), TMARING_ERROR_ARGUMENT, word);
  map_limits_says("none", tmaring_tensor_map_replace_address(&storage, 0), TMARING_ERROR_ARGUMENT, word);
  map_limits_says("8", tmaring_tensor_map_replace_address(&storage, 4104), TMARING_ERROR_ALIGNMENT, word);
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

Test(tensor_map_encode, same_struct_same_bytes_cuda, .timeout = 60)
{
  venue v;
  tmaring_map other, moved;
  tmaring_tensor_map_im2col image = map_limits_pixels();
  VENUE_NEED_CUDA(&v);
  tmaring_tensor_map_tiled map = map_limits_plain();
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

static void ask_driver(const map_limit *c, void *state)
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
Test(tensor_map_encode, driver_refuses_too_cuda, .timeout = 60)
{
  venue v;
  driver_view view = {NULL, 0, 0};
  VENUE_NEED_CUDA(&v);
  cr_assert_eq(tmaring__driver_get(&view.driver), TMARING_OK);
  map_limits_each(ask_driver, &view);
  printf("tensor_map: %d limits are the driver's too, %d are stricter here\n", view.refused, view.lax);
  cr_expect_geq(view.refused, 12);
  tmaring_tensor_map_tiled map = map_limits_plain(); /* all rows the same one: nothing forbids it */
  tmaring_map encoded;
  map.strides[1] = 0;
  printf("tensor_map: a stride of 0: %s\n",
         tmaring__tensor_map_encode(view.driver, &encoded, &map) == TMARING_OK ? "taken" : tmaring_last_detail());
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
Test(tensor_map_encode, driver_takes_too_cuda, .timeout = 60)
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

/* A GPU's copy engine against the host's: the same boxes, all bytes of shared and of global memory. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/host/jit/nvrtc.h"
#include "support/copy_stand.h"

/* ---- random boxes ---- */

Test(box_copy_device, random_loads_cuda, .timeout = 120)
{
  copy_stand b;
  copy_stand_open(&b, "random boxes, loads", 61);
  for (int i = 0; i < 3000; ++i) {
    const box_case c = box_case_random(&b.n);
    if (!tally_takes(&b.sum)) continue;
    copy_twin t = copy_twin_take(b.v.place, c.tensor_bytes);
    copy_twin_fill(&t, &b.n, 0);
    copy_compare_load(&b, &c, &t);
    copy_twin_give(&t);
  }
  copy_stand_close(&b);
}

static void random_stores(copy_stand *b)
{
  for (int i = 0; i < 4000; ++i) {
    const box_case c = box_case_random(&b->n);
    if (box_case_below_zero(&c) || !tally_takes(&b->sum)) continue;
    copy_twin t = copy_twin_take(b->v.place, c.tensor_bytes);
    copy_twin_fill(&t, &b->n, 1);
    const char *why = copy_store_both(b, &c, &t);
    copy_compare_tensor(b, &t, why, box_case_text(&c));
    copy_twin_give(&t);
  }
}

Test(box_copy_device, random_stores_cuda, .timeout = 120)
{
  copy_stand b;
  copy_stand_open(&b, "random boxes, stores", 67);
  random_stores(&b);
  copy_stand_close(&b);
}

/* Two numbers that only a GPU tells: what NaN elements are filled with, and where the units of a row go that is shorter
 * than the swizzle's span. Printed, so that a GPU that differs shows what it does. */
Test(box_copy_device, filling_cuda, .timeout = 60)
{
  static const tmaring_dtype types[] = {TMARING_F16, TMARING_BF16, TMARING_F32, TMARING_F64};
  copy_stand b;
  copy_stand_open(&b, "filling", 79);
  for (int i = 0; i < 8; ++i) {
    box_case c = box_case_of(&box_shapes[1], types[i / 2], 0, 5);
    unsigned char bits[16384];
    tmaring_map map;
    c.map.fill = i % 2;
    copy_twin t = copy_twin_take(b.v.place, c.tensor_bytes);
    copy_twin_fill(&t, &b.n, 0);
    copy_compare_load(&b, &c, &t);
    const tmaring_tensor_map_tiled there = copy_map_at(&c.map, t.device);
    cr_assert_eq(tmaring_tensor_map_encode_tiled(&map, &there), TMARING_OK, "%s", tmaring_last_detail());
    cr_assert_leq(box_case_room(&c), sizeof bits);
    cr_assert_null(copy_kernel_run(&b.kernel, &map, copy_job_of(&c, COPY_LOAD), bits));
    printf("filling: type %d, fill %d: bytes %02x%02x%02x%02x %02x%02x%02x%02x\n", (int)types[i / 2], i % 2, bits[0],
           bits[1], bits[2], bits[3], bits[4], bits[5], bits[6], bits[7]);
    copy_twin_give(&t);
  }
  copy_stand_close(&b);
}

/* Where unit u of row r went: found by its contents. */
static void print_units(const box_case *c, const unsigned char *got, size_t room, const unsigned char *tensor)
{
  for (uint32_t r = 0; r < 4; ++r) {
    for (size_t u = 0; u * 16 < c->map.box[0] * 4; ++u) {
      const unsigned char *unit = tensor + COPY_BAND + r * c->map.strides[1] + u * 16;
      size_t at = 0;
      while (at < room && memcmp(got + at, unit, 16) != 0) at += 16;
      printf("swizzle %d: row %u, unit %zu: offset %zu%s\n", (int)c->map.swizzle, (unsigned)r, u, at,
             at < room ? "" : " (nowhere)");
    }
  }
}

Test(box_copy_device, rows_shorter_than_the_span_cuda, .timeout = 60)
{
  copy_stand b;
  copy_stand_open(&b, "rows shorter than the swizzle's span", 83);
  for (int32_t swizzle = 1; swizzle < 4; ++swizzle) {
    for (uint32_t units = 1; units < 1u << swizzle; ++units) {
      box_case c = box_case_of(&box_shapes[1], TMARING_F32, swizzle, 0);
      unsigned char got[16384];
      tmaring_map map;
      c.map.box[0] = units * 4;
      copy_twin t = copy_twin_take(b.v.place, c.tensor_bytes);
      copy_twin_fill(&t, &b.n, 0);
      const int failed = b.sum.failed;
      copy_compare_load(&b, &c, &t);
      if (b.sum.failed > failed) {
        const tmaring_tensor_map_tiled there = copy_map_at(&c.map, t.device);
        cr_assert_eq(tmaring_tensor_map_encode_tiled(&map, &there), TMARING_OK);
        const char *why = copy_kernel_run(&b.kernel, &map, copy_job_of(&c, COPY_LOAD), got);
        if (why) printf("swizzle %d: %s\n", (int)swizzle, why);
        print_units(&c, got, box_case_room(&c), t.host);
      }
      copy_twin_give(&t);
    }
  }
  copy_stand_close(&b);
}

/* ---- pixels ---- */

static void compare_pixels(copy_stand *b, const pixel_case *c, const copy_twin *t)
{
  tmaring_tensor_map_im2col here = c->map, there = c->map;
  copy_job job;
  tmaring_map map;
  memset(&job, 0, sizeof job);
  job.direction = COPY_PIXELS;
  job.rank = c->map.rank;
  memcpy(job.coordinates, c->coordinates, sizeof job.coordinates);
  memcpy(job.offsets, c->offsets, sizeof job.offsets);
  job.at = (tmaring_u32)c->offset;
  job.room = (tmaring_u32)pixel_case_room(c);
  job.bytes = tmaring_tensor_map_im2col_bytes(&c->map);
  unsigned char *got = copy_host_take(job.room), *want = copy_host_take(job.room);
  memset(want, COPY_POISON, job.room);
  here.address = (uint64_t)(uintptr_t)(t->host + COPY_BAND);
  there.address = (uint64_t)(uintptr_t)(t->device + COPY_BAND);
  cr_assert_eq(tmaring_tensor_map_load_im2col(&here, c->coordinates, c->offsets, want, c->offset), TMARING_OK, "%s",
               tmaring_last_detail());
  cr_assert_eq(tmaring_tensor_map_encode_im2col(&map, &there), TMARING_OK, "%s: %s", tmaring_last_detail(),
               pixel_case_text(c));
  const char *why = copy_kernel_run(&b->kernel, &map, job, got);
  copy_judge(b, "pixels", why, got, want, job.room, pixel_case_text(c));
  free(got);
  free(want);
}

Test(box_copy_device, random_pixels_cuda, .timeout = 120)
{
  copy_stand b;
  copy_stand_open(&b, "random pixels", 89);
  for (int i = 0; i < 2000; ++i) {
    const pixel_case c = pixel_case_random(&b.n);
    if (!tally_takes(&b.sum)) continue;
    copy_twin t = copy_twin_take(b.v.place, c.tensor_bytes);
    copy_twin_fill(&t, &b.n, 0);
    compare_pixels(&b, &c, &t);
    copy_twin_give(&t);
  }
  copy_stand_close(&b);
}

/* F28: sums of 3 x 3 windows of a ramp, through pixels on the GPU: origins move on to the next row. 4 channels, 3 of them
 * zero. */
static void convolve(copy_stand *b, int h, int w, uint32_t pixels, float *sum)
{
  tmaring_tensor_map_im2col map = TMARING_TENSOR_MAP_IM2COL_INIT;
  float image[64][4], shared[64][4];
  tmaring_map encoded;
  copy_job job;
  memset(image, 0, sizeof image);
  for (int i = 0; i < h * w; ++i) image[i][0] = (float)i;
  void *device = b->v.place->take(sizeof image);
  cr_assert(device && b->v.place->upload(device, image, sizeof image));
  map.rank = 4;
  map.address = (uint64_t)(uintptr_t)device;
  map.dims[0] = 4, map.dims[1] = (uint64_t)w, map.dims[2] = (uint64_t)h, map.dims[3] = 1;
  map.strides[1] = 16, map.strides[2] = 16 * (uint64_t)w, map.strides[3] = 16 * (uint64_t)(h * w);
  map.upper[0] = map.upper[1] = -2;
  map.channels = 4, map.pixels = pixels;
  cr_assert_eq(tmaring_tensor_map_encode_im2col(&encoded, &map), TMARING_OK, "%s", tmaring_last_detail());
  memset(&job, 0, sizeof job);
  job.direction = COPY_PIXELS;
  job.rank = 4;
  job.room = job.bytes = tmaring_tensor_map_im2col_bytes(&map);
  for (uint16_t place = 0; place < 9; ++place) {
    job.offsets[0] = place % 3, job.offsets[1] = place / 3;
    const char *why = copy_kernel_run(&b->kernel, &encoded, job, (unsigned char *)shared);
    cr_assert_null(why, "%s", why);
    for (uint32_t p = 0; p < pixels; ++p) sum[p] += shared[p][0] + shared[p][1] + shared[p][2] + shared[p][3];
  }
  b->v.place->give(device);
}

Test(box_copy_device, F28_cuda, .timeout = 60)
{
  static const float want[18] = {81, 90, 99, 108, 117, 126, 153, 162, 171, 180, 189, 198, 225, 234, 243, 252, 261, 270};
  static const float square[4] = {45, 54, 81, 90};
  float sum[20] = {0}, small[4] = {0};
  copy_stand b;
  copy_stand_open(&b, "F28", 97);
  convolve(&b, 5, 8, 20, sum);
  convolve(&b, 4, 4, 4, small);
  tally_note(&b.sum, memcmp(sum, want, sizeof want) == 0 && sum[18] == 0 && sum[19] == 0, "5 x 8");
  tally_note(&b.sum, memcmp(small, square, sizeof square) == 0, "4 x 4");
  copy_stand_close(&b);
}

/* ---- the kernel ---- */

/* Also brings it into the cache for a GPU machine without a compiler. */
Test(box_copy_device, kernel_compiles_cpu, .timeout = 60)
{
  if (!tmaring__nvrtc_present()) cr_skip_test("no NVRTC here");
  cr_expect_eq(copy_kernel_compile(), TMARING_OK, "%s", tmaring_last_detail());
}

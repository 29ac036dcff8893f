/* The host's copy engine against the definition: every element of a box by itself, with divisions. */
#define _POSIX_C_SOURCE 200809L
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/box_oracle.h"
#include "tmaring/tensor_map.h"

#define POISON 0xa5

/* ---- copies of random boxes ---- */

static unsigned char *take(size_t bytes)
{
  void *memory = NULL;
  cr_assert_eq(posix_memalign(&memory, 1024, bytes + 1024), 0);
  memset(memory, POISON, bytes + 1024); /* a band behind what may be touched */
  return memory;
}

static void scribble(noise *n, unsigned char *memory, size_t bytes)
{
  for (size_t i = 0; i < bytes; ++i) memory[i] = (unsigned char)(1 + noise_below(n, 255));
}

static size_t first_difference(const unsigned char *a, const unsigned char *b, size_t bytes)
{
  for (size_t i = 0; i < bytes; ++i) {
    if (a[i] != b[i]) return i;
  }
  return bytes;
}

static void check_load(const box_case *plain, unsigned char *tensor, int number)
{
  box_case c = *plain;
  const size_t bytes = box_case_room(&c) + 1024;
  unsigned char *got = take(bytes), *want = take(bytes);
  c.map.address = (uint64_t)(uintptr_t)tensor;
  cr_assert_eq(tmaring_tensor_map_load(&c.map, c.coordinates, got, c.offset), TMARING_OK, "%d: %s", number,
               tmaring_last_detail());
  box_oracle_load(&c, tensor, want);
  const size_t at = first_difference(got, want, bytes);
  cr_assert_eq(at, bytes, "load %d, byte %zu: got %02x, want %02x: %s", number, at, got[at], want[at],
               box_case_text(&c));
  free(got);
  free(want);
}

static void check_store(const box_case *plain, noise *n, int number)
{
  box_case c = *plain;
  const size_t bytes = c.tensor_bytes + 256, room = box_case_room(&c);
  unsigned char *got = take(bytes), *want = take(bytes), *shared = take(room);
  scribble(n, shared, room);
  c.map.address = (uint64_t)(uintptr_t)(got + 128);
  const int below = box_case_below_zero(&c);
  const tmaring_status status = tmaring_tensor_map_store(&c.map, c.coordinates, shared, c.offset);
  cr_assert_eq(status, below ? TMARING_ERROR_UNSUPPORTED : TMARING_OK, "%d: %s", number, tmaring_last_detail());
  if (below) cr_assert(strstr(tmaring_last_detail(), "a store needs 0 or more"), "%s", tmaring_last_detail());
  if (!below) box_oracle_store(&c, want + 128, shared);
  const size_t at = first_difference(got, want, bytes);
  cr_assert_eq(at, bytes, "store %d, tensor byte %lld: got %02x, want %02x: %s", number, (long long)at - 128, got[at],
               want[at], box_case_text(&c));
  free(got);
  free(want);
  free(shared);
}

/* 1 where a store clipped at elements would leave other bytes than one of whole units. */
static int clips_between_units(const box_case *c)
{
  for (uint64_t i = 0; i < box_oracle_count(&c->map); ++i) {
    const box_element e = box_oracle_element(c, i);
    if (e.stored && !e.inside) return 1;
  }
  return 0;
}

#define RANDOM_BOXES 6000

Test(box_copy, random_boxes, .timeout = 60)
{
  noise n = noise_seed(41);
  int ranks[TMARING_MAX_RANK + 1] = {0}, swizzles[4] = {0}, below = 0, past = 0, between = 0;
  for (int i = 0; i < RANDOM_BOXES; ++i) {
    const box_case c = box_case_random(&n);
    unsigned char *tensor = take(c.tensor_bytes);
    scribble(&n, tensor, c.tensor_bytes);
    check_load(&c, tensor, i);
    check_store(&c, &n, i);
    free(tensor);
    ++ranks[c.map.rank];
    ++swizzles[c.map.swizzle];
    below += c.coordinates[0] < 0;
    past += c.coordinates[0] >= (int32_t)c.map.dims[0];
    between += clips_between_units(&c);
  }
  cr_expect(below > RANDOM_BOXES / 50 && past > RANDOM_BOXES / 50 && between > RANDOM_BOXES / 10, "%d, %d, %d", below,
            past, between);
  for (int i = 1; i <= TMARING_MAX_RANK; ++i) cr_expect_gt(ranks[i], RANDOM_BOXES / 20);
  for (int i = 0; i < 4; ++i) cr_expect_gt(swizzles[i], RANDOM_BOXES / 20);
}

Test(box_copy, random_pixels, .timeout = 60)
{
  noise n = noise_seed(43);
  for (int i = 0; i < 3000; ++i) {
    pixel_case c = pixel_case_random(&n);
    const size_t bytes = pixel_case_room(&c) + 1024;
    unsigned char *tensor = take(c.tensor_bytes), *got = take(bytes), *want = take(bytes);
    scribble(&n, tensor, c.tensor_bytes);
    c.map.address = (uint64_t)(uintptr_t)tensor;
    cr_assert_eq(tmaring_tensor_map_load_im2col(&c.map, c.coordinates, c.offsets, got, c.offset), TMARING_OK,
                 "%d: %s: %s", i, tmaring_last_detail(), pixel_case_text(&c));
    box_oracle_pixels(&c, tensor, want);
    const size_t at = first_difference(got, want, bytes);
    cr_assert_eq(at, bytes, "%d, byte %zu: got %02x, want %02x: %s", i, at, got[at], want[at], pixel_case_text(&c));
    free(tensor);
    free(got);
    free(want);
  }
}

/* ---- what a copy refuses ---- */

Test(box_copy, refusals, .timeout = 10)
{
  static _Alignas(128) unsigned char tensor[4096], shared[4096];
  noise n = noise_seed(1);
  const uint16_t offsets[3] = {0, 0, 0};
  box_case c = box_case_of(&box_shapes[5], TMARING_F16, 0, 0);
  pixel_case p;
  do p = pixel_case_random(&n);
  while (p.map.rank != 4);
  cr_expect_eq(tmaring_tensor_map_load(&c.map, c.coordinates, shared, 0), TMARING_ERROR_ARGUMENT); /* no address */
  cr_expect_not_null(strstr(tmaring_last_detail(), "address"));
  c.map.address = p.map.address = (uint64_t)(uintptr_t)tensor;
  cr_expect_eq(tmaring_tensor_map_load(&c.map, NULL, shared, 0), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_tensor_map_load(&c.map, c.coordinates, NULL, 0), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_tensor_map_load(&c.map, c.coordinates, shared, 64), TMARING_ERROR_ALIGNMENT);
  cr_expect_not_null(strstr(tmaring_last_detail(), "128"));
  cr_expect_eq(tmaring_tensor_map_store(&c.map, c.coordinates, shared, 16), TMARING_ERROR_ALIGNMENT);
  c.map.strides[1] += 8;
  cr_expect_eq(tmaring_tensor_map_store(&c.map, c.coordinates, shared, 0), TMARING_ERROR_ALIGNMENT);
  cr_expect_eq(tmaring_tensor_map_load_im2col(&p.map, p.coordinates, NULL, shared, 0), TMARING_ERROR_ARGUMENT);
  p.coordinates[1] = p.map.lower[0] - 1; /* no window begins there */
  cr_expect_eq(tmaring_tensor_map_load_im2col(&p.map, p.coordinates, offsets, shared, 0), TMARING_ERROR_ARGUMENT);
  cr_expect_not_null(strstr(tmaring_last_detail(), "coordinates[1]"), "%s", tmaring_last_detail());
  p.coordinates[1] = p.map.lower[0];
  p.offsets[1] = 256;
  cr_expect_eq(tmaring_tensor_map_load_im2col(&p.map, p.coordinates, p.offsets, shared, 0), TMARING_ERROR_ARGUMENT);
  cr_expect_not_null(strstr(tmaring_last_detail(), "offsets[1]"), "%s", tmaring_last_detail());
}

static void expect_refused_inner(tmaring_status status, const char *got, const char *begin)
{
  cr_expect_eq(status, TMARING_ERROR_ALIGNMENT, "%s", tmaring_status_name(status));
  cr_expect_not_null(strstr(tmaring_last_detail(), "coordinates[0]"), "%s", tmaring_last_detail());
  cr_expect_not_null(strstr(tmaring_last_detail(), got), "\"%s\" lacks %s", tmaring_last_detail(), got);
  cr_expect_not_null(strstr(tmaring_last_detail(), "multiple of 16 bytes"), "%s", tmaring_last_detail());
  cr_expect_not_null(strstr(tmaring_last_detail(), begin), "\"%s\" lacks %s", tmaring_last_detail(), begin);
}

/* Loads, stores and pixels: an inner coordinate between two 16-byte units, and the one before it that is taken. */
Test(box_copy, inner_coordinates_between_units, .timeout = 10)
{
  static _Alignas(128) unsigned char tensor[65536], shared[65536];
  noise n = noise_seed(2);
  box_case c = box_case_of(&box_shapes[6], TMARING_F16, 0, 0);
  pixel_case p;
  do p = pixel_case_random(&n);
  while (p.map.dtype != TMARING_I8);
  c.map.dims[1] = 64;
  c.map.address = p.map.address = (uint64_t)(uintptr_t)tensor;
  for (int32_t at = -17; at <= 80; ++at) {
    c.coordinates[0] = at;
    const tmaring_status load = tmaring_tensor_map_load(&c.map, c.coordinates, shared, 0);
    const tmaring_status store = tmaring_tensor_map_store(&c.map, c.coordinates, shared, 0);
    cr_expect_eq(load, at % 8 ? TMARING_ERROR_ALIGNMENT : TMARING_OK, "%d", (int)at);
    cr_expect_eq(store,
                 at % 8   ? TMARING_ERROR_ALIGNMENT
                 : at < 0 ? TMARING_ERROR_UNSUPPORTED
                          : TMARING_OK,
                 "%d", (int)at);
  }
  c.coordinates[0] = -1;
  expect_refused_inner(tmaring_tensor_map_load(&c.map, c.coordinates, shared, 0), "got -1, which is -2 bytes",
                       "begin at -8");
  c.coordinates[0] = 13;
  expect_refused_inner(tmaring_tensor_map_store(&c.map, c.coordinates, shared, 0), "got 13, which is 26 bytes",
                       "begin at 8");
  p.coordinates[0] = 7;
  expect_refused_inner(tmaring_tensor_map_load_im2col(&p.map, p.coordinates, p.offsets, shared, p.offset),
                       "got 7, which is 7 bytes of i8", "begin at 0");
}

/* Rows of 5 f16, 32 bytes apart: bytes 0 .. 15 of each are overwritten, no other; rows behind the last are left alone. */
Test(box_copy, stores_write_whole_units, .timeout = 10)
{
  static _Alignas(128) unsigned char tensor[8][32], shared[8 * 48];
  tmaring_tensor_map_tiled map = TMARING_TENSOR_MAP_TILED_INIT;
  const int32_t at[2] = {0, 1};
  map.dtype = TMARING_F16;
  map.rank = 2;
  map.address = (uint64_t)(uintptr_t)tensor;
  map.dims[0] = 5, map.dims[1] = 6;
  map.strides[1] = 32;
  map.box[0] = 24, map.box[1] = 8;
  memset(tensor, POISON, sizeof tensor);
  for (size_t i = 0; i < sizeof shared; ++i) shared[i] = (unsigned char)(i % 127 + 1);
  cr_assert_eq(tmaring_tensor_map_store(&map, at, shared, 0), TMARING_OK, "%s", tmaring_last_detail());
  for (int row = 0; row < 8; ++row) {
    for (int i = 0; i < 32; ++i) {
      const int written = row >= 1 && row < 6 && i < 16;
      cr_expect_eq(tensor[row][i], written ? shared[(row - 1) * 48 + i] : POISON, "row %d, byte %d", row, i);
    }
  }
}

/* ---- mutants: copies that are nearly right are told apart ---- */

static void mutate(box_case *c, int mutant)
{
  switch (mutant) {
  case 0: c->coordinates[0] += 16 / (int32_t)tmaring_dtype_bytes((tmaring_i32)c->map.dtype); break;
  case 1: c->coordinates[c->map.rank - 1] -= 1; break;
  case 2: c->map.swizzle = c->map.swizzle == 3 ? 2 : c->map.swizzle + 1; break;
  case 3: c->map.element_strides[c->map.rank - 1] = 1; break;
  case 4: c->map.fill = !c->map.fill; break;
  case 5: c->map.dims[c->map.rank - 1] += 1; break; /* clips later */
  default: c->offset += 128; break;                 /* swizzles by another line */
  }
}

#define MUTANTS 7

static int differs(const box_case *c, const box_case *other, unsigned char *tensor)
{
  unsigned char *got = take(65536), *want = take(65536);
  box_case m = *other;
  m.map.address = (uint64_t)(uintptr_t)tensor;
  int different = 0;
  if (tmaring_tensor_map_load(&m.map, m.coordinates, got, m.offset) == TMARING_OK) {
    box_oracle_load(c, tensor, want);
    different = memcmp(got + m.offset, want + c->offset, 49152) != 0;
  }
  free(got);
  free(want);
  return different;
}

Test(box_copy, mutants_are_seen, .timeout = 60)
{
  int seen[MUTANTS] = {0}, same[MUTANTS] = {0};
  noise n = noise_seed(53);
  for (int i = 0; i < 300; ++i) {
    const box_case c = box_case_random(&n);
    unsigned char *tensor = take(2 * c.tensor_bytes);
    scribble(&n, tensor, 2 * c.tensor_bytes);
    cr_assert_not(differs(&c, &c, tensor));
    for (int mutant = 0; mutant < MUTANTS; ++mutant) {
      box_case m = c;
      mutate(&m, mutant);
      ++(differs(&c, &m, tensor) ? seen : same)[mutant];
    }
    free(tensor);
  }
  for (int mutant = 0; mutant < MUTANTS; ++mutant)
    cr_expect_gt(seen[mutant], 15, "mutant %d: seen %d times, not %d times", mutant, seen[mutant], same[mutant]);
}

/* ---- F28: a convolution through pixels ---- */

/* Sums of 3 x 3 windows of a ramp of h x w pixels with 4 channels, 3 of them zero: every place in the window is one copy
 * of all positions. */
static void convolve(int h, int w, uint32_t pixels, float *sum)
{
  static _Alignas(128) float image[64][4], shared[64][4];
  tmaring_tensor_map_im2col map = TMARING_TENSOR_MAP_IM2COL_INIT;
  const int32_t start[4] = {0, 0, 0, 0};
  memset(image, 0, sizeof image);
  for (int i = 0; i < h * w; ++i) image[i][0] = (float)i;
  map.rank = 4;
  map.address = (uint64_t)(uintptr_t)image;
  map.dims[0] = 4, map.dims[1] = (uint64_t)w, map.dims[2] = (uint64_t)h, map.dims[3] = 1;
  map.strides[1] = 16, map.strides[2] = 16 * (uint64_t)w, map.strides[3] = 16 * (uint64_t)(h * w);
  map.upper[0] = map.upper[1] = -2; /* window of 3, no padding */
  map.channels = 4, map.pixels = pixels;
  for (uint16_t place = 0; place < 9; ++place) {
    const uint16_t offsets[2] = {place % 3, place / 3};
    cr_assert_eq(tmaring_tensor_map_load_im2col(&map, start, offsets, shared, 0), TMARING_OK, "%s",
                 tmaring_last_detail());
    for (uint32_t p = 0; p < pixels; ++p) sum[p] += shared[p][0] + shared[p][1] + shared[p][2] + shared[p][3];
  }
}

Test(box_copy, F28, .timeout = 10)
{
  static const float want[18] = {81, 90, 99, 108, 117, 126, 153, 162, 171, 180, 189, 198, 225, 234, 243, 252, 261, 270};
  static const float square[4] = {45, 54, 81, 90};
  float sum[20] = {0}, small[4] = {0};
  convolve(5, 8, 20, sum); /* two more than there are positions: filled with zeros */
  convolve(4, 4, 4, small);
  for (int i = 0; i < 18; ++i) cr_expect_eq(sum[i], want[i], "position %d: %g", i, (double)sum[i]);
  cr_expect(sum[18] == 0 && sum[19] == 0);
  for (int i = 0; i < 4; ++i) cr_expect_eq(small[i], square[i], "position %d: %g", i, (double)small[i]);
}

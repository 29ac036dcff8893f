/* A GPU's copy engine against the host's: the same boxes, all bytes of shared and of global memory. */
#define _POSIX_C_SOURCE 200809L
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/host/jit/nvrtc.h"
#include "support/box_case.h"
#include "support/copy_kernel.h"
#include "support/tally.h"

#define BAND 256 /* bytes before and behind a tensor; keeps it on a multiple of 256 */

/* A tensor here and there. */
typedef struct twin {
  const memory_place *place;
  size_t bytes; /* bands included */
  unsigned char *host, *device;
} twin;

typedef struct bench {
  venue v;
  copy_kernel kernel;
  tally sum;
  noise n;
} bench;

static void open_bench(bench *b, const char *title, uint64_t seed)
{
  const char *why;
  VENUE_NEED_CUDA(&b->v);
  why = copy_kernel_open(&b->kernel, &b->v);
  cr_assert_null(why, "%s", why);
  b->sum = tally_begin(title, b->v.name);
  b->n = noise_seed(seed);
}

static void close_bench(bench *b)
{
  tally_close(&b->sum);
  copy_kernel_close(&b->kernel);
  venue_close(&b->v);
  cr_expect_gt(b->sum.passed, 0);
  cr_expect_eq(b->sum.failed, 0, "%s", b->sum.first_failure);
}

static void *host_take(size_t bytes)
{
  void *memory = NULL;
  cr_assert_eq(posix_memalign(&memory, 1024, bytes), 0);
  return memory;
}

static twin take_twin(const memory_place *place, size_t tensor_bytes)
{
  twin t = {place, tensor_bytes + 2 * BAND, NULL, NULL};
  t.host = host_take(t.bytes);
  t.device = place->take(t.bytes);
  cr_assert_not_null(t.device, "%zu bytes", t.bytes);
  return t;
}

static void give_twin(twin *t)
{
  free(t->host);
  t->place->give(t->device);
}

static void fill(twin *t, noise *n, int poison)
{
  if (poison) {
    memset(t->host, COPY_POISON, t->bytes);
  } else {
    for (size_t i = 0; i + 8 <= t->bytes; i += 8) { /* odd bytes: none is 0 */
      const uint64_t word = noise_next(n) | 0x0101010101010101ull;
      memcpy(t->host + i, &word, 8);
    }
  }
  cr_assert(t->place->upload(t->device, t->host, t->bytes));
}

static size_t first_difference(const unsigned char *a, const unsigned char *b, size_t bytes)
{
  size_t i = 0;
  if (memcmp(a, b, bytes) == 0) return bytes;
  while (a[i] == b[i]) ++i;
  return i;
}

static copy_job job_of(const box_case *c, copy_direction direction)
{
  copy_job job;
  memset(&job, 0, sizeof job);
  job.direction = (tmaring_i32)direction;
  job.rank = c->map.rank;
  memcpy(job.coordinates, c->coordinates, sizeof job.coordinates);
  job.at = (tmaring_u32)c->offset;
  job.room = (tmaring_u32)box_case_room(c);
  job.bytes = tmaring_tensor_map_tiled_bytes(&c->map);
  return job;
}

static tmaring_tensor_map_tiled at_address(const tmaring_tensor_map_tiled *map, const unsigned char *tensor)
{
  tmaring_tensor_map_tiled placed = *map;
  placed.address = (uint64_t)(uintptr_t)(tensor + BAND);
  return placed;
}

/* Counts a copy: passed where `got` is `want`, else with the place of the first other byte. */
static void judge(bench *b, const char *what, const char *why, const unsigned char *got, const unsigned char *want,
                  size_t bytes, const char *text)
{
  char line[640];
  const size_t at = why ? bytes : first_difference(got, want, bytes);
  if (why)
    snprintf(line, sizeof line, "%s: %s: %s", what, why, text);
  else
    snprintf(line, sizeof line, "%s, byte %zu of %zu: GPU %02x, host %02x: %s", what, at, bytes,
             at < bytes ? got[at] : 0, at < bytes ? want[at] : 0, text);
  tally_note(&b->sum, !why && at == bytes, line);
}

static void compare_load(bench *b, const box_case *c, const twin *t)
{
  const tmaring_tensor_map_tiled here = at_address(&c->map, t->host), there = at_address(&c->map, t->device);
  const copy_job job = job_of(c, COPY_LOAD);
  unsigned char *got = host_take(job.room), *want = host_take(job.room);
  tmaring_map map;
  memset(want, COPY_POISON, job.room);
  cr_assert_eq(tmaring_tensor_map_load(&here, c->coordinates, want, c->offset), TMARING_OK, "%s",
               tmaring_last_detail());
  cr_assert_eq(tmaring_tensor_map_encode_tiled(&map, &there), TMARING_OK, "%s: %s", tmaring_last_detail(),
               box_case_text(c));
  const char *why = copy_kernel_run(&b->kernel, &map, job, got);
  judge(b, "load", why, got, want, job.room, box_case_text(c));
  free(got);
  free(want);
}

/* Stores a box of noise on both sides. */
static const char *store(bench *b, const box_case *c, const twin *t)
{
  const tmaring_tensor_map_tiled here = at_address(&c->map, t->host), there = at_address(&c->map, t->device);
  const copy_job job = job_of(c, COPY_STORE);
  unsigned char *shared = host_take(job.room + 8);
  tmaring_map map;
  for (tmaring_u32 i = 0; i < job.room; i += 8) {
    const uint64_t word = noise_next(&b->n);
    memcpy(shared + i, &word, 8);
  }
  cr_assert_eq(tmaring_tensor_map_store(&here, c->coordinates, shared, c->offset), TMARING_OK, "%s",
               tmaring_last_detail());
  cr_assert_eq(tmaring_tensor_map_encode_tiled(&map, &there), TMARING_OK, "%s: %s", tmaring_last_detail(),
               box_case_text(c));
  const char *why = copy_kernel_run(&b->kernel, &map, job, shared);
  free(shared);
  return why;
}

static void compare_tensor(bench *b, const twin *t, const char *why, const char *text)
{
  unsigned char *got = host_take(t->bytes);
  cr_assert(t->place->download(got, t->device, t->bytes));
  judge(b, "store", why, got, t->host, t->bytes, text);
  free(got);
}

/* ---- random boxes ---- */

static int below_zero(const box_case *c)
{
  for (int32_t d = 0; d < c->map.rank; ++d) {
    if (c->coordinates[d] < 0) return 1;
  }
  return 0;
}

Test(box_copy_device, random_loads_cuda, .timeout = 120)
{
  bench b;
  open_bench(&b, "random boxes, loads", 61);
  for (int i = 0; i < 3000; ++i) {
    const box_case c = box_case_random(&b.n);
    if (!tally_takes(&b.sum)) continue;
    twin t = take_twin(b.v.place, c.tensor_bytes);
    fill(&t, &b.n, 0);
    compare_load(&b, &c, &t);
    give_twin(&t);
  }
  close_bench(&b);
}

/* The manual asks stores for coordinates that are not below zero: those have a test of their own. */
static void random_stores(bench *b, int below)
{
  for (int i = 0; i < 4000; ++i) {
    const box_case c = box_case_random(&b->n);
    if (below_zero(&c) != below || !tally_takes(&b->sum)) continue;
    twin t = take_twin(b->v.place, c.tensor_bytes);
    fill(&t, &b->n, 1);
    const char *why = store(b, &c, &t);
    compare_tensor(b, &t, why, box_case_text(&c));
    give_twin(&t);
  }
}

Test(box_copy_device, random_stores_cuda, .timeout = 120)
{
  bench b;
  open_bench(&b, "random boxes, stores", 67);
  random_stores(&b, 0);
  close_bench(&b);
}

Test(box_copy_device, stores_below_zero_cuda, .timeout = 120)
{
  bench b;
  open_bench(&b, "random boxes, stores that begin below zero", 71);
  random_stores(&b, 1);
  close_bench(&b);
}

/* ---- the conformance list ---- */

/* All loads of one tensor, then all stores into one. */
static void compare_shape(bench *b, const box_shape *shape, tmaring_dtype dtype)
{
  const box_case first = box_case_of(shape, dtype, 0, 0);
  const char *why = NULL;
  twin t = take_twin(b->v.place, first.tensor_bytes);
  fill(&t, &b->n, 0);
  for (int i = 0; i < 4 * BOX_PLACES; ++i) {
    const box_case c = box_case_of(shape, dtype, i / BOX_PLACES, i % BOX_PLACES);
    compare_load(b, &c, &t);
  }
  fill(&t, &b->n, 1);
  for (int i = 0; i < 4 * BOX_PLACES && !why; ++i) {
    const box_case c = box_case_of(shape, dtype, i / BOX_PLACES, i % BOX_PLACES);
    if (!below_zero(&c)) why = store(b, &c, &t);
  }
  compare_tensor(b, &t, why, shape->name);
  give_twin(&t);
}

Test(box_copy_device, conformance_shapes_cuda, .timeout = 300)
{
  static const tmaring_dtype types[] = {TMARING_F16, TMARING_F32, TMARING_F64};
  bench b;
  open_bench(&b, "copies by tensor map: 12 shapes, 3 types, 4 swizzles, 6 places", 73);
  for (int s = 0; s < BOX_SHAPES; ++s) {
    for (int t = 0; t < 3; ++t) {
      if (tally_takes(&b.sum)) compare_shape(&b, &box_shapes[s], types[t]);
    }
  }
  close_bench(&b);
}

/* Two numbers that only a GPU tells: what NaN elements are filled with, and where the units of a row go that is shorter
 * than the swizzle's span. Printed, so that a GPU that differs shows what it does. */
Test(box_copy_device, filling_cuda, .timeout = 60)
{
  static const tmaring_dtype types[] = {TMARING_F16, TMARING_BF16, TMARING_F32, TMARING_F64};
  bench b;
  open_bench(&b, "filling", 79);
  for (int i = 0; i < 8; ++i) {
    box_case c = box_case_of(&box_shapes[1], types[i / 2], 0, 5);
    unsigned char bits[16384];
    tmaring_map map;
    c.map.fill = i % 2;
    twin t = take_twin(b.v.place, c.tensor_bytes);
    fill(&t, &b.n, 0);
    compare_load(&b, &c, &t);
    const tmaring_tensor_map_tiled there = at_address(&c.map, t.device);
    cr_assert_eq(tmaring_tensor_map_encode_tiled(&map, &there), TMARING_OK, "%s", tmaring_last_detail());
    cr_assert_leq(box_case_room(&c), sizeof bits);
    cr_assert_null(copy_kernel_run(&b.kernel, &map, job_of(&c, COPY_LOAD), bits));
    printf("filling: type %d, fill %d: bytes %02x%02x%02x%02x %02x%02x%02x%02x\n", (int)types[i / 2], i % 2, bits[0],
           bits[1], bits[2], bits[3], bits[4], bits[5], bits[6], bits[7]);
    give_twin(&t);
  }
  close_bench(&b);
}

/* Where unit u of row r went: found by its contents. */
static void print_units(const box_case *c, const unsigned char *got, size_t room, const unsigned char *tensor)
{
  for (uint32_t r = 0; r < 4; ++r) {
    for (size_t u = 0; u * 16 < c->map.box[0] * 4; ++u) {
      const unsigned char *unit = tensor + BAND + r * c->map.strides[1] + u * 16;
      size_t at = 0;
      while (at < room && memcmp(got + at, unit, 16) != 0) at += 16;
      printf("swizzle %d: row %u, unit %zu: offset %zu%s\n", (int)c->map.swizzle, (unsigned)r, u, at,
             at < room ? "" : " (nowhere)");
    }
  }
}

Test(box_copy_device, rows_shorter_than_the_span_cuda, .timeout = 60)
{
  bench b;
  open_bench(&b, "rows shorter than the swizzle's span", 83);
  for (int32_t swizzle = 1; swizzle < 4; ++swizzle) {
    for (uint32_t units = 1; units < 1u << swizzle; ++units) {
      box_case c = box_case_of(&box_shapes[1], TMARING_F32, swizzle, 0);
      unsigned char got[16384];
      tmaring_map map;
      c.map.box[0] = units * 4;
      twin t = take_twin(b.v.place, c.tensor_bytes);
      fill(&t, &b.n, 0);
      const int failed = b.sum.failed;
      compare_load(&b, &c, &t);
      if (b.sum.failed > failed) {
        const tmaring_tensor_map_tiled there = at_address(&c.map, t.device);
        cr_assert_eq(tmaring_tensor_map_encode_tiled(&map, &there), TMARING_OK);
        const char *why = copy_kernel_run(&b.kernel, &map, job_of(&c, COPY_LOAD), got);
        if (why) printf("swizzle %d: %s\n", (int)swizzle, why);
        print_units(&c, got, box_case_room(&c), t.host);
      }
      give_twin(&t);
    }
  }
  close_bench(&b);
}

/* ---- pixels ---- */

static void compare_pixels(bench *b, const pixel_case *c, const twin *t)
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
  unsigned char *got = host_take(job.room), *want = host_take(job.room);
  memset(want, COPY_POISON, job.room);
  here.address = (uint64_t)(uintptr_t)(t->host + BAND);
  there.address = (uint64_t)(uintptr_t)(t->device + BAND);
  cr_assert_eq(tmaring_tensor_map_load_im2col(&here, c->coordinates, c->offsets, want, c->offset), TMARING_OK, "%s",
               tmaring_last_detail());
  cr_assert_eq(tmaring_tensor_map_encode_im2col(&map, &there), TMARING_OK, "%s: %s", tmaring_last_detail(),
               pixel_case_text(c));
  const char *why = copy_kernel_run(&b->kernel, &map, job, got);
  judge(b, "pixels", why, got, want, job.room, pixel_case_text(c));
  free(got);
  free(want);
}

Test(box_copy_device, random_pixels_cuda, .timeout = 120)
{
  bench b;
  open_bench(&b, "random pixels", 89);
  for (int i = 0; i < 2000; ++i) {
    const pixel_case c = pixel_case_random(&b.n);
    if (!tally_takes(&b.sum)) continue;
    twin t = take_twin(b.v.place, c.tensor_bytes);
    fill(&t, &b.n, 0);
    compare_pixels(&b, &c, &t);
    give_twin(&t);
  }
  close_bench(&b);
}

/* F28: sums of 3 x 3 windows of a ramp, through pixels on the GPU: origins move on to the next row. 4 channels, 3 of them
 * zero. */
static void convolve(bench *b, int h, int w, uint32_t pixels, float *sum)
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
  bench b;
  open_bench(&b, "F28", 97);
  convolve(&b, 5, 8, 20, sum);
  convolve(&b, 4, 4, 4, small);
  tally_note(&b.sum, memcmp(sum, want, sizeof want) == 0 && sum[18] == 0 && sum[19] == 0, "5 x 8");
  tally_note(&b.sum, memcmp(small, square, sizeof square) == 0, "4 x 4");
  close_bench(&b);
}

/* ---- the kernel ---- */

/* Also brings it into the cache for a GPU machine without a compiler. */
Test(box_copy_device, kernel_compiles_cpu, .timeout = 60)
{
  if (!tmaring__nvrtc_present()) cr_skip_test("no NVRTC here");
  cr_expect_eq(copy_kernel_compile(), TMARING_OK, "%s", tmaring_last_detail());
}

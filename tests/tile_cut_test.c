/* Boxes of tiled streams: legal maps, and fills that lie in the slot row by row as computation expects them. The copies
 * are done by the host's copy engine (tensor_map.h), which is tested apart from the planner. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../src/host/plan/tile_cut.h"
#include "support/noise.h"
#include "support/random_options.h"

#define POISON 0xa5

/* A tensor of bytes, a cut of it, and a slot. */
typedef struct bench {
  tmaring_stream stream;
  tmaring__tile_need need;
  tmaring__tile_cut cut;
  int64_t rows;          /* M */
  unsigned char *tensor; /* from a multiple of 16 */
  unsigned char *slot;   /* from a multiple of 1024 */
  size_t tensor_bytes;
} bench;

static int64_t row_bytes(const bench *b)
{
  return (int64_t)b->need.cols * b->stream.elem_bytes;
}

static void describe(bench *b, int32_t elem_bytes, int32_t cols, int64_t rows, int64_t gap)
{
  memset(b, 0, sizeof *b);
  b->stream.elem_bytes = (tmaring_u32)elem_bytes;
  b->stream.dtype = TMARING_I8;
  b->stream.pitch = (tmaring_i64)tmaring_round_up((tmaring_u64)cols * (tmaring_u64)elem_bytes, 16) + 16 * gap;
  b->rows = rows;
  b->need.cols = b->need.fill_cols = cols;
  b->need.rows = 1;
  b->need.row_unit = 16;
}

static void take(bench *b, noise *n)
{
  b->tensor_bytes = (size_t)((b->rows - 1) * b->stream.pitch + row_bytes(b));
  b->tensor = aligned_alloc(16, tmaring_round_up(b->tensor_bytes, 16));
  b->slot = aligned_alloc(1024, tmaring_round_up((tmaring_u64)b->cut.slot_bytes, 1024));
  cr_assert(b->tensor && b->slot);
  for (size_t i = 0; i < b->tensor_bytes; ++i) b->tensor[i] = (unsigned char)(1 + noise_below(n, 255));
  b->cut.map.address = (uint64_t)(uintptr_t)b->tensor;
  for (int32_t d = 0; d < b->cut.tile.rank; ++d) {
    if (b->cut.tile.follows[d] == TMARING_TILE_ROW) b->cut.map.dims[d] = (uint64_t)b->rows;
  }
  cr_assert_eq(tmaring_tensor_map_check_tiled(&b->cut.map), TMARING_OK, "%s", tmaring_last_detail());
}

static void give(bench *b)
{
  free(b->tensor);
  free(b->slot);
}

static tmaring_fill fill_at(const bench *b, int64_t row, int32_t col)
{
  tmaring_fill fill;
  memset(&fill, 0, sizeof fill);
  fill.row = row;
  fill.rows = (tmaring_i32)tmaring_min_i64(b->need.rows, b->rows - row);
  fill.col = col;
  fill.cols = (tmaring_i32)tmaring_min_i64(b->need.fill_cols, b->need.cols - col);
  return fill;
}

/* Every copy of a fill; also that it lies in the slot, at 128 bytes. Returns the bytes of all. */
static uint64_t copy_fill(bench *b, const tmaring_fill *fill, int store)
{
  uint64_t bytes = 0;
  for (int32_t i = 0; i < tmaring_tile_copies(&b->cut.tile, fill); ++i) {
    int32_t at[TMARING_MAX_RANK];
    const uint32_t offset = tmaring_tile_offset(&b->cut.tile, b->cut.slot_row, i);
    tmaring_tile_coordinates(&b->cut.tile, NULL, fill, i, at);
    cr_assert_eq(offset % 128, 0);
    cr_assert_leq((int64_t)offset + b->cut.tile.box_bytes, b->cut.slot_bytes);
    const tmaring_status status = store ? tmaring_tensor_map_store(&b->cut.map, at, b->slot, offset)
                                        : tmaring_tensor_map_load(&b->cut.map, at, b->slot, offset);
    cr_assert_eq(status, TMARING_OK, "%s", tmaring_last_detail());
    bytes += tmaring_tensor_map_tiled_bytes(&b->cut.map);
  }
  return bytes;
}

/* Rows of the fill that are not where they should be. */
static int32_t misplaced(bench *b, const tmaring_fill *fill)
{
  int32_t wrong = 0;
  memset(b->slot, POISON, (size_t)b->cut.slot_bytes);
  cr_assert_eq(copy_fill(b, fill, 0), tmaring_tile_bytes(&b->cut.tile, fill));
  for (int32_t j = 0; j < fill->rows; ++j) {
    const unsigned char *due =
        b->tensor + (fill->row + j) * b->stream.pitch + fill->col * (int64_t)b->stream.elem_bytes;
    const size_t bytes = (size_t)fill->cols * b->stream.elem_bytes;
    wrong += memcmp(b->slot + (size_t)j * b->cut.slot_row, due, bytes) != 0;
  }
  return wrong;
}

/* Rows staged in the slot; what is stored is the fill's elements and nothing else. */
static void expect_stored(bench *b, const tmaring_fill *fill, const char *what)
{
  unsigned char *before = malloc(b->tensor_bytes);
  cr_assert_not_null(before);
  memcpy(before, b->tensor, b->tensor_bytes);
  memset(b->slot, POISON, (size_t)b->cut.slot_bytes);
  copy_fill(b, fill, 1);
  for (int64_t at = 0; at < (int64_t)b->tensor_bytes; ++at) { /* gaps between rows included */
    const int64_t r = at / b->stream.pitch, e = at % b->stream.pitch / b->stream.elem_bytes;
    const int inside = r >= fill->row && r < fill->row + fill->rows && e >= fill->col && e < fill->col + fill->cols;
    cr_assert_eq(b->tensor[at], inside ? POISON : before[at], "%s: row %lld, byte %lld", what, (long long)r,
                 (long long)(at % b->stream.pitch));
  }
  memcpy(b->tensor, before, b->tensor_bytes);
  free(before);
}

/* ---- what is cut ---- */

typedef struct known {
  int32_t elem_bytes, cols, fill_cols, rows, by_row;
  int32_t rank, box[3], map_bytes, boxes; /* expected */
  uint32_t slot_row;
} known;

Test(tile_cut, few_large_boxes, .timeout = 10)
{
  static const known cases[] = {
      {2, 512, 512, 8, 0, 2, {128, 8, 0}, 8, 1, 1024},     /* one box of wide elements: F02, bf16 tiles of 512 */
      {2, 320, 320, 1, 0, 2, {80, 1, 0}, 8, 1, 640},       /* F02 */
      {4, 1024, 1024, 4, 0, 3, {256, 2, 4}, 8, 1, 4096},   /* rows in two parts */
      {4, 1025, 1025, 4, 0, 2, {224, 1, 0}, 4, 5, 4480},   /* an odd N: boxes per row, the last one clipped */
      {4, 64, 64, 1000, 0, 2, {32, 256, 0}, 8, 4, 256},    /* more rows than a box has */
      {4, 4096, 256, 16, 0, 2, {128, 16, 0}, 8, 1, 1024},  /* a strip */
      {4, 4096, 1024, 16, 0, 3, {256, 2, 16}, 8, 1, 4096}, /* in parts */
      {4, 256, 256, 8, 1, 2, {128, 1, 0}, 8, 1, 1024},     /* stores: by row */
      {1, 48, 48, 8, 1, 2, {6, 1, 0}, 8, 1, 128},          /* and from multiples of 128 */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const known *k = &cases[i];
    bench b;
    describe(&b, k->elem_bytes, k->cols, 2000, 0);
    b.need.fill_cols = k->fill_cols;
    b.need.rows = k->rows;
    b.need.by_row = k->by_row;
    cr_assert(tmaring__tile_cut_make(&b.cut, &b.stream, &b.need));
    cr_expect_eq(b.cut.map.rank, k->rank, "case %zu", i);
    cr_expect_eq((int32_t)b.cut.map.strides[0], k->map_bytes, "case %zu", i);
    cr_expect_eq(b.cut.tile.boxes, k->boxes, "case %zu: %d boxes", i, b.cut.tile.boxes);
    cr_expect_eq(b.cut.slot_row, k->slot_row, "case %zu: %u", i, b.cut.slot_row);
    for (int32_t d = 0; d < k->rank; ++d)
      cr_expect(k->box[d] == 0 || b.cut.map.box[d] == (uint32_t)k->box[d], "case %zu: box %u on axis %d", i,
                b.cut.map.box[d], d);
  }
}

Test(tile_cut, units_of_stores_are_128_bytes_of_each_stream, .timeout = 10)
{
  const tmaring_stream s[2] = {{.elem_bytes = 4}, {.elem_bytes = 1}};
  cr_expect_eq(tmaring__tile_unit(s, 1), 32);
  cr_expect_eq(tmaring__tile_unit(s, 2), 128);
  cr_expect_eq(tmaring__tile_unit(s, 0), 1);
}

/* A piece of 48 bytes between others leaves nothing to clip it, so that boxes of 128 bytes would write past it. */
Test(tile_cut, exact_boxes_may_not_exist, .timeout = 10)
{
  bench b;
  describe(&b, 8, 4096, 10, 0);
  b.need.fill_cols = 16 * 257;
  b.need.cols = 3 * 16 * 257;
  b.need.by_row = b.need.exact = 1;
  cr_expect(tmaring__tile_cut_make(&b.cut, &b.stream, &b.need), "128 bytes divide it");
  b.need.fill_cols = 2 * 257;
  b.need.cols = 3 * 2 * 257 + 2;
  cr_expect_not(tmaring__tile_cut_make(&b.cut, &b.stream, &b.need));
  b.need.exact = 0;
  cr_expect(tmaring__tile_cut_make(&b.cut, &b.stream, &b.need));
}

/* ---- what is copied ---- */

static void random_shape(bench *b, noise *n)
{
  const int32_t elem_bytes = PICK(n, 1, 2, 4, 8);
  const int32_t cols = PICK(n, 1, 3, 16, 37, 64, 100, 128, 255, 257, 320, 512, 769, 1024, 1733, 2048, 4096);
  describe(b, elem_bytes, cols, PICK(n, 1, 2, 3, 7, 64, 131), noise_below(n, 3));
  b->need.rows = PICK(n, 1, 2, 3, 8, 13, 64, 257, 300);
}

/* Rows of whole 16 bytes, as they have to be where they are stored. */
static void random_stored_shape(bench *b, noise *n)
{
  random_shape(b, n);
  const int32_t unit = 16 / (int32_t)b->stream.elem_bytes, rows = b->need.rows;
  describe(b, (int32_t)b->stream.elem_bytes, (b->need.cols + unit - 1) / unit * unit, b->rows, noise_below(n, 3));
  b->need.rows = rows;
}

/* Pieces of whole `unit` bytes, where the row has them. */
static void random_piece(bench *b, noise *n, int32_t unit)
{
  const int32_t least = unit / (int32_t)b->stream.elem_bytes, cols = b->need.cols;
  if (cols > least && noise_below(n, 2)) b->need.fill_cols = least * (1 + noise_below(n, (cols - 1) / least));
}

Test(tile_cut, loaded_rows_lie_where_computation_looks, .timeout = 120)
{
  noise n = noise_seed(90125);
  int32_t parts = 0, rows = 0, pieces = 0;
  for (int i = 0; i < 3000; ++i) {
    bench b;
    random_shape(&b, &n);
    random_piece(&b, &n, 16);
    if (noise_below(&n, 4) == 0) b.need.row_unit = 128;
    cr_assert(tmaring__tile_cut_make(&b.cut, &b.stream, &b.need));
    if (b.cut.slot_bytes > 232448) continue; /* no stage holds it */
    cr_assert_eq(b.cut.slot_row % (tmaring_u32)b.need.row_unit, 0);
    take(&b, &n);
    parts += b.cut.map.rank == 3;
    rows += b.cut.tile.by_row;
    pieces += b.need.fill_cols < b.need.cols;
    for (int k = 0; k < 3; ++k) {
      const int32_t tiles = (int32_t)tmaring_ceil_div(b.rows, b.need.rows);
      const int32_t columns = (int32_t)tmaring_ceil_div(b.need.cols, b.need.fill_cols);
      const tmaring_fill fill =
          fill_at(&b, (int64_t)noise_below(&n, tiles) * b.need.rows, noise_below(&n, columns) * b.need.fill_cols);
      cr_assert_eq(misplaced(&b, &fill), 0, "row %lld, column %d: %d x %d of %d-byte elements", (long long)fill.row,
                   fill.col, fill.rows, fill.cols, (int)b.stream.elem_bytes);
    }
    give(&b);
  }
  cr_expect(parts > 100 && rows > 100 && pieces > 300, "%d, %d, %d", parts, rows, pieces);
}

Test(tile_cut, stores_write_the_fill_and_nothing_else, .timeout = 120)
{
  noise n = noise_seed(2112);
  int32_t made = 0;
  for (int i = 0; i < 1200; ++i) {
    bench b;
    random_stored_shape(&b, &n);
    random_piece(&b, &n, 128);
    b.need.row_unit = 128;
    b.need.by_row = b.need.exact = 1;
    b.need.rows = PICK(&n, 1, 2, 3, 8);
    cr_assert(tmaring__tile_cut_make(&b.cut, &b.stream, &b.need), "%d of %d columns", b.need.fill_cols, b.need.cols);
    take(&b, &n);
    made += b.cut.tile.boxes > 1;
    const int32_t columns = (int32_t)tmaring_ceil_div(b.need.cols, b.need.fill_cols);
    const tmaring_fill fill = fill_at(&b, 0, noise_below(&n, columns) * b.need.fill_cols);
    expect_stored(&b, &fill, "store");
    give(&b);
  }
  cr_expect_gt(made, 10);
}

/* Results staged over a tiled input: both cut the same rows. */
Test(tile_cut, stored_over_loaded_rows_are_the_same, .timeout = 60)
{
  noise n = noise_seed(31);
  for (int i = 0; i < 5000; ++i) {
    bench in, out;
    random_stored_shape(&in, &n);
    random_piece(&in, &n, 128);
    in.need.row_unit = 128;
    in.need.exact = 1;
    out = in;
    out.need.by_row = 1;
    cr_assert(tmaring__tile_cut_make(&in.cut, &in.stream, &in.need));
    cr_assert(tmaring__tile_cut_make(&out.cut, &out.stream, &out.need));
    cr_assert_eq(in.cut.slot_row, out.cut.slot_row);
    cr_assert_leq(out.cut.slot_bytes, in.cut.slot_bytes);
  }
}

/* ---- what the tests see ---- */

typedef enum mutant { MUTANT_STEP, MUTANT_PITCH, MUTANT_SCALE, MUTANT_ROWS, MUTANT_STRIDE, MUTANTS } mutant;

static void mutate(bench *b, mutant kind)
{
  switch (kind) {
  case MUTANT_STEP: b->cut.tile.box_step[0] -= 2; break; /* 16 bytes */
  case MUTANT_PITCH: b->cut.tile.box_pitch += 128; break;
  case MUTANT_SCALE: b->cut.tile.scale[0] += 1; break;
  case MUTANT_ROWS: b->cut.tile.follows[b->cut.tile.rank - 1] = TMARING_TILE_NOTHING; break;
  default: b->cut.map.strides[b->cut.map.rank - 1] += 16;
  }
}

/* Boxes per row of a piece behind others: whatever is wrong with them shows. */
Test(tile_cut, every_mutant_is_seen, .timeout = 30)
{
  for (int32_t kind = -1; kind < MUTANTS; ++kind) {
    noise n = noise_seed(8);
    bench b;
    describe(&b, 4, 2 * 1032, 20, 2);
    b.need.fill_cols = 1032;
    b.need.rows = 3;
    cr_assert(tmaring__tile_cut_make(&b.cut, &b.stream, &b.need));
    cr_assert(b.cut.tile.by_row && b.cut.tile.boxes > 1 && b.cut.map.dtype == TMARING_I64);
    take(&b, &n);
    if (kind >= 0) mutate(&b, (mutant)kind);
    b.cut.slot_bytes += 4096; /* a box further on must not end the test */
    free(b.slot);
    b.slot = aligned_alloc(1024, tmaring_round_up((tmaring_u64)b.cut.slot_bytes, 1024));
    const tmaring_fill fill = fill_at(&b, 6, 1032);
    cr_expect_eq(misplaced(&b, &fill) > 0, kind >= 0, "mutant %d", kind);
    give(&b);
  }
}

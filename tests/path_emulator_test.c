/* Load and store paths on the CPU backend with data, on kernel arguments and boxes made by hand; and what the checker
 * says about them. */
#include <criterion/criterion.h>
#include <string.h>

#include "../src/host/check/check_args.h"
#include "support/hand_case.h"
#include "support/subset.h"

static const tmaring_dtype dtypes[] = {TMARING_F32, TMARING_F16, TMARING_BF16, TMARING_F64};

/* Proved, run, and compared with the oracle. */
static void pass(const hand_spec *spec)
{
  hand_case c;
  hand_make(&c, spec);
  cr_assert_eq(tmaring__check_args(&c.args, &c.boxes, &c.code, tmaring__formula_program(c.formula), 1u << 20, NULL),
               TMARING_OK, "%s: %s", hand_text(spec), tmaring_last_detail());
  cr_assert_eq(hand_run(&c, NULL), TMARING_OK, "%s: %s", hand_text(spec), tmaring_last_detail());
  hand_verify(&c);
  hand_free(&c);
}

static void set_mode(hand_spec *s, int mode)
{
  s->mode = mode == 0 ? TMARING_MODE_WARP_SPECIALIZED : TMARING_MODE_PIPELINED;
  s->war = mode == 2 ? TMARING_WAR_MBARRIER : TMARING_WAR_CTA_BARRIER;
}

static int32_t unit_of(const hand_spec *s)
{
  return 16 / (int32_t)tmaring_dtype_bytes(s->dtype);
}

/* Rows of whole 16 bytes, as stores of boxes need them. */
static void widen_rows(hand_spec *s)
{
  s->cols = (s->cols + unit_of(s) - 1) / unit_of(s) * unit_of(s);
}

/* Rows whose pitch is a multiple of 16, as a map needs it. */
static void align_rows(hand_spec *s)
{
  const int32_t unit = unit_of(s);
  s->in_shift = s->out_shift = 0;
  s->pitch_gap = (unit - s->cols % unit) % unit;
}

static void set_way(hand_spec *s, int way)
{
  if (way == 1) {
    s->scope = TMARING_SCOPE_LANES;
    s->lanes_log2 = 2;
    s->tile_rows = 32;
  } else if (way == 2) {
    s->scope = TMARING_SCOPE_CTA;
    s->per_row = s->warps;
    s->tile_rows = 3;
  }
}

/* Formula, type, columns, scope, mode and store by number; the path as given. */
static hand_spec spec_of(int path, int number)
{
  static const int32_t cols[] = {1, 3, 33, 64, 257, 331};
  hand_spec s = hand_spec_make((hand_formula)(number % HAND_COUNT), dtypes[number / 3 % 4], 21, cols[number % 6]);
  const int32_t bytes = (int32_t)tmaring_dtype_bytes(s.dtype);
  s.path = path;
  set_way(&s, number / 2 % 3);
  set_mode(&s, number / 5 % 3);
  s.staged = number / 4 % 3;
  s.in_shift = s.out_shift = number % 5 * bytes;
  s.pitch_gap = number / 7 % 3;
  s.seed = number % 2 ? (uint64_t)number : TMARING__LAZY;
  return s;
}

Test(path_emulator, cp_async_ordinary_and_direct_loads_anywhere, .timeout = 120)
{
  static const int paths[] = {TMARING_LOAD_ASYNC, TMARING_LOAD_ORDINARY, TMARING_LOAD_DIRECT};
  for (int i = 0; i < 3 * 360; i += subset_step()) {
    hand_spec s = spec_of(paths[i % 3], i / 3);
    if (s.formula == HAND_DOUBLE && i % 4 == 0 && s.pitch_gap == 0) {
      s.scope = TMARING_SCOPE_FLAT;
      s.per_row = 1;
      s.lanes_log2 = 5;
      s.tile_rows = 5;
    }
    pass(&s);
  }
}

Test(path_emulator, boxes_of_rows_and_of_fills, .timeout = 120)
{
  for (int i = 0; i < 720; i += subset_step()) {
    hand_spec s = spec_of(TMARING_LOAD_TILE, i / 2);
    s.together = i % 2;
    if (i % 3 == 0) s.box_cols = 128 / (int32_t)tmaring_dtype_bytes(s.dtype);
    align_rows(&s);
    pass(&s);
  }
}

/* Every path in front of a store that is clipped. */
Test(path_emulator, stores_of_boxes, .timeout = 120)
{
  for (int i = 0; i < 5 * 180; i += subset_step()) {
    hand_spec s = spec_of(i % 5, i / 5);
    if (s.formula == HAND_ROW_SUM) s.formula = HAND_SOFTMAX;
    s.tiled_store = 1;
    s.staged = 1 + i % 2;
    if (i % 3 == 0) s.box_cols = 128 / (int32_t)tmaring_dtype_bytes(s.dtype);
    widen_rows(&s);
    align_rows(&s);
    pass(&s);
  }
}

/* Long rows in pieces, each a tile or streamed again for every pass. */
Test(path_emulator, pieces_of_rows, .timeout = 120)
{
  for (int i = 0; i < 5 * 48; i += subset_step()) {
    hand_spec s = spec_of(i % 5, i / 5);
    s.cols = i % 3 ? 1024 : 1000; /* 4 pieces, or 9 of which the last is shorter */
    s.pieces = i % 3 ? 4 : 9;
    s.spread = s.formula == HAND_DOUBLE && i % 2;
    s.tile_rows = 1;
    s.scope = TMARING_SCOPE_WARP;
    s.per_row = 1;
    s.lanes_log2 = 5;
    s.tiled_store = s.formula != HAND_ROW_SUM && s.staged > 0 && i % 3 == 1;
    s.box_cols = s.tiled_store || i % 2 ? 128 / (int32_t)tmaring_dtype_bytes(s.dtype) : 0;
    align_rows(&s);
    pass(&s);
  }
}

Test(path_emulator, orders_policies_and_few_rows, .timeout = 120)
{
  for (int i = 0; i < 5 * 120; i += subset_step()) {
    hand_spec s = spec_of(i % 5, i / 5);
    s.rows = i / 5 % 8;
    s.order = i / 5 % 4;
    s.policy = i / 20 % 3;
    s.workers = s.rows > 0 && s.rows < 3 ? 1 : 3;
    if (s.path == TMARING_LOAD_TILE) align_rows(&s);
    if (s.rows > 0) pass(&s);
  }
}

/* ---- what the checker refuses ---- */

/* One input and one output in boxes of their own rows, two boxes a row, staged apart. */
static void make_tiled(hand_case *c)
{
  hand_spec s = hand_spec_make(HAND_DOUBLE, TMARING_F32, 21, 64);
  s.path = TMARING_LOAD_TILE;
  s.tiled_store = 1;
  s.staged = 2;
  s.box_cols = 32;
  hand_make(c, &s);
}

static tmaring_status prove(const hand_case *c)
{
  return tmaring__check_args(&c->args, &c->boxes, &c->code, tmaring__formula_program(c->formula), 1u << 20, NULL);
}

static void expect_refused(hand_case *c, const char *text)
{
  cr_expect_eq(prove(c), TMARING_ERROR_CHECK, "%s: passed", text);
  cr_expect(strstr(tmaring_last_detail(), text), "got \"%s\", due \"%s\"", tmaring_last_detail(), text);
  hand_free(c);
}

/* A field of the case, what it is set to, and words of the refusal. */
#define REFUSED(field, value, text)                                                                                    \
  do {                                                                                                                 \
    hand_case c;                                                                                                       \
    make_tiled(&c);                                                                                                    \
    cr_assert_eq(prove(&c), TMARING_OK, "%s", tmaring_last_detail());                                                  \
    c.field = value;                                                                                                   \
    expect_refused(&c, text);                                                                                          \
  } while (0)

#define OUT TMARING_TILED_OUTPUTS

Test(path_emulator, refused_maps, .timeout = 60)
{
  REFUSED(boxes.map[0].address, c.args.input[0].base + 16, "another address");
  REFUSED(boxes.map[0].address, c.args.input[0].base + 4, "input 0: ");
  REFUSED(boxes.map[0].strides[1], 264, "input 0: ");
  REFUSED(boxes.map[0].box[0], 257, "input 0: ");
  REFUSED(boxes.map[0].element_strides[0], 2, "element_strides[0]");
  REFUSED(boxes.map[0].element_strides[1], 2, "element stride 2");
  REFUSED(boxes.map[0].swizzle, TMARING_SWIZZLE_128B, "swizzle");
  REFUSED(boxes.map[0].dims[1], 22, "its map ends after");
  REFUSED(boxes.map[OUT].dims[0], 65, "its map ends after");
  REFUSED(boxes.map[0].box[1], 2, "its map has");
  REFUSED(boxes.tile[0].rank, 1, "rank");
  REFUSED(boxes.used, 1 << OUT, "input 0: tiled, got no boxes");
  REFUSED(boxes.used, 1, "output 0: tiled, got no boxes");
}

Test(path_emulator, refused_boxes, .timeout = 60)
{
  REFUSED(boxes.tile[0].boxes, 1, "boxes hold");
  REFUSED(boxes.tile[0].boxes, 3, "rows 256 bytes apart");
  REFUSED(boxes.tile[0].box_step[0], 31, "begins at element 31 of a row, byte 124, needs a multiple of 16");
  REFUSED(boxes.tile[0].box_step[0], 28, "its row has it at");
  REFUSED(boxes.tile[OUT].box_step[0], 33, "needs a multiple of 16");
  REFUSED(boxes.map[OUT].dims[0], 63, "would store outside the tensor, 4 bytes behind the 63 elements of a row");
  REFUSED(boxes.map[0].dims[0], 63, "boxes hold");
  REFUSED(boxes.tile[0].box_step[0], 0, "its row has it at");
  REFUSED(boxes.tile[0].box_pitch, 64, "bytes apart");
  REFUSED(boxes.tile[0].box_pitch, 144, "bytes apart");
  REFUSED(boxes.tile[0].follows[1], TMARING_TILE_NOTHING, "its row has it at");
  REFUSED(boxes.tile[0].by_row, 0, "boxes hold");
  REFUSED(args.input[0].slot_row, 256 + 16, "needs a multiple of 16");
  REFUSED(args.input[0].dense, 1, "rows apart");
  REFUSED(boxes.tile[OUT].by_row, 0, "boxes per row");
  REFUSED(boxes.tile[OUT].boxes, 1, "boxes hold");
  REFUSED(boxes.tile[OUT].follows[1], TMARING_TILE_NOTHING, "its row has it at");
}

/* Boxes of 160 columns for pieces of 128: they would write the next piece's. */
Test(path_emulator, refused_stores_over_the_next_piece, .timeout = 60)
{
  hand_spec s = hand_spec_make(HAND_DOUBLE, TMARING_F32, 21, 1024);
  hand_case c;
  s.pieces = 8;
  s.spread = s.tile_rows = 1;
  s.tiled_store = 1;
  s.staged = 2;
  hand_make(&c, &s);
  cr_assert_eq(prove(&c), TMARING_OK, "%s", tmaring_last_detail());
  c.boxes.map[OUT].box[0] = 160;
  c.boxes.tile[OUT].box_bytes = c.boxes.tile[OUT].box_pitch = 640;
  c.args.output[0].slot_row = c.args.output[0].slot_bytes = 640;
  tmaring_smem_layout(&c.args.smem, c.args.stages, c.args.input[0].slot_bytes + 640, 0, 0, 0);
  expect_refused(&c, "would store bytes [0, 640) of it, the fill has [0, 512)");
}

Test(path_emulator, refused_paths, .timeout = 60)
{
  REFUSED(args.input[0].path, TMARING_LOAD_BULK, "they must agree");
  REFUSED(code.load[0], TMARING_LOAD_ASYNC, "they must agree");
  REFUSED(args.output[0].path, 0, "they must agree");
  REFUSED(code.tiled_store, 0, "they must agree");
  REFUSED(args.input[0].slot_bytes, 0, "what is read directly has none");
  hand_case c;
  make_tiled(&c);
  c.args.input[0].path = c.code.load[0] = TMARING_LOAD_DIRECT;
  expect_refused(&c, "what is read directly has none");
  make_tiled(&c);
  c.args.input[0].path = c.code.load[0] = 5;
  expect_refused(&c, "they must agree");
}

/* Rows of 257 floats in boxes that reach past the last column: more bytes than the rows have. */
Test(path_emulator, whole_boxes_count_against_the_barrier, .timeout = 60)
{
  hand_spec s = hand_spec_make(HAND_ROW_SUM, TMARING_F32, 600, 257);
  hand_case c;
  s.path = TMARING_LOAD_TILE;
  s.stages = 1;
  s.distance = 0;
  s.tile_rows = 512; /* rows of 2 KiB in the slot: 2^20 bytes, of which 512 * 1028 are rows */
  align_rows(&s);
  hand_make(&c, &s);
  cr_expect_eq(tmaring__check_args(&c.args, &c.boxes, &c.code, tmaring__formula_program(c.formula), 1u << 22, NULL),
               TMARING_ERROR_CHECK);
  cr_expect(strstr(tmaring_last_detail(), "expects 1048576 bytes"), "%s", tmaring_last_detail());
  hand_free(&c);
  s.tile_rows = 508;
  hand_make(&c, &s);
  cr_expect_eq(tmaring__check_args(&c.args, &c.boxes, &c.code, tmaring__formula_program(c.formula), 1u << 22, NULL),
               TMARING_OK, "%s", tmaring_last_detail());
  hand_free(&c);
}

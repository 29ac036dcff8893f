#include "tile_cut.h"

#include <string.h>

/* Past any shared memory, and far from overflow when added up. */
#define HUGE_BYTES ((int64_t)1 << 50)
/* What a box's inner row should hold at least: two sectors. */
#define INNER_BYTES 64
/* Boxes that lie next to each other in shared memory begin at multiples of it. */
#define BOX_UNIT 128

/* A row in elements of the map. */
typedef struct row_shape {
  int32_t elem_bytes; /* of the map */
  int64_t width;      /* elements of a fill's row */
  int64_t all;        /* elements of the tensor's row */
} row_shape;

/* The boxes that make up a row. */
typedef struct row_boxes {
  int32_t inner; /* elements of a box along dimension 0 */
  int32_t outer; /* parts of a row that one box holds, as dimension 1; 1: the rows are dimension 1 */
  int32_t count; /* boxes next to each other */
} row_boxes;

/* The widest element of which rows, pieces and the tensor are whole numbers. */
static row_shape shape_of(const tmaring_stream *stream, const tmaring__tile_need *need)
{
  const int64_t all = (int64_t)need->cols * stream->elem_bytes, part = (int64_t)need->fill_cols * stream->elem_bytes;
  row_shape s = {8, 0, 0};
  while ((all | part) % s.elem_bytes != 0) s.elem_bytes /= 2;
  s.width = part / s.elem_bytes;
  s.all = all / s.elem_bytes;
  return s;
}

/* Elements of the equal parts of a row that a box may hold as a dimension of its own; 0: there are none. A column's
 * part is found by a shift. */
static int32_t part_of(const row_shape *s)
{
  const int cut = s->width < s->all;
  for (int32_t part = TMARING_MAX_BOX; part * s->elem_bytes >= INNER_BYTES; --part) {
    if (s->width % part != 0 || s->all % part != 0 || s->width / part > TMARING_MAX_BOX) continue;
    if (part * s->elem_bytes % 16 != 0 || (cut && (part & (part - 1)) != 0)) continue;
    return part;
  }
  return 0;
}

/* Equal boxes of whole 128 bytes that make up the row, the last one clipped by the tensor's edge or, if it must be
 * exact, by nothing. 0: there are none. */
static int32_t strip_of(const row_shape *s, int exact)
{
  const int32_t unit = BOX_UNIT / s->elem_bytes;
  const int64_t count = tmaring_ceil_div(s->width, TMARING_MAX_BOX);
  int32_t inner = TMARING_MAX_BOX;
  if (!exact || s->width == s->all) return (int32_t)(tmaring_ceil_div(tmaring_ceil_div(s->width, count), unit) * unit);
  while (inner > 0 && s->width % inner != 0) inner -= unit;
  return inner > 0 ? inner : 0;
}

/* 1: there are boxes. */
static int find_boxes(row_boxes *b, const row_shape *s, int exact)
{
  b->outer = b->count = 1;
  if (s->width <= TMARING_MAX_BOX) {
    b->inner = (int32_t)tmaring_round_up((tmaring_u64)s->width * (tmaring_u64)s->elem_bytes, 16) / s->elem_bytes;
    return !exact || s->width == s->all || b->inner == s->width;
  }
  b->inner = part_of(s);
  if (b->inner > 0) {
    b->outer = (int32_t)(s->width / b->inner);
    return 1;
  }
  b->inner = strip_of(s, exact);
  if (b->inner > 0) b->count = (int32_t)tmaring_ceil_div(s->width, b->inner);
  return b->inner > 0;
}

static int32_t log2_of(int32_t power)
{
  int32_t log2 = 0;
  while (1 << log2 < power) ++log2;
  return log2;
}

static tmaring_dtype dtype_of(int32_t elem_bytes)
{
  return elem_bytes == 8 ? TMARING_I64 : elem_bytes == 4 ? TMARING_I32 : elem_bytes == 2 ? TMARING_F16 : TMARING_I8;
}

/* Dimensions (elements, rows), or (elements of a part, parts, rows). */
static void enter_map(tmaring__tile_cut *cut, const tmaring_stream *stream, const row_shape *s, const row_boxes *b)
{
  static const tmaring_tensor_map_tiled empty = TMARING_TENSOR_MAP_TILED_INIT;
  tmaring_tensor_map_tiled *m = &cut->map;
  const int32_t parts = b->outer > 1;
  *m = empty;
  m->dtype = dtype_of(s->elem_bytes);
  m->rank = 2 + parts;
  m->dims[0] = (uint64_t)(parts ? b->inner : s->all);
  m->box[0] = (uint32_t)b->inner;
  m->strides[0] = (uint64_t)s->elem_bytes;
  if (parts) {
    m->dims[1] = (uint64_t)(s->all / b->inner);
    m->box[1] = (uint32_t)b->outer;
    m->strides[1] = (uint64_t)b->inner * (uint64_t)s->elem_bytes;
  }
  m->strides[m->rank - 1] = (uint64_t)stream->pitch;
  m->box[m->rank - 1] = 1;
  m->l2_bytes = b->inner * s->elem_bytes >= 256 ? 256 : 128;
}

static void enter_axes(tmaring__tile_cut *cut, const tmaring_stream *stream, const row_shape *s, const row_boxes *b)
{
  tmaring_tile *t = &cut->tile;
  const int32_t parts = b->outer > 1, own = s->elem_bytes / (int32_t)stream->elem_bytes;
  t->rank = cut->map.rank;
  t->follows[t->rank - 1] = TMARING_TILE_ROW;
  if (s->width == s->all) return;
  t->follows[parts] = TMARING_TILE_COLUMN;
  t->scale[parts] = log2_of(own * (parts ? b->inner : 1));
}

/* Each row has boxes of its own; a single one may be the fill. */
static void cut_by_row(tmaring__tile_cut *cut, const row_shape *s, const row_boxes *b, const tmaring__tile_need *need)
{
  tmaring_tile *t = &cut->tile;
  t->by_row = need->rows > 1 || need->by_row;
  t->boxes = t->along = b->count;
  t->box_bytes = (tmaring_u32)(b->inner * b->outer * s->elem_bytes);
  t->box_pitch = t->box_bytes;
  t->box_step[0] = b->count > 1 ? b->inner : 0;
  cut->slot_row = (tmaring_u32)tmaring_round_up((tmaring_u64)t->box_bytes * (tmaring_u64)b->count, BOX_UNIT);
  cut->slot_bytes = (int64_t)cut->slot_row * need->rows;
}

/* Boxes of several rows, below each other where they are more than a box has. */
static void cut_together(tmaring__tile_cut *cut, const row_shape *s, const row_boxes *b, int32_t rows)
{
  tmaring_tile *t = &cut->tile;
  const int32_t boxes = (int32_t)tmaring_ceil_div(rows, TMARING_MAX_BOX);
  const int32_t each = boxes == 1 ? rows : (int32_t)tmaring_round_up((tmaring_u64)tmaring_ceil_div(rows, boxes), 8);
  cut->map.box[cut->map.rank - 1] = (uint32_t)each;
  cut->slot_row = (tmaring_u32)(b->inner * b->outer * s->elem_bytes);
  t->boxes = boxes;
  t->along = 1;
  t->box_bytes = t->box_pitch = cut->slot_row * (tmaring_u32)each;
  t->box_step[1] = boxes > 1 ? each : 0;
  cut->slot_bytes = (int64_t)tmaring_round_up((tmaring_u64)t->box_bytes * (tmaring_u64)boxes, BOX_UNIT);
}

int tmaring__tile_cut_make(tmaring__tile_cut *cut, const tmaring_stream *stream, const tmaring__tile_need *need)
{
  const row_shape s = shape_of(stream, need);
  row_boxes b;
  memset(cut, 0, sizeof *cut);
  cut->slot_bytes = HUGE_BYTES;
  if (s.width * s.elem_bytes + BOX_UNIT > ((int64_t)1 << 30) / need->rows) return 1;
  if (!find_boxes(&b, &s, need->exact)) return 0;
  enter_map(cut, stream, &s, &b);
  enter_axes(cut, stream, &s, &b);
  /* several boxes of rows may reach past the fill's */
  const int one = need->rows <= TMARING_MAX_BOX, together = b.count == 1 && (one || (b.outer == 1 && !need->exact));
  if (need->by_row || !together || b.inner * b.outer * s.elem_bytes % need->row_unit != 0)
    cut_by_row(cut, &s, &b, need);
  else
    cut_together(cut, &s, &b, need->rows);
  return 1;
}

int32_t tmaring__tile_unit(const tmaring_stream *streams, int32_t count)
{
  int32_t unit = 1;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t cols = BOX_UNIT / (int32_t)streams[i].elem_bytes;
    if (cols > unit) unit = cols;
  }
  return unit;
}

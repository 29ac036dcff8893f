/* The boxes of a fill, line by line: that they bring every element of the fill to its place, once, and that stores write
 * nothing else.
 *
 * Every box begins at a 16-byte unit of its rows; a store writes whole units, so that rows must end with one.
 *
 * Boxes lie apart in the slot (check_paths.c), so that an element which is where its row has it is there once. A fill's
 * coordinates are a multiple of its row and column: fills are translates of each other, but for those that the tensor's
 * edges clip. So lines are looked at in the first and last two fills along either axis alone. */
#include "../base/detail.h"
#include "box.h"
#include "check_boxes.h"

#define REFUSE(...) return tmaring__fail(TMARING_ERROR_CHECK, __VA_ARGS__)

/* One box of a fill. */
typedef struct box {
  const tmaring_stream *stream;
  const tmaring_fill *fill;
  const tmaring_tensor_map_tiled *map;
  uint32_t offset; /* in the slot */
  int32_t at[TMARING_MAX_RANK];
  int store;
} box;

static int near_edge(int64_t at, int64_t each, int64_t all)
{
  return at < 2 * each || at + 3 * each > all;
}

static int is_edge(const tmaring_walk *w, const tmaring_fill *fill)
{
  const int32_t cols = tmaring_walk_fill_cols(w);
  return near_edge(fill->row, w->tile_rows, w->rows) && near_edge(fill->col, cols, w->cols);
}

/* Bytes [begin, end) of a row of the tensor, of which the first lies at `offset` in the slot. */
static tmaring_status check_line(const box *b, int64_t row, int64_t begin, int64_t end, uint32_t offset,
                                 uint64_t *covered)
{
  const int64_t elem = b->stream->elem_bytes, left = b->fill->col * elem, right = left + b->fill->cols * elem;
  const int64_t first = tmaring_max_i64(begin, left), last = tmaring_min_i64(end, right);
  const int inside = row >= b->fill->row && row < b->fill->row + b->fill->rows && first < last;
  if (b->store && begin < end && (!inside || first != begin || last != end))
    REFUSE("row %lld: a box would store bytes [%lld, %lld) of it, the fill has [%lld, %lld) of %d rows from %lld",
           (long long)row, (long long)begin, (long long)end, (long long)left, (long long)right, b->fill->rows,
           (long long)b->fill->row);
  if (!inside) return TMARING_OK;
  const int64_t due = (int64_t)tmaring_run_row_offset(b->stream, b->fill, (int32_t)(row - b->fill->row)) + first - left;
  if (due != (int64_t)offset + first - begin)
    REFUSE("row %lld: byte %lld comes to %lld in its slot, its row has it at %lld", (long long)row, (long long)first,
           (long long)offset + first - begin, (long long)due);
  *covered += (uint64_t)(last - first);
  return TMARING_OK;
}

/* Line `line` of the box: elements along dimension 0. */
static tmaring_status check_nth_line(const box *b, uint32_t line, uint64_t *covered)
{
  const tmaring_tensor_map_tiled *m = b->map;
  const int64_t elem = tmaring_dtype_bytes(m->dtype), pitch = b->stream->pitch;
  const uint32_t offset = b->offset + line * m->box[0] * (uint32_t)elem;
  int64_t place = 0;
  for (int32_t d = 1; d < m->rank; ++d) {
    const int64_t at = b->at[d] + (int64_t)(line % m->box[d]);
    if (at < 0 || (uint64_t)at >= m->dims[d]) return TMARING_OK;
    place += at * (int64_t)m->strides[d];
    line /= m->box[d];
  }
  const int64_t row = pitch > 0 ? place / pitch : 0;
  const int64_t first = tmaring_max_i64(b->at[0], 0),
                last = tmaring_min_i64((int64_t)b->at[0] + m->box[0], (int64_t)m->dims[0]);
  return check_line(b, row, place - row * pitch + first * elem, place - row * pitch + last * elem,
                    offset + (uint32_t)((first - b->at[0]) * elem), covered);
}

/* Along dimension 0 the copy engine moves 16-byte units. */
static tmaring_status check_units(const box *b)
{
  const int64_t begin = tmaring__box_begin(b->map, b->at);
  const uint32_t overrun = tmaring__box_overrun(b->map, b->at);
  if (begin % TMARING_BULK != 0)
    REFUSE("row %lld: a box begins at element %d of a row, byte %lld, needs a multiple of 16 bytes",
           (long long)b->fill->row, b->at[0], (long long)begin);
  if (b->store && overrun > 0)
    REFUSE(
        "row %lld: a box would store outside the tensor, %u bytes behind the %llu elements of a row, needs rows that "
        "end at a multiple of 16 bytes",
        (long long)b->fill->row, overrun, (unsigned long long)b->map->dims[0]);
  return TMARING_OK;
}

static tmaring_status check_box(const box *b, uint64_t *covered)
{
  uint32_t lines = 1;
  for (int32_t d = 1; d < b->map->rank; ++d) lines *= b->map->box[d];
  if ((uint64_t)b->offset + tmaring__box_bytes(b->map) > b->stream->slot_bytes)
    REFUSE("row %lld: a box at %u of %u bytes in a slot of %u", (long long)b->fill->row, b->offset,
           tmaring__box_bytes(b->map), b->stream->slot_bytes);
  TMARING__TRY(check_units(b));
  for (uint32_t i = 0; i < lines; ++i) TMARING__TRY(check_nth_line(b, i, covered));
  return TMARING_OK;
}

/* Copies [first, last). */
static tmaring_status check_range(const tmaring_walk *w, const tmaring__boxes *boxes, int32_t index,
                                  const tmaring_stream *stream, const tmaring_fill *fill, int32_t first, int32_t last,
                                  uint64_t *covered)
{
  const tmaring_tile *tile = &boxes->tile[index];
  box b = {stream, fill, &boxes->map[index], 0, {0}, index >= TMARING_TILED_OUTPUTS};
  for (int32_t i = first; i < last && is_edge(w, fill); ++i) {
    b.offset = tmaring_tile_offset(tile, stream->slot_row, i);
    tmaring_tile_coordinates(tile, NULL, fill, i, b.at);
    TMARING__TRY(check_box(&b, covered));
  }
  return TMARING_OK;
}

tmaring_status tmaring__check_boxes(const tmaring_args *args, const tmaring__boxes *boxes, int32_t index,
                                    const tmaring_fill *fill, int32_t first, int32_t last, int64_t *copies)
{
  const tmaring_stream *s =
      index >= TMARING_TILED_OUTPUTS ? &args->output[index - TMARING_TILED_OUTPUTS] : &args->input[index];
  const uint64_t due = (uint64_t)(last - first) * (uint64_t)fill->cols * s->elem_bytes;
  const tmaring_tile *tile = &boxes->tile[index];
  const int32_t begin = tile->by_row ? first * tile->boxes : 0,
                end = tile->by_row ? last * tile->boxes : tmaring_tile_copies(tile, fill);
  uint64_t covered = 0;
  TMARING__TRY(check_range(&args->walk, boxes, index, s, fill, begin, end, &covered));
  if (is_edge(&args->walk, fill) && covered != due)
    REFUSE("row %lld, column %d: boxes hold %llu bytes of a fill's %llu", (long long)fill->row, fill->col,
           (unsigned long long)covered, (unsigned long long)due);
  *copies += end - begin;
  return TMARING_OK;
}

/* Paths of loads and stores: that arguments, code and boxes agree, and what the hardware asks of maps and of the boxes in
 * shared memory. Where the boxes of each fill lie is check_boxes.c. */
#include <string.h>

#include "../base/detail.h"
#include "box.h"
#include "check_args.h"

#define REFUSE(...) return tmaring__fail(TMARING_ERROR_CHECK, __VA_ARGS__)

/* A tiled stream. */
typedef struct tiled {
  const tmaring_args *args;
  const tmaring__code *code;
  const tmaring_stream *stream;
  const tmaring_tile *tile;
  const tmaring_tensor_map_tiled *map;
  const char *what;
  int32_t index;
} tiled;

/* The map's own limits, with the stream's name before the message. */
static tmaring_status check_limits(const tiled *t)
{
  char detail[400];
  if (t->args->walk.rows == 0 || tmaring_tensor_map_check_tiled(t->map) == TMARING_OK) return TMARING_OK;
  strncpy(detail, tmaring_last_detail(), sizeof detail - 1);
  detail[sizeof detail - 1] = '\0';
  REFUSE("%s %d: %s", t->what, t->index, detail);
}

/* Where the map's last element ends, in bytes from its address. */
static uint64_t map_end(const tmaring_tensor_map_tiled *map)
{
  uint64_t end = tmaring_dtype_bytes(map->dtype);
  for (int32_t d = 0; d < map->rank; ++d)
    end += (map->dims[d] - 1) * (d == 0 ? tmaring_dtype_bytes(map->dtype) : map->strides[d]);
  return end;
}

static tmaring_status check_map(const tiled *t)
{
  const tmaring_tensor_map_tiled *m = t->map;
  TMARING__TRY(check_limits(t));
  if (m->address != t->stream->base || m->rank != t->tile->rank)
    REFUSE("%s %d: its map is of rank %d at another address or of another rank than its boxes, %d", t->what, t->index,
           m->rank, t->tile->rank);
  for (int32_t d = 0; d < m->rank; ++d) {
    if (m->element_strides[d] > 1)
      REFUSE("%s %d: got element stride %u, rows are loaded whole", t->what, t->index, m->element_strides[d]);
  }
  if (m->swizzle != TMARING_SWIZZLE_NONE)
    REFUSE("%s %d: got swizzle %d, rows are read as they are", t->what, t->index, m->swizzle);
  if (t->args->walk.rows > 0 && map_end(m) > t->stream->hull_end - t->stream->base)
    REFUSE("%s %d: its map ends after %llu bytes, the tensor has %lld", t->what, t->index,
           (unsigned long long)map_end(m), (long long)(t->stream->hull_end - t->stream->base));
  return TMARING_OK;
}

/* Copies of a row, or of a fill, lie side by side; those of rows below each other. */
static tmaring_status check_boxes_apart(const tiled *t)
{
  const tmaring_tile *b = t->tile;
  const uint32_t whole = tmaring__box_bytes(t->map);
  if (b->box_bytes != whole)
    REFUSE("%s %d: got boxes of %u bytes, its map has %u", t->what, t->index, b->box_bytes, whole);
  if (b->boxes < 1 || b->along < 1 ||
      (b->boxes > 1 && (b->box_pitch < whole || b->box_pitch % TMARING__BOX_ALIGN != 0)))
    REFUSE("%s %d: got %d boxes, %u bytes apart; needs multiples of %u from %u on", t->what, t->index, b->boxes,
           b->box_pitch, TMARING__BOX_ALIGN, whole);
  if (b->by_row && (t->stream->slot_row % TMARING__BOX_ALIGN != 0 ||
                    t->stream->slot_row < (uint32_t)(b->boxes - 1) * b->box_pitch + whole))
    REFUSE("%s %d: got rows %u bytes apart, needs a multiple of %u that holds %d boxes of %u bytes", t->what, t->index,
           t->stream->slot_row, TMARING__BOX_ALIGN, b->boxes, whole);
  return TMARING_OK;
}

/* Every fill begins at a 16-byte unit of memory and at a whole element of the map, so that its rows begin where those of
 * the slot do. */
static tmaring_status check_starts(const tiled *t)
{
  const tmaring_walk *w = &t->args->walk;
  const tmaring_stream *s = t->stream;
  const int32_t cols = tmaring_walk_fill_cols(w);
  const uint64_t piece = cols < w->cols ? (uint64_t)cols * s->elem_bytes : 0;
  if (s->group_rows > 0) REFUSE("%s %d: tiled, needs rows at one stride in memory", t->what, t->index);
  if ((s->base | (uint64_t)s->pitch | piece) % TMARING_BULK != 0)
    REFUSE("%s %d: tiled, its base, pitch %lld or pieces of %d columns modulo 16 are not 0", t->what, t->index,
           (long long)s->pitch, cols);
  for (int32_t d = 0; d < t->tile->rank; ++d) {
    if (t->tile->follows[d] == TMARING_TILE_COLUMN && cols < w->cols && cols % (1 << t->tile->scale[d]) != 0)
      REFUSE("%s %d: pieces of %d columns, its map counts them by %d", t->what, t->index, cols, 1 << t->tile->scale[d]);
  }
  if (s->dense && w->tile_rows > 1 && s->slot_row != (uint32_t)cols * s->elem_bytes)
    REFUSE("%s %d: rows of %u bytes %u bytes apart in the slot, taken as one run", t->what, t->index,
           (uint32_t)cols * s->elem_bytes, s->slot_row);
  return TMARING_OK;
}

static tmaring_status check_tiled(const tmaring_args *a, const tmaring__boxes *boxes, const tmaring__code *code,
                                  const char *what, int32_t index, int32_t at)
{
  const tmaring_stream *s = at >= TMARING_TILED_OUTPUTS ? &a->output[index] : &a->input[index];
  if (!boxes || ((uint32_t)boxes->used >> at & 1u) == 0) REFUSE("%s %d: tiled, got no boxes", what, index);
  const tiled t = {a, code, s, &boxes->tile[at], &boxes->map[at], what, index};
  if (at < TMARING_TILED_OUTPUTS && code->box_rank[index] && code->box_rank[index] != tmaring_tile_box_rank(t.tile))
    REFUSE("%s %d: its code is for fills of one box of rank %d, its boxes are others", what, index,
           code->box_rank[index]);
  TMARING__TRY(check_map(&t));
  TMARING__TRY(check_boxes_apart(&t));
  return check_starts(&t);
}

static tmaring_status check_input(const tmaring_args *a, const tmaring__boxes *boxes, const tmaring__code *code,
                                  int32_t i)
{
  const tmaring_stream *s = &a->input[i];
  if (s->path < TMARING_LOAD_BULK || s->path > TMARING_LOAD_DIRECT || s->path != code->load[i])
    REFUSE("input %d: got path %d, the kernel has %d; they must agree", i, s->path, code->load[i]);
  if (s->path == TMARING_LOAD_TILE) return check_tiled(a, boxes, code, "input", i, i);
  return TMARING_OK;
}

/* 1 where one thread stores all of a fill. */
static int has_one_storer(const tmaring_args *a)
{
  return a->cta.mode == TMARING_MODE_PIPELINED ||
         (a->scope.kind != TMARING_SCOPE_FLAT && a->scope.warps_per_row == tmaring_cta_squad_warps(&a->cta));
}

/* A row's boxes are stored by the warp that has the row, those of all rows by one. */
static tmaring_status check_output(const tmaring_args *a, const tmaring__boxes *boxes, const tmaring__code *code,
                                   int32_t i)
{
  const int tiled = code->tiled_store != 0;
  if (a->output[i].path != tiled)
    REFUSE("output %d: got path %d, the kernel has %d; they must agree", i, a->output[i].path, tiled);
  if (!tiled) return TMARING_OK;
  if (!code->staged) REFUSE("output %d: stored as boxes, the kernel stages nothing", i);
  TMARING__TRY(check_tiled(a, boxes, code, "output", i, TMARING_TILED_OUTPUTS + i));
  if (boxes->tile[TMARING_TILED_OUTPUTS + i].by_row ? code->flat : !has_one_storer(a))
    REFUSE("output %d: stored as boxes of several rows by several threads, needs boxes per row and a scope of rows", i);
  return TMARING_OK;
}

tmaring_status tmaring__check_paths(const tmaring_args *args, const tmaring__boxes *boxes, const tmaring__code *code)
{
  for (int32_t i = 0; i < args->input_count; ++i) TMARING__TRY(check_input(args, boxes, code, i));
  for (int32_t i = 0; i < args->output_count; ++i) TMARING__TRY(check_output(args, boxes, code, i));
  return TMARING_OK;
}

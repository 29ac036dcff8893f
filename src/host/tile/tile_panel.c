/* Step 2 of a tile plan: boxes, how they are copied and how they lie in their slots. */
#include <string.h>

#include "../describe/tensor_map_check.h"
#include "../plan/plan_options.h"
#include "tile_state.h"

/* Bytes of a copy's box where the caller leaves it open: fills of 8-16 KiB were best (../plan/tuning.h). */
#define BOX_BYTES 16384
/* Elements along either side of a transposed box, and bytes of a row of it at most. */
#define TRANSPOSE_SIDE      64
#define TRANSPOSE_ROW_BYTES 256
/* n, m and k of a step of a matrix product. */
#define MATMUL_SIDE 64
/* Bytes that keep rows of a slot apart which the copy engine does not swizzle, so that a column lies in many banks. */
#define ROW_GAP 16u

static uint32_t elem_bytes(const tmaring__tile_draft *w, int32_t t)
{
  return tmaring_dtype_bytes((tmaring_i32)w->tensor[t].dtype);
}

static int32_t element_stride(const tmaring__tile_draft *w, int32_t t, int32_t d)
{
  return t == w->output || w->options.element_strides[d] == TMARING_AUTO ? 1 : w->options.element_strides[d];
}

/* ---- boxes ---- */

/* Rows as long as they are, then as many of them as BOX_BYTES hold. The hardware's limit counts what is left out. */
static void copy_box(tmaring__tile_draft *w)
{
  const uint32_t elem = elem_bytes(w, 0);
  int64_t room = BOX_BYTES / elem;
  for (int32_t d = 0; d < w->tensor[1].rank; ++d) {
    const int64_t most = (TMARING_MAX_BOX - 1) / element_stride(w, 0, d) + 1, whole = d == 0 ? 16 / elem : 1;
    const int64_t dim = tmaring_ceil_div(w->tensor[1].dims[d], whole) * whole;
    const int64_t open = tmaring_max_i64(whole, tmaring_min_i64(dim, tmaring_min_i64(room, most)));
    w->box[d] = tmaring__asked_or(w->options.box[d], (int32_t)open);
    room = tmaring_max_i64(1, room / w->box[d]);
  }
}

static void square_box(tmaring__tile_draft *w)
{
  const int32_t side = w->op == TMARING_TILE_MATMUL ? MATMUL_SIDE
                       : elem_bytes(w, 0) == 1
                           ? 2 * TRANSPOSE_SIDE
                           : (int32_t)tmaring_min_i64(TRANSPOSE_SIDE, TRANSPOSE_ROW_BYTES / elem_bytes(w, 0));
  const int32_t sides = w->op == TMARING_TILE_MATMUL ? 3 : 2;
  for (int32_t d = 0; d < sides; ++d) w->box[d] = tmaring__asked_or(w->options.box[d], side);
}

static tmaring_status check_product_box(const tmaring__tile_draft *w)
{
  static const char *const side[3] = {"n", "m", "k"};
  const int32_t least[3] = {16, 16, elem_bytes(w, 0) == 4 ? 8 : 16};
  for (int32_t d = 0; d < 3; ++d) {
    if (w->box[d] % least[d] == 0) continue;
    return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                         "box[%d]: got %d for %s, needs a multiple of %d: what one product of "
                         "the tensor cores takes",
                         d, w->box[d], side[d], least[d]);
  }
  return TMARING_OK;
}

static tmaring_status decide_box(tmaring__tile_draft *w)
{
  for (int32_t d = 0; d < TMARING_MAX_RANK; ++d) w->box[d] = 1;
  if (w->op == TMARING_TILE_COPY) {
    copy_box(w);
    return TMARING_OK;
  }
  square_box(w);
  return w->op == TMARING_TILE_MATMUL ? check_product_box(w) : TMARING_OK;
}

/* Before anything is multiplied: more than any shared memory holds. */
static tmaring_status check_bytes(const tmaring__tile_draft *w)
{
  const double n = w->box[0], m = w->box[1], k = w->box[2];
  double bytes = elem_bytes(w, 0);
  if (w->op == TMARING_TILE_MATMUL) bytes *= n * m + m * k + k * n;
  for (int32_t d = 0; d < TMARING_MAX_RANK && w->op != TMARING_TILE_MATMUL; ++d) bytes *= w->box[d];
  if (bytes < 1048576.0) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_CAPACITY, "box: makes %.0f bytes, needs fewer than 2^20; use a smaller one",
                       bytes);
}

/* ---- panels ---- */

static void enter_panel(tmaring__tile_draft *w, int32_t t, const int32_t *box, const int32_t *follows)
{
  tmaring_panel *p = &w->boxes.panel[t];
  p->rank = w->tensor[t].rank;
  p->elem_bytes = elem_bytes(w, t);
  for (int32_t d = 0; d < TMARING_MAX_RANK; ++d) {
    const int used = d < p->rank;
    const int32_t step = element_stride(w, t, d);
    p->dims[d] = used ? (int32_t)tmaring_ceil_div(w->tensor[t].dims[d], step) : 1;
    p->box[d] = used ? box[d] : 1;
    p->follows[d] = used ? follows[d] : TMARING_TILE_NOTHING;
    p->stride[d] = used ? w->tensor[t].strides[d] * step * (int64_t)p->elem_bytes : 0;
  }
}

static int32_t parts(int64_t dim, int32_t box)
{
  return (int32_t)tmaring_ceil_div(dim, box);
}

static void enter_panels(tmaring__tile_draft *w)
{
  const int32_t *box = w->box, digit = TMARING_TILE_GRID;
  tmaring_grid *g = &w->boxes.grid;
  const tmaring_tile_tensor *y = &w->tensor[w->output];
  g->steps = 1;
  for (int32_t d = 0; d < TMARING_MAX_RANK; ++d) g->extent[d] = d < y->rank ? parts(y->dims[d], box[d]) : 1;
  if (w->op == TMARING_TILE_COPY) {
    const int32_t same[] = {digit, digit + 1, digit + 2, digit + 3, digit + 4};
    enter_panel(w, 0, box, same);
    enter_panel(w, 1, box, same);
  } else if (w->op == TMARING_TILE_TRANSPOSE) {
    enter_panel(w, 0, (const int32_t[]){box[1], box[0]}, (const int32_t[]){digit + 1, digit});
    enter_panel(w, 1, box, (const int32_t[]){digit, digit + 1});
  } else {
    g->steps = parts(w->tensor[0].dims[0], box[2]);
    enter_panel(w, 0, (const int32_t[]){box[2], box[1]}, (const int32_t[]){TMARING_TILE_STEP, digit + 1});
    enter_panel(w, 1, (const int32_t[]){box[0], box[2]}, (const int32_t[]){digit, TMARING_TILE_STEP});
    enter_panel(w, 2, box, (const int32_t[]){digit, digit + 1});
  }
}

/* Fills are counted in 31 bits. */
static tmaring_status check_grid(const tmaring__tile_draft *w)
{
  double fills = w->boxes.grid.steps;
  for (int32_t d = 0; d < TMARING_MAX_RANK; ++d) fills *= w->boxes.grid.extent[d];
  if (fills < 2147483647.0) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_CAPACITY, "box: makes %.0f fills, a grid has fewer than 2^31; use larger boxes",
                       fills);
}

/* ---- layouts ---- */

static uint32_t row_bytes(const tmaring__tile_draft *w, int32_t t)
{
  return (uint32_t)w->boxes.panel[t].box[0] * w->boxes.panel[t].elem_bytes;
}

/* The widest swizzle up to `most` whose spans are whole parts of a row. */
static int32_t fitting_swizzle(uint32_t row, int32_t most)
{
  int32_t swizzle = most;
  while (swizzle > TMARING_SWIZZLE_NONE && row % tmaring__swizzle_span(swizzle) != 0) --swizzle;
  return swizzle;
}

/* Copies from slot to tensor put back what they took, so that any swizzle does; what threads read has whole spans. */
static int32_t decide_swizzle(tmaring__tile_draft *w, int32_t t)
{
  const int32_t asked = w->options.swizzle, row = (int32_t)row_bytes(w, t);
  const int copies = w->op == TMARING_TILE_COPY;
  if (w->load == TMARING_LOAD_BULK || (copies && w->store == TMARING_STORE_BULK)) {
    if (asked != TMARING_AUTO && asked != TMARING_SWIZZLE_NONE)
      tmaring__note_add(w->notes, "%s: swizzle %d -> 0: bulk copies move rows as they are",
                        tmaring__tile_name(w->op, t), asked);
    return TMARING_SWIZZLE_NONE;
  }
  if (asked == TMARING_AUTO)
    return copies ? TMARING_SWIZZLE_NONE : fitting_swizzle((uint32_t)row, TMARING_SWIZZLE_128B);
  if (copies && w->store == TMARING_STORE_TILE && row <= (int32_t)tmaring__swizzle_span(asked)) return asked;
  const int32_t fits = fitting_swizzle((uint32_t)row, asked);
  if (fits != asked)
    tmaring__note_add(w->notes, "%s: swizzle %d -> %d: a row of a box is %d bytes, no multiple of the span",
                      tmaring__tile_name(w->op, t), asked, fits, row);
  return fits;
}

static void enter_layout(tmaring__tile_draft *w, int32_t t, int32_t swizzle, uint32_t gap)
{
  tmaring_panel *p = &w->boxes.panel[t];
  const uint32_t row = row_bytes(w, t), span = tmaring__swizzle_span(swizzle);
  p->layout.swizzle = swizzle;
  p->layout.span_bytes = swizzle && span < row ? span : row;
  p->layout.row_bytes = swizzle ? span : row + gap;
  p->layout.box_pitch =
      (uint32_t)tmaring_round_up((uint64_t)tmaring_panel_rows(p) * p->layout.row_bytes, swizzle ? 1024 : 128);
}

/* ---- maps ---- */

static int32_t map_index(const tmaring__tile_draft *w, int32_t t)
{
  return t == w->output ? TMARING_TILED_OUTPUTS : t;
}

static void make_map(const tmaring__tile_draft *w, int32_t t, tmaring_tensor_map_tiled *map)
{
  const tmaring_tile_tensor *x = &w->tensor[t];
  const tmaring_panel *p = &w->boxes.panel[t];
  const tmaring_tensor_map_tiled empty = TMARING_TENSOR_MAP_TILED_INIT;
  *map = empty;
  map->dtype = x->dtype;
  map->rank = x->rank;
  map->address = x->alignment < 16 ? x->alignment : 0; /* so that the check speaks of it */
  map->swizzle = p->layout.swizzle;
  for (int32_t d = 0; d < x->rank; ++d) {
    const uint32_t step = (uint32_t)element_stride(w, t, d);
    map->dims[d] = (uint64_t)x->dims[d];
    map->strides[d] = d == 0 ? 0 : (uint64_t)x->strides[d] * p->elem_bytes;
    map->box[d] = d == 0 ? p->layout.span_bytes / p->elem_bytes : ((uint32_t)p->box[d] - 1) * step + 1;
    map->element_strides[d] = step;
  }
}

static void make_tile(const tmaring__tile_draft *w, int32_t t, const tmaring_tensor_map_tiled *map, tmaring_tile *tile)
{
  const tmaring_panel *p = &w->boxes.panel[t];
  memset(tile, 0, sizeof *tile);
  tile->rank = p->rank;
  tile->boxes = tile->along = (tmaring_i32)(row_bytes(w, t) / p->layout.span_bytes);
  tile->box_bytes = tmaring_tensor_map_tiled_bytes(map);
  tile->box_pitch = p->layout.box_pitch;
  tile->box_step[0] = (tmaring_i32)(p->layout.span_bytes / p->elem_bytes);
  for (int32_t d = 0; d < p->rank; ++d) {
    tile->follows[d] = p->follows[d];
    tile->scale[d] = p->box[d] * element_stride(w, t, d);
  }
}

static tmaring_status enter_map(tmaring__tile_draft *w, int32_t t)
{
  const int32_t i = map_index(w, t);
  tmaring_tensor_map_tiled map;
  make_map(w, t, &map);
  const tmaring_status status = tmaring_tensor_map_check_tiled(&map);
  if (status != TMARING_OK) return tmaring__tile_blame(w->op, t, status);
  make_tile(w, t, &map, &w->boxes.tile[i]);
  map.address = 0;
  w->boxes.map[i] = map;
  w->boxes.used |= 1 << i;
  return TMARING_OK;
}

/* ---- rows by bulk copies ---- */

static tmaring_status refuse_row(const tmaring__tile_draft *w, int32_t t, const char *what, int32_t d, int64_t got)
{
  return tmaring__fail(TMARING_ERROR_ALIGNMENT,
                       "%s: %s: got %lld bytes for dimension %d, a bulk copy of a row needs a multiple of 16; pad the "
                       "rows, or use tensor maps",
                       tmaring__tile_name(w->op, t), what, (long long)got, d);
}

/* Rows begin at multiples of 16 bytes; only the last of a row may end between two. */
static tmaring_status check_rows(const tmaring__tile_draft *w, int32_t t)
{
  const tmaring_panel *p = &w->boxes.panel[t];
  if (w->tensor[t].alignment < 16) return refuse_row(w, t, "alignment", 0, w->tensor[t].alignment);
  if (row_bytes(w, t) % 16 != 0) return refuse_row(w, t, "box", 0, row_bytes(w, t));
  for (int32_t d = 1; d < p->rank; ++d) {
    if (p->dims[d] > 1 && p->stride[d] % 16 != 0) return refuse_row(w, t, "stride", d, p->stride[d]);
  }
  if (element_stride(w, t, 0) == 1) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                       "element_strides[0]: got %d, needs 1: the copy engine takes every element of the innermost "
                       "dimension",
                       element_stride(w, t, 0));
}

static int whole_rows(const tmaring__tile_draft *w, int32_t t)
{
  return (int64_t)w->boxes.panel[t].dims[0] * w->boxes.panel[t].elem_bytes % 16 == 0;
}

/* ---- decisions ---- */

/* The copy engine stores whole 16-byte units: the rest of the last one would go behind the row. */
static tmaring_status check_stored_rows(const tmaring__tile_draft *w)
{
  const tmaring_panel *y = &w->boxes.panel[w->output];
  if (whole_rows(w, w->output)) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ALIGNMENT,
                       "%s: dims[0]: got %d elements, %lld bytes, store tile needs a multiple of 16 bytes, the unit of "
                       "stores by tensor maps; pad the rows, or take store bulk",
                       tmaring__tile_name(w->op, w->output), y->dims[0], (long long)y->dims[0] * y->elem_bytes);
}

/* A copy whose store is left open, to an output that has a map: rows that end between two units go by bulk copies and
 * ordinary stores, or without the copy engine where they are no longer than that. */
static int32_t open_store(tmaring__tile_draft *w)
{
  const tmaring_panel *y = &w->boxes.panel[w->output];
  const int64_t bytes = (int64_t)y->dims[0] * y->elem_bytes;
  if (bytes % 16 == 0) return TMARING_STORE_TILE;
  const int direct = bytes < 16;
  tmaring__note_add(w->notes, "store -> %s: a row of %s is %lld bytes, stores by tensor maps write whole 16 bytes",
                    direct ? "direct" : "bulk", tmaring__tile_name(w->op, w->output), (long long)bytes);
  return direct ? TMARING_STORE_DIRECT : TMARING_STORE_BULK;
}

/* Where stores are left open a copy goes by a map if the output has one. */
static int32_t decide_store(tmaring__tile_draft *w)
{
  tmaring_tensor_map_tiled map;
  if (w->op == TMARING_TILE_MATMUL) {
    if (w->options.store != TMARING_AUTO && w->options.store != TMARING_STORE_DIRECT)
      tmaring__note_add(w->notes, "store -> direct: sums are in registers");
    return TMARING_STORE_DIRECT;
  }
  if (w->options.store != TMARING_AUTO) return w->options.store;
  if (w->op == TMARING_TILE_TRANSPOSE) return TMARING_STORE_DIRECT;
  enter_layout(w, 1, TMARING_SWIZZLE_NONE, 0);
  make_map(w, 1, &map);
  if (tmaring_tensor_map_check_tiled(&map) == TMARING_OK) return open_store(w);
  tmaring__note_add(w->notes, "store -> direct: %s", tmaring_last_detail());
  return TMARING_STORE_DIRECT;
}

static void decide_layouts(tmaring__tile_draft *w)
{
  const int in_place = w->op == TMARING_TILE_COPY && w->store != TMARING_STORE_DIRECT;
  const uint32_t gap = w->load == TMARING_LOAD_BULK && !in_place ? ROW_GAP : 0;
  for (int32_t t = 0; t < w->output; ++t) enter_layout(w, t, decide_swizzle(w, t), gap);
  if (in_place) {
    w->boxes.panel[1].layout = w->boxes.panel[0].layout;
  } else {
    enter_layout(w, w->output, TMARING_SWIZZLE_NONE, 0);
  }
}

static tmaring_status decide_copies(tmaring__tile_draft *w)
{
  w->code.aligned = 1;
  for (int32_t t = 0; t < w->output; ++t) {
    w->code.load[t] = w->load;
    TMARING__TRY(w->load == TMARING_LOAD_TILE ? enter_map(w, t) : check_rows(w, t));
    if (w->load == TMARING_LOAD_BULK && !whole_rows(w, t)) w->code.aligned = 0;
  }
  if (w->store == TMARING_STORE_TILE) {
    TMARING__TRY(enter_map(w, w->output));
    return check_stored_rows(w);
  }
  if (w->store == TMARING_STORE_DIRECT) return TMARING_OK;
  if (!whole_rows(w, w->output)) w->code.aligned = 0;
  return check_rows(w, w->output);
}

tmaring_status tmaring__tile_panels(tmaring__tile_draft *w)
{
  TMARING__TRY(decide_box(w));
  TMARING__TRY(check_bytes(w));
  enter_panels(w);
  TMARING__TRY(check_grid(w));
  w->load = tmaring__asked_or(w->options.load, TMARING_LOAD_TILE);
  w->store = decide_store(w);
  decide_layouts(w);
  TMARING__TRY(decide_copies(w));
  w->code.staged = w->store != TMARING_STORE_DIRECT;
  w->code.tiled_store = w->store == TMARING_STORE_TILE;
  w->work.op = (int32_t)w->op;
  w->work.staged = w->code.staged;
  w->work.masked = w->op == TMARING_TILE_MATMUL && w->load == TMARING_LOAD_BULK;
  for (int32_t t = 0; t < w->count; ++t) w->work.dtype[t] = (int32_t)w->tensor[t].dtype;
  return TMARING_OK;
}

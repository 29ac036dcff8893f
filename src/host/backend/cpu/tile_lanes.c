#include "tile_lanes.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/convert.h"
#include "tmaring/tile_program.h"

static float *take(int64_t count)
{
  return calloc((size_t)count, sizeof(float));
}

tmaring_status tmaring__tile_lanes_make(tmaring__tile_lanes *l, const tmaring_args *args, const tmaring__boxes *boxes,
                                        unsigned char *shared)
{
  const tmaring_panel *p = boxes->panel;
  memset(l, 0, sizeof *l);
  l->args = args;
  l->boxes = boxes;
  l->shared = shared;
  if (boxes->work->op != TMARING_TILE_MATMUL) return TMARING_OK;
  l->sums = take((int64_t)p[2].box[0] * p[2].box[1]);
  for (int t = 0; t < 2; ++t) l->operand[t] = take((int64_t)p[t].box[0] * p[t].box[1]);
  if (l->sums && l->operand[0] && l->operand[1]) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory for the sums of a tile; free some");
}

void tmaring__tile_lanes_release(tmaring__tile_lanes *l)
{
  free(l->sums);
  free(l->operand[0]);
  free(l->operand[1]);
  memset(l, 0, sizeof *l);
}

static int32_t warps_of(const tmaring__tile_lanes *l)
{
  return tmaring_cta_consumer_warps(&l->args->cta);
}

static unsigned char *slot_of(const tmaring__tile_lanes *l, uint32_t stage, const tmaring_stream *s)
{
  return l->shared + l->args->smem.stages + stage * l->args->smem.stage_bytes + s->slot;
}

static void origin_of(const tmaring__tile_lanes *l, int32_t t, const tmaring_fill *fill, tmaring_origin *origin)
{
  tmaring_panel_origin(&l->boxes->panel[t], &l->boxes->grid, fill, origin);
}

/* ---- copy ---- */

static void copy(const tmaring__tile_lanes *l, int32_t warp, const tmaring_fill *fill, uint32_t stage)
{
  const tmaring_panel *y = &l->boxes->panel[1];
  const tmaring_layout *layout = &l->boxes->panel[0].layout;
  const unsigned char *slot = slot_of(l, stage, &l->args->input[0]);
  tmaring_origin origin;
  if (l->boxes->work->staged || !fill->valid) return; /* staged: the storing thread does it all */
  origin_of(l, 1, fill, &origin);
  for (int32_t row = warp; row < tmaring_panel_rows(y); row += warps_of(l)) {
    const tmaring_run run = tmaring_panel_row(y, l->args->output[0].base, &origin, row);
    for (uint32_t byte = 0; byte < run.bytes; byte += y->elem_bytes)
      memcpy((void *)(uintptr_t)(run.address + byte), slot + tmaring_layout_offset(layout, row, byte), y->elem_bytes);
  }
}

/* ---- transpose ---- */

/* Where element (n, m) of the tile goes: NULL where it lies outside y. */
static void *transposed(const tmaring__tile_lanes *l, const tmaring_origin *origin, uint32_t stage, int32_t n,
                        int32_t m)
{
  const tmaring_panel *y = &l->boxes->panel[1];
  const int64_t column = (int64_t)origin->at[0] + m, row = (int64_t)origin->at[1] + n;
  if (l->boxes->work->staged)
    return slot_of(l, stage, &l->args->output[0]) + tmaring_layout_offset(&y->layout, n, (uint32_t)m * y->elem_bytes);
  if (column >= y->dims[0] || row >= y->dims[1]) return NULL;
  return (void *)(uintptr_t)(l->args->output[0].base + (uint64_t)(row * y->stride[1] + column * y->elem_bytes));
}

static void transpose(const tmaring__tile_lanes *l, int32_t warp, const tmaring_fill *fill, uint32_t stage)
{
  const tmaring_panel *x = &l->boxes->panel[0];
  const unsigned char *slot = slot_of(l, stage, &l->args->input[0]);
  tmaring_origin origin;
  if (!fill->valid) return;
  origin_of(l, 1, fill, &origin);
  for (int32_t m = warp; m < x->box[1]; m += warps_of(l)) {
    for (int32_t n = 0; n < x->box[0]; ++n) {
      const uint32_t from = tmaring_layout_offset(&x->layout, m, (uint32_t)n * x->elem_bytes);
      void *to = transposed(l, &origin, stage, n, m);
      if (to) memcpy(to, slot + from, x->elem_bytes);
    }
  }
}

/* ---- matmul ---- */

/* A warp's blocks of 16 x 16 results: rows [row[0], row[1]), columns [col[0], col[1]) of the tile. */
typedef struct share {
  int32_t row[2], col[2];
} share;

static share share_of(const tmaring__tile_lanes *l, int32_t warp)
{
  const int32_t *warps = l->boxes->work->warps;
  const int32_t rows = l->boxes->panel[2].box[1] / warps[0], cols = l->boxes->panel[2].box[0] / warps[1];
  const int32_t row = warp % warps[0] * rows, col = warp / warps[0] * cols;
  const share s = {{row, row + rows}, {col, col + cols}};
  return s;
}

/* Rows [first, last) of an operand's panel as fp32, from the slot. */
static void decode(const tmaring__tile_lanes *l, uint32_t stage, int32_t t, int32_t first, int32_t last)
{
  const tmaring_panel *p = &l->boxes->panel[t];
  const unsigned char *slot = slot_of(l, stage, &l->args->input[t]);
  for (int32_t row = first; row < last; ++row) {
    for (int32_t i = 0; i < p->box[0]; ++i) {
      const uint32_t from = tmaring_layout_offset(&p->layout, row, (uint32_t)i * p->elem_bytes);
      tmaring__dtype_load(&l->operand[t][row * p->box[0] + i], slot + from, l->boxes->work->dtype[t], 1);
    }
  }
}

/* Values of k that this fill has. Past them slots may hold anything. */
static int32_t depth_of(const tmaring__tile_lanes *l, const tmaring_fill *fill)
{
  const tmaring_panel *a = &l->boxes->panel[0];
  tmaring_origin origin;
  if (!l->boxes->work->masked) return a->box[0];
  origin_of(l, 0, fill, &origin);
  return (int32_t)tmaring_min_i64(a->box[0], a->dims[0] - (int64_t)origin.at[0]);
}

static float product(const float *a, const float *b, int32_t depth, int32_t step)
{
  float sum = 0;
  for (int32_t k = 0; k < depth; ++k) sum += a[k] * b[k * step];
  return sum;
}

static void multiply(const tmaring__tile_lanes *l, int32_t warp, const tmaring_fill *fill, uint32_t stage)
{
  const share s = share_of(l, warp);
  const int32_t n = l->boxes->panel[2].box[0], k = l->boxes->panel[0].box[0], depth = depth_of(l, fill);
  decode(l, stage, 0, s.row[0], s.row[1]);
  decode(l, stage, 1, 0, k);
  for (int32_t i = s.row[0]; i < s.row[1]; ++i) {
    for (int32_t j = s.col[0]; j < s.col[1]; ++j)
      l->sums[i * n + j] += product(&l->operand[0][i * k], &l->operand[1][j], depth, n);
  }
}

static void store_row(const tmaring__tile_lanes *l, const tmaring_origin *origin, int32_t i, const share *s)
{
  const tmaring_panel *c = &l->boxes->panel[2];
  const int64_t row = (int64_t)origin->at[1] + i, col = (int64_t)origin->at[0] + s->col[0];
  const int64_t count = tmaring_min_i64(s->col[1] - s->col[0], c->dims[0] - col);
  const uint64_t to = l->args->output[0].base + (uint64_t)(row * c->stride[1] + col * c->elem_bytes);
  if (row >= c->dims[1] || count <= 0) return;
  tmaring__dtype_store((void *)(uintptr_t)to, &l->sums[i * c->box[0] + s->col[0]], l->boxes->work->dtype[2],
                       (size_t)count);
}

void tmaring__tile_lanes_columns(const tmaring__tile_lanes *l, int32_t warp, const tmaring_fill *fill, int end)
{
  const share s = share_of(l, warp);
  const int32_t n = l->boxes->panel[2].box[0];
  tmaring_origin origin;
  origin_of(l, 2, fill, &origin);
  for (int32_t i = s.row[0]; i < s.row[1]; ++i) {
    if (end) {
      store_row(l, &origin, i, &s);
    } else {
      memset(&l->sums[i * n + s.col[0]], 0, (size_t)(s.col[1] - s.col[0]) * sizeof(float));
    }
  }
}

void tmaring__tile_lanes_accumulate(const tmaring__tile_lanes *l, int32_t warp, const tmaring_fill *fill,
                                    uint32_t stage)
{
  switch (l->boxes->work->op) {
  case TMARING_TILE_COPY: copy(l, warp, fill, stage); return;
  case TMARING_TILE_TRANSPOSE: transpose(l, warp, fill, stage); return;
  default: multiply(l, warp, fill, stage); return;
  }
}

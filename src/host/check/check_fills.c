/* The geometry of every fill: bounds, alignment, sizes.
 *
 * Rows are walked in *blocks*: the rows that one fill holds. Block after block every address moves by the
 * same number of bytes, so that everything taken modulo a power of two comes back after that many blocks at most:
 * 16-byte units, and the frame of a vector, which is what `period` says. Every address lies between those of the first
 * and the last block, and only within a period of either end can a window be clipped by the hull or a fill be short. So
 * the first and the last two periods are checked one by one, and what lies between is proven by them; the same holds
 * for the pieces of a long row, and for the fills of a chunk. Which worker has which tile does not matter to this.
 *
 * Rows in groups are no translates of each other. But each is a run of its own, so that nothing but its own place
 * modulo 16 matters, and the layout has shown that rows have room at any place (check_layout.c); addresses only grow
 * from row to row, so that the first and the last bound them. The blocks at both ends are checked all the same, and
 * copies counted as if rows were alike, which they are but for runs below 48 bytes. */
#include <string.h>

#include "../base/detail.h"
#include "check_args.h"
#include "check_boxes.h"
#include "tmaring/abi/frames.h"

#define REFUSE(...)  return tmaring__fail(TMARING_ERROR_CHECK, __VA_ARGS__)
#define MAX_PERIOD   256
#define EXPECT_LIMIT (1u << 20)

/* ---- one fill ---- */

typedef struct proof {
  const tmaring_args *args;
  const tmaring__boxes *boxes;
  const tmaring__code *code;
  const tmaring__program *program;
  tmaring_walk walk; /* of the arguments, with the rank that is looked at */
  int32_t period;    /* blocks, or pieces, after which addresses are alike modulo all that matters */
  int64_t tile;      /* raw */
  int32_t row;       /* block of the tile */
} proof;

static tmaring_status check_bounds(const proof *p, const tmaring_stream *s, const char *what, uint64_t address,
                                   uint64_t bytes)
{
  if (address >= s->base && address + bytes <= s->hull_end) return TMARING_OK;
  REFUSE("tile %lld, %s: copy outside the tensor: bytes [%lld, %lld) of %lld; the walk must stay inside",
         (long long)p->tile, what, (long long)(address - s->base), (long long)(address - s->base + bytes),
         (long long)(s->hull_end - s->base));
}

static tmaring_status check_bulk(const proof *p, const tmaring_stream *s, const char *what, const tmaring_run *r,
                                 const tmaring_window *w)
{
  const uint64_t offset = (uint64_t)r->offset + (w->begin - r->address);
  TMARING__TRY(check_bounds(p, s, what, w->begin, w->bytes));
  if ((w->begin | offset | w->bytes) % TMARING_BULK != 0) {
    REFUSE("tile %lld, %s: address, shared offset and size modulo 16 are %u, %u, %u; all must be 0", (long long)p->tile,
           what, (unsigned)(w->begin % TMARING_BULK), (unsigned)(offset % TMARING_BULK), w->bytes % TMARING_BULK);
  }
  if (offset + w->bytes > s->slot_bytes || offset > s->slot_bytes) {
    REFUSE("tile %lld, %s: bytes [%lld, %lld) of a slot of %u", (long long)p->tile, what, (long long)offset,
           (long long)(offset + w->bytes), s->slot_bytes);
  }
  return TMARING_OK;
}

#define STORED (-1) /* in place of the path of a load */

/* A run as the roles handle it: without edges whole by the copy engine. */
static tmaring_window window_of(const proof *p, const tmaring_stream *s, const tmaring_run *r, int32_t path)
{
  tmaring_window w = {r->address, r->bytes, 0, 0};
  if (p->code->aligned && (path == STORED || path == TMARING_LOAD_BULK)) return w;
  return path == STORED ? tmaring_run_store_window(r) : tmaring_run_path_window(s, r, path);
}

/* Without a bulk part (its begin may then lie past the run) the head is all of the run. */
static int leaves_no_gap(const tmaring_window *w, const tmaring_run *r)
{
  if (w->bytes == 0) return w->head == r->bytes && w->tail == 0;
  return w->begin <= r->address + w->head && w->begin + w->bytes + w->tail >= r->address + r->bytes;
}

static tmaring_status check_run(const proof *p, const tmaring_stream *s, const char *what, const tmaring_run *r,
                                int32_t path, int64_t *copies, uint64_t *bytes)
{
  const tmaring_window w = window_of(p, s, r, path);
  const int async = path == TMARING_LOAD_ASYNC; /* all of it lies inside the run */
  TMARING__TRY(check_bounds(p, s, what, r->address, r->bytes));
  if ((uint64_t)r->offset + r->bytes > s->slot_bytes) {
    REFUSE("tile %lld, %s: bytes [%u, %llu) of a slot of %u", (long long)p->tile, what, r->offset,
           (unsigned long long)r->offset + r->bytes, s->slot_bytes);
  }
  if (w.bytes > 0 && !async) TMARING__TRY(check_bulk(p, s, what, r, &w));
  if (!leaves_no_gap(&w, r)) {
    REFUSE("tile %lld, %s: head %u, bulk %u and tail %u leave a gap in %u bytes", (long long)p->tile, what, w.head,
           w.bytes, w.tail, r->bytes);
  }
  *copies += w.bytes > 0;
  if (!async) *bytes += path == STORED ? r->bytes : w.bytes;
  return TMARING_OK;
}

/* Rows in their place in global memory. */
static tmaring_status check_rows(const proof *p, const tmaring_stream *s, const char *what, const tmaring_fill *fill)
{
  const uint64_t row = (uint64_t)fill->cols * s->elem_bytes;
  if (fill->rows == 0) return TMARING_OK;
  TMARING__TRY(check_bounds(p, s, what, tmaring_stream_address(s, fill->row, fill->col), row));
  return check_bounds(p, s, what, tmaring_stream_address(s, fill->row + fill->rows - 1, fill->col), row);
}

/* Bytes: what the full barrier is to expect. */
static tmaring_status check_load(const proof *p, int32_t i, const tmaring_fill *fill, int64_t *copies, uint64_t *bytes)
{
  const tmaring_stream *s = &p->args->input[i];
  if (s->path == TMARING_LOAD_DIRECT) return check_rows(p, s, "load", fill);
  if (s->path == TMARING_LOAD_TILE) {
    *bytes += tmaring_tile_bytes(&p->boxes->tile[i], fill);
    return tmaring__check_boxes(p->args, p->boxes, i, fill, 0, fill->rows, copies);
  }
  for (int32_t k = 0; k < tmaring_run_count(s, fill->rows); ++k) {
    const tmaring_run r = tmaring_run_at(s, fill, 0, fill->rows, k);
    TMARING__TRY(check_run(p, s, "load", &r, s->path, copies, bytes));
  }
  return TMARING_OK;
}

static tmaring_status check_loads(const proof *p, const tmaring_fill *fill, int64_t *copies)
{
  uint64_t bytes = 0;
  for (int32_t i = 0; i < p->args->input_count; ++i) TMARING__TRY(check_load(p, i, fill, copies, &bytes));
  if (bytes >= EXPECT_LIMIT) {
    REFUSE("tile %lld: expects %llu bytes, a barrier counts below %u", (long long)p->tile, (unsigned long long)bytes,
           EXPECT_LIMIT);
  }
  return TMARING_OK;
}

/* In place every element must lie where the input's did. */
static tmaring_status check_in_place(const proof *p, const tmaring_fill *fill)
{
  const int32_t rows = p->code->aligned ? 1 : fill->rows; /* aligned: no phase anywhere */
  for (int32_t i = 0; i < p->args->output_count; ++i) {
    for (int32_t k = 0; k < p->args->input_count; ++k) {
      if (p->args->input[k].path == TMARING_LOAD_DIRECT) continue;
      if (p->args->output[i].slot != p->args->input[k].slot) continue;
      for (int32_t j = 0; j < rows; ++j) {
        const uint32_t out = tmaring_run_row_offset(&p->args->output[i], fill, j),
                       in = tmaring_run_row_offset(&p->args->input[k], fill, j);
        if (out != in) {
          REFUSE("tile %lld, row %d: output %d is staged at %u over input %d at %u; the bases need one phase",
                 (long long)p->tile, j, i, out, k, in);
        }
      }
    }
  }
  return TMARING_OK;
}

static tmaring_status check_staged(const proof *p, const tmaring_fill *fill, tmaring_store_frame *range,
                                   int64_t *copies, uint64_t *bytes)
{
  for (range->tensor = 0; range->tensor < p->args->output_count; ++range->tensor) {
    const tmaring_stream *s = &p->args->output[range->tensor];
    if (p->code->tiled_store) {
      const int32_t last = p->code->flat ? fill->rows : range->last; /* flat: one thread stores all */
      *bytes += (uint64_t)(last - range->first) * (uint64_t)fill->cols * s->elem_bytes;
      TMARING__TRY(tmaring__check_boxes(p->args, p->boxes, TMARING_TILED_OUTPUTS + range->tensor, fill, range->first,
                                        last, copies));
      continue;
    }
    for (range->run = 0; range->run < tmaring_run_count(s, range->last - range->first); ++range->run) {
      const tmaring_run r = tmaring_store_run_at(p->args, s, range, fill);
      TMARING__TRY(check_run(p, s, "store", &r, STORED, copies, bytes));
    }
  }
  return TMARING_OK;
}

static tmaring_status check_direct(const proof *p, const tmaring_fill *fill)
{
  for (int32_t i = 0; i < p->args->output_count; ++i) TMARING__TRY(check_rows(p, &p->args->output[i], "store", fill));
  return TMARING_OK;
}

static tmaring_status check_stores(const proof *p, const tmaring_fill *fill, int64_t *copies)
{
  const tmaring_args *a = p->args;
  const int32_t step = a->scope.warps_per_row, warps = tmaring_cta_squad_warps(&a->cta);
  uint64_t bytes = 0, due = 0;
  tmaring_store_frame range = {0};
  if (!tmaring_fill_stores(fill, p->code->pieces, p->program->passes)) return TMARING_OK;
  if (!p->code->staged) return check_direct(p, fill);
  TMARING__TRY(check_in_place(p, fill));
  for (int32_t warp = 0; warp < warps; warp += step) {
    if (a->cta.mode == TMARING_MODE_PIPELINED) {
      tmaring_store_all(&range, a, fill);
      warp = warps;
    } else {
      tmaring_store_unit(&range, a, fill, warp / step, warp, !p->code->aligned);
    }
    TMARING__TRY(check_staged(p, fill, &range, copies, &bytes));
  }
  for (int32_t i = 0; i < a->output_count; ++i)
    due += (uint64_t)fill->rows * (uint64_t)fill->cols * a->output[i].elem_bytes;
  if (bytes != due)
    REFUSE("tile %lld: stores %llu bytes of %llu", (long long)p->tile, (unsigned long long)bytes,
           (unsigned long long)due);
  return TMARING_OK;
}

/* ---- all fills ---- */

/* Something that comes `count` times with copies of its own, and is alike after a period: what is looked at, and
 * what is counted for it. */
typedef struct series {
  int64_t count;
  int32_t period;
  int64_t at;
  int64_t near[MAX_PERIOD]; /* copies of the last period before the gap */
  int64_t copies;
} series;

static int series_has_gap(const series *s)
{
  return s->count > 4 * (int64_t)s->period;
}

static void series_begin(series *s, int64_t count, int32_t period)
{
  memset(s, 0, sizeof *s);
  s->count = count;
  s->period = period;
}

/* Counts item `at` and goes to the next one to be looked at: two periods at either end. */
static void series_next(series *s, int64_t copies)
{
  const int64_t two = 2 * (int64_t)s->period;
  if (s->at >= s->period && s->at < two) s->near[s->at - s->period] = copies;
  s->copies += copies;
  s->at += 1;
  if (s->at == two && series_has_gap(s)) s->at = s->count - two;
}

static int64_t series_copies(const series *s)
{
  const int64_t gap = series_has_gap(s) ? s->count - 4 * (int64_t)s->period : 0;
  int64_t copies = s->copies;
  for (int32_t i = 0; i < s->period && gap > 0; ++i)
    copies += s->near[i] * (gap / s->period + (i < gap % s->period ? 1 : 0));
  return copies;
}

/* One piece of a block, or all of it: passes load the same, and the last one stores. In a cluster the slice of a
 * rank. */
static tmaring_status check_piece(proof *p, int32_t piece, int64_t *copies)
{
  tmaring_walk *w = &p->walk;
  const int32_t passes = w->spread ? 1 : w->passes, pieces = w->spread ? 1 : w->pieces;
  int64_t loads = 0, stores = 0;
  tmaring_fill fill;
  if (tmaring_walk_shared(w)) {
    w->rank = piece;
    piece = 0;
  }
  tmaring_walk_fill(w, p->tile, (p->row * passes + passes - 1) * pieces + piece, &fill);
  TMARING__TRY(check_loads(p, &fill, &loads));
  TMARING__TRY(check_stores(p, &fill, &stores));
  *copies = loads * passes + stores;
  return TMARING_OK;
}

/* The pieces of a block, or its slices. Spread pieces are tiles of their own: `all` of the row, or the one that the
 * tile is. */
static tmaring_status check_block(proof *p, int all, int64_t *copies)
{
  const tmaring_walk *w = &p->walk;
  const int64_t tile = p->tile;
  const int32_t parts = tmaring_walk_shared(w) ? w->cluster : all || !w->spread ? w->pieces : 1;
  series s;
  for (series_begin(&s, parts, p->period); s.at < s.count;) {
    int64_t own = 0;
    p->tile = tile + (w->spread ? s.at : 0);
    TMARING__TRY(check_piece(p, w->spread ? 0 : (int32_t)s.at, &own));
    series_next(&s, own);
  }
  p->tile = tile;
  *copies = series_copies(&s);
  return TMARING_OK;
}

/* Blocks first .. first + count - 1 of the whole matrix. */
static tmaring_status check_blocks(proof *p, int64_t first, int64_t count, int64_t *copies)
{
  const tmaring_walk *w = &p->args->walk;
  series s;
  for (series_begin(&s, count, p->period); s.at < s.count;) {
    int64_t own = 0;
    p->tile = (first + s.at) / w->chunk * (w->spread ? w->pieces : 1);
    p->row = (int32_t)((first + s.at) % w->chunk);
    TMARING__TRY(check_block(p, 1, &own));
    series_next(&s, own);
  }
  *copies += series_copies(&s);
  return TMARING_OK;
}

/* Blocks first .. first + count - 1 of tile p->tile. */
static tmaring_status check_chunk(proof *p, int64_t first, int64_t count, int64_t *copies)
{
  series s;
  for (series_begin(&s, count, p->period); s.at < s.count;) {
    int64_t own = 0;
    p->row = (int32_t)(first + s.at);
    TMARING__TRY(check_block(p, 0, &own));
    series_next(&s, own);
  }
  *copies += series_copies(&s);
  return TMARING_OK;
}

/* Blocks that hold rows, and those past the last row. */
static tmaring_status check_tile(proof *p, int64_t *copies)
{
  const tmaring_walk *w = &p->args->walk;
  tmaring_fill fill;
  tmaring_walk_fill(w, p->tile, 0, &fill);
  const int64_t left = tmaring_max_i64(0, w->rows - fill.row);
  const int64_t blocks = tmaring_min_i64(w->chunk, tmaring_ceil_div(left, w->tile_rows));
  *copies = 0;
  TMARING__TRY(check_chunk(p, 0, blocks, copies));
  return check_chunk(p, blocks, w->chunk - blocks, copies);
}

/* Surplus tiles of a worker: `count` of them from `first` on. */
static tmaring_status check_surplus(proof *p, int64_t first, int64_t step, int64_t count, int64_t *copies)
{
  series s;
  for (series_begin(&s, count, p->period); s.at < s.count;) {
    int64_t own = 0;
    p->tile = first + s.at * step;
    TMARING__TRY(check_tile(p, &own));
    series_next(&s, own);
  }
  *copies += series_copies(&s);
  return TMARING_OK;
}

/* Bytes after which frames are alike: 16, or the vectors of a stream. Blocks move by whole bytes. */
static int32_t period_of(const tmaring_args *a)
{
  uint32_t period = 32;
  for (int32_t i = 0; i < a->input_count + a->output_count; ++i) {
    const tmaring_stream *s = i < a->input_count ? &a->input[i] : &a->output[i - a->input_count];
    if (s->elem_bytes * (uint32_t)a->scope.vec > period) period = s->elem_bytes * (uint32_t)a->scope.vec;
  }
  return period < MAX_PERIOD ? (int32_t)period : MAX_PERIOD;
}

tmaring_status tmaring__check_fills(const tmaring_args *args, const tmaring__boxes *boxes, const tmaring__code *code,
                                    const tmaring__program *program, tmaring_check_report *report)
{
  proof p = {args, boxes, code, program, args->walk, period_of(args), 0, 0};
  const tmaring_walk *w = &args->walk;
  const int64_t all = tmaring_column_chunks(w) * w->chunk;
  const int64_t blocks = tmaring_ceil_div(w->rows, w->tile_rows);
  TMARING__TRY(check_blocks(&p, 0, blocks, &report->copies));
  TMARING__TRY(check_blocks(&p, blocks, all - blocks, &report->copies)); /* past the last row: the rest of its chunk */
  for (int32_t worker = 0; worker < w->workers && !tmaring_uses_tickets(w); ++worker) {
    const int64_t run = tmaring__slots_run(w, worker),
                  valid = tmaring_min_i64(run, tmaring_walk_valid_slots(w, worker));
    const int64_t first = tmaring_walk_first(w, worker) + valid * w->step;
    TMARING__TRY(check_surplus(&p, first, w->step, run - valid, &report->copies));
  }
  return TMARING_OK;
}

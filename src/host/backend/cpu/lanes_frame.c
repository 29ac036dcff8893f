#include "lanes_frame.h"

#include "tmaring/abi/frames.h"

void tmaring__lanes_frame_begin(const tmaring__lanes *l, tmaring__lanes_frame *f, const tmaring_fill *fill,
                                int32_t warp, int32_t iteration)
{
  const tmaring_scope *scope = &l->args->scope;
  const int32_t own = tmaring__lanes_squad_warp(l, warp);
  int32_t first, last;
  f->fill = fill;
  f->warp = warp;
  f->flat = scope->kind == TMARING_SCOPE_FLAT;
  f->lanes = tmaring_scope_lanes(scope);
  f->rows = 32 >> scope->lanes_log2;
  f->size = f->lanes * scope->vec;
  tmaring_scope_unit_rows(scope, own / scope->warps_per_row, fill->rows, &first, &last);
  for (int32_t q = 0; q < f->rows; ++q) {
    tmaring__segment *s = &f->segment[q];
    const int32_t row = first + iteration * f->rows + q;
    s->row = row < last ? row : -1;
    if (s->row < 0) continue;
    s->count = f->flat ? fill->rows * fill->cols : fill->cols;
    s->phase = tmaring_frame_phase(l->args, fill, row, !l->code->aligned);
    s->end = tmaring_scope_end(scope, own, s->phase, s->count);
  }
}

int tmaring__lanes_frame_step(const tmaring__lanes *l, tmaring__lanes_frame *f, int32_t i)
{
  const tmaring_scope *scope = &l->args->scope;
  const int32_t own = tmaring__lanes_squad_warp(l, f->warp);
  const int32_t vector = tmaring_scope_seat(scope, own, 0).start + i * tmaring_scope_stride(scope);
  int some = 0;
  for (int32_t q = 0; q < f->rows; ++q) {
    tmaring__segment *s = &f->segment[q];
    s->low = s->high = 0;
    if (s->row < 0 || vector >= s->end) continue;
    some = 1;
    s->first = vector * scope->vec - s->phase;
    s->low = (int32_t)tmaring_max_i64(0, -s->first);
    s->high = (int32_t)tmaring_min_i64(f->size, tmaring_min_i64(s->count, (tmaring_i64)s->end * scope->vec - s->phase) -
                                                    s->first);
    if (s->high < s->low) s->high = s->low;
  }
  return some;
}

unsigned char *tmaring__lanes_staged(const tmaring__lanes *l, const tmaring__lanes_frame *f,
                                     const tmaring_stream *stream, int32_t row)
{
  return l->shared + l->args->smem.stages + f->stage * l->args->smem.stage_bytes + stream->slot +
         tmaring_run_row_offset(stream, f->fill, row);
}

const unsigned char *tmaring__lanes_source(const tmaring__lanes *l, const tmaring__lanes_frame *f,
                                           const tmaring_stream *stream, int32_t row)
{
  if (stream->path != TMARING_LOAD_DIRECT) return tmaring__lanes_staged(l, f, stream, row);
  return (const unsigned char *)(uintptr_t)tmaring_stream_address(stream, f->fill->row + row, f->fill->col);
}

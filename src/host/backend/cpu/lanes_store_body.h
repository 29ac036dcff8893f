/* What a program writes. Part of lanes_body.h. */
#ifndef TMARING_HOST_LANES_STORE_BODY_H
#define TMARING_HOST_LANES_STORE_BODY_H

#include "lanes_values_body.h"

/* First element of a row of an [M,N] output: in its stage, or in its place. */
static unsigned char *row_place(const tmaring__lanes *l, const frame *f, const tmaring_stream *stream, int32_t row)
{
  if (l->code->staged) return tmaring__lanes_staged(l, f, stream, row);
  return (unsigned char *)(uintptr_t)tmaring_stream_address(stream, f->fill->row + row, f->fill->col);
}

static void store_step(const tmaring__lanes *l, const frame *f)
{
  const tmaring__program *program = l->plan->program;
  for (int32_t i = 0; i < program->output_count; ++i) {
    const tmaring_stream *stream = &l->args->output[i];
    const REAL *values = step_of(l, program->output[i]);
    for (int32_t q = 0; q < f->rows; ++q, values += f->size) {
      const segment *s = &f->segment[q];
      if (s->high <= s->low) continue;
      STORE(row_place(l, f, stream, s->row) + (size_t)(s->first + s->low) * stream->elem_bytes, values + s->low,
            stream->dtype, (size_t)(s->high - s->low));
    }
  }
}

/* Whoever holds the first column of a group stores its value. */
static void store_groups(const tmaring__lanes *l, const frame *f)
{
  const tmaring__program *program = l->plan->program;
  for (int32_t i = 0; i < program->group_output_count; ++i) {
    const tmaring_vector *v = &l->args->group_output[i];
    const int32_t cols = program->group_output_cols[i];
    const REAL *values = step_of(l, program->group_output[i]);
    for (int32_t q = 0; q < f->rows; ++q, values += f->size) {
      const segment *s = &f->segment[q];
      for (int32_t k = s->low; k < s->high; ++k) {
        const int32_t col = tmaring__lanes_col(f, s, k);
        if (col % cols == 0) STORE(tmaring__lanes_value(f, v, s, col / cols), &values[k], v->dtype, 1);
      }
    }
  }
}

static void row_store(const tmaring__lanes *l, int32_t warp, const tmaring_fill *fill, int32_t iteration)
{
  const tmaring__program *program = l->plan->program;
  frame f;
  if (warp % l->args->scope.warps_per_row != 0) return;
  tmaring__lanes_frame_begin(l, &f, fill, warp, iteration);
  for (int32_t i = 0; i < program->row_output_count; ++i) {
    const tmaring_vector *v = &l->args->row_output[i];
    const REAL *rows = rows_of(l, warp, program->row_output[i]);
    for (int32_t q = 0; q < f.rows; ++q) {
      if (f.segment[q].row >= 0) STORE(tmaring__lanes_value(&f, v, &f.segment[q], 0), &rows[q], v->dtype, 1);
    }
  }
}

#endif

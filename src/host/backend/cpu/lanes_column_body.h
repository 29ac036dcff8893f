/* Reductions over the rows: accumulators of a tile, partial results in the workspace, and their end. Part of
 * lanes_body.h. */
#ifndef TMARING_HOST_LANES_COLUMN_BODY_H
#define TMARING_HOST_LANES_COLUMN_BODY_H

#include "lanes_join_body.h"

static REAL *partial_row(const tmaring__lanes *l, const tmaring_fill *fill, int32_t output, int32_t seat)
{
  return (REAL *)(uintptr_t)l->args->partials_address +
         tmaring_partial_index(l->args, l->walk, output, fill->chunk, seat);
}

/* Accumulators of (seat, output), one per column: a warp's row q has a seat of its own; in shared memory each squad has
 * its own, too. */
static REAL *accumulators(const tmaring__lanes *l, int32_t warp, const tmaring_fill *fill, int32_t output, int32_t seat)
{
  const tmaring_args *a = l->args;
  const int32_t squad = warp / tmaring_cta_squad_warps(&a->cta);
  if (!a->columns_staged) return partial_row(l, fill, output, seat);
  return (REAL *)(void *)(l->shared + a->smem.columns) +
         ((squad * tmaring_column_seats(a) + seat) * a->column_output_count + output) * tmaring_column_stride(a);
}

static int32_t seat_of(const tmaring__lanes *l, int32_t warp, int32_t q)
{
  const tmaring_seat seat =
      tmaring_scope_seat(&l->args->scope, tmaring__lanes_squad_warp(l, warp), q << l->args->scope.lanes_log2);
  return tmaring_column_seat(l->args, &seat);
}

static void add_columns(const tmaring__lanes *l, const frame *f)
{
  const tmaring__program *program = l->plan->program;
  for (int32_t o = 0; o < program->column_output_count; ++o) {
    const tmaring__op op = (tmaring__op)program->column_output[o].op;
    const REAL *values = step_of(l, program->column_output[o].node);
    for (int32_t q = 0; q < f->rows; ++q, values += f->size) {
      const segment *s = &f->segment[q];
      REAL *sums;
      if (s->high <= s->low) continue;
      sums = accumulators(l, f->warp, f->fill, o, seat_of(l, f->warp, q)) + f->fill->col + s->first;
      for (int32_t i = s->low; i < s->high; ++i) sums[i] = combine(op, sums[i], values[i]);
    }
  }
}

/* Columns [low, high) of every seat of a warp. */
static void handle_columns(const tmaring__lanes *l, int32_t warp, const tmaring_fill *fill, int end, int32_t low,
                           int32_t high)
{
  const tmaring__program *program = l->plan->program;
  for (int32_t q = 0; q < 32 >> l->args->scope.lanes_log2; ++q) {
    const int32_t seat = seat_of(l, warp, q);
    for (int32_t o = 0; o < program->column_output_count; ++o) {
      REAL *sums = accumulators(l, warp, fill, o, seat);
      if (end) {
        memcpy(partial_row(l, fill, o, seat) + low, sums + low, (size_t)(high - low) * sizeof *sums);
        continue;
      }
      for (int32_t c = low; c < high; ++c) sums[c] = identity((tmaring__op)program->column_output[o].op);
    }
  }
}

/* A warp's columns of columns [first, first + cols): those of its vectors. */
static void piece_columns(const tmaring__lanes *l, int32_t warp, const tmaring_fill *fill, int end, int32_t first,
                          int32_t cols)
{
  const tmaring_scope *scope = &l->args->scope;
  const int32_t size = tmaring_scope_lanes(scope) * scope->vec, stride = tmaring_scope_stride(scope) * scope->vec;
  const int32_t own = tmaring__lanes_squad_warp(l, warp);
  for (int64_t at = (int64_t)tmaring_scope_seat(scope, own, 0).start * scope->vec; at < cols; at += stride) {
    const int32_t low = first + (int32_t)at;
    handle_columns(l, warp, fill, end, low, low + (int32_t)tmaring_min_i64(size, cols - at));
  }
}

/* Accumulators of a tile start anew, or become partial results. A worker that has whole rows, cut into pieces or not,
 * has the accumulators of all columns; spread pieces are tiles of their own. */
static void columns(const tmaring__lanes *l, int32_t warp, const tmaring_fill *fill, int end)
{
  const tmaring_walk *w = l->walk;
  if (end && !l->args->columns_staged) return; /* they are partial results */
  if (w->pieces == 1 || w->spread) {
    piece_columns(l, warp, fill, end, fill->col, fill->cols);
    return;
  }
  for (int32_t piece = 0; piece < w->pieces; ++piece) { /* a column past the last piece may be no int32_t */
    const int32_t col = piece * w->piece_cols;
    piece_columns(l, warp, fill, end, col, (int32_t)tmaring_min_i64(w->piece_cols, w->cols - col));
  }
}

/* A column's partial results, in strands. */
static REAL join_column(tmaring__op op, const REAL *partials, int64_t rows, int64_t stride)
{
  REAL strand[TMARING_COLUMN_STRANDS];
  for (int32_t j = 0; j < TMARING_COLUMN_STRANDS; ++j) {
    strand[j] = identity(op);
    for (int64_t r = j; r < rows; r += TMARING_COLUMN_STRANDS) strand[j] = combine(op, strand[j], partials[r * stride]);
  }
  for (int32_t distance = TMARING_COLUMN_STRANDS / 2; distance > 0; distance /= 2) {
    for (int32_t j = 0; j < distance; ++j) strand[j] = combine(op, strand[j], strand[j + distance]);
  }
  return strand[0];
}

static void join_columns(const tmaring_args *args, const tmaring_walk *walk, const tmaring__program *program)
{
  const int64_t rows = tmaring_column_chunks(walk) * tmaring_column_seats(args), stride = tmaring_column_stride(args);
  for (int32_t o = 0; o < program->column_output_count; ++o) {
    const tmaring__column *column = &program->column_output[o];
    const tmaring_vector *v = &args->column_output[o];
    /* As numbers: without rows there are no partial results, and maybe no workspace. */
    const uint64_t first = args->partials_address + (uint64_t)tmaring_partial_index(args, walk, o, 0, 0) * sizeof(REAL);
    for (int32_t c = 0; c < walk->cols; ++c) {
      const REAL *partials = (const REAL *)(uintptr_t)(first + (uint64_t)c * sizeof(REAL));
      REAL value = join_column((tmaring__op)column->op, partials, rows, stride);
      if (column->mean) value /= (REAL)walk->rows;
      STORE((unsigned char *)(uintptr_t)v->base + (size_t)c * tmaring_dtype_bytes(v->dtype), &value, v->dtype, 1);
    }
  }
}

#endif

/* What a program reads. Part of lanes_body.h. */
#ifndef TMARING_HOST_LANES_LOAD_BODY_H
#define TMARING_HOST_LANES_LOAD_BODY_H

#include "lanes_values_body.h"

/* ---- per column: elements [low, high) of a segment ---- */

static void load_input(const tmaring__lanes *l, const frame *f, const tmaring_stream *stream, const segment *s,
                       REAL *to)
{
  LOAD(to + s->low, tmaring__lanes_source(l, f, stream, s->row) + (size_t)(s->first + s->low) * stream->elem_bytes,
       stream->dtype, (size_t)(s->high - s->low));
}

/* One of each pair. */
static void load_paired(const tmaring__lanes *l, const frame *f, const tmaring_stream *stream, const segment *s,
                        int32_t which, REAL *to)
{
  REAL both[2 * TMARING__STEP_ELEMS];
  LOAD(both, tmaring__lanes_source(l, f, stream, s->row) + (size_t)(s->first + s->low) * stream->elem_bytes,
       stream->dtype, 2 * (size_t)(s->high - s->low));
  for (int32_t i = s->low; i < s->high; ++i) to[i] = both[2 * (i - s->low) + which];
}

/* By multicast it comes through shared memory; otherwise the copy there holds the same. */
static void load_vector(const tmaring__lanes *l, const frame *f, const tmaring_vector *v, const segment *s, REAL *to)
{
  const unsigned char *base = l->code->multicast ? l->shared + v->smem : (const unsigned char *)(uintptr_t)v->base;
  const size_t bytes = tmaring_dtype_bytes(v->dtype);
  if (!f->flat) {
    LOAD(to + s->low, base + (size_t)tmaring__lanes_col(f, s, s->low) * bytes, v->dtype, (size_t)(s->high - s->low));
    return;
  }
  for (int32_t i = s->low; i < s->high; ++i)
    LOAD(to + i, base + (size_t)tmaring__lanes_col(f, s, i) * bytes, v->dtype, 1);
}

static void load_groups(const frame *f, const tmaring_vector *v, int32_t cols, const segment *s, REAL *to)
{
  for (int32_t i = s->low; i < s->high; ++i)
    LOAD(to + i, tmaring__lanes_value(f, v, s, tmaring__lanes_col(f, s, i) / cols), v->dtype, 1);
}

static void load_segment(const tmaring__lanes *l, const frame *f, const tmaring__node *node, const segment *s, REAL *to)
{
  const tmaring_args *a = l->args;
  switch (node->op) {
  case TMARING__OP_INPUT: load_input(l, f, &a->input[node->index], s, to); break;
  case TMARING__OP_INPUT_EVEN: load_paired(l, f, &a->input[node->index], s, 0, to); break;
  case TMARING__OP_INPUT_ODD: load_paired(l, f, &a->input[node->index], s, 1, to); break;
  case TMARING__OP_VECTOR: load_vector(l, f, &a->vector[node->index], s, to); break;
  case TMARING__OP_GROUP_SCALE:
    load_groups(f, &a->group_input[node->index], l->plan->program->group_input_cols[node->index], s, to);
    break;
  default: /* the column's number */
    for (int32_t i = s->low; i < s->high; ++i) to[i] = (REAL)tmaring__lanes_col(f, s, i);
  }
}

static void load_leaf(const tmaring__lanes *l, const frame *f, const tmaring__node *node, REAL *to)
{
  for (int32_t q = 0; q < f->rows; ++q, to += f->size) {
    const segment *s = &f->segment[q];
    if (s->high - s->low < f->size) memset(to, 0, (size_t)f->size * sizeof *to);
    if (s->high > s->low) load_segment(l, f, node, s, to);
  }
}

/* ---- per row ---- */

static REAL same_for_all(const tmaring__lanes *l, const tmaring__node *node)
{
  switch (node->op) {
  case TMARING__OP_CONSTANT: return (REAL)node->value;
  case TMARING__OP_SCALAR: return l->args->ARG_SCALAR[node->index];
  case TMARING__OP_COLUMNS: return (REAL)l->walk->cols;
  default: return (REAL)l->walk->rows;
  }
}

static void load_row_leaf(const tmaring__lanes *l, const frame *f, const tmaring__node *node, REAL *to)
{
  const int by_row = node->op == TMARING__OP_ROW || node->op == TMARING__OP_ROW_SCALAR;
  for (int32_t q = 0; q < 32; ++q) {
    const segment *s = &f->segment[q];
    if (!by_row) {
      to[q] = same_for_all(l, node);
    } else if (q >= f->rows || s->row < 0) {
      to[q] = 0;
    } else if (node->op == TMARING__OP_ROW) {
      to[q] = (REAL)(f->fill->row + s->row);
    } else {
      const tmaring_vector *v = &l->args->row_scalar[node->index];
      LOAD(&to[q], tmaring__lanes_value(f, v, s, 0), v->dtype, 1);
    }
  }
}

/* Where the element of a row at column `at` can be had; NULL: not in this fill. In a cluster every CTA takes it from
 * memory, since one of them alone has it. */
static const unsigned char *gathered(const tmaring__lanes *l, const frame *f, const tmaring_stream *stream, int32_t row,
                                     REAL at)
{
  const int shared = tmaring_walk_shared(l->walk);
  const int32_t first = shared ? 0 : f->fill->col, cols = shared ? l->walk->cols : f->fill->cols;
  const REAL col = at - (REAL)first;
  if (row < 0 || !(col >= 0 && col < (REAL)cols) || col != (REAL)(int32_t)col) return NULL;
  if (shared) return (const unsigned char *)(uintptr_t)tmaring_stream_address(stream, f->fill->row + row, (int32_t)col);
  return tmaring__lanes_source(l, f, stream, row) + (size_t)col * stream->elem_bytes;
}

/* x[label]: the fill that holds the column has the value; none does where the label is no column. */
static void gather(const tmaring__lanes *l, const frame *f, int32_t index)
{
  const tmaring__node *node = node_at(l, index);
  const tmaring_stream *stream = &l->args->input[node_at(l, node->arg[0])->index];
  const REAL *label = rows_of(l, f->warp, node->arg[1]);
  REAL *to = rows_of(l, f->warp, index);
  for (int32_t q = 0; q < f->rows; ++q) {
    const unsigned char *from = gathered(l, f, stream, f->segment[q].row, label[q]);
    if (f->fill->first_piece) to[q] = (REAL)NAN;
    if (from) LOAD(&to[q], from, stream->dtype, 1);
  }
}

#endif

/* The lanes for one real. Included once by lanes_f32.c and once by lanes_f64.c, which define
 *
 *   REAL            float or double
 *   MATH(name)      the C library's function of that real
 *   LOAD, STORE     tmaring__dtype_load and _store of that real
 *   ARG_SCALAR      member of tmaring_args that holds the scalars
 *   CALLS           name of the table that is made of it */
#ifndef TMARING_HOST_LANES_BODY_H
#define TMARING_HOST_LANES_BODY_H

#include "lanes_column_body.h"
#include "lanes_load_body.h"
#include "lanes_store_body.h"

static void evaluate_step(const tmaring__lanes *l, const frame *f)
{
  const tmaring__lanes_pass *pass = &l->plan->pass[f->pass];
  for (int32_t i = 0; i < pass->node_count; ++i) {
    const tmaring__node *node = node_at(l, pass->node[i]);
    REAL *out = step_of(l, pass->node[i]);
    const REAL *operand[3] = {NULL, NULL, NULL};
    for (int32_t k = 0; k < tmaring__op_operands(node->op); ++k) operand[k] = step_of(l, node->arg[k]);
    if (tmaring__op_operands(node->op) == 0) {
      load_leaf(l, f, node, out);
    } else if (tmaring__op_groups(node->op)) {
      evaluate_group(l, f, node, out, operand[0]);
    } else {
      evaluate(l, node, out, operand, 32 * l->args->scope.vec);
    }
  }
}

/* Values per row that can be evaluated once `level` passes have ended. */
static void evaluate_rows(const tmaring__lanes *l, const frame *f, int32_t level)
{
  for (int32_t i = 0; i < l->plan->row_count[level]; ++i) {
    const int32_t index = l->plan->row[level][i];
    const tmaring__node *node = node_at(l, index);
    const int32_t operands = tmaring__op_operands(node->op);
    const REAL *operand[3] = {NULL, NULL, NULL};
    for (int32_t k = 0; k < operands; ++k) operand[k] = rows_of(l, f->warp, node->arg[k]);
    if (operands == 0) {
      load_row_leaf(l, f, node, rows_of(l, f->warp, index));
    } else {
      evaluate(l, node, rows_of(l, f->warp, index), operand, 32);
    }
  }
}

static void spread_rows(const tmaring__lanes *l, const frame *f)
{
  const tmaring__lanes_pass *pass = &l->plan->pass[f->pass];
  for (int32_t i = 0; i < pass->broadcast_count; ++i) {
    const REAL *row = rows_of(l, f->warp, pass->broadcast[i]);
    REAL *to = step_of(l, pass->broadcast[i]);
    for (int32_t q = 0; q < f->rows; ++q, to += f->size) {
      for (int32_t k = 0; k < f->size; ++k) to[k] = row[q];
    }
  }
}

static void begin_pass(const tmaring__lanes *l, const frame *f)
{
  if (f->fill->first_piece) {
    if (f->pass == 0) evaluate_rows(l, f, 0);
    begin_sums(l, f);
  }
  for (int32_t i = 0; i < l->plan->pass[f->pass].gather_count; ++i) gather(l, f, l->plan->pass[f->pass].gather[i]);
  spread_rows(l, f);
}

static void accumulate(const tmaring__lanes *l, int32_t warp, const tmaring_fill *fill, uint32_t stage,
                       int32_t iteration, int32_t pass)
{
  const int last = l->plan->pass[pass].last;
  frame f;
  tmaring__lanes_frame_begin(l, &f, fill, warp, iteration);
  f.pass = pass;
  f.stage = stage;
  begin_pass(l, &f);
  for (int32_t i = 0; tmaring__lanes_frame_step(l, &f, i); ++i) {
    evaluate_step(l, &f);
    reduce_step(l, &f);
    if (last && (fill->valid || l->code->staged)) store_step(l, &f);
    if (last && fill->valid) store_groups(l, &f);
    if (last && fill->valid) add_columns(l, &f);
  }
}

static void finish(const tmaring__lanes *l, int32_t warp, uint32_t buffer, const tmaring_fill *fill, int32_t iteration,
                   int32_t pass)
{
  frame f;
  tmaring__lanes_frame_begin(l, &f, fill, warp, iteration);
  f.pass = pass;
  finish_sums(l, &f, buffer);
  evaluate_rows(l, &f, pass + 1);
}

const tmaring__lanes_calls CALLS = {.real_bytes = sizeof(REAL),
                                    .accumulate = accumulate,
                                    .partial = partial,
                                    .finish = finish,
                                    .row_store = row_store,
                                    .columns = columns,
                                    .join_columns = join_columns};

#endif

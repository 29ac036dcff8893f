#include "lanes.h"

#include <math.h>
#include <string.h>

#include "../../base/half.h"
#include "tmaring/abi/frames.h"

/* One row (flat: the whole fill) that a warp handles at this time. */
typedef struct segment {
  int32_t row;   /* of the fill; -1: no row here */
  int32_t count; /* elements of the row */
  int32_t phase;
  int32_t end;       /* one past the last vector of this warp */
  int32_t first;     /* element at the segment's start in this step; negative in front of the row */
  int32_t low, high; /* elements of the segment that are inside, relative to its start */
} segment;

typedef struct frame {
  const tmaring_fill *fill;
  int32_t warp, pass;
  uint32_t stage;
  int32_t rows, lanes; /* rows at a time; lanes per row */
  segment segment[32];
} frame;

static float *rows_of(const tmaring__lanes *l, int32_t warp, int32_t node)
{
  return l->rows + ((size_t)warp * (size_t)l->plan->program->node_count + (size_t)node) * 32;
}

static float *sums_of(const tmaring__lanes *l, int32_t warp, int32_t reduction)
{
  return l->sums + ((size_t)warp * TMARING_MAX_REDUCTIONS + (size_t)reduction) * 32;
}

static float *step_of(const tmaring__lanes *l, int32_t node)
{
  return l->step + (size_t)node * TMARING__STEP_ELEMS;
}

static int is_flat(const tmaring__lanes *l)
{
  return l->args->scope.kind == TMARING_SCOPE_FLAT;
}

static void find_rows(const tmaring__lanes *l, frame *f, int32_t iteration)
{
  const tmaring_scope *scope = &l->args->scope;
  const int32_t unit = f->warp / scope->warps_per_row;
  int32_t first, last;
  f->lanes = tmaring_scope_lanes(scope);
  f->rows = 32 >> scope->lanes_log2;
  tmaring_scope_unit_rows(scope, unit, f->fill->rows, &first, &last);
  for (int32_t q = 0; q < f->rows; ++q) {
    segment *s = &f->segment[q];
    const int32_t row = first + iteration * f->rows + q;
    s->row = row < last ? row : -1;
    if (s->row < 0) continue;
    s->count = is_flat(l) ? f->fill->rows * f->fill->cols : f->fill->cols;
    s->phase = tmaring_frame_phase(l->args, f->fill, row, !l->code->aligned);
    s->end = tmaring_scope_end(scope, f->warp, s->phase, s->count);
  }
}

/* Places every segment at step i. 0: no row reaches it. */
static int find_step(const tmaring__lanes *l, frame *f, int32_t i)
{
  const tmaring_scope *scope = &l->args->scope;
  const int32_t vector = tmaring_scope_seat(scope, f->warp, 0).start + i * tmaring_scope_stride(scope);
  const int32_t size = f->lanes * scope->vec;
  int some = 0;
  for (int32_t q = 0; q < f->rows; ++q) {
    segment *s = &f->segment[q];
    s->low = s->high = 0;
    if (s->row < 0 || vector >= s->end) continue;
    some = 1;
    s->first = vector * scope->vec - s->phase;
    s->low = (int32_t)tmaring_max_i64(0, -s->first);
    s->high = (int32_t)tmaring_min_i64(size, tmaring_min_i64(s->count, (tmaring_i64)s->end * scope->vec - s->phase) -
                                                 s->first);
    if (s->high < s->low) s->high = s->low;
  }
  return some;
}

static unsigned char *slot_at(const tmaring__lanes *l, const frame *f, const tmaring_stream *stream, int32_t row)
{
  return l->shared + l->args->smem.stages + f->stage * l->args->smem.stage_bytes + stream->slot +
         tmaring_run_row_offset(stream, f->fill, row);
}

static void load_vector(float *to, const tmaring_vector *v, const frame *f, const segment *s, int flat)
{
  const uint32_t bytes = tmaring_dtype_bytes(v->dtype);
  const unsigned char *base = (const unsigned char *)(uintptr_t)v->base + (size_t)f->fill->col * bytes;
  if (!flat) {
    tmaring__dtype_load(to + s->low, base + (size_t)(s->first + s->low) * bytes, v->dtype, (size_t)(s->high - s->low));
    return;
  }
  for (int32_t i = s->low; i < s->high; ++i) {
    tmaring__dtype_load(to + i, base + (size_t)((s->first + i) % f->fill->cols) * bytes, v->dtype, 1);
  }
}

static void load_leaf(const tmaring__lanes *l, const frame *f, const tmaring__node *node, float *to)
{
  const int32_t size = f->lanes * l->args->scope.vec;
  for (int32_t q = 0; q < f->rows; ++q, to += size) {
    const segment *s = &f->segment[q];
    if (s->high - s->low < size) memset(to, 0, (size_t)size * sizeof *to);
    if (s->high <= s->low) continue;
    if (node->op == TMARING__OP_INPUT) {
      const tmaring_stream *stream = &l->args->input[node->index];
      tmaring__dtype_load(to + s->low, slot_at(l, f, stream, s->row) + (size_t)(s->first + s->low) * stream->elem_bytes,
                          stream->dtype, (size_t)(s->high - s->low));
    } else {
      load_vector(to, &l->args->vector[node->index], f, s, is_flat(l));
    }
  }
}

static void evaluate_step(const tmaring__lanes *l, const frame *f)
{
  const tmaring__lanes_pass *pass = &l->plan->pass[f->pass];
  for (int32_t i = 0; i < pass->node_count; ++i) {
    const tmaring__node *node = &l->plan->program->node[pass->node[i]];
    float *out = step_of(l, pass->node[i]);
    const float *operand[3] = {NULL, NULL, NULL};
    if (node->op == TMARING__OP_INPUT || node->op == TMARING__OP_VECTOR) {
      load_leaf(l, f, node, out);
      continue;
    }
    for (int32_t k = 0; k < tmaring__op_operands(node->op); ++k) operand[k] = step_of(l, node->arg[k]);
    tmaring__lanes_evaluate(node->op, out, operand[0], operand[1], operand[2], 32 * l->args->scope.vec);
  }
}

static float identity(tmaring__op op)
{
  return op == TMARING__OP_REDUCE_SUM ? 0.0f : op == TMARING__OP_REDUCE_MAX ? -INFINITY : INFINITY;
}

static float sum(float a, float b)
{
  return a + b;
}

static float combine(tmaring__op op, float a, float b)
{
  if (op == TMARING__OP_REDUCE_SUM) return sum(a, b);
  return op == TMARING__OP_REDUCE_MAX ? tmaring__lanes_max(a, b) : tmaring__lanes_min(a, b);
}

static float vector_total(tmaring__op op, const float *v, int32_t vec)
{
  if (op == TMARING__OP_REDUCE_SUM) return TMARING_JOIN_VECTOR(sum, v, vec);
  return op == TMARING__OP_REDUCE_MAX ? TMARING_JOIN_VECTOR(tmaring__lanes_max, v, vec)
                                      : TMARING_JOIN_VECTOR(tmaring__lanes_min, v, vec);
}

/* Elements outside their rows count as the reduction's identity. */
static const float *masked(const tmaring__lanes *l, const frame *f, tmaring__op op, const float *values, float *copy)
{
  const int32_t size = f->lanes * l->args->scope.vec;
  int full = 1;
  for (int32_t q = 0; q < f->rows; ++q) full &= f->segment[q].high - f->segment[q].low == size;
  if (full) return values;
  for (int32_t q = 0; q < f->rows; ++q) {
    const segment *s = &f->segment[q];
    for (int32_t i = 0; i < size; ++i)
      copy[q * size + i] = i >= s->low && i < s->high ? values[q * size + i] : identity(op);
  }
  return copy;
}

static void reduce_step(const tmaring__lanes *l, const frame *f)
{
  const tmaring__lanes_pass *pass = &l->plan->pass[f->pass];
  const int32_t vec = l->args->scope.vec;
  float copy[TMARING__STEP_ELEMS];
  for (int32_t i = 0; i < pass->reduction_count; ++i) {
    const tmaring__node *node = &l->plan->program->node[pass->reduction[i]];
    const float *values = masked(l, f, node->op, step_of(l, node->arg[0]), copy);
    float *sums = sums_of(l, f->warp, i);
    for (int32_t lane = 0; lane < 32; ++lane)
      sums[lane] = combine(node->op, sums[lane], vector_total(node->op, values + lane * vec, vec));
  }
}

static void store_step(const tmaring__lanes *l, const frame *f)
{
  const tmaring__lanes_pass *pass = &l->plan->pass[f->pass];
  const int32_t size = f->lanes * l->args->scope.vec;
  for (int32_t i = 0; i < pass->output_count; ++i) {
    const tmaring_stream *stream = &l->args->output[pass->output[i]];
    const float *values = step_of(l, l->plan->program->output[pass->output[i]]);
    for (int32_t q = 0; q < f->rows; ++q, values += size) {
      const segment *s = &f->segment[q];
      unsigned char *to;
      if (s->high <= s->low) continue;
      to = l->code->staged
               ? slot_at(l, f, stream, s->row)
               : (unsigned char *)(uintptr_t)tmaring_stream_address(stream, f->fill->row + s->row, f->fill->col);
      tmaring__dtype_store(to + (size_t)(s->first + s->low) * stream->elem_bytes, values + s->low, stream->dtype,
                           (size_t)(s->high - s->low));
    }
  }
}

static void load_row_leaf(const tmaring__lanes *l, const frame *f, const tmaring__node *node, float *to)
{
  for (int32_t q = 0; q < 32; ++q) {
    to[q] = node->op == TMARING__OP_CONSTANT ? node->value
            : node->op == TMARING__OP_SCALAR ? l->args->scalar[node->index]
                                             : (float)l->args->walk.cols;
    if (node->op != TMARING__OP_ROW_SCALAR) continue;
    to[q] = 0.0f;
    if (q >= f->rows || f->segment[q].row < 0) continue;
    const tmaring_vector *v = &l->args->row_scalar[node->index];
    tmaring__dtype_load(&to[q],
                        (const unsigned char *)(uintptr_t)v->base +
                            (size_t)(f->fill->row + f->segment[q].row) * tmaring_dtype_bytes(v->dtype),
                        v->dtype, 1);
  }
}

/* Values per row that can be evaluated once `level` passes have ended. */
static void evaluate_rows(const tmaring__lanes *l, const frame *f, int32_t level)
{
  for (int32_t i = 0; i < l->plan->row_count[level]; ++i) {
    const int32_t index = l->plan->row[level][i];
    const tmaring__node *node = &l->plan->program->node[index];
    const int32_t operands = tmaring__op_operands(node->op);
    const float *operand[3] = {NULL, NULL, NULL};
    for (int32_t k = 0; k < operands; ++k) operand[k] = rows_of(l, f->warp, node->arg[k]);
    if (operands == 0) {
      load_row_leaf(l, f, node, rows_of(l, f->warp, index));
    } else {
      tmaring__lanes_evaluate(node->op, rows_of(l, f->warp, index), operand[0], operand[1], operand[2], 32);
    }
  }
}

static void spread_rows(const tmaring__lanes *l, const frame *f)
{
  const tmaring__lanes_pass *pass = &l->plan->pass[f->pass];
  const int32_t size = f->lanes * l->args->scope.vec;
  for (int32_t i = 0; i < pass->broadcast_count; ++i) {
    const float *row = rows_of(l, f->warp, pass->broadcast[i]);
    float *to = step_of(l, pass->broadcast[i]);
    for (int32_t q = 0; q < f->rows; ++q, to += size) {
      for (int32_t k = 0; k < size; ++k) to[k] = row[q];
    }
  }
}

static void begin_pass(const tmaring__lanes *l, const frame *f)
{
  const tmaring__lanes_pass *pass = &l->plan->pass[f->pass];
  if (!f->fill->first_piece) return;
  if (f->pass == 0) evaluate_rows(l, f, 0);
  for (int32_t i = 0; i < pass->reduction_count; ++i) {
    float *sums = sums_of(l, f->warp, i);
    for (int32_t lane = 0; lane < 32; ++lane) sums[lane] = identity(l->plan->program->node[pass->reduction[i]].op);
  }
}

void tmaring__lanes_accumulate(tmaring__lanes *l, int32_t warp, const tmaring_fill *fill, uint32_t stage,
                               int32_t iteration, int32_t pass)
{
  const int stores = l->plan->pass[pass].output_count > 0 && (fill->valid || l->code->staged);
  frame f;
  f.fill = fill;
  f.warp = warp;
  f.pass = pass;
  f.stage = stage;
  find_rows(l, &f, iteration);
  begin_pass(l, &f);
  spread_rows(l, &f);
  for (int32_t i = 0; find_step(l, &f, i); ++i) {
    evaluate_step(l, &f);
    reduce_step(l, &f);
    if (stores) store_step(l, &f);
  }
}

static void butterfly(tmaring__op op, float *sums, int32_t lanes)
{
  float other[32];
  for (int32_t distance = lanes / 2; distance > 0; distance /= 2) {
    for (int32_t lane = 0; lane < 32; ++lane) other[lane] = sums[lane ^ distance];
    for (int32_t lane = 0; lane < 32; ++lane) sums[lane] = combine(op, sums[lane], other[lane]);
  }
}

static float *scratch_of(const tmaring__lanes *l, uint32_t buffer, int32_t reduction, int32_t warp)
{
  const size_t warps = (size_t)tmaring_cta_consumer_warps(&l->args->cta);
  return l->scratch + ((size_t)buffer * TMARING_MAX_REDUCTIONS + (size_t)reduction) * warps + (size_t)warp;
}

void tmaring__lanes_partial(tmaring__lanes *l, int32_t warp, uint32_t buffer, int32_t pass)
{
  for (int32_t i = 0; i < l->plan->pass[pass].reduction_count; ++i) {
    float *sums = sums_of(l, warp, i);
    butterfly(l->plan->program->node[l->plan->pass[pass].reduction[i]].op, sums, 32);
    *scratch_of(l, buffer, i, warp) = sums[0];
  }
}

static float unit_total(const tmaring__lanes *l, tmaring__op op, uint32_t buffer, int32_t reduction, int32_t warp)
{
  const int32_t per_row = l->args->scope.warps_per_row, first = warp / per_row * per_row;
  float total = *scratch_of(l, buffer, reduction, first);
  for (int32_t w = first + 1; w < first + per_row; ++w)
    total = combine(op, total, *scratch_of(l, buffer, reduction, w));
  return total;
}

void tmaring__lanes_finish(tmaring__lanes *l, int32_t warp, uint32_t buffer, const tmaring_fill *fill,
                           int32_t iteration, int32_t pass)
{
  const tmaring__lanes_pass *p = &l->plan->pass[pass];
  frame f;
  f.fill = fill;
  f.warp = warp;
  find_rows(l, &f, iteration);
  for (int32_t i = 0; i < p->reduction_count; ++i) {
    const tmaring__op op = l->plan->program->node[p->reduction[i]].op;
    float *rows = rows_of(l, warp, p->reduction[i]), *sums = sums_of(l, warp, i);
    if (!l->code->group) butterfly(op, sums, f.lanes);
    for (int32_t q = 0; q < f.rows; ++q)
      rows[q] = l->code->group ? unit_total(l, op, buffer, i, warp) : sums[q * f.lanes];
  }
  evaluate_rows(l, &f, pass + 1);
}

void tmaring__lanes_row_store(tmaring__lanes *l, int32_t warp, const tmaring_fill *fill, int32_t iteration)
{
  const tmaring__program *program = l->plan->program;
  frame f;
  f.fill = fill;
  f.warp = warp;
  if (warp % l->args->scope.warps_per_row != 0) return;
  find_rows(l, &f, iteration);
  for (int32_t i = 0; i < program->row_output_count; ++i) {
    const tmaring_vector *v = &l->args->row_output[i];
    const float *rows = rows_of(l, warp, program->row_output[i]);
    for (int32_t q = 0; q < f.rows; ++q) {
      if (f.segment[q].row < 0) continue;
      tmaring__dtype_store((unsigned char *)(uintptr_t)v->base +
                               (size_t)(fill->row + f.segment[q].row) * tmaring_dtype_bytes(v->dtype),
                           &rows[q], v->dtype, 1);
    }
  }
}

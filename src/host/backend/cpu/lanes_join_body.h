/* Reductions over a row and over groups of its columns, in the order of abi/scope.h. Part of lanes_body.h. */
#ifndef TMARING_HOST_LANES_JOIN_BODY_H
#define TMARING_HOST_LANES_JOIN_BODY_H

#include "lanes_evaluate_body.h"

/* The plain way of joining two values; reductions with two partial results are made of it. */
typedef enum manner { SUM, GREATEST, LEAST } manner;

static manner manner_of(tmaring__op op)
{
  switch (op) {
  case TMARING__OP_REDUCE_SUM:
  case TMARING__OP_GROUP_SUM: return SUM;
  case TMARING__OP_REDUCE_MIN:
  case TMARING__OP_GROUP_MIN: return LEAST;
  default: return GREATEST; /* argmax and the sum of exp follow a maximum */
  }
}

static REAL identity(tmaring__op op)
{
  const manner m = manner_of(op);
  return m == SUM ? 0 : m == LEAST ? (REAL)INFINITY : (REAL)-INFINITY;
}

static REAL combine(tmaring__op op, REAL a, REAL b)
{
  const manner m = manner_of(op);
  return m == SUM ? add(a, b) : m == LEAST ? lesser(a, b) : greater(a, b);
}

static REAL vector_total(tmaring__op op, const REAL *v, int32_t vec)
{
  switch (manner_of(op)) {
  case SUM: return TMARING_JOIN_VECTOR(add, v, vec);
  case LEAST: return TMARING_JOIN_VECTOR(lesser, v, vec);
  default: return TMARING_JOIN_VECTOR(greater, v, vec);
  }
}

/* ---- partial results of one value or two ---- */

static pair first_pair(tmaring__op op)
{
  const pair p = {identity(op), op == TMARING__OP_REDUCE_ARGMAX ? (REAL)INFINITY : 0};
  return p;
}

/* argmax: value and column. NaN comes first, then the greater value, then the lower column. */
static pair leader(pair a, pair b)
{
  const int a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan != b_nan) return a_nan ? a : b;
  if (!a_nan && a.value != b.value) return a.value > b.value ? a : b;
  return a.extra <= b.extra ? a : b;
}

/* What exponents are taken relative to: the maximum, once there is any. */
static REAL reference(REAL greatest)
{
  return greatest == (REAL)-INFINITY ? 0 : greatest;
}

/* sum of exp: greatest value, and the sum relative to it. */
static pair join_exponents(pair a, pair b)
{
  const REAL top = greater(a.value, b.value), base = reference(top);
  const pair p = {top, a.extra * MATH(exp)(a.value - base) + b.extra * MATH(exp)(b.value - base)};
  return p;
}

static pair join(tmaring__op op, pair a, pair b)
{
  if (op == TMARING__OP_REDUCE_ARGMAX) return leader(a, b);
  if (op == TMARING__OP_REDUCE_EXPSUM) return join_exponents(a, b);
  a.value = combine(op, a.value, b.value);
  return a;
}

static REAL outcome(tmaring__op op, pair p)
{
  if (op == TMARING__OP_REDUCE_ARGMAX) return p.extra;
  if (op == TMARING__OP_REDUCE_EXPSUM) return magnitude(p.value) == (REAL)INFINITY ? (REAL)NAN : p.extra;
  return p.value;
}

static void butterfly(tmaring__op op, pair *sums, int32_t lanes)
{
  pair other[32];
  for (int32_t distance = lanes / 2; distance > 0; distance /= 2) {
    for (int32_t lane = 0; lane < 32; ++lane) other[lane] = sums[lane ^ distance];
    for (int32_t lane = 0; lane < 32; ++lane) sums[lane] = join(op, sums[lane], other[lane]);
  }
}

/* ---- a step ---- */

/* Elements outside their rows count as the reduction's identity. */
static const REAL *masked(const frame *f, tmaring__op op, const REAL *values, REAL *copy)
{
  const REAL none = identity(op);
  int full = 1;
  for (int32_t q = 0; q < f->rows; ++q) full &= f->segment[q].high - f->segment[q].low == f->size;
  if (full) return values;
  for (int32_t q = 0; q < f->rows; ++q) {
    const segment *s = &f->segment[q];
    for (int32_t i = 0; i < f->size; ++i)
      copy[q * f->size + i] = i >= s->low && i < s->high ? values[q * f->size + i] : none;
  }
  return copy;
}

static pair add_exponents(pair sum, const REAL *v, int32_t vec)
{
  const REAL top = greater(sum.value, TMARING_JOIN_VECTOR(greater, v, vec)), base = reference(top);
  REAL term[TMARING_MAX_VEC];
  for (int32_t i = 0; i < vec; ++i) term[i] = MATH(exp)(v[i] - base);
  sum.extra = sum.extra * MATH(exp)(sum.value - base) + TMARING_JOIN_VECTOR(add, term, vec);
  sum.value = top;
  return sum;
}

static void add_vectors(manner m, pair *sums, const REAL *values, int32_t vec)
{
#define EACH_LANE(join)                                                                                                \
  for (int32_t lane = 0; lane < 32; ++lane, values += vec)                                                             \
  sums[lane].value = join(sums[lane].value, TMARING_JOIN_VECTOR(join, values, vec))
  switch (m) {
  case SUM: EACH_LANE(add); break;
  case GREATEST: EACH_LANE(greater); break;
  case LEAST: EACH_LANE(lesser); break;
  }
#undef EACH_LANE
}

static void lead_columns(const tmaring__lanes *l, const frame *f, pair *sums, const REAL *values)
{
  for (int32_t q = 0; q < f->rows; ++q) {
    const segment *s = &f->segment[q];
    for (int32_t i = s->low; i < s->high; ++i) {
      const pair p = {values[q * f->size + i], (REAL)tmaring__lanes_col(f, s, i)};
      pair *sum = &sums[q * f->lanes + i / l->args->scope.vec];
      *sum = leader(*sum, p);
    }
  }
}

static void reduce_step(const tmaring__lanes *l, const frame *f)
{
  const tmaring__lanes_pass *pass = &l->plan->pass[f->pass];
  const int32_t vec = l->args->scope.vec;
  REAL copy[TMARING__STEP_ELEMS];
  for (int32_t i = 0; i < pass->reduction_count; ++i) {
    const tmaring__node *node = node_at(l, pass->reduction[i]);
    const REAL *values = masked(f, node->op, step_of(l, node->arg[0]), copy);
    pair *sums = sums_of(l, f->warp, i);
    if (node->op == TMARING__OP_REDUCE_ARGMAX) {
      lead_columns(l, f, sums, values);
    } else if (node->op == TMARING__OP_REDUCE_EXPSUM) {
      for (int32_t lane = 0; lane < 32; ++lane) sums[lane] = add_exponents(sums[lane], values + lane * vec, vec);
    } else {
      add_vectors(manner_of(node->op), sums, values, vec);
    }
  }
}

/* A reduction over groups of columns: every lane of a group gets the value, for all its elements. */
static void evaluate_group(const tmaring__lanes *l, const frame *f, const tmaring__node *node, REAL *out,
                           const REAL *operand)
{
  const int32_t vec = l->args->scope.vec;
  REAL copy[TMARING__STEP_ELEMS];
  const REAL *values = masked(f, node->op, operand, copy);
  pair total[32];
  for (int32_t lane = 0; lane < 32; ++lane) {
    total[lane].value = vector_total(node->op, values + lane * vec, vec);
    total[lane].extra = 0;
  }
  butterfly(node->op, total, tmaring_scope_group_lanes(&l->args->scope, node->index));
  for (int32_t i = 0; i < 32 * vec; ++i) out[i] = total[i / vec].value;
}

/* ---- a row ---- */

static void begin_sums(const tmaring__lanes *l, const frame *f)
{
  const tmaring__lanes_pass *pass = &l->plan->pass[f->pass];
  for (int32_t i = 0; i < pass->reduction_count; ++i) {
    pair *sums = sums_of(l, f->warp, i);
    for (int32_t lane = 0; lane < 32; ++lane) sums[lane] = first_pair(node_at(l, pass->reduction[i])->op);
  }
}

static void partial(const tmaring__lanes *l, int32_t warp, uint32_t buffer, int32_t pass)
{
  for (int32_t i = 0; i < l->plan->pass[pass].reduction_count; ++i) {
    pair *sums = sums_of(l, warp, i);
    butterfly(node_at(l, l->plan->pass[pass].reduction[i])->op, sums, 32);
    *scratch_of(l, buffer, i, warp) = sums[0];
  }
}

/* A lane takes partial results in steps of 32: rank by rank, those of the CTA's warps. */
static pair cluster_total(const tmaring__lanes *l, tmaring__op op, uint32_t buffer, int32_t reduction)
{
  const int32_t warps = l->args->scope.warps_per_row;
  pair total[32];
  for (int32_t lane = 0; lane < 32; ++lane) {
    total[lane] = first_pair(op);
    for (int32_t i = lane; i < warps * l->walk->cluster; i += 32) {
      const pair next = *scratch_of(l->peer[i / warps], buffer, reduction, i % warps);
      total[lane] = i == lane ? next : join(op, total[lane], next);
    }
  }
  butterfly(op, total, 32);
  return total[0];
}

static pair unit_total(const tmaring__lanes *l, tmaring__op op, uint32_t buffer, int32_t reduction, int32_t warp)
{
  if (tmaring_walk_shared(l->walk)) return cluster_total(l, op, buffer, reduction);
  const int32_t per_row = l->args->scope.warps_per_row, first = warp / per_row * per_row;
  pair total = *scratch_of(l, buffer, reduction, first);
  for (int32_t w = first + 1; w < first + per_row; ++w) total = join(op, total, *scratch_of(l, buffer, reduction, w));
  return total;
}

static void finish_sums(const tmaring__lanes *l, const frame *f, uint32_t buffer)
{
  const tmaring__lanes_pass *pass = &l->plan->pass[f->pass];
  for (int32_t i = 0; i < pass->reduction_count; ++i) {
    const tmaring__op op = node_at(l, pass->reduction[i])->op;
    REAL *rows = rows_of(l, f->warp, pass->reduction[i]);
    pair *sums = sums_of(l, f->warp, i);
    if (!l->code->group) butterfly(op, sums, f->lanes);
    for (int32_t q = 0; q < f->rows; ++q)
      rows[q] = outcome(op, l->code->group ? unit_total(l, op, buffer, i, f->warp) : sums[q * f->lanes]);
  }
}

#endif

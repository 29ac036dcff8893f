/* Kernel arguments of lane_rig.h. */
#include "lane_rig.h"

lane_way lane_way_make(int32_t number)
{
  /* scope, lanes_log2, warps, per_row, tile_rows, chunk, pieces, spread, mode, staged, order, policy, workers, stages,
   * columns_staged, gap, shift, group_rows, seed, cluster */
  static const lane_way ways[LANE_WAYS] = {
      {TMARING_SCOPE_WARP, 5, 4, 1, 4, 1, 1, 0, 0, 0, TMARING_ORDER_BLOCKED, TMARING_POLICY_EXACT, 3, 2, 0, 0, 0, 0,
       TMARING__LAZY,      0},
      {TMARING_SCOPE_LANES, 2, 2, 1, 32, 1, 1, 0, 1, 2, TMARING_ORDER_BLOCKED, TMARING_POLICY_SKIP, 2, 3, 0, 0, 0, 0,
       TMARING__LAZY,       0},
      {TMARING_SCOPE_GROUP, 5, 4, 2, 3, 1, 1, 0, 0, 1, TMARING_ORDER_BLOCKED, TMARING_POLICY_EXACT, 2, 3, 1, 0, 1, 0,
       TMARING__LAZY,       0},
      {TMARING_SCOPE_CTA, 5, 3, 3, 2, 1, 1, 0, 2, 0, TMARING_ORDER_CYCLIC, TMARING_POLICY_WRAP, 4, 2, 0, 5, 0, 0,
       TMARING__LAZY,     0},
      {TMARING_SCOPE_WARP, 5, 2, 1, 2, 3, 1, 0, 0, 2, TMARING_ORDER_CYCLIC, TMARING_POLICY_EXACT, 3, 3, 0, 3, 1, 0,
       TMARING__LAZY,      0},
      {TMARING_SCOPE_LANES, 4, 2, 1, 5, 2, 1, 0, 1, 0, TMARING_ORDER_TICKET, TMARING_POLICY_EXACT, 2, 2, 1, 0, 3, 3,
       TMARING__LAZY,       0},
      {TMARING_SCOPE_GROUP, 5, 4, 2, 3, 2, 1, 0, 0, 2, TMARING_ORDER_SPLIT, TMARING_POLICY_WRAP, 3, 3, 1, 0, 0, 0,
       TMARING__LAZY,       0},
      {TMARING_SCOPE_WARP, 5, 3, 1, 1, 4, 1, 0, 2, 1, TMARING_ORDER_CYCLIC, TMARING_POLICY_WRAP, 2, 2, 1, 1, 2, 2,
       TMARING__LAZY,      0},
      {TMARING_SCOPE_CTA, 5, 2, 2, 1, 1, 3, 0, 0, 0, TMARING_ORDER_BLOCKED, TMARING_POLICY_EXACT, 3, 2, 0, 0, 0, 0,
       TMARING__LAZY,     0},
      {TMARING_SCOPE_CTA, 5, 3, 3, 1, 3, 2, 0, 1, 2, TMARING_ORDER_TICKET, TMARING_POLICY_EXACT, 3, 3, 1, 0, 1, 0,
       TMARING__LAZY,     0},
      {TMARING_SCOPE_CTA, 5, 2, 2, 1, 2, 3, 0, 0, 1, TMARING_ORDER_CYCLIC, TMARING_POLICY_WRAP, 2, 3, 1, 2, 0, 0,
       TMARING__LAZY,     0},
      {TMARING_SCOPE_CTA, 5, 2, 2, 1, 2, 3, 1, 2, 0, TMARING_ORDER_CYCLIC, TMARING_POLICY_EXACT, 4, 2, 1, 0, 0, 4,
       TMARING__LAZY,     0},
  };
  return ways[number];
}

static void set_code(lane_case *c)
{
  tmaring__program *p = &c->program;
  const int last = p->output_count + p->group_output_count + p->column_output_count > 0;
  const int32_t *streams[] = {c->input, c->output};
  const int32_t counts[] = {p->input_count, p->output_count};
  uint32_t least = 0;
  c->code.wide = 0;
  for (int32_t i = 0; i < c->tensor_count; ++i) c->code.wide |= c->tensor[i].dtype == TMARING_F64;
  for (int k = 0; k < 2; ++k) {
    for (int32_t i = 0; i < counts[k]; ++i) {
      const tmaring_dtype dtype = c->tensor[streams[k][i]].dtype;
      const uint32_t bytes = tmaring_dtype_bytes(dtype);
      c->code.wide |= dtype == TMARING_I32;
      if (least == 0 || bytes < least) least = bytes;
    }
  }
  c->code.vec = least == 8 ? 2 : least == 4 || least == 0 ? 4 : 8;
  c->code.group = c->way.per_row > 1 || c->way.cluster > 1;
  c->code.grouped = c->way.group_rows > 0;
  c->code.staged = c->way.staged > 0 && p->output_count > 0;
  p->passes = p->reduction_passes + last > 1 ? p->reduction_passes + last : 1;
}

/* Slices of a cluster are whole vectors, groups, and 16 bytes of the narrowest type. */
static int32_t unit_of(const lane_case *c)
{
  const int32_t group = c->program.group_cols_most > 0 ? c->program.group_cols_most : 1;
  return c->way.cluster > 1 && group < 16 ? 16 : group;
}

static void set_walk(lane_case *c)
{
  const lane_way *way = &c->way;
  tmaring_walk *w = &c->args.walk;
  const int32_t unit = unit_of(c), cuts = way->cluster > 1 ? way->cluster : way->pieces;
  w->cols = c->cols;
  w->workers = way->workers;
  w->order = way->order;
  w->policy = way->policy;
  w->chunk = way->chunk;
  w->cluster = c->code.cluster = 0;
  w->piece_cols = (int32_t)tmaring_ceil_div(tmaring_ceil_div(c->cols, cuts), unit) * unit;
  if (w->piece_cols > c->cols) w->piece_cols = c->cols;
  w->pieces = (int32_t)tmaring_ceil_div(c->cols, w->piece_cols);
  if (way->cluster > 1) {
    w->cluster = w->pieces;
    w->pieces = 1;
    c->code.cluster = tmaring_walk_shared(w);
  }
  w->spread = way->spread && w->pieces > 1 && c->program.reduction_passes == 0;
  w->passes = w->pieces > 1 && !w->spread ? c->program.passes : 1;
  w->tile_rows = w->pieces > 1 ? 1 : way->tile_rows;
  w->split_stages = way->stages;
  tmaring_walk_set_rows(w, c->rows);
  c->code.pieces = w->pieces > 1 && !w->spread;
}

/* Lanes scopes hold a whole group, or the whole row. */
static void set_scope(lane_case *c)
{
  tmaring_scope *s = &c->args.scope;
  const int32_t units = c->way.warps / c->way.per_row, group = c->program.group_cols_most;
  s->kind = c->way.scope;
  s->vec = c->code.vec;
  s->lanes_log2 = c->way.lanes_log2;
  while (s->lanes_log2 < 5 && (s->vec << s->lanes_log2) < group && (s->vec << s->lanes_log2) < c->cols) ++s->lanes_log2;
  s->warps_per_row = c->way.per_row;
  s->unit_rows = (c->args.walk.tile_rows + units - 1) / units;
  if (s->kind == TMARING_SCOPE_FLAT) {
    const int64_t elems = (int64_t)c->args.walk.tile_rows * c->cols;
    s->chunk_vecs = (int32_t)tmaring_ceil_div(tmaring_ceil_div(elems, s->vec) + 1, c->way.warps);
  }
  c->code.flat = s->kind == TMARING_SCOPE_FLAT;
  s->fixed = c->code.fixed = group > 0 || c->program.column_output_count > 0;
}

static void set_cta(lane_case *c)
{
  tmaring_cta *cta = &c->args.cta;
  cta->mode = c->code.mode = c->way.mode == 0 ? TMARING_MODE_WARP_SPECIALIZED : TMARING_MODE_PIPELINED;
  cta->war = c->way.mode == 2 ? TMARING_WAR_MBARRIER : TMARING_WAR_CTA_BARRIER;
  cta->consumers[0] = 32 * c->way.warps;
  cta->consumers[1] = cta->consumers[2] = 1;
  cta->slab = c->way.mode == 0 ? 32 : 0;
}

static void set_stream(const lane_case *c, tmaring_stream *s, const lane_tensor *t, int32_t half, int32_t paired)
{
  const tmaring_walk *w = &c->args.walk;
  const uint32_t elem = tmaring_dtype_bytes(t->dtype);
  s->dtype = t->dtype;
  s->paired = paired;
  s->elem_bytes = paired ? 2 * elem : elem;
  s->base = (uint64_t)(uintptr_t)t->base + (half ? (uint64_t)c->cols * elem : 0);
  s->pitch = t->pitch;
  s->group_rows = (int32_t)t->group_rows;
  s->group_pitch = t->group_pitch;
  s->hull_end = (uint64_t)(uintptr_t)t->base;
  if (t->rows > 0) s->hull_end += (uint64_t)lane_tensor_offset(t, t->rows - 1, t->cols - 1) + elem;
  s->dense = t->group_rows == 0 && t->pitch == (int64_t)c->cols * s->elem_bytes;
  s->slot_row = tmaring_run_slot_row((uint32_t)w->piece_cols * s->elem_bytes, 0);
  s->slot_bytes = tmaring_run_slot_bytes((uint32_t)w->piece_cols * s->elem_bytes, w->tile_rows, s->dense, 0);
}

static uint32_t place_slot(tmaring_stream *s, uint32_t at)
{
  s->slot = at;
  return at + s->slot_bytes;
}

/* Stage bytes. In place: output 0 over input 0, where the two are alike. */
static uint32_t set_streams(lane_case *c)
{
  tmaring_args *a = &c->args;
  uint32_t at = 0;
  a->input_count = c->program.input_count;
  a->output_count = c->program.output_count;
  for (int32_t i = 0; i < a->input_count; ++i) {
    set_stream(c, &a->input[i], &c->tensor[c->input[i]], c->half[i], c->program.paired[i]);
    at = place_slot(&a->input[i], at);
  }
  for (int32_t i = 0; i < a->output_count; ++i) {
    tmaring_stream *s = &a->output[i];
    set_stream(c, s, &c->tensor[c->output[i]], 0, 0);
    if (!c->code.staged) continue;
    if (c->way.staged == 1 && i == 0 && a->input_count > 0 && s->elem_bytes == a->input[0].elem_bytes &&
        s->pitch == a->input[0].pitch && c->half[0] == 0 && !c->program.paired[0]) {
      s->slot = a->input[0].slot;
    } else {
      at = place_slot(s, at);
    }
  }
  return at > 0 ? at : 128;
}

static int32_t set_vectors(const lane_case *c, tmaring_vector *v, const int32_t *tensors, int32_t count)
{
  for (int32_t i = 0; i < count; ++i) {
    const lane_tensor *t = &c->tensor[tensors[i]];
    v[i].base = (uint64_t)(uintptr_t)t->base;
    v[i].dtype = t->dtype;
    v[i].smem = TMARING_NOT_STAGED;
    v[i].pitch = t->rows == 1 ? 0 : t->pitch; /* one row: one value for all */
    v[i].step = t->step;
  }
  return count;
}

void lane_set_args(lane_case *c)
{
  tmaring_args *a = &c->args;
  const tmaring__program *p = &c->program;
  uint32_t stage, columns;
  a->abi_version = TMARING_ABI_VERSION;
  a->stages = (uint32_t)c->way.stages;
  a->distance = a->stages - 1;
  a->store_lag = tmaring_ring_store_lag(a->stages, a->distance, 1);
  set_code(c);
  set_walk(c);
  set_scope(c);
  set_cta(c);
  stage = set_streams(c);
  a->vector_count = set_vectors(c, a->vector, c->vector, p->vector_count);
  a->row_scalar_count = set_vectors(c, a->row_scalar, c->row_scalar, p->row_scalar_count);
  a->row_output_count = set_vectors(c, a->row_output, c->row_output, p->row_output_count);
  a->group_input_count = set_vectors(c, a->group_input, c->group_input, p->group_input_count);
  a->group_output_count = set_vectors(c, a->group_output, c->group_output, p->group_output_count);
  a->column_output_count = set_vectors(c, a->column_output, c->column_output, p->column_output_count);
  a->columns_staged = c->way.columns_staged && p->column_output_count > 0;
  columns = (uint32_t)(tmaring_column_seats(a) * p->column_output_count * tmaring_column_stride(a)) * 8;
  tmaring_smem_layout(&a->smem, a->stages, stage, 0, a->columns_staged ? columns : 0,
                      c->code.group ? (uint32_t)c->way.warps : 0);
  a->rows_address = (uint64_t)(uintptr_t)c->rows_address;
}

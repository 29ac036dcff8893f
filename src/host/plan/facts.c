#include "facts.h"

#include <string.h>

#include "../base/detail.h"
#include "../describe/tensor_check.h"
#include "tile_cut.h"

/* ---- tensors against their parameters ---- */

/* Tensors are checked in this order, so that N comes from matrices, and groups of columns find it known. */
static const tmaring_shape check_order[] = {TMARING_SHAPE_MATRIX, TMARING_SHAPE_DOUBLE, TMARING_SHAPE_ROW,
                                            TMARING_SHAPE_GROUP, TMARING_SHAPE_COLUMN};
#define SHAPES ((int32_t)(sizeof check_order / sizeof check_order[0]))

static tmaring_status check_shape(const tmaring_formula *formula, tmaring_tensor *tensors, int32_t count,
                                  tmaring_shape shape, tmaring__extent *extent)
{
  for (int32_t i = 0; i < count; ++i) {
    tmaring_parameter parameter;
    memset(&parameter, 0, sizeof parameter);
    parameter.size = sizeof parameter;
    TMARING__TRY(tmaring_formula_tensor(formula, i, &parameter));
    if (parameter.shape != shape) continue;
    if (shape == TMARING_SHAPE_GROUP && extent->cols == 0) break;
    TMARING__TRY(tmaring__tensor_check(&parameter, &tensors[i], extent));
  }
  return TMARING_OK;
}

static tmaring_status check_tensors(const tmaring_formula *formula, tmaring_tensor *tensors, int32_t count,
                                    tmaring__extent *extent)
{
  for (int32_t i = 0; i < SHAPES; ++i) TMARING__TRY(check_shape(formula, tensors, count, check_order[i], extent));
  if (extent->cols > 0) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                       "formula: got no tensor that tells N, needs an [M,N], [M,2N] or [N] tensor; declare one");
}

/* ---- what they say ---- */

/* Groups of rows that follow one another are rows of one pitch. */
static void stream_of(const tmaring_tensor *tensor, int32_t paired, tmaring_stream *stream)
{
  const int64_t elem_bytes = (int64_t)tmaring_dtype_bytes((tmaring_i32)tensor->dtype);
  const int grouped = tensor->group_rows > 0 && tensor->group_pitch != tensor->group_rows * tensor->pitch;
  stream->dtype = (tmaring_i32)tensor->dtype;
  stream->paired = paired;
  stream->elem_bytes = (tmaring_u32)elem_bytes << paired;
  stream->pitch = tensor->pitch * elem_bytes;
  stream->group_rows = grouped ? (tmaring_i32)tensor->group_rows : 0;
  stream->group_pitch = grouped ? tensor->group_pitch * elem_bytes : 0;
  stream->dense = tensor->pitch == tensor->cols && !grouped;
}

/* An [M,2N] tensor is one stream of pairs, or two streams of rows that lie apart. */
static void input_of(tmaring__facts *facts, tmaring__slot slot, const tmaring_tensor *tensor)
{
  tmaring_stream *first = &facts->input[slot.index];
  stream_of(tensor, facts->program->paired[slot.index], first);
  if (slot.second < 0) return;
  first->dense = 0;
  facts->input[slot.second] = *first;
  facts->half[slot.index] = facts->half[slot.second] = 1;
}

static void vector_of(const tmaring_tensor *tensor, tmaring_vector *vector)
{
  const int64_t elem_bytes = (int64_t)tmaring_dtype_bytes((tmaring_i32)tensor->dtype);
  vector->dtype = (tmaring_i32)tensor->dtype;
  vector->smem = TMARING_NOT_STAGED;
  vector->pitch = tensor->pitch == TMARING_ONE_VALUE ? 0 : tensor->pitch * elem_bytes;
  vector->step = tensor->step * elem_bytes;
}

static void place_tensor(tmaring__facts *facts, tmaring__slot slot, const tmaring_tensor *tensor)
{
  switch (slot.kind) {
  case TMARING__SLOT_INPUT: input_of(facts, slot, tensor); break;
  case TMARING__SLOT_OUTPUT: stream_of(tensor, 0, &facts->output[slot.index]); break;
  case TMARING__SLOT_VECTOR:
    vector_of(tensor, &facts->vector[slot.index]);
    if (tensor->alignment % 16 != 0) facts->vectors_aligned = 0;
    break;
  case TMARING__SLOT_ROW_SCALAR: vector_of(tensor, &facts->row_scalar[slot.index]); break;
  case TMARING__SLOT_GROUP_INPUT: vector_of(tensor, &facts->group_input[slot.index]); break;
  case TMARING__SLOT_ROW_OUTPUT: vector_of(tensor, &facts->row_output[slot.index]); break;
  case TMARING__SLOT_GROUP_OUTPUT: vector_of(tensor, &facts->group_output[slot.index]); break;
  case TMARING__SLOT_COLUMN_OUTPUT: vector_of(tensor, &facts->column_output[slot.index]); break;
  }
}

static int is_streamed(tmaring__slot slot)
{
  return slot.kind == TMARING__SLOT_INPUT || slot.kind == TMARING__SLOT_OUTPUT;
}

/* A half begins N elements after the tensor. */
static uint32_t alignment_after(uint32_t alignment, int64_t bytes)
{
  while (bytes % alignment != 0) alignment /= 2;
  return alignment;
}

static void enter_alignment(tmaring__facts *facts, tmaring__slot slot, uint32_t alignment)
{
  if (slot.kind == TMARING__SLOT_OUTPUT) facts->output_alignment[slot.index] = alignment;
  if (slot.kind != TMARING__SLOT_INPUT) return;
  facts->input_alignment[slot.index] = alignment;
  if (slot.second >= 0)
    facts->input_alignment[slot.second] =
        alignment_after(alignment, (int64_t)facts->cols * facts->input[slot.second].elem_bytes);
}

static void place_tensors(tmaring__facts *facts, const tmaring_formula *formula, const tmaring_tensor *tensors,
                          int32_t count)
{
  for (int32_t i = 0; i < count; ++i) {
    const tmaring__slot slot = tmaring__formula_slot(formula, i);
    place_tensor(facts, slot, &tensors[i]);
    if (tensors[i].dtype == TMARING_F64 || (tensors[i].dtype == TMARING_I32 && is_streamed(slot))) facts->wide = 1;
    if (is_streamed(slot) && tensors[i].alignment < 16) facts->aligned = 0;
    enter_alignment(facts, slot, tensors[i].alignment);
  }
}

/* ---- streams ---- */

/* Keeps offsets below 2^62, and grouped rows below 2^31. */
static int64_t stream_rows_most(const tmaring_stream *s)
{
  if (s->group_rows == 0) return ((int64_t)1 << 62) / tmaring_max_i64(1, s->pitch);
  const int64_t groups = tmaring_min_i64(((int64_t)1 << 61) / s->group_pitch, (int64_t)1 << 31);
  return tmaring_min_i64(2147483647, groups * s->group_rows);
}

static void join_stream(tmaring__facts *facts, const tmaring_stream *stream, int32_t *narrowest)
{
  const int32_t elem_bytes = (int32_t)stream->elem_bytes;
  if (*narrowest == 0 || elem_bytes < *narrowest) *narrowest = elem_bytes;
  if (elem_bytes > facts->widest_bytes) facts->widest_bytes = elem_bytes;
  if (!stream->dense) facts->dense = 0;
  if (stream->group_rows > 0) facts->grouped = 1;
  if ((stream->pitch | stream->group_pitch | ((int64_t)facts->cols * elem_bytes)) % 16 != 0) facts->aligned = 0;
  facts->rows_most = tmaring_min_i64(facts->rows_most, stream_rows_most(stream));
  facts->bytes_per_row += (int64_t)facts->cols * elem_bytes;
}

static void join_streams(tmaring__facts *facts)
{
  const tmaring__program *program = facts->program;
  int32_t narrowest = 0;
  facts->dense = 1;
  for (int32_t i = 0; i < program->input_count; ++i) join_stream(facts, &facts->input[i], &narrowest);
  facts->load_bytes = facts->bytes_per_row;
  for (int32_t i = 0; i < program->output_count; ++i) join_stream(facts, &facts->output[i], &narrowest);
  if (narrowest == 0) narrowest = facts->widest_bytes = 4; /* nothing streamed: rows of numbers in registers */
  facts->vec = 16 / narrowest < 2 ? 2 : 16 / narrowest > TMARING_MAX_VEC ? TMARING_MAX_VEC : 16 / narrowest;
  facts->unit = 16 / narrowest > facts->vec ? 16 / narrowest : facts->vec;
  if (program->group_cols_most > facts->unit) facts->unit = program->group_cols_most;
  if (facts->cols % facts->vec != 0) facts->aligned = 0;
  facts->row_period = 1;
  while ((int64_t)facts->row_period * facts->cols * narrowest % 16 != 0) facts->row_period *= 2;
}

/* ---- values per row and group ---- */

static int32_t weight(tmaring__op op)
{
  if (tmaring__op_groups(op)) return 16;
  if (op == TMARING__OP_DIV || (op >= TMARING__OP_EXP && op <= TMARING__OP_ERF)) return 8;
  return tmaring__op_operands(op) > 0;
}

static void add_work(tmaring__facts *facts)
{
  for (int32_t i = 0; i < facts->program->node_count; ++i) {
    if (facts->program->node[i].per_col) facts->work += weight(facts->program->node[i].op);
  }
}

static void join_values(tmaring__facts *facts, const tmaring_vector *vector, int32_t count, const int32_t *group_cols)
{
  for (int32_t i = 0; i < count; ++i) {
    const int64_t values = group_cols ? tmaring_ceil_div(facts->cols, group_cols[i]) : 1;
    if (vector[i].pitch == 0) continue; /* one value for all rows */
    facts->rows_most = tmaring_min_i64(facts->rows_most, ((int64_t)1 << 62) / vector[i].pitch);
    facts->bytes_per_row += values * tmaring_dtype_bytes(vector[i].dtype);
  }
}

static void join_all_values(tmaring__facts *facts)
{
  const tmaring__program *p = facts->program;
  uint64_t bytes = 0;
  join_values(facts, facts->row_scalar, p->row_scalar_count, NULL);
  join_values(facts, facts->row_output, p->row_output_count, NULL);
  join_values(facts, facts->group_input, p->group_input_count, p->group_input_cols);
  join_values(facts, facts->group_output, p->group_output_count, p->group_output_cols);
  for (int32_t i = 0; i < p->vector_count; ++i)
    bytes += tmaring_round_up((tmaring_u64)facts->cols * tmaring_dtype_bytes(facts->vector[i].dtype), 16);
  facts->vector_bytes = bytes < 0xffffffffu ? (uint32_t)bytes : 0xffffffffu;
}

/* Each value of an [M,N/k] output has a place of its own: rows follow one another, or groups do, and then a group has
 * room for so many rows. */
static tmaring_status check_places(tmaring__facts *facts, int32_t index, const char *name)
{
  const tmaring_vector *v = &facts->group_output[index];
  const int64_t elem_bytes = tmaring_dtype_bytes(v->dtype);
  const int64_t groups = tmaring_ceil_div(facts->cols, facts->program->group_output_cols[index]);
  if (v->pitch >= (groups - 1) * v->step + elem_bytes) return TMARING_OK;
  const int64_t most = (v->step - elem_bytes) / v->pitch + 1;
  facts->rows_most = tmaring_min_i64(facts->rows_most, most);
  if (facts->rows <= most) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE,
                       "%s.step: got %lld with pitch %lld, which keeps the values of %lld rows apart, needs %lld rows; "
                       "use a step of at least M x pitch, or a pitch of at least %lld x step",
                       name, (long long)(v->step / elem_bytes), (long long)(v->pitch / elem_bytes), (long long)most,
                       (long long)facts->rows, (long long)groups);
}

static tmaring_status check_group_outputs(tmaring__facts *facts, const tmaring_formula *formula, int32_t count)
{
  for (int32_t i = 0; i < count; ++i) {
    const tmaring__slot slot = tmaring__formula_slot(formula, i);
    tmaring_parameter parameter;
    if (slot.kind != TMARING__SLOT_GROUP_OUTPUT) continue;
    memset(&parameter, 0, sizeof parameter);
    parameter.size = sizeof parameter;
    TMARING__TRY(tmaring_formula_tensor(formula, i, &parameter));
    TMARING__TRY(check_places(facts, slot.index, parameter.name));
  }
  return TMARING_OK;
}

/* ---- what the formula asks for ---- */

static tmaring_status check_groups(const tmaring__facts *facts)
{
  const int32_t least = facts->program->group_cols_least, most = facts->program->group_cols_most, vec = facts->vec;
  if (most == 0 || (least >= vec && most <= 32 * vec)) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                       "groups of columns: got k = %d, needs %d .. %d: threads hold %d elements of these types at a "
                       "time, and the threads of one warp share a group; change k or the types",
                       least < vec ? least : most, vec, 32 * vec, vec);
}

/* fp32 holds whole numbers up to 2^24. */
static tmaring_status check_numbers(const tmaring__facts *facts)
{
  const tmaring__program *program = facts->program;
  for (int32_t i = 0; i < program->node_count && !facts->wide && facts->cols > 1 << 24; ++i) {
    const tmaring__op op = program->node[i].op;
    if (op != TMARING__OP_COL && op != TMARING__OP_REDUCE_ARGMAX && op != TMARING__OP_GATHER) continue;
    return tmaring__fail(TMARING_ERROR_CAPACITY,
                         "%s: got N = %d, needs at most %d: column numbers are fp32, which counts no further; make one "
                         "of the tensors f64",
                         tmaring__op_text(op), facts->cols, 1 << 24);
  }
  return TMARING_OK;
}

void tmaring__facts_widen(tmaring__facts *facts)
{
  const int32_t unit = tmaring__tile_unit(facts->output, facts->program->output_count);
  if (unit > facts->unit) facts->unit = unit;
}

const char *tmaring__facts_name(const tmaring__facts *facts, tmaring__slot_kind kind, int32_t index)
{
  const int32_t count = tmaring_formula_tensor_count(facts->formula);
  for (int32_t i = 0; i < count; ++i) {
    const tmaring__slot slot = tmaring__formula_slot(facts->formula, i);
    const int second = kind == TMARING__SLOT_INPUT && slot.second == index;
    tmaring_parameter parameter;
    if (slot.kind != kind || (slot.index != index && !second)) continue;
    memset(&parameter, 0, sizeof parameter);
    parameter.size = sizeof parameter;
    if (tmaring_formula_tensor(facts->formula, i, &parameter) == TMARING_OK) return parameter.name;
  }
  return "?";
}

/* Flat fills know neither rows nor columns. */
static int knows_places(const tmaring__program *p)
{
  return tmaring__program_has(p, TMARING__OP_COL) || tmaring__program_has(p, TMARING__OP_ROW) ||
         p->reduction_passes > 0 || p->vector_count > 0 || p->row_scalar_count > 0 || p->row_output_count > 0;
}

tmaring_status tmaring__facts_gather(tmaring__facts *facts, const tmaring_formula *formula, tmaring_tensor *tensors,
                                     int32_t count)
{
  tmaring__extent extent = {0, 0, NULL, NULL};
  memset(facts, 0, sizeof *facts);
  facts->program = tmaring__formula_program(formula);
  facts->formula = formula;
  TMARING__TRY(check_tensors(formula, tensors, count, &extent));
  facts->rows = extent.rows;
  facts->cols = (int32_t)extent.cols;
  facts->rows_most = TMARING__MAX_ROWS;
  facts->aligned = facts->vectors_aligned = 1;
  place_tensors(facts, formula, tensors, count);
  join_streams(facts);
  join_all_values(facts);
  add_work(facts);
  facts->fixed = facts->program->group_cols_most > 0 || tmaring__facts_columns(facts);
  facts->flat_free = !facts->fixed && !knows_places(facts->program);
  TMARING__TRY(check_group_outputs(facts, formula, count));
  TMARING__TRY(check_groups(facts));
  return check_numbers(facts);
}

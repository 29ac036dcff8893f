#include "facts.h"

#include <string.h>

#include "../base/detail.h"
#include "../describe/tensor_check.h"

/* Checks the tensors whose parameters are matrices (or are not), so that N comes from the matrices. */
static tmaring_status check_tensors(const tmaring_formula *formula, tmaring_tensor *tensors, int32_t count,
                                    int matrices, tmaring__extent *extent)
{
  for (int32_t i = 0; i < count; ++i) {
    tmaring_parameter parameter;
    memset(&parameter, 0, sizeof parameter);
    parameter.size = sizeof parameter;
    TMARING__TRY(tmaring_formula_tensor(formula, i, &parameter));
    if ((parameter.shape == TMARING_SHAPE_MATRIX) != matrices) continue;
    TMARING__TRY(tmaring__tensor_check(&parameter, &tensors[i], extent));
  }
  return TMARING_OK;
}

static void stream_of(const tmaring_tensor *tensor, tmaring_stream *stream)
{
  stream->dtype = (tmaring_i32)tensor->dtype;
  stream->elem_bytes = tmaring_dtype_bytes(stream->dtype);
  stream->pitch = tensor->pitch * (int64_t)stream->elem_bytes;
  stream->dense = tensor->pitch == tensor->cols;
}

static void place_tensors(tmaring__facts *facts, const tmaring_formula *formula, const tmaring_tensor *tensors,
                          int32_t count)
{
  for (int32_t i = 0; i < count; ++i) {
    const tmaring__slot slot = tmaring__formula_slot(formula, i);
    const tmaring_i32 dtype = (tmaring_i32)tensors[i].dtype;
    switch (slot.kind) {
    case TMARING__SLOT_INPUT: stream_of(&tensors[i], &facts->input[slot.index]); break;
    case TMARING__SLOT_OUTPUT: stream_of(&tensors[i], &facts->output[slot.index]); break;
    case TMARING__SLOT_VECTOR: facts->vector_dtype[slot.index] = dtype; break;
    case TMARING__SLOT_ROW_SCALAR: facts->row_scalar_dtype[slot.index] = dtype; break;
    case TMARING__SLOT_ROW_OUTPUT: facts->row_output_dtype[slot.index] = dtype; break;
    }
  }
}

static void join_stream(tmaring__facts *facts, const tmaring_stream *stream)
{
  const int32_t elem_bytes = (int32_t)stream->elem_bytes;
  if (16 / elem_bytes > facts->vec) facts->vec = 16 / elem_bytes;
  if (elem_bytes > facts->widest_bytes) facts->widest_bytes = elem_bytes;
  if (!stream->dense) facts->dense = 0;
  if (stream->pitch % 16 != 0) facts->aligned = 0;
  if (stream->pitch > facts->max_pitch_bytes) facts->max_pitch_bytes = stream->pitch;
  facts->bytes_per_row += (int64_t)facts->cols * elem_bytes;
}

static void join_streams(tmaring__facts *facts)
{
  const tmaring__program *program = facts->program;
  facts->dense = facts->aligned = 1;
  for (int32_t i = 0; i < program->input_count; ++i) join_stream(facts, &facts->input[i]);
  facts->load_bytes = facts->bytes_per_row;
  for (int32_t i = 0; i < program->output_count; ++i) join_stream(facts, &facts->output[i]);
  if (facts->cols % facts->vec != 0) facts->aligned = 0;
  facts->row_period = 1;
  while ((int64_t)facts->row_period * facts->cols % facts->vec != 0) facts->row_period *= 2;
  facts->flat_free = program->reduction_passes == 0 && program->vector_count == 0 && program->row_scalar_count == 0 &&
                     program->row_output_count == 0;
}

static void join_values(tmaring__facts *facts)
{
  const tmaring__program *program = facts->program;
  for (int32_t i = 0; i < program->row_scalar_count; ++i)
    facts->bytes_per_row += tmaring_dtype_bytes(facts->row_scalar_dtype[i]);
  for (int32_t i = 0; i < program->row_output_count; ++i)
    facts->bytes_per_row += tmaring_dtype_bytes(facts->row_output_dtype[i]);
  uint64_t bytes = 0;
  for (int32_t i = 0; i < program->vector_count; ++i)
    bytes += tmaring_round_up((tmaring_u64)facts->cols * tmaring_dtype_bytes(facts->vector_dtype[i]), 16);
  facts->vector_bytes = bytes < 0xffffffffu ? (uint32_t)bytes : 0xffffffffu;
}

static tmaring_status check_program(const tmaring__program *program)
{
  if (program->input_count > 0) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                       "formula: got no [M,N] input, needs at least one: rows are what the ring streams");
}

tmaring_status tmaring__facts_gather(tmaring__facts *facts, const tmaring_formula *formula, tmaring_tensor *tensors,
                                     int32_t count)
{
  tmaring__extent extent = {0, 0, NULL, NULL};
  memset(facts, 0, sizeof *facts);
  facts->program = tmaring__formula_program(formula);
  TMARING__TRY(check_program(facts->program));
  TMARING__TRY(check_tensors(formula, tensors, count, 1, &extent));
  TMARING__TRY(check_tensors(formula, tensors, count, 0, &extent));
  facts->rows = extent.rows;
  facts->cols = (int32_t)extent.cols;
  place_tensors(facts, formula, tensors, count);
  join_streams(facts);
  for (int32_t i = 0; i < count; ++i) {
    const tmaring__slot_kind kind = tmaring__formula_slot(formula, i).kind;
    const int streamed = kind == TMARING__SLOT_INPUT || kind == TMARING__SLOT_OUTPUT;
    if (streamed && tensors[i].alignment < 16) facts->aligned = 0;
  }
  join_values(facts);
  return TMARING_OK;
}

#include "overlap.h"

#include <string.h>

#include "../base/detail.h"
#include "../check/box.h"
#include "../plan/extent.h"
#include "../plan/variant.h"
#include "kernel.h"

/* ---- messages: off the path of a launch that succeeds ---- */

static const char *tensor_name(const tmaring_plan *plan, int32_t tensor)
{
  tmaring_parameter parameter;
  memset(&parameter, 0, sizeof parameter);
  parameter.size = sizeof parameter;
  return tmaring_formula_tensor(plan->formula, tensor, &parameter) == TMARING_OK ? parameter.name : "?";
}

static tmaring_status refuse_null(const tmaring_plan *plan, int32_t tensor)
{
  return tmaring__fail(TMARING_ERROR_ARGUMENT, "data[%d] (%s): got NULL, needs the address of the tensor", tensor,
                       tensor_name(plan, tensor));
}

static tmaring_status refuse_alignment(const tmaring_plan *plan, int32_t tensor, uint64_t address)
{
  const uint32_t alignment = plan->tensor[tensor].alignment;
  const uint32_t elem_bytes = tmaring_dtype_bytes((tmaring_i32)plan->tensor[tensor].dtype);
  if (address % elem_bytes != 0) {
    return tmaring__fail(TMARING_ERROR_ALIGNMENT, "%s: got address 0x%llx, needs a multiple of the element size %u",
                         tensor_name(plan, tensor), (unsigned long long)address, (unsigned)elem_bytes);
  }
  return tmaring__fail(
      TMARING_ERROR_ALIGNMENT,
      "%s: got address 0x%llx, which is %llu modulo %u, needs a multiple of %u as the plan was told; plan "
      "with a smaller alignment of this tensor",
      tensor_name(plan, tensor), (unsigned long long)address, (unsigned long long)(address % alignment),
      (unsigned)alignment, (unsigned)alignment);
}

static tmaring_status refuse_overlap(const tmaring_plan *plan, const tmaring__span *extents, int32_t output,
                                     int32_t other)
{
  return tmaring__fail(
      TMARING_ERROR_ALIAS,
      "%s: got bytes 0x%llx .. 0x%llx, which overlap %s at 0x%llx .. 0x%llx; needs memory of its own, or exactly "
      "an [M,N] input's address, dtype, pitch and groups of rows",
      tensor_name(plan, output), (unsigned long long)extents[output].begin, (unsigned long long)extents[output].end,
      tensor_name(plan, other), (unsigned long long)extents[other].begin, (unsigned long long)extents[other].end);
}

/* ---- tensors ---- */

static void enter_stream(tmaring_stream *stream, tmaring__span *bytes, const tmaring_walk *walk, uint64_t address)
{
  bytes->width = (int64_t)walk->cols * stream->elem_bytes;
  bytes->pitch = stream->pitch;
  bytes->group_rows = stream->group_rows;
  bytes->group_pitch = stream->group_pitch;
  bytes->group_width = stream->group_rows > 0 ? (stream->group_rows - 1) * stream->pitch + bytes->width : 0;
  bytes->end = address + (uint64_t)tmaring__stream_bytes(stream, walk->rows, walk->cols);
  bytes->dtype = stream->dtype;
  stream->base = address;
  stream->hull_end = bytes->end;
}

/* The halves of an [M,2N] tensor are two streams; what the tensor takes is both. */
static void enter_input(tmaring_args *args, tmaring__slot slot, tmaring__span *bytes, uint64_t address)
{
  tmaring_stream *stream = &args->input[slot.index];
  enter_stream(stream, bytes, &args->walk, address);
  bytes->halves = stream->paired || slot.second >= 0;
  if (slot.second < 0) return;
  tmaring_stream *second = &args->input[slot.second];
  second->base = address + (uint64_t)bytes->width;
  bytes->end += (uint64_t)bytes->width;
  bytes->group_width += bytes->group_pitch > 0 ? bytes->width : 0;
  bytes->width *= 2;
  stream->hull_end = second->hull_end = bytes->end;
}

static void enter_vector(tmaring_vector *vector, tmaring__span *bytes, int64_t count, uint64_t address)
{
  bytes->width = count * tmaring_dtype_bytes(vector->dtype);
  bytes->end = address + (uint64_t)bytes->width;
  bytes->dtype = vector->dtype;
  vector->base = address;
}

/* Values per row, `groups` of them: runs are rows of values, or groups of values where these lie further apart. */
static void enter_values(tmaring_vector *vector, tmaring__span *bytes, const tmaring_walk *walk, int64_t groups,
                         uint64_t address)
{
  const int64_t elem_bytes = tmaring_dtype_bytes(vector->dtype), row = (groups - 1) * vector->step + elem_bytes;
  const int by_row = vector->pitch == 0 || vector->pitch >= row;
  bytes->width = by_row ? row : (walk->rows - 1) * vector->pitch + elem_bytes;
  bytes->pitch = by_row ? vector->pitch : vector->step;
  bytes->end = address + (uint64_t)tmaring__vector_bytes(vector, walk->rows, groups);
  bytes->dtype = vector->dtype;
  vector->base = address;
}

/* `cols` as the tensor has it: 1 for [M], groups per row for [M,N/k]. */
static void enter_tensor(tmaring_args *args, tmaring__slot slot, int64_t cols, tmaring__span *bytes, uint64_t address)
{
  bytes->begin = address;
  if (slot.kind == TMARING__SLOT_INPUT) {
    enter_input(args, slot, bytes, address);
  } else if (slot.kind == TMARING__SLOT_OUTPUT) {
    enter_stream(&args->output[slot.index], bytes, &args->walk, address);
  } else if (tmaring__slot_per_column(slot)) {
    enter_vector(tmaring__slot_vector(args, slot), bytes, cols, address);
  } else {
    enter_values(tmaring__slot_vector(args, slot), bytes, &args->walk, cols, address);
  }
}

/* Without rows only the results of column reductions are written; the other addresses may be NULL. */
static tmaring_status enter_tensors(const tmaring_plan *plan, void *const *data, tmaring_args *args)
{
  tmaring__span extents[TMARING__MAX_TENSORS];
  int32_t output, other;
  if (!data) return tmaring__fail(TMARING_ERROR_ARGUMENT, "data: got NULL, needs an address per tensor parameter");
  memset(extents, 0, (size_t)plan->tensor_count * sizeof extents[0]);
  for (int32_t i = 0; i < plan->tensor_count; ++i) {
    const uint64_t address = (uint64_t)(uintptr_t)data[i];
    const tmaring__slot slot = tmaring__formula_slot(plan->formula, i);
    extents[i].kind = (int32_t)slot.kind;
    if (args->walk.rows == 0 && slot.kind != TMARING__SLOT_COLUMN_OUTPUT) continue;
    if (address == 0) return refuse_null(plan, i);
    if ((address & (plan->tensor[i].alignment - 1)) != 0) return refuse_alignment(plan, i, address);
    enter_tensor(args, slot, plan->tensor[i].cols, &extents[i], address);
  }
  if (tmaring__overlap_find(extents, plan->tensor_count, &output, &other))
    return refuse_overlap(plan, extents, output, other);
  return TMARING_OK;
}

/* ---- the rest ---- */

/* Defaults are in the plan's arguments already. */
static tmaring_status enter_scalars(const tmaring_plan *plan, const double *scalars, tmaring_args *args)
{
  for (int32_t i = 0; scalars && i < args->scalar_count; ++i) {
    args->scalar[i] = (float)scalars[i];
    args->wide_scalar[i] = scalars[i];
  }
  if (scalars) return TMARING_OK;
  for (int32_t i = 0; i < args->scalar_count; ++i) {
    tmaring_parameter parameter;
    memset(&parameter, 0, sizeof parameter);
    parameter.size = sizeof parameter;
    TMARING__TRY(tmaring_formula_scalar(plan->formula, i, &parameter));
    if (parameter.has_default) continue;
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "scalars: got NULL, needs a value for %s, which has no default",
                         parameter.name);
  }
  return TMARING_OK;
}

tmaring_status tmaring__workspace_enter(void *workspace, const char *calls, tmaring_args *args)
{
  const uint64_t address = (uint64_t)(uintptr_t)workspace;
  const int tickets = args->walk.order == TMARING_ORDER_TICKET, columns = args->column_output_count > 0;
  const unsigned alignment = columns ? 16 : 8; /* partial results are written 16 bytes at a time */
  if (!tickets && !columns) return TMARING_OK;
  if (address == 0) {
    return tmaring__fail(TMARING_ERROR_ARGUMENT,
                         "workspace: got NULL, needs memory for %s; see %s_workspace_bytes and %s_workspace_init",
                         columns ? "partial results of column reductions" : "tickets", calls, calls);
  }
  if (address % alignment != 0) {
    return tmaring__fail(TMARING_ERROR_ALIGNMENT, "workspace: got address 0x%llx, needs a multiple of %u",
                         (unsigned long long)address, alignment);
  }
  if (tickets) args->counter_address = address;
  if (columns) args->partials_address = address + TMARING_PARTIALS_OFFSET;
  return TMARING_OK;
}

static tmaring_status enter_device_rows(const int64_t *rows, tmaring_args *args)
{
  const uint64_t address = (uint64_t)(uintptr_t)rows;
  if (address % 8 != 0) {
    return tmaring__fail(TMARING_ERROR_ALIGNMENT, "rows_device: got address 0x%llx, needs a multiple of 8",
                         (unsigned long long)address);
  }
  args->rows_address = address;
  return TMARING_OK;
}

tmaring_status tmaring__flags_check(uint32_t flags)
{
  if ((flags & ~TMARING_LAUNCH_DEPENDENT) == 0) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ARGUMENT, "flags: got 0x%x, needs a combination of TMARING_LAUNCH_DEPENDENT",
                       (unsigned)flags);
}

tmaring_status tmaring__encode(const tmaring_plan *plan, const tmaring_launch_params *params, tmaring_args *args,
                               tmaring__boxes *boxes)
{
  TMARING__NEED_SIZE(params);
  TMARING__TRY(tmaring__flags_check(params->flags));
  const tmaring__variant *variant = tmaring__plan_variant(plan, params->rows);
  *args = variant->args;
  boxes->used = variant->boxes.used;
  boxes->work = NULL; /* a formula */
  if (boxes->used) *boxes = variant->boxes;
  TMARING__TRY(tmaring__variant_set_rows(plan, args, params->rows));
  TMARING__TRY(enter_scalars(plan, params->scalars, args));
  if (params->rows == 0 && args->column_output_count == 0) return TMARING_OK; /* data may be NULL: nothing is done */
  TMARING__TRY(enter_tensors(plan, params->data, args));
  tmaring__boxes_enter(boxes, args);
  if (params->rows == 0) { /* there are no partial results to keep, and no tickets to claim */
    args->walk.order = TMARING_ORDER_CYCLIC;
    tmaring_walk_set_rows(&args->walk, 0);
    return TMARING_OK;
  }
  TMARING__TRY(enter_device_rows(params->rows_device, args));
  return tmaring__workspace_enter(params->workspace, "tmaring", args);
}

#include "overlap.h"

#include <string.h>

#include "../base/detail.h"
#include "../plan/variant.h"

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
      "an input's address, dtype and pitch",
      tensor_name(plan, output), (unsigned long long)extents[output].begin, (unsigned long long)extents[output].end,
      tensor_name(plan, other), (unsigned long long)extents[other].begin, (unsigned long long)extents[other].end);
}

/* ---- tensors ---- */

static void enter_stream(tmaring_stream *stream, tmaring__span *bytes, const tmaring_walk *walk, uint64_t address)
{
  bytes->width = (int64_t)walk->cols * stream->elem_bytes;
  bytes->pitch = stream->pitch;
  bytes->end = address + (uint64_t)((walk->rows - 1) * stream->pitch + bytes->width);
  bytes->dtype = stream->dtype;
  stream->base = address;
  stream->hull_end = bytes->end;
}

static void enter_vector(tmaring_vector *vector, tmaring__span *bytes, int64_t count, uint64_t address)
{
  bytes->width = count * tmaring_dtype_bytes(vector->dtype);
  bytes->pitch = 0;
  bytes->end = address + (uint64_t)bytes->width;
  bytes->dtype = vector->dtype;
  vector->base = address;
}

static void enter_tensor(tmaring_args *args, tmaring__slot slot, tmaring__span *bytes, uint64_t address)
{
  bytes->begin = address;
  bytes->kind = (int32_t)slot.kind;
  switch (slot.kind) {
  case TMARING__SLOT_INPUT: enter_stream(&args->input[slot.index], bytes, &args->walk, address); break;
  case TMARING__SLOT_OUTPUT: enter_stream(&args->output[slot.index], bytes, &args->walk, address); break;
  case TMARING__SLOT_VECTOR: enter_vector(&args->vector[slot.index], bytes, args->walk.cols, address); break;
  case TMARING__SLOT_ROW_SCALAR: enter_vector(&args->row_scalar[slot.index], bytes, args->walk.rows, address); break;
  case TMARING__SLOT_ROW_OUTPUT: enter_vector(&args->row_output[slot.index], bytes, args->walk.rows, address); break;
  }
}

static tmaring_status enter_tensors(const tmaring_plan *plan, void *const *data, tmaring_args *args)
{
  tmaring__span extents[TMARING__MAX_TENSORS];
  int32_t output, other;
  if (!data) return tmaring__fail(TMARING_ERROR_ARGUMENT, "data: got NULL, needs an address per tensor parameter");
  for (int32_t i = 0; i < plan->tensor_count; ++i) {
    const uint64_t address = (uint64_t)(uintptr_t)data[i];
    if (address == 0) return refuse_null(plan, i);
    if ((address & (plan->tensor[i].alignment - 1)) != 0) return refuse_alignment(plan, i, address);
    enter_tensor(args, tmaring__formula_slot(plan->formula, i), &extents[i], address);
  }
  if (tmaring__overlap_find(extents, plan->tensor_count, &output, &other))
    return refuse_overlap(plan, extents, output, other);
  return TMARING_OK;
}

/* ---- the rest ---- */

/* Defaults are in the plan's arguments already. */
static tmaring_status enter_scalars(const tmaring_plan *plan, const float *scalars, tmaring_args *args)
{
  if (scalars) {
    memcpy(args->scalar, scalars, (size_t)args->scalar_count * sizeof *scalars);
    return TMARING_OK;
  }
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

static tmaring_status enter_workspace(void *workspace, tmaring_args *args)
{
  const uint64_t address = (uint64_t)(uintptr_t)workspace;
  if (args->walk.order != TMARING_ORDER_TICKET) return TMARING_OK;
  if (address == 0) {
    return tmaring__fail(
        TMARING_ERROR_ARGUMENT,
        "workspace: got NULL, needs %d bytes for tickets; see tmaring_workspace_bytes and tmaring_workspace_init",
        TMARING_WORKSPACE_BYTES);
  }
  if (address % 8 != 0) {
    return tmaring__fail(TMARING_ERROR_ALIGNMENT, "workspace: got address 0x%llx, needs a multiple of 8",
                         (unsigned long long)address);
  }
  args->counter_address = address;
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

tmaring_status tmaring__encode(const tmaring_plan *plan, const tmaring_launch_params *params, tmaring_args *args)
{
  TMARING__NEED_SIZE(params);
  if ((params->flags & ~TMARING_LAUNCH_DEPENDENT) != 0) {
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "flags: got 0x%x, needs a combination of TMARING_LAUNCH_DEPENDENT",
                         (unsigned)params->flags);
  }
  *args = tmaring__plan_variant(plan, params->rows)->args;
  TMARING__TRY(tmaring__variant_set_rows(plan, args, params->rows));
  TMARING__TRY(enter_scalars(plan, params->scalars, args));
  if (params->rows == 0) return TMARING_OK; /* data may be NULL: nothing is launched */
  TMARING__TRY(enter_tensors(plan, params->data, args));
  TMARING__TRY(enter_device_rows(params->rows_device, args));
  return enter_workspace(params->workspace, args);
}

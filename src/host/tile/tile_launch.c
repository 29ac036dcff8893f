#include "../launch/kernel.h"
#include "tile_state.h"

/* A kernel like any other, whose plan is a tile plan's first member. */
struct tmaring_tile_kernel {
  tmaring_kernel kernel; /* first and alone: a pointer to it is one to this */
};

static const tmaring_tile_plan *plan_of(const tmaring_tile_kernel *kernel)
{
  return (const tmaring_tile_plan *)kernel->kernel.plan;
}

void tmaring__tile_place(const tmaring_tile_plan *plan, int32_t t, uint64_t address, tmaring_args *args,
                         tmaring__boxes *boxes)
{
  const int output = t == plan->count - 1;
  tmaring_stream *s = output ? &args->output[0] : &args->input[t];
  s->base = address;
  s->hull_end = address + (uint64_t)plan->bytes[t];
  boxes->map[output ? TMARING_TILED_OUTPUTS : t].address = address;
}

tmaring_status tmaring_tile_prepare(tmaring_tile_kernel **kernel, const tmaring_tile_plan *plan,
                                    tmaring_backend backend)
{
  tmaring_kernel *made;
  TMARING__NEED(kernel);
  *kernel = NULL;
  TMARING__NEED(plan);
  TMARING__TRY(tmaring_prepare(&made, &plan->plan, backend));
  *kernel = (tmaring_tile_kernel *)made;
  return TMARING_OK;
}

void tmaring_tile_kernel_free(tmaring_tile_kernel *kernel)
{
  if (kernel) tmaring_kernel_free(&kernel->kernel);
}

tmaring_status tmaring_tile_workspace_init(const tmaring_tile_kernel *kernel, void *workspace,
                                           struct CUstream_st *stream)
{
  TMARING__NEED(kernel);
  return tmaring_workspace_init(&kernel->kernel, workspace, stream);
}

tmaring_status tmaring_tile_kernel_fault(const tmaring_tile_kernel *kernel, tmaring_fault *fault)
{
  TMARING__NEED(kernel);
  return tmaring_kernel_fault(&kernel->kernel, fault);
}

static tmaring_status check_address(const tmaring_tile_plan *plan, int32_t t, uint64_t address)
{
  const char *name = tmaring__tile_name((tmaring_tile_op)plan->work.op, t);
  if (address == 0) return tmaring__fail(TMARING_ERROR_ARGUMENT, "%s: got NULL, needs an address", name);
  if (address % plan->tensor[t].alignment == 0) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ALIGNMENT, "%s: got address 0x%llx, the plan was told of multiples of %u", name,
                       (unsigned long long)address, plan->tensor[t].alignment);
}

/* Inputs may be read at any time, so that the output may not begin or end in one. */
static tmaring_status check_apart(const tmaring_tile_plan *plan, void *const *data)
{
  const int32_t out = plan->count - 1;
  const uint64_t begin = (uint64_t)(uintptr_t)data[out], end = begin + (uint64_t)plan->bytes[out];
  for (int32_t t = 0; t < out; ++t) {
    const uint64_t other = (uint64_t)(uintptr_t)data[t];
    if (begin >= other + (uint64_t)plan->bytes[t] || other >= end) continue;
    return tmaring__fail(TMARING_ERROR_ALIAS, "%s: overlaps %s; the output of a tile program is apart from its inputs",
                         tmaring__tile_name((tmaring_tile_op)plan->work.op, out),
                         tmaring__tile_name((tmaring_tile_op)plan->work.op, t));
  }
  return TMARING_OK;
}

tmaring_status tmaring_tile_launch(const tmaring_tile_kernel *kernel, void *const *data, void *workspace,
                                   uint32_t flags, struct CUstream_st *stream)
{
  TMARING__NEED(kernel);
  TMARING__NEED(data);
  const tmaring_tile_plan *plan = plan_of(kernel);
  tmaring_args args = plan->plan.variant[0].args;
  tmaring__boxes boxes = plan->plan.variant[0].boxes;
  TMARING__TRY(tmaring__flags_check(flags));
  for (int32_t t = 0; t < plan->count; ++t) {
    TMARING__TRY(check_address(plan, t, (uint64_t)(uintptr_t)data[t]));
    tmaring__tile_place(plan, t, (uint64_t)(uintptr_t)data[t], &args, &boxes);
  }
  TMARING__TRY(check_apart(plan, data));
  TMARING__TRY(tmaring__workspace_enter(workspace, "tmaring_tile", &args));
  return kernel->kernel.calls->launch(kernel->kernel.state, &plan->plan, &args, &boxes, flags, stream);
}

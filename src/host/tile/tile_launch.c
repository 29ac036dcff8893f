#include <stdlib.h>

#include "../backend/backend.h"
#include "tile_state.h"

struct tmaring_tile_kernel {
  tmaring_tile_plan *plan; /* retained */
  const tmaring__backend_calls *calls;
  void *state; /* the backend's */
};

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
  TMARING__NEED(kernel);
  *kernel = NULL;
  TMARING__NEED(plan);
  if (backend != TMARING_BACKEND_CUDA && backend != TMARING_BACKEND_CPU)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "backend: got %d, needs TMARING_BACKEND_CUDA or TMARING_BACKEND_CPU",
                         (int)backend);
  tmaring_tile_kernel *made = malloc(sizeof *made);
  if (!made) return tmaring__fail(TMARING_ERROR_MEMORY, "kernel: out of host memory, needs %zu bytes", sizeof *made);
  made->plan = (tmaring_tile_plan *)tmaring__plan_retain(&plan->plan);
  made->calls = backend == TMARING_BACKEND_CUDA ? tmaring__backend_cuda() : tmaring__backend_cpu();
  made->state = NULL;
  const tmaring_status status = made->calls->prepare(&made->state, &made->plan->plan);
  if (status != TMARING_OK) {
    tmaring_tile_plan_free(made->plan);
    free(made);
    return status;
  }
  *kernel = made;
  return TMARING_OK;
}

void tmaring_tile_kernel_free(tmaring_tile_kernel *kernel)
{
  if (!kernel) return;
  kernel->calls->release(kernel->state);
  tmaring_tile_plan_free(kernel->plan);
  free(kernel);
}

tmaring_status tmaring_tile_workspace_init(const tmaring_tile_kernel *kernel, void *workspace,
                                           struct CUstream_st *stream)
{
  TMARING__NEED(kernel);
  if (tmaring_tile_workspace_bytes(kernel->plan) == 0) return TMARING_OK;
  TMARING__NEED(workspace);
  return kernel->calls->workspace_init(kernel->state, workspace, stream);
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

static tmaring_status enter_workspace(void *workspace, tmaring_args *args)
{
  const uint64_t address = (uint64_t)(uintptr_t)workspace;
  if (args->walk.order != TMARING_ORDER_TICKET) return TMARING_OK;
  if (address == 0 || address % 8 != 0)
    return tmaring__fail(address == 0 ? TMARING_ERROR_ARGUMENT : TMARING_ERROR_ALIGNMENT,
                         "workspace: got address 0x%llx, needs a multiple of 8 for tickets; see "
                         "tmaring_tile_workspace_bytes and tmaring_tile_workspace_init",
                         (unsigned long long)address);
  args->counter_address = address;
  return TMARING_OK;
}

tmaring_status tmaring_tile_launch(const tmaring_tile_kernel *kernel, void *const *data, void *workspace,
                                   uint32_t flags, struct CUstream_st *stream)
{
  TMARING__NEED(kernel);
  TMARING__NEED(data);
  const tmaring_tile_plan *plan = kernel->plan;
  tmaring_args args = plan->plan.variant[0].args;
  tmaring__boxes boxes = plan->plan.variant[0].boxes;
  if ((flags & ~TMARING_LAUNCH_DEPENDENT) != 0)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "flags: got 0x%x, needs a combination of TMARING_LAUNCH_DEPENDENT",
                         (unsigned)flags);
  for (int32_t t = 0; t < plan->count; ++t) {
    TMARING__TRY(check_address(plan, t, (uint64_t)(uintptr_t)data[t]));
    tmaring__tile_place(plan, t, (uint64_t)(uintptr_t)data[t], &args, &boxes);
  }
  TMARING__TRY(check_apart(plan, data));
  TMARING__TRY(enter_workspace(workspace, &args));
  return kernel->calls->launch(kernel->state, &plan->plan, &args, &boxes, flags, stream);
}

#include "tmaring/launch.h"

#include <stdlib.h>

#include "../base/detail.h"
#include "kernel.h"

static const tmaring__backend_calls *find_backend(tmaring_backend backend)
{
  switch (backend) {
  case TMARING_BACKEND_CUDA: return tmaring__backend_cuda();
  case TMARING_BACKEND_CPU: return tmaring__backend_cpu();
  }
  return NULL;
}

tmaring_status tmaring_prepare(tmaring_kernel **kernel, const tmaring_plan *plan, tmaring_backend backend)
{
  TMARING__NEED(kernel);
  *kernel = NULL;
  TMARING__NEED(plan);
  const tmaring__backend_calls *calls = find_backend(backend);
  if (!calls) {
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "backend: got %d, needs TMARING_BACKEND_CUDA or TMARING_BACKEND_CPU",
                         (int)backend);
  }
  tmaring_kernel *made = malloc(sizeof *made);
  if (!made) return tmaring__fail(TMARING_ERROR_MEMORY, "kernel: out of host memory, needs %zu bytes", sizeof *made);
  made->plan = tmaring__plan_retain(plan);
  made->calls = calls;
  made->state = NULL;
  const tmaring_status status = calls->prepare(&made->state, made->plan);
  if (status != TMARING_OK) {
    tmaring_plan_free(made->plan);
    free(made);
    return status;
  }
  *kernel = made;
  return TMARING_OK;
}

void tmaring_kernel_free(tmaring_kernel *kernel)
{
  if (!kernel) return;
  kernel->calls->release(kernel->state);
  tmaring_plan_free(kernel->plan);
  free(kernel);
}

tmaring_status tmaring_workspace_init(const tmaring_kernel *kernel, void *workspace, struct CUstream_st *stream)
{
  TMARING__NEED(kernel);
  if (tmaring_workspace_bytes(kernel->plan, 0) == 0) return TMARING_OK; /* launches of any M need none */
  TMARING__NEED(workspace);
  return kernel->calls->workspace_init(kernel->state, workspace, stream);
}

tmaring_status tmaring_launch(const tmaring_kernel *kernel, const tmaring_launch_params *params,
                              struct CUstream_st *stream)
{
  tmaring_args args;
  tmaring__boxes boxes;
  TMARING__NEED(kernel);
  TMARING__TRY(tmaring__encode(kernel->plan, params, &args, &boxes));
  if (params->rows == 0 && args.column_output_count == 0) return TMARING_OK;
  return kernel->calls->launch(kernel->state, kernel->plan, &args, &boxes, params->flags, stream);
}

tmaring_status tmaring_kernel_fault(const tmaring_kernel *kernel, tmaring_fault *fault)
{
  TMARING__NEED(kernel);
  TMARING__NEED(fault);
  return kernel->calls->fault(kernel->state, fault);
}

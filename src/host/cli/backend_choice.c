#include "backend_choice.h"

#include <stdio.h>

static void note_cpu(void)
{
  fprintf(stderr, "tmaring: backend auto: cpu, since cuda cannot be used: %s\n", tmaring_last_detail());
}

int tmaring__backend_choose(tmaring__job *job, int32_t *backend)
{
  const int32_t wanted = job->request->backend;
  *backend = TMARING_BACKEND_CPU;
  if (wanted != TMARING_BACKEND_CPU) {
    const tmaring_status status = tmaring_machine_query(&job->machine, 0);
    if (status == TMARING_OK)
      *backend = TMARING_BACKEND_CUDA;
    else if (wanted == TMARING_BACKEND_CUDA)
      return tmaring__complain(status, "backend cuda");
    else
      note_cpu();
  }
  if (*backend == TMARING_BACKEND_CPU) tmaring_machine_h200(&job->machine);
  return 0;
}

int tmaring__backend_prepare(const tmaring__job *job, int32_t *backend, tmaring_kernel **kernel)
{
  tmaring_status status = tmaring_prepare(kernel, job->plan, (tmaring_backend)*backend);
  const int may_fall_back = job->request->backend == TMARING__BACKEND_AUTO && *backend == TMARING_BACKEND_CUDA;
  if (status != TMARING_OK && may_fall_back && tmaring__exit_code(status) == TMARING__EXIT_BACKEND) {
    note_cpu();
    *backend = TMARING_BACKEND_CPU;
    status = tmaring_prepare(kernel, job->plan, TMARING_BACKEND_CPU);
  }
  return status == TMARING_OK ? 0 : tmaring__complain(status, "prepare");
}

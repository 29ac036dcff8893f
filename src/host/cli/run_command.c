/* tmaring run: from files through a launch to files. */
#include "../bench/gpu.h"
#include "../bench/statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend_choice.h"
#include "command.h"
#include "operand.h"
#include "path_text.h"
#include "verify.h"

typedef struct run {
  tmaring__job job;
  tmaring__operands operands;
  int32_t backend;
  tmaring_kernel *kernel;
  tmaring__gpu *gpu;                   /* cuda */
  void *address[TMARING__MAX_TENSORS]; /* what the launch takes: of the arrays, or of device memory */
  void *workspace;
  double microseconds;
} run;

static tmaring_status enqueue(void *context)
{
  run *const r = context;
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  params.rows = r->job.rows;
  params.data = r->address;
  params.scalars = r->job.scalar_count ? r->job.scalar : NULL;
  params.workspace = r->workspace;
  return tmaring_launch(r->kernel, &params, r->backend == TMARING_BACKEND_CUDA ? tmaring__gpu_stream(r->gpu) : NULL);
}

static tmaring_status launch_cpu(run *r)
{
  const size_t bytes = tmaring_workspace_bytes(r->job.plan, r->job.rows);
  for (int32_t i = 0; i < r->job.count; ++i) r->address[i] = r->operands.array[i].data;
  r->workspace = malloc(bytes + 1);
  if (!r->workspace)
    return tmaring__fail(TMARING_ERROR_MEMORY, "workspace: got no memory, needs %zu bytes; free some", bytes);
  tmaring_status status = bytes ? tmaring_workspace_init(r->kernel, r->workspace, NULL) : TMARING_OK;
  const double start = tmaring__now_us();
  if (status == TMARING_OK) status = enqueue(r);
  r->microseconds = tmaring__now_us() - start;
  free(r->workspace);
  return status;
}

/* Device memory with the arrays' contents: the inputs, and the outputs' poison. */
static tmaring_status upload(run *r)
{
  const size_t bytes = tmaring_workspace_bytes(r->job.plan, r->job.rows);
  for (int32_t i = 0; i < r->job.count; ++i) {
    const tmaring__array *const array = &r->operands.array[i];
    TMARING__TRY(tmaring__gpu_allocate(r->gpu, array->bytes, &r->address[i]));
    TMARING__TRY(tmaring__gpu_upload(r->gpu, r->address[i], array->data, array->bytes));
  }
  if (!bytes) return TMARING_OK;
  TMARING__TRY(tmaring__gpu_allocate(r->gpu, bytes, &r->workspace));
  return tmaring_workspace_init(r->kernel, r->workspace, tmaring__gpu_stream(r->gpu));
}

static tmaring_status download(run *r)
{
  for (int32_t i = 0; i < r->job.count; ++i) {
    tmaring__array *const array = &r->operands.array[i];
    if (!r->job.parameter[i].is_output) continue;
    TMARING__TRY(tmaring__gpu_download(r->gpu, array->data, r->address[i], array->bytes));
  }
  return TMARING_OK;
}

static tmaring_status launch_cuda(run *r)
{
  tmaring_status status;
  TMARING__TRY_GOTO(upload(r), done);
  TMARING__TRY_GOTO(tmaring__gpu_time(r->gpu, enqueue, r, &r->microseconds), done);
  status = download(r);
done:
  for (int32_t i = 0; i < r->job.count; ++i) tmaring__gpu_release(r->gpu, r->address[i]);
  tmaring__gpu_release(r->gpu, r->workspace);
  return status;
}

static int launch(run *r)
{
  tmaring_fault fault;
  tmaring_status status = r->backend == TMARING_BACKEND_CUDA ? launch_cuda(r) : launch_cpu(r);
  if (status == TMARING_OK) return 0;
  /* A debug kernel that gave up says where; the driver only says that it stopped. */
  const tmaring_status stopped = tmaring_kernel_fault(r->kernel, &fault);
  return tmaring__complain(stopped == TMARING_OK ? status : stopped, "launch");
}

/* The context is made current before preparation, so that code, memory and stream belong to one. */
static int open_gpu(run *r)
{
  if (r->backend != TMARING_BACKEND_CUDA) return 0;
  const tmaring_status status = tmaring__gpu_open(&r->gpu);
  return status == TMARING_OK ? 0 : tmaring__complain(status, "backend cuda");
}

static int execute(run *r)
{
  int code = tmaring__operands_load(&r->operands, &r->job);
  if (!code) code = tmaring__backend_choose(&r->job, &r->backend);
  if (code) return code;
  tmaring__operands_describe(&r->operands, &r->job, r->backend);
  code = tmaring__job_plan(&r->job);
  if (!code) code = open_gpu(r);
  if (!code) code = tmaring__backend_prepare(&r->job, &r->backend, &r->kernel);
  if (!code && r->backend == TMARING_BACKEND_CPU) code = tmaring__operands_align(&r->operands, &r->job);
  if (!code) code = launch(r);
  return code ? code : tmaring__operands_store(&r->operands, &r->job);
}

static void print_summary(const run *r)
{
  char path[160];
  tmaring__path_text(r->job.plan, r->job.rows, path, sizeof path);
  fprintf(stderr, "tmaring: %s: %lld x %lld, %s, %.1f us\n", tmaring__word_text(tmaring__words_backend, r->backend),
          (long long)r->job.rows, (long long)r->job.cols, path, r->microseconds);
}

int tmaring__run_command(const tmaring__request *request)
{
  run r;
  memset(&r, 0, sizeof r);
  tmaring__file_view_guard();
  int code = tmaring__job_begin(&r.job, request);
  if (!code) code = execute(&r);
  if (!code) print_summary(&r);
  if (!code && request->verify) code = tmaring__verify(&r.operands, &r.job);
  tmaring_kernel_free(r.kernel);
  tmaring__gpu_close(r.gpu);
  tmaring__operands_free(&r.operands);
  tmaring__job_end(&r.job);
  return code;
}

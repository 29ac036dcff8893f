/* tmaring bench: reads what src/host/bench measures. */
#define _POSIX_C_SOURCE 200809L
#include "../bench/bench.h"
#include "../bench/gpu.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend_choice.h"
#include "command.h"
#include "json_text.h"
#include "path_text.h"

typedef struct measurement {
  tmaring__job job;
  int32_t backend;
  tmaring_kernel *kernel;
  tmaring__gpu *gpu;
  tmaring__bench_result result;
} measurement;

static void show_progress(void *context, int32_t done, int32_t total)
{
  (void)context;
  fprintf(stderr, "\rtmaring: bench: %d of %d", done + 1, total);
  if (done + 1 == total) fprintf(stderr, "\r\033[K");
}

/* Bytes per microsecond are megabytes per second. */
static double gigabytes(int64_t bytes, double microseconds)
{
  return microseconds > 0 ? (double)bytes / microseconds * 1e-3 : 0;
}

static double launch_rate(const measurement *m)
{
  return gigabytes(m->result.read_bytes + m->result.written_bytes, m->result.time.median);
}

static double copy_rate(const measurement *m)
{
  return gigabytes(m->result.copy_bytes, m->result.copy_time.median);
}

static double ratio(const measurement *m)
{
  return copy_rate(m) > 0 ? launch_rate(m) / copy_rate(m) : 0;
}

static const char *mix_text(const tmaring__bench_result *r)
{
  return r->read_bytes == r->written_bytes  ? "the same mix of reads and writes"
         : r->read_bytes > r->written_bytes ? "the formula reads more than it writes: the copy is no upper bound"
                                            : "the formula writes more than it reads: the copy is no upper bound";
}

static int print_text(const measurement *m)
{
  const tmaring__bench_result *const r = &m->result;
  char path[160];
  tmaring__path_text(m->job.plan, m->job.rows, path, sizeof path);
  printf("%s, %lld x %lld: %s\n", m->job.request->formula, (long long)m->job.rows, (long long)m->job.cols, path);
  printf("  backend   %s: %s\n", tmaring__word_text(tmaring__words_backend, m->backend), r->method);
  printf("  moved     %lld bytes read, %lld written\n", (long long)r->read_bytes, (long long)r->written_bytes);
  printf("  time      %.2f us median of %zu; %.2f to %.2f, quartiles %.2f apart\n", r->time.median, r->time.count,
         r->time.low, r->time.high, r->time.quartile_spread);
  printf("  rate      %.1f GB/s\n", launch_rate(m));
  printf("  ceiling   %.1f GB/s: %s of %lld bytes read and written, %.2f us; %s\n", copy_rate(m), r->ceiling,
         (long long)r->copy_bytes, r->copy_time.median, mix_text(r));
  printf("  ratio     %.3f\n", ratio(m));
  if (m->backend == TMARING_BACKEND_CUDA)
    printf("  operands  %s: %d sets, %d launches per replay\n", r->cold ? "cold" : "WARM, they fit the L2", r->sets,
           r->calls);
  return 0;
}

static json_t *statistics_json(const tmaring__statistics *s)
{
  return json_pack("{sf,sf,sf,sf,sI}", "median", s->median, "min", s->low, "max", s->high, "quartile_spread",
                   s->quartile_spread, "count", (json_int_t)s->count);
}

static int print_json(const measurement *m)
{
  const tmaring__bench_result *const r = &m->result;
  char path[160];
  tmaring__path_text(m->job.plan, m->job.rows, path, sizeof path);
  return tmaring__json_print(json_pack(
      "{ss,sI,sI,ss,ss,ss,sI,sI,so,sf,s{ss,sI,so,sf,sb},sf,si,si,sb}", "formula", m->job.request->formula, "rows",
      (json_int_t)m->job.rows, "cols", (json_int_t)m->job.cols, "backend",
      tmaring__word_text(tmaring__words_backend, m->backend), "path", path, "method", r->method, "read_bytes",
      (json_int_t)r->read_bytes, "written_bytes", (json_int_t)r->written_bytes, "time_us", statistics_json(&r->time),
      "gb_s", launch_rate(m), "ceiling", "kind", r->ceiling, "bytes", (json_int_t)r->copy_bytes, "time_us",
      statistics_json(&r->copy_time), "gb_s", copy_rate(m), "same_mix", r->read_bytes == r->written_bytes, "ratio",
      ratio(m), "sets", r->sets, "calls", r->calls, "cold", r->cold));
}

static int measure(measurement *m)
{
  tmaring__bench_setup setup;
  memset(&setup, 0, sizeof setup);
  setup.kernel = m->kernel;
  setup.plan = m->job.plan;
  setup.rows = m->job.rows;
  setup.scalars = m->job.scalar_count ? m->job.scalar : NULL;
  setup.repetitions = m->job.request->repetitions;
  setup.l2_bytes = m->job.machine.l2_bytes;
  if (isatty(STDERR_FILENO)) setup.progress = show_progress;
  const tmaring_status status = m->backend == TMARING_BACKEND_CUDA ? tmaring__bench_cuda(&setup, m->gpu, &m->result)
                                                                   : tmaring__bench_cpu(&setup, &m->result);
  return status == TMARING_OK ? 0 : tmaring__complain(status, "bench");
}

static int prepare(measurement *m)
{
  int code = tmaring__job_describe(&m->job);
  if (!code) code = tmaring__backend_choose(&m->job, &m->backend);
  if (!code) code = tmaring__job_plan(&m->job);
  if (!code && m->backend == TMARING_BACKEND_CUDA) {
    const tmaring_status status = tmaring__gpu_open(&m->gpu);
    if (status != TMARING_OK) code = tmaring__complain(status, "backend cuda");
  }
  return code ? code : tmaring__backend_prepare(&m->job, &m->backend, &m->kernel);
}

int tmaring__bench_command(const tmaring__request *request)
{
  measurement m;
  memset(&m, 0, sizeof m);
  int code = request->rows > 0 ? 0 : tmaring__misuse(request->command, "--shape: got M = 0, needs M >= 1 to measure");
  if (!code) code = tmaring__job_begin(&m.job, request);
  if (!code) code = prepare(&m);
  if (!code) code = measure(&m);
  if (!code) code = request->json ? print_json(&m) : print_text(&m);
  tmaring_kernel_free(m.kernel);
  tmaring__gpu_close(m.gpu);
  tmaring__job_end(&m.job);
  return code;
}

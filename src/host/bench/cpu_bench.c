/* The cpu backend: wall time of a launch, against memcpy. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

typedef struct bench {
  const tmaring__bench_setup *setup;
  tmaring__layout layout;
  char *block, *copy;
  void *data[TMARING__MAX_TENSORS];
  void *workspace;
  double *sample, *copy_sample;
} bench;

static tmaring_status allocate(bench *b)
{
  const size_t workspace = tmaring_workspace_bytes(b->setup->plan, b->setup->rows);
  const size_t samples = (size_t)b->setup->repetitions * sizeof(double);
  b->block = aligned_alloc(256, b->layout.total + 256);
  b->copy = malloc(b->layout.total + 1);
  b->workspace = malloc(workspace + 1);
  b->sample = malloc(samples);
  b->copy_sample = malloc(samples);
  if (!b->block || !b->copy || !b->workspace || !b->sample || !b->copy_sample)
    return tmaring__fail(TMARING_ERROR_MEMORY, "operands: got no memory, needs 2 x %zu bytes; use a smaller M",
                         b->layout.total);
  memset(b->copy, 1, b->layout.total);
  return workspace ? tmaring_workspace_init(b->setup->kernel, b->workspace, NULL) : TMARING_OK;
}

static void fill(bench *b)
{
  const tmaring_plan *const plan = b->setup->plan;
  memset(b->block, 1, b->layout.total);
  for (int32_t i = 0; i < plan->tensor_count; ++i) {
    const uint32_t elem_bytes = tmaring_dtype_bytes((tmaring_i32)plan->tensor[i].dtype);
    b->data[i] = b->block + b->layout.offset[i];
    tmaring__fill_operand(b->data[i], plan, i, b->layout.bytes[i] / elem_bytes);
  }
}

static tmaring_status launch(const bench *b)
{
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  params.rows = b->setup->rows;
  params.data = b->data;
  params.scalars = b->setup->scalars;
  params.workspace = b->workspace;
  return tmaring_launch(b->setup->kernel, &params, NULL);
}

static double time_copy(const bench *b)
{
  const size_t bytes = (size_t)(b->layout.read_bytes + b->layout.written_bytes) / 2;
  const double start = tmaring__now_us();
  memcpy(b->copy, b->block, bytes);
  return tmaring__now_us() - start;
}

/* Launch and copy in turn, so that both see the same machine. */
static tmaring_status measure(bench *b, tmaring__bench_result *result)
{
  const int32_t total = b->setup->repetitions;
  TMARING__TRY(launch(b));
  time_copy(b);
  for (int32_t r = 0; r < total; ++r) {
    if (b->setup->progress) b->setup->progress(b->setup->progress_context, r, total);
    const double start = tmaring__now_us();
    TMARING__TRY(launch(b));
    b->sample[r] = tmaring__now_us() - start;
    b->copy_sample[r] = time_copy(b);
  }
  tmaring__statistics_make(&result->time, b->sample, (size_t)total);
  tmaring__statistics_make(&result->copy_time, b->copy_sample, (size_t)total);
  return TMARING_OK;
}

tmaring_status tmaring__bench_cpu(const tmaring__bench_setup *setup, tmaring__bench_result *result)
{
  bench b;
  tmaring_status status;
  memset(&b, 0, sizeof b);
  memset(result, 0, sizeof *result);
  b.setup = setup;
  result->method = "wall time of a launch";
  result->ceiling = "memcpy";
  result->sets = result->calls = 1;
  TMARING__TRY(tmaring__layout_make(&b.layout, setup->plan, setup->rows));
  result->read_bytes = b.layout.read_bytes;
  result->written_bytes = b.layout.written_bytes;
  result->copy_bytes = (b.layout.read_bytes + b.layout.written_bytes) / 2 * 2;
  TMARING__TRY_GOTO(allocate(&b), done);
  fill(&b);
  status = measure(&b, result);
done:
  free(b.block);
  free(b.copy);
  free(b.workspace);
  free(b.sample);
  free(b.copy_sample);
  return status;
}

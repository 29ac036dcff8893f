/* The cuda backend: replays of a graph of launches over rotating operands, against copies by the stream over the same
 * memory. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "gpu.h"

#define LEAST_BYTES  (256ll << 20) /* rotated over, where memory allows */
#define LEAST_CALLS  8
#define MOST_CALLS   4096
#define REPLAY_BYTES (8ll << 30) /* moved by one replay, so that its start-up weighs little */
#define MOST_SETS    16384
#define RANDOM_BYTES ((size_t)4 << 20) /* made on the host per tensor, then repeated */

typedef struct bench {
  const tmaring__bench_setup *setup;
  tmaring__gpu *gpu;
  tmaring__layout layout;
  int32_t sets, calls;
  char *block; /* device */
  void *workspace;
  double *sample, *copy_sample;
} bench;

/* A multiple of the sets. */
static int32_t choose_calls(int64_t weight, int64_t sets)
{
  const int64_t wanted = weight ? tmaring_ceil_div(REPLAY_BYTES, weight) : 1;
  const int64_t calls = tmaring_max_i64(LEAST_CALLS, tmaring_min_i64(wanted, MOST_CALLS));
  return (int32_t)(tmaring_ceil_div(calls, sets) * sets);
}

/* What one copy of the ceiling moves: aligned, since an odd size is no ceiling. */
static size_t copy_half(const bench *b)
{
  return (size_t)tmaring_round_down((tmaring_u64)(b->layout.read_bytes + b->layout.written_bytes) / 2, 16);
}

static tmaring_status choose_sets(bench *b, tmaring__bench_result *result)
{
  size_t free_bytes = 0;
  TMARING__TRY(tmaring__gpu_free_bytes(b->gpu, &free_bytes));
  const int64_t weight = b->layout.read_bytes + b->layout.written_bytes;
  const int64_t rotate = tmaring_max_i64(LEAST_BYTES, 2 * b->setup->l2_bytes + 1);
  const int64_t wanted = weight ? tmaring_ceil_div(rotate, weight) + 1 : 1;
  const int64_t room = (int64_t)(free_bytes / 10 * 9 / (b->layout.total ? b->layout.total : 1));
  if (room < 1)
    return tmaring__fail(TMARING_ERROR_MEMORY, "operands: got %zu free bytes on the device, needs %zu; use a smaller M",
                         free_bytes, b->layout.total);
  b->sets = (int32_t)tmaring_min_i64(tmaring_min_i64(wanted, room), MOST_SETS);
  b->calls = choose_calls(weight, b->sets);
  result->sets = b->sets;
  result->calls = b->calls;
  result->cold = (b->sets - 1) * weight > 2 * b->setup->l2_bytes;
  return TMARING_OK;
}

static tmaring_status allocate(bench *b)
{
  const size_t samples = (size_t)b->setup->repetitions * sizeof(double);
  const size_t workspace = tmaring_workspace_bytes(b->setup->plan, b->setup->rows);
  void *block = NULL;
  b->sample = malloc(samples);
  b->copy_sample = malloc(samples);
  if (!b->sample || !b->copy_sample)
    return tmaring__fail(TMARING_ERROR_MEMORY, "samples: got no memory, needs 2 x %zu bytes; use fewer --reps",
                         samples);
  TMARING__TRY(tmaring__gpu_allocate(b->gpu, (size_t)b->sets * b->layout.total, &block));
  b->block = block;
  if (!workspace) return TMARING_OK;
  TMARING__TRY(tmaring__gpu_allocate(b->gpu, workspace, &b->workspace));
  return tmaring_workspace_init(b->setup->kernel, b->workspace, tmaring__gpu_stream(b->gpu));
}

/* Random data in a tensor of set 0: a block from the host, then doubled on the device. */
static tmaring_status fill_tensor(bench *b, int32_t index, void *host)
{
  const uint32_t elem_bytes = tmaring_dtype_bytes((tmaring_i32)b->setup->plan->tensor[index].dtype);
  const size_t bytes = b->layout.bytes[index];
  char *const to = b->block + b->layout.offset[index];
  size_t done = bytes < RANDOM_BYTES ? bytes : RANDOM_BYTES;
  tmaring__fill_operand(host, b->setup->plan, index, done / elem_bytes);
  TMARING__TRY(tmaring__gpu_upload(b->gpu, to, host, done));
  while (done < bytes) {
    const size_t next = done < bytes - done ? done : bytes - done;
    TMARING__TRY(tmaring__gpu_copy(b->gpu, to + done, to, next));
    done += next;
  }
  return TMARING_OK;
}

static tmaring_status fill(bench *b)
{
  tmaring_status status = TMARING_OK;
  void *const host = malloc(RANDOM_BYTES);
  if (!host)
    return tmaring__fail(TMARING_ERROR_MEMORY, "operands: got no memory, needs %zu bytes; free some", RANDOM_BYTES);
  for (int32_t i = 0; i < b->setup->plan->tensor_count && status == TMARING_OK; ++i) status = fill_tensor(b, i, host);
  for (int32_t s = 1; s < b->sets && status == TMARING_OK; ++s)
    status = tmaring__gpu_copy(b->gpu, b->block + (size_t)s * b->layout.total, b->block, b->layout.total);
  if (status == TMARING_OK) status = tmaring__gpu_wait(b->gpu);
  free(host);
  return status;
}

static tmaring_status launch_set(const bench *b, int32_t set)
{
  void *data[TMARING__MAX_TENSORS];
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  for (int32_t i = 0; i < b->setup->plan->tensor_count; ++i)
    data[i] = b->block + (size_t)set * b->layout.total + b->layout.offset[i];
  params.rows = b->setup->rows;
  params.data = data;
  params.scalars = b->setup->scalars;
  params.workspace = b->workspace;
  return tmaring_launch(b->setup->kernel, &params, tmaring__gpu_stream(b->gpu));
}

static tmaring_status enqueue_launches(void *context)
{
  bench *const b = context;
  for (int32_t k = 0; k < b->calls; ++k) TMARING__TRY(launch_set(b, k % b->sets));
  return TMARING_OK;
}

static tmaring_status enqueue_graph(void *context)
{
  return tmaring__gpu_replay(((bench *)context)->gpu);
}

/* The first half of a set onto the second. */
static tmaring_status enqueue_copies(void *context)
{
  bench *const b = context;
  const size_t half = copy_half(b);
  const size_t to = b->layout.total - half;
  for (int32_t k = 0; k < b->calls; ++k) {
    char *const set = b->block + (size_t)(k % b->sets) * b->layout.total;
    TMARING__TRY(tmaring__gpu_copy(b->gpu, set + to, set, half));
  }
  return TMARING_OK;
}

/* Graph and copies in turn, so that both see the same clocks and temperature. */
static tmaring_status measure(bench *b, tmaring__bench_result *result)
{
  const int32_t total = b->setup->repetitions;
  double time;
  TMARING__TRY(tmaring__gpu_time(b->gpu, enqueue_copies, b, &time));
  for (int32_t r = 0; r < total; ++r) {
    if (b->setup->progress) b->setup->progress(b->setup->progress_context, r, total);
    TMARING__TRY(tmaring__gpu_time(b->gpu, enqueue_graph, b, &time));
    b->sample[r] = time / b->calls;
    TMARING__TRY(tmaring__gpu_time(b->gpu, enqueue_copies, b, &time));
    b->copy_sample[r] = time / b->calls;
  }
  tmaring__statistics_make(&result->time, b->sample, (size_t)total);
  tmaring__statistics_make(&result->copy_time, b->copy_sample, (size_t)total);
  return TMARING_OK;
}

static tmaring_status run(bench *b, tmaring__bench_result *result)
{
  TMARING__TRY(choose_sets(b, result));
  TMARING__TRY(allocate(b));
  TMARING__TRY(fill(b));
  TMARING__TRY(tmaring__gpu_capture(b->gpu, enqueue_launches, b));
  return measure(b, result);
}

tmaring_status tmaring__bench_cuda(const tmaring__bench_setup *setup, tmaring__gpu *gpu, tmaring__bench_result *result)
{
  bench b;
  memset(&b, 0, sizeof b);
  memset(result, 0, sizeof *result);
  b.setup = setup;
  b.gpu = gpu;
  result->method = "replay of a graph of launches over rotating operands";
  result->ceiling = "cuMemcpyDtoDAsync on a stream";
  TMARING__TRY(tmaring__layout_make(&b.layout, setup->plan, setup->rows));
  result->read_bytes = b.layout.read_bytes;
  result->written_bytes = b.layout.written_bytes;
  result->copy_bytes = (int64_t)copy_half(&b) * 2;
  const tmaring_status status = run(&b, result);
  tmaring__gpu_release(gpu, b.block);
  tmaring__gpu_release(gpu, b.workspace);
  free(b.sample);
  free(b.copy_sample);
  return status;
}

/* F24: each launch of a plan keeps its own tensors, whatever they hold when it runs; captured launches too, in which
 * nothing is loaded, allocated or waited for. Tickets and column reductions leave the workspace ready for the next one. */
#include <criterion/criterion.h>

#include "../src/host/backend/cuda/driver.h"
#include "support/op_trial.h"

enum { RUNS = 10, TILES = 8, TRIALS = RUNS + TILES, REPLAYS = 10 };

/* Tensor maps are part of a launch: each has its own. */
static op_trial tiled_trial(int k)
{
  static const char *const ops[] = {"rmsnorm", "silu_mul", "col_sum", "add"};
  op_trial t = op_trial_begin(ops[k / 2], TMARING_BF16, 997, 768);
  t.layout = k % 2 ? OP_PITCHED : OP_DENSE;
  t.options.load = TMARING_LOAD_TILE;
  if (k % 2) t.options.store = TMARING_STORE_TILE;
  return t;
}

static op_trial trial_of(int k)
{
  static const char *const ops[] = {"rmsnorm", "softmax", "quantize_fp8_group", "col_sum", "rmsnorm_backward"};
  if (k >= RUNS) return tiled_trial(k - RUNS);
  op_trial t = op_trial_begin(ops[k / 2], TMARING_BF16, 997, 769);
  t.layout = k % 2 ? OP_PITCHED : OP_DENSE;
  if (k % 2) t.options.order = TMARING_ORDER_TICKET;
  return t;
}

/* New contents for both. */
static void refill(op_state pair[2], uint64_t round)
{
  for (uint64_t i = 0; i < 2; ++i) cr_assert(op_refill(&pair[i], 2 * round + i), "%s", pair[i].result.text);
}

static void judge(tally *sum, op_state pair[2])
{
  for (int i = 0; i < 2; ++i) {
    if (op_download(&pair[i])) op_judge(&pair[i]);
    tally_count(sum, &pair[i].result);
  }
}

static void launch(op_state *s, const tmaring_kernel *kernel)
{
  void *data[OP_MAX_TENSORS];
  const tmaring_launch_params params = op_launch_params(s, data);
  cr_assert_eq(tmaring_launch(kernel, &params, s->venue->stream), TMARING_OK, "%s", tmaring_last_detail());
}

/* Without a graph, on the CPU. */
static void run_plain(tally *sum, const venue *v, const op_trial *t)
{
  op_state pair[2];
  for (int i = 0; i < 2; ++i) cr_assert(op_open(&pair[i], t, v), "%s", pair[i].result.text);
  for (uint64_t round = 1; round <= 2; ++round) {
    refill(pair, round);
    for (int i = 0; i < 2; ++i) launch(&pair[i], pair[0].kernel);
    judge(sum, pair);
  }
  for (int i = 0; i < 2; ++i) op_close(&pair[i]);
}

Test(cases, F24_cpu, .timeout = 120)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  tally sum = tally_begin("F24", v.name);
  for (int k = 0; k < TRIALS; ++k) {
    const op_trial t = trial_of(k);
    run_plain(&sum, &v, &t);
  }
  tally_close(&sum);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
}

#if TMARING_WITH_CUDA

#define CU(call) cr_assert_eq(driver->call, CUDA_SUCCESS, "%s", #call)

static const tmaring__driver *need_driver(void)
{
  const tmaring__driver *driver = NULL;
  cr_assert_eq(tmaring__driver_get(&driver), TMARING_OK);
  return driver;
}

/* One plan, two launches with tensors and workspaces of their own. */
static CUgraphExec capture(const tmaring__driver *driver, op_state pair[2], CUstreamCaptureMode mode)
{
  const CUstream stream = pair[0].venue->stream;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  CU(cuStreamBeginCapture(stream, mode));
  for (int i = 0; i < 2; ++i) launch(&pair[i], pair[0].kernel);
  CU(cuStreamEndCapture(stream, &graph));
  CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
  CU(cuGraphDestroy(graph));
  return exec;
}

static void replay(const tmaring__driver *driver, tally *sum, op_state pair[2], CUgraphExec exec)
{
  for (uint64_t round = 1; round <= REPLAYS; ++round) {
    refill(pair, round);
    CU(cuGraphLaunch(exec, pair[0].venue->stream));
    CU(cuStreamSynchronize(pair[0].venue->stream));
    judge(sum, pair);
  }
}

static void run_pair(tally *sum, const venue *v, const op_trial *t, CUstreamCaptureMode mode)
{
  const tmaring__driver *driver = need_driver();
  op_state pair[2];
  for (int i = 0; i < 2; ++i) cr_assert(op_open(&pair[i], t, v), "%s", pair[i].result.text);
  CUgraphExec exec = capture(driver, pair, mode);
  replay(driver, sum, pair, exec);
  CU(cuGraphExecDestroy(exec));
  for (int i = 0; i < 2; ++i) op_close(&pair[i]);
}

Test(cases, F24_cuda, .timeout = 300)
{
  static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL};
  venue v;
  VENUE_NEED_CUDA(&v);
  tally sum = tally_begin("F24", v.name);
  for (int k = 0; k < TRIALS; ++k) {
    const op_trial t = trial_of(k);
    run_pair(&sum, &v, &t, modes[k % 2]);
  }
  tally_close(&sum);
  venue_close(&v);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
}

#else

Test(cases, F24_cuda)
{
  cr_skip_test("built without CUDA");
}

#endif

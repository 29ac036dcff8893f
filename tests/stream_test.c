/* Streams, contexts, graphs and threads of a GPU. All tests are skipped, with the reason, where there is none. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "../src/host/backend/cuda/driver.h"
#include "support/rig.h"

#if TMARING_WITH_CUDA

#define CU(call) cr_assert_eq(driver->call, CUDA_SUCCESS, "%s", #call)

static const tmaring__driver *need_driver(void)
{
  const tmaring__driver *driver = NULL;
  cr_assert_eq(tmaring__driver_get(&driver), TMARING_OK);
  return driver;
}

static tmaring_plan_options order_of(int32_t order)
{
  tmaring_plan_options options;
  tmaring_plan_options_init(&options);
  options.order = order;
  return options;
}

static void launch_on(rig *r, CUstream stream, uint64_t seed)
{
  const tmaring__driver *driver = need_driver();
  cr_expect(rig_refill(r, seed));
  cr_expect_eq(rig_launch(r, r->rows, stream, 0), TMARING_OK, "%s", tmaring_last_detail());
  CU(cuStreamSynchronize(stream));
  cr_expect(rig_right(r, r->rows));
}

Test(stream, null_legacy_and_per_thread_streams_cuda, .timeout = 60)
{
  venue v;
  rig r;
  VENUE_NEED_CUDA(&v);
  cr_assert(rig_make(&r, &v, 997, 256, NULL));
  launch_on(&r, NULL, 2);
  launch_on(&r, CU_STREAM_LEGACY, 3);
  launch_on(&r, CU_STREAM_PER_THREAD, 4);
  launch_on(&r, v.stream, 5);
  rig_free(&r);
  venue_close(&v);
}

/* NULL is the legacy stream: the launch comes after what was enqueued there. */
Test(stream, null_stream_orders_after_legacy_work_cuda, .timeout = 60)
{
  const tmaring__driver *driver;
  venue v;
  rig r;
  VENUE_NEED_CUDA(&v);
  driver = need_driver();
  cr_assert(rig_make(&r, &v, 8191, 256, NULL));
  for (int i = 0; i < 10; ++i) {
    cr_expect(rig_refill(&r, (uint64_t)i));
    CU(cuMemsetD8Async((CUdeviceptr)(size_t)r.y.data, 0, 8191 * 1024, CU_STREAM_LEGACY));
    cr_expect_eq(rig_launch(&r, 8191, NULL, 0), TMARING_OK);
    CU(cuStreamSynchronize(CU_STREAM_LEGACY));
    cr_expect(rig_right(&r, 8191));
  }
  rig_free(&r);
  venue_close(&v);
}

/* A context made by the program. The primary one's stream is another context's: not prepared there. */
Test(stream, other_contexts_cuda, .timeout = 60)
{
  const tmaring__driver *driver;
  venue v, own;
  rig r;
  CUcontext context = NULL;
  CUstream stream = NULL;
  VENUE_NEED_CUDA(&v);
  driver = need_driver();
  CU(cuCtxCreate(&context, 0, 0));
  CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  own = v;
  own.stream = stream;
  cr_assert(rig_make(&r, &own, 997, 256, NULL), "%s", tmaring_last_detail());
  launch_on(&r, stream, 2);
  launch_on(&r, NULL, 3);
  cr_expect_eq(rig_launch(&r, 997, v.stream, 0), TMARING_ERROR_NOT_PREPARED);
  cr_expect_neq(tmaring_last_detail()[0], 0);
  CU(cuCtxSetCurrent(v.context)); /* the stream names its context, whatever is current */
  cr_expect_eq(rig_launch(&r, 997, stream, 0), TMARING_OK);
  cr_expect_eq(rig_launch(&r, 997, NULL, 0), TMARING_ERROR_NOT_PREPARED);
  CU(cuCtxSetCurrent(context));
  CU(cuStreamSynchronize(stream));
  rig_free(&r);
  CU(cuStreamDestroy(stream));
  CU(cuCtxDestroy(context));
  venue_close(&v);
}

static CUgraphExec capture(const tmaring__driver *driver, rig *r, CUstreamCaptureMode mode)
{
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  const CUstream stream = r->venue->stream;
  CU(cuStreamBeginCapture(stream, mode));
  cr_assert_eq(rig_launch(r, r->rows, stream, 0), TMARING_OK, "%s", tmaring_last_detail());
  CU(cuStreamEndCapture(stream, &graph));
  CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
  CU(cuGraphDestroy(graph));
  return exec;
}

/* Captured as the first launch ever, replayed with new contents. */
Test(stream, graphs_replay_cuda, .timeout = 120)
{
  static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL};
  const tmaring__driver *driver;
  venue v;
  VENUE_NEED_CUDA(&v);
  driver = need_driver();
  for (int32_t order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_TICKET; ++order) {
    const tmaring_plan_options options = order_of(order);
    rig r;
    cr_assert(rig_make(&r, &v, 997, 256, &options));
    CUgraphExec exec = capture(driver, &r, modes[order % 2]);
    for (uint64_t replay = 1; replay <= 10; ++replay) {
      cr_expect(rig_refill(&r, replay));
      CU(cuGraphLaunch(exec, v.stream));
      CU(cuStreamSynchronize(v.stream));
      cr_expect(rig_right(&r, 997), "order %d, replay %d", (int)order, (int)replay);
    }
    CU(cuGraphExecDestroy(exec));
    rig_free(&r);
  }
  venue_close(&v);
}

/* The plan's M is an upper bound; a captured launch reads it anew at every replay. */
Test(stream, graphs_read_rows_from_memory_cuda, .timeout = 60)
{
  const tmaring__driver *driver;
  venue v;
  rig r;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  VENUE_NEED_CUDA(&v);
  driver = need_driver();
  cr_assert(rig_make(&r, &v, 997, 256, NULL));
  void *data[2] = {r.x.data, r.y.data};
  int64_t *rows = v.place->take(sizeof *rows);
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  params.rows = 997;
  params.rows_device = rows;
  params.data = data;
  CU(cuStreamBeginCapture(v.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  cr_assert_eq(tmaring_launch(r.kernel, &params, v.stream), TMARING_OK, "%s", tmaring_last_detail());
  CU(cuStreamEndCapture(v.stream, &graph));
  CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
  for (int64_t count = 0; count <= 997; count += 199) {
    cr_expect(rig_refill(&r, (uint64_t)count));
    cr_expect(v.place->upload(rows, &count, sizeof count));
    CU(cuGraphLaunch(exec, v.stream));
    CU(cuStreamSynchronize(v.stream));
    cr_expect(rig_right(&r, count), "%d rows", (int)count);
  }
  CU(cuGraphExecDestroy(exec));
  CU(cuGraphDestroy(graph));
  v.place->give(rows);
  rig_free(&r);
  venue_close(&v);
}

static void *launch_once(void *argument)
{
  static tmaring_status status;
  rig *r = argument;
  status = rig_launch(r, r->rows, r->venue->stream, 0);
  if (status == TMARING_OK && r->rows > 500) status = rig_launch(r, r->rows, NULL, 0); /* no context is current here */
  return &status;
}

Test(stream, fresh_threads_launch_cuda, .timeout = 60)
{
  venue v;
  rig r;
  pthread_t thread;
  void *status = NULL;
  const tmaring__driver *driver;
  VENUE_NEED_CUDA(&v);
  driver = need_driver();
  cr_assert(rig_make(&r, &v, 997, 256, NULL));
  cr_assert_eq(pthread_create(&thread, NULL, launch_once, &r), 0);
  cr_assert_eq(pthread_join(thread, &status), 0);
  cr_expect_eq(*(tmaring_status *)status, TMARING_OK);
  CU(cuCtxSynchronize());
  cr_expect(rig_right(&r, 997));
  rig_free(&r);
  venue_close(&v);
}

#else

Test(stream, all_cuda, .timeout = 10)
{
  cr_skip_test("built without CUDA");
}

#endif

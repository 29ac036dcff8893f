/* In a build with the cuda backend; gpu_absent.c is the other one. */
#include "gpu.h"

#if TMARING_WITH_CUDA

#include <stdint.h>
#include <stdlib.h>

struct tmaring__gpu {
  const tmaring__driver *driver;
  CUdevice device;
  CUcontext context;
  CUstream stream;
  CUevent before, after;
  CUgraphExec graph;
};

static CUdeviceptr device_address(const void *address)
{
  return (CUdeviceptr)(uintptr_t)address;
}

static tmaring_status open_all(tmaring__gpu *gpu)
{
  TMARING__TRY(tmaring__driver_get(&gpu->driver));
  const tmaring__driver *const driver = gpu->driver;
  TMARING__CU(cuDeviceGet(&gpu->device, 0));
  TMARING__CU(cuDevicePrimaryCtxRetain(&gpu->context, gpu->device));
  TMARING__CU(cuCtxSetCurrent(gpu->context));
  TMARING__CU(cuStreamCreate(&gpu->stream, CU_STREAM_NON_BLOCKING));
  TMARING__CU(cuEventCreate(&gpu->before, CU_EVENT_DEFAULT));
  TMARING__CU(cuEventCreate(&gpu->after, CU_EVENT_DEFAULT));
  return TMARING_OK;
}

tmaring_status tmaring__gpu_open(tmaring__gpu **gpu)
{
  *gpu = NULL;
  tmaring__gpu *const made = calloc(1, sizeof *made);
  if (!made) return tmaring__fail(TMARING_ERROR_MEMORY, "gpu: got no memory, needs %zu bytes; free some", sizeof *made);
  const tmaring_status status = open_all(made);
  if (status == TMARING_OK)
    *gpu = made;
  else
    tmaring__gpu_close(made);
  return status;
}

void tmaring__gpu_close(tmaring__gpu *gpu)
{
  if (!gpu) return;
  const tmaring__driver *const driver = gpu->driver;
  if (gpu->graph) driver->cuGraphExecDestroy(gpu->graph);
  if (gpu->after) driver->cuEventDestroy(gpu->after);
  if (gpu->before) driver->cuEventDestroy(gpu->before);
  if (gpu->stream) driver->cuStreamDestroy(gpu->stream);
  if (gpu->context) {
    driver->cuCtxSetCurrent(NULL);
    driver->cuDevicePrimaryCtxRelease(gpu->device);
  }
  free(gpu);
}

tmaring_status tmaring__gpu_allocate(tmaring__gpu *gpu, size_t bytes, void **address)
{
  const tmaring__driver *const driver = gpu->driver;
  CUdeviceptr made = 0;
  *address = NULL;
  TMARING__CU(cuMemAlloc(&made, bytes ? bytes : 1));
  *address = (void *)(uintptr_t)made;
  return TMARING_OK;
}

void tmaring__gpu_release(tmaring__gpu *gpu, void *address)
{
  if (address) gpu->driver->cuMemFree(device_address(address));
}

tmaring_status tmaring__gpu_free_bytes(tmaring__gpu *gpu, size_t *bytes)
{
  const tmaring__driver *const driver = gpu->driver;
  size_t total = 0;
  TMARING__CU(cuMemGetInfo(bytes, &total));
  return TMARING_OK;
}

tmaring_status tmaring__gpu_upload(tmaring__gpu *gpu, void *device, const void *host, size_t bytes)
{
  const tmaring__driver *const driver = gpu->driver;
  if (bytes) TMARING__CU(cuMemcpyHtoD(device_address(device), host, bytes));
  /* A copy from pageable memory may still be on its way when the call returns, and our stream does not wait for the
   * default stream. */
  TMARING__CU(cuCtxSynchronize());
  return TMARING_OK;
}

tmaring_status tmaring__gpu_download(tmaring__gpu *gpu, void *host, const void *device, size_t bytes)
{
  const tmaring__driver *const driver = gpu->driver;
  if (bytes) TMARING__CU(cuMemcpyDtoH(host, device_address(device), bytes));
  return TMARING_OK;
}

tmaring_status tmaring__gpu_copy(tmaring__gpu *gpu, void *to, const void *from, size_t bytes)
{
  const tmaring__driver *const driver = gpu->driver;
  if (bytes) TMARING__CU(cuMemcpyDtoDAsync(device_address(to), device_address(from), bytes, gpu->stream));
  return TMARING_OK;
}

struct CUstream_st *tmaring__gpu_stream(tmaring__gpu *gpu)
{
  return gpu->stream;
}

tmaring_status tmaring__gpu_wait(tmaring__gpu *gpu)
{
  const tmaring__driver *const driver = gpu->driver;
  TMARING__CU(cuStreamSynchronize(gpu->stream));
  return TMARING_OK;
}

static tmaring_status record(tmaring__gpu *gpu, CUgraph *graph, tmaring_status (*enqueue)(void *), void *context)
{
  const tmaring__driver *const driver = gpu->driver;
  TMARING__CU(cuStreamBeginCapture(gpu->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  const tmaring_status status = enqueue(context);
  /* The capture is ended in either case: a stream left in it is of no use. */
  const CUresult result = driver->cuStreamEndCapture(gpu->stream, graph);
  if (status != TMARING_OK) return status;
  return result == CUDA_SUCCESS ? status : tmaring__driver_fail(driver, result, "cuStreamEndCapture");
}

tmaring_status tmaring__gpu_capture(tmaring__gpu *gpu, tmaring_status (*enqueue)(void *context), void *context)
{
  const tmaring__driver *const driver = gpu->driver;
  CUgraph graph = NULL;
  tmaring_status status;
  if (gpu->graph) driver->cuGraphExecDestroy(gpu->graph);
  gpu->graph = NULL;
  TMARING__TRY_GOTO(record(gpu, &graph, enqueue, context), done);
  TMARING__CU_GOTO(cuGraphInstantiateWithFlags(&gpu->graph, graph, 0), done);
  TMARING__TRY_GOTO(tmaring__gpu_replay(gpu), done);
  status = tmaring__gpu_wait(gpu);
done:
  if (graph) driver->cuGraphDestroy(graph);
  return status;
}

tmaring_status tmaring__gpu_replay(tmaring__gpu *gpu)
{
  const tmaring__driver *const driver = gpu->driver;
  TMARING__CU(cuGraphLaunch(gpu->graph, gpu->stream));
  return TMARING_OK;
}

tmaring_status tmaring__gpu_time(tmaring__gpu *gpu, tmaring_status (*enqueue)(void *context), void *context,
                                 double *microseconds)
{
  const tmaring__driver *const driver = gpu->driver;
  float milliseconds = 0;
  TMARING__CU(cuEventRecord(gpu->before, gpu->stream));
  TMARING__TRY(enqueue(context));
  TMARING__CU(cuEventRecord(gpu->after, gpu->stream));
  TMARING__CU(cuEventSynchronize(gpu->after));
  TMARING__CU(cuEventElapsedTime(&milliseconds, gpu->before, gpu->after));
  *microseconds = 1e3 * (double)milliseconds;
  return TMARING_OK;
}

#endif

#include "venue.h"

#include <string.h>

#include "../../src/host/backend/cuda/driver.h"

static const char *open_cpu(venue *v)
{
  v->name = "cpu";
  v->place = place_host();
  tmaring_machine_h200(&v->machine);
  return NULL;
}

#if TMARING_WITH_CUDA

static const char *open_stream(venue *v, const tmaring__driver *driver)
{
  CUdevice device = 0;
  CUcontext context = NULL;
  CUstream stream = NULL;
  if (driver->cuDeviceGet(&device, 0) != CUDA_SUCCESS) return "cuDeviceGet failed";
  if (driver->cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS) return "cuDevicePrimaryCtxRetain failed";
  if (driver->cuCtxSetCurrent(context) != CUDA_SUCCESS) return "cuCtxSetCurrent failed";
  if (driver->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) return "cuStreamCreate failed";
  v->context = context;
  v->stream = stream;
  return NULL;
}

static const char *open_cuda(venue *v)
{
  const tmaring__driver *driver;
  v->name = "cuda";
  v->place = place_device();
  if (tmaring_machine_query(&v->machine, 0) != TMARING_OK) return tmaring_last_detail();
  if (tmaring__driver_get(&driver) != TMARING_OK) return tmaring_last_detail();
  return open_stream(v, driver);
}

int venue_settle(const venue *v)
{
  const tmaring__driver *driver;
  if (v->backend == TMARING_BACKEND_CPU) return 1;
  return tmaring__driver_get(&driver) == TMARING_OK && driver->cuStreamSynchronize(v->stream) == CUDA_SUCCESS;
}

void venue_close(venue *v)
{
  const tmaring__driver *driver;
  if (v->stream && tmaring__driver_get(&driver) == TMARING_OK) driver->cuStreamDestroy(v->stream);
  v->stream = NULL;
}

#else

static const char *open_cuda(venue *v)
{
  v->name = "cuda";
  return "built without CUDA";
}

int venue_settle(const venue *v)
{
  return v->backend == TMARING_BACKEND_CPU;
}

void venue_close(venue *v)
{
  v->stream = NULL;
}

#endif

const char *venue_open(venue *v, tmaring_backend backend)
{
  memset(v, 0, sizeof *v);
  v->backend = backend;
  v->machine.size = sizeof v->machine;
  return backend == TMARING_BACKEND_CPU ? open_cpu(v) : open_cuda(v);
}

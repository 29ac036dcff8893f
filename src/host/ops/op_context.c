#include "op_context.h"

#include <string.h>

#include "../backend/cuda/device.h"
#include "../backend/cuda/driver.h"

#if TMARING_WITH_CUDA

static tmaring_status cuda_context_of(CUstream stream, const void **context)
{
  const tmaring__driver *driver;
  CUcontext found = NULL;
  TMARING__TRY(tmaring__driver_get(&driver));
  if (tmaring__is_default_stream(stream)) {
    TMARING__CU(cuCtxGetCurrent(&found));
  } else {
    TMARING__CU(cuStreamGetCtx(stream, &found));
  }
  *context = found;
  return TMARING_OK;
}

static int cuda_captures(CUstream stream)
{
  const tmaring__driver *driver;
  CUcontext current = NULL;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (tmaring__driver_get(&driver) != TMARING_OK) return 0;
  /* A default stream means nothing without a context, and captures nothing then. */
  if (tmaring__is_default_stream(stream) && (driver->cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current)) return 0;
  return driver->cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static tmaring_status cuda_enter(const void *context)
{
  const tmaring__driver *driver;
  TMARING__TRY(tmaring__driver_get(&driver));
  TMARING__CU(cuCtxPushCurrent((CUcontext)context));
  return TMARING_OK;
}

static void cuda_leave(void)
{
  const tmaring__driver *driver;
  CUcontext popped;
  if (tmaring__driver_get(&driver) == TMARING_OK) driver->cuCtxPopCurrent(&popped);
}

static tmaring_status cuda_machine(tmaring_machine *machine)
{
  const tmaring__driver *driver;
  CUcontext current = NULL;
  CUdevice device = 0;
  TMARING__TRY(tmaring__driver_get(&driver));
  TMARING__CU(cuCtxGetCurrent(&current));
  if (current) {
    TMARING__CU(cuCtxGetDevice(&device));
  } else {
    TMARING__CU(cuDeviceGet(&device, 0));
  }
  return tmaring__device_machine(driver, device, machine);
}

static tmaring_status cuda_zero(void *memory, size_t bytes, CUstream stream)
{
  const tmaring__driver *driver;
  TMARING__TRY(tmaring__driver_get(&driver));
  TMARING__CU(cuMemsetD8Async((CUdeviceptr)(uintptr_t)memory, 0, bytes, stream));
  return TMARING_OK;
}

#else

static tmaring_status cuda_context_of(struct CUstream_st *stream, const void **context)
{
  (void)stream, (void)context;
  return tmaring__driver_absent();
}

static int cuda_captures(struct CUstream_st *stream)
{
  (void)stream;
  return 0;
}

static tmaring_status cuda_enter(const void *context)
{
  (void)context;
  return tmaring__driver_absent();
}

static void cuda_leave(void) {}

static tmaring_status cuda_machine(tmaring_machine *machine)
{
  (void)machine;
  return tmaring__driver_absent();
}

static tmaring_status cuda_zero(void *memory, size_t bytes, struct CUstream_st *stream)
{
  (void)memory, (void)bytes, (void)stream;
  return tmaring__driver_absent();
}

#endif

tmaring_status tmaring__op_context_of(tmaring_backend backend, struct CUstream_st *stream, const void **context)
{
  *context = NULL;
  return backend == TMARING_BACKEND_CUDA ? cuda_context_of(stream, context) : TMARING_OK;
}

int tmaring__op_context_captures(tmaring_backend backend, struct CUstream_st *stream)
{
  return backend == TMARING_BACKEND_CUDA && cuda_captures(stream);
}

tmaring_status tmaring__op_context_enter(tmaring_backend backend, const void *context)
{
  return backend == TMARING_BACKEND_CUDA && context ? cuda_enter(context) : TMARING_OK;
}

void tmaring__op_context_leave(tmaring_backend backend, const void *context)
{
  if (backend == TMARING_BACKEND_CUDA && context) cuda_leave();
}

tmaring_status tmaring__op_context_machine(tmaring_backend backend, tmaring_machine *machine)
{
  if (backend == TMARING_BACKEND_CUDA) return cuda_machine(machine);
  tmaring_machine_h200(machine);
  return TMARING_OK;
}

tmaring_status tmaring__op_context_zero(tmaring_backend backend, void *memory, size_t bytes, struct CUstream_st *stream)
{
  if (backend == TMARING_BACKEND_CUDA) return cuda_zero(memory, bytes, stream);
  memset(memory, 0, bytes);
  return TMARING_OK;
}

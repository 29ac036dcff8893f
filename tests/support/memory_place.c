#define _GNU_SOURCE
#include "memory_place.h"

#include <stdlib.h>
#include <string.h>

#include "../../src/host/backend/cuda/driver.h"

static void *host_take(size_t bytes)
{
  void *memory = NULL;
  return posix_memalign(&memory, 256, bytes ? bytes : 1) == 0 ? memory : NULL;
}

static int host_copy(void *to, const void *from, size_t bytes)
{
  if (bytes > 0) memcpy(to, from, bytes);
  return 1;
}

const memory_place *place_host(void)
{
  static const memory_place host = {"host", host_take, free, host_copy, host_copy};
  return &host;
}

#if TMARING_WITH_CUDA

static void *device_take(size_t bytes)
{
  const tmaring__driver *driver;
  CUdeviceptr memory = 0;
  if (tmaring__driver_get(&driver) != TMARING_OK) return NULL;
  if (driver->cuMemAlloc(&memory, bytes ? bytes : 1) != CUDA_SUCCESS) return NULL;
  return (void *)(size_t)memory;
}

static void device_give(void *memory)
{
  const tmaring__driver *driver;
  if (memory && tmaring__driver_get(&driver) == TMARING_OK) driver->cuMemFree((CUdeviceptr)(size_t)memory);
}

/* A copy may return before it has landed, and streams of the tests need not wait for the legacy stream. */
static int device_upload(void *to, const void *from, size_t bytes)
{
  const tmaring__driver *driver;
  if (tmaring__driver_get(&driver) != TMARING_OK) return 0;
  if (bytes > 0 && driver->cuMemcpyHtoD((CUdeviceptr)(size_t)to, from, bytes) != CUDA_SUCCESS) return 0;
  return driver->cuCtxSynchronize() == CUDA_SUCCESS;
}

static int device_download(void *to, const void *from, size_t bytes)
{
  const tmaring__driver *driver;
  if (tmaring__driver_get(&driver) != TMARING_OK) return 0;
  if (driver->cuCtxSynchronize() != CUDA_SUCCESS) return 0;
  return bytes == 0 || driver->cuMemcpyDtoH(to, (CUdeviceptr)(size_t)from, bytes) == CUDA_SUCCESS;
}

const memory_place *place_device(void)
{
  static const memory_place device = {"device", device_take, device_give, device_upload, device_download};
  return &device;
}

#else

const memory_place *place_device(void)
{
  return NULL;
}

#endif

/* In a build without the cuda backend: nothing can be opened, so the other calls are never reached. */
#include "gpu.h"

#if !TMARING_WITH_CUDA

tmaring_status tmaring__gpu_open(tmaring__gpu **gpu)
{
  *gpu = NULL;
  return tmaring__driver_absent();
}

void tmaring__gpu_close(tmaring__gpu *gpu)
{
  (void)gpu;
}

void tmaring__gpu_release(tmaring__gpu *gpu, void *address)
{
  (void)gpu, (void)address;
}

struct CUstream_st *tmaring__gpu_stream(tmaring__gpu *gpu)
{
  (void)gpu;
  return NULL;
}

tmaring_status tmaring__gpu_allocate(tmaring__gpu *gpu, size_t bytes, void **address)
{
  (void)gpu, (void)bytes, *address = NULL;
  return tmaring__driver_absent();
}

tmaring_status tmaring__gpu_free_bytes(tmaring__gpu *gpu, size_t *bytes)
{
  (void)gpu, *bytes = 0;
  return tmaring__driver_absent();
}

tmaring_status tmaring__gpu_upload(tmaring__gpu *gpu, void *device, const void *host, size_t bytes)
{
  (void)gpu, (void)device, (void)host, (void)bytes;
  return tmaring__driver_absent();
}

tmaring_status tmaring__gpu_download(tmaring__gpu *gpu, void *host, const void *device, size_t bytes)
{
  (void)gpu, (void)host, (void)device, (void)bytes;
  return tmaring__driver_absent();
}

tmaring_status tmaring__gpu_copy(tmaring__gpu *gpu, void *to, const void *from, size_t bytes)
{
  (void)gpu, (void)to, (void)from, (void)bytes;
  return tmaring__driver_absent();
}

tmaring_status tmaring__gpu_wait(tmaring__gpu *gpu)
{
  (void)gpu;
  return tmaring__driver_absent();
}

tmaring_status tmaring__gpu_capture(tmaring__gpu *gpu, tmaring_status (*enqueue)(void *context), void *context)
{
  (void)gpu, (void)enqueue, (void)context;
  return tmaring__driver_absent();
}

tmaring_status tmaring__gpu_replay(tmaring__gpu *gpu)
{
  (void)gpu;
  return tmaring__driver_absent();
}

tmaring_status tmaring__gpu_time(tmaring__gpu *gpu, tmaring_status (*enqueue)(void *context), void *context,
                                 double *microseconds)
{
  (void)gpu, (void)enqueue, (void)context, *microseconds = 0;
  return tmaring__driver_absent();
}

#endif

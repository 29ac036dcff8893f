/* The CUDA driver, found at run time: libcuda.so.1 by dlopen, entry points by cuGetProcAddress. cuda.h gives types
 * only, so that nothing needs libcuda to link or to load. */
#ifndef TMARING_HOST_DRIVER_H
#define TMARING_HOST_DRIVER_H

#include "../../base/detail.h"

#ifndef TMARING_WITH_CUDA
#define TMARING_WITH_CUDA 1
#endif

#if TMARING_WITH_CUDA

#include <cuda.h>
#include <cudaTypedefs.h>

/* X(symbol, version of the typedef, version asked for). All exist in a 12.0 driver. */
#define TMARING__DRIVER_LIST(X)                                                                                        \
  X(cuInit, 2000)                                                                                                      \
  X(cuDriverGetVersion, 2020)                                                                                          \
  X(cuGetErrorName, 6000)                                                                                              \
  X(cuGetErrorString, 6000)                                                                                            \
  X(cuDeviceGet, 2000)                                                                                                 \
  X(cuDeviceGetCount, 2000)                                                                                            \
  X(cuDeviceGetName, 2000)                                                                                             \
  X(cuDeviceGetAttribute, 2000)                                                                                        \
  X(cuDevicePrimaryCtxRetain, 7000)                                                                                    \
  X(cuDevicePrimaryCtxRelease, 11000)                                                                                  \
  X(cuCtxCreate, 3020)                                                                                                 \
  X(cuCtxDestroy, 4000)                                                                                                \
  X(cuCtxGetCurrent, 4000)                                                                                             \
  X(cuCtxSetCurrent, 4000)                                                                                             \
  X(cuCtxPushCurrent, 4000)                                                                                            \
  X(cuCtxPopCurrent, 4000)                                                                                             \
  X(cuCtxGetDevice, 2000)                                                                                              \
  X(cuCtxSynchronize, 2000)                                                                                            \
  X(cuLibraryLoadData, 12000)                                                                                          \
  X(cuLibraryUnload, 12000)                                                                                            \
  X(cuLibraryGetKernel, 12000)                                                                                         \
  X(cuKernelSetAttribute, 12000)                                                                                       \
  X(cuKernelGetAttribute, 12000)                                                                                       \
  X(cuKernelGetFunction, 12000)                                                                                        \
  X(cuTensorMapEncodeTiled, 12000)                                                                                     \
  X(cuTensorMapEncodeIm2col, 12000)                                                                                    \
  X(cuTensorMapReplaceAddress, 12000)                                                                                  \
  X(cuLaunchKernelEx, 11060)                                                                                           \
  X(cuOccupancyMaxActiveClusters, 11070)                                                                               \
  X(cuMemAlloc, 3020)                                                                                                  \
  X(cuMemFree, 3020)                                                                                                   \
  X(cuMemHostAlloc, 2020)                                                                                              \
  X(cuMemHostGetDevicePointer, 3020)                                                                                   \
  X(cuMemFreeHost, 2000)                                                                                               \
  X(cuMemGetInfo, 3020)                                                                                                \
  X(cuMemcpyHtoD, 3020)                                                                                                \
  X(cuMemcpyDtoH, 3020)                                                                                                \
  X(cuMemcpyDtoDAsync, 3020)                                                                                           \
  X(cuMemsetD8Async, 3020)                                                                                             \
  X(cuMemsetD32Async, 3020)                                                                                            \
  X(cuStreamCreate, 2000)                                                                                              \
  X(cuStreamDestroy, 4000)                                                                                             \
  X(cuStreamSynchronize, 2000)                                                                                         \
  X(cuStreamGetCtx, 9020)                                                                                              \
  X(cuStreamIsCapturing, 10000)                                                                                        \
  X(cuStreamBeginCapture, 10010)                                                                                       \
  X(cuStreamEndCapture, 10000)                                                                                         \
  X(cuGraphInstantiateWithFlags, 11040)                                                                                \
  X(cuGraphLaunch, 10000)                                                                                              \
  X(cuGraphExecDestroy, 10000)                                                                                         \
  X(cuGraphDestroy, 10000)                                                                                             \
  X(cuEventCreate, 2000)                                                                                               \
  X(cuEventRecord, 2000)                                                                                               \
  X(cuEventSynchronize, 2000)                                                                                          \
  X(cuEventElapsedTime, 2000)                                                                                          \
  X(cuEventDestroy, 4000)

/* Macros of cuda.h rename some calls (cuMemAlloc is cuMemAlloc_v2); the members keep the plain names. */
#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
#undef cuDevicePrimaryCtxRelease
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemHostGetDevicePointer
#undef cuMemGetInfo
#undef cuMemcpyHtoD
#undef cuMemcpyDtoH
#undef cuMemcpyDtoDAsync
#undef cuMemsetD8Async
#undef cuMemsetD32Async
#undef cuStreamDestroy
#undef cuStreamBeginCapture
#undef cuStreamGetCtx
#undef cuEventDestroy
#undef cuEventElapsedTime
#undef cuCtxGetDevice
#undef cuCtxSynchronize
#undef cuGraphInstantiateWithFlags

typedef struct tmaring__driver {
#define TMARING__DRIVER_MEMBER(name, version) PFN_##name##_v##version name;
  TMARING__DRIVER_LIST(TMARING__DRIVER_MEMBER)
#undef TMARING__DRIVER_MEMBER
} tmaring__driver;

/* The table, loaded and initialised at the first call; any thread. ERROR_NO_DRIVER without libcuda or without a device,
 * ERROR_DRIVER where a call fails (the driver is older than 12.0, say). Holds nothing of a context. */
tmaring_status tmaring__driver_get(const tmaring__driver **driver);

/* 1 for the handles that mean a stream of the current context. */
static inline int tmaring__is_default_stream(CUstream stream)
{
  return stream == NULL || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

/* ERROR_DRIVER with the call's name and the driver's own words. */
tmaring_status tmaring__driver_fail(const tmaring__driver *driver, CUresult result, const char *call);

/* Forwards a failing driver call; `driver` is the function's variable. */
#define TMARING__CU(call)                                                                                              \
  do {                                                                                                                 \
    const CUresult cu_result_ = driver->call;                                                                          \
    if (cu_result_ != CUDA_SUCCESS) return tmaring__driver_fail(driver, cu_result_, #call);                            \
  } while (0)
#define TMARING__CU_GOTO(call, label)                                                                                  \
  do {                                                                                                                 \
    const CUresult cu_result_ = driver->call;                                                                          \
    if (cu_result_ != CUDA_SUCCESS) {                                                                                  \
      status = tmaring__driver_fail(driver, cu_result_, #call);                                                        \
      goto label;                                                                                                      \
    }                                                                                                                  \
  } while (0)

#else

/* What every call of a build without the cuda backend answers: ERROR_NO_DRIVER. */
tmaring_status tmaring__driver_absent(void);

#endif

#endif

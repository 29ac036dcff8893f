#define _GNU_SOURCE
#include "driver.h"

#if TMARING_WITH_CUDA

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static tmaring__driver table;
static tmaring_status load_status;
static char load_detail[256]; /* the loading thread's words, for every later caller */

static tmaring_status load_symbols(PFN_cuGetProcAddress_v12000 find)
{
#define LOAD(symbol, version)                                                                                          \
  do {                                                                                                                 \
    void *address = NULL;                                                                                              \
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;                                       \
    const CUresult result = find(#symbol, &address, version, CU_GET_PROC_ADDRESS_DEFAULT, &found);                     \
    if (result != CUDA_SUCCESS || !address)                                                                            \
      return tmaring__fail(TMARING_ERROR_NO_DRIVER,                                                                    \
                           "libcuda.so.1: lacks %s of version %d; needs a driver of CUDA 12.0 or newer", #symbol,      \
                           version);                                                                                   \
    *(void **)(&table.symbol) = address;                                                                               \
  } while (0);
  TMARING__DRIVER_LIST(LOAD)
#undef LOAD
  return TMARING_OK;
}

static tmaring_status load(void)
{
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return tmaring__fail(TMARING_ERROR_NO_DRIVER,
                         "libcuda.so.1: not found; needs the NVIDIA driver; use the cpu backend without it");
  PFN_cuGetProcAddress_v12000 find = NULL;
  *(void **)(&find) = dlsym(library, "cuGetProcAddress_v2");
  if (!find)
    return tmaring__fail(TMARING_ERROR_NO_DRIVER,
                         "libcuda.so.1: has no cuGetProcAddress_v2; needs a driver of CUDA 12.0 or newer");
  TMARING__TRY(load_symbols(find));
  const CUresult result = table.cuInit(0);
  if (result == CUDA_ERROR_NO_DEVICE)
    return tmaring__fail(TMARING_ERROR_DEVICE, "cuInit: found no CUDA device; use the cpu backend");
  if (result != CUDA_SUCCESS) return tmaring__driver_fail(&table, result, "cuInit(0)");
  return TMARING_OK;
}

static void load_once(void)
{
  load_status = load();
  if (load_status != TMARING_OK) snprintf(load_detail, sizeof load_detail, "%s", tmaring_last_detail());
}

tmaring_status tmaring__driver_get(const tmaring__driver **driver)
{
  pthread_once(&once, load_once);
  *driver = &table;
  if (load_status != TMARING_OK) return tmaring__fail(load_status, "%s", load_detail);
  return TMARING_OK;
}

tmaring_status tmaring__driver_fail(const tmaring__driver *driver, CUresult result, const char *call)
{
  const char *name = NULL, *text = NULL;
  if (driver->cuGetErrorName) driver->cuGetErrorName(result, &name);
  if (driver->cuGetErrorString) driver->cuGetErrorString(result, &text);
  return tmaring__fail(TMARING_ERROR_DRIVER, "%s: %s (%d): %s", call, name ? name : "error", (int)result,
                       text ? text : "no description");
}

#else

tmaring_status tmaring__driver_absent(void)
{
  return tmaring__fail(
      TMARING_ERROR_NO_DRIVER,
      "cuda backend: this library was built without cuda.h; build it with the CUDA toolkit's headers, or "
      "use the cpu backend");
}

#endif

#include "gpu_list.h"

#include "../backend/cuda/driver.h"

#if TMARING_WITH_CUDA

tmaring_status tmaring__gpu_count(int32_t *driver_version, int32_t *devices)
{
  const tmaring__driver *driver;
  int version = 0, count = 0;
  *driver_version = *devices = 0;
  TMARING__TRY(tmaring__driver_get(&driver));
  TMARING__CU(cuDriverGetVersion(&version));
  TMARING__CU(cuDeviceGetCount(&count));
  *driver_version = version;
  *devices = count;
  return TMARING_OK;
}

#else

tmaring_status tmaring__gpu_count(int32_t *driver_version, int32_t *devices)
{
  *driver_version = *devices = 0;
  return tmaring__fail(TMARING_ERROR_NO_DRIVER, "cuda: this build has no cuda backend; build with the CUDA headers");
}

#endif

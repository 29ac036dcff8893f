/* The devices that the driver shows. */
#ifndef TMARING_HOST_GPU_LIST_H
#define TMARING_HOST_GPU_LIST_H

#include <stdint.h>

#include "../base/detail.h"

/* The driver's CUDA version (13000 for 13.0) and number of devices; both 0 on failure. ERROR_NO_DRIVER, ERROR_DEVICE or
 * ERROR_DRIVER. Any thread. */
tmaring_status tmaring__gpu_count(int32_t *driver_version, int32_t *devices);

#endif

/* What the driver says of a device. */
#ifndef TMARING_HOST_DEVICE_H
#define TMARING_HOST_DEVICE_H

#include "driver.h"
#include "tmaring/machine.h"

#if TMARING_WITH_CUDA

/* As tmaring_machine_query, for a device handle. */
tmaring_status tmaring__device_machine(const tmaring__driver *driver, CUdevice device, tmaring_machine *machine);

#endif

#endif

#include "device.h"

#include <string.h>

#include "driver.h"

#if TMARING_WITH_CUDA

static tmaring_status read_attribute(const tmaring__driver *driver, CUdevice device, CUdevice_attribute attribute,
                                     int32_t *value)
{
  int got = 0;
  TMARING__CU(cuDeviceGetAttribute(&got, attribute, device));
  *value = got;
  return TMARING_OK;
}

static tmaring_status read_machine(const tmaring__driver *driver, CUdevice device, tmaring_machine *m)
{
  int32_t l2 = 0;
  TMARING__TRY(read_attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &m->compute_major));
  TMARING__TRY(read_attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &m->compute_minor));
  TMARING__TRY(read_attribute(driver, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &m->sm_count));
  TMARING__TRY(
      read_attribute(driver, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &m->smem_per_block_bytes));
  TMARING__TRY(read_attribute(driver, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &m->smem_default_bytes));
  TMARING__TRY(
      read_attribute(driver, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &m->smem_per_sm_bytes));
  TMARING__TRY(
      read_attribute(driver, device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, &m->smem_reserved_bytes));
  TMARING__TRY(read_attribute(driver, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &m->threads_per_sm));
  TMARING__TRY(
      read_attribute(driver, device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &m->registers_per_sm));
  TMARING__TRY(read_attribute(driver, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2));
  m->l2_bytes = l2;
  TMARING__CU(cuDeviceGetName(m->name, (int)sizeof m->name, device));
  return TMARING_OK;
}

tmaring_status tmaring__device_machine(const tmaring__driver *driver, CUdevice device, tmaring_machine *machine)
{
  memset(machine, 0, sizeof *machine);
  machine->size = sizeof *machine;
  TMARING__TRY(read_machine(driver, device, machine));
  if (machine->compute_major != 9 || machine->compute_minor != 0)
    return tmaring__fail(TMARING_ERROR_DEVICE,
                         "device %d (%s): has compute capability %d.%d, needs 9.0 (Hopper); use the cpu backend",
                         (int)device, machine->name, (int)machine->compute_major, (int)machine->compute_minor);
  return TMARING_OK;
}

tmaring_status tmaring_machine_query(tmaring_machine *machine, int device)
{
  const tmaring__driver *driver;
  int count = 0;
  CUdevice handle = 0;
  TMARING__NEED(machine);
  TMARING__TRY(tmaring__driver_get(&driver));
  TMARING__CU(cuDeviceGetCount(&count));
  if (device < 0 || device >= count)
    return tmaring__fail(TMARING_ERROR_DEVICE, "device: got %d, needs 0 to %d; this machine has %d", device, count - 1,
                         count);
  TMARING__CU(cuDeviceGet(&handle, device));
  return tmaring__device_machine(driver, handle, machine);
}

#else

tmaring_status tmaring_machine_query(tmaring_machine *machine, int device)
{
  (void)device;
  TMARING__NEED(machine);
  return tmaring__driver_absent();
}

#endif

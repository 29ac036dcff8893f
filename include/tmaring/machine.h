/* The machine a plan is made for. Planning needs no GPU: fill the struct, or take the built-in one. */
#ifndef TMARING_MACHINE_H
#define TMARING_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tmaring_machine {
  size_t size; /* sizeof(tmaring_machine) */
  int32_t compute_major, compute_minor;
  int32_t sm_count;
  int32_t smem_per_block_bytes; /* with opt-in */
  int32_t smem_default_bytes;   /* without opt-in: 49152 */
  int32_t smem_per_sm_bytes;
  int32_t smem_reserved_bytes; /* per CTA, taken by the system */
  int32_t threads_per_sm;
  int32_t registers_per_sm;
  int64_t l2_bytes;
  char name[64];
} tmaring_machine;

/* An H200 SXM: 132 SMs. Never fails; needs no driver. */
TMARING_API void tmaring_machine_h200(tmaring_machine *machine);

/* Asks the driver about a device. ERROR_NO_DRIVER without a driver, ERROR_DEVICE without such a device or when its
 * compute capability is not 9.0 (the struct is filled all the same), ERROR_DRIVER otherwise. Any thread; makes no
 * context. */
TMARING_API tmaring_status tmaring_machine_query(tmaring_machine *machine, int device);

#ifdef __cplusplus
}
#endif

#endif

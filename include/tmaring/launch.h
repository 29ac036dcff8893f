/* Prepare and launch. */
#ifndef TMARING_LAUNCH_H
#define TMARING_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* CUstream and cudaStream_t pass as they are */

typedef enum tmaring_backend {
  TMARING_BACKEND_CUDA = 0,
  TMARING_BACKEND_CPU = 1 /* runs the same plan through the same role loops on the host, and reports faults */
} tmaring_backend;

/* A plan made ready on a backend. */
typedef struct tmaring_kernel tmaring_kernel;

/* Finds or compiles the plan's code and loads it (cuda: into the calling thread's current context, or into the primary
 * context of device 0 when there is none), sets its attributes, and loads what a first launch would load. The kernel
 * belongs to that context. It keeps what it needs of the plan: the plan may be freed first. May allocate, lock and take
 * long: call it ahead, not under stream capture. *kernel is the caller's (tmaring_kernel_free, when no launch is in
 * flight). Errors: NO_DRIVER, DEVICE, DRIVER, NO_COMPILER, COMPILE, CAPACITY, MEMORY. */
TMARING_API tmaring_status tmaring_prepare(tmaring_kernel **kernel, const tmaring_plan *plan, tmaring_backend backend);
TMARING_API void tmaring_kernel_free(tmaring_kernel *kernel);

#define TMARING_LAUNCH_DEPENDENT                                                                                       \
  1u /* programmatic dependent launch: may start before the preceding kernel has ended; waits                          \
        for it before any global access */

typedef struct tmaring_launch_params {
  size_t size;  /* sizeof(tmaring_launch_params), set by TMARING_LAUNCH_PARAMS_INIT */
  int64_t rows; /* M >= 0; 0 succeeds without a launch, and data may then be NULL, but for column reductions: their
                   outputs are written (sum 0, mean NaN, max -inf), and data has their addresses */
  const int64_t *rows_device; /* NULL, or where the device reads M, at most `rows` */
  void *const *data;          /* address of each tensor parameter, in formula order */
  const double *scalars;      /* value of each scalar parameter, or NULL where all have defaults */
  void *workspace;            /* tmaring_workspace_bytes, initialised; one per launch that may run at the same time */
  uint32_t flags;             /* TMARING_LAUNCH_* */
} tmaring_launch_params;

#define TMARING_LAUNCH_PARAMS_INIT                                                                                     \
  {                                                                                                                    \
    sizeof(tmaring_launch_params), 0, NULL, NULL, NULL, NULL, 0                                                        \
  }

/* Zeroes a workspace, ordered on the stream (cpu backend: at once). Once, not per launch: launches leave it ready. */
TMARING_API tmaring_status tmaring_workspace_init(const tmaring_kernel *kernel, void *workspace,
                                                  struct CUstream_st *stream);

/* Enqueues the kernel. Never loads, allocates, synchronises or locks; may be captured. Addresses are device addresses
 * (cuda) or host addresses (cpu: runs to its end before returning; stream is ignored).
 * stream NULL and the legacy handle mean the legacy default stream of the calling thread's current context, the
 * per-thread handle that thread's own default stream; with no current context the kernel's own is used for the call. A
 * matrix output may be exactly an [M,N] input (same address, dtype, pitch and groups of rows); any other overlap of an
 * output is ERROR_ALIAS. Column reductions take a second kernel, enqueued behind the first. Errors: ARGUMENT,
 * ALIGNMENT (an address is less aligned than the plan was told), ALIAS, NOT_PREPARED (the stream belongs to another
 * context), DRIVER; cpu: CHECK (the emulator saw a fault). Any thread, also at the same time, each launch with a
 * workspace of its own. */
TMARING_API tmaring_status tmaring_launch(const tmaring_kernel *kernel, const tmaring_launch_params *params,
                                          struct CUstream_st *stream);

/* After a launch of a debug plan has failed (the stream reports an error): ERROR_FAULT and the record of the wait that
 * did not end; TMARING_OK where there is none. Any thread; asks no driver. */
TMARING_API tmaring_status tmaring_kernel_fault(const tmaring_kernel *kernel, tmaring_fault *fault);

#ifdef __cplusplus
}
#endif

#endif

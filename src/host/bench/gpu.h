/* A device to run on from a program without CUDA of its own: the primary context of device 0, a stream, and memory. */
#ifndef TMARING_HOST_GPU_H
#define TMARING_HOST_GPU_H

#include <stddef.h>

#include "../backend/cuda/driver.h"

struct CUstream_st;

typedef struct tmaring__gpu tmaring__gpu;

/* Makes the context current in the calling thread. The object is the caller's (tmaring__gpu_close). ERROR_NO_DRIVER,
 * ERROR_DEVICE or ERROR_DRIVER. All calls below: from that thread. */
tmaring_status tmaring__gpu_open(tmaring__gpu **gpu);
void tmaring__gpu_close(tmaring__gpu *gpu);

/* Memory aligned to 256 bytes; never NULL, for 0 bytes too. */
tmaring_status tmaring__gpu_allocate(tmaring__gpu *gpu, size_t bytes, void **address);
void tmaring__gpu_release(tmaring__gpu *gpu, void *address);
/* Bytes that are free now. */
tmaring_status tmaring__gpu_free_bytes(tmaring__gpu *gpu, size_t *bytes);

/* Copies, done when they return. */
tmaring_status tmaring__gpu_upload(tmaring__gpu *gpu, void *device, const void *host, size_t bytes);
tmaring_status tmaring__gpu_download(tmaring__gpu *gpu, void *host, const void *device, size_t bytes);
/* Enqueued on the stream. */
tmaring_status tmaring__gpu_copy(tmaring__gpu *gpu, void *to, const void *from, size_t bytes);

struct CUstream_st *tmaring__gpu_stream(tmaring__gpu *gpu);
/* Waits for the stream. */
tmaring_status tmaring__gpu_wait(tmaring__gpu *gpu);

/* Records what `enqueue` puts on the stream into a graph, replays it once to warm up, and keeps it (one per object). */
tmaring_status tmaring__gpu_capture(tmaring__gpu *gpu, tmaring_status (*enqueue)(void *context), void *context);
/* Enqueues the graph. */
tmaring_status tmaring__gpu_replay(tmaring__gpu *gpu);
/* Device time in microseconds from before to after what `enqueue` puts on the stream. */
tmaring_status tmaring__gpu_time(tmaring__gpu *gpu, tmaring_status (*enqueue)(void *context), void *context,
                                 double *microseconds);

#endif

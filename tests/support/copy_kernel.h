/* One copy by tensor map on a GPU, between global memory and an image of shared memory that the host sees. */
#ifndef TMARING_TESTS_COPY_KERNEL_H
#define TMARING_TESTS_COPY_KERNEL_H

#include <stddef.h>

#include "tmaring/tensor_map.h"
#include "venue.h"

typedef enum copy_direction { COPY_LOAD = 0, COPY_STORE = 1, COPY_PIXELS = 2 } copy_direction;

/* Written once for the host and for the kernel's text. */
#define COPY_JOB                                                                                                       \
  struct copy_job {                                                                                                    \
    tmaring_i32 direction, rank;                                                                                       \
    tmaring_i32 coordinates[5];                                                                                        \
    tmaring_u16 offsets[3];                                                                                            \
    tmaring_u32 at, room, bytes;                                                                                       \
    tmaring_u64 image, done;                                                                                           \
  };
/* at: of the box in shared memory; room: bytes of the image; bytes: that a load completes; image, done: device memory,
 * entered by copy_kernel_run */

COPY_JOB
typedef struct copy_job copy_job;

typedef struct copy_kernel {
  const venue *venue;
  void *library, *kernel; /* CUlibrary, CUkernel */
  void *image, *done;     /* device memory */
} copy_kernel;

#define COPY_POISON    0xa5           /* of the image before a load */
#define COPY_MOST_ROOM (160u * 1024u) /* bytes */

/* Takes the kernel from the cache or compiles it. NULL, or why not (static until the thread's next failing call). */
const char *copy_kernel_open(copy_kernel *k, const venue *v);
void copy_kernel_close(copy_kernel *k);
/* Runs the job and waits. image: `room` bytes, what shared memory holds before a store, or receives after a load. NULL,
 * or what went wrong; a load that does not complete its bytes within 0.2 s is given up. */
const char *copy_kernel_run(copy_kernel *k, const tmaring_map *map, copy_job job, unsigned char *image);
/* Brings the kernel into the cache for a machine that cannot compile. */
tmaring_status copy_kernel_compile(void);

#endif

/* Copies by a GPU beside the same copies by the host. All of it fails the running test where something cannot be done. */
#ifndef TMARING_TESTS_COPY_STAND_H
#define TMARING_TESTS_COPY_STAND_H

#include "box_case.h"
#include "copy_kernel.h"
#include "tally.h"

#define COPY_BAND 256 /* bytes before and behind a tensor; keeps it on a multiple of 256 */

/* A tensor here and there, between bands. */
typedef struct copy_twin {
  const memory_place *place;
  size_t bytes; /* bands included */
  unsigned char *host, *device;
} copy_twin;

typedef struct copy_stand {
  venue v;
  copy_kernel kernel;
  tally sum; /* of the copies that were compared */
  noise n;
} copy_stand;

/* Opens the cuda venue and the kernel, or skips the running test where there is no GPU. Closing prints the counts and
 * expects no failure and at least one success. */
void copy_stand_open(copy_stand *b, const char *title, uint64_t seed);
void copy_stand_close(copy_stand *b);

void *copy_host_take(size_t bytes); /* from a multiple of 1024; free */
copy_twin copy_twin_take(const memory_place *place, size_t tensor_bytes);
void copy_twin_give(copy_twin *t);
/* Both with the same noise, or with COPY_POISON. */
void copy_twin_fill(copy_twin *t, noise *n, int poison);
/* The map of the tensor behind the band of `tensor`. */
tmaring_tensor_map_tiled copy_map_at(const tmaring_tensor_map_tiled *map, const unsigned char *tensor);
copy_job copy_job_of(const box_case *c, copy_direction direction);

/* Counts a copy: passed where `why` is NULL and `got` is `want`; else its text has the place of the first other byte. */
void copy_judge(copy_stand *b, const char *what, const char *why, const unsigned char *got, const unsigned char *want,
                size_t bytes, const char *text);
/* Loads a box on both sides and compares all of shared memory, also what the box leaves out. */
void copy_compare_load(copy_stand *b, const box_case *c, const copy_twin *t);
/* Stores a box of noise on both sides; NULL, or why the GPU could not. copy_compare_tensor then compares the tensors, their
 * gaps and bands. */
const char *copy_store_both(copy_stand *b, const box_case *c, const copy_twin *t);
void copy_compare_tensor(copy_stand *b, const copy_twin *t, const char *why, const char *text);

#endif

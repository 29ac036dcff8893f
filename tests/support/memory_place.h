/* Where tensors lie: host memory, or the memory of a GPU. */
#ifndef TMARING_TESTS_MEMORY_PLACE_H
#define TMARING_TESTS_MEMORY_PLACE_H

#include <stddef.h>

typedef struct memory_place {
  const char *name;
  void *(*take)(size_t bytes); /* from a multiple of 256, of exactly this size; NULL: none left */
  void (*give)(void *memory);
  int (*upload)(void *to, const void *from, size_t bytes); /* 1: done, and seen by every later launch */
  int (*download)(void *to, const void *from, size_t bytes);
} memory_place;

const memory_place *place_host(void);
/* NULL in a build without CUDA. Works on the calling thread's current context. */
const memory_place *place_device(void);

#endif

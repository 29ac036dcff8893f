/* Tensors whose offsets pass 2^31 and 2^32: memory without a copy on the host, filled by a kernel, read in places. Every
 * element is a hash of its own 64-bit offset, so that what was read from, or written to, another place is seen. */
#ifndef TMARING_TESTS_FAR_MEMORY_H
#define TMARING_TESTS_FAR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "tmaring/tensor.h"
#include "venue.h"

typedef struct far_memory {
  const venue *venue;
  unsigned char *data; /* from a multiple of 256 */
  size_t bytes;
  unsigned char poison; /* what every byte holds at first; cpu: 0, of pages that nobody has touched */
} far_memory;

/* Bytes that can be taken at this time. cpu: address space, pages come with the first touch. */
size_t far_free_bytes(const venue *v);
/* 1: taken, and poisoned. */
int far_take(far_memory *m, const venue *v, size_t bytes);
void far_give(far_memory *m);
/* 1: copied, after everything on the device has ended. */
int far_read(const far_memory *m, size_t offset, void *to, size_t bytes);
int far_write(const far_memory *m, size_t offset, const void *from, size_t bytes);

/* Elements from the base to row `row` of a matrix; from what the tensor says alone. */
int64_t far_row(const tmaring_tensor *t, int64_t row);
/* Elements from the base to past the last one. */
int64_t far_extent(const tmaring_tensor *t);

/* i8: -7 .. 7 without 0. bf16: 1/2 <= |value| < 2, 8 bits of fraction. Sums of some thousands are exact in fp32. */
double far_value(tmaring_dtype dtype, uint64_t offset);
/* Writes far_value to every element of an i8 or bf16 matrix, and nothing between its rows. NULL, or why not. */
const char *far_fill(const far_memory *m, const tmaring_tensor *t);
/* Compiles the kernel that fills into the cache of kernels, where TMARING_TEST_COMPILE is in the environment. NULL, or why
 * not. */
const char *far_compile(void);

#endif

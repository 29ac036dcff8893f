/* What the fuzz targets share. */
#ifndef TMARING_TESTS_FUZZ_H
#define TMARING_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stops the process where something does not hold. */
#define FUZZ_NEED(condition)                                                                                           \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: needs %s\n", __FILE__, __LINE__, #condition);                                            \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* A copy in memory of the exact size, so that a sanitizer sees a step past the end. free() it. */
static inline uint8_t *fuzz_exact(const uint8_t *data, size_t size)
{
  uint8_t *const copy = calloc(size ? size : 1, 1);
  FUZZ_NEED(copy != NULL);
  if (size) memcpy(copy, data, size);
  return copy;
}

/* The same as a text. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
  char *const text = malloc(size + 1);
  FUZZ_NEED(text != NULL);
  if (size) memcpy(text, data, size);
  text[size] = 0;
  return text;
}

/* Reads every byte. */
static inline void fuzz_touch(const void *data, size_t bytes)
{
  volatile uint8_t sum = 0;
  for (size_t i = 0; i < bytes; ++i) sum = (uint8_t)(sum + ((const uint8_t *)data)[i]);
}

#endif

/* The device sources (include/tmaring/abi, include/tmaring/device), generated into the library by the build. */
#ifndef TMARING_HOST_EMBEDDED_H
#define TMARING_HOST_EMBEDDED_H

#include <stddef.h>

struct tmaring__source {
  const char *name; /* as an include names it: "tmaring/abi/walk.h" */
  const char *text; /* zero-terminated */
  size_t bytes;     /* without the zero */
};

extern const struct tmaring__source tmaring__sources[];
extern const size_t tmaring__source_count;

#endif

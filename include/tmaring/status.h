/* Status codes and the thread's last detail. Every fallible call returns a tmaring_status; nothing aborts, prints or
 * throws. */
#ifndef TMARING_STATUS_H
#define TMARING_STATUS_H

#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, value, text) */
#define TMARING_STATUS_LIST(X)                                                                                         \
  X(OK, 0, "success")                                                                                                  \
  X(ERROR_ARGUMENT, 1, "an argument is null, out of range or of another struct size")                                  \
  X(ERROR_MEMORY, 2, "out of host memory")                                                                             \
  X(ERROR_SYNTAX, 3, "the formula does not follow the grammar")                                                        \
  X(ERROR_TYPE, 4, "the formula or a tensor has the wrong type")                                                       \
  X(ERROR_SHAPE, 5, "shapes do not fit together")                                                                      \
  X(ERROR_ALIGNMENT, 6, "an address or stride is not aligned as the plan needs it")                                    \
  X(ERROR_ALIAS, 7, "tensors overlap in a way the formula does not allow")                                             \
  X(ERROR_UNSUPPORTED, 8, "the combination is not supported")                                                          \
  X(ERROR_CAPACITY, 9, "a limit of the machine is exceeded")                                                           \
  X(ERROR_CHECK, 10, "the checker found a fault in the plan")                                                          \
  X(ERROR_NO_DRIVER, 11, "no CUDA driver on this machine")                                                             \
  X(ERROR_DEVICE, 12, "no usable GPU: compute capability 9.0 is needed")                                               \
  X(ERROR_DRIVER, 13, "a CUDA driver call failed")                                                                     \
  X(ERROR_NO_COMPILER, 14, "the kernel is not built in and no NVRTC library was found")                                \
  X(ERROR_COMPILE, 15, "NVRTC refused the generated source")                                                           \
  X(ERROR_NOT_PREPARED, 16, "the kernel is not prepared for this context")                                             \
  X(ERROR_IO, 17, "a file could not be read or written")                                                               \
  X(ERROR_FORMAT, 18, "a file has an unsupported format")                                                              \
  X(ERROR_FAULT, 19, "a debug kernel stopped at a bounded wait")                                                       \
  X(ERROR_INTERNAL, 20, "a fault of this library")

typedef enum tmaring_status {
#define TMARING_STATUS_ENUM(name, value, text) TMARING_##name = value,
  TMARING_STATUS_LIST(TMARING_STATUS_ENUM)
#undef TMARING_STATUS_ENUM
      TMARING_STATUS_COUNT
} tmaring_status;

/* Name of a status ("ERROR_SHAPE") and one line of text. Static storage; never NULL. Any thread. */
TMARING_API const char *tmaring_status_name(tmaring_status status);
TMARING_API const char *tmaring_status_text(tmaring_status status);

/* What the last failing call of this thread had to say: the field, what it got, what it needs, and the remedy. Empty
 * before the first failure. Owned by the library, valid until this thread's next failing call. */
TMARING_API const char *tmaring_last_detail(void);

#ifdef __cplusplus
}
#endif

#endif

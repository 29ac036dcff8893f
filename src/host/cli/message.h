/* What the tool says when something is wrong, and the exit codes a script can rely on. */
#ifndef TMARING_HOST_MESSAGE_H
#define TMARING_HOST_MESSAGE_H

#include "../base/detail.h"

/* X(enumerator, value, text) */
#define TMARING__EXIT_LIST(X)                                                                                          \
  X(OK, 0, "done")                                                                                                     \
  X(USAGE, 1, "the command line is wrong")                                                                             \
  X(REFUSED, 2, "the formula or the plan is refused")                                                                  \
  X(FILE, 3, "a file cannot be read or written, or has another format")                                                \
  X(BACKEND, 4, "no usable backend: driver, device or kernel code")                                                    \
  X(FAILED, 5, "verification or a check failed")                                                                       \
  X(INTERNAL, 6, "out of memory, or a fault of tmaring")

typedef enum tmaring__exit {
#define TMARING__EXIT_ENUM(name, value, text) TMARING__EXIT_##name = value,
  TMARING__EXIT_LIST(TMARING__EXIT_ENUM)
#undef TMARING__EXIT_ENUM
} tmaring__exit;

/* Exit code of a status. */
int tmaring__exit_code(tmaring_status status);

/* Prints "tmaring: what: detail" with the thread's last detail on stderr; returns the exit code. `what` is NULL where
 * the detail needs no place. */
int tmaring__complain(tmaring_status status, const char *what);

/* Prints "tmaring: ..." and where to find help on stderr; returns TMARING__EXIT_USAGE. `command` is NULL outside a
 * command. */
int tmaring__misuse(const char *command, const char *format, ...) TMARING__PRINTF(2, 3);

#endif

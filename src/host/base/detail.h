/* The thread's last detail, and the check macros of the host library. */
#ifndef TMARING_HOST_DETAIL_H
#define TMARING_HOST_DETAIL_H

#include "tmaring/status.h"

#if defined(__GNUC__)
#define TMARING__PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TMARING__PRINTF(text, first)
#endif

/* Sets the detail ("field: got ..., needs ...; remedy") and returns status. */
tmaring_status tmaring__fail(tmaring_status status, const char *format, ...) TMARING__PRINTF(2, 3);

/* Forwards a failure. */
#define TMARING__TRY(call)                                                                                             \
  do {                                                                                                                 \
    const tmaring_status try_status_ = (call);                                                                         \
    if (try_status_ != TMARING_OK) return try_status_;                                                                 \
  } while (0)

/* Forwards a failure to a clean-up label; `status` is the function's variable. */
#define TMARING__TRY_GOTO(call, label)                                                                                 \
  do {                                                                                                                 \
    status = (call);                                                                                                   \
    if (status != TMARING_OK) goto label;                                                                              \
  } while (0)

/* Refuses a null or wrongly sized argument by name. */
#define TMARING__NEED(pointer)                                                                                         \
  do {                                                                                                                 \
    if (!(pointer))                                                                                                    \
      return tmaring__fail(TMARING_ERROR_ARGUMENT, "%s: got NULL, needs an object; pass its address", #pointer);       \
  } while (0)
#define TMARING__NEED_SIZE(pointer)                                                                                    \
  do {                                                                                                                 \
    TMARING__NEED(pointer);                                                                                            \
    if ((pointer)->size != sizeof *(pointer))                                                                          \
      return tmaring__fail(TMARING_ERROR_ARGUMENT, "%s->size: got %zu, needs %zu; use the struct's initializer",       \
                           #pointer, (pointer)->size, sizeof *(pointer));                                              \
  } while (0)

#endif

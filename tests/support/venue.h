/* A backend with what tests need around it: memory, a machine, a stream. */
#ifndef TMARING_TESTS_VENUE_H
#define TMARING_TESTS_VENUE_H

#include "memory_place.h"
#include "tmaring/launch.h"

typedef struct venue {
  tmaring_backend backend;
  const char *name; /* "cpu", "cuda" */
  const memory_place *place;
  tmaring_machine machine; /* cpu: the built-in H200 */
  struct CUstream_st *stream;
  void *context; /* cuda: the primary context, current in the thread that opened the venue */
} venue;

/* Opens a venue. NULL, or why there is none here (static until the thread's next failing call): a test is then skipped.
 * The primary context lives until the process ends. */
const char *venue_open(venue *v, tmaring_backend backend);
/* Waits for the stream; 1 if nothing went wrong on it. */
int venue_settle(const venue *v);
void venue_close(venue *v);

/* Opens the cuda venue `v`, or skips the running test with the reason. */
#define VENUE_NEED_CUDA(v)                                                                                             \
  do {                                                                                                                 \
    const char *venue_reason_ = venue_open((v), TMARING_BACKEND_CUDA);                                                 \
    if (venue_reason_) cr_skip_test("no GPU here: %s", venue_reason_);                                                 \
  } while (0)

/* Defines a body, run_NAME, and one test per backend, with the seconds that each may take. */
#define VENUE_TEST_FOR(suite, name, cpu_seconds, cuda_seconds)                                                         \
  static void run_##name(const venue *v);                                                                              \
  Test(suite, name##_cpu, .timeout = (cpu_seconds))                                                                    \
  {                                                                                                                    \
    venue v;                                                                                                           \
    cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));                                                               \
    run_##name(&v);                                                                                                    \
  }                                                                                                                    \
  Test(suite, name##_cuda, .timeout = (cuda_seconds))                                                                  \
  {                                                                                                                    \
    venue v;                                                                                                           \
    VENUE_NEED_CUDA(&v);                                                                                               \
    run_##name(&v);                                                                                                    \
    venue_close(&v);                                                                                                   \
  }                                                                                                                    \
  static void run_##name(const venue *v)

/* On a GPU each kernel is compiled first, at about a second each. */
#define VENUE_TEST(suite, name) VENUE_TEST_FOR(suite, name, 60, 300)

#endif

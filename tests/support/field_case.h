/* Cases from the field: a body per case, run on both backends under the case's name. Needs criterion/criterion.h before
 * it. */
#ifndef TMARING_TESTS_FIELD_CASE_H
#define TMARING_TESTS_FIELD_CASE_H

#include "tally.h"

/* Bodies run trials with field_run, or op_trial_count. */
typedef void field_body(const venue *v, tally *sum);

/* Runs a trial and counts it. */
trial_result field_run(tally *sum, const venue *v, const trial *t);
/* Runs the body on an open venue and prints the closing line. A field case runs: a refusal is a failure too. NULL, or
 * the first failure (static until the next call). */
const char *field_run_body(const venue *v, const char *id, field_body *body);

/* Defines run_ID as the body, and one test per backend. */
#define FIELD_CASE(id)                                                                                                 \
  static void run_##id(const venue *v, tally *sum);                                                                    \
  Test(cases, id##_cpu, .timeout = 120)                                                                                \
  {                                                                                                                    \
    venue v;                                                                                                           \
    cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));                                                               \
    const char *failure = field_run_body(&v, #id, run_##id);                                                           \
    cr_assert_null(failure, "%s", failure);                                                                            \
  }                                                                                                                    \
  Test(cases, id##_cuda, .timeout = 120)                                                                               \
  {                                                                                                                    \
    venue v;                                                                                                           \
    VENUE_NEED_CUDA(&v);                                                                                               \
    const char *failure = field_run_body(&v, #id, run_##id);                                                           \
    venue_close(&v);                                                                                                   \
    cr_assert_null(failure, "%s", failure);                                                                            \
  }                                                                                                                    \
  static void run_##id(const venue *v, tally *sum)

#endif

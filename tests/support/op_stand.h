/* A ready op's memory, views and call, all right, to be changed by a test. */
#ifndef TMARING_TESTS_OP_STAND_H
#define TMARING_TESTS_OP_STAND_H

#include <criterion/criterion.h>
#include <string.h>

#include "../../src/host/ops/plan_cache.h"
#include "op_call.h"

typedef struct op_stand {
  op_trial trial;
  op_state s; /* its trial is the stand's: a stand is not copied to another place */
  tmaring_view v[TMARING_OP_MAX_TENSORS];
  tmaring_call call;
} op_stand;

/* The running test fails where memory or a call does. */
void op_stand_open(op_stand *d, const venue *v, const char *op, tmaring_dtype dtype, int64_t rows, int64_t cols);
void op_stand_close(op_stand *d);
/* The typed call, with views, scalars and call as they are now. */
tmaring_status op_stand_call(op_stand *d);
/* The call goes through, and gives the right results. */
void op_stand_expect_right(op_stand *d);

/* What the cache of plans is asked, and what it has; NULL: nothing. */
tmaring__op_request op_stand_request(op_stand *d);
const tmaring__op_entry *op_stand_entry(op_stand *d);

/* Defines a body and one test per backend. */
#define OP_TEST(suite, name)                                                                                           \
  static void run_##name(const venue *v);                                                                              \
  Test(suite, name##_cpu, .timeout = 120)                                                                              \
  {                                                                                                                    \
    venue v;                                                                                                           \
    cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));                                                               \
    run_##name(&v);                                                                                                    \
    tmaring_ops_reset();                                                                                               \
  }                                                                                                                    \
  Test(suite, name##_cuda, .timeout = 900)                                                                             \
  {                                                                                                                    \
    venue v;                                                                                                           \
    VENUE_NEED_CUDA(&v);                                                                                               \
    run_##name(&v);                                                                                                    \
    tmaring_ops_reset();                                                                                               \
    venue_close(&v);                                                                                                   \
  }                                                                                                                    \
  static void run_##name(const venue *v)

/* The status, and a detail that has the word. */
#define EXPECT_REFUSAL(made, expected, word)                                                                           \
  do {                                                                                                                 \
    const tmaring_status refusal_ = (made);                                                                            \
    cr_expect_eq(refusal_, (expected), "%s: got %s, needs %s", #made, tmaring_status_name(refusal_),                   \
                 tmaring_status_name(expected));                                                                       \
    cr_expect_not_null(strstr(tmaring_last_detail(), (word)), "%s: \"%s\" does not name %s", #made,                    \
                       tmaring_last_detail(), (word));                                                                 \
  } while (0)

#endif

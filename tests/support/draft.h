/* What a plan is made from, in one place, for tests of the planner: dense aligned tensors of one type, an H200, all
 * options open. Change what the test is about, then plan. */
#ifndef TMARING_TESTS_DRAFT_H
#define TMARING_TESTS_DRAFT_H

#include "tmaring/tmaring.h"

#define DRAFT_MAX_TENSORS 32

typedef struct draft {
  tmaring_formula *formula;
  int32_t count;
  tmaring_tensor tensor[DRAFT_MAX_TENSORS];
  tmaring_machine machine;
  tmaring_plan_options options;
} draft;

/* Fails the test where the formula does not parse. draft_free frees it. */
draft draft_make(const char *formula, tmaring_dtype dtype, int64_t rows, int64_t cols);
void draft_free(draft *d);

/* Index of a tensor parameter; fails the test where there is none of that name. */
int32_t draft_tensor(const draft *d, const char *name);

/* The plan, or NULL and *status. */
tmaring_plan *draft_plan(const draft *d, tmaring_status *status);
/* The plan; fails the test where it is refused. */
tmaring_plan *draft_accept(const draft *d);
/* Arguments at `rows`; fails the test on an error. */
tmaring_args draft_args(const tmaring_plan *plan, int64_t rows);
tmaring_plan_info draft_info(const tmaring_plan *plan);
/* The first note that has these words; NULL: none. */
const char *draft_note(const tmaring_plan *plan, const char *words);

#endif

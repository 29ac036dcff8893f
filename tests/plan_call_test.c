/* What making a plan refuses, and how it names it. */
#include <criterion/criterion.h>
#include <string.h>

#include "tmaring/tmaring.h"

typedef struct bench {
  tmaring_formula *formula;
  tmaring_tensor tensor[3];
  tmaring_machine machine;
  tmaring_plan_options options;
} bench;

/* y = x * w[N] over [100,256]. */
static bench bench_make(void)
{
  const tmaring_tensor empty = TMARING_TENSOR_INIT;
  bench b;
  memset(&b, 0, sizeof b);
  cr_assert_eq(tmaring_formula_parse(&b.formula, "y = x * w[N]"), TMARING_OK);
  for (int i = 0; i < 3; ++i) {
    b.tensor[i] = empty;
    b.tensor[i].rows = i == 1 ? 1 : 100;
    b.tensor[i].cols = 256;
  }
  tmaring_machine_h200(&b.machine);
  tmaring_plan_options_init(&b.options);
  return b;
}

/* The status, a detail that has the word, and no plan; then frees the bench. */
static void expect_refusal(bench *b, int32_t count, tmaring_status expected, const char *word)
{
  tmaring_plan *plan = (tmaring_plan *)b;
  const tmaring_status status = tmaring_plan_create(&plan, b->formula, b->tensor, count, &b->machine, &b->options);
  cr_expect_eq(status, expected, "%s: got %s, needs %s (%s)", word, tmaring_status_name(status),
               tmaring_status_name(expected), tmaring_last_detail());
  cr_expect_not_null(strstr(tmaring_last_detail(), word), "\"%s\" does not name %s", tmaring_last_detail(), word);
  cr_expect_null(plan);
  tmaring_formula_free(b->formula);
}

Test(plan_call, a_good_bench_is_planned, .timeout = 10)
{
  bench b = bench_make();
  tmaring_plan *plan = NULL;
  cr_assert_eq(tmaring_plan_create(&plan, b.formula, b.tensor, 3, &b.machine, &b.options), TMARING_OK);
  cr_expect_eq(tmaring_check(plan, 100, NULL), TMARING_OK);
  tmaring_plan_free(plan);
  tmaring_formula_free(b.formula);
}

Test(plan_call, count_of_tensors, .timeout = 10)
{
  bench b = bench_make();
  expect_refusal(&b, 2, TMARING_ERROR_ARGUMENT, "count");
}

#define REFUSES(name, change, status, word)                                                                            \
  Test(plan_call, name, .timeout = 10)                                                                                 \
  {                                                                                                                    \
    bench b = bench_make();                                                                                            \
    change;                                                                                                            \
    expect_refusal(&b, 3, status, word);                                                                               \
  }

REFUSES(size_of_tensor, b.tensor[0].size = 8, TMARING_ERROR_ARGUMENT, "size")
REFUSES(dtype, b.tensor[0].dtype = (tmaring_dtype)99, TMARING_ERROR_TYPE, "dtype")
REFUSES(no_columns, b.tensor[0].cols = 0, TMARING_ERROR_SHAPE, "cols")
REFUSES(columns_differ, b.tensor[2].cols = 255, TMARING_ERROR_SHAPE, "y")
REFUSES(vector_differs, b.tensor[1].cols = 255, TMARING_ERROR_SHAPE, "w")
REFUSES(vector_of_rows, b.tensor[1].rows = 100, TMARING_ERROR_SHAPE, "w")
REFUSES(rows_differ, b.tensor[2].rows = 99, TMARING_ERROR_SHAPE, "y")
REFUSES(rows_negative, b.tensor[0].rows = -1, TMARING_ERROR_SHAPE, "rows")
REFUSES(pitch_below_columns, b.tensor[0].pitch = 255, TMARING_ERROR_SHAPE, "pitch")
REFUSES(alignment_of_no_power, b.tensor[0].alignment = 12, TMARING_ERROR_ALIGNMENT, "alignment")
REFUSES(alignment_below_element, b.tensor[0].alignment = 2, TMARING_ERROR_ALIGNMENT, "alignment")
REFUSES(size_of_machine, b.machine.size = 0, TMARING_ERROR_ARGUMENT, "size")
REFUSES(size_of_options, b.options.size = 1, TMARING_ERROR_ARGUMENT, "size")
REFUSES(no_stages, b.options.stages = 0, TMARING_ERROR_ARGUMENT, "stages")
REFUSES(too_many_stages, b.options.stages = TMARING_MAX_STAGES + 1, TMARING_ERROR_ARGUMENT, "stages")
REFUSES(prefetch_of_stages, (b.options.stages = 2, b.options.prefetch = 2), TMARING_ERROR_ARGUMENT, "prefetch")
REFUSES(prefetch_below, (b.options.stages = 2, b.options.prefetch = -3), TMARING_ERROR_ARGUMENT, "prefetch")
REFUSES(mode, b.options.mode = 2, TMARING_ERROR_ARGUMENT, "mode")
REFUSES(order, b.options.order = 4, TMARING_ERROR_ARGUMENT, "order")
REFUSES(policy, b.options.policy = 4, TMARING_ERROR_ARGUMENT, "policy")
REFUSES(scope, b.options.scope = 7, TMARING_ERROR_ARGUMENT, "scope")
REFUSES(no_workers, b.options.workers = 0, TMARING_ERROR_ARGUMENT, "workers")
REFUSES(lanes_of_no_power, (b.options.scope = TMARING_SCOPE_LANES, b.options.lanes_per_row = 3), TMARING_ERROR_ARGUMENT,
        "lanes_per_row")
REFUSES(stages_beyond_memory, (b.options.stages = 16, b.options.tile_rows = 64, b.options.piece_cols = 256),
        TMARING_ERROR_CAPACITY, "232448")

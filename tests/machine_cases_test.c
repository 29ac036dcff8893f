/* Cases from the field about what a machine has: shared memory, SMs, and the ends of allocations. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/field_case.h"

/* F23: shared memory on both sides of the 48 KiB that need no opt-in and up to the limit. The ring's header takes 128
 * bytes, so N = bytes of the stage / 4 gives the total that is asked for. */
static trial big_row(int64_t total)
{
  trial t = trial_begin(RECIPE_DOUBLE, TMARING_F32, 3, (total - 128) / 4);
  t.options.stages = 1;
  t.options.tile_rows = 1;
  t.options.piece_cols = (int32_t)t.cols;
  t.options.scope = TMARING_SCOPE_FLAT;
  t.options.store = TMARING_STORE_DIRECT;
  return t;
}

FIELD_CASE(F23)
{
  static const int64_t totals[] = {49152 - 128, 49152, 49152 + 128, 65536 + 128, 232448};
  for (size_t i = 0; i < sizeof totals / sizeof totals[0]; ++i) {
    const trial t = big_row(totals[i]);
    const trial_result result = field_run(sum, v, &t);
    cr_expect_eq(result.args.smem.total, totals[i], "%u", (unsigned)result.args.smem.total);
  }
  const trial over = big_row(232448 + 128);
  const trial_result refused = trial_run(&over, v);
  cr_expect_eq(refused.outcome, TRIAL_REFUSED, "%s", refused.text);
  cr_expect_eq(refused.status, TMARING_ERROR_CAPACITY);
  cr_expect_not_null(strstr(refused.text, "232576"), "%s", refused.text);
  cr_expect_not_null(strstr(refused.text, "232448"), "%s", refused.text);
}

/* F25: any number of SMs, planned or forced, gives the same results. Plans for more SMs than there are run too. */
FIELD_CASE(F25)
{
  static const int32_t counts[] = {132, 114, 78, 26, 16, 4, 1, 264};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
    tmaring_machine machine = v->machine;
    machine.sm_count = counts[i];
    for (int32_t order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_TICKET; ++order) {
      trial t = trial_begin(order & 1 ? RECIPE_ADD_ONE : RECIPE_RMSNORM, TMARING_F32, 1000, 1024);
      t.options.order = order;
      t.machine = &machine;
      field_run(sum, v, &t);
      t.options.workers = counts[i];
      field_run(sum, v, &t);
    }
  }
}

/* Tensors that end with the last byte of their allocation: a window that is not clipped to the tensor reads past it,
 * which memcheck and AddressSanitizer see. */
static void fill_allocations(const venue *v, tally *sum, tmaring_dtype dtype, int64_t cols)
{
  for (int layout = 0; layout < LAYOUT_COUNT; ++layout) {
    for (int32_t store = TMARING_STORE_DIRECT; store <= TMARING_STORE_BULK; ++store) {
      trial t = trial_begin(layout & 1 ? RECIPE_RMSNORM : RECIPE_TWO, dtype, 5, cols);
      trial_lay_out(&t, (trial_layout)layout);
      t.options.store = store;
      t.own_memory = 1;
      field_run(sum, v, &t);
    }
  }
}

FIELD_CASE(exact_memory)
{
  static const int64_t cols[] = {1, 3, 33, 255, 256, 1023};
  for (int dtype = 0; dtype < RECIPE_DTYPES; ++dtype) {
    for (size_t i = 0; i < sizeof cols / sizeof cols[0]; ++i) fill_allocations(v, sum, (tmaring_dtype)dtype, cols[i]);
  }
}

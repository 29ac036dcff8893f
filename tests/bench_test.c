/* What measurements stand on: statistics, operands and their places. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../src/host/bench/bench.h"
#include "support/number.h"

Test(bench, takes_medians_and_spreads, .timeout = 10)
{
  tmaring__statistics s;
  double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
  tmaring__statistics_make(&s, odd, 3);
  cr_expect(s.count == 3 && s.median == 3 && s.low == 1 && s.high == 5 && s.quartile_spread == 2);
  tmaring__statistics_make(&s, even, 4);
  cr_expect(s.count == 4 && s.median == 2.5 && s.low == 1 && s.high == 4 && s.quartile_spread == 1.5);
  tmaring__statistics_make(&s, one, 1);
  cr_expect(s.count == 1 && s.median == 7 && s.low == 7 && s.high == 7 && s.quartile_spread == 0);
  tmaring__statistics_make(&s, one, 0);
  cr_expect(s.count == 0 && s.median == 0);
}

Test(bench, has_a_clock_that_goes_forward, .timeout = 10)
{
  const double start = tmaring__now_us();
  double now = start;
  for (int i = 0; i < 1000; ++i) {
    const double next = tmaring__now_us();
    cr_assert(next >= now);
    now = next;
  }
  cr_expect(now > start && now - start < 5e6);
}

Test(bench, fills_with_numbers_that_are_not_zero, .timeout = 10)
{
  enum { COUNT = 20000 };
  for (int t = 0; t < TMARING_DTYPE_COUNT; ++t) {
    unsigned char *const data = malloc(8 * COUNT + 8), *const again = malloc(8 * COUNT);
    const size_t element = tmaring_dtype_bytes(t);
    const double least = number_is_integer((tmaring_dtype)t) ? 1 : 0.5,
                 most = number_is_integer((tmaring_dtype)t) ? 128 : 2;
    double sum = 0;
    memset(data, 0x55, 8 * COUNT + 8);
    tmaring__fill_random(data, (tmaring_dtype)t, COUNT, 9);
    for (size_t i = 0; i < COUNT; ++i) {
      const double v = number_read((tmaring_dtype)t, data + i * element);
      cr_assert(fabs(v) >= least && fabs(v) < most, "%s: %g", tmaring_dtype_name((tmaring_dtype)t), v);
      sum += v;
    }
    cr_expect(fabs(sum) < 0.03 * most * COUNT, "signs are uneven: %g", sum);
    cr_expect_eq(data[COUNT * element], 0x55, "wrote past the end");
    tmaring__fill_random(again, (tmaring_dtype)t, COUNT - 1, 10);
    cr_expect(memcmp(again, data + element, (COUNT - 1) * element) == 0, "the sequence depends on where it begins");
    free(data), free(again);
  }
}

/* A plan of y = x * w[N]; s = sum(x) with x pitched and off alignment. */
static tmaring_plan *make_plan(void)
{
  tmaring_formula *formula;
  tmaring_machine machine;
  tmaring_plan *plan;
  tmaring_tensor t[4] = {TMARING_TENSOR_INIT, TMARING_TENSOR_INIT, TMARING_TENSOR_INIT, TMARING_TENSOR_INIT};
  for (int i = 0; i < 4; ++i) t[i].rows = 7, t[i].cols = 33;
  t[0].dtype = TMARING_F16, t[0].pitch = 40, t[0].alignment = 2;
  t[1].rows = 1;
  t[3].cols = 1;
  tmaring_machine_h200(&machine);
  cr_assert_eq(tmaring_formula_parse(&formula, "y = x * w[N]; s = sum(x)"), TMARING_OK);
  cr_assert_eq(tmaring_plan_create(&plan, formula, t, 4, &machine, NULL), TMARING_OK, "%s", tmaring_last_detail());
  tmaring_formula_free(formula);
  return plan;
}

Test(bench, lays_operands_out, .timeout = 10)
{
  tmaring__layout layout;
  tmaring_plan *const plan = make_plan();
  cr_assert_eq(tmaring__layout_make(&layout, plan, 7), TMARING_OK);
  static const size_t bytes[4] = {2 * (6 * 40 + 33), 4 * 33, 4 * 7 * 33, 4 * 7};
  size_t end = 0;
  for (int i = 0; i < 4; ++i) {
    cr_expect_eq(layout.bytes[i], bytes[i]);
    cr_expect_geq(layout.offset[i], end, "operands overlap");
    cr_expect_eq(layout.offset[i] % 256, i == 0 ? 2 : 16, "aligned better than was promised");
    end = layout.offset[i] + layout.bytes[i];
  }
  cr_expect(layout.total >= end && layout.total % 256 == 0);
  cr_expect_eq(layout.read_bytes, 2 * 7 * 33 + 4 * 33);
  cr_expect_eq(layout.written_bytes, 4 * 7 * 33 + 4 * 7);
  cr_expect_eq(tmaring__layout_make(&layout, plan, INT64_MAX / 64), TMARING_ERROR_CAPACITY);
  cr_expect(strstr(tmaring_last_detail(), "needs operands below 2^62 bytes"), "%s", tmaring_last_detail());
  tmaring_plan_free(plan);
}

/* Every shape beside each other: halves, groups of columns by column, one value for all rows, pitched values, rows in
 * groups, results of columns. */
Test(bench, lays_out_every_shape, .timeout = 10)
{
  static const char text[] = "f(x[M,2N], z[M,N], a[M], v[M], q[M,N/64]) = y = first(x) * second(x) * a + z * v * q; "
                             "b = colsum(z); out s = gamax(z, 32)";
  enum { X, Z, A, V, Q, Y, B, S, COUNT };
  tmaring_tensor t[COUNT];
  tmaring__layout layout;
  tmaring_formula *formula;
  tmaring_machine machine;
  tmaring_plan *plan;
  for (int i = 0; i < COUNT; ++i) t[i] = (tmaring_tensor)TMARING_TENSOR_INIT, t[i].rows = 10, t[i].cols = 128;
  t[X].cols = 256, t[X].dtype = TMARING_BF16, t[X].pitch = 300;
  t[Z].group_rows = 4, t[Z].group_pitch = 1000;
  t[A].cols = 1, t[A].pitch = TMARING_ONE_VALUE;
  t[V].cols = 1, t[V].pitch = 3, t[V].dtype = TMARING_F64;
  t[Q].cols = 2, t[Q].pitch = 1, t[Q].step = 10, t[Q].dtype = TMARING_BF16;
  t[B].rows = 1, t[B].dtype = TMARING_F64;
  t[S].cols = 4, t[S].dtype = TMARING_E4M3;
  tmaring_machine_h200(&machine);
  cr_assert_eq(tmaring_formula_parse(&formula, text), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_plan_create(&plan, formula, t, COUNT, &machine, NULL), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring__layout_make(&layout, plan, 10), TMARING_OK, "%s", tmaring_last_detail());
  static const size_t bytes[COUNT] = {
      [X] = 2 * (9 * 300 + 256),
      [Z] = 4 * (2 * 1000 + 128 + 128),
      [A] = 4,
      [V] = 8 * (9 * 3 + 1),
      [Q] = 2 * 20,
      [Y] = 4 * 1280,
      [B] = 8 * 128,
      [S] = 40,
  };
  for (int i = 0; i < COUNT; ++i) cr_expect_eq(layout.bytes[i], bytes[i], "tensor %d: %zu", i, layout.bytes[i]);
  cr_expect_eq(layout.read_bytes, 2 * 2560 + 4 * 1280 + 4 + 8 * 10 + 2 * 20);
  cr_expect_eq(layout.written_bytes, 4 * 1280 + 8 * 128 + 40);
  cr_expect_eq(tmaring__layout_make(&layout, plan, (int64_t)1 << 31), TMARING_ERROR_CAPACITY);
  cr_expect(strstr(tmaring_last_detail(), "at most 2147483647 rows"), "%s", tmaring_last_detail());
  tmaring_plan_free(plan);
  tmaring_formula_free(formula);
}

Test(bench, labels_are_columns, .timeout = 10)
{
  enum { COUNT = 5000 };
  static int64_t label[COUNT];
  tmaring_tensor t[3] = {TMARING_TENSOR_INIT, TMARING_TENSOR_INIT, TMARING_TENSOR_INIT};
  tmaring_formula *formula;
  tmaring_machine machine;
  tmaring_plan *plan;
  int32_t seen[37] = {0};
  t[0].cols = 37, t[1].cols = t[2].cols = 1;
  t[1].dtype = TMARING_I64;
  tmaring_machine_h200(&machine);
  cr_assert_eq(tmaring_formula_parse(&formula, "y = x[label[M]]"), TMARING_OK);
  cr_assert_eq(tmaring_plan_create(&plan, formula, t, 3, &machine, NULL), TMARING_OK, "%s", tmaring_last_detail());
  tmaring__fill_operand(label, plan, 1, COUNT);
  for (int i = 0; i < COUNT; ++i) {
    cr_assert(label[i] >= 0 && label[i] < 37, "%lld", (long long)label[i]);
    seen[label[i]] += 1;
  }
  for (int i = 0; i < 37; ++i) cr_expect_gt(seen[i], COUNT / 37 / 2);
  tmaring_plan_free(plan);
  tmaring_formula_free(formula);
}

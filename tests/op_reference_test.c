/* The references of the ops themselves: the catalogue has no op without one, and the library's oracle agrees with every
 * one of them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/op_layout.h"
#include "tmaring/ops.h"

static tmaring_op_info describe(int32_t index)
{
  tmaring_op_info info;
  info.size = sizeof info;
  cr_assert_eq(tmaring_op_describe(index, &info), TMARING_OK, "%s", tmaring_last_detail());
  return info;
}

Test(op_reference, every_op_has_one, .timeout = 20)
{
  cr_expect_eq(tmaring_op_count(), op_reference_count());
  for (int32_t i = 0; i < tmaring_op_count(); ++i) {
    const tmaring_op_info info = describe(i);
    cr_expect_not_null(op_reference_find(info.name), "%s", info.name);
  }
}

/* Calls number outputs first, formulas and references inputs first. */
static uint32_t types_of(const tmaring_op_info *info, int32_t tensor)
{
  const int32_t inputs = info->tensor_count - info->output_count;
  return info->dtypes[tensor < inputs ? info->output_count + tensor : tensor - inputs];
}

static void check_types(const op_trial *t, const tmaring_op_info *info)
{
  for (int32_t i = 0; i < info->tensor_count; ++i) {
    const tmaring_dtype dtype = op_type_of(t, op_reference_letter(t->op, i));
    cr_expect(types_of(info, i) >> dtype & 1, "%s: tensor %d, %s", info->name, (int)i, tmaring_dtype_name(dtype));
  }
}

/* What the references take for an op's types is what the catalogue lists. */
Test(op_reference, types_are_those_of_the_catalogue, .timeout = 20)
{
  for (int32_t i = 0; i < op_reference_count(); ++i) {
    op_trial t = op_trial_begin(op_reference_at(i)->name, TMARING_F32, 1, 1);
    const tmaring_op_info info = describe(tmaring_op_find(t.op->name));
    tmaring_dtype inputs[TMARING_DTYPE_COUNT], outputs[TMARING_DTYPE_COUNT];
    cr_expect_eq(info.tensor_count, (int32_t)strlen(t.op->types) - 1);
    const int32_t count = op_reference_inputs(t.op, inputs);
    for (int32_t k = 0; k < count; ++k) {
      t.in = inputs[k];
      const int32_t possible = op_reference_outputs(t.op, t.in, outputs);
      for (int32_t m = 0; m < 2 * possible; ++m) {
        t.out = outputs[m / 2];
        t.mixed = m % 2;
        check_types(&t, &info);
      }
    }
  }
}

static void agree(tally *sum, const venue *v, const op_trial *t)
{
  op_state s;
  if (op_begin(&s, t, v) && op_furnish(&s) && op_ask_oracle(&s)) op_judge(&s);
  tally_count(sum, &s.result);
  op_close(&s);
}

/* Two references in double, and the same roundings: the tolerances are those of a backend. */
Test(op_reference, the_oracle_agrees, .timeout = 120)
{
  static const int64_t cols[] = {1, 7, 128, 769};
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  tally sum = tally_begin("references and oracle", v.name);
  for (int32_t i = 0; i < op_reference_count(); ++i) {
    tmaring_dtype inputs[TMARING_DTYPE_COUNT], outputs[TMARING_DTYPE_COUNT];
    op_trial t = op_trial_begin(op_reference_at(i)->name, TMARING_F32, 7, 0);
    const int32_t count = op_reference_inputs(t.op, inputs);
    for (int32_t k = 0; k < 4 * count; ++k) {
      t.in = inputs[k / 4];
      t.out = outputs[k % op_reference_outputs(t.op, t.in, outputs)];
      t.cols = cols[k % 4];
      t.mixed = k / 2 % 2;
      t.layout = (op_layout)(k % OP_LAYOUTS);
      t.data = k % 3 == 0 ? DATA_PLAIN : k % 3 == 1 ? DATA_STEEP : DATA_WHOLE;
      t.seed = (uint64_t)(i * 100 + k);
      agree(&sum, &v, &t);
    }
  }
  tally_close(&sum);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_assert_eq(sum.refused, 0);
}

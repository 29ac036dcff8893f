/* Every ready op by its call: results against references in double that share nothing with the formulas, in each type
 * and layout, in place, with and without a workspace, for no rows; and what the catalogue says of itself. */
#include <stdio.h>

#include "support/op_stand.h"

static tmaring_op_info describe(int32_t index)
{
  tmaring_op_info info = {.size = sizeof info};
  cr_assert_eq(tmaring_op_describe(index, &info), TMARING_OK, "%s", tmaring_last_detail());
  return info;
}

/* Column reductions need a workspace. */
static int needs_workspace(const char *op)
{
  return strncmp(op, "col_", 4) == 0 || strstr(op, "backward") != NULL;
}

static void count_call(tally *sum, const op_trial *t, const venue *v, int with_workspace)
{
  if (!with_workspace && needs_workspace(t->op->name)) return;
  const trial_result result = op_call_trial(t, v, with_workspace);
  tally_count(sum, &result);
}

static void close(const tally *sum)
{
  tally_close(sum);
  cr_expect_eq(sum->failed, 0, "%s", sum->first_failure);
  cr_expect_eq(sum->refused, 0);
  cr_expect_gt(sum->passed, 0);
}

/* The types of a server, and the widest; some lists of ops leave one out. */
static int takes(const op_reference *op, tmaring_dtype dtype)
{
  tmaring_dtype types[TMARING_DTYPE_COUNT];
  const int32_t count = op_reference_inputs(op, types);
  for (int32_t i = 0; i < count; ++i)
    if (types[i] == dtype) return 1;
  return 0;
}

static op_trial trial_of(const op_reference *op, tmaring_dtype dtype, int64_t rows, int64_t cols)
{
  tmaring_dtype outputs[TMARING_DTYPE_COUNT];
  op_trial t = op_trial_begin(op->name, dtype, rows, cols);
  op_reference_outputs(op, dtype, outputs);
  t.out = outputs[0];
  return t;
}

OP_TEST(ops, every_op_gives_its_reference)
{
  static const tmaring_dtype types[] = {TMARING_BF16, TMARING_F16, TMARING_F32, TMARING_F64};
  tally sum = tally_begin("calls", v->name);
  cr_expect_eq(op_call_count(), tmaring_op_count());
  for (int32_t i = 0; i < op_reference_count(); ++i) {
    for (int32_t k = 0; k < 8; ++k) {
      const op_reference *op = op_reference_at(i);
      if (!takes(op, types[k / 2])) continue;
      op_trial t = trial_of(op, types[k / 2], 7, k % 2 ? 264 : 111);
      t.layout = (op_layout)((i + k) % OP_LAYOUTS);
      t.seed = (uint64_t)(8 * i + k + 1);
      count_call(&sum, &t, v, k / 2 % 2);
    }
  }
  close(&sum);
}

/* Outputs of other types than the inputs', weights and scales of their own types. */
OP_TEST(ops, types_of_a_call_may_differ)
{
  tally sum = tally_begin("calls of mixed types", v->name);
  for (int32_t i = 0; i < op_reference_count(); ++i) {
    const op_reference *op = op_reference_at(i);
    tmaring_dtype outputs[TMARING_DTYPE_COUNT];
    const int32_t count = op_reference_outputs(op, TMARING_BF16, outputs);
    for (int32_t k = 0; k < count; ++k) {
      op_trial t = op_trial_begin(op->name, TMARING_BF16, 5, 128);
      t.out = outputs[k];
      t.mixed = 1;
      t.one_value = k % 2;
      count_call(&sum, &t, v, 1);
    }
  }
  close(&sum);
}

/* F20, for every op and every input that its first output may lie over. */
OP_TEST(ops, outputs_may_lie_over_inputs)
{
  tally sum = tally_begin("calls in place", v->name);
  for (int32_t i = 0; i < op_reference_count(); ++i) {
    for (int32_t input = 0; input < 2; ++input) {
      op_trial t = trial_of(op_reference_at(i), TMARING_F32, 9, 257);
      if (!op_trial_may_alias(&t, input)) continue;
      t.in_place = input;
      t.layout = (op_layout)((i + input) % OP_LAYOUTS);
      count_call(&sum, &t, v, 1);
    }
  }
  close(&sum);
}

/* F13: no rows, no data, no error; then the same call with rows. */
OP_TEST(ops, no_rows_are_no_error)
{
  tally sum = tally_begin("calls without rows", v->name);
  for (int32_t i = 0; i < op_reference_count(); ++i) {
    const op_reference *op = op_reference_at(i);
    op_trial t = trial_of(op, TMARING_F32, 4, 2520);
    op_state s;
    tmaring_view views[TMARING_OP_MAX_TENSORS];
    tmaring_call call;
    cr_assert(op_begin(&s, &t, v) && op_furnish(&s), "%s", s.result.text);
    op_call_views(&s, views);
    cr_assert(op_call_begin(&s, views, &call), "%s", s.result.text);
    tmaring_view empty[TMARING_OP_MAX_TENSORS];
    memcpy(empty, views, sizeof empty);
    const tmaring_op_info info = describe(tmaring_op_find(op->name));
    for (int32_t k = 0; k < s.count; ++k) {
      if (info.tensor[k].shape != TMARING_SHAPE_ROW) empty[k].rows = 0;
      if (!needs_workspace(op->name)) empty[k].data = NULL;
    }
    cr_expect_eq(op_call_find(op->name)(empty, s.scalar, &call, v->stream), TMARING_OK, "%s: %s", op->name,
                 tmaring_last_detail());
    if (op_call_make(&s, views, &call)) op_judge(&s);
    tally_count(&sum, &s.result);
    op_close(&s);
  }
  close(&sum);
}

/* F20 as it was reported: gradients of rmsnorm over dy, and over x. */
OP_TEST(ops, reported_values_of_rmsnorm_in_place)
{
  static const float x[4] = {1.0f, 0.0f, 0.0f, 0.0f}, one[4] = {1.0f, 1.0f, 1.0f, 1.0f};
  float got[4];
  float *dy = v->place->take(sizeof x), *in = v->place->take(sizeof x), *w = v->place->take(sizeof x);
  float *dw = v->place->take(sizeof x);
  for (int over = 0; over < 3; ++over) {
    op_state s = {.venue = v};
    const tmaring_view views[] = {tmaring_view_matrix(over == 1 ? in : dy, TMARING_F32, 1, 4),
                                  tmaring_view_row(dw, TMARING_F32, 4), tmaring_view_matrix(dy, TMARING_F32, 1, 4),
                                  tmaring_view_matrix(in, TMARING_F32, 1, 4), tmaring_view_row(w, TMARING_F32, 4)};
    op_trial t = op_trial_begin("rmsnorm_backward", TMARING_F32, 1, 4);
    tmaring_call call;
    s.trial = &t;
    s.count = 5;
    cr_assert(v->place->upload(dy, x, sizeof x) && v->place->upload(in, x, sizeof x));
    cr_assert(v->place->upload(w, one, sizeof one));
    cr_assert(op_call_begin(&s, views, &call), "%s", s.result.text);
    const tmaring_status status = over < 2 ? tmaring_rmsnorm_backward(&views[0], &views[1], &views[2], &views[3],
                                                                      &views[4], 1e-4, &call, v->stream)
                                           : tmaring_rmsnorm(&views[3], &views[3], &views[4], 1e-4, &call, v->stream);
    cr_assert_eq(status, TMARING_OK, "%s", tmaring_last_detail());
    cr_assert(venue_settle(v) && v->place->download(got, over ? in : dy, sizeof got));
    cr_expect_float_eq(got[0], over < 2 ? 0.00079952 : 1.99960, 1e-5, "%d: got %g", over, got[0]);
    for (int i = 1; i < 4; ++i) cr_expect_eq(got[i], 0.0f);
    v->place->give(s.workspace);
  }
  v->place->give(dy);
  v->place->give(in);
  v->place->give(w);
  v->place->give(dw);
}

/* ---- the catalogue ---- */

/* Tensors of a call are those of the formula, outputs first, each with its types. */
static void check_row(int32_t index)
{
  const tmaring_op_info info = describe(index);
  tmaring_formula *formula = NULL;
  cr_expect_eq(tmaring_op_find(info.name), index);
  cr_assert_eq(tmaring_formula_parse(&formula, info.formula), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_eq(tmaring_formula_tensor_count(formula), info.tensor_count);
  cr_expect_eq(tmaring_formula_scalar_count(formula), info.scalar_count);
  cr_expect_neq(info.alias[0], 0);
  cr_expect_neq(info.group[0], 0);
  for (int32_t i = 0; i < info.tensor_count; ++i) {
    const int32_t inputs = info.tensor_count - info.output_count;
    cr_expect_eq(tmaring_formula_find(formula, info.tensor[i].name),
                 i < info.output_count ? inputs + i : i - info.output_count);
    cr_expect_eq(info.tensor[i].is_output, i < info.output_count);
    cr_expect_neq(info.dtypes[i], 0, "%s: %s has no type", info.name, info.tensor[i].name);
    if (info.dtype[i] >= 0) cr_expect(info.dtypes[i] >> info.dtype[i] & 1);
  }
  for (int32_t i = info.tensor_count; i < TMARING_OP_MAX_TENSORS; ++i) cr_expect_eq(info.dtypes[i], 0);
  tmaring_formula_free(formula);
}

Test(ops, the_catalogue_describes_its_calls, .timeout = 20)
{
  tmaring_op_info info = {.size = sizeof info};
  cr_expect_eq(tmaring_op_count(), 45);
  for (int32_t i = 0; i < tmaring_op_count(); ++i) check_row(i);
  cr_expect_eq(tmaring_op_find("rmsnorn"), -1);
  cr_expect_eq(tmaring_op_find(NULL), -1);
  cr_expect_eq(tmaring_op_describe(-1, &info), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_op_describe(tmaring_op_count(), &info), TMARING_ERROR_ARGUMENT);
  info.size = 1;
  cr_expect_eq(tmaring_op_describe(0, &info), TMARING_ERROR_ARGUMENT);
}

Test(ops, scalars_are_described, .timeout = 20)
{
  const tmaring_op_info info = describe(tmaring_op_find("swiglu_clamp"));
  cr_assert_eq(info.scalar_count, 3);
  cr_expect_str_eq(info.scalar[0].name, "limit");
  cr_expect_str_eq(info.scalar[1].name, "alpha");
  cr_expect_str_eq(info.scalar[2].name, "beta");
  const tmaring_op_info norm = describe(tmaring_op_find("layernorm"));
  cr_assert_eq(norm.scalar_count, 1);
  cr_expect(norm.scalar[0].has_default);
  cr_expect_float_eq(norm.scalar[0].default_value, 1e-5, 1e-12);
}

/* docs/ops.md shows each op's name and formula, word for word. */
Test(ops, the_page_lists_every_op, .timeout = 20)
{
  static char page[1 << 16];
  FILE *file = fopen("docs/ops.md", "r");
  if (!file) cr_skip_test("docs/ops.md is not here");
  page[fread(page, 1, sizeof page - 1, file)] = 0;
  fclose(file);
  for (int32_t i = 0; i < tmaring_op_count(); ++i) {
    const tmaring_op_info info = describe(i);
    char row[1024];
    snprintf(row, sizeof row, "| **%s** `%s` |", info.name, info.formula);
    cr_expect_not_null(strstr(page, row), "%s", row);
  }
}

#include "draft.h"

#include <criterion/criterion.h>
#include <string.h>

draft draft_make(const char *formula, tmaring_dtype dtype, int64_t rows, int64_t cols)
{
  const tmaring_tensor empty = TMARING_TENSOR_INIT;
  draft d;
  memset(&d, 0, sizeof d);
  cr_assert_eq(tmaring_formula_parse(&d.formula, formula), TMARING_OK, "%s", tmaring_last_detail());
  d.count = tmaring_formula_tensor_count(d.formula);
  cr_assert_leq(d.count, DRAFT_MAX_TENSORS);
  for (int32_t i = 0; i < d.count; ++i) {
    tmaring_parameter parameter;
    memset(&parameter, 0, sizeof parameter);
    parameter.size = sizeof parameter;
    cr_assert_eq(tmaring_formula_tensor(d.formula, i, &parameter), TMARING_OK);
    d.tensor[i] = empty;
    d.tensor[i].dtype = dtype;
    d.tensor[i].rows = parameter.shape == TMARING_SHAPE_ROW ? 1 : rows;
    d.tensor[i].cols = parameter.shape == TMARING_SHAPE_COLUMN   ? 1
                       : parameter.shape == TMARING_SHAPE_DOUBLE ? 2 * cols
                       : parameter.shape == TMARING_SHAPE_GROUP  ? tmaring_ceil_div(cols, parameter.group_cols)
                                                                 : cols;
  }
  tmaring_machine_h200(&d.machine);
  tmaring_plan_options_init(&d.options);
  return d;
}

void draft_free(draft *d)
{
  tmaring_formula_free(d->formula);
  d->formula = NULL;
}

int32_t draft_tensor(const draft *d, const char *name)
{
  const int32_t index = tmaring_formula_find(d->formula, name);
  cr_assert_geq(index, 0, "%s", name);
  return index;
}

tmaring_plan *draft_plan(const draft *d, tmaring_status *status)
{
  tmaring_plan *plan = NULL;
  *status = tmaring_plan_create(&plan, d->formula, d->tensor, d->count, &d->machine, &d->options);
  return plan;
}

tmaring_plan *draft_accept(const draft *d)
{
  tmaring_status status;
  tmaring_plan *plan = draft_plan(d, &status);
  cr_assert_eq(status, TMARING_OK, "%s: %s", tmaring_status_name(status), tmaring_last_detail());
  return plan;
}

tmaring_args draft_args(const tmaring_plan *plan, int64_t rows)
{
  tmaring_args args;
  cr_assert_eq(tmaring_plan_args(plan, rows, &args), TMARING_OK, "%s", tmaring_last_detail());
  return args;
}

tmaring_plan_info draft_info(const tmaring_plan *plan)
{
  tmaring_plan_info info;
  memset(&info, 0, sizeof info);
  info.size = sizeof info;
  cr_assert_eq(tmaring_plan_describe(plan, &info), TMARING_OK, "%s", tmaring_last_detail());
  return info;
}

const char *draft_note(const tmaring_plan *plan, const char *words)
{
  const char *note;
  for (int32_t i = 0; (note = tmaring_plan_note(plan, i)) != NULL; ++i) {
    if (strstr(note, words)) return note;
  }
  return NULL;
}

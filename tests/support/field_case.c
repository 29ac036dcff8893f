#include "field_case.h"

trial_result field_run(tally *sum, const venue *v, const trial *t)
{
  const trial_result result = trial_run(t, v);
  tally_count(sum, &result);
  return result;
}

const char *field_run_body(const venue *v, const char *id, field_body *body)
{
  static tally sum;
  sum = tally_begin(id, v->name);
  body(v, &sum);
  tally_close(&sum);
  if (sum.failed > 0) return sum.first_failure;
  if (sum.refused > 0) return sum.reason[0].text;
  return sum.passed > 0 ? NULL : "no trial ran";
}

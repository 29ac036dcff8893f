#include "op_stand.h"

#include "../../src/host/ops/op_context.h"

void op_stand_open(op_stand *d, const venue *v, const char *op, tmaring_dtype dtype, int64_t rows, int64_t cols)
{
  d->trial = op_trial_begin(op, dtype, rows, cols);
  cr_assert(op_begin(&d->s, &d->trial, v) && op_furnish(&d->s), "%s", d->s.result.text);
  op_call_views(&d->s, d->v);
  cr_assert(op_call_begin(&d->s, d->v, &d->call), "%s", d->s.result.text);
}

void op_stand_close(op_stand *d)
{
  op_close(&d->s);
}

tmaring_status op_stand_call(op_stand *d)
{
  return op_call_find(d->trial.op->name)(d->v, d->s.scalar, &d->call, d->s.venue->stream);
}

void op_stand_expect_right(op_stand *d)
{
  cr_expect(op_call_make(&d->s, d->v, &d->call) && op_judge(&d->s), "%s", d->s.result.text);
}

tmaring__op_request op_stand_request(op_stand *d)
{
  tmaring__op_request request;
  const tmaring__op_state *state;
  const tmaring_view *list[TMARING_OP_MAX_TENSORS];
  for (int32_t i = 0; i < d->s.count; ++i) list[i] = &d->v[i];
  cr_assert_eq(tmaring__op_state_get(tmaring_op_find(d->trial.op->name), &state), TMARING_OK);
  cr_assert_eq(tmaring__op_request_make(&request, state, list, d->s.count, &d->call), TMARING_OK);
  cr_assert_eq(tmaring__op_context_of(d->call.backend, d->s.venue->stream, &request.key.context), TMARING_OK);
  tmaring__op_request_hash(&request);
  return request;
}

const tmaring__op_entry *op_stand_entry(op_stand *d)
{
  const tmaring__op_request request = op_stand_request(d);
  return tmaring__plan_cache_find(&request);
}

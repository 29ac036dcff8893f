/* The call of each ready op, made with the tensors of a trial. */
#ifndef TMARING_TESTS_OP_CALL_H
#define TMARING_TESTS_OP_CALL_H

#include "op_trial.h"
#include "tmaring/ops.h"

/* Views in the order of calls: outputs, then inputs. Scalars in the formula's. */
typedef tmaring_status op_call_run(const tmaring_view *v, const double *s, const tmaring_call *call,
                                   struct CUstream_st *stream);

/* NULL: there is no call for the op. */
op_call_run *op_call_find(const char *name);
/* Ops that have one. */
int32_t op_call_count(void);

/* The trial's tensors as views; room for TMARING_OP_MAX_TENSORS. */
void op_call_views(op_state *s, tmaring_view *views);
/* A call on the venue's backend with a workspace for it; the state frees the workspace. 1, or 0 with the result set. */
int op_call_begin(op_state *s, const tmaring_view *views, tmaring_call *call);
/* Calls, waits and downloads. 1, or 0 with the result set. */
int op_call_make(op_state *s, const tmaring_view *views, const tmaring_call *call);

/* From end to end: memory, the call, the judgement. */
trial_result op_call_trial(const op_trial *t, const venue *v, int with_workspace);

#endif

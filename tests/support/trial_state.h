/* The inside of a running trial. */
#ifndef TMARING_TESTS_TRIAL_STATE_H
#define TMARING_TESTS_TRIAL_STATE_H

#include "trial.h"

#define TRIAL_MAX_TENSORS (RECIPE_MAX_TENSORS + RECIPE_MAX_OUTPUTS)

typedef struct trial_tensor {
  tmaring_tensor described;
  tmaring_shape shape;
  int32_t is_output;
  int32_t index;  /* among the recipe's inputs or outputs */
  guarded memory; /* empty for an output in place */
} trial_tensor;

typedef struct trial_state {
  const trial *trial;
  const venue *venue;
  const recipe *recipe;
  trial_result *result;
  tmaring_formula *formula;
  tmaring_plan *plan;
  tmaring_kernel *kernel;
  void *workspace;
  int32_t count;
  trial_tensor tensor[TRIAL_MAX_TENSORS];
} trial_state;

/* Sets the result and returns 0. */
int trial_fail(trial_state *s, const char *format, ...);
/* Sets the result from the status and the detail of a call of the library, and returns 0. */
int trial_fail_call(trial_state *s, tmaring_status status, const char *call);

/* Memory that holds an output's rows: its own, or the input's it lies over. */
guarded *trial_memory(trial_state *s, int32_t tensor);

/* Compares the downloaded results and guards; 0 and a failed result if something is wrong. */
int trial_judge(trial_state *s);

#endif

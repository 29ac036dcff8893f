/* One case from end to end: parse, plan, check, prepare, launch, compare, look at the guards. */
#ifndef TMARING_TESTS_TRIAL_H
#define TMARING_TESTS_TRIAL_H

#include "guarded.h"
#include "noise.h"
#include "recipe.h"
#include "venue.h"

/* How rows lie in memory. */
typedef enum trial_layout {
  LAYOUT_DENSE,   /* from a 256-byte boundary */
  LAYOUT_SHIFTED, /* dense, one element past a boundary */
  LAYOUT_PITCHED, /* the pitch is a multiple of 16 bytes above N */
  LAYOUT_ODD,     /* the pitch is an odd number of elements above N */
  LAYOUT_COUNT
} trial_layout;

typedef struct trial {
  recipe_name formula;
  tmaring_dtype dtype;        /* of the inputs */
  tmaring_dtype output_dtype; /* trial_begin sets it to dtype */
  int64_t rows, cols;
  int64_t pitch[2]; /* of inputs and of outputs in elements; 0: cols */
  size_t shift[2];  /* of inputs and of outputs: bytes past a multiple of 256 */
  data_kind data;
  uint64_t seed;
  int32_t in_place;   /* 1: output 0 lies over input 0 */
  int32_t own_memory; /* 1: exact-size allocations without guard bands */
  int32_t oracle;     /* 1: compare with tmaring_formula_evaluate too */
  int32_t unchecked;  /* 1: go on where tmaring_check finds a fault */
  int64_t hint;       /* M that the plan is told; -1, as trial_begin sets it: rows */
  tmaring_plan_options options;
  const tmaring_machine *machine; /* NULL: the venue's */
  void *keep;                     /* NULL, or where the rows of output 0 go as they came out, dense */
} trial;

typedef enum trial_outcome { TRIAL_PASSED, TRIAL_REFUSED, TRIAL_FAILED } trial_outcome;

typedef struct trial_result {
  trial_outcome outcome;
  tmaring_status status; /* of the call that refused or failed */
  tmaring_check_report report;
  tmaring_args args; /* of the launch, addresses zero; valid once planned */
  tmaring_plan_info info;
  char text[640]; /* why refused or failed */
} trial_result;

/* A trial of a formula with all options left to the planner. */
trial trial_begin(recipe_name formula, tmaring_dtype dtype, int64_t rows, int64_t cols);
void trial_lay_out(trial *t, trial_layout layout);

/* Runs it. Refused: the planner said UNSUPPORTED or CAPACITY, with its detail in text. TMARING_TEST_RELEASE=warp|thread
 * in the environment overrides options.release. Any thread that the venue's context is current in. */
trial_result trial_run(const trial *t, const venue *v);

/* Roundings along the longest chain of additions of a row, from the order of the plan's scope; and of a column. */
double trial_row_depth(const tmaring_args *args);
double trial_column_depth(const tmaring_args *args);

/* Fills the cache of compiled kernels for a machine that cannot compile, where TMARING_TEST_COMPILE is in the
 * environment; else does nothing. */
tmaring_status trial_compile(const tmaring_plan *plan);

/* One line that names the case: "rmsnorm f16 [131,257] ws-y cyclic skip warp bulk S3 P-1". */
void trial_name(const trial *t, char *text, size_t size);

#endif

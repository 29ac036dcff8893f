/* A ready op from end to end: the catalogue's formula, planned, checked, launched, compared with the reference. */
#ifndef TMARING_TESTS_OP_TRIAL_H
#define TMARING_TESTS_OP_TRIAL_H

#include "op_reference.h"
#include "tally.h"

#define OP_MAX_SCALARS 4

/* How tensors lie in memory. */
typedef enum op_layout {
  OP_DENSE,
  OP_SHIFTED, /* one element past a boundary */
  OP_PITCHED, /* the pitch is a multiple of 16 bytes above N; values per group lie by columns */
  OP_ODD,     /* the pitch is an odd number of elements above N; values per row are 3 elements apart */
  OP_GROUPED, /* rows in groups of three with a gap after each */
  OP_LAYOUTS
} op_layout;

struct op_trial;
struct op_state;

/* Values of one row of an input, [N] inputs as row 0. */
typedef void op_filler(const struct op_trial *t, int32_t input, int64_t row, double *values, int64_t count);
/* Changes downloaded results before they are judged. */
typedef void op_tamper(struct op_state *s);

typedef struct op_trial {
  const op_reference *op;
  const char *formula; /* NULL: the catalogue's; else another one of the same parameters */
  tmaring_dtype in, out;
  int32_t mixed; /* 1: weights are f32, labels i32, codes e5m2 where the op lets them */
  int64_t rows, cols;
  op_layout layout;
  int32_t one_value; /* 1: [M] inputs hold one value for all rows */
  int32_t in_place;  /* input that output 0 lies over; -1: none */
  data_kind data;
  op_filler *fill;     /* NULL: random values of `data` */
  const void *context; /* for `fill` */
  op_tamper *tamper;
  uint64_t seed;
  double scalar[OP_MAX_SCALARS]; /* NaN, as op_trial_begin sets them: the default, or a value that goes with the name */
  int64_t hint;                  /* M that the plan is told; -1: rows */
  int32_t near_overflow;         /* 1: many results may be next to an overflow, and then prove nothing */
  int32_t own_memory;            /* 1: allocations of the tensors' exact sizes, without guard bands */
  tmaring_plan_options options;
  const tmaring_machine *machine; /* NULL: the venue's */
  void *keep[OP_MAX_TENSORS];     /* NULL, or where the rows of an output go as they came out, dense */
} op_trial;

/* With the op's usual type of output for inputs of type `in`: the same, where the op has it. */
op_trial op_trial_begin(const char *op, tmaring_dtype in, int64_t rows, int64_t cols);
/* True where output 0 may lie over an input: the same shape, type and layout. */
int op_trial_may_alias(const op_trial *t, int32_t input);
/* As for trial_run. */
trial_result op_trial_run(const op_trial *t, const venue *v);
/* Runs and counts it; a refusal counts as one. */
trial_result op_trial_count(tally *sum, const op_trial *t, const venue *v);
/* "rmsnorm f16->f16 [131,257] pitched ..." */
void op_trial_name(const op_trial *t, char *text, size_t size);
/* Bytes of all tensors. */
int64_t op_trial_bytes(const op_trial *t);

/* ---- the same in steps ---- */

typedef struct op_tensor {
  const char *name;
  tmaring_shape shape;
  int32_t is_output, index; /* among inputs or outputs */
  int32_t group_cols;
  tmaring_tensor described;
  int64_t count;   /* values of a row: N, 2N, 1, groups */
  int32_t by_cols; /* 1: values per group lie by columns: a row of memory is a group */
  guarded memory;  /* empty for an output in place */
} op_tensor;

typedef struct op_state {
  const op_trial *trial;
  const venue *venue;
  trial_result result;
  tmaring_formula *formula;
  tmaring_plan *plan;
  tmaring_kernel *kernel;
  uint64_t seed; /* of the inputs' values: the trial's until op_refill */
  int32_t wide;  /* the backend works in double */
  void *workspace;
  size_t workspace_bytes;
  double scalar[OP_MAX_SCALARS];
  int64_t judged, undecided; /* values compared, and those of them that may be anything: next to an overflow */
  int32_t count;
  op_tensor tensor[OP_MAX_TENSORS];
} op_state;

/* Each returns 1, or 0 with the result set. op_close after op_begin and op_open, whatever they returned. op_open is
 * op_begin (the formula; tensors described), op_ready (op_plan, op_furnish, the kernel); between the two a test may
 * describe tensors otherwise. */
int op_begin(op_state *s, const op_trial *t, const venue *v);
int op_plan(op_state *s); /* with the checker's proof */
int op_ready(op_state *s);
int op_open(op_state *s, const op_trial *t, const venue *v);
int op_launch(op_state *s);   /* waits, and downloads */
int op_download(op_state *s); /* alone: after a launch that the test made itself */
int op_judge(op_state *s);
/* In place of op_launch: results from tmaring_formula_evaluate, rounded once to the outputs' types. */
int op_ask_oracle(op_state *s);
void op_close(op_state *s);

/* Launches with M = `rows`, which is written to `device`, memory of the venue; waits, and downloads. */
int op_launch_rows(op_state *s, int64_t *device, int64_t rows);
/* For tests that launch themselves: what tmaring_launch takes. `data` has room for OP_MAX_TENSORS. */
tmaring_launch_params op_launch_params(op_state *s, void **data);

int op_fail(op_state *s, const char *format, ...);
/* Output `index`, or input `index`. */
op_tensor *op_output(op_state *s, int32_t index);
op_tensor *op_input_tensor(op_state *s, int32_t index);
/* Memory that holds the rows: its own, or the input's it lies over. */
guarded *op_memory(op_state *s, op_tensor *tensor);
/* Row `row` in the image (before) or as downloaded (after), as numbers. */
void op_read(op_state *s, op_tensor *tensor, int after, int64_t row, double *to);
/* Address of a value in the image, or as downloaded. */
unsigned char *op_element_at(op_state *s, op_tensor *tensor, int after, int64_t row, int64_t i);
/* Memory for every tensor, filled and uploaded. */
int op_furnish(op_state *s);
/* An op_filler: every value of every input is 1. */
void op_fill_ones(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count);
/* Values of another seed into the inputs, poison into the outputs, uploaded. */
int op_refill(op_state *s, uint64_t seed);
/* What lies between the rows of a matrix becomes `value`, uploaded. */
int op_fill_gaps(op_state *s, op_tensor *tensor, double value);

#endif

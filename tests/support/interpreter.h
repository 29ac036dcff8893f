/* Runs a lowered program row by row, pass by pass, in the plainest way: what the backends do cleverly. */
#ifndef TMARING_TESTS_INTERPRETER_H
#define TMARING_TESTS_INTERPRETER_H

#include "../../src/host/formula/program.h"

enum { INTERPRETER_COLS = 37 };

typedef struct interpreter {
  const tmaring__program *program;
  const double *input[4], *vector[4], *row_scalar[4], *group_input[4];
  int64_t pitch[4];       /* of each input */
  tmaring_dtype dtype[4]; /* of each input */
  double *output[4], *row_output[4], *group_output[4], *column_output[4];
  double scalar[8];
  int rows;
  int fp32;                                           /* 1: every operation is rounded to fp32, 0: to double */
  double value[TMARING__MAX_NODES][INTERPRETER_COLS]; /* of what is the same for the row: [0] */
} interpreter;

/* Groups of a row. */
int interpreter_groups(int32_t group_cols);
/* Fills the outputs; labels have to be columns. */
void interpreter_run(interpreter *m, int rows);

#endif

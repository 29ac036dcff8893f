/* Runs of the CPU backend on programs and kernel arguments made by hand: no parser, no planner. Tests say the program
 * node by node, and work out what is due from the numbers that the tensors hold. */
#ifndef TMARING_TESTS_LANE_RIG_H
#define TMARING_TESTS_LANE_RIG_H

#include "../../src/host/backend/cpu/cpu_run.h"

/* A tensor in memory: element (i, j) lies at rows(i) + j * step bytes from its base. Every other byte is a pattern that
 * must stay. */
typedef struct lane_tensor {
  tmaring_dtype dtype;
  int64_t rows, cols;
  int64_t pitch, step, group_rows, group_pitch; /* bytes; group_rows as in tmaring_stream */
  size_t bytes;
  unsigned char *block, *base, *before;
} lane_tensor;

#define LANE_TENSORS 24

/* How a program is run. */
typedef struct lane_way {
  int32_t scope, lanes_log2, warps, per_row;
  int32_t tile_rows, chunk, pieces, spread;
  int32_t mode;   /* 0 warp-specialized, 1 pipelined with CTA barriers, 2 pipelined with empty barriers */
  int32_t staged; /* 0 direct, 1 in place of input 0, 2 apart */
  int32_t order, policy, workers, stages;
  int32_t columns_staged;
  int32_t gap, shift; /* of matrices: elements between rows; elements past a multiple of 256 bytes */
  int32_t group_rows; /* of matrices: rows come in groups of so many; 0: they do not */
  uint64_t seed;
  int32_t cluster; /* CTAs that share a row; 0: none do */
} lane_way;

typedef struct lane_case {
  int64_t rows; /* M of the tensors */
  int32_t cols;
  lane_way way;
  tmaring_args args;
  tmaring__code code;
  tmaring__program program;
  lane_tensor tensor[LANE_TENSORS];
  int32_t tensor_count;
  int32_t input[TMARING_MAX_STREAMS], output[TMARING_MAX_STREAMS]; /* tensors of streams; a half's is shared */
  int32_t half[TMARING_MAX_STREAMS];                               /* 1: second half of its tensor */
  int32_t vector[TMARING_MAX_VECTORS], row_scalar[TMARING_MAX_VECTORS], group_input[TMARING_MAX_VECTORS];
  int32_t row_output[TMARING_MAX_VECTORS], group_output[TMARING_MAX_VECTORS], column_output[TMARING_MAX_VECTORS];
  const int64_t *rows_address; /* M from memory */
  void *workspace;
} lane_case;

/* One of LANE_WAYS ways that serve every program: all scopes and modes, whole rows and pieces. */
#define LANE_WAYS 12
lane_way lane_way_make(int32_t number);

void lane_begin(lane_case *c, int64_t rows, int32_t cols);
/* A tensor whose elements are the nearest values to value(row, col), `gap` elements between rows. Returns its number. */
int32_t lane_tensor_make(lane_case *c, tmaring_dtype dtype, int64_t rows, int64_t cols, int64_t gap,
                         double (*value)(int64_t row, int64_t col));
/* One whose layout is that of `like`, which owns no memory, `shift` elements past a multiple of 256 bytes. */
int32_t lane_tensor_take(lane_case *c, const lane_tensor *like, int64_t shift,
                         double (*value)(int64_t row, int64_t col));
/* Bytes from the base to an element. */
int64_t lane_tensor_offset(const lane_tensor *t, int64_t row, int64_t col);
/* The same of M rows, laid out as c->way says. */
int32_t lane_matrix_make(lane_case *c, tmaring_dtype dtype, int64_t cols, double (*value)(int64_t row, int64_t col));

/* Nodes. Inputs take a tensor; operands not used are -1. */
int32_t lane_node(lane_case *c, tmaring__op op, int32_t a, int32_t b, int32_t d);
int32_t lane_number(lane_case *c, double value);
int32_t lane_indexed(lane_case *c, tmaring__op op, int32_t a, int32_t index);
int32_t lane_input(lane_case *c, int32_t tensor);
int32_t lane_half(lane_case *c, int32_t tensor, int32_t second);
int32_t lane_paired(lane_case *c, int32_t tensor); /* returns the stream, for INPUT_EVEN and INPUT_ODD */
int32_t lane_vector(lane_case *c, int32_t tensor);
int32_t lane_row_scalar(lane_case *c, int32_t tensor);
int32_t lane_group_input(lane_case *c, int32_t tensor, int32_t k);

/* Outputs; each returns its tensor. */
int32_t lane_output(lane_case *c, int32_t node, tmaring_dtype dtype);
int32_t lane_row_output(lane_case *c, int32_t node, tmaring_dtype dtype);
int32_t lane_group_output(lane_case *c, int32_t node, int32_t k, tmaring_dtype dtype, int by_columns);
int32_t lane_column_output(lane_case *c, int32_t node, tmaring__op op, int mean, tmaring_dtype dtype);

/* Fills in args and code for c->way. */
void lane_set_args(lane_case *c);
/* Makes the arguments for c->way and runs. */
tmaring_status lane_try(lane_case *c);
/* The same; asserts success, and that nothing but elements of outputs was written. */
void lane_run(lane_case *c);
void lane_end(lane_case *c);

/* Element of a tensor as it is now. */
double lane_value(const lane_case *c, int32_t tensor, int64_t row, int64_t col);
/* Asserts that an element is the nearest value to `due`; with slack > 0 to some value within that of it. */
void lane_expect(const lane_case *c, int32_t tensor, int64_t row, int64_t col, double due, double slack);

#endif

/* The lowered form of a formula: typed SSA nodes in evaluation order, cut into passes over a row. Both backends run it:
 * the CPU backend interprets it, the emitter writes CUDA C from it. */
#ifndef TMARING_HOST_PROGRAM_H
#define TMARING_HOST_PROGRAM_H

#include "tmaring/abi/args.h"
#include "tmaring/formula.h"

/* X(enumerator, operands, text for prints) */
#define TMARING__OP_LIST(X)                                                                                            \
  X(CONSTANT, 0, "constant")     /* value */                                                                           \
  X(INPUT, 0, "input")           /* stream `index` at (row, col) */                                                    \
  X(INPUT_EVEN, 0, "even input") /* paired stream `index`: first of pair (row, col) */                                 \
  X(INPUT_ODD, 0, "odd input")   /* paired stream `index`: second of pair (row, col) */                                \
  X(VECTOR, 0, "vector")         /* [N] input `index` at col */                                                        \
  X(ROW_SCALAR, 0, "row_scalar") /* [M] input `index` at row */                                                        \
  X(GROUP_SCALE, 0, "group")     /* [M,N/k] input `index` at (row, col / k) */                                         \
  X(SCALAR, 0, "scalar")         /* scalar parameter `index` */                                                        \
  X(COLUMNS, 0, "columns")       /* N as a number */                                                                   \
  X(ROWS, 0, "rows")             /* M of the launch as a number */                                                     \
  X(COL, 0, "col")               /* number of the column, from 0 */                                                    \
  X(ROW, 0, "row")               /* number of the row, from 0 */                                                       \
  X(ADD, 2, "+")                                                                                                       \
  X(SUB, 2, "-")                                                                                                       \
  X(MUL, 2, "*")                                                                                                       \
  X(DIV, 2, "/")                                                                                                       \
  X(NEG, 1, "neg")                                                                                                     \
  X(ABS, 1, "abs")                                                                                                     \
  X(MIN, 2, "min") /* NaN if either is NaN */                                                                          \
  X(MAX, 2, "max") /* NaN if either is NaN */                                                                          \
  X(EXP, 1, "exp")                                                                                                     \
  X(LOG, 1, "log")                                                                                                     \
  X(SQRT, 1, "sqrt")                                                                                                   \
  X(RSQRT, 1, "rsqrt")                                                                                                 \
  X(TANH, 1, "tanh")                                                                                                   \
  X(SIGMOID, 1, "sigmoid")                                                                                             \
  X(ERF, 1, "erf")                                                                                                     \
  X(ROUND, 1, "round")           /* to the nearest whole number, ties to even */                                       \
  X(CAST, 1, "cast")             /* rounded to tmaring_dtype `index`, and back */                                      \
  X(CAST_AS, 1, "cast as input") /* rounded to the type of stream `index`, and back */                                 \
  X(LT, 2, "<")                  /* comparisons and logic: 1 or 0 as conditions */                                     \
  X(LE, 2, "<=")                                                                                                       \
  X(GT, 2, ">")                                                                                                        \
  X(GE, 2, ">=")                                                                                                       \
  X(EQ, 2, "==")                                                                                                       \
  X(NE, 2, "!=")                                                                                                       \
  X(WHERE, 3, "where")                                                                                                 \
  X(GROUP_SUM, 1, "sum of group") /* over groups of `index` columns; the same for every column of the group */         \
  X(GROUP_MAX, 1, "max of group")                                                                                      \
  X(GROUP_MIN, 1, "min of group")                                                                                      \
  X(REDUCE_SUM, 1, "sum") /* over the row; reductions stand last */                                                    \
  X(REDUCE_MAX, 1, "max of row")                                                                                       \
  X(REDUCE_MIN, 1, "min of row")                                                                                       \
  X(REDUCE_ARGMAX, 1, "argmax of row") /* column of the first NaN, else of the first greatest value */                 \
  X(REDUCE_EXPSUM, 1,                                                                                                  \
    "sum of exp below max") /* sum(exp(a - max(a))) in one read: running maximum and sum; NaN where  \
                                                 max(a) is infinite */                 \
  X(GATHER, 2,                                                                                                         \
    "gather") /* INPUT arg[0] at column arg[1], one value per row; NaN outside the row. Found in pass 0, and \
                            counted as a reduction of it, though nothing is joined */

typedef enum tmaring__op {
#define TMARING__OP_ENUM(name, operands, text) TMARING__OP_##name,
  TMARING__OP_LIST(TMARING__OP_ENUM)
#undef TMARING__OP_ENUM
      TMARING__OP_COUNT
} tmaring__op;

typedef struct tmaring__node {
  tmaring__op op;
  int32_t arg[3];  /* earlier nodes; -1 where unused */
  int32_t index;   /* of an input, vector, row scalar, group scale or scalar; type of a cast; k of a group */
  double value;    /* constant */
  int32_t per_col; /* 1: depends on the column, evaluated element by element in every pass that needs it;
                      0: one value per row, evaluated once, after pass level - 1 */
  int32_t level;   /* reduction passes that must have ended before it can be evaluated; a reduction over an argument of
                      level p runs in pass p and has level p + 1 */
} tmaring__node;

#define TMARING__MAX_NODES 256

/* A reduction over the rows. */
typedef struct tmaring__column {
  int32_t node; /* what is reduced */
  int32_t op;   /* TMARING__OP_REDUCE_SUM or _MAX: how values are joined */
  int32_t mean; /* 1: divided by M at the end */
} tmaring__column;

typedef struct tmaring__program {
  int32_t node_count;
  tmaring__node node[TMARING__MAX_NODES];
  int32_t reduction_passes; /* at most TMARING_MAX_PASSES - 1 */
  int32_t passes;           /* reduction_passes + 1 if there is an [M,N], [M,N/k] or [N] output; at least 1 */
  int32_t input_count, vector_count, row_scalar_count, scalar_count, group_input_count;
  int32_t paired[TMARING_MAX_STREAMS];           /* 1: input stream is read by INPUT_EVEN and INPUT_ODD */
  int32_t group_input_cols[TMARING_MAX_VECTORS]; /* k of each [M,N/k] input */
  int32_t output_count;                          /* [M,N] outputs: evaluated in the last pass */
  int32_t output[TMARING_MAX_STREAMS];           /* node of each */
  int32_t row_output_count;                      /* [M] outputs: evaluated after the last pass; per_col == 0 */
  int32_t row_output[TMARING_MAX_VECTORS];
  int32_t group_output_count; /* [M,N/k] outputs: evaluated in the last pass, one value per group */
  int32_t group_output[TMARING_MAX_VECTORS];
  int32_t group_output_cols[TMARING_MAX_VECTORS]; /* k of each */
  int32_t column_output_count;                    /* [N] outputs: reductions over M, accumulated in the last pass */
  tmaring__column column_output[TMARING_MAX_VECTORS];
  int32_t group_cols_least, group_cols_most; /* over all groups of columns; 0: there are none */
} tmaring__program;

/* 1 for nodes that end a pass: REDUCE_* and GATHER. */
static inline int tmaring__op_reduces(tmaring__op op)
{
  return op >= TMARING__OP_REDUCE_SUM;
}

/* 1 for elements of a streamed input: INPUT, INPUT_EVEN and INPUT_ODD. */
static inline int tmaring__op_streams(tmaring__op op)
{
  return op >= TMARING__OP_INPUT && op <= TMARING__OP_INPUT_ODD;
}

/* 1 for GROUP_SUM, GROUP_MAX and GROUP_MIN. */
static inline int tmaring__op_groups(tmaring__op op)
{
  return op >= TMARING__OP_GROUP_SUM && op <= TMARING__OP_GROUP_MIN;
}

/* 1 where some node of the program is an `op`. */
static inline int tmaring__program_has(const tmaring__program *program, tmaring__op op)
{
  for (int32_t i = 0; i < program->node_count; ++i) {
    if (program->node[i].op == op) return 1;
  }
  return 0;
}

/* Partial results that a reduction hands from warp to warp: value and column, maximum and sum, one, or none. */
static inline int32_t tmaring__op_partials(tmaring__op op)
{
  if (op == TMARING__OP_GATHER || !tmaring__op_reduces(op)) return 0;
  return op == TMARING__OP_REDUCE_ARGMAX || op == TMARING__OP_REDUCE_EXPSUM ? 2 : 1;
}

/* Where tensor parameter i of the formula goes in the program and in tmaring_args. */
typedef enum tmaring__slot_kind {
  TMARING__SLOT_INPUT,
  TMARING__SLOT_VECTOR,
  TMARING__SLOT_ROW_SCALAR,
  TMARING__SLOT_GROUP_INPUT,
  TMARING__SLOT_OUTPUT,
  TMARING__SLOT_ROW_OUTPUT,
  TMARING__SLOT_GROUP_OUTPUT,
  TMARING__SLOT_COLUMN_OUTPUT
} tmaring__slot_kind;

typedef struct tmaring__slot {
  tmaring__slot_kind kind;
  int32_t index;  /* among its kind; of an [M,2N] input: the stream of its first half, or its paired stream */
  int32_t second; /* an [M,2N] input read by halves: stream of the second half, N elements further; else -1 */
} tmaring__slot;

/* 1 for what the formula writes. */
static inline int tmaring__slot_writes(tmaring__slot slot)
{
  return slot.kind >= TMARING__SLOT_OUTPUT;
}

/* The lowered program and the slots of a parsed formula; owned by the formula. */
const tmaring__program *tmaring__formula_program(const tmaring_formula *formula);
tmaring__slot tmaring__formula_slot(const tmaring_formula *formula, int32_t tensor);
/* The formula's text, for kernel comments and cache keys. */
const char *tmaring__formula_text(const tmaring_formula *formula);
/* A formula may be kept by several owners: adds one; tmaring_formula_free takes one away. Atomic. */
tmaring_formula *tmaring__formula_retain(const tmaring_formula *formula);

/* Number of operands of an op, and its text. */
int32_t tmaring__op_operands(tmaring__op op);
const char *tmaring__op_text(tmaring__op op);

#endif

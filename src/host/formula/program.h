/* The lowered form of a formula: typed SSA nodes in evaluation order, cut into passes over a row. Both backends run it:
 * the CPU backend interprets it, the emitter writes CUDA C from it. */
#ifndef TMARING_HOST_PROGRAM_H
#define TMARING_HOST_PROGRAM_H

#include "tmaring/abi/args.h"
#include "tmaring/formula.h"

/* X(enumerator, operands, text for prints) */
#define TMARING__OP_LIST(X)                                                                                            \
  X(CONSTANT, 0, "constant")     /* value */                                                                           \
  X(INPUT, 0, "input")           /* [M,N] input `index` at (row, col) */                                               \
  X(VECTOR, 0, "vector")         /* [N] input `index` at col */                                                        \
  X(ROW_SCALAR, 0, "row_scalar") /* [M] input `index` at row */                                                        \
  X(SCALAR, 0, "scalar")         /* scalar parameter `index` */                                                        \
  X(COLUMNS, 0, "columns")       /* N as a number */                                                                   \
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
  X(LT, 2, "<") /* comparisons and logic: 1 or 0 as conditions */                                                      \
  X(LE, 2, "<=")                                                                                                       \
  X(GT, 2, ">")                                                                                                        \
  X(GE, 2, ">=")                                                                                                       \
  X(EQ, 2, "==")                                                                                                       \
  X(NE, 2, "!=")                                                                                                       \
  X(WHERE, 3, "where")                                                                                                 \
  X(REDUCE_SUM, 1, "sum") /* over the row */                                                                           \
  X(REDUCE_MAX, 1, "max of row")                                                                                       \
  X(REDUCE_MIN, 1, "min of row")

typedef enum tmaring__op {
#define TMARING__OP_ENUM(name, operands, text) TMARING__OP_##name,
  TMARING__OP_LIST(TMARING__OP_ENUM)
#undef TMARING__OP_ENUM
      TMARING__OP_COUNT
} tmaring__op;

typedef struct tmaring__node {
  tmaring__op op;
  int32_t arg[3];  /* earlier nodes; -1 where unused */
  int32_t index;   /* of an input, vector, row scalar or scalar */
  float value;     /* constant */
  int32_t per_col; /* 1: depends on the column, evaluated element by element in every pass that needs it;
                      0: one value per row, evaluated once, after pass level - 1 */
  int32_t level;   /* reduction passes that must have ended before it can be evaluated; a reduction over an argument of
                      level p runs in pass p and has level p + 1 */
} tmaring__node;

#define TMARING__MAX_NODES 256

typedef struct tmaring__program {
  int32_t node_count;
  tmaring__node node[TMARING__MAX_NODES];
  int32_t reduction_passes; /* at most TMARING_MAX_PASSES - 1 */
  int32_t passes;           /* reduction_passes + 1 if there is an [M,N] output; at least 1 */
  int32_t input_count, vector_count, row_scalar_count, scalar_count;
  int32_t output_count;                /* [M,N] outputs: evaluated in the last pass */
  int32_t output[TMARING_MAX_STREAMS]; /* node of each */
  int32_t row_output_count;            /* [M] outputs: evaluated after the last pass; per_col == 0 */
  int32_t row_output[TMARING_MAX_VECTORS];
} tmaring__program;

/* Where tensor parameter i of the formula goes in the program and in tmaring_args. */
typedef enum tmaring__slot_kind {
  TMARING__SLOT_INPUT,
  TMARING__SLOT_VECTOR,
  TMARING__SLOT_ROW_SCALAR,
  TMARING__SLOT_OUTPUT,
  TMARING__SLOT_ROW_OUTPUT
} tmaring__slot_kind;

typedef struct tmaring__slot {
  tmaring__slot_kind kind;
  int32_t index; /* among its kind */
} tmaring__slot;

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

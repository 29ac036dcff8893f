/* The syntax tree of a formula: what was written, with places, before and after typing. */
#ifndef TMARING_HOST_SYNTAX_H
#define TMARING_HOST_SYNTAX_H

#include "dims.h"
#include "place.h"

/* X(enumerator, text for messages) */
#define TMARING__SYNTAX_LIST(X)                                                                                        \
  X(NUMBER, "number")                                                                                                  \
  X(NAME, "name")                                                                                                      \
  X(COLUMNS, "N")                                                                                                      \
  X(ROWS, "M")                                                                                                         \
  X(COL, "col")                                                                                                        \
  X(ROW, "row")                                                                                                        \
  X(FIRST, "first") /* of the input `word`, as the next three */                                                       \
  X(SECOND, "second")                                                                                                  \
  X(EVEN, "even")                                                                                                      \
  X(ODD, "odd")                                                                                                        \
  X(GATHER, "x[label]") /* of the input `word`, at column arg[0] */                                                    \
  X(ADD, "+")                                                                                                          \
  X(SUB, "-")                                                                                                          \
  X(MUL, "*")                                                                                                          \
  X(DIV, "/")                                                                                                          \
  X(NEG, "unary -")                                                                                                    \
  X(LT, "<")                                                                                                           \
  X(LE, "<=")                                                                                                          \
  X(GT, ">")                                                                                                           \
  X(GE, ">=")                                                                                                          \
  X(EQ, "==")                                                                                                          \
  X(NE, "!=")                                                                                                          \
  X(WHERE, "where")                                                                                                    \
  X(ABS, "abs")                                                                                                        \
  X(MIN, "min")                                                                                                        \
  X(MAX, "max")                                                                                                        \
  X(CLAMP, "clamp")                                                                                                    \
  X(EXP, "exp")                                                                                                        \
  X(LOG, "log")                                                                                                        \
  X(SQRT, "sqrt")                                                                                                      \
  X(RSQRT, "rsqrt")                                                                                                    \
  X(TANH, "tanh")                                                                                                      \
  X(SIGMOID, "sigmoid")                                                                                                \
  X(SILU, "silu")                                                                                                      \
  X(ERF, "erf")                                                                                                        \
  X(ROUND, "round")                                                                                                    \
  X(CAST, "cast")      /* to tmaring_dtype `index` */                                                                  \
  X(CAST_AS, "cast")   /* to the type of the input `word` */                                                           \
  X(GROUP_SUM, "gsum") /* over groups of `index` columns */                                                            \
  X(GROUP_MAX, "gmax")                                                                                                 \
  X(GROUP_MIN, "gmin")                                                                                                 \
  X(GROUP_AMAX, "gamax")                                                                                               \
  X(ROW_SUM, "sum")                                                                                                    \
  X(ROW_MEAN, "mean")                                                                                                  \
  X(ROW_MAX, "max")                                                                                                    \
  X(ROW_MIN, "min")                                                                                                    \
  X(ROW_AMAX, "amax")                                                                                                  \
  X(ROW_ARGMAX, "argmax")                                                                                              \
  X(ROW_LOGSUMEXP, "logsumexp")                                                                                        \
  X(COLUMN_SUM, "colsum") /* over M; the root of its statement */                                                      \
  X(COLUMN_MEAN, "colmean")                                                                                            \
  X(COLUMN_MAX, "colmax")

typedef enum tmaring__syntax {
#define TMARING__SYNTAX_ENUM(name, text) TMARING__SYNTAX_##name,
  TMARING__SYNTAX_LIST(TMARING__SYNTAX_ENUM)
#undef TMARING__SYNTAX_ENUM
      TMARING__SYNTAX_COUNT
} tmaring__syntax;

const char *tmaring__syntax_text(tmaring__syntax kind);
/* 1 for the reductions over the row, over groups of columns, and over the rows. */
int tmaring__syntax_reduces_row(tmaring__syntax kind);
int tmaring__syntax_reduces_group(tmaring__syntax kind);
int tmaring__syntax_reduces_column(tmaring__syntax kind);
/* 1 for FIRST, SECOND, EVEN and ODD. */
int tmaring__syntax_reads_double(tmaring__syntax kind);

/* A name where it stands. */
typedef struct tmaring__word {
  const char *start; /* in the text, or in static storage for a name that is implied; not zero-terminated */
  int32_t length;
  int32_t offset; /* place for messages */
} tmaring__word;

int tmaring__word_is(const tmaring__word *word, const char *name);

typedef struct tmaring__syntax_node {
  tmaring__syntax kind;
  int32_t arg[3];     /* earlier nodes; -1 where unused */
  int32_t offset;     /* place for messages: the operator, the function's or operand's first byte */
  double number;      /* NUMBER */
  int32_t index;      /* type of a CAST, columns of a group */
  tmaring__word word; /* NAME, and kinds that read an input by its name */
  int32_t is_said;    /* 1: a shape was written after the word */
  tmaring__dims said; /* this one */
  int32_t symbol;     /* of the word; set by typing */
  tmaring__dims dims; /* set by typing */
  int32_t condition;  /* 1: a condition, 0: a number; set by typing */
  int32_t reduced;    /* 1: needs the row to have been read; set by typing */
} tmaring__syntax_node;

/* `name = expression`. Its nodes are first .. root, operands before what they are used in. */
typedef struct tmaring__statement {
  tmaring__word word;
  int32_t first, root;
  int32_t out;     /* 1: written `out name = ...` */
  int32_t implied; /* 1: a lone expression after the header, whose name y is not written */
} tmaring__statement;

/* A parameter in the header. */
typedef struct tmaring__declaration {
  tmaring__word word;
  tmaring__dims dims;
  int32_t has_default;
  double default_value;
} tmaring__declaration;

#define TMARING__MAX_TEXT_BYTES   65536
#define TMARING__MAX_SYNTAX_NODES 4096
#define TMARING__MAX_STATEMENTS   512
#define TMARING__MAX_DECLARATIONS 32  /* more than the limits of abi/args.h add up to */
#define TMARING__MAX_DEPTH        100 /* parentheses, calls, labels and unary minus within one another */

typedef struct tmaring__syntax_tree {
  tmaring__syntax_node *node;
  int32_t node_count, node_capacity;
  tmaring__statement *statement;
  int32_t statement_count, statement_capacity;
  int32_t has_header;
  tmaring__declaration declaration[TMARING__MAX_DECLARATIONS];
  int32_t declaration_count;
} tmaring__syntax_tree;

#endif

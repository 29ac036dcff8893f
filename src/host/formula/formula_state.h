/* The inside of a formula. */
#ifndef TMARING_HOST_FORMULA_STATE_H
#define TMARING_HOST_FORMULA_STATE_H

#include "lexer.h"
#include "program.h"
#include "syntax.h"

typedef enum tmaring__symbol_kind {
  TMARING__SYMBOL_PARAMETER, /* a tensor or scalar that comes from outside */
  TMARING__SYMBOL_ASSIGNED   /* the result of a statement */
} tmaring__symbol_kind;

typedef struct tmaring__symbol {
  char name[TMARING__MAX_NAME + 1];
  int32_t offset; /* where it was declared, first used or assigned */
  tmaring__symbol_kind kind;
  tmaring_shape shape; /* of an assigned name: of its expression */
  int32_t index;       /* of a parameter, among those of its shape */
  int32_t reads;
  int32_t has_default;
  double default_value;
  int32_t root; /* assigned: node of the expression */
  int32_t out;  /* assigned: written `out name = ...` */
} tmaring__symbol;

#define TMARING__MAX_FORMULA_TENSORS (2 * TMARING_MAX_STREAMS + 3 * TMARING_MAX_VECTORS)
/* Parameters of a formula at most; the other symbols are its statements. */
#define TMARING__MAX_PARAMETERS (TMARING_MAX_STREAMS + 2 * TMARING_MAX_VECTORS + TMARING_MAX_SCALARS)

typedef struct tmaring__formula_tensor {
  int32_t symbol;
  int32_t is_output;
  tmaring_shape shape; /* of an output: [M,N] also for what is broadcast to it */
  tmaring__slot slot;
} tmaring__formula_tensor;

struct tmaring_formula {
  _Atomic int32_t references;
  char *text;
  tmaring__source source; /* text */
  tmaring__syntax_tree tree;
  tmaring__symbol *symbol;
  int32_t symbol_count;
  int32_t parameter_count[4];                                   /* per tmaring_shape */
  int32_t output_count[4];                                      /* per tmaring_shape; only [M] and [M,N] */
  tmaring__formula_tensor tensor[TMARING__MAX_FORMULA_TENSORS]; /* inputs, then outputs */
  int32_t tensor_count;
  int32_t scalar[TMARING_MAX_SCALARS]; /* symbols */
  int32_t scalar_count;
  tmaring__program program;
};

/* The steps of tmaring_formula_parse behind the parser, each in the file of its name. */

/* Resolves names, gives every node shape and kind, and lists tensors and scalars. Fills symbol .. scalar_count.
 * Errors: SYNTAX (names), TYPE, SHAPE, CAPACITY, UNSUPPORTED (no [M,N] input), MEMORY. */
tmaring_status tmaring__typing_run(tmaring_formula *formula);
/* Fills program. Errors: CAPACITY, MEMORY. */
tmaring_status tmaring__lowering_run(tmaring_formula *formula);

/* "[M,N]", "[N]", "[M]", "[]". */
const char *tmaring__shape_text(tmaring_shape shape);
/* 1 for [M,N] and [N]: values differ from column to column. */
int tmaring__shape_has_columns(tmaring_shape shape);

#endif

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
  tmaring__dims dims; /* of an assigned name: of its expression */
  int32_t index;      /* of a parameter, among those of its shape; of [M,N] and [M,2N]: its (first) stream. Set by
                         tmaring__signature_run */
  int32_t reads;
  int32_t casts; /* times it says a type to cast to */
  int32_t has_default;
  double default_value;
  int32_t halves, interleaved; /* [M,2N]: place + 1 of the first read by halves, by even and odd columns */
  int32_t root;                /* assigned: node of the expression */
  int32_t out;                 /* assigned: written `out name = ...` */
} tmaring__symbol;

#define TMARING__MAX_FORMULA_TENSORS (2 * TMARING_MAX_STREAMS + 6 * TMARING_MAX_VECTORS)
/* Parameters of a formula at most; the other symbols are its statements. */
#define TMARING__MAX_PARAMETERS (TMARING_MAX_STREAMS + 3 * TMARING_MAX_VECTORS + TMARING_MAX_SCALARS)

typedef struct tmaring__formula_tensor {
  int32_t symbol;
  int32_t is_output;
  tmaring__dims dims; /* of an output: [M,N] also for what is broadcast to it, [N] only for column reductions */
  tmaring__slot slot;
} tmaring__formula_tensor;

enum { TMARING__SHAPES = TMARING_SHAPE_DOUBLE + 1 };

struct tmaring_formula {
  _Atomic int32_t references;
  char *text;
  tmaring__source source; /* text */
  tmaring__syntax_tree tree;
  tmaring__symbol *symbol;
  int32_t symbol_count;
  int32_t parameter_count[TMARING__SHAPES];                     /* per tmaring_shape */
  int32_t output_count[TMARING__SHAPES];                        /* per tmaring_shape */
  int32_t stream_count;                                         /* of the inputs [M,N] and [M,2N] */
  tmaring__formula_tensor tensor[TMARING__MAX_FORMULA_TENSORS]; /* inputs, then outputs */
  int32_t tensor_count;
  int32_t scalar[TMARING_MAX_SCALARS]; /* symbols */
  int32_t scalar_count;
  tmaring__program program;
};

/* The steps of tmaring_formula_parse behind the parser, each in the file of its name. */

/* Resolves names and gives every node shape and kind. Fills symbol .. parameter_count.
 * Errors: SYNTAX (names), TYPE, SHAPE, CAPACITY, UNSUPPORTED, MEMORY. */
tmaring_status tmaring__typing_run(tmaring_formula *formula);
/* Lists tensors and scalars as callers give them. Fills output_count .. scalar_count.
 * Errors: SYNTAX (names not used), TYPE, CAPACITY, UNSUPPORTED (nothing to stream). */
tmaring_status tmaring__signature_run(tmaring_formula *formula);
/* Fills program. Errors: CAPACITY, MEMORY. */
tmaring_status tmaring__lowering_run(tmaring_formula *formula);

/* 1 if the symbol is the result of a reduction over the rows. */
int tmaring__symbol_is_column(const tmaring_formula *formula, const tmaring__symbol *symbol);

#endif

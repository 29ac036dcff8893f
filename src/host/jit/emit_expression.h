/* Parts of the emitter: expressions. */
#ifndef TMARING_HOST_EMIT_EXPRESSION_H
#define TMARING_HOST_EMIT_EXPRESSION_H

#include "emit.h"

/* How the nodes that one loop over a row evaluates are laid out (emit_loop.c). A step of the loop takes one vector of
 * elements. It runs in segments: what is the same for the whole vector, then the elements one by one, then *joints*,
 * which need a vector at a time: values of a group of columns, and quotients by a divisor that is the same for all. */
typedef struct tmaring__loop {
  int32_t pass, segments;
  unsigned char has[TMARING__MAX_NODES];
  unsigned char uniform[TMARING__MAX_NODES]; /* the same for the whole vector */
  unsigned char joint[TMARING__MAX_NODES];
  unsigned char segment[TMARING__MAX_NODES];
  unsigned char kept[TMARING__MAX_NODES];    /* an array: read by a later segment */
  unsigned char inlined[TMARING__MAX_NODES]; /* part of the one expression that reads it */
  int32_t readers[TMARING__MAX_NODES];       /* how many nodes and results read it */
  int32_t reader[TMARING__MAX_NODES];        /* the last one; -1: a result */
} tmaring__loop;

/* Values per row, laid out likewise. */
typedef struct tmaring__row_values {
  unsigned char launch[TMARING__MAX_NODES]; /* the same for all rows: evaluated once per launch */
  unsigned char inlined[TMARING__MAX_NODES];
  unsigned char divides[TMARING__MAX_NODES]; /* a divisor of element after element */
} tmaring__row_values;

/* What every part of the emitter reads. */
typedef struct tmaring__emitter {
  tmaring__text *out;
  const tmaring__kernel_spec *spec;
  const tmaring__program *program;
  int32_t uses[TMARING__MAX_NODES];   /* operands and results that a node is, in all passes */
  int32_t reader[TMARING__MAX_NODES]; /* the last node that reads it; -1: none does */
  tmaring__row_values rows;
} tmaring__emitter;

/* Nodes in one expression, at most. */
#define TMARING__INLINED_MOST 4

/* Name of a tensor where comments take names, "" else. */
const char *tmaring__emit_name(const tmaring__emitter *m, tmaring__slot_kind kind, int32_t index);
/* "TMARING_F32", ... */
const char *tmaring__emit_dtype(tmaring_dtype dtype);
/* The operation of a reduction, over a row, a group or rows: "tmaring_sum<real>", ... */
const char *tmaring__emit_operation(tmaring__op op);

/* 1 for nodes that are written where they are read: literals and parameters of the launch. */
int tmaring__is_literal(const tmaring__node *n);
/* 1 for a DIV whose divisor is the same for a whole vector and worth a reciprocal. */
int tmaring__is_shared_quotient(const tmaring__kernel_spec *spec, const tmaring__node *n, const unsigned char *uniform);

/* A node as operand: a literal, a member for per-row values, a local for per-column values, or its expression. `loop` is
 * NULL outside of loops. */
void tmaring__emit_operand(const tmaring__emitter *m, const tmaring__loop *loop, int32_t node);
/* The same where nothing stands beside it. */
void tmaring__emit_value(const tmaring__emitter *m, const tmaring__loop *loop, int32_t node);
/* Right-hand side of a node with operands. */
void tmaring__emit_expression(const tmaring__emitter *m, const tmaring__loop *loop, int32_t node);

#endif

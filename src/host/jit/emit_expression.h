/* Parts of the emitter: expressions and loads. */
#ifndef TMARING_HOST_EMIT_EXPRESSION_H
#define TMARING_HOST_EMIT_EXPRESSION_H

#include "emit.h"

/* Nodes that one loop over a row, or one point between passes, has to evaluate. */
typedef struct tmaring__node_set {
  unsigned char has[TMARING__MAX_NODES];
} tmaring__node_set;

/* Adds a node and, through per-column operands, all that its loop must evaluate. */
void tmaring__node_set_add(tmaring__node_set *set, const tmaring__program *program, int32_t node);

/* "F32" … as the template argument TMARING_F32. */
const char *tmaring__emit_dtype(tmaring_dtype dtype);

/* Name of the operand where an expression uses it: a member for per-row values, a local for per-column values, a
 * literal. */
void tmaring__emit_operand(tmaring__text *out, const tmaring__program *program, int32_t node);

/* Right-hand side of a node that is neither an input nor a reduction. */
void tmaring__emit_expression(tmaring__text *out, const tmaring__program *program, int32_t node);

/* Functor of a reduction. */
const char *tmaring__emit_reduction(tmaring__op op);

#endif

/* Parts of the emitter: passes over a row and their loops. */
#ifndef TMARING_HOST_EMIT_LOOP_H
#define TMARING_HOST_EMIT_LOOP_H

#include "emit_expression.h"

/* 1 for the reductions that a pass ends with, GATHER included. */
int tmaring__is_reduced_in(const tmaring__node *n, int32_t pass);
/* 1 for the pass that makes [M,N], [M,N/k] and [N] outputs. */
int tmaring__is_output_pass(const tmaring__program *program, int32_t pass);

/* 1 for the reductions that values are joined for: no GATHER, and no maximum that a sum of exponentials below it finds on
 * its way. */
int tmaring__is_joined_in(const tmaring__program *program, int32_t node, int32_t pass);
/* The maximum that a REDUCE_EXPSUM finds as well; -1: none is asked for. */
int32_t tmaring__maximum_of(const tmaring__program *program, int32_t node);

/* Lays out a pass's loop. */
void tmaring__loop_plan(tmaring__loop *loop, const tmaring__kernel_spec *spec, int32_t pass);
/* 1 where the loop has something to do. */
int tmaring__loop_exists(const tmaring__program *program, int32_t pass);
/* 1 where lanes work together in it. */
int tmaring__loop_groups(const tmaring__program *program, const tmaring__loop *loop);

/* 1 where its steps are counted, since they have accumulators of columns in registers. */
int tmaring__loop_holds(const tmaring__kernel_spec *spec, const tmaring__loop *loop);

/* The member template stepP<WHOLE>: one vector of elements in pass P. */
void tmaring__emit_step(const tmaring__emitter *m, const tmaring__loop *loop);
/* The member accumulate, and the steps that it takes: all passes. */
void tmaring__emit_accumulate(const tmaring__emitter *m);

#endif

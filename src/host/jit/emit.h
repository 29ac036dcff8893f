/* CUDA C from a lowered formula. */
#ifndef TMARING_HOST_EMIT_H
#define TMARING_HOST_EMIT_H

#include "../base/text.h"
#include "../plan/plan_state.h"

/* What a kernel's source follows from, beside the program: element types by kind and index, and the code key. */
typedef struct tmaring__kernel_spec {
  const tmaring__program *program;
  tmaring__code code;
  int32_t dense;          /* every streamed tensor has rows that follow one another */
  int32_t whole;          /* rows are never cut into pieces */
  int32_t vectors_staged; /* [N] inputs: 1 read from shared memory, 0 from global memory, -1 either */
  int32_t columns_staged; /* accumulators of column reductions: 1 in shared memory, 0 in the workspace, -1 either */
  int32_t held_steps;     /* they are in registers, of up to so many vectors per thread; 0: in memory */
  tmaring_dtype input[TMARING_MAX_STREAMS], output[TMARING_MAX_STREAMS];
  int32_t vector_aligned[TMARING_MAX_VECTORS]; /* [N] inputs that start at 16 bytes */
  tmaring_dtype vector[TMARING_MAX_VECTORS], row_scalar[TMARING_MAX_VECTORS], row_output[TMARING_MAX_VECTORS];
  tmaring_dtype group_input[TMARING_MAX_VECTORS], group_output[TMARING_MAX_VECTORS];
  tmaring_dtype column_output[TMARING_MAX_VECTORS];
  const tmaring_formula *names; /* NULL, or the formula whose text and names go into comments */
} tmaring__kernel_spec;

void tmaring__kernel_spec_of(tmaring__kernel_spec *spec, const tmaring_plan *plan);

/* Appends the translation unit: a kernel class named tmaring_formula, the kernel tmaring_kernel, and with column
 * reductions the kernel tmaring_columns_kernel, which finishes them. The text depends on the spec alone. The includes it
 * names are embedded in the library (embedded.h). */
void tmaring__emit(tmaring__text *out, const tmaring__kernel_spec *spec);

#endif

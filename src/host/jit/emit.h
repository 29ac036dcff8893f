/* CUDA C from a lowered formula. */
#ifndef TMARING_HOST_EMIT_H
#define TMARING_HOST_EMIT_H

#include "../base/text.h"
#include "../plan/plan_state.h"

/* What a kernel's source follows from, beside the program: element types by kind and index, and the code key. */
typedef struct tmaring__kernel_spec {
  const tmaring__program *program;
  tmaring__code code;
  int32_t dense; /* every streamed tensor has rows that follow one another */
  int32_t whole; /* rows are never cut into pieces */
  tmaring_dtype input[TMARING_MAX_STREAMS], output[TMARING_MAX_STREAMS];
  tmaring_dtype vector[TMARING_MAX_VECTORS], row_scalar[TMARING_MAX_VECTORS], row_output[TMARING_MAX_VECTORS];
} tmaring__kernel_spec;

void tmaring__kernel_spec_of(tmaring__kernel_spec *spec, const tmaring_plan *plan);

/* Appends the translation unit: a kernel class named tmaring_formula and the kernel tmaring_kernel. The text depends on
 * the spec alone. The includes it names are embedded in the library (embedded.h). */
void tmaring__emit(tmaring__text *out, const tmaring__kernel_spec *spec);

#endif

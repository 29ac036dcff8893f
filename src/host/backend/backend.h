/* The one interface of both backends. */
#ifndef TMARING_HOST_BACKEND_H
#define TMARING_HOST_BACKEND_H

#include "../plan/plan_state.h"

typedef struct tmaring__backend_calls {
  const char *name;
  /* Makes *state, the backend's part of a kernel. The plan outlives it. */
  tmaring_status (*prepare)(void **state, const tmaring_plan *plan);
  void (*release)(void *state);
  tmaring_status (*workspace_init)(void *state, void *workspace, struct CUstream_st *stream);
  /* args are encoded and checked; the backend may still change them. rows may be 0 where the formula reduces columns:
   * then their results alone are written. */
  tmaring_status (*launch)(void *state, const tmaring_plan *plan, tmaring_args *args, const tmaring__boxes *boxes,
                           uint32_t flags, struct CUstream_st *stream);
  /* ERROR_FAULT and the record where a debug kernel gave up; TMARING_OK otherwise. */
  tmaring_status (*fault)(void *state, tmaring_fault *fault);
} tmaring__backend_calls;

const tmaring__backend_calls *tmaring__backend_cuda(void);
const tmaring__backend_calls *tmaring__backend_cpu(void);

#endif

/* The CPU backend: launches run to their end on the calling thread, under the ring model. */
#include <string.h>

#include "../../base/detail.h"
#include "../../base/mathlib.h"
#include "../backend.h"
#include "cpu_run.h"

static tmaring_status cpu_prepare(void **state, const tmaring_plan *plan)
{
  (void)plan; /* everything follows from the arguments of a launch */
  *state = NULL;
  return tmaring__mathlib_load();
}

static void cpu_release(void *state)
{
  (void)state;
}

static tmaring_status cpu_workspace_init(void *state, void *workspace, struct CUstream_st *stream)
{
  (void)state;
  (void)stream;
  memset(workspace, 0, TMARING_WORKSPACE_BYTES);
  return TMARING_OK;
}

static tmaring_status cpu_launch(void *state, const tmaring_plan *plan, tmaring_args *args, const tmaring__boxes *boxes,
                                 uint32_t flags, struct CUstream_st *stream)
{
  (void)state;
  (void)flags; /* nothing else runs at the same time */
  (void)stream;
  const tmaring__program *program = plan->formula ? tmaring__formula_program(plan->formula) : boxes->work->program;
  return tmaring__cpu_run(args, boxes, &plan->code, program, TMARING__LAZY, NULL);
}

/* Waits that cannot end are found by the ring model: the launch itself reports them. */
static tmaring_status cpu_fault(void *state, tmaring_fault *fault)
{
  (void)state;
  memset(fault, 0, sizeof *fault);
  return TMARING_OK;
}

const tmaring__backend_calls *tmaring__backend_cpu(void)
{
  static const tmaring__backend_calls calls = {"cpu",      cpu_prepare, cpu_release, cpu_workspace_init,
                                               cpu_launch, cpu_fault};
  return &calls;
}

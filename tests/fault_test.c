/* Debug kernels: a wait that cannot end leaves a record and stops the grid, instead of hanging. */
#include <criterion/criterion.h>
#include <string.h>

#include "../src/host/backend/backend.h"
#include "support/rig.h"

static void make(rig *r, const venue *v)
{
  tmaring_plan_options options;
  tmaring_plan_options_init(&options);
  options.debug = 1;
  options.mode = TMARING_MODE_WARP_SPECIALIZED;
  cr_assert(rig_make(r, v, 133, 256, &options), "%s", tmaring_last_detail());
}

/* The control: bounded waits change nothing where every wait ends. */
Test(fault, a_sound_debug_kernel_runs_cuda, .timeout = 60)
{
  venue v;
  rig r;
  tmaring_fault fault;
  VENUE_NEED_CUDA(&v);
  make(&r, &v);
  cr_expect_eq(rig_launch(&r, 133, v.stream, 0), TMARING_OK);
  cr_expect(venue_settle(&v));
  cr_expect(rig_right(&r, 133));
  cr_expect_eq(tmaring_kernel_fault(r.kernel, &fault), TMARING_OK);
  rig_free(&r);
  venue_close(&v);
}

/* The empty barriers are laid over the full ones, so that each counts the arrivals of both and no phase ends. The
 * context is lost with the trap; nothing is released. */
Test(fault, a_wait_without_end_is_recorded_cuda, .timeout = 120)
{
  venue v;
  rig r;
  void *state = NULL;
  tmaring_args args;
  tmaring_fault fault;
  const tmaring__backend_calls *backend = tmaring__backend_cuda();
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  VENUE_NEED_CUDA(&v);
  make(&r, &v);
  void *data[2] = {r.x.data, r.y.data};
  params.rows = 133;
  params.data = data;
  params.workspace = r.workspace;
  cr_assert_eq(backend->prepare(&state, r.plan), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring__encode(r.plan, &params, &args, &(tmaring__boxes){0}), TMARING_OK, "%s", tmaring_last_detail());
  args.smem.empty = args.smem.full;
  cr_assert_eq(backend->launch(state, r.plan, &args, &(tmaring__boxes){0}, 0, v.stream), TMARING_OK, "%s",
               tmaring_last_detail());
  cr_expect_not(venue_settle(&v), "the grid should have been stopped");
  memset(&fault, 0, sizeof fault);
  cr_expect_eq(backend->fault(state, &fault), TMARING_ERROR_FAULT);
  cr_expect_eq(fault.raised, 1);
  cr_expect_lt(fault.worker, (unsigned)args.walk.workers);
  cr_expect_lt(fault.stage, args.stages);
  cr_expect_leq(fault.fill, 1, "no fill was ever complete: the first waits are the ones that hang");
  cr_expect_not_null(strstr(tmaring_last_detail(), "did not end"), "%s", tmaring_last_detail());
}

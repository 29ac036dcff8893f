/* Debug kernels: a wait that cannot end leaves a record and stops the grid, instead of hanging. */
#include <criterion/criterion.h>
#include <string.h>

#include "../src/host/backend/backend.h"
#include "../src/host/tile/tile_state.h"
#include "support/rig.h"
#include "support/trial.h"

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

/* ---- tile programs ---- */

#define SIDE 64

static tmaring_tile_kernel *copy_kernel(const venue *v, int mutant)
{
  const tmaring_tile_tensor empty = TMARING_TILE_TENSOR_INIT;
  tmaring_tile_tensor tensor[2] = {empty, empty};
  tmaring_tile_options options;
  tmaring_tile_plan *plan;
  tmaring_tile_kernel *kernel;
  tmaring_tile_options_init(&options);
  options.debug = 1;
  options.consumers[0] = 128; /* four arrivals at empty, one at full */
  options.mode = TMARING_MODE_WARP_SPECIALIZED;
  for (int t = 0; t < 2; ++t) tensor[t].rank = 2, tensor[t].dims[0] = tensor[t].dims[1] = SIDE;
  cr_assert_eq(tmaring_tile_plan_create(&plan, TMARING_TILE_COPY, tensor, 2, &v->machine, &options), TMARING_OK, "%s",
               tmaring_last_detail());
  tmaring_smem *smem = &plan->plan.variant[0].args.smem;
  if (mutant) smem->empty = smem->full;
  cr_assert_eq(trial_compile(&plan->plan), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_tile_prepare(&kernel, plan, v->backend), TMARING_OK, "%s", tmaring_last_detail());
  tmaring_tile_plan_free(plan);
  return kernel;
}

static void run_copy(const venue *v, int mutant, tmaring_status due)
{
  static float x[SIDE * SIDE];
  tmaring_fault fault;
  tmaring_tile_kernel *kernel = copy_kernel(v, mutant);
  void *data[2] = {v->place->take(sizeof x), v->place->take(sizeof x)};
  cr_assert(data[0] && data[1]);
  for (int i = 0; i < SIDE * SIDE; ++i) x[i] = (float)(i % 251 + 1);
  cr_assert(v->place->upload(data[0], x, sizeof x));
  cr_assert_eq(tmaring_tile_launch(kernel, data, NULL, 0, v->stream), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_eq(venue_settle(v), !mutant);
  memset(&fault, 0, sizeof fault);
  cr_expect_eq(tmaring_tile_kernel_fault(kernel, &fault), due, "%s", tmaring_last_detail());
  cr_expect_eq(fault.raised, (unsigned)mutant);
  if (mutant) return; /* the context is lost with the trap */
  for (int t = 0; t < 2; ++t) v->place->give(data[t]);
  tmaring_tile_kernel_free(kernel);
}

VENUE_TEST(fault, sound_tile_kernels_have_none)
{
  tmaring_fault fault;
  run_copy(v, 0, TMARING_OK);
  cr_expect_eq(tmaring_tile_kernel_fault(NULL, &fault), TMARING_ERROR_ARGUMENT);
}

Test(fault, a_wait_of_a_tile_kernel_is_recorded_cuda, .timeout = 120)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  run_copy(&v, 1, TMARING_ERROR_FAULT);
}

/* [N] inputs by multicast: formulas with vectors from end to end, what the planner makes of the option, and the role code
 * of a cluster in every order, with mutants that must be caught. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../src/host/check/binding.h"
#include "../src/host/check/explore.h"
#include "../src/host/check/schedule.h"
#include "support/draft.h"
#include "support/field_case.h"
#include "support/op_trial.h"
#include "support/random_options.h"
#include "support/small_ring.h"

/* Both modes, every order, clusters of each size, also of more CTAs than there is work for; row widths whose vectors are
 * no whole units. */
FIELD_CASE(multicast_of_row_vectors)
{
  static const int64_t shapes[][2] = {{997, 256}, {64, 1000}, {3, 1003}, {1, 72}, {2049, 129}, {301, 3}};
  for (int i = 0; i < 72; ++i) {
    trial t = trial_begin(i % 2 ? RECIPE_LAYERNORM : RECIPE_RMSNORM, (tmaring_dtype)(i % 3), shapes[i / 2 % 6][0],
                          shapes[i / 2 % 6][1]);
    t.options.multicast = 2 << i % 3;
    t.options.mode = i / 3 % 2;
    t.options.order = i / 4 % 4;
    t.options.store = i / 8 % 2;
    if (i % 5 == 0) t.options.workers = 1 + i % 13;
    if (i % 7 == 0 && t.options.mode == TMARING_MODE_WARP_SPECIALIZED) t.options.squads = 2;
    if (!tally_takes(sum)) continue;
    const trial_result r = field_run(sum, v, &t);
    cr_expect_eq(r.args.multicast, t.options.multicast, "%s", r.text);
    cr_expect_eq(r.args.walk.workers % t.options.multicast, 0);
  }
}

/* Without rows column results are those of no rows, and vectors are not read: their addresses may be NULL. */
VENUE_TEST(multicast, columns_of_no_rows)
{
  for (int32_t mode = 0; mode < 2; ++mode) {
    op_trial t = op_trial_begin("rmsnorm_backward", TMARING_F32, 0, 257);
    t.options.multicast = 2;
    t.options.mode = mode;
    const trial_result r = op_trial_run(&t, v);
    cr_assert_eq(r.outcome, TRIAL_PASSED, "mode %d: %s", mode, r.text);
    cr_expect_eq(r.args.multicast, 2);
  }
}

/* Whatever else is asked for: where it cannot be had it is left out, and the plan is right. */
FIELD_CASE(multicast_with_random_options)
{
  noise n = noise_seed(91);
  int together = 0;
  for (int i = 0; i < 200; ++i) {
    const int32_t cols = PICK(&n, 1, 7, 16, 33, 64, 129, 256, 500, 777);
    const int32_t rows = PICK(&n, 0, 1, 2, 3, 13, 31, 64, 100);
    trial t = trial_begin(noise_below(&n, 2) ? RECIPE_LAYERNORM : RECIPE_RMSNORM,
                          (tmaring_dtype)noise_below(&n, RECIPE_DTYPES), rows, cols);
    trial_lay_out(&t, (trial_layout)noise_below(&n, LAYOUT_COUNT));
    random_options(&t.options, &n, cols);
    t.options.multicast = PICK(&n, 2, 4, 8);
    t.seed = noise_next(&n) >> 40;
    if (!tally_takes(sum)) continue;
    const trial_result r = trial_run(&t, v);
    if (r.outcome == TRIAL_REFUSED) continue;
    tally_count(sum, &r);
    together += r.args.multicast > 1;
  }
  if (sum->step == 1) cr_expect_geq(together, 50, "%d plans loaded vectors together", together);
}

/* ---- the planner ---- */

#define RMSNORM "rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * w"

static void expect_left_out(draft *d, const char *note)
{
  d->options.multicast = 4;
  tmaring_plan *plan = draft_accept(d);
  cr_expect_not_null(draft_note(plan, note), "%s", note);
  cr_expect_leq(draft_args(plan, 1000).multicast, 1);
  cr_expect_eq(plan->code.multicast, 0);
  tmaring_plan_free(plan);
  draft_free(d);
}

Test(plan_multicast, is_left_out_where_it_cannot_be, .timeout = 10)
{
  draft none = draft_make("y = x + x", TMARING_F32, 1000, 512);
  expect_left_out(&none, "no [N] input");
  draft shared = draft_make(RMSNORM, TMARING_F32, 1000, 512);
  shared.options.scope = TMARING_SCOPE_CLUSTER;
  expect_left_out(&shared, "share a row already");
  draft odd = draft_make(RMSNORM, TMARING_F32, 1000, 512);
  odd.tensor[draft_tensor(&odd, "w")].alignment = 4;
  expect_left_out(&odd, "not aligned to 16 bytes");
  draft wide = draft_make(RMSNORM, TMARING_F32, 1000, 100000);
  wide.options.cluster = 1;
  expect_left_out(&wide, "stay in global memory");
  draft full = draft_make(RMSNORM, TMARING_F32, 1000, 4096);
  full.options.stages = 14;
  full.options.tile_rows = 1;
  full.options.piece_cols = 4096;
  full.machine.smem_per_block_bytes = 14 * 16384 + 2048;
  expect_left_out(&full, "no room for [N] inputs");
}

Test(plan_multicast, workers_are_whole_clusters, .timeout = 10)
{
  for (int32_t ctas = 2; ctas <= 8; ctas *= 2) {
    draft d = draft_make(RMSNORM, TMARING_BF16, 4096, 4096);
    d.options.multicast = ctas;
    d.machine.sm_count = 131;
    tmaring_plan *plan = draft_accept(&d);
    for (int64_t rows = 1; rows < 3000; rows = 3 * rows + 1) {
      const tmaring_args a = draft_args(plan, rows);
      cr_expect_eq(a.multicast, ctas);
      cr_expect_eq(a.walk.workers % ctas, 0, "%d rows", (int)rows);
      cr_expect_eq(a.smem.vector_full, a.smem.vectors);
      cr_expect_eq(a.vector[0].smem, a.smem.vectors + 16);
      cr_expect_leq(a.vector[0].smem + 8192, a.smem.columns);
      tmaring_check_report report = {.size = sizeof report};
      cr_expect_eq(tmaring_check(plan, rows, &report), TMARING_OK, "%s", tmaring_last_detail());
    }
    tmaring_plan_free(plan);
    draft_free(&d);
  }
  tmaring_status status;
  draft three = draft_make(RMSNORM, TMARING_BF16, 4096, 4096);
  three.options.multicast = 3;
  cr_expect_null(draft_plan(&three, &status));
  cr_expect_eq(status, TMARING_ERROR_ARGUMENT);
  draft_free(&three);
}

/* ---- the role code ---- */

/* X(name, fault that exploration finds) */
#define MUTANTS(X)                                                                                                     \
  X(expect_missing_in_one_cta, DEADLOCK)                                                                               \
  X(expect_short, VECTORS)                                                                                             \
  X(expect_long, DEADLOCK)                                                                                             \
  X(cluster_barrier_dropped, VECTORS)                                                                                  \
  X(wait_dropped, VECTORS)                                                                                             \
  X(end_barrier_dropped, VECTORS)                                                                                      \
  X(share_of_one_cta_dropped, DEADLOCK)                                                                                \
  X(share_of_the_neighbour, VECTORS)                                                                                   \
  X(share_past_the_end, VECTORS)

#include "support/mutants.h"

static void mutant_expect(tmaring__env *e, uint32_t bytes)
{
  if (mutant == mutant_expect_missing_in_one_cta && e->ring->rank == 1) return;
  if (mutant == mutant_expect_short) bytes /= 2; /* one of two shares */
  if (mutant == mutant_expect_long) bytes += 16;
  tmaring__role_vectors_expect(e, bytes);
}

static void mutant_load(tmaring__env *e, int32_t i, uint32_t offset, uint32_t bytes)
{
  if (mutant == mutant_share_of_one_cta_dropped && e->ring->rank == 1) return;
  if (mutant == mutant_share_past_the_end) offset += e->ring->rank == 1 ? 16 : 0;
  tmaring__role_vectors_load(e, i, offset, bytes);
  if (mutant == mutant_share_of_the_neighbour) tmaring__role_vectors_load(e, i, offset, bytes);
}

static int mutant_try(tmaring__env *e)
{
  return mutant == mutant_wait_dropped || tmaring__role_try_vectors(e);
}

#undef ROLE_VECTORS_EXPECT
#undef ROLE_VECTORS_LOAD
#undef ROLE_TRY_VECTORS
#undef ROLE_CLUSTER_SYNC
#define ROLE_VECTORS_EXPECT(e, bytes)          TMARING__VISIBLE(mutant_expect(e, bytes))
#define ROLE_VECTORS_LOAD(e, i, offset, bytes) TMARING__VISIBLE(mutant_load(e, i, offset, bytes))
#define ROLE_TRY_VECTORS(e)                    mutant_try(e)
#define ROLE_CLUSTER_SYNC(f, e)                                                                                        \
  do {                                                                                                                 \
    const uint32_t part_ = tmaring__env_actor(e)->part;                                                                \
    if (mutant == mutant_cluster_barrier_dropped && part_ == TMARING__PART_VECTORS) break;                             \
    if (mutant == mutant_end_barrier_dropped && part_ == TMARING__PART_LEAVE) break;                                   \
    TMARING__BARRIER(f, tmaring__role_arrive_cluster, tmaring__role_passed_cluster);                                   \
  } while (0)

#include "tmaring/abi/roles.h"

static TMARING__ROLE_STEP(mutant_step);

/* A ring of one warp, with vectors of 64 floats in front of the stages, in a cluster of `ctas`. */
static void make(small_ring *r, int mode, int stages, int ctas, int trips)
{
  small_spec s = small_spec_blocked(mode, stages, 1, trips);
  s.inputs = 1;
  small_ring_make(r, &s);
  tmaring_args *a = &r->args;
  tmaring_smem_layout(&a->smem, a->stages, a->smem.stage_bytes, 16 + 256, 0, 0);
  a->vector_count = r->program.vector_count = 1;
  a->vector[0].base = 1 << 24;
  a->vector[0].dtype = TMARING_F32;
  a->vector[0].smem = a->smem.vectors + 16;
  a->multicast = ctas;
  r->code.multicast = 1;
  r->ring.step = mutant_step;
  cr_assert_eq(tmaring__ring_prepare(&r->ring), TMARING_OK, "%s", tmaring_last_detail());
}

static tmaring__fault_note explore(int mode, int stages, int ctas, int trips)
{
  static small_ring r;
  tmaring__fault_note fault;
  tmaring__explore_report report;
  make(&r, mode, stages, ctas, trips);
  const tmaring_status status = tmaring__explore(&r.ring, 1, 1u << 23, &report, &fault);
  cr_assert(status == TMARING_OK || status == TMARING_ERROR_CHECK, "%s", tmaring_last_detail());
  return fault;
}

Test(multicast_model, every_order_of_a_cluster, .timeout = 300)
{
  mutant = mutant_control;
  for (int mode = 0; mode < SMALL_MODE_COUNT; ++mode) {
    for (int ctas = 2; ctas <= 3; ++ctas) {
      for (int trips = 0; trips <= (ctas == 2 ? 2 : 0); ++trips) {
        const tmaring__fault_note fault = explore(mode, 1 + trips % 2, ctas, trips);
        cr_assert_eq(fault.kind, TMARING__FAULT_NONE, "mode %d, %d CTAs, %d trips: %s", mode, ctas, trips, fault.text);
      }
    }
  }
}

static void kill_mutant(mutant_id id, const char *name, tmaring__fault_kind due)
{
  mutant = id;
  for (int mode = 0; mode < SMALL_MODE_COUNT; ++mode) {
    const tmaring__fault_note fault = explore(mode, 1, 2, 1);
    fprintf(stderr, "%-26s mode %d | %s\n", name, mode, fault.text);
    cr_expect_eq(fault.kind, due, "%s: %s", name, fault.text);
  }
}

#define KILL(name, fault)                                                                                              \
  Test(multicast_mutants, name, .timeout = 60)                                                                         \
  {                                                                                                                    \
    kill_mutant(mutant_##name, #name, TMARING__FAULT_##fault);                                                         \
  }
MUTANTS(KILL)

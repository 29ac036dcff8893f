/* Faulty role code must be caught. Each mutant is the shipped loops of abi/roles.h with one primitive interposed; the
 * header itself is never touched. The control is the same file with no mutant on. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "../src/host/check/binding.h"
#include "../src/host/check/explore.h"
#include "../src/host/check/schedule.h"
#include "support/small_ring.h"

/* X(name, rings it is played on, fault the exhaustive schedule finds first; NONE: that depends on the ring) */
#define MUTANTS(X)                                                                                                     \
  X(full_wait_dropped, "wdcdmdwscs", READ_EARLY)                                                                       \
  X(empty_wait_dropped, "wdmdwswz", NONE)                                                                              \
  X(full_parity_wrong, "wdcdmdwscs", READ_EARLY)                                                                       \
  X(empty_parity_wrong, "wdmdws", NONE)                                                                                \
  X(full_count_restarted, "wdcdmdws", NONE)                                                                            \
  X(empty_count_restarted, "wdmd", NONE)                                                                               \
  X(release_before_read, "wdmd", NONE)                                                                                 \
  X(release_before_store, "ws", NONE)                                                                                  \
  X(arrive_dropped, "wdmd", DEADLOCK)                                                                                  \
  X(arrive_twice, "wdmd", ARRIVAL)                                                                                     \
  X(expect_short, "wdcdmdws", TX)                                                                                      \
  X(expect_long, "wdcdmdws", NONE)                                                                                     \
  X(expect_without_arrive, "wdcdmd", NONE)                                                                             \
  X(copy_dropped, "wdcdmd", NONE)                                                                                      \
  X(fence_dropped, "wscsmswvcvmv", NONE)                                                                               \
  X(edge_fence_dropped, "wecewocomo", REFILL_FENCE)                                                                    \
  X(wait_read_dropped, "wscsmswzwvcvmv", NONE)                                                                         \
  X(wait_read_one_late, "wscsmswvcvmv", NONE)                                                                          \
  X(expect_clipped, "wbcbmb", NONE)                                                                                    \
  X(box_dropped, "wbcbmb", DEADLOCK)                                                                                   \
  X(box_of_next_copy, "wbcbmb", BOX)                                                                                   \
  X(box_of_next_row, "wbcbmb", WALK)                                                                                   \
  X(box_off_its_unit, "wbcbmb", ALIGNMENT)                                                                             \
  X(tile_store_off_its_unit, "wvcvmv", ALIGNMENT)                                                                      \
  X(tile_store_past_the_row, "wvcvmv", HULL)                                                                           \
  X(tile_store_dropped, "wvcvmv", COVERAGE)                                                                            \
  X(tile_store_twice, "wvcvmv", COVERAGE)                                                                              \
  X(async_arrive_dropped, "wacama", DEADLOCK)                                                                          \
  X(async_arrive_twice, "wacama", ARRIVAL)                                                                             \
  X(async_arrive_before_copies, "wacama", TX)                                                                          \
  X(async_count_missing, "wacama", NONE)                                                                               \
  X(async_end_arrive_dropped, "wncnmn", DEADLOCK)                                                                      \
  X(ordinary_dropped, "wocomo", READ_EARLY)                                                                            \
  X(store_before_unit_barrier, "gs", STORE_EARLY)                                                                      \
  X(group_barrier_dropped, "gdgs", SCRATCH)                                                                            \
  X(cta_barrier_dropped, "cdcs", NONE)                                                                                 \
  X(surplus_stored, "ww", COVERAGE)                                                                                    \
  X(lead_one_too_far, "wdws", LEAD)                                                                                    \
  X(ticket_not_put, "wt", NONE)                                                                                        \
  X(barrier_initialised_twice, "wdcdmd", LIVE)                                                                         \
  X(one_buffer_of_partials, "gdxdys", SCRATCH)                                                                         \
  X(cluster_barrier_dropped, "xdxsyd", SCRATCH)                                                                        \
  X(second_cluster_barrier_dropped, "xdys", SCRATCH)                                                                   \
  X(cluster_barrier_of_one_cta, "xdyd", SCRATCH)                                                                       \
  X(cluster_end_dropped, "xdxsyd", PEER)                                                                               \
  X(cluster_trips_differ, "xdyd", SCRATCH)                                                                             \
  X(columns_begin_dropped, "wkckmkgk", COLUMNS)                                                                        \
  X(columns_end_dropped, "wkckmkgk", COLUMNS)                                                                          \
  X(columns_begin_twice, "wkck", COLUMNS)                                                                              \
  X(columns_end_twice, "wkck", COLUMNS)                                                                                \
  X(columns_end_with_the_first_fill, "wkmk", COLUMNS)                                                                  \
  X(trip_one_short, "wdcdmd", NONE)

#include "support/mutants.h"
#include "support/ring_mutants.h"

#include "tmaring/abi/roles.h"

static TMARING__ROLE_STEP(mutant_step);

/* ---- rings ---- */

static void share_with_peers(small_spec *s)
{
  s->cluster = 2;
  s->reductions = 2;
  s->warps = s->inputs = 1;
  s->stages = 2;
  s->trips = 3;
}

/* Two letters: mode (w ws, c CTA barrier, m mbarrier, g ws with rows shared by warps, x and y as c and m with rows shared
 * by two CTAs) and kind (d direct, s staged in
 * place, e edges, w surplus fills by wrap, t tickets, k column reductions over chunks of fills, z no inputs and staged, a one input by cp.async, n the same
 * with tickets, b one input in boxes that are clipped, v boxes stored in place, o ordinary loads and bulk copies into one slot in turn). */
static small_spec spec_of(const char *letters)
{
  small_spec s = small_spec_blocked(SMALL_WS, 3, 2, 7);
  s.distance = 1;
  s.inputs = 2;
  if (letters[0] == 'c' || letters[0] == 'x') s.mode = SMALL_CTA_BARRIER;
  if (letters[0] == 'm' || letters[0] == 'y') s.mode = SMALL_MBARRIER;
  if (letters[0] == 'x' || letters[0] == 'y') share_with_peers(&s);
  if (letters[0] == 'g') s.per_row = 2;
  if (letters[0] == 'g') s.reductions = 2;
  if (letters[1] == 's' || letters[1] == 'w' || letters[1] == 'z') s.staged = 1;
  if (letters[1] == 'e') s.edges = 1;
  if (letters[1] == 'w') s.surplus = 2;
  if (letters[1] == 'w') s.policy = TMARING_POLICY_WRAP;
  if (letters[1] == 'k') s.chunk = 2;
  if (letters[1] == 'k') s.trips = 3;
  if (letters[1] == 'z') s.inputs = 0;
  if (letters[1] == 't' || letters[1] == 'n') s.order = TMARING_ORDER_TICKET;
  if (letters[1] == 'a' || letters[1] == 'n') s.path[1] = TMARING_LOAD_ASYNC;
  if (letters[1] == 'b') s.path[1] = TMARING_LOAD_TILE;
  if (letters[1] == 'v') s.path[0] = TMARING_LOAD_TILE;
  if (letters[1] == 'v') s.staged = s.tiled_store = 1;
  if (letters[1] == 'o') s.inputs = 1;
  alternates = letters[1] == 'o';
  return s;
}

typedef struct trial {
  tmaring__fault_note lazy, random, reduced, unreduced;
} trial;

static void try_all(const small_spec *spec, trial *t)
{
  small_ring r;
  tmaring__explore_report report;
  tmaring_status status;
  small_ring_make(&r, spec);
  r.ring.step = mutant_step;
  if (mutant == mutant_async_count_missing) r.ring.async = 0;
  tmaring__schedule_run(&r.ring, TMARING__LAZY, &t->lazy, NULL, NULL);
  t->random.kind = TMARING__FAULT_NONE;
  for (uint64_t seed = 1; seed < 20 && t->random.kind == TMARING__FAULT_NONE; ++seed) {
    tmaring__schedule_run(&r.ring, seed, &t->random, NULL, NULL);
  }
  status = tmaring__explore(&r.ring, 1, 1u << 22, &report, &t->reduced);
  cr_assert(status == TMARING_OK || status == TMARING_ERROR_CHECK, "%s", tmaring_last_detail());
  status = tmaring__explore(&r.ring, 0, 1u << 22, &report, &t->unreduced);
  cr_assert(status == TMARING_OK || status == TMARING_ERROR_CHECK, "%s", tmaring_last_detail());
}

static const char *mark(const tmaring__fault_note *note)
{
  return note->kind == TMARING__FAULT_NONE ? "-" : tmaring__fault_text(note->kind);
}

Test(ring_mutants, control_passes, .timeout = 120)
{
  static const char *const rings[] = {"wd", "cd", "md", "ws", "cs", "ms", "we", "ce", "gd", "gs", "ww", "wt", "wk",
                                      "ck", "mk", "gk", "wz", "cz", "mz", "xd", "yd", "xs", "ys", "wa", "ca", "ma",
                                      "wn", "cn", "mn", "wb", "cb", "mb", "wv", "cv", "mv", "wo", "co", "mo"};
  mutant = mutant_control;
  for (size_t i = 0; i < sizeof rings / sizeof *rings; ++i) {
    const small_spec spec = spec_of(rings[i]);
    trial t;
    try_all(&spec, &t);
    cr_assert(t.lazy.kind == TMARING__FAULT_NONE && t.random.kind == TMARING__FAULT_NONE &&
                  t.reduced.kind == TMARING__FAULT_NONE && t.unreduced.kind == TMARING__FAULT_NONE,
              "%s: %s%s%s%s", small_ring_text(&spec), t.lazy.text, t.random.text, t.reduced.text, t.unreduced.text);
  }
}

/* Every mutant is killed on every ring it is played on, by exploration with and without reduction. */
static void kill_mutant(mutant_id id, const char *name, const char *rings, tmaring__fault_kind due)
{
  mutant = id;
  for (; rings[0]; rings += 2) {
    const small_spec spec = spec_of(rings);
    trial t;
    try_all(&spec, &t);
    fprintf(stderr, "%-26s %.2s | lazy: %s | random: %s | all: %s\n", name, rings, mark(&t.lazy), mark(&t.random),
            t.reduced.text);
    cr_expect_neq(t.reduced.kind, TMARING__FAULT_NONE, "%s survives on %.2s", name, rings);
    cr_expect_neq(t.unreduced.kind, TMARING__FAULT_NONE, "%s survives on %.2s unreduced", name, rings);
    if (due != TMARING__FAULT_NONE) cr_expect_eq(t.reduced.kind, due, "%s on %.2s: %s", name, rings, t.reduced.text);
  }
}

#define KILL(name, rings, fault)                                                                                       \
  Test(ring_mutants, name, .timeout = 60)                                                                              \
  {                                                                                                                    \
    kill_mutant(mutant_##name, #name, rings, TMARING__FAULT_##fault);                                                  \
  }
MUTANTS(KILL)

/* Faulty role code of two squads must be caught: the shipped loops with one primitive or one step of the turns
 * interposed, explored in every order. The control is the same file with no mutant on. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "../src/host/check/binding.h"
#include "../src/host/check/explore.h"
#include "../src/host/check/schedule.h"
#include "support/small_ring.h"

/* X(name, rings it is played on, fault that exploration finds first; NONE: that depends on the ring) */
#define MUTANTS(X)                                                                                                     \
  X(turn_not_waited_for, "a3c3ak", READ_EARLY)                                                                         \
  X(turn_not_passed, "a3c3ak", DEADLOCK)                                                                               \
  X(own_fill_skipped, "a3c3a4c4", NONE)                                                                                \
  X(fills_of_the_other_squad, "a3a4c4", NONE)                                                                          \
  X(empty_count_of_all_warps, "a3c3a4c4", DEADLOCK)                                                                    \
  X(parity_of_the_other_squad, "a1c1", READ_EARLY)                                                                     \
  X(named_barrier_shared, "agcg", NONE)                                                                                \
  X(one_end_mark, "atctau", DEADLOCK)                                                                                  \
  X(end_mark_not_released, "auct", NONE)                                                                               \
  X(late_store_not_released, "al", DEADLOCK)

#include "support/mutants.h"

/* ---- interposed steps and primitives ---- */

static void mutant_begin(tmaring_consumer_frame *f, const tmaring_args *a, const tmaring_walk *w, tmaring_i32 squad)
{
  tmaring_squad_begin(f, a, w, mutant == mutant_fills_of_the_other_squad ? 1 - squad : squad);
}

static void mutant_next(const tmaring__env *e, tmaring_consumer_frame *f, const tmaring_args *a, const tmaring_walk *w)
{
  tmaring_squad_next(f, a, w);
  if (mutant == mutant_own_fill_skipped && tmaring__env_squad(e) == 1) tmaring_squad_next(f, a, w);
}

static int mutant_feed_live(const tmaring_feed_frame *f, const tmaring_walk *w)
{
  return tmaring_feed_live(f, w) && !(mutant == mutant_one_end_mark && f->marks > 0);
}

static int mutant_try_full(tmaring__env *e, uint32_t stage, uint32_t parity)
{
  if (mutant == mutant_parity_of_the_other_squad && tmaring__env_squad(e) == 1) parity ^= 1u;
  return tmaring__role_try_full(e, stage, parity);
}

/* Before the first fill: barriers that count both squads. */
static void mutant_expect(tmaring__env *e, uint32_t stage, uint32_t bytes)
{
  for (int32_t i = 0; mutant == mutant_empty_count_of_all_warps && e->state->issued == 0 && i < e->ring->stages; ++i) {
    tmaring__mbarrier *empty = &tmaring__at_stage(e->ring, e->state, (uint32_t)i)->empty;
    empty->pending = empty->expected = (uint32_t)e->ring->warps;
  }
  tmaring__role_expect(e, stage, bytes);
}

static void mutant_release(tmaring__env *e, uint32_t stage)
{
  if (mutant == mutant_end_mark_not_released && tmaring__env_actor(e)->ended) return;
  tmaring__role_release(e, stage);
}

static void mutant_release_storer(tmaring__env *e, uint32_t stage)
{
  if (mutant == mutant_late_store_not_released && tmaring__env_actor(e)->ended) return;
  tmaring__role_release_storer(e, stage);
}

/* Units numbered within their squad, as if each squad had all of the named barriers. */
static int32_t mutant_unit(const tmaring__env *e)
{
  const int32_t warp = mutant == mutant_named_barrier_shared ? tmaring__squad_warp(e->ring, e->actor) : e->actor;
  return warp / e->ring->args->scope.warps_per_row;
}

static uint32_t mutant_arrive_group(tmaring__env *e)
{
  return tmaring__role_arrive_unit(e, mutant_unit(e));
}

static int mutant_passed_group(tmaring__env *e, uint32_t generation)
{
  return tmaring__role_passed_unit(e, mutant_unit(e), generation);
}

#undef ROLE_TRY_FULL
#undef ROLE_EXPECT
#undef ROLE_RELEASE
#undef ROLE_RELEASE_STORER
#undef ROLE_GROUP_SYNC
#undef ROLE_TURN_WAIT
#undef ROLE_TURN_PASS
#define ROLE_TRY_FULL(e, stage, parity)     mutant_try_full(e, stage, parity)
#define ROLE_EXPECT(e, stage, bytes)        TMARING__VISIBLE(mutant_expect(e, stage, bytes))
#define ROLE_RELEASE(e, stage)              TMARING__VISIBLE(mutant_release(e, stage))
#define ROLE_RELEASE_STORER(e, stage)       TMARING__VISIBLE(mutant_release_storer(e, stage))
#define ROLE_GROUP_SYNC(f, e)               TMARING__BARRIER_OF_MUTANT(f)
#define TMARING__BARRIER_OF_MUTANT(f)       TMARING__BARRIER(f, mutant_arrive_group, mutant_passed_group)
#define tmaring_feed_live(f, w)             mutant_feed_live(f, w)
#define tmaring_squad_begin(f, a, w, squad) mutant_begin(f, a, w, squad)
#define tmaring_squad_next(f, a, w)         mutant_next(e, f, a, w)
#define ROLE_TURN_WAIT(f, e)                                                                                           \
  do {                                                                                                                 \
    if (mutant == mutant_turn_not_waited_for) break;                                                                   \
    TMARING__BARRIER(f, tmaring__role_arrive_turn, tmaring__role_passed_turn);                                         \
  } while (0)
#define ROLE_TURN_PASS(e)                                                                                              \
  do {                                                                                                                 \
    if (mutant == mutant_turn_not_passed || mutant == mutant_turn_not_waited_for) break;                               \
    TMARING__VISIBLE(tmaring__role_pass_turn(e));                                                                      \
  } while (0)

#include "tmaring/abi/roles.h"

static TMARING__ROLE_STEP(mutant_step);

/* ---- rings ---- */

/* Two letters: turns (a alternating, c cooperating) and kind (1, 3, 4 stages; g rows shared by two warps; k tiles of three
 * fills; t tickets, u tickets with one stage, l tickets with results staged and a store that lags). */
static small_spec spec_of(const char *letters)
{
  small_spec s = small_spec_blocked(SMALL_WS, 3, 2, 7);
  s.inputs = 1;
  s.squads = 2;
  const char kind = letters[1];
  s.turns = letters[0] == 'a';
  if (kind == '1' || kind == '4') s.stages = kind - '0';
  if (kind == 'u') s.stages = 1;
  if (kind == 'l') s.stages = 4;
  if (s.stages == 1) s.distance = 0;
  if (kind == 'g') s.warps = 4;
  if (kind == 'g') s.per_row = s.reductions = 2;
  if (kind == 'k') s.chunk = 3;
  if (kind == 't') s.distance = 0;
  if (kind == 't' || kind == 'u' || kind == 'l') s.order = TMARING_ORDER_TICKET;
  if (kind == 'l') s.staged = 1;
  if (kind == 'k' || kind == 'g' || letters[0] == 'c') s.trips = 4;
  return s;
}

static void explore(const small_spec *spec, tmaring__fault_note *fault)
{
  small_ring r;
  tmaring__explore_report report;
  small_ring_make(&r, spec);
  r.ring.step = mutant_step;
  const tmaring_status status = tmaring__explore(&r.ring, 1, 1u << 23, &report, fault);
  cr_assert(status == TMARING_OK || status == TMARING_ERROR_CHECK, "%s", tmaring_last_detail());
}

Test(squad_mutants, control_passes, .timeout = 120)
{
  static const char *const rings[] = {"a1", "c1", "a3", "c3", "a4", "c4", "ag",
                                      "cg", "ak", "at", "ct", "au", "cu", "al"};
  mutant = mutant_control;
  for (size_t i = 0; i < sizeof rings / sizeof *rings; ++i) {
    const small_spec spec = spec_of(rings[i]);
    tmaring__fault_note fault;
    explore(&spec, &fault);
    cr_assert_eq(fault.kind, TMARING__FAULT_NONE, "%s: %s", small_ring_text(&spec), fault.text);
  }
}

static void kill_mutant(mutant_id id, const char *name, const char *rings, tmaring__fault_kind due)
{
  mutant = id;
  for (; rings[0]; rings += 2) {
    const small_spec spec = spec_of(rings);
    tmaring__fault_note fault;
    explore(&spec, &fault);
    fprintf(stderr, "%-26s %.2s | %s\n", name, rings, fault.text);
    cr_expect_neq(fault.kind, TMARING__FAULT_NONE, "%s survives on %.2s", name, rings);
    if (due != TMARING__FAULT_NONE) cr_expect_eq(fault.kind, due, "%s on %.2s: %s", name, rings, fault.text);
  }
}

#define KILL(name, rings, fault)                                                                                       \
  Test(squad_mutants, name, .timeout = 60)                                                                             \
  {                                                                                                                    \
    kill_mutant(mutant_##name, #name, rings, TMARING__FAULT_##fault);                                                  \
  }
MUTANTS(KILL)

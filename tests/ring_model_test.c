/* The role loops through the ring model: every order of their steps, and the model's own parts. */
#define _POSIX_C_SOURCE 199309L
#include <criterion/criterion.h>
#include <stdio.h>
#include <time.h>

#include "../src/host/check/explore.h"
#include "../src/host/check/schedule.h"
#include "support/small_ring.h"

#define STATE_LIMIT (1u << 24)

/* What a family of rings took. */
typedef struct total {
  int rings;
  uint64_t states, transitions;
  struct timespec start;
} total;

static total total_begin(void)
{
  total t = {0, 0, 0, {0, 0}};
  clock_gettime(CLOCK_MONOTONIC, &t.start);
  return t;
}

static double total_end(const total *t, const char *name)
{
  struct timespec now;
  double seconds;
  clock_gettime(CLOCK_MONOTONIC, &now);
  seconds = (double)(now.tv_sec - t->start.tv_sec) + 1e-9 * (double)(now.tv_nsec - t->start.tv_nsec);
  fprintf(stderr, "explored %-28s %5d rings %9llu states %10llu transitions %6.2f s\n", name, t->rings,
          (unsigned long long)t->states, (unsigned long long)t->transitions, seconds);
  return seconds;
}

/* Lazily, at random, and through every order. */
static void play(total *t, const small_spec *spec, int reduced)
{
  small_ring r;
  tmaring__fault_note fault;
  tmaring__explore_report report;
  small_ring_make(&r, spec);
  for (uint64_t seed = TMARING__LAZY; seed < 3; ++seed) {
    cr_assert_eq(tmaring__schedule_run(&r.ring, seed, &fault, NULL, NULL), TMARING_OK, "%s, seed %d: %s",
                 small_ring_text(spec), (int)seed, tmaring_last_detail());
  }
  cr_assert_eq(tmaring__explore(&r.ring, reduced, STATE_LIMIT, &report, &fault), TMARING_OK, "%s: %s",
               small_ring_text(spec), tmaring_last_detail());
  t->rings += 1;
  t->states += report.states;
  t->transitions += report.transitions;
}

/* Trips {0, 1, S-1, S, S+1, 2S+1}, each once. */
static void play_trips(total *t, small_spec spec, int reduced)
{
  const int trips[] = {0, 1, spec.stages - 1, spec.stages, spec.stages + 1, 2 * spec.stages + 1};
  for (int i = 0; i < 6; ++i) {
    spec.trips = trips[i];
    if (spec.trips <= 1 && i >= 2) continue; /* S = 1, 2: seen */
    play(t, &spec, reduced);
  }
}

/* Every mode and prefetch distance of rings up to `stages`, direct and staged as given. */
static void play_grid(total *t, small_spec spec, int stages, int staged, int reduced)
{
  for (spec.mode = 0; spec.mode < SMALL_MODE_COUNT; ++spec.mode) {
    for (spec.stages = 1; spec.stages <= stages; ++spec.stages) {
      for (spec.distance = 0; spec.distance < spec.stages; ++spec.distance) {
        for (spec.staged = 0; spec.staged <= staged; ++spec.staged) play_trips(t, spec, reduced);
      }
    }
  }
}

/* The modes of a cluster. */
static void play_cluster_grid(total *t, small_spec spec, int stages)
{
  for (spec.mode = SMALL_CTA_BARRIER; spec.mode <= SMALL_MBARRIER; ++spec.mode) {
    for (spec.stages = 1; spec.stages <= stages; ++spec.stages) {
      for (spec.distance = 0; spec.distance < spec.stages; ++spec.distance) {
        for (spec.staged = 0; spec.staged <= 2; ++spec.staged) play_trips(t, spec, 1);
      }
    }
  }
}

static small_spec base_spec(void)
{
  small_spec s = {
      SMALL_WS, 1, 0, 2, 1, 2, 0,   0, TMARING_ORDER_BLOCKED, TMARING_POLICY_EXACT, TMARING_RELEASE_WARP, 0, 0,
      0,        0, 0, 0, 0, 0, {0}, 0};
  return s;
}

/* All modes x P x direct/in place x trips, S <= 4, two warps, two copies per fill. Reduced and unreduced must agree. */
Test(ring_model, every_order_of_small_rings, .timeout = 300)
{
  for (int reduced = 1; reduced >= 0; --reduced) {
    total t = total_begin();
    play_grid(&t, base_spec(), 4, 1, reduced);
    cr_assert_lt(total_end(&t, reduced ? "all modes, reduced" : "all modes, unreduced"), 60.0 * 4);
  }
}

Test(ring_model, three_consumers_four_stages_eight_fills, .timeout = 300)
{
  total t = total_begin();
  small_spec s = base_spec();
  s.stages = 4;
  s.distance = 3;
  s.warps = 3;
  s.trips = 8;
  for (s.staged = 0; s.staged < 2; ++s.staged) play(&t, &s, 1);
  total_end(&t, "3 consumers, 8 fills");
}

Test(ring_model, rows_shared_by_warps, .timeout = 120)
{
  total t = total_begin();
  small_spec s = base_spec();
  s.inputs = 1;
  s.per_row = 2;
  for (s.reductions = 0; s.reductions < 3; ++s.reductions) play_grid(&t, s, 2, 2, 1);
  s.reductions = 1;
  s.warps = 4; /* two units */
  play_grid(&t, s, 2, 1, 1);
  total_end(&t, "rows shared by warps");
}

Test(ring_model, rows_in_pieces, .timeout = 120)
{
  total t = total_begin();
  small_spec s = base_spec();
  s.inputs = 1;
  s.per_row = 2;
  s.reductions = 1;
  s.pieces = 3;
  play_grid(&t, s, 2, 1, 1);
  total_end(&t, "rows in pieces");
}

/* CTAs with a ring each, in every order of all their roles: two of them, two of two warps, three, with edges, and with
 * surplus fills that are computed and not stored. */
Test(ring_model, rows_shared_by_ctas, .timeout = 300)
{
  total t = total_begin();
  small_spec s = base_spec();
  s.inputs = s.warps = s.per_row = 1;
  s.cluster = 2;
  for (s.reductions = 0; s.reductions < 3; ++s.reductions) play_cluster_grid(&t, s, 3);
  s.reductions = 1;
  s.edges = 1;
  play_cluster_grid(&t, s, 2);
  s.edges = 0;
  s.surplus = 2;
  s.policy = TMARING_POLICY_WRAP;
  play_cluster_grid(&t, s, 2);
  s.surplus = 0;
  s.cluster = 3;
  play_cluster_grid(&t, s, 2);
  s.cluster = 2;
  s.warps = s.per_row = 2;
  play_cluster_grid(&t, s, 2);
  total_end(&t, "rows shared by CTAs");
}

/* Tiles of several fills with accumulators of their own, the last of which has fewer rows, and fills with none. */
Test(ring_model, chunks_of_fills, .timeout = 120)
{
  total t = total_begin();
  small_spec s = base_spec();
  s.inputs = 1;
  for (s.chunk = 1; s.chunk <= 3; ++s.chunk) play_grid(&t, s, 2, 1, 1);
  s.chunk = 3;
  s.edges = 1;
  play_grid(&t, s, 2, 2, 1);
  total_end(&t, "chunks of fills");
}

Test(ring_model, chunks_of_shared_rows_pieces_tickets_and_surplus, .timeout = 120)
{
  total t = total_begin();
  small_spec s = base_spec();
  s.inputs = 1;
  s.chunk = 3;
  s.surplus = 2;
  s.policy = TMARING_POLICY_WRAP;
  play_grid(&t, s, 2, 1, 1);
  s.surplus = 0;
  s.policy = TMARING_POLICY_EXACT;
  s.order = TMARING_ORDER_TICKET;
  play_grid(&t, s, 2, 1, 1);
  s.per_row = 2;
  s.reductions = 1;
  s.pieces = 2;
  play_grid(&t, s, 2, 1, 1);
  s.order = TMARING_ORDER_BLOCKED;
  play_grid(&t, s, 2, 1, 1);
  s.pieces = 0;
  play_grid(&t, s, 2, 1, 1);
  total_end(&t, "chunks, other rings");
}

/* A fill that reads nothing still goes through the full barrier, and takes a stage over. */
Test(ring_model, fills_without_inputs, .timeout = 120)
{
  total t = total_begin();
  small_spec s = base_spec();
  s.inputs = 0;
  play_grid(&t, s, 3, 2, 1);
  s.order = TMARING_ORDER_TICKET;
  play_grid(&t, s, 2, 2, 1);
  total_end(&t, "fills without inputs");
}

Test(ring_model, tickets, .timeout = 120)
{
  total t = total_begin();
  small_spec s = base_spec();
  s.inputs = 1;
  s.order = TMARING_ORDER_TICKET;
  play_grid(&t, s, 3, 1, 1);
  s.per_row = 2;
  s.reductions = 1;
  s.pieces = 2;
  play_grid(&t, s, 2, 1, 1);
  total_end(&t, "tickets");
}

Test(ring_model, release_by_every_thread, .timeout = 120)
{
  total t = total_begin();
  small_spec s = base_spec();
  s.inputs = 1;
  s.release = TMARING_RELEASE_THREAD;
  play_grid(&t, s, 3, 2, 1);
  total_end(&t, "release by every thread");
}

Test(ring_model, edges_by_ordinary_loads, .timeout = 120)
{
  total t = total_begin();
  small_spec s = base_spec();
  s.edges = 1;
  play_grid(&t, s, 3, 2, 1);
  total_end(&t, "edges by ordinary loads");
}

Test(ring_model, surplus_fills, .timeout = 120)
{
  total t = total_begin();
  small_spec s = base_spec();
  s.inputs = 1;
  for (s.surplus = 1; s.surplus < 4; ++s.surplus) {
    for (s.policy = TMARING_POLICY_WRAP; s.policy <= TMARING_POLICY_EXACT; ++s.policy) play_grid(&t, s, 2, 1, 1);
  }
  total_end(&t, "surplus fills");
}

/* `unsafe` does not stop at the last tile: the first surplus copy leaves the tensor. */
Test(ring_model, unsafe_policy_leaves_the_tensor, .timeout = 30)
{
  small_ring r;
  tmaring__fault_note fault;
  small_spec s = base_spec();
  s.stages = 2;
  s.distance = 1;
  s.trips = 3;
  s.surplus = 1;
  s.policy = TMARING_POLICY_UNSAFE;
  small_ring_make(&r, &s);
  cr_assert_eq(tmaring__schedule_run(&r.ring, TMARING__LAZY, &fault, NULL, NULL), TMARING_ERROR_CHECK);
  cr_assert_eq(fault.kind, TMARING__FAULT_HULL, "%s", fault.text);
}

/* One arrival and the bytes of the fill end a phase of the full barrier, for one trip as for two (F09). */
Test(ring_model, F09_one_arrival_and_all_bytes_per_fill, .timeout = 30)
{
  for (int trips = 1; trips <= 2; ++trips) {
    small_ring r;
    tmaring__fault_note fault;
    tmaring__team team;
    uint64_t seed = TMARING__LAZY;
    small_spec s = base_spec();
    tmaring__ring_state *state;
    s.stages = 2;
    s.distance = 1;
    s.trips = trips;
    s.inputs = 1;
    small_ring_make(&r, &s);
    state = malloc(r.ring.bytes);
    cr_assert_not_null(state);
    tmaring__team_make(&team, &r.ring);
    tmaring__team_start(&team, state, &fault);
    team.env[0].actor = r.ring.issuer;
    r.ring.step(&team.env[0]); /* the producer alone, until it ends or blocks */
    for (int i = 0; i < trips; ++i) {
      const tmaring__mbarrier *full = &tmaring__at_stage(&r.ring, state, (uint32_t)i)->full;
      cr_assert_eq(full->pending, 0);
      cr_assert_eq(full->tx, 64 * 4 * 2); /* two rows of 64 floats */
    }
    while (tmaring__schedule_turn(&team, &seed) != TMARING__DONE) continue;
    cr_assert_eq(fault.kind, TMARING__FAULT_NONE, "%s", fault.text);
    cr_assert_eq(tmaring__at_stage(&r.ring, state, 0)->full.phase, 1);
    free(state);
  }
}

Test(ring_model, barrier_words, .timeout = 10)
{
  tmaring__mbarrier b = {0, 0, 0, 0};
  cr_assert_eq(tmaring__mbarrier_arrive(&b, 1), TMARING__MBARRIER_DEAD);
  cr_assert_eq(tmaring__mbarrier_init(&b, 0), TMARING__MBARRIER_COUNT);
  cr_assert_eq(tmaring__mbarrier_init(&b, 2), TMARING__MBARRIER_OK);
  cr_assert_eq(tmaring__mbarrier_init(&b, 2), TMARING__MBARRIER_LIVE); /* F11 */
  cr_assert(!tmaring__mbarrier_test(&b, 0) && tmaring__mbarrier_test(&b, 1));
  cr_assert_eq(tmaring__mbarrier_arrive(&b, 3), TMARING__MBARRIER_COUNT);
  cr_assert_eq(tmaring__mbarrier_arrive(&b, 1), TMARING__MBARRIER_OK);
  cr_assert_eq(tmaring__mbarrier_complete(&b, 64), TMARING__MBARRIER_OK); /* before it is expected */
  cr_assert_eq(b.tx, -64);
  cr_assert_eq(tmaring__mbarrier_arrive_expect(&b, 64), TMARING__MBARRIER_ENDED);
  cr_assert(tmaring__mbarrier_test(&b, 0) && !tmaring__mbarrier_test(&b, 1));
  cr_assert_eq(tmaring__mbarrier_arrive(&b, 1), TMARING__MBARRIER_OK);
  cr_assert_eq(tmaring__mbarrier_arrive_expect(&b, 1u << 20), TMARING__MBARRIER_TX_RANGE);
  cr_assert_eq(tmaring__mbarrier_arrive_expect(&b, 32), TMARING__MBARRIER_OK); /* arrivals are in, bytes are not */
  cr_assert_eq(tmaring__mbarrier_complete(&b, 32), TMARING__MBARRIER_ENDED);
  cr_assert_eq(b.phase, 2);
  cr_assert_eq(b.pending, 2);
}

/* A plan cannot make the model forget: the same ring played twice gives the same hash of states. */
Test(ring_model, exploration_is_deterministic, .timeout = 60)
{
  small_ring r;
  tmaring__fault_note fault;
  tmaring__explore_report first, second;
  small_spec s = base_spec();
  s.stages = 3;
  s.distance = 2;
  s.trips = 5;
  small_ring_make(&r, &s);
  cr_assert_eq(tmaring__explore(&r.ring, 1, STATE_LIMIT, &first, &fault), TMARING_OK);
  cr_assert_eq(tmaring__explore(&r.ring, 1, STATE_LIMIT, &second, &fault), TMARING_OK);
  cr_assert_eq(first.states, second.states);
  cr_assert_eq(first.transitions, second.transitions);
  cr_assert_eq(tmaring__explore(&r.ring, 1, first.states - 1, &second, &fault), TMARING_ERROR_CAPACITY);
}

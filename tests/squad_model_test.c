/* Two consumer squads through the ring model: every order of small rings, in both kinds of turns. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "../src/host/check/explore.h"
#include "../src/host/check/schedule.h"
#include "support/small_ring.h"

#define STATE_LIMIT (1u << 24)

static int played;

/* Lazily, at random, and through every order. */
static void play(const small_spec *spec)
{
  small_ring r;
  tmaring__fault_note fault;
  tmaring__explore_report report;
  small_ring_make(&r, spec);
  for (uint64_t seed = TMARING__LAZY; seed < 3; ++seed) {
    cr_assert_eq(tmaring__schedule_run(&r.ring, seed, &fault, NULL, NULL), TMARING_OK, "%s, seed %d: %s",
                 small_ring_text(spec), (int)seed, tmaring_last_detail());
  }
  cr_assert_eq(tmaring__explore(&r.ring, 1, STATE_LIMIT, &report, &fault), TMARING_OK, "%s: %s", small_ring_text(spec),
               tmaring_last_detail());
  played += 1;
}

/* Trips of no tile, one, about one round of the ring, and more than two. */
static void play_trips(small_spec spec)
{
  const int trips[] = {0, 1, 2, spec.stages, spec.stages + 1, 2 * spec.stages + 3};
  for (int i = 0; i < 6; ++i) {
    spec.trips = trips[i];
    if (i >= 3 && spec.trips <= 2) continue; /* seen */
    play(&spec);
  }
}

/* Both kinds of turns, every stage count up to `stages` and every prefetch distance, direct and staged as given. */
static void play_grid(small_spec spec, int stages, int staged)
{
  for (spec.turns = spec.chunk > 0; spec.turns < 2; ++spec.turns) {
    for (spec.stages = 1; spec.stages <= stages; ++spec.stages) {
      for (spec.distance = 0; spec.distance < spec.stages; ++spec.distance) {
        for (spec.staged = 0; spec.staged <= staged; ++spec.staged) play_trips(spec);
      }
    }
  }
}

static small_spec base_spec(void)
{
  small_spec s = {
      SMALL_WS, 1, 0, 2, 1, 1, 0,   0, TMARING_ORDER_BLOCKED, TMARING_POLICY_EXACT, TMARING_RELEASE_WARP, 0, 0,
      0,        0, 0, 0, 2, 0, {0}, 0};
  return s;
}

static void report(const char *name)
{
  fprintf(stderr, "explored %-28s %5d rings\n", name, played);
}

Test(squad_model, every_order_of_small_rings, .timeout = 300)
{
  small_spec s = base_spec();
  play_grid(s, 4, 2);
  s.inputs = 2;
  play_grid(s, 3, 1);
  s.inputs = 0;
  play_grid(s, 3, 2);
  report("two squads");
}

Test(squad_model, tickets_end_with_a_mark_for_each_squad, .timeout = 300)
{
  small_spec s = base_spec();
  s.order = TMARING_ORDER_TICKET;
  play_grid(s, 4, 2);
  s.release = TMARING_RELEASE_THREAD;
  play_grid(s, 3, 1);
  report("two squads, tickets");
}

/* Each squad has two units of a warp, or one of two warps. */
Test(squad_model, squads_of_several_warps, .timeout = 300)
{
  small_spec s = base_spec();
  s.warps = 4;
  play_grid(s, 3, 1);
  s.per_row = 2;
  s.reductions = 2;
  play_grid(s, 2, 1);
  report("squads of two warps");
}

/* A turn of several fills: more of them than stages, and fewer. */
Test(squad_model, tiles_of_several_fills, .timeout = 300)
{
  small_spec s = base_spec();
  s.pieces = 2;
  s.reductions = 1;
  play_grid(s, 4, 1);
  s.pieces = 0;
  s.reductions = 0;
  for (s.chunk = 2; s.chunk <= 3; ++s.chunk) play_grid(s, 4, 1);
  report("tiles of several fills");
}

Test(squad_model, edges_and_surplus, .timeout = 300)
{
  small_spec s = base_spec();
  s.edges = 1;
  play_grid(s, 3, 2);
  s.edges = 0;
  for (s.surplus = 1; s.surplus < 3; ++s.surplus) {
    for (s.policy = TMARING_POLICY_WRAP; s.policy <= TMARING_POLICY_EXACT; ++s.policy) play_grid(s, 3, 1);
  }
  report("edges and surplus");
}

/* What the roles count with is what a fill's owner is derived from: fill k belongs to squad k / turn % 2. */
Test(squad_model, a_squad_visits_its_own_fills_alone, .timeout = 30)
{
  for (int turns = 0; turns < 2; ++turns) {
    for (int pieces = 1; pieces <= 3; ++pieces) {
      for (int squad = 0; squad < 2; ++squad) {
        small_ring r;
        small_spec s = base_spec();
        tmaring_consumer_frame f;
        s.turns = turns;
        s.pieces = pieces;
        s.stages = 3;
        s.trips = 5;
        small_ring_make(&r, &s);
        const tmaring_walk *w = &r.args.walk;
        const int per_tile = tmaring_walk_fills_per_tile(w);
        const int turn = turns ? per_tile : per_tile / 2;
        tmaring_cursor_init(&f.at);
        tmaring_trip_begin(&f.trip, w, 0);
        tmaring_squad_begin(&f, &r.args, w, squad);
        for (int k = 0; k < 5 * per_tile; ++k) {
          if (k / turn % 2 != squad) continue;
          cr_assert(tmaring_trip_live(&f.trip, w));
          cr_assert_eq(f.trip.tile, k / per_tile);
          cr_assert_eq(f.trip.part, k % per_tile);
          cr_assert_eq(f.at.stage, (uint32_t)k % 3);
          cr_assert_eq(f.at.parity, (uint32_t)k / 3 % 2);
          tmaring_squad_next(&f, &r.args, w);
        }
        cr_assert(!tmaring_trip_live(&f.trip, w));
      }
    }
  }
}

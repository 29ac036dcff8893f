/* Load and store paths through the ring model: every pair of paths in one fill, in every order of their steps. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "../src/host/check/explore.h"
#include "../src/host/check/schedule.h"
#include "support/small_ring.h"
#include "support/subset.h"

#define STATE_LIMIT (1u << 24)
#define PATHS       (TMARING_LOAD_DIRECT + 1)

typedef struct total {
  int rings; /* those left out included */
  uint64_t states;
} total;

static small_spec base_spec(void)
{
  small_spec s = {
      SMALL_WS, 1, 0, 2, 1, 2, 0,   0, TMARING_ORDER_BLOCKED, TMARING_POLICY_EXACT, TMARING_RELEASE_WARP, 0, 0,
      0,        0, 0, 0, 0, 0, {0}, 0};
  return s;
}

/* Lazily, at random, and through every order. */
static void play(total *t, const small_spec *spec)
{
  small_ring r;
  tmaring__fault_note fault;
  tmaring__explore_report report;
  if (t->rings++ % subset_step() != 0) return;
  small_ring_make(&r, spec);
  for (uint64_t seed = TMARING__LAZY; seed < 3; ++seed) {
    cr_assert_eq(tmaring__schedule_run(&r.ring, seed, &fault, NULL, NULL), TMARING_OK, "%s, seed %d: %s",
                 small_ring_text(spec), (int)seed, tmaring_last_detail());
  }
  cr_assert_eq(tmaring__explore(&r.ring, 1, STATE_LIMIT, &report, &fault), TMARING_OK, "%s: %s", small_ring_text(spec),
               tmaring_last_detail());
  t->states += report.states;
}

/* Trips {0, 1, S, 2S+1} of every mode and distance of rings up to `stages`. */
static void play_grid(total *t, small_spec spec, int stages, int first_mode)
{
  for (spec.mode = first_mode; spec.mode < SMALL_MODE_COUNT; ++spec.mode) {
    for (spec.stages = 1; spec.stages <= stages; ++spec.stages) {
      for (spec.distance = 0; spec.distance < spec.stages; ++spec.distance) {
        const int trips[] = {0, 1, spec.stages, 2 * spec.stages + 1};
        for (int i = 0; i < 4; ++i) {
          spec.trips = trips[i];
          if (i != 2 || spec.stages > 1) play(t, &spec);
        }
      }
    }
  }
}

/* Results direct, in place and apart, the staged ones also as boxes, which rows must end at 16 bytes for. */
static void play_stores(total *t, small_spec spec, int stages, int first_mode)
{
  for (spec.staged = 0; spec.staged <= 2; ++spec.staged) {
    for (spec.tiled_store = 0; spec.tiled_store <= (spec.staged > 0 && !spec.edges); ++spec.tiled_store)
      play_grid(t, spec, stages, first_mode);
  }
}

/* Every pair of paths. */
static void play_pairs(total *t, small_spec spec, int stages, int first_mode)
{
  for (spec.path[0] = 0; spec.path[0] < PATHS; ++spec.path[0]) {
    for (spec.path[1] = 0; spec.path[1] < PATHS; ++spec.path[1]) play_stores(t, spec, stages, first_mode);
  }
}

/* Warp-specialized rings of two and three stages. */
static void play_squads(total *t, small_spec spec)
{
  for (spec.stages = 2; spec.stages <= 3; ++spec.stages) {
    for (spec.distance = 0; spec.distance < spec.stages; ++spec.distance) {
      for (spec.staged = 0; spec.staged <= 1; ++spec.staged) {
        spec.tiled_store = spec.staged && spec.path[1] == TMARING_LOAD_TILE;
        for (spec.trips = 0; spec.trips <= 2 * spec.stages + 1; spec.trips += spec.stages) play(t, &spec);
      }
    }
  }
}

static void report(const total *t, const char *name)
{
  fprintf(stderr, "explored %-24s %6d rings %9llu states\n", name, t->rings, (unsigned long long)t->states);
}

Test(ring_path, every_pair_of_paths, .timeout = 300)
{
  total t = {0, 0};
  play_pairs(&t, base_spec(), 2, SMALL_WS);
  report(&t, "pairs of paths");
}

Test(ring_path, three_stages, .timeout = 300)
{
  static const int pairs[][2] = {{TMARING_LOAD_BULK, TMARING_LOAD_ASYNC},
                                 {TMARING_LOAD_TILE, TMARING_LOAD_ASYNC},
                                 {TMARING_LOAD_ORDINARY, TMARING_LOAD_TILE},
                                 {TMARING_LOAD_DIRECT, TMARING_LOAD_TILE}};
  total t = {0, 0};
  small_spec s = base_spec();
  for (int i = 0; i < 4; ++i) {
    s.path[0] = pairs[i][0];
    s.path[1] = pairs[i][1];
    play_stores(&t, s, 3, SMALL_WS);
  }
  report(&t, "three stages");
}

/* Runs that begin and end anywhere: ordinary loads around cp.async and bulk copies of one fill. */
Test(ring_path, ends_of_runs, .timeout = 300)
{
  total t = {0, 0};
  small_spec s = base_spec();
  for (s.edges = 1; s.edges <= 2; ++s.edges) play_pairs(&t, s, 2, SMALL_WS);
  report(&t, "ends of runs");
}

/* The end mark of the tickets is a fill without copies: the lanes arrive for it too. */
Test(ring_path, tickets, .timeout = 300)
{
  total t = {0, 0};
  small_spec s = base_spec();
  s.order = TMARING_ORDER_TICKET;
  play_pairs(&t, s, 2, SMALL_WS);
  report(&t, "tickets");
}

/* Fills of fewer rows and of none, surplus ones, and pieces of rows. */
Test(ring_path, chunks_surplus_and_pieces, .timeout = 300)
{
  total t = {0, 0};
  small_spec s = base_spec();
  s.chunk = 3;
  play_pairs(&t, s, 2, SMALL_WS);
  s.chunk = 0;
  s.surplus = 2;
  s.policy = TMARING_POLICY_WRAP;
  play_pairs(&t, s, 2, SMALL_WS);
  s.surplus = 0;
  s.policy = TMARING_POLICY_EXACT;
  s.per_row = 2;
  s.reductions = 1;
  s.pieces = 2;
  play_pairs(&t, s, 2, SMALL_WS);
  report(&t, "chunks, surplus, pieces");
}

Test(ring_path, release_by_every_thread, .timeout = 300)
{
  total t = {0, 0};
  small_spec s = base_spec();
  s.release = TMARING_RELEASE_THREAD;
  s.path[0] = TMARING_LOAD_ASYNC;
  s.path[1] = TMARING_LOAD_TILE;
  play_stores(&t, s, 3, SMALL_WS);
  report(&t, "release by every thread");
}

/* Every pair of paths where two squads take fills in turn or share tiles; with tickets each squad has an end mark. */
Test(ring_path, two_squads, .timeout = 300)
{
  total t = {0, 0};
  small_spec s = base_spec();
  s.squads = 2;
  for (s.turns = 0; s.turns < 2; ++s.turns) {
    for (int ticket = 0; ticket < 2; ++ticket) {
      s.order = ticket ? TMARING_ORDER_TICKET : TMARING_ORDER_BLOCKED;
      for (s.path[0] = 0; s.path[0] < PATHS; ++s.path[0]) {
        s.path[1] = TMARING_LOAD_ASYNC;
        play_squads(&t, s);
        s.path[1] = TMARING_LOAD_TILE;
        play_squads(&t, s);
      }
    }
  }
  report(&t, "two squads");
}

Test(ring_path, rows_shared_by_ctas, .timeout = 300)
{
  total t = {0, 0};
  small_spec s = base_spec();
  s.inputs = s.warps = s.per_row = s.reductions = 1;
  s.cluster = 2;
  for (s.path[0] = 0; s.path[0] < PATHS; ++s.path[0]) play_stores(&t, s, 2, SMALL_CTA_BARRIER);
  report(&t, "rows shared by CTAs");
}

/* ---- faults in the arguments ---- */

static void expect_fault(small_ring *r, tmaring__fault_kind kind, const char *what)
{
  tmaring__fault_note fault;
  cr_assert_eq(tmaring__schedule_run(&r->ring, TMARING__LAZY, &fault, NULL, NULL), TMARING_ERROR_CHECK, "%s", what);
  cr_expect_eq(fault.kind, kind, "%s: %s", what, fault.text);
}

static void make_tiled(small_ring *r)
{
  small_spec s = base_spec();
  s.path[0] = s.path[1] = TMARING_LOAD_TILE;
  s.staged = 2;
  s.tiled_store = 1;
  s.stages = 2;
  s.distance = 1;
  s.trips = 3;
  small_ring_make(r, &s);
}

Test(ring_path, boxes_that_do_not_fit, .timeout = 30)
{
  small_ring r;
  make_tiled(&r);
  r.boxes.map[1].box[0] /= 2;
  expect_fault(&r, TMARING__FAULT_BOX, "a box of half the bytes");
  make_tiled(&r);
  r.args.input[1].slot += 16;
  r.args.input[1].slot_bytes -= 16;
  expect_fault(&r, TMARING__FAULT_BOX, "a box at a multiple of 16");
  make_tiled(&r);
  r.args.input[0].slot_bytes -= 128;
  expect_fault(&r, TMARING__FAULT_SLOT, "a box that ends outside its slot");
  make_tiled(&r);
  r.boxes.map[TMARING_TILED_OUTPUTS].dims[0] -= 4;
  expect_fault(&r, TMARING__FAULT_COVERAGE, "a map that ends before the last column");
  make_tiled(&r);
  r.boxes.map[TMARING_TILED_OUTPUTS].dims[0] -= 1;
  expect_fault(&r, TMARING__FAULT_HULL, "a store that goes on behind the row");
  make_tiled(&r);
  r.boxes.map[0].dims[0] -= 1;
  tmaring__fault_note fault;
  cr_expect_eq(tmaring__schedule_run(&r.ring, TMARING__LAZY, &fault, NULL, NULL), TMARING_OK, "loads clip at elements");
  for (int32_t at = 0; at <= TMARING_TILED_OUTPUTS; at += TMARING_TILED_OUTPUTS) {
    make_tiled(&r);
    r.boxes.tile[at].follows[0] = TMARING_TILE_ROW;
    expect_fault(&r, TMARING__FAULT_ALIGNMENT, "a box that begins between two units");
  }
  make_tiled(&r);
  r.boxes.tile[TMARING_TILED_OUTPUTS].follows[0] = TMARING_TILE_NOTHING; /* column 0: where these fills are */
  cr_expect_eq(tmaring__schedule_run(&r.ring, TMARING__LAZY, &fault, NULL, NULL), TMARING_OK);
}

Test(ring_path, boxes_that_are_not_there, .timeout = 30)
{
  small_ring r;
  make_tiled(&r);
  r.boxes.used &= ~2;
  cr_assert_eq(tmaring__ring_prepare(&r.ring), TMARING_ERROR_ARGUMENT);
  make_tiled(&r);
  r.boxes.used &= ~(1 << TMARING_TILED_OUTPUTS);
  cr_assert_eq(tmaring__ring_prepare(&r.ring), TMARING_ERROR_ARGUMENT);
  make_tiled(&r);
  r.ring.boxes = NULL;
  cr_assert_eq(tmaring__ring_prepare(&r.ring), TMARING_ERROR_ARGUMENT);
}

/* One arrival expects the bytes of runs and of whole boxes; 32 lanes arrive besides where cp.async takes part. */
Test(ring_path, arrivals_and_bytes_of_a_mixed_fill, .timeout = 30)
{
  small_ring r;
  tmaring__fault_note fault;
  tmaring__team team;
  small_spec s = base_spec();
  s.stages = 2;
  s.distance = 1;
  s.trips = 2;
  s.path[0] = TMARING_LOAD_ASYNC;
  s.path[1] = TMARING_LOAD_TILE;
  small_ring_make(&r, &s);
  tmaring__ring_state *state = malloc(r.ring.bytes);
  cr_assert_not_null(state);
  tmaring__team_make(&team, &r.ring);
  tmaring__team_start(&team, state, &fault);
  const tmaring__stage_state *stage = tmaring__at_stage(&r.ring, state, 0);
  cr_assert_eq(stage->full.expected, 1 + 32);
  team.env[0].actor = r.ring.issuer;
  r.ring.step(&team.env[0]);
  cr_assert_eq(stage->full.pending, 32); /* the lanes' copy has not come */
  cr_assert_eq(stage->full.tx, 96 * 4 * 2);
  cr_assert_eq(stage->copies, 3);
  tmaring__ring_complete(&team.env[0], 0, 0);
  cr_assert_eq(stage->full.pending, 0);
  cr_assert_eq(stage->full.phase, 0);
  tmaring__ring_complete(&team.env[0], 0, 1);
  tmaring__ring_complete(&team.env[0], 0, 0);
  cr_assert_eq(stage->full.phase, 1);
  free(state);
}

/* The end of a ring's life: barriers that another ring takes over, or that become data, must be invalidated first, and
 * only when every role has ended. Faulty ends are interposed and must be caught. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "../src/host/check/binding.h"
#include "../src/host/check/explore.h"
#include "../src/host/check/schedule.h"
#include "support/small_ring.h"

typedef enum mutant_id {
  CONTROL,
  NO_INVAL,       /* the ring is left as it is */
  ONE_STAGE_LEFT, /* the last stage's barriers are forgotten */
  NO_BARRIER,     /* the words are given up while roles may still be at work */
  TWICE
} mutant_id;

static mutant_id mutant;

static void mutant_inval(tmaring__env *e, uint32_t stage)
{
  if (mutant == NO_INVAL || (mutant == ONE_STAGE_LEFT && stage + 1 == e->ring->args->stages)) return;
  tmaring__role_inval(e, stage);
  if (mutant == TWICE) tmaring__role_inval(e, stage);
}

#undef ROLE_INVAL
#undef ROLE_END_SYNC
#define ROLE_INVAL(e, stage) mutant_inval(e, stage)
#define ROLE_END_SYNC(f, e)                                                                                            \
  do {                                                                                                                 \
    if (mutant == NO_BARRIER && (f)->stage == 0) break;                                                                \
    TMARING__BARRIER(f, tmaring__role_arrive_end, tmaring__role_passed_end);                                           \
  } while (0)

#include "tmaring/abi/roles.h"

static TMARING__ROLE_STEP(mutant_step);

static small_spec spec_of(int mode, int stages, int staged)
{
  small_spec s = small_spec_blocked(mode, stages, 2, stages + 2);
  s.inputs = 1;
  s.staged = staged;
  return s;
}

static void make(small_ring *r, const small_spec *spec)
{
  small_ring_make(r, spec);
  r->ring.ends = 1;
  r->ring.step = mutant_step;
}

static tmaring__ring_state *take_state(const small_ring *r)
{
  tmaring__ring_state *state = malloc(r->ring.bytes);
  cr_assert_not_null(state);
  return state;
}

/* Plays a ring that has been started to its end, or to a fault. */
static void play_on(const small_ring *r, tmaring__ring_state *state, tmaring__fault_note *fault)
{
  tmaring__team team;
  uint64_t seed = TMARING__LAZY;
  if (fault->kind != TMARING__FAULT_NONE) return;
  tmaring__team_make(&team, &r->ring);
  tmaring__team_point(&team, state, fault);
  while (tmaring__schedule_turn(&team, &seed) != TMARING__DONE) continue;
}

/* One kernel, two rings in the same shared memory. The first fault. */
static tmaring__fault_note play_two(const small_spec *first, const small_spec *second)
{
  static small_ring a, b;
  tmaring__fault_note fault;
  make(&a, first);
  make(&b, second);
  tmaring__ring_state *before = take_state(&a), *after = take_state(&b);
  tmaring__ring_start(&a.ring, before, &fault);
  play_on(&a, before, &fault);
  if (fault.kind == TMARING__FAULT_NONE) tmaring__ring_follow(&b.ring, after, before, &fault);
  play_on(&b, after, &fault);
  free(before);
  free(after);
  return fault;
}

/* Every order in which roles may come to the end. */
Test(ring_end, every_order_of_the_end, .timeout = 120)
{
  int played = 0;
  mutant = CONTROL;
  for (int mode = 0; mode < SMALL_MODE_COUNT; ++mode) {
    for (int stages = 1; stages <= 3; ++stages) {
      for (int kind = 0; kind < 4; ++kind) { /* direct, staged, tickets, two squads */
        small_ring r;
        small_spec s = spec_of(mode, stages, kind == 1);
        tmaring__fault_note fault;
        tmaring__explore_report report;
        if (kind == 2) s.order = TMARING_ORDER_TICKET;
        if (kind == 3 && mode != SMALL_WS) continue;
        if (kind == 3) s.squads = 2;
        make(&r, &s);
        cr_assert_eq(tmaring__explore(&r.ring, 1, 1u << 22, &report, &fault), TMARING_OK, "%s: %s", small_ring_text(&s),
                     fault.text);
        played += 1;
      }
    }
  }
  fprintf(stderr, "explored the end of %d rings\n", played);
}

/* RMSNorm and quantization in one kernel: rings of different length, whose words are at times full, at times empty
 * barriers, tickets or stages of the other. */
Test(ring_end, F11_two_rings_in_one_kernel, .timeout = 60)
{
  mutant = CONTROL;
  for (int mode = 0; mode < SMALL_MODE_COUNT; ++mode) {
    for (int first = 1; first <= TMARING_MAX_STAGES; first += 5) {
      for (int second = 1; second <= TMARING_MAX_STAGES; second += 3) {
        const small_spec a = spec_of(mode, first, 1), b = spec_of((mode + 1) % SMALL_MODE_COUNT, second, 0);
        const tmaring__fault_note fault = play_two(&a, &b);
        cr_assert_eq(fault.kind, TMARING__FAULT_NONE, "%s", fault.text);
      }
    }
  }
}

Test(ring_end, F11_a_missing_inval_is_found, .timeout = 30)
{
  for (int mode = 0; mode < SMALL_MODE_COUNT; ++mode) {
    const small_spec rmsnorm = spec_of(mode, 3, 1), quantize = spec_of(mode, 5, 0);
    mutant = NO_INVAL;
    tmaring__fault_note fault = play_two(&rmsnorm, &quantize);
    cr_expect_eq(fault.kind, TMARING__FAULT_LIVE, "%s", fault.text);
    mutant = ONE_STAGE_LEFT;
    fault = play_two(&rmsnorm, &quantize);
    cr_expect_eq(fault.kind, TMARING__FAULT_LIVE, "%s", fault.text);
    fprintf(stderr, "%s\n", fault.text);
  }
}

/* The words of a forgotten barrier lie where the next ring has a stage, its partial results or its tickets. */
Test(ring_end, F11_words_of_a_live_barrier_are_no_data, .timeout = 30)
{
  mutant = ONE_STAGE_LEFT;
  for (int kind = 0; kind < 3; ++kind) {
    const small_spec a = spec_of(SMALL_WS, TMARING_MAX_STAGES, 1); /* words at 120 and 248 are left */
    small_spec b = spec_of(SMALL_WS, kind == 2 ? 6 : 1, 0);
    if (kind == 1) b.per_row = 2;
    if (kind == 1) b.reductions = 1;
    if (kind == 2) b.order = TMARING_ORDER_TICKET; /* tickets from byte 96 */
    const tmaring__fault_note fault = play_two(&a, &b);
    fprintf(stderr, "%s\n", fault.text);
    cr_expect_eq(fault.kind, TMARING__FAULT_WORDS, "%s", fault.text);
  }
}

static tmaring__fault_kind explored(mutant_id id, int mode)
{
  small_ring r;
  const small_spec s = spec_of(mode, 2, 0);
  tmaring__fault_note fault;
  tmaring__explore_report report;
  mutant = id;
  make(&r, &s);
  tmaring__explore(&r.ring, 1, 1u << 22, &report, &fault);
  fprintf(stderr, "%s\n", fault.text);
  return fault.kind;
}

Test(ring_end, roles_end_before_their_barriers, .timeout = 60)
{
  for (int mode = 0; mode < SMALL_MODE_COUNT; ++mode) {
    cr_expect_eq(explored(NO_BARRIER, mode), TMARING__FAULT_INVAL);
    cr_expect_eq(explored(TWICE, mode), TMARING__FAULT_INVAL);
  }
}

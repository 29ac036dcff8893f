#include "schedule.h"

#include <stdlib.h>
#include <string.h>

#include "ring_roles.h"

uint64_t tmaring__random_next(uint64_t *seed)
{
  uint64_t z = *seed += 0x9e3779b97f4a7c15ull; /* splitmix64 */
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

void tmaring__schedule_begin(tmaring__env *env, const tmaring__ring *ring, tmaring__ring_state *state,
                             tmaring__fault_note *fault)
{
  memset(env, 0, sizeof *env);
  env->ring = ring;
  env->state = state;
  env->fault = fault;
  env->points = TMARING__UNLIMITED;
  env->visible = TMARING__UNLIMITED;
}

/* 0: it could not move. */
static int run_actor(tmaring__env *env, int32_t actor, uint32_t points)
{
  const uint64_t before = env->steps;
  tmaring__actor *a = tmaring__at_actor(env->ring, env->state, actor);
  if (a->finished) return 0;
  env->actor = actor;
  env->points = points;
  env->ring->step(env);
  return env->steps != before || a->finished;
}

static int all_finished(const tmaring__env *env)
{
  for (int32_t i = 0; i < env->ring->actors; ++i) {
    if (!tmaring__at_actor(env->ring, env->state, i)->finished) return 0;
  }
  return 1;
}

static int complete_all(tmaring__env *env, uint32_t stage)
{
  const tmaring__stage_state *s = tmaring__at_stage(env->ring, env->state, stage);
  const int some = s->copies > 0;
  while (s->copies > 0 && env->fault->kind == TMARING__FAULT_NONE) tmaring__ring_complete(env, stage, s->copies - 1);
  return some;
}

/* Completes what somebody waits for; otherwise the newest in flight. 0: nothing is in flight. */
static int complete_awaited(tmaring__env *env)
{
  int some = 0;
  for (int32_t i = 0; i < env->ring->actors; ++i) {
    const tmaring__actor *a = tmaring__at_actor(env->ring, env->state, i);
    if (!a->finished && a->wait == TMARING__WAIT_FULL) some |= complete_all(env, a->wait_stage);
  }
  for (uint32_t i = 0; !some && i < (uint32_t)env->ring->stages; ++i) {
    some = complete_all(env, (env->state->issued + i) % (uint32_t)env->ring->stages);
  }
  return some;
}

static int complete_random(tmaring__env *env, uint64_t *seed)
{
  const uint32_t stages = (uint32_t)env->ring->stages, first = (uint32_t)(tmaring__random_next(seed) % stages);
  for (uint32_t i = 0; i < stages; ++i) {
    const uint32_t stage = (first + i) % stages, copies = tmaring__at_stage(env->ring, env->state, stage)->copies;
    if (copies == 0) continue;
    tmaring__ring_complete(env, stage, (uint32_t)(tmaring__random_next(seed) % copies));
    return 1;
  }
  return 0;
}

/* Every actor once, the issuer first. */
static int sweep(tmaring__env *env, uint32_t points)
{
  int moved = run_actor(env, env->ring->issuer, points);
  for (int32_t i = 0; i < env->ring->actors && env->fault->kind == TMARING__FAULT_NONE; ++i) {
    if (i != env->ring->issuer) moved |= run_actor(env, i, points);
  }
  return moved;
}

static void lazy_turn(tmaring__env *env, uint64_t *seed)
{
  (void)seed;
  if (sweep(env, TMARING__UNLIMITED) || env->fault->kind != TMARING__FAULT_NONE || all_finished(env)) return;
  if (!complete_awaited(env)) tmaring__ring_deadlock(env);
}

static void random_turn(tmaring__env *env, uint64_t *seed)
{
  const uint64_t pick = tmaring__random_next(seed);
  const uint32_t points = 1 + (uint32_t)(pick >> 8) % 6;
  if (pick % 4 == 0 && complete_random(env, seed)) return;
  if (run_actor(env, (int32_t)((pick >> 32) % (uint64_t)env->ring->actors), points)) return;
  if (env->fault->kind != TMARING__FAULT_NONE) return;
  if (sweep(env, 1) || env->fault->kind != TMARING__FAULT_NONE || all_finished(env)) return;
  if (!complete_random(env, seed)) tmaring__ring_deadlock(env);
}

tmaring__outcome tmaring__schedule_turn(tmaring__env *env, uint64_t *seed)
{
  (*seed == TMARING__LAZY ? lazy_turn : random_turn)(env, seed);
  if (env->fault->kind != TMARING__FAULT_NONE) return TMARING__DONE;
  if (!all_finished(env)) return TMARING__YIELDED;
  tmaring__ring_end(env);
  return TMARING__DONE;
}

tmaring_status tmaring__schedule_run(const tmaring__ring *ring, uint64_t seed, tmaring__fault_note *fault,
                                     int64_t *steps, int64_t *copies)
{
  tmaring__ring_state *state = malloc(ring->bytes);
  tmaring__env env;
  if (!state)
    return tmaring__fail(TMARING_ERROR_MEMORY, "ring model: got no memory, needs %zu bytes; free some", ring->bytes);
  tmaring__ring_start(ring, state, fault);
  tmaring__schedule_begin(&env, ring, state, fault);
  while (tmaring__schedule_turn(&env, &seed) != TMARING__DONE) continue;
  free(state);
  if (steps) *steps += (int64_t)env.steps;
  if (copies) *copies += (int64_t)env.copies;
  if (fault->kind == TMARING__FAULT_NONE) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_CHECK, "%s", fault->text);
}

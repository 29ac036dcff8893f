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

static int complete_vectors(tmaring__env *env)
{
  const int some = tmaring__ring_vectors_flying(env) > 0;
  while (env->fault->kind == TMARING__FAULT_NONE && tmaring__ring_complete_vectors(env, 0)) continue;
  return some;
}

static int complete_all(tmaring__env *env, uint32_t stage)
{
  const tmaring__stage_state *s = tmaring__at_stage(env->ring, env->state, stage);
  const int some = s->copies > 0;
  while (s->copies > 0 && env->fault->kind == TMARING__FAULT_NONE) tmaring__ring_complete(env, stage, s->copies - 1);
  return some;
}

/* Completes what somebody waits for. 0: nothing of that is in flight. */
static int complete_awaited(tmaring__env *env)
{
  int some = 0;
  for (int32_t i = 0; i < env->ring->actors; ++i) {
    const tmaring__actor *a = tmaring__at_actor(env->ring, env->state, i);
    if (!a->finished && a->wait == TMARING__WAIT_FULL) some |= complete_all(env, a->wait_stage);
    if (!a->finished && a->wait == TMARING__WAIT_VECTORS) some |= complete_vectors(env);
  }
  return some;
}

/* Completes what was issued first. 0: nothing is in flight. */
static int complete_any(tmaring__env *env)
{
  const uint32_t stages = (uint32_t)env->ring->stages;
  for (uint32_t i = 0; i < stages; ++i) {
    if (complete_all(env, (env->state->issued + i) % stages)) return 1;
  }
  return 0;
}

static int complete_random(tmaring__env *env, uint64_t *seed)
{
  const uint32_t stages = (uint32_t)env->ring->stages, first = (uint32_t)(tmaring__random_next(seed) % stages);
  const uint32_t vectors = tmaring__ring_vectors_flying(env);
  if (vectors > 0) return tmaring__ring_complete_vectors(env, (uint32_t)(tmaring__random_next(seed) % vectors));
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

/* 0: nobody can move, and no copy can change that. In a cluster the barrier may be what all wait for: then copies stay
 * in flight. */
static int lazy_turn(tmaring__env *env, uint64_t *seed)
{
  (void)seed;
  if (sweep(env, TMARING__UNLIMITED) || env->fault->kind != TMARING__FAULT_NONE || tmaring__env_finished(env)) return 1;
  return complete_awaited(env) || (!env->ring->cluster && complete_any(env));
}

static int random_turn(tmaring__env *env, uint64_t *seed)
{
  const uint64_t pick = tmaring__random_next(seed);
  const uint32_t points = 1 + (uint32_t)(pick >> 8) % 6;
  if (pick % 4 == 0 && complete_random(env, seed)) return 1;
  if (run_actor(env, (int32_t)((pick >> 32) % (uint64_t)env->ring->actors), points)) return 1;
  if (env->fault->kind != TMARING__FAULT_NONE) return 1;
  if (sweep(env, 1) || env->fault->kind != TMARING__FAULT_NONE || tmaring__env_finished(env)) return 1;
  return complete_random(env, seed);
}

static int has_ended(const tmaring__team *t, int32_t rank)
{
  return (t->cluster.ended >> rank & 1u) != 0;
}

/* 0: the CTA has ended, or nobody in it can move. */
static int turn_of(tmaring__team *t, int32_t rank, uint64_t *seed)
{
  tmaring__env *env = &t->env[rank];
  if (has_ended(t, rank)) return 0;
  const int moved = (*seed == TMARING__LAZY ? lazy_turn : random_turn)(env, seed);
  if (env->fault->kind == TMARING__FAULT_NONE) tmaring__team_close(t, rank);
  return moved;
}

static tmaring__env *first_left(tmaring__team *t)
{
  int32_t rank = 0;
  while (rank < t->count && has_ended(t, rank)) ++rank;
  return rank < t->count ? &t->env[rank] : NULL;
}

/* Lazily each CTA in turn; at random any one, and the others where it cannot move. */
tmaring__outcome tmaring__schedule_turn(tmaring__team *team, uint64_t *seed)
{
  tmaring__team *t = team;
  const tmaring__fault_note *fault = t->env[0].fault;
  const int lazy = *seed == TMARING__LAZY;
  int moved = 0;
  if (!lazy && t->count > 1) moved = turn_of(t, (int32_t)(tmaring__random_next(seed) % (uint64_t)t->count), seed);
  for (int32_t r = 0; r < t->count && (lazy || !moved) && fault->kind == TMARING__FAULT_NONE; ++r)
    moved |= turn_of(t, r, seed);
  tmaring__env *left = first_left(t);
  if (left && !moved) tmaring__ring_deadlock(left);
  return left && fault->kind == TMARING__FAULT_NONE ? TMARING__YIELDED : TMARING__DONE;
}

tmaring_status tmaring__schedule_run(const tmaring__ring *ring, uint64_t seed, tmaring__fault_note *fault,
                                     int64_t *steps, int64_t *copies)
{
  tmaring__team team;
  tmaring__ring_state *states;
  tmaring__team_make(&team, ring);
  states = malloc((size_t)team.count * ring->bytes);
  if (!states)
    return tmaring__fail(TMARING_ERROR_MEMORY, "ring model: got no memory, needs %zu bytes; free some",
                         (size_t)team.count * ring->bytes);
  tmaring__team_start(&team, states, fault);
  while (tmaring__schedule_turn(&team, &seed) != TMARING__DONE) continue;
  free(states);
  for (int32_t r = 0; r < team.count; ++r) {
    if (steps) *steps += (int64_t)team.env[r].steps;
    if (copies) *copies += (int64_t)team.env[r].copies;
  }
  if (fault->kind == TMARING__FAULT_NONE) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_CHECK, "%s", fault->text);
}

/* What arrivals carry into a barrier and waits carry out of it: parts of the ring model that its waits and its barriers
 * share. */
#ifndef TMARING_HOST_RING_KNOW_H
#define TMARING_HOST_RING_KNOW_H

#include "ring_roles.h"

/* Index among the barriers that carry clocks. */
static inline uint32_t tmaring__full_index(uint32_t stage)
{
  return 2 * stage;
}

static inline uint32_t tmaring__empty_index(uint32_t stage)
{
  return 2 * stage + 1;
}

static inline uint32_t tmaring__sync_index(const tmaring__ring *r, int32_t sync)
{
  return 2 * (uint32_t)r->stages + (uint32_t)sync;
}

static inline void tmaring__know_join(uint32_t *into, const uint32_t *from, int32_t count)
{
  for (int32_t i = 0; i < count; ++i) into[i] = into[i] > from[i] ? into[i] : from[i];
}

/* What the actor knows goes into the barrier; what it does from now on is a new epoch. */
static inline void tmaring__know_give(tmaring__env *e, uint32_t barrier)
{
  uint32_t *clock = tmaring__env_clock(e);
  tmaring__know_join(tmaring__at_barrier(e->ring, e->state, barrier, 0), clock, e->ring->actors);
  clock[e->actor] += 1;
}

static inline void tmaring__know_end_phase(const tmaring__ring *r, tmaring__ring_state *state, uint32_t barrier)
{
  tmaring__know_join(tmaring__at_barrier(r, state, barrier, 1), tmaring__at_barrier(r, state, barrier, 0), r->actors);
}

static inline void tmaring__know_take(tmaring__env *e, uint32_t barrier)
{
  tmaring__know_join(tmaring__env_clock(e), tmaring__at_barrier(e->ring, e->state, barrier, 1), e->ring->actors);
}

static inline int tmaring__note_wait(tmaring__actor *a, tmaring__wait_kind wait, uint32_t stage, uint32_t parity)
{
  a->wait = (uint32_t)wait;
  a->wait_stage = stage;
  a->wait_parity = parity;
  return 0;
}

/* A try that fails is no step. */
static inline int tmaring__wait_blocked(tmaring__env *e, tmaring__wait_kind wait, uint32_t stage, uint32_t parity)
{
  e->steps -= 1;
  return tmaring__note_wait(tmaring__env_actor(e), wait, stage, parity);
}

static inline int tmaring__wait_passed(tmaring__env *e, tmaring__actor *a, uint32_t barrier)
{
  tmaring__note_wait(a, TMARING__WAIT_NONE, 0, 0);
  tmaring__env_spend(e);
  tmaring__know_take(e, barrier);
  return 1;
}

#endif

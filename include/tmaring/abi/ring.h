/* Ring state: stage and parity of a fill, and how many arrivals each barrier counts.
 *
 * A ring has S stages, each with a *full* and an *empty* mbarrier. Fill number k counts over the whole life of the CTA
 * and is never restarted: stage k mod S, parity (k div S) & 1. A cursor holds these for one role. */
#ifndef TMARING_ABI_RING_H
#define TMARING_ABI_RING_H

#include "base.h"

#define TMARING_MAX_STAGES 16

/* How the CTA is organised. */
typedef enum tmaring_mode {
  TMARING_MODE_PIPELINED = 0, /* every warp computes; one elected thread prefetches */
  TMARING_MODE_WARP_SPECIALIZED = 1
} tmaring_mode;

/* What lets the prefetching thread of a pipelined CTA overwrite a stage. */
typedef enum tmaring_war { TMARING_WAR_CTA_BARRIER = 0, TMARING_WAR_MBARRIER = 1 } tmaring_war;

/* Who arrives at the empty barrier: one lane per consumer warp (after __syncwarp), or every consumer thread. */
typedef enum tmaring_release { TMARING_RELEASE_WARP = 0, TMARING_RELEASE_THREAD = 1 } tmaring_release;

typedef enum tmaring_axis { TMARING_AXIS_X = 0, TMARING_AXIS_Y = 1, TMARING_AXIS_Z = 2 } tmaring_axis;

/* Position of one role in the ring. */
typedef struct tmaring_cursor {
  tmaring_u32 stage;
  tmaring_u32 parity;
} tmaring_cursor;

TMARING_FN void tmaring_cursor_init(tmaring_cursor *c)
{
  c->stage = 0;
  c->parity = 0;
}

TMARING_FN void tmaring_cursor_next(tmaring_cursor *c, tmaring_u32 stages)
{
  c->stage += 1;
  if (c->stage == stages) {
    c->stage = 0;
    c->parity ^= 1u;
  }
}

/* The same `fills` times over. */
TMARING_FN void tmaring_cursor_skip(tmaring_cursor *c, tmaring_u32 fills, tmaring_u32 stages)
{
  const tmaring_u32 at = c->stage + fills, rounds = at / stages;
  c->stage = at - rounds * stages;
  c->parity ^= rounds & 1u;
}

/* The barriers' arrival counts follow from the roles, and from nothing else. */
TMARING_FN tmaring_u32 tmaring_ring_full_count(tmaring_i32 async)
{
  /* The feeding thread's arrive.expect_tx, which its warp's ordinary loads precede; `async`, where some input goes by
   * cp.async: and every lane of that warp once its copies have come, in every fill, also where it copied nothing. */
  return async ? 1u + 32u : 1u;
}

/* squad_warps: the consumer warps that a fill belongs to; with one squad, all of them. */
TMARING_FN tmaring_u32 tmaring_ring_empty_count(tmaring_i32 release, tmaring_u32 squad_warps)
{
  return release == TMARING_RELEASE_THREAD ? squad_warps * 32u : squad_warps;
}

/* Prefetch distance as the field writes it: [0, S-1], or negative for S + p. */
TMARING_FN tmaring_i32 tmaring_ring_distance(tmaring_i32 prefetch, tmaring_i32 stages)
{
  return prefetch < 0 ? stages + prefetch : prefetch;
}

/* Stores whose read of their stage may still be under way when a warp-specialized consumer releases: where the lead
 * does not reach its next fill, `gap` fills on, there is nothing to compute meanwhile, so that the store is waited for
 * at once. gap: 1 with one squad; with two tmaring_squad_gap. */
TMARING_FN tmaring_u32 tmaring_ring_store_lag(tmaring_u32 stages, tmaring_u32 distance, tmaring_u32 gap)
{
  return stages >= 2 && distance >= gap ? 1u : 0u;
}

#endif

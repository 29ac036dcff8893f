/* The primitives that role code is bound to on the host: the emulator's side of abi/roles.h. binding.h maps macros to
 * these.
 *
 * Visible primitives (waits, arrivals, barriers, claims) are those that other actors can observe. They are held back
 * when the budget for them is spent (tmaring__env_hold), so that an explorer branches at them alone: everything else
 * commutes with the steps of other actors, because its checks look at what the actor knows and not at who came first.
 */
#ifndef TMARING_HOST_RING_ROLES_H
#define TMARING_HOST_RING_ROLES_H

#include "ring_model.h"

/* Runs an actor until it yields, blocks or ends. The shipped role code; a test may bring its own. */
tmaring__outcome tmaring__role_step(tmaring__env *env);

/* A point: true where the actor must yield (budget spent, or a fault is up). */
static inline int tmaring__env_pause(tmaring__env *e)
{
  if (e->points == 0 || e->fault->kind != TMARING__FAULT_NONE) return 1;
  e->points -= e->points != TMARING__UNLIMITED;
  e->steps += 1;
  return 0;
}

/* True where a visible primitive must wait for another turn. */
static inline int tmaring__env_hold(const tmaring__env *e)
{
  return e->visible == 0 || e->fault->kind != TMARING__FAULT_NONE;
}

static inline void tmaring__env_spend(tmaring__env *e)
{
  e->visible -= e->visible != TMARING__UNLIMITED;
}

/* Initialises all barriers, before any role runs. */
void tmaring__role_init(tmaring__env *e);
int tmaring__role_try_full(tmaring__env *e, uint32_t stage, uint32_t parity);
int tmaring__role_try_empty(tmaring__env *e, uint32_t stage, uint32_t parity);
void tmaring__role_expect(tmaring__env *e, uint32_t stage, uint32_t bytes);
void tmaring__role_release(tmaring__env *e, uint32_t stage);
void tmaring__role_release_others(tmaring__env *e, uint32_t stage);
void tmaring__role_release_storer(tmaring__env *e, uint32_t stage);
/* Barriers in two halves: arrive returns the generation; passed is true once it is over. */
uint32_t tmaring__role_arrive_group(tmaring__env *e);
/* Of any unit of the CTA. */
uint32_t tmaring__role_arrive_unit(tmaring__env *e, int32_t unit);
int tmaring__role_passed_unit(tmaring__env *e, int32_t unit, uint32_t generation);
uint32_t tmaring__role_arrive_cta(tmaring__env *e);
uint32_t tmaring__role_arrive_cluster(tmaring__env *e);
int tmaring__role_passed_group(tmaring__env *e, uint32_t generation);
int tmaring__role_passed_cta(tmaring__env *e, uint32_t generation);
int tmaring__role_passed_cluster(tmaring__env *e, uint32_t generation);
/* The turn of the actor's squad; and a squad's arrival at the next one's. */
uint32_t tmaring__role_arrive_turn(tmaring__env *e);
int tmaring__role_passed_turn(tmaring__env *e, uint32_t generation);
void tmaring__role_pass_turn(tmaring__env *e);
/* Vectors by multicast. */
void tmaring__role_vectors_expect(tmaring__env *e, uint32_t bytes);
void tmaring__role_vectors_load(tmaring__env *e, int32_t i, uint32_t offset, uint32_t bytes);
void tmaring__role_vectors_rest(tmaring__env *e, int32_t i, uint32_t offset, uint32_t bytes);
int tmaring__role_try_vectors(tmaring__env *e);
/* Faults where the warp has not waited for them; where a CTA leaves with copies of them under way. */
int tmaring__role_has_vectors(tmaring__env *e);
void tmaring__role_leave_vectors(tmaring__env *e);
/* The end: the actor's role has ended; the barrier of all roles; a stage's barriers. */
void tmaring__role_ending(tmaring__env *e);
uint32_t tmaring__role_arrive_end(tmaring__env *e);
int tmaring__role_passed_end(tmaring__env *e, uint32_t generation);
void tmaring__role_inval(tmaring__env *e, uint32_t stage);
/* Faults where bytes [offset, offset + bytes) of shared memory, about to hold data, are a live barrier. */
int tmaring__role_words_free(tmaring__env *e, const char *primitive, uint32_t stage, uint32_t fill, uint32_t offset,
                             uint64_t bytes);

void tmaring__role_load(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                        uint32_t bytes);
void tmaring__role_load_tile(tmaring__env *e, int32_t tensor, uint32_t stage, const tmaring_fill *fill, int32_t i);
void tmaring__role_load_async(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                              uint32_t bytes);
void tmaring__role_load_ordinary(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                                 uint32_t bytes);
/* Every lane of the feeding warp: now, or with the last of its copies to this stage that are in flight. */
void tmaring__role_async_arrive(tmaring__env *e, uint32_t stage);
void tmaring__role_store(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                         uint32_t bytes);
void tmaring__role_store_edge(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                              uint32_t bytes);
void tmaring__role_store_tile(tmaring__env *e, int32_t tensor, uint32_t stage, const tmaring_fill *fill, int32_t i);
void tmaring__role_commit(tmaring__env *e);
void tmaring__role_wait_read(tmaring__env *e, uint32_t pending);
void tmaring__role_fence(tmaring__env *e);

void tmaring__role_ticket_put(tmaring__env *e, uint32_t stage, int64_t tile);
void tmaring__role_ticket_get(tmaring__env *e, uint32_t stage, tmaring_i64 *tile);
void tmaring__role_ticket_claim(tmaring__env *e, tmaring_i64 *tile);
void tmaring__role_accumulate(tmaring__env *e, const tmaring_fill *fill, uint32_t stage, int32_t iteration,
                              int32_t pass);
void tmaring__role_partial(tmaring__env *e, int32_t pass);
void tmaring__role_finish(tmaring__env *e, const tmaring_fill *fill, int32_t iteration, int32_t pass);
void tmaring__role_row_store(tmaring__env *e, const tmaring_fill *fill, int32_t iteration);
void tmaring__role_columns(tmaring__env *e, const tmaring_fill *fill, int end);

/* Facts and checks that the parts of the model share. */
static inline tmaring__actor *tmaring__env_actor(const tmaring__env *e)
{
  return tmaring__at_actor(e->ring, e->state, e->actor);
}

static inline uint32_t *tmaring__env_clock(const tmaring__env *e)
{
  return tmaring__at_clock(e->ring, e->state, e->actor);
}

static inline int tmaring__ring_staged(const tmaring__ring *r)
{
  return r->code->staged != 0;
}

/* Tile programs; NULL where fills are rows. */
static inline const tmaring_grid *tmaring__ring_grid(const tmaring__ring *r)
{
  return r->boxes && r->boxes->work ? &r->boxes->grid : NULL;
}

static inline int tmaring__ring_pipelined(const tmaring__ring *r)
{
  return r->args->cta.mode == TMARING_MODE_PIPELINED;
}

/* The thread that stores for its unit is in the unit's first warp; a pipelined CTA stores by its issuer. */
static inline int tmaring__ring_storer(const tmaring__ring *r, int32_t actor)
{
  if (!tmaring__ring_staged(r)) return 0;
  if (tmaring__ring_pipelined(r)) return actor == r->issuer;
  return actor < r->warps && actor % r->args->scope.warps_per_row == 0;
}

static inline uint32_t tmaring__ring_stage_of(const tmaring__ring *r, uint32_t fill)
{
  return (fill - 1) % (uint32_t)r->stages;
}

/* Squads: a consumer's, its index there, and who a fill (from 1) belongs to. */
static inline int32_t tmaring__env_squad(const tmaring__env *e)
{
  return e->actor / e->ring->squad_warps;
}

static inline int32_t tmaring__squad_warp(const tmaring__ring *r, int32_t actor)
{
  return actor % r->squad_warps;
}

static inline int32_t tmaring__squad_of_fill(const tmaring__ring *r, uint32_t fill)
{
  return (int32_t)((fill - 1) / r->turn % (uint32_t)r->squads);
}

/* Number of the fill that a consumer handles after its current one. */
static inline uint32_t tmaring__next_fill(const tmaring__env *e)
{
  const tmaring__ring *r = e->ring;
  const uint32_t fill = tmaring__env_actor(e)->fills, others = r->turn * (uint32_t)(r->squads - 1);
  if (r->squads == 1) return fill + 1;
  if (fill == 0) return r->turn * (uint32_t)tmaring__env_squad(e) + 1;
  return fill % r->turn ? fill + 1 : fill + others + 1;
}

/* 1 where all roles of the CTA have ended. */
static inline int tmaring__env_finished(const tmaring__env *e)
{
  for (int32_t i = 0; i < e->ring->actors; ++i) {
    if (!tmaring__at_actor(e->ring, e->state, i)->finished) return 0;
  }
  return 1;
}

/* CTAs that share the row, and one of them. */
static inline int32_t tmaring__env_ctas(const tmaring__env *e)
{
  return e->ring->code->cluster ? e->ring->cluster->count : 1;
}

static inline tmaring__env *tmaring__env_peer(tmaring__env *e, int32_t rank)
{
  return e->ring->code->cluster ? e->ring->cluster->member[rank] : e;
}

/* Faults unless `stage` is where fill `fill` (from 1) belongs. */
int tmaring__role_stage(tmaring__env *e, const char *primitive, uint32_t stage, uint32_t fill);
/* Closes the books of a consumer's current fill: everything that belongs to it was done, once. */
void tmaring__role_close_fill(tmaring__env *e);
/* Marks the actor as through with the fill it holds. */
void tmaring__role_done(tmaring__env *e, uint32_t stage, uint32_t fill);
/* Faults unless the issuer knows that every warp is through with what fill `fill` replaces in its stage. */
int tmaring__role_reusable(tmaring__env *e, tmaring__fault_kind kind, const char *primitive, uint32_t stage,
                           uint32_t fill);
/* The same, and faults where a bulk store may still read the stage: what a fill that takes it over needs. A fill without
 * inputs loads nothing, so that its expectation is where this is asked. */
int tmaring__role_refillable(tmaring__env *e, const char *primitive, uint32_t stage, uint32_t fill);
/* The CTA's roles have ended: faults where a peer may still read its partial results. */
void tmaring__role_leave(tmaring__env *e);
/* Rows (flat: elements) [first, last) of a fill that an actor stores. */
void tmaring__role_store_range(const tmaring__env *e, const tmaring_fill *fill, tmaring_store_frame *range);

#endif

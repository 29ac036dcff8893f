/* Waits and arrivals of the ring model. */
#include "box.h"
#include "ring_know.h"

int tmaring__role_stage(tmaring__env *e, const char *primitive, uint32_t stage, uint32_t fill)
{
  const uint32_t due = fill ? tmaring__ring_stage_of(e->ring, fill) : TMARING__UNLIMITED;
  if (stage == due) return 1;
  tmaring__ring_fault(e, TMARING__FAULT_STAGE, primitive, stage, fill, "the fill belongs to stage %d", (int)due);
  return 0;
}

int tmaring__role_try_full(tmaring__env *e, uint32_t stage, uint32_t parity)
{
  tmaring__actor *a = tmaring__env_actor(e);
  const tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  if (!tmaring__role_stage(e, "wait full", stage, tmaring__next_fill(e))) return 0;
  if (!tmaring__mbarrier_test(&s->full, parity)) return tmaring__wait_blocked(e, TMARING__WAIT_FULL, stage, parity);
  tmaring__role_close_fill(e);
  tmaring__at_mark(e->ring, e->state, stage, e->actor)->phases = s->full.phase;
  a->fills = tmaring__next_fill(e);
  a->passes = 0;
  a->row_stores = 0;
  a->known = (uint32_t)tmaring__ring_fill(e, a->fills, &a->fill, &a->tile);
  return tmaring__wait_passed(e, a, tmaring__full_index(stage));
}

int tmaring__role_try_empty(tmaring__env *e, uint32_t stage, uint32_t parity)
{
  tmaring__actor *a = tmaring__env_actor(e);
  const tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  if (!tmaring__role_stage(e, "wait empty", stage, a->freed + 1)) return 0;
  if (!tmaring__mbarrier_test(&s->empty, parity)) return tmaring__wait_blocked(e, TMARING__WAIT_EMPTY, stage, parity);
  a->freed += 1;
  return tmaring__wait_passed(e, a, tmaring__empty_index(stage));
}

/* Fills issued and not released, seen from the producer; a pipelined CTA counts those its issuer has not computed. */
static void check_lead(tmaring__env *e, uint32_t stage, uint32_t fill)
{
  const uint32_t behind = tmaring__ring_pipelined(e->ring) ? tmaring__env_actor(e)->fills : e->state->released;
  const int64_t lead = (int64_t)fill - behind;
  if (lead > (int64_t)e->ring->args->distance + 1) {
    tmaring__ring_fault(e, TMARING__FAULT_LEAD, "expect", stage, fill, "leads by %lld fills, may lead by P + 1 = %u",
                        (long long)lead, e->ring->args->distance + 1);
  }
}

/* The full barrier after an arrival or a completed copy. */
static void settle_full(tmaring__env *e, tmaring__mbarrier_result result, const char *primitive, uint32_t stage,
                        uint32_t fill)
{
  const tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  if (result == TMARING__MBARRIER_ENDED) {
    tmaring__know_end_phase(e->ring, e->state, tmaring__full_index(stage));
    if (s->copies > 0) {
      tmaring__ring_fault(e, TMARING__FAULT_TX, primitive, stage, fill,
                          "the phase ends while %u copies are in flight; fewer bytes were expected than are copied, or "
                          "no arrival stands for them",
                          s->copies);
    }
  } else if (result != TMARING__MBARRIER_OK) {
    tmaring__ring_fault(e, result == TMARING__MBARRIER_COUNT ? TMARING__FAULT_ARRIVAL : TMARING__FAULT_TX, primitive,
                        stage, fill, "%u arrivals and %d bytes are pending; bytes stay below 2^20", s->full.pending,
                        s->full.tx);
  }
}

void tmaring__role_expect(tmaring__env *e, uint32_t stage, uint32_t bytes)
{
  tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  const uint32_t fill = e->state->issued + 1;
  tmaring__env_spend(e);
  if (!tmaring__role_stage(e, "expect", stage, fill)) return;
  check_lead(e, stage, fill);
  if (e->ring->loads == 0 && !tmaring__role_refillable(e, "expect", stage, fill)) return;
  e->state->issued = fill;
  tmaring__know_give(e, tmaring__full_index(stage));
  settle_full(e, tmaring__mbarrier_arrive_expect(&s->full, bytes), "expect", stage, fill);
}

static int goes_async(const tmaring__ring *r, const tmaring__copy *copy)
{
  return r->args->input[copy->slot].path == TMARING_LOAD_ASYNC;
}

/* cp.async among the first `count` copies in flight to a stage. */
static uint32_t async_among(const tmaring__env *e, uint32_t stage, uint32_t count)
{
  const tmaring__copy *copies = tmaring__at_copy(e->ring, e->state, stage, 0);
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; ++i) found += (uint32_t)goes_async(e->ring, &copies[i]);
  return found;
}

static void arrive_lanes(tmaring__env *e, uint32_t stage, uint32_t fill)
{
  tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  settle_full(e, tmaring__mbarrier_arrive(&s->full, 32), "async arrive", stage, fill);
}

/* Carries no knowledge: the lanes' ordinary accesses are none that it orders. */
void tmaring__role_async_arrive(tmaring__env *e, uint32_t stage)
{
  tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  const uint32_t fill = e->state->issued, flying = async_among(e, stage, s->copies);
  tmaring__env_spend(e);
  if (!tmaring__role_stage(e, "async arrive", stage, fill)) return;
  if (s->arriving > 0) {
    tmaring__ring_fault(e, TMARING__FAULT_ARRIVAL, "async arrive", stage, fill, "the lanes are arriving already");
    return;
  }
  s->arriving = flying;
  if (flying == 0) arrive_lanes(e, stage, fill);
}

static void move_data(tmaring__env *e, const tmaring__copy *copy)
{
  const tmaring__boxes *boxes = e->ring->boxes;
  const int32_t tensor = (int32_t)copy->slot;
  int32_t at[TMARING_MAX_RANK];
  tmaring_fill fill;
  int64_t tile;
  if (!e->ring->data) return;
  if (e->ring->args->input[tensor].path != TMARING_LOAD_TILE) {
    e->ring->data->copy(e->ring->self, copy->address, copy->offset, copy->bytes);
  } else if (tmaring__ring_fill(e, copy->fill, &fill, &tile)) {
    tmaring_tile_coordinates(&boxes->tile[tensor], tmaring__boxes_grid(boxes), &fill, (int32_t)copy->address, at);
    e->ring->data->copy_box(e->ring->self, tensor, at, copy->offset);
  }
}

void tmaring__ring_complete(tmaring__env *env, uint32_t stage, uint32_t index)
{
  tmaring__stage_state *s = tmaring__at_stage(env->ring, env->state, stage);
  tmaring__copy *copies = tmaring__at_copy(env->ring, env->state, stage, 0);
  const tmaring__copy copy = copies[index];
  const int async = goes_async(env->ring, &copy), awaited = async && async_among(env, stage, index) < s->arriving;
  env->actor = env->ring->issuer;
  move_data(env, &copy);
  for (uint32_t i = index; i + 1 < s->copies; ++i) copies[i] = copies[i + 1];
  s->copies -= 1;
  copies[s->copies].address = 0; /* a slot out of use must not tell states apart */
  copies[s->copies].offset = copies[s->copies].bytes = copies[s->copies].slot = copies[s->copies].fill = 0;
  s->flying[copy.slot] -= 1;
  if (!async) settle_full(env, tmaring__mbarrier_complete(&s->full, copy.bytes), "copy", stage, copy.fill);
  if (!awaited) return;
  s->arriving -= 1;
  if (s->arriving == 0) arrive_lanes(env, stage, copy.fill);
}

void tmaring__role_done(tmaring__env *e, uint32_t stage, uint32_t fill)
{
  tmaring__mark *m = tmaring__at_mark(e->ring, e->state, stage, e->actor);
  m->done_fill = fill;
  m->done_epoch = tmaring__env_clock(e)[e->actor];
}

static void arrive_empty(tmaring__env *e, const char *primitive, uint32_t stage, uint32_t fill, uint32_t count)
{
  tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  tmaring__mbarrier_result result;
  if (count == 0) return;
  tmaring__know_give(e, tmaring__empty_index(stage));
  result = tmaring__mbarrier_arrive(&s->empty, count);
  if (result == TMARING__MBARRIER_ENDED) {
    tmaring__know_end_phase(e->ring, e->state, tmaring__empty_index(stage));
    e->state->released += 1;
  } else if (result != TMARING__MBARRIER_OK) {
    tmaring__ring_fault(e, TMARING__FAULT_ARRIVAL, primitive, stage, fill, "%u arrivals where %u are pending", count,
                        s->empty.pending);
  }
}

static int release_once(tmaring__env *e, const char *primitive, uint32_t stage, uint32_t fill)
{
  if (!tmaring__role_stage(e, primitive, stage, fill)) return 0;
  if (tmaring__at_mark(e->ring, e->state, stage, e->actor)->done_fill < fill) return 1;
  tmaring__ring_fault(e, TMARING__FAULT_ARRIVAL, primitive, stage, fill, "this warp has released the fill already");
  return 0;
}

static uint32_t owed(const tmaring__env *e)
{
  return e->ring->args->cta.release == TMARING_RELEASE_THREAD ? 32u : 1u;
}

void tmaring__role_release(tmaring__env *e, uint32_t stage)
{
  const uint32_t fill = tmaring__env_actor(e)->fills;
  tmaring__env_spend(e);
  if (!release_once(e, "release", stage, fill)) return;
  tmaring__role_done(e, stage, fill);
  arrive_empty(e, "release", stage, fill, owed(e));
}

void tmaring__role_release_others(tmaring__env *e, uint32_t stage)
{
  const uint32_t fill = tmaring__env_actor(e)->fills;
  const int storer = tmaring__ring_storer(e->ring, e->actor);
  tmaring__env_spend(e);
  if (!release_once(e, "release", stage, fill)) return;
  if (!storer) tmaring__role_done(e, stage, fill);
  arrive_empty(e, "release", stage, fill, owed(e) - (storer ? 1u : 0u));
}

/* The first fill of a stage, after fill `done`, that belongs to the actor's squad; turns repeat. */
static uint32_t next_in_stage(const tmaring__env *e, uint32_t stage, uint32_t done)
{
  const tmaring__ring *r = e->ring;
  uint32_t fill = done ? done + (uint32_t)r->stages : stage + 1;
  for (uint32_t i = r->turn * (uint32_t)r->squads; i > 1 && tmaring__squad_of_fill(r, fill) != tmaring__env_squad(e);
       --i)
    fill += (uint32_t)r->stages;
  return fill;
}

void tmaring__role_release_storer(tmaring__env *e, uint32_t stage)
{
  const tmaring__mark *m = tmaring__at_mark(e->ring, e->state, stage, e->actor);
  const uint32_t fill = next_in_stage(e, stage, m->done_fill);
  tmaring__env_spend(e);
  if (fill > tmaring__env_actor(e)->fills) {
    tmaring__ring_fault(e, TMARING__FAULT_ARRIVAL, "release", stage, fill,
                        "the storing warp has not seen this fill yet");
    return;
  }
  tmaring__role_done(e, stage, fill);
  arrive_empty(e, "release", stage, fill, 1);
}

/* Waits, arrivals and barriers of the ring model, and the knowledge they carry. */
#include "box.h"
#include "ring_roles.h"

/* Index among the barriers that carry clocks. */
static uint32_t full_index(uint32_t stage)
{
  return 2 * stage;
}

static uint32_t empty_index(uint32_t stage)
{
  return 2 * stage + 1;
}

static uint32_t sync_index(const tmaring__ring *r, int32_t sync)
{
  return 2 * (uint32_t)r->stages + (uint32_t)sync;
}

static void join(uint32_t *into, const uint32_t *from, int32_t count)
{
  for (int32_t i = 0; i < count; ++i) into[i] = into[i] > from[i] ? into[i] : from[i];
}

/* What the actor knows goes into the barrier; what it does from now on is a new epoch. */
static void give(tmaring__env *e, uint32_t barrier)
{
  uint32_t *clock = tmaring__env_clock(e);
  join(tmaring__at_barrier(e->ring, e->state, barrier, 0), clock, e->ring->actors);
  clock[e->actor] += 1;
}

static void end_phase(const tmaring__ring *r, tmaring__ring_state *state, uint32_t barrier)
{
  join(tmaring__at_barrier(r, state, barrier, 1), tmaring__at_barrier(r, state, barrier, 0), r->actors);
}

static void take(tmaring__env *e, uint32_t barrier)
{
  join(tmaring__env_clock(e), tmaring__at_barrier(e->ring, e->state, barrier, 1), e->ring->actors);
}

static int note_wait(tmaring__actor *a, tmaring__wait_kind wait, uint32_t stage, uint32_t parity)
{
  a->wait = (uint32_t)wait;
  a->wait_stage = stage;
  a->wait_parity = parity;
  return 0;
}

/* A try that fails is no step. */
static int blocked(tmaring__env *e, tmaring__wait_kind wait, uint32_t stage, uint32_t parity)
{
  e->steps -= 1;
  return note_wait(tmaring__env_actor(e), wait, stage, parity);
}

static int passed(tmaring__env *e, tmaring__actor *a, uint32_t barrier)
{
  note_wait(a, TMARING__WAIT_NONE, 0, 0);
  tmaring__env_spend(e);
  take(e, barrier);
  return 1;
}

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
  if (!tmaring__mbarrier_test(&s->full, parity)) return blocked(e, TMARING__WAIT_FULL, stage, parity);
  tmaring__role_close_fill(e);
  tmaring__at_mark(e->ring, e->state, stage, e->actor)->phases = s->full.phase;
  a->fills = tmaring__next_fill(e);
  a->passes = 0;
  a->row_stores = 0;
  a->known = (uint32_t)tmaring__ring_fill(e, a->fills, &a->fill, &a->tile);
  return passed(e, a, full_index(stage));
}

int tmaring__role_try_empty(tmaring__env *e, uint32_t stage, uint32_t parity)
{
  tmaring__actor *a = tmaring__env_actor(e);
  const tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  if (!tmaring__role_stage(e, "wait empty", stage, a->freed + 1)) return 0;
  if (!tmaring__mbarrier_test(&s->empty, parity)) return blocked(e, TMARING__WAIT_EMPTY, stage, parity);
  a->freed += 1;
  return passed(e, a, empty_index(stage));
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
    end_phase(e->ring, e->state, full_index(stage));
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
  give(e, full_index(stage));
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
  give(e, empty_index(stage));
  result = tmaring__mbarrier_arrive(&s->empty, count);
  if (result == TMARING__MBARRIER_ENDED) {
    end_phase(e->ring, e->state, empty_index(stage));
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

static uint32_t arrive_sync(tmaring__env *e, int32_t index, uint32_t count)
{
  tmaring__sync *sync = tmaring__at_sync(e->ring, e->state, index);
  const uint32_t generation = sync->generation;
  tmaring__env_spend(e);
  give(e, sync_index(e->ring, index));
  sync->arrived += 1;
  if (sync->arrived == count) {
    end_phase(e->ring, e->state, sync_index(e->ring, index));
    sync->arrived = 0;
    sync->generation += 1;
  }
  return generation;
}

static int passed_sync(tmaring__env *e, int32_t index, tmaring__wait_kind wait, uint32_t generation)
{
  tmaring__actor *a = tmaring__env_actor(e);
  if (tmaring__at_sync(e->ring, e->state, index)->generation == generation) return note_wait(a, wait, 0, 0);
  return passed(e, a, sync_index(e->ring, index));
}

/* Index of the barrier in which a squad is passed its turn; it takes both squads. */
static int32_t turn_sync(const tmaring__ring *r, int32_t squad)
{
  return r->units + 2 + squad;
}

uint32_t tmaring__role_arrive_turn(tmaring__env *e)
{
  return arrive_sync(e, turn_sync(e->ring, tmaring__env_squad(e)), 2 * (uint32_t)e->ring->squad_warps);
}

int tmaring__role_passed_turn(tmaring__env *e, uint32_t generation)
{
  return passed_sync(e, turn_sync(e->ring, tmaring__env_squad(e)), TMARING__WAIT_TURN, generation);
}

void tmaring__role_pass_turn(tmaring__env *e)
{
  const int32_t next = (tmaring__env_squad(e) + 1) % e->ring->squads;
  arrive_sync(e, turn_sync(e->ring, next), 2 * (uint32_t)e->ring->squad_warps);
}

static uint32_t cluster_index(const tmaring__ring *r)
{
  return sync_index(r, r->units + 1);
}

/* Everybody's arrival ends the phase in every CTA. */
uint32_t tmaring__role_arrive_cluster(tmaring__env *e)
{
  tmaring__cluster *c = e->ring->cluster;
  const uint32_t generation = c->generation;
  tmaring__env_spend(e);
  give(e, cluster_index(e->ring));
  c->arrived += 1;
  if (c->arrived < (uint32_t)(c->count * e->ring->warps)) return generation;
  for (int32_t i = 0; i < c->count; ++i)
    end_phase(c->member[i]->ring, c->member[i]->state, cluster_index(c->member[i]->ring));
  c->arrived = 0;
  c->generation += 1;
  return generation;
}

int tmaring__role_passed_cluster(tmaring__env *e, uint32_t generation)
{
  tmaring__actor *a = tmaring__env_actor(e);
  if (e->ring->cluster->generation == generation) return note_wait(a, TMARING__WAIT_CLUSTER, 0, 0);
  a->meets += 1;
  return passed(e, a, cluster_index(e->ring));
}

uint32_t tmaring__role_arrive_unit(tmaring__env *e, int32_t unit)
{
  return arrive_sync(e, unit, (uint32_t)e->ring->args->scope.warps_per_row);
}

int tmaring__role_passed_unit(tmaring__env *e, int32_t unit, uint32_t generation)
{
  return passed_sync(e, unit, TMARING__WAIT_GROUP, generation);
}

/* A unit's number is over all squads. */
uint32_t tmaring__role_arrive_group(tmaring__env *e)
{
  return tmaring__role_arrive_unit(e, e->actor / e->ring->args->scope.warps_per_row);
}

int tmaring__role_passed_group(tmaring__env *e, uint32_t generation)
{
  return tmaring__role_passed_unit(e, e->actor / e->ring->args->scope.warps_per_row, generation);
}

uint32_t tmaring__role_arrive_cta(tmaring__env *e)
{
  const uint32_t fill = tmaring__env_actor(e)->fills;
  if (fill > 0) tmaring__role_done(e, tmaring__ring_stage_of(e->ring, fill), fill);
  return arrive_sync(e, e->ring->units, (uint32_t)e->ring->warps);
}

int tmaring__role_passed_cta(tmaring__env *e, uint32_t generation)
{
  return passed_sync(e, e->ring->units, TMARING__WAIT_CTA, generation);
}

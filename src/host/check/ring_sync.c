/* Barriers among roles: of a unit, of the CTA, of a cluster, of squads that pass turns, and of the end. */
#include "ring_know.h"

static uint32_t arrive_sync(tmaring__env *e, int32_t index, uint32_t count)
{
  tmaring__sync *sync = tmaring__at_sync(e->ring, e->state, index);
  const uint32_t generation = sync->generation;
  tmaring__env_spend(e);
  tmaring__know_give(e, tmaring__sync_index(e->ring, index));
  sync->arrived += 1;
  if (sync->arrived == count) {
    tmaring__know_end_phase(e->ring, e->state, tmaring__sync_index(e->ring, index));
    sync->arrived = 0;
    sync->generation += 1;
  }
  return generation;
}

static int passed_sync(tmaring__env *e, int32_t index, tmaring__wait_kind wait, uint32_t generation)
{
  tmaring__actor *a = tmaring__env_actor(e);
  if (tmaring__at_sync(e->ring, e->state, index)->generation == generation) return tmaring__note_wait(a, wait, 0, 0);
  return tmaring__wait_passed(e, a, tmaring__sync_index(e->ring, index));
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

/* ---- the end of a ring ---- */

static int32_t end_sync(const tmaring__ring *r)
{
  return r->units + 2 + r->squads;
}

void tmaring__role_ending(tmaring__env *e)
{
  tmaring__actor *a = tmaring__env_actor(e);
  a->ending = 1;
  a->end_epoch = tmaring__env_clock(e)[e->actor];
}

uint32_t tmaring__role_arrive_end(tmaring__env *e)
{
  return arrive_sync(e, end_sync(e->ring), (uint32_t)e->ring->actors);
}

int tmaring__role_passed_end(tmaring__env *e, uint32_t generation)
{
  return passed_sync(e, end_sync(e->ring), TMARING__WAIT_END, generation);
}

static void inval_fault(tmaring__env *e, uint32_t stage, const char *what)
{
  tmaring__ring_fault(e, TMARING__FAULT_INVAL, "inval", stage, tmaring__env_actor(e)->fills, "%s", what);
}

static void inval_barrier(tmaring__env *e, tmaring__mbarrier *barrier, uint32_t stage, uint32_t offset)
{
  if (tmaring__mbarrier_inval(barrier) != TMARING__MBARRIER_OK) inval_fault(e, stage, "it is none");
  e->state->live[offset / 8 / 64] &= ~(1ull << offset / 8 % 64);
}

/* Every role must have ended, and the actor must know. */
void tmaring__role_inval(tmaring__env *e, uint32_t stage)
{
  const tmaring_smem *m = &e->ring->args->smem;
  const uint32_t *clock = tmaring__env_clock(e);
  tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  for (int32_t i = 0; i < e->ring->actors; ++i) {
    const tmaring__actor *a = tmaring__at_actor(e->ring, e->state, i);
    if (!a->ending || a->end_epoch > clock[i]) inval_fault(e, stage, "a role is not known to have ended");
  }
  if (s->copies > 0) inval_fault(e, stage, "loads are in flight");
  if (stage == 0 && e->ring->code->multicast) inval_barrier(e, &e->state->vectors, stage, m->vector_full);
  inval_barrier(e, &s->full, stage, m->full + 8 * stage);
  inval_barrier(e, &s->empty, stage, m->empty + 8 * stage);
}

int tmaring__role_words_free(tmaring__env *e, const char *primitive, uint32_t stage, uint32_t fill, uint32_t offset,
                             uint64_t bytes)
{
  for (uint64_t w = offset / 8; w < (offset + bytes + 7) / 8 && w < TMARING__WORDS; ++w) {
    if ((e->state->live[w / 64] >> w % 64 & 1u) == 0) continue;
    tmaring__ring_fault(e, TMARING__FAULT_WORDS, primitive, stage, fill,
                        "the word at %llu is a barrier; mbarrier.inval must come first", (unsigned long long)(8 * w));
    return 0;
  }
  return 1;
}

/* ---- clusters ---- */

static uint32_t cluster_index(const tmaring__ring *r)
{
  return tmaring__sync_index(r, r->units + 1);
}

/* Everybody's arrival ends the phase in every CTA. */
uint32_t tmaring__role_arrive_cluster(tmaring__env *e)
{
  tmaring__cluster *c = e->ring->cluster;
  const uint32_t generation = c->generation;
  tmaring__env_spend(e);
  tmaring__know_give(e, cluster_index(e->ring));
  c->arrived += 1;
  if (c->arrived < (uint32_t)(c->count * e->ring->actors)) return generation;
  for (int32_t i = 0; i < c->count; ++i)
    tmaring__know_end_phase(c->member[i]->ring, c->member[i]->state, cluster_index(c->member[i]->ring));
  c->arrived = 0;
  c->generation += 1;
  return generation;
}

int tmaring__role_passed_cluster(tmaring__env *e, uint32_t generation)
{
  tmaring__actor *a = tmaring__env_actor(e);
  if (e->ring->cluster->generation == generation) return tmaring__note_wait(a, TMARING__WAIT_CLUSTER, 0, 0);
  a->meets += 1;
  return tmaring__wait_passed(e, a, cluster_index(e->ring));
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

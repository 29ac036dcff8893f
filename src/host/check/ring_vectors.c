/* [N] inputs by multicast: the barrier of the vectors in every CTA of a cluster, copies from one CTA to all of them, and
 * what must be over before a CTA leaves. */
#include "ring_know.h"

static void vectors_fault(tmaring__env *e, const char *primitive, const char *what)
{
  tmaring__ring_fault(e, TMARING__FAULT_VECTORS, primitive, 0, tmaring__env_actor(e)->fills, "%s", what);
}

/* A copy of vector i from rank r, in the mask of what is in flight to a CTA. */
static uint32_t flight(int32_t i, int32_t rank)
{
  return 1u << (i * TMARING_MAX_CLUSTER + rank);
}

_Static_assert(TMARING_MAX_VECTORS *TMARING_MAX_CLUSTER <= 32, "copies in flight are a mask");

static void settle(tmaring__env *e, tmaring__mbarrier_result result, const char *primitive)
{
  if (result == TMARING__MBARRIER_ENDED && e->state->vectors_flying)
    vectors_fault(e, primitive, "fewer bytes are expected than are copied: copies are in flight as the phase ends");
  if (result != TMARING__MBARRIER_OK && result != TMARING__MBARRIER_ENDED)
    vectors_fault(e, primitive, "more arrivals than one, or bytes beyond 2^20");
}

void tmaring__role_vectors_expect(tmaring__env *e, uint32_t bytes)
{
  tmaring__env_spend(e);
  settle(e, tmaring__mbarrier_arrive_expect(&e->state->vectors, bytes), "vectors expect");
}

/* What is written over must be free, and every CTA must be known to have its barrier. */
static int may_load(tmaring__env *e, const tmaring__env *peer, const tmaring_vector *v, uint32_t offset, uint32_t bytes)
{
  const tmaring__cluster *c = e->ring->cluster;
  const uint64_t end = (uint64_t)e->ring->walk.cols * tmaring_dtype_bytes(v->dtype);
  if (tmaring__env_actor(e)->meets < 1) {
    vectors_fault(e, "vectors load", "no barrier of the cluster says that the others have initialised theirs");
    return 0;
  }
  if (c->ended >> peer->ring->rank & 1u) {
    vectors_fault(e, "vectors load", "writes to the shared memory of a CTA that has left");
    return 0;
  }
  if (offset % TMARING_BULK || bytes % TMARING_BULK || v->base % TMARING_BULK || v->smem % TMARING_BULK ||
      offset + (uint64_t)bytes > end) {
    vectors_fault(e, "vectors load", "not whole aligned 16-byte units inside the vector");
    return 0;
  }
  return 1;
}

void tmaring__role_vectors_load(tmaring__env *e, int32_t i, uint32_t offset, uint32_t bytes)
{
  const tmaring_vector *v = &e->ring->args->vector[i];
  tmaring__cluster *c = e->ring->cluster;
  tmaring__env_spend(e);
  e->copies += 1;
  e->state->vectors_sent |= 1u << i;
  for (int32_t r = 0; r < c->count; ++r) {
    if (!may_load(e, c->member[r], v, offset, bytes)) return;
    if (c->member[r]->state->vectors_flying & flight(i, e->ring->rank)) {
      vectors_fault(e, "vectors load", "the share is in flight already");
      return;
    }
    c->member[r]->state->vectors_flying |= flight(i, e->ring->rank);
  }
}

void tmaring__role_vectors_rest(tmaring__env *e, int32_t i, uint32_t offset, uint32_t bytes)
{
  const tmaring_vector *v = &e->ring->args->vector[i];
  if (e->ring->data && bytes > 0) e->ring->data->copy(e->ring->self, v->base + offset, v->smem + offset, bytes);
}

int tmaring__role_try_vectors(tmaring__env *e)
{
  tmaring__actor *a = tmaring__env_actor(e);
  if (!tmaring__mbarrier_test(&e->state->vectors, 0)) return tmaring__wait_blocked(e, TMARING__WAIT_VECTORS, 0, 0);
  tmaring__note_wait(a, TMARING__WAIT_NONE, 0, 0);
  tmaring__env_spend(e);
  a->has_vectors = 1;
  return 1;
}

/* One copy in flight to this CTA, of those the lowest. */
int tmaring__ring_complete_vectors(tmaring__env *env, uint32_t index)
{
  const tmaring_args *a = env->ring->args;
  for (int32_t bit = 0; bit < TMARING_MAX_VECTORS * TMARING_MAX_CLUSTER; ++bit) {
    const int32_t i = bit / TMARING_MAX_CLUSTER, rank = bit % TMARING_MAX_CLUSTER;
    if ((env->state->vectors_flying & flight(i, rank)) == 0 || index-- > 0) continue;
    const uint32_t first = tmaring_multicast_share(a, i, rank), end = tmaring_multicast_share(a, i, rank + 1);
    env->actor = env->ring->issuer;
    env->state->vectors_flying &= ~flight(i, rank);
    if (env->ring->data)
      env->ring->data->copy(env->ring->self, a->vector[i].base + first, a->vector[i].smem + first, end - first);
    settle(env, tmaring__mbarrier_complete(&env->state->vectors, end - first), "vectors copy");
    return 1;
  }
  return 0;
}

uint32_t tmaring__ring_vectors_flying(const tmaring__env *env)
{
  uint32_t count = 0;
  for (uint32_t mask = env->state->vectors_flying; mask; mask &= mask - 1) ++count;
  return count;
}

int tmaring__role_has_vectors(tmaring__env *e)
{
  if (!e->ring->code->multicast || tmaring__env_actor(e)->has_vectors) return 1;
  vectors_fault(e, "accumulate", "this warp has not waited for the vectors");
  return 0;
}

/* Shares without a unit are not loaded. */
static int has_sent(const tmaring__env *peer)
{
  const tmaring_args *a = peer->ring->args;
  for (int32_t i = 0; i < a->vector_count; ++i) {
    const int empty =
        tmaring_multicast_share(a, i, peer->ring->rank) == tmaring_multicast_share(a, i, peer->ring->rank + 1);
    if (!empty && (peer->state->vectors_sent >> i & 1u) == 0) return 0;
  }
  return 1;
}

void tmaring__role_leave_vectors(tmaring__env *e)
{
  const tmaring__cluster *c = e->ring->cluster;
  for (int32_t r = 0; r < c->count; ++r) {
    const tmaring__env *peer = c->member[r];
    uint32_t mine = 0;
    for (int32_t i = 0; i < TMARING_MAX_VECTORS; ++i) mine |= flight(i, e->ring->rank);
    if (peer->state->vectors_flying & mine) vectors_fault(e, "end", "copies that this CTA issued are in flight");
    if (!has_sent(peer)) vectors_fault(e, "end", "a CTA of the cluster has still to write to this one");
  }
  if (e->state->vectors_flying) vectors_fault(e, "end", "copies to this CTA are in flight");
}

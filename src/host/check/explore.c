#include "explore.h"

#include <stdlib.h>
#include <string.h>

#include "ring_roles.h"
#include "schedule.h"

typedef struct key {
  uint64_t low, high;
} key;

/* Open addressing; the zero key marks an empty place. */
typedef struct key_set {
  key *place;
  size_t capacity, count;
} key_set;

typedef struct level {
  uint32_t next;  /* transition to try */
  uint32_t moved; /* 1: some transition was enabled */
} level;

/* What a cluster shares, kept behind the states of its CTAs. */
typedef struct shared_state {
  uint32_t arrived, generation, ended, unused;
} shared_state;

typedef struct search {
  tmaring__team *team;
  size_t bytes; /* of a block: the CTAs' states and what they share */
  int reduced;
  key_set seen;
  char *states; /* one block per level */
  level *levels;
  size_t depth, capacity;
  tmaring__explore_report *report;
  tmaring__fault_note *fault;
} search;

static uint64_t mix(uint64_t h, uint64_t word, uint64_t factor)
{
  h = (h ^ word) * factor;
  return h ^ (h >> 32);
}

static key hash(const void *block, size_t bytes)
{
  const char *at = block;
  key k = {0x243f6a8885a308d3ull, 0x13198a2e03707344ull};
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word;
    memcpy(&word, at + i, 8);
    k.low = mix(k.low, word, 0x9e3779b97f4a7c15ull);
    k.high = mix(k.high, word, 0xd6e8feb86659fd93ull);
  }
  k.low |= (k.low | k.high) == 0;
  return k;
}

static key *find(key_set *set, key k)
{
  size_t i = (size_t)k.low & (set->capacity - 1);
  while ((set->place[i].low | set->place[i].high) != 0) {
    if (set->place[i].low == k.low && set->place[i].high == k.high) break;
    i = (i + 1) & (set->capacity - 1);
  }
  return &set->place[i];
}

static int grow_set(key_set *set)
{
  key_set larger = {NULL, set->capacity ? 2 * set->capacity : 1024, set->count};
  larger.place = calloc(larger.capacity, sizeof *larger.place);
  if (!larger.place) return 0;
  for (size_t i = 0; i < set->capacity; ++i) {
    if ((set->place[i].low | set->place[i].high) != 0) *find(&larger, set->place[i]) = set->place[i];
  }
  free(set->place);
  *set = larger;
  return 1;
}

/* 1: entered; 0: it was there; -1: no memory. */
static int enter(key_set *set, key k)
{
  key *place;
  if (2 * set->count >= set->capacity && !grow_set(set)) return -1;
  place = find(set, k);
  if ((place->low | place->high) != 0) return 0;
  *place = k;
  set->count += 1;
  return 1;
}

static char *block_at(const search *s, size_t depth)
{
  return s->states + depth * s->bytes;
}

/* Points the team at a block. */
static void enter_block(const search *s, char *block)
{
  shared_state shared;
  memcpy(&shared, block + s->bytes - sizeof shared, sizeof shared);
  tmaring__team_point(s->team, (tmaring__ring_state *)(void *)block, s->fault);
  s->team->cluster.arrived = shared.arrived;
  s->team->cluster.generation = shared.generation;
  s->team->cluster.ended = shared.ended;
}

static void leave_block(const search *s, char *block)
{
  const tmaring__cluster *c = &s->team->cluster;
  const shared_state shared = {c->arrived, c->generation, c->ended, 0};
  memcpy(block + s->bytes - sizeof shared, &shared, sizeof shared);
}

/* Room for one level above the current one. */
static int grow_levels(search *s)
{
  const size_t capacity = s->capacity ? 2 * s->capacity : 64;
  char *states;
  level *levels;
  if (s->depth + 2 <= s->capacity) return 1;
  states = realloc(s->states, capacity * s->bytes);
  if (states) s->states = states;
  levels = realloc(s->levels, capacity * sizeof *levels);
  if (levels) s->levels = levels;
  if (!states || !levels) return 0;
  s->capacity = capacity;
  return 1;
}

/* The actor about to play. */
static tmaring__env *begin(const search *s, int32_t rank, int32_t actor, uint32_t visible)
{
  tmaring__env *env = &s->team->env[rank];
  env->actor = actor;
  env->choice = env->chose = 0;
  env->steps = 0;
  env->visible = s->reduced ? visible : TMARING__UNLIMITED;
  env->points = s->reduced ? TMARING__UNLIMITED : 1;
  return env;
}

/* Plays one slice of an actor. 0: it cannot move, or the choice does not exist. */
static int move_actor(const search *s, int32_t rank, int32_t actor, uint32_t choice)
{
  tmaring__env *env = begin(s, rank, actor, 1);
  const tmaring__actor *a = tmaring__at_actor(env->ring, env->state, actor);
  if (a->finished) return 0;
  env->choice = choice;
  env->ring->step(env);
  if (choice > 0 && !env->chose) return 0;
  return env->steps > 0 || env->visible == 0 || a->finished || s->fault->kind != TMARING__FAULT_NONE;
}

static int complete_nth(const search *s, int32_t rank, uint32_t index)
{
  tmaring__env *env = begin(s, rank, s->team->ring[rank].issuer, 0);
  for (uint32_t stage = 0; stage < (uint32_t)env->ring->stages; ++stage) {
    const uint32_t copies = tmaring__at_stage(env->ring, env->state, stage)->copies;
    if (index < copies) {
      tmaring__ring_complete(env, stage, index);
      return 1;
    }
    index -= copies;
  }
  return tmaring__ring_complete_vectors(env, index);
}

/* Transitions of one CTA: two per actor, and a copy each. */
static uint32_t transitions_of(const search *s, int32_t rank)
{
  const tmaring__env *env = &s->team->env[rank];
  uint32_t count = 2 * (uint32_t)env->ring->actors + tmaring__ring_vectors_flying(env);
  for (uint32_t i = 0; i < (uint32_t)env->ring->stages; ++i)
    count += tmaring__at_stage(env->ring, env->state, i)->copies;
  return count;
}

static uint32_t transitions(const search *s, char *block)
{
  uint32_t count = 0;
  enter_block(s, block);
  for (int32_t r = 0; r < s->team->count; ++r) count += transitions_of(s, r);
  return count;
}

static int apply_to(const search *s, int32_t rank, uint32_t transition)
{
  const tmaring__ring *ring = &s->team->ring[rank];
  const uint32_t actors = (uint32_t)ring->actors;
  if (transition >= 2 * actors) return complete_nth(s, rank, transition - 2 * actors);
  if (transition % 2 == 1 && !tmaring_uses_tickets(&ring->walk)) return 0;
  return move_actor(s, rank, (int32_t)(transition / 2), transition % 2);
}

static int apply(const search *s, char *block, uint32_t transition)
{
  int32_t rank = 0;
  enter_block(s, block);
  for (; transition >= transitions_of(s, rank); ++rank) transition -= transitions_of(s, rank);
  const int moved = apply_to(s, rank, transition);
  if (s->fault->kind == TMARING__FAULT_NONE) tmaring__team_close(s->team, rank);
  leave_block(s, block);
  return moved;
}

/* Nothing can move: the end, or a deadlock. Works on a copy, since blocked actors write down what they wait for. */
static void settle(search *s)
{
  char *block = block_at(s, s->depth + 1);
  tmaring__env *left = NULL;
  memcpy(block, block_at(s, s->depth), s->bytes);
  enter_block(s, block);
  for (int32_t r = s->team->count - 1; r >= 0; --r) {
    tmaring__env *env = &s->team->env[r];
    if (!tmaring__env_finished(env)) left = env;
    for (int32_t i = 0; i < env->ring->actors; ++i) env->ring->step(begin(s, r, i, 1));
  }
  if (left) tmaring__ring_deadlock(left);
}

static tmaring_status no_memory(void)
{
  return tmaring__fail(TMARING_ERROR_MEMORY, "explore: got no memory for another state; use a smaller ring");
}

/* The next transition of the top level. */
static tmaring_status advance(search *s)
{
  level *top = &s->levels[s->depth];
  char *next = block_at(s, s->depth + 1);
  int entered;
  memcpy(next, block_at(s, s->depth), s->bytes);
  if (!apply(s, next, top->next++)) return TMARING_OK;
  top->moved = 1;
  s->report->transitions += 1;
  if (s->fault->kind != TMARING__FAULT_NONE) return TMARING_OK;
  entered = enter(&s->seen, hash(next, s->bytes));
  if (entered < 0) return no_memory();
  if (entered == 0) return TMARING_OK;
  s->depth += 1;
  s->levels[s->depth].next = 0;
  s->levels[s->depth].moved = 0;
  if (s->depth > s->report->depth) s->report->depth = (uint32_t)s->depth;
  return grow_levels(s) ? TMARING_OK : no_memory();
}

/* Up to the first visible primitive of every actor. */
static void begin_actors(const search *s)
{
  for (int32_t r = 0; r < s->team->count; ++r) {
    for (int32_t i = 0; i < s->team->ring[r].actors; ++i) s->team->ring[r].step(begin(s, r, i, 0));
  }
}

static tmaring_status start(search *s)
{
  if (!grow_levels(s)) return no_memory();
  memset(block_at(s, 0), 0, s->bytes);
  tmaring__team_start(s->team, (tmaring__ring_state *)(void *)block_at(s, 0), s->fault);
  if (s->reduced) begin_actors(s);
  for (int32_t r = 0; r < s->team->count; ++r) tmaring__team_close(s->team, r); /* no fill at all */
  leave_block(s, block_at(s, 0));
  s->levels[0].next = 0;
  s->levels[0].moved = 0;
  return enter(&s->seen, hash(block_at(s, 0), s->bytes)) < 0 ? no_memory() : TMARING_OK;
}

static tmaring_status explore(search *s, uint64_t limit)
{
  TMARING__TRY(start(s));
  while (s->fault->kind == TMARING__FAULT_NONE) {
    if (s->levels[s->depth].next < transitions(s, block_at(s, s->depth))) {
      TMARING__TRY(advance(s));
    } else {
      if (!s->levels[s->depth].moved) settle(s);
      if (s->depth == 0) break;
      s->depth -= 1;
    }
    if (s->seen.count > limit) {
      return tmaring__fail(TMARING_ERROR_CAPACITY,
                           "explore: got more than %llu states; raise the limit or use a smaller ring",
                           (unsigned long long)limit);
    }
  }
  return TMARING_OK;
}

tmaring_status tmaring__explore(const tmaring__ring *ring, int reduced, uint64_t limit, tmaring__explore_report *report,
                                tmaring__fault_note *fault)
{
  search s;
  tmaring__team team;
  tmaring_status status;
  memset(&s, 0, sizeof s);
  memset(report, 0, sizeof *report);
  tmaring__team_make(&team, ring);
  s.team = &team;
  s.bytes = (size_t)team.count * ring->bytes + sizeof(shared_state);
  s.reduced = reduced;
  s.report = report;
  s.fault = fault;
  status = explore(&s, limit);
  report->states = s.seen.count;
  free(s.seen.place);
  free(s.states);
  free(s.levels);
  if (status == TMARING_OK && fault->kind != TMARING__FAULT_NONE)
    status = tmaring__fail(TMARING_ERROR_CHECK, "%s", fault->text);
  return status;
}

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

typedef struct search {
  const tmaring__ring *ring;
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

static tmaring__ring_state *state_at(const search *s, size_t depth)
{
  return (tmaring__ring_state *)(void *)(s->states + depth * s->ring->bytes);
}

/* Room for one level above the current one. */
static int grow_levels(search *s)
{
  const size_t capacity = s->capacity ? 2 * s->capacity : 64;
  char *states;
  level *levels;
  if (s->depth + 2 <= s->capacity) return 1;
  states = realloc(s->states, capacity * s->ring->bytes);
  if (states) s->states = states;
  levels = realloc(s->levels, capacity * sizeof *levels);
  if (levels) s->levels = levels;
  if (!states || !levels) return 0;
  s->capacity = capacity;
  return 1;
}

static void begin(const search *s, tmaring__env *env, tmaring__ring_state *state, int32_t actor, uint32_t visible)
{
  tmaring__schedule_begin(env, s->ring, state, s->fault);
  env->actor = actor;
  if (s->reduced) {
    env->visible = visible;
  } else {
    env->points = 1;
  }
}

/* Plays one slice of an actor. 0: it cannot move, or the choice does not exist. */
static int move_actor(const search *s, tmaring__ring_state *state, int32_t actor, uint32_t choice)
{
  tmaring__env env;
  tmaring__actor *a = tmaring__at_actor(s->ring, state, actor);
  if (a->finished) return 0;
  begin(s, &env, state, actor, 1);
  env.choice = choice;
  s->ring->step(&env);
  if (choice > 0 && !env.chose) return 0;
  return env.steps > 0 || env.visible == 0 || a->finished || s->fault->kind != TMARING__FAULT_NONE;
}

static int complete_nth(const search *s, tmaring__ring_state *state, uint32_t index)
{
  tmaring__env env;
  for (uint32_t stage = 0; stage < (uint32_t)s->ring->stages; ++stage) {
    const uint32_t copies = tmaring__at_stage(s->ring, state, stage)->copies;
    if (index < copies) {
      begin(s, &env, state, s->ring->issuer, 0);
      tmaring__ring_complete(&env, stage, index);
      return 1;
    }
    index -= copies;
  }
  return 0;
}

static uint32_t transitions(const search *s, tmaring__ring_state *state)
{
  uint32_t count = 2 * (uint32_t)s->ring->actors;
  for (uint32_t i = 0; i < (uint32_t)s->ring->stages; ++i) count += tmaring__at_stage(s->ring, state, i)->copies;
  return count;
}

static int apply(const search *s, tmaring__ring_state *state, uint32_t transition)
{
  const uint32_t actors = (uint32_t)s->ring->actors;
  if (transition >= 2 * actors) return complete_nth(s, state, transition - 2 * actors);
  if (transition % 2 == 1 && !tmaring_uses_tickets(&s->ring->walk)) return 0;
  return move_actor(s, state, (int32_t)(transition / 2), transition % 2);
}

/* Nothing can move: the end, or a deadlock. Works on a copy, since blocked actors write down what they wait for. */
static void settle(search *s)
{
  tmaring__ring_state *state = state_at(s, s->depth + 1);
  tmaring__env env;
  int finished = 1;
  memcpy(state, state_at(s, s->depth), s->ring->bytes);
  for (int32_t i = 0; i < s->ring->actors; ++i) {
    finished &= tmaring__at_actor(s->ring, state, i)->finished != 0;
    begin(s, &env, state, i, 1);
    s->ring->step(&env);
  }
  begin(s, &env, state, 0, 0);
  if (finished) {
    tmaring__ring_end(&env);
  } else {
    tmaring__ring_deadlock(&env);
  }
}

static tmaring_status no_memory(void)
{
  return tmaring__fail(TMARING_ERROR_MEMORY, "explore: got no memory for another state; use a smaller ring");
}

/* The next transition of the top level. */
static tmaring_status advance(search *s)
{
  level *top = &s->levels[s->depth];
  tmaring__ring_state *next = state_at(s, s->depth + 1);
  int entered;
  memcpy(next, state_at(s, s->depth), s->ring->bytes);
  if (!apply(s, next, top->next++)) return TMARING_OK;
  top->moved = 1;
  s->report->transitions += 1;
  if (s->fault->kind != TMARING__FAULT_NONE) return TMARING_OK;
  entered = enter(&s->seen, hash(next, s->ring->bytes));
  if (entered < 0) return no_memory();
  if (entered == 0) return TMARING_OK;
  s->depth += 1;
  s->levels[s->depth].next = 0;
  s->levels[s->depth].moved = 0;
  if (s->depth > s->report->depth) s->report->depth = (uint32_t)s->depth;
  return grow_levels(s) ? TMARING_OK : no_memory();
}

static tmaring_status start(search *s)
{
  tmaring__env env;
  if (!grow_levels(s)) return no_memory();
  tmaring__ring_start(s->ring, state_at(s, 0), s->fault);
  for (int32_t i = 0; s->reduced && i < s->ring->actors; ++i) { /* up to the first visible primitive */
    begin(s, &env, state_at(s, 0), i, 0);
    s->ring->step(&env);
  }
  s->levels[0].next = 0;
  s->levels[0].moved = 0;
  return enter(&s->seen, hash(state_at(s, 0), s->ring->bytes)) < 0 ? no_memory() : TMARING_OK;
}

static tmaring_status explore(search *s, uint64_t limit)
{
  TMARING__TRY(start(s));
  while (s->fault->kind == TMARING__FAULT_NONE) {
    if (s->levels[s->depth].next < transitions(s, state_at(s, s->depth))) {
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
  tmaring_status status;
  memset(&s, 0, sizeof s);
  memset(report, 0, sizeof *report);
  s.ring = ring;
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

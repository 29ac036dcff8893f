#include "ring_roles.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *tmaring__fault_text(tmaring__fault_kind kind)
{
  static const char *const text[] = {
#define TMARING__FAULT_TEXT(name, words) words,
      TMARING__FAULT_LIST(TMARING__FAULT_TEXT)
#undef TMARING__FAULT_TEXT
  };
  return text[kind];
}

static int role_name(const tmaring__env *e, char *text, size_t size)
{
  if (tmaring__ring_pipelined(e->ring)) {
    return snprintf(text, size, "warp %d%s", e->actor, e->actor == e->ring->issuer ? " (issuer)" : "");
  }
  if (e->actor == e->ring->issuer) return snprintf(text, size, "producer");
  return snprintf(text, size, "consumer warp %d", e->actor);
}

static const char *rank_name(const tmaring__env *e)
{
  static const char *const name[TMARING_MAX_CLUSTER] = {"rank 0, ", "rank 1, ", "rank 2, ", "rank 3, ",
                                                        "rank 4, ", "rank 5, ", "rank 6, ", "rank 7, "};
  return e->ring->cluster ? name[e->ring->rank] : "";
}

void tmaring__ring_fault(tmaring__env *env, tmaring__fault_kind kind, const char *primitive, uint32_t stage,
                         uint32_t fill, const char *format, ...)
{
  tmaring__fault_note *note = env->fault;
  char role[48];
  va_list list;
  int used;
  if (note->kind != TMARING__FAULT_NONE) return;
  note->kind = kind;
  role_name(env, role, sizeof role);
  used = snprintf(note->text, sizeof note->text, "worker %d, %s%s, %s, stage %u, fill %lld: %s: ", env->ring->worker,
                  rank_name(env), role, primitive, stage, (long long)fill - 1, tmaring__fault_text(kind));
  if (used < 0 || (size_t)used >= sizeof note->text) return;
  va_start(list, format);
  vsnprintf(note->text + used, sizeof note->text - (size_t)used, format, list);
  va_end(list);
}

/* Tiled streams have boxes. */
static tmaring_status check_boxes(const tmaring__ring *r)
{
  const tmaring_args *a = r->args;
  const uint32_t used = r->boxes ? (uint32_t)r->boxes->used : 0;
  for (int32_t i = 0; i < TMARING_MAX_STREAMS; ++i) {
    const int input = i < a->input_count && a->input[i].path == TMARING_LOAD_TILE,
              output = i < a->output_count && r->code->tiled_store;
    if ((input && (used >> i & 1u) == 0) || (output && (used >> (TMARING_TILED_OUTPUTS + i) & 1u) == 0)) {
      return tmaring__fail(TMARING_ERROR_ARGUMENT, "boxes: got none for %s %d, which is tiled; correct the plan",
                           input ? "input" : "output", i);
    }
  }
  return TMARING_OK;
}

static tmaring_status check_warps(const tmaring__ring *r)
{
  const tmaring_args *a = r->args;
  if (r->warps < 1 || tmaring_cta_consumer_threads(&a->cta) % 32 != 0 || a->scope.warps_per_row < 1 ||
      r->warps % a->scope.warps_per_row != 0) {
    return tmaring__fail(
        TMARING_ERROR_ARGUMENT,
        "cta: got %d consumer threads, rows of %d warps, needs whole warps and units; correct the plan",
        tmaring_cta_consumer_threads(&a->cta), a->scope.warps_per_row);
  }
  if (r->squads > 1 && (tmaring__ring_pipelined(r) || r->warps % (r->squads * a->scope.warps_per_row) != 0)) {
    return tmaring__fail(TMARING_ERROR_ARGUMENT,
                         "cta: got %d squads in %d warps, needs a producer and squads of whole units; correct the plan",
                         r->squads, r->warps);
  }
  return TMARING_OK;
}

static tmaring_status check_shape(const tmaring__ring *r)
{
  const tmaring_args *a = r->args;
  if (a->stages < 1 || a->stages > TMARING_MAX_STAGES || a->distance >= a->stages) {
    return tmaring__fail(TMARING_ERROR_ARGUMENT,
                         "ring: got %u stages, distance %u, needs 1 to %d stages, a distance below; correct the plan",
                         a->stages, a->distance, TMARING_MAX_STAGES);
  }
  if (a->smem.full / 8 + a->stages > TMARING__WORDS || a->smem.empty / 8 + a->stages > TMARING__WORDS) {
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "smem: got barriers at %u and %u, needs them in the first %d bytes",
                         a->smem.full, a->smem.empty, 8 * TMARING__WORDS);
  }
  TMARING__TRY(check_boxes(r));
  return check_warps(r);
}

/* In place: an output whose slot is an input's shares the input's tags. */
static void number_slots(tmaring__ring *r)
{
  r->slot_count = r->args->input_count;
  r->output_slots = 0;
  for (int32_t i = 0; i < r->args->output_count; ++i) {
    int32_t slot = -1;
    for (int32_t j = 0; j < r->args->input_count; ++j) {
      const tmaring_stream *in = &r->args->input[j];
      if (in->path != TMARING_LOAD_DIRECT && r->args->output[i].slot == in->slot) slot = j;
    }
    r->output_slot[i] = slot >= 0 ? slot : r->slot_count++;
    r->output_slots |= 1u << r->output_slot[i];
  }
}

/* What input i has in flight for a fill of as many rows as there can be. */
static int32_t copies_of(const tmaring__ring *r, int32_t i)
{
  const tmaring_stream *s = &r->args->input[i];
  tmaring_fill fill = {0};
  fill.rows = r->walk.tile_rows;
  if (tmaring__ring_grid(r) && s->path == TMARING_LOAD_BULK) return tmaring_panel_rows(&r->boxes->panel[i]);
  if (s->path == TMARING_LOAD_TILE) return tmaring_tile_copies(&r->boxes->tile[i], &fill);
  return s->path == TMARING_LOAD_BULK || s->path == TMARING_LOAD_ASYNC ? tmaring_run_count(s, fill.rows) : 0;
}

static void size_copies(tmaring__ring *r)
{
  r->copies_per_stage = 1;
  r->loads = 0;
  for (int32_t i = 0; i < r->args->input_count; ++i) {
    r->copies_per_stage += (uint32_t)copies_of(r, i);
    r->loads += r->args->input[i].path != TMARING_LOAD_DIRECT;
  }
}

static size_t place(size_t *end, size_t bytes)
{
  const size_t at = *end;
  *end += (bytes + 7) / 8 * 8;
  return at;
}

static void lay_out(tmaring__ring *r)
{
  const size_t stages = (size_t)r->stages, actors = (size_t)r->actors, syncs = (size_t)(r->units + 3 + r->squads);
  size_t end = sizeof(tmaring__ring_state);
  r->at_stage = place(&end, stages * sizeof(tmaring__stage_state));
  r->at_mark = place(&end, stages * actors * sizeof(tmaring__mark));
  r->at_clock = place(&end, actors * actors * sizeof(uint32_t));
  r->at_barrier = place(&end, 2 * (2 * stages + syncs) * actors * sizeof(uint32_t));
  r->at_sync = place(&end, syncs * sizeof(tmaring__sync));
  r->at_scratch = place(&end, r->code->group ? 2 * actors * sizeof(tmaring__scratch_mark) : 0);
  r->at_copy = place(&end, stages * r->copies_per_stage * sizeof(tmaring__copy));
  r->at_actor = place(&end, actors * sizeof(tmaring__actor));
  r->bytes = end;
}

tmaring_status tmaring__ring_prepare(tmaring__ring *ring)
{
  const tmaring_args *a = ring->args;
  ring->warps = tmaring_cta_consumer_warps(&a->cta);
  ring->squads = tmaring_cta_squads(&a->cta);
  TMARING__TRY(check_shape(ring));
  ring->squad_warps = ring->warps / ring->squads;
  ring->turn = tmaring_squad_turn(&a->cta, &ring->walk);
  ring->stages = (int32_t)a->stages;
  ring->actors = ring->warps + (tmaring__ring_pipelined(ring) ? 0 : 1);
  ring->issuer = tmaring__ring_pipelined(ring) ? 0 : ring->warps;
  ring->units = ring->warps / a->scope.warps_per_row;
  ring->async = tmaring_args_take(a, TMARING_LOAD_ASYNC);
  ring->wide = tmaring_args_wide(a);
  if (!ring->step) ring->step = tmaring__role_step;
  number_slots(ring);
  size_copies(ring);
  lay_out(ring);
  return TMARING_OK;
}

static void init_barrier(tmaring__env *e, tmaring__mbarrier *barrier, const char *name, uint32_t stage, uint32_t offset,
                         uint32_t count)
{
  uint64_t *word = &e->state->live[offset / 8 / 64];
  const uint64_t bit = 1ull << offset / 8 % 64;
  tmaring__mbarrier_result result = tmaring__mbarrier_init(barrier, count);
  if (*word & bit) result = TMARING__MBARRIER_LIVE;
  *word |= bit;
  if (result == TMARING__MBARRIER_OK) return;
  tmaring__ring_fault(e, result == TMARING__MBARRIER_LIVE ? TMARING__FAULT_LIVE : TMARING__FAULT_ARRIVAL, name, stage,
                      0, "count %u; a word is made a barrier once, with at least one arrival, until mbarrier.inval",
                      count);
}

void tmaring__role_init(tmaring__env *e)
{
  const tmaring__ring *r = e->ring;
  const tmaring_smem *m = &r->args->smem;
  const uint32_t empty = tmaring_ring_empty_count(r->args->cta.release, (uint32_t)r->squad_warps);
  if (r->code->multicast) init_barrier(e, &e->state->vectors, "init vectors", 0, m->vector_full, 1);
  for (uint32_t i = 0; i < (uint32_t)r->stages; ++i) {
    tmaring__stage_state *stage = tmaring__at_stage(r, e->state, i);
    init_barrier(e, &stage->full, "init full", i, m->full + 8 * i, tmaring_ring_full_count(r->async));
    init_barrier(e, &stage->empty, "init empty", i, m->empty + 8 * i, empty);
  }
}

/* Every actor at its first primitive, barriers initialised; the words that live are in the state. */
static void start(const tmaring__ring *ring, tmaring__ring_state *state, tmaring__fault_note *fault)
{
  tmaring__env env;
  memset(&env, 0, sizeof env);
  fault->kind = TMARING__FAULT_NONE;
  fault->text[0] = '\0';
  env.ring = ring;
  env.state = state;
  env.actor = ring->issuer;
  env.fault = fault;
  tmaring__role_init(&env);
  for (int32_t i = 0; i < ring->actors; ++i) tmaring__at_clock(ring, state, i)[i] = 1;
}

void tmaring__ring_start(const tmaring__ring *ring, tmaring__ring_state *state, tmaring__fault_note *fault)
{
  memset(state, 0, ring->bytes);
  start(ring, state, fault);
}

void tmaring__ring_follow(const tmaring__ring *ring, tmaring__ring_state *state, const tmaring__ring_state *before,
                          tmaring__fault_note *fault)
{
  memset(state, 0, ring->bytes);
  memcpy(state->live, before->live, sizeof state->live);
  start(ring, state, fault);
}

void tmaring__team_make(tmaring__team *team, const tmaring__ring *ring)
{
  memset(team, 0, sizeof *team);
  team->count = ring->code->cluster     ? (int32_t)tmaring_max_i64(1, ring->walk.cluster)
                : ring->code->multicast ? (int32_t)tmaring_max_i64(1, ring->args->multicast)
                                        : 1;
  team->cluster.count = team->count;
  for (int32_t r = 0; r < team->count; ++r) {
    team->ring[r] = *ring;
    team->ring[r].rank = r;
    team->ring[r].walk.rank = ring->code->cluster ? r : 0;
    team->ring[r].cluster = ring->code->cluster || ring->code->multicast ? &team->cluster : NULL;
    team->cluster.member[r] = &team->env[r];
  }
}

void tmaring__team_point(tmaring__team *team, tmaring__ring_state *states, tmaring__fault_note *fault)
{
  for (int32_t r = 0; r < team->count; ++r) {
    tmaring__env *env = &team->env[r];
    memset(env, 0, sizeof *env);
    env->ring = &team->ring[r];
    env->state = (tmaring__ring_state *)(void *)((char *)states + (size_t)r * env->ring->bytes);
    env->fault = fault;
    env->points = TMARING__UNLIMITED;
    env->visible = TMARING__UNLIMITED;
  }
}

void tmaring__team_start(tmaring__team *team, tmaring__ring_state *states, tmaring__fault_note *fault)
{
  tmaring__team_point(team, states, fault);
  team->cluster.arrived = team->cluster.generation = team->cluster.ended = 0;
  for (int32_t r = 0; r < team->count; ++r) tmaring__ring_start(&team->ring[r], team->env[r].state, fault);
}

/* Fills that the walk has for this worker; tickets: those put so far. */
static int64_t fills_due(const tmaring__env *e)
{
  const tmaring_walk *w = &e->ring->walk;
  int64_t slots = tmaring_walk_slots(w, e->ring->worker);
  if (tmaring_uses_tickets(w)) return (int64_t)e->state->issued - e->state->ended;
  if (w->policy == TMARING_POLICY_SKIP) slots = tmaring_min_i64(slots, tmaring_walk_valid_slots(w, e->ring->worker));
  return slots * tmaring_walk_fills_per_tile(w);
}

int tmaring__ring_fill(const tmaring__env *env, uint32_t number, tmaring_fill *fill, int64_t *tile)
{
  const tmaring_walk *w = &env->ring->walk;
  const int32_t per_tile = tmaring_walk_fills_per_tile(w);
  int32_t part = (int32_t)((number - 1) % (uint32_t)per_tile);
  *tile = tmaring_walk_first(w, env->ring->worker) + (int64_t)((number - 1) / (uint32_t)per_tile) * w->step;
  if (tmaring_uses_tickets(w)) {
    const tmaring__stage_state *s = tmaring__at_stage(env->ring, env->state, tmaring__ring_stage_of(env->ring, number));
    if (s->ticket_fill != number || s->ticket_tile <= TMARING_TICKET_END) return 0;
    *tile = s->ticket_tile;
    part = s->ticket_part;
  } else if (number < 1 || number > fills_due(env)) {
    return 0;
  }
  memset(fill, 0, sizeof *fill);
  tmaring_walk_fill(w, *tile, part, fill);
  return 1;
}

static const char *wait_name(uint32_t wait)
{
  static const char *const name[] = {"nothing",
                                     "full",
                                     "empty",
                                     "the barrier of its unit",
                                     "the barrier of the CTA",
                                     "the barrier of the cluster",
                                     "its turn",
                                     "the end of all roles",
                                     "the vectors"};
  return name[wait];
}

/* Adds one barrier that somebody waits for to the text, unless it is there already. */
static void add_wait(const tmaring__env *env, const tmaring__actor *a, uint64_t *named, char *text, size_t size)
{
  const tmaring__stage_state *s = tmaring__at_stage(env->ring, env->state, a->wait_stage);
  const int empty = a->wait == TMARING__WAIT_EMPTY;
  const tmaring__mbarrier *b = empty ? &s->empty : &s->full;
  const uint64_t bit = 1ull << (2 * a->wait_stage + (uint32_t)empty);
  const size_t used = strlen(text);
  if (*named & bit) return;
  *named |= bit;
  snprintf(text + used, size - used,
           "; %s of stage %u for parity %u: %u phases have ended, %u arrivals and %d bytes pending", wait_name(a->wait),
           a->wait_stage, a->wait_parity, b->phase, b->pending, b->tx);
}

void tmaring__ring_deadlock(tmaring__env *env)
{
  char text[240] = "";
  uint64_t named = 0;
  uint32_t stage = 0, fill = 0;
  for (int32_t i = env->ring->actors - 1; i >= 0; --i) {
    const tmaring__actor *a = tmaring__at_actor(env->ring, env->state, i);
    if (a->finished) continue;
    env->actor = i;
    stage = a->wait_stage;
    fill = a->wait == TMARING__WAIT_EMPTY ? a->freed + 1 : tmaring__next_fill(env);
    if (a->wait == TMARING__WAIT_FULL || a->wait == TMARING__WAIT_EMPTY) add_wait(env, a, &named, text, sizeof text);
  }
  tmaring__ring_fault(env, TMARING__FAULT_DEADLOCK, wait_name(tmaring__env_actor(env)->wait), stage, fill,
                      "no role can move and no copy is in flight%s", text);
}

static void end_of_stage(tmaring__env *e, uint32_t stage)
{
  const tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  if (s->copies > 0) {
    tmaring__ring_fault(e, TMARING__FAULT_LEAVE, "end", stage, e->state->issued, "%u loads are still in flight",
                        s->copies);
  }
  if (s->reading > 0) {
    tmaring__ring_fault(e, TMARING__FAULT_LEAVE, "end", stage, e->state->issued,
                        "a bulk store may still read this stage; wait_group.read 0 must come first");
  }
}

/* Of the first `fills` fills, those of the actor's squad. */
static uint32_t own_fills(const tmaring__env *e, uint32_t fills)
{
  const uint32_t turn = e->ring->turn, round = turn * (uint32_t)e->ring->squads;
  const uint32_t rest = fills % round, before = turn * (uint32_t)tmaring__env_squad(e);
  const uint32_t own = rest > before ? rest - before : 0;
  return fills / round * turn + (own < turn ? own : turn);
}

static void end_of_actor(tmaring__env *e)
{
  const tmaring__actor *a = tmaring__env_actor(e);
  const uint32_t stage = a->fills ? tmaring__ring_stage_of(e->ring, a->fills) : 0;
  if (e->actor >= e->ring->warps) return;
  tmaring__role_close_fill(e);
  const uint32_t due = own_fills(e, (uint32_t)fills_due(e)), done = own_fills(e, a->fills) - a->ended;
  if (done != due) {
    tmaring__ring_fault(e, TMARING__FAULT_COVERAGE, "end", stage, a->fills, "handled %u fills, the walk has %u", done,
                        due);
  }
  if (tmaring__ring_storer(e->ring, e->actor) && (a->commits != done || a->stored > 0)) {
    tmaring__ring_fault(e, TMARING__FAULT_COVERAGE, "end", stage, a->fills,
                        "closed %u groups of stores for %u fills, %llu bytes in no group", a->commits, done,
                        (unsigned long long)a->stored);
  }
}

void tmaring__team_close(tmaring__team *team, int32_t rank)
{
  tmaring__env *e = &team->env[rank];
  if ((team->cluster.ended >> rank & 1u) || !tmaring__env_finished(e)) return;
  for (int32_t i = 0; i < e->ring->stages; ++i) end_of_stage(e, (uint32_t)i);
  for (int32_t i = 0; i < e->ring->actors; ++i) {
    e->actor = i;
    end_of_actor(e);
  }
  if (e->ring->code->cluster) tmaring__role_leave(e);
  if (e->ring->code->multicast) tmaring__role_leave_vectors(e);
  team->cluster.ended |= 1u << rank;
}

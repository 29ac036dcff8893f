/* Computation and tickets of the ring model: who may read what, who wrote what, and whether all of it was done. */
#include "ring_roles.h"

static int same_fill(const tmaring_fill *a, const tmaring_fill *b)
{
  return a->row == b->row && a->rows == b->rows && a->col == b->col && a->cols == b->cols && a->pass == b->pass &&
         a->first_piece == b->first_piece && a->last_piece == b->last_piece && a->valid == b->valid;
}

/* The role's fill must be the walk's: checked once per warp and fill. */
static int check_walk(tmaring__env *e, const tmaring_fill *fill, uint32_t stage)
{
  const tmaring__actor *a = tmaring__env_actor(e);
  if (a->known && same_fill(fill, &a->fill)) return 1;
  tmaring__ring_fault(e, TMARING__FAULT_WALK, "accumulate", stage, a->fills,
                      "got row %lld, column %d, pass %d, valid %d", (long long)fill->row, fill->col, fill->pass,
                      fill->valid);
  return 0;
}

static int check_slot(tmaring__env *e, uint32_t stage, uint32_t number, int32_t slot)
{
  const tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  const tmaring__mark *m = tmaring__at_mark(e->ring, e->state, stage, e->actor);
  const uint32_t phases = (number - 1) / (uint32_t)e->ring->stages + 1;
  const int edges = s->edge_fill != number || s->edge_epoch <= tmaring__env_clock(e)[e->ring->issuer];
  if (s->tag[slot] == number && s->flying[slot] == 0 && m->phases >= phases && edges) return 1;
  tmaring__ring_fault(e, TMARING__FAULT_READ_EARLY, "accumulate", stage, number,
                      "slot %d holds fill %lld%s; this warp has seen %u phases of the full barrier end, needs %u", slot,
                      (long long)s->tag[slot] - 1, s->flying[slot] ? ", in flight" : "", m->phases, phases);
  return 0;
}

void tmaring__role_accumulate(tmaring__env *e, const tmaring_fill *fill, uint32_t stage, int32_t iteration,
                              int32_t pass)
{
  tmaring__actor *a = tmaring__env_actor(e);
  tmaring__mark *m = tmaring__at_mark(e->ring, e->state, stage, e->actor);
  if (!tmaring__role_stage(e, "accumulate", stage, a->fills)) return;
  if (a->passes == 0 && !check_walk(e, fill, stage)) return;
  for (int32_t i = 0; i < e->ring->args->input_count; ++i) {
    if (!check_slot(e, stage, a->fills, i)) return;
  }
  if (m->done_fill >= a->fills) {
    tmaring__ring_fault(e, TMARING__FAULT_READ_LATE, "accumulate", stage, a->fills, "this warp has released the stage");
    return;
  }
  a->passes += 1;
  if (tmaring__ring_staged(e->ring) && pass == e->ring->program->passes - 1) {
    m->dirty |= e->ring->output_slots;
    m->wrote_fill = a->fills;
    m->wrote_epoch = tmaring__env_clock(e)[e->actor];
  }
  if (e->ring->data) e->ring->data->accumulate(e->ring->self, e->actor, fill, stage, iteration, pass);
}

static int unit_first(const tmaring__env *e)
{
  const int32_t per_row = e->ring->args->scope.warps_per_row;
  return e->actor / per_row * per_row;
}

static void scratch_fault(tmaring__env *e, const char *primitive, int32_t warp, const char *what)
{
  const uint32_t fill = tmaring__env_actor(e)->fills;
  tmaring__ring_fault(e, TMARING__FAULT_SCRATCH, primitive, tmaring__ring_stage_of(e->ring, fill), fill,
                      "%s of warp %d", what, warp);
}

void tmaring__role_partial(tmaring__env *e, int32_t pass)
{
  tmaring__actor *a = tmaring__env_actor(e);
  const uint32_t buffer = a->rounds & 1u;
  const uint32_t *clock = tmaring__env_clock(e);
  tmaring__scratch_mark *mine = tmaring__at_scratch(e->ring, e->state, buffer, e->actor);
  const int32_t first = unit_first(e);
  for (int32_t w = first; w < first + e->ring->args->scope.warps_per_row; ++w) {
    if (tmaring__at_scratch(e->ring, e->state, buffer, w)->read_epoch <= clock[w]) continue;
    scratch_fault(e, "partial", w, "overwrites what may still be read; no barrier follows the read");
    return;
  }
  a->rounds += 1;
  mine->round = a->rounds;
  mine->wrote_epoch = clock[e->actor];
  if (e->ring->data) e->ring->data->partial(e->ring->self, e->actor, buffer, pass);
}

static int partials_there(tmaring__env *e, uint32_t buffer, uint32_t round)
{
  const uint32_t *clock = tmaring__env_clock(e);
  const int32_t first = unit_first(e);
  for (int32_t w = first; w < first + e->ring->args->scope.warps_per_row; ++w) {
    const tmaring__scratch_mark *m = tmaring__at_scratch(e->ring, e->state, buffer, w);
    if (m->round == round && m->wrote_epoch <= clock[w]) continue;
    scratch_fault(e, "finish", w,
                  m->round == round ? "no barrier follows the write" : "reads another row's or pass's result");
    return 0;
  }
  return 1;
}

void tmaring__role_finish(tmaring__env *e, const tmaring_fill *fill, int32_t iteration, int32_t pass)
{
  const uint32_t round = tmaring__env_actor(e)->rounds, buffer = (round - 1) & 1u;
  if (e->ring->code->group) {
    if (!partials_there(e, buffer, round)) return;
    tmaring__at_scratch(e->ring, e->state, buffer, e->actor)->read_epoch = tmaring__env_clock(e)[e->actor];
  }
  if (e->ring->data) e->ring->data->finish(e->ring->self, e->actor, buffer, fill, iteration, pass);
}

void tmaring__role_row_store(tmaring__env *e, const tmaring_fill *fill, int32_t iteration)
{
  tmaring__actor *a = tmaring__env_actor(e);
  if (!fill->valid) {
    tmaring__ring_fault(e, TMARING__FAULT_COVERAGE, "row store", tmaring__ring_stage_of(e->ring, a->fills), a->fills,
                        "a surplus fill is never stored");
    return;
  }
  a->row_stores += 1;
  if (e->ring->data) e->ring->data->row_store(e->ring->self, e->actor, fill, iteration);
}

/* With the bitmap over all workers: a tile's last piece in the last pass covers it. */
static void cover(tmaring__env *e, const tmaring_fill *fill, uint32_t number, int64_t tile)
{
  uint64_t *word = e->ring->covered ? &e->ring->covered[tile / 64] : NULL;
  const uint64_t bit = 1ull << (tile % 64);
  if (!word || !fill->valid || e->actor != 0) return;
  if (!fill->last_piece || (e->ring->code->pieces && fill->pass != e->ring->program->passes - 1)) return;
  if (*word & bit) {
    tmaring__ring_fault(e, TMARING__FAULT_COVERAGE, "store", tmaring__ring_stage_of(e->ring, number), number,
                        "tile %lld is stored a second time", (long long)tile);
  }
  *word |= bit;
}

void tmaring__role_close_fill(tmaring__env *e)
{
  const tmaring__ring *r = e->ring;
  const tmaring__actor *a = tmaring__env_actor(e);
  const tmaring_fill *fill = &a->fill;
  const int32_t passes = r->program->passes;
  int32_t first, last, iterations, ends;
  if (a->fills == 0 || !a->known) return;
  tmaring_scope_unit_rows(&r->args->scope, e->actor / r->args->scope.warps_per_row, fill->rows, &first, &last);
  iterations = tmaring_scope_iterations(&r->args->scope, last - first);
  ends = fill->valid && fill->last_piece && (!r->code->pieces || fill->pass == passes - 1);
  if (a->passes != (uint32_t)(iterations * (r->code->pieces ? 1 : passes)) ||
      a->row_stores != (uint32_t)(ends ? iterations : 0)) {
    tmaring__ring_fault(e, TMARING__FAULT_COVERAGE, "end of fill", tmaring__ring_stage_of(e->ring, a->fills), a->fills,
                        "computed %u passes and stored %u times for %d iterations of %d passes", a->passes,
                        a->row_stores, iterations, passes);
  }
  cover(e, fill, a->fills, a->tile);
}

void tmaring__role_ticket_put(tmaring__env *e, uint32_t stage, int64_t tile)
{
  tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  const uint32_t fill = e->state->issued + 1, stages = (uint32_t)e->ring->stages;
  const tmaring__stage_state *before = fill > 1 ? tmaring__at_stage(e->ring, e->state, (fill - 2) % stages) : NULL;
  if (!tmaring__role_stage(e, "ticket put", stage, fill)) return;
  if (!tmaring__role_reusable(e, TMARING__FAULT_TICKET, "ticket put", stage, fill)) return;
  /* with one stage, `before` is this one: its part is read before it is replaced */
  s->ticket_part = before && before->ticket_tile == tile ? before->ticket_part + 1 : 0;
  s->ticket_fill = fill;
  s->ticket_tile = tile;
  s->ticket_epoch = tmaring__env_clock(e)[e->actor];
  if (tile == TMARING_TICKET_END) e->state->ended = 1;
}

void tmaring__role_ticket_get(tmaring__env *e, uint32_t stage, tmaring_i64 *tile)
{
  const tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  tmaring__actor *a = tmaring__env_actor(e);
  *tile = TMARING_TICKET_END;
  if (!tmaring__role_stage(e, "ticket get", stage, a->fills)) return;
  if (s->ticket_fill != a->fills || s->ticket_epoch > tmaring__env_clock(e)[e->ring->issuer]) {
    tmaring__ring_fault(e, TMARING__FAULT_TICKET, "ticket get", stage, a->fills,
                        "the stage holds the ticket of fill %lld", (long long)s->ticket_fill - 1);
    return;
  }
  *tile = s->ticket_tile;
  if (*tile == TMARING_TICKET_END) a->fills -= 1; /* the end mark is no fill */
}

void tmaring__role_ticket_claim(tmaring__env *e, tmaring_i64 *tile)
{
  uint32_t ticket;
  tmaring__env_spend(e);
  if (e->ring->data) {
    ticket = e->ring->data->claim(e->ring->self);
  } else {
    e->chose = 1;
    ticket = e->state->tickets + e->choice;
    e->state->tickets = ticket + 1;
  }
  *tile = tmaring_min_i64((tmaring_i64)e->ring->walk.workers + ticket, e->ring->walk.tiles);
}

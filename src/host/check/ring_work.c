/* Computation and tickets of the ring model: who may read what, who wrote what, and whether all of it was done. */
#include "ring_roles.h"

static int same_fill(const tmaring_fill *a, const tmaring_fill *b)
{
  return a->row == b->row && a->rows == b->rows && a->col == b->col && a->cols == b->cols && a->pass == b->pass &&
         a->first_piece == b->first_piece && a->last_piece == b->last_piece && a->valid == b->valid &&
         a->first_fill == b->first_fill && a->last_fill == b->last_fill && a->chunk == b->chunk;
}

/* The role's fill must be the walk's: checked once per warp and fill. */
static int check_walk(tmaring__env *e, const char *primitive, const tmaring_fill *fill, uint32_t stage)
{
  const tmaring__actor *a = tmaring__env_actor(e);
  if (a->known && same_fill(fill, &a->fill)) return 1;
  tmaring__ring_fault(e, TMARING__FAULT_WALK, primitive, stage, a->fills,
                      "got row %lld, column %d, pass %d, valid %d, chunk %lld%s%s", (long long)fill->row, fill->col,
                      fill->pass, fill->valid, (long long)fill->chunk, fill->first_fill ? ", first" : "",
                      fill->last_fill ? ", last" : "");
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

static int has_columns(const tmaring__ring *r)
{
  return r->program->column_output_count > 0;
}

static void columns_fault(tmaring__env *e, const char *primitive, const char *what)
{
  const uint32_t fill = tmaring__env_actor(e)->fills;
  tmaring__ring_fault(e, TMARING__FAULT_COLUMNS, primitive, tmaring__ring_stage_of(e->ring, fill), fill, "%s", what);
}

void tmaring__role_accumulate(tmaring__env *e, const tmaring_fill *fill, uint32_t stage, int32_t iteration,
                              int32_t pass)
{
  tmaring__actor *a = tmaring__env_actor(e);
  tmaring__mark *m = tmaring__at_mark(e->ring, e->state, stage, e->actor);
  if (!tmaring__role_stage(e, "accumulate", stage, a->fills)) return;
  if (a->passes == 0 && !check_walk(e, "accumulate", fill, stage)) return;
  if (!tmaring__role_has_vectors(e)) return;
  for (int32_t i = 0; i < e->ring->args->input_count; ++i) {
    if (e->ring->args->input[i].path == TMARING_LOAD_DIRECT) continue; /* read where it lies */
    if (!check_slot(e, stage, a->fills, i)) return;
  }
  if (m->done_fill >= a->fills) {
    tmaring__ring_fault(e, TMARING__FAULT_READ_LATE, "accumulate", stage, a->fills, "this warp has released the stage");
    return;
  }
  if (has_columns(e->ring) && fill->valid && pass == e->ring->program->passes - 1 &&
      a->columns != TMARING__COLUMNS_BEGUN) {
    columns_fault(e, "accumulate", "adds to accumulators that were not begun in this tile, or have ended");
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

static void scratch_fault(tmaring__env *e, const char *primitive, const tmaring__env *whose, int32_t warp,
                          const char *what)
{
  const uint32_t fill = tmaring__env_actor(e)->fills;
  tmaring__ring_fault(e, TMARING__FAULT_SCRATCH, primitive, tmaring__ring_stage_of(e->ring, fill), fill,
                      "%s of warp %d of rank %d", what, warp, whose->ring->walk.rank);
}

static void peer_fault(tmaring__env *e, const char *primitive, int32_t rank, const char *what)
{
  const uint32_t fill = tmaring__env_actor(e)->fills;
  tmaring__ring_fault(e, TMARING__FAULT_PEER, primitive, fill ? tmaring__ring_stage_of(e->ring, fill) : 0, fill,
                      "rank %d %s", rank, what);
}

/* What the actor does now, and whether it knows of what warp w did: by its clock, or in a cluster by the phases of the
 * barrier, which takes everybody. */
static uint32_t epoch_now(const tmaring__env *e)
{
  return e->ring->code->cluster ? tmaring__env_actor(e)->meets + 1 : tmaring__env_clock(e)[e->actor];
}

static int is_known(const tmaring__env *e, int32_t w, uint32_t epoch)
{
  return epoch <= (e->ring->code->cluster ? tmaring__env_actor(e)->meets : tmaring__env_clock(e)[w]);
}

void tmaring__role_partial(tmaring__env *e, int32_t pass)
{
  tmaring__actor *a = tmaring__env_actor(e);
  const uint32_t buffer = a->rounds & 1u;
  tmaring__scratch_mark *mine = tmaring__at_scratch(e->ring, e->state, buffer, e->actor);
  const int32_t first = unit_first(e);
  if (!tmaring__role_words_free(e, "partial", 0, a->fills, e->ring->args->smem.scratch,
                                16ull * TMARING_MAX_REDUCTIONS * (uint64_t)e->ring->warps))
    return;
  for (int32_t r = 0; r < tmaring__env_ctas(e); ++r) {
    const tmaring__env *reader = tmaring__env_peer(e, r);
    for (int32_t w = first; w < first + e->ring->args->scope.warps_per_row; ++w) {
      if (is_known(e, w, tmaring__at_scratch(reader->ring, reader->state, buffer, w)->read_epoch)) continue;
      scratch_fault(e, "partial", reader, w, "overwrites what may still be read; no barrier follows the read");
      return;
    }
  }
  a->rounds += 1;
  mine->round = a->rounds;
  mine->wrote_epoch = epoch_now(e);
  if (e->ring->data) e->ring->data->partial(e->ring->self, e->actor, buffer, pass);
}

/* The partial results of one CTA's warps. */
static int partials_there(tmaring__env *e, const tmaring__env *writer, uint32_t buffer, uint32_t round)
{
  const int32_t first = unit_first(e);
  for (int32_t w = first; w < first + e->ring->args->scope.warps_per_row; ++w) {
    const tmaring__scratch_mark *m = tmaring__at_scratch(writer->ring, writer->state, buffer, w);
    if (m->round == round && is_known(e, w, m->wrote_epoch)) continue;
    scratch_fault(e, "finish", writer, w,
                  m->round == round ? "no barrier follows the write" : "reads another row's or pass's result");
    return 0;
  }
  return 1;
}

static int all_partials_there(tmaring__env *e, uint32_t buffer, uint32_t round)
{
  for (int32_t r = 0; r < tmaring__env_ctas(e); ++r) {
    const tmaring__env *writer = tmaring__env_peer(e, r);
    if (e->ring->code->cluster && (e->ring->cluster->ended >> r & 1u)) {
      peer_fault(e, "finish", r, "has ended, and its shared memory with it; a barrier of the cluster must come first");
      return 0;
    }
    if (!partials_there(e, writer, buffer, round)) return 0;
  }
  return 1;
}

void tmaring__role_finish(tmaring__env *e, const tmaring_fill *fill, int32_t iteration, int32_t pass)
{
  const uint32_t round = tmaring__env_actor(e)->rounds, buffer = (round - 1) & 1u;
  if (e->ring->code->group) {
    if (!all_partials_there(e, buffer, round)) return;
    tmaring__at_scratch(e->ring, e->state, buffer, e->actor)->read_epoch = epoch_now(e);
  }
  if (e->ring->data) e->ring->data->finish(e->ring->self, e->actor, buffer, fill, iteration, pass);
}

void tmaring__role_leave(tmaring__env *e)
{
  const int32_t rank = e->ring->walk.rank;
  for (int32_t r = 0; r < tmaring__env_ctas(e); ++r) {
    const tmaring__env *reader = tmaring__env_peer(e, r);
    for (int32_t w = 0; r != rank && e->ring->code->group && w < reader->ring->warps; ++w) {
      for (uint32_t buffer = 0; buffer < 2; ++buffer) {
        if (is_known(e, w, tmaring__at_scratch(reader->ring, reader->state, buffer, w)->read_epoch)) continue;
        peer_fault(e, "end", r, "may still read this CTA's partial results; a barrier of the cluster must come first");
      }
    }
  }
}

/* A warp's accumulators are its own: what can go wrong is that they are not begun, or not ended, once in each tile. */
void tmaring__role_columns(tmaring__env *e, const tmaring_fill *fill, int end)
{
  tmaring__actor *a = tmaring__env_actor(e);
  const char *primitive = end ? "columns end" : "columns begin";
  if (!check_walk(e, primitive, fill, tmaring__ring_stage_of(e->ring, a->fills))) return;
  if (!fill->valid || !(end ? fill->last_fill : fill->first_fill)) {
    columns_fault(e, primitive, fill->valid ? "belongs to another fill of the tile" : "a surplus fill has none");
    return;
  }
  if (a->columns != (end ? TMARING__COLUMNS_BEGUN : TMARING__COLUMNS_NONE)) {
    columns_fault(e, primitive, a->columns == TMARING__COLUMNS_NONE ? "they were not begun" : "for a second time");
    return;
  }
  a->columns = end ? TMARING__COLUMNS_ENDED : TMARING__COLUMNS_BEGUN;
  if (e->ring->data) e->ring->data->columns(e->ring->self, e->actor, fill, end);
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

/* With the bitmap over all workers: a tile's last fill covers it, or this CTA's slice of it. */
static void cover(tmaring__env *e, const tmaring_fill *fill, uint32_t number, int64_t tile)
{
  const int64_t at = tile * tmaring__env_ctas(e) + e->ring->walk.rank;
  uint64_t *word = e->ring->covered ? &e->ring->covered[at / 64] : NULL;
  const uint64_t bit = 1ull << (at % 64);
  if (!word || !fill->valid || !fill->last_fill || tmaring__squad_warp(e->ring, e->actor) != 0) return;
  if (*word & bit) {
    tmaring__ring_fault(e, TMARING__FAULT_COVERAGE, "store", tmaring__ring_stage_of(e->ring, number), number,
                        "tile %lld is stored a second time", (long long)tile);
  }
  *word |= bit;
}

/* A tile's last fill leaves the accumulators ended; the next tile finds none. */
static void close_columns(tmaring__env *e, tmaring__actor *a)
{
  if (!has_columns(e->ring) || !a->fill.valid || !a->fill.last_fill) return;
  if (a->columns != TMARING__COLUMNS_ENDED) {
    columns_fault(e, "end of tile",
                  a->columns == TMARING__COLUMNS_BEGUN ? "they were begun and not ended" : "they were not begun");
  }
  a->columns = TMARING__COLUMNS_NONE;
}

void tmaring__role_close_fill(tmaring__env *e)
{
  const tmaring__ring *r = e->ring;
  tmaring__actor *a = tmaring__env_actor(e);
  const tmaring_fill *fill = &a->fill;
  const int32_t passes = r->program->passes;
  int32_t first, last, iterations, ends;
  if (a->fills == 0 || !a->known) return;
  tmaring_scope_unit_rows(&r->args->scope, tmaring__squad_warp(r, e->actor) / r->args->scope.warps_per_row, fill->rows,
                          &first, &last);
  iterations = fill->rows > 0 ? tmaring_scope_iterations(&r->args->scope, last - first) : 0;
  ends = fill->valid && fill->last_piece && (!r->code->pieces || fill->pass == passes - 1) && r->walk.rank == 0;
  if (a->passes != (uint32_t)(iterations * (r->code->pieces ? 1 : passes)) ||
      a->row_stores != (uint32_t)(ends ? iterations : 0)) {
    tmaring__ring_fault(e, TMARING__FAULT_COVERAGE, "end of fill", tmaring__ring_stage_of(e->ring, a->fills), a->fills,
                        "computed %u passes and stored %u times for %d iterations of %d passes", a->passes,
                        a->row_stores, iterations, passes);
  }
  close_columns(e, a);
  cover(e, fill, a->fills, a->tile);
}

void tmaring__role_ticket_put(tmaring__env *e, uint32_t stage, int64_t tile)
{
  tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  const uint32_t fill = e->state->issued + 1, stages = (uint32_t)e->ring->stages;
  const tmaring__stage_state *before = fill > 1 ? tmaring__at_stage(e->ring, e->state, (fill - 2) % stages) : NULL;
  if (!tmaring__role_stage(e, "ticket put", stage, fill)) return;
  if (!tmaring__role_reusable(e, TMARING__FAULT_TICKET, "ticket put", stage, fill)) return;
  if (!tmaring__role_words_free(e, "ticket put", stage, fill, e->ring->args->smem.tickets + 8 * stage, 8)) return;
  /* with one stage, `before` is this one: its part is read before it is replaced */
  s->ticket_part = before && before->ticket_tile == tile ? before->ticket_part + 1 : 0;
  s->ticket_fill = fill;
  s->ticket_tile = tile;
  s->ticket_epoch = tmaring__env_clock(e)[e->actor];
  e->state->ended += tile <= TMARING_TICKET_END;
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
  a->ended = *tile <= TMARING_TICKET_END; /* an end mark is no fill */
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

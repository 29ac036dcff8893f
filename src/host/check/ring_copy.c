/* Loads of the ring model. */
#include "ring_piece.h"

int tmaring__role_reusable(tmaring__env *e, tmaring__fault_kind kind, const char *primitive, uint32_t stage,
                           uint32_t fill)
{
  const uint32_t stages = (uint32_t)e->ring->stages;
  const uint32_t *clock = tmaring__env_clock(e);
  if (fill <= stages) return 1;
  const int32_t first = tmaring__squad_of_fill(e->ring, fill - stages) * e->ring->squad_warps;
  for (int32_t w = first; w < first + e->ring->squad_warps; ++w) {
    const tmaring__mark *m = tmaring__at_mark(e->ring, e->state, stage, w);
    if (m->done_fill == fill - stages && m->done_epoch <= clock[w]) continue;
    tmaring__ring_fault(e, kind, primitive, stage, fill, "warp %d %s fill %u, which lies there", w,
                        m->done_fill == fill - stages ? "is not known to be through with" : "has not released",
                        fill - stages - 1);
    return 0;
  }
  return 1;
}

/* Bulk stores that read the stage must be known to be over. */
static int stores_over(tmaring__env *e, const tmaring__piece *p)
{
  const uint32_t *clock = tmaring__env_clock(e);
  int known = tmaring__at_stage(e->ring, e->state, p->stage)->reading == 0;
  for (int32_t a = 0; known && a < e->ring->warps; ++a) {
    known = tmaring__at_mark(e->ring, e->state, p->stage, a)->read_epoch <= clock[a];
  }
  if (!known) {
    tmaring__ring_fault(
        e, TMARING__FAULT_REFILL_STORE, p->primitive, p->stage, p->fill,
        "a bulk store of an earlier fill is not known to have read the stage; wait_group.read must come first");
  }
  return known;
}

/* The copy engine may not write over what ordinary writes have left unfenced. */
static int fenced(tmaring__env *e, const tmaring__piece *p, int32_t slot)
{
  for (int32_t a = 0; a < e->ring->actors; ++a) {
    if ((tmaring__at_mark(e->ring, e->state, p->stage, a)->dirty >> slot & 1u) == 0) continue;
    tmaring__ring_fault(e, TMARING__FAULT_REFILL_FENCE, p->primitive, p->stage, p->fill,
                        "role %d wrote slot %d by ordinary stores without fence.proxy.async", a, slot);
    return 0;
  }
  return 1;
}

int tmaring__role_refillable(tmaring__env *e, const char *primitive, uint32_t stage, uint32_t fill)
{
  const tmaring__piece p = {primitive, NULL, stage, fill, 0, 0, 0};
  return tmaring__role_reusable(e, TMARING__FAULT_REFILL, primitive, stage, fill) && stores_over(e, &p);
}

/* First touch of a slot by a fill: everything of the fill before must be over. */
static int open_slot(tmaring__env *e, const tmaring__piece *p, int32_t slot)
{
  tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, p->stage);
  if (s->tag[slot] == p->fill) return 1;
  if (s->flying[slot] > 0) {
    tmaring__ring_fault(e, TMARING__FAULT_REFILL, p->primitive, p->stage, p->fill, "fill %u is still in flight",
                        s->tag[slot] - 1);
    return 0;
  }
  if (!tmaring__role_refillable(e, p->primitive, p->stage, p->fill)) return 0;
  if (!tmaring__role_words_free(e, p->primitive, p->stage, p->fill, tmaring__piece_slot(e->ring, p),
                                p->stream->slot_bytes))
    return 0;
  s->tag[slot] = p->fill;
  if (e->ring->data) e->ring->data->poison(e->ring->self, tmaring__piece_slot(e->ring, p), p->stream->slot_bytes);
  return 1;
}

static void fly(tmaring__env *e, const tmaring__piece *p, int32_t slot)
{
  tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, p->stage);
  tmaring__copy *copy = tmaring__at_copy(e->ring, e->state, p->stage, s->copies);
  if (s->full.phase != (p->fill - 1) / (uint32_t)e->ring->stages) {
    tmaring__ring_fault(
        e, TMARING__FAULT_TX, p->primitive, p->stage, p->fill,
        "phase %u of the full barrier has ended before its copy was issued; more bytes must be expected",
        s->full.phase - 1);
    return;
  }
  if (s->copies == e->ring->copies_per_stage) {
    tmaring__ring_fault(e, TMARING__FAULT_REFILL, p->primitive, p->stage, p->fill, "more copies than a fill has runs");
    return;
  }
  copy->address = p->address;
  copy->offset = tmaring__piece_shared(e->ring, p);
  copy->bytes = p->bytes;
  copy->slot = (uint32_t)slot;
  copy->fill = p->fill;
  s->flying[slot] += 1;
  s->copies += 1;
}

void tmaring__role_load(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                        uint32_t bytes)
{
  const uint32_t fill = e->state->issued; /* expected just before */
  const tmaring__piece p = {"load", &e->ring->args->input[tensor], stage, fill, offset, bytes, address};
  e->copies += 1;
  if (!tmaring__role_stage(e, p.primitive, stage, fill) || !tmaring__piece_inside(e, &p) ||
      !tmaring__piece_aligned(e, &p))
    return;
  if (!open_slot(e, &p, tensor) || !fenced(e, &p, tensor)) return;
  fly(e, &p, tensor);
}

void tmaring__role_load_tile(tmaring__env *e, int32_t tensor, uint32_t stage, const tmaring_fill *fill, int32_t i)
{
  const tmaring_stream *s = &e->ring->args->input[tensor];
  const tmaring_tile *tile = &e->ring->boxes->tile[tensor];
  const uint32_t number = e->state->issued, offset = tmaring_tile_offset(tile, s->slot_row, i);
  const tmaring__piece p = {"load tile", s, stage, number, offset, tile->box_bytes, (uint64_t)i};
  e->copies += 1;
  if (!tmaring__role_stage(e, p.primitive, stage, number) || !tmaring__piece_box(e, &p, tensor, fill, i)) return;
  if (!open_slot(e, &p, tensor) || !fenced(e, &p, tensor)) return;
  fly(e, &p, tensor);
}

/* Ordinary accesses to shared memory, though under way like copies: no fence is asked for. */
void tmaring__role_load_async(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                              uint32_t bytes)
{
  const uint32_t fill = e->state->issued;
  const tmaring__piece p = {"load async", &e->ring->args->input[tensor], stage, fill, offset, bytes, address};
  e->copies += 1;
  if (!tmaring__role_stage(e, p.primitive, stage, fill) || !tmaring__piece_inside(e, &p)) return;
  if ((p.address | tmaring__piece_shared(e->ring, &p) | bytes) % TMARING_ASYNC != 0 || bytes == 0 ||
      (p.address ^ tmaring__piece_shared(e->ring, &p)) % TMARING_BULK != 0) {
    tmaring__ring_fault(e, TMARING__FAULT_ALIGNMENT, p.primitive, stage, fill,
                        "address %llu, shared offset %u, size %u; needs multiples of 4, and one place modulo 16",
                        (unsigned long long)address, tmaring__piece_shared(e->ring, &p), bytes);
    return;
  }
  if (open_slot(e, &p, tensor)) fly(e, &p, tensor);
}

void tmaring__role_load_ordinary(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                                 uint32_t bytes)
{
  const uint32_t fill = e->state->issued + 1; /* expected after its ordinary loads */
  const tmaring__piece p = {"load ordinary", &e->ring->args->input[tensor], stage, fill, offset, bytes, address};
  tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  if (bytes == 0) return;
  if (!tmaring__role_stage(e, p.primitive, stage, fill) || !tmaring__piece_inside(e, &p) || !open_slot(e, &p, tensor))
    return;
  tmaring__at_mark(e->ring, e->state, stage, e->actor)->dirty |= 1u << tensor;
  s->edge_fill = fill;
  s->edge_epoch = tmaring__env_clock(e)[e->actor];
  if (e->ring->data) e->ring->data->copy(e->ring->self, address, tmaring__piece_shared(e->ring, &p), bytes);
}

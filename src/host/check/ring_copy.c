/* Copies, stores and fences of the ring model. */
#include "box.h"
#include "ring_roles.h"

/* What a copy is made of, for the checks that all kinds share. */
typedef struct piece {
  const char *primitive;
  const tmaring_stream *stream;
  uint32_t stage, fill, offset, bytes;
  uint64_t address;
} piece;

static uint32_t slot_offset(const tmaring__ring *r, const piece *p)
{
  return r->args->smem.stages + p->stage * r->args->smem.stage_bytes + p->stream->slot;
}

static uint32_t shared_offset(const tmaring__ring *r, const piece *p)
{
  return slot_offset(r, p) + p->offset;
}

static int in_slot(tmaring__env *e, const piece *p)
{
  if ((uint64_t)p->offset + p->bytes <= p->stream->slot_bytes) return 1;
  tmaring__ring_fault(e, TMARING__FAULT_SLOT, p->primitive, p->stage, p->fill, "bytes [%u, %u) of a slot of %u",
                      p->offset, p->offset + p->bytes, p->stream->slot_bytes);
  return 0;
}

static int inside(tmaring__env *e, const piece *p)
{
  const tmaring_stream *s = p->stream;
  if (p->address < s->base || p->address + p->bytes > s->hull_end) {
    tmaring__ring_fault(e, TMARING__FAULT_HULL, p->primitive, p->stage, p->fill,
                        "bytes [%lld, %lld) of a tensor of %lld; the walk must stay inside",
                        (long long)(p->address - s->base), (long long)(p->address - s->base + p->bytes),
                        (long long)(s->hull_end - s->base));
    return 0;
  }
  return in_slot(e, p);
}

static int aligned(tmaring__env *e, const piece *p)
{
  const uint32_t offset = shared_offset(e->ring, p);
  if ((p->address | offset | p->bytes) % TMARING_BULK == 0 && p->bytes > 0) return 1;
  tmaring__ring_fault(
      e, TMARING__FAULT_ALIGNMENT, p->primitive, p->stage, p->fill,
      "address %llu, shared offset %u, size %u modulo 16: %u, %u, %u; all must be 0, and the size above it",
      (unsigned long long)p->address, offset, p->bytes, (unsigned)(p->address % TMARING_BULK), offset % TMARING_BULK,
      p->bytes % TMARING_BULK);
  return 0;
}

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
static int stores_over(tmaring__env *e, const piece *p)
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
static int fenced(tmaring__env *e, const piece *p, int32_t slot)
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
  const piece p = {primitive, NULL, stage, fill, 0, 0, 0};
  return tmaring__role_reusable(e, TMARING__FAULT_REFILL, primitive, stage, fill) && stores_over(e, &p);
}

/* First touch of a slot by a fill: everything of the fill before must be over. */
static int open_slot(tmaring__env *e, const piece *p, int32_t slot)
{
  tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, p->stage);
  if (s->tag[slot] == p->fill) return 1;
  if (s->flying[slot] > 0) {
    tmaring__ring_fault(e, TMARING__FAULT_REFILL, p->primitive, p->stage, p->fill, "fill %u is still in flight",
                        s->tag[slot] - 1);
    return 0;
  }
  if (!tmaring__role_refillable(e, p->primitive, p->stage, p->fill)) return 0;
  if (!tmaring__role_words_free(e, p->primitive, p->stage, p->fill, slot_offset(e->ring, p), p->stream->slot_bytes))
    return 0;
  s->tag[slot] = p->fill;
  if (e->ring->data) e->ring->data->poison(e->ring->self, slot_offset(e->ring, p), p->stream->slot_bytes);
  return 1;
}

static void fly(tmaring__env *e, const piece *p, int32_t slot)
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
  copy->offset = shared_offset(e->ring, p);
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
  const piece p = {"load", &e->ring->args->input[tensor], stage, fill, offset, bytes, address};
  e->copies += 1;
  if (!tmaring__role_stage(e, p.primitive, stage, fill) || !inside(e, &p) || !aligned(e, &p)) return;
  if (!open_slot(e, &p, tensor) || !fenced(e, &p, tensor)) return;
  fly(e, &p, tensor);
}

/* The box of a tiled stream: of the walk's own fill, as large as its map has it, in its slot and aligned. */
static int check_box(tmaring__env *e, const piece *p, int32_t index, const tmaring_fill *fill, int32_t i)
{
  const tmaring_tile *tile = &e->ring->boxes->tile[index];
  const uint32_t whole = tmaring__box_bytes(&e->ring->boxes->map[index]);
  const uint32_t offset = shared_offset(e->ring, p);
  tmaring_fill due;
  int64_t raw;
  if (!tmaring__ring_fill(e, p->fill, &due, &raw) || due.row != fill->row || due.rows != fill->rows ||
      due.col != fill->col || due.cols != fill->cols) {
    tmaring__ring_fault(e, TMARING__FAULT_WALK, p->primitive, p->stage, p->fill, "got row %lld, column %d",
                        (long long)fill->row, fill->col);
    return 0;
  }
  if (i < 0 || i >= tmaring_tile_copies(tile, fill) || tile->box_bytes != whole || offset % TMARING__BOX_ALIGN != 0) {
    tmaring__ring_fault(e, TMARING__FAULT_BOX, p->primitive, p->stage, p->fill,
                        "copy %d of %d, of %u bytes at shared offset %u; its map has boxes of %u bytes, which go to "
                        "multiples of %u",
                        i, tmaring_tile_copies(tile, fill), tile->box_bytes, offset, whole, TMARING__BOX_ALIGN);
    return 0;
  }
  return in_slot(e, p);
}

void tmaring__role_load_tile(tmaring__env *e, int32_t tensor, uint32_t stage, const tmaring_fill *fill, int32_t i)
{
  const tmaring_stream *s = &e->ring->args->input[tensor];
  const tmaring_tile *tile = &e->ring->boxes->tile[tensor];
  const uint32_t number = e->state->issued, offset = tmaring_tile_offset(tile, s->slot_row, i);
  const piece p = {"load tile", s, stage, number, offset, tile->box_bytes, (uint64_t)i};
  e->copies += 1;
  if (!tmaring__role_stage(e, p.primitive, stage, number) || !check_box(e, &p, tensor, fill, i)) return;
  if (!open_slot(e, &p, tensor) || !fenced(e, &p, tensor)) return;
  fly(e, &p, tensor);
}

/* Ordinary accesses to shared memory, though under way like copies: no fence is asked for. */
void tmaring__role_load_async(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                              uint32_t bytes)
{
  const uint32_t fill = e->state->issued;
  const piece p = {"load async", &e->ring->args->input[tensor], stage, fill, offset, bytes, address};
  e->copies += 1;
  if (!tmaring__role_stage(e, p.primitive, stage, fill) || !inside(e, &p)) return;
  if ((p.address | shared_offset(e->ring, &p) | bytes) % TMARING_ASYNC != 0 || bytes == 0 ||
      (p.address ^ shared_offset(e->ring, &p)) % TMARING_BULK != 0) {
    tmaring__ring_fault(e, TMARING__FAULT_ALIGNMENT, p.primitive, stage, fill,
                        "address %llu, shared offset %u, size %u; needs multiples of 4, and one place modulo 16",
                        (unsigned long long)address, shared_offset(e->ring, &p), bytes);
    return;
  }
  if (open_slot(e, &p, tensor)) fly(e, &p, tensor);
}

void tmaring__role_load_ordinary(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                                 uint32_t bytes)
{
  const uint32_t fill = e->state->issued + 1; /* expected after its ordinary loads */
  const piece p = {"load ordinary", &e->ring->args->input[tensor], stage, fill, offset, bytes, address};
  tmaring__stage_state *s = tmaring__at_stage(e->ring, e->state, stage);
  if (bytes == 0) return;
  if (!tmaring__role_stage(e, p.primitive, stage, fill) || !inside(e, &p) || !open_slot(e, &p, tensor)) return;
  tmaring__at_mark(e->ring, e->state, stage, e->actor)->dirty |= 1u << tensor;
  s->edge_fill = fill;
  s->edge_epoch = tmaring__env_clock(e)[e->actor];
  if (e->ring->data) e->ring->data->copy(e->ring->self, address, shared_offset(e->ring, &p), bytes);
}

void tmaring__role_fence(tmaring__env *e)
{
  const uint32_t epoch = tmaring__env_clock(e)[e->actor];
  for (int32_t i = 0; i < e->ring->stages; ++i) {
    tmaring__mark *m = tmaring__at_mark(e->ring, e->state, (uint32_t)i, e->actor);
    if (m->dirty == 0) continue;
    m->dirty = 0;
    m->wrote_epoch = epoch;
  }
}

void tmaring__role_store_range(const tmaring__env *e, const tmaring_fill *fill, tmaring_store_frame *range)
{
  const tmaring__ring *r = e->ring;
  if (tmaring__ring_pipelined(r)) {
    tmaring_store_all(range, r->args, fill);
  } else {
    const int32_t warp = tmaring__squad_warp(r, e->actor);
    tmaring_store_unit(range, r->args, fill, warp / r->args->scope.warps_per_row, warp, !r->code->aligned);
  }
}

/* Has warp w anything of this fill to write? */
static int takes_part(const tmaring__env *e, const tmaring_fill *fill, int32_t w)
{
  const tmaring_args *a = e->ring->args;
  const int32_t warp = tmaring__squad_warp(e->ring, w);
  tmaring_store_frame part;
  tmaring_store_unit(&part, a, fill, warp / a->scope.warps_per_row, warp, !e->ring->code->aligned);
  return part.first < part.last;
}

/* Every warp whose results are stored must have written them, and the storing thread must know. */
static int written(tmaring__env *e, const piece *p, int bulk)
{
  const tmaring__ring *r = e->ring;
  const tmaring_fill *fill = &tmaring__env_actor(e)->fill;
  const uint32_t *clock = tmaring__env_clock(e);
  const int32_t per_row = r->args->scope.warps_per_row;
  const int32_t first = tmaring__ring_pipelined(r) ? 0 : e->actor / per_row * per_row;
  const int32_t last = tmaring__ring_pipelined(r) ? r->warps : first + per_row;
  for (int32_t w = first; w < last; ++w) {
    const tmaring__mark *m = tmaring__at_mark(r, e->state, p->stage, w);
    if (!takes_part(e, fill, w)) continue;
    if (m->wrote_fill != p->fill || m->wrote_epoch > clock[w]) {
      tmaring__ring_fault(e, TMARING__FAULT_STORE_EARLY, p->primitive, p->stage, p->fill, "warp %d %s", w,
                          m->wrote_fill != p->fill ? "has not written its part"
                                                   : "has written, but no barrier says so");
      return 0;
    }
    if (bulk && (m->dirty & r->output_slots)) {
      tmaring__ring_fault(e, TMARING__FAULT_STORE_FENCE, p->primitive, p->stage, p->fill,
                          "warp %d wrote without fence.proxy.async", w);
      return 0;
    }
  }
  return 1;
}

/* The fill of a store must be one whose results are stored, and still the actor's. */
static int storable(tmaring__env *e, const piece *p)
{
  const tmaring__ring *r = e->ring;
  const tmaring__actor *a = tmaring__env_actor(e);
  if (!tmaring__role_stage(e, p->primitive, p->stage, p->fill)) return 0;
  if (!a->known || !tmaring_fill_stores(&a->fill, r->code->pieces, r->program->passes)) {
    tmaring__ring_fault(e, TMARING__FAULT_COVERAGE, p->primitive, p->stage, p->fill,
                        "a surplus fill, or a pass before the last, is never stored");
    return 0;
  }
  if (!tmaring__ring_pipelined(r) && tmaring__at_mark(r, e->state, p->stage, e->actor)->done_fill >= p->fill) {
    tmaring__ring_fault(e, TMARING__FAULT_READ_LATE, p->primitive, p->stage, p->fill,
                        "the storing warp has released the stage");
    return 0;
  }
  return 1;
}

/* First store of the open group from a stage. */
static int open_group(tmaring__env *e, const piece *p)
{
  tmaring__actor *a = tmaring__env_actor(e);
  if (a->open >> p->stage & 1u) return 1;
  if (!storable(e, p) || !written(e, p, 1)) return 0;
  a->open |= 1u << p->stage;
  tmaring__at_stage(e->ring, e->state, p->stage)->reading += 1;
  return 1;
}

void tmaring__role_store(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                         uint32_t bytes)
{
  tmaring__actor *a = tmaring__env_actor(e);
  const piece p = {"store", &e->ring->args->output[tensor], stage, a->fills, offset, bytes, address};
  e->copies += 1;
  if (!inside(e, &p) || !aligned(e, &p)) return;
  if (!open_group(e, &p)) return;
  a->stored += bytes;
  if (e->ring->data) e->ring->data->store(e->ring->self, e->actor, address, shared_offset(e->ring, &p), bytes);
}

/* The hardware writes what lies inside the tensor: that is what counts. */
void tmaring__role_store_tile(tmaring__env *e, int32_t tensor, uint32_t stage, const tmaring_fill *fill, int32_t i)
{
  const tmaring_stream *s = &e->ring->args->output[tensor];
  const int32_t index = TMARING_TILED_OUTPUTS + tensor;
  const tmaring__boxes *boxes = e->ring->boxes;
  const tmaring_tile *tile = &boxes->tile[index];
  tmaring__actor *a = tmaring__env_actor(e);
  const piece p = {"store tile",    s,          stage, a->fills, tmaring_tile_offset(tile, s->slot_row, i),
                   tile->box_bytes, (uint64_t)i};
  int32_t at[TMARING_MAX_RANK];
  e->copies += 1;
  if (!tmaring__role_stage(e, p.primitive, stage, a->fills) || !check_box(e, &p, index, fill, i)) return;
  if (!open_group(e, &p)) return;
  tmaring_tile_coordinates(tile, tmaring__boxes_grid(boxes), fill, i, at);
  a->stored += tmaring__box_inside(&boxes->map[index], at);
  if (e->ring->data) e->ring->data->store_box(e->ring->self, e->actor, tensor, at, shared_offset(e->ring, &p));
}

void tmaring__role_store_edge(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                              uint32_t bytes)
{
  tmaring__actor *a = tmaring__env_actor(e);
  const piece p = {"store edge", &e->ring->args->output[tensor], stage, a->fills, offset, bytes, address};
  if (bytes == 0) return;
  if (!inside(e, &p) || !storable(e, &p) || !written(e, &p, 0)) return;
  a->stored += bytes;
  if (e->ring->data) e->ring->data->store_edge(e->ring->self, address, shared_offset(e->ring, &p), bytes);
}

static uint64_t bytes_due(const tmaring__env *e)
{
  const tmaring__actor *a = tmaring__env_actor(e);
  tmaring_store_frame range;
  const tmaring_grid *grid = tmaring__ring_grid(e->ring);
  uint64_t bytes = 0;
  if (!a->known || !tmaring_fill_stores(&a->fill, e->ring->code->pieces, e->ring->program->passes)) return 0;
  if (grid) {
    const tmaring_panel *panel = &e->ring->boxes->panel[e->ring->args->input_count];
    tmaring_panel_origin(panel, grid, &a->fill, &range.origin);
    return tmaring_panel_bytes(panel, &range.origin);
  }
  tmaring__role_store_range(e, &a->fill, &range);
  for (int32_t i = 0; i < e->ring->args->output_count; ++i) {
    const uint32_t row = e->ring->args->output[i].elem_bytes *
                         (uint32_t)(e->ring->args->scope.kind == TMARING_SCOPE_FLAT ? 1 : a->fill.cols);
    bytes += (uint64_t)(range.last - range.first) * row;
  }
  return bytes;
}

void tmaring__role_commit(tmaring__env *e)
{
  tmaring__actor *a = tmaring__env_actor(e);
  const uint64_t due = bytes_due(e);
  if (a->stored != due) {
    tmaring__ring_fault(e, TMARING__FAULT_COVERAGE, "commit", tmaring__ring_stage_of(e->ring, a->fills), a->fills,
                        "%llu bytes were stored, %llu belong to this warp", (unsigned long long)a->stored,
                        (unsigned long long)due);
    return;
  }
  if (a->groups == TMARING__MAX_GROUPS) { /* the oldest two count as one: still never read too early */
    a->group[1] |= a->group[0];
    for (uint32_t i = 0; i + 1 < a->groups; ++i) a->group[i] = a->group[i + 1];
    a->groups -= 1;
  }
  a->group[a->groups++] = a->open;
  a->open = 0;
  a->stored = 0;
  a->commits += 1;
  if (e->ring->data) e->ring->data->commit(e->ring->self, e->actor);
}

static void group_read(tmaring__env *e, uint32_t stages)
{
  const uint32_t epoch = tmaring__env_clock(e)[e->actor];
  for (uint32_t s = 0; stages >> s; ++s) {
    if ((stages >> s & 1u) == 0) continue;
    tmaring__at_stage(e->ring, e->state, s)->reading -= 1;
    tmaring__at_mark(e->ring, e->state, s, e->actor)->read_epoch = epoch;
  }
}

void tmaring__role_wait_read(tmaring__env *e, uint32_t pending)
{
  tmaring__actor *a = tmaring__env_actor(e);
  const uint32_t over = a->groups > pending ? a->groups - pending : 0;
  for (uint32_t i = 0; i < over; ++i) group_read(e, a->group[i]);
  for (uint32_t i = 0; i < a->groups - over; ++i) a->group[i] = a->group[i + over];
  for (uint32_t i = a->groups - over; i < a->groups; ++i) a->group[i] = 0;
  a->groups -= over;
  if (e->ring->data) e->ring->data->drain(e->ring->self, e->actor, pending);
}

/* Fences and stores of the ring model. */
#include "box.h"
#include "ring_piece.h"

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
static int written(tmaring__env *e, const tmaring__piece *p, int bulk)
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
static int storable(tmaring__env *e, const tmaring__piece *p)
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
static int open_group(tmaring__env *e, const tmaring__piece *p)
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
  const tmaring__piece p = {"store", &e->ring->args->output[tensor], stage, a->fills, offset, bytes, address};
  e->copies += 1;
  if (!tmaring__piece_inside(e, &p) || !tmaring__piece_aligned(e, &p)) return;
  if (!open_group(e, &p)) return;
  a->stored += bytes;
  if (e->ring->data) e->ring->data->store(e->ring->self, e->actor, address, tmaring__piece_shared(e->ring, &p), bytes);
}

/* Whole units are written: one that the row does not fill would overwrite what lies behind it. */
static int box_stays(tmaring__env *e, const tmaring__piece *p, const tmaring_tensor_map_tiled *map, const int32_t *at)
{
  const uint32_t overrun = tmaring__box_overrun(map, at);
  if (overrun == 0) return 1;
  tmaring__ring_fault(
      e, TMARING__FAULT_HULL, p->primitive, p->stage, p->fill,
      "store outside the tensor: %u bytes behind a row of %llu elements; rows must end at a multiple of "
      "16 bytes",
      overrun, (unsigned long long)map->dims[0]);
  return 0;
}

/* The hardware writes what lies inside the tensor: that is what counts. */
void tmaring__role_store_tile(tmaring__env *e, int32_t tensor, uint32_t stage, const tmaring_fill *fill, int32_t i)
{
  const tmaring_stream *s = &e->ring->args->output[tensor];
  const int32_t index = TMARING_TILED_OUTPUTS + tensor;
  const tmaring__boxes *boxes = e->ring->boxes;
  const tmaring_tile *tile = &boxes->tile[index];
  tmaring__actor *a = tmaring__env_actor(e);
  const tmaring__piece p = {"store tile",    s,          stage, a->fills, tmaring_tile_offset(tile, s->slot_row, i),
                            tile->box_bytes, (uint64_t)i};
  int32_t at[TMARING_MAX_RANK];
  e->copies += 1;
  if (!tmaring__role_stage(e, p.primitive, stage, a->fills) || !tmaring__piece_box(e, &p, index, fill, i)) return;
  tmaring_tile_coordinates(tile, tmaring__boxes_grid(boxes), fill, i, at);
  if (!box_stays(e, &p, &boxes->map[index], at) || !open_group(e, &p)) return;
  a->stored += tmaring__box_inside(&boxes->map[index], at);
  if (e->ring->data) e->ring->data->store_box(e->ring->self, e->actor, tensor, at, tmaring__piece_shared(e->ring, &p));
}

void tmaring__role_store_edge(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                              uint32_t bytes)
{
  tmaring__actor *a = tmaring__env_actor(e);
  const tmaring__piece p = {"store edge", &e->ring->args->output[tensor], stage, a->fills, offset, bytes, address};
  if (bytes == 0) return;
  if (!tmaring__piece_inside(e, &p) || !storable(e, &p) || !written(e, &p, 0)) return;
  a->stored += bytes;
  if (e->ring->data) e->ring->data->store_edge(e->ring->self, address, tmaring__piece_shared(e->ring, &p), bytes);
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

#include "ring_piece.h"

#include "box.h"

uint32_t tmaring__piece_slot(const tmaring__ring *r, const tmaring__piece *p)
{
  return r->args->smem.stages + p->stage * r->args->smem.stage_bytes + p->stream->slot;
}

uint32_t tmaring__piece_shared(const tmaring__ring *r, const tmaring__piece *p)
{
  return tmaring__piece_slot(r, p) + p->offset;
}

int tmaring__piece_in_slot(tmaring__env *e, const tmaring__piece *p)
{
  if ((uint64_t)p->offset + p->bytes <= p->stream->slot_bytes) return 1;
  tmaring__ring_fault(e, TMARING__FAULT_SLOT, p->primitive, p->stage, p->fill, "bytes [%u, %u) of a slot of %u",
                      p->offset, p->offset + p->bytes, p->stream->slot_bytes);
  return 0;
}

int tmaring__piece_inside(tmaring__env *e, const tmaring__piece *p)
{
  const tmaring_stream *s = p->stream;
  if (p->address < s->base || p->address + p->bytes > s->hull_end) {
    tmaring__ring_fault(e, TMARING__FAULT_HULL, p->primitive, p->stage, p->fill,
                        "bytes [%lld, %lld) of a tensor of %lld; the walk must stay inside",
                        (long long)(p->address - s->base), (long long)(p->address - s->base + p->bytes),
                        (long long)(s->hull_end - s->base));
    return 0;
  }
  return tmaring__piece_in_slot(e, p);
}

int tmaring__piece_aligned(tmaring__env *e, const tmaring__piece *p)
{
  const uint32_t offset = tmaring__piece_shared(e->ring, p);
  if ((p->address | offset | p->bytes) % TMARING_BULK == 0 && p->bytes > 0) return 1;
  tmaring__ring_fault(
      e, TMARING__FAULT_ALIGNMENT, p->primitive, p->stage, p->fill,
      "address %llu, shared offset %u, size %u modulo 16: %u, %u, %u; all must be 0, and the size above it",
      (unsigned long long)p->address, offset, p->bytes, (unsigned)(p->address % TMARING_BULK), offset % TMARING_BULK,
      p->bytes % TMARING_BULK);
  return 0;
}

/* In the tensor it begins at a 16-byte unit of its rows. */
static int begins_unit(tmaring__env *e, const tmaring__piece *p, int32_t index, const tmaring_fill *fill, int32_t i)
{
  const tmaring__boxes *boxes = e->ring->boxes;
  int32_t at[TMARING_MAX_RANK];
  tmaring_tile_coordinates(&boxes->tile[index], tmaring__boxes_grid(boxes), fill, i, at);
  const int64_t begin = tmaring__box_begin(&boxes->map[index], at);
  if (begin % TMARING_BULK == 0) return 1;
  tmaring__ring_fault(e, TMARING__FAULT_ALIGNMENT, p->primitive, p->stage, p->fill,
                      "copy %d begins at element %d of a row, byte %lld; the copy engine takes multiples of 16 bytes",
                      i, at[0], (long long)begin);
  return 0;
}

int tmaring__piece_box(tmaring__env *e, const tmaring__piece *p, int32_t index, const tmaring_fill *fill, int32_t i)
{
  const tmaring_tile *tile = &e->ring->boxes->tile[index];
  const uint32_t whole = tmaring__box_bytes(&e->ring->boxes->map[index]);
  const uint32_t offset = tmaring__piece_shared(e->ring, p);
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
  return tmaring__piece_in_slot(e, p) && begins_unit(e, p, index, fill, i);
}

/* tmaring_tile_check: every element of the output belongs to one tile, every tile to one worker; slots hold their panels;
 * the ring model plays every kind of worker, tags only. */
#include <stdlib.h>
#include <string.h>

#include "../check/check_args.h"
#include "../check/schedule.h"
#include "tile_state.h"

#define REFUSE(...) return tmaring__fail(TMARING_ERROR_CHECK, __VA_ARGS__)
#define MAX_MARKED  ((int64_t)1 << 22) /* elements of an output that are marked one by one */
#define MAX_KINDS   64

/* ---- layout ---- */

static tmaring_status check_slot(const tmaring_args *a, const tmaring_stream *s, const tmaring_panel *p,
                                 const char *name)
{
  const uint32_t row = (uint32_t)p->box[0] * p->elem_bytes, unit = p->layout.swizzle ? 1024 : 128;
  const uint32_t last = tmaring_layout_offset(&p->layout, tmaring_panel_rows(p) - 1, row - p->elem_bytes);
  if (s->slot % unit != 0 || a->smem.stages % unit != 0 || a->smem.stage_bytes % unit != 0)
    REFUSE("%s: its slots begin at %u + k * %u + %u, needs multiples of %u", name, a->smem.stages, a->smem.stage_bytes,
           s->slot, unit);
  if (last + p->elem_bytes > s->slot_bytes || s->slot + s->slot_bytes > a->smem.stage_bytes)
    REFUSE("%s: a panel ends at byte %u, its slot has [%u, %u) of %u bytes of a stage", name, last + p->elem_bytes,
           s->slot, s->slot + s->slot_bytes, a->smem.stage_bytes);
  return TMARING_OK;
}

/* Every box begins at a 16-byte unit of its rows, and rows that are stored end with one. */
static tmaring_status check_units(const tmaring__boxes *b, int32_t index, const char *name)
{
  const tmaring_tile *t = &b->tile[index];
  const tmaring_tensor_map_tiled *m = &b->map[index];
  const uint32_t elem = tmaring_dtype_bytes((tmaring_i32)m->dtype);
  if ((b->used >> index & 1) == 0) return TMARING_OK;
  if ((uint32_t)t->scale[0] * elem % 16 != 0 || (t->boxes > 1 && (uint32_t)t->box_step[0] * elem % 16 != 0))
    REFUSE("%s: its boxes begin at multiples of %d and %d elements of a row, needs multiples of 16 bytes", name,
           t->scale[0], t->box_step[0]);
  if (index >= TMARING_TILED_OUTPUTS && m->dims[0] * elem % 16 != 0)
    REFUSE("%s: its boxes would store outside the tensor, behind rows of %llu elements, needs rows of a multiple of 16 "
           "bytes",
           name, (unsigned long long)m->dims[0]);
  return TMARING_OK;
}

static tmaring_status check_layout(const tmaring_tile_plan *plan, const tmaring_args *a, const tmaring__boxes *b)
{
  const int32_t fault = tmaring_cta_fault(&a->cta);
  if (fault) REFUSE("cta: the warp of thread %d mixes roles; roles go by whole warps", fault - 1);
  if (a->smem.total > (uint32_t)plan->plan.machine.smem_per_block_bytes)
    REFUSE("shared memory: got %u bytes, a CTA may have %d", a->smem.total, plan->plan.machine.smem_per_block_bytes);
  if (a->smem.stages + a->stages * a->smem.stage_bytes > a->smem.total)
    REFUSE("shared memory: %u stages of %u bytes from %u on end behind the %u bytes of a CTA", a->stages,
           a->smem.stage_bytes, a->smem.stages, a->smem.total);
  for (int32_t t = 0; t < a->input_count; ++t) {
    const char *name = tmaring__tile_name((tmaring_tile_op)plan->work.op, t);
    TMARING__TRY(check_slot(a, &a->input[t], &b->panel[t], name));
    TMARING__TRY(check_units(b, t, name));
  }
  if (a->output_count == 0) return TMARING_OK;
  const char *name = tmaring__tile_name((tmaring_tile_op)plan->work.op, plan->count - 1);
  TMARING__TRY(check_slot(a, &a->output[0], &b->panel[plan->count - 1], name));
  return check_units(b, TMARING_TILED_OUTPUTS, name);
}

/* ---- coverage of the output ---- */

static void fill_of(const tmaring_args *a, int64_t tile, tmaring_fill *fill)
{
  memset(fill, 0, sizeof *fill);
  tmaring_walk_fill(&a->walk, tile, 0, fill);
}

/* Maps and panels mean the same elements. */
static tmaring_status check_coordinates(const tmaring__boxes *b, int32_t t, int32_t index, const tmaring_fill *fill,
                                        const tmaring_origin *origin)
{
  int32_t at[TMARING_MAX_RANK];
  if ((b->used >> index & 1) == 0) return TMARING_OK;
  tmaring_tile_coordinates(&b->tile[index], &b->grid, fill, 0, at);
  for (int32_t d = 0; d < b->panel[t].rank; ++d) {
    const uint32_t step = b->map[index].element_strides[d];
    if ((int64_t)at[d] != (int64_t)origin->at[d] * step)
      REFUSE("tensor %d, tile at row %lld: coordinate %d is %d, its panel begins at %lld", t, (long long)fill->row, d,
             at[d], (long long)origin->at[d] * step);
  }
  return TMARING_OK;
}

/* Marks the elements of a tile that lie in the output. */
static tmaring_status mark(const tmaring_panel *y, const tmaring_origin *origin, int64_t tile, unsigned char *seen)
{
  for (int32_t row = 0; row < tmaring_panel_rows(y); ++row) {
    int64_t at = 0, place = 1;
    int32_t left = row;
    int inside = 1;
    for (int32_t d = 0; d < TMARING_MAX_RANK; ++d) {
      const int64_t c = (int64_t)origin->at[d] + (d == 0 ? 0 : left % y->box[d]);
      if (d > 0) left /= y->box[d];
      inside = inside && c < y->dims[d];
      at += c * place;
      place *= y->dims[d];
    }
    for (int32_t i = 0; inside && i < y->box[0] && origin->at[0] + i < y->dims[0]; ++i) {
      if (seen[at + i])
        REFUSE("tile %lld: element %lld of the output is stored twice", (long long)tile, (long long)(at + i));
      seen[at + i] = 1;
    }
  }
  return TMARING_OK;
}

static int64_t elements_of(const tmaring_panel *y)
{
  double all = 1;
  for (int32_t d = 0; d < TMARING_MAX_RANK; ++d) all *= y->dims[d];
  return all < (double)MAX_MARKED ? (int64_t)all : MAX_MARKED + 1;
}

static tmaring_status mark_all(const tmaring_tile_plan *plan, const tmaring_args *a, const tmaring__boxes *b,
                               unsigned char *seen)
{
  const tmaring_panel *y = &b->panel[plan->count - 1];
  for (int64_t tile = 0; tile < a->walk.tiles; ++tile) {
    tmaring_fill fill;
    tmaring_origin origin;
    fill_of(a, tile, &fill);
    tmaring_panel_origin(y, &b->grid, &fill, &origin);
    TMARING__TRY(check_coordinates(b, plan->count - 1, TMARING_TILED_OUTPUTS, &fill, &origin));
    TMARING__TRY(mark(y, &origin, tile, seen));
  }
  for (int64_t i = 0; i < elements_of(y); ++i) {
    if (!seen[i]) REFUSE("element %lld of the output is never stored", (long long)i);
  }
  return TMARING_OK;
}

/* Too many to mark: each dimension is cut by a digit of its own, into parts that are all of it. */
static tmaring_status check_digits(const tmaring_tile_plan *plan, const tmaring__boxes *b)
{
  const tmaring_panel *y = &b->panel[plan->count - 1];
  uint32_t used = 0;
  for (int32_t d = 0; d < y->rank; ++d) {
    const int32_t digit = y->follows[d] - TMARING_TILE_GRID;
    if (digit < 0 || digit >= TMARING_MAX_RANK || (used >> digit & 1u))
      REFUSE("dimension %d of the output follows %d, needs a digit of its own", d, y->follows[d]);
    used |= 1u << digit;
    if (b->grid.extent[digit] != tmaring_ceil_div(y->dims[d], y->box[d]))
      REFUSE("digit %d: got %d tiles, %d elements in boxes of %d need %lld", digit, b->grid.extent[digit], y->dims[d],
             y->box[d], (long long)tmaring_ceil_div(y->dims[d], y->box[d]));
  }
  return TMARING_OK;
}

static tmaring_status check_output(const tmaring_tile_plan *plan, const tmaring_args *a, const tmaring__boxes *b)
{
  const int64_t elements = elements_of(&b->panel[plan->count - 1]);
  TMARING__TRY(check_digits(plan, b));
  if (elements > MAX_MARKED) return TMARING_OK;
  unsigned char *seen = calloc((size_t)elements, 1);
  if (!seen)
    return tmaring__fail(TMARING_ERROR_MEMORY, "check: got no memory for %lld elements; free some",
                         (long long)elements);
  const tmaring_status status = mark_all(plan, a, b, seen);
  free(seen);
  return status;
}

/* ---- the ring ---- */

static tmaring_status play(const tmaring_tile_plan *plan, const tmaring_args *args, const tmaring__boxes *boxes,
                           int32_t worker, tmaring_check_report *report)
{
  tmaring__ring ring;
  tmaring__fault_note fault;
  memset(&ring, 0, sizeof ring);
  ring.args = args;
  ring.boxes = boxes;
  ring.code = &plan->plan.code;
  ring.program = boxes->work->program;
  ring.walk = args->walk;
  ring.worker = worker;
  TMARING__TRY(tmaring__ring_prepare(&ring));
  for (uint64_t seed = TMARING__LAZY; seed < 3; ++seed)
    TMARING__TRY(tmaring__schedule_run(&ring, seed, &fault, &report->steps, NULL));
  return TMARING_OK;
}

/* A worker that finds so many tickets left: the others have all other tiles. */
static tmaring_status play_tickets(const tmaring_tile_plan *plan, const tmaring_args *args, const tmaring__boxes *boxes,
                                   tmaring_check_report *report)
{
  const int64_t stages = args->stages, left[] = {0, 1, stages - 1, stages, 2 * stages + 1, 4 * stages + 3};
  for (size_t i = 0; i < sizeof left / sizeof *left; ++i) {
    tmaring_args a = *args;
    if (left[i] >= a.walk.tiles) continue;
    a.walk.workers = (tmaring_i32)(a.walk.tiles - left[i]);
    tmaring_walk_set_rows(&a.walk, a.walk.rows);
    TMARING__TRY(play(plan, &a, boxes, 0, report));
  }
  return TMARING_OK;
}

/* One worker of each kind: as many slots with tiles, and surplus ones. */
static tmaring_status check_ring(const tmaring_tile_plan *plan, const tmaring_args *args, const tmaring__boxes *boxes,
                                 tmaring_check_report *report)
{
  const tmaring_walk *w = &args->walk;
  int64_t known[MAX_KINDS];
  int32_t count = 0;
  if (tmaring_uses_tickets(w)) return play_tickets(plan, args, boxes, report);
  for (int32_t worker = 0; worker < w->workers; ++worker) {
    const int64_t valid = tmaring_walk_valid_slots(w, worker);
    int32_t i = 0;
    while (i < count && known[i] != valid) ++i;
    if (i < count) continue;
    if (count < MAX_KINDS) known[count++] = valid;
    TMARING__TRY(play(plan, args, boxes, worker, report));
  }
  return TMARING_OK;
}

/* ---- all of it ---- */

/* Addresses one behind another; nothing is read. */
static void make_up(const tmaring_tile_plan *plan, tmaring_args *args, tmaring__boxes *boxes)
{
  uint64_t next = 1u << 20;
  *args = plan->plan.variant[0].args;
  *boxes = plan->plan.variant[0].boxes;
  for (int32_t t = 0; t < plan->count; ++t) {
    tmaring__tile_place(plan, t, next, args, boxes);
    next += tmaring_round_up((uint64_t)tmaring_min_i64(plan->bytes[t], 1ll << 56), 1u << 20);
  }
}

tmaring_status tmaring_tile_check(const tmaring_tile_plan *plan, tmaring_check_report *report)
{
  tmaring_check_report own = {.size = sizeof own};
  tmaring_check_report *r = report ? report : &own;
  tmaring_args args;
  tmaring__boxes boxes;
  TMARING__NEED(plan);
  TMARING__NEED_SIZE(r);
  memset(r, 0, sizeof *r);
  r->size = sizeof *r;
  make_up(plan, &args, &boxes);
  TMARING__TRY(check_layout(plan, &args, &boxes));
  TMARING__TRY(tmaring__check_coverage(&args, r));
  TMARING__TRY(check_output(plan, &args, &boxes));
  return check_ring(plan, &args, &boxes, r);
}

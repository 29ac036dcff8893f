/* tmaring_check: proves a plan without memory and without a GPU. */
#include <string.h>

#include "../base/detail.h"
#include "../plan/extent.h"
#include "box.h"
#include "check_args.h"

tmaring_status tmaring__check_args(const tmaring_args *args, const tmaring__boxes *boxes, const tmaring__code *code,
                                   const tmaring__program *program, uint32_t smem_limit, tmaring_check_report *report)
{
  tmaring_check_report own;
  tmaring_check_report *r = report ? report : &own;
  memset(r, 0, sizeof *r);
  r->size = sizeof *r;
  TMARING__TRY(tmaring__check_layout(args, code, program, smem_limit));
  TMARING__TRY(tmaring__check_paths(args, boxes, code));
  TMARING__TRY(tmaring__check_coverage(args, r));
  TMARING__TRY(tmaring__check_fills(args, boxes, code, program, r));
  return tmaring__check_ring(args, boxes, code, program, r);
}

/* An address whose place modulo 16 is the `turn`-th that the alignment allows. Tensors too large to lie side by side in
 * 64 bits may overlap: each is looked at by itself. */
static uint64_t made_up_base(uint64_t *next, uint32_t alignment, uint32_t turn, int64_t bytes)
{
  const uint64_t base = *next + (uint64_t)alignment * turn % TMARING_BULK;
  *next += tmaring_round_up((uint64_t)tmaring_min_i64(bytes, 1ll << 56) + TMARING_BULK, 1u << 20);
  return base;
}

static void place_stream(tmaring_stream *s, uint64_t base, int64_t bytes)
{
  s->base = base;
  s->hull_end = base + (uint64_t)bytes;
}

/* The second half of an [M,2N] tensor lies N elements further; either half may be read up to the end of both. */
static void enter_input(tmaring_args *args, const tmaring__slot *slot, uint32_t alignment, uint32_t turn,
                        uint64_t *next)
{
  tmaring_stream *s = &args->input[slot->index];
  const int64_t row = (int64_t)args->walk.cols * s->elem_bytes,
                other = slot->second >= 0 && args->walk.rows > 0 ? row : 0;
  const int64_t bytes = tmaring__stream_bytes(s, args->walk.rows, args->walk.cols) + other;
  place_stream(s, made_up_base(next, alignment, turn, bytes), bytes);
  if (slot->second >= 0) place_stream(&args->input[slot->second], s->base + (uint64_t)row, bytes - other);
}

static void enter_tensor(tmaring_args *args, tmaring__slot slot, const tmaring_tensor *tensor, uint32_t turn,
                         uint64_t *next)
{
  tmaring_vector *v = tmaring__slot_vector(args, slot);
  const int64_t rows = tmaring__slot_per_column(slot) ? 1 : args->walk.rows;
  if (slot.kind == TMARING__SLOT_INPUT) {
    enter_input(args, &slot, tensor->alignment, turn, next);
  } else if (v) {
    const int64_t row = tensor->cols * tmaring_dtype_bytes(v->dtype);
    v->base = made_up_base(next, tensor->alignment, turn, row + tmaring__vector_bytes(v, rows, tensor->cols));
  } else {
    tmaring_stream *s = &args->output[slot.index];
    const int64_t bytes = tmaring__stream_bytes(s, rows, args->walk.cols);
    place_stream(s, made_up_base(next, tensor->alignment, turn, bytes), bytes);
  }
}

/* Makes up addresses, each tensor a turn further than the one before, so that tensors also differ in phase. */
static void enter_tensors(tmaring_args *args, const tmaring_plan *plan, uint32_t turn)
{
  uint64_t next = 1u << 20;
  for (int32_t i = 0; i < plan->tensor_count; ++i) {
    const tmaring__slot slot = tmaring__formula_slot(plan->formula, i);
    enter_tensor(args, slot, &plan->tensor[i], turn + (uint32_t)i, &next);
  }
}

static uint32_t least_alignment(const tmaring_plan *plan)
{
  uint32_t least = TMARING_BULK;
  for (int32_t i = 0; i < plan->tensor_count; ++i) {
    if (plan->tensor[i].alignment < least) least = plan->tensor[i].alignment;
  }
  return least > 0 ? least : 1;
}

/* Every place modulo 16 that a launch may come with: all of it for the first, the geometry of the fills for the others.
 */
tmaring_status tmaring_check(const tmaring_plan *plan, int64_t rows, tmaring_check_report *report)
{
  const tmaring__program *program;
  tmaring_check_report other;
  tmaring__boxes boxes;
  tmaring_args args;
  TMARING__NEED(plan);
  if (report) TMARING__NEED_SIZE(report);
  TMARING__TRY(tmaring_plan_args(plan, rows, &args));
  program = tmaring__formula_program(plan->formula);
  boxes = tmaring__plan_variant(plan, rows)->boxes;
  enter_tensors(&args, plan, 1);
  tmaring__boxes_enter(&boxes, &args);
  TMARING__TRY(
      tmaring__check_args(&args, &boxes, &plan->code, program, (uint32_t)plan->machine.smem_per_block_bytes, report));
  for (uint32_t turn = 2; turn <= TMARING_BULK / least_alignment(plan); ++turn) {
    memset(&other, 0, sizeof other);
    enter_tensors(&args, plan, turn);
    tmaring__boxes_enter(&boxes, &args);
    TMARING__TRY(tmaring__check_fills(&args, &boxes, &plan->code, program, &other));
  }
  return TMARING_OK;
}

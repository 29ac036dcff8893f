/* tmaring_check: proves a plan without memory and without a GPU. */
#include <string.h>

#include "../base/detail.h"
#include "check_args.h"

tmaring_status tmaring__check_args(const tmaring_args *args, const tmaring__code *code, const tmaring__program *program,
                                   uint32_t smem_limit, tmaring_check_report *report)
{
  tmaring_check_report own;
  tmaring_check_report *r = report ? report : &own;
  memset(r, 0, sizeof *r);
  r->size = sizeof *r;
  TMARING__TRY(tmaring__check_layout(args, code, program, smem_limit));
  TMARING__TRY(tmaring__check_coverage(args, r));
  TMARING__TRY(tmaring__check_fills(args, code, program, r));
  return tmaring__check_ring(args, code, program, r);
}

/* An address whose place modulo 16 is the `turn`-th that the alignment allows. */
static uint64_t made_up_base(uint64_t *next, uint32_t alignment, uint32_t turn, uint64_t bytes)
{
  const uint64_t base = *next + (uint64_t)alignment * turn % TMARING_BULK;
  *next += tmaring_round_up(bytes + TMARING_BULK, 1u << 20);
  return base;
}

static void enter_tensor(tmaring_args *args, const tmaring__slot *slot, uint32_t alignment, uint32_t turn,
                         uint64_t *next)
{
  const int64_t rows = args->walk.rows;
  tmaring_stream *s = slot->kind == TMARING__SLOT_INPUT ? &args->input[slot->index] : &args->output[slot->index];
  tmaring_vector *v = slot->kind == TMARING__SLOT_VECTOR       ? &args->vector[slot->index]
                      : slot->kind == TMARING__SLOT_ROW_SCALAR ? &args->row_scalar[slot->index]
                                                               : &args->row_output[slot->index];
  if (slot->kind == TMARING__SLOT_INPUT || slot->kind == TMARING__SLOT_OUTPUT) {
    const uint64_t bytes = rows > 0 ? (uint64_t)((rows - 1) * s->pitch) + (uint64_t)args->walk.cols * s->elem_bytes : 0;
    s->base = made_up_base(next, alignment, turn, bytes);
    s->hull_end = s->base + bytes;
  } else {
    v->base = made_up_base(next, alignment, turn, (uint64_t)tmaring_max_i64(rows, args->walk.cols) * 4);
  }
}

/* Makes up addresses, each tensor a turn further than the one before, so that tensors also differ in phase. */
static void enter_tensors(tmaring_args *args, const tmaring_plan *plan, uint32_t turn)
{
  uint64_t next = 1u << 20;
  for (int32_t i = 0; i < plan->tensor_count; ++i) {
    const tmaring__slot slot = tmaring__formula_slot(plan->formula, i);
    enter_tensor(args, &slot, plan->tensor[i].alignment, turn + (uint32_t)i, &next);
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
  tmaring_args args;
  TMARING__NEED(plan);
  if (report) TMARING__NEED_SIZE(report);
  TMARING__TRY(tmaring_plan_args(plan, rows, &args));
  program = tmaring__formula_program(plan->formula);
  enter_tensors(&args, plan, 1);
  TMARING__TRY(tmaring__check_args(&args, &plan->code, program, (uint32_t)plan->machine.smem_per_block_bytes, report));
  for (uint32_t turn = 2; turn <= TMARING_BULK / least_alignment(plan); ++turn) {
    memset(&other, 0, sizeof other);
    enter_tensors(&args, plan, turn);
    TMARING__TRY(tmaring__check_fills(&args, &plan->code, program, &other));
  }
  return TMARING_OK;
}

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

/* An address for a tensor that is no better aligned than the plan was told. */
static uint64_t made_up_base(uint64_t *next, uint32_t alignment, uint64_t bytes)
{
  const uint64_t base = *next + (alignment < 16 ? alignment : 0);
  *next += tmaring_round_up(bytes + 16, 1u << 20);
  return base;
}

static void enter_tensor(tmaring_args *args, const tmaring__slot *slot, const tmaring_tensor *tensor, uint64_t *next)
{
  const int64_t rows = args->walk.rows;
  tmaring_stream *s = slot->kind == TMARING__SLOT_INPUT ? &args->input[slot->index] : &args->output[slot->index];
  tmaring_vector *v = slot->kind == TMARING__SLOT_VECTOR       ? &args->vector[slot->index]
                      : slot->kind == TMARING__SLOT_ROW_SCALAR ? &args->row_scalar[slot->index]
                                                               : &args->row_output[slot->index];
  if (slot->kind == TMARING__SLOT_INPUT || slot->kind == TMARING__SLOT_OUTPUT) {
    const uint64_t bytes = rows > 0 ? (uint64_t)((rows - 1) * s->pitch) + (uint64_t)args->walk.cols * s->elem_bytes : 0;
    s->base = made_up_base(next, tensor->alignment, bytes);
    s->hull_end = s->base + bytes;
  } else {
    v->base = made_up_base(next, tensor->alignment, (uint64_t)tmaring_max_i64(rows, args->walk.cols) * 4);
  }
}

tmaring_status tmaring_check(const tmaring_plan *plan, int64_t rows, tmaring_check_report *report)
{
  tmaring_args args;
  uint64_t next = 1u << 20;
  TMARING__NEED(plan);
  if (report) TMARING__NEED_SIZE(report);
  TMARING__TRY(tmaring_plan_args(plan, rows, &args));
  for (int32_t i = 0; i < plan->tensor_count; ++i) {
    const tmaring__slot slot = tmaring__formula_slot(plan->formula, i);
    enter_tensor(&args, &slot, &plan->tensor[i], &next);
  }
  return tmaring__check_args(&args, &plan->code, tmaring__formula_program(plan->formula),
                             (uint32_t)plan->machine.smem_per_block_bytes, report);
}

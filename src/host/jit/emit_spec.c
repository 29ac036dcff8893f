#include "../plan/column.h"
#include "emit.h"

static void enter_tensor(tmaring__kernel_spec *spec, tmaring__slot slot, const tmaring_tensor *tensor)
{
  const tmaring_dtype dtype = tensor->dtype;
  switch (slot.kind) {
  case TMARING__SLOT_INPUT:
    spec->input[slot.index] = dtype;
    if (slot.second >= 0) spec->input[slot.second] = dtype;
    break;
  case TMARING__SLOT_VECTOR:
    spec->vector[slot.index] = dtype;
    spec->vector_aligned[slot.index] = tensor->alignment % 16 == 0;
    break;
  case TMARING__SLOT_ROW_SCALAR: spec->row_scalar[slot.index] = dtype; break;
  case TMARING__SLOT_GROUP_INPUT: spec->group_input[slot.index] = dtype; break;
  case TMARING__SLOT_OUTPUT: spec->output[slot.index] = dtype; break;
  case TMARING__SLOT_ROW_OUTPUT: spec->row_output[slot.index] = dtype; break;
  case TMARING__SLOT_GROUP_OUTPUT: spec->group_output[slot.index] = dtype; break;
  case TMARING__SLOT_COLUMN_OUTPUT: spec->column_output[slot.index] = dtype; break;
  }
}

static void join_choice(int32_t *known, int32_t choice, int first)
{
  *known = first || *known == choice ? choice : -1;
}

/* What the arguments of all variants have in common. */
static void join_variant(tmaring__kernel_spec *spec, const tmaring_args *a, int first)
{
  spec->whole = spec->whole && a->walk.pieces == 1;
  for (int32_t k = 0; k < a->input_count; ++k) spec->dense = spec->dense && a->input[k].dense;
  for (int32_t k = 0; k < a->output_count; ++k) spec->dense = spec->dense && a->output[k].dense;
  join_choice(&spec->columns_staged, a->columns_staged, first);
  join_choice(&spec->vectors_staged, a->vector_count > 0 && a->vector[0].smem != TMARING_NOT_STAGED, first);
}

/* Accumulators stay in registers where each thread has few columns, the same of every row. */
static void find_held(tmaring__kernel_spec *spec, const tmaring_plan *plan)
{
  int64_t steps = 1;
  for (int32_t i = 0; i < plan->variant_count; ++i) {
    const tmaring_args *a = &plan->variant[i].args;
    const int64_t vectors = tmaring_ceil_div(tmaring_walk_fill_cols(&a->walk), a->scope.vec);
    steps = tmaring_max_i64(steps, tmaring_ceil_div(vectors, tmaring_scope_stride(&a->scope)));
  }
  if (!spec->code.pieces)
    spec->held_steps = tmaring__column_held_steps(spec->program, spec->code.vec, spec->code.wide, steps);
}

void tmaring__kernel_spec_of(tmaring__kernel_spec *spec, const tmaring_plan *plan)
{
  *spec = (tmaring__kernel_spec){0};
  spec->program = tmaring__formula_program(plan->formula);
  spec->code = plan->code;
  spec->dense = spec->whole = 1;
  for (int32_t i = 0; i < plan->variant_count; ++i) join_variant(spec, &plan->variant[i].args, i == 0);
  for (int32_t i = 0; i < plan->tensor_count; ++i)
    enter_tensor(spec, tmaring__formula_slot(plan->formula, i), &plan->tensor[i]);
  find_held(spec, plan);
}

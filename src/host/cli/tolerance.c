/* What a formula's arithmetic may be off by. */
#include "element.h"
#include "verify.h"

static int is_whole(tmaring_dtype dtype)
{
  return dtype == TMARING_I8 || dtype == TMARING_I32 || dtype == TMARING_I64;
}

/* Codes that are far apart: what an output's largest value may be off by says little about its small ones. */
static int is_coarse(tmaring_dtype dtype)
{
  return is_whole(dtype) || dtype == TMARING_E4M3 || dtype == TMARING_E5M2;
}

/* Type of the tensor that an input stream is of. */
static tmaring_dtype stream_type(const tmaring__job *job, int32_t stream)
{
  for (int32_t i = 0; i < job->count; ++i) {
    const tmaring__slot slot = tmaring__formula_slot(job->formula, i);
    if (slot.kind == TMARING__SLOT_INPUT && (slot.index == stream || slot.second == stream))
      return job->tensor[i].dtype;
  }
  return TMARING_F32;
}

/* Of all casts of the formula together. */
static double cast_slack(const tmaring__job *job)
{
  const tmaring__program *const program = tmaring__formula_program(job->formula);
  double slack = 0;
  for (int32_t i = 0; i < program->node_count; ++i) {
    const tmaring__node *const node = &program->node[i];
    if (node->op == TMARING__OP_CAST) slack += 2 * tmaring__element_roundoff((tmaring_dtype)node->index);
    if (node->op == TMARING__OP_CAST_AS) slack += 2 * tmaring__element_roundoff(stream_type(job, node->index));
  }
  return slack;
}

static int has_op(const tmaring__job *job, tmaring__op op)
{
  const tmaring__program *const program = tmaring__formula_program(job->formula);
  for (int32_t i = 0; i < program->node_count; ++i)
    if (program->node[i].op == op) return 1;
  return 0;
}

/* 1 for an output that is a column's number as it was found. */
static int is_column_number(const tmaring__job *job, int32_t index)
{
  const tmaring__program *const program = tmaring__formula_program(job->formula);
  const tmaring__slot slot = tmaring__formula_slot(job->formula, index);
  return slot.kind == TMARING__SLOT_ROW_OUTPUT &&
         program->node[program->row_output[slot.index]].op == TMARING__OP_REDUCE_ARGMAX;
}

/* Additions one after another, at most: of a column, in a chunk and then among partial results; else of a row. */
static double terms(const tmaring__job *job, int32_t index)
{
  tmaring_args args;
  if (tmaring__formula_slot(job->formula, index).kind != TMARING__SLOT_COLUMN_OUTPUT || job->rows == 0 ||
      tmaring_plan_args(job->plan, job->rows, &args) != TMARING_OK)
    return 64 + (double)job->cols / 16;
  const double partials = (double)tmaring_column_chunks(&args.walk) * tmaring_column_seats(&args);
  return 64 + (double)job->rows / partials + partials / TMARING_COLUMN_STRANDS;
}

tmaring__tolerance tmaring__tolerance_of(const tmaring__job *job, int32_t index, double largest)
{
  const tmaring__request *const request = job->request;
  const tmaring_dtype dtype = job->tensor[index].dtype;
  const double unit = job->plan->code.wide ? 0x1p-53 : 0x1p-24;
  const double inner = terms(job, index) * unit;
  tmaring__tolerance t = {inner + cast_slack(job), (is_coarse(dtype) ? 8 * unit : inner) * largest};
  if (is_whole(dtype) && has_op(job, TMARING__OP_ROUND)) t.absolute += 1;
  if (is_column_number(job, index)) t.relative = t.absolute = 0;
  if (request->relative >= 0) t.relative = request->relative;
  if (request->absolute >= 0) t.absolute = request->absolute;
  return t;
}

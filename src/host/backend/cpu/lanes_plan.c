#include <stdlib.h>
#include <string.h>

#include "../../base/detail.h"
#include "lanes.h"

static void need(const tmaring__program *program, unsigned char *needed, int32_t node)
{
  if (needed[node]) return;
  needed[node] = 1;
  if (!program->node[node].per_col) return; /* one value per row: evaluated elsewhere */
  for (int32_t i = 0; i < tmaring__op_operands(program->node[node].op); ++i)
    need(program, needed, program->node[node].arg[i]);
}

/* Reductions that end the pass, and what they read. */
static tmaring_status plan_reductions(tmaring__lanes_plan *plan, int32_t index, unsigned char *needed)
{
  const tmaring__program *program = plan->program;
  tmaring__lanes_pass *pass = &plan->pass[index];
  int32_t partials = 0;
  for (int32_t i = 0; i < program->node_count; ++i) {
    const tmaring__node *node = &program->node[i];
    if (!tmaring__op_reduces(node->op) || node->level != index + 1) continue;
    if (node->op == TMARING__OP_GATHER) {
      pass->gather[pass->gather_count++] = i;
      continue;
    }
    partials += tmaring__op_partials(node->op);
    if (partials > TMARING_MAX_REDUCTIONS) {
      return tmaring__fail(TMARING_ERROR_CAPACITY,
                           "formula: got more than %d partial results in pass %d, needs fewer reductions that read the "
                           "same rows; split the formula",
                           TMARING_MAX_REDUCTIONS, index);
    }
    pass->reduction[pass->reduction_count++] = i;
    need(program, needed, node->arg[0]);
  }
  return TMARING_OK;
}

static void need_outputs(const tmaring__program *program, unsigned char *needed)
{
  for (int32_t i = 0; i < program->output_count; ++i) need(program, needed, program->output[i]);
  for (int32_t i = 0; i < program->group_output_count; ++i) need(program, needed, program->group_output[i]);
  for (int32_t i = 0; i < program->column_output_count; ++i) need(program, needed, program->column_output[i].node);
}

static tmaring_status plan_pass(tmaring__lanes_plan *plan, int32_t index)
{
  const tmaring__program *program = plan->program;
  tmaring__lanes_pass *pass = &plan->pass[index];
  unsigned char needed[TMARING__MAX_NODES] = {0};
  TMARING__TRY(plan_reductions(plan, index, needed));
  pass->last = index == program->passes - 1;
  if (pass->last) need_outputs(program, needed);
  for (int32_t i = 0; i < program->node_count; ++i) {
    if (!needed[i]) continue;
    if (program->node[i].per_col) {
      pass->node[pass->node_count++] = i;
    } else {
      pass->broadcast[pass->broadcast_count++] = i;
    }
  }
  return TMARING_OK;
}

static void plan_rows(tmaring__lanes_plan *plan)
{
  const tmaring__program *program = plan->program;
  for (int32_t i = 0; i < program->node_count; ++i) {
    const tmaring__node *node = &program->node[i];
    if (node->per_col || tmaring__op_reduces(node->op)) continue;
    plan->row[node->level][plan->row_count[node->level]++] = i;
  }
}

/* A flat fill is one long row: nothing in it may know where its rows begin. */
static int knows_rows(const tmaring__program *program)
{
  return tmaring__program_has(program, TMARING__OP_ROW) || program->row_scalar_count > 0 ||
         program->row_output_count > 0 || program->reduction_passes > 0 || program->group_cols_most > 0 ||
         program->column_output_count > 0;
}

tmaring_status tmaring__lanes_plan_make(tmaring__lanes_plan *plan, const tmaring__program *program,
                                        const tmaring_args *args)
{
  memset(plan, 0, sizeof *plan);
  plan->program = program;
  if (args->scope.kind == TMARING_SCOPE_FLAT && knows_rows(program)) {
    return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                         "scope: got flat for a formula with values per row, needs a scope that knows "
                         "its rows; use lanes, warp, group or cta");
  }
  for (int32_t i = 0; i < program->passes; ++i) TMARING__TRY(plan_pass(plan, i));
  plan_rows(plan);
  return TMARING_OK;
}

tmaring_status tmaring__lanes_make(tmaring__lanes *lanes, const tmaring__lanes_plan *plan, const tmaring_args *args,
                                   const tmaring_walk *walk, const tmaring__code *code, unsigned char *shared)
{
  const size_t warps = (size_t)tmaring_cta_consumer_warps(&args->cta), nodes = (size_t)plan->program->node_count;
  const size_t real = tmaring__lanes_calls_of(code)->real_bytes;
  memset(lanes, 0, sizeof *lanes);
  lanes->args = args;
  lanes->walk = walk;
  lanes->code = code;
  lanes->plan = plan;
  lanes->calls = tmaring__lanes_calls_of(code);
  lanes->shared = shared;
  lanes->step = calloc(nodes * TMARING__STEP_ELEMS + 1, real);
  lanes->rows = calloc(warps * nodes * 32 + 1, real);
  lanes->sums = calloc(warps * TMARING_MAX_REDUCTIONS * 32, 2 * real);
  lanes->scratch = calloc(2 * TMARING_MAX_REDUCTIONS * warps, 2 * real);
  if (lanes->step && lanes->rows && lanes->sums && lanes->scratch) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory for the values of %zu warps; free some",
                       warps);
}

void tmaring__lanes_release(tmaring__lanes *lanes)
{
  free(lanes->step);
  free(lanes->rows);
  free(lanes->sums);
  free(lanes->scratch);
  memset(lanes, 0, sizeof *lanes);
}

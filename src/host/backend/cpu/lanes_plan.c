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

static int reduces(tmaring__op op)
{
  return op == TMARING__OP_REDUCE_SUM || op == TMARING__OP_REDUCE_MAX || op == TMARING__OP_REDUCE_MIN;
}

static void plan_pass(tmaring__lanes_plan *plan, int32_t index)
{
  const tmaring__program *program = plan->program;
  tmaring__lanes_pass *pass = &plan->pass[index];
  unsigned char needed[TMARING__MAX_NODES] = {0};
  for (int32_t i = 0; i < program->node_count; ++i) {
    const tmaring__node *node = &program->node[i];
    if (!reduces(node->op) || node->level != index + 1 || pass->reduction_count == TMARING_MAX_REDUCTIONS) continue;
    pass->reduction[pass->reduction_count++] = i;
    need(program, needed, node->arg[0]);
  }
  for (int32_t i = 0; index == program->passes - 1 && i < program->output_count; ++i) {
    pass->output[pass->output_count++] = i;
    need(program, needed, program->output[i]);
  }
  for (int32_t i = 0; i < program->node_count; ++i) {
    if (!needed[i]) continue;
    if (program->node[i].per_col) {
      pass->node[pass->node_count++] = i;
    } else {
      pass->broadcast[pass->broadcast_count++] = i;
    }
  }
}

static void plan_rows(tmaring__lanes_plan *plan)
{
  const tmaring__program *program = plan->program;
  for (int32_t i = 0; i < program->node_count; ++i) {
    const tmaring__node *node = &program->node[i];
    if (node->per_col || reduces(node->op)) continue;
    plan->row[node->level][plan->row_count[node->level]++] = i;
  }
}

tmaring_status tmaring__lanes_plan_make(tmaring__lanes_plan *plan, const tmaring__program *program,
                                        const tmaring_args *args)
{
  memset(plan, 0, sizeof *plan);
  plan->program = program;
  if (args->scope.kind == TMARING_SCOPE_FLAT &&
      (program->row_scalar_count > 0 || program->row_output_count > 0 || program->reduction_passes > 0)) {
    return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                         "scope: got flat for a formula with values per row, needs a scope that knows "
                         "its rows; use lanes, warp, group or cta");
  }
  for (int32_t i = 0; i < program->passes; ++i) plan_pass(plan, i);
  plan_rows(plan);
  return TMARING_OK;
}

tmaring_status tmaring__lanes_make(tmaring__lanes *lanes, const tmaring__lanes_plan *plan, const tmaring_args *args,
                                   const tmaring__code *code, unsigned char *shared)
{
  const size_t warps = (size_t)tmaring_cta_consumer_warps(&args->cta), nodes = (size_t)plan->program->node_count;
  memset(lanes, 0, sizeof *lanes);
  lanes->args = args;
  lanes->code = code;
  lanes->plan = plan;
  lanes->shared = shared;
  lanes->step = calloc(nodes * TMARING__STEP_ELEMS + 1, sizeof(float));
  lanes->rows = calloc(warps * nodes * 32 + 1, sizeof(float));
  lanes->sums = calloc(warps * TMARING_MAX_REDUCTIONS * 32, sizeof(float));
  lanes->scratch = calloc(2 * TMARING_MAX_REDUCTIONS * warps, sizeof(float));
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

#include "assembly.h"

#include <stdlib.h>

typedef struct assembly {
  const tmaring_formula *formula;
  const tmaring__node_table *table;
  const int32_t *lowered; /* syntax node -> node of the table */
  int32_t *kept;          /* node of the table -> 1 if it is needed, then its number in the program; -1 for the rest */
  tmaring__program *program;
} assembly;

/* Node of the table that an output is made of. */
static int32_t output_node(const assembly *a, const tmaring__formula_tensor *tensor)
{
  return a->lowered[a->formula->symbol[tensor->symbol].root];
}

/* Marks what the outputs need. Operands come before their uses, so one walk backwards reaches everything. */
static void mark(const assembly *a)
{
  for (int32_t i = 0; i < a->formula->tensor_count; ++i)
    if (a->formula->tensor[i].is_output) a->kept[output_node(a, &a->formula->tensor[i])] = 1;
  for (int32_t i = a->table->count - 1; i >= 0; --i)
    for (int j = 0; a->kept[i] && j < 3 && a->table->node[i].arg[j] >= 0; ++j) a->kept[a->table->node[i].arg[j]] = 1;
}

/* Copies what is kept into the program. */
static tmaring_status compact(const assembly *a)
{
  tmaring__program *program = a->program;
  for (int32_t i = 0; i < a->table->count; ++i) {
    if (!a->kept[i]) {
      a->kept[i] = -1;
      continue;
    }
    if (program->node_count == TMARING__MAX_NODES)
      return tmaring__place_fail(&a->formula->source, TMARING_ERROR_CAPACITY, a->table->origin[i],
                                 "operations: got more than %d, needs at most as many; split the formula",
                                 TMARING__MAX_NODES);
    tmaring__node *node = &program->node[program->node_count];
    *node = a->table->node[i];
    for (int j = 0; j < 3 && node->arg[j] >= 0; ++j) node->arg[j] = a->kept[node->arg[j]];
    a->kept[i] = program->node_count++;
  }
  return TMARING_OK;
}

/* A reduction with two partial results counts twice: the limit is the room for them. */
static int32_t places_of(tmaring__op op)
{
  return op == TMARING__OP_GATHER ? 1 : tmaring__op_partials(op);
}

/* Reduction passes, and the reductions of each, against the limits. */
static tmaring_status count_passes(const assembly *a)
{
  int32_t count[TMARING_MAX_PASSES] = {0};
  for (int32_t i = 0; i < a->table->count; ++i) {
    const tmaring__node *node = &a->table->node[i];
    if (a->kept[i] < 0 || !tmaring__op_reduces(node->op)) continue;
    if (node->level > TMARING_MAX_PASSES - 1)
      return tmaring__place_fail(
          &a->formula->source, TMARING_ERROR_CAPACITY, a->table->origin[i],
          "reductions that need one another's results: got %d, needs at most %d; split the formula", (int)node->level,
          TMARING_MAX_PASSES - 1);
    count[node->level - 1] += places_of(node->op);
    if (count[node->level - 1] > TMARING_MAX_REDUCTIONS)
      return tmaring__place_fail(
          &a->formula->source, TMARING_ERROR_CAPACITY, a->table->origin[i],
          "reductions in pass %d over the row: got %d, needs at most %d, where argmax and sums of "
          "exp below the maximum count twice; split the formula",
          (int)node->level - 1, (int)count[node->level - 1], TMARING_MAX_REDUCTIONS);
    if (node->level > a->program->reduction_passes) a->program->reduction_passes = node->level;
  }
  return TMARING_OK;
}

static tmaring__column column_of(const assembly *a, const tmaring__formula_tensor *tensor)
{
  const tmaring__syntax kind = a->formula->tree.node[a->formula->symbol[tensor->symbol].root].kind;
  const tmaring__column column = {a->kept[output_node(a, tensor)],
                                  kind == TMARING__SYNTAX_COLUMN_MAX ? TMARING__OP_REDUCE_MAX : TMARING__OP_REDUCE_SUM,
                                  kind == TMARING__SYNTAX_COLUMN_MEAN};
  return column;
}

static void enter_tensor(const assembly *a, const tmaring__formula_tensor *tensor)
{
  tmaring__program *p = a->program;
  const int32_t index = tensor->slot.index;
  const int32_t node = tensor->is_output ? a->kept[output_node(a, tensor)] : -1;
  switch (tensor->slot.kind) {
  case TMARING__SLOT_INPUT: p->paired[index] = a->formula->symbol[tensor->symbol].interleaved > 0; break;
  case TMARING__SLOT_VECTOR:
  case TMARING__SLOT_ROW_SCALAR: break;
  case TMARING__SLOT_GROUP_INPUT: p->group_input_cols[index] = tensor->dims.group_cols; break;
  case TMARING__SLOT_OUTPUT: p->output[index] = node; break;
  case TMARING__SLOT_ROW_OUTPUT: p->row_output[index] = node; break;
  case TMARING__SLOT_GROUP_OUTPUT:
    p->group_output[index] = node;
    p->group_output_cols[index] = tensor->dims.group_cols;
    break;
  case TMARING__SLOT_COLUMN_OUTPUT: p->column_output[index] = column_of(a, tensor); break;
  }
}

static void enter_counts(const assembly *a)
{
  const tmaring_formula *formula = a->formula;
  tmaring__program *p = a->program;
  p->input_count = formula->stream_count;
  p->vector_count = formula->parameter_count[TMARING_SHAPE_ROW];
  p->row_scalar_count = formula->parameter_count[TMARING_SHAPE_COLUMN];
  p->group_input_count = formula->parameter_count[TMARING_SHAPE_GROUP];
  p->scalar_count = formula->parameter_count[TMARING_SHAPE_SCALAR];
  p->output_count = formula->output_count[TMARING_SHAPE_MATRIX];
  p->row_output_count = formula->output_count[TMARING_SHAPE_COLUMN];
  p->group_output_count = formula->output_count[TMARING_SHAPE_GROUP];
  p->column_output_count = formula->output_count[TMARING_SHAPE_ROW];
  p->passes = p->reduction_passes + (p->output_count + p->group_output_count + p->column_output_count > 0);
  if (p->passes == 0) p->passes = 1; /* [M] outputs that need no reduction */
}

static void enter_group(tmaring__program *p, int32_t cols)
{
  if (p->group_cols_least == 0 || cols < p->group_cols_least) p->group_cols_least = cols;
  if (cols > p->group_cols_most) p->group_cols_most = cols;
}

static void enter_groups(tmaring__program *p)
{
  for (int32_t i = 0; i < p->node_count; ++i)
    if (tmaring__op_groups(p->node[i].op)) enter_group(p, p->node[i].index);
  for (int32_t i = 0; i < p->group_input_count; ++i) enter_group(p, p->group_input_cols[i]);
  for (int32_t i = 0; i < p->group_output_count; ++i) enter_group(p, p->group_output_cols[i]);
}

tmaring_status tmaring__assembly_run(tmaring_formula *formula, const tmaring__node_table *table, const int32_t *lowered)
{
  assembly a = {formula, table, lowered, calloc((size_t)table->count, sizeof *a.kept), &formula->program};
  if (!a.kept) return tmaring__fail(TMARING_ERROR_MEMORY, "formula: got no memory to lower it; free some");
  mark(&a);
  tmaring_status status = compact(&a);
  if (status == TMARING_OK) status = count_passes(&a);
  for (int32_t i = 0; i < formula->tensor_count && status == TMARING_OK; ++i) enter_tensor(&a, &formula->tensor[i]);
  enter_counts(&a);
  enter_groups(&formula->program);
  free(a.kept);
  return status;
}

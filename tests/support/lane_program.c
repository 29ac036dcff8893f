/* Programs of lane_rig.h, node by node. */
#include "lane_rig.h"

static int depends_on_col(const tmaring__program *p, const tmaring__node *n)
{
  int any = n->op == TMARING__OP_INPUT || n->op == TMARING__OP_INPUT_EVEN || n->op == TMARING__OP_INPUT_ODD ||
            n->op == TMARING__OP_VECTOR || n->op == TMARING__OP_GROUP_SCALE || n->op == TMARING__OP_COL ||
            tmaring__op_groups(n->op);
  for (int i = 0; i < 3; ++i) any |= n->arg[i] >= 0 && p->node[n->arg[i]].per_col;
  return any && !tmaring__op_reduces(n->op);
}

static int32_t add_node(lane_case *c, tmaring__op op, const int32_t *arg, int32_t index, double value)
{
  tmaring__program *p = &c->program;
  tmaring__node *n = &p->node[p->node_count];
  n->op = op;
  n->index = index;
  n->value = value;
  for (int i = 0; i < 3; ++i) {
    n->arg[i] = arg[i];
    if (arg[i] >= 0 && p->node[arg[i]].level > n->level) n->level = p->node[arg[i]].level;
  }
  n->level += tmaring__op_reduces(op);
  n->per_col = depends_on_col(p, n);
  if (n->level > p->reduction_passes) p->reduction_passes = n->level;
  return p->node_count++;
}

int32_t lane_node(lane_case *c, tmaring__op op, int32_t a, int32_t b, int32_t d)
{
  const int32_t arg[3] = {a, b, d};
  return add_node(c, op, arg, 0, 0);
}

int32_t lane_indexed(lane_case *c, tmaring__op op, int32_t a, int32_t index)
{
  const int32_t arg[3] = {a, -1, -1};
  return add_node(c, op, arg, index, 0);
}

int32_t lane_number(lane_case *c, double value)
{
  const int32_t arg[3] = {-1, -1, -1};
  return add_node(c, TMARING__OP_CONSTANT, arg, 0, value);
}

static int32_t add_stream(lane_case *c, int32_t tensor, int32_t second, int32_t paired)
{
  const int32_t stream = c->program.input_count++;
  c->input[stream] = tensor;
  c->half[stream] = second;
  c->program.paired[stream] = paired;
  return stream;
}

int32_t lane_input(lane_case *c, int32_t tensor)
{
  return lane_indexed(c, TMARING__OP_INPUT, -1, add_stream(c, tensor, 0, 0));
}

int32_t lane_half(lane_case *c, int32_t tensor, int32_t second)
{
  return lane_indexed(c, TMARING__OP_INPUT, -1, add_stream(c, tensor, second, 0));
}

int32_t lane_paired(lane_case *c, int32_t tensor)
{
  return add_stream(c, tensor, 0, 1);
}

int32_t lane_vector(lane_case *c, int32_t tensor)
{
  c->vector[c->program.vector_count] = tensor;
  return lane_indexed(c, TMARING__OP_VECTOR, -1, c->program.vector_count++);
}

int32_t lane_row_scalar(lane_case *c, int32_t tensor)
{
  c->row_scalar[c->program.row_scalar_count] = tensor;
  return lane_indexed(c, TMARING__OP_ROW_SCALAR, -1, c->program.row_scalar_count++);
}

static void note_group(tmaring__program *p, int32_t k)
{
  if (p->group_cols_least == 0 || k < p->group_cols_least) p->group_cols_least = k;
  if (k > p->group_cols_most) p->group_cols_most = k;
}

int32_t lane_group_input(lane_case *c, int32_t tensor, int32_t k)
{
  c->group_input[c->program.group_input_count] = tensor;
  c->program.group_input_cols[c->program.group_input_count] = k;
  note_group(&c->program, k);
  return lane_indexed(c, TMARING__OP_GROUP_SCALE, -1, c->program.group_input_count++);
}

static double no_value(int64_t row, int64_t col)
{
  return (double)(-77 - row % 2 - col % 2); /* what outputs hold before a run */
}

int32_t lane_output(lane_case *c, int32_t node, tmaring_dtype dtype)
{
  const int32_t tensor = lane_matrix_make(c, dtype, c->cols, no_value);
  c->output[c->program.output_count] = tensor;
  c->program.output[c->program.output_count++] = node;
  return tensor;
}

int32_t lane_row_output(lane_case *c, int32_t node, tmaring_dtype dtype)
{
  const int32_t tensor = lane_tensor_make(c, dtype, c->rows, 1, c->way.gap, no_value);
  c->row_output[c->program.row_output_count] = tensor;
  c->program.row_output[c->program.row_output_count++] = node;
  return tensor;
}

int32_t lane_group_output(lane_case *c, int32_t node, int32_t k, tmaring_dtype dtype, int by_columns)
{
  const int64_t elem = tmaring_dtype_bytes(dtype), groups = (c->cols + k - 1) / k;
  lane_tensor like = {.dtype = dtype, .rows = c->rows, .cols = groups, .pitch = (groups + 1) * elem, .step = elem};
  tmaring__program *p = &c->program;
  if (by_columns) {
    like.pitch = elem;
    like.step = (c->rows + 2) * elem;
  }
  note_group(p, k);
  p->group_output_cols[p->group_output_count] = k;
  p->group_output[p->group_output_count] = node;
  return c->group_output[p->group_output_count++] = lane_tensor_take(c, &like, 1, no_value);
}

int32_t lane_column_output(lane_case *c, int32_t node, tmaring__op op, int mean, tmaring_dtype dtype)
{
  const int32_t tensor = lane_tensor_make(c, dtype, 1, c->cols, 0, no_value);
  const tmaring__column column = {node, (int32_t)op, mean};
  c->column_output[c->program.column_output_count] = tensor;
  c->program.column_output[c->program.column_output_count++] = column;
  return tensor;
}

#include "oracle.h"

#include <stdlib.h>

#include "../base/mathlib.h"

static int reduces(tmaring__syntax kind)
{
  return tmaring__syntax_reduces_row(kind) || tmaring__syntax_reduces_group(kind);
}

static int reduced_in(const tmaring__oracle *o, int32_t node, int32_t sweep)
{
  return reduces(tmaring__oracle_node(o, node)->kind) && o->level[node] == sweep + 1;
}

/* Values that are the same for the whole row, once the reductions they use are over. */
static void evaluate_row_values(const tmaring__oracle *o, int64_t row, int32_t sweep)
{
  const tmaring__oracle_span span = {row, 0, 1};
  for (int32_t i = 0; i < o->formula->tree.node_count; ++i)
    if (!tmaring__oracle_varies(o, i) && o->level[i] == sweep && !reduces(tmaring__oracle_node(o, i)->kind))
      tmaring__oracle_evaluate(o, i, &span);
}

/* The node whose values an output is made of: of a column reduction, its operand. */
static int32_t output_node(const tmaring__oracle *o, const tmaring__formula_tensor *tensor)
{
  const int32_t root = o->formula->symbol[tensor->symbol].root;
  const tmaring__syntax_node *node = tmaring__oracle_node(o, root);
  return tmaring__syntax_reduces_column(node->kind) ? node->arg[0] : root;
}

static tmaring__syntax column_kind(const tmaring__oracle *o, const tmaring__formula_tensor *tensor)
{
  return tmaring__oracle_node(o, o->formula->symbol[tensor->symbol].root)->kind;
}

static void write_output(const tmaring__oracle *o, int32_t index, const tmaring__oracle_span *span)
{
  const tmaring__formula_tensor *tensor = &o->formula->tensor[index];
  const int32_t node = output_node(o, tensor), k = tensor->dims.group_cols;
  const double *value = tmaring__oracle_value(o, node);
  const int step = tmaring__oracle_varies(o, node);
  double *held = o->held[index];
  if (tensor->dims.shape == TMARING_SHAPE_MATRIX) {
    double *out = o->data[index] + span->row * o->cols + span->col;
    for (int32_t i = 0; i < span->count; ++i) out[i] = value[i * step];
  }
  for (int32_t i = 0; held && i < span->count; ++i) {
    const int64_t col = span->col + i;
    if (tensor->dims.shape == TMARING_SHAPE_GROUP)
      held[col / k] = value[i * step]; /* every column of a group has the same */
    else
      held[col] = tmaring__oracle_join(column_kind(o, tensor), held[col], value[i]);
  }
}

/* Every node of a chunk is evaluated before an output is written: an output may be an input. */
static void sweep_chunk(const tmaring__oracle *o, int32_t sweep, const tmaring__oracle_span *span)
{
  const int32_t nodes = o->formula->tree.node_count;
  for (int32_t i = 0; i < nodes; ++i)
    if (o->swept[(size_t)sweep * (size_t)nodes + (size_t)i]) tmaring__oracle_evaluate(o, i, span);
  for (int32_t i = 0; i < nodes; ++i)
    if (reduced_in(o, i, sweep)) tmaring__oracle_reduction_add(o, i, span);
  for (int32_t i = 0; i < o->formula->tensor_count && sweep == o->sweeps - 1; ++i)
    if (o->formula->tensor[i].is_output) write_output(o, i, span);
}

static void sweep_row(const tmaring__oracle *o, int64_t row, int32_t sweep)
{
  const int32_t nodes = o->formula->tree.node_count;
  evaluate_row_values(o, row, sweep);
  for (int32_t i = 0; i < nodes; ++i)
    if (reduced_in(o, i, sweep)) tmaring__oracle_reduction_start(o, i);
  for (int64_t col = 0; col < o->cols; col += TMARING__ORACLE_CHUNK) {
    const tmaring__oracle_span span = {row, col, (int32_t)tmaring_min_i64(TMARING__ORACLE_CHUNK, o->cols - col)};
    sweep_chunk(o, sweep, &span);
  }
  for (int32_t i = 0; i < nodes; ++i)
    if (reduced_in(o, i, sweep)) tmaring__oracle_reduction_end(o, i);
}

/* Outputs of fewer values than columns, which other columns of the row might have read as inputs. */
static void end_row(const tmaring__oracle *o, int64_t row)
{
  for (int32_t i = 0; i < o->formula->tensor_count; ++i) {
    const tmaring__formula_tensor *tensor = &o->formula->tensor[i];
    if (!tensor->is_output) continue;
    if (tensor->dims.shape == TMARING_SHAPE_COLUMN)
      o->data[i][row] = tmaring__oracle_value(o, output_node(o, tensor))[0];
    if (tensor->dims.shape != TMARING_SHAPE_GROUP) continue;
    const int64_t groups = tmaring__oracle_groups(o, tensor->dims.group_cols);
    for (int64_t g = 0; g < groups; ++g) o->data[i][row * groups + g] = o->held[i][g];
  }
}

static int is_column_output(const tmaring__formula_tensor *tensor)
{
  return tensor->is_output && tensor->dims.shape == TMARING_SHAPE_ROW;
}

static void start_columns(const tmaring__oracle *o)
{
  for (int32_t i = 0; i < o->formula->tensor_count; ++i)
    for (int64_t col = 0; is_column_output(&o->formula->tensor[i]) && col < o->cols; ++col)
      o->held[i][col] = tmaring__oracle_identity(column_kind(o, &o->formula->tensor[i]));
}

/* Of no rows the mean is 0 / 0. */
static void end_columns(const tmaring__oracle *o)
{
  for (int32_t i = 0; i < o->formula->tensor_count; ++i) {
    const tmaring__formula_tensor *tensor = &o->formula->tensor[i];
    if (!is_column_output(tensor)) continue;
    const int mean = column_kind(o, tensor) == TMARING__SYNTAX_COLUMN_MEAN;
    for (int64_t col = 0; col < o->cols; ++col) o->data[i][col] = o->held[i][col] / (mean ? (double)o->rows : 1);
  }
}

/* Who stands for whom, and levels; a name's expression and a node's operands come before it. */
static void prepare_levels(tmaring__oracle *o)
{
  o->sweeps = 1;
  for (int32_t i = 0; i < o->formula->tree.node_count; ++i) {
    const tmaring__syntax_node *node = tmaring__oracle_node(o, i);
    const tmaring__symbol *symbol = node->kind == TMARING__SYNTAX_NAME ? &o->formula->symbol[node->symbol] : NULL;
    const int assigned = symbol && symbol->kind == TMARING__SYMBOL_ASSIGNED;
    o->stands_for[i] = assigned ? o->stands_for[symbol->root] : i;
    o->level[i] = assigned ? o->level[symbol->root] : 0;
    for (int a = 0; a < 3 && node->arg[a] >= 0; ++a)
      if (o->level[node->arg[a]] > o->level[i]) o->level[i] = o->level[node->arg[a]];
    o->level[i] += reduces(node->kind);
    if (o->level[i] + 1 > o->sweeps) o->sweeps = o->level[i] + 1;
  }
}

/* Which nodes a sweep evaluates: what its reductions, and in the last sweep the outputs, are made of. The groups of an
 * earlier sweep are at hand. */
static void prepare_sweep(tmaring__oracle *o, int32_t sweep)
{
  const tmaring_formula *formula = o->formula;
  char *swept = o->swept + (size_t)sweep * (size_t)formula->tree.node_count;
  for (int32_t i = 0; i < formula->tree.node_count; ++i)
    if (reduced_in(o, i, sweep)) swept[o->stands_for[tmaring__oracle_node(o, i)->arg[0]]] = 1;
  for (int32_t i = 0; i < formula->tensor_count && sweep == o->sweeps - 1; ++i)
    if (formula->tensor[i].is_output) swept[o->stands_for[output_node(o, &formula->tensor[i])]] = 1;
  for (int32_t i = formula->tree.node_count - 1; i >= 0; --i) {
    const tmaring__syntax_node *node = tmaring__oracle_node(o, i);
    if (!tmaring__oracle_varies(o, i)) swept[i] = 0;
    if (tmaring__syntax_reduces_group(node->kind)) continue;
    for (int a = 0; swept[i] && a < 3 && node->arg[a] >= 0; ++a) swept[o->stands_for[node->arg[a]]] = 1;
  }
}

static tmaring_status check_scalars(const tmaring_formula *formula, const double *scalars)
{
  for (int32_t i = 0; i < formula->scalar_count && !scalars; ++i) {
    const tmaring__symbol *symbol = &formula->symbol[formula->scalar[i]];
    if (!symbol->has_default)
      return tmaring__fail(TMARING_ERROR_ARGUMENT, "scalars: got NULL, needs a value for %s, which has no default",
                           symbol->name);
  }
  return TMARING_OK;
}

/* Without rows only column reductions have something to say. */
static tmaring_status check_data(const tmaring_formula *formula, int64_t rows, double *const *data)
{
  for (int32_t i = 0; i < formula->tensor_count; ++i) {
    if (rows == 0 && !is_column_output(&formula->tensor[i])) continue;
    TMARING__NEED(data);
    if (!data[i])
      return tmaring__fail(TMARING_ERROR_ARGUMENT, "data[%d]: got NULL, needs the values of %s", (int)i,
                           formula->symbol[formula->tensor[i].symbol].name);
  }
  return TMARING_OK;
}

static tmaring_status check_arguments(const tmaring_formula *formula, int64_t rows, int64_t cols, double *const *data,
                                      const double *scalars)
{
  TMARING__NEED(formula);
  if (rows < 0 || cols < 1)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "rows, cols: got %lld, %lld, needs at least 0 and 1", (long long)rows,
                         (long long)cols);
  TMARING__TRY(check_scalars(formula, scalars));
  return check_data(formula, rows, data);
}

/* Values of an output that are held back: per group, per column, or none. */
static size_t held_count(const tmaring__oracle *o, const tmaring__formula_tensor *tensor)
{
  if (is_column_output(tensor)) return (size_t)o->cols;
  if (!tensor->is_output || tensor->dims.shape != TMARING_SHAPE_GROUP) return 0;
  return (size_t)tmaring__oracle_groups(o, tensor->dims.group_cols);
}

static int allocate_values(tmaring__oracle *o)
{
  int complete = 1;
  for (int32_t i = 0; i < o->formula->tree.node_count; ++i) {
    const tmaring__syntax_node *node = tmaring__oracle_node(o, i);
    if (!tmaring__syntax_reduces_group(node->kind)) continue;
    o->group[i] = malloc((size_t)tmaring__oracle_groups(o, node->index) * sizeof **o->group);
    complete = complete && o->group[i];
  }
  for (int32_t i = 0; i < o->formula->tensor_count; ++i) {
    const size_t count = held_count(o, &o->formula->tensor[i]);
    if (count > 0) o->held[i] = malloc(count * sizeof **o->held);
    complete = complete && (count == 0 || o->held[i]);
  }
  return complete;
}

static tmaring_status allocate(tmaring__oracle *o)
{
  const size_t nodes = (size_t)o->formula->tree.node_count;
  o->value = malloc(nodes * TMARING__ORACLE_CHUNK * sizeof *o->value);
  o->group = calloc(nodes, sizeof *o->group);
  o->held = calloc(TMARING__MAX_FORMULA_TENSORS, sizeof *o->held);
  o->stands_for = malloc(nodes * sizeof *o->stands_for);
  o->level = malloc(nodes * sizeof *o->level);
  if (o->level && o->stands_for) prepare_levels(o);
  o->swept = calloc((size_t)(o->sweeps ? o->sweeps : 1) * nodes, 1);
  if (o->value && o->stands_for && o->level && o->swept && o->group && o->held && allocate_values(o)) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_MEMORY, "evaluate: got no memory for %zu nodes; free some", nodes);
}

static void release(tmaring__oracle *o)
{
  for (int32_t i = 0; o->group && i < o->formula->tree.node_count; ++i) free(o->group[i]);
  for (int32_t i = 0; o->held && i < TMARING__MAX_FORMULA_TENSORS; ++i) free(o->held[i]);
  free(o->value);
  free(o->group);
  free(o->held);
  free(o->stands_for);
  free(o->level);
  free(o->swept);
}

static void evaluate_all(tmaring__oracle *o)
{
  for (int32_t sweep = 0; sweep < o->sweeps; ++sweep) prepare_sweep(o, sweep);
  start_columns(o);
  for (int64_t row = 0; row < o->rows; ++row) {
    for (int32_t sweep = 0; sweep < o->sweeps; ++sweep) sweep_row(o, row, sweep);
    end_row(o, row);
  }
  end_columns(o);
}

tmaring_status tmaring_formula_evaluate(const tmaring_formula *formula, int64_t rows, int64_t cols, double *const *data,
                                        const double *scalars, const tmaring_dtype *dtypes)
{
  TMARING__TRY(check_arguments(formula, rows, cols, data, scalars));
  TMARING__TRY(tmaring__mathlib_load());
  tmaring__oracle o = {
      .formula = formula, .rows = rows, .cols = cols, .data = data, .scalars = scalars, .dtypes = dtypes};
  const tmaring_status status = allocate(&o);
  if (status == TMARING_OK) evaluate_all(&o);
  release(&o);
  return status;
}

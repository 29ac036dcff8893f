/* The oracle: the syntax tree in double. It knows nothing of the lowered program, not even its levels. */
#include <math.h>
#include <stdlib.h>

#include "../base/mathlib.h"
#include "formula_state.h"

/* Columns evaluated together: one dispatch per node and chunk, and every row length in the same memory. */
enum { CHUNK = 128 };

typedef struct oracle {
  const tmaring_formula *formula;
  int64_t cols;
  double *const *data;
  const double *scalars;
  double *value;       /* CHUNK per node; the first one holds what is the same for the whole row */
  int32_t *stands_for; /* the node whose value a node has: itself, or the expression of an assigned name */
  int32_t *level;      /* reductions that must be over before a node has a value */
  char *swept;         /* [sweep * nodes + node]: evaluated column by column in this sweep */
  int32_t sweeps;
} oracle;

static const tmaring__syntax_node *node_at(const oracle *o, int32_t node)
{
  return &o->formula->tree.node[node];
}

static int varies(const oracle *o, int32_t node)
{
  return tmaring__shape_has_columns(node_at(o, node)->shape);
}

static double *value_of(const oracle *o, int32_t node)
{
  return o->value + (size_t)o->stands_for[node] * CHUNK;
}

static double larger(double a, double b)
{
  return isnan(a) || a > b ? a : b;
}

static double smaller(double a, double b)
{
  return isnan(a) || a < b ? a : b;
}

/* One value of a node from the values of its operands. */
static double apply(tmaring__syntax kind, double a, double b, double c)
{
  switch (kind) {
  case TMARING__SYNTAX_ADD: return a + b;
  case TMARING__SYNTAX_SUB: return a - b;
  case TMARING__SYNTAX_MUL: return a * b;
  case TMARING__SYNTAX_DIV: return a / b;
  case TMARING__SYNTAX_NEG: return -a;
  case TMARING__SYNTAX_LT: return a < b;
  case TMARING__SYNTAX_LE: return a <= b;
  case TMARING__SYNTAX_GT: return a > b;
  case TMARING__SYNTAX_GE: return a >= b;
  case TMARING__SYNTAX_EQ: return a == b;
  case TMARING__SYNTAX_NE: return a != b;
  case TMARING__SYNTAX_WHERE: return a != 0 ? b : c;
  case TMARING__SYNTAX_ABS: return fabs(a);
  case TMARING__SYNTAX_MIN: return smaller(a, b);
  case TMARING__SYNTAX_MAX: return larger(a, b);
  case TMARING__SYNTAX_EXP: return tmaring__math.exp(a);
  case TMARING__SYNTAX_LOG: return tmaring__math.log(a);
  case TMARING__SYNTAX_SQRT: return tmaring__math.sqrt(a);
  case TMARING__SYNTAX_RSQRT: return 1 / tmaring__math.sqrt(a);
  case TMARING__SYNTAX_TANH: return tmaring__math.tanh(a);
  case TMARING__SYNTAX_SIGMOID: return 1 / (1 + tmaring__math.exp(-a));
  default: return 0; /* leaves and reductions, which are evaluated elsewhere */
  }
}

static void apply_many(const oracle *o, int32_t node, int32_t count)
{
  static const double none = 0;
  const double *operand[3];
  ptrdiff_t step[3];
  const tmaring__syntax_node *syntax = node_at(o, node);
  for (int i = 0; i < 3; ++i) {
    operand[i] = syntax->arg[i] < 0 ? &none : value_of(o, syntax->arg[i]);
    step[i] = syntax->arg[i] >= 0 && varies(o, syntax->arg[i]) ? 1 : 0;
  }
  double *out = value_of(o, node);
  for (int32_t i = 0; i < count; ++i)
    out[i] = apply(syntax->kind, operand[0][i * step[0]], operand[1][i * step[1]], operand[2][i * step[2]]);
}

/* Values of a parameter: `count` columns of a row from `col`, or the row's or launch's one value. */
static void read_parameter(const oracle *o, int32_t node, int64_t row, int64_t col, int32_t count)
{
  const tmaring__symbol *symbol = &o->formula->symbol[node_at(o, node)->symbol];
  double *out = value_of(o, node);
  if (symbol->shape == TMARING_SHAPE_SCALAR) {
    out[0] = o->scalars ? o->scalars[symbol->index] : symbol->default_value;
    return;
  }
  int32_t tensor = 0;
  while (o->formula->tensor[tensor].symbol != node_at(o, node)->symbol) ++tensor;
  const double *data = o->data[tensor];
  const int64_t at = symbol->shape == TMARING_SHAPE_MATRIX ? row * o->cols + col
                     : symbol->shape == TMARING_SHAPE_ROW  ? col
                                                           : row;
  for (int32_t i = 0; i < count; ++i) out[i] = data[at + i];
}

static void evaluate_node(const oracle *o, int32_t node, int64_t row, int64_t col, int32_t count)
{
  const tmaring__syntax_node *syntax = node_at(o, node);
  if (o->stands_for[node] != node) return;
  switch (syntax->kind) {
  case TMARING__SYNTAX_NUMBER: value_of(o, node)[0] = syntax->number; return;
  case TMARING__SYNTAX_COLUMNS: value_of(o, node)[0] = (double)o->cols; return;
  case TMARING__SYNTAX_NAME: read_parameter(o, node, row, col, count); return;
  default: apply_many(o, node, count); return;
  }
}

static int reduced_in(const oracle *o, int32_t node, int32_t sweep)
{
  return tmaring__syntax_reduces(node_at(o, node)->kind) && o->level[node] == sweep + 1;
}

static void start_reduction(const oracle *o, int32_t node)
{
  const tmaring__syntax kind = node_at(o, node)->kind;
  value_of(o, node)[0] = kind == TMARING__SYNTAX_ROW_MAX ? -INFINITY : kind == TMARING__SYNTAX_ROW_MIN ? INFINITY : 0;
}

static void add_to_reduction(const oracle *o, int32_t node, int32_t count)
{
  const tmaring__syntax_node *syntax = node_at(o, node);
  const double *operand = value_of(o, syntax->arg[0]);
  double total = value_of(o, node)[0];
  for (int32_t i = 0; i < count; ++i)
    total = syntax->kind == TMARING__SYNTAX_ROW_MAX   ? larger(total, operand[i])
            : syntax->kind == TMARING__SYNTAX_ROW_MIN ? smaller(total, operand[i])
                                                      : total + operand[i];
  value_of(o, node)[0] = total;
}

/* Values that are the same for the whole row, once the reductions they use are over. */
static void evaluate_row_values(const oracle *o, int64_t row, int32_t sweep)
{
  for (int32_t i = 0; i < o->formula->tree.node_count; ++i)
    if (!varies(o, i) && o->level[i] == sweep && !tmaring__syntax_reduces(node_at(o, i)->kind))
      evaluate_node(o, i, row, 0, 1);
}

static void write_outputs(const oracle *o, int64_t row, int64_t col, int32_t count)
{
  for (int32_t i = 0; i < o->formula->tensor_count; ++i) {
    const tmaring__formula_tensor *tensor = &o->formula->tensor[i];
    const int32_t root = o->formula->symbol[tensor->symbol].root;
    if (!tensor->is_output) continue;
    const double *value = value_of(o, root);
    if (tensor->shape == TMARING_SHAPE_COLUMN) o->data[i][row] = value[0];
    for (int32_t c = 0; c < count && tensor->shape == TMARING_SHAPE_MATRIX; ++c)
      o->data[i][row * o->cols + col + c] = value[varies(o, root) ? c : 0];
  }
}

/* Every node of a chunk is evaluated before an output is written: an output may be an input. */
static void sweep_chunk(const oracle *o, int64_t row, int32_t sweep, int64_t col, int32_t count)
{
  const int32_t nodes = o->formula->tree.node_count;
  for (int32_t i = 0; i < nodes; ++i)
    if (o->swept[(size_t)sweep * (size_t)nodes + (size_t)i]) evaluate_node(o, i, row, col, count);
  for (int32_t i = 0; i < nodes; ++i)
    if (reduced_in(o, i, sweep)) add_to_reduction(o, i, count);
  if (sweep == o->sweeps - 1) write_outputs(o, row, col, count);
}

static void sweep_row(const oracle *o, int64_t row, int32_t sweep)
{
  const int32_t nodes = o->formula->tree.node_count;
  evaluate_row_values(o, row, sweep);
  for (int32_t i = 0; i < nodes; ++i)
    if (reduced_in(o, i, sweep)) start_reduction(o, i);
  for (int64_t col = 0; col < o->cols; col += CHUNK)
    sweep_chunk(o, row, sweep, col, o->cols - col < CHUNK ? (int32_t)(o->cols - col) : CHUNK);
  for (int32_t i = 0; i < nodes; ++i)
    if (reduced_in(o, i, sweep) && node_at(o, i)->kind == TMARING__SYNTAX_ROW_MEAN)
      value_of(o, i)[0] /= (double)o->cols;
}

/* Who stands for whom, and levels; a name's expression and a node's operands come before it. */
static void prepare_levels(oracle *o)
{
  o->sweeps = 1;
  for (int32_t i = 0; i < o->formula->tree.node_count; ++i) {
    const tmaring__syntax_node *node = node_at(o, i);
    const tmaring__symbol *symbol = node->kind == TMARING__SYNTAX_NAME ? &o->formula->symbol[node->symbol] : NULL;
    const int assigned = symbol && symbol->kind == TMARING__SYMBOL_ASSIGNED;
    o->stands_for[i] = assigned ? o->stands_for[symbol->root] : i;
    o->level[i] = assigned ? o->level[symbol->root] : 0;
    for (int a = 0; a < 3 && node->arg[a] >= 0; ++a)
      if (o->level[node->arg[a]] > o->level[i]) o->level[i] = o->level[node->arg[a]];
    o->level[i] += tmaring__syntax_reduces(node->kind);
    if (o->level[i] + 1 > o->sweeps) o->sweeps = o->level[i] + 1;
  }
}

/* Which nodes a sweep evaluates: what its reductions, and in the last sweep the outputs, are made of. */
static void prepare_sweep(oracle *o, int32_t sweep)
{
  const tmaring_formula *formula = o->formula;
  char *swept = o->swept + (size_t)sweep * (size_t)formula->tree.node_count;
  for (int32_t i = 0; i < formula->tree.node_count; ++i)
    if (reduced_in(o, i, sweep)) swept[o->stands_for[node_at(o, i)->arg[0]]] = 1;
  for (int32_t i = 0; i < formula->tensor_count && sweep == o->sweeps - 1; ++i)
    if (formula->tensor[i].is_output) swept[o->stands_for[formula->symbol[formula->tensor[i].symbol].root]] = 1;
  for (int32_t i = formula->tree.node_count - 1; i >= 0; --i) {
    if (!varies(o, i)) swept[i] = 0;
    for (int a = 0; swept[i] && a < 3 && node_at(o, i)->arg[a] >= 0; ++a)
      swept[o->stands_for[node_at(o, i)->arg[a]]] = 1;
  }
}

static tmaring_status check_arguments(const tmaring_formula *formula, int64_t rows, int64_t cols, double *const *data,
                                      const double *scalars)
{
  TMARING__NEED(formula);
  if (rows < 0 || cols < 1)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "rows, cols: got %lld, %lld, needs at least 0 and 1", (long long)rows,
                         (long long)cols);
  for (int32_t i = 0; i < formula->scalar_count && !scalars; ++i) {
    const tmaring__symbol *symbol = &formula->symbol[formula->scalar[i]];
    if (!symbol->has_default)
      return tmaring__fail(TMARING_ERROR_ARGUMENT, "scalars: got NULL, needs a value for %s, which has no default",
                           symbol->name);
  }
  if (rows == 0) return TMARING_OK;
  TMARING__NEED(data);
  for (int32_t i = 0; i < formula->tensor_count; ++i)
    if (!data[i])
      return tmaring__fail(TMARING_ERROR_ARGUMENT, "data[%d]: got NULL, needs the values of %s", (int)i,
                           formula->symbol[formula->tensor[i].symbol].name);
  return TMARING_OK;
}

static tmaring_status allocate(oracle *o)
{
  const size_t nodes = (size_t)o->formula->tree.node_count;
  o->value = malloc(nodes * CHUNK * sizeof *o->value);
  o->stands_for = malloc(nodes * sizeof *o->stands_for);
  o->level = malloc(nodes * sizeof *o->level);
  if (o->level && o->stands_for) prepare_levels(o);
  o->swept = calloc((size_t)(o->sweeps ? o->sweeps : 1) * nodes, 1);
  if (o->value && o->stands_for && o->level && o->swept) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_MEMORY, "evaluate: got no memory for %zu nodes; free some", nodes);
}

static void release(oracle *o)
{
  free(o->value);
  free(o->stands_for);
  free(o->level);
  free(o->swept);
}

tmaring_status tmaring_formula_evaluate(const tmaring_formula *formula, int64_t rows, int64_t cols, double *const *data,
                                        const double *scalars)
{
  TMARING__TRY(check_arguments(formula, rows, cols, data, scalars));
  TMARING__TRY(tmaring__mathlib_load());
  if (rows == 0) return TMARING_OK;
  oracle o = {.formula = formula, .cols = cols, .data = data, .scalars = scalars};
  const tmaring_status status = allocate(&o);
  for (int32_t sweep = 0; sweep < o.sweeps && status == TMARING_OK; ++sweep) prepare_sweep(&o, sweep);
  for (int64_t row = 0; row < rows && status == TMARING_OK; ++row)
    for (int32_t sweep = 0; sweep < o.sweeps; ++sweep) sweep_row(&o, row, sweep);
  release(&o);
  return status;
}

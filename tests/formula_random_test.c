/* Random formulas: their programs, run by a small interpreter in double and in fp32, against the oracle. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../src/host/formula/program.h"
#include "support/formula_maker.h"
#include "support/noise.h"
#include "tmaring/formula.h"

enum { ROWS = 3, COLS = 37, CELLS = ROWS * COLS, FORMULAS = 200, TENSORS = 16 };

/* ---- the interpreter ---- */

typedef struct machine {
  const tmaring__program *program;
  double *input[8], *vector[8], *row_scalar[8], *output[8], *row_output[8];
  double scalar[8];
  int fp32; /* 1: every operation is rounded to fp32, 0: to double */
  double value[TMARING__MAX_NODES];
} machine;

static double operate(const tmaring__node *node, double a, double b, double c)
{
  switch (node->op) {
  case TMARING__OP_ADD: return a + b;
  case TMARING__OP_SUB: return a - b;
  case TMARING__OP_MUL: return a * b;
  case TMARING__OP_DIV: return a / b;
  case TMARING__OP_NEG: return -a;
  case TMARING__OP_ABS: return fabs(a);
  case TMARING__OP_MIN: return fmin(a, b);
  case TMARING__OP_MAX: return fmax(a, b);
  case TMARING__OP_EXP: return exp(a);
  case TMARING__OP_LOG: return log(a);
  case TMARING__OP_SQRT: return sqrt(a);
  case TMARING__OP_RSQRT: return 1 / sqrt(a);
  case TMARING__OP_TANH: return tanh(a);
  case TMARING__OP_SIGMOID: return 1 / (1 + exp(-a));
  case TMARING__OP_LT: return a < b;
  case TMARING__OP_LE: return a <= b;
  case TMARING__OP_GT: return a > b;
  case TMARING__OP_GE: return a >= b;
  case TMARING__OP_EQ: return a == b;
  case TMARING__OP_NE: return a != b;
  case TMARING__OP_WHERE: return a != 0 ? b : c;
  default: cr_assert_fail("op %d is no operation", (int)node->op); return 0;
  }
}

static double rounded(const machine *m, double value)
{
  return m->fp32 ? (double)(float)value : value;
}

static void evaluate(machine *m, int32_t i, int row, int col)
{
  const tmaring__node *node = &m->program->node[i];
  double operand[3] = {0, 0, 0};
  for (int a = 0; a < 3 && node->arg[a] >= 0; ++a) operand[a] = m->value[node->arg[a]];
  switch (node->op) {
  case TMARING__OP_CONSTANT: m->value[i] = (double)node->value; return;
  case TMARING__OP_INPUT: m->value[i] = m->input[node->index][row * COLS + col]; return;
  case TMARING__OP_VECTOR: m->value[i] = m->vector[node->index][col]; return;
  case TMARING__OP_ROW_SCALAR: m->value[i] = m->row_scalar[node->index][row]; return;
  case TMARING__OP_SCALAR: m->value[i] = m->scalar[node->index]; return;
  case TMARING__OP_COLUMNS: m->value[i] = COLS; return;
  case TMARING__OP_REDUCE_SUM:
  case TMARING__OP_REDUCE_MAX:
  case TMARING__OP_REDUCE_MIN: return; /* gathered during its pass */
  default: m->value[i] = rounded(m, operate(node, operand[0], operand[1], operand[2]));
  }
}

static int reduces(tmaring__op op)
{
  return op == TMARING__OP_REDUCE_SUM || op == TMARING__OP_REDUCE_MAX || op == TMARING__OP_REDUCE_MIN;
}

static void gather(machine *m, int32_t i, int col)
{
  const tmaring__node *node = &m->program->node[i];
  const double value = m->value[node->arg[0]];
  if (col == 0)
    m->value[i] = value;
  else if (node->op == TMARING__OP_REDUCE_SUM)
    m->value[i] = rounded(m, m->value[i] + value);
  else
    m->value[i] = node->op == TMARING__OP_REDUCE_MAX ? fmax(m->value[i], value) : fmin(m->value[i], value);
}

/* Values of the row that a pass may use, as soon as the passes before are over. */
static void evaluate_row_values(machine *m, int row, int32_t level)
{
  for (int32_t i = 0; i < m->program->node_count; ++i)
    if (!m->program->node[i].per_col && m->program->node[i].level == level) evaluate(m, i, row, 0);
}

static void run_pass(machine *m, int row, int32_t pass)
{
  const tmaring__program *p = m->program;
  evaluate_row_values(m, row, pass);
  for (int col = 0; col < COLS; ++col) {
    for (int32_t i = 0; i < p->node_count; ++i)
      if (p->node[i].per_col && p->node[i].level <= pass) evaluate(m, i, row, col);
    for (int32_t i = 0; i < p->node_count; ++i)
      if (reduces(p->node[i].op) && p->node[i].level == pass + 1) gather(m, i, col);
    for (int32_t i = 0; i < p->output_count && pass == p->passes - 1; ++i)
      m->output[i][row * COLS + col] = m->value[p->output[i]];
  }
}

static void run(machine *m)
{
  const tmaring__program *p = m->program;
  for (int row = 0; row < ROWS; ++row) {
    for (int i = 0; i < TMARING__MAX_NODES; ++i) m->value[i] = NAN; /* used before it is there: seen in the result */
    for (int32_t pass = 0; pass < p->passes; ++pass) run_pass(m, row, pass);
    if (p->passes == p->reduction_passes) evaluate_row_values(m, row, p->passes);
    for (int32_t i = 0; i < p->row_output_count; ++i) m->row_output[i][row] = m->value[p->row_output[i]];
  }
}

/* ---- what program.h promises ---- */

static void check_node(const tmaring__program *p, int32_t i, const char *text)
{
  const tmaring__node *node = &p->node[i];
  int32_t level = 0, per_col = node->op == TMARING__OP_INPUT || node->op == TMARING__OP_VECTOR;
  for (int a = 0; a < 3; ++a) {
    cr_assert_eq(node->arg[a] >= 0, a < tmaring__op_operands(node->op), "node %d of %s", (int)i, text);
    cr_assert_lt(node->arg[a], i, "node %d of %s", (int)i, text);
    if (node->arg[a] < 0) continue;
    per_col |= p->node[node->arg[a]].per_col;
    if (p->node[node->arg[a]].level > level) level = p->node[node->arg[a]].level;
  }
  if (reduces(node->op)) cr_assert(per_col, "node %d of %s", (int)i, text);
  cr_assert_eq(node->per_col, reduces(node->op) ? 0 : per_col, "node %d of %s", (int)i, text);
  cr_assert_eq(node->level, level + reduces(node->op), "node %d of %s", (int)i, text);
  cr_assert_leq(node->level, p->reduction_passes);
}

static void check_program(const tmaring__program *p, const char *text, int seen[TMARING__OP_COUNT])
{
  int used[TMARING__MAX_NODES] = {0}, reductions[TMARING_MAX_PASSES + 1] = {0};
  cr_assert(p->node_count >= 1 && p->node_count <= TMARING__MAX_NODES);
  cr_assert(p->passes >= 1 && p->passes <= TMARING_MAX_PASSES);
  cr_assert_eq(p->passes, p->reduction_passes + (p->output_count > 0));
  for (int32_t i = 0; i < p->output_count; ++i) used[p->output[i]] = 1;
  for (int32_t i = 0; i < p->row_output_count; ++i) {
    used[p->row_output[i]] = 1;
    cr_assert_not(p->node[p->row_output[i]].per_col);
  }
  for (int32_t i = p->node_count - 1; i >= 0; --i) {
    check_node(p, i, text);
    cr_assert(used[i], "no output needs node %d of %s", (int)i, text);
    for (int a = 0; a < 3 && p->node[i].arg[a] >= 0; ++a) used[p->node[i].arg[a]] = 1;
    if (reduces(p->node[i].op)) ++reductions[p->node[i].level];
    ++seen[p->node[i].op];
    for (int32_t j = 0; j < i; ++j)
      cr_assert(p->node[i].op != p->node[j].op || p->node[i].index != p->node[j].index ||
                    memcmp(p->node[i].arg, p->node[j].arg, sizeof p->node[i].arg) != 0 ||
                    p->node[i].op == TMARING__OP_CONSTANT,
                "nodes %d and %d of %s are the same", (int)i, (int)j, text);
  }
  for (int32_t i = 1; i <= p->reduction_passes; ++i)
    cr_assert(reductions[i] >= 1 && reductions[i] <= TMARING_MAX_REDUCTIONS, "pass %d of %s", (int)i, text);
}

/* ---- one against the other ---- */

typedef struct sheet {
  double input[MADE_INPUTS][CELLS], want[TENSORS][CELLS], got[TENSORS][CELLS];
  double scalar[8];
} sheet;

static double *input_data(sheet *s, const char *name)
{
  for (int i = 0; i < MADE_INPUTS; ++i)
    if (strcmp(made_inputs[i][0], name) == 0) return s->input[i];
  cr_assert_fail("%s is no input", name);
  return NULL;
}

static void connect(machine *m, const tmaring_formula *formula, sheet *s, double *oracle_data[TENSORS])
{
  tmaring_parameter p;
  for (int32_t i = 0; i < tmaring_formula_tensor_count(formula); ++i) {
    const tmaring__slot slot = tmaring__formula_slot(formula, i);
    cr_assert_eq(tmaring_formula_tensor(formula, i, &p), TMARING_OK);
    double *data = p.is_output ? s->got[i] : input_data(s, p.name);
    oracle_data[i] = p.is_output ? s->want[i] : data;
    double **place = slot.kind == TMARING__SLOT_INPUT        ? m->input
                     : slot.kind == TMARING__SLOT_VECTOR     ? m->vector
                     : slot.kind == TMARING__SLOT_ROW_SCALAR ? m->row_scalar
                     : slot.kind == TMARING__SLOT_OUTPUT     ? m->output
                                                             : m->row_output;
    place[slot.index] = data;
  }
  for (int32_t i = 0; i < tmaring_formula_scalar_count(formula); ++i) {
    cr_assert_eq(tmaring_formula_scalar(formula, i, &p), TMARING_OK);
    m->scalar[i] = s->scalar[i] = input_data(s, p.name)[0];
  }
}

static double error_of(const made_formula *made, const char *name)
{
  for (int i = 0; i < made->outputs; ++i)
    if (strcmp(made->output[i].name, name) == 0) return made->output[i].error;
  cr_assert_fail("%s was never made an output", name);
  return 0;
}

static int64_t compare(const made_formula *made, const tmaring_formula *formula, const sheet *s, double unit,
                       const char *text)
{
  int64_t compared = 0;
  tmaring_parameter p;
  for (int32_t i = 0; i < tmaring_formula_tensor_count(formula); ++i) {
    cr_assert_eq(tmaring_formula_tensor(formula, i, &p), TMARING_OK);
    if (!p.is_output) continue;
    const double allowed = 4 * unit * (1 + error_of(made, p.name));
    const int count = p.shape == TMARING_SHAPE_COLUMN ? ROWS : CELLS;
    for (int c = 0; c < count; ++c, ++compared)
      cr_assert(fabs(s->got[i][c] - s->want[i][c]) <= allowed, "%s[%d]: program %a, oracle %a, allowed %g, in\n%s",
                p.name, c, s->got[i][c], s->want[i][c], allowed, text);
  }
  return compared;
}

static void fill(sheet *s, uint64_t seed)
{
  noise n = noise_seed(seed);
  for (int i = 0; i < MADE_INPUTS; ++i)
    for (int c = 0; c < CELLS; ++c) s->input[i][c] = (double)(float)data_value(&n, DATA_PLAIN, 0);
  memset(s->want, 0xff, sizeof s->want);
  memset(s->got, 0xff, sizeof s->got);
}

static int64_t check_formula(uint64_t seed, int seen[TMARING__OP_COUNT])
{
  static made_formula made;
  static sheet s;
  static machine m;
  double *oracle_data[TENSORS];
  tmaring_formula *formula;
  formula_make(&made, seed, COLS);
  const char *text = made.text;
  cr_assert_eq(tmaring_formula_parse(&formula, text), TMARING_OK, "%s\nin\n%s", tmaring_last_detail(), text);
  fill(&s, seed);
  m.program = tmaring__formula_program(formula);
  check_program(m.program, text, seen);
  connect(&m, formula, &s, oracle_data);
  cr_assert_eq(tmaring_formula_evaluate(formula, ROWS, COLS, oracle_data, s.scalar), TMARING_OK);
  int64_t compared = 0;
  for (m.fp32 = 0; m.fp32 < 2; ++m.fp32) {
    run(&m);
    compared += compare(&made, formula, &s, m.fp32 ? 0x1p-24 : 0x1p-53, text);
  }
  tmaring_formula_free(formula);
  return compared;
}

Test(formula_random, programs_agree_with_the_oracle, .timeout = 60)
{
  int seen[TMARING__OP_COUNT] = {0};
  int64_t compared = 0;
  for (uint64_t seed = 1; seed <= FORMULAS; ++seed) compared += check_formula(seed, seen);
  for (int op = 0; op < TMARING__OP_COUNT; ++op)
    cr_expect(seen[op] > 0, "no formula had %s", tmaring__op_text((tmaring__op)op));
  fprintf(stderr, "formula_random: %d formulas, %lld values of programs in double and fp32 agree with the oracle\n",
          FORMULAS, (long long)compared);
}

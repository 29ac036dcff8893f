/* Random formulas: their programs, run by a small interpreter in double and in fp32, against the oracle. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/formula_maker.h"
#include "support/interpreter.h"
#include "support/noise.h"
#include "tmaring/formula.h"

enum { ROWS = 3, COLS = INTERPRETER_COLS, CELLS = ROWS * COLS, FORMULAS = 400, TENSORS = 32 };

/* ---- what program.h promises ---- */

static int starts_per_col(tmaring__op op)
{
  switch (op) {
  case TMARING__OP_INPUT:
  case TMARING__OP_INPUT_EVEN:
  case TMARING__OP_INPUT_ODD:
  case TMARING__OP_VECTOR:
  case TMARING__OP_GROUP_SCALE:
  case TMARING__OP_COL: return 1;
  default: return 0;
  }
}

static void check_operands(const tmaring__program *p, int32_t i, const char *text)
{
  const tmaring__node *node = &p->node[i], *a = &p->node[node->arg[0] < 0 ? 0 : node->arg[0]];
  if (tmaring__op_reduces(node->op) || tmaring__op_groups(node->op))
    cr_assert(a->per_col, "node %d of %s", (int)i, text);
  if (tmaring__op_groups(node->op))
    cr_assert(p->group_cols_least <= node->index && node->index <= p->group_cols_most, "node %d of %s", (int)i, text);
  if (node->op == TMARING__OP_INPUT) cr_assert_not(p->paired[node->index], "node %d of %s", (int)i, text);
  if (node->op == TMARING__OP_INPUT_EVEN || node->op == TMARING__OP_INPUT_ODD)
    cr_assert(p->paired[node->index], "node %d of %s", (int)i, text);
  if (node->op != TMARING__OP_GATHER) return;
  cr_assert_eq(a->op, TMARING__OP_INPUT, "node %d of %s", (int)i, text);
  cr_assert(!p->node[node->arg[1]].per_col && p->node[node->arg[1]].level == 0, "node %d of %s", (int)i, text);
}

static void check_node(const tmaring__program *p, int32_t i, const char *text)
{
  const tmaring__node *node = &p->node[i];
  const int reduces = tmaring__op_reduces(node->op);
  int32_t level = 0, per_col = starts_per_col(node->op);
  for (int a = 0; a < 3; ++a) {
    cr_assert_eq(node->arg[a] >= 0, a < tmaring__op_operands(node->op), "node %d of %s", (int)i, text);
    cr_assert_lt(node->arg[a], i, "node %d of %s", (int)i, text);
    if (node->arg[a] < 0) continue;
    per_col |= p->node[node->arg[a]].per_col;
    if (p->node[node->arg[a]].level > level) level = p->node[node->arg[a]].level;
  }
  check_operands(p, i, text);
  cr_assert_eq(node->per_col, reduces ? 0 : per_col, "node %d of %s", (int)i, text);
  cr_assert_eq(node->level, level + reduces, "node %d of %s", (int)i, text);
  cr_assert_leq(node->level, p->reduction_passes);
}

static void mark_outputs(const tmaring__program *p, int used[TMARING__MAX_NODES])
{
  for (int32_t i = 0; i < p->output_count; ++i) used[p->output[i]] = 1;
  for (int32_t i = 0; i < p->row_output_count; ++i) {
    used[p->row_output[i]] = 1;
    cr_assert_not(p->node[p->row_output[i]].per_col);
  }
  for (int32_t i = 0; i < p->group_output_count; ++i) {
    used[p->group_output[i]] = 1;
    cr_assert(p->node[p->group_output[i]].per_col);
    cr_assert(p->group_cols_least <= p->group_output_cols[i] && p->group_output_cols[i] <= p->group_cols_most);
  }
  for (int32_t i = 0; i < p->column_output_count; ++i) {
    used[p->column_output[i].node] = 1;
    cr_assert(p->node[p->column_output[i].node].per_col);
  }
}

/* No node is there twice. */
static void check_sameness(const tmaring__program *p, int32_t i, const char *text)
{
  for (int32_t j = 0; j < i; ++j)
    cr_assert(p->node[i].op != p->node[j].op || p->node[i].index != p->node[j].index ||
                  memcmp(p->node[i].arg, p->node[j].arg, sizeof p->node[i].arg) != 0 ||
                  p->node[i].op == TMARING__OP_CONSTANT,
              "nodes %d and %d of %s are the same", (int)i, (int)j, text);
}

static void check_program(const tmaring__program *p, const char *text, int seen[TMARING__OP_COUNT])
{
  int used[TMARING__MAX_NODES] = {0}, partials[TMARING_MAX_PASSES + 1] = {0};
  cr_assert(p->node_count >= 1 && p->node_count <= TMARING__MAX_NODES);
  cr_assert(p->passes >= 1 && p->passes <= TMARING_MAX_PASSES);
  cr_assert_eq(p->passes, p->reduction_passes + (p->output_count + p->group_output_count + p->column_output_count > 0));
  mark_outputs(p, used);
  for (int32_t i = p->node_count - 1; i >= 0; --i) {
    const tmaring__op op = p->node[i].op;
    check_node(p, i, text);
    check_sameness(p, i, text);
    cr_assert(used[i], "no output needs node %d of %s", (int)i, text);
    for (int a = 0; a < 3 && p->node[i].arg[a] >= 0; ++a) used[p->node[i].arg[a]] = 1;
    if (tmaring__op_reduces(op)) partials[p->node[i].level] += op == TMARING__OP_GATHER ? 1 : tmaring__op_partials(op);
    ++seen[op];
  }
  for (int32_t i = 1; i <= p->reduction_passes; ++i)
    cr_assert(partials[i] >= 1 && partials[i] <= TMARING_MAX_REDUCTIONS, "pass %d of %s", (int)i, text);
}

/* ---- one against the other ---- */

typedef struct sheet {
  double input[MADE_INPUTS][2 * CELLS], want[TENSORS][CELLS], got[TENSORS][CELLS];
  double *oracle_data[TENSORS];
  tmaring_dtype dtype[TENSORS];
  double scalar[8];
} sheet;

static double *input_data(sheet *s, const char *name)
{
  for (int i = 0; i < MADE_INPUTS; ++i)
    if (strcmp(made_inputs[i][0], name) == 0) return s->input[i];
  cr_assert_fail("%s is no input", name);
  return NULL;
}

/* An input of a row of N, or one of 2N as one stream of pairs or as two. */
static void connect_stream(interpreter *m, tmaring__slot slot, const double *data, tmaring_shape shape,
                           tmaring_dtype dtype)
{
  m->input[slot.index] = data;
  m->pitch[slot.index] = shape == TMARING_SHAPE_DOUBLE ? 2 * COLS : COLS;
  m->dtype[slot.index] = dtype;
  cr_assert(slot.second < 0 || shape == TMARING_SHAPE_DOUBLE);
  if (slot.second < 0) return;
  m->input[slot.second] = data + COLS;
  m->pitch[slot.second] = 2 * COLS;
  m->dtype[slot.second] = dtype;
}

static void connect_tensor(interpreter *m, tmaring__slot slot, double *data, const tmaring_parameter *p)
{
  switch (slot.kind) {
  case TMARING__SLOT_INPUT:
    connect_stream(m, slot, data, p->shape, p->name[0] == 'x' ? TMARING_BF16 : TMARING_F32);
    break;
  case TMARING__SLOT_VECTOR: m->vector[slot.index] = data; break;
  case TMARING__SLOT_ROW_SCALAR: m->row_scalar[slot.index] = data; break;
  case TMARING__SLOT_GROUP_INPUT: m->group_input[slot.index] = data; break;
  case TMARING__SLOT_OUTPUT: m->output[slot.index] = data; break;
  case TMARING__SLOT_ROW_OUTPUT: m->row_output[slot.index] = data; break;
  case TMARING__SLOT_GROUP_OUTPUT: m->group_output[slot.index] = data; break;
  case TMARING__SLOT_COLUMN_OUTPUT: m->column_output[slot.index] = data; break;
  }
}

static void connect(interpreter *m, const tmaring_formula *formula, sheet *s)
{
  tmaring_parameter p;
  for (int32_t i = 0; i < tmaring_formula_tensor_count(formula); ++i) {
    const tmaring__slot slot = tmaring__formula_slot(formula, i);
    cr_assert_eq(tmaring_formula_tensor(formula, i, &p), TMARING_OK);
    cr_assert_eq(tmaring__slot_writes(slot), p.is_output);
    double *data = p.is_output ? s->got[i] : input_data(s, p.name);
    s->oracle_data[i] = p.is_output ? s->want[i] : data;
    s->dtype[i] = p.name[0] == 'x' ? TMARING_BF16 : TMARING_F32;
    connect_tensor(m, slot, data, &p);
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
    const int count = p.shape == TMARING_SHAPE_COLUMN  ? ROWS
                      : p.shape == TMARING_SHAPE_ROW   ? COLS
                      : p.shape == TMARING_SHAPE_GROUP ? ROWS * interpreter_groups(p.group_cols)
                                                       : CELLS;
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
    for (int c = 0; c < 2 * CELLS; ++c) s->input[i][c] = (double)(float)data_value(&n, DATA_PLAIN, 0);
  for (int row = 0; row < ROWS; ++row) input_data(s, "k")[row] = noise_below(&n, COLS);
  memset(s->want, 0xff, sizeof s->want);
  memset(s->got, 0xff, sizeof s->got);
}

static int64_t check_formula(uint64_t seed, int seen[TMARING__OP_COUNT])
{
  static made_formula made;
  static sheet s;
  static interpreter m;
  tmaring_formula *formula;
  formula_make(&made, seed, ROWS, COLS);
  const char *text = made.text;
  cr_assert_eq(tmaring_formula_parse(&formula, text), TMARING_OK, "%s\nin\n%s", tmaring_last_detail(), text);
  fill(&s, seed);
  m.program = tmaring__formula_program(formula);
  check_program(m.program, text, seen);
  connect(&m, formula, &s);
  cr_assert_eq(tmaring_formula_evaluate(formula, ROWS, COLS, s.oracle_data, s.scalar, s.dtype), TMARING_OK);
  int64_t compared = 0;
  for (m.fp32 = 0; m.fp32 < 2; ++m.fp32) {
    interpreter_run(&m, ROWS);
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

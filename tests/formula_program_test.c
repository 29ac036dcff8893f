/* What formulas are lowered to, node by node. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../src/host/formula/program.h"
#include "tmaring/formula.h"

enum { TEXT_BYTES = 2000 };

/* One node: op, its index, value or operands, c (per column) or r (per row), and its level: "*(0,1)c0". */
static size_t print_node(char *text, size_t room, const tmaring__node *node)
{
  size_t used = (size_t)snprintf(text, room, "%s", tmaring__op_text(node->op));
  const int32_t operands = tmaring__op_operands(node->op);
  if (node->op == TMARING__OP_CONSTANT)
    used += (size_t)snprintf(text + used, room - used, "{%.9g}", (double)node->value);
  if (operands == 0 && node->op != TMARING__OP_CONSTANT && node->op != TMARING__OP_COLUMNS)
    used += (size_t)snprintf(text + used, room - used, "#%d", (int)node->index);
  for (int32_t i = 0; i < operands; ++i)
    used += (size_t)snprintf(text + used, room - used, "%c%d", i ? ',' : '(', (int)node->arg[i]);
  return used + (size_t)snprintf(text + used, room - used, "%s%c%d ", operands ? ")" : "", node->per_col ? 'c' : 'r',
                                 (int)node->level);
}

/* All nodes in order, then reduction passes / passes, outputs and row outputs: "... | 1/2 y10 m4". */
static void print_program(char text[TEXT_BYTES], const tmaring__program *program)
{
  size_t used = 0;
  for (int32_t i = 0; i < program->node_count; ++i)
    used += print_node(text + used, TEXT_BYTES - used, &program->node[i]);
  used +=
      (size_t)snprintf(text + used, TEXT_BYTES - used, "| %d/%d", (int)program->reduction_passes, (int)program->passes);
  for (int32_t i = 0; i < program->output_count; ++i)
    used += (size_t)snprintf(text + used, TEXT_BYTES - used, " y%d", (int)program->output[i]);
  for (int32_t i = 0; i < program->row_output_count; ++i)
    used += (size_t)snprintf(text + used, TEXT_BYTES - used, " m%d", (int)program->row_output[i]);
}

typedef struct lowered {
  const char *text, *program;
} lowered;

static const lowered table[] = {
    {"y = x + x", "input#0c0 +(0,0)c0 | 0/1 y1"},
    {"y = x", "input#0c0 | 0/1 y0"},
    {"y = sum(x)", "input#0c0 sum(0)r1 | 1/1 m1"},
    {"rmsnorm(x[M,N], w[N]; eps) = x * rsqrt(mean(x*x) + eps) * w",
     "input#0c0 *(0,0)c0 sum(1)r1 columnsr0 /(2,3)r1 scalar#0r0 +(4,5)r1 rsqrt(6)r1 *(0,7)c1 vector#0c0 *(8,9)c1 "
     "| 1/2 y10"},
    {"mu = mean(x); d = x - mu; y = d * rsqrt(mean(d*d) + 1e-5) * w[N] + b[N]",
     "input#0c0 sum(0)r1 columnsr0 /(1,2)r1 -(0,3)c1 *(4,4)c1 sum(5)r2 /(6,2)r2 constant{9.99999975e-06}r0 +(7,8)r2 "
     "rsqrt(9)r2 *(4,10)c2 vector#0c0 *(11,12)c2 vector#1c0 +(13,14)c2 | 2/3 y15"},
    {"e = exp(x - max(x)); y = e / sum(e)", "input#0c0 max of row(0)r1 -(0,1)c1 exp(2)c1 sum(3)r2 /(3,4)c2 | 2/3 y5"},
    /* equal parts are one */
    {"y = mean(x*x) + sum(x*x)", "input#0c0 *(0,0)c0 sum(1)r1 columnsr0 /(2,3)r1 +(4,2)r1 | 1/1 m5"},
    {"a = x * 2; b = x * 2; y = a - b", "input#0c0 constant{2}r0 *(0,1)c0 -(2,2)c0 | 0/1 y3"},
    {"a = x + x; b = x + x", "input#0c0 +(0,0)c0 | 0/1 y1 y1"},
    {"y = x * w[N] + x * w", "input#0c0 vector#0c0 *(0,1)c0 +(2,2)c0 | 0/1 y3"},
    /* but nothing is reordered, and input 0 is not vector 0 */
    {"y = x * z - z * x", "input#0c0 input#1c0 *(0,1)c0 *(1,0)c0 -(2,3)c0 | 0/1 y4"},
    {"y = x + w[N] + s[M] + a[]", "input#0c0 vector#0c0 +(0,1)c0 row_scalar#0r0 +(2,3)c0 scalar#0r0 +(4,5)c0 | 0/1 y6"},
    {"y = x + 1 + 2", "input#0c0 constant{1}r0 +(0,1)c0 constant{2}r0 +(2,3)c0 | 0/1 y4"},
    /* constants in fp32 */
    {"y = x * (1 / 3 + 2 * -4)", "input#0c0 constant{-7.66666651}r0 *(0,1)c0 | 0/1 y2"},
    {"y = x * (5 - 3)", "input#0c0 constant{2}r0 *(0,1)c0 | 0/1 y2"},
    {"y = x * -(7 / 2)", "input#0c0 constant{-3.5}r0 *(0,1)c0 | 0/1 y2"},
    {"y = x + 16777216 + (16777216 + 1)", "input#0c0 constant{16777216}r0 +(0,1)c0 +(2,1)c0 | 0/1 y3"},
    {"y = x * 0 - -0 * 1", "input#0c0 constant{0}r0 *(0,1)c0 constant{-0}r0 -(2,3)c0 | 0/1 y4"},
    {"y = x * (1 / 0)", "input#0c0 constant{inf}r0 *(0,1)c0 | 0/1 y2"},
    {"y = x + exp(1)", "input#0c0 constant{1}r0 exp(1)r0 +(0,2)c0 | 0/1 y3"},
    {"y = x + 2 * N", "input#0c0 constant{2}r0 columnsr0 *(1,2)r0 +(0,3)c0 | 0/1 y4"},
    /* passes: independent reductions share one */
    {"y = x * max(x) + min(x) * sum(w[N])",
     "input#0c0 max of row(0)r1 *(0,1)c1 min of row(0)r1 vector#0c0 sum(4)r1 *(3,5)r1 +(2,6)c1 | 1/2 y7"},
    {"out m = max(x); y = x - m", "input#0c0 max of row(0)r1 -(0,1)c1 | 1/2 y2 m1"},
    {"m = max(x); n = m * s[M]; y = x", "input#0c0 max of row(0)r1 row_scalar#0r0 *(1,2)r1 | 1/2 y0 m3"},
    {"y = sum(x - s[M])", "input#0c0 row_scalar#0r0 -(0,1)c0 sum(2)r1 | 1/1 m3"},
    {"y = min(x, max(x, x - max(x)))", "input#0c0 max of row(0)r1 -(0,1)c1 max(0,2)c1 min(0,3)c1 | 1/2 y4"},
    {"c = x > s[M]; y = where(c, x, where(s >= 1, 2, x))",
     "input#0c0 row_scalar#0r0 >(0,1)c0 constant{1}r0 >=(1,3)r0 constant{2}r0 where(4,5,0)c0 where(2,0,6)c0 | 0/1 y7"},
    /* outputs of fewer dimensions are nodes of fewer dimensions */
    {"y = max(x); z = w[N]; t = 3", "input#0c0 max of row(0)r1 vector#0c0 constant{3}r0 | 1/2 y2 y3 m1"},
};

Test(formula_program, nodes, .timeout = 10)
{
  char text[TEXT_BYTES];
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
    tmaring_formula *formula;
    cr_assert_eq(tmaring_formula_parse(&formula, table[i].text), TMARING_OK, "%s", tmaring_last_detail());
    print_program(text, tmaring__formula_program(formula));
    cr_expect_str_eq(text, table[i].program, "%s\n got   %s\n needs %s", table[i].text, text, table[i].program);
    tmaring_formula_free(formula);
  }
  fprintf(stderr, "formula_program: %zu programs node by node\n", sizeof table / sizeof table[0]);
}

Test(formula_program, slots_and_counts, .timeout = 5)
{
  static const tmaring__slot_kind kind[] = {TMARING__SLOT_VECTOR, TMARING__SLOT_INPUT,      TMARING__SLOT_ROW_SCALAR,
                                            TMARING__SLOT_INPUT,  TMARING__SLOT_ROW_SCALAR, TMARING__SLOT_ROW_OUTPUT,
                                            TMARING__SLOT_OUTPUT, TMARING__SLOT_ROW_OUTPUT, TMARING__SLOT_OUTPUT};
  static const int32_t index[] = {0, 0, 0, 1, 1, 0, 0, 1, 1};
  tmaring_formula *formula;
  cr_assert_eq(tmaring_formula_parse(&formula, "f(w[N], x[M,N], s[M], z[M,N], r[M]; a, b) =\n out h = max(x) * s\n"
                                               "out y = x * w + z * a\n k = h + r * b\n u = y - h"),
               TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_formula_tensor_count(formula), 9);
  for (int32_t i = 0; i < 9; ++i) {
    cr_expect_eq(tmaring__formula_slot(formula, i).kind, kind[i], "tensor %d", (int)i);
    cr_expect_eq(tmaring__formula_slot(formula, i).index, index[i], "tensor %d", (int)i);
  }
  const tmaring__program *program = tmaring__formula_program(formula);
  cr_expect_eq(program->input_count, 2);
  cr_expect_eq(program->vector_count, 1);
  cr_expect_eq(program->row_scalar_count, 2);
  cr_expect_eq(program->scalar_count, 2);
  cr_expect_eq(program->output_count, 2);
  cr_expect_eq(program->row_output_count, 2);
  tmaring_formula_free(formula);
}

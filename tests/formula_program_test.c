/* What formulas are lowered to, node by node. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../src/host/formula/program.h"
#include "tmaring/formula.h"

enum { TEXT_BYTES = 2000 };

static int has_index(tmaring__op op)
{
  if (op == TMARING__OP_CAST || op == TMARING__OP_CAST_AS || tmaring__op_groups(op)) return 1;
  return tmaring__op_operands(op) == 0 && op != TMARING__OP_CONSTANT && op != TMARING__OP_COLUMNS &&
         op != TMARING__OP_ROWS && op != TMARING__OP_COL && op != TMARING__OP_ROW;
}

/* One node: op, its index, value or operands, c (per column) or r (per row), and its level: "*(0,1)c0". */
static size_t print_node(char *text, size_t room, const tmaring__node *node)
{
  size_t used = (size_t)snprintf(text, room, "%s", tmaring__op_text(node->op));
  const int32_t operands = tmaring__op_operands(node->op);
  if (node->op == TMARING__OP_CONSTANT) used += (size_t)snprintf(text + used, room - used, "{%.9g}", node->value);
  if (has_index(node->op)) used += (size_t)snprintf(text + used, room - used, "#%d", (int)node->index);
  for (int32_t i = 0; i < operands; ++i)
    used += (size_t)snprintf(text + used, room - used, "%c%d", i ? ',' : '(', (int)node->arg[i]);
  return used + (size_t)snprintf(text + used, room - used, "%s%c%d ", operands ? ")" : "", node->per_col ? 'c' : 'r',
                                 (int)node->level);
}

/* All nodes in order, then reduction passes / passes, and outputs: [M,N] y, [M] m, [M,N/k] g with its k, [N] with the
 * way it is reduced: "... | 1/2 y10 m4 g3/128 mean5". */
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
  for (int32_t i = 0; i < program->group_output_count; ++i)
    used += (size_t)snprintf(text + used, TEXT_BYTES - used, " g%d/%d", (int)program->group_output[i],
                             (int)program->group_output_cols[i]);
  for (int32_t i = 0; i < program->column_output_count; ++i)
    used += (size_t)snprintf(text + used, TEXT_BYTES - used, " %s%d",
                             program->column_output[i].mean ? "mean" : tmaring__op_text(program->column_output[i].op),
                             (int)program->column_output[i].node);
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
     "input#0c0 sum(0)r1 columnsr0 /(1,2)r1 -(0,3)c1 *(4,4)c1 sum(5)r2 /(6,2)r2 constant{1e-05}r0 +(7,8)r2 "
     "rsqrt(9)r2 *(4,10)c2 vector#0c0 *(11,12)c2 vector#1c0 +(13,14)c2 | 2/3 y15"},
    /* equal parts are one */
    {"y = mean(x*x) + sum(x*x)", "input#0c0 *(0,0)c0 sum(1)r1 columnsr0 /(2,3)r1 +(4,2)r1 | 1/1 m5"},
    {"a = x * 2; b = x * 2; y = a - b", "input#0c0 constant{2}r0 *(0,1)c0 -(2,2)c0 | 0/1 y3"},
    {"a = x + x; b = x + x", "input#0c0 +(0,0)c0 | 0/1 y1 y1"},
    {"y = x * w[N] + x * w", "input#0c0 vector#0c0 *(0,1)c0 +(2,2)c0 | 0/1 y3"},
    /* but nothing is reordered, and input 0 is not vector 0 */
    {"y = x * z - z * x", "input#0c0 input#1c0 *(0,1)c0 *(1,0)c0 -(2,3)c0 | 0/1 y4"},
    {"y = x + w[N] + s[M] + a[]", "input#0c0 vector#0c0 +(0,1)c0 row_scalar#0r0 +(2,3)c0 scalar#0r0 +(4,5)c0 | 0/1 y6"},
    {"y = x + 1 + 2", "input#0c0 constant{1}r0 +(0,1)c0 constant{2}r0 +(2,3)c0 | 0/1 y4"},
    /* constants: done once where fp32 and double agree on what comes out */
    {"y = x * (1 / 3 + 2 * -4)", "input#0c0 constant{-7.66666667}r0 *(0,1)c0 | 0/1 y2"},
    {"y = x * (5 - 3)", "input#0c0 constant{2}r0 *(0,1)c0 | 0/1 y2"},
    {"y = x * -(7 / 2)", "input#0c0 constant{-3.5}r0 *(0,1)c0 | 0/1 y2"},
    {"y = x * -0.1", "input#0c0 constant{-0.1}r0 *(0,1)c0 | 0/1 y2"},
    {"y = x + 16777216 + (16777216 + 1)",
     "input#0c0 constant{16777216}r0 +(0,1)c0 constant{16777217}r0 +(2,3)c0 | 0/1 y4"},
    {"y = x * (0.1 + 0.6)", "input#0c0 constant{0.1}r0 constant{0.6}r0 +(1,2)r0 *(0,3)c0 | 0/1 y4"},
    {"y = x * (0.1 + 0.7)", "input#0c0 constant{0.8}r0 *(0,1)c0 | 0/1 y2"},
    {"y = x * (1e30 * 1e30)", "input#0c0 constant{1e+60}r0 *(0,1)c0 | 0/1 y2"},
    {"y = x * (1e30 * 1e30 / 1e30)", "input#0c0 constant{1e+30}r0 constant{1e+60}r0 /(2,1)r0 *(0,3)c0 | 0/1 y4"},
    {"y = x * (16777217 - 16777216)", "input#0c0 constant{16777217}r0 constant{16777216}r0 -(1,2)r0 *(0,3)c0 | 0/1 y4"},
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
    /* a sum of exp below the maximum is one reduction, in the maximum's pass, but only below its own maximum */
    {"e = exp(x - max(x)); y = e / sum(e)",
     "input#0c0 max of row(0)r1 -(0,1)c1 exp(2)c1 sum of exp below max(0)r1 /(3,4)c1 | 1/2 y5"},
    {"h = max(x); d = x - h; y = sum(exp(d))", "input#0c0 sum of exp below max(0)r1 | 1/1 m1"},
    {"z = x * a[]; y = mean(exp(z - max(x * a)))",
     "input#0c0 scalar#0r0 *(0,1)c0 sum of exp below max(2)r1 columnsr0 /(3,4)r1 | 1/1 m5"},
    {"y = logsumexp(x)", "input#0c0 max of row(0)r1 sum of exp below max(0)r1 log(2)r1 +(1,3)r1 | 1/1 m4"},
    {"y = logsumexp(x) - (max(x) + log(sum(exp(x - max(x)))))",
     "input#0c0 max of row(0)r1 sum of exp below max(0)r1 log(2)r1 +(1,3)r1 -(4,4)r1 | 1/1 m5"},
    {"y = sum(exp(x - max(z)))", "input#0c0 input#1c0 max of row(1)r1 -(0,2)c1 exp(3)c1 sum(4)r2 | 2/2 m5"},
    {"y = sum(exp(x - min(x)))", "input#0c0 min of row(0)r1 -(0,1)c1 exp(2)c1 sum(3)r2 | 2/2 m4"},
    {"y = sum(exp(max(x) - x))", "input#0c0 max of row(0)r1 -(1,0)c1 exp(2)c1 sum(3)r2 | 2/2 m4"},
    {"y = sum(exp(x - amax(x)))", "input#0c0 abs(0)c0 max of row(1)r1 -(0,2)c1 exp(3)c1 sum(4)r2 | 2/2 m5"},
    {"y = sum(exp(x * 2 - max(x)))",
     "input#0c0 constant{2}r0 *(0,1)c0 max of row(0)r1 -(2,3)c1 exp(4)c1 sum(5)r2 | 2/2 m6"},
    {"y = sum(exp(x - max(x)) * z)",
     "input#0c0 max of row(0)r1 -(0,1)c1 exp(2)c1 input#1c0 *(3,4)c1 sum(5)r2 | 2/2 m6"},
    {"y = max(exp(x - max(x)))", "input#0c0 max of row(0)r1 -(0,1)c1 exp(2)c1 max of row(3)r2 | 2/2 m4"},
    {"y = sum(exp(x + -max(x)))", "input#0c0 max of row(0)r1 neg(1)r1 +(0,2)c1 exp(3)c1 sum(4)r2 | 2/2 m5"},
    {"c = x - max(x); y = sum(exp(c - max(c)))",
     "input#0c0 max of row(0)r1 -(0,1)c1 sum of exp below max(2)r2 | 2/2 m3"},
    /* the language's numbers, and functions made of others */
    {"y = x + N * M - col / row",
     "input#0c0 columnsr0 rowsr0 *(1,2)r0 +(0,3)c0 colc0 rowr0 /(5,6)c0 -(4,7)c0 | 0/1 y8"},
    {"y = clamp(x, -1, a[])", "input#0c0 constant{-1}r0 scalar#0r0 max(0,1)c0 min(3,2)c0 | 0/1 y4"},
    {"y = silu(x) + x * sigmoid(x)", "input#0c0 sigmoid(0)c0 *(0,1)c0 +(2,2)c0 | 0/1 y3"},
    {"y = round(x) + erf(x)", "input#0c0 round(0)c0 erf(0)c0 +(1,2)c0 | 0/1 y3"},
    {"y = amax(x) + argmax(x)", "input#0c0 abs(0)c0 max of row(1)r1 argmax of row(0)r1 +(2,3)r1 | 1/1 m4"},
    {"y = sum(col) + sum(x)", "colc0 sum(0)r1 input#0c0 sum(2)r1 +(1,3)r1 | 1/1 m4"},
    {"fill(; value) = value", "scalar#0r0 | 0/1 y0"},
    {"f(s[M]) = s", "row_scalar#0r0 | 0/1 m0"},
    /* casts: f64 holds all that is computed */
    {"y = cast(bf16, x) + cast(x, x) + cast(f64, x) + cast(i8, 3)",
     "input#0c0 cast#2(0)c0 cast as input#0(0)c0 +(1,2)c0 +(3,0)c0 constant{3}r0 cast#6(5)r0 +(4,6)c0 | 0/1 y7"},
    {"f(x[M,N], z[M,2N], t[M,2N]) = cast(t, x) * even(z) + first(t) * second(t)",
     "input#0c0 cast as input#2(0)c0 even input#1c0 *(1,2)c0 input#2c0 input#3c0 *(4,5)c0 +(3,6)c0 | 0/1 y7"},
    /* labels: found in pass 0 */
    {"y = x[label[M]]", "row_scalar#0r0 input#0c0 gather(1,0)r1 | 1/1 m2"},
    {"f(x[M,N], l[M]) = where(l < 0, 0, logsumexp(x) - x[l])",
     "row_scalar#0r0 constant{0}r0 <(0,1)r0 input#0c0 max of row(3)r1 sum of exp below max(3)r1 log(5)r1 +(4,6)r1 "
     "gather(3,0)r1 -(7,8)r1 where(2,1,9)r1 | 1/1 m10"},
    {"y = x - z[row]", "input#0c0 rowr0 input#1c0 gather(2,1)r1 -(0,3)c1 | 1/2 y4"},
    /* groups of columns take no pass */
    {"out s = max(gamax(x, 128), 1e-10) / 448; q = x / s",
     "input#0c0 abs(0)c0 max of group#128(1)c0 constant{1e-10}r0 max(2,3)c0 constant{448}r0 /(4,5)c0 /(0,6)c0 "
     "| 0/1 y7 g6/128"},
    {"y = gsum(x, 4) - gmin(x, 4) * s[M,N/4] + gsum(x, 4) + gsum(x, 8)",
     "input#0c0 sum of group#4(0)c0 min of group#4(0)c0 group#0c0 *(2,3)c0 -(1,4)c0 +(5,1)c0 sum of group#8(0)c0 "
     "+(6,7)c0 | 0/1 y8"},
    {"y = gmax(x - mean(x), 2); z = sum(gmax(x, 2))",
     "input#0c0 sum(0)r1 columnsr0 /(1,2)r1 -(0,3)c1 max of group#2(4)c1 max of group#2(0)c0 sum(6)r1 | 1/2 m7 g5/2"},
    /* reductions over the rows: what is reduced, in the last pass */
    {"d = colsum(x)", "input#0c0 | 0/1 sum0"},
    {"f(x[M,N]) = m = mean(x); a = colmean(x - m); b = colmax(x); out c = colsum(x - m)",
     "input#0c0 sum(0)r1 columnsr0 /(1,2)r1 -(0,3)c1 | 1/2 mean4 max of row0 sum4"},
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
    cr_expect_eq(tmaring__formula_slot(formula, i).second, -1, "tensor %d", (int)i);
    cr_expect_eq(tmaring__slot_writes(tmaring__formula_slot(formula, i)), i >= 5, "tensor %d", (int)i);
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

typedef struct placed {
  const char *name;
  tmaring__slot slot;
} placed;

static void check_places(const tmaring_formula *formula, const placed *want, int32_t count)
{
  cr_assert_eq(tmaring_formula_tensor_count(formula), count);
  for (int32_t i = 0; i < count; ++i) {
    const tmaring__slot slot = tmaring__formula_slot(formula, i);
    cr_assert_eq(tmaring_formula_find(formula, want[i].name), i, "%s", want[i].name);
    cr_expect_eq(slot.kind, want[i].slot.kind, "%s: kind %d", want[i].name, (int)slot.kind);
    cr_expect_eq(slot.index, want[i].slot.index, "%s: index %d", want[i].name, (int)slot.index);
    cr_expect_eq(slot.second, want[i].slot.second, "%s: second %d", want[i].name, (int)slot.second);
  }
}

Test(formula_program, slots_of_views_groups_and_columns, .timeout = 5)
{
  static const placed want[] = {{"p", {TMARING__SLOT_INPUT, 0, -1}},        {"g", {TMARING__SLOT_GROUP_INPUT, 0, -1}},
                                {"h", {TMARING__SLOT_INPUT, 1, 2}},         {"x", {TMARING__SLOT_INPUT, 3, -1}},
                                {"k", {TMARING__SLOT_GROUP_INPUT, 1, -1}},  {"s", {TMARING__SLOT_ROW_SCALAR, 0, -1}},
                                {"a", {TMARING__SLOT_GROUP_OUTPUT, 0, -1}}, {"d", {TMARING__SLOT_COLUMN_OUTPUT, 0, -1}},
                                {"b", {TMARING__SLOT_GROUP_OUTPUT, 1, -1}}, {"y", {TMARING__SLOT_OUTPUT, 0, -1}},
                                {"e", {TMARING__SLOT_COLUMN_OUTPUT, 1, -1}}};
  tmaring_formula *formula;
  cr_assert_eq(tmaring_formula_parse(
                   &formula, "f(p[M,2N], g[M,N/64], h[M,2N], x[M,N], k[M,N/16], s[M]) = out a = gsum(x, 32) * s\n"
                             "d = colmean(odd(p) * a)\n b = g + 1; y = first(h) - k; e = colmax(x)"),
               TMARING_OK, "%s", tmaring_last_detail());
  check_places(formula, want, (int32_t)(sizeof want / sizeof want[0]));
  const tmaring__program *p = tmaring__formula_program(formula);
  const int32_t paired[TMARING_MAX_STREAMS] = {1, 0, 0, 0};
  cr_expect_arr_eq(p->paired, paired, sizeof paired);
  cr_expect(p->input_count == 4 && p->group_input_count == 2 && p->row_scalar_count == 1 && p->vector_count == 0);
  cr_expect(p->group_input_cols[0] == 64 && p->group_input_cols[1] == 16);
  cr_expect(p->group_output_count == 2 && p->group_output_cols[0] == 32 && p->group_output_cols[1] == 64);
  cr_expect(p->group_cols_least == 16 && p->group_cols_most == 64);
  cr_expect(p->output_count == 1 && p->row_output_count == 0 && p->column_output_count == 2);
  cr_expect(p->column_output[0].mean == 1 && p->column_output[0].op == TMARING__OP_REDUCE_SUM);
  cr_expect(p->column_output[1].mean == 0 && p->column_output[1].op == TMARING__OP_REDUCE_MAX);
  cr_expect(p->reduction_passes == 0 && p->passes == 1);
  tmaring_formula_free(formula);
}

/* The order of tensors is that of the text, also where an input is named in front of what is typed first. */
Test(formula_program, inputs_as_they_first_appear, .timeout = 5)
{
  static const placed label[] = {{"x", {TMARING__SLOT_INPUT, 0, -1}},
                                 {"l", {TMARING__SLOT_ROW_SCALAR, 0, -1}},
                                 {"y", {TMARING__SLOT_ROW_OUTPUT, 0, -1}}};
  static const placed cast[] = {
      {"x", {TMARING__SLOT_INPUT, 0, -1}}, {"z", {TMARING__SLOT_INPUT, 1, -1}}, {"y", {TMARING__SLOT_OUTPUT, 0, -1}}};
  tmaring_formula *formula;
  cr_assert_eq(tmaring_formula_parse(&formula, "y = x[l[M]]"), TMARING_OK);
  check_places(formula, label, 3);
  tmaring_formula_free(formula);
  cr_assert_eq(tmaring_formula_parse(&formula, "y = cast(x, z) - x"), TMARING_OK);
  check_places(formula, cast, 3);
  cr_expect_eq(tmaring__formula_program(formula)->node[0].index, 1); /* z, computed first */
  tmaring_formula_free(formula);
}

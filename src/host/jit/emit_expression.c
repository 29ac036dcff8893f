#include "emit_expression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *tmaring__emit_dtype(tmaring_dtype dtype)
{
  switch (dtype) {
#define DTYPE_NAME(name, value, text, bytes)                                                                           \
  case TMARING_##name: return "TMARING_" #name;
    TMARING_DTYPE_LIST(DTYPE_NAME)
#undef DTYPE_NAME
  case TMARING_DTYPE_COUNT: break;
  }
  return "";
}

const char *tmaring__emit_name(const tmaring__emitter *m, tmaring__slot_kind kind, int32_t index)
{
  const int32_t count = m->spec->names ? tmaring_formula_tensor_count(m->spec->names) : 0;
  for (int32_t i = 0; i < count; ++i) {
    const tmaring__slot slot = tmaring__formula_slot(m->spec->names, i);
    tmaring_parameter parameter = {.size = sizeof parameter};
    if (slot.kind != kind || (slot.index != index && !(kind == TMARING__SLOT_INPUT && slot.second == index))) continue;
    if (tmaring_formula_tensor(m->spec->names, i, &parameter) == TMARING_OK) return parameter.name;
  }
  return "";
}

const char *tmaring__emit_operation(tmaring__op op)
{
  switch (op) {
  case TMARING__OP_GROUP_SUM:
  case TMARING__OP_REDUCE_SUM: return "tmaring_sum<real>";
  case TMARING__OP_GROUP_MAX:
  case TMARING__OP_REDUCE_MAX: return "tmaring_greatest<real>";
  case TMARING__OP_GROUP_MIN:
  case TMARING__OP_REDUCE_MIN: return "tmaring_least<real>";
  case TMARING__OP_REDUCE_ARGMAX: return "tmaring_argmax<real>";
  case TMARING__OP_REDUCE_EXPSUM: return "tmaring_expsum<real>";
  default: return "";
  }
}

int tmaring__is_literal(const tmaring__node *n)
{
  return n->op == TMARING__OP_CONSTANT || n->op == TMARING__OP_SCALAR || n->op == TMARING__OP_COLUMNS;
}

/* By its bits (no libm): a normal number without a fraction. */
static int is_power_of_two(const tmaring__node *n)
{
  uint64_t bits;
  memcpy(&bits, &n->value, sizeof bits);
  const uint64_t exponent = bits >> 52 & 0x7ffu;
  return n->op == TMARING__OP_CONSTANT && exponent != 0 && exponent != 0x7ffu && bits << 12 == 0;
}

int tmaring__is_shared_quotient(const tmaring__kernel_spec *spec, const tmaring__node *n, const unsigned char *uniform)
{
  if (n->op != TMARING__OP_DIV || !n->per_col || spec->code.wide) return 0;
  const tmaring__node *by = &spec->program->node[n->arg[1]];
  return by->per_col ? uniform[n->arg[1]] : !is_power_of_two(by);
}

/* ---- operands ---- */

/* Exact, with a point whatever the locale; negative ones in parentheses. */
static void emit_number(const tmaring__emitter *m, double value)
{
  const int wide = m->spec->code.wide;
  char text[40];
  snprintf(text, sizeof text, wide ? "%.17g" : "%.9g", wide ? value : (double)(float)value);
  const char *digits = text + (text[0] == '-');
  const size_t whole = strspn(digits, "0123456789"), rest = strcspn(digits + whole, "0123456789e");
  tmaring__text_add(m->out, "%s%.*s.", text[0] == '-' ? "(-" : "", (int)whole, digits);
  digits += whole + rest;
  tmaring__text_add(m->out, "%s%s%s%s", *digits == 'e' || *digits == 0 ? "0" : "", digits, wide ? "" : "f",
                    text[0] == '-' ? ")" : "");
}

static void emit_constant(const tmaring__emitter *m, double value)
{
  const double kept = m->spec->code.wide ? value : (double)(float)value;
  if (isnan(kept)) {
    tmaring__text_add(m->out, "tmaring_nan<real>()");
  } else if (isinf(kept)) {
    tmaring__text_add(m->out, kept > 0 ? "tmaring_infinity<real>()" : "(-tmaring_infinity<real>())");
  } else {
    emit_number(m, kept);
  }
}

static void emit_local(const tmaring__emitter *m, const tmaring__loop *loop, int32_t node)
{
  const tmaring__node *n = &m->program->node[node];
  switch (n->op) {
  case TMARING__OP_INPUT:
  case TMARING__OP_INPUT_EVEN: tmaring__text_add(m->out, "x%d[v]", (int)n->index); break;
  case TMARING__OP_INPUT_ODD: tmaring__text_add(m->out, "z%d[v]", (int)n->index); break;
  case TMARING__OP_VECTOR: tmaring__text_add(m->out, "w%d[v]", (int)n->index); break;
  case TMARING__OP_COL: tmaring__text_add(m->out, "(col + (real)v)"); break;
  default: tmaring__text_add(m->out, loop->kept[node] ? "e%d[v]" : "e%d", (int)node); break;
  }
}

static int is_inlined(const tmaring__emitter *m, const tmaring__loop *loop, int32_t node)
{
  return m->program->node[node].per_col ? loop->inlined[node] : m->rows.inlined[node];
}

void tmaring__emit_operand(const tmaring__emitter *m, const tmaring__loop *loop, int32_t node)
{
  const int in_parentheses = is_inlined(m, loop, node);
  tmaring__text_add(m->out, in_parentheses ? "(" : "");
  tmaring__emit_value(m, loop, node);
  tmaring__text_add(m->out, in_parentheses ? ")" : "");
}

void tmaring__emit_value(const tmaring__emitter *m, const tmaring__loop *loop, int32_t node)
{
  const tmaring__node *n = &m->program->node[node];
  if (is_inlined(m, loop, node)) {
    tmaring__emit_expression(m, loop, node);
    return;
  }
  switch (n->op) {
  case TMARING__OP_CONSTANT: emit_constant(m, n->value); break;
  case TMARING__OP_SCALAR:
    tmaring__text_add(m->out, "e->args->%s[%d]", m->spec->code.wide ? "wide_scalar" : "scalar", (int)n->index);
    break;
  case TMARING__OP_COLUMNS: tmaring__text_add(m->out, "(real)e->walk.cols"); break;
  default:
    if (n->per_col) {
      emit_local(m, loop, node);
    } else {
      tmaring__text_add(m->out, "r%d", (int)node);
    }
  }
}

/* ---- expressions ---- */

/* Text with $0 $1 $2 in place of the operands. A product that is needed twice, also in another pass, has one value: were
 * it fused with a sum here and rounded there, z - max(z) would not be 0 at the maximum. */
static const char *pattern_of(const tmaring__emitter *m, int32_t node)
{
  switch (m->program->node[node].op) {
  case TMARING__OP_ADD: return "$0 + $1";
  case TMARING__OP_SUB: return "$0 - $1";
  case TMARING__OP_MUL: return m->uses[node] > 1 ? "tmaring_product($0, $1)" : "$0 * $1";
  case TMARING__OP_DIV: return "$0 / $1";
  case TMARING__OP_NEG: return "-$0";
  case TMARING__OP_ABS: return "tmaring_abs($0)";
  case TMARING__OP_MIN: return "tmaring_min($0, $1)";
  case TMARING__OP_MAX: return "tmaring_max($0, $1)";
  case TMARING__OP_EXP: return "tmaring_exp($0)";
  case TMARING__OP_LOG: return "tmaring_log($0)";
  case TMARING__OP_SQRT: return "tmaring_sqrt($0)";
  case TMARING__OP_RSQRT: return "tmaring_rsqrt($0)";
  case TMARING__OP_TANH: return "tmaring_tanh($0)";
  case TMARING__OP_SIGMOID: return "tmaring_sigmoid($0)";
  case TMARING__OP_ERF: return "tmaring_erf($0)";
  case TMARING__OP_ROUND: return "tmaring_round($0)";
  case TMARING__OP_LT: return "$0 < $1";
  case TMARING__OP_LE: return "$0 <= $1";
  case TMARING__OP_GT: return "$0 > $1";
  case TMARING__OP_GE: return "$0 >= $1";
  case TMARING__OP_EQ: return "$0 == $1";
  case TMARING__OP_NE: return "$0 != $1";
  default: return "";
  }
}

static int is_comparison(tmaring__op op)
{
  return op >= TMARING__OP_LT && op <= TMARING__OP_NE;
}

static void emit_pattern(const tmaring__emitter *m, const tmaring__loop *loop, int32_t node)
{
  const tmaring__node *n = &m->program->node[node];
  const char *p = pattern_of(m, node);
  void (*const emit)(const tmaring__emitter *, const tmaring__loop *, int32_t) =
      *p == 't' ? tmaring__emit_value : tmaring__emit_operand; /* arguments of a function need no parentheses */
  for (; *p; ++p) {
    if (*p == '$') {
      emit(m, loop, n->arg[*++p - '0']);
    } else {
      tmaring__text_append(m->out, p, 1);
    }
  }
}

/* A condition that is needed here alone is written as it is. */
static void emit_where(const tmaring__emitter *m, const tmaring__loop *loop, const tmaring__node *n)
{
  if (is_inlined(m, loop, n->arg[0]) && is_comparison(m->program->node[n->arg[0]].op)) {
    emit_pattern(m, loop, n->arg[0]);
  } else {
    tmaring__emit_operand(m, loop, n->arg[0]);
    tmaring__text_add(m->out, " != 0");
  }
  tmaring__text_add(m->out, " ? ");
  tmaring__emit_operand(m, loop, n->arg[1]);
  tmaring__text_add(m->out, " : ");
  tmaring__emit_operand(m, loop, n->arg[2]);
}

void tmaring__emit_expression(const tmaring__emitter *m, const tmaring__loop *loop, int32_t node)
{
  const tmaring__node *n = &m->program->node[node];
  if (n->op == TMARING__OP_WHERE) {
    emit_where(m, loop, n);
  } else if (n->op == TMARING__OP_CAST || n->op == TMARING__OP_CAST_AS) {
    const tmaring_dtype dtype = n->op == TMARING__OP_CAST ? (tmaring_dtype)n->index : m->spec->input[n->index];
    tmaring__text_add(m->out, "tmaring_cast<%s>(", tmaring__emit_dtype(dtype));
    tmaring__emit_value(m, loop, n->arg[0]);
    tmaring__text_add(m->out, ")");
  } else {
    emit_pattern(m, loop, node);
    if (is_comparison(n->op)) tmaring__text_add(m->out, " ? (real)1 : (real)0");
  }
}

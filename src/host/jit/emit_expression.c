#include "emit_expression.h"

#include <string.h>

void tmaring__node_set_add(tmaring__node_set *set, const tmaring__program *program, int32_t node)
{
  if (node < 0 || set->has[node] || !program->node[node].per_col) return;
  set->has[node] = 1;
  for (int i = 0; i < 3; ++i) tmaring__node_set_add(set, program, program->node[node].arg[i]);
}

const char *tmaring__emit_dtype(tmaring_dtype dtype)
{
  return dtype == TMARING_F32 ? "TMARING_F32" : dtype == TMARING_F16 ? "TMARING_F16" : "TMARING_BF16";
}

static void emit_constant(tmaring__text *out, float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  tmaring__text_add(out, "__uint_as_float(0x%08xu)", (unsigned)bits); /* exact, NaN and infinity included */
}

void tmaring__emit_operand(tmaring__text *out, const tmaring__program *program, int32_t node)
{
  const tmaring__node *n = &program->node[node];
  switch (n->op) {
  case TMARING__OP_CONSTANT: emit_constant(out, n->value); break;
  case TMARING__OP_SCALAR: tmaring__text_add(out, "e->args->scalar[%d]", (int)n->index); break;
  case TMARING__OP_COLUMNS: tmaring__text_add(out, "(float)e->walk.cols"); break;
  case TMARING__OP_INPUT: tmaring__text_add(out, "x%d[v]", (int)n->index); break;
  case TMARING__OP_VECTOR: tmaring__text_add(out, "w%d[v]", (int)n->index); break;
  default: tmaring__text_add(out, "%c%d", n->per_col ? 'e' : 'r', (int)node); break;
  }
}

/* Text with $0 $1 $2 in place of the operands. */
static const char *pattern_of(tmaring__op op)
{
  switch (op) {
  case TMARING__OP_ADD: return "$0 + $1";
  case TMARING__OP_SUB: return "$0 - $1";
  case TMARING__OP_MUL: return "$0 * $1";
  case TMARING__OP_DIV: return "$0 / $1";
  case TMARING__OP_NEG: return "-$0";
  case TMARING__OP_ABS: return "fabsf($0)";
  case TMARING__OP_MIN: return "tmaring_min($0, $1)";
  case TMARING__OP_MAX: return "tmaring_max($0, $1)";
  case TMARING__OP_EXP: return "expf($0)";
  case TMARING__OP_LOG: return "logf($0)";
  case TMARING__OP_SQRT: return "sqrtf($0)";
  case TMARING__OP_RSQRT: return "rsqrtf($0)";
  case TMARING__OP_TANH: return "tanhf($0)";
  case TMARING__OP_SIGMOID: return "tmaring_sigmoid($0)";
  case TMARING__OP_LT: return "$0 < $1 ? 1.0f : 0.0f";
  case TMARING__OP_LE: return "$0 <= $1 ? 1.0f : 0.0f";
  case TMARING__OP_GT: return "$0 > $1 ? 1.0f : 0.0f";
  case TMARING__OP_GE: return "$0 >= $1 ? 1.0f : 0.0f";
  case TMARING__OP_EQ: return "$0 == $1 ? 1.0f : 0.0f";
  case TMARING__OP_NE: return "$0 != $1 ? 1.0f : 0.0f";
  case TMARING__OP_WHERE: return "$0 != 0.0f ? $1 : $2";
  default: return "";
  }
}

void tmaring__emit_expression(tmaring__text *out, const tmaring__program *program, int32_t node)
{
  for (const char *p = pattern_of(program->node[node].op); *p; ++p) {
    if (*p == '$') {
      tmaring__emit_operand(out, program, program->node[node].arg[*++p - '0']);
    } else {
      tmaring__text_append(out, p, 1);
    }
  }
}

const char *tmaring__emit_reduction(tmaring__op op)
{
  return op == TMARING__OP_REDUCE_SUM   ? "tmaring_sum"
         : op == TMARING__OP_REDUCE_MAX ? "tmaring_greatest"
                                        : "tmaring_least";
}

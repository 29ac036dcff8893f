/* The ops of a formula, element by element. Part of lanes_body.h. */
#ifndef TMARING_HOST_LANES_EVALUATE_BODY_H
#define TMARING_HOST_LANES_EVALUATE_BODY_H

#include "lanes_values_body.h"

static REAL add(REAL a, REAL b)
{
  return a + b;
}

/* NaN if either is NaN. */
static REAL greater(REAL a, REAL b)
{
  return a != a ? a : b != b ? b : a > b ? a : b;
}

static REAL lesser(REAL a, REAL b)
{
  return a != a ? a : b != b ? b : a < b ? a : b;
}

static REAL magnitude(REAL a)
{
  return (REAL)fabs((double)a);
}

/* 1 / (1 + exp(-x)) without overflow: far below 0 it keeps its subnormal values. */
static REAL sigmoid(REAL x)
{
  const REAL t = MATH(exp)(-magnitude(x));
  return (x < 0 ? t : 1) / (1 + t);
}

/* Blocks of 32 so that the compiler may use vectors. */
#define EACH(expression)                                                                                               \
  do {                                                                                                                 \
    for (int32_t i = 0; i < count; i += 32) {                                                                          \
      for (int32_t j = i; j < i + 32; ++j) out[j] = (expression);                                                      \
    }                                                                                                                  \
  } while (0)

static void evaluate_arithmetic(tmaring__op op, REAL *restrict out, const REAL *a, const REAL *b, int32_t count)
{
  switch (op) {
  case TMARING__OP_ADD: EACH(a[j] + b[j]); break;
  case TMARING__OP_SUB: EACH(a[j] - b[j]); break;
  case TMARING__OP_MUL: EACH(a[j] * b[j]); break;
  case TMARING__OP_DIV: EACH(a[j] / b[j]); break;
  case TMARING__OP_NEG: EACH(-a[j]); break;
  case TMARING__OP_ABS: EACH(magnitude(a[j])); break;
  case TMARING__OP_MIN: EACH(lesser(a[j], b[j])); break;
  case TMARING__OP_MAX: EACH(greater(a[j], b[j])); break;
  default: break;
  }
}

static void evaluate_function(tmaring__op op, REAL *restrict out, const REAL *a, int32_t count)
{
  switch (op) {
  case TMARING__OP_EXP: EACH(MATH(exp)(a[j])); break;
  case TMARING__OP_LOG: EACH(MATH(log)(a[j])); break;
  case TMARING__OP_SQRT: EACH(MATH(sqrt)(a[j])); break;
  case TMARING__OP_RSQRT: EACH(1 / MATH(sqrt)(a[j])); break;
  case TMARING__OP_TANH: EACH(MATH(tanh)(a[j])); break;
  case TMARING__OP_SIGMOID: EACH(sigmoid(a[j])); break;
  case TMARING__OP_ERF: EACH(MATH(erf)(a[j])); break;
  case TMARING__OP_ROUND: EACH((REAL)tmaring__round_even((double)a[j])); break;
  default: break;
  }
}

static void evaluate_choice(tmaring__op op, REAL *restrict out, const REAL *const *operand, int32_t count)
{
  const REAL *a = operand[0], *b = operand[1], *c = operand[2];
  switch (op) {
  case TMARING__OP_LT: EACH((REAL)(a[j] < b[j])); break;
  case TMARING__OP_LE: EACH((REAL)(a[j] <= b[j])); break;
  case TMARING__OP_GT: EACH((REAL)(a[j] > b[j])); break;
  case TMARING__OP_GE: EACH((REAL)(a[j] >= b[j])); break;
  case TMARING__OP_EQ: EACH((REAL)(a[j] == b[j])); break;
  case TMARING__OP_NE: EACH((REAL)(a[j] != b[j])); break;
  case TMARING__OP_WHERE: EACH(a[j] != 0 ? b[j] : c[j]); break;
  default: break;
  }
}

static void evaluate_cast(int32_t dtype, REAL *out, const REAL *a, int32_t count)
{
  unsigned char elements[8 * TMARING__STEP_ELEMS];
  STORE(elements, a, dtype, (size_t)count);
  LOAD(out, elements, dtype, (size_t)count);
}

/* out[i] = op(operand[0][i], ...) for `count` elements, a multiple of 32. No operand may be `out`. */
static void evaluate(const tmaring__lanes *l, const tmaring__node *node, REAL *out, const REAL *const *operand,
                     int32_t count)
{
  if (node->op >= TMARING__OP_ADD && node->op <= TMARING__OP_MAX) {
    evaluate_arithmetic(node->op, out, operand[0], operand[1], count);
  } else if (node->op >= TMARING__OP_EXP && node->op <= TMARING__OP_ROUND) {
    evaluate_function(node->op, out, operand[0], count);
  } else if (node->op == TMARING__OP_CAST) {
    evaluate_cast(node->index, out, operand[0], count);
  } else if (node->op == TMARING__OP_CAST_AS) {
    evaluate_cast(l->args->input[node->index].dtype, out, operand[0], count);
  } else {
    evaluate_choice(node->op, out, operand, count);
  }
}

#undef EACH

#endif

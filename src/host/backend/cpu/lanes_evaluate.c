#include <math.h>
#include <string.h>

#include "../../base/mathlib.h"
#include "lanes.h"

float tmaring__lanes_max(float a, float b)
{
  return a != a ? a : b != b ? b : a > b ? a : b;
}

float tmaring__lanes_min(float a, float b)
{
  return a != a ? a : b != b ? b : a < b ? a : b;
}

/* Blocks of 32 so that the compiler may use vectors. */
#define EACH(expression)                                                                                               \
  do {                                                                                                                 \
    for (int32_t i = 0; i < count; i += 32) {                                                                          \
      for (int32_t j = i; j < i + 32; ++j) out[j] = (expression);                                                      \
    }                                                                                                                  \
  } while (0)

static void evaluate_arithmetic(tmaring__op op, float *restrict out, const float *a, const float *b, int32_t count)
{
  switch (op) {
  case TMARING__OP_ADD: EACH(a[j] + b[j]); break;
  case TMARING__OP_SUB: EACH(a[j] - b[j]); break;
  case TMARING__OP_MUL: EACH(a[j] * b[j]); break;
  case TMARING__OP_DIV: EACH(a[j] / b[j]); break;
  case TMARING__OP_NEG: EACH(-a[j]); break;
  case TMARING__OP_ABS: EACH(fabsf(a[j])); break;
  case TMARING__OP_MIN: EACH(tmaring__lanes_min(a[j], b[j])); break;
  case TMARING__OP_MAX: EACH(tmaring__lanes_max(a[j], b[j])); break;
  default: break;
  }
}

/* 1 / (1 + exp(-x)) without overflow: far below 0 it keeps its subnormal values. */
static float sigmoid(float x)
{
  const float t = tmaring__math.expf(-fabsf(x));
  return (x < 0.0f ? t : 1.0f) / (1.0f + t);
}

static void evaluate_function(tmaring__op op, float *restrict out, const float *a, int32_t count)
{
  switch (op) {
  case TMARING__OP_EXP: EACH(tmaring__math.expf(a[j])); break;
  case TMARING__OP_LOG: EACH(tmaring__math.logf(a[j])); break;
  case TMARING__OP_SQRT: EACH(tmaring__math.sqrtf(a[j])); break;
  case TMARING__OP_RSQRT: EACH(1.0f / tmaring__math.sqrtf(a[j])); break;
  case TMARING__OP_TANH: EACH(tmaring__math.tanhf(a[j])); break;
  case TMARING__OP_SIGMOID: EACH(sigmoid(a[j])); break;
  default: break;
  }
}

static void evaluate_choice(tmaring__op op, float *restrict out, const float *a, const float *b, const float *c,
                            int32_t count)
{
  switch (op) {
  case TMARING__OP_LT: EACH(a[j] < b[j] ? 1.0f : 0.0f); break;
  case TMARING__OP_LE: EACH(a[j] <= b[j] ? 1.0f : 0.0f); break;
  case TMARING__OP_GT: EACH(a[j] > b[j] ? 1.0f : 0.0f); break;
  case TMARING__OP_GE: EACH(a[j] >= b[j] ? 1.0f : 0.0f); break;
  case TMARING__OP_EQ: EACH(a[j] == b[j] ? 1.0f : 0.0f); break;
  case TMARING__OP_NE: EACH(a[j] != b[j] ? 1.0f : 0.0f); break;
  case TMARING__OP_WHERE: EACH(a[j] != 0.0f ? b[j] : c[j]); break;
  default: break;
  }
}

void tmaring__lanes_evaluate(tmaring__op op, float *out, const float *a, const float *b, const float *c, int32_t count)
{
  if (op >= TMARING__OP_ADD && op <= TMARING__OP_MAX) {
    evaluate_arithmetic(op, out, a, b, count);
  } else if (op >= TMARING__OP_EXP && op <= TMARING__OP_SIGMOID) {
    evaluate_function(op, out, a, count);
  } else {
    evaluate_choice(op, out, a, b, c, count);
  }
}

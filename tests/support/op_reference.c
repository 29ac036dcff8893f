#include "op_reference.h"

#include <string.h>

#include "op_evaluate.h"

/* ELEMENT: one value at a time; ROW: with a function of its own over the row. */
#define ELEMENT(name, family, types, inputs, outputs, over)                                                            \
  {                                                                                                                    \
#name, family, types, inputs, outputs, over, OP_JOIN_SUM, NULL, op_##name                                          \
  }
#define ROW(name, family, types, inputs, outputs, over)                                                                \
  {                                                                                                                    \
#name, family, types, inputs, outputs, over, OP_JOIN_SUM, op_##name, NULL                                          \
  }
#define COLUMNS(name, join)                                                                                            \
  {                                                                                                                    \
#name, OP_REDUCTION, "x>y", "any", "total", 0, join, op_col_terms, NULL                                            \
  }

static const op_reference table[] = {
    ELEMENT(add, OP_POINTWISE, "xx>y", "any", "any", 2),
    ELEMENT(mul, OP_POINTWISE, "xx>y", "any", "any", 2),
    ELEMENT(scale, OP_POINTWISE, "x>y", "any", "any", 1),
    ELEMENT(axpby, OP_POINTWISE, "xx>y", "any", "any", 2),
    ELEMENT(copy, OP_POINTWISE, "x>y", "any", "same", 1),
    {"cast", OP_POINTWISE, "x>y", "any", "other", 0, OP_JOIN_SUM, NULL, op_copy},
    ELEMENT(fill, OP_POINTWISE, ">y", "any", "any", 0),
    ELEMENT(relu, OP_POINTWISE, "x>y", "any", "any", 1),
    ELEMENT(silu, OP_POINTWISE, "x>y", "any", "any", 1),
    ELEMENT(gelu_tanh, OP_POINTWISE, "x>y", "any", "any", 1),
    ELEMENT(gelu_erf, OP_POINTWISE, "x>y", "any", "any", 1),
    ROW(row_sum, OP_REDUCTION, "x>y", "any", "real", 0),
    ROW(row_mean, OP_REDUCTION, "x>y", "any", "real", 0),
    ROW(row_max, OP_REDUCTION, "x>y", "any", "real", 0),
    ROW(row_min, OP_REDUCTION, "x>y", "any", "real", 0),
    ROW(row_amax, OP_REDUCTION, "x>y", "any", "real", 0),
    ROW(row_argmax, OP_REDUCTION, "x>n", "any", "same", 0),
    COLUMNS(col_sum, OP_JOIN_SUM),
    COLUMNS(col_max, OP_JOIN_MAX),
    COLUMNS(col_mean, OP_JOIN_MEAN),
    ROW(softmax, OP_SOFTMAX, "x>y", "float", "float", 1),
    ROW(log_softmax, OP_SOFTMAX, "x>y", "float", "float", 1),
    ROW(softmax_scaled, OP_SOFTMAX, "x>y", "float", "float", 1),
    ROW(cross_entropy, OP_SOFTMAX, "xl>y", "float", "float", 0),
    ROW(rmsnorm, OP_NORM, "xw>y", "float", "float", 1),
    ROW(rmsnorm_hf, OP_NORM, "xw>y", "float", "float", 1),
    ROW(rmsnorm_gemma, OP_NORM, "xw>y", "float", "float", 1),
    ROW(add_rmsnorm, OP_NORM, "xxw>xy", "float", "float", 2),
    ROW(add_rmsnorm_f32sum, OP_NORM, "xxw>xy", "float", "float", 2),
    ROW(layernorm, OP_NORM, "xww>y", "float", "float", 1),
    ELEMENT(silu_mul, OP_GATED, "x>y", "float", "float", 0),
    ELEMENT(gelu_mul, OP_GATED, "x>y", "float", "float", 0),
    ELEMENT(silu_mul_rounded, OP_GATED, "x>y", "float", "float", 0),
    ELEMENT(swiglu_clamp, OP_GATED, "x>y", "float", "float", 0),
    ELEMENT(swiglu_clamp_interleaved, OP_GATED, "x>y", "float", "float", 0),
    ELEMENT(quantize_fp8, OP_QUANTIZE, "xs>q", "float", "same", 0),
    ROW(quantize_fp8_row, OP_QUANTIZE, "x>se", "float", "same", 0),
    ROW(quantize_fp8_group, OP_QUANTIZE, "x>se", "single", "same", 0),
    ROW(quantize_i8_row, OP_QUANTIZE, "x>si", "float", "same", 0),
    ROW(rmsnorm_quantize_fp8_row, OP_QUANTIZE, "xw>se", "float", "same", 0),
    ROW(add_rmsnorm_quantize_fp8_row, OP_QUANTIZE, "xxw>xse", "float", "same", 2),
    ROW(silu_mul_quantize_fp8_row, OP_QUANTIZE, "x>se", "float", "same", 0),
    ELEMENT(dequantize_fp8_row, OP_QUANTIZE, "qs>y", "float", "float", 0),
    ROW(rmsnorm_backward, OP_BACKWARD, "xxw>yw", "float", "float", 2),
    ROW(layernorm_backward, OP_BACKWARD, "xxw>yww", "float", "float", 2),
};

int32_t op_reference_count(void)
{
  return (int32_t)(sizeof table / sizeof table[0]);
}

const op_reference *op_reference_at(int32_t index)
{
  return &table[index];
}

const op_reference *op_reference_find(const char *name)
{
  for (int32_t i = 0; i < op_reference_count(); ++i) {
    if (strcmp(table[i].name, name) == 0) return &table[i];
  }
  return NULL;
}

char op_reference_letter(const op_reference *op, int32_t tensor)
{
  const int32_t inputs = (int32_t)strcspn(op->types, ">");
  return op->types[tensor < inputs ? tensor : tensor + 1];
}

static int32_t types_of(const char *set, tmaring_dtype *types)
{
  static const tmaring_dtype any[] = {TMARING_F32,  TMARING_F16,  TMARING_BF16, TMARING_F64,
                                      TMARING_E4M3, TMARING_E5M2, TMARING_I8,   TMARING_I32};
  const int32_t count = strcmp(set, "any") == 0 ? 8 : strcmp(set, "single") == 0 ? 3 : 4;
  for (int32_t i = 0; i < count; ++i) types[i] = any[i];
  const int32_t whole = strcmp(set, "real") == 0 ? 2 : strcmp(set, "total") == 0 ? 1 : 0;
  if (whole > 0) types[4] = TMARING_I32;
  if (whole > 1) types[5] = TMARING_I64;
  return count + whole;
}

int32_t op_reference_inputs(const op_reference *op, tmaring_dtype *types)
{
  return types_of(op->inputs, types);
}

int32_t op_reference_outputs(const op_reference *op, tmaring_dtype in, tmaring_dtype *types)
{
  int32_t kept = 0;
  types[0] = in;
  if (strcmp(op->outputs, "same") == 0) return 1;
  if (strcmp(op->outputs, "other") != 0) return types_of(op->outputs, types);
  const int32_t count = types_of("any", types);
  for (int32_t i = 0; i < count; ++i) {
    if (types[i] != in) types[kept++] = types[i];
  }
  return kept;
}

void op_reference_row(const op_reference *op, const op_row *in, const expected_row *out)
{
  if (op->evaluate) {
    op->evaluate(in, out);
    return;
  }
  for (int64_t i = 0; i < in->cols; ++i) op_put(out, i, op->element(in, i));
}

/* Tensors and scalars of a formula, in the order in which callers give them. */
#include "formula_state.h"

static void add_tensor(tmaring_formula *formula, int32_t symbol, int32_t is_output, tmaring__dims dims,
                       tmaring__slot slot)
{
  tmaring__formula_tensor *tensor = &formula->tensor[formula->tensor_count++];
  tensor->symbol = symbol;
  tensor->is_output = is_output;
  tensor->dims = dims;
  tensor->slot = slot;
}

static tmaring_status fail_unused(const tmaring_formula *formula, const tmaring__symbol *symbol)
{
  if (symbol->casts > 0)
    return tmaring__place_fail(&formula->source, TMARING_ERROR_SYNTAX, symbol->offset,
                               "%s only says a type in cast(%s, ...) and is never read; name the type, as in "
                               "cast(bf16, ...), or use %s",
                               symbol->name, symbol->name, symbol->name);
  return tmaring__place_fail(&formula->source, TMARING_ERROR_SYNTAX, symbol->offset,
                             "%s is declared but never used; use it or take it out of the header", symbol->name);
}

/* Numbers the streams: an [M,2N] input that is read by halves takes two, the second N elements further. */
static tmaring_status add_stream(tmaring_formula *formula, int32_t index)
{
  tmaring__symbol *symbol = &formula->symbol[index];
  const int two = symbol->halves > 0;
  tmaring__slot slot = {TMARING__SLOT_INPUT, formula->stream_count, two ? formula->stream_count + 1 : -1};
  if (formula->stream_count + 1 + two > TMARING_MAX_STREAMS)
    return tmaring__place_fail(
        &formula->source, TMARING_ERROR_CAPACITY, symbol->offset,
        "streamed inputs: got %d with %s, needs at most %d; an input [M,2N] that is read by halves "
        "counts twice; split the formula",
        (int)formula->stream_count + 1 + two, symbol->name, TMARING_MAX_STREAMS);
  symbol->index = slot.index;
  formula->stream_count += 1 + two;
  add_tensor(formula, index, 0, symbol->dims, slot);
  return TMARING_OK;
}

static tmaring_status list_parameter(tmaring_formula *formula, int32_t index, int32_t listed[TMARING__SHAPES])
{
  tmaring__symbol *symbol = &formula->symbol[index];
  tmaring__slot slot = {TMARING__SLOT_VECTOR, listed[symbol->dims.shape], -1};
  if (symbol->reads == 0) return fail_unused(formula, symbol);
  symbol->index = listed[symbol->dims.shape]++;
  switch (symbol->dims.shape) {
  case TMARING_SHAPE_SCALAR: formula->scalar[formula->scalar_count++] = index; return TMARING_OK;
  case TMARING_SHAPE_MATRIX:
  case TMARING_SHAPE_DOUBLE: return add_stream(formula, index);
  case TMARING_SHAPE_ROW: break;
  case TMARING_SHAPE_COLUMN: slot.kind = TMARING__SLOT_ROW_SCALAR; break;
  case TMARING_SHAPE_GROUP: slot.kind = TMARING__SLOT_GROUP_INPUT; break;
  }
  add_tensor(formula, index, 0, symbol->dims, slot);
  return TMARING_OK;
}

/* The parameter that comes next in the text after the place `behind`; -1 after the last. */
static int32_t next_parameter(const tmaring_formula *formula, int32_t behind)
{
  int32_t next = -1;
  for (int32_t i = 0; i < formula->symbol_count; ++i) {
    const tmaring__symbol *symbol = &formula->symbol[i];
    if (symbol->kind == TMARING__SYMBOL_PARAMETER && symbol->offset > behind &&
        (next < 0 || symbol->offset < formula->symbol[next].offset))
      next = i;
  }
  return next;
}

static tmaring_status list_parameters(tmaring_formula *formula)
{
  int32_t listed[TMARING__SHAPES] = {0};
  for (int32_t i = next_parameter(formula, -1); i >= 0; i = next_parameter(formula, formula->symbol[i].offset))
    TMARING__TRY(list_parameter(formula, i, listed));
  return TMARING_OK;
}

/* What an expression of this shape is stored as. */
static tmaring__dims output_dims(const tmaring_formula *formula, const tmaring__symbol *symbol)
{
  const tmaring__dims matrix = {TMARING_SHAPE_MATRIX, 0};
  if (symbol->dims.shape == TMARING_SHAPE_COLUMN || symbol->dims.shape == TMARING_SHAPE_GROUP) return symbol->dims;
  return tmaring__symbol_is_column(formula, symbol) ? symbol->dims : matrix;
}

static tmaring_status list_output(tmaring_formula *formula, int32_t index)
{
  static const tmaring__slot_kind kind[TMARING__SHAPES] = {[TMARING_SHAPE_ROW] = TMARING__SLOT_COLUMN_OUTPUT,
                                                           [TMARING_SHAPE_COLUMN] = TMARING__SLOT_ROW_OUTPUT,
                                                           [TMARING_SHAPE_MATRIX] = TMARING__SLOT_OUTPUT,
                                                           [TMARING_SHAPE_GROUP] = TMARING__SLOT_GROUP_OUTPUT};
  const tmaring__symbol *symbol = &formula->symbol[index];
  const tmaring__dims dims = output_dims(formula, symbol);
  const int32_t most = dims.shape == TMARING_SHAPE_MATRIX ? TMARING_MAX_STREAMS : TMARING_MAX_VECTORS;
  const tmaring__slot slot = {kind[dims.shape], formula->output_count[dims.shape], -1};
  if (formula->tree.node[symbol->root].condition)
    return tmaring__place_fail(&formula->source, TMARING_ERROR_TYPE, symbol->offset,
                               "output %s: got a condition, needs a number; write %s = where(condition, 1, 0)",
                               symbol->name, symbol->name);
  if (slot.index == most)
    return tmaring__place_fail(&formula->source, TMARING_ERROR_CAPACITY, symbol->offset,
                               "%s outputs: got %d with %s, needs at most %d; split the formula",
                               dims.shape == TMARING_SHAPE_GROUP ? "[M,N/k]" : tmaring__dims_text(dims), (int)most + 1,
                               symbol->name, (int)most);
  ++formula->output_count[dims.shape];
  add_tensor(formula, index, 1, dims, slot);
  return TMARING_OK;
}

/* Without a header nothing says that a formula without matrices is meant. */
static tmaring_status check_streams(const tmaring_formula *formula)
{
  if (formula->stream_count > 0 || formula->tree.has_header) return TMARING_OK;
  return tmaring__place_fail(
      &formula->source, TMARING_ERROR_UNSUPPORTED, formula->tree.statement[0].word.offset,
      "[M,N] inputs: got none, needs at least one to stream; a bare name or x[M,N] makes one, and a "
      "header, as in fill(; value) = value, says that none is meant");
}

tmaring_status tmaring__signature_run(tmaring_formula *formula)
{
  TMARING__TRY(list_parameters(formula));
  TMARING__TRY(check_streams(formula));
  for (int32_t i = 0; i < formula->symbol_count; ++i) {
    const tmaring__symbol *symbol = &formula->symbol[i];
    if (symbol->kind == TMARING__SYMBOL_ASSIGNED && (symbol->reads == 0 || symbol->out))
      TMARING__TRY(list_output(formula, i));
  }
  return TMARING_OK;
}

#include "tmaring/formula.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "formula_state.h"
#include "parser.h"

static tmaring_status build(tmaring_formula *formula, const char *text, size_t length)
{
  formula->text = malloc(length + 1);
  if (!formula->text) return tmaring__fail(TMARING_ERROR_MEMORY, "formula: got no memory for its text; free some");
  memcpy(formula->text, text, length + 1);
  formula->source.text = formula->text;
  formula->source.length = (int32_t)length;
  TMARING__TRY(tmaring__parser_run(&formula->source, &formula->tree));
  TMARING__TRY(tmaring__typing_run(formula));
  TMARING__TRY(tmaring__signature_run(formula));
  return tmaring__lowering_run(formula);
}

tmaring_status tmaring_formula_parse(tmaring_formula **formula, const char *text)
{
  TMARING__NEED(formula);
  *formula = NULL;
  TMARING__NEED(text);
  const size_t length = strlen(text);
  if (length > TMARING__MAX_TEXT_BYTES)
    return tmaring__fail(TMARING_ERROR_CAPACITY, "formula: got %zu bytes of text, needs at most %d; split it", length,
                         TMARING__MAX_TEXT_BYTES);
  tmaring_formula *made = calloc(1, sizeof *made);
  if (!made) return tmaring__fail(TMARING_ERROR_MEMORY, "formula: got no memory for it; free some");
  atomic_init(&made->references, 1);
  const tmaring_status status = build(made, text, length);
  if (status == TMARING_OK)
    *formula = made;
  else
    tmaring_formula_free(made);
  return status;
}

void tmaring_formula_free(tmaring_formula *formula)
{
  if (!formula || atomic_fetch_sub(&formula->references, 1) > 1) return;
  tmaring__syntax_tree_free(&formula->tree);
  free(formula->symbol);
  free(formula->text);
  free(formula);
}

tmaring_formula *tmaring__formula_retain(const tmaring_formula *formula)
{
  tmaring_formula *shared = (tmaring_formula *)formula; /* only the count changes */
  atomic_fetch_add(&shared->references, 1);
  return shared;
}

int32_t tmaring_formula_tensor_count(const tmaring_formula *formula)
{
  return formula ? formula->tensor_count : 0;
}

int32_t tmaring_formula_scalar_count(const tmaring_formula *formula)
{
  return formula ? formula->scalar_count : 0;
}

static void describe(const tmaring__symbol *symbol, tmaring__dims dims, int32_t is_output, tmaring_parameter *out)
{
  out->size = sizeof *out;
  out->name = symbol->name;
  out->shape = dims.shape;
  out->is_output = is_output;
  out->has_default = symbol->has_default;
  out->default_value = symbol->default_value;
  out->group_cols = dims.group_cols;
}

static tmaring_status check_index(const char *what, int32_t index, int32_t count)
{
  if (index >= 0 && index < count) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ARGUMENT, "index: got %d, needs 0 to %d; the formula has %d %s", (int)index,
                       (int)count - 1, (int)count, what);
}

tmaring_status tmaring_formula_tensor(const tmaring_formula *formula, int32_t index, tmaring_parameter *out)
{
  TMARING__NEED(formula);
  TMARING__NEED(out);
  TMARING__TRY(check_index("tensors", index, formula->tensor_count));
  const tmaring__formula_tensor *tensor = &formula->tensor[index];
  describe(&formula->symbol[tensor->symbol], tensor->dims, tensor->is_output, out);
  return TMARING_OK;
}

tmaring_status tmaring_formula_scalar(const tmaring_formula *formula, int32_t index, tmaring_parameter *out)
{
  TMARING__NEED(formula);
  TMARING__NEED(out);
  TMARING__TRY(check_index("scalars", index, formula->scalar_count));
  const tmaring__symbol *symbol = &formula->symbol[formula->scalar[index]];
  describe(symbol, symbol->dims, 0, out);
  return TMARING_OK;
}

int32_t tmaring_formula_find(const tmaring_formula *formula, const char *name)
{
  for (int32_t i = 0; name && i < tmaring_formula_tensor_count(formula); ++i)
    if (strcmp(formula->symbol[formula->tensor[i].symbol].name, name) == 0) return i;
  return -1;
}

const tmaring__program *tmaring__formula_program(const tmaring_formula *formula)
{
  return &formula->program;
}

tmaring__slot tmaring__formula_slot(const tmaring_formula *formula, int32_t tensor)
{
  return formula->tensor[tensor].slot;
}

const char *tmaring__formula_text(const tmaring_formula *formula)
{
  return formula->text;
}

#include "symbol_table.h"

#include <string.h>

#include "spelling.h"

int32_t tmaring__symbol_find(const tmaring_formula *formula, const tmaring__word *word)
{
  for (int32_t i = 0; i < formula->symbol_count; ++i)
    if (tmaring__word_is(word, formula->symbol[i].name)) return i;
  return -1;
}

/* The lexer bounds names, and the parser and the limits on parameters bound the count. */
static tmaring__symbol *add(tmaring_formula *formula, const tmaring__word *word, tmaring__symbol_kind kind,
                            tmaring_shape shape)
{
  tmaring__symbol *symbol = &formula->symbol[formula->symbol_count++];
  memset(symbol, 0, sizeof *symbol);
  memcpy(symbol->name, word->start, (size_t)word->length);
  symbol->offset = word->offset;
  symbol->kind = kind;
  symbol->shape = shape;
  return symbol;
}

tmaring_status tmaring__symbol_add_parameter(tmaring_formula *formula, const tmaring__word *word, tmaring_shape shape,
                                             int32_t *symbol)
{
  static const int32_t most[4] = {TMARING_MAX_SCALARS, TMARING_MAX_VECTORS, TMARING_MAX_VECTORS, TMARING_MAX_STREAMS};
  if (formula->parameter_count[shape] == most[shape])
    return tmaring__place_fail(&formula->source, TMARING_ERROR_CAPACITY, word->offset,
                               "%s parameters: got %d with %.*s, needs at most %d; split the formula",
                               tmaring__shape_text(shape), (int)most[shape] + 1, (int)word->length, word->start,
                               (int)most[shape]);
  *symbol = formula->symbol_count;
  add(formula, word, TMARING__SYMBOL_PARAMETER, shape)->index = formula->parameter_count[shape]++;
  return TMARING_OK;
}

static tmaring_status fail_taken(const tmaring_formula *formula, const tmaring__word *word, int32_t taken_by)
{
  const tmaring__symbol *symbol = &formula->symbol[taken_by];
  int32_t line, column;
  tmaring__place_find(&formula->source, symbol->offset, &line, &column);
  if (symbol->kind == TMARING__SYMBOL_PARAMETER)
    return tmaring__place_fail(&formula->source, TMARING_ERROR_SYNTAX, word->offset,
                               "%s is already a parameter, %s%s (line %d, column %d); give this another name",
                               symbol->name, symbol->name, tmaring__shape_text(symbol->shape), (int)line, (int)column);
  return tmaring__place_fail(&formula->source, TMARING_ERROR_SYNTAX, word->offset,
                             "%s is already assigned (line %d, column %d), and a name has one value; choose another",
                             symbol->name, (int)line, (int)column);
}

tmaring_status tmaring__symbol_add_assigned(tmaring_formula *formula, const tmaring__statement *statement)
{
  const int32_t taken_by = tmaring__symbol_find(formula, &statement->word);
  if (taken_by >= 0 && statement->implied)
    return tmaring__place_fail(
        &formula->source, TMARING_ERROR_SYNTAX, statement->word.offset,
        "a lone expression's output is named y, and y is a parameter; name one of them otherwise, "
        "the output by writing name = expression");
  if (taken_by >= 0) return fail_taken(formula, &statement->word, taken_by);
  const tmaring__syntax_node *root = &formula->tree.node[statement->root];
  tmaring__symbol *symbol = add(formula, &statement->word, TMARING__SYMBOL_ASSIGNED, root->shape);
  symbol->root = statement->root;
  symbol->out = statement->out;
  return TMARING_OK;
}

tmaring_status tmaring__symbol_add_declared(tmaring_formula *formula)
{
  for (int32_t i = 0; i < formula->tree.declaration_count; ++i) {
    const tmaring__declaration *declaration = &formula->tree.declaration[i];
    const int32_t taken_by = tmaring__symbol_find(formula, &declaration->word);
    if (taken_by >= 0) return fail_taken(formula, &declaration->word, taken_by);
    int32_t symbol = -1;
    TMARING__TRY(tmaring__symbol_add_parameter(formula, &declaration->word, declaration->shape, &symbol));
    formula->symbol[symbol].has_default = declaration->has_default;
    formula->symbol[symbol].default_value = declaration->default_value;
  }
  return TMARING_OK;
}

static tmaring_status fail_undeclared(const tmaring_formula *formula, const tmaring__word *word)
{
  for (int32_t i = 0; i < formula->symbol_count; ++i)
    if (tmaring__spelling_close(word->start, word->length, formula->symbol[i].name))
      return tmaring__place_fail(&formula->source, TMARING_ERROR_SYNTAX, word->offset,
                                 "%.*s is not declared in the header; did you mean %s?", (int)word->length, word->start,
                                 formula->symbol[i].name);
  return tmaring__place_fail(&formula->source, TMARING_ERROR_SYNTAX, word->offset,
                             "%.*s is not declared in the header; add %.*s[M,N], [N] or [M] to its tensors, or %.*s to "
                             "its scalars",
                             (int)word->length, word->start, (int)word->length, word->start, (int)word->length,
                             word->start);
}

static tmaring_status check_shape(const tmaring_formula *formula, const tmaring__syntax_node *node)
{
  const tmaring__symbol *symbol = &formula->symbol[node->symbol];
  if (node->said == TMARING__SHAPE_UNSAID || node->said == (int32_t)symbol->shape) return TMARING_OK;
  int32_t line, column;
  tmaring__place_find(&formula->source, symbol->offset, &line, &column);
  return tmaring__place_fail(&formula->source, TMARING_ERROR_SHAPE, node->offset,
                             "got %s%s, but %s is %s since line %d, column %d; a bare name is [M,N] until its shape is "
                             "given, so give it at its first use",
                             symbol->name, tmaring__shape_text((tmaring_shape)node->said), symbol->name,
                             tmaring__shape_text(symbol->shape), (int)line, (int)column);
}

tmaring_status tmaring__symbol_resolve(tmaring_formula *formula, tmaring__syntax_node *node)
{
  node->symbol = tmaring__symbol_find(formula, &node->word);
  if (node->symbol < 0) {
    if (formula->tree.has_header) return fail_undeclared(formula, &node->word);
    const tmaring_shape shape = node->said == TMARING__SHAPE_UNSAID ? TMARING_SHAPE_MATRIX : (tmaring_shape)node->said;
    TMARING__TRY(tmaring__symbol_add_parameter(formula, &node->word, shape, &node->symbol));
  }
  TMARING__TRY(check_shape(formula, node));
  ++formula->symbol[node->symbol].reads;
  return TMARING_OK;
}

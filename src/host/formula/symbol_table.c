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
                            tmaring__dims dims)
{
  tmaring__symbol *symbol = &formula->symbol[formula->symbol_count++];
  memset(symbol, 0, sizeof *symbol);
  memcpy(symbol->name, word->start, (size_t)word->length);
  symbol->offset = word->offset;
  symbol->kind = kind;
  symbol->dims = dims;
  return symbol;
}

/* [M,N] and [M,2N] inputs count together; halves, which count twice, are known only when everything is read. */
static int32_t count_like(const tmaring_formula *formula, tmaring_shape shape)
{
  const int32_t *count = formula->parameter_count;
  return shape == TMARING_SHAPE_MATRIX || shape == TMARING_SHAPE_DOUBLE
             ? count[TMARING_SHAPE_MATRIX] + count[TMARING_SHAPE_DOUBLE]
             : count[shape];
}

tmaring_status tmaring__symbol_add_parameter(tmaring_formula *formula, const tmaring__word *word, tmaring__dims dims,
                                             int32_t *symbol)
{
  static const int32_t most[TMARING__SHAPES] = {TMARING_MAX_SCALARS, TMARING_MAX_VECTORS, TMARING_MAX_VECTORS,
                                                TMARING_MAX_STREAMS, TMARING_MAX_VECTORS, TMARING_MAX_STREAMS};
  if (count_like(formula, dims.shape) == most[dims.shape])
    return tmaring__place_fail(&formula->source, TMARING_ERROR_CAPACITY, word->offset,
                               "%s parameters: got %d with %.*s, needs at most %d; split the formula",
                               dims.shape == TMARING_SHAPE_GROUP ? "[M,N/k]" : tmaring__dims_text(dims),
                               (int)most[dims.shape] + 1, (int)word->length, word->start, (int)most[dims.shape]);
  *symbol = formula->symbol_count;
  ++formula->parameter_count[dims.shape];
  add(formula, word, TMARING__SYMBOL_PARAMETER, dims);
  return TMARING_OK;
}

int tmaring__symbol_is_column(const tmaring_formula *formula, const tmaring__symbol *symbol)
{
  return symbol->kind == TMARING__SYMBOL_ASSIGNED &&
         tmaring__syntax_reduces_column(formula->tree.node[symbol->root].kind);
}

static tmaring_status fail_taken(const tmaring_formula *formula, const tmaring__word *word, int32_t taken_by)
{
  const tmaring__symbol *symbol = &formula->symbol[taken_by];
  int32_t line, column;
  tmaring__place_find(&formula->source, symbol->offset, &line, &column);
  if (symbol->kind == TMARING__SYMBOL_PARAMETER)
    return tmaring__place_fail(&formula->source, TMARING_ERROR_SYNTAX, word->offset,
                               "%s is already a parameter, %s%s (line %d, column %d); give this another name",
                               symbol->name, symbol->name, tmaring__dims_text(symbol->dims), (int)line, (int)column);
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
  tmaring__symbol *symbol = add(formula, &statement->word, TMARING__SYMBOL_ASSIGNED, root->dims);
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
    TMARING__TRY(tmaring__symbol_add_parameter(formula, &declaration->word, declaration->dims, &symbol));
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
  return tmaring__place_fail(
      &formula->source, TMARING_ERROR_SYNTAX, word->offset,
      "%.*s is not declared in the header; add %.*s[M,N], [N], [M] or another shape to its tensors, "
      "or %.*s to its scalars",
      (int)word->length, word->start, (int)word->length, word->start, (int)word->length, word->start);
}

static tmaring_status check_shape(const tmaring_formula *formula, const tmaring__syntax_node *node)
{
  const tmaring__symbol *symbol = &formula->symbol[node->symbol];
  if (!node->is_said || tmaring__dims_equal(node->said, symbol->dims)) return TMARING_OK;
  int32_t line, column;
  tmaring__place_find(&formula->source, symbol->offset, &line, &column);
  return tmaring__place_fail(&formula->source, TMARING_ERROR_SHAPE, node->word.offset,
                             "got %s%s, but %s is %s since line %d, column %d; a bare name is [M,N] until its shape is "
                             "given, so give it at its first use",
                             symbol->name, tmaring__dims_text(node->said), symbol->name,
                             tmaring__dims_text(symbol->dims), (int)line, (int)column);
}

static tmaring_status check_column(const tmaring_formula *formula, const tmaring__syntax_node *node)
{
  const tmaring__symbol *symbol = &formula->symbol[node->symbol];
  if (!tmaring__symbol_is_column(formula, symbol)) return TMARING_OK;
  int32_t line, column;
  tmaring__place_find(&formula->source, symbol->offset, &line, &column);
  return tmaring__place_fail(
      &formula->source, TMARING_ERROR_SYNTAX, node->word.offset,
      "%s is reduced over the rows (line %d, column %d), so its value is there only when all rows "
      "are over; use it in another formula",
      symbol->name, (int)line, (int)column);
}

tmaring_status tmaring__symbol_resolve(tmaring_formula *formula, tmaring__syntax_node *node)
{
  static const tmaring__dims matrix = {TMARING_SHAPE_MATRIX, 0};
  node->symbol = tmaring__symbol_find(formula, &node->word);
  if (node->symbol < 0) {
    if (formula->tree.has_header) return fail_undeclared(formula, &node->word);
    TMARING__TRY(
        tmaring__symbol_add_parameter(formula, &node->word, node->is_said ? node->said : matrix, &node->symbol));
  }
  tmaring__symbol *symbol = &formula->symbol[node->symbol];
  /* A label or what is cast is typed before the input named in front of it, which may be its first use. */
  if (symbol->kind == TMARING__SYMBOL_PARAMETER && node->word.offset < symbol->offset)
    symbol->offset = node->word.offset;
  TMARING__TRY(check_shape(formula, node));
  return check_column(formula, node);
}

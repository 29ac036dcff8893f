#include "parser.h"

#include <stdlib.h>

#include "function_table.h"
#include "parse_state.h"

tmaring_status tmaring__parse_fail(const tmaring__parse_state *parse, const char *needs)
{
  const tmaring__token *token = &parse->lexer.token;
  const char *got = token->kind == TMARING__TOKEN_END ? "the end of the formula" : "the end of the line";
  if (token->kind == TMARING__TOKEN_END || token->kind == TMARING__TOKEN_NEWLINE)
    return tmaring__place_fail(parse->source, TMARING_ERROR_SYNTAX, token->offset, "got %s, needs %s", got, needs);
  return tmaring__place_fail(parse->source, TMARING_ERROR_SYNTAX, token->offset, "got '%.*s', needs %s",
                             (int)token->length, parse->source->text + token->offset, needs);
}

tmaring_status tmaring__parse_expect(tmaring__parse_state *parse, tmaring__token_kind kind, const char *needs)
{
  if (parse->lexer.token.kind != kind) return tmaring__parse_fail(parse, needs);
  return tmaring__lexer_next(&parse->lexer);
}

tmaring__word tmaring__parse_word(const tmaring__parse_state *parse)
{
  const tmaring__token *token = &parse->lexer.token;
  const tmaring__word word = {parse->source->text + token->offset, token->length, token->offset};
  return word;
}

static tmaring_status check_reserved(const tmaring__parse_state *parse, const tmaring__word *word)
{
  if (!tmaring__word_is(word, "M") && !tmaring__word_is(word, "N") && !tmaring__word_is(word, "row") &&
      !tmaring__word_is(word, "col"))
    return TMARING_OK;
  return tmaring__place_fail(parse->source, TMARING_ERROR_SYNTAX, word->offset,
                             "%.*s is a number of the language, as N, M, col and row are; choose another name",
                             (int)word->length, word->start);
}

tmaring_status tmaring__parse_check_name(const tmaring__parse_state *parse, const tmaring__word *word)
{
  TMARING__TRY(check_reserved(parse, word));
  if (!tmaring__function_exists(word)) return TMARING_OK;
  return tmaring__place_fail(parse->source, TMARING_ERROR_SYNTAX, word->offset,
                             "%.*s is a function; call it, %.*s(...), or choose another name", (int)word->length,
                             word->start, (int)word->length, word->start);
}

tmaring_status tmaring__parse_group_cols(tmaring__parse_state *parse, int32_t *cols)
{
  const tmaring__token *token = &parse->lexer.token;
  if (token->kind != TMARING__TOKEN_NUMBER)
    return tmaring__parse_fail(parse, "the number of columns in a group, written out: 2, 4, 8 ... 1024");
  if (!tmaring__dims_group_fits(token->number))
    return tmaring__place_fail(parse->source, TMARING_ERROR_SHAPE, token->offset,
                               "columns in a group: got %.*s, needs a power of two from %d to %d", (int)token->length,
                               parse->source->text + token->offset, TMARING__MIN_GROUP_COLS, TMARING__MAX_GROUP_COLS);
  *cols = (int32_t)token->number;
  return tmaring__lexer_next(&parse->lexer);
}

/* Takes the name `dimension`, if it comes next. */
static tmaring_status take_dimension(tmaring__parse_state *parse, const char *dimension, int *taken)
{
  const tmaring__word word = tmaring__parse_word(parse);
  *taken = parse->lexer.token.kind == TMARING__TOKEN_NAME && tmaring__word_is(&word, dimension);
  return *taken ? tmaring__lexer_next(&parse->lexer) : TMARING_OK;
}

static const char *const shape_needs =
    "a shape: [M,N], [N] (per column), [M] (per row), [] (scalar), [M,N/k] (per group of k columns) or [M,2N]";

/* What follows `M,`: N, N/k or 2N. */
static tmaring_status parse_columns(tmaring__parse_state *parse, tmaring__dims *dims)
{
  int taken;
  const int twice = parse->lexer.token.kind == TMARING__TOKEN_NUMBER && parse->lexer.token.number == 2;
  if (twice) TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  TMARING__TRY(take_dimension(parse, "N", &taken));
  if (!taken) return tmaring__parse_fail(parse, shape_needs);
  dims->shape = twice ? TMARING_SHAPE_DOUBLE : TMARING_SHAPE_MATRIX;
  if (twice || parse->lexer.token.kind != TMARING__TOKEN_SLASH) return TMARING_OK;
  dims->shape = TMARING_SHAPE_GROUP;
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  return tmaring__parse_group_cols(parse, &dims->group_cols);
}

static tmaring_status parse_dimensions(tmaring__parse_state *parse, tmaring__dims *dims)
{
  int rows, cols = 0;
  TMARING__TRY(take_dimension(parse, "M", &rows));
  if (rows && parse->lexer.token.kind == TMARING__TOKEN_COMMA) {
    TMARING__TRY(tmaring__lexer_next(&parse->lexer));
    return parse_columns(parse, dims);
  }
  if (!rows) TMARING__TRY(take_dimension(parse, "N", &cols));
  dims->shape = rows ? TMARING_SHAPE_COLUMN : cols ? TMARING_SHAPE_ROW : TMARING_SHAPE_SCALAR;
  return TMARING_OK;
}

tmaring_status tmaring__parse_shape(tmaring__parse_state *parse, tmaring__dims *dims)
{
  dims->group_cols = 0;
  parse->lexer.factors = 1;
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  TMARING__TRY(parse_dimensions(parse, dims));
  parse->lexer.factors = 0; /* before what follows the shape is read */
  return tmaring__parse_expect(parse, TMARING__TOKEN_RBRACKET, shape_needs);
}

static int at_separator(const tmaring__parse_state *parse)
{
  return parse->lexer.token.kind == TMARING__TOKEN_NEWLINE || parse->lexer.token.kind == TMARING__TOKEN_SEMICOLON;
}

static tmaring_status skip_separators(tmaring__parse_state *parse)
{
  while (at_separator(parse)) TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  return TMARING_OK;
}

static tmaring_status add_declaration(tmaring__parse_state *parse, const tmaring__declaration *declaration)
{
  tmaring__syntax_tree *tree = parse->tree;
  if (tree->declaration_count == TMARING__MAX_DECLARATIONS)
    return tmaring__place_fail(parse->source, TMARING_ERROR_CAPACITY, declaration->word.offset,
                               "parameters: got more than %d, needs at most as many", TMARING__MAX_DECLARATIONS);
  tree->declaration[tree->declaration_count++] = *declaration;
  return TMARING_OK;
}

static tmaring_status parse_declared_name(tmaring__parse_state *parse, const char *needs, tmaring__word *word)
{
  *word = tmaring__parse_word(parse);
  if (parse->lexer.token.kind != TMARING__TOKEN_NAME) return tmaring__parse_fail(parse, needs);
  TMARING__TRY(tmaring__parse_check_name(parse, word));
  return tmaring__lexer_next(&parse->lexer);
}

static tmaring_status parse_tensor(tmaring__parse_state *parse)
{
  tmaring__declaration made = {{NULL, 0, 0}, {TMARING_SHAPE_MATRIX, 0}, 0, 0};
  TMARING__TRY(parse_declared_name(parse, "a tensor parameter such as x[M,N]", &made.word));
  if (parse->lexer.token.kind != TMARING__TOKEN_LBRACKET)
    return tmaring__parse_fail(parse, "the tensor's shape: [M,N], [N], [M], [M,N/k] or [M,2N]; scalars come after ';'");
  TMARING__TRY(tmaring__parse_shape(parse, &made.dims));
  if (made.dims.shape == TMARING_SHAPE_SCALAR)
    return tmaring__place_fail(parse->source, TMARING_ERROR_SYNTAX, made.word.offset,
                               "%.*s[] is a scalar among tensors; scalars come after ';', without brackets",
                               (int)made.word.length, made.word.start);
  return add_declaration(parse, &made);
}

static tmaring_status parse_default(tmaring__parse_state *parse, double *value)
{
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  const int negative = parse->lexer.token.kind == TMARING__TOKEN_MINUS;
  if (negative) TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  *value = negative ? -parse->lexer.token.number : parse->lexer.token.number;
  return tmaring__parse_expect(parse, TMARING__TOKEN_NUMBER, "a number as the default");
}

static tmaring_status parse_scalar(tmaring__parse_state *parse)
{
  tmaring__declaration made = {{NULL, 0, 0}, {TMARING_SHAPE_SCALAR, 0}, 0, 0};
  TMARING__TRY(parse_declared_name(parse, "a scalar parameter such as eps or eps = 1e-6", &made.word));
  if (parse->lexer.token.kind == TMARING__TOKEN_ASSIGN) {
    TMARING__TRY(parse_default(parse, &made.default_value));
    made.has_default = 1;
  }
  return add_declaration(parse, &made);
}

static tmaring_status parse_list(tmaring__parse_state *parse, tmaring_status (*item)(tmaring__parse_state *))
{
  for (;;) {
    TMARING__TRY(item(parse));
    if (parse->lexer.token.kind != TMARING__TOKEN_COMMA) return TMARING_OK;
    TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  }
}

/* `tensors; scalars`, either of which may be missing. */
static tmaring_status parse_parameters(tmaring__parse_state *parse)
{
  if (parse->lexer.token.kind != TMARING__TOKEN_SEMICOLON && parse->lexer.token.kind != TMARING__TOKEN_RPAREN)
    TMARING__TRY(parse_list(parse, parse_tensor));
  if (parse->lexer.token.kind != TMARING__TOKEN_SEMICOLON) return TMARING_OK;
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  return parse_list(parse, parse_scalar);
}

/* 1 if the parenthesis that opens after the current token is followed by '='. */
static int at_header(const tmaring__parse_state *parse)
{
  tmaring__lexer ahead = parse->lexer;
  ahead.factors = 1; /* [M,2N] */
  int32_t open = 0;
  do {
    if (tmaring__lexer_next(&ahead) != TMARING_OK || ahead.token.kind == TMARING__TOKEN_END) return 0;
    open += (ahead.token.kind == TMARING__TOKEN_LPAREN) - (ahead.token.kind == TMARING__TOKEN_RPAREN);
  } while (open > 0);
  return tmaring__lexer_next(&ahead) == TMARING_OK && ahead.token.kind == TMARING__TOKEN_ASSIGN;
}

/* `name(tensors; scalars) =`, the current token being the name. A function's name may be a formula's too. */
static tmaring_status parse_header(tmaring__parse_state *parse)
{
  const tmaring__word name = tmaring__parse_word(parse);
  if (tmaring__function_exists(&name) && !at_header(parse))
    return tmaring__parse_fail(parse, "a name for the result: y = expression");
  TMARING__TRY(check_reserved(parse, &name));
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  parse->tree->has_header = 1;
  TMARING__TRY(parse_parameters(parse));
  TMARING__TRY(tmaring__parse_expect(parse, TMARING__TOKEN_RPAREN, "',', ')' or, before the scalars, ';'"));
  TMARING__TRY(tmaring__parse_expect(parse, TMARING__TOKEN_ASSIGN, "'=' after the header"));
  return skip_separators(parse);
}

static tmaring_status add_statement(tmaring__parse_state *parse, const tmaring__statement *made)
{
  tmaring__syntax_tree *tree = parse->tree;
  if (tree->statement_count == tree->statement_capacity)
    return tmaring__place_fail(parse->source, TMARING_ERROR_CAPACITY, made->word.offset,
                               "statements: got more than %d, needs at most as many; split the formula",
                               (int)tree->statement_capacity);
  tree->statement[tree->statement_count++] = *made;
  return TMARING_OK;
}

/* The kind of the token after the current one. What it is unable to read is reported when it is reached. */
static tmaring__token_kind peek(const tmaring__parse_state *parse)
{
  tmaring__lexer ahead = parse->lexer;
  return tmaring__lexer_next(&ahead) == TMARING_OK ? ahead.token.kind : TMARING__TOKEN_END;
}

/* `out` is a word of the language only before another name. */
static int at_out(const tmaring__parse_state *parse)
{
  const tmaring__word word = tmaring__parse_word(parse);
  return parse->lexer.token.kind == TMARING__TOKEN_NAME && tmaring__word_is(&word, "out") &&
         peek(parse) == TMARING__TOKEN_NAME;
}

static tmaring_status parse_statement(tmaring__parse_state *parse)
{
  tmaring__statement made = {{NULL, 0, 0}, parse->tree->node_count, 0, at_out(parse), 0};
  if (made.out) TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  made.word = tmaring__parse_word(parse);
  if (parse->lexer.token.kind != TMARING__TOKEN_NAME)
    return tmaring__parse_fail(parse, "a statement: name = expression");
  TMARING__TRY(tmaring__parse_check_name(parse, &made.word));
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  if (parse->lexer.token.kind == TMARING__TOKEN_LPAREN)
    return tmaring__parse_fail(parse, "'=': a header may only stand at the start, before any statement");
  TMARING__TRY(tmaring__parse_expect(parse, TMARING__TOKEN_ASSIGN, "'=': a statement is name = expression"));
  TMARING__TRY(tmaring__parse_expression(parse, &made.root));
  return add_statement(parse, &made);
}

static tmaring_status parse_statements(tmaring__parse_state *parse)
{
  do {
    TMARING__TRY(parse_statement(parse));
    if (!at_separator(parse) && parse->lexer.token.kind != TMARING__TOKEN_END)
      return tmaring__parse_fail(parse, "an operator, or a newline or ';' before the next statement");
    TMARING__TRY(skip_separators(parse));
  } while (parse->lexer.token.kind != TMARING__TOKEN_END);
  return TMARING_OK;
}

/* After a header: one expression, whose output is named y. */
static tmaring_status parse_lone_expression(tmaring__parse_state *parse)
{
  tmaring__statement made = {{"y", 1, parse->lexer.token.offset}, parse->tree->node_count, 0, 0, 1};
  TMARING__TRY(tmaring__parse_expression(parse, &made.root));
  TMARING__TRY(add_statement(parse, &made));
  if (!at_separator(parse) && parse->lexer.token.kind != TMARING__TOKEN_END)
    return tmaring__parse_fail(parse, "an operator or the end of the formula");
  TMARING__TRY(skip_separators(parse));
  if (parse->lexer.token.kind == TMARING__TOKEN_END) return TMARING_OK;
  return tmaring__parse_fail(parse,
                             "the end of the formula; before statements, name the first expression too: y = ...");
}

static tmaring_status parse_formula(tmaring__parse_state *parse)
{
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  TMARING__TRY(skip_separators(parse));
  if (parse->lexer.token.kind != TMARING__TOKEN_NAME || peek(parse) != TMARING__TOKEN_LPAREN)
    return parse_statements(parse);
  TMARING__TRY(parse_header(parse));
  if (at_out(parse) || (parse->lexer.token.kind == TMARING__TOKEN_NAME && peek(parse) == TMARING__TOKEN_ASSIGN))
    return parse_statements(parse);
  return parse_lone_expression(parse);
}

/* Every node and every statement takes at least a byte of the text, so the text bounds both arrays. */
static int32_t bounded(int32_t bytes, int32_t most)
{
  return bytes < most ? bytes + 1 : most;
}

tmaring_status tmaring__parser_run(const tmaring__source *source, tmaring__syntax_tree *tree)
{
  tree->node_capacity = bounded(source->length, TMARING__MAX_SYNTAX_NODES);
  tree->statement_capacity = bounded(source->length, TMARING__MAX_STATEMENTS);
  tree->node = malloc((size_t)tree->node_capacity * sizeof *tree->node);
  tree->statement = malloc((size_t)tree->statement_capacity * sizeof *tree->statement);
  if (!tree->node || !tree->statement)
    return tmaring__fail(TMARING_ERROR_MEMORY, "formula: got no memory for its syntax tree; free some");
  tmaring__parse_state parse = {.source = source, .lexer = {.source = source}, .tree = tree, .depth = 0};
  return parse_formula(&parse);
}

void tmaring__syntax_tree_free(tmaring__syntax_tree *tree)
{
  free(tree->node);
  free(tree->statement);
  tree->node = NULL;
  tree->statement = NULL;
}

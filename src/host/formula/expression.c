#include <stdio.h>

#include "parse_state.h"

/* Places and kinds of an operator's level of precedence. */
typedef struct operator_kind {
  tmaring__token_kind token;
  tmaring__syntax kind;
} operator_kind;

static const operator_kind comparisons[] = {
    {TMARING__TOKEN_LT, TMARING__SYNTAX_LT}, {TMARING__TOKEN_LE, TMARING__SYNTAX_LE},
    {TMARING__TOKEN_GT, TMARING__SYNTAX_GT}, {TMARING__TOKEN_GE, TMARING__SYNTAX_GE},
    {TMARING__TOKEN_EQ, TMARING__SYNTAX_EQ}, {TMARING__TOKEN_NE, TMARING__SYNTAX_NE}};
static const operator_kind sums[] = {{TMARING__TOKEN_PLUS, TMARING__SYNTAX_ADD},
                                     {TMARING__TOKEN_MINUS, TMARING__SYNTAX_SUB}};
static const operator_kind products[] = {{TMARING__TOKEN_STAR, TMARING__SYNTAX_MUL},
                                         {TMARING__TOKEN_SLASH, TMARING__SYNTAX_DIV}};

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const operator_kind *find_operator(const tmaring__parse_state *parse, const operator_kind *list, int count)
{
  for (int i = 0; i < count; ++i)
    if (list[i].token == parse->lexer.token.kind) return &list[i];
  return NULL;
}

tmaring__syntax_node tmaring__parse_leaf(tmaring__syntax kind, int32_t offset)
{
  const tmaring__syntax_node made = {.kind = kind, .arg = {-1, -1, -1}, .offset = offset, .symbol = -1};
  return made;
}

tmaring_status tmaring__parse_add(tmaring__parse_state *parse, const tmaring__syntax_node *made, int32_t *node)
{
  tmaring__syntax_tree *tree = parse->tree;
  if (tree->node_count == tree->node_capacity)
    return tmaring__place_fail(parse->source, TMARING_ERROR_CAPACITY, made->offset,
                               "operations and operands: got more than %d, needs at most as many; split the formula",
                               (int)tree->node_capacity);
  *node = tree->node_count;
  tree->node[tree->node_count++] = *made;
  return TMARING_OK;
}

static tmaring_status add_binary(tmaring__parse_state *parse, tmaring__syntax kind, int32_t offset, int32_t right,
                                 int32_t *left)
{
  tmaring__syntax_node made = tmaring__parse_leaf(kind, offset);
  made.arg[0] = *left;
  made.arg[1] = right;
  return tmaring__parse_add(parse, &made, left);
}

tmaring_status tmaring__parse_enter(tmaring__parse_state *parse)
{
  if (parse->depth++ < TMARING__MAX_DEPTH) return TMARING_OK;
  return tmaring__place_fail(parse->source, TMARING_ERROR_CAPACITY, parse->lexer.token.offset,
                             "nesting: got more than %d levels, needs at most as many; name a part of the expression",
                             TMARING__MAX_DEPTH);
}

static tmaring_status parse_number(tmaring__parse_state *parse, int32_t *node)
{
  tmaring__syntax_node made = tmaring__parse_leaf(TMARING__SYNTAX_NUMBER, parse->lexer.token.offset);
  made.number = parse->lexer.token.number;
  TMARING__TRY(tmaring__parse_add(parse, &made, node));
  return tmaring__lexer_next(&parse->lexer);
}

/* Where a parenthesis is missing may be lines away from where it was forgotten, so both places are told. */
tmaring_status tmaring__parse_close(tmaring__parse_state *parse, int32_t opened, const char *needs)
{
  char told[96];
  int32_t line, column;
  if (parse->lexer.token.kind == TMARING__TOKEN_RPAREN) return tmaring__lexer_next(&parse->lexer);
  tmaring__place_find(parse->source, opened, &line, &column);
  snprintf(told, sizeof told, "%s to close '(' of line %d, column %d", needs, (int)line, (int)column);
  return tmaring__parse_fail(parse, told);
}

static tmaring_status parse_parentheses(tmaring__parse_state *parse, int32_t *node)
{
  const int32_t opened = parse->lexer.token.offset;
  TMARING__TRY(tmaring__parse_enter(parse));
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  TMARING__TRY(tmaring__parse_expression(parse, node));
  --parse->depth;
  return tmaring__parse_close(parse, opened, "an operator or ')'");
}

/* The kind of the language's own numbers; NAME for other words. */
static tmaring__syntax word_kind(const tmaring__word *word)
{
  static const tmaring__syntax numbers[] = {TMARING__SYNTAX_COLUMNS, TMARING__SYNTAX_ROWS, TMARING__SYNTAX_COL,
                                            TMARING__SYNTAX_ROW};
  for (int i = 0; i < COUNT(numbers); ++i)
    if (tmaring__word_is(word, tmaring__syntax_text(numbers[i]))) return numbers[i];
  return TMARING__SYNTAX_NAME;
}

tmaring_status tmaring__parse_value(tmaring__parse_state *parse, const tmaring__word *word, int32_t *node)
{
  tmaring__syntax_node made = tmaring__parse_leaf(word_kind(word), word->offset);
  if (made.kind != TMARING__SYNTAX_NAME) return tmaring__parse_add(parse, &made, node);
  TMARING__TRY(tmaring__parse_check_name(parse, word));
  if (tmaring__parse_at_label(parse)) return tmaring__parse_label(parse, word, node);
  made.word = *word;
  made.is_said = parse->lexer.token.kind == TMARING__TOKEN_LBRACKET;
  if (made.is_said) TMARING__TRY(tmaring__parse_shape(parse, &made.said));
  return tmaring__parse_add(parse, &made, node);
}

static tmaring_status parse_name(tmaring__parse_state *parse, int32_t *node)
{
  const tmaring__word word = tmaring__parse_word(parse);
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  if (parse->lexer.token.kind == TMARING__TOKEN_LPAREN) return tmaring__parse_call(parse, &word, node);
  return tmaring__parse_value(parse, &word, node);
}

static tmaring_status parse_unary(tmaring__parse_state *parse, int32_t *node)
{
  switch (parse->lexer.token.kind) {
  case TMARING__TOKEN_NUMBER: return parse_number(parse, node);
  case TMARING__TOKEN_NAME: return parse_name(parse, node);
  case TMARING__TOKEN_LPAREN: return parse_parentheses(parse, node);
  case TMARING__TOKEN_MINUS: break;
  default: return tmaring__parse_fail(parse, "an expression: a number, a name, a function, '-' or '('");
  }
  tmaring__syntax_node made = tmaring__parse_leaf(TMARING__SYNTAX_NEG, parse->lexer.token.offset);
  TMARING__TRY(tmaring__parse_enter(parse));
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  TMARING__TRY(parse_unary(parse, &made.arg[0]));
  --parse->depth;
  return tmaring__parse_add(parse, &made, node);
}

static tmaring_status parse_product(tmaring__parse_state *parse, int32_t *node)
{
  TMARING__TRY(parse_unary(parse, node));
  for (;;) {
    const operator_kind *found = find_operator(parse, products, COUNT(products));
    if (!found) return TMARING_OK;
    const int32_t offset = parse->lexer.token.offset;
    int32_t right = -1;
    TMARING__TRY(tmaring__lexer_next(&parse->lexer));
    TMARING__TRY(parse_unary(parse, &right));
    TMARING__TRY(add_binary(parse, found->kind, offset, right, node));
  }
}

static tmaring_status parse_sum(tmaring__parse_state *parse, int32_t *node)
{
  TMARING__TRY(parse_product(parse, node));
  for (;;) {
    const operator_kind *found = find_operator(parse, sums, COUNT(sums));
    if (!found) return TMARING_OK;
    const int32_t offset = parse->lexer.token.offset;
    int32_t right = -1;
    TMARING__TRY(tmaring__lexer_next(&parse->lexer));
    TMARING__TRY(parse_product(parse, &right));
    TMARING__TRY(add_binary(parse, found->kind, offset, right, node));
  }
}

tmaring_status tmaring__parse_expression(tmaring__parse_state *parse, int32_t *node)
{
  TMARING__TRY(parse_sum(parse, node));
  const operator_kind *found = find_operator(parse, comparisons, COUNT(comparisons));
  if (!found) return TMARING_OK;
  const int32_t offset = parse->lexer.token.offset;
  int32_t right = -1;
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  TMARING__TRY(parse_sum(parse, &right));
  TMARING__TRY(add_binary(parse, found->kind, offset, right, node));
  if (!find_operator(parse, comparisons, COUNT(comparisons))) return TMARING_OK;
  return tmaring__place_fail(parse->source, TMARING_ERROR_SYNTAX, parse->lexer.token.offset,
                             "comparisons do not chain; write where(a < b, where(b < c, p, q), q)");
}

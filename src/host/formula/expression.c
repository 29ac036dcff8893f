#include <stdio.h>

#include "function_table.h"
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

static tmaring_status add_node(tmaring__parse_state *parse, tmaring__syntax kind, int32_t offset, const int32_t arg[3],
                               int32_t *node)
{
  tmaring__syntax_tree *tree = parse->tree;
  if (tree->node_count == tree->node_capacity)
    return tmaring__place_fail(parse->source, TMARING_ERROR_CAPACITY, offset,
                               "operations and operands: got more than %d, needs at most as many; split the formula",
                               (int)tree->node_capacity);
  const tmaring__syntax_node made = {
      .kind = kind, .arg = {arg[0], arg[1], arg[2]}, .offset = offset, .said = TMARING__SHAPE_UNSAID, .symbol = -1};
  *node = tree->node_count;
  tree->node[tree->node_count++] = made;
  return TMARING_OK;
}

static const int32_t no_operands[3] = {-1, -1, -1};

static tmaring_status add_binary(tmaring__parse_state *parse, tmaring__syntax kind, int32_t offset, int32_t right,
                                 int32_t *left)
{
  const int32_t arg[3] = {*left, right, -1};
  return add_node(parse, kind, offset, arg, left);
}

static tmaring_status enter(tmaring__parse_state *parse)
{
  if (parse->depth++ < TMARING__MAX_DEPTH) return TMARING_OK;
  return tmaring__place_fail(parse->source, TMARING_ERROR_CAPACITY, parse->lexer.token.offset,
                             "nesting: got more than %d levels, needs at most as many; name a part of the expression",
                             TMARING__MAX_DEPTH);
}

static tmaring_status parse_number(tmaring__parse_state *parse, int32_t *node)
{
  TMARING__TRY(add_node(parse, TMARING__SYNTAX_NUMBER, parse->lexer.token.offset, no_operands, node));
  parse->tree->node[*node].number = parse->lexer.token.number;
  return tmaring__lexer_next(&parse->lexer);
}

/* The closing parenthesis. Where it is missing may be lines away from where it was forgotten, so both places are told.
 */
static tmaring_status close(tmaring__parse_state *parse, int32_t opened, const char *needs)
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
  TMARING__TRY(enter(parse));
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  TMARING__TRY(tmaring__parse_expression(parse, node));
  --parse->depth;
  return close(parse, opened, "an operator or ')'");
}

static tmaring_status parse_operands(tmaring__parse_state *parse, int32_t arg[3], int32_t *count)
{
  for (*count = 0;; ++*count) {
    if (*count == TMARING__MAX_OPERANDS) return tmaring__parse_fail(parse, "')': no function has more than 3 operands");
    TMARING__TRY(tmaring__parse_expression(parse, &arg[*count]));
    if (parse->lexer.token.kind != TMARING__TOKEN_COMMA) break;
    TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  }
  ++*count;
  return TMARING_OK;
}

/* A call, the current token being '('. An unknown name is refused before its operands are read. */
static tmaring_status parse_call(tmaring__parse_state *parse, const tmaring__word *name, int32_t *node)
{
  int32_t arg[3] = {-1, -1, -1}, count;
  tmaring__syntax kind = TMARING__SYNTAX_COUNT;
  const int32_t opened = parse->lexer.token.offset;
  if (!tmaring__function_exists(name)) return tmaring__function_find(parse->source, name, 0, &kind);
  TMARING__TRY(enter(parse));
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  TMARING__TRY(parse_operands(parse, arg, &count));
  --parse->depth;
  TMARING__TRY(close(parse, opened, "an operator, ',' or ')'"));
  TMARING__TRY(tmaring__function_find(parse->source, name, count, &kind));
  return add_node(parse, kind, name->offset, arg, node);
}

static tmaring_status parse_parameter(tmaring__parse_state *parse, const tmaring__word *word, int32_t *node)
{
  if (tmaring__word_is(word, "N")) return add_node(parse, TMARING__SYNTAX_COLUMNS, word->offset, no_operands, node);
  TMARING__TRY(tmaring__parse_check_name(parse, word));
  TMARING__TRY(add_node(parse, TMARING__SYNTAX_NAME, word->offset, no_operands, node));
  parse->tree->node[*node].word = *word;
  if (parse->lexer.token.kind != TMARING__TOKEN_LBRACKET) return TMARING_OK;
  tmaring_shape shape;
  TMARING__TRY(tmaring__parse_shape(parse, &shape));
  parse->tree->node[*node].said = (int32_t)shape;
  return TMARING_OK;
}

static tmaring_status parse_name(tmaring__parse_state *parse, int32_t *node)
{
  const tmaring__word word = tmaring__parse_word(parse);
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  if (parse->lexer.token.kind == TMARING__TOKEN_LPAREN) return parse_call(parse, &word, node);
  return parse_parameter(parse, &word, node);
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
  const int32_t offset = parse->lexer.token.offset;
  int32_t arg[3] = {-1, -1, -1};
  TMARING__TRY(enter(parse));
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  TMARING__TRY(parse_unary(parse, &arg[0]));
  --parse->depth;
  return add_node(parse, TMARING__SYNTAX_NEG, offset, arg, node);
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

/* What the parser's two halves share: statements and header in parser.c, expressions in expression.c. */
#ifndef TMARING_HOST_PARSE_STATE_H
#define TMARING_HOST_PARSE_STATE_H

#include "lexer.h"
#include "syntax.h"

typedef struct tmaring__parse_state {
  const tmaring__source *source;
  tmaring__lexer lexer;
  tmaring__syntax_tree *tree;
  int32_t depth;
} tmaring__parse_state;

/* ERROR_SYNTAX at the current token: "got TOKEN, needs WHAT". */
tmaring_status tmaring__parse_fail(const tmaring__parse_state *parse, const char *needs);
/* Takes a token of this kind, or fails. */
tmaring_status tmaring__parse_expect(tmaring__parse_state *parse, tmaring__token_kind kind, const char *needs);
tmaring__word tmaring__parse_word(const tmaring__parse_state *parse);
/* Refuses M, N and the names of functions for what the formula wants to name. */
tmaring_status tmaring__parse_check_name(const tmaring__parse_state *parse, const tmaring__word *word);
/* `[M,N]`, `[N]`, `[M]` or `[]`, the current token being '['. */
tmaring_status tmaring__parse_shape(tmaring__parse_state *parse, tmaring_shape *shape);
/* An expression, comparisons included; *node is its root. */
tmaring_status tmaring__parse_expression(tmaring__parse_state *parse, int32_t *node);

#endif

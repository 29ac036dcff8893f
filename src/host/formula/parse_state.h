/* What the parser's parts share: statements and header in parser.c, expressions in expression.c, calls and labels in
 * call.c. */
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
/* Refuses M, N, row, col and the names of functions for what the formula wants to name. */
tmaring_status tmaring__parse_check_name(const tmaring__parse_state *parse, const tmaring__word *word);
/* A shape in brackets, the current token being '['. */
tmaring_status tmaring__parse_shape(tmaring__parse_state *parse, tmaring__dims *dims);
/* The number of columns in a group, which must be the current token. */
tmaring_status tmaring__parse_group_cols(tmaring__parse_state *parse, int32_t *cols);
/* An expression, comparisons included; *node is its root. */
tmaring_status tmaring__parse_expression(tmaring__parse_state *parse, int32_t *node);

/* A node without operands. */
tmaring__syntax_node tmaring__parse_leaf(tmaring__syntax kind, int32_t offset);
tmaring_status tmaring__parse_add(tmaring__parse_state *parse, const tmaring__syntax_node *made, int32_t *node);
/* One level of nesting more; the caller takes it off parse->depth. ERROR_CAPACITY beyond the limit. */
tmaring_status tmaring__parse_enter(tmaring__parse_state *parse);
/* The closing parenthesis of the one at `opened`. */
tmaring_status tmaring__parse_close(tmaring__parse_state *parse, int32_t opened, const char *needs);

/* `name(...)`, the current token being '('. */
tmaring_status tmaring__parse_call(tmaring__parse_state *parse, const tmaring__word *name, int32_t *node);
/* 1 if the current token is the '[' of a label, as in x[label], and not of a shape. */
int tmaring__parse_at_label(const tmaring__parse_state *parse);
/* `x[label]`, the current token being '['. */
tmaring_status tmaring__parse_label(tmaring__parse_state *parse, const tmaring__word *input, int32_t *node);
/* A word that stands for a value: one of the language's numbers, or a parameter or assigned name, with its shape or
 * label. */
tmaring_status tmaring__parse_value(tmaring__parse_state *parse, const tmaring__word *word, int32_t *node);

#endif

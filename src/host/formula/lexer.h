/* Cuts the text of a formula into tokens, one at a time. */
#ifndef TMARING_HOST_LEXER_H
#define TMARING_HOST_LEXER_H

#include "place.h"

/* X(enumerator, spelling): operators and brackets, longer spellings before their beginnings */
#define TMARING__TOKEN_LIST(X)                                                                                         \
  X(EQ, "==")                                                                                                          \
  X(NE, "!=")                                                                                                          \
  X(LE, "<=")                                                                                                          \
  X(GE, ">=")                                                                                                          \
  X(LT, "<")                                                                                                           \
  X(GT, ">")                                                                                                           \
  X(ASSIGN, "=")                                                                                                       \
  X(PLUS, "+")                                                                                                         \
  X(MINUS, "-")                                                                                                        \
  X(STAR, "*")                                                                                                         \
  X(SLASH, "/")                                                                                                        \
  X(LPAREN, "(")                                                                                                       \
  X(RPAREN, ")")                                                                                                       \
  X(LBRACKET, "[")                                                                                                     \
  X(RBRACKET, "]")                                                                                                     \
  X(COMMA, ",")                                                                                                        \
  X(SEMICOLON, ";")

typedef enum tmaring__token_kind {
#define TMARING__TOKEN_ENUM(name, spelling) TMARING__TOKEN_##name,
  TMARING__TOKEN_LIST(TMARING__TOKEN_ENUM)
#undef TMARING__TOKEN_ENUM
      TMARING__TOKEN_NEWLINE,
  TMARING__TOKEN_NAME,
  TMARING__TOKEN_NUMBER,
  TMARING__TOKEN_END
} tmaring__token_kind;

#define TMARING__MAX_NAME 63

typedef struct tmaring__token {
  tmaring__token_kind kind;
  int32_t offset; /* NEWLINE and END: just behind the token before, where something is missing */
  int32_t length;
  double number;
} tmaring__token;

/* A plain value: copying it saves a place to come back to. */
typedef struct tmaring__lexer {
  const tmaring__source *source;
  int32_t offset;   /* of what has not been read */
  int32_t open;     /* parentheses and brackets that are open: newlines in them are blanks */
  int32_t last_end; /* where the last token ended */
  int32_t factors;  /* 1: a name may follow a number at once, as in [M,2N] */
  tmaring__token token;
} tmaring__lexer;

/* Reads the next token into lexer->token. Errors: SYNTAX (a character of no token, a broken number), TYPE (a number
 * beyond double), CAPACITY (a name or number too long). */
tmaring_status tmaring__lexer_next(tmaring__lexer *lexer);

#endif

#include "lexer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NUMBER = 64, MAX_EXPONENT = 99999 };

/* Own tests of characters: those of ctype.h follow the locale. */
static int is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static int is_name(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static char at(const tmaring__lexer *lexer, int32_t offset)
{
  return offset < lexer->source->length ? lexer->source->text[offset] : 0;
}

static void skip_blanks(tmaring__lexer *lexer)
{
  for (;;) {
    const char c = at(lexer, lexer->offset);
    if (c == '#') {
      while (lexer->offset < lexer->source->length && at(lexer, lexer->offset) != '\n') ++lexer->offset;
    } else if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && lexer->open > 0)) {
      ++lexer->offset;
    } else {
      return;
    }
  }
}

static void take(tmaring__lexer *lexer, tmaring__token_kind kind, int32_t length)
{
  lexer->token.kind = kind;
  lexer->token.offset = lexer->offset;
  lexer->token.length = length;
  lexer->offset += length;
  lexer->last_end = lexer->offset;
}

static void take_end(tmaring__lexer *lexer, tmaring__token_kind kind, int32_t length)
{
  lexer->token.kind = kind;
  lexer->token.offset = lexer->last_end;
  lexer->token.length = 0;
  lexer->offset += length;
  if (length > 0) lexer->last_end = lexer->offset;
}

static tmaring_status read_name(tmaring__lexer *lexer)
{
  int32_t length = 1;
  while (is_name(at(lexer, lexer->offset + length))) ++length;
  if (length > TMARING__MAX_NAME)
    return tmaring__place_fail(lexer->source, TMARING_ERROR_CAPACITY, lexer->offset,
                               "name: got %d letters, needs at most %d; shorten it", (int)length, TMARING__MAX_NAME);
  take(lexer, TMARING__TOKEN_NAME, length);
  return TMARING_OK;
}

/* Exponent after 'e' at `end`; leaves *end behind it. Held within MAX_EXPONENT, far beyond any number that is accepted.
 */
static tmaring_status read_exponent(tmaring__lexer *lexer, int32_t *end, int32_t *exponent)
{
  int32_t i = *end + 1;
  const int negative = at(lexer, i) == '-';
  if (negative || at(lexer, i) == '+') ++i;
  if (!is_digit(at(lexer, i)))
    return tmaring__place_fail(
        lexer->source, TMARING_ERROR_SYNTAX, i,
        "number: needs digits after its exponent's 'e'; write 1e-6, or put an operator before a name");
  int32_t value = 0;
  for (; is_digit(at(lexer, i)); ++i)
    if (value < MAX_EXPONENT) value = value * 10 + (at(lexer, i) - '0');
  *exponent = negative ? -value : value;
  *end = i;
  return TMARING_OK;
}

/* Digits and exponent of the number at the lexer's offset. The point is left out and moved into the exponent: strtod
 * would look for the locale's own. */
static tmaring_status scan_number(tmaring__lexer *lexer, char digits[MAX_NUMBER + 1], int32_t *end, int32_t *exponent)
{
  int32_t count = 0, fraction = 0, point = 0, i = lexer->offset;
  for (; is_digit(at(lexer, i)) || (at(lexer, i) == '.' && !point); ++i) {
    if (at(lexer, i) == '.') {
      point = 1;
      continue;
    }
    if (count == MAX_NUMBER)
      return tmaring__place_fail(lexer->source, TMARING_ERROR_CAPACITY, lexer->offset,
                                 "number: needs at most %d digits; double keeps 17", MAX_NUMBER);
    digits[count++] = at(lexer, i);
    fraction += point;
  }
  digits[count] = 0;
  *exponent = 0;
  if (at(lexer, i) == 'e' || at(lexer, i) == 'E') TMARING__TRY(read_exponent(lexer, &i, exponent));
  *exponent -= fraction;
  *end = i;
  return TMARING_OK;
}

static int is_zero(const char *digits)
{
  return strspn(digits, "0") == strlen(digits);
}

static tmaring_status read_number(tmaring__lexer *lexer)
{
  char digits[MAX_NUMBER + 1], plain[MAX_NUMBER + 16];
  int32_t end = 0, exponent = 0;
  TMARING__TRY(scan_number(lexer, digits, &end, &exponent));
  if ((is_name(at(lexer, end)) && !lexer->factors) || at(lexer, end) == '.')
    return tmaring__place_fail(lexer->source, TMARING_ERROR_SYNTAX, end,
                               "number: got '%c' right after it, needs an operator; products are written 2 * x",
                               at(lexer, end));
  snprintf(plain, sizeof plain, "%se%d", digits, (int)exponent);
  const double number = strtod(plain, NULL);
  if (isinf(number) || (number == 0 && !is_zero(digits)))
    return tmaring__place_fail(lexer->source, TMARING_ERROR_TYPE, lexer->offset,
                               "number: got %.*s, needs 0 or a value from 4.9e-324 to 1.8e308; numbers are doubles",
                               (int)(end - lexer->offset), lexer->source->text + lexer->offset);
  lexer->token.number = number;
  take(lexer, TMARING__TOKEN_NUMBER, end - lexer->offset);
  return TMARING_OK;
}

static tmaring_status fail_character(const tmaring__lexer *lexer)
{
  const unsigned char c = (unsigned char)at(lexer, lexer->offset);
  if (c == '!')
    return tmaring__place_fail(
        lexer->source, TMARING_ERROR_SYNTAX, lexer->offset,
        "got '!', needs '!='; a condition is turned round by its comparison, or by where(c, b, a)");
  if (c > 0x20 && c < 0x7f)
    return tmaring__place_fail(lexer->source, TMARING_ERROR_SYNTAX, lexer->offset,
                               "got '%c', which no formula has; operators are + - * / < <= > >= == !=", c);
  return tmaring__place_fail(lexer->source, TMARING_ERROR_SYNTAX, lexer->offset,
                             "got byte 0x%02x, needs ASCII; other letters may stand in comments", c);
}

static tmaring_status read_symbol(tmaring__lexer *lexer)
{
  static const char *const spelling[] = {
#define TOKEN_SPELLING(name, spelling) spelling,
      TMARING__TOKEN_LIST(TOKEN_SPELLING)
#undef TOKEN_SPELLING
  };
  for (int32_t kind = 0; kind < TMARING__TOKEN_NEWLINE; ++kind) {
    const int32_t length = (int32_t)strlen(spelling[kind]);
    if (strncmp(lexer->source->text + lexer->offset, spelling[kind], (size_t)length) != 0) continue;
    take(lexer, (tmaring__token_kind)kind, length);
    if (kind == TMARING__TOKEN_LPAREN || kind == TMARING__TOKEN_LBRACKET) ++lexer->open;
    if ((kind == TMARING__TOKEN_RPAREN || kind == TMARING__TOKEN_RBRACKET) && lexer->open > 0) --lexer->open;
    return TMARING_OK;
  }
  return fail_character(lexer);
}

tmaring_status tmaring__lexer_next(tmaring__lexer *lexer)
{
  skip_blanks(lexer);
  const char c = at(lexer, lexer->offset);
  if (c == 0) {
    take_end(lexer, TMARING__TOKEN_END, 0);
    return TMARING_OK;
  }
  if (c == '\n') {
    take_end(lexer, TMARING__TOKEN_NEWLINE, 1);
    return TMARING_OK;
  }
  if (is_digit(c) || (c == '.' && is_digit(at(lexer, lexer->offset + 1)))) return read_number(lexer);
  if (is_name(c)) return read_name(lexer);
  return read_symbol(lexer);
}

/* Calls of functions, and labels. */
#include "function_table.h"
#include "parse_state.h"

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

/* The bare name of an input, or with its shape. */
static tmaring_status parse_input(tmaring__parse_state *parse, const char *needs, tmaring__syntax_node *made)
{
  made->word = tmaring__parse_word(parse);
  if (parse->lexer.token.kind != TMARING__TOKEN_NAME) return tmaring__parse_fail(parse, needs);
  TMARING__TRY(tmaring__parse_check_name(parse, &made->word));
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  made->is_said = parse->lexer.token.kind == TMARING__TOKEN_LBRACKET;
  return made->is_said ? tmaring__parse_shape(parse, &made->said) : TMARING_OK;
}

static tmaring_status parse_grouped(tmaring__parse_state *parse, tmaring__syntax_node *made)
{
  TMARING__TRY(tmaring__parse_expression(parse, &made->arg[0]));
  TMARING__TRY(tmaring__parse_expect(parse, TMARING__TOKEN_COMMA,
                                     "an operator, or ',' and the number of columns in a group, as in gsum(a, 128)"));
  return tmaring__parse_group_cols(parse, &made->index);
}

/* The type of this name; -1 if there is none. */
static int32_t find_dtype(const tmaring__word *word)
{
  static const char *const name[] = {
#define DTYPE_NAME(name, value, text, bytes) [value] = text,
      TMARING_DTYPE_LIST(DTYPE_NAME)
#undef DTYPE_NAME
  };
  for (int32_t i = 0; i < TMARING_DTYPE_COUNT; ++i)
    if (tmaring__word_is(word, name[i])) return i;
  return -1;
}

/* What to cast to: a type's name wins over an input's. */
static tmaring_status parse_target(tmaring__parse_state *parse, tmaring__syntax_node *made)
{
  const tmaring__word word = tmaring__parse_word(parse);
  made->index = parse->lexer.token.kind == TMARING__TOKEN_NAME ? find_dtype(&word) : -1;
  if (made->index == TMARING_I64)
    return tmaring__place_fail(parse->source, TMARING_ERROR_TYPE, word.offset,
                               "cast: got i64, which is kept for labels and column numbers; needs f32, f16, bf16, f64, "
                               "e4m3, e5m2, i8 or i32");
  if (made->index >= 0) return tmaring__lexer_next(&parse->lexer);
  made->kind = TMARING__SYNTAX_CAST_AS;
  return parse_input(
      parse, "a type (f32, f16, bf16, f64, e4m3, e5m2, i8, i32) or an input's bare name: cast(bf16, a), cast(x, a)",
      made);
}

static tmaring_status parse_cast(tmaring__parse_state *parse, tmaring__syntax_node *made)
{
  TMARING__TRY(parse_target(parse, made));
  TMARING__TRY(tmaring__parse_expect(parse, TMARING__TOKEN_COMMA,
                                     "',': cast takes a type or an input's bare name, then what is cast"));
  return tmaring__parse_expression(parse, &made->arg[0]);
}

static tmaring_status parse_arguments(tmaring__parse_state *parse, tmaring__syntax_node *made, int32_t *count)
{
  *count = 0;
  if (tmaring__syntax_reads_double(made->kind))
    return parse_input(parse, "the bare name of an [M,2N] input, as in first(x)", made);
  if (tmaring__syntax_reduces_group(made->kind)) return parse_grouped(parse, made);
  if (made->kind == TMARING__SYNTAX_CAST) return parse_cast(parse, made);
  return parse_operands(parse, made->arg, count);
}

/* An unknown name is refused before its operands are read. */
tmaring_status tmaring__parse_call(tmaring__parse_state *parse, const tmaring__word *name, int32_t *node)
{
  tmaring__syntax_node made = tmaring__parse_leaf(tmaring__function_kind(name), name->offset);
  const int32_t opened = parse->lexer.token.offset;
  int32_t count;
  if (made.kind == TMARING__SYNTAX_COUNT) return tmaring__function_find(parse->source, name, 0, &made.kind);
  TMARING__TRY(tmaring__parse_enter(parse));
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  TMARING__TRY(parse_arguments(parse, &made, &count));
  --parse->depth;
  const int one = made.kind == TMARING__SYNTAX_CAST || made.kind == TMARING__SYNTAX_CAST_AS;
  TMARING__TRY(tmaring__parse_close(parse, opened,
                                    count > 0 ? "an operator, ',' or ')'"
                                    : one     ? "an operator or ')'"
                                              : "')'"));
  if (count > 0) TMARING__TRY(tmaring__function_find(parse->source, name, count, &made.kind));
  return tmaring__parse_add(parse, &made, node);
}

int tmaring__parse_at_label(const tmaring__parse_state *parse)
{
  tmaring__lexer ahead = parse->lexer;
  ahead.factors = 1; /* a shape may come too */
  if (ahead.token.kind != TMARING__TOKEN_LBRACKET || tmaring__lexer_next(&ahead) != TMARING_OK) return 0;
  const tmaring__word word = {ahead.source->text + ahead.token.offset, ahead.token.length, ahead.token.offset};
  return ahead.token.kind == TMARING__TOKEN_NAME && !tmaring__word_is(&word, "M") && !tmaring__word_is(&word, "N");
}

tmaring_status tmaring__parse_label(tmaring__parse_state *parse, const tmaring__word *input, int32_t *node)
{
  static const char *const needs = "']': a label is one name, x[label]; assign the expression first";
  tmaring__syntax_node made = tmaring__parse_leaf(TMARING__SYNTAX_GATHER, input->offset);
  made.word = *input;
  TMARING__TRY(tmaring__parse_enter(parse));
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  const tmaring__word label = tmaring__parse_word(parse);
  TMARING__TRY(tmaring__lexer_next(&parse->lexer));
  if (parse->lexer.token.kind == TMARING__TOKEN_LPAREN) return tmaring__parse_fail(parse, needs);
  TMARING__TRY(tmaring__parse_value(parse, &label, &made.arg[0]));
  --parse->depth;
  TMARING__TRY(tmaring__parse_expect(parse, TMARING__TOKEN_RBRACKET, needs));
  return tmaring__parse_add(parse, &made, node);
}

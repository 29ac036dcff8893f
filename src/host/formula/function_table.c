#include "function_table.h"

#include "spelling.h"

typedef struct function {
  const char *name;
  int32_t operands;
  tmaring__syntax kind;
  const char *usage;
} function;

static const function table[] = {
    {"where", 3, TMARING__SYNTAX_WHERE, "where(condition, a, b)"},
    {"abs", 1, TMARING__SYNTAX_ABS, "abs(a)"},
    {"min", 2, TMARING__SYNTAX_MIN, "min(a, b), or min(a) over the row"},
    {"min", 1, TMARING__SYNTAX_ROW_MIN, "min(a, b), or min(a) over the row"},
    {"max", 2, TMARING__SYNTAX_MAX, "max(a, b), or max(a) over the row"},
    {"max", 1, TMARING__SYNTAX_ROW_MAX, "max(a, b), or max(a) over the row"},
    {"exp", 1, TMARING__SYNTAX_EXP, "exp(a)"},
    {"log", 1, TMARING__SYNTAX_LOG, "log(a)"},
    {"sqrt", 1, TMARING__SYNTAX_SQRT, "sqrt(a)"},
    {"rsqrt", 1, TMARING__SYNTAX_RSQRT, "rsqrt(a)"},
    {"tanh", 1, TMARING__SYNTAX_TANH, "tanh(a)"},
    {"sigmoid", 1, TMARING__SYNTAX_SIGMOID, "sigmoid(a)"},
    {"sum", 1, TMARING__SYNTAX_ROW_SUM, "sum(a), over the row"},
    {"mean", 1, TMARING__SYNTAX_ROW_MEAN, "mean(a), over the row"},
};

enum { FUNCTIONS = (int)(sizeof table / sizeof table[0]) };

int tmaring__function_exists(const tmaring__word *name)
{
  for (int i = 0; i < FUNCTIONS; ++i)
    if (tmaring__word_is(name, table[i].name)) return 1;
  return 0;
}

static tmaring_status fail_unknown(const tmaring__source *source, const tmaring__word *name)
{
  for (int i = 0; i < FUNCTIONS; ++i)
    if (tmaring__spelling_close(name->start, name->length, table[i].name))
      return tmaring__place_fail(source, TMARING_ERROR_SYNTAX, name->offset, "unknown function %.*s; did you mean %s?",
                                 (int)name->length, name->start, table[i].name);
  return tmaring__place_fail(source, TMARING_ERROR_SYNTAX, name->offset,
                             "unknown function %.*s; there are where, abs, min, max, exp, log, sqrt, rsqrt, tanh, "
                             "sigmoid, sum and mean, and products are written a * (b)",
                             (int)name->length, name->start);
}

tmaring_status tmaring__function_find(const tmaring__source *source, const tmaring__word *name, int32_t operands,
                                      tmaring__syntax *kind)
{
  const char *usage = NULL;
  for (int i = 0; i < FUNCTIONS; ++i) {
    if (!tmaring__word_is(name, table[i].name)) continue;
    *kind = table[i].kind;
    if (table[i].operands == operands) return TMARING_OK;
    usage = table[i].usage;
  }
  if (!usage) return fail_unknown(source, name);
  return tmaring__place_fail(source, TMARING_ERROR_SYNTAX, name->offset, "%.*s: got %d operand%s, needs %s",
                             (int)name->length, name->start, (int)operands, operands == 1 ? "" : "s", usage);
}

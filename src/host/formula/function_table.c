#include "function_table.h"

#include <string.h>

#include "../base/text.h"
#include "spelling.h"

typedef struct function {
  const char *name;
  int32_t operands;
  tmaring__syntax kind;
  const char *usage;
} function;

/* Entries of one name follow one another. */
static const function table[] = {
    {"where", 3, TMARING__SYNTAX_WHERE, "where(condition, a, b)"},
    {"abs", 1, TMARING__SYNTAX_ABS, "abs(a)"},
    {"min", 2, TMARING__SYNTAX_MIN, "min(a, b), or min(a) over the row"},
    {"min", 1, TMARING__SYNTAX_ROW_MIN, "min(a, b), or min(a) over the row"},
    {"max", 2, TMARING__SYNTAX_MAX, "max(a, b), or max(a) over the row"},
    {"max", 1, TMARING__SYNTAX_ROW_MAX, "max(a, b), or max(a) over the row"},
    {"clamp", 3, TMARING__SYNTAX_CLAMP, "clamp(a, low, high)"},
    {"exp", 1, TMARING__SYNTAX_EXP, "exp(a)"},
    {"log", 1, TMARING__SYNTAX_LOG, "log(a)"},
    {"sqrt", 1, TMARING__SYNTAX_SQRT, "sqrt(a)"},
    {"rsqrt", 1, TMARING__SYNTAX_RSQRT, "rsqrt(a)"},
    {"tanh", 1, TMARING__SYNTAX_TANH, "tanh(a)"},
    {"sigmoid", 1, TMARING__SYNTAX_SIGMOID, "sigmoid(a)"},
    {"silu", 1, TMARING__SYNTAX_SILU, "silu(a)"},
    {"erf", 1, TMARING__SYNTAX_ERF, "erf(a)"},
    {"round", 1, TMARING__SYNTAX_ROUND, "round(a)"},
    {"cast", 2, TMARING__SYNTAX_CAST, "cast(type, a) or cast(input, a)"},
    {"sum", 1, TMARING__SYNTAX_ROW_SUM, "sum(a), over the row"},
    {"mean", 1, TMARING__SYNTAX_ROW_MEAN, "mean(a), over the row"},
    {"amax", 1, TMARING__SYNTAX_ROW_AMAX, "amax(a), over the row"},
    {"argmax", 1, TMARING__SYNTAX_ROW_ARGMAX, "argmax(a), over the row"},
    {"logsumexp", 1, TMARING__SYNTAX_ROW_LOGSUMEXP, "logsumexp(a), over the row"},
    {"gsum", 2, TMARING__SYNTAX_GROUP_SUM, "gsum(a, 128)"},
    {"gmax", 2, TMARING__SYNTAX_GROUP_MAX, "gmax(a, 128)"},
    {"gmin", 2, TMARING__SYNTAX_GROUP_MIN, "gmin(a, 128)"},
    {"gamax", 2, TMARING__SYNTAX_GROUP_AMAX, "gamax(a, 128)"},
    {"colsum", 1, TMARING__SYNTAX_COLUMN_SUM, "colsum(a), over the rows"},
    {"colmean", 1, TMARING__SYNTAX_COLUMN_MEAN, "colmean(a), over the rows"},
    {"colmax", 1, TMARING__SYNTAX_COLUMN_MAX, "colmax(a), over the rows"},
    {"first", 1, TMARING__SYNTAX_FIRST, "first(x)"},
    {"second", 1, TMARING__SYNTAX_SECOND, "second(x)"},
    {"even", 1, TMARING__SYNTAX_EVEN, "even(x)"},
    {"odd", 1, TMARING__SYNTAX_ODD, "odd(x)"},
};

enum { FUNCTIONS = (int)(sizeof table / sizeof table[0]) };

int tmaring__function_exists(const tmaring__word *name)
{
  return tmaring__function_kind(name) != TMARING__SYNTAX_COUNT;
}

tmaring__syntax tmaring__function_kind(const tmaring__word *name)
{
  for (int i = 0; i < FUNCTIONS; ++i)
    if (tmaring__word_is(name, table[i].name)) return table[i].kind;
  return TMARING__SYNTAX_COUNT;
}

/* The names of all functions, each once. */
static void list_names(tmaring__text *list)
{
  for (int i = 0; i < FUNCTIONS; ++i)
    if (i == 0 || strcmp(table[i].name, table[i - 1].name) != 0)
      tmaring__text_add(list, "%s%s", i == 0 ? "" : i == FUNCTIONS - 1 ? " and " : ", ", table[i].name);
}

static tmaring_status fail_unknown(const tmaring__source *source, const tmaring__word *name)
{
  for (int i = 0; i < FUNCTIONS; ++i)
    if (tmaring__spelling_close(name->start, name->length, table[i].name))
      return tmaring__place_fail(source, TMARING_ERROR_SYNTAX, name->offset, "unknown function %.*s; did you mean %s?",
                                 (int)name->length, name->start, table[i].name);
  tmaring__text names = {NULL, 0, 0, 0};
  list_names(&names);
  const tmaring_status status =
      tmaring__place_fail(source, TMARING_ERROR_SYNTAX, name->offset,
                          "unknown function %.*s; there are %s, and products are written a * (b)", (int)name->length,
                          name->start, tmaring__text_failed(&names) ? "others" : names.data);
  tmaring__text_free(&names);
  return status;
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

/* The page of the language is true: its examples parse, its errors are the ones that come, its functions exist. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/host/formula/function_table.h"
#include "tmaring/formula.h"

/* The page; the caller frees it. Tests run in the root of the tree. */
static char *page(void)
{
  FILE *file = fopen("docs/formulas.md", "rb");
  cr_assert_not_null(file, "docs/formulas.md is not here; run the tests in the root of the tree");
  cr_assert_eq(fseek(file, 0, SEEK_END), 0);
  const long length = ftell(file);
  char *text = malloc((size_t)length + 1);
  rewind(file);
  cr_assert(text && fread(text, 1, (size_t)length, file) == (size_t)length);
  text[length] = 0;
  fclose(file);
  return text;
}

/* Cuts a section out of the page. */
static char *section(char *text, const char *heading)
{
  char *begin = strstr(text, heading);
  cr_assert_not_null(begin, "no %s", heading);
  char *end = strstr(begin + 1, "\n## ");
  if (end) *end = 0;
  return begin;
}

/* The next block between fences, zero-terminated; NULL after the last. *rest is moved behind it. */
static char *next_block(char **rest)
{
  char *begin = strstr(*rest, "```\n");
  if (!begin) return NULL;
  char *end = strstr(begin + 4, "\n```");
  cr_assert_not_null(end);
  *end = 0;
  *rest = end + 4;
  return begin + 4;
}

Test(formula_docs, examples_parse, .timeout = 10)
{
  char *text = page(), *rest = section(text, "\n## Examples"), *block;
  int count = 0;
  for (; (block = next_block(&rest)) != NULL; ++count) {
    tmaring_formula *formula;
    cr_expect_eq(tmaring_formula_parse(&formula, block), TMARING_OK, "%s\n%s", block, tmaring_last_detail());
    tmaring_formula_free(formula);
  }
  cr_expect_geq(count, 9);
  free(text);
}

Test(formula_docs, errors_are_those_that_come, .timeout = 10)
{
  static const char *const wrong[] = {"m = mean(x)\ny = sqr(x - m)", "y = x * w + w[N]"};
  char *text = page(), *rest = section(text, "\n## Errors");
  for (int i = 0; i < 2; ++i) {
    tmaring_formula *formula;
    cr_expect_neq(tmaring_formula_parse(&formula, wrong[i]), TMARING_OK);
    const char *block = next_block(&rest);
    cr_assert_not_null(block);
    cr_expect_str_eq(block, tmaring_last_detail());
  }
  free(text);
}

/* Every `name(` that begins an entry of the tables of functions is a function, and all functions are there. */
Test(formula_docs, functions_exist, .timeout = 10)
{
  char *text = page(), *functions = section(text, "\n## Functions and operators");
  int32_t seen[TMARING__SYNTAX_COUNT] = {0}, count = 0;
  for (const char *c = strchr(functions, '`'); c; c = strchr(c + 1, '`')) {
    const size_t length = strspn(c + 1, "abcdefghijklmnopqrstuvwxyz");
    if (length == 0 || c[1 + length] != '(') continue;
    const tmaring__word word = {c + 1, (int32_t)length, 0};
    cr_expect(tmaring__function_exists(&word), "%.*s is no function", (int)length, c + 1);
    count += seen[tmaring__function_kind(&word)]++ == 0;
  }
  cr_expect_eq(count, 27, "the page has %d functions", count); /* besides first, second, even and odd */
  free(text);
}

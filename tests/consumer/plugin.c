/* A user's shared library with the static one inside. */
#include <tmaring/tmaring.h>

int plugin_check(const char *text);

int plugin_check(const char *text)
{
  tmaring_formula *formula = NULL;
  const tmaring_status status = tmaring_formula_parse(&formula, text);
  tmaring_formula_free(formula);
  return status == TMARING_OK;
}

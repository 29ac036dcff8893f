/* The language: what is accepted and as what, what is refused and how the message points at it, limits, and robustness.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tmaring/formula.h"

enum { TEXT_BYTES = 400 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const shape_text[] = {"[]", "[N]", "[M]", "[M,N]"};

static size_t append(char *text, size_t used, const char *more)
{
  return used + (size_t)snprintf(text + used, TEXT_BYTES - used, "%s", more);
}

/* "x[M,N] w[N] -> y[M,N]; eps=0.5 alpha" */
static void signature(const tmaring_formula *formula, char text[TEXT_BYTES])
{
  char number[40];
  size_t used = 0;
  int32_t outputs = 0;
  tmaring_parameter p;
  text[0] = 0;
  for (int32_t i = 0; i < tmaring_formula_tensor_count(formula); ++i) {
    cr_assert_eq(tmaring_formula_tensor(formula, i, &p), TMARING_OK);
    cr_assert_eq(tmaring_formula_find(formula, p.name), i);
    if (i > 0) used = append(text, used, " ");
    if (p.is_output && outputs++ == 0) used = append(text, used, "-> ");
    used = append(text, used, p.name);
    used = append(text, used, shape_text[p.shape]);
  }
  for (int32_t i = 0; i < tmaring_formula_scalar_count(formula); ++i) {
    cr_assert_eq(tmaring_formula_scalar(formula, i, &p), TMARING_OK);
    cr_assert_eq(p.shape, TMARING_SHAPE_SCALAR);
    used = append(text, used, i > 0 ? " " : "; ");
    used = append(text, used, p.name);
    snprintf(number, sizeof number, "=%g", p.default_value);
    if (p.has_default) used = append(text, used, number);
  }
}

typedef struct accepted {
  const char *text, *signature;
} accepted;

static const accepted accepted_table[] = {
    {"y = x + x", "x[M,N] -> y[M,N]"},
    {"  y=x+x  ", "x[M,N] -> y[M,N]"},
    {"\n\n;;# first\ny = x # second\n;\n\n", "x[M,N] -> y[M,N]"},
    {"y = x\r\nz = x\r\n", "x[M,N] -> y[M,N] z[M,N]"},
    {"y = (x\n  + # inside parentheses a newline is a blank\n  x)", "x[M,N] -> y[M,N]"},
    {"y = a * x[M,N] + b", "a[M,N] x[M,N] b[M,N] -> y[M,N]"},
    {"y = x * w[N] + w", "x[M,N] w[N] -> y[M,N]"},
    {"y = x * w[N] + w[N]", "x[M,N] w[N] -> y[M,N]"},
    {"y = x * s[M] + eps[ ] * a[]", "x[M,N] s[M] -> y[M,N]; eps a"},
    {"y = x [ M , N ]", "x[M,N] -> y[M,N]"},
    {"mu = mean(x); d = x - mu; y = d * rsqrt(mean(d*d) + 1e-5) * w[N] + b[N]", "x[M,N] w[N] b[N] -> y[M,N]"},
    {"y = sum(x)", "x[M,N] -> y[M]"},
    {"y = sum(x) * w[N]", "x[M,N] w[N] -> y[M,N]"},
    {"m = max(x); y = x - m[M]", "x[M,N] -> y[M,N]"},
    {"out m = max(x); y = x - m", "x[M,N] -> m[M] y[M,N]"},
    {"out out = x; y = out + x", "x[M,N] -> out[M,N] y[M,N]"},
    {"out = x + x", "x[M,N] -> out[M,N]"},
    {"y = x; z = w[N]; t = 3; u = N", "x[M,N] w[N] -> y[M,N] z[M,N] t[M,N] u[M,N]"},
    {"c = x > 0; y = where(c, x, 0)", "x[M,N] -> y[M,N]"},
    {"y = where(x != x, 1, 2)", "x[M,N] -> y[M,N]"},
    {"y = where((x < 1), min(x, 1), max(x, .5))", "x[M,N] -> y[M,N]"},
    {"y = - - -x--x", "x[M,N] -> y[M,N]"},
    {"y = 1. + .5 + 1e3 + 1E-3 + 2.5e+1 + 007 + x", "x[M,N] -> y[M,N]"},
    {"y = 1.4e-45 + 3.4028235e38 + 0e999 + x", "x[M,N] -> y[M,N]"},
    {"_a1 = X_2", "X_2[M,N] -> _a1[M,N]"},
    {"rmsnorm(x[M,N], w[N]; eps) = x * rsqrt(mean(x*x) + eps) * w", "x[M,N] w[N] -> y[M,N]; eps"},
    {"f(w[N], x[M,N], s[M]; eps = 1e-6, alpha, low = -2) = x * w * s + eps * alpha + low",
     "w[N] x[M,N] s[M] -> y[M,N]; eps=1e-06 alpha low=-2"},
    {"f(x[M,N]) = y = x; z = x", "x[M,N] -> y[M,N] z[M,N]"},
    {"f(x[M,N]) =\n  out m = max(x)\n  y = x - m\n", "x[M,N] -> m[M] y[M,N]"},
    {"f(x[M,N],\n  w[N];\n  eps) =\n\n  x * w + eps\n\n", "x[M,N] w[N] -> y[M,N]; eps"},
    {"f(x[M,N]) = out = x", "x[M,N] -> out[M,N]"},
    {"f(out[M,N]) = out + out", "out[M,N] -> y[M,N]"},
    {"f(f[M,N]) = f", "f[M,N] -> y[M,N]"},
    {"f(x[M,N]; a) = x[M,N] * a[]", "x[M,N] -> y[M,N]; a"},
};

Test(formula, accepts, .timeout = 10)
{
  char text[TEXT_BYTES];
  for (size_t i = 0; i < COUNT(accepted_table); ++i) {
    const accepted *row = &accepted_table[i];
    tmaring_formula *formula = NULL;
    const tmaring_status status = tmaring_formula_parse(&formula, row->text);
    cr_assert_eq(status, TMARING_OK, "%s\n%s", row->text, tmaring_last_detail());
    signature(formula, text);
    cr_expect_str_eq(text, row->signature, "%s: got %s", row->text, text);
    tmaring_formula_free(formula);
  }
}

typedef struct refused {
  const char *text;
  tmaring_status status;
  int line, column;
  const char *says;
} refused;

#define SYNTAX   TMARING_ERROR_SYNTAX
#define TYPE     TMARING_ERROR_TYPE
#define SHAPE    TMARING_ERROR_SHAPE
#define CAPACITY TMARING_ERROR_CAPACITY

static const refused refused_table[] = {
    /* statements */
    {"", SYNTAX, 1, 1, "got the end of the formula, needs a statement: name = expression"},
    {"# nothing\n\n", SYNTAX, 3, 1, "needs a statement"},
    {"x + x", SYNTAX, 1, 3, "got '+', needs '='"},
    {"y == x", SYNTAX, 1, 3, "got '==', needs '='"},
    {"y", SYNTAX, 1, 2, "got the end of the formula, needs '='"},
    {"y\n= x", SYNTAX, 1, 2, "got the end of the line, needs '='"},
    {"3 = x", SYNTAX, 1, 1, "got '3', needs a statement"},
    {"y =", SYNTAX, 1, 4, "needs an expression"},
    {"y = x +  # more\nz = x", SYNTAX, 1, 8, "got the end of the line, needs an expression"},
    {"y = x x", SYNTAX, 1, 7, "got 'x', needs an operator, or a newline or ';'"},
    {"y = x)", SYNTAX, 1, 6, "got ')'"},
    {"y = x\nz = x\n  y = 2", SYNTAX, 3, 3, "y is already assigned (line 1, column 1)"},
    {"y = y + x", SYNTAX, 1, 1, "y is already a parameter, y[M,N] (line 1, column 5)"},
    {"y = x + a; a = x", SYNTAX, 1, 12, "a is already a parameter, a[M,N] (line 1, column 9)"},
    {"max = x", SYNTAX, 1, 1, "max is a function"},
    {"N = x", SYNTAX, 1, 1, "N is kept for shapes"},
    {"y = x; f(x[M,N]) = x", SYNTAX, 1, 9, "a header may only stand at the start"},
    {"out y", SYNTAX, 1, 6, "needs '='"},
    /* expressions */
    {"y = * x", SYNTAX, 1, 5, "got '*', needs an expression: a number, a name"},
    {"y = x + ", SYNTAX, 1, 8, "got the end of the formula, needs an expression"},
    {"y = (x + x", SYNTAX, 1, 11,
     "got the end of the formula, needs an operator or ')' to close '(' of line 1, column 5"},
    {"y = (x\nz = x", SYNTAX, 2, 1, "got 'z', needs an operator or ')' to close '(' of line 1, column 5"},
    {"y = exp(x", SYNTAX, 1, 10, "needs an operator, ',' or ')' to close '(' of line 1, column 8"},
    {"y = ()", SYNTAX, 1, 6, "got ')', needs an expression"},
    {"y = x < 1 < 2", SYNTAX, 1, 11, "comparisons do not chain"},
    {"y = x == 1 != 2", SYNTAX, 1, 12, "comparisons do not chain"},
    {"y = x + +x", SYNTAX, 1, 9, "got '+', needs an expression"},
    {"y = x + M", SYNTAX, 1, 9, "M is kept for shapes (N also for the number of columns)"},
    {"y = x + mean", SYNTAX, 1, 9, "mean is a function; call it, mean(...)"},
    /* functions */
    {"y = relu(x)", SYNTAX, 1, 5, "unknown function relu; there are where, abs"},
    {"y = x + maen(x)", SYNTAX, 1, 9, "unknown function maen; did you mean mean?"},
    {"y = sigmod(x)", SYNTAX, 1, 5, "did you mean sigmoid?"},
    {"y = Exp(x)", SYNTAX, 1, 5, "did you mean exp?"},
    {"y = x(2)", SYNTAX, 1, 5, "products are written a * (b)"},
    {"y = exp()", SYNTAX, 1, 9, "got ')', needs an expression"},
    {"y = exp(x, x)", SYNTAX, 1, 5, "exp: got 2 operands, needs exp(a)"},
    {"y = where(x > 0, x)", SYNTAX, 1, 5, "where: got 2 operands, needs where(condition, a, b)"},
    {"y = where(x > 0)", SYNTAX, 1, 5, "where: got 1 operand, needs"},
    {"y = max(x, x, x)", SYNTAX, 1, 5, "max: got 3 operands, needs max(a, b), or max(a) over the row"},
    {"y = max(x, x, x, x)", SYNTAX, 1, 18, "no function has more than 3 operands"},
    {"y = max(x,)", SYNTAX, 1, 11, "got ')', needs an expression"},
    {"mean(x)", SYNTAX, 1, 1, "got 'mean', needs a name for the result"},
    /* characters and numbers */
    {"y = x @ x", SYNTAX, 1, 7, "got '@', which no formula has"},
    {"y = x ! x", SYNTAX, 1, 7, "got '!', needs '!='"},
    {"y = x \303\227 x", SYNTAX, 1, 7, "got byte 0xc3, needs ASCII"},
    {"y = x \001", SYNTAX, 1, 7, "got byte 0x01"},
    {"y = 2x", SYNTAX, 1, 6, "got 'x' right after it, needs an operator"},
    {"y = 1.2.3 + x", SYNTAX, 1, 8, "got '.' right after it"},
    {"y = 1e + x", SYNTAX, 1, 7, "needs digits after its exponent's 'e'"},
    {"y = 1e-x", SYNTAX, 1, 8, "needs digits after its exponent's 'e'"},
    {"y = x.y", SYNTAX, 1, 6, "got '.', which no formula has"},
    {"y = x + 1e39", TYPE, 1, 9, "got 1e39, needs 0 or a value from"},
    {"y = x + 1e-46", TYPE, 1, 9, "got 1e-46, needs 0 or a value from"},
    {"y = x + 3.4028236e38", TYPE, 1, 9, "got 3.4028236e38, needs 0 or a value from 1.4e-45 to 3.4028235e38"},
    {"y = x + 1e999999999999", TYPE, 1, 9, "needs 0 or a value from"},
    /* shapes of names */
    {"y = x[M,K]", SYNTAX, 1, 9, "got 'K', needs a shape: [M,N], [N]"},
    {"y = x[N,M]", SYNTAX, 1, 8, "got ',', needs a shape"},
    {"y = x[K]", SYNTAX, 1, 7, "got 'K', needs a shape"},
    {"y = x[M", SYNTAX, 1, 8, "needs a shape"},
    {"y = x[3]", SYNTAX, 1, 7, "got '3', needs a shape"},
    {"y = x * w + w[N]", SHAPE, 1, 13, "got w[N], but w is [M,N] since line 1, column 9"},
    {"y = x * w[N]\nz = x * w[M]", SHAPE, 2, 9, "got w[M], but w is [N] since line 1, column 9"},
    {"m = max(x); y = x - m[N]", SHAPE, 1, 21, "got m[N], but m is [M] since line 1, column 1"},
    {"f(x[M,N], w[N]) = x * w[M]", SHAPE, 1, 23, "got w[M], but w is [N] since line 1, column 11"},
    /* reductions */
    {"y = x + mean(s[M])", SHAPE, 1, 9, "mean over the row: got [M], needs a value per column, [M,N] or [N]"},
    {"y = x + sum(3)", SHAPE, 1, 9, "sum over the row: got [], needs a value per column"},
    {"y = x - max(max(x))", SHAPE, 1, 9, "max over the row: got [M]"},
    {"y = x - min(N)", SHAPE, 1, 9, "min over the row: got []"},
    /* kinds */
    {"y = x > 0", TYPE, 1, 1, "output y: got a condition, needs a number; write y = where(condition, 1, 0)"},
    {"y = x\nout c = x > 0\nz = where(c, x, 0)", TYPE, 2, 5, "output c: got a condition"},
    {"y = (x > 0) + 1", TYPE, 1, 8, "operand 1 of +: got a condition, needs a number; write where(condition, 1, 0)"},
    {"y = 1 * (x > 0)", TYPE, 1, 12, "operand 2 of *: got a condition"},
    {"y = -(x > 0)", TYPE, 1, 9, "operand 1 of unary -: got a condition"},
    {"y = (x > 0) == (x < 1)", TYPE, 1, 8, "operand 1 of ==: got a condition"},
    {"y = mean(x > 0)", TYPE, 1, 12, "operand 1 of mean: got a condition"},
    {"c = x > 0; y = exp(c)", TYPE, 1, 20, "operand 1 of exp: got a condition"},
    {"y = where(x, 1, 0)", TYPE, 1, 11, "operand 1 of where: got a number, needs a condition"},
    {"y = where(x > 0, x > 1, 0)", TYPE, 1, 20, "operand 2 of where: got a condition"},
    {"y = where(x > 0, 1, x > 1)", TYPE, 1, 23, "operand 3 of where: got a condition"},
    /* header */
    {"f(x) = x", SYNTAX, 1, 4, "needs the tensor's shape: [M,N], [N] or [M]; scalars come after ';'"},
    {"f() = x", SYNTAX, 1, 3, "needs a tensor parameter such as x[M,N]"},
    {"f(; eps) = eps", SYNTAX, 1, 3, "needs a tensor parameter"},
    {"f(x[M,N], eps[]) = x * eps", SYNTAX, 1, 11, "eps[] is a scalar among tensors; scalars come after ';'"},
    {"f(x[M,N]; ) = x", SYNTAX, 1, 11, "needs a scalar parameter such as eps"},
    {"f(x[M,N]; eps[]) = x", SYNTAX, 1, 14, "needs ',', ')'"},
    {"f(x[M,N]; eps = a) = x", SYNTAX, 1, 17, "got 'a', needs a number as the default"},
    {"f(x[M,N]; eps = - ) = x", SYNTAX, 1, 19, "needs a number as the default"},
    {"f(x[M,N]) x", SYNTAX, 1, 11, "needs '=' after the header"},
    {"f(x[M,N], x[N]) = x", SYNTAX, 1, 11, "x is already a parameter, x[M,N] (line 1, column 3)"},
    {"f(x[M,N]; x) = x", SYNTAX, 1, 11, "x is already a parameter"},
    {"f(max[M,N]) = max", SYNTAX, 1, 3, "max is a function"},
    {"f(x[M,N]) = x + w", SYNTAX, 1, 17, "w is not declared in the header; add w[M,N], [N] or [M]"},
    {"f(x[M,N], weight[N]) = x + wieght", SYNTAX, 1, 28, "did you mean weight?"},
    {"f(x[M,N], w[N]) = x", SYNTAX, 1, 11, "w is declared but never used"},
    {"f(x[M,N]; eps) = x", SYNTAX, 1, 11, "eps is declared but never used"},
    {"f(x[M,N]) = x; z = x", SYNTAX, 1, 16, "name the first expression too"},
    {"f(x[M,N]) = x x", SYNTAX, 1, 15, "needs an operator or the end of the formula"},
    {"f(x[M,N], y[M,N]) = x + y", SYNTAX, 1, 21, "output is named y, and y is a parameter"},
    {"f(x[M,N]) = x = x", SYNTAX, 1, 13, "x is already a parameter"},
    /* what a formula needs as a whole */
    {"y = w[N] + s[M]", TMARING_ERROR_UNSUPPORTED, 1, 1, "[M,N] inputs: got none, needs at least one"},
    /* limits of abi/args.h */
    {"y = a + b + c + d + e", CAPACITY, 1, 21, "[M,N] parameters: got 5 with e, needs at most 4"},
    {"y = x + a[N] + b[N] + c[N] + d[N] + e[N]", CAPACITY, 1, 37, "[N] parameters: got 5 with e, needs at most 4"},
    {"y = x + a[M] + b[M] + c[M] + d[M] + e[M]", CAPACITY, 1, 37, "[M] parameters: got 5 with e, needs at most 4"},
    {"f(x[M,N]; a,b,c,d,e,g,h,i,j) = x", CAPACITY, 1, 27, "[] parameters: got 9 with j, needs at most 8"},
    {"a=x;b=x;c=x;d=x;e=x", CAPACITY, 1, 17, "[M,N] outputs: got 5 with e, needs at most 4"},
    {"a=max(x);b=a;c=sum(x);d=-a;e=-c;f=a+c;g=a-c", CAPACITY, 1, 39, "[M] outputs: got 5 with g, needs at most 4"},
};

/* The whole detail but for its message: place, the line as it stands in the text, and the caret. */
static void check_detail(const refused *row)
{
  char head[64], tail[TEXT_BYTES];
  const char *begin = row->text, *detail = tmaring_last_detail();
  for (int line = 1; line < row->line; ++line) begin = strchr(begin, '\n') + 1;
  const int length = (int)strcspn(begin, "\n");
  const int head_length = snprintf(head, sizeof head, "formula: line %d, column %d: ", row->line, row->column);
  snprintf(tail, sizeof tail, "\n  %.*s\n  %*s", length, begin, row->column, "^");
  for (char *c = tail + 1; *c; ++c)
    if (*c == '\001') *c = '?';
  cr_expect_eq(strncmp(detail, head, (size_t)head_length), 0, "%s\nneeds %s", detail, head);
  cr_expect(strstr(detail, row->says) != NULL, "%s\nneeds \"%s\"", detail, row->says);
  const size_t detail_length = strlen(detail), tail_length = strlen(tail);
  cr_assert(detail_length > tail_length, "%s", detail);
  cr_expect_str_eq(detail + detail_length - tail_length, tail, "%s\nneeds at its end:%s", detail, tail);
}

Test(formula, refuses_with_place_line_and_caret, .timeout = 10)
{
  for (size_t i = 0; i < COUNT(refused_table); ++i) {
    tmaring_formula *formula = (tmaring_formula *)&formula;
    const tmaring_status status = tmaring_formula_parse(&formula, refused_table[i].text);
    cr_expect_eq(status, refused_table[i].status, "%s: got %s", refused_table[i].text, tmaring_status_name(status));
    cr_assert_null(formula);
    check_detail(&refused_table[i]);
  }
  fprintf(stderr, "formula: %zu texts refused at their places\n", COUNT(refused_table));
}

Test(formula, a_detail_in_full, .timeout = 5)
{
  tmaring_formula *formula;
  cr_assert_eq(tmaring_formula_parse(&formula, "m = mean(x)\ny = sqr(x - m)\n"), TMARING_ERROR_SYNTAX);
  cr_expect_str_eq(tmaring_last_detail(), "formula: line 2, column 5: unknown function sqr; did you mean sqrt?\n"
                                          "  y = sqr(x - m)\n"
                                          "      ^");
}

/* The byte of the shown line that the caret stands below. */
static char pointed_at(const char *detail)
{
  const char *caret_line = strrchr(detail, '\n') + 1;
  const char *shown = caret_line - 1;
  while (shown[-1] != '\n') --shown;
  return shown[strlen(caret_line) - 1];
}

Test(formula, long_lines_and_tabs_keep_the_caret_below_its_place, .timeout = 10)
{
  char text[2000];
  for (int before = 0; before < 600; before += 37) {
    for (int after = 0; after < 600; after += 53) {
      snprintf(text, sizeof text, "z = x; y = %*s @ %*s", before, "x", after, "# \303\227\303\227");
      tmaring_formula *formula;
      cr_assert_eq(tmaring_formula_parse(&formula, text), TMARING_ERROR_SYNTAX);
      cr_expect_eq(pointed_at(tmaring_last_detail()), '@', "%s", tmaring_last_detail());
      cr_expect(strlen(tmaring_last_detail()) < 600);
    }
  }
  tmaring_formula *formula;
  cr_assert_eq(tmaring_formula_parse(&formula, "\ty =\tx @"), TMARING_ERROR_SYNTAX);
  cr_expect(strstr(tmaring_last_detail(), "\n  \ty =\tx @\n  \t   \t  ^") != NULL, "%s", tmaring_last_detail());
}

Test(formula, calls_refuse_what_is_no_formula, .timeout = 5)
{
  tmaring_formula *formula;
  tmaring_parameter p;
  cr_expect_eq(tmaring_formula_parse(NULL, "y = x"), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_parse(&formula, NULL), TMARING_ERROR_ARGUMENT);
  cr_expect_null(formula);
  tmaring_formula_free(NULL);
  cr_expect_eq(tmaring_formula_tensor_count(NULL), 0);
  cr_expect_eq(tmaring_formula_scalar_count(NULL), 0);
  cr_expect_eq(tmaring_formula_find(NULL, "x"), -1);
  cr_assert_eq(tmaring_formula_parse(&formula, "y = x * eps[]"), TMARING_OK);
  cr_expect_eq(tmaring_formula_tensor(formula, 0, NULL), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_tensor(NULL, 0, &p), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_tensor(formula, -1, &p), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_tensor(formula, 2, &p), TMARING_ERROR_ARGUMENT);
  cr_expect(strstr(tmaring_last_detail(), "got 2, needs 0 to 1; the formula has 2 tensors") != NULL);
  cr_expect_eq(tmaring_formula_scalar(formula, 1, &p), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_formula_find(formula, "eps"), -1);
  cr_expect_eq(tmaring_formula_find(formula, NULL), -1);
  cr_expect_eq(tmaring_formula_scalar(formula, 0, &p), TMARING_OK);
  cr_expect_eq(p.size, sizeof p);
  cr_expect_str_eq(p.name, "eps");
  cr_expect_eq(p.has_default, 0);
  tmaring_formula_free(formula);
}

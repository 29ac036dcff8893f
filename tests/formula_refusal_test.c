/* What the language refuses, and how the message points at it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tmaring/formula.h"

enum { TEXT_BYTES = 400 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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
    {"N = x", SYNTAX, 1, 1, "N is a number of the language, as N, M, col and row are; choose another name"},
    {"y = x; col = x", SYNTAX, 1, 8, "col is a number of the language"},
    {"out row = x", SYNTAX, 1, 5, "row is a number of the language"},
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
    {"y = x + 1e309", TYPE, 1, 9, "got 1e309, needs 0 or a value from 4.9e-324 to 1.8e308"},
    {"y = x + 1e-324", TYPE, 1, 9, "got 1e-324, needs 0 or a value from"},
    {"y = x + 0.000001e-319", TYPE, 1, 9, "got 0.000001e-319, needs 0 or a value from"},
    {"y = x + 1e999999999999", TYPE, 1, 9, "needs 0 or a value from"},
    /* shapes of names */
    {"y = x[M,K]", SYNTAX, 1, 9, "got 'K', needs a shape: [M,N], [N]"},
    {"y = x[N,M]", SYNTAX, 1, 8, "got ',', needs a shape"},
    {"y = x[M,3N]", SYNTAX, 1, 9, "got '3', needs a shape"},
    {"y = x[M,2K]", SYNTAX, 1, 10, "got 'K', needs a shape"},
    {"y = x[M,2*N]", SYNTAX, 1, 10, "got '*', needs a shape"},
    {"y = x[2N]", SYNTAX, 1, 7, "got '2', needs a shape"},
    {"y = x[M,N] + 2x", SYNTAX, 1, 15, "got 'x' right after it, needs an operator"},
    {"y = x[N/8]", SYNTAX, 1, 8, "got '/', needs a shape"},
    {"y = x[M,N/]", SYNTAX, 1, 11, "got ']', needs the number of columns in a group, written out: 2, 4, 8"},
    {"y = x[M,N/k]", SYNTAX, 1, 11, "got 'k', needs the number of columns in a group"},
    {"y = x[M,N/100]", SHAPE, 1, 11, "columns in a group: got 100, needs a power of two from 2 to 1024"},
    {"y = x[M,N/1]", SHAPE, 1, 11, "columns in a group: got 1, needs"},
    {"y = x[M,N/2048]", SHAPE, 1, 11, "columns in a group: got 2048, needs"},
    {"y = x[M,N/2.5]", SHAPE, 1, 11, "columns in a group: got 2.5, needs"},
    {"y = x[M,N/8", SYNTAX, 1, 12, "needs a shape"},
    {"y = x * s[M,N/8] + s[M,N/16]", SHAPE, 1, 20, "got s[M,N/16], but s is [M,N/8] since line 1, column 9"},
    {"y = x * s[M,N/8] + s[M,N]", SHAPE, 1, 20, "got s[M,N], but s is [M,N/8] since"},
    {"f(x[M,N], s[M,N/128]) = x * s[M,N/64]", SHAPE, 1, 29, "got s[M,N/64], but s is [M,N/128]"},
    {"y = x[M", SYNTAX, 1, 8, "needs a shape"},
    {"y = x[3]", SYNTAX, 1, 7, "got '3', needs a shape"},
    {"y = x * w + w[N]", SHAPE, 1, 13, "got w[N], but w is [M,N] since line 1, column 9"},
    {"y = x * w[N]\nz = x * w[M]", SHAPE, 2, 9, "got w[M], but w is [N] since line 1, column 9"},
    {"m = max(x); y = x - m[N]", SHAPE, 1, 21, "got m[N], but m is [M] since line 1, column 1"},
    {"f(x[M,N], w[N]) = x * w[M]", SHAPE, 1, 23, "got w[M], but w is [N] since line 1, column 11"},
    /* reductions */
    {"y = x + mean(s[M])", SHAPE, 1, 9, "mean over the row: got [M], needs a value per column, [M,N], [N] or [M,N/k]"},
    {"y = x - amax(row)", SHAPE, 1, 9, "amax over the row: got [M], needs a value per column"},
    {"y = x - argmax(M)", SHAPE, 1, 9, "argmax over the row: got [], needs a value per column"},
    {"y = x + logsumexp(sum(x))", SHAPE, 1, 9, "logsumexp over the row: got [M]"},
    {"y = x + gsum(s[M], 8)", SHAPE, 1, 9, "gsum over groups of columns: got [M], needs a value per column"},
    {"y = x + gamax(3, 8)", SHAPE, 1, 9, "gamax over groups of columns: got [], needs a value per column"},
    {"y = x + gsum(x)", SYNTAX, 1, 15, "got ')', needs an operator, or ',' and the number of columns in a group"},
    {"y = gsum(x, k)", SYNTAX, 1, 13, "got 'k', needs the number of columns in a group, written out"},
    {"y = gsum(x, 2 * 64)", SYNTAX, 1, 15, "got '*', needs ')' to close '(' of line 1, column 9"},
    {"y = gsum(x, 127)", SHAPE, 1, 13, "columns in a group: got 127, needs a power of two from 2 to 1024"},
    {"y = gmax(x, 64, 2)", SYNTAX, 1, 15, "got ',', needs ')'"},
    {"y = gamx(x, 64)", SYNTAX, 1, 5, "unknown function gamx; did you mean"},
    /* reductions over the rows */
    {"y = x * colsum(x)", SYNTAX, 1, 9,
     "colsum over the rows: got it as a part of an expression, needs a statement of its own, name = colsum(a)"},
    {"y = -colmax(x)", SYNTAX, 1, 6, "colmax over the rows: got it as a part of an expression"},
    {"y = colsum(colmean(x))", SYNTAX, 1, 12, "colmean over the rows: got it as a part"},
    {"y = colsum(mean(x))", SHAPE, 1, 5, "colsum over the rows: got [M], needs a value per column"},
    {"d = colsum(x)\ny = x * d", SYNTAX, 2, 9,
     "d is reduced over the rows (line 1, column 1), so its value is there only when all rows are over; use it in "
     "another"},
    {"d = colsum(x); y = x[d]", SYNTAX, 1, 22, "d is reduced over the rows"},
    {"d = colsum(x); y = cast(d, x)", SYNTAX, 1, 25, "d is reduced over the rows"},
    /* rows of 2N */
    {"f(x[M,2N]) = x", SHAPE, 1, 14,
     "x: got x[M,2N] as a whole, needs a part of N columns; write first(x) and second(x) for its halves, or even(x) "
     "and"},
    {"f(x[M,2N]) = first(x) + sum(x)", SHAPE, 1, 29, "x: got x[M,2N] as a whole"},
    {"y = x[M,2N]", SHAPE, 1, 5, "x: got x[M,2N] as a whole"},
    {"y = first(x)", SHAPE, 1, 11,
     "first: got x[M,N], needs an input [M,2N]; declare one in the header, or write first(x[M,2N])"},
    {"y = odd(x[N])", SHAPE, 1, 9, "odd: got x[N], needs an input [M,2N]"},
    {"a = x * 2; y = first(a)", SHAPE, 1, 22, "first: got a[M,N], needs an input [M,2N]"},
    {"y = first(x * 2)", SYNTAX, 1, 13, "got '*', needs ')' to close"},
    {"y = first(2)", SYNTAX, 1, 11, "got '2', needs the bare name of an [M,2N] input, as in first(x)"},
    {"y = first()", SYNTAX, 1, 11, "got ')', needs the bare name of an [M,2N] input"},
    {"f(x[M,2N]) = first(x) + odd(x)", SHAPE, 1, 25,
     "odd(x): x is read by halves since line 1, column 14, and an input is read in one manner; use first and second"},
    {"f(x[M,2N]) =\n even(x)\n + second(x)", SYNTAX, 3, 2, "the end of the formula"},
    {"f(x[M,2N]) =\n a = even(x)\n y = a + second(x)", SHAPE, 3, 10,
     "second(x): x is read by even and odd columns since line 2, column 6"},
    {"f(x[M,2N]) = x[row]", SHAPE, 1, 14, "x[label]: x is an input [M,2N], needs an input [M,N]"},
    {"f(x[M,2N], s[M]) = s", SYNTAX, 1, 3, "x is declared but never used"},
    {"f(x[M,2N], z[M,N]) = cast(x, z)", SYNTAX, 1, 3,
     "x only says a type in cast(x, ...) and is never read; name the type"},
    /* casts */
    {"y = cast(x, z)", SYNTAX, 1, 10, "x only says a type in cast(x, ...) and is never read; name the type"},
    {"y = cast(i64, x)", TYPE, 1, 10, "cast: got i64, which is kept for labels and column numbers; needs f32, f16"},
    {"y = cast(2, x)", SYNTAX, 1, 10,
     "got '2', needs a type (f32, f16, bf16, f64, e4m3, e5m2, i8, i32) or an input's bare"},
    {"y = cast(x)", SYNTAX, 1, 11, "got ')', needs ',': cast takes a type or an input's bare name, then what is cast"},
    {"y = cast(x + 1, x)", SYNTAX, 1, 12, "got '+', needs ',': cast takes a type"},
    {"y = cast(bf16, x, x)", SYNTAX, 1, 17, "got ',', needs an operator or ')' to close"},
    {"y = cast(bf16 x)", SYNTAX, 1, 15, "got 'x', needs ','"},
    {"y = cast(w[N], x) + w", TYPE, 1, 10, "cast: got w, an input [N], needs a type (f32, f16"},
    {"m = x * 2; y = cast(m, x)", TYPE, 1, 21, "cast: got m, assigned, [M,N], needs a type"},
    {"y = cast(max, x)", SYNTAX, 1, 10, "max is a function"},
    {"y = cast(bf16, x > 0)", TYPE, 1, 18, "operand 2 of cast: got a condition, needs a number"},
    {"f(x[M,N]) = cast(b16, x)", SYNTAX, 1, 18, "b16 is not declared in the header"},
    /* labels */
    {"y = x[K]", SHAPE, 1, 7,
     "label of x: got [M,N], needs one column number per row, [M]; a bare name is [M,N] until"},
    {"y = x[col]", SHAPE, 1, 7, "label of x: got [N], needs one column number per row, [M]"},
    {"y = x[argmax(x)]", SYNTAX, 1, 13,
     "got '(', needs ']': a label is one name, x[label]; assign the expression first"},
    {"k = argmax(x); y = x[k]", TMARING_ERROR_UNSUPPORTED, 1, 22,
     "label of x: got a value that needs the row to be read first, needs one that is known before; for the value at"},
    {"k = x[s[M]]; y = x[k]", TMARING_ERROR_UNSUPPORTED, 1, 20, "label of x: got a value that needs the row"},
    {"y = x[s[M] + 1]", SYNTAX, 1, 12, "got '+', needs ']': a label is one name"},
    {"y = x[exp]", SYNTAX, 1, 7, "exp is a function"},
    {"a = x * 2; y = a[row]", SHAPE, 1, 16,
     "a[label]: a is assigned, [M,N], needs an input [M,N]; only inputs are read at a"},
    {"f(w[N], s[M]) = w[s]", SHAPE, 1, 17, "w[label]: w is an input [N], needs an input [M,N]"},
    {"f(x[M,N], s[M]) = (s < 1) == x[s]", TYPE, 1, 22, "operand 1 of ==: got a condition"},
    {"c = s[M] > 0; y = x[c]", TYPE, 1, 21, "operand 1 of x[label]: got a condition, needs a number"},
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
    {"f(x) = x", SYNTAX, 1, 4, "needs the tensor's shape: [M,N], [N], [M], [M,N/k] or [M,2N]; scalars come after ';'"},
    {"f() = x", SYNTAX, 1, 7, "x is not declared in the header"},
    {"f(;) = 1", SYNTAX, 1, 4, "got ')', needs a scalar parameter"},
    {"f(x[M,N],) = x", SYNTAX, 1, 10, "needs a tensor parameter such as x[M,N]"},
    {"col(x[M,N]) = x", SYNTAX, 1, 1, "col is a number of the language"},
    {"silu(x[M,N])", SYNTAX, 1, 1, "got 'silu', needs a name for the result"},
    {"silu(x[M,N]) + x", SYNTAX, 1, 1, "got 'silu', needs a name for the result"},
    {"f(x[M,N], eps[]) = x * eps", SYNTAX, 1, 11, "eps[] is a scalar among tensors; scalars come after ';'"},
    {"f(x[M,N]; ) = x", SYNTAX, 1, 11, "needs a scalar parameter such as eps"},
    {"f(x[M,N]; eps[]) = x", SYNTAX, 1, 14, "needs ',', ')'"},
    {"f(x[M,N]; eps = a) = x", SYNTAX, 1, 17, "got 'a', needs a number as the default"},
    {"f(x[M,N]; eps = - ) = x", SYNTAX, 1, 19, "needs a number as the default"},
    {"f(x[M,N]) x", SYNTAX, 1, 11, "needs '=' after the header"},
    {"f(x[M,N], x[N]) = x", SYNTAX, 1, 11, "x is already a parameter, x[M,N] (line 1, column 3)"},
    {"f(x[M,N]; x) = x", SYNTAX, 1, 11, "x is already a parameter"},
    {"f(max[M,N]) = max", SYNTAX, 1, 3, "max is a function"},
    {"f(x[M,N]) = x + w", SYNTAX, 1, 17,
     "w is not declared in the header; add w[M,N], [N], [M] or another shape to its tensors"},
    {"f(x[M,N], weight[N]) = x + wieght", SYNTAX, 1, 28, "did you mean weight?"},
    {"f(x[M,N], w[N]) = x", SYNTAX, 1, 11, "w is declared but never used"},
    {"f(x[M,N]; eps) = x", SYNTAX, 1, 11, "eps is declared but never used"},
    {"f(x[M,N]) = x; z = x", SYNTAX, 1, 16, "name the first expression too"},
    {"f(x[M,N]) = x x", SYNTAX, 1, 15, "needs an operator or the end of the formula"},
    {"f(x[M,N], y[M,N]) = x + y", SYNTAX, 1, 21, "output is named y, and y is a parameter"},
    {"f(x[M,N]) = x = x", SYNTAX, 1, 13, "x is already a parameter"},
    /* what a formula needs as a whole */
    {"y = w[N] + s[M]", TMARING_ERROR_UNSUPPORTED, 1, 1, "[M,N] inputs: got none, needs at least one"},
    {"y = 1", TMARING_ERROR_UNSUPPORTED, 1, 1, "a header, as in fill(; value) = value, says that none is meant"},
    /* limits of abi/args.h */
    {"y = a + b + c + d + e", CAPACITY, 1, 21, "[M,N] parameters: got 5 with e, needs at most 4"},
    {"y = x + a[N] + b[N] + c[N] + d[N] + e[N]", CAPACITY, 1, 37, "[N] parameters: got 5 with e, needs at most 4"},
    {"y = x + a[M] + b[M] + c[M] + d[M] + e[M]", CAPACITY, 1, 37, "[M] parameters: got 5 with e, needs at most 4"},
    {"f(x[M,N]; a,b,c,d,e,g,h,i,j) = x", CAPACITY, 1, 27, "[] parameters: got 9 with j, needs at most 8"},
    {"f(a[M,2N], b[M,N], c[M,2N], d[M,N], e[M,2N]) = a", CAPACITY, 1, 37,
     "[M,2N] parameters: got 5 with e, needs at most 4"},
    {"f(a[M,2N], b[M,N], c[M,2N]) = first(a) + b + first(c)", CAPACITY, 1, 20,
     "streamed inputs: got 5 with c, needs at most 4; an input [M,2N] that is read by halves counts twice"},
    {"y = x + a[M,N/2] + b[M,N/4] + c[M,N/8] + d[M,N/8] + e[M,N/8]", CAPACITY, 1, 53,
     "[M,N/k] parameters: got 5 with e, needs at most 4"},
    {"a=gsum(x,2);b=gsum(x,4);c=gsum(x,8);d=gmax(x,4);e=gmin(x,4)", CAPACITY, 1, 49,
     "[M,N/k] outputs: got 5 with e, needs at most 4"},
    {"a=colsum(x);b=colsum(x);c=colmax(x);d=colmean(x);e=colsum(x)", CAPACITY, 1, 50,
     "[N] outputs: got 5 with e, needs at most 4"},
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

Test(formula_refusal, refuses_with_place_line_and_caret, .timeout = 10)
{
  for (size_t i = 0; i < COUNT(refused_table); ++i) {
    tmaring_formula *formula = (tmaring_formula *)&formula;
    const tmaring_status status = tmaring_formula_parse(&formula, refused_table[i].text);
    cr_expect_eq(status, refused_table[i].status, "%s: got %s", refused_table[i].text, tmaring_status_name(status));
    cr_assert_null(formula);
    check_detail(&refused_table[i]);
  }
  fprintf(stderr, "formula_refusal: %zu texts refused at their places\n", COUNT(refused_table));
}

Test(formula_refusal, a_detail_in_full, .timeout = 5)
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

Test(formula_refusal, long_lines_and_tabs_keep_the_caret_below_its_place, .timeout = 10)
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

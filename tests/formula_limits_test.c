/* Limits of the language, each from both sides, and texts that nobody would write. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/host/formula/program.h"
#include "../src/host/formula/syntax.h"
#include "support/noise.h"
#include "tmaring/formula.h"

enum { LONG_TEXT = 1 << 20 };

/* prefix, `part` repeated, suffix. The caller frees it. */
static char *repeated(const char *prefix, const char *part, size_t times, const char *suffix)
{
  const size_t part_length = strlen(part);
  char *text = malloc(strlen(prefix) + part_length * times + strlen(suffix) + 1), *end = text;
  cr_assert_not_null(text);
  end += sprintf(end, "%s", prefix);
  for (size_t i = 0; i < times; ++i, end += part_length) memcpy(end, part, part_length);
  strcpy(end, suffix);
  return text;
}

static void expect(char *text, tmaring_status status, const char *says)
{
  tmaring_formula *formula;
  const tmaring_status got = tmaring_formula_parse(&formula, text);
  cr_expect_eq(got, status, "%.60s: got %s, needs %s: %s", text, tmaring_status_name(got), tmaring_status_name(status),
               tmaring_last_detail());
  if (says) cr_expect(strstr(tmaring_last_detail(), says) != NULL, "%s\nneeds %s", tmaring_last_detail(), says);
  tmaring_formula_free(formula);
  free(text);
}

Test(formula_limits, length_of_the_text, .timeout = 10)
{
  expect(repeated("y = x", "#", TMARING__MAX_TEXT_BYTES - 5, ""), TMARING_OK, NULL);
  expect(repeated("y = x", "#", TMARING__MAX_TEXT_BYTES - 4, ""), TMARING_ERROR_CAPACITY,
         "got 65537 bytes of text, needs at most 65536");
  expect(repeated("y = ", "(", LONG_TEXT, "x"), TMARING_ERROR_CAPACITY, "bytes of text");
}

Test(formula_limits, nesting, .timeout = 10)
{
  char *closed = repeated("x", ")", TMARING__MAX_DEPTH, "");
  expect(repeated("y = ", "(", TMARING__MAX_DEPTH, closed), TMARING_OK, NULL);
  free(closed);
  static const char *const opening[] = {"(",   "-",   "exp(", "-(",    "where(1<", "max(x,",
                                        "x*(", "(\n", "x[",   "gsum(", "cast(x,"};
  for (size_t i = 0; i < sizeof opening / sizeof opening[0]; ++i)
    expect(repeated("y = ", opening[i], 60000 / strlen(opening[i]), "x"), TMARING_ERROR_CAPACITY,
           "nesting: got more than 100 levels");
  expect(repeated("y = ", "-", TMARING__MAX_DEPTH, "x"), TMARING_OK, NULL);
}

Test(formula_limits, names_and_numbers, .timeout = 10)
{
  expect(repeated("y = ", "x", 63, ""), TMARING_OK, NULL);
  expect(repeated("y = ", "x", 64, ""), TMARING_ERROR_CAPACITY, "name: got 64 letters, needs at most 63");
  expect(repeated("y = x + ", "1", 60, "e-30"), TMARING_OK, NULL);
  expect(repeated("y = x + .", "1", 65, ""), TMARING_ERROR_CAPACITY, "number: needs at most 64 digits");
}

Test(formula_limits, statements_and_operations, .timeout = 10)
{
  char text[64], *all = repeated("", "", 0, "");
  for (int count = 1; count <= TMARING__MAX_STATEMENTS + 1; ++count) {
    snprintf(text, sizeof text, count == 1 ? "a%d = x\n" : "a%d = a%d\n", count, count - 1);
    char *more = repeated(all, text, 1, "");
    free(all);
    all = more;
    if (count == TMARING__MAX_STATEMENTS) expect(repeated(all, "", 0, ""), TMARING_OK, NULL);
  }
  expect(all, TMARING_ERROR_CAPACITY, "statements: got more than 512");
  expect(repeated("y = x", "+x", TMARING__MAX_NODES - 1, ""), TMARING_OK, NULL);
  expect(repeated("y = x", "+x", TMARING__MAX_NODES, ""), TMARING_ERROR_CAPACITY, "operations: got more than 256");
  expect(repeated("y = ", "1+", 2000, "x"), TMARING_OK, NULL);
  expect(repeated("y = ", "1+", 5000, "x"), TMARING_ERROR_CAPACITY, "operations and operands: got more than 4096");
  expect(repeated("f(x[M,N]", ",w[N]", 40, ") = x"), TMARING_ERROR_CAPACITY, "parameters: got more than 32");
}

Test(formula_limits, reductions_per_pass, .timeout = 10)
{
  char text[400], *end = text;
  end += sprintf(end, "y = x");
  for (int i = 1; i <= TMARING_MAX_REDUCTIONS; ++i) end += sprintf(end, " + sum(x * %d)", i);
  expect(repeated(text, " + sum(x * 1)", 3, ""), TMARING_OK, NULL);
  expect(repeated(text, " + sum(x + 1)", 1, ""), TMARING_ERROR_CAPACITY,
         "reductions in pass 0 over the row: got 9, needs at most 8");
}

/* Two partial results are two places; a label takes one. */
Test(formula_limits, places_of_reductions, .timeout = 10)
{
  static const char *const needs = "needs at most 8, where argmax and sums of exp below the maximum count twice";
  expect(repeated("y = x + argmax(x) + argmax(-x) + argmax(1/x)", " + argmax(x * 2)", 3, ""), TMARING_OK, NULL);
  expect(repeated("y = x + argmax(x) + argmax(-x) + argmax(1/x) + argmax(x+1)", " + max(x)", 1, ""),
         TMARING_ERROR_CAPACITY, needs);
  expect(repeated("y = x + logsumexp(x) + logsumexp(-x)", " + argmax(x)", 1, ""), TMARING_OK, NULL);
  expect(repeated("y = x + logsumexp(x) + logsumexp(-x) + min(x)", " + argmax(x)", 1, ""), TMARING_ERROR_CAPACITY,
         needs);
  char text[400], *end = text;
  end += sprintf(end, "k1 = s[M] + 1; y = x");
  for (int i = 1; i <= TMARING_MAX_REDUCTIONS; ++i)
    end += sprintf(end, "; k%d = s * %d; y%d = x[k%d]", i + 1, i, i, i + 1);
  char *many = repeated(text, "; m = y1 + y2 + y3 + y4 + y5 + y6 + y7 + y8", 1, "");
  expect(repeated(many, "", 0, ""), TMARING_OK, NULL);
  expect(repeated(many, "; n = x[k1]", 1, ""), TMARING_ERROR_CAPACITY, "got 9, needs at most 8");
  free(many);
}

Test(formula_limits, passes, .timeout = 10)
{
  char text[600], *end = text;
  end += sprintf(end, "a0 = x");
  for (int i = 1; i < TMARING_MAX_PASSES; ++i) end += sprintf(end, "; a%d = a%d - max(a%d)", i, i - 1, i - 1);
  expect(repeated(text, "", 0, ""), TMARING_OK, NULL);
  snprintf(end, 60, "; y = a%d - max(a%d)", TMARING_MAX_PASSES - 1, TMARING_MAX_PASSES - 1);
  expect(repeated(text, "", 0, ""), TMARING_ERROR_CAPACITY,
         "reductions that need one another's results: got 8, needs at most 7");
}

static const char *const valid[] = {
    "y = x + x",
    "rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x*x) + eps) * w",
    "mu = mean(x); d = x - mu; y = d * rsqrt(mean(d*d) + 1e-5) * w[N] + b[N]",
    "e = exp(x - max(x))\ny = e / sum(e)  # softmax\n",
    "f(x[M,N], s[M]; a, b = -2) =\n  out m = max(x, a)\n  c = m >= b\n  y = where(c, m * s, -x[M,N])\n",
    "y = tanh(sqrt(abs(x)) + log(.5)) * sigmoid(-z[M,N]) / N; h = min(x) + s[M] * eps[]",
    "f(x[M,2N], g[M,N/128]) = out s = max(gamax(first(x), 128), 1e-10) * g\n d = colsum(cast(x, second(x)) / s)",
    "f(x[M,N], label[M]) = where(label == -100, 0, logsumexp(x) - x[label]) + argmax(x) * row",
    "fill(; value = 1) = clamp(round(value), -M, col)",
    "y = silu(even(x[M,2N])) * erf(odd(x)); t = gsum(y, 4); c = colmean(y)",
};

/* One byte replaced, removed, doubled or inserted, or a piece of another formula put in. */
static void mutate(noise *n, char *text, size_t room)
{
  static const char pieces[] = "()[],;=<>!+-*/#\n .0123456789eENMxyw_\t\r\"@\200\377";
  const size_t length = strlen(text);
  const size_t at = length ? (size_t)noise_below(n, (int32_t)length) : 0;
  const char byte =
      noise_below(n, 4) ? pieces[noise_below(n, (int32_t)sizeof pieces - 1)] : (char)(1 + noise_below(n, 255));
  const char *other = valid[noise_below(n, (int32_t)(sizeof valid / sizeof valid[0]))];
  const size_t from = (size_t)noise_below(n, (int32_t)strlen(other)), count = (size_t)noise_below(n, 12);
  const size_t piece = strlen(other) - from < count ? strlen(other) - from : count;
  switch (noise_below(n, 4)) {
  case 0:
    if (length) text[at] = byte;
    break;
  case 1:
    if (length) memmove(text + at, text + at + 1, length - at);
    break;
  case 2:
    if (length + 1 >= room) break;
    memmove(text + at + 1, text + at, length - at + 1);
    text[at] = byte;
    break;
  default:
    if (length + piece >= room) break;
    memmove(text + at + piece, text + at, length - at + 1);
    memcpy(text + at, other + from, piece);
  }
}

/* A detail names a place that lies in the text, and stays printable. */
static void check_robust(const char *text, int *parsed, int *refused)
{
  tmaring_formula *formula;
  int line = 0, column = 0;
  if (tmaring_formula_parse(&formula, text) == TMARING_OK) {
    ++*parsed;
    cr_assert_geq(tmaring_formula_tensor_count(formula), 1);
    tmaring_formula_free(formula);
    return;
  }
  ++*refused;
  cr_assert_null(formula);
  cr_assert_eq(sscanf(tmaring_last_detail(), "formula: line %d, column %d: ", &line, &column), 2, "%s\n%s", text,
               tmaring_last_detail());
  const char *begin = text;
  for (int i = 1; i < line; ++i) begin = strchr(begin, '\n') + 1;
  cr_assert_leq(column, (int)strcspn(begin, "\n") + 1, "%s\n%s", text, tmaring_last_detail());
  cr_assert_geq(column, 1);
  cr_assert_eq(tmaring_last_detail()[strlen(tmaring_last_detail()) - 1], '^');
}

Test(formula_limits, mutations_never_crash, .timeout = 20)
{
  enum { MUTATIONS = 20000, ROOM = 400 };
  int parsed = 0, refused = 0;
  char text[ROOM];
  noise n = noise_seed(20);
  for (int i = 0; i < MUTATIONS; ++i) {
    snprintf(text, sizeof text, "%s", valid[noise_below(&n, (int32_t)(sizeof valid / sizeof valid[0]))]);
    for (int32_t steps = 1 + noise_below(&n, 3); steps > 0; --steps) mutate(&n, text, sizeof text);
    check_robust(text, &parsed, &refused);
  }
  fprintf(stderr, "formula_limits: %d mutations, %d parsed, %d refused with a place\n", MUTATIONS, parsed, refused);
  cr_expect_gt(parsed, MUTATIONS / 50);
  cr_expect_gt(refused, MUTATIONS / 2);
}

Test(formula_limits, the_same_text_gives_the_same_formula, .timeout = 5)
{
  for (size_t i = 0; i < sizeof valid / sizeof valid[0]; ++i) {
    tmaring_formula *a, *b;
    cr_assert_eq(tmaring_formula_parse(&a, valid[i]), TMARING_OK, "%s", tmaring_last_detail());
    cr_assert_eq(tmaring_formula_parse(&b, valid[i]), TMARING_OK);
    cr_expect_eq(memcmp(tmaring__formula_program(a), tmaring__formula_program(b), sizeof(tmaring__program)), 0);
    cr_expect_str_eq(tmaring__formula_text(a), valid[i]);
    tmaring_formula *kept = tmaring__formula_retain(a);
    tmaring_formula_free(a);
    cr_expect_str_eq(tmaring__formula_text(kept), valid[i]);
    tmaring_formula_free(kept);
    tmaring_formula_free(b);
  }
}

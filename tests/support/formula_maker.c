#include "formula_maker.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "noise.h"

enum { TERM_BYTES = 400, POOL = 24, REDUCTIONS = 6, LEVELS = 5 };

/* An expression, what its values are at most, and its error at most, in units of the rounding error of 1. */
typedef struct term {
  char text[TERM_BYTES];
  double most, error;
  int columns; /* 1: [M,N] or [N] */
  int level;
} term;

typedef struct maker {
  noise n;
  int32_t cols;
  int header;
  term pool[POOL];
  int count, names, reductions;
  char statements[MADE_TEXT_BYTES];
  made_formula *made;
} maker;

const char *const made_inputs[MADE_INPUTS][2] = {{"x", "[M,N]"}, {"z", "[M,N]"}, {"w", "[N]"}, {"v", "[N]"},
                                                 {"s", "[M]"},   {"r", "[M]"},   {"a", "[]"},  {"b", "[]"}};
enum { INPUTS_WITH_COLUMNS = 4, TENSOR_INPUTS = 6 };

static int chance(maker *m, int of)
{
  return noise_below(&m->n, of) == 0;
}

static void input_text(maker *m, int input, char *text, size_t room)
{
  snprintf(text, room, "%s%s", made_inputs[input][0], m->header ? "" : made_inputs[input][1]);
}

/* Constants are exact in fp32, so that they cost no error. */
static term leaf(maker *m)
{
  static const char *const constants[] = {"0.5", "3", ".25", "1.5e0", "2"};
  term t = {"", 2, 0, 0, 0};
  const int input = noise_below(&m->n, MADE_INPUTS + 2);
  if (input < MADE_INPUTS) {
    input_text(m, input, t.text, sizeof t.text);
    t.columns = input < INPUTS_WITH_COLUMNS;
  } else if (input == MADE_INPUTS) {
    snprintf(t.text, sizeof t.text, "%s", constants[noise_below(&m->n, 5)]);
    t.most = 3;
  } else {
    snprintf(t.text, sizeof t.text, "N");
    t.most = m->cols;
  }
  return t;
}

static term pick(maker *m)
{
  const term *t = &m->pool[noise_below(&m->n, m->count ? m->count : 1)];
  if (m->count == 0 || chance(m, 3) || strlen(t->text) > TERM_BYTES / 4) return leaf(m);
  return *t;
}

/* `format` around one operand; an error e of it becomes slope * e, besides `own` units. */
static term around(const char *format, const term *a, double most, double slope, double own)
{
  term t = {"", most, slope * a->error + own, a->columns, a->level};
  const int length = snprintf(t.text, sizeof t.text, format, a->text);
  cr_assert_lt(length, TERM_BYTES);
  return t;
}

static term between(const char *format, const term *a, const term *b, double most, double error)
{
  term t = {"", most, error, a->columns || b->columns, a->level > b->level ? a->level : b->level};
  const int length = snprintf(t.text, sizeof t.text, format, a->text, b->text);
  cr_assert_lt(length, TERM_BYTES);
  return t;
}

static term unary(maker *m)
{
  const term a = pick(m);
  const double most = a.most;
  switch (noise_below(&m->n, 9)) {
  case 0: return around("-%s", &a, most, 1, 0);
  case 1: return around("abs(%s)", &a, most, 1, 0);
  case 2: return around("exp(tanh(%s))", &a, 2.8, 2.8, 2.8 * 2);
  case 3: return around("log(abs(%s) + 1)", &a, log(most + 1), 1, most + 1 + log(most + 1));
  case 4: return around("sqrt(abs(%s) + .25)", &a, sqrt(most + .25), 1, most + 1 + sqrt(most + .25));
  case 5: return around("rsqrt(abs(%s) + 0.5)", &a, 1.5, 1.5, 1.5 * (most + .5) + 3);
  case 6: return around("tanh(%s)", &a, 1, 1, 1);
  case 7: return around("sigmoid(%s)", &a, 1, .25, 3);
  default: return around("- - (%s)", &a, most, 1, 0);
  }
}

static term binary(maker *m)
{
  const term a = pick(m), b = pick(m);
  const double high = fmax(a.most, b.most), sum = a.most + b.most, product = a.most * b.most;
  switch (noise_below(&m->n, 6)) {
  case 0: return between("(%s + %s)", &a, &b, sum, a.error + b.error + sum);
  case 1: return between("(%s - %s)", &a, &b, sum, a.error + b.error + sum);
  case 2: return between("%s * (%s)", &a, &b, product, a.most * b.error + b.most * a.error + product);
  case 3: return between("(%s) / (abs(%s) + 1)", &a, &b, a.most, a.error + a.most * (b.error + b.most + 2));
  case 4: return between("min(%s, %s)", &a, &b, high, fmax(a.error, b.error));
  default: return between("max(%s,%s)", &a, &b, high, fmax(a.error, b.error));
  }
}

/* Compares inputs and constants only: they have no error that could turn the choice round. */
static term choice(maker *m)
{
  static const char *const compare[] = {"<", "<=", ">", ">=", "==", "!="};
  char left[16], right[16], format[64];
  const int input = noise_below(&m->n, MADE_INPUTS), other = noise_below(&m->n, MADE_INPUTS);
  const term a = pick(m), b = pick(m);
  input_text(m, input, left, sizeof left);
  input_text(m, other, right, sizeof right);
  snprintf(format, sizeof format, "where(%s %s %s, %%s, %%s)", left, compare[noise_below(&m->n, 6)],
           chance(m, 2) ? right : "0.25");
  term t = between(format, &a, &b, fmax(a.most, b.most), fmax(a.error, b.error));
  t.columns = t.columns || input < INPUTS_WITH_COLUMNS || other < INPUTS_WITH_COLUMNS;
  if (strstr(format, "0.25")) t.columns = a.columns || b.columns || input < INPUTS_WITH_COLUMNS;
  return t;
}

static term reduction(maker *m)
{
  term a = pick(m);
  for (int tries = 0; tries < 20 && (!a.columns || a.level >= LEVELS); ++tries) a = pick(m);
  if (!a.columns || a.level >= LEVELS || m->reductions >= REDUCTIONS) return unary(m);
  ++m->reductions;
  const double gathered = m->cols * a.most;
  term t;
  switch (noise_below(&m->n, 4)) {
  case 0: t = around("sum(%s)", &a, gathered, m->cols, m->cols * gathered); break;
  case 1: t = around("mean(%s)", &a, a.most, 1, gathered + a.most); break;
  case 2: t = around("max(%s)", &a, a.most, 1, 0); break;
  default: t = around("min(%s)", &a, a.most, 1, 0);
  }
  t.columns = 0;
  ++t.level;
  return t;
}

/* Gives the term a name, or leaves it as it is. */
static void name_term(maker *m, term *t)
{
  const char *out = chance(m, 3) ? "out " : "", *end = chance(m, 2) ? "\n" : ";  ";
  made_output *made = &m->made->output[m->made->outputs++];
  const size_t used = strlen(m->statements);
  snprintf(made->name, sizeof made->name, "t%d", m->names++);
  made->error = t->error;
  const int length =
      snprintf(m->statements + used, MADE_TEXT_BYTES - used, "%s%s = %s%s", out, made->name, t->text, end);
  cr_assert_lt((size_t)length + used, MADE_TEXT_BYTES);
  snprintf(t->text, sizeof t->text, "%s", made->name);
}

static void grow(maker *m)
{
  term t;
  switch (noise_below(&m->n, 7)) {
  case 0:
  case 1: t = unary(m); break;
  case 2:
  case 3: t = binary(m); break;
  case 4: t = choice(m); break;
  default: t = reduction(m);
  }
  if (t.most > 64) t = around("tanh(%s)", &t, 1, 1, 1);
  if (m->names < MADE_NAMES && chance(m, 5)) name_term(m, &t);
  m->pool[m->count++] = t;
}

/* 1 if the body uses the input of this one-letter name. */
static int uses(const char *body, char name)
{
  for (const char *c = body; *c; ++c) {
    const int starts = c == body || !(strchr("abcdefghijklmnopqrstuvwxyz0123456789", c[-1]) && c[-1]);
    const int ends = c[1] == 0 || !strchr("abcdefghijklmnopqrstuvwxyz0123456789", c[1]);
    if (*c == name && starts && ends) return 1;
  }
  return 0;
}

static void add_text(char *text, const char *more)
{
  cr_assert_lt(strlen(text) + strlen(more), MADE_TEXT_BYTES);
  strcat(text, more);
}

static void add_header(char *text, const char *body)
{
  int listed = 0, scalars = 0;
  add_text(text, "f(");
  for (int i = 0; i < MADE_INPUTS; ++i) {
    if (!uses(body, made_inputs[i][0][0])) continue;
    const int scalar = i >= TENSOR_INPUTS;
    if (listed++) add_text(text, scalar && !scalars ? "; " : ", ");
    scalars += scalar;
    add_text(text, made_inputs[i][0]);
    add_text(text, scalar ? " = 0.5" : made_inputs[i][1]);
  }
  add_text(text, ") =\n");
}

void formula_make(made_formula *made, uint64_t seed, int32_t cols)
{
  char body[MADE_TEXT_BYTES], x[16];
  maker m = {.n = noise_seed(seed), .cols = cols, .made = made};
  memset(made, 0, sizeof *made);
  m.header = chance(&m, 2);
  while (m.count < POOL) grow(&m);
  const term *a = &m.pool[POOL - 1], *b = &m.pool[POOL - 2];
  input_text(&m, 0, x, sizeof x);
  cr_assert_lt(snprintf(body, sizeof body, "%sy = %s + %s - %s", m.statements, x, a->text, b->text), MADE_TEXT_BYTES);
  made->output[made->outputs++] = (made_output){"y", a->error + b->error + 2 * (2 + a->most + b->most)};
  if (m.header) add_header(made->text, body);
  add_text(made->text, body);
}

#include "formula_maker.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "noise.h"

enum { TERM_BYTES = 400, POOL = 24, PARTIALS = 8, LEVELS = 5 };

/* An expression, what its values are at most, and its error at most, in units of the rounding error of 1. */
typedef struct term {
  char text[TERM_BYTES];
  double most, error;
  int columns; /* 1: [M,N] or [N] */
  int level;
} term;

typedef struct maker {
  noise n;
  int32_t rows, cols;
  int header, halves;
  term pool[POOL];
  int count, names;
  int partials; /* of all reductions together, so that none of the passes has too many */
  char statements[MADE_TEXT_BYTES];
  made_formula *made;
} maker;

const char *const made_inputs[MADE_INPUTS][2] = {{"x", "[M,N]"},   {"z", "[M,N]"},    {"w", "[N]"}, {"v", "[N]"},
                                                 {"g", "[M,N/4]"}, {"h", "[M,N/16]"}, {"s", "[M]"}, {"r", "[M]"},
                                                 {"p", "[M,2N]"},  {"k", "[M]"},      {"a", "[]"},  {"b", "[]"}};
/* Inputs that stand for themselves come first; of them those with a value per column. */
enum { INPUTS_WITH_COLUMNS = 6, PLAIN_TENSORS = 8, PARTED = 8, LABEL = 9, TENSOR_INPUTS = 10 };

static int chance(maker *m, int of)
{
  return noise_below(&m->n, of) == 0;
}

static void input_text(maker *m, int input, char *text, size_t room)
{
  snprintf(text, room, "%s%s", made_inputs[input][0], m->header ? "" : made_inputs[input][1]);
}

static term input_leaf(maker *m, int input)
{
  term t = {"", 2, 0, input < INPUTS_WITH_COLUMNS, 0};
  input_text(m, input, t.text, sizeof t.text);
  return t;
}

/* A part of p, always in the formula's manner. */
static term part(maker *m)
{
  static const char *const name[] = {"even", "odd", "first", "second"};
  term t = {"", 2, 0, 1, 0};
  char p[16];
  input_text(m, PARTED, p, sizeof p);
  snprintf(t.text, sizeof t.text, "%s(%s)", name[2 * m->halves + chance(m, 2)], p);
  return t;
}

static term label(maker *m)
{
  term t = {"", 2, 0, 0, 1};
  char x[16], k[16];
  input_text(m, noise_below(&m->n, 2), x, sizeof x);
  input_text(m, LABEL, k, sizeof k);
  x[1] = 0; /* a label takes the place of the shape */
  snprintf(t.text, sizeof t.text, "%s[%s]", x, chance(m, 4) ? "row" : k);
  return t;
}

/* Constants and the language's numbers are exact in fp32, so that they cost no error. */
static term number(maker *m)
{
  static const char *const constants[] = {"0.5", "3", ".25", "1.5e0", "2"};
  term t = {"", 3, 0, 0, 0};
  switch (noise_below(&m->n, 5)) {
  case 0: t = (term){"N", m->cols, 0, 0, 0}; break;
  case 1: t = (term){"M", m->rows, 0, 0, 0}; break;
  case 2: t = (term){"col", m->cols, 0, 1, 0}; break;
  case 3: t = (term){"row", m->rows, 0, 0, 0}; break;
  default: snprintf(t.text, sizeof t.text, "%s", constants[noise_below(&m->n, 5)]);
  }
  return t;
}

static term leaf(maker *m)
{
  switch (noise_below(&m->n, 8)) {
  case 0: return part(m);
  case 1: return number(m);
  case 2: return input_leaf(m, TENSOR_INPUTS + chance(m, 2)); /* a scalar */
  case 3:
    if (m->partials < PARTIALS) {
      ++m->partials;
      return label(m);
    } /* fall through */
  default: return input_leaf(m, noise_below(&m->n, PLAIN_TENSORS));
  }
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

/* Steps of what is exact stay exact; of anything else a rounding error might turn them round. */
static term stepped(maker *m)
{
  static const char *const format[] = {"round(%s)",      "cast(bf16, %s)", "cast(f16, %s)",
                                       "cast(e4m3, %s)", "cast(e5m2, %s)", "cast(i8, %s)",
                                       "cast(i32, %s)",  "cast(f32, %s)",  "cast(x, %s)"};
  term a = pick(m);
  for (int tries = 0; tries < 20 && a.error > 0; ++tries) a = pick(m);
  if (a.error > 0) a = number(m);
  return around(format[noise_below(&m->n, 9)], &a, a.most * 1.125 + 0.5, 0, 0);
}

static term unary(maker *m)
{
  const term a = pick(m);
  const double most = a.most;
  switch (noise_below(&m->n, 13)) {
  case 0: return around("-%s", &a, most, 1, 0);
  case 1: return around("abs(%s)", &a, most, 1, 0);
  case 2: return around("exp(tanh(%s))", &a, 2.8, 2.8, 2.8 * 2);
  case 3: return around("log(abs(%s) + 1)", &a, log(most + 1), 1, most + 1 + log(most + 1));
  case 4: return around("sqrt(abs(%s) + .25)", &a, sqrt(most + .25), 1, most + 1 + sqrt(most + .25));
  case 5: return around("rsqrt(abs(%s) + 0.5)", &a, 1.5, 1.5, 1.5 * (most + .5) + 3);
  case 6: return around("tanh(%s)", &a, 1, 1, 1);
  case 7: return around("sigmoid(%s)", &a, 1, .25, 3);
  case 8: return around("erf(%s)", &a, 1, 1.2, 2);
  case 9: return around("silu(%s)", &a, most, 1.2, 4 * most);
  case 10:
  case 11: return stepped(m);
  default: return around("- - (%s)", &a, most, 1, 0);
  }
}

static term binary(maker *m)
{
  const term a = pick(m), b = pick(m);
  const double high = fmax(a.most, b.most), sum = a.most + b.most, product = a.most * b.most;
  switch (noise_below(&m->n, 7)) {
  case 0: return between("(%s + %s)", &a, &b, sum, a.error + b.error + sum);
  case 1: return between("(%s - %s)", &a, &b, sum, a.error + b.error + sum);
  case 2: return between("%s * (%s)", &a, &b, product, a.most * b.error + b.most * a.error + product);
  case 3: return between("(%s) / (abs(%s) + 1)", &a, &b, a.most, a.error + a.most * (b.error + b.most + 2));
  case 4: return between("min(%s, %s)", &a, &b, high, fmax(a.error, b.error));
  case 5: return between("clamp(%s, -0.5, %s)", &a, &b, fmax(high, .5), fmax(a.error, b.error));
  default: return between("max(%s,%s)", &a, &b, high, fmax(a.error, b.error));
  }
}

/* Compares inputs and constants only: they have no error that could turn the choice round. */
static term choice(maker *m)
{
  static const char *const compare[] = {"<", "<=", ">", ">=", "==", "!="};
  char left[16], right[16], format[64];
  const int input = noise_below(&m->n, PLAIN_TENSORS), other = noise_below(&m->n, PLAIN_TENSORS);
  const term a = pick(m), b = pick(m);
  input_text(m, input, left, sizeof left);
  input_text(m, other, right, sizeof right);
  const char *by = compare[noise_below(&m->n, 6)];
  snprintf(format, sizeof format, "where(%s %s %s, %%s, %%s)", left, by, chance(m, 2) ? right : "0.25");
  term t = between(format, &a, &b, fmax(a.most, b.most), fmax(a.error, b.error));
  t.columns = t.columns || input < INPUTS_WITH_COLUMNS || other < INPUTS_WITH_COLUMNS;
  if (strstr(format, "0.25")) t.columns = a.columns || b.columns || input < INPUTS_WITH_COLUMNS;
  return t;
}

static term pick_with_columns(maker *m)
{
  term a = pick(m);
  for (int tries = 0; tries < 20 && (!a.columns || a.level >= LEVELS); ++tries) a = pick(m);
  return a.columns && a.level < LEVELS ? a : input_leaf(m, 0);
}

/* A sum of exp below the maximum, whose terms are at most 1, and its logarithm. */
static term power_sum(maker *m, const term *a)
{
  const double cols = m->cols, each = 2 * a->most + 2 * a->error + 4 + 4 * cols;
  if (chance(m, 2)) return around("logsumexp(%s)", a, a->most + log(cols), 1, each + 4 * (a->most + log(cols)));
  return between("sum(exp(%s - max(%s)))", a, a, cols, cols * each);
}

static term reduction(maker *m)
{
  const term a = pick_with_columns(m);
  const double summed = m->cols * a.most;
  const int kind = noise_below(&m->n, 7), partials = kind == 5 ? 3 : kind == 6 ? 2 : 1;
  term t;
  if (m->partials + partials > PARTIALS) return unary(m);
  m->partials += partials;
  switch (kind) {
  case 0: t = around("sum(%s)", &a, summed, m->cols, m->cols * summed); break;
  case 1: t = around("mean(%s)", &a, a.most, 1, summed + a.most); break;
  case 2: t = around("max(%s)", &a, a.most, 1, 0); break;
  case 3: t = around("amax(%s)", &a, a.most, 1, 0); break;
  case 4: t = around("min(%s)", &a, a.most, 1, 0); break;
  case 5: t = power_sum(m, &a); break;
  default: /* of what is exact: a rounding error might choose another column */
    t = a.error > 0 ? around("max(%s)", &a, a.most, 1, 0) : around("argmax(%s)", &a, m->cols, 0, 0);
  }
  t.columns = 0;
  ++t.level;
  return t;
}

static term grouped(maker *m)
{
  const term a = pick_with_columns(m);
  const int k = 2 << noise_below(&m->n, 5); /* 2 .. 32 */
  char format[32];
  static const char *const name[] = {"gsum", "gmax", "gmin", "gamax"};
  const int kind = noise_below(&m->n, 4);
  snprintf(format, sizeof format, "%s(%%s, %d)", name[kind], k);
  return kind == 0 ? around(format, &a, k * a.most, k, k * k * a.most) : around(format, &a, a.most, 1, 0);
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
  switch (noise_below(&m->n, 8)) {
  case 0:
  case 1: t = unary(m); break;
  case 2:
  case 3: t = binary(m); break;
  case 4: t = choice(m); break;
  case 5: t = grouped(m); break;
  default: t = reduction(m);
  }
  if (t.most > 64) t = around("tanh(%s)", &t, 1, 1, 1);
  if (m->names < MADE_NAMES && chance(m, 5)) name_term(m, &t);
  m->pool[m->count++] = t;
}

/* A statement that reduces a term over the rows. */
static void add_column(maker *m, char *body)
{
  static const char *const name[] = {"colsum", "colmean", "colmax"};
  const term a = pick_with_columns(m);
  const int kind = noise_below(&m->n, 3);
  const double sum = m->rows * (a.error + m->rows * a.most), mean = sum / m->rows + a.most;
  const size_t used = strlen(body);
  const int length =
      snprintf(body + used, MADE_TEXT_BYTES - used, "%sc = %s(%s)", chance(m, 2) ? ";" : "\n", name[kind], a.text);
  cr_assert_lt((size_t)length + used, MADE_TEXT_BYTES);
  m->made->output[m->made->outputs++] = (made_output){"c", kind == 0 ? sum : kind == 1 ? mean : a.error};
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

void formula_make(made_formula *made, uint64_t seed, int32_t rows, int32_t cols)
{
  char body[MADE_TEXT_BYTES], x[16];
  maker m = {.n = noise_seed(seed), .rows = rows, .cols = cols, .made = made};
  memset(made, 0, sizeof *made);
  m.header = chance(&m, 2);
  m.halves = chance(&m, 2);
  while (m.count < POOL) grow(&m);
  const term *a = &m.pool[POOL - 1], *b = &m.pool[POOL - 2];
  input_text(&m, 0, x, sizeof x);
  cr_assert_lt(snprintf(body, sizeof body, "%sy = %s + %s - %s", m.statements, x, a->text, b->text), MADE_TEXT_BYTES);
  made->output[made->outputs++] = (made_output){"y", a->error + b->error + 2 * (2 + a->most + b->most)};
  if (chance(&m, 2)) add_column(&m, body);
  if (m.header) add_header(made->text, body);
  add_text(made->text, body);
}

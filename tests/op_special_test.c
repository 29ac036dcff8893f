/* Special values through every op: infinities, NaN, zeros, a subnormal, the ends of the range. The judge compares every
 * result with the reference, which follows IEEE 754 in the backend's own range; TMARING_TEST_TABLE=FILE in the
 * environment makes the test write what came out as a table. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_layout.h"

enum { ROWS = 4, COLS = 24, ROW = 1, COL = 3 };

typedef enum special {
  PLUS_INFINITY,
  MINUS_INFINITY,
  NOT_A_NUMBER,
  LARGEST,
  MINUS_LARGEST,
  SUBNORMAL,
  MINUS_ZERO,
  SPECIALS
} special;

static const char *const titles[SPECIALS] = {"+inf", "-inf", "NaN", "largest", "-largest", "subnormal", "-0"};

/* Where the value stands: in input `input` at (ROW, COL), or all over row ROW. Of interleaved pairs it is the first of
 * pair COL. */
typedef struct spot {
  special value;
  int32_t input;
  int32_t whole_row;
  tmaring_dtype dtype;
} spot;

static double value_of(const spot *at)
{
  switch (at->value) {
  case PLUS_INFINITY: return INFINITY;
  case MINUS_INFINITY: return -INFINITY;
  case NOT_A_NUMBER: return NAN;
  case LARGEST: return number_largest(at->dtype);
  case MINUS_LARGEST: return -number_largest(at->dtype);
  case SUBNORMAL: return number_least(at->dtype);
  default: return -0.0;
  }
}

/* Ordinary values of either sign elsewhere; scales and labels stay ordinary in every row but ROW. */
static void fill(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  const spot *at = t->context;
  const char letter = op_reference_letter(t->op, input);
  noise n = noise_seed((uint64_t)(row * 16 + input + 1));
  for (int64_t i = 0; i < count; ++i) {
    values[i] = data_value(&n, letter == 's' ? DATA_POSITIVE : DATA_PLAIN, row);
    if (letter == 'l') values[i] = (double)(row + 2); /* the column of the value, in row ROW */
  }
  if (input != at->input || (count > 1 && row != ROW && letter != 'w') || (count == 1 && row != ROW)) return;
  for (int64_t i = 0; i < count; ++i) {
    if (at->whole_row || i == COL * (strstr(t->op->name, "interleaved") ? 2 : 1) || count == 1)
      values[i] = value_of(at);
  }
}

/* ---- the table ---- */

static void add_class(FILE *table, op_state *s, op_tensor *tensor, int64_t row, int64_t col)
{
  const tmaring_dtype dtype = tensor->described.dtype;
  double values[2 * COLS];
  op_read(s, tensor, 1, row, values);
  const double got = values[col], size = fabs(got);
  const char *sign = got < 0.0 ? "-" : "";
  if (number_is_integer(dtype)) {
    fprintf(table, "%g", got);
  } else if (!isfinite(got)) {
    fprintf(table, isnan(got) ? "NaN" : "%sinf", sign);
  } else if (got == 0.0) {
    fprintf(table, "0");
  } else {
    fprintf(table,
            size == number_largest(dtype)             ? "%slargest"
            : dtype == TMARING_F32 && size < 0x1p-126 ? "%ssubnormal"
                                                      : "finite",
            sign);
  }
}

/* "here, rest of its row", or "here" where a row has one value; ~ where some result is next to an overflow, so that the
 * order of work decides. */
static void add_cell(FILE *table, op_state *s, op_tensor *tensor)
{
  const int single = tensor->shape == TMARING_SHAPE_COLUMN || tensor->count == 1;
  const int64_t row = tensor->shape == TMARING_SHAPE_ROW ? 0 : ROW;
  fprintf(table, s->undecided ? " ~" : " ");
  add_class(table, s, tensor, row, single ? 0 : COL);
  if (single || ((const spot *)s->trial->context)->whole_row) return;
  fprintf(table, ", ");
  add_class(table, s, tensor, row, COL + 8);
}

/* ---- the trials ---- */

enum { LINE = 1024 };

typedef struct lines {
  char text[OP_MAX_TENSORS][LINE]; /* of each output */
} lines;

static void add_cells(op_state *s, lines *to, int32_t whole_row)
{
  for (int32_t o = 0; op_output(s, o); ++o) {
    const size_t used = strlen(to->text[o]);
    FILE *line = fmemopen(to->text[o] + used, LINE - used, "w");
    cr_assert_not_null(line);
    if (used == 0) fprintf(line, "| %s: %s |", s->trial->op->name, op_output(s, o)->name);
    add_cell(line, s, op_output(s, o));
    fprintf(line, whole_row ? " |" : " /");
    fclose(line);
  }
}

static void run_spot(tally *sum, const venue *v, op_trial *t, const spot *at, lines *to)
{
  op_state s;
  t->context = at;
  if (op_open(&s, t, v) && op_launch(&s) && op_judge(&s)) add_cells(&s, to, at->whole_row);
  tally_count(sum, &s.result);
  op_close(&s);
}

/* Inputs that may hold special values: all but labels. */
static int32_t inputs_of(const op_reference *op)
{
  return (int32_t)strcspn(op->types, "l>");
}

static tmaring_dtype output_for(const op_reference *op, tmaring_dtype in)
{
  tmaring_dtype outputs[TMARING_DTYPE_COUNT];
  op_reference_outputs(op, in, outputs);
  return strcmp(op->outputs, "other") == 0 && in != TMARING_E4M3 ? TMARING_E4M3 : outputs[0];
}

static void run_op(tally *sum, const venue *v, const op_reference *op, tmaring_dtype in, FILE *table)
{
  op_trial t = op_trial_begin(op->name, in, ROWS, COLS);
  t.out = output_for(op, in);
  t.mixed = op->types[0] == 'q'; /* of fp8 codes, those that have infinities */
  t.fill = fill;
  t.near_overflow = 1;
  if (strcmp(op->name, "axpby") == 0) t.scalar[1] = -0.5; /* a product that overflows, fused or not */
  for (int32_t input = 0; input < inputs_of(op); ++input) {
    lines to = {{{0}}};
    const tmaring_dtype dtype = op_type_of(&t, op->types[input]);
    for (int which = 0; which < 2 * SPECIALS; ++which) {
      const spot at = {(special)(which / 2), input, which % 2, dtype};
      run_spot(sum, v, &t, &at, &to);
    }
    for (int32_t o = 0; table && input == 0 && to.text[o][0]; ++o) fprintf(table, "%s\n", to.text[o]);
  }
}

static void begin_table(FILE *table)
{
  fprintf(table, "| op: output |");
  for (int i = 0; i < SPECIALS; ++i) fprintf(table, " %s |", titles[i]);
  fprintf(table, "\n|---|");
  for (int i = 0; i < SPECIALS; ++i) fprintf(table, "---|");
  fprintf(table, "\n");
}

static void run_all(const venue *v, FILE *table)
{
  static const tmaring_dtype types[] = {TMARING_F32, TMARING_F16,  TMARING_BF16,
                                        TMARING_F64, TMARING_E4M3, TMARING_E5M2};
  tally sum = tally_begin("special values of ops", v->name);
  if (table) begin_table(table);
  for (int32_t i = 0; i < op_reference_count(); ++i) {
    tmaring_dtype inputs[TMARING_DTYPE_COUNT];
    const op_reference *op = op_reference_at(i);
    const int32_t count = op_reference_inputs(op, inputs);
    for (size_t k = 0; k < sizeof types / sizeof types[0]; ++k) {
      int32_t has = 0;
      for (int32_t m = 0; m < count; ++m) has |= inputs[m] == types[k];
      if (has) run_op(&sum, v, op, types[k], types[k] == TMARING_F32 ? table : NULL);
    }
  }
  tally_close(&sum);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_assert_eq(sum.refused, 0, "%s", sum.reason[0].text);
}

Test(op_special, values_cpu, .timeout = 120)
{
  venue v;
  const char *path = getenv("TMARING_TEST_TABLE");
  FILE *table = path ? fopen(path, "w") : NULL;
  cr_assert(!path || table, "%s cannot be written", path);
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  run_all(&v, table);
  if (table) fclose(table);
}

Test(op_special, values_cuda, .timeout = 500)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  run_all(&v, NULL);
  venue_close(&v);
}

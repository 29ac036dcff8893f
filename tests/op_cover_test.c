/* Every ready op over every type it lists, in a pairwise cover of sizes, layouts, data, modes and orders; one cover per
 * family of ops. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/modes.h"
#include "support/op_trial.h"
#include "support/pairwise.h"

typedef enum factor {
  FACTOR_OP,
  FACTOR_IN,
  FACTOR_OUT,
  FACTOR_COLS,
  FACTOR_ROWS,
  FACTOR_LAYOUT,
  FACTOR_DATA,
  FACTOR_TYPES, /* of weights, labels and codes */
  FACTOR_PLACE, /* in place; one value for all rows */
  FACTOR_MODE,
  FACTOR_ORDER,
  FACTOR_POLICY,
  FACTORS
} factor;

static const int64_t cols_listed[] = {1, 7, 64, 128, 257, 769, 2880, 4096, 7168, 18432, 151937, 262144};
static const int64_t rows_listed[] = {0, 1, 3, 133, 8191};
static const data_kind data_listed[] = {DATA_PLAIN, DATA_STEEP, DATA_WHOLE};
static const int32_t modes_listed[] = {-1, MODE_PIPELINED_CTA, MODE_PIPELINED_MBARRIER, MODE_SPECIALIZED_X};

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof(array)[0]))

/* What one case may take: rows are left out until it fits. The CPU backend's time goes with the elements, the judge's
 * with those of ops whose columns need every row; memory with the bytes. */
typedef struct budget {
  int64_t elements, column_elements, bytes;
} budget;

static const budget on_cpu = {1 << 22, 1 << 19, INT64_MAX};
static const budget on_cuda = {INT64_MAX, 1 << 26, (int64_t)3 << 30};

typedef struct counts {
  int32_t reduced;
  int32_t of_cols[COUNT(cols_listed)], of_rows[COUNT(rows_listed)];
  int32_t of_types[PAIRWISE_MAX_LEVELS][TMARING_DTYPE_COUNT]; /* op of the family, type of its inputs */
} counts;

static const op_reference *op_of(op_family family, int32_t which)
{
  for (int32_t i = 0; i < op_reference_count(); ++i) {
    const op_reference *op = op_reference_at(i);
    if (op->family == family && which-- == 0) return op;
  }
  return NULL;
}

static void choose_walk(op_trial *t, const int32_t *row)
{
  const int32_t mode = modes_listed[row[FACTOR_MODE]];
  if (mode >= 0) mode_choose(&t->options, (mode_choice)mode);
  if (row[FACTOR_ORDER] < 4) t->options.order = row[FACTOR_ORDER];
  if (row[FACTOR_POLICY] < 3) t->options.policy = row[FACTOR_POLICY];
}

static op_trial cover_trial(op_family family, const int32_t *row, uint64_t seed)
{
  tmaring_dtype types[TMARING_DTYPE_COUNT];
  op_trial t = op_trial_begin(op_of(family, row[FACTOR_OP])->name, TMARING_F32, rows_listed[row[FACTOR_ROWS]],
                              cols_listed[row[FACTOR_COLS]]);
  const int32_t inputs = op_reference_inputs(t.op, types);
  t.in = types[row[FACTOR_IN] % inputs];
  const int32_t outputs = op_reference_outputs(t.op, t.in, types);
  t.out = types[row[FACTOR_OUT] % outputs];
  t.layout = (op_layout)row[FACTOR_LAYOUT];
  t.data = data_listed[row[FACTOR_DATA]];
  t.mixed = row[FACTOR_TYPES];
  t.one_value = row[FACTOR_PLACE];
  t.seed = seed;
  const int32_t over = (int32_t)(seed % 2);
  if (row[FACTOR_PLACE] && op_trial_may_alias(&t, over)) t.in_place = over;
  choose_walk(&t, row);
  return t;
}

static int fits(const op_trial *t, const budget *b)
{
  const int64_t elements = t->rows * t->cols;
  return elements <= b->elements && op_trial_bytes(t) <= b->bytes &&
         (t->op->family != OP_BACKWARD || elements <= b->column_elements);
}

/* The plan is told the M that was meant: the same kernels on every machine. */
static void fit(op_trial *t, const budget *b, counts *c)
{
  const int64_t rows = t->rows;
  if (t->hint < 0) t->hint = rows;
  for (int32_t i = COUNT(rows_listed) - 1; i >= 0 && !fits(t, b); --i) {
    if (rows_listed[i] > 0 && rows_listed[i] < t->rows) t->rows = rows_listed[i];
  }
  c->reduced += t->rows != rows;
}

static void count(counts *c, const op_trial *t, int32_t which)
{
  for (int32_t i = 0; i < COUNT(rows_listed); ++i) c->of_rows[i] += t->rows == rows_listed[i];
  for (int32_t i = 0; i < COUNT(cols_listed); ++i) c->of_cols[i] += t->cols == cols_listed[i] && t->rows > 0;
  c->of_types[which][t->in] += t->rows > 0;
}

/* Every op ran with every type of its inputs, every N and every M. */
static void check_counts(const counts *c, op_family family, int32_t ops)
{
  for (int32_t i = 0; i < COUNT(rows_listed); ++i) cr_expect_gt(c->of_rows[i], 0, "no %d rows", (int)rows_listed[i]);
  for (int32_t i = 0; i < COUNT(cols_listed); ++i) cr_expect_gt(c->of_cols[i], 0, "no %d cols", (int)cols_listed[i]);
  for (int32_t k = 0; k < ops; ++k) {
    tmaring_dtype types[TMARING_DTYPE_COUNT];
    const int32_t inputs = op_reference_inputs(op_of(family, k), types);
    for (int32_t i = 0; i < inputs; ++i)
      cr_expect_gt(c->of_types[k][types[i]], 0, "%s: no %s", op_of(family, k)->name, tmaring_dtype_name(types[i]));
  }
}

static int32_t ops_in(op_family family)
{
  int32_t ops = 0;
  while (op_of(family, ops)) ++ops;
  return ops;
}

static pairwise *build(op_family family)
{
  const int32_t levels[FACTORS] = {
      ops_in(family),      8, 8, COUNT(cols_listed), COUNT(rows_listed), OP_LAYOUTS, COUNT(data_listed), 2, 2,
      COUNT(modes_listed), 5, 4};
  pairwise *cover = pairwise_build(levels, FACTORS, 7 + (uint64_t)family);
  cr_assert_not_null(cover);
  cr_assert_eq(pairwise_missing(cover), 0);
  return cover;
}

static void run_case(tally *sum, counts *c, op_trial *t, int32_t which, const venue *v, const budget *b)
{
  fit(t, b, c);
  count(c, t, which);
  if (tally_takes(sum)) op_trial_count(sum, t, v);
}

static void run_family(op_family family, const char *title, const venue *v, const budget *b)
{
  pairwise *cover = build(family);
  tally sum = tally_begin(title, v->name);
  counts c = {0};
  budget own = *b;
  if (sum.step > 1 && own.elements > on_cpu.elements) own.elements = on_cpu.elements; /* a subset is for slow tools */
  for (int32_t i = 0; i < cover->rows; ++i) {
    op_trial t = cover_trial(family, cover->row[i], (uint64_t)i + 1);
    run_case(&sum, &c, &t, cover->row[i][FACTOR_OP], v, &own);
    if (t.rows > 0) continue;
    t.rows = 5; /* a plan made for no rows */
    t.hint = 0;
    run_case(&sum, &c, &t, cover->row[i][FACTOR_OP], v, &own);
  }
  if (c.reduced) printf("%s: %d cases with fewer rows (%s)\n", title, (int)c.reduced, v->name);
  check_counts(&c, family, ops_in(family));
  tally_close(&sum);
  free(cover);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_assert_eq(sum.refused, 0, "%s", sum.reason[0].text);
}

/* A test per backend. */
#define FAMILY(name, family)                                                                                           \
  Test(op_cover, name##_cpu, .timeout = 900)                                                                           \
  {                                                                                                                    \
    venue v;                                                                                                           \
    cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));                                                               \
    run_family(family, "ops: " #name, &v, &on_cpu);                                                                    \
  }                                                                                                                    \
  Test(op_cover, name##_cuda, .timeout = 900)                                                                          \
  {                                                                                                                    \
    venue v;                                                                                                           \
    VENUE_NEED_CUDA(&v);                                                                                               \
    run_family(family, "ops: " #name, &v, &on_cuda);                                                                   \
    venue_close(&v);                                                                                                   \
  }

FAMILY(pointwise, OP_POINTWISE)
FAMILY(reductions, OP_REDUCTION)
FAMILY(softmax, OP_SOFTMAX)
FAMILY(norms, OP_NORM)
FAMILY(gated, OP_GATED)
FAMILY(quantize, OP_QUANTIZE)
FAMILY(backward, OP_BACKWARD)

/* More elements than 31 bits count, and more bytes than 32 do. */
static op_trial largest_trial(int32_t which)
{
  static const char *const ops[] = {"softmax", "quantize_fp8_row", "row_sum", "col_sum"};
  op_trial t = op_trial_begin(ops[which], TMARING_BF16, 8193, 262144);
  t.data = DATA_WHOLE;
  return t;
}

/* On the CPU the plans, and the checker's proof that every copy stays inside. */
Test(op_cover, largest_cpu, .timeout = 120)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  for (int32_t i = 0; i < 4; ++i) {
    op_state s;
    const op_trial t = largest_trial(i);
    cr_expect(op_begin(&s, &t, &v) && op_plan(&s), "%s", s.result.text);
    op_close(&s);
  }
}

/* By itself: the tensors and their images fill much of the host's memory. */
Test(op_cover, largest_cuda, .timeout = 900)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  tally sum = tally_begin("ops: largest", v.name);
  if (sum.step > 1) cr_skip_test("a subset of the tests");
  for (int32_t i = 0; i < 4; ++i) {
    const op_trial t = largest_trial(i);
    op_trial_count(&sum, &t, &v);
  }
  tally_close(&sum);
  venue_close(&v);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
}

/* Casts between every two types. */
static void run_casts(const venue *v)
{
  const op_reference *cast = op_reference_find("cast");
  tmaring_dtype from[TMARING_DTYPE_COUNT], to[TMARING_DTYPE_COUNT];
  tally sum = tally_begin("casts", v->name);
  const int32_t count = op_reference_inputs(cast, from);
  for (int32_t i = 0; i < count; ++i) {
    const int32_t others = op_reference_outputs(cast, from[i], to);
    for (int32_t k = 0; k < others; ++k) {
      op_trial t = op_trial_begin("cast", from[i], 33, 257);
      t.out = to[k];
      t.data = DATA_STEEP;
      t.layout = (op_layout)((i + k) % OP_LAYOUTS);
      if (tally_takes(&sum)) op_trial_count(&sum, &t, v);
    }
  }
  tally_close(&sum);
  cr_assert_eq(sum.failed + sum.refused, 0, "%s", sum.failed ? sum.first_failure : sum.reason[0].text);
}

Test(op_cover, casts_cpu, .timeout = 120)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  run_casts(&v);
}

Test(op_cover, casts_cuda, .timeout = 300)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  run_casts(&v);
  venue_close(&v);
}

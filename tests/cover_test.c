/* A pairwise cover of formulas, types, sizes, modes, orders, policies, scopes, stores, stages, prefetch and layouts. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/modes.h"
#include "support/pairwise.h"
#include "support/tally.h"

typedef enum factor {
  FACTOR_FORMULA,
  FACTOR_DTYPE,
  FACTOR_COLS,
  FACTOR_ROWS,
  FACTOR_MODE,
  FACTOR_ORDER,
  FACTOR_POLICY,
  FACTOR_SCOPE,
  FACTOR_STORE,
  FACTOR_STAGES,
  FACTOR_PREFETCH,
  FACTOR_LAYOUT,
  FACTORS
} factor;

static const recipe_name formulas[] = {RECIPE_DOUBLE, RECIPE_RMSNORM, RECIPE_LAYERNORM, RECIPE_SOFTMAX, RECIPE_ROW_SUM};
static const int64_t cols_listed[] = {1, 3, 33, 255, 256, 257, 769, 1023, 4096, 12289};
static const int64_t rows_listed[] = {0, 1, 2, 131, 132, 133, 997, 8191};
static const int32_t prefetches[] = {TMARING_AUTO, 0, -1};

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof(array)[0]))

static const int32_t levels[FACTORS] = {COUNT(formulas),
                                        RECIPE_DTYPES,
                                        COUNT(cols_listed),
                                        COUNT(rows_listed),
                                        MODE_CHOICES,
                                        4,
                                        3,
                                        TMARING_SCOPE_CTA + 1,
                                        TMARING_STORE_BULK + 1,
                                        4,
                                        COUNT(prefetches),
                                        LAYOUT_COUNT};

static trial cover_trial(const int32_t *row)
{
  trial t = trial_begin(formulas[row[FACTOR_FORMULA]], (tmaring_dtype)row[FACTOR_DTYPE], rows_listed[row[FACTOR_ROWS]],
                        cols_listed[row[FACTOR_COLS]]);
  mode_choose(&t.options, (mode_choice)row[FACTOR_MODE]);
  t.options.order = row[FACTOR_ORDER];
  t.options.policy = row[FACTOR_POLICY];
  t.options.scope = row[FACTOR_SCOPE] == TMARING_SCOPE_AUTO ? TMARING_AUTO : row[FACTOR_SCOPE];
  t.options.store = row[FACTOR_STORE];
  t.options.stages = 1 + row[FACTOR_STAGES];
  t.options.prefetch = prefetches[row[FACTOR_PREFETCH]];
  trial_lay_out(&t, (trial_layout)row[FACTOR_LAYOUT]);
  return t;
}

/* The largest listed M whose matrix has at most `limit` elements. */
static int64_t fewer_rows(int64_t rows, int64_t cols, int64_t limit)
{
  for (int32_t i = COUNT(rows_listed) - 1; i >= 0 && rows * cols > limit; --i) {
    if (rows_listed[i] < rows) rows = rows_listed[i];
  }
  return rows;
}

/* Every listed M and N still occurs. */
static void mark_sizes(const trial *t, int32_t *rows_seen, int32_t *cols_seen)
{
  for (int32_t i = 0; i < COUNT(rows_listed); ++i) rows_seen[i] += t->rows == rows_listed[i];
  for (int32_t i = 0; i < COUNT(cols_listed); ++i) cols_seen[i] += t->cols == cols_listed[i];
}

static void check_sizes(const int32_t *rows_seen, const int32_t *cols_seen)
{
  for (int32_t i = 0; i < COUNT(rows_listed); ++i)
    cr_expect_gt(rows_seen[i], 0, "no case of %d rows", (int)rows_listed[i]);
  for (int32_t i = 0; i < COUNT(cols_listed); ++i)
    cr_expect_gt(cols_seen[i], 0, "no case of %d cols", (int)cols_listed[i]);
}

static void run_cover(const venue *v, const pairwise *cover, int64_t limit)
{
  tally sum = tally_begin("cover", v->name);
  int32_t rows_seen[COUNT(rows_listed)] = {0}, cols_seen[COUNT(cols_listed)] = {0}, reduced = 0;
  for (int32_t i = 0; i < cover->rows; ++i) {
    trial t = cover_trial(cover->row[i]);
    const int64_t rows = fewer_rows(t.rows, t.cols, limit);
    reduced += rows != t.rows;
    t.rows = rows;
    t.seed = (uint64_t)i + 1;
    mark_sizes(&t, rows_seen, cols_seen);
    if (!tally_takes(&sum)) continue;
    const trial_result result = trial_run(&t, v);
    tally_count(&sum, &result);
  }
  if (reduced) printf("cover: %d cases with fewer rows, at most %lld elements\n", (int)reduced, (long long)limit);
  check_sizes(rows_seen, cols_seen);
  tally_close(&sum);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_assert_leq(sum.refused * 100, 5 * (sum.passed + sum.refused), "too many refusals");
}

static pairwise *build(void)
{
  pairwise *cover = pairwise_build(levels, FACTORS, 3);
  cr_assert_not_null(cover);
  cr_assert_eq(pairwise_missing(cover), 0);
  return cover;
}

Test(cover, generator_covers_every_pair, .timeout = 30)
{
  pairwise *cover = build();
  cr_assert_geq(cover->rows, COUNT(cols_listed) * COUNT(rows_listed));
  cr_assert_leq(cover->rows, 2 * COUNT(cols_listed) * COUNT(rows_listed));
  for (int f = 0; f < FACTORS; ++f) cover->row[0][f] = cover->row[1][f]; /* a lost row is seen */
  cr_assert_gt(pairwise_missing(cover), 0);
  free(cover);
}

Test(cover, pairs_cpu, .timeout = 900)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  pairwise *cover = build();
  run_cover(&v, cover, 1 << 22);
  free(cover);
}

Test(cover, pairs_cuda, .timeout = 500)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  pairwise *cover = build();
  run_cover(&v, cover, (int64_t)1 << 40);
  free(cover);
  venue_close(&v);
}

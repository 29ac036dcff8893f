/* Plans whose tensors pass 2^31 elements or bytes: every address that a fill, a value per row, a scale of a group or a
 * partial result has, against sums in 128 bits. Needs no memory of that size. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../src/host/plan/row_limit.h"
#include "support/draft.h"
#include "tmaring/abi/frames.h"
#include "tmaring/index.h"

__extension__ typedef unsigned __int128 wide;

#define BASE (1ull << 50) /* of every tensor: above what offsets reach */

/* Formula, and types of inputs and outputs by the tensors' names. */
typedef struct work {
  const char *formula;
  tmaring_dtype dtype;
  const char *other; /* NULL, or the tensor of another type */
  tmaring_dtype other_dtype;
  const char *scales; /* NULL, or the f32 tensor of scales */
} work;

static const work works[] = {
    {"y = x", TMARING_I8, NULL, TMARING_F32, NULL},
    {"y = x + x", TMARING_BF16, NULL, TMARING_F32, NULL},
    {"rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x*x) + eps) * w", TMARING_BF16, NULL, TMARING_F32, NULL},
    {"f(x[M,N]) = out s = max(amax(x), 1e-10) / 448; q = x / s", TMARING_BF16, "q", TMARING_E4M3, "s"},
    {"f(x[M,N]) = out s = max(gamax(x, 128), 1e-10) / 448; q = x / s", TMARING_BF16, "q", TMARING_E4M3, "s"},
    {"y = x * v[M]; s = sum(x)", TMARING_F32, NULL, TMARING_F32, "s"},
    {"f(x[M,2N]) = silu(first(x)) * second(x)", TMARING_BF16, NULL, TMARING_F32, NULL},
};
#define WORKS (int32_t)(sizeof works / sizeof *works)

typedef struct extent {
  int64_t rows, cols;
} extent;

static const extent extents[] = {
    {131072, 16384}, {175000, 12288}, {4194305, 512},  {150000, 16384}, /* F12 */
    {1073741823, 2}, {2147483647, 1}, {1 << 20, 2048},                  /* 2^31 - 2, 2^31 - 1, 2^31 elements */
    {1ll << 34, 3},                                                     /* row numbers past 32 bits */
    {5, 2147483520},                                                    /* columns whose bytes pass 32 bits */
};
#define EXTENTS (int32_t)(sizeof extents / sizeof *extents)

/* The fill that has a row, of the row's piece at a column. */
static tmaring_fill fill_of(const tmaring_walk *w, int64_t row, int32_t col)
{
  const int64_t block = row / (w->pieces > 1 ? 1 : w->tile_rows), chunk = block / w->chunk;
  const int32_t piece = w->pieces > 1 ? col / w->piece_cols : 0, step = (int32_t)(block - chunk * w->chunk);
  tmaring_fill fill;
  if (w->spread)
    tmaring_walk_fill(w, chunk * w->pieces + piece, step, &fill);
  else
    tmaring_walk_fill(w, chunk, (w->pieces > 1 ? step * w->passes * w->pieces : step) + piece, &fill);
  cr_assert(fill.row <= row && row < fill.row + fill.rows, "row %lld: the fill has [%lld, + %d)", (long long)row,
            (long long)fill.row, fill.rows);
  cr_assert(fill.col <= col && col < fill.col + fill.cols);
  return fill;
}

/* Bytes from a tensor's base to an element, in 128 bits from what the caller said of it. */
static wide bytes_to(const tmaring_tensor *t, int64_t row, int64_t col, uint32_t elem_bytes)
{
  const int64_t pitch = t->pitch == 0 ? t->cols : t->pitch, step = t->step == 0 ? 1 : t->step;
  const int64_t group = t->group_rows > 0 ? row / t->group_rows : 0, rest = row - group * t->group_rows;
  return ((wide)group * (wide)t->group_pitch + (wide)rest * (wide)pitch + (wide)col * (wide)step) * elem_bytes;
}

/* Element (row, col) of tensor i, where the roles read or write it. */
static uint64_t address_of(const draft *d, tmaring_args *a, int32_t i, int64_t row, int32_t col, wide *due)
{
  tmaring_parameter parameter;
  memset(&parameter, 0, sizeof parameter);
  parameter.size = sizeof parameter;
  cr_assert_eq(tmaring_formula_tensor(d->formula, i, &parameter), TMARING_OK);
  const uint32_t bytes = tmaring_dtype_bytes((tmaring_i32)d->tensor[i].dtype);
  const tmaring_fill fill = fill_of(&a->walk, row, col);
  const int32_t j = (int32_t)(row - fill.row);
  switch (parameter.shape) {
  case TMARING_SHAPE_MATRIX:
  case TMARING_SHAPE_DOUBLE: {
    tmaring_stream *s = parameter.is_output ? &a->output[0] : &a->input[0];
    s->base = BASE;
    *due = bytes_to(&d->tensor[i], row, fill.col, bytes);
    return tmaring_run_at(s, &fill, j, j + 1, 0).address;
  }
  case TMARING_SHAPE_GROUP: {
    tmaring_vector *v = parameter.is_output ? &a->group_output[0] : &a->group_input[0];
    const int32_t g = col / parameter.group_cols;
    v->base = BASE;
    *due = bytes_to(&d->tensor[i], row, g, bytes);
    return tmaring_vector_address(v, row, g);
  }
  case TMARING_SHAPE_COLUMN: {
    tmaring_vector *v = parameter.is_output ? &a->row_output[0] : &a->row_scalar[0];
    v->base = BASE;
    *due = bytes_to(&d->tensor[i], row, 0, bytes);
    return tmaring_vector_address(v, row, 0);
  }
  default: *due = 0; return BASE; /* [N] */
  }
}

static void expect_addresses(const draft *d, const tmaring_plan *plan, const char *what, int64_t row, int32_t col)
{
  tmaring_args a = draft_args(plan, d->tensor[0].rows);
  for (int32_t i = 0; i < d->count; ++i) {
    wide due;
    const uint64_t got = address_of(d, &a, i, row, col, &due);
    cr_expect(got == BASE + due, "%s, tensor %d, element (%lld, %d): offset %llx, needs %llx%016llx", what, i,
              (long long)row, col, (unsigned long long)(got - BASE), (unsigned long long)(due >> 64),
              (unsigned long long)due);
  }
}

/* Rows at both ends, and around where elements and bytes of a tensor pass 2^31. */
static void expect_rows(const draft *d, const tmaring_plan *plan, const char *what)
{
  const int64_t rows = d->tensor[0].rows, first = d->tensor[0].pitch > 0 ? d->tensor[0].pitch : d->tensor[0].cols;
  const int32_t cols = draft_args(plan, rows).walk.cols;
  const int64_t rows_at[] = {0, rows / 2, rows - 1, (1ll << 31) / first, (1ll << 30) / first, (1ll << 32) / first};
  for (size_t i = 0; i < sizeof rows_at / sizeof *rows_at; ++i) {
    for (int64_t row = rows_at[i] - 1; row <= rows_at[i] + 1; ++row) {
      if (row < 0 || row >= rows) continue;
      expect_addresses(d, plan, what, row, 0);
      expect_addresses(d, plan, what, row, cols - 1);
    }
  }
}

static draft draft_work(const work *w, int64_t rows, int64_t cols)
{
  draft d = draft_make(w->formula, w->dtype, rows, cols);
  if (w->other) d.tensor[draft_tensor(&d, w->other)].dtype = w->other_dtype;
  if (w->scales) d.tensor[draft_tensor(&d, w->scales)].dtype = TMARING_F32;
  return d;
}

static int groups(const work *w)
{
  return strstr(w->formula, "gamax") != NULL;
}

static void expect_work(const work *w, const draft *d)
{
  char what[192];
  tmaring_check_report report = {.size = sizeof report};
  tmaring_plan *plan = draft_accept(d);
  snprintf(what, sizeof what, "%s at [%lld, %lld]", w->formula, (long long)d->tensor[0].rows,
           (long long)d->tensor[0].cols);
  expect_rows(d, plan, what);
  cr_expect_eq(tmaring_check(plan, d->tensor[0].rows, &report), TMARING_OK, "%s: %s", what, tmaring_last_detail());
  cr_expect_gt(report.copies, 0);
  tmaring_plan_free(plan);
}

/* F12: loads, stores and scales, by every order. */
Test(far_plan, F12_last_rows_are_where_they_belong, .timeout = 60)
{
  for (int32_t i = 0; i < WORKS * EXTENTS; ++i) {
    const work *w = &works[i / EXTENTS];
    const extent *e = &extents[i % EXTENTS];
    if (groups(w) && e->cols < 128) continue;
    for (int32_t order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_TICKET; ++order) {
      draft d = draft_work(w, e->rows, e->cols);
      d.options.order = order;
      expect_work(w, &d);
      draft_free(&d);
    }
  }
}

/* F12: the width that a caller's own kernel would need for the same tensors. */
Test(far_plan, F12_widths_of_whole_ops, .timeout = 10)
{
  for (int32_t i = 0; i < WORKS * EXTENTS; ++i) {
    const extent *e = &extents[i % EXTENTS];
    draft d = draft_work(&works[i / EXTENTS], e->rows, groups(&works[i / EXTENTS]) && e->cols < 128 ? 128 : e->cols);
    tmaring_index_report report = TMARING_INDEX_REPORT_INIT;
    cr_assert_eq(tmaring_index_width(d.tensor, d.count, &report), TMARING_OK);
    const int64_t numel = d.tensor[0].rows * d.tensor[0].cols;
    cr_expect_eq(report.width, numel < 2147483647 ? 32 : 64, "%s at [%lld, %lld]", works[i / EXTENTS].formula,
                 (long long)e->rows, (long long)e->cols);
    draft_free(&d);
  }
}

/* Few elements, far apart: rows, groups of rows, and values of rows and groups. */
static void stretch_pitch(draft *d, tmaring_tensor *t)
{
  (void)d;
  t->pitch = 1 << 30;
}

static void stretch_groups(draft *d, tmaring_tensor *t)
{
  (void)d;
  t->group_rows = 3;
  t->pitch = (1 << 20) + t->cols;
  t->group_pitch = 3ll << 30;
}

static void stretch_values(draft *d, tmaring_tensor *t)
{
  (void)d;
  t->pitch = 3ll << 30;
}

static void stretch_steps(draft *d, tmaring_tensor *t)
{
  t->pitch = 1;
  t->step = (5ll << 28) + d->tensor[0].rows;
}

static const struct stretch {
  int32_t work;
  const char *tensor;
  void (*change)(draft *d, tmaring_tensor *t);
} stretches[] = {
    {0, "x", stretch_pitch},  {0, "y", stretch_pitch},  {1, "x", stretch_groups}, {1, "y", stretch_groups},
    {2, "x", stretch_groups}, {3, "q", stretch_pitch},  {3, "s", stretch_values}, {4, "s", stretch_values},
    {4, "s", stretch_steps},  {5, "v", stretch_values}, {5, "s", stretch_values}, {6, "x", stretch_pitch},
};

Test(far_plan, views_with_huge_strides, .timeout = 60)
{
  for (size_t i = 0; i < sizeof stretches / sizeof *stretches; ++i) {
    const work *w = &works[stretches[i].work];
    draft d = draft_work(w, 11, 4096);
    const int32_t at = draft_tensor(&d, stretches[i].tensor);
    tmaring_index_report report = TMARING_INDEX_REPORT_INIT;
    stretches[i].change(&d, &d.tensor[at]);
    cr_assert_eq(tmaring_index_width(d.tensor, d.count, &report), TMARING_OK);
    cr_expect(report.width == 64 && report.tensor == at, "stretch %zu: %d by tensor %d", i, report.width,
              report.tensor);
    cr_expect_lt(report.numel, 1 << 20);
    expect_work(w, &d);
    draft_free(&d);
  }
}

/* Partial results of column reductions: the last row of the last output. */
Test(far_plan, partial_results_do_not_wrap, .timeout = 20)
{
  static const extent sizes[] = {{4194305, 512}, {175000, 12288}, {1ll << 33, 4096}, {1ll << 20, 1 << 24}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    draft d = draft_make("s = colsum(x); t = colmax(x)", TMARING_BF16, sizes[i].rows, sizes[i].cols);
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args a = draft_args(plan, sizes[i].rows);
    const int32_t seats = tmaring_column_seats(&a);
    const int64_t chunks = tmaring_column_chunks(&a.walk), stride = (sizes[i].cols + 7) / 8 * 8;
    const wide last = ((wide)2 * chunks * seats - 1) * stride;
    cr_expect(tmaring_partial_index(&a, &a.walk, 1, chunks - 1, seats - 1) == (int64_t)last, "case %zu", i);
    cr_expect_geq(tmaring_workspace_bytes(plan, sizes[i].rows), (last + stride) * 4, "case %zu", i);
    if (i >= 2) cr_expect_gt(last, 1ll << 31, "the case is too small: %lld chunks of %d", (long long)chunks, seats);
    cr_expect_eq(tmaring_check(plan, sizes[i].rows, NULL), TMARING_OK, "%s", tmaring_last_detail());
    tmaring_plan_free(plan);
    draft_free(&d);
  }
}

/* ---- what is 32-bit by construction is refused past that, by name ---- */

static void expect_limit(const draft *d, const char *what, int64_t most, const char *reason)
{
  tmaring_args args;
  tmaring_plan *plan = draft_accept(d);
  cr_expect_eq(tmaring_plan_args(plan, most, &args), TMARING_OK, "%s: %s", what, tmaring_last_detail());
  cr_expect_eq(tmaring_plan_args(plan, most + 1, &args), TMARING_ERROR_CAPACITY, "%s", what);
  cr_expect_not_null(strstr(tmaring_last_detail(), reason), "%s: \"%s\" lacks \"%s\"", what, tmaring_last_detail(),
                     reason);
  tmaring_plan_free(plan);
}

Test(far_plan, tickets_are_refused_beyond_31_bits, .timeout = 20)
{
  tmaring_args args;
  draft d = draft_make("y = x", TMARING_I8, 0, 1);
  d.options.order = TMARING_ORDER_TICKET;
  d.options.tile_rows = 1;
  expect_limit(&d, "tickets", 2147483647, "order ticket numbers tiles in 31 bits; use order cyclic");
  cr_expect_not_null(strstr(tmaring_last_detail(), "rows: got 2147483648, this plan serves at most 2147483647"));
  d.options.order = TMARING_ORDER_CYCLIC; /* counts tiles in 64 bits */
  tmaring_plan *plan = draft_accept(&d);
  cr_expect_eq(tmaring_plan_args(plan, 1ll << 33, &args), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_eq(args.walk.tiles, 1ll << 33);
  tmaring_plan_free(plan);
  draft_free(&d);
}

Test(far_plan, rows_in_groups_and_spread_pieces_are_refused_beyond_31_bits, .timeout = 20)
{
  draft d = draft_make("y = x", TMARING_I8, 0, 16);
  const int32_t y = draft_tensor(&d, "y");
  d.options.order = TMARING_ORDER_CYCLIC;
  d.tensor[y].group_rows = 7;
  d.tensor[y].group_pitch = 128;
  expect_limit(&d, "groups", 2147483647, "y: rows in groups are numbered in 31 bits");
  d.tensor[y].group_rows = d.tensor[y].group_pitch = 0;
  d.options.piece_cols = 1 << 10;
  d.tensor[0].cols = d.tensor[1].cols = 3 << 10;
  expect_limit(&d, "pieces", 2147483647 / 3, "pieces of a row are numbered in 31 bits; use a larger piece_cols");
  d.options.piece_cols = TMARING_AUTO;
  d.tensor[y].pitch = 1ll << 40;
  expect_limit(&d, "pitch", 1 << 22, "y: its offsets stay below 2^62 bytes");
  draft_free(&d);
}

Test(far_plan, tiled_loads_are_refused_beyond_31_bits, .timeout = 20)
{
  draft d = draft_make("y = x + x", TMARING_BF16, 0, 128);
  d.options.order = TMARING_ORDER_CYCLIC;
  d.options.load = TMARING_LOAD_TILE;
  expect_limit(&d, "tile", TMARING_MAX_COORDINATES, "x: coordinates of tensor maps have 31 bits; use load bulk");
  draft_free(&d);
}

/* The last box of the last fill begins behind the last row, where boxes are rows of a wide one: still below 2^31. */
Test(far_plan, boxes_behind_the_last_row_have_coordinates, .timeout = 20)
{
  static const int32_t rows[] = {1, 256, 257, 1024};
  int behind = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    draft d = draft_make("y = x + x", TMARING_I8, 0, 16);
    d.options.order = TMARING_ORDER_CYCLIC;
    d.options.load = TMARING_LOAD_TILE;
    d.options.tile_rows = rows[i];
    tmaring_plan *plan = draft_accept(&d);
    const tmaring_args args = draft_args(plan, TMARING_MAX_COORDINATES);
    const tmaring_tile *t = &plan->variant[plan->variant_count - 1].boxes.tile[0];
    tmaring_fill fill;
    int32_t at[TMARING_MAX_RANK];
    memset(&fill, 0, sizeof fill);
    tmaring_walk_fill(&args.walk, args.walk.tiles - 1, 0, &fill);
    const int32_t copies = tmaring_tile_copies(t, &fill);
    cr_assert_geq(copies, 1);
    tmaring_tile_coordinates(t, NULL, &fill, copies - 1, at);
    const wide due = (wide)fill.row + (t->by_row ? (copies - 1) / t->boxes : 0) +
                     (wide)((copies - 1) % t->boxes / t->along) * t->box_step[1];
    cr_expect(due < (wide)1 << 31, "%d rows per fill", rows[i]);
    behind += due > TMARING_MAX_COORDINATES;
    cr_expect(at[t->rank - 1] == (int64_t)due, "%d rows per fill: %d", rows[i], at[t->rank - 1]);
    tmaring_plan_free(plan);
    draft_free(&d);
  }
  cr_expect_gt(behind, 0, "no case has such a box");
}

/* Whatever way the planner came to a tensor map. */
Test(far_plan, coordinates_of_tensor_maps_are_31_bits, .timeout = 20)
{
  draft d = draft_make("y = x", TMARING_I8, 0, 16);
  d.options.order = TMARING_ORDER_CYCLIC;
  tmaring_plan *plan = draft_accept(&d);
  tmaring_args args = draft_args(plan, 1ll << 33);
  cr_expect_eq(tmaring__row_limit_of_paths(&args), INT64_MAX);
  args.input[0].path = TMARING_LOAD_ASYNC;
  cr_expect_eq(tmaring__row_limit_of_paths(&args), INT64_MAX);
  args.output[0].path = 1;
  cr_expect_eq(tmaring__row_limit_of_paths(&args), TMARING_MAX_COORDINATES);
  args.output[0].path = 0;
  args.input[0].path = TMARING_LOAD_TILE;
  cr_expect_eq(tmaring__row_limit_of_paths(&args), TMARING_MAX_COORDINATES);
  cr_expect_eq(tmaring__row_limit_refuse(plan, &args, 1ll << 33, TMARING_MAX_COORDINATES), TMARING_ERROR_CAPACITY);
  cr_expect_not_null(strstr(tmaring_last_detail(), "rows: got 8589934592, this plan serves at most 2146435071: x: "
                                                   "coordinates of tensor maps have 31 bits; use load bulk"),
                     "%s", tmaring_last_detail());
  tmaring_plan_free(plan);
  draft_free(&d);
}

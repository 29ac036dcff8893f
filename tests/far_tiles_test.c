/* Tile programs over few elements far apart: offsets past 2^31 elements and 2^32 bytes, on both backends and by both load
 * paths. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/far_memory.h"
#include "support/number.h"
#include "tmaring/tile_program.h"

/* x as rows, in groups where rank is 3; y the same, or transposed with a pitch of its own. */
typedef struct far_tile {
  tmaring_tile_op op;
  tmaring_dtype dtype;
  int64_t rows, cols, pitch, group_rows, group_pitch;
  int64_t y_pitch;
} far_tile;

static const far_tile far_tiles[] = {
    {TMARING_TILE_COPY, TMARING_I8, 5, 64, 1 << 30, 0, 0, 1 << 30},
    {TMARING_TILE_COPY, TMARING_BF16, 5, 72, (1 << 30) + 8, 0, 0, (1 << 30) + 8},
    {TMARING_TILE_COPY, TMARING_BF16, 9, 64, 1 << 29, 3, 1ll << 31, 1 << 29},
    {TMARING_TILE_TRANSPOSE, TMARING_BF16, 16, 8, (1 << 28) + 16, 0, 0, (1 << 30) + 16},
};

static tmaring_tensor rows_of(const far_tile *f, int output)
{
  const int turned = output && f->op == TMARING_TILE_TRANSPOSE;
  tmaring_tensor t = TMARING_TENSOR_INIT;
  t.dtype = f->dtype;
  t.rows = turned ? f->cols : f->rows;
  t.cols = turned ? f->rows : f->cols;
  t.pitch = output ? f->y_pitch : f->pitch;
  t.group_rows = f->group_rows;
  t.group_pitch = f->group_pitch;
  return t;
}

static tmaring_tile_tensor boxes_of(const tmaring_tensor *t)
{
  tmaring_tile_tensor b = TMARING_TILE_TENSOR_INIT;
  b.dtype = t->dtype;
  b.rank = t->group_rows > 0 ? 3 : 2;
  b.dims[0] = t->cols;
  b.dims[1] = t->group_rows > 0 ? t->group_rows : t->rows;
  b.dims[2] = t->group_rows > 0 ? t->rows / t->group_rows : 0;
  b.strides[0] = 1;
  b.strides[1] = t->pitch;
  b.strides[2] = t->group_pitch;
  return b;
}

static void judge(const far_tile *f, const far_memory *y, const tmaring_tensor *from, const tmaring_tensor *to)
{
  const uint32_t bytes = tmaring_dtype_bytes((tmaring_i32)f->dtype);
  unsigned char line[256];
  cr_assert_leq((size_t)to->cols * bytes, sizeof line);
  for (int64_t row = 0; row < to->rows; ++row) {
    cr_assert(far_read(y, (size_t)far_row(to, row) * bytes, line, (size_t)to->cols * bytes));
    for (int64_t col = 0; col < to->cols; ++col) {
      const int turned = f->op == TMARING_TILE_TRANSPOSE;
      const int64_t source = turned ? far_row(from, col) + row : far_row(from, row) + col;
      const double got = number_read(f->dtype, line + col * bytes), due = far_value(f->dtype, (uint64_t)source);
      cr_assert_eq(got, due, "y(%lld, %lld): got %g, needs %g", (long long)row, (long long)col, got, due);
    }
  }
}

static void launch(const far_tile *f, const venue *v, int32_t load, void *x, void *y)
{
  const tmaring_tensor from = rows_of(f, 0), to = rows_of(f, 1);
  const tmaring_tile_tensor tensors[] = {boxes_of(&from), boxes_of(&to)};
  tmaring_tile_options options;
  tmaring_tile_plan *plan = NULL;
  tmaring_tile_kernel *kernel = NULL;
  tmaring_tile_options_init(&options);
  options.load = load;
  options.order = TMARING_ORDER_CYCLIC; /* without a workspace */
  cr_assert_eq(tmaring_tile_plan_create(&plan, f->op, tensors, 2, &v->machine, &options), TMARING_OK, "%s",
               tmaring_last_detail());
  cr_assert_eq(tmaring_tile_check(plan, NULL), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_tile_prepare(&kernel, plan, v->backend), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_tile_launch(kernel, (void *[]){x, y}, NULL, 0, v->stream), TMARING_OK, "%s",
               tmaring_last_detail());
  cr_assert(venue_settle(v));
  tmaring_tile_kernel_free(kernel);
  tmaring_tile_plan_free(plan);
}

static void run_case(const far_tile *f, const venue *v, int32_t load)
{
  const tmaring_tensor from = rows_of(f, 0), to = rows_of(f, 1);
  const size_t bytes = tmaring_dtype_bytes((tmaring_i32)f->dtype);
  const size_t needs = (size_t)(far_extent(&from) + far_extent(&to)) * bytes;
  far_memory x, y;
  cr_assert_gt(far_extent(&from) - 1, 2147483647ll);
  cr_assert_gt(far_extent(&to) - 1, 2147483647ll);
  if (far_free_bytes(v) < needs + needs / 16) cr_skip_test("needs %.1f GiB of memory", (double)needs / 0x1p30);
  cr_assert(far_take(&x, v, (size_t)far_extent(&from) * bytes));
  cr_assert(far_take(&y, v, (size_t)far_extent(&to) * bytes));
  const char *failure = far_fill(&x, &from);
  cr_assert_null(failure, "%s", failure);
  launch(f, v, load, x.data, y.data);
  judge(f, &y, &from, &to);
  printf("far tile op %d [%lld,%lld] pitch %lld %s load %s: passed, %.2f GiB\n", (int)f->op, (long long)f->rows,
         (long long)f->cols, (long long)f->pitch, v->name, load == TMARING_LOAD_TILE ? "tile" : "bulk",
         (double)needs / 0x1p30);
  far_give(&x);
  far_give(&y);
}

VENUE_TEST_FOR(far_tiles, strides, 60, 120)
{
  static const int32_t loads[] = {TMARING_LOAD_TILE, TMARING_LOAD_BULK};
  for (size_t i = 0; i < 2 * sizeof far_tiles / sizeof *far_tiles; ++i) run_case(&far_tiles[i / 2], v, loads[i % 2]);
}

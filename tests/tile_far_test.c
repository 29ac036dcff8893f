/* Tile programs over tensors whose rows lie 2^27 elements and more apart, so that offsets pass 2^31 and 2^32. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/far_memory.h"
#include "support/noise.h"
#include "support/number.h"
#include "tmaring/tile_program.h"

#define MAX_ROWS  64
#define ROW_BYTES 512
#define BAND      32 /* bytes before and behind a row that must stay as they were; rows begin at multiples of 16 */

/* A matrix of few short rows, far apart. */
typedef struct far_rows {
  tmaring_tile_tensor tensor;
  far_memory memory;
  unsigned char row[MAX_ROWS][ROW_BYTES];
} far_rows;

static size_t elem_of(const far_rows *r)
{
  return tmaring_dtype_bytes((tmaring_i32)r->tensor.dtype);
}

static size_t row_at(const far_rows *r, int64_t row)
{
  return BAND + (size_t)(row * r->tensor.strides[1]) * elem_of(r);
}

static void describe(far_rows *r, tmaring_dtype dtype, int64_t cols, int64_t rows, int64_t stride)
{
  const tmaring_tile_tensor empty = TMARING_TILE_TENSOR_INIT;
  memset(r, 0, sizeof *r);
  r->tensor = empty;
  r->tensor.dtype = dtype;
  r->tensor.rank = 2;
  r->tensor.dims[0] = cols;
  r->tensor.dims[1] = rows;
  r->tensor.strides[0] = 1;
  r->tensor.strides[1] = stride;
}

/* 0: the device has less memory than that. */
static int take(far_rows *r, const venue *v)
{
  const size_t bytes = row_at(r, r->tensor.dims[1] - 1) + (size_t)r->tensor.dims[0] * elem_of(r) + BAND;
  return bytes < far_free_bytes(v) && far_take(&r->memory, v, bytes);
}

static void put(far_rows *r, noise *n)
{
  const size_t bytes = (size_t)r->tensor.dims[0] * elem_of(r);
  for (int64_t row = 0; row < r->tensor.dims[1]; ++row) {
    for (int64_t i = 0; i < r->tensor.dims[0]; ++i)
      number_write(r->tensor.dtype, r->row[row] + (size_t)i * elem_of(r), data_value(n, DATA_WHOLE, row));
    cr_assert(far_write(&r->memory, row_at(r, row), r->row[row], bytes));
  }
}

/* Reads the rows back; what lies beside them must be poison. */
static void get(far_rows *r)
{
  unsigned char around[ROW_BYTES + 2 * BAND];
  const size_t bytes = (size_t)r->tensor.dims[0] * elem_of(r);
  for (int64_t row = 0; row < r->tensor.dims[1]; ++row) {
    cr_assert(far_read(&r->memory, row_at(r, row) - BAND, around, bytes + 2 * BAND));
    memcpy(r->row[row], around + BAND, bytes);
    for (size_t i = 0; i < BAND; ++i)
      cr_assert(around[i] == r->memory.poison && around[BAND + bytes + i] == r->memory.poison,
                "a byte beside row %lld was overwritten", (long long)row);
  }
}

static void run(const venue *v, tmaring_tile_op op, far_rows *const *r, int count, const tmaring_tile_options *options)
{
  tmaring_tile_tensor tensor[TMARING_MAX_PANELS];
  void *data[TMARING_MAX_PANELS];
  tmaring_tile_plan *plan = NULL;
  tmaring_tile_kernel *kernel = NULL;
  for (int t = 0; t < count; ++t) {
    tensor[t] = r[t]->tensor;
    data[t] = r[t]->memory.data + BAND;
  }
  cr_assert_eq(tmaring_tile_plan_create(&plan, op, tensor, count, &v->machine, options), TMARING_OK, "%s",
               tmaring_last_detail());
  cr_assert_eq(tmaring_tile_check(plan, NULL), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_tile_prepare(&kernel, plan, v->backend), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_tile_launch(kernel, data, NULL, 0, v->stream), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert(venue_settle(v));
  tmaring_tile_kernel_free(kernel);
  tmaring_tile_plan_free(plan);
}

static tmaring_tile_options paths(int32_t load, int32_t store)
{
  tmaring_tile_options o;
  tmaring_tile_options_init(&o);
  o.order = TMARING_ORDER_CYCLIC;
  o.load = load;
  o.store = store;
  return o;
}

static int take_all(const venue *v, far_rows *const *r, int count)
{
  noise n = noise_seed(7);
  int taken = 1;
  for (int t = 0; t < count && taken; ++t) taken = take(r[t], v);
  for (int t = 0; t < count - 1 && taken; ++t) put(r[t], &n);
  return taken;
}

static void give_all(far_rows *const *r, int count)
{
  for (int t = 0; t < count; ++t) {
    if (r[t]->memory.data) far_give(&r[t]->memory);
    free(r[t]);
  }
}

static far_rows *make(tmaring_dtype dtype, int64_t cols, int64_t rows, int64_t stride)
{
  far_rows *r = malloc(sizeof *r);
  cr_assert_not_null(r);
  describe(r, dtype, cols, rows, stride);
  return r;
}

VENUE_TEST(tile_far, copies)
{
  for (int32_t c = 0; c < 6; ++c) {
    far_rows *r[] = {make(TMARING_I8, 112, 5, (1ll << 30) + 16), make(TMARING_I8, 112, 5, (1ll << 30) + 128)};
    const tmaring_tile_options o = paths(c % 2, c / 2);
    const int room = take_all(v, r, 2);
    if (room) {
      run(v, TMARING_TILE_COPY, r, 2, &o);
      get(r[1]);
      for (int row = 0; row < 5; ++row) cr_assert(memcmp(r[1]->row[row], r[0]->row[row], 112) == 0, "row %d", row);
    }
    give_all(r, 2);
    if (!room) cr_skip_test("not enough memory on the device");
  }
}

VENUE_TEST(tile_far, transposes)
{
  for (int32_t c = 0; c < 4; ++c) {
    far_rows *r[] = {make(TMARING_I8, 50, 48, (1ll << 27) + 16), make(TMARING_I8, 48, 50, 1ll << 27)};
    const tmaring_tile_options o = paths(c % 2, c / 2 ? TMARING_STORE_TILE : TMARING_STORE_DIRECT);
    const int room = take_all(v, r, 2);
    if (room) {
      run(v, TMARING_TILE_TRANSPOSE, r, 2, &o);
      get(r[1]);
      for (int i = 0; i < 50 * 48; ++i) cr_assert_eq(r[1]->row[i / 48][i % 48], r[0]->row[i % 48][i / 48], "%d", i);
    }
    give_all(r, 2);
    if (!room) cr_skip_test("not enough memory on the device");
  }
}

/* Whole numbers: every sum is exact. */
static void judge_product(far_rows *const *r, int64_t n, int64_t m, int64_t k)
{
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += number_read(TMARING_BF16, r[0]->row[i] + 2 * l) * number_read(TMARING_BF16, r[1]->row[l] + 2 * j);
      cr_assert_eq(number_read(TMARING_F32, r[2]->row[i] + 4 * j), sum, "row %lld, column %lld", (long long)i,
                   (long long)j);
    }
  }
}

VENUE_TEST(tile_far, products)
{
  for (int32_t load = 0; load < 2; ++load) {
    const int64_t n = 21, m = 37, k = 43, far = 1ll << 26; /* row 33 begins 2^31 + 2^26 elements behind row 0 */
    far_rows *r[] = {make(TMARING_BF16, k, m, far), make(TMARING_BF16, n, k, far + 8), make(TMARING_F32, n, m, far)};
    const tmaring_tile_options o = paths(load, TMARING_AUTO);
    const int room = take_all(v, r, 3);
    if (room) {
      run(v, TMARING_TILE_MATMUL, r, 3, &o);
      get(r[2]);
      judge_product(r, n, m, k);
    }
    give_all(r, 3);
    if (!room) cr_skip_test("not enough memory on the device");
  }
}

/* Width of indexes: which one a launch needs, walks and divisions that are right for either, grids within limits, and
 * addresses of plans whose tensors pass 2^31 elements or bytes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/draft.h"
#include "support/noise.h"
#include "tmaring/abi/frames.h"
#include "tmaring/index.h"

#define LIMIT 2147483647LL /* INT32_MAX */

__extension__ typedef unsigned __int128 wide;

static tmaring_tensor matrix(int64_t rows, int64_t cols, int64_t pitch)
{
  tmaring_tensor t = TMARING_TENSOR_INIT;
  t.dtype = TMARING_BF16;
  t.rows = rows;
  t.cols = cols;
  t.pitch = pitch;
  return t;
}

static tmaring_index_report decide(const tmaring_tensor *tensors, int32_t count)
{
  tmaring_index_report report = TMARING_INDEX_REPORT_INIT;
  cr_assert_eq(tmaring_index_width(tensors, count, &report), TMARING_OK, "%s", tmaring_last_detail());
  return report;
}

static tmaring_index_report decide_view(const tmaring_strided *view)
{
  tmaring_index_report report = TMARING_INDEX_REPORT_INIT;
  cr_assert_eq(tmaring_index_width_of_strided(view, 1, &report), TMARING_OK, "%s", tmaring_last_detail());
  return report;
}

/* ---- the decision ---- */

typedef struct shape {
  int64_t rows, cols, pitch;
  int32_t width;
  int64_t numel, offset;
} shape;

static const shape shapes[] = {
    /* F12 */
    {131072, 16384, 0, 64, LIMIT + 1, LIMIT},
    {175000, 12288, 0, 64, 2150400000, 2150399999},
    {4194305, 512, 0, 64, 2147484160, 2147484159},
    {150000, 16384, 0, 64, 2457600000, 2457599999},
    /* the boundary in numel */
    {1073741823, 2, 0, 32, LIMIT - 1, LIMIT - 2},
    {1, LIMIT - 1, 0, 32, LIMIT - 1, LIMIT - 2},
    {LIMIT, 1, 0, 64, LIMIT, LIMIT - 1},
    {1 << 20, 1 << 11, 0, 64, LIMIT + 1, LIMIT},
    /* and in the offset of few elements */
    {2, 8, LIMIT - 8, 32, 16, LIMIT - 1},
    {2, 8, LIMIT - 7, 64, 16, LIMIT},
    {3, 8, 1 << 30, 64, 24, LIMIT + 8},
    {3, 1, 1 << 30, 64, 3, LIMIT + 1},
    /* one value for all rows: many elements, no offset */
    {1 << 20, 1, TMARING_ONE_VALUE, 32, 1 << 20, 0},
    {LIMIT, 1, TMARING_ONE_VALUE, 64, LIMIT, 0},
    {0, 4096, 0, 32, 0, 0},
    {0, 4096, (int64_t)1 << 40, 32, 0, 0},
    /* products past 64 bits */
    {(int64_t)1 << 62, 8, 0, 64, INT64_MAX, INT64_MAX},
    {(int64_t)1 << 32, 1, (int64_t)1 << 32, 64, (int64_t)1 << 32, INT64_MAX},
    {INT64_MAX, 1, 1, 64, INT64_MAX, INT64_MAX - 1},
};

Test(index_width, numel_and_offset_decide, .timeout = 10)
{
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
    const shape *s = &shapes[i];
    const tmaring_tensor t = matrix(s->rows, s->cols, s->pitch);
    const tmaring_index_report r = decide(&t, 1);
    cr_expect_eq(r.width, s->width, "case %zu: %d", i, r.width);
    cr_expect(r.numel == s->numel && r.offset == s->offset, "case %zu: %lld, %lld", i, (long long)r.numel,
              (long long)r.offset);
    cr_expect_eq(r.tensor, 0);
  }
}

/* Scales of groups, their steps, and rows in groups reach further than their numel says. */
Test(index_width, steps_and_groups_count, .timeout = 10)
{
  tmaring_tensor scales = matrix(1000, 32, 1), heads = matrix(12, 128, 128);
  scales.step = (LIMIT - 1 - 999) / 31;
  const int64_t offset = 999 + 31 * scales.step;
  tmaring_index_report r = decide(&scales, 1);
  cr_expect_eq(r.width, 32);
  cr_expect_eq(r.offset, offset);
  scales.step += 1;
  r = decide(&scales, 1);
  cr_expect_eq(r.width, 64);
  cr_expect_eq(r.offset, offset + 31);
  heads.group_rows = 5; /* rows 10 and 11 are the first of group 2 */
  heads.group_pitch = 1 << 30;
  r = decide(&heads, 1);
  cr_expect_eq(r.width, 64);
  cr_expect_eq(r.offset, 2 * (1ll << 30) + 128 + 127);
  heads.rows = 10;
  r = decide(&heads, 1);
  cr_expect_eq(r.width, 32);
  cr_expect_eq(r.offset, (1ll << 30) + 4 * 128 + 127);
  heads.rows = 11; /* groups that overlap: the end of the one before lies further */
  heads.group_pitch = 10;
  cr_expect_eq(decide(&heads, 1).offset, 10 + 4 * 128 + 127);
}

/* Every tensor counts, and the report names the one that decides. */
Test(index_width, any_tensor_decides, .timeout = 10)
{
  tmaring_tensor t[4] = {matrix(1000, 4096, 0), matrix(1000, 4096, 0), matrix(1000, 4096, 0), matrix(1000, 1, 0)};
  tmaring_index_report r = decide(t, 4);
  cr_expect(r.width == 32 && r.tensor == 0 && r.numel == 4096000, "%d, %d", r.width, r.tensor);
  t[2].pitch = 5000;
  r = decide(t, 4);
  cr_expect(r.width == 32 && r.tensor == 2 && r.offset == 999 * 5000 + 4095, "%d, %d", r.width, r.tensor);
  t[3].pitch = LIMIT / 999 + 1; /* the scales alone */
  r = decide(t, 4);
  cr_expect(r.width == 64 && r.tensor == 3 && r.numel == 1000, "%d, %d", r.width, r.tensor);
  t[1].pitch = 1ll << 40;
  r = decide(t, 4);
  cr_expect(r.width == 64 && r.tensor == 1, "the first that needs it: %d", r.tensor);
  r = decide(NULL, 0);
  cr_expect(r.width == 32 && r.tensor == -1);
}

Test(index_width, views_of_any_rank, .timeout = 10)
{
  static const struct {
    tmaring_strided view;
    int32_t width;
    int64_t numel, offset;
  } cases[] = {
      {{sizeof(tmaring_strided), {0}, {0}, 0}, 32, 1, 0},
      {{sizeof(tmaring_strided), {LIMIT}, {0}, 1}, 64, LIMIT, 0},
      {{sizeof(tmaring_strided), {1 << 16, 1 << 14}, {0, 1}, 2}, 32, 1 << 30, (1 << 14) - 1},
      {{sizeof(tmaring_strided), {2}, {-(LIMIT - 1)}, 1}, 32, 2, LIMIT - 1},
      {{sizeof(tmaring_strided), {2}, {-LIMIT}, 1}, 64, 2, LIMIT},
      {{sizeof(tmaring_strided), {2, 2}, {-(LIMIT - 1), LIMIT - 1}, 2}, 32, 4, LIMIT - 1},
      {{sizeof(tmaring_strided), {3, 2}, {-(1 << 30), 5}, 2}, 64, 6, LIMIT + 1},
      {{sizeof(tmaring_strided), {2}, {INT64_MIN}, 1}, 64, 2, INT64_MAX},
      {{sizeof(tmaring_strided), {1, 2}, {INT64_MIN, 1}, 2}, 32, 2, 1},
      {{sizeof(tmaring_strided), {5, 0, 7}, {INT64_MAX, INT64_MAX, 1}, 3}, 32, 0, 0},
      {{sizeof(tmaring_strided), {2, 3, 5, 7, 11, 13, 17, 19}, {1, 2, 6, 30, 210, 2310, 30030, 510510}, 8},
       32,
       9699690,
       9699689},
      {{sizeof(tmaring_strided), {256, 256, 256, 256, 256, 256, 256, 256}, {1, 0, 0, 0, 0, 0, 0, 0}, 8},
       64,
       INT64_MAX,
       255},
      {{sizeof(tmaring_strided), {2, 2, 2}, {INT64_MAX / 2, INT64_MAX / 2, INT64_MAX / 2}, 3}, 64, 8, INT64_MAX},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const tmaring_index_report r = decide_view(&cases[i].view);
    cr_expect(r.width == cases[i].width && r.numel == cases[i].numel && r.offset == cases[i].offset,
              "case %zu: %d, %lld, %lld", i, r.width, (long long)r.numel, (long long)r.offset);
  }
}

/* Against sums in 128 bits over every corner of the view. */
Test(index_width, random_views, .timeout = 20)
{
  noise seed = noise_seed(12);
  for (int32_t n = 0; n < 20000; ++n) {
    tmaring_strided v = TMARING_STRIDED_INIT;
    __extension__ __int128 numel = 1, high = 0, low = 0;
    v.rank = (int32_t)(noise_next(&seed) % 9);
    for (int32_t d = 0; d < v.rank; ++d) {
      v.dims[d] = (int64_t)(noise_next(&seed) % 40) + (d > 0 || n % 16 != 0);
      v.strides[d] = (int64_t)(noise_next(&seed) % (1u << (noise_next(&seed) % 31))) * (noise_next(&seed) % 3 ? 1 : -1);
      numel *= v.dims[d];
      if (v.strides[d] > 0) high += (__int128)(v.dims[d] - 1) * v.strides[d];
      if (v.strides[d] < 0) low -= (__int128)(v.dims[d] - 1) * v.strides[d];
    }
    const __int128 far = numel == 0 ? 0 : high > low ? high : low;
    const tmaring_index_report r = decide_view(&v);
    cr_assert_eq(r.width, numel < LIMIT && far < LIMIT ? 32 : 64, "view %d", n);
    cr_assert(r.numel == (int64_t)numel && r.offset == (int64_t)far, "view %d", n);
  }
}

Test(index_width, refusals_name_the_field, .timeout = 10)
{
  tmaring_index_report report = TMARING_INDEX_REPORT_INIT, other = {8, 0, 0, 0, 0};
  tmaring_tensor t[2] = {matrix(2, 2, 0), matrix(2, 2, -2)};
  tmaring_strided v = TMARING_STRIDED_INIT;
  cr_expect_eq(tmaring_index_width(t, 2, &report), TMARING_ERROR_SHAPE);
  cr_expect_not_null(strstr(tmaring_last_detail(), "tensors[1].pitch: got -2"), "%s", tmaring_last_detail());
  t[0].rows = -1;
  cr_expect_eq(tmaring_index_width(t, 2, &report), TMARING_ERROR_SHAPE);
  cr_expect_not_null(strstr(tmaring_last_detail(), "tensors[0].rows: got -1"), "%s", tmaring_last_detail());
  t[0].dtype = TMARING_DTYPE_COUNT;
  cr_expect_eq(tmaring_index_width(t, 1, &report), TMARING_ERROR_TYPE);
  t[0].size = 1;
  cr_expect_eq(tmaring_index_width(t, 1, &report), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_index_width(NULL, 1, &report), TMARING_ERROR_ARGUMENT);
  cr_expect_not_null(strstr(tmaring_last_detail(), "tensors: got NULL"), "%s", tmaring_last_detail());
  cr_expect_eq(tmaring_index_width_of_strided(NULL, 1, &report), TMARING_ERROR_ARGUMENT);
  cr_expect_not_null(strstr(tmaring_last_detail(), "views: got NULL"), "%s", tmaring_last_detail());
  cr_expect_eq(tmaring_index_width(t, -1, &report), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_index_width(t, 0, &other), TMARING_ERROR_ARGUMENT);
  cr_expect_eq(tmaring_index_width(t, 0, NULL), TMARING_ERROR_ARGUMENT);
  v.rank = 9;
  cr_expect_eq(tmaring_index_width_of_strided(&v, 1, &report), TMARING_ERROR_SHAPE);
  v.rank = 2;
  v.dims[1] = -5;
  cr_expect_eq(tmaring_index_width_of_strided(&v, 1, &report), TMARING_ERROR_SHAPE);
  cr_expect_not_null(strstr(tmaring_last_detail(), "views[0].dims[1]: got -5"), "%s", tmaring_last_detail());
}

/* ---- walks ---- */

/* One thread's way, in both widths. */
static void compare_ways(int64_t first, int64_t step, int32_t count, int64_t turns)
{
  tmaring_stride_i32 narrow;
  tmaring_stride_i64 broad;
  tmaring_stride_begin_i32(&narrow, first, step, count);
  tmaring_stride_begin_i64(&broad, first, step, count);
  for (int64_t n = 0, due = first; n < turns; ++n, due += step) {
    cr_assert_eq(narrow.live, due < count, "%lld", (long long)due);
    cr_assert_eq(broad.live, narrow.live);
    if (!narrow.live) return;
    cr_assert(narrow.at == due && broad.at == due, "%d, %lld", narrow.at, (long long)broad.at);
    tmaring_stride_next_i32(&narrow);
    tmaring_stride_next_i64(&broad);
  }
}

Test(index_width, the_last_step_does_not_wrap, .timeout = 20)
{
  static const int32_t counts[] = {0, 1, 2, 31, 1000, 2147483645, 2147483646, 2147483647};
  static const int64_t steps[] = {1, 3, 1 << 20, 1 << 30, 2147483646, 2147483647, 2147483648, 1ll << 40};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
    for (size_t s = 0; s < sizeof steps / sizeof *steps; ++s) {
      for (int64_t back = 0; back < 5; ++back) {
        const int64_t first = (int64_t)counts[c] - back * steps[s] - back;
        if (first >= 0) compare_ways(first, steps[s], counts[c], 20);
      }
      compare_ways(0, steps[s], counts[c], 5000);
      compare_ways(1ll << 41, steps[s], counts[c], 3);
    }
  }
}

Test(index_width, a_grid_visits_every_index_once, .timeout = 20)
{
  unsigned char seen[4001];
  for (int32_t count = 0; count <= 4001; count += 1 + count / 3) {
    for (int64_t threads = 1; threads < 9000; threads = 2 * threads + 1) {
      memset(seen, 0, sizeof seen);
      for (int64_t t = 0; t < threads; ++t) {
        tmaring_stride_i32 s;
        for (tmaring_stride_begin_i32(&s, t, threads, count); s.live; tmaring_stride_next_i32(&s)) seen[s.at] += 1;
      }
      for (int32_t i = 0; i < count; ++i) cr_assert_eq(seen[i], 1, "%d of %d: %d times", i, count, seen[i]);
    }
  }
}

Test(index_width, division_without_dividing, .timeout = 20)
{
  static const int32_t edges[] = {1, 2, 3, 5, 7, 641, 4096, 65535, 65536, 65537, 1 << 30, 2147483646, 2147483647};
  noise seed = noise_seed(3);
  for (int32_t n = 0; n < 200000; ++n) {
    const int32_t by = n % 4 ? edges[n % (sizeof edges / sizeof *edges)]
                             : 1 + (int32_t)((noise_next(&seed) >> (33 + n % 31)) % 2147483647);
    tmaring_divisor_i32 d;
    tmaring_divisor_i64 broad;
    tmaring_divisor_make_i32(&d, by);
    tmaring_divisor_make_i64(&broad, by);
    const int32_t near_multiple = (int32_t)((noise_next(&seed) >> 33) / (uint32_t)by * (uint32_t)by);
    const int32_t values[] = {0,
                              1,
                              by,
                              by - 1,
                              LIMIT,
                              LIMIT - 1,
                              (int32_t)(noise_next(&seed) >> 33),
                              near_multiple,
                              near_multiple > 0 ? near_multiple - 1 : 0};
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
      cr_assert_eq(tmaring_divisor_quotient_i32(&d, values[i]), values[i] / by, "%d / %d", values[i], by);
      cr_assert_eq(tmaring_divisor_quotient_i64(&broad, values[i]), values[i] / by);
    }
  }
}

Test(index_width, a_switch_gives_the_type, .timeout = 10)
{
  size_t bytes = 0;
  TMARING_INDEX_SWITCH(32, const index_t i = -1; bytes = sizeof i + (i < 0););
  cr_expect_eq(bytes, 5);
  TMARING_INDEX_SWITCH(64, bytes = sizeof(index_t););
  cr_expect_eq(bytes, 8);
}

/* ---- grids ---- */

Test(index_width, grids_stay_within_limits, .timeout = 10)
{
  noise seed = noise_seed(8);
  tmaring_machine m;
  tmaring_machine_h200(&m);
  for (int32_t n = 0; n < 20000; ++n) {
    int64_t items[3];
    const int32_t threads[3] = {1 << (noise_next(&seed) % 6), 1 << (noise_next(&seed) % 4), 1 + n % 2};
    const int32_t each = 1 + (int32_t)(noise_next(&seed) % 32);
    tmaring_launch_grid g = TMARING_LAUNCH_GRID_INIT;
    m.sm_count = 1 + (int32_t)(noise_next(&seed) % 65536);
    for (int d = 0; d < 3; ++d) items[d] = (int64_t)(noise_next(&seed) >> (1 + noise_next(&seed) % 63));
    cr_assert_eq(tmaring_grid_for(&g, items, threads, each, &m), TMARING_OK, "%s", tmaring_last_detail());
    cr_assert(g.x >= 1 && g.x <= 2147483647u && g.y >= 1 && g.y <= 65535 && g.z >= 1 && g.z <= 65535);
    cr_assert_leq((wide)g.x * g.y * g.z, (wide)m.sm_count * (unsigned)each);
    const uint32_t got[3] = {g.x, g.y, g.z};
    for (int d = 0; d < 3; ++d)
      cr_assert_leq((got[d] - 1) * (wide)threads[d], (wide)(items[d] > 0 ? items[d] - 1 : 0), "a CTA without items");
  }
}

Test(index_width, grids_take_x_first, .timeout = 10)
{
  tmaring_launch_grid g = TMARING_LAUNCH_GRID_INIT;
  tmaring_machine m;
  tmaring_machine_h200(&m);
  cr_expect_eq(tmaring_grid_for(&g, (const int64_t[3]){1ll << 40, 1, 1}, (const int32_t[3]){256, 1, 1}, 8, &m),
               TMARING_OK);
  cr_expect(g.x == 132 * 8 && g.y == 1 && g.z == 1, "%u %u %u", g.x, g.y, g.z);
  tmaring_grid_for(&g, (const int64_t[3]){1000, 1ll << 40, 3}, (const int32_t[3]){256, 1, 1}, 8, &m);
  cr_expect(g.x == 4 && g.y == 132 * 8 / 4 && g.z == 1, "%u %u %u", g.x, g.y, g.z);
  tmaring_grid_for(&g, (const int64_t[3]){0, 0, 0}, (const int32_t[3]){256, 1, 1}, 8, &m);
  cr_expect(g.x == 1 && g.y == 1 && g.z == 1, "a launch of no CTA is an error");
  m.sm_count = 65536;
  tmaring_grid_for(&g, (const int64_t[3]){1, 1ll << 40, 1ll << 40}, (const int32_t[3]){1, 1, 1}, 32, &m);
  cr_expect(g.x == 1 && g.y == 65535 && g.z == 32, "%u %u %u", g.x, g.y, g.z);
  cr_expect_eq(tmaring_grid_for(&g, (const int64_t[3]){-1, 1, 1}, (const int32_t[3]){1, 1, 1}, 1, &m),
               TMARING_ERROR_SHAPE);
  cr_expect_eq(tmaring_grid_for(&g, (const int64_t[3]){1, 1, 1}, (const int32_t[3]){32, 32, 2}, 1, &m),
               TMARING_ERROR_ARGUMENT);
  cr_expect_not_null(strstr(tmaring_last_detail(), "got 2048"), "%s", tmaring_last_detail());
}

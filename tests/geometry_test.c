/* Runs and windows, the CTA's roles, and the seats of a row scope: abi/run.h, abi/cta.h, abi/scope.h. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/noise.h"
#include "tmaring/abi/cta.h"
#include "tmaring/abi/run.h"
#include "tmaring/abi/scope.h"

/* ---- windows ---- */

typedef struct matrix {
  tmaring_stream stream;
  int64_t rows;
  int32_t cols;
} matrix;

static matrix random_matrix(noise *n)
{
  matrix m;
  memset(&m, 0, sizeof m);
  m.rows = 1 + noise_below(n, 9);
  m.cols = 1 + noise_below(n, noise_below(n, 2) ? 12 : 200);
  m.stream.elem_bytes = 1u << noise_below(n, 5); /* 16: a pair of f64 */
  const int64_t gap = noise_below(n, 2) ? 0 : noise_below(n, 20);
  m.stream.pitch = (m.cols + gap) * (int64_t)m.stream.elem_bytes;
  m.stream.dense = gap == 0;
  if (noise_below(n, 3) == 0) {
    m.stream.group_rows = 1 + noise_below(n, 4);
    m.stream.group_pitch = m.stream.group_rows * m.stream.pitch + noise_below(n, 40);
    m.stream.dense = 0;
  }
  m.stream.base = 4096 + (uint64_t)noise_below(n, 16);
  m.stream.hull_end =
      m.stream.base + (uint64_t)(tmaring_stream_row(&m.stream, m.rows - 1) + m.cols * (int64_t)m.stream.elem_bytes);
  m.stream.slot_row = tmaring_run_slot_row((uint32_t)m.cols * m.stream.elem_bytes, 0);
  return m;
}

static tmaring_fill random_fill(noise *n, const matrix *m)
{
  tmaring_fill fill;
  memset(&fill, 0, sizeof fill);
  fill.row = noise_below(n, (int32_t)m->rows);
  fill.rows = 1 + noise_below(n, (int32_t)(m->rows - fill.row));
  fill.cols = m->cols;
  if (noise_below(n, 3) == 0) { /* a piece of one row */
    fill.rows = 1;
    fill.col = noise_below(n, m->cols);
    fill.cols = 1 + noise_below(n, m->cols - fill.col);
  }
  return fill;
}

static void expect_inside(const matrix *m, const tmaring_window *w)
{
  cr_assert_eq(w->bytes % 16, 0);
  if (w->bytes == 0) return;
  cr_assert_eq(w->begin % 16, 0);
  cr_assert_geq(w->begin, m->stream.base);
  cr_assert_leq(w->begin + w->bytes, m->stream.hull_end);
}

/* Copy engine and ordinary bytes together take the run, and the slot has room for them. */
static void expect_load(const matrix *m, const tmaring_run *r, uint32_t slot_bytes)
{
  const tmaring_window w = tmaring_run_load_window(&m->stream, r);
  expect_inside(m, &w);
  cr_assert_eq(r->offset % 16, r->address % 16);
  cr_assert_leq(r->offset + r->bytes, slot_bytes);
  if (w.bytes == 0) {
    cr_assert_eq(w.head, r->bytes);
    cr_assert_eq(w.tail, 0);
    return;
  }
  cr_assert_lt(w.head, 16);
  cr_assert_lt(w.tail, 16);
  cr_assert_leq(w.begin, r->address + w.head);
  cr_assert_geq(w.begin + w.bytes, r->address + r->bytes - w.tail);
  const int64_t offset = (int64_t)r->offset + (int64_t)(w.begin - r->address);
  cr_assert_geq(offset, 0);
  cr_assert_eq(offset % 16, 0);
  cr_assert_leq(offset + w.bytes, slot_bytes);
}

static void expect_store(const matrix *m, const tmaring_run *r)
{
  const tmaring_window w = tmaring_run_store_window(r);
  expect_inside(m, &w);
  cr_assert_eq(w.head + w.bytes + w.tail, r->bytes, "a store takes the run and nothing else");
  if (w.bytes > 0) cr_assert_eq(w.begin, r->address + w.head);
}

Test(geometry, windows_stay_inside_the_hull, .timeout = 60)
{
  noise n = noise_seed(11);
  for (int i = 0; i < 40000; ++i) {
    const matrix m = random_matrix(&n);
    const tmaring_fill fill = random_fill(&n, &m);
    const uint32_t slot_bytes =
        tmaring_run_slot_bytes((uint32_t)fill.cols * m.stream.elem_bytes, fill.rows, m.stream.dense, 0);
    const int32_t runs = tmaring_run_count(&m.stream, fill.rows);
    int64_t bytes = 0;
    for (int32_t k = 0; k < runs; ++k) {
      const tmaring_run r = tmaring_run_at(&m.stream, &fill, 0, fill.rows, k);
      cr_assert_geq(r.address, m.stream.base);
      cr_assert_leq(r.address + r.bytes, m.stream.hull_end);
      expect_load(&m, &r, slot_bytes);
      expect_store(&m, &r);
      bytes += r.bytes;
    }
    cr_assert_eq(bytes, (int64_t)fill.rows * fill.cols * m.stream.elem_bytes);
  }
}

Test(geometry, row_offsets_lie_in_their_runs, .timeout = 60)
{
  noise n = noise_seed(12);
  for (int i = 0; i < 20000; ++i) {
    const matrix m = random_matrix(&n);
    const tmaring_fill fill = random_fill(&n, &m);
    for (int32_t j = 0; j < fill.rows; ++j) {
      const uint64_t address = tmaring_stream_address(&m.stream, fill.row + j, fill.col);
      const tmaring_run r = tmaring_run_at(&m.stream, &fill, 0, fill.rows, m.stream.dense ? 0 : j);
      cr_assert_eq(tmaring_run_row_offset(&m.stream, &fill, j), r.offset + (uint32_t)(address - r.address));
    }
  }
}

/* Rows of a group, and the next group, one by one. */
Test(geometry, groups_of_rows_have_two_strides, .timeout = 10)
{
  tmaring_stream s;
  memset(&s, 0, sizeof s);
  s.pitch = 256;
  s.group_rows = 32;
  s.group_pitch = 12288;
  for (int64_t group = 0, row = 0; group < 5; ++group) {
    for (int64_t head = 0; head < 32; ++head, ++row)
      cr_assert_eq(tmaring_stream_row(&s, row), group * 12288 + head * 256);
  }
  s.group_rows = 3;
  cr_expect_eq(tmaring_stream_row(&s, 2147483646), (2147483646 / 3) * 12288ll, "the last rows that are numbered");
  cr_expect_eq(tmaring_stream_row(&s, 2147483645), (2147483645 / 3) * 12288ll + 2 * 256);
}

/* base + row * pitch passes 2^32 and 2^31 rows. */
Test(geometry, addresses_are_64_bit, .timeout = 10)
{
  matrix m;
  memset(&m, 0, sizeof m);
  m.stream.elem_bytes = 2;
  m.stream.pitch = 8192;
  m.stream.base = 4096;
  const int64_t row = ((int64_t)1 << 40) - 1;
  cr_expect_eq(tmaring_stream_address(&m.stream, row, 4095), 4096 + (uint64_t)row * 8192 + 8190);
  tmaring_fill fill;
  memset(&fill, 0, sizeof fill);
  fill.row = row;
  fill.rows = 2;
  fill.cols = 4096;
  cr_expect_eq(tmaring_run_at(&m.stream, &fill, 0, 2, 1).address, 4096 + (uint64_t)(row + 1) * 8192);
}

/* ---- roles ---- */

static tmaring_cta cta_make(int32_t x, int32_t y, int32_t z, int32_t axis, int32_t slab)
{
  tmaring_cta c;
  memset(&c, 0, sizeof c);
  c.mode = TMARING_MODE_WARP_SPECIALIZED;
  c.role_axis = axis;
  c.consumers[0] = x;
  c.consumers[1] = y;
  c.consumers[2] = z;
  c.slab = slab;
  return c;
}

/* Every warp has one role, consumers are numbered 0 .. without gaps, and exactly one warp is the producer. */
static void expect_roles(const tmaring_cta *c)
{
  char seen[1024] = {0};
  int32_t counts[3] = {0, 0, 0}, linear = 0, role = 0;
  for (int32_t z = 0; z < tmaring_cta_extent(c, 2); ++z) {
    for (int32_t y = 0; y < tmaring_cta_extent(c, 1); ++y) {
      for (int32_t x = 0; x < tmaring_cta_extent(c, 0); ++x, ++linear) {
        const tmaring_thread t = tmaring_cta_thread(c, x, y, z);
        if (linear % 32 == 0) role = t.role;
        cr_assert_eq(t.role, role, "thread %d", linear);
        cr_assert_eq(t.index % 32, linear % 32);
        counts[t.role] += 1;
        if (t.role != TMARING_ROLE_CONSUMER) continue;
        cr_assert_eq(seen[t.index]++, 0);
      }
    }
  }
  cr_expect_eq(counts[TMARING_ROLE_CONSUMER], tmaring_cta_consumer_threads(c));
  cr_expect_eq(counts[TMARING_ROLE_PRODUCER], c->slab > 0 ? 32 : 0);
  for (int32_t i = 0; i < tmaring_cta_consumer_threads(c); ++i) cr_assert(seen[i]);
}

typedef struct layout {
  int32_t x, y, z, slab[3]; /* slab on each axis */
} layout;

Test(geometry, roles_go_by_whole_warps, .timeout = 10)
{
  static const layout layouts[] = {
      {32, 4, 2, {32, 1, 1}}, {128, 2, 1, {32, 1, 1}}, {256, 1, 1, {32, 1, 1}}, {64, 2, 2, {128, 1, 1}}};
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i) {
    for (int32_t axis = 0; axis < 3; ++axis) {
      const tmaring_cta c = cta_make(layouts[i].x, layouts[i].y, layouts[i].z, axis, layouts[i].slab[axis]);
      cr_expect_eq(tmaring_cta_fault(&c), 0, "layout %zu axis %d", i, axis);
      expect_roles(&c);
    }
  }
}

Test(geometry, mixed_warps_are_found, .timeout = 10)
{
  static const struct {
    int32_t x, y, z, axis, slab;
  } bad[] = {{48, 2, 1, 1, 1},   {48, 2, 1, 0, 16}, {256, 1, 1, 0, 16}, {256, 1, 1, 0, 1},
             {16, 16, 1, 0, 16}, {32, 4, 2, 0, 8},  {24, 4, 1, 1, 1}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    const tmaring_cta c = cta_make(bad[i].x, bad[i].y, bad[i].z, bad[i].axis, bad[i].slab);
    cr_expect_neq(tmaring_cta_fault(&c), 0, "layout %zu", i);
  }
}

Test(geometry, pipelined_ctas_have_consumers_only, .timeout = 10)
{
  tmaring_cta c = cta_make(32, 4, 2, TMARING_AXIS_X, 0);
  c.mode = TMARING_MODE_PIPELINED;
  cr_expect_eq(tmaring_cta_fault(&c), 0);
  expect_roles(&c);
}

/* ---- seats ---- */

typedef struct crowd {
  tmaring_scope scope;
  int32_t warps;
} crowd;

static crowd random_crowd(noise *n)
{
  static const int32_t warps[] = {1, 2, 3, 4, 6, 8, 12};
  crowd c;
  memset(&c, 0, sizeof c);
  c.warps = warps[noise_below(n, 7)];
  c.scope.kind = TMARING_SCOPE_FLAT + noise_below(n, 5);
  c.scope.vec = 2 << noise_below(n, 3);
  c.scope.lanes_log2 = c.scope.kind == TMARING_SCOPE_LANES ? noise_below(n, 5) : 5;
  c.scope.warps_per_row = 1;
  if (c.scope.kind == TMARING_SCOPE_CTA) c.scope.warps_per_row = c.warps;
  if (c.scope.kind == TMARING_SCOPE_GROUP) {
    do c.scope.warps_per_row = 1 + noise_below(n, c.warps);
    while (c.warps % c.scope.warps_per_row != 0);
  }
  return c;
}

/* Counts how often each element of `rows` x `n` is held by a thread. */
static void take_seats(const crowd *c, int32_t rows, int32_t n, int32_t phase, uint8_t *held)
{
  const tmaring_scope *s = &c->scope;
  for (int32_t warp = 0; warp < c->warps; ++warp) {
    for (int32_t lane = 0; lane < 32; ++lane) {
      const tmaring_seat seat = tmaring_scope_seat(s, warp, lane);
      int32_t first, last;
      tmaring_scope_unit_rows(s, seat.unit, rows, &first, &last);
      for (int32_t k = 0; k < tmaring_scope_iterations(s, last - first); ++k) {
        const int32_t row = first + k * (32 >> s->lanes_log2) + seat.row;
        if (row >= last) continue;
        const int32_t end = tmaring_scope_end(s, warp, phase, n);
        for (int32_t v = seat.start; v < end; v += tmaring_scope_stride(s)) {
          for (int32_t e = v * s->vec - phase; e < v * s->vec - phase + s->vec; ++e)
            if (e >= 0 && e < n) held[(int64_t)row * n + e] += 1;
        }
      }
    }
  }
}

Test(geometry, seats_hold_every_element_once, .timeout = 60)
{
  noise n = noise_seed(99);
  for (int i = 0; i < 3000; ++i) {
    crowd c = random_crowd(&n);
    const int flat = c.scope.kind == TMARING_SCOPE_FLAT;
    const int32_t rows = flat ? 1 : 1 + noise_below(&n, 40), cols = 1 + noise_below(&n, flat ? 4000 : 300);
    const int32_t phase = noise_below(&n, 2) ? 0 : noise_below(&n, c.scope.vec);
    c.scope.unit_rows = flat ? 1 : (int32_t)tmaring_ceil_div(rows, c.warps / c.scope.warps_per_row);
    c.scope.chunk_vecs =
        flat ? (int32_t)tmaring_ceil_div(tmaring_ceil_div(cols, c.scope.vec) + (phase > 0), c.warps) : 0;
    uint8_t *held = calloc((size_t)rows * (size_t)cols, 1);
    cr_assert_not_null(held);
    take_seats(&c, rows, cols, phase, held);
    for (int64_t e = 0; e < (int64_t)rows * cols; ++e)
      cr_assert_eq(held[e], 1, "scope %d, %d rows x %d, phase %d, element %lld: %d", c.scope.kind, rows, cols, phase,
                   (long long)e, held[e]);
    free(held);
  }
}

/* The warps' store ranges of a flat fill are what their lanes hold, end to end. */
Test(geometry, flat_ranges_join, .timeout = 60)
{
  noise n = noise_seed(100);
  for (int i = 0; i < 5000; ++i) {
    tmaring_scope s;
    memset(&s, 0, sizeof s);
    s.kind = TMARING_SCOPE_FLAT;
    s.vec = 2 << noise_below(&n, 3);
    s.lanes_log2 = 5;
    s.warps_per_row = s.unit_rows = 1;
    const int32_t warps = 1 + noise_below(&n, 12), elems = 1 + noise_below(&n, 5000), phase = noise_below(&n, s.vec);
    s.chunk_vecs = (int32_t)tmaring_ceil_div(tmaring_ceil_div(elems, s.vec) + 1, warps);
    int32_t at = 0;
    for (int32_t w = 0; w < warps; ++w) {
      int32_t first, last;
      tmaring_scope_flat_range(&s, w, phase, elems, &first, &last);
      cr_assert_eq(first, at);
      cr_assert_geq(last, first);
      if (last < elems && last > first) cr_assert_eq((last + phase) % s.vec, 0, "chunks end with whole vectors");
      at = last;
    }
    cr_assert_eq(at, elems);
  }
}

/* Groups of columns in fixed frames: the lanes that hold a group's columns are neighbours, as many as the scope
 * says. */
Test(geometry, groups_lie_in_neighbouring_lanes, .timeout = 60)
{
  noise n = noise_seed(101);
  for (int i = 0; i < 3000; ++i) {
    crowd c = random_crowd(&n);
    const int32_t vec = c.scope.vec, group = vec << noise_below(&n, 6), cols = 1 + noise_below(&n, 700);
    const int32_t row = (int32_t)tmaring_ceil_div(cols, vec) * vec;
    if (c.scope.kind == TMARING_SCOPE_FLAT || (vec << c.scope.lanes_log2) < (group < row ? group : row)) continue;
    const int32_t lanes = tmaring_scope_group_lanes(&c.scope, group);
    cr_assert_leq(lanes, tmaring_scope_lanes(&c.scope));
    for (int32_t v = 0; v * vec < cols; ++v) { /* vector v of a row: its lane, and that of its group's first vector */
      const int32_t lane = v & (tmaring_scope_lanes(&c.scope) - 1), first = v * vec / group * (group / vec);
      const int32_t at = first & (tmaring_scope_lanes(&c.scope) - 1);
      cr_assert_eq(v / tmaring_scope_lanes(&c.scope), first / tmaring_scope_lanes(&c.scope), "one step, one warp");
      cr_assert_eq(lane / lanes, at / lanes, "vec %d, group %d, lanes %d: lanes %d and %d", vec, group, lanes, lane,
                   at);
    }
  }
}

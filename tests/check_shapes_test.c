/* The checker on plans for tensors of every shape: faults put into sound arguments are found, and what it counts is
 * what a walk over every fill counts. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../src/host/check/check_args.h"
#include "support/draft.h"
#include "support/noise.h"
#include "tmaring/abi/frames.h"

#define SMEM_LIMIT 232448u
#define FIELD      ((uint64_t)1 << 36)

/* A plan's arguments with addresses, and what proves them. */
typedef struct subject {
  draft d;
  tmaring_plan *plan;
  tmaring__code code;
  tmaring_args args;
} subject;

static void subject_encode(subject *s, int64_t rows, uint64_t shift)
{
  void *data[DRAFT_MAX_TENSORS];
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  s->plan = draft_accept(&s->d);
  s->code = s->plan->code;
  for (int32_t i = 0; i < s->d.count; ++i)
    data[i] = (void *)(uintptr_t)(FIELD * (uint64_t)(i + 1) + shift * s->plan->tensor[i].alignment % 16);
  params.rows = rows;
  params.data = data;
  params.workspace = (void *)(uintptr_t)4096;
  cr_assert_eq(tmaring__encode(s->plan, &params, &s->args, &(tmaring__boxes){0}), TMARING_OK, "%s",
               tmaring_last_detail());
}

static void subject_make(subject *s, const char *formula, tmaring_dtype dtype, int64_t rows, int64_t cols)
{
  memset(s, 0, sizeof *s);
  s->d = draft_make(formula, dtype, rows, cols);
  s->d.options.order = TMARING_ORDER_CYCLIC;
}

static void subject_free(subject *s)
{
  tmaring_plan_free(s->plan);
  draft_free(&s->d);
}

static tmaring_status check(const subject *s, tmaring_check_report *report)
{
  return tmaring__check_args(&s->args, NULL, &s->code, tmaring__formula_program(s->d.formula), SMEM_LIMIT, report);
}

/* ---- faults ---- */

static void make_grouped(subject *s)
{
  subject_make(s, "y = x * w[N]", TMARING_BF16, 96, 128);
  s->d.tensor[0].group_rows = 32;
  s->d.tensor[0].group_pitch = 6144;
  s->d.options.tile_rows = 4;
  s->d.options.store = TMARING_STORE_BULK;
}

static void make_halves(subject *s)
{
  subject_make(s, "f(x[M,2N]) = first(x) * second(x)", TMARING_BF16, 96, 128);
}

static void make_pairs(subject *s)
{
  subject_make(s, "f(x[M,2N]) = even(x) * odd(x)", TMARING_BF16, 96, 128);
}

static void make_groups(subject *s)
{
  subject_make(s, "y = x / gsum(x, 64)", TMARING_BF16, 96, 512);
  s->d.options.scope = TMARING_SCOPE_LANES;
}

static void make_group_pieces(subject *s)
{
  subject_make(s, "y = x / gsum(x, 64)", TMARING_BF16, 96, 512);
  s->d.options.piece_cols = 128;
}

static void make_columns(subject *s)
{
  subject_make(s, "y = colsum(x * w[N])", TMARING_F32, 96, 512);
}

static void make_plain(subject *s)
{
  subject_make(s, "y = x * w[N]", TMARING_F32, 96, 512);
}

typedef struct fault_case {
  const char *word;
  void (*make)(subject *s);
  void (*break_it)(subject *s);
} fault_case;

#define FAULT(name, body)                                                                                              \
  static void name(subject *s)                                                                                         \
  {                                                                                                                    \
    body;                                                                                                              \
  }

FAULT(break_group_kernel, s->code.grouped = 0)
FAULT(break_group_span, s->args.input[0].group_pitch = 32 * 256 - 16)
FAULT(break_group_units, s->args.input[0].group_pitch += 8)
FAULT(break_pitch_units, s->args.input[0].pitch += 4)
FAULT(break_group_rows, s->args.input[0].group_rows = (1 << 30) + 1)
FAULT(break_group_hull, s->args.input[0].hull_end -= 16)
FAULT(break_group_far, s->args.input[0].group_pitch += 4096)
FAULT(break_dense, s->args.input[0].dense = 1)
FAULT(break_slot_row, s->args.input[0].slot_row -= 16)
FAULT(break_half_hull, s->args.input[1].hull_end -= 16)
FAULT(break_half_slot, s->args.input[1].slot = s->args.input[0].slot)
FAULT(break_half_base, s->args.input[1].base += 2)
FAULT(break_pairs, s->args.input[0].paired = 0)
FAULT(break_pair_size, s->args.input[0].elem_bytes = 2)
FAULT(break_output_pairs, (s->args.output[0].paired = 1, s->args.output[0].elem_bytes *= 2))
FAULT(break_fixed_scope, s->args.scope.fixed = 0)
FAULT(break_fixed_code, s->code.fixed = 0)
FAULT(break_fixed_both, s->code.fixed = s->args.scope.fixed = 0)
FAULT(break_lanes, s->args.scope.lanes_log2 = 2)
FAULT(break_group_piece,
      (s->args.walk.piece_cols = 96, s->args.walk.pieces = 6, tmaring_walk_set_rows(&s->args.walk, 96)))
FAULT(break_vector_piece,
      (s->args.walk.piece_cols = 100, s->args.walk.pieces = 6, tmaring_walk_set_rows(&s->args.walk, 96)))
FAULT(break_chunk, s->args.walk.chunk += 1)
FAULT(break_no_chunk, (s->args.walk.chunk = 0))
FAULT(break_long_chunk, (s->args.walk.chunk = 2, tmaring_walk_set_rows(&s->args.walk, 96)))
FAULT(break_columns, s->args.smem.columns = s->args.smem.stages - 16)
FAULT(break_columns_place, s->args.smem.columns += 8)
FAULT(break_columns_vector, s->args.smem.columns = s->args.smem.vectors)
FAULT(break_vec, s->args.scope.vec = s->code.vec = 16)

static const fault_case faults[] = {
    {"needs a kernel for them", make_grouped, break_group_kernel},
    {"span more", make_grouped, break_group_span},
    {"modulo 16 is not 0", make_grouped, break_group_units},
    {"modulo 16 is not 0", make_grouped, break_pitch_units},
    {"groups of 1073741825 rows", make_grouped, break_group_rows},
    {"outside", make_grouped, break_group_hull},
    {"outside", make_grouped, break_group_far},
    {"dense, though", make_grouped, break_dense},
    {"bytes per row", make_grouped, break_slot_row},
    {"outside", make_halves, break_half_hull},
    {"overlaps", make_halves, break_half_slot},
    {"modulo 16 is not 0", make_halves, break_half_base},
    {"paired 0, the formula has 1", make_pairs, break_pairs},
    {"in pairs", make_pairs, break_pair_size},
    {"only inputs come in pairs", make_pairs, break_output_pairs},
    {"scope.fixed", make_groups, break_fixed_scope},
    {"scope.fixed", make_groups, break_fixed_code},
    {"fixed frames", make_groups, break_fixed_both},
    {"lanes of a row hold whole groups", make_groups, break_lanes},
    {"whole groups of 64", make_group_pieces, break_group_piece},
    {"whole vectors of 8", make_group_pieces, break_vector_piece},
    {"walk", make_columns, break_chunk},
    {"walk.chunk", make_columns, break_no_chunk},
    {"walk.chunk", make_plain, break_long_chunk},
    {"smem.columns", make_columns, break_columns},
    {"smem.columns", make_columns, break_columns_place},
    {"vector 0", make_columns, break_columns_vector},
    {"fixed frames", make_columns, break_fixed_both},
    {"needs 2, 4 or 8", make_plain, break_vec},
};

Test(check_shapes, every_fault_is_found, .timeout = 60)
{
  for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
    subject s;
    faults[i].make(&s);
    subject_encode(&s, 96, 0);
    cr_assert_eq(check(&s, NULL), TMARING_OK, "fault %zu: unbroken: %s", i, tmaring_last_detail());
    faults[i].break_it(&s);
    cr_expect_eq(check(&s, NULL), TMARING_ERROR_CHECK, "fault %zu", i);
    cr_expect_not_null(strstr(tmaring_last_detail(), faults[i].word), "fault %zu: %s", i, tmaring_last_detail());
    subject_free(&s);
  }
}

/* The policy without protection reads past the last row: in the last tile, and in its chunk. */
Test(check_shapes, unsafe_chunks_are_refused, .timeout = 30)
{
  for (int64_t rows = 90; rows <= 96; rows += 3) {
    subject s;
    subject_make(&s, "y = colsum(x)", TMARING_F32, rows, 512);
    s.d.options.policy = TMARING_POLICY_UNSAFE;
    s.d.options.tile_rows = 4;
    s.d.options.workers = 5;
    subject_encode(&s, rows, 0);
    cr_expect_eq(check(&s, NULL), TMARING_ERROR_CHECK, "%d rows", (int)rows);
    cr_expect_not_null(strstr(tmaring_last_detail(), "outside the tensor"), "%s", tmaring_last_detail());
    subject_free(&s);
  }
}

/* ---- counts ---- */

static int64_t loads_of(const subject *s, const tmaring_fill *fill)
{
  int64_t copies = 0;
  for (int32_t i = 0; i < s->args.input_count; ++i) {
    const tmaring_stream *stream = &s->args.input[i];
    for (int32_t k = 0; k < tmaring_run_count(stream, fill->rows); ++k) {
      const tmaring_run r = tmaring_run_at(stream, fill, 0, fill->rows, k);
      copies += s->code.aligned || tmaring_run_load_window(stream, &r).bytes > 0;
    }
  }
  return copies;
}

/* What one storing thread stores of a fill. */
static int64_t stores_in(const subject *s, const tmaring_fill *fill, tmaring_store_frame *range)
{
  int64_t copies = 0;
  for (range->tensor = 0; range->tensor < s->args.output_count; ++range->tensor) {
    const tmaring_stream *stream = &s->args.output[range->tensor];
    for (range->run = 0; range->run < tmaring_run_count(stream, range->last - range->first); ++range->run) {
      const tmaring_run r = tmaring_store_run_at(&s->args, stream, range, fill);
      copies += r.bytes > 0 && (s->code.aligned || tmaring_run_store_window(&r).bytes > 0);
    }
  }
  return copies;
}

/* The whole fill by one thread of a pipelined CTA, else each unit's rows by its own. */
static int64_t stores_of(const subject *s, const tmaring_fill *fill)
{
  const int32_t each = s->args.scope.warps_per_row, warps = tmaring_cta_consumer_warps(&s->args.cta);
  tmaring_store_frame range = {0, 0, 0, 0, 0, {{0}}};
  int64_t copies = 0;
  if (!s->code.staged || !tmaring_fill_stores(fill, s->code.pieces, tmaring__formula_program(s->d.formula)->passes))
    return 0;
  if (s->args.cta.mode == TMARING_MODE_PIPELINED) {
    tmaring_store_all(&range, &s->args, fill);
    return stores_in(s, fill, &range);
  }
  for (int32_t warp = 0; warp < warps; warp += each) {
    tmaring_store_unit(&range, &s->args, fill, warp / each, warp, !s->code.aligned);
    copies += stores_in(s, fill, &range);
  }
  return copies;
}

static void census(const subject *s, int64_t *fills, int64_t *copies)
{
  const tmaring_walk *w = &s->args.walk;
  *fills = *copies = 0;
  for (int32_t worker = 0; worker < w->workers; ++worker) {
    tmaring_trip trip;
    for (tmaring_trip_begin(&trip, w, worker); tmaring_trip_live(&trip, w); tmaring_trip_next(&trip, w)) {
      tmaring_fill fill;
      tmaring_walk_fill(w, trip.tile, trip.part, &fill);
      *copies += loads_of(s, &fill) + stores_of(s, &fill);
      *fills += 1;
    }
  }
}

static const char *const formulas[] = {
    "y = x + 1",
    "y = colsum(x); z = x * 2",
    "y = colsum(x - mean(x))",
    "f(x[M,2N]) = first(x) * second(x)",
    "f(x[M,2N]) = even(x) * odd(x)",
    "f(x[M,2N]) = colsum(first(x) * second(x))",
    "out s = gamax(x, 16); y = x / s",
    "f(w[N]) = w + row",
    "f(x[M,N], w[N]) = x * rsqrt(mean(x * x)) * w",
};

static void random_tensor(tmaring_tensor *t, noise *n, int64_t cols)
{
  const int64_t bytes = tmaring_dtype_bytes((int32_t)t->dtype);
  if (noise_below(n, 2)) t->alignment = (uint32_t)bytes;
  if (t->cols < cols || t->rows == 1) return;
  if (noise_below(n, 3) == 0) t->pitch = t->cols + noise_below(n, 20);
  if (noise_below(n, 3) != 0) return;
  const int64_t pitch = t->pitch ? t->pitch : t->cols;
  t->group_rows = 1 + noise_below(n, 12);
  t->group_pitch = (t->group_rows - 1) * pitch + t->cols + noise_below(n, 40);
}

static void random_options(tmaring_plan_options *o, noise *n, int32_t cols)
{
  o->order = noise_below(n, 3);
  o->policy = noise_below(n, 3);
  o->store = noise_below(n, 2);
  o->mode = noise_below(n, 2);
  o->tile_rows = noise_below(n, 2) ? TMARING_AUTO : 1 + noise_below(n, 9);
  o->piece_cols = noise_below(n, 3) ? TMARING_AUTO : 1 + noise_below(n, cols);
  o->workers = 1 + noise_below(n, 40);
}

/* Runs of less than 48 bytes of rows in groups are counted as if they were alike: left out. */
static int counted_exactly(const subject *s, int64_t cols)
{
  if (s->code.grouped && s->code.staged && s->code.flat) return 0; /* warps store parts of a row */
  const int64_t piece = s->args.walk.pieces > 1 ? s->args.walk.cols % s->args.walk.piece_cols : cols;
  return !s->code.grouped || (piece == 0 ? s->args.walk.piece_cols : piece) >= 48;
}

Test(check_shapes, counts_are_those_of_a_walk, .timeout = 120)
{
  static const tmaring_dtype types[] = {TMARING_F32, TMARING_BF16, TMARING_F64, TMARING_E4M3};
  noise n = noise_seed(4);
  int32_t counted = 0, gaps = 0, grouped = 0;
  for (int i = 0; i < 2500; ++i) {
    const int32_t cols = 1 + noise_below(&n, noise_below(&n, 2) ? 30 : 500); /* rows without a bulk part among them */
    const int64_t rows = noise_below(&n, noise_below(&n, 2) ? 40 : 4000);
    subject s;
    tmaring_status status;
    tmaring_check_report report;
    subject_make(&s, formulas[noise_below(&n, 9)], types[noise_below(&n, 4)], rows, cols);
    for (int32_t t = 0; t < s.d.count; ++t) random_tensor(&s.d.tensor[t], &n, cols);
    random_options(&s.d.options, &n, cols);
    tmaring_plan *plan = draft_plan(&s.d, &status);
    tmaring_plan_free(plan);
    if (plan && rows > 0) {
      int64_t fills, copies;
      subject_encode(&s, rows, (uint64_t)noise_below(&n, 16));
      cr_assert_eq(check(&s, &report), TMARING_OK, "%d: %s", i, tmaring_last_detail());
      census(&s, &fills, &copies);
      cr_assert_eq(report.fills, fills, "%d: %lld fills of %lld", i, (long long)report.fills, (long long)fills);
      if (counted_exactly(&s, cols))
        cr_assert_eq(report.copies, copies, "%d: %lld copies of %lld", i, (long long)report.copies, (long long)copies);
      counted += 1;
      gaps += rows > 512 * (int64_t)s.args.walk.tile_rows;
      grouped += s.code.grouped;
    }
    if (plan && rows > 0) tmaring_plan_free(s.plan);
    draft_free(&s.d);
  }
  printf("check_shapes: %d counted, %d of them grouped, %d with blocks that are left out\n", counted, grouped, gaps);
  cr_expect_geq(counted, 1500);
  cr_expect_geq(gaps, 100);
  cr_expect_geq(grouped, 200);
}

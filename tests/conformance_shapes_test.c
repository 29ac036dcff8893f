/* Conformance list, section 5: shapes that a split does not divide, with 1D bulk copies, y = x + x, in every mode and
 * under every policy.
 *
 *     [(SM + 1) * U * 2, 128]   a worker per SM, U rows per fill, 2 stages: three slots per worker, most of the last surplus
 *     [1023, 512], [1023, 128]  split by 2 and by 137: 2 rows per fill and 137 workers, and the split order's
 *                               [137, outer, 2, N], a row per fill
 *     33 values                 132 bytes: no multiple of 16
 *
 * Upstream guards these loads by predicates, and refuses the pipelined ones and the 33 values. */
#include <criterion/criterion.h>

#include "support/conformance.h"
#include "support/modes.h"

typedef struct shape {
  int64_t rows, cols;
  int32_t order, tile_rows, workers;
} shape;

/* SMs that a venue's workers stand for: the emulator takes a prime number of them. */
static int32_t sm_count(const venue *v)
{
  return v->backend == TMARING_BACKEND_CPU ? 31 : v->machine.sm_count;
}

static op_trial make(const shape *s, mode_choice mode, int32_t policy)
{
  op_trial t = conformance_trial(CONFORMANCE_DOUBLE, s->rows, s->cols);
  mode_choose(&t.options, mode);
  t.options.load = TMARING_LOAD_BULK;
  t.options.stages = 2;
  t.options.prefetch = 1;
  t.options.order = s->order;
  t.options.policy = policy;
  t.options.tile_rows = s->tile_rows;
  t.options.workers = s->workers;
  return t;
}

static void run_shape(conformance *c, const venue *v, const shape *s)
{
  for (int mode = 0; mode < MODE_CHOICES; ++mode) {
    for (int32_t policy = TMARING_POLICY_WRAP; policy <= TMARING_POLICY_EXACT; ++policy) {
      const op_trial t = make(s, (mode_choice)mode, policy);
      conformance_cell(c, &t, v);
    }
  }
}

/* A row per fill in the split order, U rows per fill in the blocked one. */
static void run_unrolled(conformance *c, const venue *v, int32_t unroll)
{
  const int32_t sms = sm_count(v);
  const int64_t rows = (int64_t)(sms + 1) * unroll * 2;
  const shape shapes[] = {{rows, 128, TMARING_ORDER_BLOCKED, unroll, sms}, {rows, 128, TMARING_ORDER_SPLIT, 1, sms}};
  for (int i = 0; i < 2; ++i) run_shape(c, v, &shapes[i]);
}

static void run_split(conformance *c, const venue *v, int64_t cols)
{
  const shape shapes[] = {{1023, cols, TMARING_ORDER_BLOCKED, 2, 137}, {1023, cols, TMARING_ORDER_SPLIT, 1, 137}};
  for (int i = 0; i < 2; ++i) run_shape(c, v, &shapes[i]);
}

CONFORMANCE_TEST(sms_and_one, 5, "[(SM+1)*2, 128]")
{
  run_unrolled(c, v, 1);
}

CONFORMANCE_TEST(sms_and_one_unrolled, 5, "[(SM+1)*4, 128]")
{
  run_unrolled(c, v, 2);
}

CONFORMANCE_TEST(rows_1023_wide, 5, "[1023, 512]")
{
  run_split(c, v, 512);
}

CONFORMANCE_TEST(rows_1023, 5, "[1023, 128] split by 2 and 137")
{
  run_split(c, v, 128);
}

CONFORMANCE_TEST(values_33, 5, "33 values")
{
  const shape shapes[] = {{1, 33, TMARING_ORDER_BLOCKED, 1, 1}, {1, 33, TMARING_ORDER_SPLIT, 1, 1}};
  for (int i = 0; i < 2; ++i) run_shape(c, v, &shapes[i]);
}

/* The shapes are what they are for: each leaves surplus slots, but the one row. */
static int64_t surplus_of(const shape *s)
{
  tmaring_walk w = {0};
  w.cols = (int32_t)s->cols;
  w.workers = s->workers;
  w.order = s->order;
  w.tile_rows = s->tile_rows;
  w.chunk = w.pieces = w.passes = w.cluster = 1;
  w.split_stages = 2;
  tmaring_walk_set_rows(&w, s->rows);
  return w.slots * w.workers - w.tiles;
}

Test(conformance, shapes_leave_surplus_slots, .timeout = 10)
{
  static const struct {
    shape shape;
    int64_t surplus;
  } cases[] = {{{266, 128, TMARING_ORDER_BLOCKED, 1, 132}, 3 * 132 - 266},
               {{532, 128, TMARING_ORDER_BLOCKED, 2, 132}, 3 * 132 - 266},
               {{266, 128, TMARING_ORDER_SPLIT, 1, 132}, 4 * 132 - 266},
               {{1023, 128, TMARING_ORDER_BLOCKED, 2, 137}, 4 * 137 - 512},
               {{1023, 512, TMARING_ORDER_SPLIT, 1, 137}, 8 * 137 - 1023}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    cr_expect_eq(surplus_of(&cases[i].shape), cases[i].surplus, "case %zu", i);
}

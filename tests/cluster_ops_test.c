/* Ready ops over rows that the CTAs of a cluster share: short rows where it is asked for, long ones where the planner
 * comes to it, each against the reference in double. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/modes.h"
#include "support/op_trial.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* Reductions of one and two partial results, [M] outputs, gathers, halves, several inputs and outputs, groups. */
static const char *const ops[] = {
    "softmax",    "rmsnorm",          "layernorm",       "log_softmax", "cross_entropy",
    "row_argmax", "quantize_fp8_row", "quantize_i8_row", "add_rmsnorm", "silu_mul_quantize_fp8_row",
    "row_amax",   "softmax_scaled"};

typedef struct counts {
  int32_t of_ctas[TMARING_MAX_CLUSTER + 1], in_place, staged;
} counts;

static void count(counts *c, const op_trial *t, const trial_result *result)
{
  c->of_ctas[result->args.walk.cluster] += t->rows > 0;
  c->in_place += t->in_place >= 0;
  c->staged += result->info.store == TMARING_STORE_BULK;
}

/* ---- short rows ---- */

/* What the planner is asked for goes through every size of cluster, layout, order, policy, way of freeing a stage,
 * store and number of stages as `i` grows; no two of them in step. */
static void choose(op_trial *t, int i)
{
  static const int32_t ctas[] = {2, 4, 8};
  static const int32_t orders[] = {TMARING_AUTO, TMARING_ORDER_CYCLIC, TMARING_ORDER_BLOCKED, TMARING_ORDER_SPLIT};
  static const int32_t policies[] = {TMARING_POLICY_EXACT, TMARING_POLICY_WRAP, TMARING_POLICY_SKIP};
  tmaring_plan_options *o = &t->options;
  t->layout = (op_layout)(i % OP_LAYOUTS);
  t->data = i % 3 ? DATA_PLAIN : DATA_STEEP;
  t->mixed = i / 2 % 2;
  t->seed = (uint64_t)i + 1;
  if (i % 7 == 4 && op_trial_may_alias(t, 0)) t->in_place = 0;
  o->cluster = ctas[i / 3 % 3];
  o->order = orders[i / 5 % 4];
  o->policy = policies[i / 4 % 3];
  o->war = i / 2 % 3 - 1 < 0 ? TMARING_AUTO : i / 2 % 3 - 1;
  o->store = i % 4 == 1 ? TMARING_STORE_BULK : TMARING_AUTO;
  o->stages = i % 6 < 3 ? TMARING_AUTO : 1 + i % 3;
  o->workers = i % 5 == 2 ? 3 : TMARING_AUTO;
  o->consumers[0] = i % 8 == 5 ? 64 : TMARING_AUTO;
}

static void run_short(const venue *v)
{
  static const int64_t cols[] = {64, 257, 4096, 769}, rows[] = {0, 1, 3, 17, 133};
  static const tmaring_dtype types[] = {TMARING_F32, TMARING_BF16, TMARING_F16};
  tally sum = tally_begin("clusters: short rows", v->name);
  counts c = {{0}, 0, 0};
  for (int i = 0; i < 60 * COUNT(ops); ++i) {
    op_trial t = op_trial_begin(ops[i % COUNT(ops)], types[i / 7 % 3], rows[i / 2 % 5], cols[i / COUNT(ops) % 4]);
    choose(&t, i / COUNT(ops) + 5 * (i % COUNT(ops)));
    if (!tally_takes(&sum)) continue;
    const trial_result result = op_trial_count(&sum, &t, v);
    count(&c, &t, &result);
  }
  tally_close(&sum);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_assert_eq(sum.refused, 0, "%s", sum.reason[0].text);
  for (int32_t ctas = 2; ctas <= 8 && sum.step == 1; ctas *= 2)
    cr_expect_gt(c.of_ctas[ctas], 60, "only %d cases with %d CTAs", (int)c.of_ctas[ctas], (int)ctas);
  if (sum.step == 1) cr_expect(c.of_ctas[1] == 0 && c.in_place > 10 && c.staged > 50, "%d alone", (int)c.of_ctas[1]);
}

/* ---- long rows ---- */

static void run_long(const venue *v, const int64_t *rows, int row_counts)
{
  static const int64_t cols[] = {151937, 262144, 300007};
  tally sum = tally_begin("clusters: long rows", v->name);
  counts c = {{0}, 0, 0};
  for (int i = 0; i < 7 * 2 * COUNT(cols); ++i) {
    op_trial t = op_trial_begin(ops[i % 7], i / 7 % 2 ? TMARING_BF16 : TMARING_F32, rows[i % row_counts], cols[i / 14]);
    t.layout = t.cols == 262144 ? OP_DENSE : (op_layout)(i % OP_LAYOUTS);
    t.seed = (uint64_t)i + 1;
    if (i % 3 == 0) t.options.policy = TMARING_POLICY_WRAP;
    if (i % 4 == 0 && op_trial_may_alias(&t, 0)) t.in_place = 0;
    if (!tally_takes(&sum)) continue;
    const trial_result result = op_trial_count(&sum, &t, v);
    count(&c, &t, &result);
  }
  tally_close(&sum);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_assert_eq(sum.refused, 0, "%s", sum.reason[0].text);
  if (sum.step == 1) cr_expect_gt(c.of_ctas[4] + c.of_ctas[8], 20, "the planner took too few clusters");
}

/* The same bits whatever the order, policy, number of workers and mode of stores, for a number of CTAs. */
static void run_same_bits(const venue *v)
{
  enum { ROWS = 37, COLS = 4099 };
  static float first[ROWS * COLS], other[ROWS * COLS];
  tally sum = tally_begin("clusters: same bits", v->name);
  for (int i = 0; i < 12; ++i) {
    op_trial t = op_trial_begin("softmax", TMARING_F32, ROWS, COLS);
    choose(&t, 5 * i + 3);
    t.layout = OP_DENSE;
    t.data = DATA_STEEP;
    t.seed = 7;
    t.mixed = 0;
    t.in_place = -1;
    t.options.cluster = 4;
    t.options.consumers[0] = 128;
    t.keep[0] = i == 0 ? first : other;
    op_trial_count(&sum, &t, v);
    if (i > 0) cr_expect_arr_eq(first, other, sizeof first, "way %d", i);
  }
  tally_close(&sum);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
}

/* A launch may be told fewer rows than the plan was made for, or none, or read M from memory: clusters without work end
 * like others. */
static void run_fewer_rows(const venue *v)
{
  op_trial t = op_trial_begin("rmsnorm", TMARING_BF16, 0, 1000);
  tally sum = tally_begin("clusters: fewer rows", v->name);
  t.options.cluster = 8;
  for (t.rows = 0; t.rows <= 40; ++t.rows) {
    t.hint = 40;
    t.seed = (uint64_t)t.rows + 1;
    if (tally_takes(&sum)) op_trial_count(&sum, &t, v);
  }
  tally_close(&sum);
  cr_assert_eq(sum.failed, 0, "%s", sum.first_failure);
}

/* A test per backend. */
#define ON_BOTH(name, call)                                                                                            \
  Test(cluster_ops, name##_cpu, .timeout = 600)                                                                        \
  {                                                                                                                    \
    static const int64_t rows[] = {1, 2};                                                                              \
    venue v;                                                                                                           \
    (void)rows;                                                                                                        \
    cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));                                                               \
    call;                                                                                                              \
  }                                                                                                                    \
  Test(cluster_ops, name##_cuda, .timeout = 600)                                                                       \
  {                                                                                                                    \
    static const int64_t rows[] = {1, 17, 133, 200};                                                                   \
    venue v;                                                                                                           \
    (void)rows;                                                                                                        \
    VENUE_NEED_CUDA(&v);                                                                                               \
    call;                                                                                                              \
    venue_close(&v);                                                                                                   \
  }

ON_BOTH(short_rows, run_short(&v))
ON_BOTH(long_rows, run_long(&v, rows, COUNT(rows)))
ON_BOTH(same_bits, run_same_bits(&v))
ON_BOTH(fewer_rows, run_fewer_rows(&v))

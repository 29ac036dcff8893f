/* The conformance suite itself: the grid is the one of 144 sets, and cells fail where they have to. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/conformance.h"

/* ---- the grid ---- */

Test(conformance, every_prefetch_of_every_depth_and_shape, .timeout = 10)
{
  int32_t seen = 0;
  for (int32_t i = 0; i < CONFORMANCE_SETS; ++i) {
    const conformance_set *s = &conformance_sets[i];
    cr_expect_eq(s->index, i);
    cr_expect(s->stages == 2 || s->stages == 4, "set %d", i);
    cr_expect(s->prefetch >= -s->stages && s->prefetch < s->stages, "set %d", i);
    cr_expect_eq(s->distance, s->prefetch < 0 ? s->stages + s->prefetch : s->prefetch, "set %d", i);
    cr_expect(s->rows == 128 || s->rows == 500 || s->rows == 1024, "set %d", i);
    cr_expect(s->cols == 1024 || s->cols == 2048, "set %d", i);
    cr_expect_eq(s->load, i % 2 == 0 ? TMARING_LOAD_BULK : TMARING_LOAD_TILE, "set %d", i);
    seen += s->prefetch + s->stages; /* 0 .. 2S-1, each as often */
  }
  cr_expect_eq(seen, 12 * (0 + 1 + 2 + 3) + 12 * (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7));
}

/* Types are drawn by Lehmer's generator of Park and Miller from seed 1, one number per set. */
Test(conformance, types_of_the_grid, .timeout = 10)
{
  static const set_type drawn[SET_TYPES] = {SET_PIPELINED_CTA, SET_PIPELINED_MBARRIER, SET_ON_X,
                                            SET_ON_Y,          SET_ON_X_SHARED,        SET_ON_Y_SHARED};
  uint64_t state = 1;
  for (int32_t i = 0; i < CONFORMANCE_SETS; ++i, state = state * 48271 % 2147483647)
    cr_expect_eq(conformance_sets[i].type, drawn[state % SET_TYPES], "set %d", i);
}

/* ---- cells that must not pass ---- */

static op_trial cell(conformance_op op)
{
  op_trial t = conformance_trial(op, 61, 1024);
  conformance_force(&conformance_sets[100], &t.options); /* 4 stages, on y, registers shared, bulk */
  t.options.tile_rows = 1;
  return t;
}

static void leave_out_last_row(op_state *s)
{
  const guarded *g = op_memory(s, op_output(s, 0));
  memset(g->after + (guarded_row_after(g, g->rows - 1) - g->after), GUARD_POISON, g->row_bytes);
}

static void step_last_value(op_state *s)
{
  float value;
  unsigned char *at = op_element_at(s, op_output(s, 0), 1, s->trial->rows - 1, s->trial->cols - 1);
  memcpy(&value, at, sizeof value);
  value *= 1.00001f;
  memcpy(at, &value, sizeof value);
}

static void write_behind_the_end(op_state *s)
{
  guarded *g = op_memory(s, op_output(s, 0));
  g->after[g->begin + (size_t)g->rows * g->row_bytes] ^= 1;
}

typedef struct mutant {
  const char *name;
  conformance_op op;
  const char *formula; /* NULL: the right one */
  op_tamper *tamper;
} mutant;

static const mutant mutants[] = {
    {"another constant", CONFORMANCE_EXP, "y = exp(x) * 1.00001", NULL},
    {"exp of something else", CONFORMANCE_EXP, "y = exp(x + 1e-5)", NULL},
    {"the eps of a layernorm", CONFORMANCE_STANDARD, "d = x - mean(x); y = d / sqrt(mean(d * d) + 1e-4)", NULL},
    {"variance over N - 1", CONFORMANCE_STANDARD, "d = x - mean(x); y = d / sqrt(sum(d * d) / (N - 1))", NULL},
    {"no last row", CONFORMANCE_EXP, NULL, leave_out_last_row},
    {"no last row of doubles", CONFORMANCE_DOUBLE, NULL, leave_out_last_row},
    {"last value off", CONFORMANCE_STANDARD, NULL, step_last_value},
    {"a byte behind the end", CONFORMANCE_EXP, NULL, write_behind_the_end},
};

static void run_mutants(const venue *v)
{
  for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; ++i) {
    const mutant *m = &mutants[i];
    op_trial t = cell(m->op);
    const trial_result right = conformance_run(&t, v);
    cr_expect_eq(right.outcome, TRIAL_PASSED, "%s: %s", m->name, right.text);
    if (m->formula) t.formula = m->formula;
    t.tamper = m->tamper;
    const trial_result wrong = conformance_run(&t, v);
    cr_expect_eq(wrong.outcome, TRIAL_FAILED, "%s passes", m->name);
  }
}

Test(conformance, mutants_cpu, .timeout = 120)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  run_mutants(&v);
}

Test(conformance, mutants_cuda, .timeout = 120)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  run_mutants(&v);
  venue_close(&v);
}

/* ---- what is forced and not held ---- */

#define OTHER(field, value)                                                                                            \
  {                                                                                                                    \
#field, offsetof(tmaring_plan_options, field), value                                                               \
  }

static const struct {
  const char *name;
  size_t offset;
  int32_t value;
} others[] = {OTHER(mode, TMARING_MODE_PIPELINED),
              OTHER(role_axis, TMARING_AXIS_X),
              OTHER(consumers[0], 128),
              OTHER(consumers[1], 2),
              OTHER(consumers[2], 2),
              OTHER(registers[0], 40),
              OTHER(registers[1], 232),
              OTHER(stages, 3),
              OTHER(prefetch, 1),
              OTHER(order, TMARING_ORDER_CYCLIC),
              OTHER(policy, TMARING_POLICY_EXACT),
              OTHER(store, TMARING_STORE_BULK),
              OTHER(scope, TMARING_SCOPE_GROUP),
              OTHER(tile_rows, 4),
              OTHER(piece_cols, 256),
              OTHER(workers, 5),
              OTHER(debug, 1),
              OTHER(cluster, 2),
              OTHER(load, TMARING_LOAD_TILE),
              OTHER(loads[0], TMARING_LOAD_ASYNC),
              OTHER(squads, 2),
              OTHER(turns, 1)};

/* The plan of `cell` against options of which one is another. */
Test(conformance, a_plan_that_differs_in_one_option_does_not_hold, .timeout = 30)
{
  char text[200];
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  const op_trial t = cell(CONFORMANCE_EXP);
  const trial_result r = conformance_run(&t, &v);
  cr_assert_eq(r.outcome, TRIAL_PASSED, "%s", r.text);
  for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
    tmaring_plan_options asked = t.options;
    memcpy((char *)&asked + others[i].offset, &others[i].value, sizeof others[i].value);
    cr_expect_not(conformance_holds(&asked, &r.args, &r.info, text, sizeof text), "%s", others[i].name);
  }
}

/* A refusal counts as one only where shared memory or registers are short; the line of the table then fails. */
Test(conformance, refusals_have_to_be_the_hardwares, .timeout = 30)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  op_trial too_large = cell(CONFORMANCE_EXP), normalised = cell(CONFORMANCE_EXP), mixed = cell(CONFORMANCE_EXP);
  too_large.options.tile_rows = 61; /* 4 stages of 61 rows of 4 KiB */
  normalised.options.war = TMARING_WAR_MBARRIER;
  normalised.options.order = TMARING_ORDER_TICKET;
  normalised.options.policy = TMARING_POLICY_WRAP;
  mixed.options.registers[0] = mixed.options.registers[1] = 0;
  mixed.options.consumers[0] = 48;
  mixed.options.consumers[1] = 2;
  mixed.options.role_axis = TMARING_AXIS_X;
  const op_trial *trials[] = {&too_large, &normalised, &mixed};
  for (int i = 0; i < 3; ++i) {
    conformance c = conformance_begin(0, "a refusal", &v);
    const trial_result result = conformance_run(trials[i], &v);
    cr_expect_eq(result.outcome, TRIAL_REFUSED, "%d: %s", i, result.text);
    cr_expect_eq(conformance_by_hardware(&result), i == 0, "%d: %s", i, result.text);
    conformance_count(&c, &result);
    cr_expect_eq(c.sum.refused, 1);
    cr_expect_eq(c.baseless, i != 0);
  }
}

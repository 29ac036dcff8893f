/* Conformance list, section 3: two squads of consumers, in turn (ping-pong) and on one tile together, f32 [M,128], 8
 * stages, prefetch distance 7, 4 rows per fill, y = a * b + c with a and b in the ring, by bulk copies and by tensor map,
 * and c beside it. M = 4 * 2 * SM * 13: whole rounds; 4 * (2 * SM * 12 + 1): one fill more; 4 * 2 * SM * 12. */
#include <criterion/criterion.h>

#include "support/conformance.h"

enum { FILL_ROWS = 4, SQUADS = 2, COLS = 128 };

static int32_t sm_count(const venue *v)
{
  return v->backend == TMARING_BACKEND_CPU ? 5 : v->machine.sm_count;
}

static int64_t rows_of(int32_t which, int32_t sms)
{
  if (which == 0) return (int64_t)FILL_ROWS * SQUADS * sms * 13;
  return FILL_ROWS * ((int64_t)SQUADS * sms * 12 + (which == 1));
}

/* Paths of a and b. */
static const int32_t paths[][2] = {{TMARING_LOAD_BULK, TMARING_LOAD_TILE},
                                   {TMARING_LOAD_TILE, TMARING_LOAD_BULK},
                                   {TMARING_LOAD_BULK, TMARING_LOAD_BULK},
                                   {TMARING_LOAD_TILE, TMARING_LOAD_TILE}};

static op_trial make(const venue *v, int32_t turns, int32_t which, int32_t pair, int32_t policy)
{
  op_trial t = conformance_trial(CONFORMANCE_MUL_ADD, rows_of(which, sm_count(v)), COLS);
  tmaring_plan_options *o = &t.options;
  o->mode = TMARING_MODE_WARP_SPECIALIZED;
  o->role_axis = TMARING_AXIS_Y;
  o->consumers[0] = 128;
  o->consumers[1] = SQUADS;
  o->squads = SQUADS;
  o->turns = turns;
  o->stages = 8;
  o->prefetch = 7;
  o->tile_rows = FILL_ROWS;
  o->workers = sm_count(v);
  o->order = policy % 2 ? TMARING_ORDER_CYCLIC : TMARING_ORDER_BLOCKED;
  o->policy = policy;
  for (int i = 0; i < 2; ++i) o->loads[i] = paths[pair][i];
  o->loads[2] = TMARING_LOAD_DIRECT;
  return t;
}

static void run_turns(conformance *c, const venue *v, int32_t turns)
{
  for (int32_t which = 0; which < 3; ++which) {
    for (int32_t pair = 0; pair < 4; ++pair) {
      for (int32_t policy = TMARING_POLICY_WRAP; policy <= TMARING_POLICY_EXACT; ++policy) {
        const op_trial t = make(v, turns, which, pair, policy);
        conformance_cell(c, &t, v);
      }
    }
  }
}

CONFORMANCE_TEST(squads_alternating, 3, "two squads, in turn")
{
  run_turns(c, v, TMARING_TURNS_ALTERNATING);
}

CONFORMANCE_TEST(squads_cooperating, 3, "two squads, together")
{
  run_turns(c, v, TMARING_TURNS_COOPERATIVE);
}

/* Four inputs of one fill, each by a path of its own: what one full barrier counts. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/draft.h"
#include "support/modes.h"
#include "support/trial.h"

enum { ROWS = 997, COLS = 200, INPUTS = 4, POISON = 0x7b };

/* y = a - 2 b + 4 c - 8 e: a value in the wrong place shows. */
typedef struct mixed {
  const venue *venue;
  float host[INPUTS + 1][ROWS * COLS];
  void *data[INPUTS + 1];
} mixed;

static void mixed_make(mixed *m, const venue *v)
{
  noise n = noise_seed(77);
  m->venue = v;
  for (int t = 0; t < INPUTS; ++t) {
    for (int i = 0; i < ROWS * COLS; ++i) m->host[t][i] = (float)(noise_below(&n, 64) - 31);
  }
  memset(m->host[INPUTS], POISON, sizeof m->host[INPUTS]);
  for (int t = 0; t <= INPUTS; ++t) {
    m->data[t] = v->place->take(sizeof m->host[t]);
    cr_assert(m->data[t] && v->place->upload(m->data[t], m->host[t], sizeof m->host[t]));
  }
}

static void mixed_free(mixed *m)
{
  for (int t = 0; t <= INPUTS; ++t) m->venue->place->give(m->data[t]);
}

/* Elements of y that are not what they should be. */
static int64_t wrong_elements(mixed *m)
{
  int64_t wrong = 0;
  float *y = m->host[INPUTS];
  cr_assert(m->venue->place->download(y, m->data[INPUTS], sizeof m->host[INPUTS]));
  for (int i = 0; i < ROWS * COLS; ++i)
    wrong += y[i] != m->host[0][i] - 2 * m->host[1][i] + 4 * m->host[2][i] - 8 * m->host[3][i];
  memset(y, POISON, sizeof m->host[INPUTS]);
  cr_assert(m->venue->place->upload(m->data[INPUTS], y, sizeof m->host[INPUTS]));
  return wrong;
}

static void launch(const mixed *m, const tmaring_plan *plan)
{
  const venue *v = m->venue;
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  tmaring_kernel *kernel = NULL;
  const size_t bytes = tmaring_workspace_bytes(plan, ROWS);
  void *workspace = bytes ? v->place->take(bytes) : NULL;
  cr_assert_eq(tmaring_prepare(&kernel, plan, v->backend), TMARING_OK, "%s", tmaring_last_detail());
  if (workspace) cr_assert_eq(tmaring_workspace_init(kernel, workspace, v->stream), TMARING_OK);
  params.rows = ROWS;
  params.data = (void *const *)m->data;
  params.workspace = workspace;
  cr_assert_eq(tmaring_launch(kernel, &params, v->stream), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert(venue_settle(v));
  tmaring_kernel_free(kernel);
  if (workspace) v->place->give(workspace);
}

/* Input t takes path (turn + t) of the five. */
static void play(mixed *m, int32_t turn)
{
  draft d = draft_make("y = a - 2 * b + 4 * c - 8 * e", TMARING_F32, ROWS, COLS);
  d.machine = m->venue->machine;
  mode_choose(&d.options, (mode_choice)(turn % MODE_CHOICES));
  mode_override_release(&d.options);
  for (int32_t t = 0; t < INPUTS; ++t) d.options.loads[t] = (turn + t) % (TMARING_LOAD_DIRECT + 1);
  d.options.store = turn % (TMARING_STORE_TILE + 1);
  if (turn % 2) d.options.order = TMARING_ORDER_TICKET;
  if (turn % 4 == 3) d.options.tile_rows = 8, d.options.piece_cols = 64;
  tmaring_plan *plan = draft_accept(&d);
  cr_assert_eq(tmaring_check(plan, ROWS, NULL), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(trial_compile(plan), TMARING_OK, "%s", tmaring_last_detail());
  launch(m, plan);
  cr_expect_eq(wrong_elements(m), 0, "turn %d", (int)turn);
  tmaring_plan_free(plan);
  draft_free(&d);
}

VENUE_TEST_FOR(mixed_fill, four_inputs_by_four_paths, 300, 300)
{
  static mixed m;
  mixed_make(&m, v);
  cr_assert_eq(wrong_elements(&m), ROWS * COLS, "nothing has been written yet");
  for (int32_t turn = 0; turn < 15; ++turn) play(&m, turn);
  mixed_free(&m);
}

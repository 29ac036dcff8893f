/* Conformance list, section 4: blocks of consumers in one, two and three dimensions, the producer's slab on each axis, with
 * and without register sharing, y = x + x, f32 [4,256]; and layouts that would mix roles within a warp. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/conformance.h"

static const int32_t shapes[][3] = {{32, 4, 2}, {128, 2, 1}, {256, 1, 1}};

static op_trial make(const int32_t consumers[3], int32_t axis, int sharing)
{
  op_trial t = conformance_trial(CONFORMANCE_DOUBLE, 4, 256);
  for (int i = 0; i < 3; ++i) t.options.consumers[i] = consumers[i];
  t.options.mode = TMARING_MODE_WARP_SPECIALIZED;
  t.options.role_axis = axis;
  t.options.registers[0] = sharing ? 64 : 0;
  t.options.registers[1] = sharing ? 168 : 0;
  t.options.stages = 2;
  t.options.prefetch = 1;
  t.options.tile_rows = 1;
  t.options.workers = 2;
  t.options.order = TMARING_ORDER_BLOCKED;
  return t;
}

/* A slab on x of eight rows of threads has no 128 threads in a row. */
static int has_layout(const int32_t consumers[3], int32_t axis, int sharing)
{
  return !(sharing && axis == TMARING_AXIS_X && consumers[0] == 32);
}

/* A slab of whole warpgroups would mix roles there, and the plan says so by name: that is the cell. */
static void run_block(conformance *c, const venue *v, const int32_t consumers[3], int32_t axis, int sharing)
{
  const op_trial t = make(consumers, axis, sharing);
  if (!conformance_takes(c)) return;
  trial_result result = conformance_run(&t, v);
  if (!has_layout(consumers, axis, sharing)) {
    const int named =
        result.status == TMARING_ERROR_UNSUPPORTED &&
        strstr(result.text,
               "consumers: 32x4x2 with a producer slab on axis x would mix roles in the warp of thread ") != NULL;
    result.outcome = named ? TRIAL_PASSED : TRIAL_FAILED;
  }
  conformance_count(c, &result);
}

static void run_shapes(conformance *c, const venue *v, int sharing)
{
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; ++s)
    for (int32_t axis = TMARING_AXIS_X; axis <= TMARING_AXIS_Z; ++axis) run_block(c, v, shapes[s], axis, sharing);
}

CONFORMANCE_TEST(blocks, 4, "block shapes")
{
  run_shapes(c, v, 0);
}

CONFORMANCE_TEST(blocks_sharing, 4, "block shapes, registers shared")
{
  run_shapes(c, v, 1);
}

typedef struct mixed {
  int32_t consumers[3], axis;
  const char *text; /* what the message says */
} mixed;

static const mixed mixtures[] = {
    {{48, 2, 1},
     TMARING_AXIS_X,
     "consumers: 48x2x1 with a producer slab on axis x would mix roles in the warp of thread 48"},
    {{16, 4, 1},
     TMARING_AXIS_X,
     "consumers: 16x4x1 with a producer slab on axis x would mix roles in the warp of thread 16"},
    {{16, 4, 2},
     TMARING_AXIS_X,
     "consumers: 16x4x2 with a producer slab on axis x would mix roles in the warp of thread 16"},
    {{48, 2, 2},
     TMARING_AXIS_X,
     "consumers: 48x2x2 with a producer slab on axis x would mix roles in the warp of thread 48"},
    {{8, 2, 8},
     TMARING_AXIS_X,
     "consumers: 8x2x8 with a producer slab on axis x would mix roles in the warp of thread 8"},
    {{8, 2, 8},
     TMARING_AXIS_Y,
     "consumers: 8x2x8 with a producer slab on axis y would mix roles in the warp of thread 16"},
    {{16, 1, 4},
     TMARING_AXIS_Y,
     "consumers: 16x1x4 with a producer slab on axis y would mix roles in the warp of thread 16"},
};

CONFORMANCE_TEST(blocks_mixed, 4, "layouts that mix roles: refused by name")
{
  for (size_t i = 0; i < sizeof mixtures / sizeof mixtures[0]; ++i) {
    const mixed *m = &mixtures[i];
    const op_trial t = make(m->consumers, m->axis, 0);
    if (!conformance_takes(c)) continue;
    trial_result result = conformance_run(&t, v);
    const int named = result.outcome == TRIAL_REFUSED && result.status == TMARING_ERROR_UNSUPPORTED &&
                      strncmp(result.text, m->text, strlen(m->text)) == 0;
    if (!named) fprintf(stderr, "needs \"%s\"\n", m->text);
    result.outcome = named ? TRIAL_PASSED : TRIAL_FAILED;
    conformance_count(c, &result);
  }
}

/* Blocks of consumers in one, two and three dimensions, the producer's slab on each axis, with and without register
 * sharing; and several rows, one row, or several warps per row in them. */
#include <criterion/criterion.h>

#include "support/field_case.h"

static trial block_trial(const int32_t consumers[3], int32_t axis, recipe_name formula, int shared)
{
  trial t = trial_begin(formula, TMARING_BF16, 997, 256);
  for (int i = 0; i < 3; ++i) t.options.consumers[i] = consumers[i];
  t.options.mode = TMARING_MODE_WARP_SPECIALIZED;
  t.options.role_axis = axis;
  if (shared) {
    t.options.registers[0] = 64; /* below, the producer spills */
    t.options.registers[1] = 160;
  }
  return t;
}

FIELD_CASE(block_shapes)
{
  static const int32_t shapes[][3] = {{32, 4, 2}, {128, 2, 1}, {256, 1, 1}};
  int shared_runs = 0;
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; ++s) {
    for (int32_t axis = TMARING_AXIS_X; axis <= TMARING_AXIS_Z; ++axis) {
      for (int shared = 0; shared < 2; ++shared) {
        for (int f = 0; f < 2; ++f) {
          const trial t = block_trial(shapes[s], axis, f ? RECIPE_RMSNORM : RECIPE_DOUBLE, shared);
          const trial_result planned = trial_run(&t, v);
          if (shared && planned.outcome == TRIAL_REFUSED) continue; /* no layout of whole warpgroups on this axis */
          tally_count(sum, &planned);
          cr_expect_eq(planned.outcome, TRIAL_PASSED, "%s", planned.text);
          cr_expect_eq(planned.info.registers[0] > 0, shared, "register sharing is what was asked for");
          shared_runs += shared;
        }
      }
    }
  }
  cr_expect_geq(shared_runs, 6, "only %d plans shared registers", shared_runs);
}

/* Maps of a launch: address and rows of its own tensors, everything else as the plan has it. */
#include <criterion/criterion.h>
#include <string.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"

static tmaring_status encode(const tmaring_plan *plan, int64_t rows, uint64_t x, uint64_t y, tmaring__boxes *boxes)
{
  void *data[2] = {(void *)(uintptr_t)x, (void *)(uintptr_t)y};
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  tmaring_args args;
  params.rows = rows;
  params.data = data;
  params.workspace = (void *)(uintptr_t)4096;
  return tmaring__encode(plan, &params, &args, boxes);
}

static draft tiled_draft(void)
{
  draft d = draft_make("y = x * max(x)", TMARING_F32, 1000, 1024);
  d.options.load = TMARING_LOAD_TILE;
  d.options.store = TMARING_STORE_TILE;
  return d;
}

Test(encode_boxes, each_launch_has_its_tensors, .timeout = 10)
{
  draft d = tiled_draft();
  tmaring_plan *plan = draft_accept(&d);
  tmaring__boxes first, second;
  cr_assert_eq(encode(plan, 1000, 1 << 24, 1 << 26, &first), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(encode(plan, 997, (1 << 24) + 16, 1 << 27, &second), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_eq(first.used, 1 | 1 << TMARING_TILED_OUTPUTS);
  const int32_t at[2] = {0, TMARING_TILED_OUTPUTS};
  for (int i = 0; i < 2; ++i) {
    const tmaring_tensor_map_tiled *a = &first.map[at[i]], *b = &second.map[at[i]];
    cr_expect_eq(a->dims[a->rank - 1], 1000);
    cr_expect_eq(b->dims[b->rank - 1], 997);
    cr_expect_eq(a->address, i ? 1 << 26 : 1 << 24);
    cr_expect_eq(b->address, i ? 1 << 27 : (1 << 24) + 16);
    cr_expect_eq(tmaring_tensor_map_check_tiled(a), TMARING_OK, "%s", tmaring_last_detail());
    cr_expect_eq(tmaring_tensor_map_check_tiled(b), TMARING_OK, "%s", tmaring_last_detail());
  }
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* F05: what the plan was told of the base holds for every launch. */
Test(encode_boxes, F05_bases_are_checked, .timeout = 10)
{
  draft d = tiled_draft();
  tmaring_plan *plan = draft_accept(&d);
  tmaring__boxes boxes;
  for (uint64_t shift = 4; shift <= 16; shift += 4) {
    const tmaring_status status = encode(plan, 1000, (1 << 24) + shift, 1 << 26, &boxes);
    cr_expect_eq(status, shift == 16 ? TMARING_OK : TMARING_ERROR_ALIGNMENT, "%d", (int)shift);
  }
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* The second half of a row is a stream with a map of its own. */
Test(encode_boxes, halves_have_maps_of_their_own, .timeout = 10)
{
  draft d = draft_make("y = first(x[M,2N]) * second(x)", TMARING_BF16, 1000, 512);
  d.options.load = TMARING_LOAD_TILE;
  tmaring_plan *plan = draft_accept(&d);
  tmaring__boxes boxes;
  cr_assert_eq(encode(plan, 1000, 1 << 24, 1 << 26, &boxes), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_eq(boxes.used, 3);
  cr_expect_eq(boxes.map[0].address, 1 << 24);
  cr_expect_eq(boxes.map[1].address, (1 << 24) + 1024);
  for (int i = 0; i < 2; ++i) {
    cr_expect_eq(boxes.map[i].dims[0] * 8, 1024, "a half ends where it does");
    cr_expect_eq(boxes.map[i].strides[1], 2048);
  }
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* Plans without tiled streams leave the boxes alone. */
Test(encode_boxes, none_without_tiles, .timeout = 10)
{
  draft d = draft_make("y = x + x", TMARING_F32, 1000, 1024);
  tmaring_plan *plan = draft_accept(&d);
  tmaring__boxes boxes;
  memset(&boxes, 0x5a, sizeof boxes);
  cr_assert_eq(encode(plan, 1000, 1 << 24, 1 << 26, &boxes), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_eq(boxes.used, 0);
  tmaring_plan_free(plan);
  draft_free(&d);
}

/* Tensors past 2^31 elements, and offsets past 2^31 and 2^32: on the GPU with memory of that size, on the CPU backend with
 * few rows far apart in memory that takes no room. A case that the device has no memory for is skipped by name.
 *
 * The smallest one for a sanitizer: --filter far_rows/copy_i8_cuda. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/far_case.h"

#define ROWS ((1 << 19) + 37) /* times 4096 columns: past 2^31 */
#define FAR  (1ll << 30)

/* Dense rows, where the boundary lies between two; and a pitch that has it inside a row. */
#define BOTH(name, work, dtype)                                                                                        \
  {name, work, dtype, ROWS, 4096, 0, 0, 0, 0, 0},                                                                      \
  {                                                                                                                    \
    name, work, dtype, ROWS, 4096, 4112, 0, 0, 0, 0                                                                    \
  }
#define TYPES(name, work) BOTH(name "_i8", work, TMARING_I8), BOTH(name "_bf16", work, TMARING_BF16)

/* F12 */
#define SHAPES(name, work)                                                                                             \
  {name, work, TMARING_BF16, 131072, 16384, 0, 0, 0, 0, 0}, {name, work, TMARING_BF16, 175000, 12288, 0, 0, 0, 0, 0},  \
      {name, work, TMARING_BF16, 4194305, 512, 0, 0, 0, 0, 0},                                                         \
  {                                                                                                                    \
    name, work, TMARING_BF16, 150000, 16384, 0, 0, 0, 0, 0                                                             \
  }

/* Few rows of N columns, 2^30 elements apart; in groups that are; scales and sums of rows and of groups that are. */
#define STRETCHED(n)                                                                                                   \
  {"far_pitch", FAR_COPY, TMARING_I8, 7, n, FAR, 0, 0, 0, 0},                                                          \
      {"far_pitch", FAR_COPY, TMARING_BF16, 5, n, FAR, 0, 0, 0, 0},                                                    \
      {"far_pitch", FAR_DOUBLE, TMARING_I8, 5, n, FAR + 3, 0, 0, 0, 0},                                                \
      {"far_pitch", FAR_RMSNORM, TMARING_BF16, 5, n, FAR + 24, 0, 0, 0, 0},                                            \
      {"far_pitch", FAR_SOFTMAX, TMARING_BF16, 5, n, FAR + 5, 0, 0, 0, 0},                                             \
      {"far_pitch", FAR_COL_SUM, TMARING_BF16, 5, n, FAR, 0, 0, 0, 0},                                                 \
      {"far_groups", FAR_COPY, TMARING_I8, 17, n, (n) + 16, 3, FAR, 0, 0},                                             \
      {"far_groups", FAR_RMSNORM, TMARING_BF16, 11, n, (n) + 16, 3, FAR + 8, 0, 0},                                    \
      {"far_groups", FAR_ROW_SUM, TMARING_BF16, 11, n, (n) + 1, 3, FAR + 3, 0, 0},                                     \
      {"far_values", FAR_ROW_SUM, TMARING_BF16, 6, n, 0, 0, 0, FAR / 2 + 1, 0},                                        \
      {"far_values", FAR_QUANTIZE, TMARING_BF16, 6, n, 0, 0, 0, FAR / 2 + 1, 0},                                       \
      {"far_values", FAR_QUANTIZE_GROUPS, TMARING_BF16, 6, n, 0, 0, 0, FAR / 2 + 64, 3},                               \
  {                                                                                                                    \
    "far_values", FAR_QUANTIZE_GROUPS, TMARING_BF16, 6, n, 0, 0, 0, 1, 2 * FAR + 6                                     \
  }

static const far_case cases[] = {
    TYPES("copy", FAR_COPY),
    TYPES("x_plus_x", FAR_DOUBLE),
    TYPES("row_sum", FAR_ROW_SUM),
    TYPES("softmax", FAR_SOFTMAX),
    TYPES("rmsnorm", FAR_RMSNORM),
    TYPES("col_sum", FAR_COL_SUM),
    SHAPES("F12_rmsnorm", FAR_RMSNORM),
    SHAPES("F12_quantize", FAR_QUANTIZE),
    STRETCHED(512),
};
static const far_case small_cases[] = {STRETCHED(256)};
#define COUNT(array) (int32_t)(sizeof(array) / sizeof *(array))

static const int32_t loads[] = {TMARING_LOAD_BULK, TMARING_LOAD_TILE};

/* All cases of a name, by both load paths. */
static void run_cases(const venue *v, const far_case *list, int32_t count, const char *name)
{
  int32_t passed = 0, refused = 0, failed = 0, no_room = 0;
  char text[640], room[640] = "";
  for (int32_t i = 0; i < 2 * count; ++i) {
    const far_case *c = &list[i / 2];
    if (strcmp(c->name, name) != 0) continue;
    const far_outcome outcome = far_run(c, v, loads[i % 2], text, sizeof text);
    passed += outcome == FAR_PASSED;
    refused += outcome == FAR_REFUSED;
    failed += outcome == FAR_FAILED;
    no_room += outcome == FAR_NO_ROOM;
    if (outcome == FAR_NO_ROOM) memcpy(room, text, sizeof room);
    cr_expect_neq(outcome, FAR_FAILED, "%s, case %d: %s", name, i / 2, text);
  }
  printf("%s %s: %d passed, %d refused, %d without room\n", name, v->name, passed, refused, no_room);
  cr_expect_gt(passed + no_room + failed, 0, "no case of that name");
  if (passed + failed == 0) cr_skip_test("%s: %s", name, room);
}

#define FAR_TEST(name)                                                                                                 \
  Test(far_rows, name##_cuda, .timeout = 300)                                                                          \
  {                                                                                                                    \
    venue v;                                                                                                           \
    VENUE_NEED_CUDA(&v);                                                                                               \
    run_cases(&v, cases, COUNT(cases), #name);                                                                         \
    venue_close(&v);                                                                                                   \
  }

FAR_TEST(copy_i8)
FAR_TEST(copy_bf16)
FAR_TEST(x_plus_x_i8)
FAR_TEST(x_plus_x_bf16)
FAR_TEST(row_sum_i8)
FAR_TEST(row_sum_bf16)
FAR_TEST(softmax_i8)
FAR_TEST(softmax_bf16)
FAR_TEST(rmsnorm_i8)
FAR_TEST(rmsnorm_bf16)
FAR_TEST(col_sum_i8)
FAR_TEST(col_sum_bf16)
FAR_TEST(F12_rmsnorm)
FAR_TEST(F12_quantize)
FAR_TEST(far_pitch)
FAR_TEST(far_groups)
FAR_TEST(far_values)

#define FAR_CPU_TEST(name)                                                                                             \
  Test(far_rows, name##_cpu, .timeout = 60)                                                                            \
  {                                                                                                                    \
    venue v;                                                                                                           \
    cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));                                                               \
    run_cases(&v, small_cases, COUNT(small_cases), #name);                                                             \
  }

FAR_CPU_TEST(far_pitch)
FAR_CPU_TEST(far_groups)
FAR_CPU_TEST(far_values)

/* What the GPU runs above, planned and proven here, and compiled for a machine that cannot. */
Test(far_rows, plans_of_the_gpu_cases_cpu, .timeout = 600)
{
  const char *failure = far_compile();
  cr_expect_null(failure, "%s", failure);
  for (int32_t i = 0; i < 2 * COUNT(cases); ++i) {
    failure = far_plan(&cases[i / 2], loads[i % 2]);
    cr_expect_null(failure, "%s", failure);
  }
}

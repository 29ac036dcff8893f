/* The calls around a launch: what they refuse and how they name it, what may alias, what outlives what, threads,
 * workspaces. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "support/modes.h"
#include "support/rig.h"

/* The status, and a detail that has the word. */
#define EXPECT_REFUSAL(call, expected, word)                                                                           \
  do {                                                                                                                 \
    const tmaring_status refusal_ = (call);                                                                            \
    cr_expect_eq(refusal_, (expected), "%s: got %s, needs %s", #call, tmaring_status_name(refusal_),                   \
                 tmaring_status_name(expected));                                                                       \
    cr_expect_not_null(strstr(tmaring_last_detail(), (word)), "%s: \"%s\" does not name %s", #call,                    \
                       tmaring_last_detail(), (word));                                                                 \
  } while (0)

static tmaring_plan_options tickets(void)
{
  tmaring_plan_options options;
  tmaring_plan_options_init(&options);
  options.order = TMARING_ORDER_TICKET;
  options.tile_rows = 1;
  return options;
}

static tmaring_launch_params params_of(const rig *r, void **data, int64_t rows)
{
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  data[0] = r->x.data;
  data[1] = r->y.data;
  params.rows = rows;
  params.data = data;
  params.workspace = r->workspace;
  return params;
}

VENUE_TEST(launch, bad_arguments_are_named)
{
  rig r;
  void *data[2];
  const tmaring_plan_options options = tickets();
  cr_assert(rig_make(&r, v, 8, 256, &options));
  const tmaring_launch_params good = params_of(&r, data, 8);
  tmaring_launch_params bad = good;
  EXPECT_REFUSAL(tmaring_launch(NULL, &good, v->stream), TMARING_ERROR_ARGUMENT, "kernel");
  EXPECT_REFUSAL(tmaring_launch(r.kernel, NULL, v->stream), TMARING_ERROR_ARGUMENT, "params");
  bad.size -= 8;
  EXPECT_REFUSAL(tmaring_launch(r.kernel, &bad, v->stream), TMARING_ERROR_ARGUMENT, "size");
  bad = good;
  bad.rows = -1;
  EXPECT_REFUSAL(tmaring_launch(r.kernel, &bad, v->stream), TMARING_ERROR_ARGUMENT, "rows");
  bad = good;
  bad.data = NULL;
  EXPECT_REFUSAL(tmaring_launch(r.kernel, &bad, v->stream), TMARING_ERROR_ARGUMENT, "data");
  bad = good;
  bad.flags = 0x80u;
  EXPECT_REFUSAL(tmaring_launch(r.kernel, &bad, v->stream), TMARING_ERROR_ARGUMENT, "flags");
  bad = good;
  bad.workspace = NULL;
  EXPECT_REFUSAL(tmaring_launch(r.kernel, &bad, v->stream), TMARING_ERROR_ARGUMENT, "workspace");
  data[1] = NULL;
  EXPECT_REFUSAL(tmaring_launch(r.kernel, &good, v->stream), TMARING_ERROR_ARGUMENT, "y");
  data[1] = r.y.data;
  cr_expect_eq(tmaring_launch(r.kernel, &good, v->stream),
               TMARING_OK); /* refusals leave the kernel and workspace fit */
  cr_expect(venue_settle(v));
  cr_expect(rig_right(&r, 8));
  rig_free(&r);
}

VENUE_TEST(launch, no_rows_need_no_data)
{
  rig r;
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  const tmaring_plan_options options = tickets();
  cr_assert(rig_make(&r, v, 8, 256, &options));
  cr_expect_eq(tmaring_launch(r.kernel, &params, v->stream), TMARING_OK);
  cr_expect_eq(rig_launch(&r, 0, v->stream, 0), TMARING_OK);
  cr_expect(venue_settle(v));
  cr_expect(rig_right(&r, 0));
  cr_expect_eq(rig_launch(&r, 4, v->stream, 0), TMARING_OK);
  cr_expect(venue_settle(v));
  cr_expect(rig_right(&r, 4));
  rig_free(&r);
}

VENUE_TEST(launch, misaligned_addresses_are_refused)
{
  rig r;
  void *data[2];
  cr_assert(rig_make(&r, v, 8, 256, NULL));
  const tmaring_launch_params params = params_of(&r, data, 4);
  for (int i = 0; i < 2; ++i) {
    for (size_t shift = 4; shift < 16; shift += 4) {
      data[i] = (char *)data[i] + shift;
      EXPECT_REFUSAL(tmaring_launch(r.kernel, &params, v->stream), TMARING_ERROR_ALIGNMENT, i ? "y" : "x");
      cr_expect_not_null(strstr(tmaring_last_detail(), "16"), "%s", tmaring_last_detail());
      data[i] = (char *)data[i] - shift;
    }
    data[i] = (char *)data[i] + 16; /* as aligned as the plan was told */
    cr_expect_eq(tmaring_launch(r.kernel, &params, v->stream), TMARING_OK);
    data[i] = (char *)data[i] - 16;
  }
  cr_expect(venue_settle(v));
  rig_free(&r);
}

/* In place is right where input and output are the same bytes; every other overlap is refused before anything is
 * written. */
VENUE_TEST(launch, overlap_is_exact_or_refused)
{
  rig r;
  void *data[2];
  cr_assert(rig_make(&r, v, 8, 256, NULL));
  const tmaring_launch_params params = params_of(&r, data, 4);
  const ptrdiff_t row = 256 * sizeof(float);
  const ptrdiff_t overlaps[] = {16, row, 3 * row, 4 * row - 16, -16, -row, 16 - 4 * row};
  for (size_t i = 0; i < sizeof overlaps / sizeof overlaps[0]; ++i) {
    data[0] = (char *)r.x.data + 4 * row;
    data[1] = (char *)data[0] + overlaps[i];
    EXPECT_REFUSAL(tmaring_launch(r.kernel, &params, v->stream), TMARING_ERROR_ALIAS, "y");
  }
  data[0] = r.x.data;
  data[1] = (char *)r.x.data + 4 * row; /* side by side is no overlap */
  cr_expect_eq(tmaring_launch(r.kernel, &params, v->stream), TMARING_OK);
  cr_expect(venue_settle(v));
  cr_expect(rig_refill(&r, 5));
  data[1] = data[0];
  cr_expect_eq(tmaring_launch(r.kernel, &params, v->stream), TMARING_OK);
  cr_expect(venue_settle(v));
  cr_expect(guarded_download(&r.x));
  for (int64_t i = 0; i < 8 * 256; ++i) {
    const float before = ((const float *)(void *)guarded_row(&r.x, 0))[i];
    const float after = ((const float *)(const void *)guarded_row_after(&r.x, 0))[i];
    cr_assert_eq(after, i < 4 * 256 ? before + before : before, "element %d", (int)i);
  }
  rig_free(&r);
}

/* Makes a kernel of another formula over a rig's tensors; the plan goes away. */
static tmaring_kernel *kernel_of(const rig *r, const char *text)
{
  const tmaring_tensor empty = TMARING_TENSOR_INIT;
  tmaring_tensor tensor[2] = {empty, empty};
  tmaring_formula *formula = NULL;
  tmaring_plan *plan = NULL;
  tmaring_kernel *kernel = NULL;
  tmaring_plan_options options;
  tmaring_plan_options_init(&options);
  mode_override_release(&options);
  for (int i = 0; i < 2; ++i) {
    tensor[i].rows = r->rows;
    tensor[i].cols = r->cols;
  }
  cr_assert_eq(tmaring_formula_parse(&formula, text), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_plan_create(&plan, formula, tensor, 2, &r->venue->machine, &options), TMARING_OK);
  tmaring_formula_free(formula);
  cr_assert_eq(tmaring_prepare(&kernel, plan, r->venue->backend), TMARING_OK);
  tmaring_plan_free(plan);
  return kernel;
}

static void expect_factor(rig *r, float factor)
{
  cr_expect(venue_settle(r->venue));
  cr_assert(guarded_download(&r->y));
  for (int64_t i = 0; i < r->rows * r->cols; ++i) {
    const float x = ((const float *)(void *)guarded_row(&r->x, 0))[i];
    const float y = ((const float *)(const void *)guarded_row_after(&r->y, 0))[i];
    cr_assert_eq(y, x * factor, "element %d", (int)i);
  }
}

VENUE_TEST(launch, scalars_have_defaults_or_are_needed)
{
  rig r;
  void *data[2];
  const double four = 4.0;
  cr_assert(rig_furnish(&r, v, 5, 64));
  tmaring_launch_params params = params_of(&r, data, 5);
  r.kernel = kernel_of(&r, "scale(x[M,N]; s = 3) = x * s");
  cr_expect_eq(tmaring_launch(r.kernel, &params, v->stream), TMARING_OK);
  expect_factor(&r, 3.0f);
  params.scalars = &four;
  cr_expect_eq(tmaring_launch(r.kernel, &params, v->stream), TMARING_OK);
  expect_factor(&r, 4.0f);
  tmaring_kernel_free(r.kernel);
  r.kernel = kernel_of(&r, "scale(x[M,N]; s) = x * s");
  cr_expect_eq(tmaring_launch(r.kernel, &params, v->stream), TMARING_OK);
  expect_factor(&r, 4.0f);
  params.scalars = NULL;
  EXPECT_REFUSAL(tmaring_launch(r.kernel, &params, v->stream), TMARING_ERROR_ARGUMENT, "scalars");
  rig_free(&r);
}

VENUE_TEST(launch, kernels_outlive_plans_and_each_other)
{
  rig r;
  cr_assert(rig_make(&r, v, 33, 256, NULL));
  tmaring_kernel *first = r.kernel;
  cr_assert_eq(tmaring_prepare(&r.kernel, r.plan, v->backend), TMARING_OK);
  tmaring_plan_free(r.plan);
  tmaring_formula_free(r.formula);
  r.plan = NULL;
  r.formula = NULL;
  cr_expect_eq(rig_launch(&r, 33, v->stream, 0), TMARING_OK);
  cr_expect(venue_settle(v));
  tmaring_kernel_free(first);
  cr_expect(rig_right(&r, 33));
  cr_expect(rig_refill(&r, 2));
  cr_expect_eq(rig_launch(&r, 33, v->stream, 0), TMARING_OK);
  cr_expect(venue_settle(v));
  cr_expect(rig_right(&r, 33));
  rig_free(&r);
}

VENUE_TEST(launch, nothing_is_freed_by_freeing_null)
{
  tmaring_kernel_free(NULL);
  tmaring_plan_free(NULL);
  tmaring_formula_free(NULL);
  cr_expect_str_eq(v->name, v->backend == TMARING_BACKEND_CPU ? "cpu" : "cuda");
}

/* The counters of a workspace are as at first after every launch. */
VENUE_TEST(launch, workspaces_are_left_ready)
{
  rig r;
  unsigned char bytes[256] = {1};
  static const unsigned char zero[256];
  const tmaring_plan_options options = tickets();
  cr_assert(rig_make(&r, v, 300, 64, &options));
  const size_t size = tmaring_workspace_bytes(r.plan, r.rows);
  cr_assert(size > 0 && size <= sizeof bytes);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    cr_expect(rig_refill(&r, seed));
    cr_expect_eq(rig_launch(&r, 300 - (int64_t)seed, v->stream, 0), TMARING_OK);
    cr_expect(venue_settle(v));
    cr_expect(rig_right(&r, 300 - (int64_t)seed));
    cr_expect(v->place->download(bytes, r.workspace, size));
    cr_expect_arr_eq(bytes, zero, size);
  }
  rig_free(&r);
}

/* M from memory under an upper bound; rows past it stay untouched. */
static void count_rows(const venue *v, const tmaring_plan_options *options)
{
  static const int64_t counts[] = {0, 1, 57, 131, 200};
  rig r;
  void *data[2];
  cr_assert(rig_make(&r, v, 200, 64, options));
  tmaring_launch_params params = params_of(&r, data, 200);
  int64_t *rows = v->place->take(sizeof *rows);
  params.rows_device = rows;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
    cr_expect(v->place->upload(rows, &counts[i], sizeof counts[i]));
    cr_expect(rig_refill(&r, i + 1));
    cr_expect_eq(tmaring_launch(r.kernel, &params, v->stream), TMARING_OK, "%s", tmaring_last_detail());
    cr_expect(venue_settle(v));
    cr_expect(rig_right(&r, counts[i]), "%d of 200 rows", (int)counts[i]);
  }
  v->place->give(rows);
  rig_free(&r);
}

VENUE_TEST(launch, rows_come_from_memory)
{
  for (int32_t order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_TICKET; ++order) {
    for (int32_t policy = TMARING_POLICY_WRAP; policy <= TMARING_POLICY_EXACT; ++policy) {
      tmaring_plan_options options;
      tmaring_plan_options_init(&options);
      options.order = order;
      options.policy = policy;
      count_rows(v, &options);
    }
  }
}

#define THREADS 6
#define ROUNDS  5

typedef struct crew_member {
  rig rig; /* memory and workspace of its own, the kernel of all */
  int32_t good;
} crew_member;

static void *launch_rounds(void *argument)
{
  crew_member *m = argument;
  for (int i = 0; i < ROUNDS; ++i) {
    m->good += rig_launch(&m->rig, m->rig.rows, m->rig.venue->stream, 0) == TMARING_OK;
  }
  return NULL;
}

VENUE_TEST(launch, many_threads_launch_one_kernel)
{
  static crew_member crew[THREADS];
  pthread_t thread[THREADS];
  rig owner;
  const tmaring_plan_options options = tickets();
  cr_assert(rig_make(&owner, v, 133, 128, &options));
  for (int i = 0; i < THREADS; ++i) {
    cr_assert(rig_furnish(&crew[i].rig, v, 133, 128) && rig_refill(&crew[i].rig, (uint64_t)i + 10));
    crew[i].rig.kernel = owner.kernel;
    cr_assert_eq(tmaring_workspace_init(owner.kernel, crew[i].rig.workspace, v->stream), TMARING_OK);
  }
  for (int i = 0; i < THREADS; ++i) cr_assert_eq(pthread_create(&thread[i], NULL, launch_rounds, &crew[i]), 0);
  for (int i = 0; i < THREADS; ++i) pthread_join(thread[i], NULL);
  cr_expect(venue_settle(v));
  for (int i = 0; i < THREADS; ++i) {
    cr_expect_eq(crew[i].good, ROUNDS);
    cr_expect(rig_right(&crew[i].rig, 133), "thread %d", i);
    crew[i].rig.kernel = NULL; /* the owner's */
    rig_free(&crew[i].rig);
  }
  rig_free(&owner);
}

/* y = 2x, then z = 2y by a launch that may start before the first has ended. */
VENUE_TEST(launch, dependent_launches_see_what_came_before)
{
  rig a, b;
  cr_assert(rig_make(&a, v, 997, 256, NULL));
  cr_assert(rig_furnish(&b, v, 997, 256));
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    void *data[2] = {a.y.data, b.y.data};
    tmaring_launch_params second = TMARING_LAUNCH_PARAMS_INIT;
    second.rows = 997;
    second.data = data;
    second.flags = TMARING_LAUNCH_DEPENDENT;
    cr_expect(rig_refill(&a, seed));
    cr_expect_eq(rig_launch(&a, 997, v->stream, 0), TMARING_OK);
    cr_expect_eq(tmaring_launch(a.kernel, &second, v->stream), TMARING_OK);
    cr_expect(venue_settle(v));
    cr_expect(rig_right(&a, 997)); /* writes 2x into the image of y */
    cr_expect(guarded_download(&b.y));
    for (int64_t i = 0; i < 997 * 256; ++i) {
      const float y = ((const float *)(void *)guarded_row(&a.y, 0))[i];
      cr_assert_eq(((const float *)(const void *)guarded_row_after(&b.y, 0))[i], y + y, "element %d", (int)i);
    }
  }
  rig_free(&a);
  rig_free(&b);
}

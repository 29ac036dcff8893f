/* Launches of column reductions: no rows, rows from memory, a workspace that holds anything, the same bits in every
 * order, a grid larger than the work, dependent launches. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../src/host/backend/cuda/driver.h"
#include "support/modes.h"
#include "support/noise.h"
#include "support/venue.h"

#define ROWS 1000
#define COLS 1024

/* sum, mean and maximum of the columns of x [ROWS,COLS] f32. */
typedef struct bench {
  const venue *venue;
  tmaring_plan *plan;
  tmaring_kernel *kernel;
  float *x; /* on the host */
  void *data[4];
  void *workspace;
  float result[3][COLS];
} bench;

static const char text[] = "y = colsum(x); m = colmean(x); g = colmax(x)";

static void make_kernel(bench *b, const tmaring_plan_options *options)
{
  tmaring_tensor tensor[4] = {TMARING_TENSOR_INIT, TMARING_TENSOR_INIT, TMARING_TENSOR_INIT, TMARING_TENSOR_INIT};
  tmaring_formula *formula = NULL;
  tmaring_plan_options own;
  tmaring_plan_options_init(&own);
  if (options) own = *options;
  mode_override_release(&own);
  for (int i = 0; i < 4; ++i) {
    tensor[i].rows = i == 0 ? ROWS : 1;
    tensor[i].cols = COLS;
  }
  cr_assert_eq(tmaring_formula_parse(&formula, text), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_plan_create(&b->plan, formula, tensor, 4, &b->venue->machine, &own), TMARING_OK, "%s",
               tmaring_last_detail());
  tmaring_formula_free(formula);
  cr_assert_eq(tmaring_prepare(&b->kernel, b->plan, b->venue->backend), TMARING_OK, "%s", tmaring_last_detail());
}

/* A workspace of exactly its size, full of NaNs before it is made ready. */
static void make_workspace(bench *b)
{
  const size_t bytes = tmaring_workspace_bytes(b->plan, ROWS);
  void *noise = malloc(bytes);
  cr_assert(bytes >= TMARING_PARTIALS_OFFSET && noise);
  memset(noise, 0xff, bytes);
  b->workspace = b->venue->place->take(bytes);
  cr_assert(b->workspace && b->venue->place->upload(b->workspace, noise, bytes));
  cr_assert_eq(tmaring_workspace_init(b->kernel, b->workspace, b->venue->stream), TMARING_OK);
  free(noise);
}

static void bench_make(bench *b, const venue *v, const tmaring_plan_options *options)
{
  memset(b, 0, sizeof *b);
  b->venue = v;
  make_kernel(b, options);
  make_workspace(b);
  b->x = malloc(sizeof(float) * ROWS * COLS);
  b->data[0] = v->place->take(sizeof(float) * ROWS * COLS);
  for (int i = 1; i < 4; ++i) b->data[i] = v->place->take(sizeof(float) * COLS);
  cr_assert(b->x && b->data[0] && b->data[1] && b->data[2] && b->data[3]);
}

static void bench_free(bench *b)
{
  for (int i = 0; i < 4; ++i) b->venue->place->give(b->data[i]);
  b->venue->place->give(b->workspace);
  tmaring_kernel_free(b->kernel);
  tmaring_plan_free(b->plan);
  free(b->x);
}

static void fill_with(bench *b, float (*value)(int64_t row, int64_t col))
{
  for (int64_t i = 0; i < ROWS * COLS; ++i) b->x[i] = value(i / COLS, i % COLS);
  cr_assert(b->venue->place->upload(b->data[0], b->x, sizeof(float) * ROWS * COLS));
}

static float row_number(int64_t row, int64_t col)
{
  (void)col;
  return (float)row;
}

/* Whose sums depend on the order. */
static float uneven(int64_t row, int64_t col)
{
  return sinf((float)(row * 37 + col * 11)) * (row % 5 ? 1.0f : 1000.0f);
}

static tmaring_launch_params params_of(const bench *b, int64_t rows)
{
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  params.rows = rows;
  params.data = b->data;
  params.workspace = b->workspace;
  return params;
}

static void launch(bench *b, const tmaring_launch_params *params)
{
  cr_assert_eq(tmaring_launch(b->kernel, params, b->venue->stream), TMARING_OK, "%s", tmaring_last_detail());
}

static void fetch(bench *b)
{
  cr_assert(venue_settle(b->venue));
  for (int i = 0; i < 3; ++i) cr_assert(b->venue->place->download(b->result[i], b->data[i + 1], sizeof b->result[i]));
}

/* Of columns that hold 0, 1, ... rows - 1. */
static void expect_row_numbers(const bench *b, int64_t rows)
{
  const float sum = (float)(rows * (rows - 1) / 2);
  for (int c = 0; c < COLS; ++c) {
    cr_assert_eq(b->result[0][c], sum, "%d rows, column %d: %g, needs %g", (int)rows, c, (double)b->result[0][c],
                 (double)sum);
    if (rows > 0)
      cr_assert_eq(b->result[1][c], sum / (float)rows, "%d rows, column %d", (int)rows, c);
    else
      cr_assert(isnan(b->result[1][c]));
    cr_assert_eq(b->result[2][c], rows > 0 ? (float)(rows - 1) : -INFINITY, "%d rows, column %d", (int)rows, c);
  }
}

/* Wrapped rows are not counted. */
VENUE_TEST(launch_columns, F07_sums_of_row_numbers)
{
  for (int32_t order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_TICKET; ++order) {
    for (int32_t policy = TMARING_POLICY_WRAP; policy <= TMARING_POLICY_EXACT; ++policy) {
      tmaring_plan_options options;
      bench b;
      tmaring_plan_options_init(&options);
      options.order = order;
      options.policy = policy;
      bench_make(&b, v, &options);
      fill_with(&b, row_number);
      for (int64_t rows = ROWS; rows >= 1; rows -= 333) {
        const tmaring_launch_params params = params_of(&b, rows);
        launch(&b, &params);
        fetch(&b);
        expect_row_numbers(&b, rows);
      }
      bench_free(&b);
    }
  }
}

VENUE_TEST(launch_columns, F13_no_rows_write_what_no_rows_come_to)
{
  for (int32_t order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_TICKET; ++order) {
    tmaring_plan_options options;
    bench b;
    void *data[4] = {NULL};
    tmaring_plan_options_init(&options);
    options.order = order;
    bench_make(&b, v, &options);
    tmaring_launch_params params = params_of(&b, 0);
    memcpy(&data[1], &b.data[1], 3 * sizeof data[0]);
    params.data = data;
    params.workspace = NULL;
    launch(&b, &params);
    fetch(&b);
    expect_row_numbers(&b, 0);
    bench_free(&b);
  }
}

VENUE_TEST(launch_columns, rows_come_from_memory)
{
  static const int64_t counts[] = {0, 1, 57, 999, 1000};
  for (int32_t order = TMARING_ORDER_CYCLIC; order <= TMARING_ORDER_TICKET; ++order) {
    tmaring_plan_options options;
    bench b;
    tmaring_plan_options_init(&options);
    options.order = order;
    bench_make(&b, v, &options);
    fill_with(&b, row_number);
    int64_t *rows = v->place->take(sizeof *rows);
    tmaring_launch_params params = params_of(&b, ROWS);
    params.rows_device = rows;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
      cr_assert(v->place->upload(rows, &counts[i], sizeof counts[i]));
      launch(&b, &params);
      fetch(&b);
      expect_row_numbers(&b, counts[i]);
    }
    v->place->give(rows);
    bench_free(&b);
  }
}

/* The same bits from every order, policy, grid and number of SMs, and again from the same workspace. */
VENUE_TEST(launch_columns, F27_bits_do_not_depend_on_who_adds)
{
  static float due[3][COLS];
  int32_t runs = 0;
  for (int32_t order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_TICKET; ++order) {
    for (int32_t workers = 1; workers <= 300; workers = 3 * workers + 2) {
      tmaring_plan_options options;
      venue own = *v;
      bench b;
      tmaring_plan_options_init(&options);
      options.order = order;
      options.policy = (order + workers) % 3;
      options.workers = workers;
      if (v->backend == TMARING_BACKEND_CPU) own.machine.sm_count = 1 + workers / 2;
      bench_make(&b, &own, &options);
      fill_with(&b, uneven);
      for (int again = 0; again < 2; ++again, ++runs) {
        const tmaring_launch_params params = params_of(&b, ROWS);
        launch(&b, &params);
        fetch(&b);
        if (runs == 0) memcpy(due, b.result, sizeof due);
        cr_assert_eq(memcmp(due, b.result, sizeof due), 0, "order %d, %d workers", order, workers);
      }
      bench_free(&b);
    }
  }
  cr_expect_gt(fabsf(due[0][7]), 0.0f);
}

/* A launch that may start early waits, and what follows it sees its sums. */
VENUE_TEST(launch_columns, dependent_launches_see_what_came_before)
{
  bench b;
  bench_make(&b, v, NULL);
  fill_with(&b, row_number);
  tmaring_launch_params params = params_of(&b, ROWS);
  for (int i = 0; i < 5; ++i) {
    params.rows = ROWS - 100 * i;
    params.flags = i % 2 ? TMARING_LAUNCH_DEPENDENT : 0;
    launch(&b, &params);
    fetch(&b);
    expect_row_numbers(&b, params.rows);
  }
  bench_free(&b);
}

#if TMARING_WITH_CUDA

/* Both kernels in one graph, captured as the first launch ever, replayed with new contents and row counts. */
Test(launch_columns, graphs_replay_cuda, .timeout = 60)
{
  const tmaring__driver *driver = NULL;
  venue v;
  bench b;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  VENUE_NEED_CUDA(&v);
  cr_assert_eq(tmaring__driver_get(&driver), TMARING_OK);
  bench_make(&b, &v, NULL);
  int64_t *rows = v.place->take(sizeof *rows);
  tmaring_launch_params params = params_of(&b, ROWS);
  params.rows_device = rows;
  cr_assert_eq(driver->cuStreamBeginCapture(v.stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  launch(&b, &params);
  cr_assert_eq(driver->cuStreamEndCapture(v.stream, &graph), CUDA_SUCCESS);
  cr_assert_eq(driver->cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  cr_assert_eq(driver->cuGraphDestroy(graph), CUDA_SUCCESS);
  fill_with(&b, row_number);
  for (int64_t count = 0; count <= ROWS; count += 125) {
    cr_assert(v.place->upload(rows, &count, sizeof count));
    cr_assert_eq(driver->cuGraphLaunch(exec, v.stream), CUDA_SUCCESS);
    fetch(&b);
    expect_row_numbers(&b, count);
  }
  cr_assert_eq(driver->cuGraphExecDestroy(exec), CUDA_SUCCESS);
  v.place->give(rows);
  bench_free(&b);
  venue_close(&v);
}

#endif

VENUE_TEST(launch_columns, what_is_missing_is_named)
{
  bench b;
  bench_make(&b, v, NULL);
  tmaring_launch_params params = params_of(&b, ROWS);
  params.workspace = NULL;
  cr_expect_eq(tmaring_launch(b.kernel, &params, v->stream), TMARING_ERROR_ARGUMENT);
  cr_expect_not_null(strstr(tmaring_last_detail(), "workspace"), "%s", tmaring_last_detail());
  cr_expect_eq(tmaring_workspace_init(b.kernel, NULL, v->stream), TMARING_ERROR_ARGUMENT);
  params.rows = 0;
  params.data = NULL;
  cr_expect_eq(tmaring_launch(b.kernel, &params, v->stream), TMARING_ERROR_ARGUMENT);
  cr_expect_not_null(strstr(tmaring_last_detail(), "data"), "%s", tmaring_last_detail());
  bench_free(&b);
}

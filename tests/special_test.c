/* Special values and the ends of the range through every function, on both backends, against the oracle. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/venue.h"
#include "tmaring/tmaring.h"

enum { COLS = 64 };

static const char *const formulas[] = {
    "y = x + x",
    "y = x * x",
    "y = 1 / x",
    "y = -x",
    "y = abs(x)",
    "y = exp(x)",
    "y = log(x)",
    "y = sqrt(x)",
    "y = rsqrt(x)",
    "y = tanh(x)",
    "y = sigmoid(x)",
    "y = min(x, 1)",
    "y = max(x, 1)",
    "y = where(x < 0, 1, x)",
    "y = where(x == x, x, 2)",
};

/* Infinities, NaN, zeros, subnormals, the largest finite values, and where exp leaves the range on either side. */
static void fill(float *x)
{
  static const float ends[] = {0.0f,   1e-45f, 1e-40f, FLT_MIN, 1e-8f, 0.5f,    1.0f,     1.5f,   3.0f,   9.5f,
                               20.0f,  60.0f,  87.0f,  88.5f,   88.9f, 90.0f,   95.0f,    100.0f, 103.0f, 104.5f,
                               150.0f, 1e5f,   1e19f,  2e19f,   1e30f, FLT_MAX, INFINITY, NAN};
  const int count = (int)(sizeof ends / sizeof *ends);
  for (int i = 0; i < COLS; ++i) x[i] = i % 2 ? -ends[i / 2 % count] : ends[i / 2 % count];
}

/* Within 4 units in the last place of fp32, subnormals included; NaN for NaN, infinity for what rounds to it. */
static int agrees(float got, double want)
{
  if (isnan(want)) return isnan(got);
  const float rounded = (float)want;
  if (isinf(rounded) || isinf(got)) return got == rounded;
  const double unit =
      fmax(ldexp(1.0, -149), fabs((double)nextafterf(fabsf(rounded), INFINITY) - fabs((double)rounded)));
  return fabs((double)got - want) <= 4 * unit;
}

static tmaring_status run(const venue *v, const tmaring_formula *formula, void *const *data)
{
  tmaring_tensor tensor[2] = {TMARING_TENSOR_INIT, TMARING_TENSOR_INIT};
  tmaring_plan *plan = NULL;
  tmaring_kernel *kernel = NULL;
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  for (int i = 0; i < 2; ++i) tensor[i].rows = 1, tensor[i].cols = COLS;
  params.rows = 1;
  params.data = data;
  tmaring_status status = tmaring_plan_create(&plan, formula, tensor, 2, &v->machine, NULL);
  if (status == TMARING_OK) status = tmaring_prepare(&kernel, plan, v->backend);
  if (status == TMARING_OK) status = tmaring_launch(kernel, &params, v->stream);
  if (!venue_settle(v)) status = TMARING_ERROR_DRIVER;
  tmaring_kernel_free(kernel);
  tmaring_plan_free(plan);
  return status;
}

static void compare(const char *text, const float *x, const float *y, const double *want)
{
  for (int i = 0; i < COLS; ++i)
    cr_expect(agrees(y[i], want[i]), "%s at x = %a: got %a, want %a", text, (double)x[i], (double)y[i], want[i]);
}

static void run_all(const venue *v)
{
  float x[COLS], y[COLS];
  double wide[COLS], want[COLS];
  double *oracle[2] = {wide, want};
  void *data[2] = {v->place->take(sizeof x), v->place->take(sizeof y)};
  fill(x);
  for (int i = 0; i < COLS; ++i) wide[i] = x[i];
  cr_assert(data[0] && data[1] && v->place->upload(data[0], x, sizeof x));
  for (size_t f = 0; f < sizeof formulas / sizeof *formulas; ++f) {
    tmaring_formula *formula = NULL;
    cr_assert_eq(tmaring_formula_parse(&formula, formulas[f]), TMARING_OK, "%s", tmaring_last_detail());
    cr_assert_eq(tmaring_formula_evaluate(formula, 1, COLS, oracle, NULL, NULL), TMARING_OK);
    memset(y, 0xa5, sizeof y);
    cr_assert(v->place->upload(data[1], y, sizeof y));
    cr_assert_eq(run(v, formula, data), TMARING_OK, "%s: %s", formulas[f], tmaring_last_detail());
    cr_assert(v->place->download(y, data[1], sizeof y));
    compare(formulas[f], x, y, want);
    tmaring_formula_free(formula);
  }
  v->place->give(data[0]);
  v->place->give(data[1]);
  printf("special values: %zu formulas over %d values (%s)\n", sizeof formulas / sizeof *formulas, COLS, v->name);
}

Test(special, values_cpu, .timeout = 60)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  run_all(&v);
  venue_close(&v);
}

Test(special, values_cuda, .timeout = 120)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  run_all(&v);
  venue_close(&v);
}

/* The comparison can fail: the sigmoid that overflows is told from the right one. */
Test(special, an_overflowing_sigmoid_is_seen, .timeout = 10)
{
  const float x = -95.0f, wrong = 1.0f / (1.0f + expf(-x));
  cr_expect_not(agrees(wrong, 1.0 / (1.0 + exp(-(double)x))));
}

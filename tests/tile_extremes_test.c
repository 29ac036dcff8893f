/* Products of f32 operands at both ends of the range: parts of them must not become infinite, nor sums of parts NaN. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "../src/host/tile/tile_state.h"
#include "support/trial.h"

#define ROWS  16
#define COLS  8
#define DEPTH 4

/* Around the largest values that have 11 bits, and those that round to one; around the least normal value. */
static const float left[ROWS] = {FLT_MAX,       -FLT_MAX,        0x1.fffffcp+127f, -0x1.ffep+127f, 0x1.ffdffep+127f,
                                 0x1.ffcp+127f, 0x1.ff8p+127f,   0x1.0018p+64f,    0x1p+127f,      -0x1.8p+3f,
                                 1.0f,          0x1.357912p-30f, 0x1p-115f,        -FLT_MIN,       0x1.fffffcp-127f,
                                 0x1p-149f};
static const float right[COLS] = {1.0f,       -1.0f, 0x1p-100f, 0x1.002002p-100f,
                                  -0x1p-126f, 0.5f,  0x1p-149f, 0x1.fffffep-3f};

/* fp32's precision; parts below the least value with 11 bits are cut off where the tensor cores hold them. */
static int close_enough(double got, double a, double b)
{
  const double due = a * b, most = ldexp(fabs(due), -20) + ldexp(fabs(a) + fabs(b), -136) + ldexp(1, -149);
  return fabs(got - due) <= most;
}

typedef struct product {
  float a[ROWS * DEPTH], b[DEPTH * COLS], c[ROWS * COLS];
} product;

/* One value per row of a, the others 0: its place in the row differs. */
static void fill(product *p)
{
  memset(p, 0, sizeof *p);
  for (int i = 0; i < ROWS; ++i) p->a[i * DEPTH + i % DEPTH] = left[i];
  for (int i = 0; i < DEPTH * COLS; ++i) p->b[i] = right[i % COLS];
  memset(p->c, 0xff, sizeof p->c);
}

static void launch(const venue *v, const tmaring_tile_plan *plan, product *p)
{
  const memory_place *place = v->place;
  tmaring_tile_kernel *kernel;
  void *data[3] = {place->take(sizeof p->a), place->take(sizeof p->b), place->take(sizeof p->c)};
  cr_assert(data[0] && data[1] && data[2]);
  cr_assert(place->upload(data[0], p->a, sizeof p->a) && place->upload(data[1], p->b, sizeof p->b));
  cr_assert(place->upload(data[2], p->c, sizeof p->c));
  cr_assert_eq(trial_compile(&plan->plan), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_tile_prepare(&kernel, plan, v->backend), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_tile_launch(kernel, data, NULL, 0, v->stream), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert(venue_settle(v));
  cr_assert(place->download(p->c, data[2], sizeof p->c));
  for (int t = 0; t < 3; ++t) place->give(data[t]);
  tmaring_tile_kernel_free(kernel);
}

static tmaring_tile_plan *plan_of(const venue *v, int32_t load)
{
  const int64_t dims[3][2] = {{DEPTH, ROWS}, {COLS, DEPTH}, {COLS, ROWS}};
  const tmaring_tile_tensor empty = TMARING_TILE_TENSOR_INIT;
  tmaring_tile_tensor tensor[3] = {empty, empty, empty};
  tmaring_tile_options options;
  tmaring_tile_plan *plan;
  tmaring_tile_options_init(&options);
  options.load = load;
  for (int t = 0; t < 3; ++t) tensor[t].rank = 2, memcpy(tensor[t].dims, dims[t], sizeof dims[t]);
  cr_assert_eq(tmaring_tile_plan_create(&plan, TMARING_TILE_MATMUL, tensor, 3, &v->machine, &options), TMARING_OK, "%s",
               tmaring_last_detail());
  return plan;
}

VENUE_TEST(tile_extremes, finite_operands_make_finite_products)
{
  static const int32_t load[] = {TMARING_LOAD_TILE, TMARING_LOAD_BULK};
  for (int l = 0; l < 2; ++l) {
    static product p;
    tmaring_tile_plan *plan = plan_of(v, load[l]);
    fill(&p);
    launch(v, plan, &p);
    for (int i = 0; i < ROWS * COLS; ++i)
      cr_expect(close_enough((double)p.c[i], (double)left[i / COLS], (double)right[i % COLS]), "%a * %a: %a",
                (double)left[i / COLS], (double)right[i % COLS], (double)p.c[i]);
    tmaring_tile_plan_free(plan);
  }
}

/* Two parts that are rounded to nearest without regard to the end of the range: what the test is there to see. */
Test(tile_extremes, mutant_rounds_to_infinity, .timeout = 10)
{
  const double high = (double)FLT_MAX < 0x1.ffep+127 ? (double)FLT_MAX : INFINITY, low = (double)FLT_MAX - high;
  cr_expect_not(close_enough(high * 0x1p-100 + low * 0x1p-100, (double)FLT_MAX, 0x1p-100));
  cr_expect_not(close_enough(INFINITY, (double)FLT_MAX, 1));
  cr_expect_not(close_enough(0x1.ffcp+27, (double)FLT_MAX, 0x1p-100), "the low part left out");
  cr_expect(close_enough(0x1.fffffep+27, (double)FLT_MAX, 0x1p-100));
}

/* Arguments of tile programs: machines and option structs that are none, and axes of one element, along which no stride
 * is ever taken. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../src/host/tile/tile_state.h"
#include "support/noise.h"
#include "support/trial.h"

static tmaring_tile_tensor tensor_of(int64_t inner, int64_t outer, int64_t stride)
{
  tmaring_tile_tensor t = TMARING_TILE_TENSOR_INIT;
  t.rank = 2;
  t.dims[0] = inner;
  t.dims[1] = outer;
  t.strides[0] = stride > 0;
  t.strides[1] = stride;
  return t;
}

static tmaring_machine h200(void)
{
  tmaring_machine m;
  memset(&m, 0, sizeof m);
  tmaring_machine_h200(&m);
  return m;
}

static void expect_refused(const tmaring_machine *machine, const tmaring_tile_options *options, const char *field)
{
  const tmaring_tile_tensor t[2] = {tensor_of(64, 64, 0), tensor_of(64, 64, 0)};
  tmaring_tile_plan *plan;
  const tmaring_status status = tmaring_tile_plan_create(&plan, TMARING_TILE_COPY, t, 2, machine, options);
  cr_expect_null(plan, "%s", field);
  cr_expect_eq(status, TMARING_ERROR_ARGUMENT, "%s: %s", field, tmaring_status_name(status));
  cr_expect_not_null(strstr(tmaring_last_detail(), field), "\"%s\" lacks %s", tmaring_last_detail(), field);
}

Test(tile_arguments, machines_are_checked, .timeout = 10)
{
  tmaring_machine m = h200();
  m.sm_count = 0;
  expect_refused(&m, NULL, "sm_count");
  m = h200();
  m.smem_per_block_bytes = -1;
  expect_refused(&m, NULL, "smem_per_block_bytes");
}

Test(tile_arguments, options_of_another_size_are_not_read, .timeout = 10)
{
  const tmaring_machine m = h200();
  const size_t other = sizeof(tmaring_tile_options) - 4;
  tmaring_tile_options *o = malloc(sizeof o->size); /* no more of it is there */
  cr_assert_not_null(o);
  memcpy(o, &other, sizeof other);
  expect_refused(&m, o, "size");
  free(o);
}

/* A row vector times a matrix: 5 values are no multiple of 16 bytes, nor is a stride of that. Small whole numbers: sums
 * are exact. */
typedef struct row_product {
  float a[5], b[40], c[8];
} row_product;

static void multiply(const venue *v, tmaring_tile_plan *plan, row_product *p)
{
  const memory_place *place = v->place;
  tmaring_tile_kernel *kernel;
  void *data[3] = {place->take(sizeof p->a), place->take(sizeof p->b), place->take(sizeof p->c)};
  cr_assert(data[0] && data[1] && data[2]);
  cr_assert(place->upload(data[0], p->a, sizeof p->a) && place->upload(data[1], p->b, sizeof p->b));
  cr_assert_eq(trial_compile(&plan->plan), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_tile_prepare(&kernel, plan, v->backend), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring_tile_launch(kernel, data, NULL, 0, v->stream), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert(venue_settle(v));
  cr_assert(place->download(p->c, data[2], sizeof p->c));
  for (int k = 0; k < 3; ++k) place->give(data[k]);
  tmaring_tile_kernel_free(kernel);
}

VENUE_TEST(tile_arguments, axes_of_one_element)
{
  static const int64_t strides[] = {0, 5, 7, INT64_MAX};
  noise n = noise_seed(11);
  for (int i = 0; i < 4; ++i) {
    const tmaring_tile_tensor t[3] = {tensor_of(5, 1, strides[i]), tensor_of(8, 5, 0), tensor_of(8, 1, strides[i])};
    row_product p = {{0}, {0}, {0}};
    tmaring_tile_plan *plan;
    for (int k = 0; k < 5; ++k) p.a[k] = (float)(1 + noise_below(&n, 9));
    for (int k = 0; k < 40; ++k) p.b[k] = (float)(1 + noise_below(&n, 9));
    cr_assert_eq(tmaring_tile_plan_create(&plan, TMARING_TILE_MATMUL, t, 3, &v->machine, NULL), TMARING_OK, "%s",
                 tmaring_last_detail());
    cr_expect_eq(tmaring_tile_check(plan, NULL), TMARING_OK, "%s", tmaring_last_detail());
    multiply(v, plan, &p);
    for (int j = 0; j < 8; ++j) {
      double due = 0;
      for (int k = 0; k < 5; ++k) due += (double)p.a[k] * p.b[8 * k + j];
      cr_expect_eq((double)p.c[j], due, "stride %lld, element %d", (long long)strides[i], j);
    }
    tmaring_tile_plan_free(plan);
  }
}

/* Elements as the verification reads and rounds them, against the tests' own arithmetic. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../src/host/cli/element.h"
#include "support/noise.h"
#include "support/number.h"

static int same(double a, double b)
{
  return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

Test(element, reads_every_code_of_small_types, .timeout = 30)
{
  for (int t = 0; t < TMARING_DTYPE_COUNT; ++t) {
    const uint32_t bytes = tmaring_dtype_bytes(t);
    for (uint32_t code = 0; bytes <= 2 && code < 1u << 8 * bytes; ++code) {
      const uint16_t two[2] = {0, (uint16_t)code};
      const uint8_t one[3] = {0, 0, (uint8_t)code};
      const void *const data = bytes == 2 ? (const void *)two : (const void *)one;
      const double got = tmaring__element(data, (tmaring_dtype)t, bytes == 2 ? 1 : 2);
      const double due = number_read((tmaring_dtype)t, bytes == 2 ? (const void *)&two[1] : (const void *)&one[2]);
      cr_assert(same(got, due), "%s 0x%x: got %g, needs %g", tmaring_dtype_name((tmaring_dtype)t), code, got, due);
    }
  }
}

Test(element, reads_known_codes, .timeout = 10)
{
  static const uint8_t codes[] = {0x7e, 0x01, 0x08, 0xfe, 0x80, 0x7b, 0x7c, 0x04};
  cr_expect_eq(tmaring__element(codes, TMARING_E4M3, 0), 448);
  cr_expect_eq(tmaring__element(codes, TMARING_E4M3, 1), 0x1p-9);
  cr_expect_eq(tmaring__element(codes, TMARING_E4M3, 2), 0x1p-6);
  cr_expect_eq(tmaring__element(codes, TMARING_E4M3, 3), -448);
  cr_expect(same(tmaring__element(codes, TMARING_E4M3, 4), -0.0));
  cr_expect_eq(tmaring__element(codes, TMARING_E5M2, 5), 57344);
  cr_expect_eq(tmaring__element(codes, TMARING_E5M2, 6), INFINITY);
  cr_expect_eq(tmaring__element(codes, TMARING_E5M2, 7), 0x1p-14);
}

Test(element, reads_wide_types_at_any_address, .timeout = 10)
{
  unsigned char bytes[32] = {0};
  const double f64 = -1.0 / 3;
  const float f32 = 1.0f / 3;
  const int64_t i64 = -(1ll << 53) + 1;
  const int32_t i32 = INT32_MIN;
  for (int past = 0; past < 8; ++past) {
    memcpy(bytes + past + 8, &f64, 8);
    cr_expect_eq(tmaring__element(bytes + past, TMARING_F64, 1), f64);
    memcpy(bytes + past + 4, &f32, 4);
    cr_expect_eq(tmaring__element(bytes + past, TMARING_F32, 1), f32);
    memcpy(bytes + past + 8, &i64, 8);
    cr_expect_eq(tmaring__element(bytes + past, TMARING_I64, 1), (double)i64);
    memcpy(bytes + past + 4, &i32, 4);
    cr_expect_eq(tmaring__element(bytes + past, TMARING_I32, 1), (double)i32);
  }
}

static void expect_rounds(tmaring_dtype dtype, double value)
{
  const double got = tmaring__element_round(dtype, value), due = number_round(dtype, value);
  cr_assert(same(got, due) || (got == 0 && due == 0), "%s %a: got %a, needs %a", tmaring_dtype_name(dtype), value, got,
            due);
}

/* Any bits, and what lies close to the midpoints of every type. */
Test(element, rounds_as_stores_do, .timeout = 60)
{
  static const double edges[] = {
      0,        -0.0,    NAN,      INFINITY, -INFINITY, 0x1p-1074,       127.5,   -128.5,     448,          464,
      464.0001, 480,     57344,    61440,    65504,     65519.99,        65520,   1e300,      2147483647.5, -0x1p31,
      0x1p63,   0x1p-10, 0x1p-150, 0x1p-134, 0x1.8p-10, 0x1.fffffffp127, 0x1p-25, 0x1.8p-150, 0x1p-1022,    0.5,
      1.5,      2.5,     -2.5,     0x1p52,   0x1p53};
  noise n = noise_seed(11);
  for (int t = 0; t < TMARING_DTYPE_COUNT; ++t) {
    const tmaring_dtype dtype = (tmaring_dtype)t;
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; ++i) expect_rounds(dtype, edges[i]);
    for (int i = 0; i < 100000; ++i) {
      const uint64_t bits = noise_next(&n);
      double value;
      memcpy(&value, &bits, sizeof value);
      expect_rounds(dtype, value);
      const double close = number_round(dtype, noise_between(&n, -500, 500));
      const double midpoint = close + number_half_ulp(dtype, close);
      expect_rounds(dtype, midpoint);
      expect_rounds(dtype, nextafter(midpoint, INFINITY));
      expect_rounds(dtype, nextafter(midpoint, -INFINITY));
    }
  }
}

Test(element, knows_roundoffs, .timeout = 10)
{
  cr_expect_eq(tmaring__element_roundoff(TMARING_F32), 0x1p-24);
  cr_expect_eq(tmaring__element_roundoff(TMARING_F16), 0x1p-11);
  cr_expect_eq(tmaring__element_roundoff(TMARING_BF16), 0x1p-8);
  cr_expect_eq(tmaring__element_roundoff(TMARING_F64), 0x1p-53);
  cr_expect_eq(tmaring__element_roundoff(TMARING_E4M3), 0x1p-4);
  cr_expect_eq(tmaring__element_roundoff(TMARING_E5M2), 0x1p-3);
  cr_expect_eq(tmaring__element_roundoff(TMARING_I8), 0);
}

/* fp16 and bf16 conversions of the CPU side: every code, and every place where rounding turns. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../src/host/base/half.h"
#include "tmaring/abi/base.h"

/* Value of a code with `mantissa` bits after the sign and the exponent, by its definition. */
static double value_of(uint32_t code, int mantissa, int bias)
{
  const int exponent = (int)((code & 0x7fffu) >> mantissa), top = (int)(0x7fffu >> mantissa);
  const double fraction = (double)(code & ((1u << mantissa) - 1)), sign = code & 0x8000u ? -1.0 : 1.0;
  if (exponent == top) return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
  if (exponent == 0) return sign * ldexp(fraction, 1 - bias - mantissa);
  return sign * ldexp(fraction + ldexp(1.0, mantissa), exponent - bias - mantissa);
}

typedef struct half_type {
  int mantissa, bias;
  float (*to)(uint16_t code);
  uint16_t (*from)(float value);
} half_type;

static const half_type types[] = {{10, 15, tmaring__f16_to_f32, tmaring__f16_from_f32},
                                  {7, 127, tmaring__bf16_to_f32, tmaring__bf16_from_f32}};

Test(half, every_code_both_ways, .timeout = 30)
{
  for (int t = 0; t < 2; ++t) {
    for (uint32_t code = 0; code < 0x10000u; ++code) {
      const double due = value_of(code, types[t].mantissa, types[t].bias);
      const float got = types[t].to((uint16_t)code);
      if (isnan(due)) {
        cr_assert(isnan(got));
        cr_assert_eq(types[t].from(got), 0x7fff);
      } else {
        cr_assert((double)got == due && !signbit(got) == !signbit(due), "code %x: %g, due %g", code, (double)got, due);
        cr_assert_eq(types[t].from(got), code);
      }
    }
  }
}

/* Between neighbours: below the midpoint goes down, above it up, the midpoint itself to the even code. Midpoints are
 * exact in fp32, where bf16 neighbours are normal numbers. */
Test(half, rounds_to_nearest_even, .timeout = 30)
{
  for (int t = 0; t < 2; ++t) {
    const uint32_t infinity = 0x7fffu >> types[t].mantissa << types[t].mantissa;
    for (uint32_t code = 0; code + 1 <= infinity; ++code) {
      const double low = value_of(code, types[t].mantissa, types[t].bias);
      const double step = ldexp(1.0, (int)(code >> types[t].mantissa ? code >> types[t].mantissa : 1) - types[t].bias -
                                         types[t].mantissa);
      const float middle = (float)(low + step / 2);
      const uint32_t even = code & 1u ? code + 1 : code;
      cr_assert_eq((double)middle, low + step / 2);
      cr_assert_eq(types[t].from(middle), even, "code %x, type %d", code, t);
      cr_assert_eq(types[t].from(nextafterf(middle, 0.0f)), code, "code %x, type %d", code, t);
      cr_assert_eq(types[t].from(nextafterf(middle, INFINITY)), code + 1, "code %x, type %d", code, t);
      cr_assert_eq(types[t].from(-middle), even | 0x8000u);
    }
  }
}

Test(half, special_values, .timeout = 10)
{
  cr_assert_eq(tmaring__f16_from_f32(65504.0f), 0x7bff);
  cr_assert_eq(tmaring__f16_from_f32(65519.996f), 0x7bff);
  cr_assert_eq(tmaring__f16_from_f32(65520.0f), 0x7c00);
  cr_assert_eq(tmaring__f16_from_f32(INFINITY), 0x7c00);
  cr_assert_eq(tmaring__f16_from_f32(-INFINITY), 0xfc00);
  cr_assert_eq(tmaring__f16_from_f32(-0.0f), 0x8000);
  cr_assert_eq(tmaring__f16_from_f32(0x1p-25f), 0); /* the midpoint below the smallest subnormal */
  cr_assert_eq(tmaring__f16_from_f32(0x1.000002p-25f), 1);
  cr_assert_eq(tmaring__f16_from_f32(-NAN), 0x7fff);
  cr_assert_eq(tmaring__bf16_from_f32(0x1.fffffep127f), 0x7f80);
  cr_assert_eq(tmaring__bf16_from_f32(-NAN), 0x7fff);
  cr_assert_eq(tmaring__bf16_from_f32(-INFINITY), 0xff80);
}

Test(half, rows_at_any_address, .timeout = 10)
{
  unsigned char memory[64], again[64];
  float values[7];
  for (int dtype = 0; dtype < TMARING_DTYPE_COUNT; ++dtype) {
    for (int i = 0; i < 64; ++i) memory[i] = again[i] = (unsigned char)(37 * i + 5);
    tmaring__dtype_load(values, memory + 3, dtype, 7);
    memset(again + 3, 0, 7 * tmaring_dtype_bytes(dtype));
    tmaring__dtype_store(again + 3, values, dtype, 7);
    cr_assert_arr_eq(again, memory, 64);
  }
}

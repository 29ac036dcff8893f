/* Conversions of the CPU side: every code of the narrow types, and every place where rounding turns. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "../src/host/base/convert.h"
#include "tmaring/abi/base.h"

/* A narrow type by its definition: bits of a code, mantissa, bias; code of the largest finite value, and what a store
 * leaves beyond it. */
typedef struct narrow {
  tmaring_dtype dtype;
  int bits, mantissa, bias;
  uint32_t largest, beyond, nan;
} narrow;

static const narrow types[] = {{TMARING_F16, 16, 10, 15, 0x7bff, 0x7c00, 0x7fff},
                               {TMARING_BF16, 16, 7, 127, 0x7f7f, 0x7f80, 0x7fff},
                               {TMARING_E4M3, 8, 3, 7, 0x7e, 0x7e, 0x7f},
                               {TMARING_E5M2, 8, 2, 15, 0x7b, 0x7b, 0x7f}};

#define TYPE_COUNT ((int)(sizeof types / sizeof *types))

static uint32_t sign_of(const narrow *t)
{
  return 1u << (t->bits - 1);
}

/* Sign, exponent and mantissa in decimal arithmetic. e4m3 has a NaN where others have infinity and NaNs. */
static double value_of(const narrow *t, uint32_t code)
{
  const uint32_t magnitude = code & (sign_of(t) - 1);
  const int exponent = (int)(magnitude >> t->mantissa);
  const double fraction = (double)(magnitude & ((1u << t->mantissa) - 1)), sign = code & sign_of(t) ? -1.0 : 1.0;
  if (magnitude > t->largest)
    return magnitude == t->largest + 1 && t->dtype != TMARING_E4M3 ? sign * (double)INFINITY : (double)NAN;
  if (exponent == 0) return sign * ldexp(fraction, 1 - t->bias - t->mantissa);
  return sign * ldexp(fraction + ldexp(1.0, t->mantissa), exponent - t->bias - t->mantissa);
}

static uint32_t read_code(const narrow *t, const void *from)
{
  uint16_t code = 0;
  memcpy(&code, from, (size_t)t->bits / 8); /* little-endian */
  return code;
}

static uint32_t store_narrow(const narrow *t, double value)
{
  unsigned char element[4];
  const float number = (float)value;
  tmaring__dtype_store(element, &number, t->dtype, 1);
  return read_code(t, element);
}

static uint32_t store_wide(const narrow *t, double value)
{
  unsigned char element[4];
  tmaring__dtype_store_wide(element, &value, t->dtype, 1);
  return read_code(t, element);
}

static int same(double a, double b)
{
  return isnan(a) ? isnan(b) != 0 : a == b && !signbit(a) == !signbit(b);
}

Test(convert, every_code_both_ways, .timeout = 30)
{
  for (int i = 0; i < TYPE_COUNT; ++i) {
    const narrow *t = &types[i];
    for (uint32_t code = 0; code < 1u << t->bits; ++code) {
      const double due = value_of(t, code);
      const uint16_t element = (uint16_t)code;
      /* infinity of e5m2 is read as such and never stored */
      const uint32_t back = isnan(due) ? t->nan : isinf(due) ? t->beyond | (code & sign_of(t)) : code;
      float number;
      double wide;
      tmaring__dtype_load(&number, &element, t->dtype, 1);
      tmaring__dtype_load_wide(&wide, &element, t->dtype, 1);
      cr_assert(same((double)number, due) && same(wide, due), "type %d, code %x: %g, %g, due %g", t->dtype, code,
                (double)number, wide, due);
      cr_assert_eq(store_narrow(t, due), back, "type %d, code %x", t->dtype, code);
      cr_assert_eq(store_wide(t, due), back, "type %d, code %x", t->dtype, code);
      cr_assert(same(tmaring__dtype_round(t->dtype, due), value_of(t, back)));
    }
  }
}

/* Between neighbours: below the midpoint goes down, above it up, the midpoint itself to the even code. Midpoints are
 * exact in fp32. Just beside a midpoint a double turns the right way though fp32 would put it on the midpoint. */
static void check_midpoint(const narrow *t, uint32_t code, uint32_t above, double middle)
{
  const uint32_t even = code & 1u ? above : code;
  const double down[] = {nextafter(middle, 0.0), middle * (1 - 0x1p-30), (double)nextafterf((float)middle, 0.0f)};
  const double up[] = {nextafter(middle, INFINITY), middle * (1 + 0x1p-30),
                       (double)nextafterf((float)middle, INFINITY)};
  cr_assert_eq((double)(float)middle, middle);
  cr_assert_eq(store_narrow(t, middle), even, "code %x, type %d", code, t->dtype);
  cr_assert_eq(store_wide(t, middle), even, "code %x, type %d", code, t->dtype);
  cr_assert_eq(store_narrow(t, -middle), even | sign_of(t));
  cr_assert_eq(store_narrow(t, down[2]), code, "code %x, type %d", code, t->dtype);
  cr_assert_eq(store_narrow(t, up[2]), above, "code %x, type %d", code, t->dtype);
  for (int i = 0; i < 3; ++i) {
    cr_assert_eq(store_wide(t, down[i]), code, "code %x, type %d, %d", code, t->dtype, i);
    cr_assert_eq(store_wide(t, up[i]), above, "code %x, type %d, %d", code, t->dtype, i);
    cr_assert_eq(store_wide(t, -up[i]), above | sign_of(t), "code %x, type %d, %d", code, t->dtype, i);
  }
  cr_assert_eq(tmaring__dtype_round(t->dtype, down[0]), value_of(t, code));
  cr_assert_eq(tmaring__dtype_round(t->dtype, up[0]), value_of(t, above));
}

Test(convert, rounds_to_nearest_even, .timeout = 60)
{
  for (int i = 0; i < TYPE_COUNT; ++i) {
    const narrow *t = &types[i];
    for (uint32_t code = 0; code < t->largest; ++code) {
      check_midpoint(t, code, code + 1, (value_of(t, code) + value_of(t, code + 1)) / 2);
    }
  }
}

/* Beyond the largest value the next code would begin half a step further: there f16 and bf16 become infinite, fp8 stays.
 */
Test(convert, beyond_the_largest_value, .timeout = 10)
{
  for (int i = 0; i < TYPE_COUNT; ++i) {
    const narrow *t = &types[i];
    const double largest = value_of(t, t->largest), step = largest - value_of(t, t->largest - 1);
    const double far[] = {largest + step / 2, largest + step, 3 * largest, INFINITY};
    cr_assert_eq(store_wide(t, nextafter(largest + step / 2, 0.0)), t->largest);
    cr_assert_eq(store_narrow(t, nextafterf((float)(largest + step / 2), 0.0f)), t->largest);
    for (int k = 0; k < 4; ++k) {
      cr_assert_eq(store_narrow(t, far[k]), t->beyond, "type %d, %g", t->dtype, far[k]);
      cr_assert_eq(store_wide(t, far[k]), t->beyond, "type %d, %g", t->dtype, far[k]);
      cr_assert_eq(store_wide(t, -far[k]), t->beyond | sign_of(t), "type %d, %g", t->dtype, far[k]);
    }
    cr_assert_eq(store_wide(t, DBL_MAX), t->beyond);
    cr_assert_eq(store_narrow(t, -NAN), t->nan);
    cr_assert_eq(store_wide(t, -NAN), t->nan);
    cr_assert_eq(store_wide(t, 0x1p-1074), 0);
    cr_assert_eq(store_wide(t, -0.0), sign_of(t));
  }
}

Test(convert, numbers_worked_out_by_hand, .timeout = 10)
{
  cr_assert_eq(tmaring__dtype_round(TMARING_E4M3, 448.0), 448.0);
  cr_assert_eq(tmaring__dtype_round(TMARING_E4M3, 1e9), 448.0);
  cr_assert_eq(tmaring__dtype_round(TMARING_E4M3, -INFINITY), -448.0);
  cr_assert_eq(tmaring__dtype_round(TMARING_E4M3, 19.0), 20.0); /* 18 and 20: the code of 20 is even */
  cr_assert_eq(tmaring__dtype_round(TMARING_E4M3, 0x1p-9), 0x1p-9);
  cr_assert_eq(tmaring__dtype_round(TMARING_E4M3, 0x1p-10), 0.0);
  cr_assert_eq(tmaring__dtype_round(TMARING_E5M2, INFINITY), 57344.0);
  cr_assert_eq(tmaring__dtype_round(TMARING_E5M2, 0x1p-16), 0x1p-16);
  cr_assert_eq(tmaring__dtype_round(TMARING_F16, 65519.999), 65504.0);
  cr_assert_eq(tmaring__dtype_round(TMARING_F16, 65520.0), (double)INFINITY);
  cr_assert_eq(tmaring__dtype_round(TMARING_F32, 1 + 0x1p-24), 1.0);
  cr_assert_eq(tmaring__dtype_round(TMARING_F32, 1 + 0x1.000001p-24), 1 + 0x1p-23);
  cr_assert_eq(tmaring__dtype_round(TMARING_F32, 1e300), (double)INFINITY);
  cr_assert_eq(tmaring__dtype_round(TMARING_F64, 1e300), 1e300);
  cr_assert_eq(tmaring__f16_from_f32(65519.996f), 0x7bff);
  cr_assert_eq(tmaring__f16_to_f32(0x3555), 0x1.554p-2f);
  cr_assert_eq(tmaring__bf16_from_f32(0x1.fffffep127f), 0x7f80);
  cr_assert_eq(tmaring__bf16_to_f32(0x3eab), 0x1.56p-2f);
}

typedef struct whole_case {
  double value, i8, i32, i64;
} whole_case;

/* Ties to even, ends of the types, NaN. */
Test(convert, whole_numbers, .timeout = 10)
{
  const double high = 0x1p63, low32 = -2147483648.0, high32 = 2147483647.0;
  const whole_case cases[] = {{0.5, 0, 0, 0},
                              {1.5, 2, 2, 2},
                              {-2.5, -2, -2, -2},
                              {-0.75, -1, -1, -1},
                              {0.49999999999999994, 0, 0, 0},
                              {127.5, 127, 128, 128},
                              {-128.5, -128, -128, -128},
                              {-129, -128, -129, -129},
                              {2147483646.5, 127, 2147483646, 2147483646},
                              {2147483647.5, 127, high32, 2147483648.0},
                              {-2147483648.5, -128, low32, -2147483648.0},
                              {1e18, 127, high32, 1e18},
                              {-1e19, -128, low32, -high},
                              {1e19, 127, high32, high},
                              {INFINITY, 127, high32, high},
                              {-INFINITY, -128, low32, -high},
                              {NAN, 0, 0, 0}};
  int64_t element;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const whole_case *c = &cases[i];
    const float number = (float)c->value;
    int8_t by_narrow;
    cr_assert_eq(tmaring__dtype_round(TMARING_I8, c->value), c->i8, "%.17g", c->value);
    cr_assert_eq(tmaring__dtype_round(TMARING_I32, c->value), c->i32, "%.17g", c->value);
    cr_assert_eq(tmaring__dtype_round(TMARING_I64, c->value), c->i64, "%.17g", c->value);
    if ((double)number != c->value) continue; /* NaN too */
    tmaring__dtype_store(&by_narrow, &number, TMARING_I8, 1);
    cr_assert_eq(by_narrow, (int8_t)c->i8);
  }
  tmaring__dtype_store_wide(&element, &high, TMARING_I64, 1);
  cr_assert_eq(element, INT64_MAX);
  tmaring__dtype_store(&element, &(float){-0x1p63f}, TMARING_I64, 1);
  cr_assert_eq(element, INT64_MIN);
}

Test(convert, whole_numbers_are_loaded_as_numbers, .timeout = 10)
{
  const int64_t large = (1ll << 53) + 1;
  const int32_t odd = (1 << 24) + 1;
  float number;
  double wide;
  for (int i = -128; i < 128; ++i) {
    const int8_t small = (int8_t)i;
    tmaring__dtype_load(&number, &small, TMARING_I8, 1);
    tmaring__dtype_load_wide(&wide, &small, TMARING_I8, 1);
    cr_assert(number == (float)i && wide == i);
  }
  tmaring__dtype_load(&number, &odd, TMARING_I32, 1);
  tmaring__dtype_load_wide(&wide, &odd, TMARING_I32, 1);
  cr_assert(number == 0x1p24f && wide == 16777217.0);
  tmaring__dtype_load_wide(&wide, &large, TMARING_I64, 1);
  cr_assert_eq(wide, 0x1p53);
}

Test(convert, round_even_keeps_the_sign, .timeout = 10)
{
  const double values[] = {0.0, -0.0, -0.25, 0.5, -1.5, 2.5, 0x1.fffffffffffffp51, -0x1.8p52, 1e300, -INFINITY, NAN};
  const double due[] = {0.0, -0.0, -0.0, 0.0, -2.0, 2.0, 0x1p52, -0x1.8p52, 1e300, -INFINITY, NAN};
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i)
    cr_assert(same(tmaring__round_even(values[i]), due[i]), "%g: %g", values[i], tmaring__round_even(values[i]));
}

/* Neighbouring bytes stay as they are. The bytes are codes of numbers, so that every type gives them back. */
Test(convert, rows_at_any_address, .timeout = 10)
{
  for (int dtype = 0; dtype < TMARING_DTYPE_COUNT; ++dtype) {
    const size_t bytes = 7 * (size_t)tmaring_dtype_bytes(dtype);
    unsigned char memory[64], again[64];
    float values[7];
    double wide[7];
    for (int i = 0; i < 64; ++i) memory[i] = again[i] = (unsigned char)(37 * i + 5);
    for (size_t i = 0; i < 7; ++i) {
      wide[i] = (double)i * (i % 2 ? -3.0 : 2.5) + 0.25;
      wide[i] = tmaring__dtype_round(dtype, wide[i]);
    }
    tmaring__dtype_store_wide(memory + 3, wide, dtype, 7);
    tmaring__dtype_load(values, memory + 3, dtype, 7);
    for (int i = 0; i < 7; ++i) cr_assert_eq((double)values[i], wide[i], "type %d, element %d", dtype, i);
    tmaring__dtype_store(again + 3, values, dtype, 7);
    cr_assert_arr_eq(again, memory, 64);
    cr_assert_eq(memory[3 + bytes], (unsigned char)(37 * (3 + bytes) + 5));
  }
}

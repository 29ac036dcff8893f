#include "element.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A floating-point type: significant bits (the hidden one included), exponent of its smallest normal number, and
 * largest finite number. */
typedef struct format {
  int bits, lowest;
  double largest;
  int saturates;
} format;

static format format_of(tmaring_dtype dtype)
{
  static const format f32 = {24, -126, 0x1.fffffep127, 0}, f16 = {11, -14, 65504, 0}, bf16 = {8, -126, 0x1.fep127, 0},
                      e4m3 = {4, -6, 448, 1}, e5m2 = {3, -14, 57344, 1}, f64 = {53, -1022, 0, 0};
  switch (dtype) {
  case TMARING_F32: return f32;
  case TMARING_F16: return f16;
  case TMARING_BF16: return bf16;
  case TMARING_E4M3: return e4m3;
  case TMARING_E5M2: return e5m2;
  default: return f64;
  }
}

/* For exponents of normal numbers. */
static double power_of_two(int exponent)
{
  const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

/* Of the highest digit; below every type's smallest for subnormal doubles. */
static int exponent_of(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (int)(bits >> 52 & 2047) - 1023;
}

/* Value of a code with `fraction` bits after the hidden one, whose exponent 0 stands for subnormals; NaN and infinity
 * are the caller's. */
static double decode(uint32_t code, int fraction, int exponent_bits)
{
  const int bias = (1 << (exponent_bits - 1)) - 1, exponent = (int)(code >> fraction) & ((1 << exponent_bits) - 1);
  const double sign = code >> (fraction + exponent_bits) & 1 ? -1 : 1;
  const uint32_t digits = code & ((1u << fraction) - 1);
  if (exponent == 0) return sign * digits * power_of_two(1 - bias - fraction);
  return sign * (digits | 1u << fraction) * power_of_two(exponent - bias - fraction);
}

/* Types whose largest exponent stands for infinity and NaN. */
static double decode_ieee(uint32_t code, int fraction, int exponent_bits)
{
  const uint32_t magnitude = code & ((1u << (fraction + exponent_bits)) - 1);
  const uint32_t infinity = ((1u << exponent_bits) - 1) << fraction;
  if (magnitude > infinity) return NAN;
  if (magnitude < infinity) return decode(code, fraction, exponent_bits);
  return code != magnitude ? -INFINITY : INFINITY;
}

static double read_small(tmaring_dtype dtype, const void *from)
{
  uint16_t two;
  uint8_t one;
  memcpy(&one, from, sizeof one);
  if (dtype == TMARING_E4M3) return (one & 0x7f) == 0x7f ? NAN : decode(one, 3, 4);
  if (dtype == TMARING_E5M2) return decode_ieee(one, 2, 5);
  if (dtype == TMARING_I8) return (int8_t)one;
  memcpy(&two, from, sizeof two);
  return dtype == TMARING_F16 ? decode_ieee(two, 10, 5) : decode_ieee(two, 7, 8);
}

double tmaring__element(const void *data, tmaring_dtype dtype, size_t index)
{
  const char *const from = (const char *)data + index * tmaring_dtype_bytes((tmaring_i32)dtype);
  double f64;
  float f32;
  int64_t i64;
  int32_t i32;
  switch (dtype) {
  case TMARING_F64: return memcpy(&f64, from, sizeof f64), f64;
  case TMARING_F32: return memcpy(&f32, from, sizeof f32), (double)f32;
  case TMARING_I64: return memcpy(&i64, from, sizeof i64), (double)i64;
  case TMARING_I32: return memcpy(&i32, from, sizeof i32), (double)i32;
  default: return read_small(dtype, from);
  }
}

/* Nearest whole number, ties to even: the sum has no room for a fraction. */
static double nearest_whole(double value)
{
  const double shift = copysign(0x1p52, value);
  if (!(fabs(value) < 0x1p52)) return value;
  volatile double sum = value + shift;
  return copysign(sum - shift, value);
}

static double round_whole(double value, double lowest, double highest)
{
  if (isnan(value)) return 0;
  value = nearest_whole(value);
  return value < lowest ? lowest : value > highest ? highest : value;
}

/* A multiple of the type's step at this magnitude; past the largest number infinity, or the largest number itself. */
static double round_float(format f, double value)
{
  if (isnan(value) || (isinf(value) && !f.saturates)) return value;
  if (isinf(value)) return copysign(f.largest, value);
  const int exponent = exponent_of(value);
  const int step = (exponent > f.lowest ? exponent : f.lowest) - f.bits + 1;
  const double rounded = nearest_whole(value * power_of_two(-step)) * power_of_two(step);
  if (fabs(rounded) <= f.largest) return rounded;
  return copysign(f.saturates ? f.largest : INFINITY, value);
}

double tmaring__element_round(tmaring_dtype dtype, double value)
{
  switch (dtype) {
  case TMARING_F64: return value;
  case TMARING_I8: return round_whole(value, -128, 127);
  case TMARING_I32: return round_whole(value, -0x1p31, 0x1p31 - 1);
  case TMARING_I64: return round_whole(value, -0x1p63, 0x1p63);
  default: return round_float(format_of(dtype), value);
  }
}

double tmaring__element_roundoff(tmaring_dtype dtype)
{
  if (dtype == TMARING_I8 || dtype == TMARING_I32 || dtype == TMARING_I64) return 0;
  return power_of_two(-format_of(dtype).bits);
}

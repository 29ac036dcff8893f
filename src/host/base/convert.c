#include "convert.h"

#include <string.h>

#include "tmaring/abi/base.h"

/* A floating-point format of at most 16 bits, its sign on top. */
typedef struct format {
  int32_t mantissa, bias;
  uint32_t largest; /* code of the largest finite value */
  uint32_t beyond;  /* code of what lies above it: infinity, or the largest itself */
  uint32_t nan;
  uint32_t sign;
} format;

static const format f16_format = {10, 15, 0x7bff, 0x7c00, 0x7fff, 0x8000};
static const format bf16_format = {7, 127, 0x7f7f, 0x7f80, 0x7fff, 0x8000};
static const format e4m3_format = {3, 7, 0x7e, 0x7e, 0x7f, 0x80};
static const format e5m2_format = {2, 15, 0x7b, 0x7b, 0x7f, 0x80};

static uint32_t bits_of(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float from_bits(uint32_t bits)
{
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* significand >> shift, rounded to nearest even; a significand has at most 53 bits. */
static uint32_t round_shift(uint64_t significand, int32_t shift)
{
  uint64_t rest, half;
  uint32_t code;
  if (shift > 53) return 0; /* below half of one */
  half = 1ull << (shift - 1);
  rest = significand & (2 * half - 1);
  code = (uint32_t)(significand >> shift);
  return code + (rest > half || (rest == half && (code & 1u)));
}

/* A code is exponent above mantissa, so that a carry out of the mantissa is right as it is. */
static uint32_t encode(const format *f, double value)
{
  const int32_t least = 1 - f->bias; /* exponent of the smallest normal number */
  uint64_t bits, magnitude;
  int32_t exponent;
  uint32_t code, sign;
  memcpy(&bits, &value, sizeof bits);
  magnitude = bits & 0x7fffffffffffffffull;
  sign = bits >> 63 ? f->sign : 0;
  if (magnitude > 0x7ff0000000000000ull) return f->nan;
  exponent = (int32_t)(magnitude >> 52) - 1023;
  magnitude = (magnitude & 0xfffffffffffffull) | 0x10000000000000ull; /* of a subnormal double: far too small anyway */
  code = round_shift(magnitude, 52 - f->mantissa + (exponent < least ? least - exponent : 0));
  if (exponent > least) code += (uint32_t)(exponent - least) << f->mantissa;
  return sign | (code > f->largest ? f->beyond : code);
}

float tmaring__f16_to_f32(uint16_t code)
{
  const uint32_t sign = (uint32_t)(code & 0x8000u) << 16;
  uint32_t bits = (uint32_t)(code & 0x7fffu) << 13;
  /* Moves the exponent's bias from 15 to 127; exact, also for subnormals. */
  const float magnitude = from_bits(bits) * 0x1p112f;
  if ((code & 0x7c00u) == 0x7c00u) return from_bits(sign | 0x7f800000u | bits);
  bits = bits_of(magnitude);
  return from_bits(sign | bits);
}

uint16_t tmaring__f16_from_f32(float value)
{
  const uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffffu;
  const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
  if (magnitude > 0x7f800000u) return 0x7fffu;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u; /* from the midpoint above 65504 on */
  if (magnitude < 0x38800000u) {                       /* below 2^-14: let the adder round at the last subnormal bit */
    const float shifted = from_bits(magnitude) + 0.5f;
    return (uint16_t)(sign | (bits_of(shifted) - 0x3f000000u));
  }
  /* Rebias, then round half to even at bit 13. */
  return (uint16_t)(sign | ((magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13));
}

float tmaring__bf16_to_f32(uint16_t code)
{
  return from_bits((uint32_t)code << 16);
}

uint16_t tmaring__bf16_from_f32(float value)
{
  const uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
  return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static float e4m3_to_f32(uint8_t code)
{
  const uint32_t sign = (uint32_t)(code & 0x80u) << 24;
  /* As for f16: the bias moves from 7 to 127. */
  const float magnitude = from_bits((uint32_t)(code & 0x7fu) << 20) * 0x1p120f;
  return from_bits(sign | ((code & 0x7fu) == 0x7fu ? 0x7fffffffu : bits_of(magnitude)));
}

/* The upper half of an f16. */
static float e5m2_to_f32(uint8_t code)
{
  return tmaring__f16_to_f32((uint16_t)(code << 8));
}

double tmaring__round_even(double value)
{
  const double magnitude = value < 0 ? -value : value;
  double whole;
  uint64_t bits, sign;
  if (!(magnitude < 0x1p52)) return value;
  whole = magnitude + 0x1p52 - 0x1p52; /* the adder rounds at the last whole bit */
  memcpy(&sign, &value, sizeof sign);
  memcpy(&bits, &whole, sizeof bits);
  bits |= sign & 0x8000000000000000ull;
  memcpy(&whole, &bits, sizeof whole);
  return whole;
}

/* Saturated to [low, high], both exact. */
static int64_t whole_between(double value, double low, double high)
{
  if (value != value) return 0;
  return (int64_t)tmaring__round_even(value < low ? low : value > high ? high : value);
}

static int64_t to_i64(double value)
{
  return value >= 0x1p63 ? INT64_MAX : whole_between(value, -0x1p63, 0x1.fffffffffffffp62);
}

/* Load and store, written once for both reals. Elements lie at any byte address. */
#define LOAD(type, value)                                                                                              \
  for (size_t i = 0; i < count; ++i) {                                                                                 \
    type e;                                                                                                            \
    memcpy(&e, (const char *)from + i * sizeof e, sizeof e);                                                           \
    to[i] = (value);                                                                                                   \
  }                                                                                                                    \
  break

#define STORE(type, value)                                                                                             \
  for (size_t i = 0; i < count; ++i) {                                                                                 \
    const type e = (type)(value);                                                                                      \
    memcpy((char *)to + i * sizeof e, &e, sizeof e);                                                                   \
  }                                                                                                                    \
  break

#define DEFINE_LOAD(name, real)                                                                                        \
  void name(real *to, const void *from, int32_t dtype, size_t count)                                                   \
  {                                                                                                                    \
    switch (dtype) {                                                                                                   \
    case TMARING_F32: LOAD(float, e);                                                                                  \
    case TMARING_F16: LOAD(uint16_t, tmaring__f16_to_f32(e));                                                          \
    case TMARING_BF16: LOAD(uint16_t, tmaring__bf16_to_f32(e));                                                        \
    case TMARING_F64: LOAD(double, (real)e);                                                                           \
    case TMARING_E4M3: LOAD(uint8_t, e4m3_to_f32(e));                                                                  \
    case TMARING_E5M2: LOAD(uint8_t, e5m2_to_f32(e));                                                                  \
    case TMARING_I8: LOAD(int8_t, (real)e);                                                                            \
    case TMARING_I32: LOAD(int32_t, (real)e);                                                                          \
    case TMARING_I64: LOAD(int64_t, (real)e);                                                                          \
    }                                                                                                                  \
  }

#define DEFINE_STORE(name, real, to_f16, to_bf16)                                                                      \
  void name(void *to, const real *from, int32_t dtype, size_t count)                                                   \
  {                                                                                                                    \
    switch (dtype) {                                                                                                   \
    case TMARING_F32: STORE(float, from[i]);                                                                           \
    case TMARING_F16: STORE(uint16_t, to_f16(from[i]));                                                                \
    case TMARING_BF16: STORE(uint16_t, to_bf16(from[i]));                                                              \
    case TMARING_F64: STORE(double, from[i]);                                                                          \
    case TMARING_E4M3: STORE(uint8_t, encode(&e4m3_format, (double)from[i]));                                          \
    case TMARING_E5M2: STORE(uint8_t, encode(&e5m2_format, (double)from[i]));                                          \
    case TMARING_I8: STORE(int8_t, whole_between((double)from[i], -128, 127));                                         \
    case TMARING_I32: STORE(int32_t, whole_between((double)from[i], -2147483648.0, 2147483647.0));                     \
    case TMARING_I64: STORE(int64_t, to_i64((double)from[i]));                                                         \
    }                                                                                                                  \
  }

static uint32_t f16_from_f64(double value)
{
  return encode(&f16_format, value);
}

static uint32_t bf16_from_f64(double value)
{
  return encode(&bf16_format, value);
}

DEFINE_LOAD(tmaring__dtype_load, float)
DEFINE_LOAD(tmaring__dtype_load_wide, double)
DEFINE_STORE(tmaring__dtype_store, float, tmaring__f16_from_f32, tmaring__bf16_from_f32)
DEFINE_STORE(tmaring__dtype_store_wide, double, f16_from_f64, bf16_from_f64)

double tmaring__dtype_round(int32_t dtype, double value)
{
  unsigned char element[8];
  tmaring__dtype_store_wide(element, &value, dtype, 1);
  tmaring__dtype_load_wide(&value, element, dtype, 1);
  return value;
}

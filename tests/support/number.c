#include "number.h"

#include <math.h>
#include <string.h>

/* Significand bits with the hidden one, the exponent of the smallest normal value, and what lies past the largest. */
typedef struct layout {
  int digits;
  int lowest;
  int exponent_bits;
  int saturates;
  double largest;
} layout;

static const layout layouts[TMARING_DTYPE_COUNT] = {
    [TMARING_F32] = {24, -126, 8, 0, 0x1.fffffep127},
    [TMARING_F16] = {11, -14, 5, 0, 65504.0},
    [TMARING_BF16] = {8, -126, 8, 0, 0x1.fep127},
    [TMARING_F64] = {53, -1022, 11, 0, 0x1.fffffffffffffp1023},
    [TMARING_E4M3] = {4, -6, 4, 1, 448.0},
    [TMARING_E5M2] = {3, -14, 5, 1, 57344.0},
    [TMARING_I8] = {0, 0, 0, 1, 127.0},
    [TMARING_I32] = {0, 0, 0, 1, 2147483647.0},
    [TMARING_I64] = {0, 0, 0, 1, 9223372036854775808.0},
};

int number_is_integer(tmaring_dtype dtype)
{
  return layouts[dtype].digits == 0;
}

double number_largest(tmaring_dtype dtype)
{
  return layouts[dtype].largest;
}

double number_least(tmaring_dtype dtype)
{
  const layout *l = &layouts[dtype];
  return l->digits == 0 ? 1.0 : ldexp(1.0, l->lowest - (l->digits - 1));
}

/* Exponent of the value's binade, not below that of the smallest normal value. */
static int binade(const layout *l, double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const int exponent = (int)(bits >> 52 & 2047) - 1023;
  return exponent < l->lowest ? l->lowest : exponent;
}

static double power_of_two(int exponent)
{
  const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double round_integer(const layout *l, double value)
{
  if (isnan(value)) return 0.0;
  const double whole = nearbyint(value);
  return whole > l->largest ? l->largest : whole < -l->largest - 1.0 ? -l->largest - 1.0 : whole;
}

/* Adding 1.5 * 2^52 units of the last place leaves no room for anything below them, so the processor rounds there. */
double number_round(tmaring_dtype dtype, double value)
{
  const layout *l = &layouts[dtype];
  if (dtype == TMARING_F64) return value;
  if (l->digits == 0) return round_integer(l, value);
  if (isnan(value) || value == 0.0) return value;
  if (isinf(value)) return l->saturates ? copysign(l->largest, value) : value;
  const int exponent = binade(l, value);
  if (exponent > 900) return copysign(l->saturates ? l->largest : INFINITY, value);
  const double shift = 1.5 * power_of_two(exponent - (l->digits - 1) + 52);
  const double rounded = copysign((value + shift) - shift, value);
  if (fabs(rounded) <= l->largest) return rounded;
  return copysign(l->saturates ? l->largest : INFINITY, value);
}

/* Bits of a type of at most 16 bits. The value is one of the type. */
static uint32_t pack(tmaring_dtype dtype, double value)
{
  const layout *l = &layouts[dtype];
  const int bias = (1 << (l->exponent_bits - 1)) - 1;
  const int fraction_bits = l->digits - 1;
  const uint32_t sign = signbit(value) ? 1u << (l->exponent_bits + fraction_bits) : 0u;
  const uint32_t top = ((1u << l->exponent_bits) - 1) << fraction_bits;
  if (isnan(value)) return top | ((1u << fraction_bits) - 1); /* a NaN in every type */
  if (isinf(value)) return sign | top;
  if (value == 0.0) return sign;
  const int exponent = binade(l, value);
  const uint32_t units = (uint32_t)ldexp(fabs(value), fraction_bits - exponent); /* exact */
  const uint32_t hidden = 1u << fraction_bits;
  const uint32_t biased = units >= hidden ? (uint32_t)(exponent + bias) : 0;
  return sign | biased << fraction_bits | (units & (hidden - 1));
}

static double unpack(tmaring_dtype dtype, uint32_t bits)
{
  const layout *l = &layouts[dtype];
  const int fraction_bits = l->digits - 1;
  const uint32_t ones = (1u << fraction_bits) - 1, fraction = bits & ones;
  const int top = (1 << l->exponent_bits) - 1;
  const int biased = (int)(bits >> fraction_bits) & top;
  const double sign = bits >> (l->exponent_bits + fraction_bits) & 1 ? -1.0 : 1.0;
  if (dtype == TMARING_E4M3) { /* no infinities: the top binade holds numbers, and one NaN */
    if (biased == top && fraction == ones) return NAN;
  } else if (biased == top) {
    return fraction ? NAN : sign * INFINITY;
  }
  if (biased == 0) return sign * ldexp(fraction, l->lowest - fraction_bits);
  return sign * ldexp((double)fraction + ones + 1, biased - 1 + l->lowest - fraction_bits);
}

/* Every value of a type of at most 16 bits; filled at first use. One thread fills it before others start (number_read
 * in set-up). */
static const double *table_of(tmaring_dtype dtype)
{
  static double wide[2][65536], narrow[2][256];
  static int filled[4];
  const int bytes = (int)tmaring_dtype_bytes(dtype), second = dtype == TMARING_BF16 || dtype == TMARING_E5M2;
  const int which = bytes == 2 ? second : 2 + second;
  double *table = bytes == 2 ? wide[second] : narrow[second];
  if (!filled[which]) {
    for (uint32_t i = 0; i < 1u << (8 * bytes); ++i) table[i] = unpack(dtype, i);
    filled[which] = 1;
  }
  return table;
}

static void write_integer(tmaring_dtype dtype, void *to, double value)
{
  const double rounded = number_round(dtype, value);
  const int64_t whole = rounded >= 9223372036854775808.0 ? INT64_MAX : (int64_t)rounded;
  const int32_t word = (int32_t)whole;
  const int8_t byte = (int8_t)whole;
  if (dtype == TMARING_I64) memcpy(to, &whole, sizeof whole);
  if (dtype == TMARING_I32) memcpy(to, &word, sizeof word);
  if (dtype == TMARING_I8) memcpy(to, &byte, sizeof byte);
}

void number_write(tmaring_dtype dtype, void *to, double value)
{
  const float single = (float)value;
  if (number_is_integer(dtype)) {
    write_integer(dtype, to, value);
  } else if (dtype == TMARING_F64) {
    memcpy(to, &value, sizeof value);
  } else if (dtype == TMARING_F32) {
    memcpy(to, &single, sizeof single);
  } else {
    const uint32_t bits = pack(dtype, number_round(dtype, value));
    const uint16_t two = (uint16_t)bits;
    const uint8_t one = (uint8_t)bits;
    if (tmaring_dtype_bytes(dtype) == 2) {
      memcpy(to, &two, sizeof two);
    } else {
      memcpy(to, &one, sizeof one);
    }
  }
}

double number_read(tmaring_dtype dtype, const void *from)
{
  double value = 0.0;
  number_read_row(dtype, &value, from, 1);
  return value;
}

/* Reads `count` values of a C type. */
#define READ_AS(type)                                                                                                  \
  for (int64_t i = 0; i < count; ++i) {                                                                                \
    type element;                                                                                                      \
    memcpy(&element, bytes + (int64_t)sizeof element * i, sizeof element);                                             \
    to[i] = (double)element;                                                                                           \
  }

static void read_table(tmaring_dtype dtype, double *to, const unsigned char *bytes, int64_t count)
{
  const double *table = table_of(dtype);
  if (tmaring_dtype_bytes(dtype) == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = table[bytes[i]];
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    memcpy(&bits, bytes + 2 * i, sizeof bits);
    to[i] = table[bits];
  }
}

void number_read_row(tmaring_dtype dtype, double *to, const void *from, int64_t count)
{
  const unsigned char *bytes = from;
  switch (dtype) {
  case TMARING_F32: READ_AS(float) break;
  case TMARING_F64: READ_AS(double) break;
  case TMARING_I8: READ_AS(int8_t) break;
  case TMARING_I32: READ_AS(int32_t) break;
  case TMARING_I64: READ_AS(int64_t) break;
  default: read_table(dtype, to, bytes, count); break;
  }
}

double number_half_ulp(tmaring_dtype dtype, double value)
{
  const layout *l = &layouts[dtype];
  return l->digits == 0 ? 0.5 : ldexp(0.5, binade(l, value) - (l->digits - 1));
}

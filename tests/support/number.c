#include "number.h"

#include <math.h>
#include <string.h>

/* Significand bits with the hidden one, and the exponent of the smallest normal value. */
typedef struct layout {
  int digits;
  int lowest;
  int exponent_bits;
} layout;

static layout layout_of(tmaring_dtype dtype)
{
  const layout f32 = {24, -126, 8}, f16 = {11, -14, 5}, bf16 = {8, -126, 8};
  return dtype == TMARING_F32 ? f32 : dtype == TMARING_F16 ? f16 : bf16;
}

/* Exponent of the value's binade, not below that of the smallest normal value. */
static int binade(const layout *l, double value)
{
  int exponent = 0;
  frexp(value, &exponent);
  exponent -= 1;
  return exponent < l->lowest ? l->lowest : exponent;
}

double number_round(tmaring_dtype dtype, double value)
{
  const layout l = layout_of(dtype);
  if (!isfinite(value) || value == 0.0) return value;
  const int last = binade(&l, value) - (l.digits - 1);
  const double rounded = ldexp(nearbyint(ldexp(value, -last)), last);
  const double largest = ldexp(2.0 - ldexp(1.0, 1 - l.digits), (1 << (l.exponent_bits - 1)) - 1);
  return fabs(rounded) > largest ? copysign(INFINITY, value) : rounded;
}

/* Bits of a 16-bit type. The value is one of the type. */
static uint16_t pack(tmaring_dtype dtype, double value)
{
  const layout l = layout_of(dtype);
  const int bias = (1 << (l.exponent_bits - 1)) - 1;
  const uint16_t sign = signbit(value) ? 0x8000u : 0u;
  const int fraction_bits = l.digits - 1;
  const uint16_t top = (uint16_t)(((1 << l.exponent_bits) - 1) << fraction_bits);
  if (isnan(value)) return (uint16_t)(sign | top | 1u << (fraction_bits - 1));
  if (isinf(value)) return sign | top;
  if (value == 0.0) return sign;
  const int exponent = binade(&l, value);
  const int units = (int)ldexp(fabs(value), fraction_bits - exponent); /* exact */
  const int hidden = 1 << fraction_bits;
  const int biased = units >= hidden ? exponent + bias : 0;
  return (uint16_t)(sign | biased << fraction_bits | (units & (hidden - 1)));
}

static double unpack(tmaring_dtype dtype, uint16_t bits)
{
  const layout l = layout_of(dtype);
  const int fraction_bits = l.digits - 1;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int biased = (bits & 0x7fff) >> fraction_bits;
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (biased == (1 << l.exponent_bits) - 1) return fraction ? NAN : sign * INFINITY;
  if (biased == 0) return sign * ldexp(fraction, l.lowest - fraction_bits);
  return sign * ldexp(fraction + (1 << fraction_bits), biased - 1 + l.lowest - fraction_bits);
}

/* Every 16-bit value of a type; filled at first use. One thread fills it before others start (number_read in set-up).
 */
static const double *table_of(tmaring_dtype dtype)
{
  static double table[2][65536];
  static int filled[2];
  const int which = dtype == TMARING_BF16;
  if (!filled[which]) {
    for (int i = 0; i < 65536; ++i) table[which][i] = unpack(dtype, (uint16_t)i);
    filled[which] = 1;
  }
  return table[which];
}

void number_write(tmaring_dtype dtype, void *to, double value)
{
  if (dtype == TMARING_F32) {
    const float single = (float)value;
    memcpy(to, &single, sizeof single);
    return;
  }
  const uint16_t bits = pack(dtype, number_round(dtype, value));
  memcpy(to, &bits, sizeof bits);
}

double number_read(tmaring_dtype dtype, const void *from)
{
  double value = 0.0;
  number_read_row(dtype, &value, from, 1);
  return value;
}

void number_read_row(tmaring_dtype dtype, double *to, const void *from, int64_t count)
{
  const unsigned char *bytes = from;
  if (dtype == TMARING_F32) {
    for (int64_t i = 0; i < count; ++i) {
      float single;
      memcpy(&single, bytes + 4 * i, sizeof single);
      to[i] = single;
    }
    return;
  }
  const double *table = table_of(dtype);
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    memcpy(&bits, bytes + 2 * i, sizeof bits);
    to[i] = table[bits];
  }
}

double number_half_ulp(tmaring_dtype dtype, double value)
{
  const layout l = layout_of(dtype);
  return ldexp(0.5, binade(&l, value) - (l.digits - 1));
}

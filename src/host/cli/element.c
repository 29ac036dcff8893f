#include "element.h"

#include <stdint.h>
#include <string.h>

static double from_bits32(uint32_t bits)
{
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* f16: 1 sign, 5 exponent, 10 fraction bits. */
static double from_half(uint16_t bits)
{
  const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
  const uint32_t exponent = bits >> 10 & 31u, fraction = bits & 1023u;
  if (exponent == 0) return (sign ? -1.0 : 1.0) * fraction * 0x1p-24;
  const uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
  return from_bits32(sign | wide << 23 | fraction << 13);
}

double tmaring__element(const void *data, tmaring_dtype dtype, size_t index)
{
  uint16_t bits;
  float value;
  if (dtype == TMARING_F32) {
    memcpy(&value, (const char *)data + index * sizeof value, sizeof value);
    return value;
  }
  memcpy(&bits, (const char *)data + index * sizeof bits, sizeof bits);
  return dtype == TMARING_F16 ? from_half(bits) : from_bits32((uint32_t)bits << 16);
}

double tmaring__element_roundoff(tmaring_dtype dtype)
{
  return dtype == TMARING_F32 ? 0x1p-24 : dtype == TMARING_F16 ? 0x1p-11 : 0x1p-8;
}

double tmaring__element_smallest(tmaring_dtype dtype)
{
  return dtype == TMARING_F32 ? 0x1p-149 : dtype == TMARING_F16 ? 0x1p-24 : 0x1p-133;
}

double tmaring__element_largest(tmaring_dtype dtype)
{
  return dtype == TMARING_F32 ? 0x1.fffffep127 : dtype == TMARING_F16 ? 65504.0 : 0x1.fep127;
}

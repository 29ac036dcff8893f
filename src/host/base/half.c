#include "half.h"

#include <string.h>

#include "tmaring/abi/base.h"

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

static void load_codes(float *to, const unsigned char *from, float (*convert)(uint16_t), size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    uint16_t code;
    memcpy(&code, from + 2 * i, sizeof code);
    to[i] = convert(code);
  }
}

static void store_codes(unsigned char *to, const float *from, uint16_t (*convert)(float), size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    const uint16_t code = convert(from[i]);
    memcpy(to + 2 * i, &code, sizeof code);
  }
}

void tmaring__dtype_load(float *to, const void *from, int32_t dtype, size_t count)
{
  if (dtype == TMARING_F32) {
    memcpy(to, from, 4 * count);
  } else if (dtype == TMARING_F16) {
    load_codes(to, from, tmaring__f16_to_f32, count);
  } else {
    load_codes(to, from, tmaring__bf16_to_f32, count);
  }
}

void tmaring__dtype_store(void *to, const float *from, int32_t dtype, size_t count)
{
  if (dtype == TMARING_F32) {
    memcpy(to, from, 4 * count);
  } else if (dtype == TMARING_F16) {
    store_codes(to, from, tmaring__f16_from_f32, count);
  } else {
    store_codes(to, from, tmaring__bf16_from_f32, count);
  }
}

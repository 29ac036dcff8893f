/* Conversions between fp32 and the 16-bit types, by bit arithmetic: round to nearest even, subnormals kept, overflow to
 * infinity. A NaN becomes the code 0x7fff, which is what cvt.rn on the device makes of it. Any thread. */
#ifndef TMARING_HOST_HALF_H
#define TMARING_HOST_HALF_H

#include <stddef.h>
#include <stdint.h>

float tmaring__f16_to_f32(uint16_t code);
uint16_t tmaring__f16_from_f32(float value);
float tmaring__bf16_to_f32(uint16_t code);
uint16_t tmaring__bf16_from_f32(float value);

/* `count` elements of a tmaring_dtype at any byte address, to and from fp32. */
void tmaring__dtype_load(float *to, const void *from, int32_t dtype, size_t count);
void tmaring__dtype_store(void *to, const float *from, int32_t dtype, size_t count);

#endif

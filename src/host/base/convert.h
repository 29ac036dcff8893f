/* Element types in memory, to and from fp32 and double, by bit arithmetic. One rounding to nearest even, subnormals
 * kept. Beyond the largest finite value: fp8 and integers stop there, also at infinity; f16, bf16 and f32 become
 * infinite. NaN becomes 0x7fff (f16, bf16) or 0x7f (fp8), which is what the device stores, and 0 in integers.
 * Any thread. */
#ifndef TMARING_HOST_CONVERT_H
#define TMARING_HOST_CONVERT_H

#include <stddef.h>
#include <stdint.h>

float tmaring__f16_to_f32(uint16_t code);
uint16_t tmaring__f16_from_f32(float value);
float tmaring__bf16_to_f32(uint16_t code);
uint16_t tmaring__bf16_from_f32(float value);

/* `count` elements of a tmaring_dtype at any byte address, to and from fp32 or double. */
void tmaring__dtype_load(float *to, const void *from, int32_t dtype, size_t count);
void tmaring__dtype_load_wide(double *to, const void *from, int32_t dtype, size_t count);
void tmaring__dtype_store(void *to, const float *from, int32_t dtype, size_t count);
void tmaring__dtype_store_wide(void *to, const double *from, int32_t dtype, size_t count);

/* The value of the type that a store of `value` leaves. */
double tmaring__dtype_round(int32_t dtype, double value);

/* Nearest whole number, ties to even; the sign is kept, also of zero. */
double tmaring__round_even(double value);

#endif

/* Packing of built-in kernels: what goes in comes out, and damage is found without a step outside of the text. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../src/host/jit/pack.h"
#include "support/noise.h"

#define MOST 200000

static unsigned char text[MOST], packed[MOST + MOST / 255 + 16], out[MOST + 1];

/* Packed bytes; the text came back. */
static size_t there_and_back(size_t bytes)
{
  cr_assert_leq(pack_bound(bytes), sizeof packed);
  const size_t used = pack(text, bytes, packed);
  cr_assert_gt(used, 0);
  cr_assert_leq(used, pack_bound(bytes));
  memset(out, 0xee, sizeof out);
  cr_assert(tmaring__unpack(out, bytes, packed, used), "%d bytes", (int)bytes);
  cr_assert_eq(memcmp(text, out, bytes), 0, "%d bytes", (int)bytes);
  cr_assert_eq(out[bytes], 0xee);
  return used;
}

/* Values below `limit`, in pieces that come again. */
static void fill(uint64_t seed, int32_t limit, size_t bytes)
{
  noise n = noise_seed(seed);
  for (size_t i = 0; i < bytes;) {
    const size_t length = 1 + (size_t)noise_below(&n, 400), from = i ? (size_t)noise_below(&n, (int32_t)i) : 0;
    const int again = i > 0 && noise_below(&n, 2);
    for (size_t k = 0; k < length && i < bytes; ++k, ++i)
      text[i] = again ? text[from + k] : (unsigned char)noise_below(&n, limit);
  }
}

Test(unpack, texts_come_back, .timeout = 60)
{
  static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 14, 15, 16, 18, 19, 20, 269, 270, 271, 4096, 70000, MOST};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    for (int32_t limit = 1; limit <= 256; limit += 51) {
      fill(i + 1, limit, sizes[i]);
      there_and_back(sizes[i]);
    }
  }
}

/* Lengths around the ends of a nibble and of each byte that follows, of literals and of matches. */
Test(unpack, every_length_comes_back, .timeout = 60)
{
  for (size_t length = 0; length < 1100; ++length) {
    noise n = noise_seed(length);
    for (size_t i = 0; i < length; ++i) text[i] = (unsigned char)noise_next(&n);
    there_and_back(length);
    memcpy(text + length, text, length);
    there_and_back(2 * length);
    memset(text, 7, length);
    there_and_back(length);
  }
}

Test(unpack, repetition_takes_little, .timeout = 20)
{
  memset(text, 0, MOST);
  cr_expect_lt(there_and_back(MOST), MOST / 200);
  fill(3, 256, 65000);
  memcpy(text + 65000, text, 65000);
  const size_t once = there_and_back(65000), twice = there_and_back(130000);
  cr_expect_lt(twice - once, 500);
}

/* No prefix is the whole; a changed byte is found or gives another text, and nothing is read or written outside. */
Test(unpack, damage_does_no_harm, .timeout = 60)
{
  enum { BYTES = 3000 };
  fill(9, 200, BYTES);
  const size_t used = there_and_back(BYTES);
  for (size_t length = 0; length < used; ++length) {
    unsigned char *cut = malloc(length + 1); /* its end is watched by the sanitizers */
    memcpy(cut, packed, length);
    cr_expect_not(tmaring__unpack(out, BYTES, cut, length), "%d of %d bytes", (int)length, (int)used);
    free(cut);
  }
  unsigned char *to = malloc(BYTES);
  for (size_t at = 0; at < used; ++at) {
    packed[at] ^= 0x91;
    const int good = tmaring__unpack(to, BYTES, packed, used);
    cr_expect(!good || memcmp(to, text, BYTES) != 0, "byte %d", (int)at);
    packed[at] ^= 0x91;
  }
  cr_expect_not(tmaring__unpack(to, BYTES - 1, packed, used));
  cr_expect_not(tmaring__unpack(out, BYTES + 1, packed, used));
  free(to);
}

/* The guard bands themselves: every byte outside the rows is watched, every byte of the rows is free. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/guarded.h"

/* Three rows of 20 bytes, 32 apart, 4 past a boundary. */
static guarded take(size_t band)
{
  guarded g;
  memset(&g, 0, sizeof g);
  cr_assert(guarded_take(&g, place_host(), 3, 20, 32, 4, band));
  cr_assert(guarded_upload(&g));
  return g;
}

static int in_a_row(ptrdiff_t at)
{
  return at >= 0 && at < 84 && at % 32 < 20;
}

Test(guarded, every_byte_is_watched_or_free, .timeout = 20)
{
  guarded g = take(GUARD_BAND_BYTES);
  cr_expect_eq((size_t)g.data % 256, 4);
  cr_expect_eq(g.total, 2 * GUARD_BAND_BYTES + 4 + 84);
  for (size_t i = 0; i < g.total; ++i) {
    const ptrdiff_t offset = (ptrdiff_t)i - (ptrdiff_t)g.begin;
    ptrdiff_t at = 12345;
    ((unsigned char *)g.memory)[i] ^= 1;
    cr_assert(guarded_download(&g));
    cr_assert_eq(guarded_intact(&g, 0, &at), in_a_row(offset), "byte %td", offset);
    if (!in_a_row(offset)) cr_assert_eq(at, offset);
    cr_assert_not(guarded_intact(&g, 1, &at));
    cr_assert_eq(at, offset);
    ((unsigned char *)g.memory)[i] ^= 1;
  }
  cr_assert(guarded_download(&g));
  ptrdiff_t at;
  cr_expect(guarded_intact(&g, 1, &at));
  guarded_give(&g);
}

Test(guarded, contents_are_pattern_and_poison, .timeout = 20)
{
  guarded g = take(GUARD_BAND_BYTES);
  for (size_t i = 0; i < g.total; ++i) {
    const unsigned char byte = ((unsigned char *)g.memory)[i];
    cr_assert_eq(byte, in_a_row((ptrdiff_t)i - (ptrdiff_t)g.begin) ? GUARD_POISON : GUARD_PATTERN, "byte %zu", i);
  }
  guarded_give(&g);
}

Test(guarded, own_memory_has_exactly_its_size, .timeout = 20)
{
  guarded g = take(0);
  cr_expect_eq(g.total, 4 + 84);
  cr_expect_eq(g.begin, 4);
  guarded_give(&g);
  memset(&g, 0, sizeof g);
  cr_assert(guarded_take(&g, place_host(), 0, 20, 32, 0, 0));
  cr_expect_eq(g.total, 0);
  cr_expect_not_null(g.data); /* no rows, but an address */
  guarded_give(&g);
}

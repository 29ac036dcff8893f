#include "map_row.h"

#include <string.h>

#include "tensor_map_check.h"

/* What the copy engine fills 16 bits of an element with: a NaN of every type, since f32 and f64 take it repeatedly. */
#define NAN_LOW  0xf7
#define NAN_HIGH 0x7f

tmaring__map_row tmaring__map_row_of(uint32_t inner, tmaring_dtype dtype, int32_t swizzle, int32_t fill)
{
  const uint32_t bytes = inner * tmaring_dtype_bytes((tmaring_i32)dtype);
  const tmaring__map_row row = {bytes, tmaring__map_row_pitch(bytes, swizzle), 1u << swizzle, fill};
  return row;
}

tmaring__map_clip tmaring__map_clip_of(int64_t first, uint32_t extent, uint64_t dim)
{
  const int64_t begin = tmaring_max_i64(0, -first), end = tmaring_min_i64(extent, (int64_t)dim - first);
  const tmaring__map_clip nothing = {extent, 0};
  const tmaring__map_clip clip = {(uint32_t)begin, (uint32_t)(end - begin)};
  return end > begin ? clip : nothing;
}

/* `bytes` is a multiple of the element's size. */
static void fill_up(unsigned char *to, uint32_t bytes, int32_t fill)
{
  if (fill == TMARING_FILL_ZERO) {
    memset(to, 0, bytes);
    return;
  }
  for (uint32_t i = 0; i + 1 < bytes; i += 2) {
    to[i] = NAN_LOW;
    to[i + 1] = NAN_HIGH;
  }
}

/* The copy engine addresses whole units: bits 4 .. of the offset are exchanged by bits 7 .. */
static size_t swizzled(const tmaring__map_row *row, size_t at)
{
  return at ^ ((at >> 7 & (row->units - 1)) << 4);
}

static void lay_out(const tmaring__map_row *row, unsigned char *to, const unsigned char *source, uint32_t lead,
                    uint32_t run)
{
  fill_up(to, lead, row->fill);
  if (run > 0) memcpy(to + lead, source, run);
  fill_up(to + lead + run, row->bytes - lead - run, row->fill);
}

void tmaring__map_row_load(const tmaring__map_row *row, unsigned char *shared, size_t at, const unsigned char *source,
                           uint32_t lead, uint32_t run)
{
  unsigned char whole[128]; /* swizzled rows are no longer */
  if (row->units == 1) {
    lay_out(row, shared + at, source, lead, run);
    return;
  }
  if (run < row->bytes) {
    lay_out(row, whole, source, lead, run);
    source = whole;
  }
  for (uint32_t i = 0; i < row->bytes; i += TMARING__MAP_UNIT_BYTES)
    memcpy(shared + swizzled(row, at + i), source + i, TMARING__MAP_UNIT_BYTES);
}

void tmaring__map_row_store(const tmaring__map_row *row, const unsigned char *shared, size_t at, unsigned char *target,
                            uint32_t lead, uint32_t run)
{
  const uint32_t whole = (uint32_t)tmaring_round_up(run, TMARING__MAP_UNIT_BYTES);
  if (row->units == 1) {
    memcpy(target, shared + at + lead, whole);
    return;
  }
  for (uint32_t i = 0; i < whole; i += TMARING__MAP_UNIT_BYTES)
    memcpy(target + i, shared + swizzled(row, at + lead + i), TMARING__MAP_UNIT_BYTES);
}

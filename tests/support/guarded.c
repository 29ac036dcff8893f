#include "guarded.h"

#include <stdlib.h>
#include <string.h>

static size_t row_offset(const guarded *g, int64_t row)
{
  if (g->group_rows == 0) return (size_t)row * g->pitch_bytes;
  return (size_t)(row / g->group_rows) * g->group_bytes + (size_t)(row % g->group_rows) * g->pitch_bytes;
}

int guarded_take(guarded *g, const memory_place *place, int64_t rows, size_t row_bytes, size_t pitch_bytes,
                 size_t shift, size_t band)
{
  return guarded_take_grouped(g, place, rows, row_bytes, pitch_bytes, 0, 0, shift, band);
}

int guarded_take_grouped(guarded *g, const memory_place *place, int64_t rows, size_t row_bytes, size_t pitch_bytes,
                         int64_t group_rows, size_t group_bytes, size_t shift, size_t band)
{
  g->place = place;
  g->rows = rows;
  g->row_bytes = row_bytes;
  g->pitch_bytes = pitch_bytes;
  g->group_rows = group_rows;
  g->group_bytes = group_bytes;
  g->begin = band + shift;
  g->total = g->begin + (rows > 0 ? row_offset(g, rows - 1) + row_bytes : 0) + band;
  g->image = malloc(g->total + 1);
  g->after = malloc(g->total + 1);
  g->memory = place->take(g->total);
  g->data = g->memory ? (unsigned char *)g->memory + g->begin : NULL;
  if (!g->image || !g->after || !g->memory) return 0;
  memset(g->image, GUARD_PATTERN, g->total);
  memset(g->after, 0, g->total);
  for (int64_t r = 0; r < rows; ++r) memset(guarded_row(g, r), GUARD_POISON, row_bytes);
  return 1;
}

void guarded_give(guarded *g)
{
  if (g->memory) g->place->give(g->memory);
  free(g->image);
  free(g->after);
  memset(g, 0, sizeof *g);
}

unsigned char *guarded_row(const guarded *g, int64_t row)
{
  return g->image + g->begin + row_offset(g, row);
}

const unsigned char *guarded_row_after(const guarded *g, int64_t row)
{
  return g->after + g->begin + row_offset(g, row);
}

int guarded_upload(const guarded *g)
{
  return g->place->upload(g->memory, g->image, g->total);
}

int guarded_download(guarded *g)
{
  return g->place->download(g->after, g->memory, g->total);
}

/* First byte of [begin, end) that differs, or end. */
static size_t first_change(const guarded *g, size_t begin, size_t end)
{
  if (begin >= end || memcmp(g->image + begin, g->after + begin, end - begin) == 0) return end;
  while (g->image[begin] == g->after[begin]) ++begin;
  return begin;
}

int guarded_intact(const guarded *g, int rows_too, ptrdiff_t *at)
{
  size_t from = 0;
  for (int64_t r = 0; r <= g->rows; ++r) {
    const int last = r == g->rows || rows_too;
    const size_t to = last ? g->total : g->begin + row_offset(g, r);
    const size_t change = first_change(g, from, to);
    if (change < to) {
      *at = (ptrdiff_t)change - (ptrdiff_t)g->begin;
      return 0;
    }
    if (last) break;
    from = to + g->row_bytes;
  }
  *at = -1;
  return 1;
}

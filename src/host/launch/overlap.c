#include "overlap.h"

static int is_output(const tmaring__span *e)
{
  return tmaring__slot_writes((tmaring__slot){(tmaring__slot_kind)e->kind, 0, -1});
}

/* Why an output may lie exactly over an [M,N] input. What an element's result depends on is its own row and what was
 * staged of it. A whole row is staged before any of its outputs is written, all passes over it and its column
 * reductions read the stage, and gathers are done in pass 0. A row in pieces is read from memory once per pass, but
 * outputs are written in the last pass alone, piece by piece: a piece is loaded before its own results are written,
 * and those of the pieces before it are other columns. Pieces that are tiles of their own need no other piece.
 * Slices of a cluster are staged like whole rows; gathers read them from memory, in a pass that reduces, whose barrier
 * lies before any CTA's results of the row.
 * Windows of loads may see neighbours' bytes in either state, and nobody uses them; surplus fills may load results,
 * and store and add up nothing. An [M,2N] input is not replaced: its rows have other places than the results'. */
static int in_place(const tmaring__span *output, const tmaring__span *other)
{
  return output->kind == TMARING__SLOT_OUTPUT && other->kind == TMARING__SLOT_INPUT && !other->halves &&
         output->begin == other->begin && output->dtype == other->dtype && output->pitch == other->pitch &&
         output->group_rows == other->group_rows && output->group_pitch == other->group_pitch;
}

/* Ranges [shift, shift + width) modulo a pitch that the runs of both have in common. */
static int apart_within(const tmaring__span *low, const tmaring__span *high, int64_t pitch, int64_t low_width,
                        int64_t high_width)
{
  const int64_t shift = (int64_t)((high->begin - low->begin) % (uint64_t)pitch);
  return shift >= low_width && shift + high_width <= pitch;
}

static int divides(int64_t pitch, int64_t group_pitch)
{
  return group_pitch % pitch == 0;
}

/* Column ranges of one buffer: hulls overlap, rows do not. With one pitch for both, the place within the pitch decides;
 * likewise for groups of rows. */
static int interleaved(const tmaring__span *a, const tmaring__span *b)
{
  const tmaring__span *low = a->begin <= b->begin ? a : b, *high = low == a ? b : a;
  if (a->pitch > 0 && a->pitch == b->pitch && divides(a->pitch, a->group_pitch) && divides(b->pitch, b->group_pitch) &&
      apart_within(low, high, a->pitch, low->width, high->width))
    return 1;
  return a->group_pitch > 0 && a->group_pitch == b->group_pitch &&
         apart_within(low, high, a->group_pitch, low->group_width, high->group_width);
}

static int collide(const tmaring__span *output, const tmaring__span *other)
{
  if (output->begin >= other->end || other->begin >= output->end) return 0;
  return !in_place(output, other) && !interleaved(output, other);
}

int tmaring__overlap_find(const tmaring__span *extents, int32_t count, int32_t *output, int32_t *other)
{
  for (int32_t o = 0; o < count; ++o) {
    if (!is_output(&extents[o])) continue;
    for (int32_t i = 0; i < count; ++i) {
      if (i == o || (is_output(&extents[i]) && i < o)) continue; /* two outputs are compared once */
      if (!collide(&extents[o], &extents[i])) continue;
      *output = o;
      *other = i;
      return 1;
    }
  }
  return 0;
}

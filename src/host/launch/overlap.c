#include "overlap.h"

static int is_output(const tmaring__span *e)
{
  return e->kind == TMARING__SLOT_OUTPUT || e->kind == TMARING__SLOT_ROW_OUTPUT;
}

/* An element of the output is then read by the thread that writes it, before it does. */
static int in_place(const tmaring__span *output, const tmaring__span *other)
{
  return output->kind == TMARING__SLOT_OUTPUT && other->kind == TMARING__SLOT_INPUT && output->begin == other->begin &&
         output->dtype == other->dtype && output->pitch == other->pitch;
}

/* Column ranges of one buffer: hulls overlap, rows do not. With one pitch for both, the place within the pitch decides.
 */
static int interleaved(const tmaring__span *a, const tmaring__span *b)
{
  const tmaring__span *low = a->begin <= b->begin ? a : b, *high = low == a ? b : a;
  if (a->pitch != b->pitch || a->pitch == 0) return 0;
  const int64_t shift = (int64_t)((high->begin - low->begin) % (uint64_t)a->pitch);
  return shift >= low->width && shift + high->width <= a->pitch;
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

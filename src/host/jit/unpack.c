#include "unpack.h"

#include <string.h>

typedef struct cursor {
  const unsigned char *at, *end;
} cursor;

/* A nibble, and what follows where it is 15. */
static size_t read_length(cursor *from, unsigned nibble)
{
  size_t length = nibble;
  unsigned char more = 255;
  while (nibble == 15 && more == 255 && from->at < from->end) length += more = *from->at++;
  return length;
}

static int copy_literals(cursor *from, unsigned char **to, unsigned char *end, size_t count)
{
  if (count > (size_t)(from->end - from->at) || count > (size_t)(end - *to)) return 0;
  memcpy(*to, from->at, count);
  from->at += count;
  *to += count;
  return 1;
}

static int copy_match(cursor *from, unsigned char **to, unsigned char *begin, unsigned char *end, unsigned nibble)
{
  if (from->end - from->at < 2) return 0;
  const size_t distance = from->at[0] | (size_t)from->at[1] << 8;
  from->at += 2;
  const size_t length = read_length(from, nibble) + TMARING__PACK_LEAST;
  if (distance == 0 || distance > (size_t)(*to - begin) || length > (size_t)(end - *to)) return 0;
  for (size_t i = 0; i < length; ++i) (*to)[i] = *(*to + i - distance); /* byte by byte: the two may overlap */
  *to += length;
  return 1;
}

int tmaring__unpack(void *to, size_t bytes, const void *from, size_t packed_bytes)
{
  cursor c = {from, (const unsigned char *)from + packed_bytes};
  unsigned char *out = to, *const end = out + bytes;
  while (c.at < c.end) {
    const unsigned control = *c.at++;
    if (!copy_literals(&c, &out, end, read_length(&c, control >> 4))) return 0;
    if (c.at < c.end && !copy_match(&c, &out, to, end, control & 15)) return 0;
  }
  return out == end;
}

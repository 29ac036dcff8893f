/* Packs what unpack.h describes. For the tool that writes the table, and for tests. */
#ifndef TMARING_HOST_PACK_H
#define TMARING_HOST_PACK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unpack.h"

#define PACK_HASH_BITS 15
#define PACK_TRIES     64 /* places looked at for the longest match */

typedef struct pack_state {
  const unsigned char *text;
  size_t bytes, used; /* of the text; of the output */
  unsigned char *out;
  int32_t head[1 << PACK_HASH_BITS]; /* last place with this hash; -1: none */
  int32_t *before;                   /* the place before it */
} pack_state;

/* Most bytes that a text can take packed. */
static inline size_t pack_bound(size_t bytes)
{
  return bytes + bytes / 255 + 16;
}

static inline uint32_t pack_hash(const unsigned char *at)
{
  uint32_t word;
  memcpy(&word, at, sizeof word);
  return word * 2654435761u >> (32 - PACK_HASH_BITS);
}

static inline size_t pack_match_length(const pack_state *p, size_t at, size_t from)
{
  size_t length = 0;
  while (at + length < p->bytes && p->text[from + length] == p->text[at + length]) ++length;
  return length;
}

/* The longest match that ends in reach; 0 where none is long enough. */
static inline size_t pack_find(const pack_state *p, size_t at, size_t *distance)
{
  size_t best = TMARING__PACK_LEAST - 1;
  int32_t from = p->head[pack_hash(p->text + at)];
  for (int i = 0; i < PACK_TRIES && from >= 0 && at - (size_t)from <= TMARING__PACK_REACH; ++i) {
    const size_t length = pack_match_length(p, at, (size_t)from);
    if (length > best) {
      best = length;
      *distance = at - (size_t)from;
    }
    from = p->before[from];
  }
  return best < TMARING__PACK_LEAST ? 0 : best;
}

static inline void pack_remember(pack_state *p, size_t at)
{
  if (at + TMARING__PACK_LEAST > p->bytes) return;
  const uint32_t hash = pack_hash(p->text + at);
  p->before[at] = p->head[hash];
  p->head[hash] = (int32_t)at;
}

static inline void pack_put_more(pack_state *p, size_t length)
{
  if (length < 15) return;
  for (length -= 15; length >= 255; length -= 255) p->out[p->used++] = 255;
  p->out[p->used++] = (unsigned char)length;
}

/* length 0: the last step. */
static inline void pack_put(pack_state *p, size_t first, size_t literals, size_t length, size_t distance)
{
  const size_t match = length ? length - TMARING__PACK_LEAST : 0;
  p->out[p->used++] = (unsigned char)((literals < 15 ? literals : 15) << 4 | (match < 15 ? match : 15));
  pack_put_more(p, literals);
  memcpy(p->out + p->used, p->text + first, literals);
  p->used += literals;
  if (length == 0) return;
  p->out[p->used++] = (unsigned char)distance;
  p->out[p->used++] = (unsigned char)(distance >> 8);
  pack_put_more(p, match);
}

static inline void pack_all(pack_state *p)
{
  size_t at = 0, first = 0, distance = 0;
  while (at + TMARING__PACK_LEAST <= p->bytes) {
    const size_t length = pack_find(p, at, &distance), step = length ? length : 1;
    if (length) pack_put(p, first, at - first, length, distance);
    for (size_t i = 0; i < step; ++i) pack_remember(p, at + i);
    at += step;
    if (length) first = at;
  }
  if (first < p->bytes || p->bytes == 0) pack_put(p, first, p->bytes - first, 0, 0);
}

/* Bytes written to out (pack_bound); 0: out of memory. */
static inline size_t pack(const void *text, size_t bytes, void *out)
{
  pack_state *p = calloc(1, sizeof *p);
  int32_t *before = malloc((bytes + 1) * sizeof *before);
  size_t used = 0;
  if (p && before) {
    p->text = text;
    p->bytes = bytes;
    p->out = out;
    p->before = before;
    memset(p->head, 0xff, sizeof p->head);
    pack_all(p);
    used = p->used;
  }
  free(before);
  free(p);
  return used;
}

#endif

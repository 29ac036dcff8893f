#include "near_names.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 256 /* bytes of a name that are compared */

static int least(int a, int b)
{
  return a < b ? a : b;
}

static int length_of(const char *name)
{
  const size_t length = strlen(name);
  return length < LONGEST ? (int)length : LONGEST;
}

/* Letters to put in, take out or change, row by row of the table of all pairs of beginnings. */
static int slips(const char *a, const char *b)
{
  int row[LONGEST + 1];
  const int width = length_of(b), height = length_of(a);
  for (int j = 0; j <= width; ++j) row[j] = j;
  for (int i = 1; i <= height; ++i) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= width; ++j) {
      const int changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = least(changed, least(row[j], row[j - 1]) + 1);
    }
  }
  return row[width];
}

/* A name that holds the other one, as "model.norm.weight" holds "norm.weight", is nearer than its letters say. */
static int distance_of(const char *wanted, const char *known)
{
  if (!wanted) return 0;
  const int apart = slips(wanted, known);
  return strstr(known, wanted) || strstr(wanted, known) ? apart / 4 : apart;
}

void tmaring__near_begin(tmaring__near_names *near, const char *wanted)
{
  memset(near, 0, sizeof *near);
  near->wanted = wanted;
}

void tmaring__near_add(tmaring__near_names *near, const char *known)
{
  const int distance = distance_of(near->wanted, known);
  int at = near->count;
  near->known += 1;
  while (at > 0 && near->distance[at - 1] > distance) --at;
  if (at == TMARING__NEAR_MOST) return;
  if (near->count < TMARING__NEAR_MOST) ++near->count;
  for (int i = near->count - 1; i > at; --i) {
    near->name[i] = near->name[i - 1];
    near->distance[i] = near->distance[i - 1];
  }
  near->name[at] = known;
  near->distance[at] = distance;
}

void tmaring__near_list(const tmaring__near_names *near, char *out, size_t capacity)
{
  size_t used = 0;
  out[0] = 0;
  for (int i = 0; i < near->count && used < capacity; ++i)
    used += (size_t)snprintf(out + used, capacity - used, "%s%.80s", i ? ", " : "", near->name[i]);
}

/* Known names that an unknown one may have meant. */
#ifndef TMARING_HOST_NEAR_NAMES_H
#define TMARING_HOST_NEAR_NAMES_H

#include <stddef.h>

#define TMARING__NEAR_MOST 5

typedef struct tmaring__near_names {
  const char *wanted; /* NULL: any name is near */
  size_t known;       /* names seen */
  int count;
  const char *name[TMARING__NEAR_MOST]; /* the nearest first; the caller's */
  int distance[TMARING__NEAR_MOST];
} tmaring__near_names;

void tmaring__near_begin(tmaring__near_names *near, const char *wanted);
/* The name has to live on. */
void tmaring__near_add(tmaring__near_names *near, const char *known);
/* "a, b, c": the nearest of them into out, cut where they do not fit. */
void tmaring__near_list(const tmaring__near_names *near, char *out, size_t capacity);

#endif

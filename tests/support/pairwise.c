#include "pairwise.h"

#include <stdlib.h>
#include <string.h>

#include "noise.h"

#define CANDIDATES 40

/* seen[f][a][g][b], f < g: some row has level a of factor f and level b of factor g. */
typedef struct pair_table {
  unsigned char seen[PAIRWISE_MAX_FACTORS][PAIRWISE_MAX_LEVELS][PAIRWISE_MAX_FACTORS][PAIRWISE_MAX_LEVELS];
} pair_table;

static int32_t mark(pair_table *t, const pairwise *p, const int32_t *row)
{
  int32_t fresh = 0;
  for (int32_t f = 0; f < p->factors; ++f) {
    for (int32_t g = f + 1; g < p->factors; ++g) {
      unsigned char *seen = &t->seen[f][row[f]][g][row[g]];
      fresh += !*seen;
      *seen = 1;
    }
  }
  return fresh;
}

static int is_fresh(const pair_table *t, int32_t f, int32_t a, int32_t g, int32_t b)
{
  return f < g ? !t->seen[f][a][g][b] : !t->seen[g][b][f][a];
}

/* Pairs that level a of factor f would add to the factors fixed so far. */
static int32_t gain(const pair_table *t, const pairwise *p, const int32_t *row, const int32_t *fixed, int32_t f,
                    int32_t a)
{
  int32_t fresh = 0;
  for (int32_t g = 0; g < p->factors; ++g) {
    if (fixed[g]) fresh += is_fresh(t, f, a, g, row[g]);
  }
  return fresh;
}

/* The level of factor f that adds the most; among equals, chance. */
static int32_t best_level(const pair_table *t, const pairwise *p, const int32_t *row, const int32_t *fixed, int32_t f,
                          noise *n)
{
  const int32_t start = noise_below(n, p->levels[f]);
  int32_t best = start, most = -1;
  for (int32_t i = 0; i < p->levels[f]; ++i) {
    const int32_t a = (start + i) % p->levels[f];
    const int32_t fresh = gain(t, p, row, fixed, f, a);
    if (fresh > most) {
      most = fresh;
      best = a;
    }
  }
  return best;
}

/* Some pair that no row has yet, from a random place on; 0 if there is none. */
static int seed_pair(const pair_table *t, const pairwise *p, int32_t *row, int32_t *fixed, noise *n)
{
  const int32_t start = noise_below(n, p->factors);
  for (int32_t i = 0; i < p->factors; ++i) {
    const int32_t f = (start + i) % p->factors;
    for (int32_t a = 0; a < p->levels[f]; ++a) {
      for (int32_t g = 0; g < p->factors; ++g) {
        for (int32_t b = 0; g != f && b < p->levels[g]; ++b) {
          if (!is_fresh(t, f, a, g, b)) continue;
          row[f] = a;
          row[g] = b;
          fixed[f] = fixed[g] = 1;
          return 1;
        }
      }
    }
  }
  return 0;
}

/* A row that begins with an unseen pair and goes on greedily, in random order of factors; returns how many pairs it
 * adds. */
static int32_t candidate(const pair_table *t, const pairwise *p, int32_t *row, noise *n)
{
  int32_t fixed[PAIRWISE_MAX_FACTORS] = {0};
  int32_t added = 1;
  const int32_t start = noise_below(n, p->factors), stride = 1 + noise_below(n, p->factors - 1);
  if (!seed_pair(t, p, row, fixed, n)) return 0;
  for (int32_t i = 0, f = start; i < 2 * p->factors; ++i) {
    if (!fixed[f]) {
      row[f] = best_level(t, p, row, fixed, f, n);
      added += gain(t, p, row, fixed, f, row[f]);
      fixed[f] = 1;
    }
    f = (i < p->factors ? f + stride : f + 1) % p->factors; /* the second round finds what the stride missed */
  }
  return added;
}

static int add_row(pairwise *p, pair_table *t, noise *n)
{
  int32_t best[PAIRWISE_MAX_FACTORS] = {0}, row[PAIRWISE_MAX_FACTORS] = {0};
  int32_t most = 0;
  for (int32_t i = 0; i < CANDIDATES; ++i) {
    const int32_t added = candidate(t, p, row, n);
    if (added > most) {
      most = added;
      memcpy(best, row, sizeof best);
    }
  }
  if (most == 0 || p->rows == PAIRWISE_MAX_ROWS) return 0;
  memcpy(p->row[p->rows++], best, sizeof best);
  mark(t, p, best);
  return 1;
}

pairwise *pairwise_build(const int32_t *levels, int32_t factors, uint64_t seed)
{
  pairwise *p = calloc(1, sizeof *p);
  pair_table *t = calloc(1, sizeof *t);
  noise n = noise_seed(seed);
  if (p && t) {
    p->factors = factors;
    memcpy(p->levels, levels, (size_t)factors * sizeof *levels);
    while (add_row(p, t, &n)) {
    }
    if (pairwise_missing(p) == 0) {
      free(t);
      return p;
    }
  }
  free(p);
  free(t);
  return NULL;
}

int32_t pairwise_missing(const pairwise *p)
{
  int32_t missing = 0;
  for (int32_t f = 0; f < p->factors; ++f) {
    for (int32_t g = f + 1; g < p->factors; ++g) {
      for (int32_t pair = 0; pair < p->levels[f] * p->levels[g]; ++pair) {
        int32_t r = 0;
        while (r < p->rows && p->row[r][f] * p->levels[g] + p->row[r][g] != pair) ++r;
        missing += r == p->rows;
      }
    }
  }
  return missing;
}

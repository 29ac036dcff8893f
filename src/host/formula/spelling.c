#include "spelling.h"

#include <string.h>

enum { LONGEST = 63 };

static int lower(char c)
{
  return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int least(int a, int b)
{
  return a < b ? a : b;
}

/* Slips between a[0, i) and b[0, j), given the table of all shorter pairs (optimal string alignment). */
static int slips(unsigned char table[LONGEST + 1][LONGEST + 1], const char *a, const char *b, int i, int j)
{
  if (i == 0 || j == 0) return i + j;
  const int same = lower(a[i - 1]) == lower(b[j - 1]);
  int best = table[i - 1][j - 1] + !same;
  best = least(best, table[i - 1][j] + 1);
  best = least(best, table[i][j - 1] + 1);
  if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
    best = least(best, table[i - 2][j - 2] + 1);
  return best;
}

int tmaring__spelling_close(const char *name, int32_t length, const char *known)
{
  unsigned char table[LONGEST + 1][LONGEST + 1];
  const int a = (int)length, b = (int)strlen(known);
  const int allowed = least(a, b) <= 4 ? 1 : 2;
  if (a > LONGEST || b > LONGEST || a - b > allowed || b - a > allowed || least(a, b) < 2) return 0;
  for (int i = 0; i <= a; ++i)
    for (int j = 0; j <= b; ++j) table[i][j] = (unsigned char)slips(table, name, known, i, j);
  return table[a][b] <= allowed;
}

#include "tally.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tally tally_begin(const char *title, const char *venue)
{
  tally t;
  memset(&t, 0, sizeof t);
  t.title = title;
  t.venue = venue;
  const char *subset = getenv("TMARING_TEST_SUBSET");
  t.step = subset ? atoi(subset) : 1;
  if (t.step < 1) t.step = 1;
  return t;
}

int tally_takes(tally *t)
{
  return t->seen++ % t->step == 0;
}

/* Refusals of one kind differ in their numbers only. */
static void without_numbers(char *to, size_t size, const char *from)
{
  size_t n = 0;
  for (; *from && n + 1 < size; ++from) {
    const int digit = isdigit((unsigned char)*from);
    if (digit && n > 0 && to[n - 1] == '#') continue;
    to[n++] = digit ? '#' : *from;
  }
  to[n] = 0;
}

static void count_reason(tally *t, const char *detail)
{
  char text[160];
  int32_t i = 0;
  without_numbers(text, sizeof text, detail);
  while (i < t->reasons && strcmp(t->reason[i].text, text) != 0) ++i;
  if (i == TALLY_REASONS) return;
  if (i == t->reasons) {
    memcpy(t->reason[i].text, text, sizeof text);
    t->reasons += 1;
  }
  t->reason[i].count += 1;
}

void tally_note(tally *t, int passed, const char *text)
{
  if (passed) {
    t->passed += 1;
    return;
  }
  if (t->failed == 0) snprintf(t->first_failure, sizeof t->first_failure, "%s", text);
  t->failed += 1;
  fprintf(stderr, "%s: %s\n", t->title, text);
}

void tally_count(tally *t, const trial_result *result)
{
  if (result->outcome == TRIAL_REFUSED) {
    t->refused += 1;
    count_reason(t, result->text);
    return;
  }
  tally_note(t, result->outcome == TRIAL_PASSED, result->text);
}

void tally_close(const tally *t)
{
  for (int32_t i = 0; i < t->reasons; ++i)
    printf("%s: refused %d: %s\n", t->title, (int)t->reason[i].count, t->reason[i].text);
  printf("%s: %d passed, %d failed, %d refused (%s)\n", t->title, (int)t->passed, (int)t->failed, (int)t->refused,
         t->venue);
  fflush(stdout);
}

static void add_reasons(const tally *t, char *row, size_t size)
{
  for (int32_t i = 0; i < t->reasons; ++i) {
    const size_t used = strlen(row);
    snprintf(row + used, size - used, "%s %s (%d)", i ? ";" : "", t->reason[i].text, (int)t->reason[i].count);
  }
}

/* In one piece: programs that run side by side write to one file. */
void tally_row(const tally *t, int32_t section)
{
  char row[TALLY_REASONS * 176 + 256];
  const char *path = getenv("TMARING_TEST_TABLE");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  snprintf(row, sizeof row, "| %d | %s | %d | %d | %d | %d |", (int)section, t->title,
           (int)(t->passed + t->refused + t->failed), (int)t->passed, (int)t->refused, (int)t->failed);
  add_reasons(t, row, sizeof row);
  fprintf(file, "%s |\n", row);
  fclose(file);
}

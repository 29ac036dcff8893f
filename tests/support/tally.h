/* Counts of passed, failed and refused cases, reasons of refusals, and the closing line of a table. */
#ifndef TMARING_TESTS_TALLY_H
#define TMARING_TESTS_TALLY_H

#include "trial.h"

#define TALLY_REASONS 24

typedef struct tally_reason {
  char text[160]; /* detail with every number replaced by # */
  int32_t count;
} tally_reason;

typedef struct tally {
  const char *title;
  const char *venue;
  int32_t step; /* every step-th case runs: TMARING_TEST_SUBSET, else 1 */
  int32_t seen, passed, failed, refused;
  int32_t reasons;
  tally_reason reason[TALLY_REASONS];
  char first_failure[640];
} tally;

tally tally_begin(const char *title, const char *venue);
/* True where the next case of the table is to run. */
int tally_takes(tally *t);
void tally_count(tally *t, const trial_result *result);
/* Counts a failure, its text printed to stderr, or a success. */
void tally_note(tally *t, int passed, const char *text);
/* Prints "grid: 60 passed, 0 failed, 0 refused (cuda)" to stdout, after one line per reason. */
void tally_close(const tally *t);
/* Appends a row of the conformance list's table (docs/conformance.md) to the file that TMARING_TEST_TABLE names, if any:
 * "| 2 | multi-dim | 144 | 144 | 0 | 0 | |": section, title, cells, passed, refused, failed, reasons with their counts. */
void tally_row(const tally *t, int32_t section);

#endif

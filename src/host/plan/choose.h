/* Step 5 of planning: compare and choose. */
#ifndef TMARING_HOST_CHOOSE_H
#define TMARING_HOST_CHOOSE_H

#include "cost.h"

/* What all variants of a plan share, since they share its code. */
typedef struct tmaring__key {
  int32_t flat;
  int32_t group;
  int32_t pieces;  /* passes follow one another in the ring */
  int32_t strips;  /* pieces of several rows */
  int32_t cluster; /* rows are shared by CTAs */
} tmaring__key;

tmaring__key tmaring__key_of(const tmaring__candidate *candidate);

/* The cheapest fitting candidate at `rows` rows, among those of a key (NULL: of any). NULL if there is none. */
const tmaring__candidate *tmaring__choose(const tmaring__candidates *list, const tmaring__facts *facts,
                                          const tmaring__decision *decision, const tmaring_machine *machine,
                                          const tmaring__key *key, int32_t order, int64_t rows);

/* Refuses a list in which nothing fits: ERROR_CAPACITY with both numbers of the candidate that comes closest. */
tmaring_status tmaring__choose_refuse(const tmaring__candidates *list, const tmaring__facts *facts);

/* Notes for what did not fit, in few words. */
void tmaring__choose_explain(const tmaring__candidates *list, tmaring__notes *notes);

#endif

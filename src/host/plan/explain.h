/* Notes that say what a plan does and why. */
#ifndef TMARING_HOST_EXPLAIN_H
#define TMARING_HOST_EXPLAIN_H

#include "candidate.h"

/* What follows from tensors and formula. */
void tmaring__explain_facts(const tmaring__facts *facts, const tmaring__decision *decision, tmaring__notes *notes);

/* What was chosen: scope, passes, pieces, chunks. */
void tmaring__explain_choice(const tmaring__candidate *candidate, const tmaring__facts *facts,
                             const tmaring__decision *decision, tmaring__notes *notes);

#endif

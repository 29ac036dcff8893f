/* How a candidate's threads share its rows. */
#ifndef TMARING_HOST_ROW_SCOPE_H
#define TMARING_HOST_ROW_SCOPE_H

#include "candidate.h"

/* Kind, lanes and warps per row of a candidate whose cut is set; unit_rows and chunk_vecs follow from tile_rows. */
void tmaring__row_scope_pick(tmaring__candidate *candidate, const tmaring__facts *facts,
                             const tmaring__decision *decision, const tmaring_machine *machine);

/* Derives unit_rows and chunk_vecs. */
void tmaring__row_scope_share(tmaring__candidate *candidate, const tmaring__facts *facts,
                              const tmaring__decision *decision);

#endif

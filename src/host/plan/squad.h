/* Two consumer squads: whether there are any, and how they take turns (abi/frames.h). */
#ifndef TMARING_HOST_SQUAD_H
#define TMARING_HOST_SQUAD_H

#include "candidate.h"

/* Enters squads and turns of a CTA whose mode is known. Options that cannot be had are normalised, with a note. */
void tmaring__squads_decide(tmaring__decision *decision, const tmaring_plan_options *options,
                            const tmaring__facts *facts, tmaring__notes *notes);

/* 1 where a squad's turn takes several fills, so that tickets cannot end it. */
int tmaring__squads_take_several(const tmaring__candidate *candidate, const tmaring__decision *decision);

#endif

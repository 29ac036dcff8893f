#include "squad.h"

void tmaring__squads_decide(tmaring__decision *decision, const tmaring_plan_options *options,
                            const tmaring__facts *facts, tmaring__notes *notes)
{
  tmaring_cta *cta = &decision->cta;
  cta->squads = options->squads == TMARING_AUTO ? 1 : options->squads;
  cta->turns = 0;
  if (cta->squads > 1 && cta->mode == TMARING_MODE_PIPELINED) {
    tmaring__note_add(notes, "squads %d -> 1: every warp of a pipelined CTA computes every fill", cta->squads);
    cta->squads = 1;
  }
  if (cta->squads == 1) {
    if (options->turns != TMARING_AUTO) tmaring__note_add(notes, "turns: left out: there is one squad");
    return;
  }
  cta->turns = options->turns == TMARING_AUTO ? TMARING_TURNS_ALTERNATING : options->turns;
  if (cta->turns == TMARING_TURNS_COOPERATIVE && tmaring__facts_columns(facts)) {
    tmaring__note_add(notes, "turns cooperative -> alternating: a chunk's rows meet the accumulators of one squad");
    cta->turns = TMARING_TURNS_ALTERNATING;
  }
}

int tmaring__squads_take_several(const tmaring__candidate *candidate, const tmaring__decision *decision)
{
  const tmaring__candidate *c = candidate;
  const int32_t rows = decision->cta.turns == TMARING_TURNS_ALTERNATING ? c->chunk : 1;
  return decision->cta.squads > 1 && (c->spread ? 1 : (int64_t)c->pieces * c->passes) * rows > 1;
}

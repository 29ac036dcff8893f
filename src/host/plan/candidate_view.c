#include "candidate.h"

int64_t tmaring__candidate_row_bytes(const tmaring__candidate *candidate, const tmaring__facts *facts)
{
  return (int64_t)candidate->piece_cols * facts->widest_bytes;
}

void tmaring__candidate_print(tmaring__text *text, const tmaring__candidate *candidate)
{
  const tmaring__candidate *c = candidate;
  tmaring__text_add(text, "%d CTA%s per SM, %d stages x ", c->ctas_per_sm, c->ctas_per_sm == 1 ? "" : "s", c->stages);
  if (c->cluster > 1) {
    tmaring__text_add(text, "%d columns", c->piece_cols);
  } else if (c->pieces == 1) {
    tmaring__text_add(text, "%d row%s", c->tile_rows, c->tile_rows == 1 ? "" : "s");
  } else {
    if (c->tile_rows > 1) tmaring__text_add(text, "%d rows of ", c->tile_rows);
    tmaring__text_add(text, "%d columns (%d pieces%s)", c->piece_cols, c->pieces, c->spread ? ", spread" : "");
  }
  if (c->chunk > 1) tmaring__text_add(text, ", %d fills per tile", c->chunk * (c->spread ? 1 : c->pieces * c->passes));
  tmaring__text_add(text, ", scope %s", tmaring__scope_name(c->scope.kind));
  if (c->cluster > 1) tmaring__text_add(text, " of %d CTAs", c->cluster);
  if (c->scope.warps_per_row > 1) tmaring__text_add(text, " of %d warps", c->scope.warps_per_row);
  tmaring__text_add(text, ", %lld bytes of shared memory", (long long)c->needs_bytes);
}

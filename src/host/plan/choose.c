#include "choose.h"

#include <string.h>

tmaring__key tmaring__key_of(const tmaring__candidate *candidate)
{
  tmaring__key key;
  key.flat = candidate->scope.kind == TMARING_SCOPE_FLAT;
  key.cluster = candidate->cluster > 1;
  key.group = candidate->scope.warps_per_row > 1 || key.cluster;
  key.pieces = candidate->pieces > 1 && !candidate->spread;
  key.strips = tmaring__candidate_strips(candidate);
  return key;
}

static int same_key(const tmaring__key *a, const tmaring__key *b)
{
  return a->flat == b->flat && a->group == b->group && a->pieces == b->pieces && a->strips == b->strips &&
         a->cluster == b->cluster;
}

const tmaring__candidate *tmaring__choose(const tmaring__candidates *list, const tmaring__facts *facts,
                                          const tmaring__decision *decision, const tmaring_machine *machine,
                                          const tmaring__key *key, int32_t order, int64_t rows)
{
  const tmaring__candidate *best = NULL;
  double best_ns = 0.0;
  for (int32_t i = 0; i < list->count; ++i) {
    const tmaring__candidate *c = &list->item[i];
    const tmaring__key its_key = tmaring__key_of(c);
    if (!c->fits || (key && !same_key(key, &its_key))) continue;
    if (tmaring__facts_columns(facts)) return c; /* there is no other, at any M */
    const double ns = tmaring__cost_estimate(c, facts, decision, machine, order, rows).total_ns;
    if (best && (ns > best_ns || (ns == best_ns && c->needs_bytes >= best->needs_bytes))) continue;
    best = c;
    best_ns = ns;
  }
  return best;
}

static int has_too_many(const tmaring__candidate *c)
{
  return tmaring__candidate_elements(c) > TMARING__MAX_FILL_ELEMENTS;
}

/* Of bytes; fills of too many elements come last. */
static int64_t excess(const tmaring__candidate *c)
{
  return has_too_many(c) ? INT64_MAX : c->needs_bytes - c->budget_bytes;
}

tmaring_status tmaring__choose_refuse(const tmaring__candidates *list, const tmaring__facts *facts)
{
  const tmaring__candidate *closest = NULL;
  for (int32_t i = 0; i < list->count; ++i) {
    if (!closest || excess(&list->item[i]) < excess(closest)) closest = &list->item[i];
  }
  if (!closest) return tmaring__fail(TMARING_ERROR_INTERNAL, "candidates: got none, needs one; report this");
  if (has_too_many(closest)) {
    return tmaring__fail(TMARING_ERROR_CAPACITY,
                         "fill: got %lld elements (%d rows of %d columns, N = %d), needs at most %lld; lower tile_rows "
                         "or piece_cols",
                         (long long)tmaring__candidate_elements(closest), closest->tile_rows, closest->piece_cols,
                         facts->cols, (long long)TMARING__MAX_FILL_ELEMENTS);
  }
  return tmaring__fail(
      TMARING_ERROR_CAPACITY,
      "shared memory: needs %lld bytes (%d stages x %d rows of %d columns), the machine allows %d; lower "
      "stages, tile_rows or piece_cols",
      (long long)closest->needs_bytes, closest->stages, closest->tile_rows, closest->piece_cols, closest->budget_bytes);
}

void tmaring__choose_explain(const tmaring__candidates *list, tmaring__notes *notes)
{
  const tmaring__candidate *last = NULL;
  int32_t dropped = 0;
  for (int32_t i = 0; i < list->count; ++i) {
    const tmaring__candidate *c = &list->item[i];
    const int again = last && c->needs_bytes == last->needs_bytes && c->budget_bytes == last->budget_bytes;
    if (c->fits || again || dropped++ >= 4) continue; /* the smallest fill of a kind says it all */
    last = c;
    tmaring__text text = {0};
    tmaring__candidate_print(&text, c);
    if (text.data && has_too_many(c)) {
      tmaring__note_add(notes, "dropped: %s: a fill may have %lld elements", text.data,
                        (long long)TMARING__MAX_FILL_ELEMENTS);
    } else if (text.data) {
      tmaring__note_add(notes, "dropped: %s: a CTA may take %d", text.data, c->budget_bytes);
    }
    tmaring__text_free(&text);
  }
}

#include "explain.h"

#include "column.h"
#include "load_path.h"
#include "stage_map.h"
#include "tuning.h"

/* ---- tensors and formula ---- */

static void explain_tensors(const tmaring__facts *facts, tmaring__notes *notes)
{
  if (!facts->aligned)
    tmaring__note_add(
        notes, "edges: N, a pitch or an alignment is no multiple of 16 bytes: loads take aligned windows, edges go "
               "by ordinary loads and stores");
  if (!facts->dense) tmaring__note_add(notes, "pitched: rows are copied one by one");
  if (facts->grouped)
    tmaring__note_add(notes, "grouped: rows come in groups, so that an address takes a division; at most %lld rows",
                      (long long)facts->rows_most);
  if (facts->program->input_count == 0)
    tmaring__note_add(notes, "no input is streamed: fills carry no bytes, results are stored from registers");
}

static void explain_formula(const tmaring__facts *facts, tmaring__notes *notes)
{
  const tmaring__program *p = facts->program;
  if (facts->wide) tmaring__note_add(notes, "wide: arithmetic is in double, since a tensor is f64 or a matrix i32");
  if (tmaring__program_has(p, TMARING__OP_ROW) && !facts->wide)
    tmaring__note_add(notes, "row: row numbers are fp32, and rounded from row %d on", 1 << 24);
  if (p->group_cols_most > 0)
    tmaring__note_add(notes, "groups: %d .. %d columns are shared by %d .. %d neighbouring lanes of %d elements",
                      p->group_cols_least, p->group_cols_most, p->group_cols_least / facts->vec,
                      p->group_cols_most / facts->vec, facts->vec);
  if (p->group_output_count > 0 && facts->rows_most < (int64_t)1 << 31)
    tmaring__note_add(notes, "rows: at most %lld, so that values of different groups keep apart",
                      (long long)facts->rows_most);
}

void tmaring__explain_facts(const tmaring__facts *facts, const tmaring__decision *decision, tmaring__notes *notes)
{
  explain_tensors(facts, notes);
  explain_formula(facts, notes);
  if (decision->registers[1] > 0)
    tmaring__note_add(notes, "registers: one CTA per SM, so that register sharing has the whole pool");
}

/* ---- the choice ---- */

static void explain_scope(const tmaring__candidate *c, const tmaring__decision *d, tmaring__notes *notes)
{
  const int32_t lanes = tmaring_scope_lanes(&c->scope), warps = tmaring_cta_squad_warps(&d->cta);
  switch (c->scope.kind) {
  case TMARING_SCOPE_FLAT:
    tmaring__note_add(notes, "scope flat: nothing ties an element to its row: %d warps share out a fill", warps);
    break;
  case TMARING_SCOPE_LANES:
    tmaring__note_add(notes, "scope lanes: %d rows at a time in a warp, %d lanes each", 32 / lanes, lanes);
    break;
  default:
    tmaring__note_add(notes, "scope %s: %d of %d warps share a row%s", tmaring__scope_name(c->scope.kind),
                      c->scope.warps_per_row, warps, c->pieces > 1 ? "'s piece" : "");
  }
}

static void explain_squads(const tmaring__candidate *c, const tmaring__decision *d, tmaring__notes *notes)
{
  const int64_t turn = (c->spread ? 1 : (int64_t)c->pieces * c->passes) * (d->cta.turns ? c->chunk : 1);
  if (d->cta.squads == 1) return;
  tmaring__note_add(notes, "squads: %d of %d warps each %s%s", d->cta.squads, tmaring_cta_squad_warps(&d->cta),
                    d->cta.turns ? "take tiles in turn" : "share every tile, a fill each",
                    c->stages % (d->cta.squads * turn) == 0 ? ""
                                                            : "; stages change hands, so that each waits for the other "
                                                              "to have passed its turn");
}

static void explain_passes(const tmaring__candidate *c, const tmaring__facts *facts, tmaring__notes *notes)
{
  const tmaring__program *p = facts->program;
  if (p->passes < 2) return;
  if (c->passes > 1) {
    tmaring__note_add(notes, "passes: %d, and each streams all %d pieces of a row anew", c->passes, c->pieces);
  } else if (c->cluster > 1) {
    tmaring__note_add(
        notes,
        "passes: %d over each row, of which %d CTAs keep %d columns each in their stages: it is read from "
        "memory once",
        p->passes, c->cluster, c->piece_cols);
  } else {
    tmaring__note_add(notes, "passes: %d over each row, which stays in its stage: it is read from memory once",
                      p->passes);
  }
}

static void explain_pieces(const tmaring__candidate *c, const tmaring__facts *facts, const tmaring__decision *d,
                           tmaring__notes *notes)
{
  const long long bytes = (long long)facts->cols * facts->widest_bytes;
  const char *why = "a row does not fit the stages";
  if (c->pieces == 1) return;
  if (d->piece_cols != TMARING_AUTO) {
    why = "as asked";
  } else if (tmaring__facts_columns(facts)) {
    why = "whole rows, or their accumulators, leave no room for stages";
  } else if (facts->program->reduction_passes == 0 && bytes > TUNING_LONG_ROW_BYTES) {
    why = "long rows without reductions stream better in fills of middling size";
  }
  tmaring__note_add(notes, "pieces: %d of %d columns of a row of %lld bytes (%s)%s", c->pieces, c->piece_cols, bytes,
                    why, c->spread ? "; each is a tile of its own" : "");
}

/* ---- paths ---- */

static void explain_tiles(const tmaring__candidate *c, const tmaring__facts *facts, const tmaring__decision *d,
                          int output, int32_t index, tmaring__notes *notes)
{
  const char *name = tmaring__facts_name(facts, output ? TMARING__SLOT_OUTPUT : TMARING__SLOT_INPUT, index);
  tmaring__tile_cut cut;
  if (!tmaring__stage_tiles(&cut, c, facts, d, output, index)) return;
  const uint32_t *box = cut.map.box;
  const uint32_t parts = cut.map.rank == 3 ? box[1] : 1;
  tmaring__note_add(notes, "%s: %s tile: boxes of %u x %u elements of %u bytes in %u row%s, %d per %s", name,
                    output ? "store" : "load", box[0], parts, (unsigned)cut.map.strides[0], box[cut.map.rank - 1],
                    box[cut.map.rank - 1] == 1 ? "" : "s", cut.tile.boxes, cut.tile.by_row ? "row" : "fill");
}

static void explain_load(const tmaring__candidate *c, const tmaring__facts *facts, const tmaring__decision *d,
                         int32_t index, tmaring__notes *notes)
{
  const char *name = tmaring__facts_name(facts, TMARING__SLOT_INPUT, index);
  switch (d->load[index]) {
  case TMARING_LOAD_TILE: explain_tiles(c, facts, d, 0, index, notes); break;
  case TMARING_LOAD_ASYNC:
    tmaring__note_add(notes,
                      "%s: load async: by the 32 lanes of the warp that feeds the ring, which arrive at its "
                      "full barriers too",
                      name);
    break;
  case TMARING_LOAD_ORDINARY:
    tmaring__note_add(notes, "%s: load ordinary: by the 32 lanes of the warp that feeds the ring, through registers",
                      name);
    break;
  case TMARING_LOAD_DIRECT:
    tmaring__note_add(notes, "%s: load direct: no slot in the ring; each thread reads what it uses in every pass",
                      name);
    break;
  }
}

static void explain_paths(const tmaring__candidate *c, const tmaring__facts *facts, const tmaring__decision *d,
                          tmaring__notes *notes)
{
  int others = 0;
  for (int32_t i = 0; i < facts->program->input_count; ++i) {
    explain_load(c, facts, d, i, notes);
    others |= d->load[i] != TMARING_LOAD_BULK;
  }
  for (int32_t i = 0; d->store == TMARING_STORE_TILE && i < facts->program->output_count; ++i)
    explain_tiles(c, facts, d, 1, i, notes);
  if (facts->program->input_count > 0 && !others)
    tmaring__note_add(notes,
                      "load bulk: 1D copies of runs; tile, async, ordinary and direct are taken where asked for");
  if (tmaring__decision_tiled(d, facts) && d->policy == TMARING_POLICY_UNSAFE)
    tmaring__note_add(notes, "policy unsafe: the hardware clips boxes at the tensor's edge all the same");
}

static void explain_strips(const tmaring__candidate *c, tmaring__notes *notes)
{
  if (tmaring__candidate_strips(c))
    tmaring__note_add(notes, "strips: a fill is %d rows of %d columns; a tile goes down %d of them", c->tile_rows,
                      c->piece_cols, c->chunk);
}

static void explain_columns(const tmaring__candidate *c, const tmaring__facts *facts, const tmaring__decision *d,
                            tmaring__notes *notes)
{
  const int32_t seats = tmaring_scope_at_a_time(&c->scope, tmaring_cta_squad_warps(&d->cta));
  if (!tmaring__facts_columns(facts)) return;
  tmaring__note_add(notes,
                    "columns: %lld rows per chunk, which %d accumulator%s per column join in a fixed order; a second "
                    "kernel joins the chunks",
                    (long long)c->chunk * c->tile_rows, seats, seats == 1 ? "" : "s");
  if (tmaring__candidate_strips(c) && tmaring__column_held(c, facts) > 0) {
    tmaring__note_add(notes, "accumulators: in registers: a thread has up to %d vectors of a strip's row",
                      tmaring__column_held(c, facts));
  } else if (c->columns_staged) {
    tmaring__note_add(notes,
                      "accumulators: %lld bytes of shared memory, or registers where a thread has few steps per row",
                      (long long)tmaring__column_smem_bytes(c, facts, d));
  } else {
    tmaring__note_add(
        notes,
        "accumulators: in the workspace, or registers where a thread has few steps per row: their %lld bytes leave "
        "no room for stages, or pass %d",
        (long long)tmaring__column_smem_bytes(c, facts, d), TUNING_COLUMN_SMEM_BYTES);
  }
}

void tmaring__explain_choice(const tmaring__candidate *candidate, const tmaring__facts *facts,
                             const tmaring__decision *decision, tmaring__notes *notes)
{
  explain_scope(candidate, decision, notes);
  explain_squads(candidate, decision, notes);
  if (decision->multicast > 1)
    tmaring__note_add(notes, "multicast: clusters of %d CTAs load their %u bytes of [N] inputs once",
                      decision->multicast, facts->vector_bytes);
  explain_passes(candidate, facts, notes);
  explain_pieces(candidate, facts, decision, notes);
  explain_strips(candidate, notes);
  explain_paths(candidate, facts, decision, notes);
  explain_columns(candidate, facts, decision, notes);
}

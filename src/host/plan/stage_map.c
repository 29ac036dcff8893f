#include "stage_map.h"

#include <string.h>

#include "column.h"
#include "load_path.h"

/* Past any shared memory, and far from overflow when added up. */
#define HUGE_BYTES ((int64_t)1 << 50)

/* ---- slots ---- */

/* A fill of one row is one run, whatever the pitch: what follows the row in memory does not matter to it. */
static int32_t one_run(const tmaring_stream *stream, const tmaring__candidate *c)
{
  return (stream->dense && c->pieces == 1) || c->tile_rows == 1;
}

static int64_t row_bytes(const tmaring_stream *stream, const tmaring__candidate *c)
{
  return (int64_t)c->piece_cols * stream->elem_bytes;
}

static int64_t run_slot_bytes(const tmaring_stream *stream, const tmaring__candidate *c, const tmaring__facts *facts)
{
  const int64_t row = row_bytes(stream, c);
  if (row + 16 > ((int64_t)1 << 30) / c->tile_rows) return HUGE_BYTES;
  return tmaring_run_slot_bytes((tmaring_u32)row, c->tile_rows, one_run(stream, c), facts->aligned);
}

static int is_stored_over(const tmaring__facts *facts, const tmaring__decision *d, int32_t input)
{
  for (int32_t i = 0; i < facts->program->output_count; ++i) {
    if (d->in_place[i] == input) return 1;
  }
  return 0;
}

/* 1 where one thread stores all rows of a fill, so that a box may have several. The scope counts with roles apart. */
static int has_one_storer(const tmaring__candidate *c, const tmaring__decision *d)
{
  return d->cta.mode == TMARING_MODE_PIPELINED || c->scope.warps_per_row == tmaring_cta_squad_warps(&d->cta);
}

int tmaring__stage_tiles(tmaring__tile_cut *cut, const tmaring__candidate *c, const tmaring__facts *facts,
                         const tmaring__decision *d, int output, int32_t index)
{
  /* results stored as boxes over an input: that is laid out as they are */
  const int boxed = output || (d->store == TMARING_STORE_TILE && is_stored_over(facts, d, index));
  const int by_row = boxed && !has_one_storer(c, d);
  const tmaring__tile_need need = {facts->cols,      c->piece_cols,     c->tile_rows,
                                   output && by_row, by_row ? 128 : 16, boxed};
  return tmaring__tile_cut_make(cut, output ? &facts->output[index] : &facts->input[index], &need);
}

/* Boxes that leave the rows of a fill without gaps in the slot, whatever lies between them in memory. */
static int tiles_join(const tmaring__tile_cut *cut, const tmaring_stream *stream, const tmaring__candidate *c)
{
  return c->tile_rows == 1 || (c->pieces == 1 && (int64_t)cut->slot_row == row_bytes(stream, c));
}

static int is_run(const tmaring__candidate *c, const tmaring__facts *facts, const tmaring__decision *d, int output,
                  int32_t index)
{
  const tmaring_stream *stream = output ? &facts->output[index] : &facts->input[index];
  const int tiled = output ? d->store == TMARING_STORE_TILE : d->load[index] == TMARING_LOAD_TILE;
  tmaring__tile_cut cut;
  if (!tiled) return one_run(stream, c);
  return tmaring__stage_tiles(&cut, c, facts, d, output, index) && tiles_join(&cut, stream, c) &&
         !(output && cut.tile.by_row);
}

int tmaring__stage_is_run(const tmaring__candidate *candidate, const tmaring__facts *facts,
                          const tmaring__decision *decision)
{
  int run = decision->store != TMARING_STORE_TILE || decision->cta.mode == TMARING_MODE_PIPELINED;
  for (int32_t i = 0; run && i < facts->program->input_count; ++i) run = is_run(candidate, facts, decision, 0, i);
  for (int32_t i = 0; run && i < facts->program->output_count; ++i) run = is_run(candidate, facts, decision, 1, i);
  return run;
}

int tmaring__stage_joins_rows(const tmaring__facts *facts, const tmaring__decision *decision)
{
  tmaring__candidate some = {0};
  some.tile_rows = decision->tile_rows != TMARING_AUTO ? decision->tile_rows : 2;
  some.pieces = some.passes = some.cluster = some.chunk = 1;
  some.piece_cols = facts->cols;
  return tmaring__stage_is_run(&some, facts, decision);
}

static int64_t tile_slot_bytes(const tmaring__candidate *c, const tmaring__facts *facts, const tmaring__decision *d,
                               int output, int32_t index)
{
  tmaring__tile_cut cut;
  return tmaring__stage_tiles(&cut, c, facts, d, output, index) ? cut.slot_bytes : HUGE_BYTES;
}

static int64_t input_slot_bytes(const tmaring__candidate *c, const tmaring__facts *facts, const tmaring__decision *d,
                                int32_t index)
{
  if (!tmaring__decision_rings(d, index)) return 0;
  if (d->load[index] == TMARING_LOAD_TILE) return tile_slot_bytes(c, facts, d, 0, index);
  return run_slot_bytes(&facts->input[index], c, facts);
}

static int64_t output_slot_bytes(const tmaring__candidate *c, const tmaring__facts *facts, const tmaring__decision *d,
                                 int32_t index)
{
  if (!tmaring__decision_stages(d) || d->in_place[index] >= 0) return 0;
  if (d->store == TMARING_STORE_TILE) return tile_slot_bytes(c, facts, d, 1, index);
  return run_slot_bytes(&facts->output[index], c, facts);
}

int32_t tmaring__stage_copies(const tmaring__candidate *candidate, const tmaring__facts *facts,
                              const tmaring__decision *decision, int32_t index)
{
  const tmaring__candidate *c = candidate;
  tmaring__tile_cut cut;
  if (!tmaring__decision_rings(decision, index)) return 0;
  if (decision->load[index] != TMARING_LOAD_TILE) return facts->dense && c->pieces == 1 ? 1 : c->tile_rows;
  tmaring__stage_tiles(&cut, c, facts, decision, 0, index);
  return cut.tile.boxes * (cut.tile.by_row ? c->tile_rows : 1);
}

int64_t tmaring__stage_bytes(const tmaring__candidate *candidate, const tmaring__facts *facts,
                             const tmaring__decision *decision, int64_t *load_bytes)
{
  int64_t bytes = 0;
  for (int32_t i = 0; i < facts->program->input_count; ++i) bytes += input_slot_bytes(candidate, facts, decision, i);
  if (load_bytes) *load_bytes = bytes;
  for (int32_t i = 0; i < facts->program->output_count; ++i) bytes += output_slot_bytes(candidate, facts, decision, i);
  return bytes;
}

/* ---- layout ---- */

/* Warps that leave partial results for each other. */
static tmaring_u32 cross_warps(const tmaring__candidate *c, const tmaring__decision *d)
{
  return c->scope.warps_per_row > 1 || c->cluster > 1 ? (tmaring_u32)tmaring_cta_consumer_warps(&d->cta) : 0;
}

int64_t tmaring__stage_column_bytes(const tmaring__candidate *candidate, const tmaring__facts *facts,
                                    const tmaring__decision *decision)
{
  return candidate->columns_staged ? tmaring__column_smem_bytes(candidate, facts, decision) : 0;
}

/* Bytes in front of the vectors: of their barrier. */
static uint32_t vectors_begin(const tmaring__decision *d)
{
  return d->multicast > 1 ? 16 : 0;
}

void tmaring__stage_layout(tmaring_smem *smem, const tmaring__candidate *candidate, const tmaring__facts *facts,
                           const tmaring__decision *decision, int64_t stage_bytes)
{
  tmaring_smem_layout(smem, (tmaring_u32)candidate->stages, (tmaring_u32)stage_bytes,
                      (candidate->vectors_staged ? facts->vector_bytes : 0) + vectors_begin(decision),
                      (tmaring_u32)tmaring__stage_column_bytes(candidate, facts, decision),
                      cross_warps(candidate, decision));
}

/* ---- arguments ---- */

static void enter_runs(tmaring_stream *stream, const tmaring_stream *known, const tmaring__candidate *c,
                       const tmaring__facts *facts)
{
  *stream = *known;
  stream->dense = one_run(known, c);
  stream->slot_row = tmaring_run_slot_row((tmaring_u32)row_bytes(known, c), facts->aligned);
  stream->slot_bytes = (tmaring_u32)run_slot_bytes(known, c, facts);
}

/* What is stored over an input as runs of memory is one there too where the input's slot is. */
static void enter_tiles(tmaring_stream *stream, const tmaring_stream *known, tmaring__boxes *boxes,
                        const tmaring__candidate *c, const tmaring__facts *facts, const tmaring__decision *d,
                        int output, int32_t index)
{
  const int32_t at = output ? TMARING_TILED_OUTPUTS + index : index;
  tmaring__tile_cut cut;
  tmaring__stage_tiles(&cut, c, facts, d, output, index);
  boxes->used |= 1 << at;
  boxes->tile[at] = cut.tile;
  boxes->map[at] = cut.map;
  *stream = *known;
  stream->dense = tiles_join(&cut, known, c) && (output || !is_stored_over(facts, d, index) || one_run(known, c));
  stream->slot_row = cut.slot_row;
  stream->slot_bytes = (tmaring_u32)cut.slot_bytes;
}

/* What the ring does not carry has an empty slot behind all others. */
static void enter_inputs(tmaring_args *args, tmaring__boxes *boxes, tmaring_u32 *slot, const tmaring__candidate *c,
                         const tmaring__facts *facts, const tmaring__decision *d)
{
  for (int32_t i = 0; i < args->input_count; ++i) {
    tmaring_stream *s = &args->input[i];
    if (d->load[i] == TMARING_LOAD_TILE)
      enter_tiles(s, &facts->input[i], boxes, c, facts, d, 0, i);
    else
      enter_runs(s, &facts->input[i], c, facts);
    s->path = d->load[i];
    s->slot = *slot;
    if (!tmaring__decision_rings(d, i)) {
      s->slot = args->smem.stage_bytes;
      s->slot_bytes = 0;
    }
    *slot += s->slot_bytes;
  }
}

static void enter_output(tmaring_args *args, tmaring__boxes *boxes, int32_t index, const tmaring__candidate *c,
                         const tmaring__facts *facts, const tmaring__decision *d)
{
  tmaring_stream *s = &args->output[index];
  const tmaring_stream *over = d->in_place[index] >= 0 ? &args->input[d->in_place[index]] : NULL;
  if (d->store == TMARING_STORE_TILE)
    enter_tiles(s, &facts->output[index], boxes, c, facts, d, 1, index);
  else
    enter_runs(s, &facts->output[index], c, facts);
  s->path = d->store == TMARING_STORE_TILE;
  if (!over) return;
  s->slot = over->slot;
  s->slot_row = over->slot_row;
  s->slot_bytes = over->slot_bytes;
  s->dense = over->dense;
}

static void enter_outputs(tmaring_args *args, tmaring__boxes *boxes, tmaring_u32 slot, const tmaring__candidate *c,
                          const tmaring__facts *facts, const tmaring__decision *d)
{
  for (int32_t i = 0; i < args->output_count; ++i) {
    tmaring_stream *s = &args->output[i];
    enter_output(args, boxes, i, c, facts, d);
    if (!tmaring__decision_stages(d)) s->slot = s->slot_bytes = 0;
    if (!tmaring__decision_stages(d) || d->in_place[i] >= 0) continue;
    s->slot = slot;
    slot += s->slot_bytes;
  }
}

static void enter_values(tmaring_args *args, const tmaring__candidate *c, const tmaring__facts *facts,
                         const tmaring__decision *d)
{
  tmaring_u32 offset = args->smem.vectors + vectors_begin(d);
  memcpy(args->vector, facts->vector, sizeof args->vector);
  memcpy(args->row_scalar, facts->row_scalar, sizeof args->row_scalar);
  memcpy(args->row_output, facts->row_output, sizeof args->row_output);
  memcpy(args->group_input, facts->group_input, sizeof args->group_input);
  memcpy(args->group_output, facts->group_output, sizeof args->group_output);
  memcpy(args->column_output, facts->column_output, sizeof args->column_output);
  for (int32_t i = 0; c->vectors_staged && i < args->vector_count; ++i) {
    args->vector[i].smem = offset;
    offset += (tmaring_u32)tmaring_round_up((tmaring_u64)facts->cols * tmaring_dtype_bytes(facts->vector[i].dtype), 16);
  }
}

static void enter_counts(tmaring_args *args, const tmaring__program *program)
{
  args->input_count = program->input_count;
  args->output_count = program->output_count;
  args->vector_count = program->vector_count;
  args->row_scalar_count = program->row_scalar_count;
  args->row_output_count = program->row_output_count;
  args->scalar_count = program->scalar_count;
  args->group_input_count = program->group_input_count;
  args->group_output_count = program->group_output_count;
  args->column_output_count = program->column_output_count;
}

void tmaring__stage_map(tmaring_args *args, tmaring__boxes *boxes, const tmaring__candidate *candidate,
                        const tmaring__facts *facts, const tmaring__decision *decision)
{
  tmaring_u32 slot = 0;
  boxes->used = 0;
  enter_counts(args, facts->program);
  args->columns_staged = candidate->columns_staged;
  tmaring__stage_layout(&args->smem, candidate, facts, decision,
                        tmaring__stage_bytes(candidate, facts, decision, NULL));
  enter_inputs(args, boxes, &slot, candidate, facts, decision);
  enter_outputs(args, boxes, slot, candidate, facts, decision);
  enter_values(args, candidate, facts, decision);
}

#include "stage_map.h"

#include <string.h>

#include "column.h"

/* Past any shared memory, and far from overflow when added up. */
#define HUGE_BYTES ((int64_t)1 << 50)

/* A fill of one row is one run, whatever the pitch: what follows the row in memory does not matter to it. */
static int32_t one_run(const tmaring_stream *stream, const tmaring__candidate *c)
{
  return stream->dense || c->tile_rows == 1;
}

static int64_t row_bytes(const tmaring_stream *stream, const tmaring__candidate *c)
{
  return (int64_t)c->piece_cols * stream->elem_bytes;
}

static int64_t slot_bytes(const tmaring_stream *stream, const tmaring__candidate *c, const tmaring__facts *facts)
{
  const int64_t row = row_bytes(stream, c);
  if (row + 16 > ((int64_t)1 << 30) / c->tile_rows) return HUGE_BYTES;
  return tmaring_run_slot_bytes((tmaring_u32)row, c->tile_rows, one_run(stream, c), facts->aligned);
}

static int staged_apart(const tmaring__decision *decision, int32_t output)
{
  return decision->store == TMARING_STORE_BULK && decision->in_place[output] < 0;
}

int64_t tmaring__stage_bytes(const tmaring__candidate *candidate, const tmaring__facts *facts,
                             const tmaring__decision *decision, int64_t *load_bytes)
{
  int64_t bytes = 0;
  for (int32_t i = 0; i < facts->program->input_count; ++i) bytes += slot_bytes(&facts->input[i], candidate, facts);
  if (load_bytes) *load_bytes = bytes;
  for (int32_t i = 0; i < facts->program->output_count; ++i) {
    if (staged_apart(decision, i)) bytes += slot_bytes(&facts->output[i], candidate, facts);
  }
  return bytes;
}

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

void tmaring__stage_layout(tmaring_smem *smem, const tmaring__candidate *candidate, const tmaring__facts *facts,
                           const tmaring__decision *decision, int64_t stage_bytes)
{
  tmaring_smem_layout(smem, (tmaring_u32)candidate->stages, (tmaring_u32)stage_bytes,
                      candidate->vectors_staged ? facts->vector_bytes : 0,
                      (tmaring_u32)tmaring__stage_column_bytes(candidate, facts, decision),
                      cross_warps(candidate, decision));
}

static tmaring_u32 enter_stream(tmaring_stream *stream, const tmaring_stream *known, tmaring_u32 slot,
                                const tmaring__candidate *c, const tmaring__facts *facts)
{
  *stream = *known;
  stream->dense = one_run(known, c);
  stream->slot = slot;
  stream->slot_row = tmaring_run_slot_row((tmaring_u32)row_bytes(known, c), facts->aligned);
  stream->slot_bytes = (tmaring_u32)slot_bytes(known, c, facts);
  return slot + stream->slot_bytes;
}

static void enter_outputs(tmaring_args *args, tmaring_u32 slot, const tmaring__candidate *c,
                          const tmaring__facts *facts, const tmaring__decision *d)
{
  for (int32_t i = 0; i < args->output_count; ++i) {
    const tmaring_u32 at = d->in_place[i] >= 0 ? args->input[d->in_place[i]].slot : slot;
    enter_stream(&args->output[i], &facts->output[i], at, c, facts);
    if (staged_apart(d, i)) slot += args->output[i].slot_bytes;
    if (d->store != TMARING_STORE_BULK) args->output[i].slot = args->output[i].slot_bytes = 0;
  }
}

static void enter_values(tmaring_args *args, const tmaring__candidate *c, const tmaring__facts *facts)
{
  tmaring_u32 offset = args->smem.vectors;
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

void tmaring__stage_map(tmaring_args *args, const tmaring__candidate *candidate, const tmaring__facts *facts,
                        const tmaring__decision *decision)
{
  tmaring_u32 slot = 0;
  enter_counts(args, facts->program);
  args->columns_staged = candidate->columns_staged;
  tmaring__stage_layout(&args->smem, candidate, facts, decision,
                        tmaring__stage_bytes(candidate, facts, decision, NULL));
  for (int32_t i = 0; i < args->input_count; ++i)
    slot = enter_stream(&args->input[i], &facts->input[i], slot, candidate, facts);
  enter_outputs(args, slot, candidate, facts, decision);
  enter_values(args, candidate, facts);
}

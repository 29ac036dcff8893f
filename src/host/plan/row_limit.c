#include "row_limit.h"

#include <stdio.h>
#include <string.h>

#include "../base/detail.h"
#include "column.h"

#define MOST_31_BITS 2147483647

int64_t tmaring__row_limit(const tmaring__candidate *candidate, const tmaring__facts *facts,
                           const tmaring__decision *decision, int32_t order)
{
  const tmaring__candidate *c = candidate;
  const int64_t tile_rows = (int64_t)c->tile_rows * c->chunk, tiles = MOST_31_BITS / (c->spread ? c->pieces : 1);
  int64_t limit = facts->rows_most;
  if (c->spread || order == TMARING_ORDER_TICKET) limit = tmaring_min_i64(limit, tiles * tile_rows);
  if (tmaring__facts_columns(facts)) {
    const int64_t each = tmaring__column_smem_bytes(c, facts, decision) + 64;
    limit = tmaring_min_i64(limit, ((int64_t)1 << 61) / each); /* no more chunks than rows */
  }
  return limit;
}

static int by_map(const tmaring_stream *s, int output)
{
  return output ? s->path != 0 : s->path == TMARING_LOAD_TILE;
}

int64_t tmaring__row_limit_of_paths(const tmaring_args *args)
{
  int tiled = 0;
  for (int32_t i = 0; i < args->input_count; ++i) tiled |= by_map(&args->input[i], 0);
  for (int32_t i = 0; i < args->output_count; ++i) tiled |= by_map(&args->output[i], 1);
  return tiled ? TMARING_MAX_COORDINATES : INT64_MAX;
}

/* ---- why no more ---- */

/* What of a streamed tensor keeps rows below the limit; NULL: nothing. */
static const char *stream_reason(const tmaring_stream *s, int output, int64_t limit)
{
  if (limit == MOST_31_BITS && s->group_rows > 0) return "rows in groups are numbered in 31 bits";
  if (limit == TMARING_MAX_COORDINATES && by_map(s, output))
    return "coordinates of tensor maps have 31 bits; use load bulk";
  if (s->group_rows > 0 ? limit % s->group_rows == 0 : limit == ((int64_t)1 << 62) / tmaring_max_i64(1, s->pitch))
    return "its offsets stay below 2^62 bytes; use a smaller pitch";
  return NULL;
}

static const char *reason_of(const tmaring_args *args, tmaring__slot slot, int64_t limit)
{
  if (slot.kind == TMARING__SLOT_INPUT) return stream_reason(&args->input[slot.index], 0, limit);
  if (slot.kind == TMARING__SLOT_OUTPUT) return stream_reason(&args->output[slot.index], 1, limit);
  return NULL;
}

/* The first tensor that has a reason. */
static const char *tensor_reason(const tmaring_plan *plan, const tmaring_args *args, int64_t limit,
                                 tmaring_parameter *parameter)
{
  for (int32_t i = 0; i < plan->tensor_count; ++i) {
    const char *reason = reason_of(args, tmaring__formula_slot(plan->formula, i), limit);
    if (!reason) continue;
    memset(parameter, 0, sizeof *parameter);
    parameter->size = sizeof *parameter;
    if (tmaring_formula_tensor(plan->formula, i, parameter) == TMARING_OK) return reason;
  }
  return NULL;
}

/* Tiles are numbered in 31 bits where they are handed out by a counter, or divided into row and piece. */
static const char *tile_reason(const tmaring_walk *w, int64_t limit)
{
  const int64_t tiles = MOST_31_BITS / (w->spread ? w->pieces : 1);
  if (limit != tiles * w->tile_rows * w->chunk) return NULL;
  if (w->order == TMARING_ORDER_TICKET) return "order ticket numbers tiles in 31 bits; use order cyclic";
  return w->spread ? "tiles that are pieces of a row are numbered in 31 bits; use a larger piece_cols" : NULL;
}

tmaring_status tmaring__row_limit_refuse(const tmaring_plan *plan, const tmaring_args *args, int64_t rows,
                                         int64_t limit)
{
  tmaring_parameter parameter = {0};
  const char *reason = tile_reason(&args->walk, limit);
  if (!reason) reason = tensor_reason(plan, args, limit, &parameter);
  if (!reason) reason = "offsets of values and partial results stay below 2^62 bytes";
  return tmaring__fail(TMARING_ERROR_CAPACITY,
                       "rows: got %lld, this plan serves at most %lld: %s%s%s; split the launch", (long long)rows,
                       (long long)limit, parameter.size ? parameter.name : "", parameter.size ? ": " : "", reason);
}

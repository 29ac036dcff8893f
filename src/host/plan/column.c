#include "column.h"

#include "tuning.h"

/* Registers that accumulators of column reductions may take; the same in formulas that reduce rows as well. */
#define HELD_WORDS          32
#define HELD_WORDS_REDUCING 16

int32_t tmaring__column_held_steps(const tmaring__program *program, int32_t vec, int32_t wide, int64_t steps)
{
  const int32_t words = program->column_output_count * vec * (wide ? 2 : 1);
  const int32_t room = program->reduction_passes > 0 ? HELD_WORDS_REDUCING : HELD_WORDS;
  int64_t held = 1;
  while (held < steps) held *= 2;
  return words > 0 && held * words <= room ? (int32_t)held : 0;
}

int32_t tmaring__column_held(const tmaring__candidate *candidate, const tmaring__facts *facts)
{
  const int64_t vectors = tmaring_ceil_div(candidate->piece_cols, facts->vec);
  if (candidate->pieces > 1 && !candidate->spread) return 0;
  return tmaring__column_held_steps(facts->program, facts->vec, facts->wide,
                                    tmaring_ceil_div(vectors, tmaring_scope_stride(&candidate->scope)));
}

static int32_t seats_of(const tmaring__candidate *c, const tmaring__decision *d)
{
  return tmaring_scope_at_a_time(&c->scope, tmaring_cta_squad_warps(&d->cta));
}

int64_t tmaring__column_smem_bytes(const tmaring__candidate *candidate, const tmaring__facts *facts,
                                   const tmaring__decision *decision)
{
  const int64_t row = (int64_t)tmaring_round_up((tmaring_u64)facts->cols, 8) * (facts->wide ? 8 : 4);
  return decision->cta.squads * seats_of(candidate, decision) * row * facts->program->column_output_count;
}

/* The largest whole number whose square is not above. */
static int64_t root_of(int64_t square)
{
  int64_t low = 0, high = (int64_t)1 << 31;
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (middle <= square / middle)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* Rows of a chunk at which streaming it takes as long as joining the partial results of all chunks: fewer rows make
 * more of them. */
static int64_t rows_to_join(const tmaring__candidate *c, const tmaring__facts *facts, int64_t seats, int64_t rows)
{
  const int64_t row_bytes = c->pieces > 1 ? tmaring__candidate_row_bytes(c, facts) : facts->load_bytes;
  const double turns = (double)tmaring_ceil_div(facts->cols, TUNING_COLUMN_JOIN_COLS);
  const double join_ns = TUNING_COLUMN_JOIN_NS * turns * (double)seats * (double)rows;
  const double square = join_ns * TUNING_COLUMN_RATE / (double)tmaring_max_i64(1, row_bytes);
  return root_of(square < 1e18 ? (int64_t)square : (int64_t)1000000000000000000);
}

int32_t tmaring__column_chunk(const tmaring__candidate *candidate, const tmaring__facts *facts,
                              const tmaring__decision *decision, int64_t rows)
{
  const tmaring__candidate *c = candidate;
  const int64_t seats = seats_of(c, decision), pieces = c->spread ? c->pieces : 1;
  const int64_t even = tmaring_ceil_div(rows, tmaring_max_i64(1, TUNING_COLUMN_CHUNKS / pieces));
  const int64_t least = tmaring_max_i64(TUNING_COLUMN_ROWS_PER_SEAT * seats, rows_to_join(c, facts, seats, rows));
  const int64_t fills = tmaring_ceil_div(tmaring_max_i64(even, least), c->tile_rows);
  /* fills of a tile, and rows of a chunk, are counted in 31 bits */
  const int64_t most = ((int64_t)1 << 30) / tmaring_max_i64(c->tile_rows, (int64_t)c->pieces * c->passes);
  return (int32_t)tmaring_max_i64(1, tmaring_min_i64(fills, most));
}

int64_t tmaring__column_partial_bytes(const tmaring_args *args, int32_t wide)
{
  const tmaring_walk *w = &args->walk;
  const int64_t rows = tmaring_column_chunks(w) * tmaring_column_seats(args);
  return rows * args->column_output_count * tmaring_column_stride(args) * (wide ? 8 : 4);
}

/* The walk: which rows and columns a worker visits, and in which order.
 *
 * Words. A *worker* is a persistent CTA, or a cluster of them that share their rows. A *tile* is the unit of work that
 * one worker owns: R whole rows, or one row cut into pieces, or one piece of a row or of R rows (spread; R > 1: a
 * *strip* of columns). A *fill* is what one pass through a ring stage holds: a tile, one piece of the tile's row in one
 * pass over it, or one CTA's slice of it; a chunk of fills makes the tile taller. A
 * worker sees its tiles as *slots* 0, 1, 2, ...; where the split does not divide, the last slots of the last workers
 * are *surplus* and the policy says what happens to them.
 *
 * Every static order is one arithmetic sequence per worker:
 *     order      first tile of worker c    step   slots
 *     split      c * outer * S             1      outer * S      M as [C, outer, S, N]: tile (c*outer + o)*S + s
 *     blocked    c * ceil(T/C)             1      ceil(T/C)
 *     cyclic     c                         C      ceil(T/C)
 * and tickets start at tile c and go on with C + counter++.
 *
 * All functions are pure and run on either side. 64-bit: tile and row indexes. 32-bit: everything inside a tile. */
#ifndef TMARING_ABI_WALK_H
#define TMARING_ABI_WALK_H

#include "base.h"

typedef enum tmaring_order {
  TMARING_ORDER_SPLIT = 0,
  TMARING_ORDER_BLOCKED = 1,
  TMARING_ORDER_CYCLIC = 2,
  TMARING_ORDER_TICKET = 3
} tmaring_order;

/* What happens to surplus slots.
 *   wrap    the tile index is reduced modulo T: loaded, waited for, computed, never stored
 *   skip    load, wait and release are left out on both sides
 *   exact   trip counts are trimmed per worker: what skip comes to, since the surplus is always at the end of a trip
 *   unsafe  no protection at all: for tests that must see the fault */
typedef enum tmaring_policy {
  TMARING_POLICY_WRAP = 0,
  TMARING_POLICY_SKIP = 1,
  TMARING_POLICY_EXACT = 2,
  TMARING_POLICY_UNSAFE = 3
} tmaring_policy;

/* CTAs of a cluster, at most: what every device with clusters runs. */
#define TMARING_MAX_CLUSTER 8

/* No tile lies here or beyond. */
#define TMARING_FAR_TILE 0x3fffffffffffffffLL

/* How a matrix of rows x cols is cut. The first fields follow from M and the others: tmaring_walk_set_rows. They say
 * orders and policies in numbers, so that role loops need not tell them apart. */
typedef struct tmaring_walk {
  tmaring_i64 rows;       /* M */
  tmaring_i64 tiles;      /* T */
  tmaring_i64 slots;      /* per worker, before trimming */
  tmaring_i64 stride;     /* tiles between the first tiles of neighbouring workers */
  tmaring_i64 limit;      /* the raw tile index that ends a trip: T, or TMARING_FAR_TILE where surplus slots run */
  tmaring_i64 row_limit;  /* where the last fill is clipped: M; the unsafe policy does not clip */
  tmaring_i32 step;       /* tiles between a worker's slots */
  tmaring_i32 cols;       /* N */
  tmaring_i32 workers;    /* C */
  tmaring_i32 order;      /* tmaring_order */
  tmaring_i32 policy;     /* tmaring_policy */
  tmaring_i32 tile_rows;  /* R: rows per fill; 1 where rows are cut into pieces, unless each piece is a tile (spread) */
  tmaring_i32 chunk;      /* fills (in pieces that are no tiles: rows) that follow one another in a tile, so that column
                        reductions leave one partial result per tile, or that squads share; 1 otherwise */
  tmaring_i32 pieces;     /* pieces per row; 1 = whole rows */
  tmaring_i32 piece_cols; /* columns per piece; the last may be shorter */
  tmaring_i32 passes;     /* times a worker streams all pieces of its row; 1 where pieces == 1 */
  tmaring_i32 spread;     /* 1: each piece is a tile of its own (passes == 1) */
  tmaring_i32 split_stages; /* S of the split order */
  tmaring_i32 cluster; /* CTAs of a worker: each has the slice [rank * piece_cols, + piece_cols) of the columns of the
                               same rows. 0, 1: a CTA alone. More: one whole row per fill */
  tmaring_i32 rank;    /* of this CTA in its cluster; 0 in the arguments of a launch */
} tmaring_walk;

/* One fill: rows [row, row + rows) x columns [col, col + cols) of the matrix, in pass `pass` over them. */
typedef struct tmaring_fill {
  tmaring_i64 row;
  tmaring_i32 rows;
  tmaring_i32 col;
  tmaring_i32 cols;
  tmaring_i32 pass;        /* 0 where rows are whole: all passes run on the one fill */
  tmaring_i32 first_piece; /* 1: accumulators start here */
  tmaring_i32 last_piece;  /* 1: the pass over the row ends here */
  tmaring_i32 valid;       /* 0: surplus fill, never stored */
  tmaring_i32 first_fill;  /* 1: the tile begins with it */
  tmaring_i32 last_fill;   /* 1: the tile ends with it */
  tmaring_i64 chunk;       /* number of the tile's row chunk, for column partials */
} tmaring_fill;

/* 1 where the CTAs of a cluster share rows. */
TMARING_FN int tmaring_walk_shared(const tmaring_walk *w)
{
  return w->cluster > 1;
}

/* 1 where a fill is a piece of more than one row. */
TMARING_FN int tmaring_walk_strips(const tmaring_walk *w)
{
  return w->spread && w->tile_rows > 1;
}

/* Columns that a fill holds of a row, at most. */
TMARING_FN tmaring_i32 tmaring_walk_fill_cols(const tmaring_walk *w)
{
  return w->pieces > 1 || tmaring_walk_shared(w) ? w->piece_cols : w->cols;
}

/* Fills that one tile takes. */
TMARING_FN tmaring_i32 tmaring_walk_fills_per_tile(const tmaring_walk *w)
{
  return (w->spread ? 1 : w->pieces * w->passes) * w->chunk;
}

/* Says order and policy in numbers: stride, step and limits, from rows, tiles and slots. */
TMARING_FN void tmaring_walk_derive(tmaring_walk *w)
{
  w->stride = w->order == TMARING_ORDER_CYCLIC || w->order == TMARING_ORDER_TICKET ? 1 : w->slots;
  w->step = w->order == TMARING_ORDER_CYCLIC ? w->workers : 1;
  w->limit = w->order == TMARING_ORDER_TICKET || w->policy == TMARING_POLICY_EXACT || w->policy == TMARING_POLICY_SKIP
                 ? w->tiles
                 : TMARING_FAR_TILE;
  w->row_limit = w->policy == TMARING_POLICY_UNSAFE ? TMARING_FAR_TILE : w->rows;
}

/* Cuts a matrix of `rows` >= 0 rows: derives rows, tiles and slots from the other fields. Runs on the host at launch,
 * or on the device where M comes from device memory. */
TMARING_FN void tmaring_walk_set_rows(tmaring_walk *w, tmaring_i64 rows)
{
  w->rows = rows;
  w->tiles = tmaring_ceil_div(rows, (tmaring_i64)w->tile_rows * w->chunk);
  if (w->spread) w->tiles *= w->pieces;
  if (w->order == TMARING_ORDER_SPLIT) {
    const tmaring_i64 groups = tmaring_ceil_div(w->tiles, w->split_stages);
    w->slots = tmaring_ceil_div(groups, w->workers) * w->split_stages;
  } else {
    w->slots = tmaring_ceil_div(w->tiles, w->workers);
  }
  tmaring_walk_derive(w);
}

/* Tile index of a worker's slot 0. */
TMARING_FN tmaring_i64 tmaring_walk_first(const tmaring_walk *w, tmaring_i32 worker)
{
  return worker * w->stride;
}

/* Slots that hold real tiles: the worker's first slots, since tile indexes grow. Not for tickets. No division:
 * contiguous workers end at the last tile, and of strided slots only the last can lie past it. */
TMARING_FN tmaring_i64 tmaring_walk_valid_slots(const tmaring_walk *w, tmaring_i32 worker)
{
  const tmaring_i64 first = tmaring_walk_first(w, worker);
  if (w->step == 1) return tmaring_min_i64(w->slots, tmaring_max_i64(0, w->tiles - first));
  return w->slots - (first + (w->slots - 1) * w->step >= w->tiles ? 1 : 0);
}

/* Slots that a worker runs through: all of them under wrap; under exact and skip those with real tiles. */
TMARING_FN tmaring_i64 tmaring_walk_slots(const tmaring_walk *w, tmaring_i32 worker)
{
  if (w->tiles == 0) return 0;
  return w->limit == w->tiles ? tmaring_walk_valid_slots(w, worker) : w->slots;
}

/* The wrap: reduces a raw tile index modulo T. The surplus is below T whenever workers <= T, so that one subtraction
 * does it; the loop serves grids larger than the work (M from device memory). */
TMARING_FN tmaring_i64 tmaring_walk_wrap(const tmaring_walk *w, tmaring_i64 tile)
{
  if (tile < w->tiles || w->policy != TMARING_POLICY_WRAP) return tile;
  do tile -= w->tiles;
  while (tile >= w->tiles);
  return tile;
}

/* Rows and columns of fill `part` (0 .. fills_per_tile-1) of a raw tile index. A surplus tile under `wrap` reads an
 * existing tile and is marked invalid. strips 0: the caller knows that pieces are of single rows, and pays for no
 * other. */
TMARING_FN void tmaring_walk_fill_of(const tmaring_walk *w, tmaring_i64 raw_tile, tmaring_i32 part, int strips,
                                     tmaring_fill *fill)
{
  const tmaring_i64 tile = tmaring_walk_wrap(w, raw_tile);
  tmaring_i32 piece = 0;
  fill->valid = raw_tile < w->tiles;
  fill->first_fill = part == 0;
  fill->last_fill = part == tmaring_walk_fills_per_tile(w) - 1;
  fill->pass = 0;
  fill->first_piece = 1;
  fill->last_piece = 1;
  fill->cols = w->cols;
  fill->col = 0;
  fill->chunk = tile;
  if (w->pieces == 1) {
    fill->row = (tile * w->chunk + part) * w->tile_rows;
    fill->rows = w->tile_rows;
    if (fill->row + fill->rows > w->row_limit) fill->rows = (tmaring_i32)tmaring_max_i64(0, w->row_limit - fill->row);
    if (tmaring_walk_shared(w)) {
      fill->col = w->rank * w->piece_cols;
      fill->cols = (tmaring_i32)tmaring_min_i64(w->piece_cols, w->cols - fill->col);
    }
    return;
  }
  if (w->spread) { /* the planner spreads only where all tile indexes fit in 31 bits */
    fill->chunk = (tmaring_i64)((tmaring_u32)tile / (tmaring_u32)w->pieces);
    fill->row = fill->chunk * w->chunk + part;
    piece = (tmaring_i32)((tmaring_u32)tile % (tmaring_u32)w->pieces);
    if (strips) fill->row *= w->tile_rows;
  } else {
    const tmaring_i32 row = w->chunk == 1 ? 0 : part / (w->pieces * w->passes);
    part -= row * w->pieces * w->passes;
    fill->row = tile * w->chunk + row;
    fill->pass = part / w->pieces;
    piece = part - fill->pass * w->pieces;
    fill->first_piece = piece == 0;
    fill->last_piece = piece == w->pieces - 1;
  }
  fill->rows = w->chunk == 1 || fill->row < w->row_limit ? 1 : 0; /* a chunk may reach past the last row */
  if (strips && w->spread)
    fill->rows = (tmaring_i32)tmaring_max_i64(0, tmaring_min_i64(w->tile_rows, w->row_limit - fill->row));
  fill->col = piece * w->piece_cols;
  fill->cols = (tmaring_i32)tmaring_min_i64(w->piece_cols, w->cols - fill->col);
}

/* The same for every walk. */
TMARING_FN void tmaring_walk_fill(const tmaring_walk *w, tmaring_i64 raw_tile, tmaring_i32 part, tmaring_fill *fill)
{
  tmaring_walk_fill_of(w, raw_tile, part, 1, fill);
}

/* A role's way along the walk: one fill after another. */
typedef struct tmaring_trip {
  tmaring_i64 tile; /* raw index: may lie past the last tile (surplus, or the end of the tickets) */
  tmaring_i64 left; /* slots left, this one included; far from 0 with tickets */
  tmaring_i32 part; /* fill within the tile */
} tmaring_trip;

TMARING_FN void tmaring_trip_begin(tmaring_trip *t, const tmaring_walk *w, tmaring_i32 worker)
{
  t->tile = tmaring_walk_first(w, worker);
  t->left = w->order == TMARING_ORDER_TICKET ? TMARING_FAR_TILE : w->slots;
  t->part = 0;
}

/* True while there is a fill to handle. Tile indexes grow along a trip, so that its first surplus slot ends it: under
 * `skip` and `exact` alike. */
TMARING_FN int tmaring_trip_live(const tmaring_trip *t, const tmaring_walk *w)
{
  return t->left > 0 && t->tile < w->limit;
}

/* Goes to the next fill. Returns 1 where the tile is finished: with tickets the caller claims the next one. */
TMARING_FN int tmaring_trip_next(tmaring_trip *t, const tmaring_walk *w)
{
  t->part += 1;
  if (t->part < tmaring_walk_fills_per_tile(w)) return 0;
  t->part = 0;
  t->tile += w->step;
  t->left -= 1;
  return 1;
}

#endif

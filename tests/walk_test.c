/* The walk: seed numbers, coverage under every order and policy, wide row counts. Pure arithmetic; no library calls. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/noise.h"
#include "tmaring/abi/walk.h"

static tmaring_walk walk_make(int64_t rows, int32_t workers, int32_t order, int32_t policy)
{
  tmaring_walk w;
  memset(&w, 0, sizeof w);
  w.cols = 256;
  w.workers = workers;
  w.order = order;
  w.policy = policy;
  w.tile_rows = w.chunk = w.pieces = w.passes = w.split_stages = 1;
  w.piece_cols = w.cols;
  tmaring_walk_set_rows(&w, rows);
  return w;
}

static tmaring_walk seed_walk(int64_t rows, int32_t stages, int32_t policy)
{
  tmaring_walk w = walk_make(rows, 132, TMARING_ORDER_SPLIT, policy);
  w.split_stages = stages;
  tmaring_walk_set_rows(&w, rows);
  return w;
}

/* What a worker's slots hold; visits all fills and hands each to `see`. Tickets are claimed by one worker after
 * another. */
typedef void see_fill(void *context, const tmaring_fill *fill, int64_t raw_tile);

static int64_t walk_worker(const tmaring_walk *w, int32_t worker, int64_t *next_ticket, see_fill *see, void *context)
{
  tmaring_trip trip;
  int64_t fills = 0;
  for (tmaring_trip_begin(&trip, w, worker); tmaring_trip_live(&trip, w);) {
    tmaring_fill fill;
    tmaring_walk_fill(w, trip.tile, trip.part, &fill);
    see(context, &fill, trip.tile);
    fills += 1;
    if (tmaring_trip_next(&trip, w) && w->order == TMARING_ORDER_TICKET) trip.tile = w->workers + (*next_ticket)++;
  }
  return fills;
}

/* ---- seed numbers ---- */

typedef struct surplus {
  int64_t slots, surplus, first, last; /* rows that wrapped slots read */
} surplus;

static void see_surplus(void *context, const tmaring_fill *fill, int64_t raw_tile)
{
  surplus *s = context;
  (void)raw_tile;
  s->slots += 1;
  if (fill->valid) return;
  cr_assert_eq(fill->row, s->surplus, "wrapped slots read rows 0, 1, 2, ... in order");
  if (s->surplus++ == 0) s->first = fill->row;
  s->last = fill->row;
}

static surplus count_surplus(int64_t rows, int32_t stages)
{
  const tmaring_walk w = seed_walk(rows, stages, TMARING_POLICY_WRAP);
  surplus s = {0, 0, -1, -1};
  int64_t ticket = 0;
  for (int32_t c = 0; c < w.workers; ++c) walk_worker(&w, c, &ticket, see_surplus, &s);
  return s;
}

static void expect_seed(int64_t rows, int32_t stages, int64_t slots, int64_t wrapped)
{
  const surplus s = count_surplus(rows, stages);
  cr_expect_eq(s.slots, slots, "M=%lld S=%d: %lld slots", (long long)rows, stages, (long long)s.slots);
  cr_expect_eq(s.surplus, wrapped, "M=%lld S=%d: %lld surplus", (long long)rows, stages, (long long)s.surplus);
  cr_expect_eq(s.first, 0);
  cr_expect_eq(s.last, wrapped - 1);
}

Test(walk, seed_grid_has_257_surplus_slots, .timeout = 10)
{
  expect_seed(8191, 2, 8448, 257);
  expect_seed(8191, 4, 8448, 257);
}

Test(walk, F07_surplus_of_indivisible_rows, .timeout = 10)
{
  const tmaring_walk w = seed_walk(1000, 2, TMARING_POLICY_WRAP);
  cr_expect_eq(w.slots / w.split_stages, 4, "outer");
  expect_seed(1000, 2, 1056, 56);
  expect_seed(997, 3, 1188, 191);
}

/* Tile (c*outer + o)*S + s, as the seed writes it. */
Test(walk, split_is_the_seeds_index, .timeout = 10)
{
  const tmaring_walk w = seed_walk(1000, 2, TMARING_POLICY_WRAP);
  const int64_t outer = 4;
  for (int32_t c = 0; c < w.workers; ++c) {
    tmaring_trip trip;
    tmaring_trip_begin(&trip, &w, c);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t s = 0; s < 2; ++s) {
        cr_assert(tmaring_trip_live(&trip, &w));
        cr_assert_eq(trip.tile, (c * outer + o) * 2 + s);
        tmaring_trip_next(&trip, &w);
      }
    }
    cr_assert(!tmaring_trip_live(&trip, &w));
  }
}

/* ---- coverage ---- */

typedef struct census {
  const tmaring_walk *walk;
  uint32_t *seen; /* per row and piece: passes that were valid */
  int64_t invalid;
  int64_t begun, ended, empty; /* tiles by their first and last fills; fills past the last row */
} census;

/* A chunk's fills may reach past the last row, and then hold none. */
static void expect_extent(const tmaring_walk *w, const tmaring_fill *fill)
{
  if (fill->rows == 0 && w->chunk > 1) {
    cr_assert_geq(fill->row, w->rows);
    return;
  }
  cr_assert(fill->rows >= 1 && fill->row >= 0 && fill->row + fill->rows <= w->rows, "rows %lld + %d of %lld",
            (long long)fill->row, fill->rows, (long long)w->rows);
  cr_assert_eq(fill->chunk, w->spread || w->chunk > 1 ? fill->row / ((int64_t)w->chunk * w->tile_rows) : fill->chunk);
}

static void see_census(void *context, const tmaring_fill *fill, int64_t raw_tile)
{
  census *c = context;
  const tmaring_walk *w = c->walk;
  (void)raw_tile;
  expect_extent(w, fill);
  cr_assert(fill->cols >= 1 && fill->col >= 0 && fill->col + fill->cols <= w->cols);
  cr_assert(w->pieces == 1 || w->spread || fill->rows <= 1);
  const int32_t piece = w->pieces == 1 ? 0 : fill->col / w->piece_cols;
  cr_assert_eq(fill->cols, w->pieces == 1           ? w->cols
                           : piece == w->pieces - 1 ? w->cols - piece * w->piece_cols
                                                    : w->piece_cols);
  if (!fill->valid) {
    c->invalid += 1;
    return;
  }
  c->begun += fill->first_fill;
  c->ended += fill->last_fill;
  c->empty += fill->rows == 0;
  for (int32_t r = 0; r < fill->rows; ++r) {
    uint32_t *seen = &c->seen[(fill->row + r) * w->pieces + piece];
    cr_assert_eq(*seen, (uint32_t)fill->pass, "passes come in order");
    *seen += 1;
  }
}

static tmaring_walk random_walk(noise *n)
{
  static const int32_t sizes[] = {0, 1, 2, 3, 131, 132, 133, 997, 8191, 101, 64, 1000};
  tmaring_walk w;
  memset(&w, 0, sizeof w);
  w.order = noise_below(n, 4);
  w.policy = w.order == TMARING_ORDER_TICKET ? TMARING_POLICY_EXACT : noise_below(n, 3);
  w.cols = 1 + noise_below(n, 300);
  w.tile_rows = w.chunk = w.pieces = w.passes = 1;
  w.piece_cols = w.cols;
  if (noise_below(n, 3) == 0) {
    w.piece_cols = 1 + noise_below(n, w.cols);
    w.pieces = (int32_t)tmaring_ceil_div(w.cols, w.piece_cols);
    w.spread = w.pieces > 1 && noise_below(n, 2);
    w.passes = w.pieces > 1 && !w.spread ? 1 + noise_below(n, 3) : 1;
    if (w.spread && noise_below(n, 2)) w.tile_rows = 1 + noise_below(n, 20);
  } else {
    w.tile_rows = 1 + noise_below(n, 20);
  }
  if (noise_below(n, 3) == 0) w.chunk = 1 + noise_below(n, 6);
  w.split_stages = 1 + noise_below(n, 8);
  w.workers = 1 + noise_below(n, noise_below(n, 2) ? 7 : 140);
  tmaring_walk_set_rows(&w, noise_below(n, 2) ? sizes[noise_below(n, 12)] : noise_below(n, 700));
  return w;
}

static void expect_covered(const tmaring_walk *w)
{
  const int64_t cells = w->rows * w->pieces;
  census c = {w, calloc((size_t)cells + 1, sizeof *c.seen), 0, 0, 0, 0};
  int64_t ticket = 0;
  cr_assert_not_null(c.seen);
  for (int32_t worker = 0; worker < w->workers; ++worker) walk_worker(w, worker, &ticket, see_census, &c);
  for (int64_t i = 0; i < cells; ++i) cr_assert_eq(c.seen[i], (uint32_t)w->passes, "cell %lld", (long long)i);
  if (w->policy != TMARING_POLICY_WRAP) cr_assert_eq(c.invalid, 0, "only wrapped slots are surplus fills");
  cr_assert(c.begun == w->tiles && c.ended == w->tiles, "each tile begins and ends once");
  if (w->chunk == 1) cr_assert_eq(c.empty, 0);
  free(c.seen);
}

Test(walk, every_row_once_under_every_order_and_policy, .timeout = 60)
{
  noise n = noise_seed(20240601);
  for (int i = 0; i < 1500; ++i) {
    const tmaring_walk w = random_walk(&n);
    expect_covered(&w);
  }
}

/* Rows of a chunk, one after another, whoever has the tile: the numbers of its fills do not depend on order or
 * workers. */
Test(walk, chunks_are_cut_alike_in_every_order, .timeout = 10)
{
  for (int32_t order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_TICKET; ++order) {
    tmaring_walk w = walk_make(1000, 7, order, TMARING_POLICY_EXACT);
    w.tile_rows = 4;
    w.chunk = 9;
    tmaring_walk_set_rows(&w, 1000);
    cr_expect_eq(w.tiles, 28);
    for (int64_t tile = 0; tile < w.tiles; ++tile) {
      for (int32_t part = 0; part < 9; ++part) {
        tmaring_fill fill;
        tmaring_walk_fill(&w, tile, part, &fill);
        cr_assert_eq(fill.row, 36 * tile + 4 * part);
        cr_assert_eq(fill.rows, fill.row < 1000 ? 4 : 0);
        cr_assert_eq(fill.chunk, tile);
        cr_assert(fill.first_fill == (part == 0) && fill.last_fill == (part == 8));
      }
    }
  }
}

/* A strip: fills of R rows x P columns, below one another within a tile; the next tile is the piece beside it. */
Test(walk, strips_go_down_the_rows_of_a_piece, .timeout = 10)
{
  tmaring_walk w = walk_make(100, 5, TMARING_ORDER_CYCLIC, TMARING_POLICY_EXACT);
  w.cols = 700;
  w.piece_cols = 256;
  w.pieces = 3;
  w.spread = 1;
  w.tile_rows = 8;
  w.chunk = 3;
  tmaring_walk_set_rows(&w, 100);
  cr_expect_eq(w.tiles, 5 * 3);
  cr_expect(tmaring_walk_strips(&w));
  for (int64_t tile = 0; tile < w.tiles; ++tile) {
    for (int32_t part = 0; part < 3; ++part) {
      tmaring_fill fill;
      tmaring_walk_fill(&w, tile, part, &fill);
      cr_assert_eq(fill.chunk, tile / 3);
      cr_assert_eq(fill.row, tile / 3 * 24 + 8 * part);
      cr_assert_eq(fill.rows, fill.row >= 100 ? 0 : fill.row == 96 ? 4 : 8);
      cr_assert_eq(fill.col, tile % 3 * 256);
      cr_assert_eq(fill.cols, tile % 3 == 2 ? 188 : 256);
    }
  }
}

/* Who knows that pieces are of single rows gets the same fills. */
Test(walk, single_rows_need_no_strips, .timeout = 30)
{
  noise n = noise_seed(4321);
  int32_t strips = 0;
  for (int i = 0; i < 1500; ++i) {
    const tmaring_walk w = random_walk(&n);
    tmaring_fill plain, strip;
    if (w.tiles == 0) continue;
    memset(&plain, 0, sizeof plain);
    memset(&strip, 0, sizeof strip);
    const int64_t tile = noise_below(&n, (int32_t)w.tiles);
    const int32_t part = noise_below(&n, tmaring_walk_fills_per_tile(&w));
    tmaring_walk_fill_of(&w, tile, part, 0, &plain);
    tmaring_walk_fill_of(&w, tile, part, 1, &strip);
    if (tmaring_walk_strips(&w))
      strips += plain.rows != strip.rows || plain.row != strip.row;
    else
      cr_assert_eq(memcmp(&plain, &strip, sizeof plain), 0);
  }
  cr_expect_gt(strips, 20, "the walk with strips differs");
}

/* ---- policies ---- */

typedef struct trail {
  int64_t tile[16384];
  int32_t count;
} trail;

static void see_trail(void *context, const tmaring_fill *fill, int64_t raw_tile)
{
  trail *t = context;
  (void)fill;
  cr_assert_lt(t->count, 16384);
  t->tile[t->count++] = raw_tile;
}

Test(walk, exact_and_skip_visit_the_same_tiles, .timeout = 60)
{
  noise n = noise_seed(77);
  static trail skip, exact;
  for (int i = 0; i < 600; ++i) {
    tmaring_walk w = random_walk(&n);
    int64_t ticket = 0;
    if (w.order == TMARING_ORDER_TICKET || w.pieces > 1 || w.chunk > 1) continue;
    for (int32_t worker = 0; worker < w.workers; ++worker) {
      skip.count = exact.count = 0;
      w.policy = TMARING_POLICY_SKIP;
      tmaring_walk_derive(&w);
      walk_worker(&w, worker, &ticket, see_trail, &skip);
      w.policy = TMARING_POLICY_EXACT;
      tmaring_walk_derive(&w);
      walk_worker(&w, worker, &ticket, see_trail, &exact);
      cr_assert_eq(skip.count, exact.count);
      cr_assert_eq(memcmp(skip.tile, exact.tile, (size_t)skip.count * sizeof skip.tile[0]), 0);
    }
  }
}

/* With workers clamped to the tiles, one subtraction brings a surplus index back; a split group of S that holds fewer
 * than S tiles may take more. */
Test(walk, surplus_stays_below_the_tiles, .timeout = 60)
{
  noise n = noise_seed(5);
  for (int i = 0; i < 2000; ++i) {
    tmaring_walk w = random_walk(&n);
    if (w.order == TMARING_ORDER_TICKET || w.tiles == 0) continue;
    const int64_t shares = w.order == TMARING_ORDER_SPLIT ? tmaring_ceil_div(w.tiles, w.split_stages) : w.tiles;
    w.workers = (int32_t)tmaring_min_i64(w.workers, shares);
    tmaring_walk_set_rows(&w, w.rows);
    const int64_t surplus = w.slots * w.workers - w.tiles;
    const int64_t bound = w.order == TMARING_ORDER_SPLIT ? tmaring_max_i64(w.tiles, w.split_stages) : w.tiles;
    cr_assert_lt(surplus, bound, "order %d T %lld C %d S %d", w.order, (long long)w.tiles, w.workers, w.split_stages);
  }
}

Test(walk, wrap_reduces_any_index, .timeout = 10)
{
  tmaring_walk w = walk_make(7, 64, TMARING_ORDER_BLOCKED, TMARING_POLICY_WRAP); /* more workers than tiles */
  for (int64_t tile = 0; tile < 64; ++tile) cr_expect_eq(tmaring_walk_wrap(&w, tile), tile % 7);
}

Test(walk, unsafe_runs_past_the_end, .timeout = 10)
{
  const tmaring_walk w = seed_walk(1000, 2, TMARING_POLICY_UNSAFE);
  tmaring_fill fill;
  tmaring_walk_fill(&w, 1055, 0, &fill);
  cr_expect_eq(fill.row, 1055);
  cr_expect_eq(fill.valid, 0);
}

/* ---- width ---- */

Test(walk, row_indexes_are_64_bit, .timeout = 10)
{
  const int64_t rows = (int64_t)1 << 40;
  for (int32_t order = 0; order < 4; ++order) {
    const tmaring_walk w = walk_make(rows, 132, order, TMARING_POLICY_EXACT);
    tmaring_fill fill;
    tmaring_walk_fill(&w, rows - 1, 0, &fill);
    cr_expect_eq(fill.row, rows - 1);
    cr_expect_eq(w.tiles, rows);
    if (order == TMARING_ORDER_TICKET) continue;
    int64_t sum = 0;
    for (int32_t c = 0; c < w.workers; ++c) sum += tmaring_walk_valid_slots(&w, c);
    cr_expect_eq(sum, rows, "order %d", order);
  }
}

/* The last worker's last tile, reached by its trip's arithmetic. */
Test(walk, the_last_workers_way_ends_at_the_last_row, .timeout = 10)
{
  const int64_t rows = ((int64_t)1 << 40) + 7;
  for (int32_t order = TMARING_ORDER_SPLIT; order <= TMARING_ORDER_CYCLIC; ++order) {
    const tmaring_walk w = walk_make(rows, 131, order, TMARING_POLICY_EXACT);
    int64_t last = -1;
    for (int32_t c = 0; c < w.workers; ++c) {
      const int64_t slots = tmaring_walk_slots(&w, c);
      const int64_t tile = tmaring_walk_first(&w, c) + (slots - 1) * w.step;
      if (slots > 0) last = tmaring_max_i64(last, tile);
    }
    cr_expect_eq(last, rows - 1, "order %d", order);
  }
}

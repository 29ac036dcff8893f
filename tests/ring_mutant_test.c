/* Faulty role code must be caught. Each mutant is the shipped loops of abi/roles.h with one primitive interposed; the
 * header itself is never touched. The control is the same file with no mutant on. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "../src/host/check/binding.h"
#include "../src/host/check/explore.h"
#include "../src/host/check/schedule.h"
#include "support/small_ring.h"

/* X(name, rings it is played on, fault the exhaustive schedule finds first; NONE: that depends on the ring) */
#define MUTANTS(X)                                                                                                     \
  X(full_wait_dropped, "wdcdmdwscs", READ_EARLY)                                                                       \
  X(empty_wait_dropped, "wdmdwswz", NONE)                                                                              \
  X(full_parity_wrong, "wdcdmdwscs", READ_EARLY)                                                                       \
  X(empty_parity_wrong, "wdmdws", NONE)                                                                                \
  X(full_count_restarted, "wdcdmdws", NONE)                                                                            \
  X(empty_count_restarted, "wdmd", NONE)                                                                               \
  X(release_before_read, "wdmd", NONE)                                                                                 \
  X(release_before_store, "ws", NONE)                                                                                  \
  X(arrive_dropped, "wdmd", DEADLOCK)                                                                                  \
  X(arrive_twice, "wdmd", ARRIVAL)                                                                                     \
  X(expect_short, "wdcdmdws", TX)                                                                                      \
  X(expect_long, "wdcdmdws", NONE)                                                                                     \
  X(expect_without_arrive, "wdcdmd", NONE)                                                                             \
  X(copy_dropped, "wdcdmd", NONE)                                                                                      \
  X(fence_dropped, "wscsmswvcvmv", NONE)                                                                               \
  X(edge_fence_dropped, "wecewocomo", REFILL_FENCE)                                                                    \
  X(wait_read_dropped, "wscsmswzwvcvmv", NONE)                                                                         \
  X(wait_read_one_late, "wscsmswvcvmv", NONE)                                                                          \
  X(expect_clipped, "wbcbmb", NONE)                                                                                    \
  X(box_dropped, "wbcbmb", DEADLOCK)                                                                                   \
  X(box_of_next_copy, "wbcbmb", BOX)                                                                                   \
  X(box_of_next_row, "wbcbmb", WALK)                                                                                   \
  X(box_off_its_unit, "wbcbmb", ALIGNMENT)                                                                             \
  X(tile_store_off_its_unit, "wvcvmv", ALIGNMENT)                                                                      \
  X(tile_store_past_the_row, "wvcvmv", HULL)                                                                           \
  X(tile_store_dropped, "wvcvmv", COVERAGE)                                                                            \
  X(tile_store_twice, "wvcvmv", COVERAGE)                                                                              \
  X(async_arrive_dropped, "wacama", DEADLOCK)                                                                          \
  X(async_arrive_twice, "wacama", ARRIVAL)                                                                             \
  X(async_arrive_before_copies, "wacama", TX)                                                                          \
  X(async_count_missing, "wacama", NONE)                                                                               \
  X(async_end_arrive_dropped, "wncnmn", DEADLOCK)                                                                      \
  X(ordinary_dropped, "wocomo", READ_EARLY)                                                                            \
  X(store_before_unit_barrier, "gs", STORE_EARLY)                                                                      \
  X(group_barrier_dropped, "gdgs", SCRATCH)                                                                            \
  X(cta_barrier_dropped, "cdcs", NONE)                                                                                 \
  X(surplus_stored, "ww", COVERAGE)                                                                                    \
  X(lead_one_too_far, "wdws", LEAD)                                                                                    \
  X(ticket_not_put, "wt", NONE)                                                                                        \
  X(barrier_initialised_twice, "wdcdmd", LIVE)                                                                         \
  X(one_buffer_of_partials, "gdxdys", SCRATCH)                                                                         \
  X(cluster_barrier_dropped, "xdxsyd", SCRATCH)                                                                        \
  X(second_cluster_barrier_dropped, "xdys", SCRATCH)                                                                   \
  X(cluster_barrier_of_one_cta, "xdyd", SCRATCH)                                                                       \
  X(cluster_end_dropped, "xdxsyd", PEER)                                                                               \
  X(cluster_trips_differ, "xdyd", SCRATCH)                                                                             \
  X(columns_begin_dropped, "wkckmkgk", COLUMNS)                                                                        \
  X(columns_end_dropped, "wkckmkgk", COLUMNS)                                                                          \
  X(columns_begin_twice, "wkck", COLUMNS)                                                                              \
  X(columns_end_twice, "wkck", COLUMNS)                                                                                \
  X(columns_end_with_the_first_fill, "wkmk", COLUMNS)                                                                  \
  X(trip_one_short, "wdcdmd", NONE)

typedef enum mutant_id {
  mutant_control,
#define ID(name, rings, fault) mutant_##name,
  MUTANTS(ID)
#undef ID
      mutant_count
} mutant_id;

static mutant_id mutant;

/* ---- interposed primitives ---- */

static uint32_t bent_parity(uint32_t parity, const tmaring__mbarrier *barrier, mutant_id dropped, mutant_id wrong,
                            mutant_id restarted)
{
  if (mutant == dropped) return barrier->phase + 1; /* a parity that passes at once */
  if (mutant == wrong) return parity ^ 1u;
  return mutant == restarted ? 0 : parity;
}

static int mutant_try_full(tmaring__env *e, uint32_t stage, uint32_t parity)
{
  const tmaring__mbarrier *full = &tmaring__at_stage(e->ring, e->state, stage)->full;
  return tmaring__role_try_full(
      e, stage,
      bent_parity(parity, full, mutant_full_wait_dropped, mutant_full_parity_wrong, mutant_full_count_restarted));
}

static int mutant_try_empty(tmaring__env *e, uint32_t stage, uint32_t parity)
{
  const tmaring__mbarrier *empty = &tmaring__at_stage(e->ring, e->state, stage)->empty;
  return tmaring__role_try_empty(
      e, stage,
      bent_parity(parity, empty, mutant_empty_wait_dropped, mutant_empty_parity_wrong, mutant_empty_count_restarted));
}

static void mutant_expect(tmaring__env *e, uint32_t stage, uint32_t bytes)
{
  if (mutant == mutant_expect_clipped) bytes -= 2 * (96 - 64) * 4; /* of two rows */
  tmaring__mbarrier *full = &tmaring__at_stage(e->ring, e->state, stage)->full;
  if (mutant == mutant_expect_short && bytes > 0) bytes /= 2;
  if (mutant == mutant_expect_long) bytes += 16;
  if (mutant == mutant_barrier_initialised_twice) tmaring__role_init(e);
  if (mutant == mutant_expect_without_arrive) {
    full->pending += 1; /* the arrival that follows only takes this one away */
  }
  tmaring__role_expect(e, stage, bytes);
}

static void mutant_release(tmaring__env *e, uint32_t stage)
{
  if (mutant == mutant_release_before_read) return;
  if (mutant == mutant_arrive_dropped && e->actor == 1) return;
  tmaring__role_release(e, stage);
  if (mutant == mutant_arrive_twice && e->actor == 1) tmaring__role_release(e, stage);
}

static void mutant_release_others(tmaring__env *e, uint32_t stage)
{
  tmaring__role_release_others(e, stage);
  if (mutant == mutant_release_before_store) tmaring__role_release_storer(e, stage);
}

static void mutant_release_storer(tmaring__env *e, uint32_t stage)
{
  if (mutant != mutant_release_before_store) tmaring__role_release_storer(e, stage);
}

static void mutant_load(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                        uint32_t bytes)
{
  if (mutant == mutant_copy_dropped && tensor == 1) return;
  tmaring__role_load(e, tensor, stage, offset, address, bytes);
}

/* The ring with other boxes: those of stream `index` begin at the column with the row's number, between two units but for
 * every fourth row, or belong to rows of `shorter` elements less. */
static const tmaring__ring *bent_ring(const tmaring__ring *ring, int32_t index, int off_unit, uint64_t shorter)
{
  static tmaring__boxes boxes;
  static tmaring__ring bent;
  bent = *ring;
  boxes = *ring->boxes;
  if (off_unit) boxes.tile[index].follows[0] = TMARING_TILE_ROW;
  boxes.map[index].dims[0] -= shorter;
  bent.boxes = &boxes;
  return &bent;
}

static void mutant_load_tile(tmaring__env *e, int32_t tensor, uint32_t stage, const tmaring_fill *fill, int32_t i)
{
  const tmaring__ring *own = e->ring;
  tmaring_fill other = *fill;
  if (mutant == mutant_box_dropped && i == 1) return;
  other.row += mutant == mutant_box_of_next_row;
  if (mutant == mutant_box_off_its_unit) e->ring = bent_ring(own, tensor, 1, 0);
  tmaring__role_load_tile(e, tensor, stage, &other, i + (mutant == mutant_box_of_next_copy));
  e->ring = own;
}

static void mutant_store_tile(tmaring__env *e, int32_t tensor, uint32_t stage, const tmaring_fill *fill, int32_t i)
{
  const tmaring__ring *own = e->ring;
  const int off = mutant == mutant_tile_store_off_its_unit, past = mutant == mutant_tile_store_past_the_row;
  if (mutant == mutant_tile_store_dropped) return;
  if (off || past) e->ring = bent_ring(own, TMARING_TILED_OUTPUTS + tensor, off, past);
  tmaring__role_store_tile(e, tensor, stage, fill, i);
  e->ring = own;
  if (mutant == mutant_tile_store_twice) tmaring__role_store_tile(e, tensor, stage, fill, i);
}

/* The one copy of a fill that goes this way. */
static void mutant_load_async(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                              uint32_t bytes)
{
  if (mutant == mutant_async_arrive_before_copies) tmaring__role_async_arrive(e, stage);
  tmaring__role_load_async(e, tensor, stage, offset, address, bytes);
}

static void mutant_async_arrive(tmaring__env *e, uint32_t stage, int in_feed)
{
  if (mutant == mutant_async_arrive_dropped || mutant == mutant_async_arrive_before_copies) return;
  if (mutant == mutant_async_end_arrive_dropped && in_feed) return;
  tmaring__role_async_arrive(e, stage);
  if (mutant == mutant_async_arrive_twice) tmaring__role_async_arrive(e, stage);
}

static void mutant_load_ordinary(tmaring__env *e, int32_t tensor, uint32_t stage, uint32_t offset, uint64_t address,
                                 uint32_t bytes)
{
  if (mutant == mutant_ordinary_dropped) return;
  tmaring__role_load_ordinary(e, tensor, stage, offset, address, bytes);
}

/* Rings of kind o: the same slot is filled by ordinary loads and by the copy engine in turn, lap after lap. */
static int alternates;

static int32_t mutant_path(const tmaring__env *e, int32_t tensor, const tmaring_fill *fill)
{
  const int64_t lap = fill->row / e->ring->walk.tile_rows / e->ring->stages;
  if (alternates) return lap % 2 == 0 ? TMARING_LOAD_ORDINARY : TMARING_LOAD_BULK;
  return e->ring->args->input[tensor].path;
}

static void mutant_fence(tmaring__env *e, int in_feed)
{
  if (mutant == mutant_fence_dropped && !in_feed) return;
  if (mutant == mutant_edge_fence_dropped && in_feed) return;
  tmaring__role_fence(e);
}

static void mutant_wait_read(tmaring__env *e, uint32_t pending)
{
  if (mutant == mutant_wait_read_dropped) return;
  tmaring__role_wait_read(e, pending + (mutant == mutant_wait_read_one_late));
}

static void mutant_ticket_put(tmaring__env *e, uint32_t stage, int64_t tile)
{
  if (mutant != mutant_ticket_not_put) tmaring__role_ticket_put(e, stage, tile);
}

static void mutant_columns(tmaring__env *e, const tmaring_fill *fill, int end)
{
  if (mutant == (end ? mutant_columns_end_dropped : mutant_columns_begin_dropped)) return;
  tmaring__role_columns(e, fill, end);
  if (mutant == (end ? mutant_columns_end_twice : mutant_columns_begin_twice)) tmaring__role_columns(e, fill, end);
}

/* Rounds that are all even leave their partial results in the same buffer. */
static void mutant_partial(tmaring__env *e, int32_t pass)
{
  if (mutant == mutant_one_buffer_of_partials) tmaring__env_actor(e)->rounds += 1;
  tmaring__role_partial(e, pass);
}

static int mutant_skips_cluster(const void *frame, int in_rows)
{
  if (!in_rows) return mutant == mutant_cluster_end_dropped;
  if (mutant == mutant_second_cluster_barrier_dropped) return ((const tmaring_rows_frame *)frame)->pass == 1;
  return mutant == mutant_cluster_barrier_dropped;
}

static uint32_t mutant_arrive_cluster(tmaring__env *e)
{
  if (mutant == mutant_cluster_barrier_of_one_cta) return tmaring__role_arrive_cta(e);
  return tmaring__role_arrive_cluster(e);
}

static int mutant_passed_cluster(tmaring__env *e, uint32_t generation)
{
  if (mutant == mutant_cluster_barrier_of_one_cta) return tmaring__role_passed_cta(e, generation);
  return tmaring__role_passed_cluster(e, generation);
}

static int mutant_fill_stores(const tmaring_fill *fill, int has_pieces, int32_t passes)
{
  if (mutant == mutant_surplus_stored && !fill->valid) return 1;
  return tmaring_fill_stores(fill, has_pieces, passes);
}

static const tmaring_args *mutant_args(const tmaring__env *e)
{
  static tmaring_args farther;
  if (mutant != mutant_lead_one_too_far || e->actor != e->ring->issuer) return e->ring->args;
  farther = *e->ring->args;
  farther.distance += 1;
  return &farther;
}

static const tmaring_walk *mutant_walk(const tmaring__env *e)
{
  static tmaring_walk shorter;
  const int shortened = (mutant == mutant_trip_one_short && e->actor == 1) ||
                        (mutant == mutant_cluster_trips_differ && e->ring->walk.rank == 1);
  if (!shortened) return &e->ring->walk;
  shorter = e->ring->walk;
  shorter.slots -= 1;
  return &shorter;
}

/* ---- the binding, with these in place ---- */

#undef ROLE_TRY_FULL
#undef ROLE_TRY_EMPTY
#undef ROLE_EXPECT
#undef ROLE_RELEASE
#undef ROLE_RELEASE_OTHERS
#undef ROLE_RELEASE_STORER
#undef ROLE_LOAD
#undef ROLE_LOAD_TILE
#undef ROLE_LOAD_ASYNC
#undef ROLE_LOAD_ORDINARY
#undef ROLE_ASYNC_ARRIVE
#undef ROLE_STORE_TILE
#undef ROLE_PATH
#undef ROLE_IS_WIDE
#undef ROLE_HAS_ASYNC
#undef ROLE_FENCE
#undef ROLE_WAIT_READ
#undef ROLE_GROUP_SYNC
#undef ROLE_CTA_SYNC
#undef ROLE_CLUSTER_SYNC
#undef ROLE_TICKET_PUT
#undef ROLE_ACCUMULATE
#undef ROLE_PARTIAL
#undef ROLE_COLUMNS_BEGIN
#undef ROLE_COLUMNS_END
#undef ROLE_ARGS
#undef ROLE_WALK
#define ROLE_TRY_FULL(e, stage, parity)                     mutant_try_full(e, stage, parity)
#define ROLE_TRY_EMPTY(e, stage, parity)                    mutant_try_empty(e, stage, parity)
#define ROLE_EXPECT(e, stage, bytes)                        TMARING__VISIBLE(mutant_expect(e, stage, bytes))
#define ROLE_RELEASE(e, stage)                              TMARING__VISIBLE(mutant_release(e, stage))
#define ROLE_RELEASE_OTHERS(e, stage)                       TMARING__VISIBLE(mutant_release_others(e, stage))
#define ROLE_RELEASE_STORER(e, stage)                       TMARING__VISIBLE(mutant_release_storer(e, stage))
#define ROLE_LOAD(e, tensor, stage, offset, address, bytes) mutant_load(e, tensor, stage, offset, address, bytes)
#define ROLE_LOAD_TILE(e, tensor, stage, fill, i)           mutant_load_tile(e, tensor, stage, fill, i)
#define ROLE_LOAD_ASYNC(e, tensor, stage, offset, address, bytes)                                                      \
  mutant_load_async(e, tensor, stage, offset, address, bytes)
#define ROLE_LOAD_ORDINARY(e, tensor, stage, offset, address, bytes)                                                   \
  mutant_load_ordinary(e, tensor, stage, offset, address, bytes)
/* Of a fill, or of the end mark: told apart by the frame. */
#define ROLE_ASYNC_ARRIVE(e, stage)                                                                                    \
  TMARING__VISIBLE(mutant_async_arrive(e, stage, sizeof *f != sizeof(tmaring_issue_frame)))
#define ROLE_STORE_TILE(e, tensor, stage, fill, i)    mutant_store_tile(e, tensor, stage, fill, i)
#define ROLE_PATH(e, t)                               mutant_path(e, t, fill)
#define ROLE_IS_WIDE(e)                               (alternates || (e)->ring->wide)
#define ROLE_HAS_ASYNC(e)                             tmaring_args_take((e)->ring->args, TMARING_LOAD_ASYNC)
#define ROLE_FENCE(e)                                 mutant_fence(e, sizeof *f == sizeof(tmaring_issue_frame))
#define ROLE_TICKET_PUT(e, stage, tile)               mutant_ticket_put(e, stage, tile)
#define ROLE_PARTIAL(e, fill, iteration, pass)        mutant_partial(e, pass)
#define ROLE_COLUMNS_BEGIN(e, fill)                   mutant_columns(e, fill, 0)
#define ROLE_COLUMNS_END(e, fill)                     mutant_columns(e, fill, 1)
#define ROLE_ARGS(e)                                  mutant_args(e)
#define ROLE_WALK(e)                                  mutant_walk(e)
#define tmaring_fill_stores(fill, has_pieces, passes) mutant_fill_stores(fill, has_pieces, passes)
#define ROLE_WAIT_READ(f, e, pending)                                                                                  \
  do {                                                                                                                 \
    (f)->pc = __LINE__;                                                                                                \
  case __LINE__:                                                                                                       \
    if (tmaring__env_pause(e)) return TMARING__YIELDED;                                                                \
    mutant_wait_read(e, pending);                                                                                      \
  } while (0)
/* The barrier before a store, or the one between the partial results and their use: told apart by the frame. */
#define ROLE_GROUP_SYNC(f, e)                                                                                          \
  do {                                                                                                                 \
    if (mutant == mutant_store_before_unit_barrier && sizeof *(f) != sizeof(tmaring_rows_frame)) break;                \
    if (mutant == mutant_group_barrier_dropped && sizeof *(f) == sizeof(tmaring_rows_frame)) break;                    \
    TMARING__BARRIER(f, tmaring__role_arrive_group, tmaring__role_passed_group);                                       \
  } while (0)
#define ROLE_CTA_SYNC(f, e)                                                                                            \
  do {                                                                                                                 \
    if (mutant == mutant_cta_barrier_dropped) break;                                                                   \
    TMARING__BARRIER(f, tmaring__role_arrive_cta, tmaring__role_passed_cta);                                           \
  } while (0)
/* After partial results, or at the end: told apart by the frame. */
#define ROLE_CLUSTER_SYNC(f, e)                                                                                        \
  do {                                                                                                                 \
    if (mutant_skips_cluster(f, sizeof *(f) == sizeof(tmaring_rows_frame))) break;                                     \
    TMARING__BARRIER(f, mutant_arrive_cluster, mutant_passed_cluster);                                                 \
  } while (0)
#define ROLE_ACCUMULATE(e, fill, stage, iteration, pass)                                                               \
  do {                                                                                                                 \
    if (mutant == mutant_release_before_read) TMARING__VISIBLE(tmaring__role_release(e, stage));                       \
    tmaring__role_accumulate(e, fill, stage, iteration, pass);                                                         \
    if (mutant == mutant_columns_end_with_the_first_fill && (fill)->first_fill) tmaring__role_columns(e, fill, 1);     \
  } while (0)

#include "tmaring/abi/roles.h"

static TMARING__ROLE_STEP(mutant_step);

/* ---- rings ---- */

static void share_with_peers(small_spec *s)
{
  s->cluster = 2;
  s->reductions = 2;
  s->warps = s->inputs = 1;
  s->stages = 2;
  s->trips = 3;
}

/* Two letters: mode (w ws, c CTA barrier, m mbarrier, g ws with rows shared by warps, x and y as c and m with rows shared
 * by two CTAs) and kind (d direct, s staged in
 * place, e edges, w surplus fills by wrap, t tickets, k column reductions over chunks of fills, z no inputs and staged, a one input by cp.async, n the same
 * with tickets, b one input in boxes that are clipped, v boxes stored in place, o ordinary loads and bulk copies into one slot in turn). */
static small_spec spec_of(const char *letters)
{
  small_spec s = {
      SMALL_WS, 3, 1, 2, 1, 2, 0,   7, TMARING_ORDER_BLOCKED, TMARING_POLICY_EXACT, TMARING_RELEASE_WARP, 0, 0,
      0,        0, 0, 0, 0, 0, {0}, 0};
  if (letters[0] == 'c' || letters[0] == 'x') s.mode = SMALL_CTA_BARRIER;
  if (letters[0] == 'm' || letters[0] == 'y') s.mode = SMALL_MBARRIER;
  if (letters[0] == 'x' || letters[0] == 'y') share_with_peers(&s);
  if (letters[0] == 'g') s.per_row = 2;
  if (letters[0] == 'g') s.reductions = 2;
  if (letters[1] == 's' || letters[1] == 'w' || letters[1] == 'z') s.staged = 1;
  if (letters[1] == 'e') s.edges = 1;
  if (letters[1] == 'w') s.surplus = 2;
  if (letters[1] == 'w') s.policy = TMARING_POLICY_WRAP;
  if (letters[1] == 'k') s.chunk = 2;
  if (letters[1] == 'k') s.trips = 3;
  if (letters[1] == 'z') s.inputs = 0;
  if (letters[1] == 't' || letters[1] == 'n') s.order = TMARING_ORDER_TICKET;
  if (letters[1] == 'a' || letters[1] == 'n') s.path[1] = TMARING_LOAD_ASYNC;
  if (letters[1] == 'b') s.path[1] = TMARING_LOAD_TILE;
  if (letters[1] == 'v') s.path[0] = TMARING_LOAD_TILE;
  if (letters[1] == 'v') s.staged = s.tiled_store = 1;
  if (letters[1] == 'o') s.inputs = 1;
  alternates = letters[1] == 'o';
  return s;
}

typedef struct trial {
  tmaring__fault_note lazy, random, reduced, unreduced;
} trial;

static void try_all(const small_spec *spec, trial *t)
{
  small_ring r;
  tmaring__explore_report report;
  tmaring_status status;
  small_ring_make(&r, spec);
  r.ring.step = mutant_step;
  if (mutant == mutant_async_count_missing) r.ring.async = 0;
  tmaring__schedule_run(&r.ring, TMARING__LAZY, &t->lazy, NULL, NULL);
  t->random.kind = TMARING__FAULT_NONE;
  for (uint64_t seed = 1; seed < 20 && t->random.kind == TMARING__FAULT_NONE; ++seed) {
    tmaring__schedule_run(&r.ring, seed, &t->random, NULL, NULL);
  }
  status = tmaring__explore(&r.ring, 1, 1u << 22, &report, &t->reduced);
  cr_assert(status == TMARING_OK || status == TMARING_ERROR_CHECK, "%s", tmaring_last_detail());
  status = tmaring__explore(&r.ring, 0, 1u << 22, &report, &t->unreduced);
  cr_assert(status == TMARING_OK || status == TMARING_ERROR_CHECK, "%s", tmaring_last_detail());
}

static const char *mark(const tmaring__fault_note *note)
{
  return note->kind == TMARING__FAULT_NONE ? "-" : tmaring__fault_text(note->kind);
}

Test(ring_mutants, control_passes, .timeout = 120)
{
  static const char *const rings[] = {"wd", "cd", "md", "ws", "cs", "ms", "we", "ce", "gd", "gs", "ww", "wt", "wk",
                                      "ck", "mk", "gk", "wz", "cz", "mz", "xd", "yd", "xs", "ys", "wa", "ca", "ma",
                                      "wn", "cn", "mn", "wb", "cb", "mb", "wv", "cv", "mv", "wo", "co", "mo"};
  mutant = mutant_control;
  for (size_t i = 0; i < sizeof rings / sizeof *rings; ++i) {
    const small_spec spec = spec_of(rings[i]);
    trial t;
    try_all(&spec, &t);
    cr_assert(t.lazy.kind == TMARING__FAULT_NONE && t.random.kind == TMARING__FAULT_NONE &&
                  t.reduced.kind == TMARING__FAULT_NONE && t.unreduced.kind == TMARING__FAULT_NONE,
              "%s: %s%s%s%s", small_ring_text(&spec), t.lazy.text, t.random.text, t.reduced.text, t.unreduced.text);
  }
}

/* Every mutant is killed on every ring it is played on, by exploration with and without reduction. */
static void kill_mutant(mutant_id id, const char *name, const char *rings, tmaring__fault_kind due)
{
  mutant = id;
  for (; rings[0]; rings += 2) {
    const small_spec spec = spec_of(rings);
    trial t;
    try_all(&spec, &t);
    fprintf(stderr, "%-26s %.2s | lazy: %s | random: %s | all: %s\n", name, rings, mark(&t.lazy), mark(&t.random),
            t.reduced.text);
    cr_expect_neq(t.reduced.kind, TMARING__FAULT_NONE, "%s survives on %.2s", name, rings);
    cr_expect_neq(t.unreduced.kind, TMARING__FAULT_NONE, "%s survives on %.2s unreduced", name, rings);
    if (due != TMARING__FAULT_NONE) cr_expect_eq(t.reduced.kind, due, "%s on %.2s: %s", name, rings, t.reduced.text);
  }
}

#define KILL(name, rings, fault)                                                                                       \
  Test(ring_mutants, name, .timeout = 60)                                                                              \
  {                                                                                                                    \
    kill_mutant(mutant_##name, #name, rings, TMARING__FAULT_##fault);                                                  \
  }
MUTANTS(KILL)

/* The primitives of the role loops with a fault in each, where the mutant of that name is on; and the binding with these
 * in place. For ring_mutant_test.c, which includes abi/roles.h after it. */
#ifndef TMARING_TESTS_RING_MUTANTS_H
#define TMARING_TESTS_RING_MUTANTS_H

#include "../../src/host/check/binding.h"
#include "mutants.h"

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

#endif

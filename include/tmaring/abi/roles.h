/* The role loops: producer, consumer, and the warp of a pipelined CTA. Written once; the including side binds them. Two
 * parts of this text are in files of their own, included below: role_copies.h, what a fill loads and stores, and
 * role_ends.h, what comes before the roles and after them.
 *
 * A *binding* defines the macros below and then includes this file. On the GPU (device/ring_binding.cuh) a scheduling
 * point is nothing and primitives are PTX. On the CPU (the emulator) a scheduling point is a resumable label: the loop
 * returns to a scheduler before every primitive, so that any interleaving of roles can be played, and all of a loop's
 * state lives in its frame, a small struct that can be hashed. A wait or fence missing here is therefore visible to the
 * checker.
 *
 * Rules for the loops. Everything that lives across a point is in the frame. One point or call per source line. Values
 * that other roles may change are read only through primitives.
 *
 * Actors. On the CPU one actor is one warp. What the elected lane of a warp does alone stands under ROLE_IS_*.
 *
 * Wide kernels. Where some input goes by cp.async or by ordinary loads, all lanes of the warp that feeds the ring run the
 * producer, or the issuer's part of a pipelined CTA: loads take every lane, and primitives that one thread has to do
 * (expect, copies and stores of the copy engine, commit and its waits, tickets) elect lane 0 themselves.
 *
 * Binding: control
 *   ROLE_FN(name)                      declares a role function: ROLE_FN(f)(ROLE_ENV *e, frame *f, ...)
 *   ROLE_ENV                           environment type
 *   ROLE_BEGIN(f) ROLE_END(f)          first and last statement
 *   ROLE_POINT(f)                      scheduling point
 *   ROLE_WAIT(f, try, block)           CPU: repeats `try` until true, a point before each try; GPU: `block`
 *   ROLE_CALL(f, call)                 runs a role function to its end
 *   ROLE_UNROLL                        stands before the loop over passes: unrolled on the GPU
 * Binding: facts
 *   ROLE_ARGS(e)                       const tmaring_args *
 *   ROLE_ARGS_AS_GIVEN(e)              the same where an index at run time must not keep a copy of them in memory; by
 *                                      default ROLE_ARGS
 *   ROLE_WALK(e)                       const tmaring_walk *
 *   ROLE_INPUT(e, t) ROLE_OUTPUT(e, t) const tmaring_stream *; by default those of ROLE_ARGS
 *   ROLE_WORKER(e)                     worker
 *   ROLE_WARP(e) ROLE_UNIT(e)          index of the consumer warp in its squad; its unit there
 *   ROLE_SQUADS(e) ROLE_SQUAD(e)       squads of consumers; this warp's; by default 1 and 0
 *   ROLE_IS_ISSUER(e)                  pipelined: the thread that prefetches and stores; wide: its warp
 *   ROLE_IS_STORER(e)                  warp-specialized: the thread that stores for its unit
 *   ROLE_IS_GROUP(e)                   rows are shared by several warps
 *   ROLE_IS_CLUSTER(e)                 and by the CTAs of a cluster; by default 0
 *   ROLE_IS_STAGED(e)                  results go through shared memory and bulk stores
 *   ROLE_PATH(e, t)                    tmaring_load_path of input t
 *   ROLE_TILE(e, t)                    const tmaring_tile * of a tiled input t
 *   ROLE_OUTPUT_TILE(e, t)             and of output t where stores are tiled
 *   ROLE_IS_GRID(e)                    tile programs; by default 0: fills are rows
 *   ROLE_GRID(e)                       const tmaring_grid * of a tile program
 *   ROLE_PANEL(e, t)                   const tmaring_panel * of input t of a tile program, behind them of the output
 *   ROLE_HAS_ASYNC(e)                  some input goes by cp.async: lanes arrive at full too
 *   ROLE_IS_WIDE(e)                    all lanes of the feeding warp run its code
 *   ROLE_HAS_TILED_STORES(e)           staged results go by tensor maps
 *   ROLE_HAS_EDGES(e)                  runs may need ordinary loads and stores at their ends
 *   ROLE_HAS_PIECES(e)                 rows longer than a stage
 *   ROLE_HAS_STRIPS(e)                 fills of pieces of several rows; by default 1
 *   ROLE_REDUCTIONS(e) ROLE_PASSES(e)  passes that reduce; passes in all
 * Binding: primitives (a point stands before each)
 *   ROLE_TRY_FULL ROLE_BLOCK_FULL(e, stage, parity)      wait for a phase of a full barrier
 *   ROLE_TRY_EMPTY ROLE_BLOCK_EMPTY(e, stage, parity)    wait for a phase of an empty barrier
 *   ROLE_EXPECT(e, stage, bytes)                         arrive at full, expecting bytes
 *   ROLE_LOAD(e, tensor, stage, offset, address, bytes)  bulk copy of input `tensor` into its slot, completing on full
 *   ROLE_LOAD_TILE(e, tensor, stage, fill, i)            copy i of the fill's boxes, all of its bytes completing on full
 *   ROLE_LOAD_ASYNC(e, tensor, stage, offset, address, bytes)   cp.async by every lane: multiples of 4 bytes
 *   ROLE_ASYNC_ARRIVE(e, stage)                          every lane arrives at full once its cp.async so far have come
 *   ROLE_LOAD_ORDINARY(e, tensor, stage, offset, address, bytes)   ordinary loads, of any number of bytes
 *   ROLE_STORE(e, tensor, stage, offset, address, bytes)        bulk store from the output's slot
 *   ROLE_STORE_EDGE(e, tensor, stage, offset, address, bytes)   ordinary stores from the slot
 *   ROLE_STORE_TILE(e, tensor, stage, fill, i)           copy i of the fill's boxes of an output: what of it is inside
 *   ROLE_COMMIT(e)                                       closes a group of bulk stores
 *   ROLE_WAIT_READ(f, e, pending)                        until all but `pending` groups have read their source
 *   ROLE_FENCE(e)                                        generic -> async proxy, by every thread that runs it
 *   ROLE_RELEASE(e, stage)                               this warp arrives at empty (all it owes)
 *   ROLE_RELEASE_OTHERS(e, stage)                        the same, less the storer's arrival
 *   ROLE_RELEASE_STORER(e, stage)                        the storer's arrival
 *   ROLE_WARP_SYNC(e)  ROLE_GROUP_SYNC(f, e)  ROLE_CTA_SYNC(f, e)   barriers of a warp; of a unit; of the CTA
 *   ROLE_RANK(e)  ROLE_IS_FEEDER(e)  ROLE_IS_CONSUMER(e) multicast: of the CTA; the thread that loads; a thread that reads
 *   ROLE_VECTORS_EXPECT(e, bytes)                        arrives at the barrier of the vectors, expecting bytes
 *   ROLE_VECTORS_LOAD(e, i, offset, bytes)               bytes of vector i to all CTAs of the cluster, completing there
 *   ROLE_VECTORS_REST(e, i, offset, bytes)               ordinary loads of this CTA
 *   ROLE_TRY_VECTORS ROLE_BLOCK_VECTORS(e)               until all of them are there
 *   ROLE_END_SYNC(f, e)                                  barrier of all roles of the CTA that have ended
 *   ROLE_FENCE_ALL(e)                                    as ROLE_FENCE, for global memory too
 *   ROLE_INVAL(e, stage)                                 the stage's two barriers are no barriers any more
 *   ROLE_CLUSTER_SYNC(f, e)                              barrier of all CTAs of a cluster, by every thread
 *   ROLE_TURN_WAIT(f, e)  ROLE_TURN_PASS(e)              two squads: until the other one has passed the turn; passes it
 *   ROLE_TICKET_PUT(e, stage, tile) ROLE_TICKET_GET(e, stage, tile) tile number through the stage
 *   ROLE_TICKET_CLAIM(e, tile)                           next tile number from the counter
 *   ROLE_ACCUMULATE(e, fill, stage, iteration, pass)     this warp's part of a pass over its rows
 *   ROLE_PARTIAL(e, fill, iteration, pass)               cross-warp scopes: leave this warp's partial results
 *   ROLE_FINISH(e, fill, iteration, pass)                combine partial results, evaluate what follows from them
 *   ROLE_ROW_STORE(e, fill, iteration)                   store the [M] outputs of the finished rows; cluster: rank 0
 *   ROLE_HAS_COLUMNS(e)                                  column reductions: tiles are chunks of rows
 *   ROLE_COLUMNS_BEGIN(e, fill)                          this warp's accumulators of the fill's columns start anew
 *   ROLE_COLUMNS_END(e, fill)                            and become partial results in the workspace */
#ifndef ROLE_FN
#error                                                                                                                 \
    "abi/roles.h is included by a binding that defines ROLE_FN and the other ROLE_ macros; for the frames alone include abi/frames.h"
#endif

#include "frames.h"

#ifndef ROLE_ARGS_AS_GIVEN
#define ROLE_ARGS_AS_GIVEN(e) ROLE_ARGS(e)
#endif

#ifndef ROLE_INPUT
#define ROLE_INPUT(e, t)  (&ROLE_ARGS(e)->input[t])
#define ROLE_OUTPUT(e, t) (&ROLE_ARGS(e)->output[t])
#endif

#ifndef ROLE_SQUADS
#define ROLE_SQUADS(e)       1
#define ROLE_SQUAD(e)        0
#define ROLE_TURN_WAIT(f, e) ((void)0)
#define ROLE_TURN_PASS(e)    ((void)0)
#endif

#ifndef ROLE_IS_CLUSTER
#define ROLE_IS_CLUSTER(e)      0
#define ROLE_CLUSTER_SYNC(f, e) ((void)0)
#endif

#ifndef ROLE_IS_GRID
#define ROLE_IS_GRID(e)  0
#define ROLE_GRID(e)     ((const tmaring_grid *)0)
#define ROLE_PANEL(e, t) ((const tmaring_panel *)0)
#endif

#ifndef ROLE_HAS_STRIPS
#define ROLE_HAS_STRIPS(e) 1
#endif

#include "role_copies.h"

/* The producer leads by at most P + 1 fills. */
ROLE_FN(tmaring_producer_run)(ROLE_ENV *e, tmaring_producer_frame *f)
{
  ROLE_BEGIN(f);
  f->lead = 0;
  tmaring_cursor_init(&f->freed);
  tmaring_feed_begin(&f->feed, ROLE_WALK(e), ROLE_WORKER(e));
  while (tmaring_feed_live(&f->feed, ROLE_WALK(e))) {
    if (f->lead > ROLE_ARGS(e)->distance) {
      ROLE_WAIT(f, ROLE_TRY_EMPTY(e, f->freed.stage, f->freed.parity),
                ROLE_BLOCK_EMPTY(e, f->freed.stage, f->freed.parity));
      tmaring_cursor_next(&f->freed, ROLE_ARGS(e)->stages);
      f->lead -= 1;
    }
    ROLE_CALL(f, tmaring_feed_run(e, &f->feed));
    f->lead += 1;
  }
  ROLE_END(f);
}

/* Partial results have two buffers, used in turn. A round's are read after its barrier and before the reader arrives at
 * the next one; they are written over in the round after that, past this next barrier: where a warp writes, everybody
 * has read. This holds for the warps of a unit and for those of a cluster. */
ROLE_FN(tmaring_rows_run)(ROLE_ENV *e, tmaring_rows_frame *f, const tmaring_fill *fill, tmaring_u32 stage)
{
  tmaring_i32 first, last;
  ROLE_BEGIN(f);
  if (ROLE_HAS_COLUMNS(e) && fill->valid && fill->first_fill) {
    ROLE_POINT(f);
    ROLE_COLUMNS_BEGIN(e, fill);
  }
  tmaring_scope_unit_rows(&ROLE_ARGS(e)->scope, ROLE_UNIT(e), fill->rows, &first, &last);
  f->iterations = tmaring_scope_iterations(&ROLE_ARGS(e)->scope, last - first);
  if (ROLE_SQUADS(e) > 1 && fill->rows == 0) f->iterations = 0; /* a part of a tile that reaches past the last row */
  for (f->iteration = 0; f->iteration < f->iterations; ++f->iteration) {
    f->pass_end = ROLE_HAS_PIECES(e) ? fill->pass + 1 : ROLE_PASSES(e);
    ROLE_UNROLL
    for (f->pass = ROLE_HAS_PIECES(e) ? fill->pass : 0; f->pass < f->pass_end; ++f->pass) {
      ROLE_POINT(f);
      ROLE_ACCUMULATE(e, fill, stage, f->iteration, f->pass);
      if (f->pass < ROLE_REDUCTIONS(e) && fill->last_piece) {
        if (ROLE_IS_GROUP(e)) {
          ROLE_POINT(f);
          ROLE_PARTIAL(e, fill, f->iteration, f->pass);
          if (ROLE_IS_CLUSTER(e)) {
            ROLE_CLUSTER_SYNC(f, e);
          } else {
            ROLE_GROUP_SYNC(f, e);
          }
        }
        ROLE_POINT(f);
        ROLE_FINISH(e, fill, f->iteration, f->pass);
      }
    }
    if (fill->valid && fill->last_piece && f->pass_end == ROLE_PASSES(e) &&
        (!ROLE_IS_CLUSTER(e) || ROLE_WALK(e)->rank == 0)) {
      ROLE_POINT(f);
      ROLE_ROW_STORE(e, fill, f->iteration);
    }
  }
  if (ROLE_HAS_COLUMNS(e) && fill->valid && fill->last_fill) {
    ROLE_POINT(f);
    ROLE_COLUMNS_END(e, fill);
  }
  ROLE_END(f);
}

/* What follows once a consumer warp has computed its rows of a fill: results are stored, the stage is released. Storers
 * release it when their store has read it, up to store_lag fills later. c: the warp's frame, f is a part of it. */
ROLE_FN(tmaring_settle_run)(ROLE_ENV *e, tmaring_settle_frame *f, tmaring_consumer_frame *c)
{
  ROLE_BEGIN(f);
  if (ROLE_IS_STAGED(e)) {
    ROLE_POINT(f);
    ROLE_FENCE(e);
    if (ROLE_IS_GROUP(e)) {
      ROLE_GROUP_SYNC(f, e);
    } else {
      ROLE_POINT(f);
      ROLE_WARP_SYNC(e);
    }
    ROLE_POINT(f);
    ROLE_RELEASE_OTHERS(e, c->at.stage);
    if (ROLE_IS_STORER(e)) {
      if (tmaring_fill_stores(&c->fill, ROLE_HAS_PIECES(e), ROLE_PASSES(e))) {
        tmaring_store_unit(&c->store, ROLE_ARGS(e), &c->fill, ROLE_UNIT(e), ROLE_WARP(e), ROLE_HAS_EDGES(e));
        ROLE_CALL(f, tmaring_store_run(e, &c->store, &c->fill, c->at.stage));
      }
      ROLE_POINT(f);
      ROLE_COMMIT(e);
      if (ROLE_SQUADS(e) > 1 && c->late == 0) c->late_at = c->at;
      c->late += 1;
      if (c->late > ROLE_ARGS(e)->store_lag) {
        ROLE_WAIT_READ(f, e, ROLE_ARGS(e)->store_lag);
        ROLE_POINT(f);
        ROLE_RELEASE_STORER(e, c->late_at.stage);
        if (ROLE_SQUADS(e) > 1) {
          c->late_at = c->at;
        } else {
          tmaring_cursor_next(&c->late_at, ROLE_ARGS(e)->stages);
        }
        c->late -= 1;
      }
    }
  } else {
    ROLE_POINT(f);
    ROLE_RELEASE(e, c->at.stage);
  }
  ROLE_END(f);
}

/* A consumer warp of a warp-specialized CTA. Each unit stores its own rows. A warp of two squads handles its squad's
 * fills and passes over the others. There end marks are released as fills are: another one may need the stage. */
ROLE_FN(tmaring_consumer_run)(ROLE_ENV *e, tmaring_consumer_frame *f)
{
  ROLE_BEGIN(f);
  f->late = 0;
  tmaring_cursor_init(&f->at);
  tmaring_cursor_init(&f->late_at);
  tmaring_trip_begin(&f->trip, ROLE_WALK(e), ROLE_WORKER(e));
  if (ROLE_SQUADS(e) > 1) {
    tmaring_squad_begin(f, ROLE_ARGS(e), ROLE_WALK(e), ROLE_SQUAD(e));
  }
  while (tmaring_uses_tickets(ROLE_WALK(e)) || tmaring_trip_live(&f->trip, ROLE_WALK(e))) {
    if (ROLE_SQUADS(e) > 1 && f->waits) {
      ROLE_TURN_WAIT(f, e);
    }
    ROLE_WAIT(f, ROLE_TRY_FULL(e, f->at.stage, f->at.parity), ROLE_BLOCK_FULL(e, f->at.stage, f->at.parity));
    if (tmaring_uses_tickets(ROLE_WALK(e))) {
      ROLE_POINT(f);
      ROLE_TICKET_GET(e, f->at.stage, &f->trip.tile);
    }
    if (ROLE_SQUADS(e) > 1 && tmaring_squad_passes(f, ROLE_WALK(e))) {
      ROLE_POINT(f);
      ROLE_TURN_PASS(e);
    }
    if (tmaring_uses_tickets(ROLE_WALK(e)) && tmaring_is_end_mark(f->trip.tile, ROLE_SQUADS(e))) break;
    tmaring_walk_fill_of(ROLE_WALK(e), f->trip.tile, f->trip.part, ROLE_HAS_STRIPS(e), &f->fill);
    ROLE_CALL(f, tmaring_rows_run(e, &f->rows, &f->fill, f->at.stage));
    ROLE_CALL(f, tmaring_settle_run(e, &f->settle, f));
    if (ROLE_SQUADS(e) > 1) {
      tmaring_squad_next(f, ROLE_ARGS(e), ROLE_WALK(e));
    } else {
      tmaring_cursor_next(&f->at, ROLE_ARGS(e)->stages);
      tmaring_trip_next(&f->trip, ROLE_WALK(e));
    }
  }
  if (ROLE_IS_STAGED(e) && ROLE_IS_STORER(e)) { /* shared memory must outlive the last store's read */
    ROLE_WAIT_READ(f, e, 0);
  }
  if (ROLE_SQUADS(e) > 1 && tmaring_uses_tickets(ROLE_WALK(e))) {
    if (ROLE_IS_STAGED(e) && ROLE_IS_STORER(e) && f->late > 0) {
      ROLE_POINT(f);
      ROLE_RELEASE_STORER(e, f->late_at.stage);
    }
    ROLE_POINT(f);
    ROLE_RELEASE(e, f->at.stage);
  }
  ROLE_END(f);
}

/* The issuer's part of a step of a pipelined CTA: stores the fill before, and feeds the ring once a stage is free. p:
 * the warp's frame, f is a part of it. */
ROLE_FN(tmaring_step_run)(ROLE_ENV *e, tmaring_step_frame *f, tmaring_pipeline_frame *p)
{
  ROLE_BEGIN(f);
  if (p->started && ROLE_IS_STAGED(e)) {
    if (ROLE_ARGS(e)->cta.war == TMARING_WAR_MBARRIER) {
      ROLE_WAIT(f, ROLE_TRY_EMPTY(e, p->freed.stage, p->freed.parity),
                ROLE_BLOCK_EMPTY(e, p->freed.stage, p->freed.parity));
      tmaring_cursor_next(&p->freed, ROLE_ARGS(e)->stages);
    }
    if (tmaring_fill_stores(&p->last_fill, ROLE_HAS_PIECES(e), ROLE_PASSES(e))) {
      tmaring_store_all(&p->store, ROLE_ARGS(e), &p->last_fill);
      ROLE_CALL(f, tmaring_store_run(e, &p->store, &p->last_fill, p->last_stage));
    }
    ROLE_POINT(f);
    ROLE_COMMIT(e);
  }
  if (tmaring_feed_live(&p->feed, ROLE_WALK(e))) {
    if (p->lead >= ROLE_ARGS(e)->stages) { /* the stage was used: fill k + P - S is done with */
      if (ROLE_IS_STAGED(e)) {
        ROLE_WAIT_READ(f, e, ROLE_ARGS(e)->stages - 1 - ROLE_ARGS(e)->distance);
      } else if (ROLE_ARGS(e)->cta.war == TMARING_WAR_MBARRIER) {
        ROLE_WAIT(f, ROLE_TRY_EMPTY(e, p->freed.stage, p->freed.parity),
                  ROLE_BLOCK_EMPTY(e, p->freed.stage, p->freed.parity));
        tmaring_cursor_next(&p->freed, ROLE_ARGS(e)->stages);
      }
      p->lead -= 1;
    }
    ROLE_CALL(f, tmaring_feed_run(e, &p->feed));
    p->lead += 1;
  }
  ROLE_END(f);
}

/* A warp of a pipelined CTA: all warps compute, one thread also feeds the ring and stores. At the top of each step
 * every warp has finished the previous fill (CTA barrier), or the issuer waits until they have (empty barrier). CTAs of
 * a cluster are pipelined: a barrier of the cluster takes every thread. They make the same trip, so that they meet at
 * it equally often. */
ROLE_FN(tmaring_pipeline_run)(ROLE_ENV *e, tmaring_pipeline_frame *f)
{
  ROLE_BEGIN(f);
  f->lead = 0;
  f->started = 0;
  f->last_stage = 0;
  tmaring_cursor_init(&f->at);
  tmaring_cursor_init(&f->freed);
  tmaring_trip_begin(&f->trip, ROLE_WALK(e), ROLE_WORKER(e));
  if (ROLE_IS_ISSUER(e)) {
    tmaring_feed_begin(&f->feed, ROLE_WALK(e), ROLE_WORKER(e));
    while (f->lead < ROLE_ARGS(e)->distance && tmaring_feed_live(&f->feed, ROLE_WALK(e))) {
      ROLE_CALL(f, tmaring_feed_run(e, &f->feed));
      f->lead += 1;
    }
  }
  for (;;) {
    if (f->started && ROLE_ARGS(e)->cta.war == TMARING_WAR_CTA_BARRIER) {
      ROLE_CTA_SYNC(f, e);
    }
    if (ROLE_IS_ISSUER(e)) {
      ROLE_CALL(f, tmaring_step_run(e, &f->step, f));
    }
    if (!tmaring_uses_tickets(ROLE_WALK(e)) && !tmaring_trip_live(&f->trip, ROLE_WALK(e))) break;
    ROLE_WAIT(f, ROLE_TRY_FULL(e, f->at.stage, f->at.parity), ROLE_BLOCK_FULL(e, f->at.stage, f->at.parity));
    if (tmaring_uses_tickets(ROLE_WALK(e))) {
      ROLE_POINT(f);
      ROLE_TICKET_GET(e, f->at.stage, &f->trip.tile);
      if (f->trip.tile == TMARING_TICKET_END) break;
    }
    tmaring_walk_fill_of(ROLE_WALK(e), f->trip.tile, f->trip.part, ROLE_HAS_STRIPS(e), &f->fill);
    ROLE_CALL(f, tmaring_rows_run(e, &f->rows, &f->fill, f->at.stage));
    if (ROLE_IS_STAGED(e)) {
      ROLE_POINT(f);
      ROLE_FENCE(e);
    }
    if (ROLE_ARGS(e)->cta.war == TMARING_WAR_MBARRIER) {
      ROLE_POINT(f);
      ROLE_RELEASE(e, f->at.stage);
    }
    f->started = 1;
    f->last_stage = f->at.stage;
    f->last_fill = f->fill;
    tmaring_cursor_next(&f->at, ROLE_ARGS(e)->stages);
    tmaring_trip_next(&f->trip, ROLE_WALK(e));
  }
  if (ROLE_IS_STAGED(e) && ROLE_IS_ISSUER(e)) {
    ROLE_WAIT_READ(f, e, 0);
  }
  if (ROLE_IS_CLUSTER(e)) { /* shared memory must outlive its last reader, who may be in another CTA */
    ROLE_CLUSTER_SYNC(f, e);
  }
  ROLE_END(f);
}

#include "role_ends.h"

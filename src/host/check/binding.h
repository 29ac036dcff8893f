/* Binds the role loops of abi/roles.h to the ring model, as protothreads: a point is a label that the loop returns to,
 * the line number is kept in the frame. Define nothing before it; a test that plays mutants redefines single macros
 * after it and then includes abi/roles.h itself.
 *
 * A role function returns a tmaring__outcome. When a primitive is held back the function returns without having played
 * it, the frame still at the point before: what stands between the two is computed again. */
#ifndef TMARING_HOST_BINDING_H
#define TMARING_HOST_BINDING_H

#include "ring_roles.h"

#define ROLE_FN(name) static tmaring__outcome name
#define ROLE_ENV      tmaring__env

#define ROLE_BEGIN(f)                                                                                                  \
  switch ((f)->pc) {                                                                                                   \
  case 0:

#define ROLE_END(f)                                                                                                    \
  }                                                                                                                    \
  (f)->pc = 0;                                                                                                         \
  return TMARING__DONE

#define ROLE_POINT(f)                                                                                                  \
  do {                                                                                                                 \
    (f)->pc = __LINE__;                                                                                                \
  case __LINE__:                                                                                                       \
    if (tmaring__env_pause(e)) return TMARING__YIELDED;                                                                \
  } while (0)

/* A visible primitive: held back where the budget is spent. */
#define TMARING__VISIBLE(call)                                                                                         \
  do {                                                                                                                 \
    if (tmaring__env_hold(e)) return TMARING__YIELDED;                                                                 \
    call;                                                                                                              \
  } while (0)

#define ROLE_WAIT(f, try, block)                                                                                       \
  do {                                                                                                                 \
    (f)->pc = __LINE__;                                                                                                \
  case __LINE__:                                                                                                       \
    if (tmaring__env_hold(e) || tmaring__env_pause(e)) return TMARING__YIELDED;                                        \
    if (!(try)) return TMARING__BLOCKED;                                                                               \
  } while (0)

/* A barrier: arrive, then wait until its generation is over. Two labels on one line. */
#define TMARING__SECOND_LABEL 0x40000000u
#define TMARING__BARRIER(f, arrive, passed)                                                                            \
  do {                                                                                                                 \
    (f)->pc = __LINE__;                                                                                                \
  case __LINE__:                                                                                                       \
    if (tmaring__env_hold(e) || tmaring__env_pause(e)) return TMARING__YIELDED;                                        \
    (f)->sync = arrive(e);                                                                                             \
    (f)->pc = __LINE__ + TMARING__SECOND_LABEL;                                                                        \
  case __LINE__ + TMARING__SECOND_LABEL:                                                                               \
    if (tmaring__env_hold(e)) return TMARING__YIELDED;                                                                 \
    if (!passed(e, (f)->sync)) return TMARING__BLOCKED;                                                                \
  } while (0)

#define TMARING__BARRIER_OF(f, whom) TMARING__BARRIER(f, tmaring__role_arrive_##whom, tmaring__role_passed_##whom)

#define ROLE_CALL(f, call)                                                                                             \
  do {                                                                                                                 \
    (f)->pc = __LINE__;                                                                                                \
  case __LINE__: {                                                                                                     \
    const tmaring__outcome outcome_ = (call);                                                                          \
    if (outcome_ != TMARING__DONE) return outcome_;                                                                    \
  }                                                                                                                    \
  } while (0)

#define ROLE_UNROLL

#define ROLE_ARGS(e)   ((e)->ring->args)
#define ROLE_WALK(e)   (&(e)->ring->walk)
#define ROLE_WORKER(e) ((e)->ring->worker)
#define ROLE_WARP(e)   tmaring__squad_warp((e)->ring, (e)->actor)
#define ROLE_UNIT(e)   (ROLE_WARP(e) / (e)->ring->args->scope.warps_per_row)
#define ROLE_SQUADS(e) ((e)->ring->squads)
#define ROLE_SQUAD(e)  tmaring__env_squad(e)

#define ROLE_IS_ISSUER(e)  ((e)->actor == (e)->ring->issuer)
#define ROLE_IS_STORER(e)  tmaring__ring_storer((e)->ring, (e)->actor)
#define ROLE_IS_GROUP(e)   ((e)->ring->code->group)
#define ROLE_IS_CLUSTER(e) ((e)->ring->code->cluster)
#define ROLE_IS_STAGED(e)  ((e)->ring->code->staged)
#define ROLE_HAS_EDGES(e)  (!(e)->ring->code->aligned)
#define ROLE_HAS_PIECES(e) ((e)->ring->code->pieces)
#define ROLE_REDUCTIONS(e) ((e)->ring->program->reduction_passes)
#define ROLE_PASSES(e)     ((e)->ring->program->passes)

#define ROLE_PATH(e, t)          ((e)->ring->args->input[t].path)
#define ROLE_TILE(e, t)          (&(e)->ring->boxes->tile[t])
#define ROLE_IS_GRID(e)          (tmaring__ring_grid((e)->ring) != NULL)
#define ROLE_GRID(e)             tmaring__ring_grid((e)->ring)
#define ROLE_PANEL(e, t)         (&(e)->ring->boxes->panel[t])
#define ROLE_OUTPUT_TILE(e, t)   (&(e)->ring->boxes->tile[TMARING_TILED_OUTPUTS + (t)])
#define ROLE_HAS_ASYNC(e)        ((e)->ring->async)
#define ROLE_IS_WIDE(e)          ((e)->ring->wide)
#define ROLE_HAS_TILED_STORES(e) ((e)->ring->code->tiled_store)

#define ROLE_TRY_FULL(e, stage, parity)                     tmaring__role_try_full(e, stage, parity)
#define ROLE_TRY_EMPTY(e, stage, parity)                    tmaring__role_try_empty(e, stage, parity)
#define ROLE_EXPECT(e, stage, bytes)                        TMARING__VISIBLE(tmaring__role_expect(e, stage, bytes))
#define ROLE_LOAD(e, tensor, stage, offset, address, bytes) tmaring__role_load(e, tensor, stage, offset, address, bytes)
#define ROLE_LOAD_TILE(e, tensor, stage, fill, i)           tmaring__role_load_tile(e, tensor, stage, fill, i)
#define ROLE_LOAD_ASYNC(e, tensor, stage, offset, address, bytes)                                                      \
  tmaring__role_load_async(e, tensor, stage, offset, address, bytes)
#define ROLE_ASYNC_ARRIVE(e, stage) TMARING__VISIBLE(tmaring__role_async_arrive(e, stage))
#define ROLE_LOAD_ORDINARY(e, tensor, stage, offset, address, bytes)                                                   \
  tmaring__role_load_ordinary(e, tensor, stage, offset, address, bytes)
#define ROLE_STORE(e, tensor, stage, offset, address, bytes)                                                           \
  tmaring__role_store(e, tensor, stage, offset, address, bytes)
#define ROLE_STORE_EDGE(e, tensor, stage, offset, address, bytes)                                                      \
  tmaring__role_store_edge(e, tensor, stage, offset, address, bytes)
#define ROLE_STORE_TILE(e, tensor, stage, fill, i) tmaring__role_store_tile(e, tensor, stage, fill, i)
#define ROLE_COMMIT(e)                             tmaring__role_commit(e)
#define ROLE_WAIT_READ(f, e, pending)                                                                                  \
  do {                                                                                                                 \
    (f)->pc = __LINE__;                                                                                                \
  case __LINE__:                                                                                                       \
    if (tmaring__env_pause(e)) return TMARING__YIELDED;                                                                \
    tmaring__role_wait_read(e, pending);                                                                               \
  } while (0)
#define ROLE_FENCE(e)                                    tmaring__role_fence(e)
#define ROLE_RELEASE(e, stage)                           TMARING__VISIBLE(tmaring__role_release(e, stage))
#define ROLE_RELEASE_OTHERS(e, stage)                    TMARING__VISIBLE(tmaring__role_release_others(e, stage))
#define ROLE_RELEASE_STORER(e, stage)                    TMARING__VISIBLE(tmaring__role_release_storer(e, stage))
#define ROLE_WARP_SYNC(e)                                ((void)0) /* an actor is a whole warp */
#define ROLE_GROUP_SYNC(f, e)                            TMARING__BARRIER_OF(f, group)
#define ROLE_CTA_SYNC(f, e)                              TMARING__BARRIER_OF(f, cta)
#define ROLE_CLUSTER_SYNC(f, e)                          TMARING__BARRIER_OF(f, cluster)
#define ROLE_TURN_WAIT(f, e)                             TMARING__BARRIER_OF(f, turn)
#define ROLE_TURN_PASS(e)                                TMARING__VISIBLE(tmaring__role_pass_turn(e))
#define ROLE_RANK(e)                                     ((e)->ring->rank)
#define ROLE_IS_FEEDER(e)                                ((e)->actor == (e)->ring->issuer)
#define ROLE_IS_CONSUMER(e)                              ((e)->actor < (e)->ring->warps)
#define ROLE_VECTORS_EXPECT(e, bytes)                    TMARING__VISIBLE(tmaring__role_vectors_expect(e, bytes))
#define ROLE_VECTORS_LOAD(e, i, offset, bytes)           TMARING__VISIBLE(tmaring__role_vectors_load(e, i, offset, bytes))
#define ROLE_VECTORS_REST(e, i, offset, bytes)           tmaring__role_vectors_rest(e, i, offset, bytes)
#define ROLE_TRY_VECTORS(e)                              tmaring__role_try_vectors(e)
#define ROLE_END_SYNC(f, e)                              TMARING__BARRIER_OF(f, end)
#define ROLE_FENCE_ALL(e)                                tmaring__role_fence(e)
#define ROLE_INVAL(e, stage)                             tmaring__role_inval(e, stage)
#define ROLE_TICKET_PUT(e, stage, tile)                  tmaring__role_ticket_put(e, stage, tile)
#define ROLE_TICKET_GET(e, stage, tile)                  tmaring__role_ticket_get(e, stage, tile)
#define ROLE_TICKET_CLAIM(e, tile)                       TMARING__VISIBLE(tmaring__role_ticket_claim(e, tile))
#define ROLE_ACCUMULATE(e, fill, stage, iteration, pass) tmaring__role_accumulate(e, fill, stage, iteration, pass)
#define ROLE_PARTIAL(e, fill, iteration, pass)           tmaring__role_partial(e, pass)
#define ROLE_FINISH(e, fill, iteration, pass)            tmaring__role_finish(e, fill, iteration, pass)
#define ROLE_ROW_STORE(e, fill, iteration)               tmaring__role_row_store(e, fill, iteration)
#define ROLE_HAS_COLUMNS(e)                              ((e)->ring->program->column_output_count > 0)
#define ROLE_COLUMNS_BEGIN(e, fill)                      tmaring__role_columns(e, fill, 0)
#define ROLE_COLUMNS_END(e, fill)                        tmaring__role_columns(e, fill, 1)

/* The loops fall from label to label, and set their locals again after each. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif

/* Runs the actor that `env` names through the role functions of the including file, one part after another. */
#define TMARING__ROLE_STEP(name)                                                                                       \
  tmaring__outcome name(tmaring__env *env)                                                                             \
  {                                                                                                                    \
    tmaring__actor *actor = tmaring__env_actor(env);                                                                   \
    const int multicast = env->ring->code->multicast;                                                                  \
    while (!actor->finished) {                                                                                         \
      tmaring__outcome outcome = TMARING__DONE;                                                                        \
      if (actor->part == TMARING__PART_VECTORS) {                                                                      \
        if (multicast) outcome = tmaring_vectors_run(env, &actor->vectors);                                            \
      } else if (actor->part == TMARING__PART_LEAVE) {                                                                 \
        if (multicast) outcome = tmaring_vectors_leave_run(env, &actor->vectors);                                      \
      } else if (actor->part == TMARING__PART_END) {                                                                   \
        if (env->ring->ends) outcome = tmaring_ring_end_run(env, &actor->end);                                         \
      } else if (tmaring__ring_pipelined(env->ring)) {                                                                 \
        outcome = tmaring_pipeline_run(env, &actor->frame.pipeline);                                                   \
      } else if (env->actor == env->ring->issuer) {                                                                    \
        outcome = tmaring_producer_run(env, &actor->frame.producer);                                                   \
      } else {                                                                                                         \
        outcome = tmaring_consumer_run(env, &actor->frame.consumer);                                                   \
      }                                                                                                                \
      if (outcome != TMARING__DONE) return outcome;                                                                    \
      if (actor->part == TMARING__PART_ROLE) tmaring__role_ending(env);                                                \
      actor->part += 1;                                                                                                \
      actor->finished = actor->part == TMARING__PARTS;                                                                 \
    }                                                                                                                  \
    return TMARING__DONE;                                                                                              \
  }                                                                                                                    \
  _Static_assert(1, "")

#endif

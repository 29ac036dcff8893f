/* State of the role loops, one struct per loop, and the pure functions they share. Everything a loop remembers across a
 * scheduling point is here, so that the emulator can copy, compare and hash it. */
#ifndef TMARING_ABI_FRAMES_H
#define TMARING_ABI_FRAMES_H

#include "args.h"
#include "panel.h"

/* Issues the loads of one fill. */
typedef struct tmaring_issue_frame {
  tmaring_u32 pc;
  tmaring_i32 tensor, run;
  tmaring_u32 bytes;
  tmaring_i32 edges;
  tmaring_origin origin; /* grids: of the tensor's panel */
} tmaring_issue_frame;

/* Feeds the ring: one fill, or the end mark of a ticket walk, per run. */
typedef struct tmaring_feed_frame {
  tmaring_u32 pc;
  tmaring_i32 ended; /* tickets: the end marks are out */
  tmaring_i32 marks; /* how many of them are */
  tmaring_trip trip;
  tmaring_cursor at;
  tmaring_fill fill;
  tmaring_issue_frame issue;
} tmaring_feed_frame;

/* Stores rows [first, last) of a staged fill, or elements [first, last) of a flat one. */
typedef struct tmaring_store_frame {
  tmaring_u32 pc;
  tmaring_i32 tensor, run;
  tmaring_i32 first, last;
  tmaring_origin origin; /* grids: of the output's panel */
} tmaring_store_frame;

/* Computes a warp's rows of one fill. */
typedef struct tmaring_rows_frame {
  tmaring_u32 pc;
  tmaring_u32 sync;
  tmaring_i32 iteration, iterations;
  tmaring_i32 pass, pass_end;
} tmaring_rows_frame;

typedef struct tmaring_producer_frame {
  tmaring_u32 pc;
  tmaring_u32 lead; /* fills issued and not known to be released: at most P + 1 */
  tmaring_cursor freed;
  tmaring_feed_frame feed;
} tmaring_producer_frame;

/* Stores and releases a fill that a consumer warp has computed. */
typedef struct tmaring_settle_frame {
  tmaring_u32 pc;
  tmaring_u32 sync;
} tmaring_settle_frame;

typedef struct tmaring_consumer_frame {
  tmaring_u32 pc;
  tmaring_u32 sync;
  tmaring_u32 late;  /* stores of mine that I have not released yet */
  tmaring_u32 turn;  /* two squads: fills left of this turn */
  tmaring_i32 mixed; /* stages change hands: turns are passed */
  tmaring_i32 waits; /* 1: the next fill begins a turn that another squad passes */
  tmaring_trip trip;
  tmaring_cursor at;
  tmaring_cursor late_at;
  tmaring_fill fill;
  tmaring_rows_frame rows;
  tmaring_store_frame store;
  tmaring_settle_frame settle;
} tmaring_consumer_frame;

/* The issuer's part of a step. */
typedef struct tmaring_step_frame {
  tmaring_u32 pc;
} tmaring_step_frame;

typedef struct tmaring_pipeline_frame {
  tmaring_u32 pc;
  tmaring_u32 sync;
  tmaring_u32 lead;    /* issuer: fills issued and not known to be released */
  tmaring_i32 started; /* 1: at least one fill was computed */
  tmaring_trip trip;
  tmaring_cursor at;
  tmaring_cursor freed;
  tmaring_u32 last_stage; /* stage of the fill computed last */
  tmaring_fill fill;
  tmaring_fill last_fill;
  tmaring_rows_frame rows;
  tmaring_store_frame store;
  tmaring_feed_frame feed;
  tmaring_step_frame step;
} tmaring_pipeline_frame;

/* Shares [N] inputs with a cluster. */
typedef struct tmaring_vectors_frame {
  tmaring_u32 pc;
  tmaring_u32 sync;
  tmaring_i32 vector;
} tmaring_vectors_frame;

/* Ends a ring. */
typedef struct tmaring_end_frame {
  tmaring_u32 pc;
  tmaring_u32 sync;
  tmaring_u32 stage;
} tmaring_end_frame;

/* Handed through a stage in place of a tile number: the tickets have run out. Each squad gets an end mark in a stage of
 * its own, of which the last one has this number and those before lower ones. */
#define TMARING_TICKET_END (-1LL)

TMARING_FN int tmaring_uses_tickets(const tmaring_walk *w)
{
  return w->order == TMARING_ORDER_TICKET;
}

/* True while the ring must be fed: with tickets the end mark is a fill too. */
TMARING_FN int tmaring_feed_live(const tmaring_feed_frame *f, const tmaring_walk *w)
{
  return tmaring_uses_tickets(w) ? !f->ended : tmaring_trip_live(&f->trip, w);
}

TMARING_FN void tmaring_feed_begin(tmaring_feed_frame *f, const tmaring_walk *w, tmaring_i32 worker)
{
  f->ended = f->marks = 0;
  tmaring_trip_begin(&f->trip, w, worker);
  tmaring_cursor_init(&f->at);
}

/* ---- multicast ----
 *
 * CTAs of a cluster, each a worker with rows of its own, get their [N] inputs together: the CTA of rank r loads its share
 * of the 16-byte units of every vector for all of them. A rest of less than 16 bytes each CTA loads itself. */

/* Bytes of vector i. */
TMARING_FN tmaring_u32 tmaring_multicast_end(const tmaring_args *a, tmaring_i32 i)
{
  return (tmaring_u32)a->walk.cols * tmaring_dtype_bytes(a->vector[i].dtype);
}

/* Those that are whole units. */
TMARING_FN tmaring_u32 tmaring_multicast_whole(const tmaring_args *a, tmaring_i32 i)
{
  return tmaring_multicast_end(a, i) / TMARING_BULK * TMARING_BULK;
}

/* Bytes that arrive in every CTA. */
TMARING_FN tmaring_u32 tmaring_multicast_bytes(const tmaring_args *a)
{
  tmaring_u32 bytes = 0;
  for (tmaring_i32 i = 0; i < a->vector_count; ++i) bytes += tmaring_multicast_whole(a, i);
  return bytes;
}

/* First byte of the share of a rank; that of rank r + 1 is the end of r's. */
TMARING_FN tmaring_u32 tmaring_multicast_share(const tmaring_args *a, tmaring_i32 i, tmaring_i32 rank)
{
  const tmaring_u32 units = tmaring_multicast_whole(a, i) / TMARING_BULK;
  return units * (tmaring_u32)rank / (tmaring_u32)a->multicast * TMARING_BULK;
}

/* ---- squads ----
 *
 * A squad's *turn* is a run of neighbouring fills that are its own: a tile where squads alternate, else the squad's part
 * of one. Turns go around: fill k (from 0) belongs to squad k / turn % squads. Full barriers tell two phases apart, the
 * last and the one before. A squad that comes to a stage after another squad's turn has not seen the phases between, so
 * that it must know of them by other means: squads *pass the turn*, in a barrier of their own, once they have waited for
 * the last full barrier of it. Where every stage is always the same squad's there is nothing to know. */

/* Fills of a turn. */
TMARING_FN tmaring_u32 tmaring_squad_turn(const tmaring_cta *c, const tmaring_walk *w)
{
  const tmaring_u32 fills = (tmaring_u32)tmaring_walk_fills_per_tile(w);
  return c->turns ? fills : fills / (tmaring_u32)tmaring_cta_squads(c);
}

/* Fills from the last one of a squad's turn to the first of its next. */
TMARING_FN tmaring_u32 tmaring_squad_gap(const tmaring_cta *c, const tmaring_walk *w)
{
  return (tmaring_u32)(tmaring_cta_squads(c) - 1) * tmaring_squad_turn(c, w) + 1;
}

/* 1 where a stage belongs now to one squad and now to another. */
TMARING_FN int tmaring_squads_mix(const tmaring_args *a, const tmaring_walk *w)
{
  return a->stages % ((tmaring_u32)tmaring_cta_squads(&a->cta) * tmaring_squad_turn(&a->cta, w)) != 0;
}

/* Passes over the turns of `turns` other squads. */
TMARING_FN void tmaring_squad_skip(tmaring_consumer_frame *f, const tmaring_args *a, const tmaring_walk *w,
                                   tmaring_i32 turns)
{
  const tmaring_u32 fills = tmaring_squad_turn(&a->cta, w) * (tmaring_u32)turns;
  f->turn = tmaring_squad_turn(&a->cta, w);
  tmaring_cursor_skip(&f->at, fills, a->stages);
  if (a->cta.turns) {
    f->trip.tile += (tmaring_i64)turns * w->step;
    f->trip.left -= turns;
    return;
  }
  f->trip.part += (tmaring_i32)fills;
  if (f->trip.part < tmaring_walk_fills_per_tile(w)) return;
  f->trip.part -= tmaring_walk_fills_per_tile(w);
  f->trip.tile += w->step;
  f->trip.left -= 1;
}

/* Goes to the first fill of squad `squad`; the first turn of all is passed by nobody. */
TMARING_FN void tmaring_squad_begin(tmaring_consumer_frame *f, const tmaring_args *a, const tmaring_walk *w,
                                    tmaring_i32 squad)
{
  f->mixed = tmaring_squads_mix(a, w);
  f->waits = f->mixed && squad > 0;
  tmaring_squad_skip(f, a, w, squad);
}

/* Goes to the squad's next fill. */
TMARING_FN void tmaring_squad_next(tmaring_consumer_frame *f, const tmaring_args *a, const tmaring_walk *w)
{
  tmaring_cursor_next(&f->at, a->stages);
  tmaring_trip_next(&f->trip, w);
  f->turn -= 1;
  f->waits = f->mixed && f->turn == 0;
  if (f->turn == 0) tmaring_squad_skip(f, a, w, tmaring_cta_squads(&a->cta) - 1);
}

/* 1 where this is the last fill of a turn and another squad's follows. With tickets that is known by the end marks:
 * every squad comes to one. */
TMARING_FN int tmaring_squad_passes(const tmaring_consumer_frame *f, const tmaring_walk *w)
{
  tmaring_trip next = f->trip;
  if (!f->mixed || f->turn != 1) return 0;
  if (tmaring_uses_tickets(w)) return f->trip.tile != TMARING_TICKET_END;
  tmaring_trip_next(&next, w);
  return tmaring_trip_live(&next, w);
}

/* 1 where a ticket is an end mark. */
TMARING_FN int tmaring_is_end_mark(tmaring_i64 tile, tmaring_i32 squads)
{
  return squads > 1 ? tile <= TMARING_TICKET_END : tile == TMARING_TICKET_END;
}

/* Element phase of a fill's frame (scope.h) at row `j`: that of input 0, or of output 0 where nothing is read. */
TMARING_FN tmaring_i32 tmaring_frame_phase(const tmaring_args *a, const tmaring_fill *fill, tmaring_i32 j,
                                           int has_edges)
{
  if (!has_edges || a->scope.fixed) return 0;
  if (a->input_count > 0)
    return tmaring_scope_phase(tmaring_stream_address(&a->input[0], fill->row + j, fill->col), a->input[0].elem_bytes,
                               a->scope.vec);
  if (a->output_count == 0) return 0;
  return tmaring_scope_phase(tmaring_stream_address(&a->output[0], fill->row + j, fill->col), a->output[0].elem_bytes,
                             a->scope.vec);
}

/* What a unit stores: its rows, or a warp's chunk of a flat fill in elements. */
TMARING_FN void tmaring_store_unit(tmaring_store_frame *f, const tmaring_args *a, const tmaring_fill *fill,
                                   tmaring_i32 unit, tmaring_i32 warp, int has_edges)
{
  if (a->scope.kind == TMARING_SCOPE_FLAT) {
    tmaring_scope_flat_range(&a->scope, warp, tmaring_frame_phase(a, fill, 0, has_edges), fill->rows * fill->cols,
                             &f->first, &f->last);
  } else {
    tmaring_scope_unit_rows(&a->scope, unit, fill->rows, &f->first, &f->last);
  }
}

/* What the one storing thread of a pipelined CTA stores: the whole fill. */
TMARING_FN void tmaring_store_all(tmaring_store_frame *f, const tmaring_args *a, const tmaring_fill *fill)
{
  f->first = 0;
  f->last = a->scope.kind == TMARING_SCOPE_FLAT ? fill->rows * fill->cols : fill->rows;
}

/* The run that a store is at, of output s. */
TMARING_FN tmaring_run tmaring_store_run_at(const tmaring_args *a, const tmaring_stream *s,
                                            const tmaring_store_frame *f, const tmaring_fill *fill)
{
  tmaring_run r;
  if (a->scope.kind != TMARING_SCOPE_FLAT) return tmaring_run_at(s, fill, f->first, f->last, f->run);
  r = tmaring_run_at(s, fill, 0, 1, 0);
  r.address += (tmaring_u64)f->first * s->elem_bytes;
  r.offset += (tmaring_u32)f->first * s->elem_bytes;
  r.bytes = (tmaring_u32)(f->last - f->first) * s->elem_bytes;
  return r;
}

/* Runs of a store; none where it is tiled. */
TMARING_FN tmaring_i32 tmaring_store_runs(const tmaring_stream *s, const tmaring_store_frame *f, int tiled)
{
  return tiled ? 0 : tmaring_run_count(s, f->last - f->first);
}

/* Tiled stores: copies of a store's rows, and the number among the fill's copies of the one that the store is at. Boxes
 * of several rows are stored by a thread that has the whole fill. */
TMARING_FN tmaring_i32 tmaring_store_copies(const tmaring_tile *t, const tmaring_store_frame *f)
{
  if (!t->by_row) return f->last > f->first ? t->boxes : 0;
  return (f->last - f->first) * t->boxes;
}

TMARING_FN tmaring_i32 tmaring_store_copy_at(const tmaring_tile *t, const tmaring_store_frame *f)
{
  return t->by_row ? f->first * t->boxes + f->run : f->run;
}

/* True where a fill's results are complete after it. */
TMARING_FN int tmaring_fill_stores(const tmaring_fill *fill, int has_pieces, tmaring_i32 passes)
{
  return fill->valid && (!has_pieces || fill->pass == passes - 1);
}

#endif

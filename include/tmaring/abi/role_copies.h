/* The copies of one fill: its way into the ring, and the stores of its results. Part of abi/roles.h, which includes it:
 * a text for the same binding, not to be included alone. */
#ifndef ROLE_FN
#error "abi/role_copies.h is a part of abi/roles.h: include that"
#endif

/* The runs of a fill that bulk copies take one by one: in a grid the rows of a panel, else rows of the matrix. */
#define ROLE_LOAD_RUNS(e, f, fill)                                                                                     \
  (ROLE_IS_GRID(e) ? tmaring_panel_rows(ROLE_PANEL(e, (f)->tensor))                                                    \
                   : tmaring_run_count(ROLE_INPUT(e, (f)->tensor), (fill)->rows))
#define ROLE_LOAD_RUN(e, f, fill)                                                                                      \
  (ROLE_IS_GRID(e)                                                                                                     \
       ? tmaring_panel_row(ROLE_PANEL(e, (f)->tensor), ROLE_INPUT(e, (f)->tensor)->base, &(f)->origin, (f)->run)       \
       : tmaring_run_at(ROLE_INPUT(e, (f)->tensor), fill, 0, (fill)->rows, (f)->run))
#define ROLE_STORE_RUNS(e, f)                                                                                          \
  (!ROLE_IS_GRID(e)           ? tmaring_store_runs(ROLE_OUTPUT(e, (f)->tensor), f, ROLE_HAS_TILED_STORES(e))           \
   : ROLE_HAS_TILED_STORES(e) ? 0                                                                                      \
                              : tmaring_panel_rows(ROLE_PANEL(e, ROLE_ARGS(e)->input_count)))
#define ROLE_STORE_RUN(e, f, fill)                                                                                     \
  (ROLE_IS_GRID(e) ? tmaring_panel_row(ROLE_PANEL(e, ROLE_ARGS(e)->input_count), ROLE_OUTPUT(e, (f)->tensor)->base,    \
                                       &(f)->origin, (f)->run)                                                         \
                   : tmaring_store_run_at(ROLE_ARGS(e), ROLE_OUTPUT(e, (f)->tensor), f, fill))

/* Loads of one fill, in two parts that share a frame. First what is ordinary, since the arrival that expects the others'
 * bytes also stands for it; the bytes of the others are added up on the way. */
ROLE_FN(tmaring_issue_ordinary_run)(ROLE_ENV *e, tmaring_issue_frame *f, const tmaring_fill *fill, tmaring_u32 stage)
{
  tmaring_run r;
  tmaring_window w;
  ROLE_BEGIN(f);
  f->bytes = 0;
  f->edges = 0;
  for (f->tensor = 0; f->tensor < ROLE_ARGS(e)->input_count; ++f->tensor) {
    if (ROLE_PATH(e, f->tensor) == TMARING_LOAD_DIRECT) continue;
    if (ROLE_PATH(e, f->tensor) == TMARING_LOAD_TILE) {
      f->bytes += tmaring_tile_bytes(ROLE_TILE(e, f->tensor), fill);
      continue;
    }
    if (ROLE_IS_GRID(e)) tmaring_panel_origin(ROLE_PANEL(e, f->tensor), ROLE_GRID(e), fill, &f->origin);
    for (f->run = 0; f->run < ROLE_LOAD_RUNS(e, f, fill); ++f->run) {
      r = ROLE_LOAD_RUN(e, f, fill);
      if (!ROLE_HAS_EDGES(e) && ROLE_PATH(e, f->tensor) == TMARING_LOAD_BULK) {
        f->bytes += r.bytes;
        continue;
      }
      w = tmaring_run_path_window(ROLE_INPUT(e, f->tensor), &r, ROLE_PATH(e, f->tensor));
      if (ROLE_PATH(e, f->tensor) == TMARING_LOAD_BULK) f->bytes += w.bytes;
      if (w.head + w.tail == 0) continue;
      f->edges = 1;
      ROLE_POINT(f);
      r = ROLE_LOAD_RUN(e, f, fill);
      w = tmaring_run_path_window(ROLE_INPUT(e, f->tensor), &r, ROLE_PATH(e, f->tensor));
      ROLE_LOAD_ORDINARY(e, f->tensor, stage, r.offset, r.address, w.head);
      ROLE_LOAD_ORDINARY(e, f->tensor, stage, r.offset + r.bytes - w.tail, r.address + r.bytes - w.tail, w.tail);
    }
  }
  if ((ROLE_HAS_EDGES(e) || ROLE_IS_WIDE(e)) && f->edges) { /* a later fill's copy engine writes over these bytes */
    ROLE_POINT(f);
    ROLE_FENCE(e);
    if (ROLE_IS_WIDE(e)) {
      ROLE_POINT(f);
      ROLE_WARP_SYNC(e);
    }
  }
  ROLE_END(f);
}

/* Then what the copy engine does, input by input, and cp.async among it. Paths may be mixed: one expectation has the sum
 * of all runs and boxes, boxes whole also where the tensor clips them. */
ROLE_FN(tmaring_issue_run)(ROLE_ENV *e, tmaring_issue_frame *f, const tmaring_fill *fill, tmaring_u32 stage)
{
  tmaring_run r;
  tmaring_window w;
  ROLE_BEGIN(f);
  ROLE_POINT(f);
  ROLE_EXPECT(e, stage, f->bytes);
  for (f->tensor = 0; f->tensor < ROLE_ARGS(e)->input_count; ++f->tensor) {
    if (ROLE_PATH(e, f->tensor) == TMARING_LOAD_DIRECT || ROLE_PATH(e, f->tensor) == TMARING_LOAD_ORDINARY) continue;
    if (ROLE_PATH(e, f->tensor) == TMARING_LOAD_TILE) {
      for (f->run = 0; f->run < tmaring_tile_copies(ROLE_TILE(e, f->tensor), fill); ++f->run) {
        ROLE_POINT(f);
        ROLE_LOAD_TILE(e, f->tensor, stage, fill, f->run);
      }
      continue;
    }
    if (ROLE_IS_GRID(e)) tmaring_panel_origin(ROLE_PANEL(e, f->tensor), ROLE_GRID(e), fill, &f->origin);
    for (f->run = 0; f->run < ROLE_LOAD_RUNS(e, f, fill); ++f->run) {
      ROLE_POINT(f);
      r = ROLE_LOAD_RUN(e, f, fill);
      if (ROLE_IS_GRID(e) && r.bytes == 0) continue; /* a row outside the tensor */
      if (!ROLE_HAS_EDGES(e) && ROLE_PATH(e, f->tensor) == TMARING_LOAD_BULK) {
        ROLE_LOAD(e, f->tensor, stage, r.offset, r.address, r.bytes);
        continue;
      }
      w = tmaring_run_path_window(ROLE_INPUT(e, f->tensor), &r, ROLE_PATH(e, f->tensor));
      if (w.bytes == 0) continue;
      if (ROLE_PATH(e, f->tensor) == TMARING_LOAD_ASYNC) {
        ROLE_LOAD_ASYNC(e, f->tensor, stage, r.offset + w.head, w.begin, w.bytes);
      } else {
        ROLE_LOAD(e, f->tensor, stage, r.offset + (tmaring_u32)(w.begin - r.address), w.begin, w.bytes);
      }
    }
  }
  if (ROLE_HAS_ASYNC(e)) {
    ROLE_POINT(f);
    ROLE_ASYNC_ARRIVE(e, stage);
  }
  ROLE_END(f);
}

/* One fill into the ring, or an end mark. */
ROLE_FN(tmaring_feed_run)(ROLE_ENV *e, tmaring_feed_frame *f)
{
  ROLE_BEGIN(f);
  if (tmaring_uses_tickets(ROLE_WALK(e)) && !tmaring_trip_live(&f->trip, ROLE_WALK(e))) {
    ROLE_POINT(f);
    ROLE_TICKET_PUT(e, f->at.stage, TMARING_TICKET_END - (ROLE_SQUADS(e) > 1 ? ROLE_SQUADS(e) - 1 - f->marks : 0));
    ROLE_POINT(f);
    ROLE_EXPECT(e, f->at.stage, 0);
    if (ROLE_HAS_ASYNC(e)) {
      ROLE_POINT(f);
      ROLE_ASYNC_ARRIVE(e, f->at.stage);
    }
    f->marks += 1;
    f->ended = ROLE_SQUADS(e) == 1 || f->marks == ROLE_SQUADS(e);
  } else {
    tmaring_walk_fill_of(ROLE_WALK(e), f->trip.tile, f->trip.part, ROLE_HAS_STRIPS(e), &f->fill);
    if (tmaring_uses_tickets(ROLE_WALK(e))) {
      ROLE_POINT(f);
      ROLE_TICKET_PUT(e, f->at.stage, f->trip.tile);
    }
    ROLE_CALL(f, tmaring_issue_ordinary_run(e, &f->issue, &f->fill, f->at.stage));
    ROLE_CALL(f, tmaring_issue_run(e, &f->issue, &f->fill, f->at.stage));
    if (tmaring_trip_next(&f->trip, ROLE_WALK(e)) && tmaring_uses_tickets(ROLE_WALK(e))) {
      ROLE_POINT(f);
      ROLE_TICKET_CLAIM(e, &f->trip.tile);
    }
  }
  tmaring_cursor_next(&f->at, ROLE_ARGS(e)->stages);
  ROLE_END(f);
}

/* The results of [first, last), run by run: the aligned interior by the copy engine, head and tail by ordinary stores.
 * Tiled: the boxes of each of these rows, of which the hardware writes what lies inside the tensor. */
ROLE_FN(tmaring_store_run)(ROLE_ENV *e, tmaring_store_frame *f, const tmaring_fill *fill, tmaring_u32 stage)
{
  tmaring_run r;
  tmaring_window w;
  ROLE_BEGIN(f);
  for (f->tensor = 0; f->tensor < ROLE_ARGS(e)->output_count; ++f->tensor) {
    if (ROLE_HAS_TILED_STORES(e)) {
      for (f->run = 0; f->run < tmaring_store_copies(ROLE_OUTPUT_TILE(e, f->tensor), f); ++f->run) {
        ROLE_POINT(f);
        ROLE_STORE_TILE(e, f->tensor, stage, fill, tmaring_store_copy_at(ROLE_OUTPUT_TILE(e, f->tensor), f));
      }
    }
    if (ROLE_IS_GRID(e)) tmaring_panel_origin(ROLE_PANEL(e, ROLE_ARGS(e)->input_count), ROLE_GRID(e), fill, &f->origin);
    for (f->run = 0; f->run < ROLE_STORE_RUNS(e, f); ++f->run) {
      ROLE_POINT(f);
      r = ROLE_STORE_RUN(e, f, fill);
      if (ROLE_IS_GRID(e) && r.bytes == 0) continue;
      if (!ROLE_HAS_EDGES(e)) {
        ROLE_STORE(e, f->tensor, stage, r.offset, r.address, r.bytes);
        continue;
      }
      w = tmaring_run_store_window(&r);
      ROLE_STORE_EDGE(e, f->tensor, stage, r.offset, r.address, w.head);
      ROLE_STORE_EDGE(e, f->tensor, stage, r.offset + r.bytes - w.tail, r.address + r.bytes - w.tail, w.tail);
      if (w.bytes > 0) {
        ROLE_STORE(e, f->tensor, stage, r.offset + w.head, w.begin, w.bytes);
      }
    }
  }
  ROLE_END(f);
}

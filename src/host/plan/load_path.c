#include "load_path.h"

#include "../base/detail.h"

/* ---- what a tensor map needs ---- */

static tmaring_status refuse(const char *name, const char *what, const char *field, long long got, const char *needs)
{
  return tmaring__fail(TMARING_ERROR_UNSUPPORTED, "%s: %s tile: %s: got %lld, needs %s", name, what, field, got, needs);
}

/* The copy engine stores whole 16-byte units: the rest of the last one would go behind the row. */
static tmaring_status check_stored_row(const tmaring__facts *facts, int32_t output)
{
  const int64_t bytes = (int64_t)facts->cols * facts->output[output].elem_bytes;
  if (bytes % 16 == 0) return TMARING_OK;
  return tmaring__fail(
      TMARING_ERROR_UNSUPPORTED,
      "%s: store tile: row: got N = %d, %lld bytes, needs a multiple of 16 bytes, the unit of stores by "
      "tensor maps; pad N, or take store bulk",
      tmaring__facts_name(facts, TMARING__SLOT_OUTPUT, output), facts->cols, (long long)bytes);
}

/* `what`: load or store. */
static tmaring_status check_tiled(const tmaring__facts *facts, tmaring__slot_kind kind, int32_t index)
{
  const int output = kind == TMARING__SLOT_OUTPUT;
  const tmaring_stream *s = output ? &facts->output[index] : &facts->input[index];
  const char *name = tmaring__facts_name(facts, kind, index), *what = output ? "store" : "load";
  const uint32_t alignment = output ? facts->output_alignment[index] : facts->input_alignment[index];
  if (alignment % 16 != 0)
    return refuse(name, what, "base alignment in bytes", (long long)alignment,
                  "16; align the tensor, or take another path");
  if (s->group_rows > 0)
    return refuse(name, what, "rows per group", s->group_rows,
                  "rows of one pitch: a tensor map has one stride for them; take another path");
  if (s->pitch % 16 != 0)
    return refuse(name, what, "stride in bytes between rows", (long long)s->pitch,
                  "a multiple of 16; pad the pitch, or take another path");
  if (s->pitch >= (int64_t)1 << 40)
    return refuse(name, what, "stride in bytes between rows", (long long)s->pitch, "less than 2^40");
  if (s->elem_bytes > 8)
    return refuse(name, what, "bytes of a pair of elements", (long long)s->elem_bytes,
                  "8: an element of a tensor map has no more; take another path");
  return TMARING_OK;
}

tmaring_status tmaring__store_tiles_check(const tmaring__facts *facts)
{
  for (int32_t i = 0; i < facts->program->output_count; ++i) {
    TMARING__TRY(check_tiled(facts, TMARING__SLOT_OUTPUT, i));
    TMARING__TRY(check_stored_row(facts, i));
  }
  return TMARING_OK;
}

/* ---- inputs ---- */

/* 1 where single elements of the input are picked from the stage. */
static int is_gathered(const tmaring__program *p, int32_t input)
{
  for (int32_t i = 0; i < p->node_count; ++i) {
    if (p->node[i].op == TMARING__OP_GATHER && p->node[p->node[i].arg[0]].index == input) return 1;
  }
  return 0;
}

/* 1 where every row is whole units of the least that cp.async copies. */
static int is_in_words(const tmaring__facts *facts, int32_t input)
{
  const tmaring_stream *s = &facts->input[input];
  const int64_t row = (int64_t)facts->cols * s->elem_bytes;
  return ((int64_t)facts->input_alignment[input] | s->pitch | s->group_pitch | row) % 4 == 0;
}

static tmaring_status decide_one(tmaring__decision *d, const tmaring__facts *facts, int32_t input,
                                 tmaring__notes *notes)
{
  const char *name = tmaring__facts_name(facts, TMARING__SLOT_INPUT, input);
  if (d->load[input] == TMARING_LOAD_TILE) return check_tiled(facts, TMARING__SLOT_INPUT, input);
  if (d->load[input] == TMARING_LOAD_ASYNC && !is_in_words(facts, input))
    tmaring__note_add(notes,
                      "%s: load async: rows are no whole 4 bytes, the least that cp.async copies: their ends go by "
                      "ordinary loads",
                      name);
  if (d->load[input] == TMARING_LOAD_DIRECT && is_gathered(facts->program, input)) {
    tmaring__note_add(notes, "%s: load direct -> bulk: single elements of it are picked from the stage", name);
    d->load[input] = TMARING_LOAD_BULK;
  }
  return TMARING_OK;
}

static int32_t asked(const tmaring_plan_options *o, int32_t input)
{
  if (o->loads[input] != TMARING_AUTO) return o->loads[input];
  return o->load != TMARING_AUTO ? o->load : TMARING_LOAD_BULK;
}

tmaring_status tmaring__load_decide(tmaring__decision *decision, const tmaring_plan_options *options,
                                    const tmaring__facts *facts, tmaring__notes *notes)
{
  const int32_t count = facts->program->input_count;
  for (int32_t i = 0; i < count; ++i) {
    decision->load[i] = asked(options, i);
    TMARING__TRY(decide_one(decision, facts, i, notes));
  }
  for (int32_t i = count; i < TMARING_MAX_STREAMS; ++i) {
    if (options->loads[i] == TMARING_AUTO) continue;
    tmaring__note_add(notes, "loads[%d]: left out: the formula streams %d input%s", (int)i, (int)count,
                      count == 1 ? "" : "s");
  }
  if (count > 0 && tmaring__decision_ring_inputs(decision, facts) == 0)
    tmaring__note_add(notes, "load direct: no input goes through the ring, whose fills then carry no bytes");
  return TMARING_OK;
}

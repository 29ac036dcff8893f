/* What holds for the whole launch: roles, scope, arrival counts and the map of shared memory. */
#include "../base/detail.h"
#include "check_args.h"
#include "tmaring/abi/frames.h"

#define REFUSE(...) return tmaring__fail(TMARING_ERROR_CHECK, __VA_ARGS__)

static tmaring_status check_roles(const tmaring_args *a, const tmaring__code *code)
{
  const int32_t fault = tmaring_cta_fault(&a->cta), warps = tmaring_cta_squad_warps(&a->cta);
  const uint32_t lag = tmaring_ring_store_lag(a->stages, a->distance, tmaring_squad_gap(&a->cta, &a->walk));
  if (fault) REFUSE("cta: the warp of thread %d mixes roles; roles go by whole warps", fault - 1);
  if (a->cta.mode != code->mode) REFUSE("code.mode: got %d, the CTA has %d; they must agree", code->mode, a->cta.mode);
  if (a->stages < 1 || a->stages > TMARING_MAX_STAGES)
    REFUSE("stages: got %u, needs 1 to %d", a->stages, TMARING_MAX_STAGES);
  if (a->distance >= a->stages) REFUSE("distance: got %u, needs less than %u stages", a->distance, a->stages);
  if (a->store_lag != lag) REFUSE("store_lag: got %u, needs %u", a->store_lag, lag);
  if (warps < 1 || tmaring_ring_empty_count(a->cta.release, (uint32_t)warps) == 0)
    REFUSE("cta: got no consumer warp, needs one");
  if (code->max_threads && tmaring_cta_threads(&a->cta) > code->max_threads) {
    REFUSE("cta: got %d threads, the kernel is bound to %d", tmaring_cta_threads(&a->cta), code->max_threads);
  }
  return TMARING_OK;
}

/* Squads: whole ones, each with fills of its own. */
static tmaring_status check_squads(const tmaring_args *a, const tmaring__code *code)
{
  const int32_t squads = tmaring_cta_squads(&a->cta), kernel = code->squads > 1 ? code->squads : 1;
  if (squads != kernel) REFUSE("cta.squads: got %d, the kernel has %d", squads, kernel);
  if (squads == 1) return TMARING_OK;
  if (squads > 2 || a->cta.mode != TMARING_MODE_WARP_SPECIALIZED || tmaring_cta_consumer_warps(&a->cta) % squads != 0)
    REFUSE("cta.squads: got %d of %d consumer warps, needs 2 of as many warps each, and a producer", squads,
           tmaring_cta_consumer_warps(&a->cta));
  if (!a->cta.turns && a->walk.chunk != squads)
    REFUSE("walk.chunk: got %d, squads that share tiles need %d fills of rows in each", a->walk.chunk, squads);
  if (!a->cta.turns && a->column_output_count > 0)
    REFUSE("cta.turns: squads that reduce columns take tiles in turn, a chunk is one squad's");
  if (tmaring_uses_tickets(&a->walk) && tmaring_squad_turn(&a->cta, &a->walk) != 1)
    REFUSE("walk.order: got tickets and turns of %u fills; an end mark takes one",
           tmaring_squad_turn(&a->cta, &a->walk));
  return TMARING_OK;
}

static tmaring_status check_units(const tmaring_args *a, const tmaring__code *code)
{
  const tmaring_scope *s = &a->scope;
  const int32_t warps = tmaring_cta_squad_warps(&a->cta), units = s->warps_per_row > 0 ? warps / s->warps_per_row : 0,
                most = TMARING_MAX_GROUP_UNITS_OF(a->cta.squads);
  const int32_t rows = a->walk.tile_rows;
  if (units < 1 || warps % s->warps_per_row != 0) {
    REFUSE("warps_per_row: got %d, needs a divisor of %d consumer warps", s->warps_per_row, warps);
  }
  if (s->warps_per_row > 1 && (!code->group || s->lanes_log2 != 5 || units > most)) {
    REFUSE("scope: got %d units of %d warps, needs a group kernel, whole warps and at most %d units", units,
           s->warps_per_row, most);
  }
  if (s->lanes_log2 < 0 || s->lanes_log2 > 5) REFUSE("lanes_log2: got %d, needs 0 to 5", s->lanes_log2);
  if (s->kind != TMARING_SCOPE_FLAT && (int64_t)units * s->unit_rows < rows) {
    REFUSE("unit_rows: got %d in %d units, a fill has %d rows; every row needs a unit", s->unit_rows, units, rows);
  }
  return TMARING_OK;
}

static tmaring_status check_scope(const tmaring_args *a, const tmaring__code *code, const tmaring__program *program)
{
  const tmaring_scope *s = &a->scope;
  const int64_t elems = (int64_t)a->walk.tile_rows * (a->walk.pieces > 1 ? a->walk.piece_cols : a->walk.cols);
  const int64_t held =
      (int64_t)tmaring_cta_squad_warps(&a->cta) * s->chunk_vecs * s->vec - (code->aligned ? 0 : s->vec - 1);
  if (s->vec != code->vec || (s->vec != 2 && s->vec != 4 && s->vec != 8))
    REFUSE("vec: got %d, the kernel has %d; needs 2, 4 or 8", s->vec, code->vec);
  if (s->fixed != code->fixed) REFUSE("scope.fixed: got %d, the kernel has %d", s->fixed, code->fixed);
  if ((s->kind == TMARING_SCOPE_FLAT) != (code->flat != 0))
    REFUSE("scope: got kind %d, the kernel's flat is %d", s->kind, code->flat);
  if (s->kind == TMARING_SCOPE_FLAT && held < elems) {
    REFUSE("chunk_vecs: got %d, the warps hold %lld elements of %lld", s->chunk_vecs, (long long)held,
           (long long)elems);
  }
  if (s->kind == TMARING_SCOPE_FLAT && program->reduction_passes > 0) REFUSE("scope: got flat, a reduction needs rows");
  if (a->walk.pieces > 1 && a->walk.piece_cols % s->vec != 0)
    REFUSE("piece_cols: got %d, needs whole vectors of %d", a->walk.piece_cols, s->vec);
  if (a->walk.pieces > 1 && !a->walk.spread && !code->pieces)
    REFUSE("code.pieces: got 0, rows are cut into %d", a->walk.pieces);
  if (a->walk.pieces > 1 && a->walk.tile_rows > 1 && (!a->walk.spread || !code->strips))
    REFUSE("tile_rows: got %d with %d pieces, needs 1, or pieces that are tiles and a kernel for strips",
           a->walk.tile_rows, a->walk.pieces);
  if (code->pieces && a->walk.passes != program->passes)
    REFUSE("passes: got %d, the formula has %d", a->walk.passes, program->passes);
  return TMARING_OK;
}

/* Lanes that share a group are neighbours in one warp and hold all of it; no piece ends within one. */
static tmaring_status check_groups(const tmaring_args *a, const tmaring__program *program)
{
  const tmaring_scope *s = &a->scope;
  const int32_t least = program->group_cols_least, most = program->group_cols_most;
  const int64_t row = tmaring_ceil_div(a->walk.cols, s->vec) * s->vec;
  if (most == 0) return TMARING_OK;
  if (!s->fixed || s->kind == TMARING_SCOPE_FLAT) REFUSE("scope: groups of columns need fixed frames of single rows");
  if (least < s->vec || most > 32 * s->vec)
    REFUSE("groups: got %d .. %d columns, needs %d .. %d with vectors of %d", least, most, s->vec, 32 * s->vec, s->vec);
  if (tmaring_scope_lanes(s) * (int64_t)s->vec < tmaring_min_i64(most, row))
    REFUSE("lanes: got %d of %d elements, a group has %d columns; lanes of a row hold whole groups",
           tmaring_scope_lanes(s), s->vec, most);
  if (tmaring_walk_fill_cols(&a->walk) < a->walk.cols && a->walk.piece_cols % most != 0)
    REFUSE("piece_cols: got %d, needs whole groups of %d", a->walk.piece_cols, most);
  return TMARING_OK;
}

/* CTAs that share rows: they meet at a barrier of the cluster equally often, and their slices are the row. */
static tmaring_status check_cluster(const tmaring_args *a, const tmaring__code *code)
{
  const tmaring_walk *w = &a->walk;
  const int shared = tmaring_walk_shared(w);
  if (shared != (code->cluster != 0) || shared != (a->scope.kind == TMARING_SCOPE_CLUSTER))
    REFUSE("cluster: got %d CTAs per row, scope kind %d and code.cluster %d; they must agree", w->cluster,
           a->scope.kind, code->cluster);
  if (!shared) return TMARING_OK;
  if (w->cluster > TMARING_MAX_CLUSTER || w->rank != 0)
    REFUSE("cluster: got %d CTAs and rank %d, needs 2 to %d and rank 0 in the arguments", w->cluster, w->rank,
           TMARING_MAX_CLUSTER);
  if (a->cta.mode != TMARING_MODE_PIPELINED || tmaring_uses_tickets(w) || !code->group ||
      a->scope.warps_per_row != tmaring_cta_consumer_warps(&a->cta))
    REFUSE(
        "cluster: needs a pipelined CTA all of whose %d warps share a row, and a static order; got mode %d, %d warps "
        "per row, order %d",
        tmaring_cta_consumer_warps(&a->cta), a->cta.mode, a->scope.warps_per_row, w->order);
  if (w->tile_rows != 1 || w->chunk != 1 || w->pieces != 1 || a->column_output_count > 0)
    REFUSE("cluster: got %d rows, %d fills and %d pieces per tile, needs 1 of each and no column reductions",
           w->tile_rows, w->chunk, w->pieces);
  if (w->piece_cols % a->scope.vec != 0 || (int64_t)(w->cluster - 1) * w->piece_cols >= w->cols ||
      (int64_t)w->cluster * w->piece_cols < w->cols)
    REFUSE(
        "piece_cols: got %d, needs whole vectors of %d, of which %d CTAs hold the %d columns and none is left without",
        w->piece_cols, a->scope.vec, w->cluster, w->cols);
  return TMARING_OK;
}

/* Column reductions: chunks of rows are tiles, and threads keep to their columns. */
static tmaring_status check_columns(const tmaring_args *a, const tmaring__code *code)
{
  const tmaring_smem *m = &a->smem;
  const int64_t row = tmaring_column_stride(a) * (code->wide ? 8 : 4);
  const uint64_t bytes =
      (uint64_t)(tmaring_cta_squads(&a->cta) * tmaring_column_seats(a) * a->column_output_count * row);
  const int shared_tiles = tmaring_cta_squads(&a->cta) > 1 && !a->cta.turns;
  if (a->walk.chunk < 1 || (a->walk.chunk > 1 && a->column_output_count == 0 && !shared_tiles))
    REFUSE("walk.chunk: got %d, needs 1 where no column is reduced", a->walk.chunk);
  if (a->column_output_count == 0) return TMARING_OK;
  if (!a->scope.fixed || a->scope.kind == TMARING_SCOPE_FLAT)
    REFUSE("scope: column reductions need fixed frames of single rows");
  if (a->columns_staged && (m->columns % 16 != 0 || m->columns + bytes > m->stages)) {
    REFUSE("smem.columns: got %u, needs a multiple of 16 and %llu bytes in front of the stages at %u", m->columns,
           (unsigned long long)bytes, m->stages);
  }
  return TMARING_OK;
}

/* CTAs that load [N] inputs together: whole clusters of them, and vectors that a bulk copy can take. */
static tmaring_status check_multicast(const tmaring_args *a, const tmaring__code *code)
{
  const int32_t ctas = a->multicast > 1 ? a->multicast : 1;
  if ((ctas > 1) != (code->multicast != 0)) REFUSE("multicast: got %d CTAs, code.multicast %d", ctas, code->multicast);
  if (ctas == 1) return TMARING_OK;
  if (ctas > TMARING_MAX_CLUSTER || a->walk.workers % ctas != 0 || tmaring_walk_shared(&a->walk))
    REFUSE("multicast: got %d CTAs of %d, needs 2 to %d that divide them, and rows of one CTA", ctas, a->walk.workers,
           TMARING_MAX_CLUSTER);
  if (a->vector_count == 0 || a->smem.vector_full != a->smem.vectors)
    REFUSE("multicast: got %d vectors and their barrier at %u, needs one and %u", a->vector_count, a->smem.vector_full,
           a->smem.vectors);
  for (int32_t i = 0; i < a->vector_count; ++i) {
    if (a->vector[i].smem == TMARING_NOT_STAGED || a->vector[i].base % TMARING_BULK != 0)
      REFUSE("vector %d: multicast needs it in shared memory, and from a multiple of 16", i);
  }
  return TMARING_OK;
}

static tmaring_status check_vectors(const tmaring_args *a)
{
  uint32_t end = a->smem.vectors + (a->multicast > 1 ? 16 : 0);
  for (int32_t i = 0; i < a->vector_count; ++i) {
    const tmaring_vector *v = &a->vector[i];
    const uint64_t bytes = (uint64_t)a->walk.cols * tmaring_dtype_bytes(v->dtype);
    if (v->smem == TMARING_NOT_STAGED) continue;
    if (v->smem % 16 != 0 || v->smem < end || v->smem + bytes > a->smem.columns) {
      REFUSE("vector %d: got shared bytes [%u, %llu), needs a multiple of 16 in [%u, %u)", i, v->smem,
             (unsigned long long)(v->smem + bytes), end, a->smem.columns);
    }
    end = (uint32_t)(v->smem + bytes);
  }
  return TMARING_OK;
}

static tmaring_status check_map(const tmaring_args *a, const tmaring__code *code, uint32_t smem_limit)
{
  const tmaring_smem *m = &a->smem;
  const uint32_t warps = code->group ? (uint32_t)tmaring_cta_consumer_warps(&a->cta) : 0;
  tmaring_smem due;
  tmaring_smem_layout(&due, a->stages, m->stage_bytes, 0, 0, warps);
  if (m->full != due.full || m->empty != due.empty || m->tickets != due.tickets || m->scratch != due.scratch ||
      m->vectors < due.vectors || m->vectors % 16 != 0 || m->columns < m->vectors || m->stages < m->columns ||
      m->stages % 128 != 0 || m->stage_bytes % 128 != 0) {
    REFUSE(
        "smem: got barriers at %u and %u, tickets %u, scratch %u, vectors %u, columns %u, stages %u; needs %u, %u, %u, "
        "%u, from %u, and stages from a multiple of 128",
        m->full, m->empty, m->tickets, m->scratch, m->vectors, m->columns, m->stages, due.full, due.empty, due.tickets,
        due.scratch, due.vectors);
  }
  if (m->total < m->stages + (uint64_t)a->stages * m->stage_bytes || m->total > smem_limit) {
    REFUSE("smem.total: got %u, needs %llu for the stages and at most %u", m->total,
           (unsigned long long)(m->stages + (uint64_t)a->stages * m->stage_bytes), smem_limit);
  }
  return check_vectors(a);
}

/* What is read directly has no slot: its bytes are 0. */
static int overlap(const tmaring_stream *a, const tmaring_stream *b)
{
  return a->slot_bytes > 0 && b->slot_bytes > 0 && a->slot < b->slot + b->slot_bytes &&
         b->slot < a->slot + a->slot_bytes;
}

/* Rows that lie apart, in memory and in the slot: each with room for its window at any place modulo 16, so that the
 * fills need not be looked at for it. */
static tmaring_status check_apart(const tmaring_args *a, const tmaring__code *code, const tmaring_stream *s,
                                  const char *what, int32_t index)
{
  const int64_t row = (int64_t)tmaring_walk_fill_cols(&a->walk) * s->elem_bytes;
  const int32_t cols = tmaring_walk_fill_cols(&a->walk);
  const uint64_t piece = cols < a->walk.cols ? (uint64_t)row : 0;
  const int placed = (s->base | (uint64_t)s->pitch | (uint64_t)s->group_pitch | piece) % TMARING_BULK == 0;
  const int64_t due = (int64_t)tmaring_run_slot_row((tmaring_u32)row, code->aligned || placed);
  if (s->slot_row % TMARING_BULK != 0 || s->slot_row < due ||
      (int64_t)s->slot_row * a->walk.tile_rows > s->slot_bytes) {
    REFUSE("%s %d: got %u bytes per row in a slot of %u, needs a multiple of 16 from %lld on, for %d rows", what, index,
           s->slot_row, s->slot_bytes, (long long)due, a->walk.tile_rows);
  }
  return TMARING_OK;
}

static tmaring_status check_strides(const tmaring_args *a, const tmaring__code *code, const tmaring_stream *s,
                                    const char *what, int32_t index)
{
  const int64_t row = (int64_t)a->walk.cols * s->elem_bytes;
  const int many = a->walk.tile_rows > 1, grouped = s->group_rows > 0;
  if (grouped && (!code->grouped || a->walk.rows > 2147483647 || s->group_rows > 1 << 30))
    REFUSE("%s %d: got groups of %d rows, needs a kernel for them and at most 2147483647 rows", what, index,
           s->group_rows);
  if (grouped && (s->group_rows - 1) * s->pitch + row > s->group_pitch)
    REFUSE("%s %d: got groups %lld bytes apart, their rows span more", what, index, (long long)s->group_pitch);
  if (s->dense && tmaring_walk_strips(&a->walk))
    REFUSE("%s %d: dense, though a fill holds pieces of rows", what, index);
  if (s->dense && many && s->path != TMARING_LOAD_TILE && (grouped || s->pitch != row))
    REFUSE("%s %d: dense, though rows of %lld bytes lie %lld apart", what, index, (long long)row, (long long)s->pitch);
  if (code->flat && many && !s->dense) REFUSE("%s %d: its rows lie apart; a flat scope takes them as one", what, index);
  if (code->aligned && (s->base | (uint64_t)s->pitch | (uint64_t)s->group_pitch | (uint64_t)row) % TMARING_BULK != 0)
    REFUSE("%s %d: base, pitch %lld, group pitch %lld or row modulo 16 is not 0, the kernel is for aligned rows", what,
           index, (long long)s->pitch, (long long)s->group_pitch);
  return TMARING_OK;
}

static tmaring_status check_slot(const tmaring_args *a, const tmaring__code *code, const tmaring_stream *s,
                                 const char *what, int32_t index)
{
  if (s->elem_bytes != tmaring_dtype_bytes(s->dtype) << (s->paired ? 1 : 0)) {
    REFUSE("%s %d: got elements of %u bytes, its type has %u%s", what, index, s->elem_bytes,
           tmaring_dtype_bytes(s->dtype), s->paired ? ", in pairs" : "");
  }
  if (s->slot % 128 != 0 || (uint64_t)s->slot + s->slot_bytes > a->smem.stage_bytes) {
    REFUSE("%s %d: got slot bytes [%u, %llu), needs a multiple of 128 in a stage of %u", what, index, s->slot,
           (unsigned long long)s->slot + s->slot_bytes, a->smem.stage_bytes);
  }
  return s->slot_bytes == 0 || (s->dense && s->group_rows == 0) ? TMARING_OK : check_apart(a, code, s, what, index);
}

/* An output shares an input's slot (in place) or overlaps none. */
static tmaring_status check_output_slot(const tmaring_args *a, const tmaring__code *code, int32_t index)
{
  const tmaring_stream *s = &a->output[index];
  TMARING__TRY(check_slot(a, code, s, "output", index));
  for (int32_t i = 0; i < a->input_count; ++i) {
    const tmaring_stream *in = &a->input[i];
    const int shared = s->slot == in->slot && in->slot_bytes > 0;
    if (shared && in->paired) REFUSE("output %d: staged over input %d, which is read in pairs", index, i);
    if (shared &&
        (s->elem_bytes != in->elem_bytes || s->dense != in->dense || (!s->dense && s->slot_row != in->slot_row))) {
      REFUSE("output %d: staged over input %d of another layout", index, i);
    }
    if (!shared && overlap(s, in)) REFUSE("output %d: its slot overlaps that of input %d", index, i);
  }
  for (int32_t i = 0; i < index; ++i) {
    if (overlap(s, &a->output[i])) REFUSE("output %d: its slot overlaps that of output %d", index, i);
  }
  return TMARING_OK;
}

static tmaring_status check_streams(const tmaring_args *a, const tmaring__code *code, const tmaring__program *program)
{
  for (int32_t i = 0; i < a->input_count; ++i) {
    const tmaring_stream *s = &a->input[i];
    if (s->paired != program->paired[i])
      REFUSE("input %d: got paired %d, the formula has %d", i, s->paired, program->paired[i]);
    if ((s->path == TMARING_LOAD_DIRECT) != (s->slot_bytes == 0))
      REFUSE("input %d: got path %d and a slot of %u bytes; what is read directly has none", i, s->path, s->slot_bytes);
    TMARING__TRY(check_slot(a, code, s, "input", i));
    TMARING__TRY(check_strides(a, code, s, "input", i));
    for (int32_t j = 0; j < i; ++j) {
      if (overlap(s, &a->input[j])) REFUSE("input %d: its slot overlaps that of input %d", i, j);
    }
  }
  for (int32_t i = 0; i < a->output_count; ++i) {
    if (a->output[i].paired) REFUSE("output %d: got pairs, only inputs come in pairs", i);
    TMARING__TRY(check_strides(a, code, &a->output[i], "output", i));
    if (code->staged) TMARING__TRY(check_output_slot(a, code, i));
  }
  return TMARING_OK;
}

tmaring_status tmaring__check_layout(const tmaring_args *args, const tmaring__code *code,
                                     const tmaring__program *program, uint32_t smem_limit)
{
  if (args->abi_version != TMARING_ABI_VERSION) {
    REFUSE("abi_version: got %u, needs %d", args->abi_version, TMARING_ABI_VERSION);
  }
  TMARING__TRY(check_roles(args, code));
  TMARING__TRY(check_squads(args, code));
  TMARING__TRY(check_units(args, code));
  TMARING__TRY(check_scope(args, code, program));
  TMARING__TRY(check_groups(args, program));
  TMARING__TRY(check_cluster(args, code));
  TMARING__TRY(check_map(args, code, smem_limit));
  TMARING__TRY(check_multicast(args, code));
  TMARING__TRY(check_columns(args, code));
  return check_streams(args, code, program);
}

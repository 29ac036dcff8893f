/* What holds for the whole launch: roles, scope, arrival counts and the map of shared memory. */
#include "../base/detail.h"
#include "check_args.h"
#include "tmaring/abi/frames.h"

#define REFUSE(...) return tmaring__fail(TMARING_ERROR_CHECK, __VA_ARGS__)

static tmaring_status check_roles(const tmaring_args *a, const tmaring__code *code)
{
  const int32_t fault = tmaring_cta_fault(&a->cta), warps = tmaring_cta_consumer_warps(&a->cta);
  const uint32_t lag = tmaring_ring_store_lag(a->stages, a->distance);
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

static tmaring_status check_units(const tmaring_args *a, const tmaring__code *code)
{
  const tmaring_scope *s = &a->scope;
  const int32_t warps = tmaring_cta_consumer_warps(&a->cta),
                units = s->warps_per_row > 0 ? warps / s->warps_per_row : 0;
  const int32_t rows = a->walk.pieces > 1 ? 1 : a->walk.tile_rows;
  if (units < 1 || warps % s->warps_per_row != 0) {
    REFUSE("warps_per_row: got %d, needs a divisor of %d consumer warps", s->warps_per_row, warps);
  }
  if (s->warps_per_row > 1 && (!code->group || s->lanes_log2 != 5 || units > TMARING_MAX_GROUP_UNITS)) {
    REFUSE("scope: got %d units of %d warps, needs a group kernel, whole warps and at most %d units", units,
           s->warps_per_row, TMARING_MAX_GROUP_UNITS);
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
  const int64_t elems = a->walk.pieces > 1 ? a->walk.piece_cols : (int64_t)a->walk.tile_rows * a->walk.cols;
  const int64_t held =
      (int64_t)tmaring_cta_consumer_warps(&a->cta) * s->chunk_vecs * s->vec - (code->aligned ? 0 : s->vec - 1);
  if (s->vec != code->vec || (s->vec != 4 && s->vec != 8))
    REFUSE("vec: got %d, the kernel has %d; needs 4 or 8", s->vec, code->vec);
  if ((s->kind == TMARING_SCOPE_FLAT) != (code->flat != 0))
    REFUSE("scope: got kind %d, the kernel's flat is %d", s->kind, code->flat);
  if (s->kind == TMARING_SCOPE_FLAT && held < elems) {
    REFUSE("chunk_vecs: got %d, the warps hold %lld elements of %lld", s->chunk_vecs, (long long)held,
           (long long)elems);
  }
  if (s->kind == TMARING_SCOPE_FLAT && program->reduction_passes > 0) REFUSE("scope: got flat, a reduction needs rows");
  if (a->walk.pieces > 1 && !a->walk.spread && !code->pieces)
    REFUSE("code.pieces: got 0, rows are cut into %d", a->walk.pieces);
  if (code->pieces && a->walk.passes != program->passes)
    REFUSE("passes: got %d, the formula has %d", a->walk.passes, program->passes);
  return TMARING_OK;
}

static tmaring_status check_vectors(const tmaring_args *a)
{
  uint32_t end = a->smem.vectors;
  for (int32_t i = 0; i < a->vector_count; ++i) {
    const tmaring_vector *v = &a->vector[i];
    const uint64_t bytes = (uint64_t)a->walk.cols * tmaring_dtype_bytes(v->dtype);
    if (v->smem == TMARING_NOT_STAGED) continue;
    if (v->smem % 16 != 0 || v->smem < end || v->smem + bytes > a->smem.stages) {
      REFUSE("vector %d: got shared bytes [%u, %llu), needs a multiple of 16 in [%u, %u)", i, v->smem,
             (unsigned long long)(v->smem + bytes), end, a->smem.stages);
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
  tmaring_smem_layout(&due, a->stages, m->stage_bytes, 0, warps);
  if (m->full != due.full || m->empty != due.empty || m->tickets != due.tickets || m->scratch != due.scratch ||
      m->vectors < due.vectors || m->vectors % 16 != 0 || m->stages < due.stages || m->stages % 128 != 0 ||
      m->stage_bytes % 128 != 0) {
    REFUSE("smem: got barriers at %u and %u, tickets %u, scratch %u, vectors %u, stages %u; needs %u, %u, %u, %u, from "
           "%u, from %u",
           m->full, m->empty, m->tickets, m->scratch, m->vectors, m->stages, due.full, due.empty, due.tickets,
           due.scratch, due.vectors, due.stages);
  }
  if (m->total < m->stages + (uint64_t)a->stages * m->stage_bytes || m->total > smem_limit) {
    REFUSE("smem.total: got %u, needs %llu for the stages and at most %u", m->total,
           (unsigned long long)(m->stages + (uint64_t)a->stages * m->stage_bytes), smem_limit);
  }
  return check_vectors(a);
}

static int overlap(const tmaring_stream *a, const tmaring_stream *b)
{
  return a->slot < b->slot + b->slot_bytes && b->slot < a->slot + a->slot_bytes;
}

static tmaring_status check_slot(const tmaring_args *a, const tmaring_stream *s, const char *what, int32_t index)
{
  if (s->elem_bytes != tmaring_dtype_bytes(s->dtype)) {
    REFUSE("%s %d: got elements of %u bytes, its type has %u", what, index, s->elem_bytes,
           tmaring_dtype_bytes(s->dtype));
  }
  if (s->slot % 128 != 0 || (uint64_t)s->slot + s->slot_bytes > a->smem.stage_bytes) {
    REFUSE("%s %d: got slot bytes [%u, %llu), needs a multiple of 128 in a stage of %u", what, index, s->slot,
           (unsigned long long)s->slot + s->slot_bytes, a->smem.stage_bytes);
  }
  return TMARING_OK;
}

/* An output shares an input's slot (in place) or overlaps none. */
static tmaring_status check_output_slot(const tmaring_args *a, int32_t index)
{
  const tmaring_stream *s = &a->output[index];
  TMARING__TRY(check_slot(a, s, "output", index));
  for (int32_t i = 0; i < a->input_count; ++i) {
    const tmaring_stream *in = &a->input[i];
    const int shared = s->slot == in->slot;
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

static tmaring_status check_slots(const tmaring_args *a, const tmaring__code *code)
{
  for (int32_t i = 0; i < a->input_count; ++i) {
    TMARING__TRY(check_slot(a, &a->input[i], "input", i));
    for (int32_t j = 0; j < i; ++j) {
      if (overlap(&a->input[i], &a->input[j])) REFUSE("input %d: its slot overlaps that of input %d", i, j);
    }
  }
  for (int32_t i = 0; code->staged && i < a->output_count; ++i) TMARING__TRY(check_output_slot(a, i));
  return TMARING_OK;
}

tmaring_status tmaring__check_layout(const tmaring_args *args, const tmaring__code *code,
                                     const tmaring__program *program, uint32_t smem_limit)
{
  if (args->abi_version != TMARING_ABI_VERSION) {
    REFUSE("abi_version: got %u, needs %d", args->abi_version, TMARING_ABI_VERSION);
  }
  TMARING__TRY(check_roles(args, code));
  TMARING__TRY(check_units(args, code));
  TMARING__TRY(check_scope(args, code, program));
  TMARING__TRY(check_map(args, code, smem_limit));
  return check_slots(args, code);
}

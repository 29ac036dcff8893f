/* A plan as JSON. Integers are exact. */
#include <jansson.h>
#include <stdio.h>

#include "json_text.h"
#include "path_text.h"
#include "plan_view.h"

static json_t *machine_json(const tmaring_machine *m)
{
  return json_pack("{ss,s[ii],si,si,si,sI}", "name", m->name, "compute_capability", m->compute_major, m->compute_minor,
                   "sm_count", m->sm_count, "smem_per_block_bytes", m->smem_per_block_bytes, "smem_per_sm_bytes",
                   m->smem_per_sm_bytes, "l2_bytes", (json_int_t)m->l2_bytes);
}

static json_t *tensors_json(const tmaring__job *job)
{
  json_t *const list = json_array();
  char shape[24];
  for (int32_t i = 0; i < job->count; ++i) {
    const tmaring_tensor *const t = &job->tensor[i];
    json_array_append_new(
        list,
        json_pack("{ss,sb,ss,ss,sI,sI,sI,sI,sI}", "name", job->parameter[i].name, "output", job->parameter[i].is_output,
                  "shape", tmaring__shape_word(&job->parameter[i], shape), "type", tmaring_dtype_name(t->dtype),
                  "pitch_elems", (json_int_t)(t->pitch ? t->pitch : t->cols), "step_elems",
                  (json_int_t)(t->step ? t->step : 1), "group_rows", (json_int_t)t->group_rows, "group_pitch_elems",
                  (json_int_t)t->group_pitch, "alignment_bytes", (json_int_t)(t->alignment ? t->alignment : 16)));
  }
  return list;
}

static json_t *walk_json(const tmaring__plan_view *view)
{
  const tmaring_walk *const w = &view->args.walk;
  return json_pack("{ss,ss,si,sI,sI,sI,sI,si,si,si,si,si,si,sb,si}", "order",
                   tmaring__word_text(tmaring__words_order, w->order), "policy",
                   tmaring__word_text(tmaring__words_policy, w->policy), "workers", w->workers, "tiles",
                   (json_int_t)w->tiles, "slots_per_worker", (json_int_t)w->slots, "slots", (json_int_t)view->slots,
                   "surplus_slots", (json_int_t)view->surplus, "tile_rows", w->tile_rows, "chunk", w->chunk, "pieces",
                   w->pieces, "piece_cols", w->piece_cols, "passes", w->passes, "fills_per_tile", view->fills_per_tile,
                   "spread", w->spread, "cluster", w->cluster);
}

static json_t *ring_json(const tmaring__plan_view *view)
{
  const tmaring_args *const a = &view->args;
  return json_pack("{sI,sI,sI,sI,sI,sI,ss,sI}", "stages", (json_int_t)a->stages, "stage_bytes",
                   (json_int_t)a->smem.stage_bytes, "prefetch", (json_int_t)a->distance, "lead_fills",
                   (json_int_t)a->distance + 1, "full_count", (json_int_t)view->full_count, "empty_count",
                   (json_int_t)view->empty_count, "release", tmaring__word_text(tmaring__words_release, a->cta.release),
                   "store_lag", (json_int_t)a->store_lag);
}

static json_t *cta_json(const tmaring__plan_view *view)
{
  const tmaring_cta *const c = &view->args.cta;
  const tmaring_plan_info *const i = &view->info;
  json_t *const json =
      json_pack("{ss,si,s[iii],si,si,si,s[ii],sb}", "mode", tmaring__mode_text(c), "threads", i->threads, "consumers",
                c->consumers[0], c->consumers[1], c->consumers[2], "slab", c->slab, "squads", c->squads, "ctas_per_sm",
                i->ctas_per_sm, "registers", i->registers[0], i->registers[1], "debug", i->debug);
  if (c->mode == TMARING_MODE_PIPELINED)
    json_object_set_new(json, "war", json_string(tmaring__word_text(tmaring__words_war, c->war)));
  if (c->squads > 1)
    json_object_set_new(json, "turns", json_string(tmaring__word_text(tmaring__words_turns, c->turns)));
  return json;
}

static json_t *scope_json(const tmaring_scope *s)
{
  return json_pack("{ss,si,si,si,si,si,sb}", "kind", tmaring__word_text(tmaring__words_scope, s->kind), "vec", s->vec,
                   "lanes_per_row", tmaring_scope_lanes(s), "warps_per_row", s->warps_per_row, "unit_rows",
                   s->unit_rows, "chunk_vecs", s->chunk_vecs, "fixed", s->fixed);
}

/* Groups of columns: 0 columns where the formula has none. */
static json_t *groups_json(const tmaring__plan_view *view)
{
  const tmaring__program *const p = view->program;
  const int32_t lanes = p->group_cols_most ? tmaring_scope_group_lanes(&view->args.scope, p->group_cols_most) : 0;
  return json_pack("{si,si,si}", "cols_least", p->group_cols_least, "cols_most", p->group_cols_most, "lanes", lanes);
}

static json_t *columns_json(const tmaring__plan_view *view)
{
  const tmaring_args *const a = &view->args;
  return json_pack("{si,sI,si,sb}", "outputs", a->column_output_count, "chunks", (json_int_t)view->chunks, "seats",
                   a->column_output_count ? tmaring_column_seats(a) : 0, "staged", a->columns_staged);
}

static json_t *slots_json(const tmaring_stream *stream, int32_t count)
{
  json_t *const list = json_array();
  for (int32_t i = 0; i < count; ++i)
    json_array_append_new(
        list, json_pack("{sI,sI}", "offset", (json_int_t)stream[i].slot, "bytes", (json_int_t)stream[i].slot_bytes));
  return list;
}

static json_t *smem_json(const tmaring__plan_view *view)
{
  const tmaring_args *const a = &view->args;
  json_t *const regions = json_array();
  for (int i = 0; i < TMARING__REGIONS; ++i)
    json_array_append_new(regions,
                          json_pack("{ss,sI,sI}", "name", view->region[i].name, "offset",
                                    (json_int_t)view->region[i].offset, "bytes", (json_int_t)view->region[i].bytes));
  json_t *const json = json_pack("{sI,so,so}", "total_bytes", (json_int_t)a->smem.total, "regions", regions,
                                 "input_slots", slots_json(a->input, a->input_count));
  if (view->info.store != TMARING_STORE_DIRECT)
    json_object_set_new(json, "output_slots", slots_json(a->output, a->output_count));
  return json;
}

static json_t *loads_json(const tmaring_plan_info *info)
{
  json_t *const list = json_array();
  for (int32_t i = 0; i < info->inputs; ++i)
    json_array_append_new(list, json_string(tmaring__word_text(tmaring__words_load, info->loads[i])));
  return list;
}

/* What a copy of a tiled stream is, of the variant for this M. */
static json_t *boxes_json(const tmaring__plan_view *view)
{
  const tmaring__boxes *const boxes = &tmaring__plan_variant(view->job->plan, view->job->rows)->boxes;
  json_t *const list = json_array();
  for (int32_t i = 0; i < TMARING_MAX_TILED; ++i) {
    const tmaring_tensor_map_tiled *const map = &boxes->map[i];
    json_t *const box = json_array();
    if ((boxes->used >> i & 1) == 0) {
      json_decref(box);
      continue;
    }
    for (int32_t d = 0; d < map->rank; ++d) json_array_append_new(box, json_integer((json_int_t)map->box[d]));
    json_array_append_new(
        list, json_pack("{ss,si,so,si,si,si,sb}", "of", i < TMARING_TILED_OUTPUTS ? "input" : "output", "index",
                        i % TMARING_TILED_OUTPUTS, "box", box, "elem_bytes", (int)map->strides[0], "box_bytes",
                        (int)boxes->tile[i].box_bytes, "boxes", boxes->tile[i].boxes, "by_row", boxes->tile[i].by_row));
  }
  return list;
}

static json_t *path_json(const tmaring__plan_view *view)
{
  const tmaring_plan_info *const i = &view->info;
  return json_pack("{so,so,sb,ss,sb,si,si,sI,sf,sb,sI}", "loads", loads_json(i), "boxes", boxes_json(view), "aligned",
                   i->aligned, "store", tmaring__word_text(tmaring__words_store, i->store), "in_place", i->in_place,
                   "passes", i->passes, "reduction_passes", i->reduction_passes, "bytes_per_row",
                   (json_int_t)i->bytes_per_row, "cost_us", i->cost_us, "wide", view->wide, "workspace_bytes",
                   (json_int_t)view->workspace_bytes);
}

static json_t *variants_json(const tmaring_plan *plan)
{
  json_t *const list = json_array();
  for (int32_t k = 0; k < plan->variant_count; ++k) {
    const tmaring__variant *const v = &plan->variant[k];
    json_array_append_new(list, json_pack("{sI,sI,si,si,si,si}", "rows_limit", (json_int_t)v->rows_limit, "stages",
                                          (json_int_t)v->args.stages, "workers", v->args.walk.workers, "tile_rows",
                                          v->args.walk.tile_rows, "chunk", v->args.walk.chunk, "ctas_per_sm",
                                          v->ctas_per_sm));
  }
  return list;
}

static json_t *notes_json(const tmaring_plan *plan)
{
  json_t *const list = json_array();
  const char *note;
  for (int32_t i = 0; (note = tmaring_plan_note(plan, i)) != NULL; ++i) json_array_append_new(list, json_string(note));
  return list;
}

int tmaring__plan_print_json(const tmaring__plan_view *view)
{
  const tmaring__job *const job = view->job;
  json_t *const json = json_pack(
      "{ss,sI,sI,so,so,so,so,so,so,so,so,so,so,so,so}", "formula", job->request->formula, "rows", (json_int_t)job->rows,
      "cols", (json_int_t)job->cols, "machine", machine_json(&job->machine), "tensors", tensors_json(job), "walk",
      walk_json(view), "ring", ring_json(view), "cta", cta_json(view), "scope", scope_json(&view->args.scope), "path",
      path_json(view), "groups", groups_json(view), "columns", columns_json(view), "smem", smem_json(view), "variants",
      variants_json(job->plan), "notes", notes_json(job->plan));
  return tmaring__json_print(json);
}

#include "plan_view.h"

#include <string.h>

static void set_region(tmaring__region *region, const char *name, uint32_t offset, uint32_t end)
{
  region->name = name;
  region->offset = offset;
  region->bytes = end - offset;
}

/* End of the partial results, which are two buffers per warp; what rounds the vectors up is no part of them. */
static uint32_t scratch_end(const tmaring_smem *m)
{
  const uint32_t step = 2 * TMARING_MAX_REDUCTIONS * 8;
  return m->scratch + (m->vectors - m->scratch) / step * step;
}

/* Where the row vectors begin: by multicast their barrier lies before them. */
static uint32_t vectors_begin(const tmaring_args *a)
{
  return a->smem.vectors + (a->multicast > 1 ? 16 : 0);
}

/* End of the row vectors that are kept in shared memory; the padding after them is no part of them. */
static uint32_t vectors_end(const tmaring_args *a)
{
  uint32_t end = vectors_begin(a);
  for (int32_t i = 0; i < a->vector_count; ++i) {
    const tmaring_vector *const v = &a->vector[i];
    if (v->smem == TMARING_NOT_STAGED) continue;
    const uint32_t stop = v->smem + (uint32_t)a->walk.cols * tmaring_dtype_bytes(v->dtype);
    if (stop > end) end = stop;
  }
  return end;
}

/* End of the accumulators of column reductions, where they are kept in shared memory. */
static uint32_t columns_end(const tmaring_args *a, int wide)
{
  if (a->column_output_count == 0 || !a->columns_staged) return a->smem.columns;
  const int64_t values = (int64_t)a->column_output_count * tmaring_column_seats(a) * tmaring_column_stride(a);
  return a->smem.columns + (uint32_t)(values * (wide ? 8 : 4));
}

/* In the order of tmaring_smem. */
static void set_regions(tmaring__plan_view *view)
{
  const tmaring_smem *const m = &view->args.smem;
  set_region(&view->region[0], "full barriers", m->full, m->empty);
  set_region(&view->region[1], "empty barriers", m->empty, m->tickets);
  set_region(&view->region[2], "tickets", m->tickets, m->scratch);
  set_region(&view->region[3], "partial results", m->scratch, scratch_end(m));
  set_region(&view->region[4], "barrier of the vectors", m->vectors, vectors_begin(&view->args));
  set_region(&view->region[5], "row vectors", vectors_begin(&view->args), vectors_end(&view->args));
  set_region(&view->region[6], "column results", m->columns, columns_end(&view->args, view->wide));
  set_region(&view->region[7], "stages", m->stages, m->total);
}

tmaring_status tmaring__plan_view_make(tmaring__plan_view *view, const tmaring__job *job)
{
  memset(view, 0, sizeof *view);
  view->job = job;
  view->info.size = sizeof view->info;
  TMARING__TRY(tmaring_plan_args(job->plan, job->rows, &view->args));
  TMARING__TRY(tmaring_plan_describe(job->plan, &view->info));
  view->wide = job->plan->code.wide;
  view->program = tmaring__formula_program(job->formula);
  const tmaring_walk *const w = &view->args.walk;
  const int trimmed = w->order == TMARING_ORDER_TICKET || w->policy == TMARING_POLICY_EXACT;
  view->slots = trimmed ? w->tiles : w->slots * w->workers;
  view->surplus = view->slots - w->tiles;
  view->fills_per_tile = tmaring_walk_fills_per_tile(w);
  view->full_count = tmaring_ring_full_count(tmaring_args_take(&view->args, TMARING_LOAD_ASYNC));
  view->empty_count =
      tmaring_ring_empty_count(view->args.cta.release, (tmaring_u32)tmaring_cta_squad_warps(&view->args.cta));
  view->chunks = view->args.column_output_count ? tmaring_column_chunks(w) : 0;
  view->workspace_bytes = tmaring_workspace_bytes(job->plan, job->rows);
  set_regions(view);
  return TMARING_OK;
}

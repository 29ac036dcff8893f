/* A plan as text. */
#include <inttypes.h>
#include <stdio.h>

#include "path_text.h"
#include "plan_view.h"

static void print_head(const tmaring__plan_view *view)
{
  const tmaring__job *const job = view->job;
  printf("formula  %s\n", job->request->formula);
  printf("machine  %s: %d SMs, %d bytes of shared memory per CTA, compute capability %d.%d\n", job->machine.name,
         job->machine.sm_count, job->machine.smem_per_block_bytes, job->machine.compute_major,
         job->machine.compute_minor);
  printf("shape    M = %" PRId64 ", N = %" PRId64 "\n", job->rows, job->cols);
}

/* Where the rows of a tensor lie. */
static void print_strides(const tmaring_parameter *parameter, const tmaring_tensor *t)
{
  if (parameter->shape == TMARING_SHAPE_ROW) return;
  if (t->pitch == TMARING_ONE_VALUE)
    printf(", one value for all rows");
  else if (t->pitch || parameter->shape != TMARING_SHAPE_COLUMN)
    printf(", pitch %" PRId64, t->pitch ? t->pitch : t->cols);
  if (t->step) printf(", step %" PRId64, t->step);
  if (t->group_rows) printf(", groups of %" PRId64 " rows every %" PRId64, t->group_rows, t->group_pitch);
}

static void print_tensors(const tmaring__plan_view *view)
{
  const tmaring__job *const job = view->job;
  char shape[24];
  for (int32_t i = 0; i < job->count; ++i) {
    const tmaring_tensor *const t = &job->tensor[i];
    printf("%s  %-3s %s%s %s", i ? "       " : "tensors", job->parameter[i].is_output ? "out" : "in",
           job->parameter[i].name, tmaring__shape_word(&job->parameter[i], shape), tmaring_dtype_name(t->dtype));
    print_strides(&job->parameter[i], t);
    printf(", aligned to %u bytes\n", t->alignment ? t->alignment : 16);
  }
}

static const char *plural(int64_t count)
{
  return count == 1 ? "" : "s";
}

static void print_tile(const tmaring__plan_view *view)
{
  const tmaring_walk *const w = &view->args.walk;
  if (w->pieces == 1)
    printf("         a tile is up to %d whole row%s", w->tile_rows * w->chunk, plural(w->tile_rows * w->chunk));
  else if (w->spread)
    printf("         a tile is one of %d pieces of %d row%s, up to %d columns each", w->pieces, w->tile_rows * w->chunk,
           plural(w->tile_rows * w->chunk), w->piece_cols);
  else
    printf("         a tile is %d row%s in %d pieces of up to %d columns, streamed %d time%s", w->chunk,
           plural(w->chunk), w->pieces, w->piece_cols, w->passes, plural(w->passes));
  if (view->fills_per_tile == 1)
    printf(": one fill\n");
  else
    printf(": %d fills\n", view->fills_per_tile);
}

static void print_walk(const tmaring__plan_view *view)
{
  const tmaring_walk *const w = &view->args.walk;
  printf("walk     order %s, policy %s: %" PRId64 " tile%s for %d worker%s\n",
         tmaring__word_text(tmaring__words_order, w->order), tmaring__word_text(tmaring__words_policy, w->policy),
         (int64_t)w->tiles, plural(w->tiles), w->workers, plural(w->workers));
  if (w->order == TMARING_ORDER_TICKET)
    printf("         tiles are claimed in order, one ticket each; no surplus\n");
  else
    printf("         up to %" PRId64 " slot%s per worker, %" PRId64 " in all, %" PRId64 " surplus\n", (int64_t)w->slots,
           plural(w->slots), view->slots, view->surplus);
  print_tile(view);
  if (tmaring_walk_shared(w))
    printf("         a worker is a cluster of %d CTAs, each with up to %d columns of a row\n", w->cluster,
           w->piece_cols);
}

static void print_ring(const tmaring__plan_view *view)
{
  const tmaring_args *const a = &view->args;
  printf("ring     %u stages of %u bytes; prefetch distance %u, so at most %u fills lead\n", a->stages,
         a->smem.stage_bytes, a->distance, a->distance + 1);
  printf("         full barrier counts %u, empty barrier %u (release %s); %u store%s may trail\n", view->full_count,
         view->empty_count, tmaring__word_text(tmaring__words_release, a->cta.release), a->store_lag,
         plural(a->store_lag));
}

static void print_cta(const tmaring__plan_view *view)
{
  const tmaring_cta *const c = &view->args.cta;
  printf("cta      %s, %d threads: consumers %d x %d x %d", tmaring__mode_text(c), view->info.threads, c->consumers[0],
         c->consumers[1], c->consumers[2]);
  if (c->mode == TMARING_MODE_PIPELINED)
    printf("; a stage is freed by %s", c->war == TMARING_WAR_MBARRIER ? "its empty barrier" : "the CTA barrier");
  else
    printf(", slab of %d on %s with the producer", c->slab, tmaring__word_text(tmaring__words_axis, c->role_axis));
  if (c->squads > 1)
    printf("\n         %d squads of %d warps, %s", c->squads, tmaring_cta_squad_warps(c),
           tmaring__word_text(tmaring__words_turns, c->turns));
  printf("\n         %d CTA%s per SM", view->info.ctas_per_sm, plural(view->info.ctas_per_sm));
  if (view->info.registers[0] || view->info.registers[1])
    printf("; registers: producer %d, consumers %d", view->info.registers[0], view->info.registers[1]);
  printf("%s\n", view->info.debug ? "; debug: waits are bounded" : "");
}

static void print_scope(const tmaring__plan_view *view)
{
  const tmaring_scope *const s = &view->args.scope;
  printf("scope    %s: ", tmaring__word_text(tmaring__words_scope, s->kind));
  if (s->kind == TMARING_SCOPE_FLAT)
    printf("each warp has %d vectors of the fill", s->chunk_vecs);
  else if (s->kind == TMARING_SCOPE_LANES)
    printf("%d lanes share a row, %d rows per fill and unit", tmaring_scope_lanes(s), s->unit_rows);
  else
    printf("%d warp%s share%s a row, %d row%s per fill and unit", s->warps_per_row, plural(s->warps_per_row),
           s->warps_per_row == 1 ? "s" : "", s->unit_rows, plural(s->unit_rows));
  printf("; %d elements per thread and step\n", s->vec);
  if (s->fixed) printf("         frames are fixed: a thread has the same columns of every row\n");
}

static void print_groups(const tmaring__plan_view *view)
{
  const tmaring__program *const p = view->program;
  if (p->group_cols_most == 0) return;
  printf("groups   of ");
  if (p->group_cols_least != p->group_cols_most) printf("%d to ", p->group_cols_least);
  printf("%d columns: up to %d lanes join one\n", p->group_cols_most,
         tmaring_scope_group_lanes(&view->args.scope, p->group_cols_most));
}

static void print_columns(const tmaring__plan_view *view)
{
  const tmaring_args *const a = &view->args;
  if (a->column_output_count == 0) return;
  printf("columns  %d output%s of %" PRId64 " chunks of rows, %d at a time in %s; then a second kernel joins them\n",
         a->column_output_count, plural(a->column_output_count), view->chunks, tmaring_column_seats(a),
         a->columns_staged ? "shared memory" : "the workspace");
}

static const char *load_text(const tmaring_plan_info *info, int32_t path)
{
  switch (path) {
  case TMARING_LOAD_TILE: return "boxes by tensor-map copies";
  case TMARING_LOAD_ASYNC: return "cp.async by the feeding warp";
  case TMARING_LOAD_ORDINARY: return "ordinary loads by the feeding warp";
  case TMARING_LOAD_DIRECT: return "by each thread from global memory";
  default:
    return info->aligned ? "whole 16-byte units by bulk copies"
                         : "16-byte windows by bulk copies, edges by ordinary loads";
  }
}

/* One line where all inputs take the same path. */
static void print_loads(const tmaring__plan_view *view)
{
  const tmaring_plan_info *const info = &view->info;
  int same = 1;
  for (int32_t i = 1; i < info->inputs; ++i) same &= info->loads[i] == info->loads[0];
  if (same) {
    printf("path     loads: %s\n", load_text(info, info->loads[0]));
    return;
  }
  for (int32_t i = 0; i < info->inputs; ++i)
    printf("%s  input %d: %s\n", i ? "       " : "path   ", i, load_text(info, info->loads[i]));
}

static void print_path(const tmaring__plan_view *view)
{
  const tmaring_plan_info *const i = &view->info;
  print_loads(view);
  printf("         stores: %s%s\n", tmaring__word_text(tmaring__words_store, i->store),
         i->in_place ? ", staged over the input" : "");
  printf("         arithmetic in %s; workspace of %zu bytes\n", view->wide ? "double" : "fp32", view->workspace_bytes);
  printf("         %d pass%s over a row, %d of reductions; %" PRId64 " bytes per row; estimate %.2f us\n", i->passes,
         i->passes == 1 ? "" : "es", i->reduction_passes, i->bytes_per_row, i->cost_us);
}

static void print_variants(const tmaring__plan_view *view)
{
  const tmaring_plan *const plan = view->job->plan;
  for (int32_t k = 0; k < plan->variant_count; ++k) {
    const tmaring__variant *const v = &plan->variant[k];
    printf("%s ", k ? "        " : "variants");
    if (k + 1 < plan->variant_count)
      printf("M <= %" PRId64, v->rows_limit);
    else
      printf("%s", k ? "larger M" : "any M");
    printf(": %u stages, %d workers, %d rows per tile, %d CTAs per SM\n", v->args.stages, v->args.walk.workers,
           v->args.walk.tile_rows * v->args.walk.chunk, v->ctas_per_sm);
  }
}

static void print_notes(const tmaring__plan_view *view)
{
  const char *note;
  for (int32_t i = 0; (note = tmaring_plan_note(view->job->plan, i)) != NULL; ++i)
    printf("%s  %s\n", i ? "     " : "notes", note);
}

void tmaring__plan_print_text(const tmaring__plan_view *view, int explain)
{
  print_head(view);
  print_tensors(view);
  print_walk(view);
  print_ring(view);
  print_cta(view);
  print_scope(view);
  print_groups(view);
  print_columns(view);
  print_path(view);
  print_variants(view);
  tmaring__plan_print_smem(view);
  if (explain) print_notes(view);
}

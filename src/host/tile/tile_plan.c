#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../describe/tensor_check.h"
#include "tile_state.h"

/* One pass over a fill; the sums of a product last for a tile, like column reductions. */
static const tmaring__program one_pass = {.passes = 1};
static const tmaring__program sums = {.passes = 1, .column_output_count = 1};

static void add_choice(const tmaring__tile_draft *w)
{
  static const char *const store[] = {"direct", "bulk", "tile"};
  const tmaring_args *a = &w->args;
  tmaring__note_add(w->notes, "%lld tiles of %d fill%s: %u stages of %u bytes, %d CTA%s per SM, %s, load %s, store %s",
                    (long long)a->walk.tiles, a->walk.chunk, a->walk.chunk == 1 ? "" : "s", a->stages,
                    a->smem.stage_bytes, w->ctas_per_sm, w->ctas_per_sm == 1 ? "" : "s",
                    tmaring__mode_name(a->cta.mode), w->load == TMARING_LOAD_TILE ? "tile" : "bulk", store[w->store]);
}

static tmaring_status decide(tmaring__tile_draft *w, const tmaring_tile_tensor *tensors, int32_t count)
{
  TMARING__TRY(tmaring__tile_options_check(&w->options));
  TMARING__TRY(tmaring__tile_shape(w, tensors, count));
  TMARING__TRY(tmaring__tile_panels(w));
  TMARING__TRY(tmaring__tile_ring(w));
  add_choice(w);
  return TMARING_OK;
}

static void enter_plan(tmaring_tile_plan *made, const tmaring__tile_draft *w)
{
  tmaring_plan *plan = &made->plan;
  tmaring__variant *variant = &plan->variant[0];
  atomic_init(&plan->references, 1);
  plan->machine = w->machine;
  plan->code = w->code;
  plan->in_place = w->op == TMARING_TILE_COPY && w->code.staged;
  plan->workers_forced = w->options.workers != TMARING_AUTO;
  plan->variant_count = 1;
  variant->rows_limit = w->args.walk.rows;
  variant->args = w->args;
  variant->boxes = w->boxes;
  variant->ctas_per_sm = w->ctas_per_sm;
  made->work = w->work;
  variant->boxes.work = &made->work;
  made->count = w->count;
  for (int32_t t = 0; t < w->count; ++t) {
    made->tensor[t] = w->tensor[t];
    made->bytes[t] = tmaring__tile_tensor_bytes(&w->tensor[t]);
  }
}

static tmaring_status make_plan(tmaring_tile_plan **plan, const tmaring__tile_draft *w)
{
  tmaring__text source = {0};
  tmaring_tile_plan *made = calloc(1, sizeof *made);
  tmaring__tile_source(&source, w);
  if (!made || tmaring__text_failed(&source) || w->notes->failed) {
    tmaring__text_free(&source);
    free(made);
    return tmaring__fail(TMARING_ERROR_MEMORY, "plan: out of host memory, needs %zu bytes", sizeof *made);
  }
  enter_plan(made, w);
  made->plan.source = source.data; /* the plan's from here on */
  made->plan.note_count = w->notes->count;
  memcpy(made->plan.note, w->notes->text, sizeof made->plan.note);
  *plan = made;
  return TMARING_OK;
}

tmaring_status tmaring_tile_plan_create(tmaring_tile_plan **plan, tmaring_tile_op op,
                                        const tmaring_tile_tensor *tensors, int32_t count,
                                        const tmaring_machine *machine, const tmaring_tile_options *options)
{
  tmaring__tile_draft draft;
  tmaring__notes notes = {.count = 0};
  TMARING__NEED(plan);
  *plan = NULL;
  TMARING__NEED(tensors);
  TMARING__NEED_SIZE(machine);
  if (options) TMARING__NEED_SIZE(options);
  TMARING__TRY(tmaring__machine_check(machine));
  if (op != TMARING_TILE_COPY && op != TMARING_TILE_TRANSPOSE && op != TMARING_TILE_MATMUL)
    return tmaring__fail(TMARING_ERROR_ARGUMENT,
                         "op: got %d, needs TMARING_TILE_COPY, TMARING_TILE_TRANSPOSE or TMARING_TILE_MATMUL", (int)op);
  memset(&draft, 0, sizeof draft);
  draft.op = op;
  draft.machine = *machine;
  draft.notes = &notes;
  draft.work.program = op == TMARING_TILE_MATMUL ? &sums : &one_pass;
  tmaring_tile_options_init(&draft.options);
  if (options) draft.options = *options;
  tmaring_status status = decide(&draft, tensors, count);
  if (status == TMARING_OK) status = make_plan(plan, &draft);
  if (status != TMARING_OK) tmaring__note_free(&notes);
  return status;
}

void tmaring_tile_plan_free(tmaring_tile_plan *plan)
{
  if (plan) tmaring_plan_free(&plan->plan); /* its first member: frees all of it with the last reference */
}

tmaring_status tmaring_tile_plan_args(const tmaring_tile_plan *plan, tmaring_args *args)
{
  TMARING__NEED(plan);
  TMARING__NEED(args);
  *args = plan->plan.variant[0].args;
  return TMARING_OK;
}

const char *tmaring_tile_plan_note(const tmaring_tile_plan *plan, int32_t index)
{
  return plan ? tmaring_plan_note(&plan->plan, index) : NULL;
}

size_t tmaring_tile_workspace_bytes(const tmaring_tile_plan *plan)
{
  return plan ? tmaring_workspace_bytes(&plan->plan, 0) : 0;
}

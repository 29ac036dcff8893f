#include "plan_state.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../base/detail.h"
#include "../describe/tensor_check.h"
#include "cluster.h"
#include "column.h"
#include "explain.h"
#include "variant.h"

/* Decisions and candidates, and what they would come to. */
typedef struct draft {
  tmaring__decision decision;
  tmaring__candidates list;
  tmaring__notes notes;
  const tmaring__candidate *best; /* NULL: nothing fits */
  double cost_ns;
} draft;

static tmaring_status make_draft(draft *d, const tmaring_plan *plan, const tmaring_plan_options *options,
                                 const tmaring__facts *facts)
{
  d->notes.count = d->notes.failed = 0;
  TMARING__TRY(tmaring__decide(&d->decision, options, facts, &plan->machine, &d->notes));
  tmaring__candidates_list(&d->list, facts, &d->decision, &plan->machine);
  d->best = tmaring__variants_prefer(&d->list, facts, &d->decision, &plan->machine, &d->cost_ns);
  if (!d->best && d->decision.multicast > 1) {
    tmaring__note_add(&d->notes, "multicast: left out: the stages leave no room for [N] inputs");
    d->decision.multicast = 1;
    tmaring__candidates_list(&d->list, facts, &d->decision, &plan->machine);
    d->best = tmaring__variants_prefer(&d->list, facts, &d->decision, &plan->machine, &d->cost_ns);
  }
  return TMARING_OK;
}

/* Rows that no CTA has room for may be shared by several instead, if that takes less time. 1: they are. */
static int prefer_cluster(draft *shared, draft *single, const tmaring_plan *plan, const tmaring__facts *facts)
{
  tmaring_plan_options options;
  if (!tmaring__cluster_open(&plan->options, facts, &plan->machine, single->best, &options)) return 0;
  if (make_draft(shared, plan, &options, facts) != TMARING_OK || !shared->best) return 0;
  if (single->best && single->cost_ns <= shared->cost_ns) {
    tmaring__note_add(
        &single->notes,
        "rows stay with one CTA, piece by piece: an estimated %.2f us; clusters of %d CTAs would take %.2f",
        single->cost_ns / 1e3, shared->best->cluster, shared->cost_ns / 1e3);
    return 0;
  }
  if (single->best)
    tmaring__note_add(&shared->notes,
                      "cluster of %d: each row is read once, in an estimated %.2f us; one CTA would read it %d time%s, "
                      "piece by piece, in %.2f",
                      shared->best->cluster, shared->cost_ns / 1e3, single->best->passes,
                      single->best->passes == 1 ? "" : "s", single->cost_ns / 1e3);
  return 1;
}

static tmaring_status complete(tmaring_plan *plan, const draft *d, const tmaring__facts *facts, tmaring__notes *notes)
{
  TMARING__TRY(tmaring__variants_make(plan, &d->list, facts, &d->decision, notes));
  tmaring__choose_explain(&d->list, notes);
  plan->workers_forced = d->decision.workers != TMARING_AUTO;
  for (int32_t i = 0; i < facts->program->output_count; ++i) plan->in_place |= d->decision.in_place[i] >= 0;
  tmaring__explain_facts(facts, &d->decision, notes);
  return notes->failed ? tmaring__fail(TMARING_ERROR_MEMORY, "notes: out of host memory") : TMARING_OK;
}

/* Facts, decisions, candidates, cost, choice. The notes are the caller's, also after a failure. */
static tmaring_status make(tmaring_plan *plan, const tmaring_formula *formula, tmaring__notes *notes)
{
  tmaring__facts facts;
  draft drafts[2]; /* rows of one CTA; shared by several */
  tmaring_status status;
  drafts[0].notes.count = drafts[1].notes.count = 0;
  TMARING__TRY(tmaring__facts_gather(&facts, formula, plan->tensor, plan->tensor_count));
  if (plan->options.store == TMARING_STORE_TILE) tmaring__facts_widen(&facts); /* pieces are whole boxes */
  status = make_draft(&drafts[0], plan, &plan->options, &facts);
  const int chosen = status == TMARING_OK && prefer_cluster(&drafts[1], &drafts[0], plan, &facts);
  *notes = drafts[chosen].notes;
  tmaring__note_free(&drafts[!chosen].notes);
  TMARING__TRY(status);
  return complete(plan, &drafts[chosen], &facts, notes);
}

/* Scalars start at their defaults. */
static tmaring_status enter_scalars(tmaring_plan *plan)
{
  const int32_t count = tmaring_formula_scalar_count(plan->formula);
  for (int32_t i = 0; i < count; ++i) {
    tmaring_parameter parameter;
    memset(&parameter, 0, sizeof parameter);
    parameter.size = sizeof parameter;
    TMARING__TRY(tmaring_formula_scalar(plan->formula, i, &parameter));
    const double value = parameter.has_default ? parameter.default_value : 0.0;
    for (int32_t v = 0; v < plan->variant_count; ++v) {
      plan->variant[v].args.scalar[i] = (float)value;
      plan->variant[v].args.wide_scalar[i] = value;
    }
  }
  return TMARING_OK;
}

static tmaring_status check_count(const tmaring_formula *formula, int32_t count)
{
  const int32_t needs = tmaring_formula_tensor_count(formula);
  if (count == needs) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ARGUMENT,
                       "count: got %d tensors, needs %d: one for each tensor parameter of the formula", (int)count,
                       (int)needs);
}

static tmaring_status check_arguments(const tmaring_formula *formula, const tmaring_tensor *tensors, int32_t count,
                                      const tmaring_machine *machine, const tmaring_plan_options *options)
{
  TMARING__NEED(formula);
  TMARING__NEED(tensors);
  TMARING__NEED_SIZE(machine);
  if (options) TMARING__NEED_SIZE(options);
  TMARING__TRY(check_count(formula, count)); /* before any of them is read */
  return tmaring__machine_check(machine);
}

static void enter_arguments(tmaring_plan *plan, const tmaring_tensor *tensors, int32_t count,
                            const tmaring_machine *machine, const tmaring_plan_options *options)
{
  atomic_init(&plan->references, 1);
  plan->machine = *machine;
  plan->tensor_count = count;
  memcpy(plan->tensor, tensors, (size_t)count * sizeof *tensors);
  if (options) {
    plan->options = *options;
  } else {
    tmaring_plan_options_init(&plan->options);
  }
}

tmaring_status tmaring_plan_create(tmaring_plan **plan, const tmaring_formula *formula, const tmaring_tensor *tensors,
                                   int32_t count, const tmaring_machine *machine, const tmaring_plan_options *options)
{
  tmaring__notes notes;
  tmaring_status status;
  TMARING__NEED(plan);
  *plan = NULL;
  TMARING__TRY(check_arguments(formula, tensors, count, machine, options));
  tmaring_plan *made = calloc(1, sizeof *made);
  if (!made) return tmaring__fail(TMARING_ERROR_MEMORY, "plan: out of host memory, needs %zu bytes", sizeof *made);
  notes.count = notes.failed = 0;
  enter_arguments(made, tensors, count, machine, options);
  made->formula = tmaring__formula_retain(formula);
  TMARING__TRY_GOTO(make(made, formula, &notes), failed);
  TMARING__TRY_GOTO(enter_scalars(made), failed);
  memcpy(made->note, notes.text, (size_t)notes.count * sizeof notes.text[0]);
  made->note_count = notes.count;
  *plan = made;
  return TMARING_OK;
failed:
  tmaring__note_free(&notes);
  tmaring_plan_free(made);
  return status;
}

tmaring_plan *tmaring__plan_retain(const tmaring_plan *plan)
{
  tmaring_plan *kept = (tmaring_plan *)plan; /* the count alone changes; it is atomic */
  atomic_fetch_add_explicit(&kept->references, 1, memory_order_relaxed);
  return kept;
}

void tmaring_plan_free(tmaring_plan *plan)
{
  if (!plan || atomic_fetch_sub_explicit(&plan->references, 1, memory_order_acq_rel) != 1) return;
  for (int32_t i = 0; i < plan->note_count; ++i) free(plan->note[i]);
  tmaring_formula_free(plan->formula);
  free(plan->source);
  free(plan);
}

tmaring_status tmaring_plan_args(const tmaring_plan *plan, int64_t rows, tmaring_args *args)
{
  TMARING__NEED(plan);
  TMARING__NEED(args);
  *args = tmaring__plan_variant(plan, rows)->args;
  return tmaring__variant_set_rows(plan, args, rows);
}

static int64_t traffic_per_row(const tmaring_plan *plan)
{
  int64_t bytes = 0;
  for (int32_t i = 0; i < plan->tensor_count; ++i) {
    const tmaring__slot_kind kind = tmaring__formula_slot(plan->formula, i).kind;
    if (kind == TMARING__SLOT_VECTOR || kind == TMARING__SLOT_COLUMN_OUTPUT) continue;
    if (plan->tensor[i].pitch == TMARING_ONE_VALUE) continue;
    bytes += plan->tensor[i].cols * (int64_t)tmaring_dtype_bytes((tmaring_i32)plan->tensor[i].dtype);
  }
  return bytes;
}

tmaring_status tmaring_plan_describe(const tmaring_plan *plan, tmaring_plan_info *info)
{
  TMARING__NEED(plan);
  TMARING__NEED_SIZE(info);
  const tmaring__program *program = tmaring__formula_program(plan->formula);
  info->store = plan->code.tiled_store ? TMARING_STORE_TILE
                : plan->code.staged    ? TMARING_STORE_BULK
                                       : TMARING_STORE_DIRECT;
  info->inputs = program->input_count;
  memcpy(info->loads, plan->code.load, sizeof info->loads);
  info->in_place = plan->in_place;
  info->aligned = plan->code.aligned;
  info->passes = program->passes;
  info->reduction_passes = program->reduction_passes;
  memcpy(info->registers, plan->code.registers, sizeof info->registers);
  info->threads = tmaring_cta_threads(&plan->variant[0].args.cta);
  info->ctas_per_sm = plan->code.min_ctas;
  info->debug = plan->code.debug;
  info->bytes_per_row = traffic_per_row(plan);
  info->cost_us = plan->cost_us;
  info->note_count = plan->note_count;
  return TMARING_OK;
}

const char *tmaring_plan_note(const tmaring_plan *plan, int32_t index)
{
  return plan && index >= 0 && index < plan->note_count ? plan->note[index] : NULL;
}

/* Partial results of launches of up to `rows` rows: those of the variants that serve them, each at its largest M. */
static int64_t partial_bytes(const tmaring_plan *plan, int64_t rows)
{
  int64_t most = 0;
  for (int32_t i = 0; i < plan->variant_count; ++i) {
    tmaring_args args = plan->variant[i].args;
    tmaring_walk_set_rows(&args.walk, tmaring_min_i64(rows, plan->variant[i].rows_limit));
    most = tmaring_max_i64(most, tmaring__column_partial_bytes(&args, plan->code.wide));
    if (rows <= plan->variant[i].rows_limit) break;
  }
  return most;
}

/* Not less than what tmaring_workspace_init zeroes, whatever the rows. */
size_t tmaring_workspace_bytes(const tmaring_plan *plan, int64_t rows)
{
  if (!plan) return 0;
  if (plan->variant[0].args.column_output_count > 0)
    return (size_t)(TMARING_PARTIALS_OFFSET + partial_bytes(plan, tmaring_max_i64(0, rows)));
  for (int32_t i = 0; i < plan->variant_count; ++i) {
    if (plan->variant[i].args.walk.order == TMARING_ORDER_TICKET) return TMARING_WORKSPACE_BYTES;
  }
  return 0;
}

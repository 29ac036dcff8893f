#include "cluster.h"

#include "tuning.h"

int32_t tmaring__cluster_slice(const tmaring__facts *facts, int32_t ctas)
{
  const int64_t cols = tmaring_ceil_div(tmaring_ceil_div(facts->cols, ctas), facts->unit) * facts->unit;
  return (ctas - 1) * cols < facts->cols ? (int32_t)cols : 0;
}

/* The largest cluster up to `most` whose CTAs all have columns, and an SM. 1: there is none. */
static int32_t largest(const tmaring__facts *facts, const tmaring_machine *machine, int32_t most)
{
  while (most > 1 && (most > machine->sm_count || tmaring__cluster_slice(facts, most) == 0)) most /= 2;
  return most;
}

static const char *obstacle(const tmaring__facts *facts)
{
  if (tmaring__facts_columns(facts)) return "the formula reduces columns";
  if (facts->program->reduction_passes == 0) return "nothing is reduced over a row, so that CTAs have nothing to share";
  return NULL;
}

/* One CTA, too, streams a row once where nothing is made of it after its reductions: then a cluster helps where rows
 * are fewer than SMs (cross_entropy bf16 [4096, 128256]: 1664 GB/s with clusters of 4, 2938 without). */
static int may_gain(const tmaring__facts *facts, const tmaring_machine *machine)
{
  return facts->program->passes > 1 || (facts->rows > 0 && 2 * facts->rows <= machine->sm_count);
}

/* As asked, before it is looked at: 1, a number of CTAs, or TMARING_AUTO. */
static int32_t asked(const tmaring_plan_options *o, tmaring__notes *notes)
{
  const int open = o->scope == TMARING_AUTO || o->scope == TMARING_SCOPE_AUTO;
  if (o->scope == TMARING_SCOPE_CLUSTER) return o->cluster;
  if (o->cluster == TMARING_AUTO || o->cluster == 1) return 1;
  if (open) return o->cluster;
  tmaring__note_add(notes, "cluster: left out: it belongs to scope cluster, the scope is %s",
                    tmaring__scope_name(o->scope));
  return 1;
}

int32_t tmaring__cluster_decide(const tmaring_plan_options *options, const tmaring__facts *facts,
                                const tmaring_machine *machine, tmaring__notes *notes)
{
  const int32_t ctas = asked(options, notes);
  const char *why = obstacle(facts);
  if (ctas == 1) {
    if (options->scope == TMARING_SCOPE_CLUSTER) tmaring__note_add(notes, "scope cluster -> auto: cluster is 1");
    return 1;
  }
  if (why) {
    tmaring__note_add(notes, "scope cluster -> auto: %s", why);
    return 1;
  }
  const int32_t most = largest(facts, machine, ctas == TMARING_AUTO ? TMARING_MAX_CLUSTER : ctas);
  if (most == 1) {
    tmaring__note_add(notes,
                      "scope cluster -> auto: %d columns in units of %d, and %d SMs, leave no two CTAs a slice each",
                      facts->cols, facts->unit, machine->sm_count);
    return 1;
  }
  if (ctas == TMARING_AUTO) return TMARING_AUTO;
  if (most < ctas)
    tmaring__note_add(notes, "cluster %d -> %d: %d columns in units of %d are no more slices on %d SMs", ctas, most,
                      facts->cols, facts->unit, machine->sm_count);
  return most;
}

static int is_open(int32_t option, int32_t also)
{
  return option == TMARING_AUTO || option == also;
}

int tmaring__cluster_open(const tmaring_plan_options *options, const tmaring__facts *facts,
                          const tmaring_machine *machine, const tmaring__candidate *best, tmaring_plan_options *shared)
{
  const tmaring_plan_options *o = options;
  const int roles = is_open(o->mode, TMARING_MODE_PIPELINED) && o->role_axis == TMARING_AUTO &&
                    is_open(o->registers[0], 0) && is_open(o->registers[1], 0);
  const int rows = is_open(o->scope, TMARING_SCOPE_AUTO) && o->warps_per_row == TMARING_AUTO &&
                   o->lanes_per_row == TMARING_AUTO && is_open(o->tile_rows, 1) && o->piece_cols == TMARING_AUTO;
  if (!roles || !rows || o->order == TMARING_ORDER_TICKET || o->cluster != TMARING_AUTO || o->workers != TMARING_AUTO ||
      obstacle(facts) || !may_gain(facts, machine))
    return 0;
  if (best && best->pieces == 1) return 0; /* a CTA has room for whole rows */
  *shared = *options;
  shared->scope = TMARING_SCOPE_CLUSTER;
  return 1;
}

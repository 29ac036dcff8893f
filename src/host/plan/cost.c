#include "cost.h"

#include "stage_map.h"
#include "tuning.h"

static double least(double a, double b)
{
  return a < b ? a : b;
}

static double greatest(double a, double b)
{
  return a > b ? a : b;
}

/* One fill of one worker: barriers, copies to issue, and the steps of its busiest lane. */
static double fill_ns(const tmaring__candidate *c, const tmaring__facts *facts, const tmaring__decision *d,
                      int32_t order)
{
  const tmaring__program *program = facts->program;
  const int64_t vectors = tmaring_ceil_div(c->piece_cols, facts->vec);
  const int32_t passes = c->pieces > 1 ? 1 : program->passes;
  int64_t copies = 0;
  double iterations = 1.0, steps;
  for (int32_t i = 0; i < program->input_count; ++i) copies += tmaring__stage_copies(c, facts, d, i);
  if (c->scope.kind == TMARING_SCOPE_FLAT) {
    steps = (double)tmaring_ceil_div(c->scope.chunk_vecs, 32);
  } else {
    iterations = (double)tmaring_scope_iterations(&c->scope, c->scope.unit_rows);
    steps = (double)tmaring_ceil_div(vectors, tmaring_scope_stride(&c->scope));
  }
  const double across = c->cluster > 1               ? TUNING_CLUSTER_NS + TUNING_CLUSTER_CTA_NS * c->cluster
                        : c->scope.warps_per_row > 1 ? TUNING_GROUP_NS
                                                     : 0.0;
  const double reduce = TUNING_REDUCE_NS + across;
  const int32_t reductions = c->pieces > 1 ? (program->reduction_passes > 0) : program->reduction_passes;
  const double issue = TUNING_COPY_NS * greatest(0.0, (double)(copies - 1));
  const int32_t far = c->vectors_staged ? 0 : program->vector_count;
  const double row =
      steps * (passes * TUNING_STEP_NS + facts->work * TUNING_WORK_NS + far * TUNING_VECTOR_NS) + reductions * reduce;
  const double work = iterations * row;
  const double issued = d->cta.mode == TMARING_MODE_PIPELINED ? issue + work : greatest(issue, work);
  return TUNING_FILL_NS + issued + (order == TMARING_ORDER_TICKET ? TUNING_TICKET_NS : 0.0);
}

/* Bytes per ns of the whole grid: the memory's rate, unless too few SMs work or too little is in flight. */
static double memory_rate(const tmaring__candidate *c, const tmaring_machine *machine, double fill_load, double fills,
                          int64_t ctas)
{
  const double sms = least((double)machine->sm_count, (double)ctas);
  const double ahead = least((double)c->distance + 1.0, fills);
  const double flight = (double)ctas * ahead * fill_load;
  const double in_flight = fill_load > 0.0 ? flight / TUNING_LATENCY_NS : TUNING_MEMORY_RATE; /* stores alone */
  const double rate = least(in_flight, sms * TUNING_SM_RATE);
  return greatest(least(rate, TUNING_MEMORY_RATE), 1e-3);
}

/* Bytes of a row over all passes: later ones may find it in the cache. */
static double traffic_of_row(const tmaring__candidate *c, const tmaring__facts *facts, const tmaring_machine *machine,
                             int64_t workers)
{
  const double again = (double)(c->passes - 1) * (double)facts->load_bytes;
  const double under_way = (double)workers * (double)facts->load_bytes;
  const int cached = under_way <= TUNING_L2_PART * (double)machine->l2_bytes;
  return (double)facts->bytes_per_row + again * (cached ? TUNING_L2_SHARE : 1.0);
}

/* The second kernel of column reductions: its launch, and the partial results that it reads. */
static double join_ns(const tmaring__candidate *c, const tmaring__facts *facts, const tmaring__decision *d,
                      int64_t chunks)
{
  const double seats = tmaring_scope_at_a_time(&c->scope, tmaring_cta_squad_warps(&d->cta));
  const double turns = (double)tmaring_ceil_div(facts->cols, TUNING_COLUMN_JOIN_COLS);
  const double rows = (double)chunks * seats * facts->program->column_output_count;
  return TUNING_COLUMN_KERNEL_NS + rows * turns * TUNING_COLUMN_JOIN_NS;
}

tmaring__cost tmaring__cost_estimate(const tmaring__candidate *candidate, const tmaring__facts *facts,
                                     const tmaring__decision *decision, const tmaring_machine *machine, int32_t order,
                                     int64_t rows)
{
  const tmaring__candidate *c = candidate;
  tmaring__cost cost = {0.0, 0.0, 0.0, TUNING_RAMP_NS, TUNING_RAMP_NS};
  const int64_t chunks = tmaring_ceil_div(rows, (int64_t)c->tile_rows * c->chunk);
  const int64_t tiles = c->spread ? chunks * c->pieces : chunks;
  if (tiles == 0) return cost;
  const int64_t workers = tmaring_min_i64(tiles, c->workers);
  const int64_t per_tile = (c->spread ? 1 : (int64_t)c->pieces * c->passes) * c->chunk;
  const int64_t ctas = workers * c->cluster;
  const double share = (double)c->piece_cols / facts->cols * c->tile_rows; /* of a row, that a CTA's fill holds */
  const double fill_load = share * (double)facts->load_bytes;
  const double traffic = traffic_of_row(c, facts, machine, workers);
  cost.fills = (double)tmaring_ceil_div(tiles, workers) * (double)per_tile;
  const double rate = memory_rate(c, machine, fill_load, cost.fills, ctas);
  const double one_fill = fill_ns(c, facts, decision, order);
  /* tiles that do not divide leave workers idle in the last round */
  const double whole = c->cluster > 1 ? 1.0 : share; /* slices may differ by less than a unit */
  const double bytes = whole * traffic * cost.fills * (double)workers / c->passes;
  cost.memory_ns = bytes / rate * (1.0 + TUNING_CTA_LOSS * (c->ctas_per_sm - 1));
  cost.worker_ns = cost.fills * one_fill;
  cost.ramp_ns = TUNING_RAMP_NS + TUNING_FIRST_FILL_LOSS * fill_load * (double)ctas / rate + one_fill;
  double loss = TUNING_OVERLAP_LOSS * least(cost.memory_ns, cost.worker_ns);
  if (!tmaring__facts_joins(facts)) loss = least(loss, TUNING_OVERLAP_LOSS_NS);
  if (c->stages == 1) loss = least(cost.memory_ns, cost.worker_ns); /* either the copy engine works or the threads do */
  if (tmaring__facts_columns(facts)) cost.ramp_ns += join_ns(c, facts, decision, chunks);
  /* the producer knows its next tile no sooner than its claim is back */
  const double claims = order == TMARING_ORDER_TICKET && c->chunk == 1 ? cost.fills * TUNING_CLAIM_NS : 0.0;
  cost.total_ns = cost.ramp_ns + greatest(claims, greatest(cost.memory_ns, cost.worker_ns)) + loss;
  return cost;
}

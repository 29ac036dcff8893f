/* Random options: most are accepted, and what is accepted keeps within the machine and is consistent in itself. Prints
 * how long planning takes. */
#define _POSIX_C_SOURCE 199309L
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../src/host/plan/plan_state.h"
#include "support/draft.h"
#include "support/noise.h"

static const char *const formulas[] = {
    "y = x + x",
    "y = a * 2 + b",
    "s = sum(x)",
    "y = x * w[N] + b[N]",
    "y = x * v[M]; s = max(y)",
    "rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * w",
    "softmax(x[M,N]) = e = exp(x - max(x)); y = e / sum(e)",
    "p = a + b; q = a - b",
    "f(x[M,2N]) = silu(first(x)) * second(x)",
    "f(x[M,2N]) = s = max(even(x)); y = odd(x) * 2",
    "out s = gamax(x, 32); y = x / s",
    "f(q[M,N], s[M,N/64]) = q * s",
    "y = colsum(x)",
    "f(dy[M,N], x[M,N], w[N]) = r = rsqrt(mean(x * x)); dx = dy * w * r; dw = colsum(dy * x * r)",
    "fill(; value = 1) = value",
    "y = x * col + row; i = argmax(x)",
};
#define FORMULAS ((int32_t)(sizeof formulas / sizeof formulas[0]))

static int32_t one_of(noise *n, const int32_t *from, int32_t count)
{
  return from[noise_below(n, count)];
}

#define ONE_OF(n, ...)                                                                                                 \
  one_of((n), (const int32_t[]){__VA_ARGS__}, (int32_t)(sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)))

/* Half of the fields stay open. */
static int32_t maybe(noise *n, int32_t value)
{
  return noise_below(n, 2) ? TMARING_AUTO : value;
}

static void random_block(tmaring_plan_options *o, noise *n)
{
  static const int32_t blocks[][3] = {{32, 1, 1},  {64, 1, 1}, {96, 1, 1},  {128, 1, 1}, {256, 1, 1},
                                      {512, 1, 1}, {32, 4, 2}, {128, 2, 1}, {48, 2, 1}};
  const int32_t which = noise_below(n, 18);
  for (int i = 0; i < 3 && which < 9; ++i) o->consumers[i] = blocks[which][i];
}

static void random_options(tmaring_plan_options *o, noise *n, int32_t cols)
{
  tmaring_plan_options_init(o);
  random_block(o, n);
  o->mode = maybe(n, noise_below(n, 2));
  o->war = maybe(n, noise_below(n, 2));
  o->role_axis = maybe(n, noise_below(n, 3));
  if (noise_below(n, 8) == 0) o->registers[0] = 40, o->registers[1] = ONE_OF(n, 128, 168, 232);
  o->stages = maybe(n, 1 + noise_below(n, 16));
  if (o->stages > 0) o->prefetch = maybe(n, noise_below(n, 2 * o->stages) - o->stages);
  o->order = maybe(n, noise_below(n, 4));
  o->policy = maybe(n, noise_below(n, 4));
  o->release = maybe(n, noise_below(n, 2));
  o->store = maybe(n, noise_below(n, 2));
  o->scope = maybe(n, noise_below(n, 7));
  o->cluster = noise_below(n, 3) ? TMARING_AUTO : ONE_OF(n, 1, 2, 4, 8);
  o->warps_per_row = noise_below(n, 6) ? TMARING_AUTO : ONE_OF(n, 1, 2, 4);
  o->lanes_per_row = noise_below(n, 6) ? TMARING_AUTO : ONE_OF(n, 1, 2, 4, 8, 16);
  o->tile_rows = noise_below(n, 3) ? TMARING_AUTO : ONE_OF(n, 1, 2, 3, 8, 13, 64);
  o->piece_cols = noise_below(n, 4) ? TMARING_AUTO : ONE_OF(n, cols, 16, 64, 100, 1024);
  o->workers = maybe(n, ONE_OF(n, 1, 2, 13, 132, 264));
}

static tmaring_dtype random_dtype(noise *n)
{
  return (tmaring_dtype)ONE_OF(n, TMARING_F32, TMARING_F16, TMARING_BF16, TMARING_F32, TMARING_BF16, TMARING_F64,
                               TMARING_E4M3, TMARING_I8, TMARING_I32);
}

static void random_tensor(draft *d, int32_t index, noise *n)
{
  tmaring_tensor *t = &d->tensor[index];
  tmaring_parameter parameter;
  memset(&parameter, 0, sizeof parameter);
  parameter.size = sizeof parameter;
  cr_assert_eq(tmaring_formula_tensor(d->formula, index, &parameter), TMARING_OK);
  const int matrix = parameter.shape == TMARING_SHAPE_MATRIX || parameter.shape == TMARING_SHAPE_DOUBLE;
  if (noise_below(n, 4) == 0 && matrix) t->pitch = t->cols + noise_below(n, 9);
  if (noise_below(n, 8) == 0 && matrix) {
    t->group_rows = 1 + noise_below(n, 40);
    t->group_pitch = t->group_rows * (t->pitch ? t->pitch : t->cols) + 8 * noise_below(n, 100);
  }
  if (noise_below(n, 6) == 0) t->dtype = random_dtype(n);
  if (noise_below(n, 6) == 0) t->alignment = tmaring_dtype_bytes((tmaring_i32)t->dtype) << noise_below(n, 5);
}

static draft random_draft(noise *n)
{
  const int32_t cols = ONE_OF(n, 1, 3, 33, 64, 255, 256, 257, 769, 1023, 4096, 12289);
  const int32_t rows = ONE_OF(n, 0, 1, 2, 131, 132, 133, 997, 8191, 1048573);
  draft d = draft_make(formulas[noise_below(n, FORMULAS)], random_dtype(n), rows, cols);
  for (int32_t i = 0; i < d.count; ++i) random_tensor(&d, i, n);
  random_options(&d.options, n, cols);
  return d;
}

/* ---- invariants ---- */

static void expect_slot(const tmaring_stream *s, const tmaring_args *a, int32_t aligned)
{
  const tmaring_walk *w = &a->walk;
  const uint32_t row = (uint32_t)tmaring_walk_fill_cols(w) * s->elem_bytes;
  cr_assert_eq(s->slot % 128, 0);
  cr_assert_leq(s->slot + s->slot_bytes, a->smem.stage_bytes);
  cr_assert_eq(s->slot_row % 16, 0);
  const uint32_t phase = aligned ? 0 : 15;
  if (s->dense) {
    cr_assert_geq(s->slot_bytes, row * (uint32_t)w->tile_rows + phase);
  } else {
    cr_assert_geq(s->slot_row, row + phase);
    cr_assert_geq(s->slot_bytes, s->slot_row * (uint32_t)w->tile_rows);
  }
}

static int apart(const tmaring_stream *a, const tmaring_stream *b)
{
  return a->slot + a->slot_bytes <= b->slot || b->slot + b->slot_bytes <= a->slot;
}

static void expect_slots(const tmaring_plan *plan, const tmaring_args *a)
{
  const int32_t aligned = plan->code.aligned;
  int64_t loads = 0;
  for (int32_t i = 0; i < a->input_count; ++i) {
    expect_slot(&a->input[i], a, aligned);
    loads += a->input[i].slot_bytes;
    for (int32_t k = 0; k < i; ++k) cr_assert(apart(&a->input[i], &a->input[k]));
  }
  cr_assert_lt(loads, 1 << 20, "an mbarrier counts fewer bytes");
  for (int32_t o = 0; o < a->output_count && plan->code.staged; ++o) {
    int32_t hosts = 0;
    expect_slot(&a->output[o], a, aligned);
    for (int32_t i = 0; i < a->input_count; ++i) {
      if (apart(&a->output[o], &a->input[i])) continue;
      cr_assert_eq(a->output[o].slot, a->input[i].slot);
      cr_assert_eq(a->output[o].slot_bytes, a->input[i].slot_bytes);
      cr_assert(aligned);
      hosts += 1;
    }
    cr_assert_leq(hosts, 1);
    for (int32_t k = 0; k < o; ++k) cr_assert(apart(&a->output[o], &a->output[k]), "outputs share no slot");
  }
}

static void expect_memory(const tmaring_plan *plan, const tmaring_args *a, int32_t ctas_per_sm)
{
  const tmaring_smem *m = &a->smem;
  const tmaring_machine *machine = &plan->machine;
  cr_assert_leq((int64_t)m->total, machine->smem_per_block_bytes);
  cr_assert_leq(ctas_per_sm, plan->code.min_ctas);
  cr_assert_leq(ctas_per_sm * ((int64_t)m->total + machine->smem_reserved_bytes), machine->smem_per_sm_bytes);
  cr_assert_eq(m->total, m->stages + a->stages * m->stage_bytes);
  cr_assert_eq(m->stage_bytes % 128, 0);
  for (int32_t i = 0; i < a->vector_count; ++i) {
    const tmaring_vector *v = &a->vector[i];
    if (v->smem == TMARING_NOT_STAGED) continue;
    cr_assert_eq(v->smem % 16, 0);
    cr_assert_geq(v->smem, m->vectors);
    cr_assert_leq(v->smem + (uint32_t)a->walk.cols * tmaring_dtype_bytes(v->dtype), m->columns);
  }
  if (a->columns_staged) {
    const int64_t values = tmaring_column_seats(a) * a->column_output_count * tmaring_column_stride(a);
    cr_assert_leq(m->columns + values * (plan->code.wide ? 8 : 4), m->stages);
  }
}

static void expect_scope(const tmaring_plan *plan, const tmaring_args *a)
{
  const tmaring_scope *s = &a->scope;
  const int32_t warps = tmaring_cta_consumer_warps(&a->cta), units = warps / s->warps_per_row;
  cr_assert_eq(warps % s->warps_per_row, 0);
  cr_assert_eq(plan->code.group, s->warps_per_row > 1 || a->walk.cluster > 1);
  cr_assert_eq(plan->code.cluster, a->walk.cluster > 1);
  cr_assert_eq(plan->code.flat, s->kind == TMARING_SCOPE_FLAT);
  cr_assert_eq(plan->code.vec, s->vec);
  if (s->warps_per_row > 1) cr_assert_leq(units, TMARING_MAX_GROUP_UNITS);
  if (s->kind == TMARING_SCOPE_FLAT) {
    const int64_t elems = (int64_t)a->walk.tile_rows * tmaring_walk_fill_cols(&a->walk);
    const int64_t vectors = tmaring_ceil_div(elems, s->vec) + !plan->code.aligned;
    cr_assert_geq((int64_t)s->chunk_vecs * warps, vectors);
    for (int32_t i = 0; i < a->input_count; ++i) cr_assert(a->input[i].dense);
    for (int32_t i = 0; i < a->output_count; ++i) cr_assert(a->output[i].dense);
  } else {
    cr_assert_geq(s->unit_rows * units, a->walk.tile_rows);
  }
}

static void expect_roles(const tmaring_plan *plan, const tmaring_args *a)
{
  const int32_t threads = tmaring_cta_threads(&a->cta);
  cr_assert_eq(tmaring_cta_fault(&a->cta), 0);
  cr_assert_leq(threads, 1024);
  cr_assert_leq(threads, plan->code.max_threads);
  cr_assert_eq(a->cta.slab > 0, a->cta.mode == TMARING_MODE_WARP_SPECIALIZED);
  cr_assert_lt(a->distance, a->stages);
  cr_assert_leq(a->stages, TMARING_MAX_STAGES);
  if (plan->code.registers[1] == 0) return;
  const int32_t consumers = tmaring_cta_consumer_threads(&a->cta);
  cr_assert_eq(threads % 128, 0);
  cr_assert_eq(consumers % 128, 0);
  cr_assert_leq(plan->code.registers[0] * (threads - consumers) + plan->code.registers[1] * consumers, 65536);
}

static void expect_walk(const tmaring_plan *plan, const tmaring_args *a, int64_t rows)
{
  const tmaring_walk *w = &a->walk;
  const int32_t parts = w->pieces * w->cluster;
  cr_assert(w->cluster == 1 || w->pieces == 1);
  cr_assert_eq(w->rows, rows);
  cr_assert_eq(w->tiles, tmaring_ceil_div(rows, (int64_t)w->tile_rows * w->chunk) * (w->spread ? w->pieces : 1));
  cr_assert(w->chunk == 1 || a->column_output_count > 0 || (a->cta.squads > 1 && a->cta.turns == 0));
  cr_assert_geq(w->workers, 1);
  cr_assert_geq(w->slots * w->workers, w->tiles);
  cr_assert(w->order != TMARING_ORDER_TICKET || w->policy == TMARING_POLICY_EXACT);
  cr_assert(w->piece_cols * (int64_t)(parts - 1) < w->cols);
  cr_assert_geq(w->piece_cols * (int64_t)parts, w->cols);
  cr_assert(parts == 1 || ((w->tile_rows == 1 || w->spread) && w->piece_cols % a->scope.vec == 0));
  cr_assert(!w->spread || (w->passes == 1 && a->row_output_count == 0));
  cr_assert_eq(plan->code.pieces, w->pieces > 1 && !w->spread);
}

static void expect_sound(const tmaring_plan *plan, noise *n)
{
  const int64_t rows[] = {0, 1, 132, 8191, noise_below(n, 1 << 20), plan->variant[plan->variant_count - 1].rows_limit};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    tmaring_args a;
    if (tmaring_plan_args(plan, rows[i], &a) != TMARING_OK) {
      cr_assert_gt(rows[i], plan->variant[plan->variant_count - 1].rows_limit);
      continue;
    }
    expect_walk(plan, &a, rows[i]);
    expect_slots(plan, &a);
    expect_memory(plan, &a, tmaring__plan_variant(plan, rows[i])->ctas_per_sm);
    expect_scope(plan, &a);
    expect_roles(plan, &a);
    cr_assert_leq(a.column_output_count ? TMARING_PARTIALS_OFFSET : 0, tmaring_workspace_bytes(plan, rows[i]));
  }
}

/* What the checker has to say about a few of its row counts. */
static void expect_proven(const draft *d, const tmaring_plan *plan, noise *n)
{
  const int64_t rows = noise_below(n, 3000);
  tmaring_args a;
  if (d->options.policy == TMARING_POLICY_UNSAFE || tmaring_plan_args(plan, rows, &a) != TMARING_OK) return;
  cr_assert_eq(tmaring_check(plan, rows, NULL), TMARING_OK, "%s", tmaring_last_detail());
}

/* ---- the run ---- */

static double now_us(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_time(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

#define PLANS 2000

Test(plan_random, accepted_plans_are_sound, .timeout = 120)
{
  static double times[PLANS];
  int32_t accepted = 0, refused[TMARING_STATUS_COUNT] = {0};
  noise n = noise_seed(424242);
  for (int32_t i = 0; i < PLANS; ++i) {
    draft d = random_draft(&n);
    tmaring_status status;
    const double start = now_us();
    tmaring_plan *plan = draft_plan(&d, &status);
    times[i] = now_us() - start;
    cr_assert_eq(plan != NULL, status == TMARING_OK);
    refused[status] += 1;
    if (plan) {
      accepted += 1;
      expect_sound(plan, &n);
      expect_proven(&d, plan, &n);
    } else {
      cr_assert(status == TMARING_ERROR_UNSUPPORTED || status == TMARING_ERROR_CAPACITY, "%s: %s",
                tmaring_status_name(status), tmaring_last_detail());
      cr_assert_gt(strlen(tmaring_last_detail()), 20);
    }
    tmaring_plan_free(plan);
    draft_free(&d);
  }
  qsort(times, PLANS, sizeof times[0], by_time);
  printf(
      "plan_random: %d of %d accepted, %d unsupported, %d over capacity; planning %.1f us median, %.1f us at 99 %%\n",
      accepted, PLANS, refused[TMARING_ERROR_UNSUPPORTED], refused[TMARING_ERROR_CAPACITY], times[PLANS / 2],
      times[PLANS * 99 / 100]);
  cr_expect_geq(accepted * 10, PLANS * 6);
}

#include "block.h"

#include <string.h>

#include "tuning.h"

#define MAX_BLOCK_THREADS 1024
#define MAX_BLOCK_Z       64
#define WARPGROUP         128

static const char *const axis_name[3] = {"x", "y", "z"};

/* 1 where a thread does enough per byte, or rows are long enough, for many threads. */
static int works_hard(const tmaring__facts *facts)
{
  if (tmaring__facts_joins(facts)) return 1;
  if (facts->work >= TUNING_HEAVY_WORK) return 1;
  return tmaring__facts_columns(facts) && (int64_t)facts->cols * facts->widest_bytes > TUNING_COLUMN_SHORT_ROW_BYTES;
}

/* Axes that are left open take what the others leave of the default size. */
static void open_axes(tmaring_cta *cta, const tmaring_plan_options *options, const tmaring__facts *facts, int shared)
{
  const int shared_rows = options->scope != TMARING_AUTO && options->scope != TMARING_SCOPE_FLAT;
  const int sharing = options->registers[1] != TMARING_AUTO && options->registers[1] != 0;
  const int many = works_hard(facts) || shared_rows || sharing;
  const int32_t usual = shared ? TUNING_CONSUMERS_CLUSTER : many ? TUNING_CONSUMERS : TUNING_CONSUMERS_POINTWISE;
  int32_t given = 1;
  for (int i = 0; i < 3; ++i) {
    cta->consumers[i] = options->consumers[i] == TMARING_AUTO ? 1 : options->consumers[i];
    given *= cta->consumers[i];
  }
  if (options->consumers[0] != TMARING_AUTO) return;
  cta->consumers[0] = given < usual && usual % given == 0 ? usual / given : 32;
}

static tmaring_status check_consumers(const tmaring_cta *cta)
{
  const int64_t threads = (int64_t)cta->consumers[0] * cta->consumers[1] * cta->consumers[2];
  if (threads % 32 != 0) {
    return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                         "consumers: got %dx%dx%d = %lld threads, needs whole warps: a multiple of 32",
                         cta->consumers[0], cta->consumers[1], cta->consumers[2], (long long)threads);
  }
  if (threads > MAX_BLOCK_THREADS) {
    return tmaring__fail(TMARING_ERROR_CAPACITY, "consumers: needs %lld threads, a block allows %d; use fewer",
                         (long long)threads, MAX_BLOCK_THREADS);
  }
  if (threads / 32 % cta->squads != 0) {
    return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                         "consumers: got %dx%dx%d = %lld warps, %d squads need as many each; use an even number of "
                         "warps or squads 1",
                         cta->consumers[0], cta->consumers[1], cta->consumers[2], (long long)threads / 32, cta->squads);
  }
  return TMARING_OK;
}

/* 1 where each 128 threads in a row belong to the consumers, or all to the slab. */
static int whole_warpgroups(const tmaring_cta *cta)
{
  const int32_t nx = tmaring_cta_extent(cta, 0), ny = tmaring_cta_extent(cta, 1), threads = tmaring_cta_threads(cta);
  int first = 0;
  if (threads % WARPGROUP != 0) return 0;
  for (int32_t linear = 0; linear < threads; linear += 32) {
    const tmaring_thread t = tmaring_cta_thread(cta, linear % nx, linear / nx % ny, linear / nx / ny);
    const int consumer = t.role == TMARING_ROLE_CONSUMER;
    if (linear % WARPGROUP == 0) first = consumer;
    if (consumer != first) return 0;
  }
  return 1;
}

static tmaring_status refuse_slab(const tmaring_cta *cta, int32_t fault, int sharing)
{
  const char *axis = axis_name[cta->role_axis];
  if (fault == 0 && !sharing) {
    return tmaring__fail(
        TMARING_ERROR_CAPACITY,
        "consumers: %dx%dx%d with a producer slab on axis %s needs more threads than the %d that a block allows; "
        "use fewer consumers or mode pipelined",
        cta->consumers[0], cta->consumers[1], cta->consumers[2], axis, MAX_BLOCK_THREADS);
  }
  if (fault == 0) {
    return tmaring__fail(
        TMARING_ERROR_UNSUPPORTED,
        "registers: %dx%dx%d with a producer slab on axis %s has no layout of at most %d threads in which "
        "each warpgroup of 128 threads has one role; pad another axis or leave registers out",
        cta->consumers[0], cta->consumers[1], cta->consumers[2], axis, MAX_BLOCK_THREADS);
  }
  return tmaring__fail(
      TMARING_ERROR_UNSUPPORTED,
      "consumers: %dx%dx%d with a producer slab on axis %s would mix roles in the warp of thread %d; make "
      "the extent below that axis a multiple of 32 or pad another axis",
      cta->consumers[0], cta->consumers[1], cta->consumers[2], axis, (int)fault - 1);
}

/* The thinnest slab whose roles go by whole warps (register sharing: by whole warpgroups). */
static tmaring_status find_slab(tmaring_cta *cta, int sharing)
{
  const int32_t consumers = tmaring_cta_consumer_threads(cta), others = consumers / cta->consumers[cta->role_axis];
  int32_t first_fault = 0;
  for (cta->slab = 1; consumers + others * cta->slab <= MAX_BLOCK_THREADS; ++cta->slab) {
    if (others * cta->slab % (sharing ? WARPGROUP : 32) != 0) continue;
    if (tmaring_cta_extent(cta, TMARING_AXIS_Z) > MAX_BLOCK_Z) break;
    const int32_t fault = tmaring_cta_fault(cta);
    if (fault == 0 && (!sharing || whole_warpgroups(cta))) return TMARING_OK;
    if (first_fault == 0) first_fault = fault;
  }
  return refuse_slab(cta, first_fault, sharing);
}

static tmaring_status check_registers(const int32_t *registers)
{
  static const char *const role[2] = {"producer", "consumers"};
  for (int i = 0; i < 2; ++i) {
    if (registers[i] >= 24 && registers[i] <= 256 && registers[i] % 8 == 0) continue;
    return tmaring__fail(TMARING_ERROR_UNSUPPORTED, "registers of the %s: got %d, needs a multiple of 8 in 24 .. 256",
                         role[i], registers[i]);
  }
  if (registers[0] <= registers[1]) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                       "registers: got %d for the producer, needs at most the %d of the consumers; swap them",
                       registers[0], registers[1]);
}

/* Registers per thread that a CTA starts with when it has an SM of its own: what register sharing redistributes. */
static int32_t start_registers(const tmaring_machine *machine, int32_t threads)
{
  const int32_t each = machine->registers_per_sm / threads / 8 * 8;
  return each < 256 ? each : 256;
}

/* A take that the pool cannot serve blocks for ever, so that the sums must fit; and a role may not take less than it
 * has. */
static tmaring_status share_registers(tmaring__decision *decision, const tmaring_machine *machine,
                                      tmaring__notes *notes)
{
  int32_t *registers = decision->registers;
  const int32_t consumers = tmaring_cta_consumer_threads(&decision->cta), slab = decision->threads - consumers;
  const int32_t start = start_registers(machine, decision->threads);
  if (registers[1] < start) {
    tmaring__note_add(notes, "registers of the consumers %d -> %d: a CTA of %d threads starts with as many",
                      registers[1], start, decision->threads);
    registers[1] = start;
  }
  const int32_t needs = slab * registers[0] + consumers * registers[1], pool = start * decision->threads;
  if (needs > pool) {
    return tmaring__fail(
        TMARING_ERROR_CAPACITY,
        "registers: %d threads of the producer's warpgroups x %d + %d consumers x %d need %d, the pool of a "
        "CTA of %d threads holds %d; lower one of them",
        slab, registers[0], consumers, registers[1], needs, decision->threads, pool);
  }
  decision->max_threads = decision->threads; /* the launch bound fixes the pool, so it is exact */
  decision->max_ctas = 1;
  return TMARING_OK;
}

/* A cluster's CTA has no producer warp: without room for one, 512 threads have a third more registers. */
static int32_t bound_threads(int32_t threads, int shared)
{
  static const int32_t bound[] = {160, 288, 416, 544, MAX_BLOCK_THREADS};
  if (shared && threads <= TUNING_CONSUMERS_CLUSTER) return TUNING_CONSUMERS_CLUSTER;
  int i = 0;
  while (bound[i] < threads) ++i;
  return bound[i];
}

static tmaring_status bound_ctas(tmaring__decision *decision, const tmaring__facts *facts,
                                 const tmaring_machine *machine)
{
  if (decision->threads > machine->threads_per_sm) {
    return tmaring__fail(TMARING_ERROR_CAPACITY,
                         "threads: needs %d in a block, an SM of the machine allows %d; use fewer "
                         "consumers",
                         decision->threads, machine->threads_per_sm);
  }
  const int shared = tmaring__decision_shares(decision);
  int32_t ctas = shared ? 1 : works_hard(facts) ? TUNING_MAX_CTAS : TUNING_MAX_CTAS_POINTWISE;
  decision->max_threads = bound_threads(decision->threads, shared);
  while (ctas > 1 && (ctas * decision->threads > machine->threads_per_sm ||
                      ctas * decision->max_threads * TUNING_MIN_REGISTERS > machine->registers_per_sm))
    ctas /= 2;
  decision->max_ctas = ctas;
  return TMARING_OK;
}

/* 1: register sharing is asked for and makes sense. */
static tmaring_status ask_registers(tmaring__decision *decision, const tmaring_plan_options *options,
                                    tmaring__notes *notes, int *sharing)
{
  const int32_t *asked = options->registers;
  *sharing = 0;
  if ((asked[0] == TMARING_AUTO || asked[0] == 0) && (asked[1] == TMARING_AUTO || asked[1] == 0)) return TMARING_OK;
  if (decision->cta.mode == TMARING_MODE_PIPELINED) {
    tmaring__note_add(notes, "registers %d, %d -> none: every thread of a pipelined CTA has the same role", asked[0],
                      asked[1]);
    return TMARING_OK;
  }
  TMARING__TRY(check_registers(asked));
  memcpy(decision->registers, asked, sizeof decision->registers);
  *sharing = 1;
  return TMARING_OK;
}

tmaring_status tmaring__block_decide(tmaring__decision *decision, const tmaring_plan_options *options,
                                     const tmaring__facts *facts, const tmaring_machine *machine, tmaring__notes *notes)
{
  tmaring_cta *cta = &decision->cta;
  int sharing;
  open_axes(cta, options, facts, tmaring__decision_shares(decision));
  TMARING__TRY(check_consumers(cta));
  TMARING__TRY(ask_registers(decision, options, notes, &sharing));
  if (sharing && tmaring_cta_consumer_threads(cta) % WARPGROUP != 0) {
    return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                         "consumers: got %d threads, register sharing needs whole warpgroups: a multiple of %d",
                         tmaring_cta_consumer_threads(cta), WARPGROUP);
  }
  cta->slab = 0;
  if (cta->mode == TMARING_MODE_WARP_SPECIALIZED) TMARING__TRY(find_slab(cta, sharing));
  decision->threads = tmaring_cta_threads(cta);
  TMARING__TRY(bound_ctas(decision, facts, machine));
  return sharing ? share_registers(decision, machine, notes) : TMARING_OK;
}

/* The conformance list (docs/conformance.md): its grid of parameter sets, cells that hold what was forced, and the table
 * of results. Needs criterion/criterion.h before it. */
#ifndef TMARING_TESTS_CONFORMANCE_H
#define TMARING_TESTS_CONFORMANCE_H

#include "op_trial.h"

/* ---- the grid ---- */

enum { CONFORMANCE_SETS = 144 };

/* How a CTA is organised. Sharing: 64 registers for threads of the producer, 168 for consumers. */
typedef enum set_type {
  SET_PIPELINED_MBARRIER, /* a stage is free when its empty barrier says so */
  SET_PIPELINED_CTA,      /* a stage is free after a barrier of the CTA */
  SET_ON_X,               /* warp-specialized: 256 consumers, the producer's slab on x ... */
  SET_ON_X_SHARED,        /* ... with register sharing */
  SET_ON_Y,               /* on y: a slab of 256 threads */
  SET_ON_Y_SHARED,
  SET_TYPES
} set_type;

typedef struct conformance_set {
  int32_t index, stages, prefetch, distance, rows, cols;
  set_type type;
  int32_t load; /* tmaring_load_path */
} conformance_set;

extern const conformance_set conformance_sets[CONFORMANCE_SETS];

/* Asks for everything that a set says, and for one of the policies in turn. */
void conformance_force(const conformance_set *set, tmaring_plan_options *options);

/* ---- cells ---- */

/* 1: the plan has every option that is not left open. Else 0, and `text` names the first that differs. `tiles` of the
 * walk bounds the workers. */
int conformance_holds(const tmaring_plan_options *asked, const tmaring_args *args, const tmaring_plan_info *info,
                      char *text, size_t size);
/* One run: as op_trial_run, but refused where the plan does not hold what its options force, with the first note that
 * tells of a change. */
trial_result conformance_run(const op_trial *t, const venue *v);
/* For cells that a venue runs smaller than they are: with TMARING_TEST_COMPILE, puts the whole one's kernels into the
 * cache. 1, or 0 and the result set. */
int conformance_compile(const op_trial *whole, const venue *v, trial_result *result);
/* 1: refused because shared memory or registers do not hold it: the one reason a cell may have. */
int conformance_by_hardware(const trial_result *result);

/* ---- the table ---- */

typedef struct conformance {
  tally sum;
  int32_t section;
  int32_t baseless; /* refusals for another reason than the hardware's */
  char first_baseless[640];
} conformance;

conformance conformance_begin(int32_t section, const char *program, const venue *v);
int conformance_takes(conformance *c);
void conformance_count(conformance *c, const trial_result *result);
/* Runs one cell and counts it. */
void conformance_cell(conformance *c, const op_trial *t, const venue *v);
/* Prints the table's line and its reasons, and adds a row to the table (tally_row). NULL; or why the program does not
 * conform (static until the next call). */
const char *conformance_close(const conformance *c);

/* ---- programs over the grid ---- */

typedef struct conformance_program {
  op_trial (*make)(const conformance_set *set, int32_t way); /* way counts from 0 */
  int32_t ways;                                              /* runs of a cell: all have to pass */
  /* NULL, or 1 where the plan is what upstream's program is. */
  int (*right)(const conformance_set *set, const tmaring_args *args, const tmaring_plan_info *info);
} conformance_program;

/* Every set; a cell is all ways of one. */
void conformance_run_program(conformance *c, const conformance_program *program, const venue *v);

/* References beyond the catalogue's, for op_trial.op, with their formulas: y = exp(x); y = x + x; y = a * b + c;
 * y = (x - mean(x)) / sqrt(mean of squared deviations), and the same with 1e-5 added to what the root is taken of. */
typedef enum conformance_op {
  CONFORMANCE_EXP,
  CONFORMANCE_DOUBLE,
  CONFORMANCE_MUL_ADD,
  CONFORMANCE_STANDARD,
  CONFORMANCE_STANDARD_EPS,
  CONFORMANCE_OPS
} conformance_op;

op_trial conformance_trial(conformance_op op, int64_t rows, int64_t cols);

/* Defines run_NAME, and one test per backend that closes the table's line and asserts that the program conforms. */
#define CONFORMANCE_TEST(name, section, program)                                                                       \
  static void run_##name(conformance *c, const venue *v);                                                              \
  static void close_##name(const venue *v)                                                                             \
  {                                                                                                                    \
    conformance c = conformance_begin(section, program, v);                                                            \
    run_##name(&c, v);                                                                                                 \
    const char *failure = conformance_close(&c);                                                                       \
    cr_assert_null(failure, "%s", failure);                                                                            \
  }                                                                                                                    \
  Test(conformance, name##_cpu, .timeout = 600)                                                                        \
  {                                                                                                                    \
    venue v;                                                                                                           \
    cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));                                                               \
    close_##name(&v);                                                                                                  \
  }                                                                                                                    \
  Test(conformance, name##_cuda, .timeout = 900)                                                                       \
  {                                                                                                                    \
    venue v;                                                                                                           \
    VENUE_NEED_CUDA(&v);                                                                                               \
    close_##name(&v);                                                                                                  \
    venue_close(&v);                                                                                                   \
  }                                                                                                                    \
  static void run_##name(conformance *c, const venue *v)

#endif

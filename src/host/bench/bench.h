/* Measures a prepared plan on either backend, against a copy of the same number of bytes in the same run. */
#ifndef TMARING_HOST_BENCH_H
#define TMARING_HOST_BENCH_H

#include "../base/detail.h"
#include "../plan/plan_state.h"
#include "statistics.h"

typedef struct tmaring__bench_setup {
  const tmaring_kernel *kernel;
  const tmaring_plan *plan;
  int64_t rows;
  const double *scalars; /* of the formula, or NULL where it has none */
  int32_t repetitions;   /* >= 1 */
  int64_t l2_bytes;      /* cuda: operands rotate over more than twice that */
  /* Called before each repetition; may be NULL. */
  void (*progress)(void *context, int32_t done, int32_t total);
  void *progress_context;
} tmaring__bench_setup;

typedef struct tmaring__bench_result {
  int64_t read_bytes, written_bytes; /* compulsory: every input read once, every output written once */
  tmaring__statistics time;          /* of one launch, microseconds */
  tmaring__statistics copy_time;     /* of copying half of those bytes, which reads and writes as many */
  int64_t copy_bytes;                /* read and written by that copy */
  const char *method, *ceiling;      /* in words */
  int32_t sets;                      /* buffer sets that launches rotate over */
  int32_t calls;                     /* launches per repetition */
  int32_t cold;                      /* 1: a set is only met again after twice the L2 */
} tmaring__bench_result;

/* Each of: ERROR_MEMORY, ERROR_NO_DRIVER, ERROR_DRIVER, and what tmaring_launch returns. `gpu` has the context the
 * kernel was prepared in. */
struct tmaring__gpu;
tmaring_status tmaring__bench_cpu(const tmaring__bench_setup *setup, tmaring__bench_result *result);
tmaring_status tmaring__bench_cuda(const tmaring__bench_setup *setup, struct tmaring__gpu *gpu,
                                   tmaring__bench_result *result);

/* One set of operands: where each tensor begins in a block, and what the tensors weigh. */
typedef struct tmaring__layout {
  size_t offset[TMARING__MAX_TENSORS]; /* aligned as the plan was told, and no better */
  size_t bytes[TMARING__MAX_TENSORS];  /* first to last byte, gaps included */
  size_t total;                        /* a multiple of 256 */
  int64_t read_bytes, written_bytes;
} tmaring__layout;

/* ERROR_CAPACITY where the sizes pass 2^62 bytes, or the plan does not serve so many rows. */
tmaring_status tmaring__layout_make(tmaring__layout *layout, const tmaring_plan *plan, int64_t rows);

/* Random elements, none of them zero: floating point in (-2, 2), whole numbers in [-127, 127]; count elements from a
 * position in the sequence. */
void tmaring__fill_random(void *data, tmaring_dtype dtype, size_t count, uint64_t seed);
/* The same for a tensor parameter of a plan; whole numbers of an [M] input are column numbers, as labels are. */
void tmaring__fill_operand(void *data, const tmaring_plan *plan, int32_t index, size_t count);

#endif

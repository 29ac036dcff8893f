/* `y = x + x`, f32, dense, ready to launch in parts: for tests of the calls themselves. */
#ifndef TMARING_TESTS_RIG_H
#define TMARING_TESTS_RIG_H

#include "guarded.h"
#include "venue.h"

typedef struct rig {
  const venue *venue;
  int64_t rows, cols;
  tmaring_formula *formula;
  tmaring_plan *plan;
  tmaring_kernel *kernel;
  void *workspace; /* TMARING_WORKSPACE_BYTES, also where the plan needs none */
  guarded x, y;
} rig;

/* Takes memory and fills x. 0: out of memory. Where a place needs a current context, the calling thread has it. */
int rig_furnish(rig *r, const venue *v, int64_t rows, int64_t cols);
/* Parses, plans and prepares, with options or NULL, and initialises a workspace if one is needed. */
tmaring_status rig_prepare(rig *r, const tmaring_plan_options *options);
/* Both at once; 0 if anything went wrong. */
int rig_make(rig *r, const venue *v, int64_t rows, int64_t cols, const tmaring_plan_options *options);
void rig_free(rig *r);

/* Fills x anew and poisons y. */
int rig_refill(rig *r, uint64_t seed);
/* Launches `rows` rows on a stream, with flags; does not wait. */
tmaring_status rig_launch(const rig *r, int64_t rows, struct CUstream_st *stream, uint32_t flags);
/* After the launch has ended: rows [0, rows) of y are 2 * x exactly, all else is as it was. */
int rig_right(rig *r, int64_t rows);

#endif

/* Where the values of a program are kept. Part of lanes_body.h. */
#ifndef TMARING_HOST_LANES_VALUES_BODY_H
#define TMARING_HOST_LANES_VALUES_BODY_H

#include <math.h>
#include <string.h>

#include "../../base/convert.h"
#include "../../base/mathlib.h"
#include "lanes_frame.h"

typedef tmaring__lanes_frame frame;
typedef tmaring__segment segment;

/* A partial result: a value, and what belongs to it where a reduction has two (tmaring__op_partials). */
typedef struct pair {
  REAL value, extra;
} pair;

static const tmaring__node *node_at(const tmaring__lanes *l, int32_t node)
{
  return &l->plan->program->node[node];
}

static REAL *step_of(const tmaring__lanes *l, int32_t node)
{
  return (REAL *)l->step + (size_t)node * TMARING__STEP_ELEMS;
}

static REAL *rows_of(const tmaring__lanes *l, int32_t warp, int32_t node)
{
  return (REAL *)l->rows + ((size_t)warp * (size_t)l->plan->program->node_count + (size_t)node) * 32;
}

static pair *sums_of(const tmaring__lanes *l, int32_t warp, int32_t reduction)
{
  return (pair *)l->sums + ((size_t)warp * TMARING_MAX_REDUCTIONS + (size_t)reduction) * 32;
}

static pair *scratch_of(const tmaring__lanes *l, uint32_t buffer, int32_t reduction, int32_t warp)
{
  const size_t warps = (size_t)tmaring_cta_consumer_warps(&l->args->cta);
  return (pair *)l->scratch + ((size_t)buffer * TMARING_MAX_REDUCTIONS + (size_t)reduction) * warps + (size_t)warp;
}

#endif

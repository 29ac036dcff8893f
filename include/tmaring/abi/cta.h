/* The shape of a CTA and the role of each of its threads.
 *
 * A pipelined CTA has consumers only. A warp-specialized CTA is the block of consumers padded by a slab on one axis;
 * the slab's first warp is the producer, its other warps are idle. Roles go by whole warps: a layout in which a warp
 * would hold two roles is refused by the planner (tmaring_cta_fault). */
#ifndef TMARING_ABI_CTA_H
#define TMARING_ABI_CTA_H

#include "ring.h"

typedef struct tmaring_cta {
  tmaring_i32 consumers[3]; /* extent of the block of consumers on x, y, z, in threads */
  tmaring_i32 slab;         /* thickness of the slab on role_axis; 0 when pipelined */
  tmaring_i32 role_axis;    /* tmaring_axis of the slab; warp-specialized only */
  tmaring_i32 release;      /* tmaring_release */
  tmaring_i32 mode;         /* tmaring_mode */
  tmaring_i32 war;          /* tmaring_war; pipelined only */
  tmaring_i32 squads;       /* groups of consumer warps that work on fills of their own: 0, 1: one group;
                               warp-specialized also 2 */
  tmaring_i32 turns;        /* 0: squads share tiles, fill about; 1: they take tiles in turn (tmaring_turns) */
} tmaring_cta;

typedef enum tmaring_role { TMARING_ROLE_CONSUMER = 0, TMARING_ROLE_PRODUCER = 1, TMARING_ROLE_IDLE = 2 } tmaring_role;

/* Where a thread stands: its role, and its linear index among the threads of the same part (consumers, or slab). */
typedef struct tmaring_thread {
  tmaring_i32 role;
  tmaring_i32 index;
} tmaring_thread;

TMARING_FN tmaring_i32 tmaring_cta_consumer_threads(const tmaring_cta *c)
{
  return c->consumers[0] * c->consumers[1] * c->consumers[2];
}

TMARING_FN tmaring_i32 tmaring_cta_consumer_warps(const tmaring_cta *c)
{
  return tmaring_cta_consumer_threads(c) / 32;
}

TMARING_FN tmaring_i32 tmaring_cta_squads(const tmaring_cta *c)
{
  return c->squads > 1 ? c->squads : 1;
}

/* Consumer warps of one squad: those that a fill belongs to. Squad q has warps [q, q + 1) * squad_warps. */
TMARING_FN tmaring_i32 tmaring_cta_squad_warps(const tmaring_cta *c)
{
  return tmaring_cta_consumer_warps(c) / tmaring_cta_squads(c);
}

/* Extent of the whole block on an axis. */
TMARING_FN tmaring_i32 tmaring_cta_extent(const tmaring_cta *c, tmaring_i32 axis)
{
  return c->consumers[axis] + (axis == c->role_axis ? c->slab : 0);
}

TMARING_FN tmaring_i32 tmaring_cta_threads(const tmaring_cta *c)
{
  return tmaring_cta_extent(c, 0) * tmaring_cta_extent(c, 1) * tmaring_cta_extent(c, 2);
}

/* No indexing by role_axis: this runs before anything else in a kernel, and a dependent load there costs time. A
 * coordinate can only lie past the block of consumers on the axis that the slab pads. */
TMARING_FN tmaring_thread tmaring_cta_thread(const tmaring_cta *c, tmaring_i32 x, tmaring_i32 y, tmaring_i32 z)
{
  tmaring_thread t;
  const tmaring_i32 nx = c->consumers[0], ny = c->consumers[1], nz = c->consumers[2];
  const int on_x = x >= nx, on_y = y >= ny, on_z = z >= nz;
  if (!(on_x || on_y || on_z)) {
    t.role = TMARING_ROLE_CONSUMER;
    t.index = x + nx * (y + ny * z);
    return t;
  }
  t.index = on_x   ? x - nx + c->slab * (y + ny * z)
            : on_y ? x + nx * (y - ny + c->slab * z)
                   : x + nx * (y + ny * (z - nz));
  t.role = t.index < 32 ? TMARING_ROLE_PRODUCER : TMARING_ROLE_IDLE;
  return t;
}

/* 0, or the linear index of the first thread whose warp would mix roles or whose warp is not one warp of its part,
 * plus 1. Runs on the host. */
TMARING_FN tmaring_i32 tmaring_cta_fault(const tmaring_cta *c)
{
  const tmaring_i32 nx = tmaring_cta_extent(c, 0), ny = tmaring_cta_extent(c, 1), nz = tmaring_cta_extent(c, 2);
  tmaring_thread first = {0, 0};
  tmaring_i32 linear = 0;
  for (tmaring_i32 z = 0; z < nz; ++z) {
    for (tmaring_i32 y = 0; y < ny; ++y) {
      for (tmaring_i32 x = 0; x < nx; ++x, ++linear) {
        const tmaring_thread t = tmaring_cta_thread(c, x, y, z);
        const tmaring_i32 lane = linear % 32;
        if (lane == 0) first = t;
        if (t.role != first.role || t.index != first.index + lane || first.index % 32 != 0) return linear + 1;
      }
    }
  }
  return linear % 32 == 0 ? 0 : linear;
}

#endif

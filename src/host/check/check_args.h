/* The proof of a plan's kernel arguments, apart from the plan: layout, every fill, and the ring. */
#ifndef TMARING_HOST_CHECK_ARGS_H
#define TMARING_HOST_CHECK_ARGS_H

#include "../plan/plan_state.h"

/* Proves arguments whose addresses and hulls are filled in (real or made up; nothing is read). smem_limit: shared
 * memory that a CTA may have, in bytes. boxes may be NULL where no stream is tiled. report may be NULL. ERROR_CHECK with the place of the first fault,
 * ERROR_MEMORY. */
tmaring_status tmaring__check_args(const tmaring_args *args, const tmaring__boxes *boxes, const tmaring__code *code,
                                   const tmaring__program *program, uint32_t smem_limit, tmaring_check_report *report);

/* Its parts, in order. */
tmaring_status tmaring__check_layout(const tmaring_args *args, const tmaring__code *code,
                                     const tmaring__program *program, uint32_t smem_limit);
tmaring_status tmaring__check_paths(const tmaring_args *args, const tmaring__boxes *boxes, const tmaring__code *code);
tmaring_status tmaring__check_coverage(const tmaring_args *args, tmaring_check_report *report);
tmaring_status tmaring__check_fills(const tmaring_args *args, const tmaring__boxes *boxes, const tmaring__code *code,
                                    const tmaring__program *program, tmaring_check_report *report);
tmaring_status tmaring__check_ring(const tmaring_args *args, const tmaring__boxes *boxes, const tmaring__code *code,
                                   const tmaring__program *program, tmaring_check_report *report);

/* Slots that a worker runs through, surplus ones that are loaded included. */
static inline int64_t tmaring__slots_run(const tmaring_walk *w, int32_t worker)
{
  const int64_t slots = tmaring_walk_slots(w, worker);
  if (w->policy != TMARING_POLICY_SKIP) return slots;
  return tmaring_min_i64(slots, tmaring_walk_valid_slots(w, worker));
}

#endif

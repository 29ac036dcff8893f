/* A plan laid open for printing. */
#ifndef TMARING_HOST_PLAN_VIEW_H
#define TMARING_HOST_PLAN_VIEW_H

#include "job.h"

/* One region of a CTA's shared memory. */
typedef struct tmaring__region {
  const char *name;
  uint32_t offset, bytes;
} tmaring__region;

#define TMARING__REGIONS 8 /* what lies before the stages, then the stages */

typedef struct tmaring__plan_view {
  const tmaring__job *job;
  tmaring_args args; /* of a launch with job->rows rows */
  tmaring_plan_info info;
  const tmaring__program *program;
  int32_t wide;    /* 1: arithmetic in double */
  int64_t slots;   /* of all workers */
  int64_t surplus; /* slots past the last tile */
  int64_t chunks;  /* of rows; each leaves one partial result per column and seat. 0: no column reductions */
  size_t workspace_bytes;
  uint32_t full_count, empty_count;
  int32_t fills_per_tile;
  tmaring__region region[TMARING__REGIONS];
} tmaring__plan_view;

tmaring_status tmaring__plan_view_make(tmaring__plan_view *view, const tmaring__job *job);

/* Prints the plan on stdout, with notes where `explain`. */
void tmaring__plan_print_text(const tmaring__plan_view *view, int explain);
void tmaring__plan_print_smem(const tmaring__plan_view *view);
/* The same as one JSON object. 0, or an exit code after a message. */
int tmaring__plan_print_json(const tmaring__plan_view *view);

#endif

/* Step 2 of planning: what follows from the options and the formula by rules, before any candidate is weighed. */
#ifndef TMARING_HOST_DECISION_H
#define TMARING_HOST_DECISION_H

#include "facts.h"
#include "note.h"

typedef struct tmaring__decision {
  tmaring_cta cta;
  int32_t threads;
  int32_t max_threads;  /* launch bound */
  int32_t max_ctas;     /* per SM, by threads and registers */
  int32_t registers[2]; /* 0, 0: no register sharing */
  int32_t order;        /* tmaring_order, or TMARING_AUTO: by the bytes moved */
  int32_t policy;
  int32_t store;
  int32_t load[TMARING_MAX_STREAMS]; /* tmaring_load_path of each input */
  int32_t scope;                     /* tmaring_scope_kind; AUTO: by the row */
  int32_t lanes_per_row;             /* TMARING_AUTO: by the row */
  int32_t warps_per_row;             /* TMARING_AUTO: by the row */
  int32_t stages;                    /* TMARING_AUTO: searched */
  int32_t prefetch;                  /* as asked, or TMARING_AUTO */
  int32_t tile_rows;                 /* TMARING_AUTO: searched */
  int32_t piece_cols;                /* TMARING_AUTO: searched; cols: whole rows */
  int32_t workers;                   /* TMARING_AUTO: all SMs */
  int32_t cluster;                   /* 1: rows are not shared by CTAs; TMARING_AUTO: by 2, 4 or 8, searched */
  int32_t multicast;                 /* CTAs that load [N] inputs together; 1: each for itself */
  int32_t debug;
  int32_t in_place[TMARING_MAX_STREAMS]; /* per output: the input whose slot it takes, or -1 */
} tmaring__decision;

/* Normalises options, with a note for each change. Errors: ARGUMENT (a value out of range), UNSUPPORTED, CAPACITY. */
tmaring_status tmaring__decide(tmaring__decision *decision, const tmaring_plan_options *options,
                               const tmaring__facts *facts, const tmaring_machine *machine, tmaring__notes *notes);

/* Parts of it that tile programs share. Mode, release, role axis and war; `shared`: rows are shared by a cluster. */
void tmaring__decide_roles(tmaring_cta *cta, const tmaring_plan_options *options, int shared, tmaring__notes *notes);
/* Order, policy, workers, stages and prefetch. Needs decision->cluster. An order left open stays so. */
void tmaring__decide_walk(tmaring__decision *decision, const tmaring_plan_options *options, tmaring__notes *notes);

/* 1 where rows are shared by the CTAs of a cluster. */
static inline int tmaring__decision_shares(const tmaring__decision *decision)
{
  return decision->cluster != 1;
}

/* 1 where results go through shared memory. */
static inline int tmaring__decision_stages(const tmaring__decision *decision)
{
  return decision->store != TMARING_STORE_DIRECT;
}

/* 1 where a fill holds a piece of more than one row. */
static inline int tmaring__decision_strips(const tmaring__decision *decision, const tmaring__facts *facts)
{
  return decision->piece_cols != TMARING_AUTO && decision->piece_cols < facts->cols &&
         decision->tile_rows != TMARING_AUTO && decision->tile_rows > 1;
}

/* Names for notes and messages; static. */
const char *tmaring__order_name(int32_t order);
const char *tmaring__policy_name(int32_t policy);
const char *tmaring__scope_name(int32_t kind);
const char *tmaring__mode_name(int32_t mode);

#endif

/* The plans and kernels that calls of ops have made. Process-wide. */
#ifndef TMARING_HOST_PLAN_CACHE_H
#define TMARING_HOST_PLAN_CACHE_H

#include "op_key.h"

/* Never changes once it can be found, and stays until tmaring_ops_reset. */
typedef struct tmaring__op_entry {
  struct tmaring__op_entry *next;
  tmaring__op_key key;
  tmaring_plan *plan;
  tmaring_kernel *kernel;
} tmaring__op_entry;

/* NULL where there is none. No lock, no driver call. */
const tmaring__op_entry *tmaring__plan_cache_find(const tmaring__op_request *request);

/* Finds or makes an entry; plans, loads and publishes under a lock, so that threads that ask for the same get the same.
 * All errors of tmaring_plan_create and tmaring_prepare, and of tmaring__op_request_check. */
tmaring_status tmaring__plan_cache_get(const tmaring__op_request *request, const tmaring__op_entry **entry);

/* The plan of a request, outside of the cache. The caller's. The context is the current one. */
tmaring_status tmaring__plan_cache_plan(const tmaring__op_request *request, tmaring_plan **plan);

#endif

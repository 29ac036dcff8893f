#include "plan_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../base/detail.h"
#include "op_context.h"

#define BUCKETS 1024 /* a power of two */

static _Atomic(tmaring__op_entry *) bucket[BUCKETS];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

const tmaring__op_entry *tmaring__plan_cache_find(const tmaring__op_request *request)
{
  const tmaring__op_entry *e = atomic_load_explicit(&bucket[request->hash % BUCKETS], memory_order_acquire);
  while (e && !tmaring__op_key_same(&e->key, &request->key)) e = e->next;
  return e;
}

/* Without a workspace no tickets: the order that needs none. */
tmaring_status tmaring__plan_cache_plan(const tmaring__op_request *request, tmaring_plan **plan)
{
  tmaring_machine machine;
  tmaring_plan_options options;
  const tmaring__op_key *key = &request->key;
  *plan = NULL;
  TMARING__TRY(tmaring__op_request_check(request));
  TMARING__TRY(tmaring__op_context_machine((tmaring_backend)key->backend, &machine));
  tmaring_plan_options_init(&options);
  if (!key->tickets) options.order = TMARING_ORDER_CYCLIC;
  return tmaring_plan_create(plan, request->state->formula, key->tensor, key->count, &machine, &options);
}

static void free_entry(tmaring__op_entry *entry)
{
  tmaring_kernel_free(entry->kernel);
  tmaring_plan_free(entry->plan);
  free(entry);
}

static tmaring_status make_entry(const tmaring__op_request *request, tmaring__op_entry **entry)
{
  tmaring__op_entry *made = calloc(1, sizeof *made);
  tmaring_status status;
  if (!made) return tmaring__fail(TMARING_ERROR_MEMORY, "%s: out of host memory", request->state->name);
  made->key = request->key;
  TMARING__TRY_GOTO(tmaring__plan_cache_plan(request, &made->plan), failed);
  TMARING__TRY_GOTO(tmaring_prepare(&made->kernel, made->plan, (tmaring_backend)request->key.backend), failed);
  *entry = made;
  return TMARING_OK;
failed:
  free_entry(made);
  return status;
}

static tmaring_status make_in_context(const tmaring__op_request *request, tmaring__op_entry **entry)
{
  const tmaring_backend backend = (tmaring_backend)request->key.backend;
  TMARING__TRY(tmaring__op_context_enter(backend, request->key.context));
  const tmaring_status status = make_entry(request, entry);
  tmaring__op_context_leave(backend, request->key.context);
  return status;
}

static void publish(const tmaring__op_request *request, tmaring__op_entry *entry)
{
  _Atomic(tmaring__op_entry *) *head = &bucket[request->hash % BUCKETS];
  entry->next = atomic_load_explicit(head, memory_order_relaxed);
  atomic_store_explicit(head, entry, memory_order_release);
}

tmaring_status tmaring__plan_cache_get(const tmaring__op_request *request, const tmaring__op_entry **entry)
{
  tmaring_status status = TMARING_OK;
  tmaring__op_entry *made = NULL;
  pthread_mutex_lock(&making);
  *entry = tmaring__plan_cache_find(request);
  if (!*entry) status = make_in_context(request, &made);
  if (made) {
    publish(request, made);
    *entry = made;
  }
  pthread_mutex_unlock(&making);
  return status;
}

void tmaring_ops_reset(void)
{
  pthread_mutex_lock(&making);
  for (int32_t i = 0; i < BUCKETS; ++i) {
    tmaring__op_entry *e = atomic_exchange(&bucket[i], NULL);
    while (e) {
      tmaring__op_entry *next = e->next;
      free_entry(e);
      e = next;
    }
  }
  pthread_mutex_unlock(&making);
}

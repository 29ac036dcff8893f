#include "../base/detail.h"
#include "op_context.h"
#include "plan_cache.h"

/* What the call asks for. */
static tmaring_status begin(int32_t index, const tmaring_view *const *views, int32_t count, const tmaring_call *call,
                            struct CUstream_st *stream, tmaring__op_request *request)
{
  const tmaring__op_state *state;
  TMARING__TRY(tmaring__op_state_get(index, &state));
  TMARING__TRY(tmaring__op_request_make(request, state, views, count, call));
  TMARING__TRY(tmaring__op_context_of(request->call->backend, stream, &request->key.context));
  tmaring__op_request_hash(request);
  return TMARING_OK;
}

static tmaring_status refuse_capture(const tmaring__op_request *request)
{
  return tmaring__fail(TMARING_ERROR_NOT_PREPARED,
                       "%s: the stream is being captured, and there is no kernel yet for these types, N, strides and "
                       "alignments; call it once before the capture, or tmaring_op_prepare",
                       request->state->name);
}

static tmaring_status find_entry(const tmaring__op_request *request, struct CUstream_st *stream,
                                 const tmaring__op_entry **entry)
{
  *entry = tmaring__plan_cache_find(request);
  if (*entry) return TMARING_OK;
  if (tmaring__op_context_captures(request->call->backend, stream)) return refuse_capture(request);
  return tmaring__plan_cache_get(request, entry);
}

static tmaring_status check_workspace(const tmaring__op_request *request, const tmaring__op_entry *entry)
{
  if (!request->key.tickets) return TMARING_OK;
  const size_t needs = tmaring_workspace_bytes(entry->plan, request->rows);
  const size_t got = request->call->workspace ? request->call->workspace_bytes : 0;
  if (got >= needs) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ARGUMENT,
                       "call->workspace_bytes: got %zu, needs %zu for M = %lld; see tmaring_op_workspace_bytes and "
                       "tmaring_op_workspace_init",
                       got, needs, (long long)request->rows);
}

static tmaring_status launch(const tmaring__op_request *request, const tmaring__op_entry *entry, const double *scalars,
                             struct CUstream_st *stream)
{
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  TMARING__TRY(check_workspace(request, entry));
  params.rows = request->rows;
  params.rows_device = request->call->rows_device;
  params.data = request->data;
  params.scalars = scalars;
  params.workspace = request->call->workspace;
  params.flags = request->call->flags;
  return tmaring_launch(entry->kernel, &params, stream);
}

tmaring_status tmaring_op_launch(int32_t index, const tmaring_view *const *views, int32_t count, const double *scalars,
                                 const tmaring_call *call, struct CUstream_st *stream)
{
  tmaring__op_request request;
  const tmaring__op_entry *entry;
  TMARING__TRY(begin(index, views, count, call, stream, &request));
  TMARING__TRY(find_entry(&request, stream, &entry));
  if (request.call->flags & TMARING_CALL_PREPARE) return TMARING_OK;
  return launch(&request, entry, scalars, stream);
}

tmaring_status tmaring_op_prepare(int32_t index, const tmaring_view *const *views, int32_t count,
                                  const tmaring_call *call, struct CUstream_st *stream)
{
  tmaring_call preparing = TMARING_CALL_INIT;
  if (call) {
    TMARING__NEED_SIZE(call);
    preparing = *call;
  }
  preparing.flags |= TMARING_CALL_PREPARE;
  return tmaring_op_launch(index, views, count, NULL, &preparing, stream);
}

tmaring_status tmaring_op_workspace_bytes(int32_t index, const tmaring_view *const *views, int32_t count,
                                          const tmaring_call *call, size_t *bytes)
{
  tmaring__op_request request;
  tmaring_plan *plan = NULL;
  const tmaring__op_state *state;
  TMARING__NEED(bytes);
  TMARING__TRY(tmaring__op_state_get(index, &state));
  TMARING__TRY(tmaring__op_request_make(&request, state, views, count, call));
  request.key.tickets = 1;
  TMARING__TRY(tmaring__plan_cache_plan(&request, &plan));
  *bytes = tmaring_workspace_bytes(plan, request.rows);
  tmaring_plan_free(plan);
  return TMARING_OK;
}

/* Counters are all that has to be zero. */
tmaring_status tmaring_op_workspace_init(void *workspace, size_t bytes, tmaring_backend backend,
                                         struct CUstream_st *stream)
{
  TMARING__NEED(workspace);
  if ((uintptr_t)workspace % 16 != 0)
    return tmaring__fail(TMARING_ERROR_ALIGNMENT, "workspace: got %p, needs a multiple of 16", workspace);
  if (bytes < TMARING_WORKSPACE_BYTES)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "bytes: got %zu, needs at least %d", bytes, TMARING_WORKSPACE_BYTES);
  return tmaring__op_context_zero(backend, workspace, TMARING_WORKSPACE_BYTES, stream);
}

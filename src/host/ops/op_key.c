#include "op_key.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../base/detail.h"

static const tmaring_call usual_call = TMARING_CALL_INIT;

static int has_rows(const tmaring_parameter *parameter)
{
  return parameter->shape != TMARING_SHAPE_ROW;
}

/* The largest power of two that divides the address, at most 16. */
static uint32_t alignment_of(const void *data)
{
  const uintptr_t address = (uintptr_t)data | 16;
  return (uint32_t)(address & (~address + 1));
}

/* Strides that mean the same are written the same; what means nothing goes on to the check of tensors. */
static void enter_strides(tmaring_tensor *tensor, const tmaring_parameter *parameter, const tmaring_view *view)
{
  tensor->pitch = view->pitch;
  if (tensor->pitch == 0) tensor->pitch = parameter->shape == TMARING_SHAPE_COLUMN ? 1 : view->cols;
  tensor->step = view->step;
  if (tensor->step == 0 && parameter->shape == TMARING_SHAPE_GROUP) tensor->step = 1;
  tensor->group_rows = view->group_rows;
  tensor->group_pitch = view->group_pitch;
}

static void enter_tensor(tmaring_tensor *tensor, const tmaring_parameter *parameter, const tmaring_view *view)
{
  tensor->size = sizeof *tensor;
  tensor->dtype = view->dtype;
  tensor->rows = has_rows(parameter) ? 0 : view->rows;
  tensor->cols = view->cols;
  tensor->alignment = alignment_of(view->data);
  enter_strides(tensor, parameter, view);
}

static tmaring_status check_view(const tmaring_parameter *parameter, const tmaring_view *view)
{
  if (!view) return tmaring__fail(TMARING_ERROR_ARGUMENT, "%s: got NULL, needs a view", parameter->name);
  if (view->size == sizeof *view) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ARGUMENT, "%s.size: got %zu, needs %zu; start from TMARING_VIEW_INIT",
                       parameter->name, view->size, sizeof *view);
}

/* M comes from the first tensor that has rows. */
static tmaring_status agree_rows(tmaring__op_request *request, const tmaring_view *const *views, int32_t i,
                                 int32_t *owner)
{
  const tmaring_parameter *parameter = &request->state->tensor[i];
  if (!has_rows(parameter)) return TMARING_OK;
  if (parameter->shape == TMARING_SHAPE_COLUMN && views[i]->pitch == TMARING_ONE_VALUE) return TMARING_OK;
  if (*owner < 0) {
    *owner = i;
    request->rows = views[i]->rows;
    if (request->rows >= 0) return TMARING_OK;
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.rows: got %lld, needs 0 or more", parameter->name,
                         (long long)request->rows);
  }
  if (views[i]->rows == request->rows) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE, "%s.rows: got %lld, needs %lld: M of %s", parameter->name,
                       (long long)views[i]->rows, (long long)request->rows, request->state->tensor[*owner].name);
}

static tmaring_status enter_views(tmaring__op_request *request, const tmaring_view *const *views)
{
  const tmaring__op_state *state = request->state;
  int32_t owner = -1;
  for (int32_t i = 0; i < state->tensor_count; ++i) {
    const int32_t place = tmaring__op_formula_index(state, i);
    TMARING__TRY(check_view(&state->tensor[i], views[i]));
    TMARING__TRY(agree_rows(request, views, i, &owner));
    enter_tensor(&request->key.tensor[place], &state->tensor[i], views[i]);
    request->data[place] = views[i]->data;
  }
  return TMARING_OK;
}

static tmaring_status check_call(const tmaring_call *call)
{
  const uint32_t known = TMARING_LAUNCH_DEPENDENT | TMARING_CALL_PREPARE;
  TMARING__NEED_SIZE(call);
  if (call->backend != TMARING_BACKEND_CUDA && call->backend != TMARING_BACKEND_CPU)
    return tmaring__fail(TMARING_ERROR_ARGUMENT,
                         "call->backend: got %d, needs TMARING_BACKEND_CUDA or TMARING_BACKEND_CPU",
                         (int)call->backend);
  if (call->flags & ~known)
    return tmaring__fail(TMARING_ERROR_ARGUMENT,
                         "call->flags: got 0x%x, needs a combination of TMARING_LAUNCH_DEPENDENT and "
                         "TMARING_CALL_PREPARE",
                         (unsigned)call->flags);
  return TMARING_OK;
}

tmaring_status tmaring__op_request_make(tmaring__op_request *request, const tmaring__op_state *state,
                                        const tmaring_view *const *views, int32_t count, const tmaring_call *call)
{
  memset(request, 0, sizeof *request);
  request->state = state;
  request->call = call ? call : &usual_call;
  TMARING__TRY(check_call(request->call));
  TMARING__NEED(views);
  if (count != state->tensor_count)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "count: got %d views, needs %d: outputs, then inputs", (int)count,
                         (int)state->tensor_count);
  request->key.index = state->index;
  request->key.backend = (int32_t)request->call->backend;
  request->key.tickets = request->call->workspace != NULL || state->sums_columns;
  request->key.count = count;
  return enter_views(request, views);
}

static size_t used_bytes(const tmaring__op_key *key)
{
  return offsetof(tmaring__op_key, tensor) + (size_t)key->count * sizeof key->tensor[0];
}

void tmaring__op_request_hash(tmaring__op_request *request)
{
  request->hash = XXH3_64bits(&request->key, used_bytes(&request->key));
}

int tmaring__op_key_same(const tmaring__op_key *a, const tmaring__op_key *b)
{
  return a->count == b->count && memcmp(a, b, used_bytes(a)) == 0;
}

tmaring_status tmaring__op_request_check(const tmaring__op_request *request)
{
  const tmaring__op_state *state = request->state;
  for (int32_t i = 0; i < state->tensor_count; ++i) {
    const tmaring_tensor *tensor = &request->key.tensor[tmaring__op_formula_index(state, i)];
    TMARING__TRY(tmaring__op_type_check(state, i, tensor->dtype));
    const uint32_t element = tmaring_dtype_bytes((tmaring_i32)tensor->dtype);
    if (tensor->alignment >= element) continue;
    return tmaring__fail(TMARING_ERROR_ALIGNMENT, "%s.data: got %p, needs a multiple of the element size %u",
                         state->tensor[i].name, request->data[tmaring__op_formula_index(state, i)], (unsigned)element);
  }
  return TMARING_OK;
}

/* Step 1 of a tile plan: tensors by themselves, then together. */
#include <string.h>

#include "tile_state.h"

#define MAX_BYTES ((int64_t)1 << 62)

const char *tmaring__tile_name(tmaring_tile_op op, int32_t t)
{
  static const char *const name[2][TMARING_MAX_PANELS] = {{"x", "y", ""}, {"a", "b", "c"}};
  return name[op == TMARING_TILE_MATMUL][t];
}

tmaring_status tmaring__tile_blame(tmaring_tile_op op, int32_t t, tmaring_status status)
{
  char text[400];
  strncpy(text, tmaring_last_detail(), sizeof text - 1); /* it is about to be written over */
  text[sizeof text - 1] = '\0';
  return tmaring__fail(status, "%s: %s", tmaring__tile_name(op, t), text);
}

/* ---- one tensor ---- */

static void enter_strides(tmaring_tile_tensor *t)
{
  int64_t dense = 1;
  for (int32_t d = 0; d < t->rank; ++d) {
    if (t->strides[d] != 0) return;
  }
  for (int32_t d = 0; d < t->rank; ++d) {
    t->strides[d] = dense;
    dense *= t->dims[d];
  }
}

static tmaring_status check_dims(const tmaring_tile_tensor *t)
{
  double bytes = tmaring_dtype_bytes((tmaring_i32)t->dtype);
  for (int32_t d = 0; d < t->rank; ++d) {
    if (t->dims[d] < 1 || t->dims[d] > TMARING_MAX_COORDINATES)
      return tmaring__fail(TMARING_ERROR_SHAPE, "dims[%d]: got %lld, needs 1 .. %d", d, (long long)t->dims[d],
                           TMARING_MAX_COORDINATES);
    bytes *= (double)t->dims[d];
  }
  if (bytes <= (double)MAX_BYTES) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE, "dims: make %.3g bytes, needs at most 2^62; cut the tensor", bytes);
}

static tmaring_status check_strides(const tmaring_tile_tensor *t)
{
  double last = tmaring_dtype_bytes((tmaring_i32)t->dtype);
  for (int32_t d = 0; d < t->rank; ++d) {
    if (t->strides[d] < 1)
      return tmaring__fail(TMARING_ERROR_SHAPE,
                           "strides[%d]: got %lld elements, needs at least 1; leave all 0 for a dense tensor", d,
                           (long long)t->strides[d]);
    last += (double)(t->dims[d] - 1) * (double)t->strides[d] * tmaring_dtype_bytes((tmaring_i32)t->dtype);
  }
  if (t->strides[0] != 1 && t->dims[0] > 1)
    return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                         "strides[0]: got %lld elements, needs 1: elements of the innermost dimension lie next to each "
                         "other; permute the dimensions",
                         (long long)t->strides[0]);
  if (last <= (double)MAX_BYTES) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE, "strides: reach %.3g bytes, needs at most 2^62; cut the tensor", last);
}

/* Nobody steps along an axis of one element: its stride is one that a tensor map takes. */
static void settle_single(tmaring_tile_tensor *t)
{
  const uint64_t elem = tmaring_dtype_bytes((tmaring_i32)t->dtype);
  t->strides[0] = 1;
  for (int32_t d = 1; d < t->rank; ++d) {
    if (t->dims[d] == 1) t->strides[d] = (int64_t)(tmaring_round_up((uint64_t)t->dims[0] * elem, 16) / elem);
  }
}

static tmaring_status check_tensor(tmaring_tile_tensor *t)
{
  const uint32_t elem = tmaring_dtype_bytes((tmaring_i32)t->dtype);
  if (t->size != sizeof *t)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "size: got %zu, needs %zu; use TMARING_TILE_TENSOR_INIT", t->size,
                         sizeof *t);
  if (elem == 0) return tmaring__fail(TMARING_ERROR_TYPE, "dtype: got %d, which is none", (int)t->dtype);
  if (t->rank < 1 || t->rank > TMARING_MAX_RANK)
    return tmaring__fail(TMARING_ERROR_SHAPE, "rank: got %d, needs 1 .. %d; fold dimensions that follow each other",
                         t->rank, TMARING_MAX_RANK);
  if (t->alignment == 0) t->alignment = 16;
  if ((t->alignment & (t->alignment - 1)) != 0 || t->alignment % elem != 0)
    return tmaring__fail(TMARING_ERROR_ALIGNMENT, "alignment: got %u, needs a power of two from the element's %u on",
                         t->alignment, elem);
  TMARING__TRY(check_dims(t));
  enter_strides(t);
  TMARING__TRY(check_strides(t));
  settle_single(t);
  return TMARING_OK;
}

int64_t tmaring__tile_tensor_bytes(const tmaring_tile_tensor *t)
{
  int64_t last = 1;
  for (int32_t d = 0; d < t->rank; ++d) last += (t->dims[d] - 1) * t->strides[d];
  return last * tmaring_dtype_bytes((tmaring_i32)t->dtype);
}

/* Elements of an output are apart: ordered by stride, each dimension steps over all before it. */
static tmaring_status check_apart(const tmaring_tile_tensor *t)
{
  int64_t reach = 0; /* of the dimensions looked at so far, in elements */
  uint32_t done = 0;
  for (int32_t n = 0; n < t->rank; ++n) {
    int32_t least = -1;
    for (int32_t d = 0; d < t->rank; ++d) {
      if ((done >> d & 1u) == 0 && (least < 0 || t->strides[d] < t->strides[least])) least = d;
    }
    if (t->dims[least] > 1 && t->strides[least] <= reach)
      return tmaring__fail(TMARING_ERROR_SHAPE,
                           "strides[%d]: got %lld elements, needs more than %lld: elements of an output must not share "
                           "memory",
                           least, (long long)t->strides[least], (long long)reach);
    reach += (t->dims[least] - 1) * t->strides[least];
    done |= 1u << least;
  }
  return TMARING_OK;
}

/* ---- together ---- */

static int32_t element_stride(const tmaring__tile_draft *w, int32_t d)
{
  return w->options.element_strides[d] == TMARING_AUTO ? 1 : w->options.element_strides[d];
}

static tmaring_status same_types(const tmaring__tile_draft *w)
{
  if (w->tensor[0].dtype == w->tensor[1].dtype) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_TYPE, "%s: got %s, needs the type of %s, which is %s",
                       tmaring__tile_name(w->op, 1), tmaring_dtype_name(w->tensor[1].dtype),
                       tmaring__tile_name(w->op, 0), tmaring_dtype_name(w->tensor[0].dtype));
}

static tmaring_status refuse_dim(const tmaring__tile_draft *w, int32_t t, int32_t d, int64_t needs)
{
  return tmaring__fail(TMARING_ERROR_SHAPE, "%s: dims[%d]: got %lld, needs %lld", tmaring__tile_name(w->op, t), d,
                       (long long)w->tensor[t].dims[d], (long long)needs);
}

/* Axes that the output of a copy or transpose, or a product, does not have are 1, or left open. */
static tmaring_status check_axes(const tmaring__tile_draft *w)
{
  const int32_t axes = w->op == TMARING_TILE_MATMUL ? 3 : w->tensor[w->output].rank;
  for (int32_t d = axes; d < TMARING_MAX_RANK; ++d) {
    const int32_t box = w->options.box[d];
    const int boxed = box != TMARING_AUTO && box != 1;
    if (!boxed && element_stride(w, d) == 1) continue;
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "%s[%d]: got %d, needs 1 or TMARING_AUTO: there are %d axes",
                         boxed ? "box" : "element_strides", d, boxed ? box : element_stride(w, d), axes);
  }
  return TMARING_OK;
}

static tmaring_status match_copy(tmaring__tile_draft *w)
{
  const tmaring_tile_tensor *x = &w->tensor[0], *y = &w->tensor[1];
  TMARING__TRY(same_types(w));
  if (x->rank != y->rank)
    return tmaring__fail(TMARING_ERROR_SHAPE, "y: rank: got %d, needs the %d of x", y->rank, x->rank);
  for (int32_t d = 0; d < x->rank; ++d) {
    const int64_t taken = tmaring_ceil_div(x->dims[d], element_stride(w, d));
    if (y->dims[d] != taken) return refuse_dim(w, 1, d, taken);
  }
  return TMARING_OK;
}

static tmaring_status match_transpose(tmaring__tile_draft *w)
{
  TMARING__TRY(same_types(w));
  for (int32_t t = 0; t < 2; ++t) {
    if (w->tensor[t].rank != 2)
      return tmaring__fail(TMARING_ERROR_SHAPE, "%s: rank: got %d, needs 2", tmaring__tile_name(w->op, t),
                           w->tensor[t].rank);
  }
  for (int32_t d = 0; d < 2; ++d) {
    if (w->tensor[1].dims[d] != w->tensor[0].dims[1 - d]) return refuse_dim(w, 1, d, w->tensor[0].dims[1 - d]);
  }
  return TMARING_OK;
}

/* Keeps dimensions `inner` and `outer` of a tensor; 0: another one is longer than 1, or rows would not be rows. */
static int squeeze(tmaring_tile_tensor *to, const tmaring_tile_tensor *from, int32_t inner, int32_t outer)
{
  for (int32_t d = 0; d < from->rank; ++d) {
    if (d != inner && d != outer && from->dims[d] != 1) return 0;
  }
  if (from->strides[inner] != 1 && from->dims[inner] != 1) return 0;
  *to = *from;
  memset(to->dims, 0, sizeof to->dims);
  memset(to->strides, 0, sizeof to->strides);
  to->rank = 2;
  to->dims[0] = from->dims[inner];
  to->dims[1] = from->dims[outer];
  to->strides[0] = 1;
  to->strides[1] = from->strides[outer];
  return 1;
}

/* Finds the two dimensions of sizes `inner` and `outer` (0: any) of a tensor that may have others of size 1. */
static int find_pair(tmaring_tile_tensor *to, const tmaring_tile_tensor *from, int64_t inner, int64_t outer)
{
  for (int32_t i = 0; i < from->rank; ++i) {
    for (int32_t o = i + 1; o < from->rank; ++o) {
      if ((inner == 0 || from->dims[i] == inner) && (outer == 0 || from->dims[o] == outer) && squeeze(to, from, i, o))
        return 1;
    }
  }
  return 0;
}

static tmaring_status refuse_pair(const tmaring__tile_draft *w, int32_t t, int64_t inner, int64_t outer)
{
  const tmaring_tile_tensor *got = &w->tensor[t];
  if (got->rank < 2)
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s: rank: got %d, needs 2, or more with dimensions of size 1",
                         tmaring__tile_name(w->op, t), got->rank);
  return tmaring__fail(TMARING_ERROR_SHAPE,
                       "%s: dims: got %lld and %lld%s, needs %lld and %lld, innermost first, any others of size 1",
                       tmaring__tile_name(w->op, t), (long long)got->dims[0], (long long)got->dims[1],
                       got->rank > 2 ? " and more" : "", (long long)inner, (long long)outer);
}

/* c tells m and n, then a tells k. Sizes of 1 leave a choice, of which any that fits serves. */
static tmaring_status match_matmul(tmaring__tile_draft *w)
{
  const tmaring_tile_tensor *given = w->tensor;
  tmaring_tile_tensor a, b, c;
  if (!find_pair(&c, &given[2], 0, 0)) return refuse_pair(w, 2, 1, 1);
  const int64_t n = c.dims[0], m = c.dims[1];
  if (!find_pair(&a, &given[0], 0, m)) return refuse_pair(w, 0, given[1].dims[1], m);
  if (!find_pair(&b, &given[1], n, a.dims[0])) return refuse_pair(w, 1, n, a.dims[0]);
  w->tensor[0] = a;
  w->tensor[1] = b;
  w->tensor[2] = c;
  return TMARING_OK;
}

static tmaring_status match_products(tmaring__tile_draft *w)
{
  const tmaring_dtype in = w->tensor[0].dtype, out = w->tensor[2].dtype;
  TMARING__TRY(same_types(w));
  if (in != TMARING_F32 && in != TMARING_F16 && in != TMARING_BF16)
    return tmaring__fail(TMARING_ERROR_TYPE, "a: dtype: got %s, needs f32, f16 or bf16", tmaring_dtype_name(in));
  if (out != TMARING_F32 && out != in)
    return tmaring__fail(TMARING_ERROR_TYPE, "c: dtype: got %s, needs f32 or the inputs' %s", tmaring_dtype_name(out),
                         tmaring_dtype_name(in));
  return match_matmul(w);
}

static tmaring_status no_element_strides(const tmaring__tile_draft *w)
{
  for (int32_t d = 0; d < TMARING_MAX_RANK; ++d) {
    if (element_stride(w, d) == 1) continue;
    return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                         "element_strides[%d]: got %d, needs 1: copies alone leave elements out", d,
                         element_stride(w, d));
  }
  return TMARING_OK;
}

tmaring_status tmaring__tile_shape(tmaring__tile_draft *w, const tmaring_tile_tensor *tensors, int32_t count)
{
  const int32_t needs = w->op == TMARING_TILE_MATMUL ? 3 : 2;
  if (count != needs)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "count: got %d tensors, needs %d: inputs, then the output", count,
                         needs);
  w->count = count;
  w->output = count - 1;
  for (int32_t t = 0; t < count; ++t) {
    w->tensor[t] = tensors[t];
    const tmaring_status status = check_tensor(&w->tensor[t]);
    if (status != TMARING_OK) return tmaring__tile_blame(w->op, t, status);
  }
  const tmaring_status status = check_apart(&w->tensor[w->output]);
  if (status != TMARING_OK) return tmaring__tile_blame(w->op, w->output, status);
  if (w->op != TMARING_TILE_COPY) TMARING__TRY(no_element_strides(w));
  TMARING__TRY(check_axes(w));
  if (w->op == TMARING_TILE_COPY) return match_copy(w);
  return w->op == TMARING_TILE_TRANSPOSE ? match_transpose(w) : match_products(w);
}

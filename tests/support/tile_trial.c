#include "tile_trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/host/tile/tile_state.h"
#include "guarded.h"
#include "modes.h"
#include "noise.h"
#include "number.h"
#include "trial_state.h"

/* Terms of a product that the oracle adds up at most; larger ones are judged in some of their rows. */
#define MAX_TERMS ((int64_t)1 << 25)
/* |error| <= this * 2^-24 * sum |terms|, and one rounding to the output's type. Sums of 1024 terms in fp32 stay well
 * below; products of operands cut to 11 bits do not. */
#define PRODUCT_ULPS 16.0

typedef struct scene {
  const venue *v;
  const tile_trial *trial;
  tile_result *result;
  int32_t count;
  tmaring_tile_tensor tensor[TMARING_MAX_PANELS];
  guarded memory[TMARING_MAX_PANELS];
  tmaring_tile_plan *plan;
  tmaring_tile_kernel *kernel;
  void *workspace;
} scene;

tile_trial tile_trial_make(tmaring_tile_op op, tmaring_dtype dtype, int32_t rank, const int64_t *dims)
{
  tile_trial t;
  memset(&t, 0, sizeof t);
  t.op = op;
  t.dtype = t.output = dtype;
  t.rank = rank;
  for (int32_t d = 0; d < TMARING_MAX_RANK && dims; ++d) t.dims[d] = d < rank ? dims[d] : 1;
  tmaring_tile_options_init(&t.options);
  t.seed = 1;
  return t;
}

static int fail(scene *s, const char *what, tmaring_status status)
{
  s->result->outcome = TILE_FAILED;
  s->result->status = status;
  snprintf(s->result->text, sizeof s->result->text, "%s (%s): %s", what, s->v->name,
           status == TMARING_OK ? "" : tmaring_last_detail());
  return 0;
}

/* ---- tensors ---- */

static size_t elem_of(const tmaring_tile_tensor *t)
{
  return tmaring_dtype_bytes((tmaring_i32)t->dtype);
}

static int64_t rows_of(const tmaring_tile_tensor *t)
{
  int64_t rows = 1;
  for (int32_t d = 1; d < t->rank; ++d) rows *= t->dims[d];
  return rows;
}

/* Rows one behind another, each from a multiple of 16 bytes. */
static void describe(scene *s, int32_t t, tmaring_dtype dtype, int32_t rank, const int64_t *dims)
{
  const tmaring_tile_tensor empty = TMARING_TILE_TENSOR_INIT;
  tmaring_tile_tensor *x = &s->tensor[t];
  *x = empty;
  x->dtype = dtype;
  x->rank = rank;
  for (int32_t d = 0; d < rank; ++d) x->dims[d] = dims[d];
  const size_t elem = elem_of(x), pitch = tmaring_round_up((size_t)dims[0] * elem, 16) + s->trial->gap;
  x->strides[0] = 1;
  for (int32_t d = 1; d < rank; ++d) x->strides[d] = d == 1 ? (int64_t)(pitch / elem) : x->strides[d - 1] * dims[d - 1];
}

static int64_t taken(const scene *s, int32_t d)
{
  const int32_t step = s->trial->options.element_strides[d];
  return step == TMARING_AUTO ? s->trial->dims[d] : tmaring_ceil_div(s->trial->dims[d], step);
}

static void describe_all(scene *s)
{
  const tile_trial *t = s->trial;
  const int64_t *d = t->dims;
  int64_t kept[TMARING_MAX_RANK];
  for (int32_t i = 0; i < TMARING_MAX_RANK; ++i) kept[i] = taken(s, i);
  s->count = t->op == TMARING_TILE_MATMUL ? 3 : 2;
  if (t->op == TMARING_TILE_COPY) {
    describe(s, 0, t->dtype, t->rank, d);
    describe(s, 1, t->dtype, t->rank, kept);
  } else if (t->op == TMARING_TILE_TRANSPOSE) {
    describe(s, 0, t->dtype, 2, d);
    describe(s, 1, t->dtype, 2, (const int64_t[]){d[1], d[0]});
  } else {
    describe(s, 0, t->dtype, 2, (const int64_t[]){d[2], d[1]});
    describe(s, 1, t->dtype, 2, (const int64_t[]){d[0], d[2]});
    describe(s, 2, t->output, 2, (const int64_t[]){d[0], d[1]});
  }
}

/* The same operands with a dimension of size 1 more. */
static void broadcast(const scene *s, tmaring_tile_tensor *given)
{
  memcpy(given, s->tensor, sizeof s->tensor);
  if (!s->trial->broadcast) return;
  tmaring_tile_tensor *a = &given[0], *b = &given[1];
  a->rank = b->rank = 3;
  for (int32_t d = 2; d > 0; --d) {
    a->dims[d] = a->dims[d - 1];
    a->strides[d] = a->strides[d - 1];
  }
  a->dims[0] = a->strides[0] = 1;
  b->dims[2] = 1;
  b->strides[2] = b->strides[1] * b->dims[1];
}

static void fill(scene *s, int32_t t, noise *n)
{
  const tmaring_tile_tensor *x = &s->tensor[t];
  const size_t elem = elem_of(x);
  for (int64_t row = 0; row < rows_of(x); ++row) {
    unsigned char *to = guarded_row(&s->memory[t], row);
    for (int64_t i = 0; i < x->dims[0]; ++i) {
      if (s->trial->op == TMARING_TILE_MATMUL) {
        number_write(x->dtype, to + (size_t)i * elem, data_value(n, DATA_PLAIN, row));
      } else {
        const uint64_t bits = noise_next(n) | 1; /* of any value; never all zero */
        memcpy(to + (size_t)i * elem, &bits, elem);
      }
    }
  }
}

static int take_all(scene *s)
{
  noise n = noise_seed(s->trial->seed);
  for (int32_t t = 0; t < s->count; ++t) {
    const tmaring_tile_tensor *x = &s->tensor[t];
    const size_t elem = elem_of(x);
    const size_t pitch = x->rank > 1 ? (size_t)x->strides[1] * elem : (size_t)x->dims[0] * elem;
    if (!guarded_take(&s->memory[t], s->v->place, rows_of(x), (size_t)x->dims[0] * elem, pitch, 0, GUARD_BAND_BYTES))
      return fail(s, "no memory", TMARING_OK);
    if (t < s->count - 1) fill(s, t, &n);
    if (!guarded_upload(&s->memory[t])) return fail(s, "upload", TMARING_OK);
  }
  return 1;
}

/* ---- the run ---- */

static int plan(scene *s)
{
  tmaring_tile_tensor given[TMARING_MAX_PANELS];
  tmaring_tile_options options = s->trial->options;
  broadcast(s, given);
  mode_override(&options.release);
  tmaring_status status = tmaring_tile_plan_create(&s->plan, s->trial->op, given, s->count, &s->v->machine, &options);
  if (status != TMARING_OK) {
    fail(s, "plan", status);
    if (tmaring_last_detail()[0]) s->result->outcome = TILE_REFUSED;
    return 0;
  }
  tmaring_tile_plan_args(s->plan, &s->result->args);
  if (s->trial->tamper) {
    s->trial->tamper(s->plan);
    return 1;
  }
  status = tmaring_tile_check(s->plan, NULL);
  if (status != TMARING_OK) return fail(s, "check", status);
  status = trial_compile(&s->plan->plan);
  return status == TMARING_OK ? 1 : fail(s, "compile", status);
}

static int launch(scene *s)
{
  const size_t bytes = tmaring_tile_workspace_bytes(s->plan);
  void *data[TMARING_MAX_PANELS];
  for (int32_t t = 0; t < s->count; ++t) data[t] = s->memory[t].data;
  if (bytes > 0) s->workspace = s->v->place->take(bytes);
  if (bytes > 0 && !s->workspace) return fail(s, "no memory", TMARING_OK);
  tmaring_status status = tmaring_tile_prepare(&s->kernel, s->plan, s->v->backend);
  if (status != TMARING_OK) return fail(s, "prepare", status);
  status = tmaring_tile_workspace_init(s->kernel, s->workspace, s->v->stream);
  if (status == TMARING_OK) status = tmaring_tile_launch(s->kernel, data, s->workspace, 0, s->v->stream);
  if (status != TMARING_OK) return fail(s, "launch", status);
  return venue_settle(s->v) ? 1 : fail(s, "the stream reports an error", TMARING_OK);
}

/* ---- judgement ---- */

static int wrong(scene *s, const char *what, int64_t row, int64_t column)
{
  s->result->outcome = TILE_FAILED;
  snprintf(s->result->text, sizeof s->result->text, "(%s) %s at row %lld, element %lld", s->v->name, what,
           (long long)row, (long long)column);
  return 0;
}

static int untouched(scene *s)
{
  ptrdiff_t at;
  for (int32_t t = 0; t < s->count; ++t) {
    if (!guarded_download(&s->memory[t])) return fail(s, "download", TMARING_OK);
    if (!guarded_intact(&s->memory[t], t < s->count - 1, &at)) return wrong(s, "a byte was overwritten", t, at);
  }
  return 1;
}

/* Row of x that row `row` of a copy comes from: every step-th along each outer dimension. */
static int64_t source_row(const scene *s, int64_t row)
{
  int64_t from = 0, place = 1;
  for (int32_t d = 1; d < s->trial->rank; ++d) {
    const int32_t step = s->trial->options.element_strides[d];
    from += row % s->tensor[1].dims[d] * (step == TMARING_AUTO ? 1 : step) * place;
    row /= s->tensor[1].dims[d];
    place *= s->trial->dims[d];
  }
  return from;
}

static int judge_copy(scene *s)
{
  const tmaring_tile_tensor *y = &s->tensor[1];
  const size_t bytes = (size_t)y->dims[0] * elem_of(y);
  for (int64_t row = 0; row < rows_of(y); ++row) {
    if (memcmp(guarded_row_after(&s->memory[1], row), guarded_row(&s->memory[0], source_row(s, row)), bytes) != 0)
      return wrong(s, "another value", row, -1);
  }
  return 1;
}

static int judge_transpose(scene *s)
{
  const tmaring_tile_tensor *y = &s->tensor[1];
  const size_t elem = elem_of(y);
  for (int64_t row = 0; row < y->dims[1]; ++row) {
    const unsigned char *got = guarded_row_after(&s->memory[1], row);
    for (int64_t i = 0; i < y->dims[0]; ++i) {
      if (memcmp(got + (size_t)i * elem, guarded_row(&s->memory[0], i) + (size_t)row * elem, elem) != 0)
        return wrong(s, "another value", row, i);
    }
  }
  return 1;
}

/* The operands as double, b by columns. */
static int judge_products(scene *s, double *a, double *b)
{
  const int64_t n = s->trial->dims[0], m = s->trial->dims[1], k = s->trial->dims[2];
  const int64_t step = n * m * k <= MAX_TERMS ? 1 : n * m * k / MAX_TERMS | 1;
  const size_t elem = tmaring_dtype_bytes((tmaring_i32)s->trial->dtype);
  for (int64_t j = 0; j < k * n; ++j)
    b[j % n * k + j / n] = number_read(s->trial->dtype, guarded_row(&s->memory[1], j / n) + (size_t)(j % n) * elem);
  for (int64_t i = 0; i < m; i = i == m - 1 ? m : tmaring_min_i64(i + step, m - 1)) {
    number_read_row(s->trial->dtype, a, guarded_row(&s->memory[0], i), k);
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, terms = 0;
      for (int64_t l = 0; l < k; ++l) {
        sum += a[l] * b[j * k + l];
        terms += fabs(a[l] * b[j * k + l]);
      }
      const double got =
          number_read(s->trial->output, guarded_row_after(&s->memory[2], i) +
                                            (size_t)j * tmaring_dtype_bytes((tmaring_i32)s->trial->output));
      const double most = PRODUCT_ULPS * ldexp(terms, -24) + number_half_ulp(s->trial->output, sum) * 1.01;
      s->result->worst = fmax(s->result->worst, fabs(got - sum) / most);
      if (!(fabs(got - sum) <= most)) return wrong(s, "another product", i, j);
    }
  }
  return 1;
}

static int judge_matmul(scene *s)
{
  const int64_t *d = s->trial->dims;
  double *a = malloc((size_t)d[2] * sizeof *a), *b = malloc((size_t)(d[2] * d[0]) * sizeof *b);
  const int right = a && b ? judge_products(s, a, b) : fail(s, "no memory", TMARING_OK);
  free(a);
  free(b);
  return right;
}

static int judge(scene *s)
{
  if (!untouched(s)) return 0;
  if (s->trial->op == TMARING_TILE_COPY) return judge_copy(s);
  return s->trial->op == TMARING_TILE_TRANSPOSE ? judge_transpose(s) : judge_matmul(s);
}

void tile_trial_run(const venue *v, const tile_trial *trial, tile_result *result)
{
  scene s;
  memset(&s, 0, sizeof s);
  memset(result, 0, sizeof *result);
  s.v = v;
  s.trial = trial;
  s.result = result;
  describe_all(&s);
  if (take_all(&s) && plan(&s) && launch(&s)) judge(&s);
  tmaring_tile_kernel_free(s.kernel);
  tmaring_tile_plan_free(s.plan);
  if (s.workspace) v->place->give(s.workspace);
  for (int32_t t = 0; t < s.count; ++t) guarded_give(&s.memory[t]);
}

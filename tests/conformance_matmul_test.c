/* Conformance list, section 2, matmuls: c[M,N] = a[M,K] * b[K,N], f32, K = 1024, as tile programs with tiles of 64 x 64 x 64:
 * a worker computes a tile of c, K in steps of 64 through the ring. Broadcast operands: a as [M,K,1] and b as [1,K,N]. The CPU
 * backend multiplies smaller matrices. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/host/tile/tile_state.h"
#include "support/conformance.h"
#include "support/modes.h"

enum { K = 1024, MOST_ROWS = 1024, BOX = 64 };

/* ---- operands and the product in double ---- */

typedef struct product {
  int64_t rows, cols;
  float *a, *b;
  double *value, *size; /* sums of a * b, and of |a * b| */
} product;

static float *random_values(int64_t count, uint64_t seed)
{
  float *values = malloc((size_t)count * sizeof *values);
  noise n = noise_seed(seed);
  for (int64_t i = 0; values && i < count; ++i) values[i] = (float)data_value(&n, DATA_PLAIN, 0);
  return values;
}

/* A row of the product: k outside, so that columns follow one another. */
static void multiply_row(const product *p, int64_t row)
{
  double *value = p->value + row * p->cols, *size = p->size + row * p->cols;
  for (int64_t k = 0; k < K; ++k) {
    const double a = p->a[row * K + k], magnitude = fabs(a);
    const float *b = p->b + k * p->cols;
    for (int64_t j = 0; j < p->cols; ++j) {
      value[j] += a * b[j];
      size[j] += magnitude * fabsf(b[j]);
    }
  }
}

static product product_make(int64_t rows, int64_t cols)
{
  product p = {rows, cols, random_values(rows * K, 1), random_values(K * cols, 2), NULL, NULL};
  p.value = calloc((size_t)(rows * cols), sizeof *p.value);
  p.size = calloc((size_t)(rows * cols), sizeof *p.size);
  cr_assert(p.a && p.b && p.value && p.size);
  for (int64_t r = 0; r < rows; ++r) multiply_row(&p, r);
  return p;
}

static void product_free(product *p)
{
  free(p->a);
  free(p->b);
  free(p->value);
  free(p->size);
}

/* Products within fp32 and sums in fp32 in some order: a sequential order would allow K roundings of the magnitudes' sum; a few
 * dozen are enough for tiles, and too few for factors of 10 bits. */
static int64_t first_wrong(const product *p, int64_t row, const float *got)
{
  const double *value = p->value + row * p->cols, *size = p->size + row * p->cols;
  for (int64_t j = 0; j < p->cols; ++j)
    if (!(fabs(got[j] - value[j]) <= 48.0 * U32 * size[j])) return j;
  return p->cols;
}

/* ---- a run ---- */

enum { A, B, C, TENSORS };

typedef struct matmul {
  const product *p;
  const venue *venue;
  int64_t rows, cols;
  int broadcast;
  tmaring_plan_options asked; /* what tile programs have in common with formulas */
  tmaring_tile_plan *plan;
  tmaring_tile_kernel *kernel;
  void *workspace;
  guarded memory[TENSORS];
  trial_result result;
} matmul;

static int fail(matmul *m, const char *what)
{
  m->result.outcome = TRIAL_FAILED;
  snprintf(m->result.text, sizeof m->result.text, "[%lld,%d] x [%d,%lld] S%d P%d (%s): %s", (long long)m->rows, (int)K,
           (int)K, (long long)m->cols, (int)m->asked.stages, (int)m->asked.prefetch, m->venue->name, what);
  return 0;
}

static int fail_call(matmul *m, tmaring_status status, const char *call)
{
  char what[480];
  snprintf(what, sizeof what, "%s: %s: %s", call, tmaring_status_name(status), tmaring_last_detail());
  m->result.status = status;
  return fail(m, what);
}

static int refuse(matmul *m, tmaring_status status, const char *text)
{
  m->result.outcome = TRIAL_REFUSED;
  m->result.status = status;
  snprintf(m->result.text, sizeof m->result.text, "%s", text);
  return 0;
}

static tmaring_tile_tensor tensor_of(int64_t rows, int64_t cols)
{
  tmaring_tile_tensor t = TMARING_TILE_TENSOR_INIT;
  t.rank = 2;
  t.dims[0] = cols;
  t.dims[1] = rows;
  return t;
}

/* [M,K] becomes [M,K,1], [K,N] becomes [1,K,N]. */
static void add_dims(tmaring_tile_tensor *a, tmaring_tile_tensor *b)
{
  a->rank = b->rank = 3;
  a->dims[2] = a->dims[1];
  a->dims[1] = a->dims[0];
  a->dims[0] = b->dims[2] = 1;
}

static tmaring_tile_options options_of(const matmul *m)
{
  tmaring_tile_options o;
  tmaring_plan_options asked = m->asked;
  mode_override_release(&asked);
  tmaring_tile_options_init(&o);
  for (int i = 0; i < 3; ++i) o.box[i] = BOX;
  memcpy(o.consumers, asked.consumers, sizeof o.consumers);
  memcpy(o.registers, asked.registers, sizeof o.registers);
  o.load = asked.load;
  o.mode = asked.mode;
  o.war = asked.war;
  o.role_axis = asked.role_axis;
  o.stages = asked.stages;
  o.prefetch = asked.prefetch;
  o.order = asked.order;
  o.policy = asked.policy;
  o.release = asked.release;
  return o;
}

/* What is forced, tiles of 64 x 64 and K / 64 fills in each. */
static int holds(matmul *m)
{
  char text[200];
  tmaring_plan_info info;
  const tmaring_plan *plan = &m->plan->plan;
  const tmaring_grid *grid = &plan->variant[0].boxes.grid;
  const int64_t tiles = tmaring_ceil_div(m->rows, BOX) * tmaring_ceil_div(m->cols, BOX);
  memset(&info, 0, sizeof info);
  memcpy(info.registers, plan->code.registers, sizeof info.registers);
  if (!conformance_holds(&m->asked, &m->result.args, &info, text, sizeof text)) return refuse(m, TMARING_OK, text);
  if (grid->steps == K / BOX && (int64_t)grid->extent[0] * grid->extent[1] == tiles) return 1;
  return refuse(m, TMARING_OK, "normalised: the grid is not one of 64 x 64 x 64");
}

static int plan(matmul *m)
{
  tmaring_tile_tensor tensor[TENSORS] = {tensor_of(m->rows, K), tensor_of(K, m->cols), tensor_of(m->rows, m->cols)};
  const tmaring_tile_options options = options_of(m);
  if (m->broadcast) add_dims(&tensor[A], &tensor[B]);
  tmaring_status status =
      tmaring_tile_plan_create(&m->plan, TMARING_TILE_MATMUL, tensor, TENSORS, &m->venue->machine, &options);
  if (status == TMARING_ERROR_UNSUPPORTED || status == TMARING_ERROR_CAPACITY)
    return refuse(m, status, tmaring_last_detail());
  if (status != TMARING_OK) return fail_call(m, status, "tmaring_tile_plan_create");
  status = tmaring_tile_plan_args(m->plan, &m->result.args);
  if (status != TMARING_OK) return fail_call(m, status, "tmaring_tile_plan_args");
  status = tmaring_tile_check(m->plan, NULL);
  if (status != TMARING_OK) return fail_call(m, status, "tmaring_tile_check");
  status = trial_compile(&m->plan->plan);
  return status == TMARING_OK ? holds(m) : fail_call(m, status, "compile");
}

/* Operands are the first rows of a, and all of b. */
static int furnish(matmul *m)
{
  const int64_t rows[TENSORS] = {m->rows, K, m->rows}, cols[TENSORS] = {K, m->cols, m->cols};
  const float *from[TENSORS] = {m->p->a, m->p->b, NULL};
  for (int t = 0; t < TENSORS; ++t) {
    guarded *g = &m->memory[t];
    const size_t bytes = (size_t)cols[t] * sizeof(float);
    if (!guarded_take(g, m->venue->place, rows[t], bytes, bytes, 0, GUARD_BAND_BYTES)) return fail(m, "no memory");
    if (from[t]) memcpy(guarded_row(g, 0), from[t], (size_t)rows[t] * bytes);
    if (!guarded_upload(g)) return fail(m, "upload failed");
  }
  return 1;
}

static int prepare(matmul *m)
{
  const size_t bytes = tmaring_tile_workspace_bytes(m->plan);
  tmaring_status status = tmaring_tile_prepare(&m->kernel, m->plan, m->venue->backend);
  if (status != TMARING_OK) return fail_call(m, status, "tmaring_tile_prepare");
  if (bytes == 0) return 1;
  m->workspace = m->venue->place->take(bytes);
  if (!m->workspace) return fail(m, "no memory for the workspace");
  status = tmaring_tile_workspace_init(m->kernel, m->workspace, m->venue->stream);
  return status == TMARING_OK ? 1 : fail_call(m, status, "tmaring_tile_workspace_init");
}

static int launch(matmul *m)
{
  void *data[TENSORS];
  for (int t = 0; t < TENSORS; ++t) data[t] = m->memory[t].data;
  const tmaring_status status = tmaring_tile_launch(m->kernel, data, m->workspace, 0, m->venue->stream);
  if (status != TMARING_OK) return fail_call(m, status, "tmaring_tile_launch");
  if (!venue_settle(m->venue)) return fail(m, "the kernel ended with an error");
  for (int t = 0; t < TENSORS; ++t)
    if (!guarded_download(&m->memory[t])) return fail(m, "download failed");
  return 1;
}

static int judge(matmul *m)
{
  char what[160];
  ptrdiff_t at;
  for (int t = 0; t < TENSORS; ++t)
    if (!guarded_intact(&m->memory[t], t != C, &at)) return fail(m, "bytes outside the output were overwritten");
  for (int64_t r = 0; r < m->rows; ++r) {
    const float *got = (const float *)(const void *)guarded_row_after(&m->memory[C], r);
    const int64_t j = first_wrong(m->p, r, got);
    if (j == m->cols) continue;
    snprintf(what, sizeof what, "at (%lld, %lld): got %.9g, needs %.9g", (long long)r, (long long)j, got[j],
             m->p->value[r * m->cols + j]);
    return fail(m, what);
  }
  return 1;
}

static void clear(matmul *m)
{
  tmaring_tile_kernel_free(m->kernel);
  tmaring_tile_plan_free(m->plan);
  if (m->workspace) m->venue->place->give(m->workspace);
  for (int t = 0; t < TENSORS; ++t)
    if (m->memory[t].place) guarded_give(&m->memory[t]);
}

static void begin(matmul *m, const conformance_set *set, const product *p, int64_t rows, int broadcast, const venue *v)
{
  memset(m, 0, sizeof *m);
  m->p = p;
  m->venue = v;
  m->rows = rows;
  m->cols = p->cols;
  m->broadcast = broadcast;
  tmaring_plan_options_init(&m->asked);
  conformance_force(set, &m->asked);
}

/* `tamper`: NULL, or what is done to the downloaded product before it is judged. */
static trial_result run(const conformance_set *set, const product *p, int64_t rows, int broadcast, const venue *v,
                        void (*tamper)(matmul *m))
{
  matmul m;
  begin(&m, set, p, rows, broadcast, v);
  if (plan(&m) && furnish(&m) && prepare(&m) && launch(&m)) {
    if (tamper) tamper(&m);
    judge(&m);
  }
  clear(&m);
  return m.result;
}

/* ---- the grid ---- */

/* The emulator multiplies smaller matrices, which boxes divide where they divide the set's. */
static int64_t rows_of(const conformance_set *set, const venue *v)
{
  if (v->backend != TMARING_BACKEND_CPU) return set->rows;
  return set->rows % BOX ? BOX + set->rows % BOX / 2 : set->rows > 2 * BOX ? 2 * BOX : BOX;
}

static int64_t cols_of(int64_t cols, const venue *v)
{
  return v->backend == TMARING_BACKEND_CPU ? cols / 16 : cols;
}

/* The kernel of the whole matrices, which may be another one than that of smaller ones. */
static int compile_whole(const conformance_set *set, const product *p, int broadcast, const venue *v,
                         trial_result *result)
{
  matmul m;
  if (!getenv("TMARING_TEST_COMPILE")) return 1;
  begin(&m, set, p, set->rows, broadcast, v);
  m.cols = set->cols;
  const int planned = plan(&m);
  clear(&m);
  if (!planned) *result = m.result;
  return planned;
}

/* Sets of one N share the operands, and the product of all rows there are. */
static void run_sets(conformance *c, const venue *v, int broadcast, int32_t cols)
{
  const conformance_set largest = {0, 0, 0, 0, MOST_ROWS, cols, SET_ON_X, TMARING_LOAD_TILE};
  product p = product_make(rows_of(&largest, v), cols_of(cols, v));
  for (int32_t i = 0; i < CONFORMANCE_SETS; ++i) {
    const conformance_set *set = &conformance_sets[i];
    if (set->cols != cols || !conformance_takes(c)) continue;
    trial_result result;
    if (compile_whole(set, &p, broadcast, v, &result)) result = run(set, &p, rows_of(set, v), broadcast, v, NULL);
    conformance_count(c, &result);
  }
  product_free(&p);
}

CONFORMANCE_TEST(matmul, 2, "matmul")
{
  run_sets(c, v, 0, 1024);
  run_sets(c, v, 0, 2048);
}

CONFORMANCE_TEST(matmul_broadcast, 2, "matmul, broadcast operands")
{
  run_sets(c, v, 1, 1024);
  run_sets(c, v, 1, 2048);
}

/* ---- products that must not pass ---- */

static float *last_of(matmul *m)
{
  return (float *)(void *)(m->memory[C].after + (guarded_row_after(&m->memory[C], m->rows - 1) - m->memory[C].after)) +
         m->cols - 1;
}

static void leave_out_last_k(matmul *m)
{
  *last_of(m) -= m->p->a[m->rows * K - 1] * m->p->b[K * m->cols - 1];
}

static void leave_out_last_value(matmul *m)
{
  memset(last_of(m), GUARD_POISON, sizeof(float));
}

/* The last value from factors of 10 bits, as one product of the tensor cores takes them. */
static float rounded(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x1000u) & ~0x1fffu;
  memcpy(&x, &bits, sizeof bits);
  return x;
}

static void take_factors_of_10_bits(matmul *m)
{
  for (int64_t j = 0; j < m->cols; ++j) {
    double sum = 0.0;
    for (int64_t k = 0; k < K; ++k)
      sum += (double)rounded(m->p->a[(m->rows - 1) * K + k]) * rounded(m->p->b[k * m->cols + j]);
    *(last_of(m) + 1 - m->cols + j) = (float)sum;
  }
}

Test(conformance, products_that_are_wrong, .timeout = 120)
{
  static void (*const tampers[])(matmul * m) = {leave_out_last_k, leave_out_last_value, take_factors_of_10_bits};
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  const conformance_set *set = &conformance_sets[25];
  product p = product_make(57, 100);
  const trial_result right = run(set, &p, 57, 0, &v, NULL);
  cr_expect_eq(right.outcome, TRIAL_PASSED, "%s", right.text);
  for (size_t i = 0; i < sizeof tampers / sizeof tampers[0]; ++i)
    cr_expect_eq(run(set, &p, 57, 0, &v, tampers[i]).outcome, TRIAL_FAILED, "tamper %zu", i);
  product_free(&p);
}

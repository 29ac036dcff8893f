/* Plans and kernels that calls of ready ops keep: what shares one, under threads and under captures, and which calls find
 * their kernels in the library. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "../src/host/backend/cuda/driver.h"
#include "../src/host/jit/code_store.h"
#include "../src/host/jit/unpack.h"
#include "support/op_stand.h"

/* What a plan depends on makes another entry, and M, addresses and scalars do not. */
OP_TEST(op_cache, entries_are_found_again)
{
  op_stand d;
  op_stand_open(&d, v, "rmsnorm", TMARING_F32, 6, 256);
  cr_expect_null(op_stand_entry(&d));
  op_stand_expect_right(&d);
  const tmaring__op_entry *first = op_stand_entry(&d);
  cr_assert_not_null(first);
  const op_stand good = d;
  d.v[0].rows = d.v[1].rows = 5;
  d.v[1].data = (char *)d.v[1].data + 1024;
  d.v[1].pitch = 256; /* as dense as 0 */
  cr_expect_eq(op_stand_entry(&d), first);
  d = good;
  d.v[1].data = (char *)d.v[1].data + 4;
  cr_expect_null(op_stand_entry(&d));
  d = good;
  d.v[1].pitch = 260;
  cr_expect_null(op_stand_entry(&d));
  d = good;
  d.v[1].group_rows = 2;
  d.v[1].group_pitch = 1024;
  cr_expect_null(op_stand_entry(&d));
  d = good;
  d.v[0].dtype = TMARING_BF16;
  cr_expect_null(op_stand_entry(&d));
  d = good;
  d.v[0].cols = d.v[1].cols = d.v[2].cols = 128;
  cr_expect_null(op_stand_entry(&d));
  d = good;
  d.call.workspace = NULL; /* without tickets */
  cr_expect_null(op_stand_entry(&d));
  d = good;
  tmaring_ops_reset();
  cr_expect_null(op_stand_entry(&d));
  op_stand_expect_right(&d);
  op_stand_close(&d);
}

OP_TEST(op_cache, preparing_launches_nothing)
{
  op_stand d;
  const tmaring_view *list[3];
  op_stand_open(&d, v, "rmsnorm", TMARING_F32, 6, 256);
  d.call.flags = TMARING_CALL_PREPARE;
  cr_assert(op_call_make(&d.s, d.v, &d.call), "%s", d.s.result.text);
  const guarded *y = &op_output(&d.s, 0)->memory;
  cr_expect_arr_eq(y->after, y->image, y->total);
  const tmaring__op_entry *prepared = op_stand_entry(&d);
  cr_assert_not_null(prepared);
  for (int i = 0; i < 3; ++i) list[i] = &d.v[i];
  d.call.flags = 0;
  cr_expect_eq(tmaring_op_prepare(tmaring_op_find("rmsnorm"), list, 3, &d.call, v->stream), TMARING_OK);
  op_stand_expect_right(&d);
  cr_expect_eq(op_stand_entry(&d), prepared);
  op_stand_close(&d);
}

#define THREADS 8

typedef struct racer {
  op_stand d;
  pthread_barrier_t *start;
  tmaring_status status;
  const tmaring__op_entry *entry;
} racer;

static void *race(void *argument)
{
  racer *r = argument;
  pthread_barrier_wait(r->start);
  r->status = op_stand_call(&r->d);
  r->entry = op_stand_entry(&r->d);
  return NULL;
}

/* Every thread calls at once. */
static void start_race(racer *crew, const venue *v)
{
  pthread_t thread[THREADS];
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, THREADS);
  for (int i = 0; i < THREADS; ++i) crew[i].start = &start;
  for (int i = 0; i < THREADS; ++i) cr_assert_eq(pthread_create(&thread[i], NULL, race, &crew[i]), 0);
  for (int i = 0; i < THREADS; ++i) pthread_join(thread[i], NULL);
  pthread_barrier_destroy(&start);
  cr_expect(venue_settle(v));
}

static void expect_one_entry(const racer *crew)
{
  int32_t same = 0;
  for (int i = 0; i < THREADS; ++i) {
    cr_expect_eq(crew[i].status, TMARING_OK);
    cr_expect_eq(crew[i].entry, crew[0].entry);
  }
  cr_assert_not_null(crew[0].entry);
  for (const tmaring__op_entry *e = crew[0].entry; e; e = e->next)
    same += tmaring__op_key_same(&e->key, &crew[0].entry->key);
  cr_expect_eq(same, 1, "%d plans for one call", (int)same);
}

/* All threads meet the same new call: one of them plans, all find its entry. */
OP_TEST(op_cache, threads_share_an_entry)
{
  static racer crew[THREADS];
  for (int i = 0; i < THREADS; ++i) op_stand_open(&crew[i].d, v, "softmax", TMARING_F32, 6, 300);
  for (int round = 0; round < 50; ++round) {
    tmaring_ops_reset();
    start_race(crew, v);
    expect_one_entry(crew);
  }
  for (int i = 0; i < THREADS; ++i) {
    cr_expect(op_download(&crew[i].d.s) && op_judge(&crew[i].d.s), "%s", crew[i].d.s.result.text);
    op_stand_close(&crew[i].d);
  }
}

#if TMARING_WITH_CUDA

#define CU(made) cr_assert_eq(driver->made, CUDA_SUCCESS, "%s", #made)

/* A call that is new under a capture says so, takes nothing and breaks nothing; prepared, it is captured, and replays. */
Test(op_cache, captures_take_prepared_calls_alone_cuda, .timeout = 120)
{
  const tmaring__driver *driver;
  venue v;
  op_stand d;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  VENUE_NEED_CUDA(&v);
  cr_assert_eq(tmaring__driver_get(&driver), TMARING_OK);
  op_stand_open(&d, &v, "rmsnorm", TMARING_BF16, 64, 4096);
  cr_assert(venue_settle(&v));
  CU(cuStreamBeginCapture(v.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_NOT_PREPARED, "rmsnorm");
  CU(cuStreamEndCapture(v.stream, &graph));
  CU(cuGraphDestroy(graph));
  d.call.flags = TMARING_CALL_PREPARE;
  cr_assert_eq(op_stand_call(&d), TMARING_OK, "%s", tmaring_last_detail());
  d.call.flags = 0;
  CU(cuStreamBeginCapture(v.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  cr_assert_eq(op_stand_call(&d), TMARING_OK, "%s", tmaring_last_detail());
  CU(cuStreamEndCapture(v.stream, &graph));
  CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) {
    cr_assert(guarded_upload(&op_output(&d.s, 0)->memory));
    CU(cuGraphLaunch(exec, v.stream));
    CU(cuStreamSynchronize(v.stream));
    cr_expect(op_download(&d.s) && op_judge(&d.s), "%s", d.s.result.text);
  }
  CU(cuGraphExecDestroy(exec));
  CU(cuGraphDestroy(graph));
  op_stand_close(&d);
  tmaring_ops_reset();
  venue_close(&v);
}

/* F22: a thread without a context makes the first call of all. */
static void *call_first(void *argument)
{
  racer *r = argument;
  r->status = op_stand_call(&r->d);
  return NULL;
}

Test(op_cache, first_calls_from_a_fresh_thread_cuda, .timeout = 120)
{
  static racer r;
  pthread_t thread;
  venue v;
  VENUE_NEED_CUDA(&v);
  op_stand_open(&r.d, &v, "silu_mul", TMARING_BF16, 64, 1024);
  cr_assert_eq(pthread_create(&thread, NULL, call_first, &r), 0);
  pthread_join(thread, NULL);
  cr_assert_eq(r.status, TMARING_OK);
  cr_expect(venue_settle(&v) && op_download(&r.d.s) && op_judge(&r.d.s), "%s", r.d.s.result.text);
  op_stand_close(&r.d);
  tmaring_ops_reset();
  venue_close(&v);
}

#endif

/* ---- ahead of time ---- */

static int is_built_in(op_stand *d)
{
  const tmaring__op_request request = op_stand_request(d);
  tmaring_plan *plan = NULL;
  tmaring__text source = {0};
  uint64_t key[2];
  int found = 0;
  cr_assert_eq(tmaring__plan_cache_plan(&request, &plan), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert_eq(tmaring__plan_source(plan, &source), TMARING_OK);
  tmaring__code_key(source.data, key);
  for (size_t i = 0; i < tmaring__builtin_count && !found; ++i)
    found = tmaring__builtins[i].key[0] == key[0] && tmaring__builtins[i].key[1] == key[1];
  tmaring__text_free(&source);
  tmaring_plan_free(plan);
  return found;
}

static int expect_built_in(const venue *v, const tmaring_op_info *op, tmaring_dtype dtype, int64_t cols)
{
  op_stand d;
  op_stand_open(&d, v, op->name, dtype, 1, cols);
  for (int32_t i = 0; i < op->output_count; ++i)
    if (op->dtype[i] != TMARING_OP_ANY_TYPE) d.v[i].dtype = (tmaring_dtype)op->dtype[i];
  const int found = is_built_in(&d);
  cr_expect(found, "%s %s N = %d", op->name, tmaring_dtype_name(dtype), (int)cols);
  op_stand_close(&d);
  return found;
}

static int expect_all(const venue *v, const tmaring_op_info *op, const int64_t *cols, size_t count)
{
  int found = 0;
  for (int32_t d = 0; d < TMARING_DTYPE_COUNT; ++d) {
    for (size_t n = 0; n < count && (op->ahead >> d & 1); ++n)
      found += expect_built_in(v, op, (tmaring_dtype)d, cols[n]);
  }
  return found;
}

#define SIZES(list) list, sizeof(list) / sizeof(list)[0]

/* What servers call finds its kernel in the library: heads, hidden sizes, odd sizes, vocabularies. */
Test(op_cache, common_sizes_are_built_in_cpu, .timeout = 120)
{
  static const int64_t heads[] = {64, 128}, odd[] = {111, 500, 769}, rows[] = {32000, 128256, 131072, 151936, 151937};
  static const int64_t hidden[] = {2048, 2880, 3584, 4096, 5120, 5376, 6144, 7168, 8192, 12288, 16384, 18432};
  venue v;
  int32_t found = 0;
  if (tmaring__builtin_count == 0) cr_skip_test("built without NVRTC: nothing is built in");
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  for (int32_t i = 0; i < tmaring_op_count(); ++i) {
    tmaring_op_info op = {.size = sizeof op};
    cr_assert_eq(tmaring_op_describe(i, &op), TMARING_OK);
    found += expect_all(&v, &op, SIZES(hidden));
    if (strstr("rmsnorm rmsnorm_hf rmsnorm_gemma layernorm quantize_fp8_row", op.name))
      found += expect_all(&v, &op, SIZES(heads));
    if (strstr("add rmsnorm add_rmsnorm layernorm softmax row_sum", op.name)) found += expect_all(&v, &op, SIZES(odd));
    if (strcmp(op.group, "softmax") == 0) found += expect_all(&v, &op, SIZES(rows));
  }
  cr_expect_gt(found, 1000);
}

/* Within the limits, and every one of them whole. */
Test(op_cache, built_in_kernels_stay_few_cpu, .timeout = 60)
{
  size_t packed = 0;
  if (tmaring__builtin_count == 0) cr_skip_test("built without NVRTC: nothing is built in");
  for (size_t i = 0; i < tmaring__builtin_count; ++i) {
    const struct tmaring__builtin *b = &tmaring__builtins[i];
    unsigned char *cubin = malloc(b->bytes);
    cr_assert_not_null(cubin);
    cr_expect(tmaring__unpack(cubin, b->bytes, b->packed, b->packed_bytes), "kernel %d", (int)i);
    cr_expect_arr_eq(cubin, "\177ELF", 4);
    packed += b->packed_bytes;
    free(cubin);
  }
  cr_expect_leq(tmaring__builtin_count, 400);
  cr_expect_leq(packed, 12u << 20);
}

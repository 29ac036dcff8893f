// Measures tmaring beside its peers in one run on one GPU: cudaMemcpy (by stream), CUB DeviceTransform, and a table of
// plans.
//
// Method: K calls on K disjoint buffer sets are captured into one CUDA graph (memcpy: enqueued on the stream); before
// every timed replay 512 MiB are read, so that no operand is in L2; variants take turns; medians of 15 rounds. Random
// data. The first set's result is compared with the formula in double before anything is timed.
//
//   scripts/bench/build.sh && build-bench/peer_compare [section ...]      sections: big small rmsnorm tune launch prepare tile
#include <cub/device/device_transform.cuh>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tmaring/tmaring.h"

#define CK(call)                                                                                                       \
  do {                                                                                                                 \
    const cudaError_t e_ = (call);                                                                                     \
    if (e_ != cudaSuccess) {                                                                                           \
      std::fprintf(stderr, "%s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_));                       \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

namespace
{

constexpr size_t kFlushBytes = size_t{512} << 20;
constexpr int kRounds = 15;
cudaStream_t stream;
uint4 *flush_buffer;
unsigned *sink;
char *arena;
size_t arena_bytes;
int sms;

__global__ void read_kernel(const uint4 *p, size_t n, unsigned *out)
{
  unsigned acc = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const uint4 v = p[i];
    acc ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (acc == 0x9e3779b9u) *out = acc;
}

__device__ unsigned mix(size_t i)
{
  unsigned h = (unsigned)i * 2654435761u ^ (unsigned)(i >> 32);
  h ^= h >> 15, h *= 2246822519u, h ^= h >> 13;
  return h;
}

// Values in [-2, 2), none zero.
__global__ void fill_kernel(void *p, size_t n, int half)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const float v = ((mix(i) >> 8) + 0.5f) / 4194304.0f - 2.0f;
    if (half)
      ((__nv_bfloat16 *)p)[i] = __float2bfloat16(v);
    else
      ((float *)p)[i] = v;
  }
}

void flush()
{
  read_kernel<<<sms * 8, 256, 0, stream>>>(flush_buffer, kFlushBytes / 16, sink);
}

float median(std::vector<float> v)
{
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

struct Contender {
  std::string name;
  std::function<void(int)> call; // enqueues the i-th call on the stream
  bool by_stream = false;
  cudaGraphExec_t graph = nullptr;
  std::vector<float> us;
  bool refused = false;
};

void capture(Contender &c, int k)
{
  c.call(0);
  CK(cudaStreamSynchronize(stream));
  if (c.by_stream) return;
  cudaGraph_t graph;
  CK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < k; ++i) c.call(i);
  CK(cudaStreamEndCapture(stream, &graph));
  CK(cudaGraphInstantiate(&c.graph, graph, 0));
  CK(cudaGraphLaunch(c.graph, stream));
  CK(cudaStreamSynchronize(stream));
  CK(cudaGraphDestroy(graph));
}

void time_round(Contender &c, int k, cudaEvent_t begin, cudaEvent_t end)
{
  for (int f = 0; f < (c.by_stream ? 4 : 1); ++f) flush(); // by stream the host must run ahead
  CK(cudaEventRecord(begin, stream));
  if (c.by_stream) {
    for (int i = 0; i < k; ++i) c.call(i);
  } else {
    CK(cudaGraphLaunch(c.graph, stream));
  }
  CK(cudaEventRecord(end, stream));
  CK(cudaEventSynchronize(end));
  float ms = 0;
  CK(cudaEventElapsedTime(&ms, begin, end));
  c.us.push_back(1e3f * ms / k);
}

// Times all contenders in turns; prints time, rate, and the ratio of rates to the first contender's.
void race(const char *title, double bytes, int k, std::vector<Contender> &all)
{
  cudaEvent_t begin, end;
  CK(cudaEventCreate(&begin));
  CK(cudaEventCreate(&end));
  for (auto &c : all)
    if (!c.refused) capture(c, k);
  for (int r = 0; r < kRounds; ++r)
    for (auto &c : all)
      if (!c.refused) time_round(c, k, begin, end);
  std::printf("\n%s  (%.3f MB per call, %d calls)\n", title, bytes / 1e6, k);
  const float first = median(all[0].us);
  for (auto &c : all) {
    if (c.refused) continue;
    const float us = median(c.us);
    std::printf("  %-58s %9.3f us %7.0f GB/s  ratio %.3f\n", c.name.c_str(), us, bytes / us / 1e3, first / us);
    if (c.graph) CK(cudaGraphExecDestroy(c.graph));
  }
  std::fflush(stdout);
}

int calls_for(double bytes)
{
  return (int)std::min(100.0, std::max(3.0, (double)(1u << 30) / bytes));
}

void must(tmaring_status status, const char *what)
{
  if (status == TMARING_OK) return;
  std::fprintf(stderr, "%s: %s: %s\n", what, tmaring_status_name(status), tmaring_last_detail());
  std::exit(1);
}

struct Problem {
  std::string formula;
  tmaring_dtype dtype;
  int64_t m, n;
  int inputs;  // [M,N]
  int vectors; // [N]
  bool row_output;
  size_t elem() const
  {
    return tmaring_dtype_bytes(dtype);
  }
  size_t matrix() const
  {
    return ((size_t)m * n * elem() + 4095) / 4096 * 4096;
  }
  size_t set_bytes() const
  {
    return matrix() * (inputs + 1);
  }
  double bytes() const
  {
    return (double)m * n * elem() * (inputs + !row_output) + (row_output ? 4.0 * m : 0.0);
  }
  int sets(int k) const
  {
    return (int)std::min<size_t>(k, std::max<size_t>(1, arena_bytes / set_bytes()));
  }
  char *at(int set, int tensor) const
  {
    return arena + set_bytes() * set + matrix() * tensor;
  }
};

// A prepared plan with the machine it needs for launching.
struct Op {
  Problem p;
  tmaring_plan *plan = nullptr;
  tmaring_kernel *kernel = nullptr;
  void *workspace = nullptr;
  char *vectors = nullptr;
  int sets = 1;

  bool make(const Problem &problem, const tmaring_plan_options &options, int k, char *vector_memory)
  {
    p = problem;
    sets = p.sets(k);
    vectors = vector_memory;
    tmaring_machine machine;
    must(tmaring_machine_query(&machine, 0), "machine");
    tmaring_formula *formula;
    must(tmaring_formula_parse(&formula, p.formula.c_str()), p.formula.c_str());
    std::vector<tmaring_tensor> t(tmaring_formula_tensor_count(formula));
    for (size_t i = 0; i < t.size(); ++i) {
      tmaring_parameter q = {};
      q.size = sizeof q;
      must(tmaring_formula_tensor(formula, (int)i, &q), "parameter");
      t[i] = tmaring_tensor TMARING_TENSOR_INIT;
      t[i].dtype = q.shape == TMARING_SHAPE_COLUMN ? TMARING_F32 : p.dtype;
      t[i].rows = q.shape == TMARING_SHAPE_ROW ? 1 : p.m;
      t[i].cols = q.shape == TMARING_SHAPE_COLUMN ? 1 : p.n;
    }
    const tmaring_status status = tmaring_plan_create(&plan, formula, t.data(), (int)t.size(), &machine, &options);
    tmaring_formula_free(formula);
    if (status != TMARING_OK) return false;
    must(tmaring_prepare(&kernel, plan, TMARING_BACKEND_CUDA), "prepare");
    CK(cudaMalloc(&workspace, std::max<size_t>(16, tmaring_workspace_bytes(plan, p.m))));
    must(tmaring_workspace_init(kernel, workspace, stream), "workspace");
    return true;
  }
  void launch(int i, unsigned flags = 0) const
  {
    void *data[8];
    int count = 0;
    for (int t = 0; t < p.inputs; ++t) data[count++] = p.at(i % sets, t);
    for (int v = 0; v < p.vectors; ++v) data[count++] = vectors + (size_t)v * (1 << 20);
    data[count++] = p.at(i % sets, p.inputs);
    tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
    params.rows = p.m;
    params.data = data;
    params.workspace = workspace;
    params.flags = flags;
    must(tmaring_launch(kernel, &params, stream), "launch");
  }
};

std::string describe(const Op &op)
{
  tmaring_args a;
  tmaring_plan_info info = {};
  info.size = sizeof info;
  tmaring_plan_args(op.plan, op.p.m, &a);
  tmaring_plan_describe(op.plan, &info);
  static const char *orders[] = {"split", "blocked", "cyclic", "ticket"};
  static const char *scopes[] = {"auto", "flat", "lanes", "warp", "group", "cta"};
  static const char *loads[] = {"", " tile", " async", " ordinary", " direct-load"};
  static const char *stores[] = {"direct", "bulk", "tile"};
  char text[256];
  std::snprintf(text, sizeof text, "%s %s %s R%d S%d P%d x%d w%d %s%s%s",
                a.cta.mode  ? "ws"
                : a.cta.war ? "pipe-mbar"
                            : "pipe-cta",
                orders[a.walk.order], scopes[a.scope.kind], a.walk.tile_rows, a.stages, a.distance,
                tmaring_cta_consumer_threads(&a.cta), a.walk.workers, stores[info.store],
                info.in_place ? "-inplace" : "", loads[a.input[0].path]);
  return text;
}

float get(const char *base, tmaring_dtype dtype, size_t i)
{
  if (dtype == TMARING_F32) return ((const float *)base)[i];
  return __bfloat162float(((const __nv_bfloat16 *)base)[i]);
}

// Compares the first set's result for `rows` sampled rows with the formula in double.
void check(const Op &op)
{
  const Problem &p = op.p;
  CK(cudaMemsetAsync(p.at(0, p.inputs), 0xff, p.matrix(), stream));
  op.launch(0);
  CK(cudaStreamSynchronize(stream));
  std::vector<char> row((size_t)p.n * p.elem() * (p.inputs + 1));
  std::vector<char> w(1 << 20);
  CK(cudaMemcpy(w.data(), op.vectors, p.vectors ? (size_t)p.n * p.elem() : 16, cudaMemcpyDeviceToHost));
  for (int s = 0; s < 64; ++s) {
    const int64_t r = s == 0 ? 0 : s == 1 ? p.m - 1 : (int64_t)((double)p.m * s / 64);
    const size_t bytes = (size_t)p.n * p.elem();
    for (int t = 0; t <= p.inputs; ++t)
      CK(cudaMemcpy(row.data() + t * bytes, p.at(0, t) + r * bytes, bytes, cudaMemcpyDeviceToHost));
    double squares = 0;
    for (int64_t c = 0; c < p.n; ++c) squares += std::pow((double)get(row.data(), p.dtype, c), 2);
    for (int64_t c = 0; c < p.n; ++c) {
      const double x = get(row.data(), p.dtype, c), y = get(row.data() + p.inputs * bytes, p.dtype, c);
      double want = x + x;
      if (p.vectors)
        want = x / std::sqrt(squares / p.n + 1e-6) * get(w.data(), p.dtype, c);
      else if (p.inputs == 2)
        want = x + get(row.data() + bytes, p.dtype, c);
      if (!(std::fabs(y - want) <= (p.dtype == TMARING_F32 ? 1e-6 : 0.005) * (std::fabs(want) + 1e-3))) {
        std::fprintf(stderr, "WRONG %s: row %lld col %lld: got %g want %g\n", describe(op).c_str(), (long long)r,
                     (long long)c, y, want);
        std::exit(2);
      }
    }
  }
}

struct Twice {
  __device__ float operator()(float a) const
  {
    return a + a;
  }
};
struct Twice4 {
  __device__ float4 operator()(float4 a) const
  {
    return make_float4(a.x + a.x, a.y + a.y, a.z + a.z, a.w + a.w);
  }
};

void add_memcpy(std::vector<Contender> &all, const Problem &p, int k)
{
  const size_t half = (size_t)(p.bytes() / 2);
  const int sets = p.sets(k);
  Contender c;
  c.name = "cudaMemcpyAsync D2D, stream";
  c.by_stream = true;
  c.call = [=](int i) {
    CK(cudaMemcpyAsync(p.at(i % sets, p.inputs), p.at(i % sets, 0), half, cudaMemcpyDeviceToDevice, stream));
  };
  all.push_back(c);
}

template <class V, class F> void add_cub(std::vector<Contender> &all, const char *name, const Problem &p, int k)
{
  const int sets = p.sets(k);
  Contender c;
  c.name = name;
  c.call = [=](int i) {
    CK(cub::DeviceTransform::Transform((V *)p.at(i % sets, 0), (V *)p.at(i % sets, 1),
                                       (int64_t)((size_t)p.m * p.n * 4 / sizeof(V)), F{}, stream));
  };
  all.push_back(c);
}

bool add_plan(std::vector<Contender> &all, const Problem &p, const tmaring_plan_options &options, int k, char *vectors,
              const char *tag = "")
{
  Op *op = new Op; // lives to the end of the program
  if (!op->make(p, options, k, vectors)) return false;
  check(*op);
  Contender c;
  c.name = std::string(tag) + describe(*op);
  c.call = [=](int i) { op->launch(i); };
  all.push_back(c);
  return true;
}

tmaring_plan_options automatic()
{
  tmaring_plan_options o;
  tmaring_plan_options_init(&o);
  return o;
}

void fill_inputs(const Problem &p, int k)
{
  for (int s = 0; s < p.sets(k); ++s)
    for (int t = 0; t < p.inputs; ++t)
      fill_kernel<<<sms * 8, 256, 0, stream>>>(p.at(s, t), (size_t)p.m * p.n, p.elem() == 2);
  CK(cudaStreamSynchronize(stream));
}

const int kModes[][2] = {{TMARING_MODE_PIPELINED, TMARING_WAR_CTA_BARRIER},
                         {TMARING_MODE_PIPELINED, TMARING_WAR_MBARRIER},
                         {TMARING_MODE_WARP_SPECIALIZED, TMARING_AUTO}};

// order x policy x mode at the size of the copy ceiling
void section_big(char *vectors)
{
  const Problem p = {"y = x + x", TMARING_F32, 1048573, 256, 1, 0, false};
  const int k = calls_for(p.bytes());
  fill_inputs(p, k);
  std::vector<Contender> all;
  add_memcpy(all, p, k);
  add_cub<float, Twice>(all, "CUB DeviceTransform", p, k);
  add_plan(all, p, automatic(), k, vectors, "auto: ");
  static const char *policies[] = {"wrap ", "skip ", "exact "};
  for (auto &mode : kModes)
    for (int order = 0; order < 4; ++order)
      for (int policy = 0; policy < (order == TMARING_ORDER_TICKET ? 1 : 3); ++policy) {
        tmaring_plan_options o = automatic();
        o.mode = mode[0], o.war = mode[1], o.order = order, o.policy = order == TMARING_ORDER_TICKET ? 2 : policy;
        o.tile_rows = order == TMARING_ORDER_SPLIT ? 1 : 16, o.stages = 4;
        add_plan(all, p, o, k, vectors, policies[o.policy]);
      }
  race("y = x + x f32 [1048573, 256]", p.bytes(), k, all);
}

// The second load path, tensor maps, beside the first: every mode and store path.
void tile_race(tmaring_dtype dtype, const char *title, char *vectors)
{
  const Problem p = {"y = x + x", dtype, 65537, 4096, 1, 0, false};
  const int k = calls_for(p.bytes());
  fill_inputs(p, k);
  std::vector<Contender> all;
  add_memcpy(all, p, k);
  add_plan(all, p, automatic(), k, vectors, "auto: ");
  for (int load : {TMARING_LOAD_TILE, TMARING_LOAD_ASYNC, TMARING_LOAD_ORDINARY}) {
    tmaring_plan_options o = automatic();
    o.load = load;
    add_plan(all, p, o, k, vectors, "auto but: ");
  }
  for (auto &mode : kModes)
    for (int order : {TMARING_ORDER_CYCLIC, TMARING_ORDER_TICKET})
      for (int store = TMARING_STORE_DIRECT; store <= TMARING_STORE_TILE; ++store)
        for (int rows : {1, 2}) {
          tmaring_plan_options o = automatic();
          o.load = TMARING_LOAD_TILE;
          o.mode = mode[0], o.war = mode[1], o.order = order, o.store = store, o.tile_rows = rows;
          add_plan(all, p, o, k, vectors);
        }
  for (int rows : {1, 2, 4}) // how large fills and how many of them hide what a copy costs its thread
    for (int stages : {2, 3, 4, 6}) {
      tmaring_plan_options o = automatic();
      o.load = TMARING_LOAD_TILE, o.order = TMARING_ORDER_TICKET, o.tile_rows = rows, o.stages = stages;
      add_plan(all, p, o, k, vectors);
    }
  race(title, p.bytes(), k, all);
}

void section_tile(char *vectors)
{
  tile_race(TMARING_F32, "y = x + x f32 [65537, 4096], tensor maps", vectors);
  tile_race(TMARING_BF16, "y = x + x bf16 [65537, 4096], tensor maps", vectors);
}

void section_small(char *vectors)
{
  const Problem p = {"y = x + x", TMARING_F32, 8191, 256, 1, 0, false};
  const int k = calls_for(p.bytes());
  fill_inputs(p, k);
  std::vector<Contender> all;
  add_cub<float, Twice>(all, "CUB DeviceTransform", p, k);
  add_cub<float4, Twice4>(all, "CUB DeviceTransform, 16 B", p, k);
  add_plan(all, p, automatic(), k, vectors, "auto: ");
  for (int store = 0; store < 2; ++store)
    for (int threads : {128, 256})
      for (int rows : {8, 16})
        for (auto &mode : kModes)
          for (int order : {TMARING_ORDER_CYCLIC, TMARING_ORDER_TICKET})
            for (int stages : {2, 4}) {
              tmaring_plan_options o = automatic();
              o.mode = mode[0], o.war = mode[1], o.order = order, o.tile_rows = rows, o.stages = stages,
              o.store = store;
              o.consumers[0] = threads, o.consumers[1] = o.consumers[2] = 1;
              add_plan(all, p, o, k, vectors);
            }
  for (int threads : {32, 64, 128}) // more CTAs than two per SM, shorter rings
    for (int rows : {4, 8, 16})
      for (int stages : {2, 3})
        for (int workers : {sms * 3, sms * 4, sms * 6, 512}) {
          tmaring_plan_options o = automatic();
          o.mode = TMARING_MODE_WARP_SPECIALIZED, o.order = TMARING_ORDER_CYCLIC, o.tile_rows = rows, o.stages = stages;
          o.consumers[0] = threads, o.consumers[1] = o.consumers[2] = 1, o.workers = workers;
          o.store = TMARING_STORE_DIRECT;
          add_plan(all, p, o, k, vectors);
        }
  race("y = x + x f32 [8191, 256]", p.bytes(), k, all);
}

void section_rmsnorm(char *vectors)
{
  const Problem p = {
      "rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * w", TMARING_BF16, 16384, 4096, 1, 1, false};
  const int k = calls_for(p.bytes());
  fill_inputs(p, k);
  std::vector<Contender> all;
  add_memcpy(all, p, k);
  add_plan(all, p, automatic(), k, vectors, "auto: ");
  for (int store = 0; store < 2; ++store)
    for (int scope : {TMARING_SCOPE_WARP, TMARING_SCOPE_GROUP, TMARING_SCOPE_CTA})
      for (int rows : {1, 2, 4, 8})
        for (int stages : {3, 5})
          for (int order : {TMARING_ORDER_TICKET, TMARING_ORDER_CYCLIC}) {
            tmaring_plan_options o = automatic();
            o.mode = TMARING_MODE_WARP_SPECIALIZED, o.order = order, o.tile_rows = rows, o.stages = stages,
            o.store = store, o.scope = scope;
            if (scope == TMARING_SCOPE_GROUP) o.warps_per_row = 4;
            add_plan(all, p, o, k, vectors);
          }
  race("rmsnorm bf16 [16384, 4096]", p.bytes(), k, all);
}

// stages x rows per fill x store x block x CTAs per SM for the large copy
void section_tune(char *vectors)
{
  const Problem p = {"y = x + x", TMARING_F32, 1048573, 256, 1, 0, false};
  const int k = calls_for(p.bytes());
  fill_inputs(p, k);
  std::vector<Contender> all;
  add_memcpy(all, p, k);
  for (int store = 0; store < 2; ++store)
    for (int threads : {64, 128, 256})
      for (int rows : {8, 16})
        for (int stages : {3, 4})
          for (int ctas : {1, 2, 4}) {
            tmaring_plan_options o = automatic();
            o.mode = TMARING_MODE_WARP_SPECIALIZED, o.order = TMARING_ORDER_TICKET, o.tile_rows = rows;
            o.stages = stages, o.store = store, o.workers = sms * ctas;
            o.consumers[0] = threads, o.consumers[1] = o.consumers[2] = 1;
            add_plan(all, p, o, k, vectors);
          }
  race("tuning: y = x + x f32 [1048573, 256]", p.bytes(), k, all);
}

__global__ void empty_kernel() {}

double host_us(const std::function<void()> &call)
{
  std::vector<float> us;
  for (int round = 0; round < 200; ++round) {
    CK(cudaStreamSynchronize(stream));
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) call(); // well below the depth of the launch queue
    const auto end = std::chrono::steady_clock::now();
    us.push_back(std::chrono::duration<float, std::micro>(end - begin).count() / 50);
  }
  return median(us);
}

// Host time of a launch beside a bare cuLaunchKernelEx of an empty kernel, in turns.
void section_launch(char *vectors)
{
  void *entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CK(cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &entry, 12000, cudaEnableDefault, &found));
  const auto launch_ex = (CUresult(*)(const CUlaunchConfig *, CUfunction, void **, void **))entry;
  cudaFunction_t function;
  CK(cudaGetFuncBySymbol(&function, (const void *)empty_kernel));
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 32;
  config.hStream = stream;
  Op op;
  op.make({"y = x + x", TMARING_F32, 131, 256, 1, 0, false}, automatic(), 1, vectors);
  fill_inputs(op.p, 1);
  check(op);
  double bare = 1e9, ours = 1e9, planning = 1e9;
  std::vector<float> gaps;
  for (int turn = 0; turn < 5; ++turn) {
    const double b = host_us([&] { launch_ex(&config, (CUfunction)function, nullptr, nullptr); });
    const double o = host_us([&] { op.launch(0); });
    gaps.push_back((float)(o - b));
    bare = std::min(bare, b), ours = std::min(ours, o);
  }
  std::vector<float> plans;
  for (int i = 0; i < 200; ++i) {
    tmaring_machine machine;
    tmaring_machine_h200(&machine);
    tmaring_formula *formula;
    must(tmaring_formula_parse(&formula, "rmsnorm(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * w"),
         "parse");
    tmaring_tensor t[3] = {TMARING_TENSOR_INIT, TMARING_TENSOR_INIT, TMARING_TENSOR_INIT};
    for (auto &q : t) q.dtype = TMARING_BF16, q.rows = 16384, q.cols = 4096;
    t[1].rows = 1;
    tmaring_plan *plan;
    const auto begin = std::chrono::steady_clock::now();
    must(tmaring_plan_create(&plan, formula, t, 3, &machine, nullptr), "plan");
    plans.push_back(std::chrono::duration<float, std::micro>(std::chrono::steady_clock::now() - begin).count());
    tmaring_plan_free(plan);
    tmaring_formula_free(formula);
  }
  planning = median(plans);
  std::printf("\nhost: bare cuLaunchKernelEx %.3f us, tmaring_launch %.3f us, difference %.3f us (median of 5 turns); "
              "planning %.1f us\n",
              bare, ours, median(gaps), planning);
}

tmaring_kernel *prepared(const tmaring_plan *plan, float *ms)
{
  tmaring_kernel *kernel;
  const auto begin = std::chrono::steady_clock::now();
  must(tmaring_prepare(&kernel, plan, TMARING_BACKEND_CUDA), "prepare");
  *ms = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return kernel;
}

// tmaring_prepare of formulas that are not built in: compiled by NVRTC, then from the cache on disk. Every constant is a
// kernel of its own. TMARING_CACHE_DIR must name an empty folder.
void section_prepare(char *)
{
  std::vector<float> first, cached;
  float ms;
  for (int i = 0; i < 6; ++i) {
    char text[160];
    std::snprintf(text, sizeof text, "rmsnorm(x[M,N], w[N]) = x * rsqrt(mean(x * x) + %d.0625e-6) * w", i + 1);
    tmaring_machine machine;
    tmaring_machine_h200(&machine);
    tmaring_formula *formula;
    must(tmaring_formula_parse(&formula, text), "parse");
    tmaring_tensor t[3] = {TMARING_TENSOR_INIT, TMARING_TENSOR_INIT, TMARING_TENSOR_INIT};
    for (auto &q : t) q.dtype = TMARING_BF16, q.rows = 16384, q.cols = 4096;
    t[1].rows = 1;
    tmaring_plan *plan;
    must(tmaring_plan_create(&plan, formula, t, 3, &machine, nullptr), "plan");
    tmaring_kernel_free(prepared(plan, &ms));
    first.push_back(ms);
    tmaring_kernel_free(prepared(plan, &ms));
    cached.push_back(ms);
    tmaring_plan_free(plan);
    tmaring_formula_free(formula);
  }
  std::printf(
      "\nprepare, rmsnorm bf16 with a constant of its own: the first by NVRTC %.0f ms, later ones %.0f ms; from the "
      "cache on disk %.2f ms (medians of %zu)\n",
      first[0], median(first), median(cached), cached.size());
}

} // namespace

int main(int argc, char **argv)
{
  cudaDeviceProp device;
  CK(cudaGetDeviceProperties(&device, 0));
  sms = device.multiProcessorCount;
  CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CK(cudaMalloc(&flush_buffer, kFlushBytes));
  CK(cudaMemset(flush_buffer, 1, kFlushBytes));
  CK(cudaMalloc(&sink, 4));
  arena_bytes = size_t{14} << 30;
  CK(cudaMalloc(&arena, arena_bytes));
  char *vectors;
  CK(cudaMalloc(&vectors, size_t{4} << 20));
  fill_kernel<<<sms * 8, 256, 0, stream>>>(vectors, (size_t{4} << 20) / 2, 1);
  for (int i = 0; i < 200; ++i) flush(); // brings the clocks up
  CK(cudaStreamSynchronize(stream));
  std::printf("%s, %d SMs\n", device.name, sms);
  const struct {
    const char *name;
    void (*run)(char *);
  } sections[] = {{"big", section_big},   {"small", section_small},   {"rmsnorm", section_rmsnorm},
                  {"tune", section_tune}, {"launch", section_launch}, {"prepare", section_prepare},
                  {"tile", section_tile}};
  for (auto &s : sections) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted = wanted || std::strcmp(argv[i], s.name) == 0;
    if (wanted) s.run(vectors);
  }
  return 0;
}

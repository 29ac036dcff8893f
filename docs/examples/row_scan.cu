// A kernel of your own on tmaring's device headers: the running sum along each row, y[r][c] = x[r][0] + ... + x[r][c].
// No formula can say that: an element depends on its neighbours. Rows stream through the ring, a warp scans one row at
// a time in shared memory, and the results leave by bulk stores, in place.
//
//   nvcc -std=c++17 -O3 -gencode=arch=compute_90a,code=sm_90a -I include docs/examples/row_scan.cu -o row_scan &&
//   ./row_scan
//
// The host fills tmaring_args: the walk, the shape of the CTA, the row scope and the map of shared memory. All three
// come from the functions of tmaring/abi that the kernel itself uses.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tmaring/device/row.cuh"

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const cudaError_t result_ = (call);                                                                                \
    if (result_ != cudaSuccess) {                                                                                      \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(result_));                                            \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

// What the ring calls for each row. One pass, no reduction of the ring's own, results staged over the input.
struct row_scan {
  static constexpr int kInputs = 1, kOutputs = 1, kReductions = 0, kPasses = 1;
  static constexpr bool kGroup = false, kCluster = false, kStaged = true, kEdges = false, kPieces = false;
  static constexpr bool kColumns = false, kDebug = false;

  static __device__ void specialise(tmaring_args *a)
  {
    a->input_count = a->output_count = 1;
    a->scope.kind = TMARING_SCOPE_WARP;
    a->walk.chunk = a->walk.cluster = 1;
    a->input[0].dense = a->output[0].dense = 1;
    a->input[0].group_rows = a->output[0].group_rows = 0;
    a->input[0].elem_bytes = a->output[0].elem_bytes = 4;
  }
  template <class E> __device__ void begin(E *) {}
  template <class E> __device__ void partial(E *, const tmaring_fill *, int, int) {}
  template <class E> __device__ void finish(E *, const tmaring_fill *, int, int) {}
  template <class E> __device__ void row_store(E *, const tmaring_fill *, int) {}

  template <class E> __device__ void accumulate(E *e, const tmaring_fill *fill, tmaring_u32 stage, int iteration, int)
  {
    const tmaring_span s = tmaring_row_span<false, false>(e, fill, iteration);
    if (!s.active) return; // one row per warp: all lanes agree
    float *row = reinterpret_cast<float *>(tmaring_row_staged(e, &e->view.input[0], fill, stage, s));
    float carry = 0.0f;
    for (int base = 0; base < s.n; base += 32) {
      const int c = base + e->lane;
      float sum = c < s.n ? row[c] : 0.0f;
      for (int distance = 1; distance < 32; distance *= 2) {
        const float left = __shfl_up_sync(0xffffffffu, sum, distance);
        if (e->lane >= distance) sum += left;
      }
      sum += carry;
      if (c < s.n) row[c] = sum;
      carry = __shfl_sync(0xffffffffu, sum, 31);
    }
  }
};

__global__ void __launch_bounds__(288) row_scan_kernel(const __grid_constant__ tmaring_args args)
{
  row_scan kernel;
  tmaring_ring_run<true, 0, 0>(&args, &kernel);
}

static tmaring_stream make_stream(const void *base, int rows, int cols, int tile_rows)
{
  tmaring_stream s = {};
  s.base = reinterpret_cast<tmaring_u64>(base);
  s.pitch = (tmaring_i64)cols * 4;
  s.hull_end = s.base + (tmaring_u64)rows * s.pitch;
  s.dtype = TMARING_F32;
  s.elem_bytes = 4;
  s.dense = 1;
  s.slot_row = tmaring_run_slot_row((tmaring_u32)s.pitch, 1);
  s.slot_bytes = tmaring_run_slot_bytes((tmaring_u32)s.pitch, tile_rows, 1, 1);
  return s;
}

static tmaring_args make_args(const float *x, float *y, int rows, int cols, int workers)
{
  const int stages = 4, warps = 8;
  tmaring_args a = {};
  a.abi_version = TMARING_ABI_VERSION;
  a.stages = stages;
  a.distance = stages - 1;
  a.store_lag = tmaring_ring_store_lag(a.stages, a.distance, 1);
  a.walk.cols = a.walk.piece_cols = cols;
  a.walk.workers = workers < rows ? workers : rows;
  a.walk.order = TMARING_ORDER_CYCLIC;
  a.walk.policy = TMARING_POLICY_EXACT;
  a.walk.tile_rows = warps; // a row per warp and fill
  a.walk.chunk = a.walk.pieces = a.walk.passes = a.walk.split_stages = 1;
  tmaring_walk_set_rows(&a.walk, rows);
  a.cta.mode = TMARING_MODE_WARP_SPECIALIZED;
  a.cta.release = TMARING_RELEASE_WARP;
  a.cta.role_axis = TMARING_AXIS_X;
  a.cta.consumers[0] = 32 * warps;
  a.cta.consumers[1] = a.cta.consumers[2] = 1;
  a.cta.slab = 32;
  a.scope.kind = TMARING_SCOPE_WARP;
  a.scope.vec = 4;
  a.scope.lanes_log2 = 5;
  a.scope.warps_per_row = a.scope.unit_rows = 1;
  a.input_count = a.output_count = 1;
  a.input[0] = make_stream(x, rows, cols, warps);
  a.output[0] = make_stream(y, rows, cols, warps); // slot 0 as well: in place
  tmaring_smem_layout(&a.smem, a.stages, a.input[0].slot_bytes, 0, 0, 0);
  return a;
}

// Elements whose error exceeds what fp32 may lose of the sum of magnitudes. NaN counts.
static long count_wrong(const std::vector<float> &x, const std::vector<float> &y, int rows, int cols)
{
  long wrong = 0;
  for (int r = 0; r < rows; ++r) {
    double sum = 0, magnitude = 0;
    for (int c = 0; c < cols; ++c) {
      const double v = x[(size_t)r * cols + c];
      sum += v;
      magnitude += v < 0 ? -v : v;
      const double error = y[(size_t)r * cols + c] - sum;
      if (!((error < 0 ? -error : error) <= 1e-6 * magnitude)) ++wrong;
    }
  }
  return wrong;
}

int main()
{
  const int rows = 8191, cols = 1024; // rows do not divide by anything
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::vector<float> x((size_t)rows * cols), y(x.size());
  for (float &v : x) v = (float)std::rand() / (float)RAND_MAX - 0.4f;
  float *dx, *dy;
  CHECK(cudaMalloc(&dx, x.size() * 4));
  CHECK(cudaMalloc(&dy, x.size() * 4));
  CHECK(cudaMemcpy(dx, x.data(), x.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(dy, 0xff, x.size() * 4));
  const tmaring_args args = make_args(dx, dy, rows, cols, device.multiProcessorCount);
  CHECK(cudaFuncSetAttribute(row_scan_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)args.smem.total));
  row_scan_kernel<<<args.walk.workers, tmaring_cta_threads(&args.cta), args.smem.total>>>(args);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(y.data(), dy, y.size() * 4, cudaMemcpyDeviceToHost));
  const long wrong = count_wrong(x, y, rows, cols);
  std::printf("row_scan [%d, %d]: %ld elements wrong: %s\n", rows, cols, wrong, wrong == 0 ? "passed" : "FAILED");
  CHECK(cudaFree(dx));
  CHECK(cudaFree(dy));
  return wrong == 0 ? 0 : 1;
}

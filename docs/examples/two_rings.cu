// Two rings in one kernel: RMSNorm of each row, then the result quantized to fp8 with a scale per row. The second ring
// has more stages, and its barriers lie where barriers of the first one were; after it, the same words hold numbers.
// A word that is an mbarrier must be invalidated before it becomes something else: tmaring_ring_end does that.
//
//   nvcc -std=c++17 -O3 -gencode=arch=compute_90a,code=sm_90a -I include docs/examples/two_rings.cu -o two_rings &&
//   ./two_rings
//
// Both rings walk the rows in the same order with the same grid, so that a CTA quantizes the rows that it normalized:
// no other CTA is waited for. docs/examples/row_scan.cu shows the parts of a ring one by one.
#include <cmath>
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

constexpr float EPSILON = 1e-6f, E4M3_MAX = 448.0f;

// A warp has a row, reads it in the stage, and stores from registers: what both kernels have in common.
struct row_kernel {
  static constexpr int kInputs = 1, kOutputs = 1, kReductions = 0, kPasses = 1;
  static constexpr bool kGroup = false, kCluster = false, kStaged = false, kEdges = false, kPieces = false;
  static constexpr bool kColumns = false, kDebug = false;

  static __device__ void specialise(tmaring_args *a)
  {
    a->input_count = a->output_count = 1;
    a->scope.kind = TMARING_SCOPE_WARP;
    a->walk.chunk = a->walk.cluster = 1;
    a->input[0].dense = 1;
    a->input[0].group_rows = a->output[0].group_rows = 0;
    a->input[0].elem_bytes = 4;
  }
  template <class E> __device__ void begin(E *) {}
  template <class E> __device__ void partial(E *, const tmaring_fill *, int, int) {}
  template <class E> __device__ void finish(E *, const tmaring_fill *, int, int) {}
  template <class E> __device__ void row_store(E *, const tmaring_fill *, int) {}
};

struct normalize : row_kernel {
  template <class E> __device__ void accumulate(E *e, const tmaring_fill *fill, tmaring_u32 stage, int iteration, int)
  {
    const tmaring_span s = tmaring_row_span<false, false>(e, fill, iteration);
    if (!s.active) return; // one row per warp: all lanes agree
    const float *x = reinterpret_cast<const float *>(tmaring_row_staged(e, &e->view.input[0], fill, stage, s));
    float *y = reinterpret_cast<float *>(tmaring_row_global(&e->view.output[0], fill, s));
    float sum = 0.0f;
    for (int c = e->lane; c < s.n; c += 32) sum += x[c] * x[c];
    for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, half);
    const float scale = rsqrtf(sum / (float)s.n + EPSILON);
    for (int c = e->lane; c < s.n; c += 32) y[c] = x[c] * scale;
  }
};

struct quantize : row_kernel {
  float largest; // scale of this warp's rows

  template <class E> __device__ void begin(E *)
  {
    largest = 0.0f;
  }
  template <class E> __device__ void accumulate(E *e, const tmaring_fill *fill, tmaring_u32 stage, int iteration, int)
  {
    const tmaring_span s = tmaring_row_span<false, false>(e, fill, iteration);
    if (!s.active) return;
    const float *y = reinterpret_cast<const float *>(tmaring_row_staged(e, &e->view.input[0], fill, stage, s));
    unsigned char *q = tmaring_row_global(&e->view.output[0], fill, s);
    float most = 1e-30f; // a row of zeros has a scale, too
    for (int c = e->lane; c < s.n; c += 32) most = fmaxf(most, fabsf(y[c]));
    for (int half = 16; half > 0; half /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, half));
    const float scale = most / E4M3_MAX;
    for (int c = e->lane; c < s.n; c += 32) tmaring_store_one<TMARING_E4M3, TMARING_GLOBAL>(q + c, y[c] / scale);
    if (e->lane == 0) tmaring_store_value<TMARING_F32>(&e->view.row_output[0], fill->row + s.row, scale);
    largest = fmaxf(largest, scale);
  }
};

__global__ void __launch_bounds__(288) two_rings_kernel(const __grid_constant__ tmaring_args first,
                                                        const __grid_constant__ tmaring_args second, int *largest)
{
  normalize one;
  quantize two;
  tmaring_ring_run<true, 0, 0>(&first, &one);
  tmaring_ring_end(&first);
  tmaring_ring_run<true, 0, 0>(&second, &two);
  tmaring_ring_end(&second);
  // The words of the full barriers, one per warp.
  float *word = reinterpret_cast<float *>(tmaring_shared + second.smem.full);
  const tmaring_thread me = tmaring_cta_thread(&second.cta, (int)threadIdx.x, (int)threadIdx.y, (int)threadIdx.z);
  const int warps = tmaring_cta_consumer_warps(&second.cta);
  if (me.role == TMARING_ROLE_CONSUMER && me.index % 32 == 0) word[me.index / 32] = two.largest;
  __syncthreads();
  if (threadIdx.x != 0) return;
  float most = 0.0f;
  for (int w = 0; w < warps; ++w) most = fmaxf(most, word[w]);
  atomicMax(largest, __float_as_int(most)); // positive floats compare as integers
}

static tmaring_stream make_stream(const void *base, int rows, int cols, int tile_rows, tmaring_dtype dtype)
{
  tmaring_stream s = {};
  s.base = reinterpret_cast<tmaring_u64>(base);
  s.elem_bytes = tmaring_dtype_bytes(dtype);
  s.pitch = (tmaring_i64)cols * s.elem_bytes;
  s.hull_end = s.base + (tmaring_u64)rows * s.pitch;
  s.dtype = dtype;
  s.dense = 1;
  s.slot_row = tmaring_run_slot_row((tmaring_u32)s.pitch, 1);
  s.slot_bytes = tmaring_run_slot_bytes((tmaring_u32)s.pitch, tile_rows, 1, 1);
  return s;
}

static tmaring_args make_args(int stages, const float *in, void *out, tmaring_dtype type, int rows, int cols,
                              int workers)
{
  const int warps = 8;
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
  a.input[0] = make_stream(in, rows, cols, warps, TMARING_F32);
  a.output[0] = make_stream(out, rows, cols, warps, type);
  tmaring_smem_layout(&a.smem, a.stages, a.input[0].slot_bytes, 0, 0, 0);
  return a;
}

// ---- what is due, in double ----

static double decode(unsigned char code)
{
  const int exponent = code >> 3 & 15, fraction = code & 7;
  if ((code & 127) == 127) return NAN;
  const double magnitude = exponent ? std::ldexp(8 + fraction, exponent - 10) : std::ldexp(fraction, -9);
  return code & 128 ? -magnitude : magnitude;
}

// Half the distance between neighbouring codes at a value.
static double half_step(double value)
{
  const double magnitude = std::fabs(value);
  return magnitude < std::ldexp(1.0, -6) ? std::ldexp(1.0, -10) : std::ldexp(1.0, std::ilogb(magnitude) - 4);
}

struct results {
  std::vector<float> y, scale;
  std::vector<unsigned char> code;
  float largest;
};

// Elements, and scales, that are not what one rounding or a few of fp32 make of what is due. NaN counts.
static long count_wrong(const std::vector<float> &x, const results &r, int rows, int cols)
{
  long wrong = 0;
  double largest = 0;
  for (int i = 0; i < rows; ++i) {
    double square = 0, most = 1e-30;
    for (int c = 0; c < cols; ++c) square += (double)x[(size_t)i * cols + c] * x[(size_t)i * cols + c];
    const double scale = 1 / std::sqrt(square / cols + EPSILON);
    for (int c = 0; c < cols; ++c) {
      const size_t at = (size_t)i * cols + c;
      const double due = x[at] * scale, y = r.y[at], value = y / r.scale[i];
      if (!(std::fabs(y - due) <= 1e-5 * std::fabs(due))) ++wrong;
      if (!(std::fabs(decode(r.code[at]) - value) <= half_step(value) * (1 + 1e-5))) ++wrong;
      most = std::fmax(most, std::fabs(y));
    }
    if (!(std::fabs(r.scale[i] - most / E4M3_MAX) <= 1e-6 * most)) ++wrong;
    largest = std::fmax(largest, r.scale[i]);
  }
  return wrong + (r.largest != (float)largest);
}

// Random values; some rows are zero.
static std::vector<float> make_input(size_t count, int cols)
{
  std::vector<float> x(count);
  for (size_t i = 0; i < count; ++i)
    x[i] = i / cols % 97 == 5 ? 0.0f : ((float)std::rand() / (float)RAND_MAX - 0.4f) * (float)(1 + i / cols % 7);
  return x;
}

// In device memory; results are poisoned.
struct buffers {
  float *x, *y, *scale;
  unsigned char *code;
  int *largest;
};

static buffers take_buffers(const std::vector<float> &x, int rows)
{
  const size_t count = x.size();
  buffers d;
  CHECK(cudaMalloc(&d.x, count * 4));
  CHECK(cudaMalloc(&d.y, count * 4));
  CHECK(cudaMalloc(&d.code, count));
  CHECK(cudaMalloc(&d.scale, rows * sizeof(float)));
  CHECK(cudaMalloc(&d.largest, sizeof(int)));
  CHECK(cudaMemcpy(d.x, x.data(), count * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d.y, 0xff, count * 4));
  CHECK(cudaMemset(d.code, 0xff, count));
  CHECK(cudaMemset(d.largest, 0, sizeof(int)));
  return d;
}

static results read_results(const buffers &d, size_t count, int rows)
{
  results r = {std::vector<float>(count), std::vector<float>(rows), std::vector<unsigned char>(count), 0.0f};
  CHECK(cudaMemcpy(r.y.data(), d.y, count * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(r.code.data(), d.code, count, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(r.scale.data(), d.scale, rows * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&r.largest, d.largest, sizeof(float), cudaMemcpyDeviceToHost));
  return r;
}

static void give_buffers(const buffers &d)
{
  CHECK(cudaFree(d.x));
  CHECK(cudaFree(d.y));
  CHECK(cudaFree(d.code));
  CHECK(cudaFree(d.scale));
  CHECK(cudaFree(d.largest));
}

static void launch(const buffers &d, int rows, int cols)
{
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  const tmaring_args first = make_args(3, d.x, d.y, TMARING_F32, rows, cols, device.multiProcessorCount);
  tmaring_args second = make_args(5, d.y, d.code, TMARING_E4M3, rows, cols, device.multiProcessorCount);
  second.row_output_count = 1;
  second.row_output[0].base = reinterpret_cast<tmaring_u64>(d.scale);
  second.row_output[0].dtype = TMARING_F32;
  second.row_output[0].pitch = 4;
  const tmaring_u32 bytes = first.smem.total > second.smem.total ? first.smem.total : second.smem.total;
  CHECK(cudaFuncSetAttribute(two_rings_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  two_rings_kernel<<<first.walk.workers, tmaring_cta_threads(&first.cta), bytes>>>(first, second, d.largest);
  CHECK(cudaGetLastError());
}

int main()
{
  const int rows = 8191, cols = 1024; // rows do not divide by anything
  const std::vector<float> x = make_input((size_t)rows * cols, cols);
  const buffers d = take_buffers(x, rows);
  launch(d, rows, cols);
  const results r = read_results(d, x.size(), rows);
  const long wrong = count_wrong(x, r, rows, cols);
  std::printf("two_rings [%d, %d]: %ld values wrong: %s\n", rows, cols, wrong, wrong == 0 ? "passed" : "FAILED");
  give_buffers(d);
  return wrong == 0 ? 0 : 1;
}

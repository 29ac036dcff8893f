// Kernels whose indexes are per element, in both widths: what a second instance costs (scripts/index_width_report.sh).
//   nvcc -DONLY_KERNEL=strided_copy -DONLY_INDEX=tmaring_i32 -cubin ...    one instance alone
//   nvcc -o index_kernels ...                                              times both widths, and checks that they agree
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tmaring/device/index.cuh"

// One index per element, and nothing made of it but an address.
template <class I> __global__ void contiguous(const float *x, float *y, I n)
{
  for (tmaring_grid_walk<I> w(n); w.live(); w.next()) y[w.at()] = 2 * x[w.at()];
}

// Rows and columns by dividing each index.
template <class I> __global__ void strided_divide(const float *x, float *y, I n, I cols, I x_pitch, I y_pitch)
{
  for (tmaring_grid_walk<I> w(n); w.live(); w.next()) {
    const I row = w.at() / cols, col = w.at() - row * cols;
    y[row * y_pitch + col] = x[row * x_pitch + col];
  }
}

// The same, divided by a number made once.
template <class I>
__global__ void strided_copy(const float *x, float *y, I n, tmaring_index_divisor<I> cols, I x_pitch, I y_pitch)
{
  for (tmaring_grid_walk<I> w(n); w.live(); w.next()) {
    I row, col;
    cols.split(w.at(), &row, &col);
    y[row * y_pitch + col] = x[row * x_pitch + col];
  }
}

// Rows by number.
template <class I>
__global__ void gather(const float *x, const int *rows, float *y, I n, tmaring_index_divisor<I> cols, I x_pitch)
{
  for (tmaring_grid_walk<I> w(n); w.live(); w.next()) {
    I row, col;
    cols.split(w.at(), &row, &col);
    y[w.at()] = x[(I)rows[row] * x_pitch + col];
  }
}

#if defined(ONLY_KERNEL)

typedef ONLY_INDEX only;
#define INSTANCE_contiguous template __global__ void contiguous<only>(const float *, float *, only);
#define INSTANCE_strided_divide                                                                                        \
  template __global__ void strided_divide<only>(const float *, float *, only, only, only, only);
#define INSTANCE_strided_copy                                                                                          \
  template __global__ void strided_copy<only>(const float *, float *, only, tmaring_index_divisor<only>, only, only);
#define INSTANCE_gather                                                                                                \
  template __global__ void gather<only>(const float *, const int *, float *, only, tmaring_index_divisor<only>, only);
#define INSTANCE_OF(kernel) INSTANCE_##kernel
#define INSTANCE(kernel)    INSTANCE_OF(kernel)
INSTANCE(ONLY_KERNEL)

#else

#include <algorithm>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const cudaError_t error_ = (call);                                                                                 \
    if (error_ != cudaSuccess) {                                                                                       \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                                             \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

static const char *const names[] = {"contiguous", "strided_divide", "strided_copy", "gather"};

struct problem {
  long long rows, cols, x_pitch, y_pitch;
  float *x, *y;
  int *order;
};

// `x` and `y` of set k lie behind those of set k - 1.
template <class I> static void launch(int kernel, const problem &p, int set, int blocks, cudaStream_t stream)
{
  const I n = (I)(p.rows * p.cols), x_pitch = (I)p.x_pitch, y_pitch = (I)p.y_pitch;
  const float *x = p.x + set * p.rows * p.x_pitch;
  float *y = p.y + set * p.rows * p.y_pitch;
  const tmaring_index_divisor<I> by((I)p.cols);
  switch (kernel) {
  case 0: contiguous<I><<<blocks, 256, 0, stream>>>(x, y, n); break;
  case 1: strided_divide<I><<<blocks, 256, 0, stream>>>(x, y, n, (I)p.cols, x_pitch, y_pitch); break;
  case 2: strided_copy<I><<<blocks, 256, 0, stream>>>(x, y, n, by, x_pitch, y_pitch); break;
  default: gather<I><<<blocks, 256, 0, stream>>>(x, p.order, y, n, by, x_pitch);
  }
}

static void launch_width(int width, int kernel, const problem &p, int set, int blocks, cudaStream_t stream)
{
  TMARING_INDEX_SWITCH(width, launch<index_t>(kernel, p, set, blocks, stream););
}

static __global__ void fill(float *x, long long n)
{
  for (tmaring_grid_walk<tmaring_i64> w(n); w.live(); w.next()) {
    unsigned long long h = ((unsigned long long)w.at() + 1) * 0x9e3779b97f4a7c15ull;
    x[w.at()] = (float)((h ^ h >> 29) >> 40) + 1.0f;
  }
}

// Number of elements that differ between two results.
static __global__ void compare(const float *a, const float *b, long long n, unsigned long long *differ)
{
  for (tmaring_grid_walk<tmaring_i64> w(n); w.live(); w.next()) {
    if (a[w.at()] != b[w.at()]) atomicAdd(differ, 1ull);
  }
}

static double median(std::vector<double> &v)
{
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

// Both widths must write the same, and something.
static void check(int kernel, const problem &p, int blocks, cudaStream_t stream)
{
  const size_t count = (size_t)(p.rows * p.y_pitch);
  float *kept;
  unsigned long long *differ, got[2];
  CHECK(cudaMalloc(&kept, count * sizeof *kept));
  CHECK(cudaMalloc(&differ, 2 * sizeof *differ));
  CHECK(cudaMemset(differ, 0, 2 * sizeof *differ));
  CHECK(cudaMemset(p.y, 0, count * sizeof *p.y));
  CHECK(cudaMemset(kept, 0, count * sizeof *kept));
  CHECK(cudaDeviceSynchronize());
  launch_width(64, kernel, p, 0, blocks, stream);
  compare<<<1024, 256, 0, stream>>>(kept, p.y, (long long)count, differ + 1);
  CHECK(cudaMemcpyAsync(kept, p.y, count * sizeof *kept, cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaMemsetAsync(p.y, 0, count * sizeof *p.y, stream));
  launch_width(32, kernel, p, 0, blocks, stream);
  compare<<<1024, 256, 0, stream>>>(kept, p.y, (long long)count, differ);
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(got, differ, sizeof got, cudaMemcpyDeviceToHost));
  if (got[0] != 0 || got[1] != (unsigned long long)(p.rows * p.cols)) {
    std::printf("%s: widths differ in %llu elements, %llu are written\n", names[kernel], got[0], got[1]);
    std::exit(1);
  }
  cudaFree(kept);
  cudaFree(differ);
}

// Microseconds of one launch: `calls` of them over rotating sets between two events, the widths in turn.
static void time_kernel(int kernel, const problem &p, int sets, int calls, int blocks, cudaStream_t stream)
{
  std::vector<double> us[2];
  cudaEvent_t from, to;
  CHECK(cudaEventCreate(&from));
  CHECK(cudaEventCreate(&to));
  for (int round = 0; round < 31 + 2; ++round) {
    for (int w = 0; w < 2; ++w) {
      float ms;
      CHECK(cudaEventRecord(from, stream));
      for (int k = 0; k < calls; ++k) launch_width(w ? 64 : 32, kernel, p, k % sets, blocks, stream);
      CHECK(cudaEventRecord(to, stream));
      CHECK(cudaEventSynchronize(to));
      CHECK(cudaEventElapsedTime(&ms, from, to));
      if (round >= 2) us[w].push_back(1e3 * ms / calls);
    }
  }
  CHECK(cudaGetLastError());
  const double narrow = median(us[0]), broad = median(us[1]);
  std::printf("| %s | [%lld, %lld] | %.2f | %.2f | %.3f |\n", names[kernel], p.rows, p.cols, narrow, broad,
              broad / narrow);
  cudaEventDestroy(from);
  cudaEventDestroy(to);
}

static void run(long long rows, long long cols, int sets, int calls)
{
  problem p = {rows, cols, cols + 32, cols + 64, nullptr, nullptr, nullptr};
  cudaStream_t stream;
  int sms;
  std::vector<int> order((size_t)rows);
  for (long long r = 0; r < rows; ++r)
    order[(size_t)r] = (int)((unsigned long long)r * 2654435761u % (unsigned long long)rows);
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaMalloc(&p.x, (size_t)(sets * rows * p.x_pitch) * sizeof *p.x));
  CHECK(cudaMalloc(&p.y, (size_t)(sets * rows * p.y_pitch) * sizeof *p.y));
  CHECK(cudaMalloc(&p.order, (size_t)rows * sizeof *p.order));
  CHECK(cudaMemcpy(p.order, order.data(), (size_t)rows * sizeof *p.order, cudaMemcpyHostToDevice));
  fill<<<1024, 256, 0, stream>>>(p.x, sets * rows * p.x_pitch);
  for (int kernel = 0; kernel < 4; ++kernel) {
    check(kernel, p, sms * 8, stream);
    time_kernel(kernel, p, sets, calls, sms * 8, stream);
  }
  cudaFree(p.x);
  cudaFree(p.y);
  cudaFree(p.order);
  cudaStreamDestroy(stream);
}

// Small tensors rotate over sets past twice the L2, so that operands are cold; large ones pass it by themselves.
int main()
{
  std::printf("| kernel | elements | 32-bit us | 64-bit us | 64 / 32 |\n|---|---|---|---|---|\n");
  run(64, 4096, 120, 120);
  run(65536, 4096, 1, 3);
  return 0;
}

#endif

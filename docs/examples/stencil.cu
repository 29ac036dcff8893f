// Tensor maps in a kernel of your own: y = sum of the four neighbours of x - 4 x, with zeros around the matrix. A box with a
// margin on every side is one copy per tile: coordinates below zero and behind the edges are the copy engine's business,
// and so is what lies there. Along a row a box begins at a multiple of 16 bytes, so that the margin is four columns there,
// of which the stencil uses one.
//
//   nvcc -std=c++17 -O3 -gencode=arch=compute_90a,code=sm_90a -I include docs/examples/stencil.cu build/libtmaring.a
//     -o stencil && ./stencil
//
// The reference takes the same boxes on the host (tmaring_tensor_map_load).
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tmaring/device/ptx.cuh"
#include "tmaring/tensor_map.h"

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const cudaError_t result_ = (call);                                                                                \
    if (result_ != cudaSuccess) {                                                                                      \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(result_));                                            \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)
#define TMARING_CHECK(call)                                                                                            \
  do {                                                                                                                 \
    if ((call) != TMARING_OK) {                                                                                        \
      std::fprintf(stderr, "%s: %s\n", #call, tmaring_last_detail());                                                  \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

constexpr int kTile = 32;
constexpr int kMargin = 4;                                       // columns before a tile: 16 bytes
constexpr int kHeight = kTile + 2, kWidth = kMargin + kTile + 4; // of a box: the inner extent is a multiple of 16 bytes

struct box {
  float row[kHeight][kWidth];
};

// Of the element at (r, c) of a tile.
__host__ __device__ inline float stencil_at(const box &b, int r, int c)
{
  const float *above = b.row[r] + kMargin + c, *here = b.row[r + 1] + kMargin + c, *below = b.row[r + 2] + kMargin + c;
  return *above + *below + here[-1] + here[1] - 4.0f * *here;
}

__global__ void stencil_kernel(const __grid_constant__ tmaring_map x, float *y, int rows, int cols)
{
  __shared__ __align__(128) box b;
  __shared__ tmaring_u64 word;
  const tmaring_u32 full = tmaring_smem_address(&word);
  const int col = kTile * (int)blockIdx.x, row = kTile * (int)blockIdx.y;
  const tmaring_i32 corner[2] = {col - kMargin, row - 1};
  if (threadIdx.x == 0) {
    tmaring_mbarrier_init(full, 1);
    tmaring_fence_mbarrier_init();
    tmaring_mbarrier_arrive_expect_tx(full, sizeof b); // the whole box, also where the matrix clips it
    tmaring_tensor_load<2>(tmaring_smem_address(&b), &x, corner, full);
  }
  __syncthreads();
  while (!tmaring_mbarrier_try_wait(full, 0)) {
  }
  for (int i = threadIdx.x; i < kTile * kTile; i += blockDim.x) {
    const int r = i / kTile, c = i % kTile;
    if (row + r < rows && col + c < cols) y[(size_t)(row + r) * cols + col + c] = stencil_at(b, r, c);
  }
}

static tmaring_tensor_map_tiled describe(const float *x, int rows, int cols)
{
  tmaring_tensor_map_tiled map = TMARING_TENSOR_MAP_TILED_INIT;
  map.dtype = TMARING_F32;
  map.rank = 2;
  map.address = (uint64_t)(uintptr_t)x;
  map.dims[0] = (uint64_t)cols;
  map.dims[1] = (uint64_t)rows;
  map.strides[1] = (uint64_t)cols * sizeof *x;
  map.box[0] = kWidth;
  map.box[1] = kHeight;
  return map;
}

static long count_wrong(const std::vector<float> &x, const std::vector<float> &y, int rows, int cols)
{
  const tmaring_tensor_map_tiled map = describe(x.data(), rows, cols);
  long wrong = 0;
  box b;
  for (int row = 0; row < rows; row += kTile) {
    for (int col = 0; col < cols; col += kTile) {
      const int32_t corner[2] = {col - kMargin, row - 1};
      TMARING_CHECK(tmaring_tensor_map_load(&map, corner, &b, 0));
      for (int r = 0; r < kTile && row + r < rows; ++r) {
        for (int c = 0; c < kTile && col + c < cols; ++c)
          wrong += y[(size_t)(row + r) * cols + col + c] != stencil_at(b, r, c);
      }
    }
  }
  return wrong;
}

int main()
{
  const int rows = 1021, cols = 1004; // divide by no tile; rows of a multiple of 16 bytes
  std::vector<float> x((size_t)rows * cols), y((size_t)rows * cols);
  for (float &v : x) v = (float)(1 + std::rand() % 1000); // sums are exact: any order gives the same
  float *dx, *dy;
  CHECK(cudaMalloc(&dx, x.size() * sizeof(float)));
  CHECK(cudaMalloc(&dy, y.size() * sizeof(float)));
  CHECK(cudaMemcpy(dx, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(dy, 0xff, y.size() * sizeof(float)));

  const tmaring_tensor_map_tiled described = describe(dx, rows, cols);
  tmaring_map map; // 128 bytes, passed by value
  TMARING_CHECK(tmaring_tensor_map_encode_tiled(&map, &described));
  const dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  stencil_kernel<<<grid, 128>>>(map, dy, rows, cols);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(y.data(), dy, y.size() * sizeof(float), cudaMemcpyDeviceToHost));
  const long wrong = count_wrong(x, y, rows, cols);
  std::printf("stencil [%d, %d]: %ld elements wrong: %s\n", rows, cols, wrong, wrong == 0 ? "passed" : "FAILED");
  CHECK(cudaFree(dx));
  CHECK(cudaFree(dy));
  return wrong == 0 ? 0 : 1;
}

/* A tile program: c = a b on the tensor cores (cpu backend: in fp32), from planning to the result. With
 * TMARING_BACKEND_CUDA the addresses are device addresses and the last argument is a stream. */
#include <stdio.h>
#include <stdlib.h>
#include <tmaring/tmaring.h>

enum { M = 70, N = 100, K = 48 };

static _Alignas(16) float a[M][K], b[K][N], c[M][N];

static tmaring_tile_tensor matrix(int64_t rows, int64_t cols)
{
  tmaring_tile_tensor t = TMARING_TILE_TENSOR_INIT; /* f32, dense; dimensions are innermost first */
  t.rank = 2;
  t.dims[0] = cols;
  t.dims[1] = rows;
  return t;
}

/* Wrong elements of c: all numbers are whole, so that the sums are exact. */
static int differences(void)
{
  int wrong = 0;
  for (int i = 0; i < M * N; ++i) {
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += a[i / N][k] * b[k][i % N];
    wrong += c[i / N][i % N] != sum;
  }
  return wrong;
}

int main(void)
{
  const tmaring_tile_tensor tensors[] = {matrix(M, K), matrix(K, N), matrix(M, N)};
  void *const data[] = {a, b, c};
  tmaring_tile_plan *plan = NULL;
  tmaring_tile_kernel *kernel = NULL;
  tmaring_machine machine;

  for (int i = 0; i < M * K; ++i) a[i / K][i % K] = (float)(i % 7 - 3);
  for (int i = 0; i < K * N; ++i) b[i / N][i % N] = (float)(i % 5 + 1);
  tmaring_machine_h200(&machine); /* or tmaring_machine_query(&machine, 0) */
  int failed = tmaring_tile_plan_create(&plan, TMARING_TILE_MATMUL, tensors, 3, &machine, NULL) ||
               tmaring_tile_check(plan, NULL) || tmaring_tile_prepare(&kernel, plan, TMARING_BACKEND_CPU);
  void *workspace = malloc(tmaring_tile_workspace_bytes(plan) + 1); /* of more than 0 bytes for tickets alone */
  failed = failed || !workspace || tmaring_tile_workspace_init(kernel, workspace, NULL) ||
           tmaring_tile_launch(kernel, data, workspace, 0, NULL);
  if (failed) fprintf(stderr, "%s\n", tmaring_last_detail());
  for (int i = 0; !failed && tmaring_tile_plan_note(plan, i); ++i) puts(tmaring_tile_plan_note(plan, i));

  free(workspace);
  tmaring_tile_kernel_free(kernel);
  tmaring_tile_plan_free(plan);
  return failed || differences() != 0;
}

/* Ready ops, one call each. With TMARING_BACKEND_CUDA (or no call at all) the addresses are device addresses and the
 * last argument is a stream. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tmaring/tmaring.h>

enum { TOKENS = 16, WIDTH = 256 };

static _Alignas(16) float x[TOKENS][WIDTH], w[WIDTH], y[TOKENS][WIDTH], total[WIDTH], scale[TOKENS];
static _Alignas(16) unsigned char q[TOKENS][WIDTH];

static int refuse(const char *what)
{
  fprintf(stderr, "%s: %s\n", what, tmaring_last_detail());
  return 1;
}

/* y = rmsnorm(x, w), and y as fp8 codes with a scale per row. */
static int norm_and_quantize(const tmaring_call *call)
{
  const tmaring_view xs = tmaring_view_matrix(x, TMARING_F32, TOKENS, WIDTH);
  const tmaring_view ys = tmaring_view_matrix(y, TMARING_F32, TOKENS, WIDTH);
  const tmaring_view ws = tmaring_view_row(w, TMARING_F32, WIDTH);
  const tmaring_view qs = tmaring_view_matrix(q, TMARING_E4M3, TOKENS, WIDTH);
  const tmaring_view scales = tmaring_view_column(scale, TMARING_F32, TOKENS);
  if (tmaring_rmsnorm(&ys, &xs, &ws, 1e-6, call, NULL)) return refuse("rmsnorm");
  if (tmaring_quantize_fp8_row(&scales, &qs, &ys, call, NULL)) return refuse("quantize_fp8_row");
  return 0;
}

/* Column reductions need a workspace: bytes by query, initialised once, then used call after call. */
static int sum_columns(tmaring_call call)
{
  const tmaring_view xs = tmaring_view_matrix(x, TMARING_F32, TOKENS, WIDTH);
  const tmaring_view sums = tmaring_view_row(total, TMARING_F32, WIDTH);
  const tmaring_view *const views[] = {&sums, &xs};
  const int32_t op = tmaring_op_find("col_sum");
  if (tmaring_op_workspace_bytes(op, views, 2, &call, &call.workspace_bytes)) return refuse("workspace");
  call.workspace = aligned_alloc(256, (call.workspace_bytes + 255) / 256 * 256);
  int failed = tmaring_op_workspace_init(call.workspace, call.workspace_bytes, call.backend, NULL) ||
               tmaring_col_sum(&sums, &xs, &call, NULL);
  free(call.workspace);
  return failed ? refuse("col_sum") : 0;
}

int main(void)
{
  tmaring_call call = TMARING_CALL_INIT;
  double squares = 0.0, sum = 0.0, amax = 0.0;
  call.backend = TMARING_BACKEND_CPU;
  for (int i = 0; i < TOKENS * WIDTH; i++) x[i / WIDTH][i % WIDTH] = (float)(i % 7 - 3);
  for (int i = 0; i < WIDTH; i++) w[i] = 1.0f;
  if (norm_and_quantize(&call) || sum_columns(call)) return 1;

  for (int i = 0; i < WIDTH; i++) squares += x[3][i] * x[3][i];
  for (int i = 0; i < TOKENS; i++) sum += x[i][5];
  for (int i = 0; i < WIDTH; i++) amax = fmax(amax, fabs(y[3][i]));
  printf("y[3][1] = %g, scale[3] = %g, q[3][1] = 0x%02x, total[5] = %g\n", y[3][1], scale[3], q[3][1], total[5]);
  const int right = fabs(y[3][1] - x[3][1] / sqrt(squares / WIDTH + 1e-6)) < 1e-5 &&
                    fabs(scale[3] - amax / 448.0) < 1e-8 && fabs(total[5] - sum) < 1e-4;
  tmaring_ops_reset(); /* frees what the calls have kept */
  return !right;
}

#include <stdio.h>
#include <stdlib.h>
#include <tmaring/tmaring.h>

enum { ROWS = 1000, COLS = 256 };
static _Alignas(16) float x[ROWS * COLS], y[ROWS * COLS];

int main(void)
{
  tmaring_formula *formula = NULL;
  tmaring_plan *plan = NULL;
  tmaring_kernel *kernel = NULL;
  tmaring_machine machine;
  tmaring_tensor matrix = TMARING_TENSOR_INIT;
  tmaring_launch_params launch = TMARING_LAUNCH_PARAMS_INIT;
  void *data[] = {x, y};

  for (int i = 0; i < ROWS * COLS; i++) x[i] = (float)(i % 1009) - 504.5f;
  tmaring_machine_h200(&machine); /* or tmaring_machine_query(&machine, 0) */
  matrix.rows = launch.rows = ROWS;
  matrix.cols = COLS;
  launch.data = data; /* device addresses for TMARING_BACKEND_CUDA */
  tmaring_status status = tmaring_formula_parse(&formula, "y = x + x");
  if (!status) status = tmaring_plan_create(&plan, formula, (tmaring_tensor[]){matrix, matrix}, 2, &machine, NULL);
  if (!status) status = tmaring_prepare(&kernel, plan, TMARING_BACKEND_CPU);
  if (!status && tmaring_workspace_bytes(plan)) launch.workspace = calloc(1, tmaring_workspace_bytes(plan));
  if (!status) status = tmaring_workspace_init(kernel, launch.workspace, NULL);
  if (!status) status = tmaring_launch(kernel, &launch, NULL);
  printf("%s; y[7] = %g\n", status ? tmaring_last_detail() : "ok", y[7]);

  free(launch.workspace);
  tmaring_kernel_free(kernel);
  tmaring_plan_free(plan);
  tmaring_formula_free(formula);
  return status != TMARING_OK || y[7] != 2 * x[7];
}

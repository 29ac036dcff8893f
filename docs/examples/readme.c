#include <stdio.h>
#include <stdlib.h>
#include <tmaring/tmaring.h>

int main(void)
{
  static _Alignas(16) float x[1000][256], y[1000][256];
  void *data[] = {x, y}; /* device addresses with TMARING_BACKEND_CUDA */
  tmaring_tensor matrix = {.size = sizeof matrix, .dtype = TMARING_F32, .rows = 1000, .cols = 256};
  tmaring_launch_params launch = {.size = sizeof launch, .rows = 1000, .data = data};
  tmaring_formula *formula = NULL;
  tmaring_plan *plan = NULL;
  tmaring_kernel *kernel = NULL;
  tmaring_machine machine;

  for (int i = 0; i < 1000 * 256; i++) x[i / 256][i % 256] = (float)i;
  tmaring_machine_h200(&machine); /* or tmaring_machine_query(&machine, 0) */
  int failed = tmaring_formula_parse(&formula, "y = x + x") ||
               tmaring_plan_create(&plan, formula, (tmaring_tensor[]){matrix, matrix}, 2, &machine, NULL) ||
               tmaring_prepare(&kernel, plan, TMARING_BACKEND_CPU) ||
               !(launch.workspace = malloc(tmaring_workspace_bytes(plan, launch.rows) + 1)) ||
               tmaring_workspace_init(kernel, launch.workspace, NULL) || tmaring_launch(kernel, &launch, NULL);
  printf("%s; y[999][255] = %g\n", failed ? tmaring_last_detail() : "ok", y[999][255]);

  free(launch.workspace);
  tmaring_kernel_free(kernel);
  tmaring_plan_free(plan);
  tmaring_formula_free(formula);
  return failed || y[999][255] != 2 * x[999][255];
}

/* What --verify lets pass: rounding of something close to the reference, and nothing else. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../src/host/cli/verify.h"
#include "support/npy_file.h"
#include "support/number.h"
#include "support/tool.h"

static double excess(tmaring_dtype dtype, double got, double reference, double relative, double absolute)
{
  const tmaring__tolerance t = {relative, absolute};
  return tmaring__tolerance_excess(t, dtype, got, reference);
}

Test(cli_verify, the_nearest_code_passes_and_no_other, .timeout = 10)
{
  /* 104 and 112 are neighbours in e4m3; 108 is between them, and goes to the even one. */
  cr_expect_eq(excess(TMARING_E4M3, 104, 106, 1e-6, 0), 0);
  cr_expect_gt(excess(TMARING_E4M3, 112, 106, 1e-6, 0), 0);
  cr_expect_gt(excess(TMARING_E4M3, 96, 106, 1e-6, 0), 0);
  cr_expect_eq(excess(TMARING_E4M3, 112, 108, 0, 0), 0);
  cr_expect_gt(excess(TMARING_E4M3, 104, 108, 0, 0), 0);
  cr_expect_eq(excess(TMARING_E4M3, 104, 108, 1e-6, 0), 0);
  cr_expect_eq(excess(TMARING_E4M3, 104, 108.00005, 1e-6, 0), 0);
  cr_expect_gt(excess(TMARING_E4M3, 104, 108.001, 1e-6, 0), 0);
  cr_expect_eq(excess(TMARING_E4M3, 112, 107.99995, 0, 1e-4), 0);
  cr_expect_gt(excess(TMARING_I8, 3, 2.4, 1e-6, 0), 0);
  cr_expect_eq(excess(TMARING_I8, 2, 2.4, 1e-6, 0), 0);
  cr_expect_eq(excess(TMARING_I8, 3, 2.5, 1e-6, 0), 0);
}

Test(cli_verify, saturation_infinity_and_nan, .timeout = 10)
{
  cr_expect_eq(excess(TMARING_E4M3, 448, 1e9, 1e-6, 0), 0);
  cr_expect_eq(excess(TMARING_E4M3, 448, INFINITY, 1e-6, 0), 0);
  cr_expect_gt(excess(TMARING_E4M3, NAN, INFINITY, 1e-6, 0), 0);
  cr_expect_eq(excess(TMARING_E4M3, NAN, NAN, 0, 0), 0);
  cr_expect_eq(excess(TMARING_E5M2, -57344, -INFINITY, 0, 0), 0);
  cr_expect_eq(excess(TMARING_F16, INFINITY, 65520, 0, 0), 0);
  cr_expect_gt(excess(TMARING_F16, INFINITY, 65519, 0, 0), 0);
  cr_expect_gt(excess(TMARING_F16, -INFINITY, INFINITY, 1, 1), 0);
  cr_expect_gt(excess(TMARING_F32, 1e30, INFINITY, 1, 1), 0);
  cr_expect_gt(excess(TMARING_F32, NAN, 1, 1, 1), 0);
  cr_expect_gt(excess(TMARING_F32, 1, NAN, 1, 1), 0);
  cr_expect_eq(excess(TMARING_I8, 0, NAN, 0, 0), 0);
  cr_expect_gt(excess(TMARING_I8, 1, NAN, 1, 1), 0);
  cr_expect_eq(excess(TMARING_I32, 2147483647, 1e12, 0, 0), 0);
  cr_expect_eq(excess(TMARING_I8, -128, -INFINITY, 0, 0), 0);
}

Test(cli_verify, one_rounding_and_e_in_wide_types, .timeout = 10)
{
  cr_expect_eq(excess(TMARING_F32, (float)(1.0 / 3), 1.0 / 3, 0, 0), 0);
  cr_expect_gt(excess(TMARING_F32, nextafterf(1.0f / 3, 1), 1.0 / 3, 0, 0), 0);
  cr_expect_eq(excess(TMARING_F32, nextafterf(1.0f / 3, 1), 1.0 / 3, 1e-7, 0), 0);
  cr_expect_gt(excess(TMARING_F64, nextafter(1.0 / 3, 1), 1.0 / 3, 0, 0), 0);
  cr_expect_eq(excess(TMARING_BF16, 1, 1 + 0x1p-8, 0, 0), 0);
  cr_expect_gt(excess(TMARING_BF16, 1 + 0x1p-7, 1 + 0x1p-8, 0, 0), 0);
  cr_expect_eq(excess(TMARING_F32, 0.5, 0, 0, 0.5), 0);
  cr_expect_float_eq(excess(TMARING_F32, 2, 0, 0, 0.5), 1.5, 1e-6);
}

/* What the formula has in it decides: a cast may go either way, a column number is exact. */
static tmaring__tolerance tolerance_for(const char *formula, tmaring_dtype type, tmaring_dtype out_type)
{
  static tmaring__request request;
  tmaring__job job;
  memset(&job, 0, sizeof job);
  job.request = &request;
  request.relative = request.absolute = -1;
  cr_assert_eq(tmaring_formula_parse(&job.formula, formula), TMARING_OK, "%s", tmaring_last_detail());
  job.count = 2;
  job.rows = 64, job.cols = 256;
  for (int32_t i = 0; i < job.count; ++i) {
    const tmaring_tensor blank = TMARING_TENSOR_INIT;
    job.parameter[i].size = sizeof job.parameter[i];
    cr_assert_eq(tmaring_formula_tensor(job.formula, i, &job.parameter[i]), TMARING_OK);
    job.tensor[i] = blank;
    job.tensor[i].dtype = i ? out_type : type;
    tmaring__job_set_extent(&job, i);
  }
  tmaring_machine_h200(&job.machine);
  cr_assert_eq(tmaring_plan_create(&job.plan, job.formula, job.tensor, job.count, &job.machine, NULL), TMARING_OK, "%s",
               tmaring_last_detail());
  const tmaring__tolerance t = tmaring__tolerance_of(&job, 1, 2.0);
  tmaring_plan_free(job.plan);
  tmaring_formula_free(job.formula);
  return t;
}

Test(cli_verify, tolerances_follow_the_formula, .timeout = 10)
{
  tmaring__tolerance t = tolerance_for("y = x + x", TMARING_F16, TMARING_F16);
  cr_expect_eq(t.relative, 80 * 0x1p-24);
  cr_expect_eq(t.absolute, 80 * 0x1p-24 * 2);
  t = tolerance_for("y = x + x", TMARING_F64, TMARING_F64);
  cr_expect_eq(t.relative, 80 * 0x1p-53);
  t = tolerance_for("y = x + x", TMARING_F16, TMARING_E4M3);
  cr_expect_eq(t.absolute, 8 * 0x1p-24 * 2);
  t = tolerance_for("y = cast(bf16, x + x) + x", TMARING_F16, TMARING_F32);
  cr_expect_eq(t.relative, 80 * 0x1p-24 + 0x1p-7);
  t = tolerance_for("y = cast(x, x + x) + x", TMARING_F16, TMARING_F32);
  cr_expect_eq(t.relative, 80 * 0x1p-24 + 0x1p-10);
  t = tolerance_for("y = round(x)", TMARING_F16, TMARING_I8);
  cr_expect_eq(t.absolute, 8 * 0x1p-24 * 2 + 1);
  t = tolerance_for("y = argmax(x)", TMARING_F16, TMARING_I64);
  cr_expect(t.relative == 0 && t.absolute == 0);
  /* Few rows after one another in a chunk, few chunks: far below M. */
  t = tolerance_for("y = colsum(x)", TMARING_F32, TMARING_F32);
  cr_expect(t.relative > 64 * 0x1p-24 && t.relative <= (64 + 64 + 5) * 0x1p-24, "%g", t.relative);
}

Test(cli_verify, outputs_of_every_type_can_fail, .timeout = 60)
{
  char in[320], out[320];
  const char *const path = tool_path(1, "x.npy");
  tmaring__array x = npy_file_make(path, TMARING_F32, 33, 65, 5);
  npy_file_binding(in, "x", path, NULL);
  for (int t = 0; t < TMARING_DTYPE_COUNT; ++t) {
    if (t == TMARING_I64) continue;
    npy_file_binding(out, "y", "/dev/null", tmaring_dtype_name((tmaring_dtype)t));
    tool_result fine =
        tool_run("run", "y = exp(x) * 3", "--in", in, "--out", out, "--backend", "cpu", "--verify", NULL);
    cr_expect_eq(fine.code, 0, "%s", fine.error);
    /* A difference of sums that double cannot tell from 0 either. */
    tool_result strict = tool_run("run", "y = x - (sum(x) - sum(x * 1.1) / 1.1) * 1e16", "--in", in, "--out", out,
                                  "--backend", "cpu", "--verify", "--rtol", "0", "--atol", "0", NULL);
    cr_expect_eq(strict.code, 5, "%s: %s", out, strict.error);
    cr_expect(strstr(strict.error, "verify y: MISMATCH"), "%s", strict.error);
    tool_result_free(&fine), tool_result_free(&strict);
  }
  tmaring__array_free(&x);
  unlink(path);
}

/* tmaring run, from file to file on the cpu backend. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/npy_file.h"
#include "support/number.h"
#include "support/tool.h"

/* What a sanitizer may cost. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOWDOWN 20
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SLOWDOWN 20
#endif
#ifndef SLOWDOWN
#define SLOWDOWN 1
#endif

static void expect_in(const char *text, const char *words)
{
  cr_expect(strstr(text, words), "'%s' is not in:\n%s", words, text);
}

static void expect_doubled(const tmaring__array *x, const tmaring__array *y)
{
  cr_assert_eq(y->dims, 2);
  cr_assert(y->shape[0] == x->shape[0] && y->shape[1] == x->shape[1]);
  for (size_t i = 0; i < tmaring__array_count(x); ++i)
    cr_assert_eq(npy_file_value(y, i), 2 * npy_file_value(x, i), "element %zu: %g + %g = %g", i, npy_file_value(x, i),
                 npy_file_value(x, i), npy_file_value(y, i));
}

/* y = x + x from file to file: doubling is exact in every type. */
static void double_file(tmaring_dtype dtype, int64_t rows, int64_t cols)
{
  char in[320], out[320];
  const char *const x_path = tool_path(1, "x.npy"), *const y_path = tool_path(2, "y.npy");
  tmaring__array x = npy_file_make(x_path, dtype, rows, cols, (uint64_t)(rows * 1000 + cols));
  npy_file_binding(in, "x", x_path, npy_file_code_type(dtype));
  tool_result r = tool_run("run", "y = x + x", "--in", in, "--out", npy_file_binding(out, "y", y_path, NULL),
                           "--backend", "cpu", "--verify", NULL);
  cr_assert_eq(r.code, 0, "%s %lld x %lld: exit code %d: %s", tmaring_dtype_name(dtype), (long long)rows,
               (long long)cols, r.code, r.error);
  expect_in(r.error, "tmaring: cpu: ");
  expect_in(r.error, "tmaring: verify y: ok: largest error 0 ");
  cr_expect_str_empty(r.out);
  tmaring__array y = npy_file_take(y_path, dtype);
  expect_doubled(&x, &y);
  tmaring__array_free(&x);
  tmaring__array_free(&y);
  tool_result_free(&r);
  unlink(x_path);
}

Test(cli_run, doubles_files_of_odd_sizes, .timeout = 300)
{
  static const int64_t rows[] = {0, 1, 7, 133}, cols[] = {1, 33, 257};
  for (int t = 0; t < TMARING_DTYPE_COUNT; ++t) {
    if (t == TMARING_I64) continue; /* for labels, not for matrices */
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r)
      for (size_t c = 0; c < sizeof cols / sizeof cols[0]; ++c) double_file((tmaring_dtype)t, rows[r], cols[c]);
  }
}

Test(cli_run, takes_every_option_of_a_plan, .timeout = 120)
{
  char in[320], out[320];
  const char *const x_path = tool_path(1, "x.npy"), *const y_path = tool_path(2, "y.npy");
  tmaring__array x = npy_file_make(x_path, TMARING_F32, 133, 33, 1);
  tool_result r =
      tool_run("run", "y = x + x", "--in", npy_file_binding(in, "x", x_path, "f32"), "--out",
               npy_file_binding(out, "y", y_path, "f16"), "--backend", "cpu", "--verify", "--stages", "3", "--prefetch",
               "-2", "--mode", "ws-z", "--policy", "wrap", "--order", "split", "--scope", "warp", "--store", "bulk",
               "--release", "thread", "--tile-rows", "4", "--workers", "5", "--consumers", "32,2,2", "--debug", NULL);
  cr_assert_eq(r.code, 0, "%s", r.error);
  expect_in(r.error, "133 x 33, ws-z, 3 stages, scope warp, window loads, bulk stores");
  tmaring__array y = npy_file_take(y_path, TMARING_F16);
  for (size_t i = 0; i < tmaring__array_count(&x); ++i)
    cr_assert_eq(npy_file_value(&y, i), number_round(TMARING_F16, 2 * npy_file_value(&x, i)));
  tmaring__array_free(&x);
  tmaring__array_free(&y);
  tool_result_free(&r);
  unlink(x_path);
}

Test(cli_run, takes_vectors_and_scalars_and_gives_columns, .timeout = 60)
{
  char in[3][320], out[2][320], s_path[256];
  const char *const x_path = tool_path(1, "x.npy"), *const w_path = tool_path(2, "w.npy"),
                    *const y_path = tool_path(3, "y.npy");
  snprintf(s_path, sizeof s_path, "%s", tool_path(0, "s.npy"));
  tmaring__array x = npy_file_make(x_path, TMARING_F16, 7, 33, 2), w = npy_file_make(w_path, TMARING_F32, 33, 0, 3);
  tool_result r =
      tool_run("run", "y = x * w[N] * a[] + b[]; s = sum(x)", "--in", npy_file_binding(in[0], "x", x_path, NULL),
               "--in", npy_file_binding(in[1], "w", w_path, NULL), "--scalar", "a=0.5", "--scalar", "b=4", "--out",
               npy_file_binding(out[0], "y", y_path, NULL), "--out", npy_file_binding(out[1], "s", s_path, NULL),
               "--backend", "cpu", "--verify", NULL);
  cr_assert_eq(r.code, 0, "%s", r.error);
  tmaring__array y = npy_file_take(y_path, TMARING_F16), s = npy_file_take(s_path, TMARING_F32);
  cr_assert(y.dims == 2 && s.dims == 1 && s.shape[0] == 7);
  for (size_t i = 0; i < 7; ++i) {
    double sum = 0, magnitude = 0;
    for (size_t j = 0; j < 33; ++j) {
      const double wanted = npy_file_value(&x, i * 33 + j) * npy_file_value(&w, j) * 0.5 + 4;
      cr_assert_float_eq(npy_file_value(&y, i * 33 + j), wanted, 8 * 0x1p-11);
      sum += npy_file_value(&x, i * 33 + j);
      magnitude += fabs(npy_file_value(&x, i * 33 + j));
    }
    cr_assert_float_eq(npy_file_value(&s, i), sum, 33 * magnitude * 0x1p-24);
  }
  tmaring__array_free(&x), tmaring__array_free(&w), tmaring__array_free(&y), tmaring__array_free(&s);
  tool_result_free(&r);
  unlink(x_path), unlink(w_path);
}

/* More scalars than a formula may have [M] inputs. */
Test(cli_run, takes_eight_scalars, .timeout = 30)
{
  char in[320];
  const char *const path = tool_path(1, "x.npy");
  tmaring__array x = npy_file_make(path, TMARING_F32, 33, 7, 12);
  tool_result r = tool_run(
      "run", "f(x[M,N]; a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8) = x*a + b + c + d + e + f + g + h",
      "--in", npy_file_binding(in, "x", path, NULL), "--out", "y=/dev/null", "--backend", "cpu", "--verify", NULL);
  cr_expect_eq(r.code, 0, "exit code %d: %s", r.code, r.error);
  tmaring__array_free(&x);
  tool_result_free(&r);
  unlink(path);
}

Test(cli_run, writes_over_its_input_file, .timeout = 30)
{
  char in[320], out[320];
  const char *const path = tool_path(1, "x.npy");
  tmaring__array x = npy_file_make(path, TMARING_F32, 33, 7, 4);
  tool_result r = tool_run("run", "y = x + x", "--in", npy_file_binding(in, "x", path, NULL), "--out",
                           npy_file_binding(out, "y", path, NULL), "--backend", "cpu", NULL);
  cr_assert_eq(r.code, 0, "%s", r.error);
  tmaring__array y = npy_file_take(path, TMARING_F32);
  expect_doubled(&x, &y);
  tmaring__array_free(&x), tmaring__array_free(&y);
  tool_result_free(&r);
}

Test(cli_run, outputs_go_to_files_of_their_own, .timeout = 30)
{
  char in[320], out[2][320];
  const char *const x_path = tool_path(1, "x.npy"), *const y_path = tool_path(2, "y.npy");
  tmaring__array x = npy_file_make(x_path, TMARING_F32, 33, 7, 11);
  npy_file_binding(in, "x", x_path, NULL);
  tool_result r =
      tool_run("run", "y = x + x; s = sum(x)", "--in", in, "--out", npy_file_binding(out[0], "y", y_path, NULL),
               "--out", npy_file_binding(out[1], "s", y_path, NULL), "--backend", "cpu", NULL);
  cr_expect_eq(r.code, 1, "exit code %d: %s", r.code, r.error);
  expect_in(r.error, "for 'y' and 's', needs a file for each");
  cr_expect_neq(access(y_path, F_OK), 0, "a refused run wrote a file");
  tool_result_free(&r);
  r = tool_run("run", "y = x + x; s = sum(x)", "--in", in, "--out", "y=/dev/null", "--out", "s=/dev/null", "--backend",
               "cpu", NULL);
  cr_expect_eq(r.code, 0, "exit code %d: %s", r.code, r.error);
  tool_result_free(&r);
  tmaring__array_free(&x);
  unlink(x_path), unlink(y_path);
}

Test(cli_run, verification_can_fail, .timeout = 60)
{
  char in[320];
  const char *const path = tool_path(1, "x.npy");
  tmaring__array x = npy_file_make(path, TMARING_F32, 33, 7, 5);
  npy_file_binding(in, "x", path, NULL);
  tool_result fine =
      tool_run("run", "y = exp(x) / 3", "--in", in, "--out", "y=/dev/null", "--backend", "cpu", "--verify", NULL);
  cr_expect_eq(fine.code, 0, "%s", fine.error);
  tool_result strict = tool_run("run", "y = exp(x) / 3", "--in", in, "--out", "y=/dev/null", "--backend", "cpu",
                                "--verify", "--rtol", "0", "--atol", "0", NULL);
  cr_expect_eq(strict.code, 5, "%s", strict.error);
  expect_in(strict.error, "verify y: MISMATCH");
  expect_in(strict.error, "worst at row ");
  tmaring__array_free(&x);
  tool_result_free(&fine), tool_result_free(&strict);
  unlink(path);
}

Test(cli_run, a_large_run_is_usable, .timeout = 120)
{
  struct rusage usage;
  char in[320], out[320];
  const char *const x_path = tool_path(1, "x.npy"), *const y_path = tool_path(2, "y.npy");
  tmaring__array x = npy_file_make(x_path, TMARING_F32, 8191, 256, 6);
  tool_result r = tool_run("run", "y = x + x", "--in", npy_file_binding(in, "x", x_path, NULL), "--out",
                           npy_file_binding(out, "y", y_path, NULL), "--backend", "cpu", NULL);
  cr_assert_eq(r.code, 0, "%s", r.error);
  tmaring__array y = npy_file_take(y_path, TMARING_F32);
  expect_doubled(&x, &y);
  cr_assert_eq(getrusage(RUSAGE_CHILDREN, &usage), 0);
  const double seconds = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
  cr_expect_lt(seconds, 2.0 * SLOWDOWN, "took %.2f s of processor time", seconds);
  tmaring__array_free(&x), tmaring__array_free(&y);
  tool_result_free(&r);
  unlink(x_path);
}

/* Runs a formula with this input and output; wants an exit code and words. */
static void refuses(int code, const char *words, const char *formula, const char *in, const char *out)
{
  tool_result r = tool_run("run", formula, "--in", in, "--out", out, "--backend", "cpu", NULL);
  cr_expect_eq(r.code, code, "--in %s: exit code %d: %s", in, r.code, r.error);
  expect_in(r.error, words);
  tool_result_free(&r);
}

Test(cli_run, refuses_files_by_name, .timeout = 60)
{
  char in[320];
  const char *const path = tool_path(1, "x.npy"), *const flat = tool_path(2, "flat.npy");
  tmaring__array x = npy_file_make(path, TMARING_F32, 33, 7, 7), w = npy_file_make(flat, TMARING_F32, 7, 0, 8);
  npy_file_binding(in, "x", path, NULL);
  refuses(3, "/nonexistent.npy: got 'No such file or directory'", "y = x", "x=/nonexistent.npy", "y=/dev/null");
  refuses(3, "/dev: got a folder, needs a file or a pipe", "y = x", "x=/dev", "y=/dev/null");
  refuses(3, "/dev/null: got a device, needs a file or a pipe", "y = x", "x=/dev/null", "y=/dev/null");
  refuses(3, "/nonexistent/y.npy: got 'No such file or directory'", "y = x", in, "y=/nonexistent/y.npy");
  refuses(3, "/dev/full: got 'No space left on device'", "y = x", in, "y=/dev/full");
  refuses(1, "--in: got 'z', needs an input of the formula: x", "y = x", "z=/dev/null", "y=/dev/null");
  refuses(1, "--in: got 'y', needs an input of the formula: x", "y = x", "y=/dev/null", "y=/dev/null");
  refuses(1, "--out: got 'x', needs an output of the formula: y", "y = x", in, "x=/dev/null");
  refuses(1, "--in: got 'x', needs NAME=FILE[:TYPE]", "y = x", "x", "y=/dev/null");
  refuses(1, "--in: got no file for 'w'", "y = x * w[N]", in, "y=/dev/null");
  npy_file_binding(in, "x", flat, NULL);
  refuses(2, "shape: got (7,), needs two dimensions or more for [M,N], [M,2N] and [M,N/k]; save a.reshape(1, -1)",
          "y = x", in, "y=/dev/null");
  npy_file_binding(in, "x", path, "bf16");
  refuses(3, "needs a file of bf16 as declared", "y = x", in, "y=/dev/null");
  refuses(2, "y = x + \n", "y = x + ", in, "y=/dev/null");
  tmaring__array_free(&x), tmaring__array_free(&w);
  unlink(path), unlink(flat);
}

Test(cli_run, refuses_sizes_that_disagree, .timeout = 30)
{
  char in[2][320];
  const char *const x_path = tool_path(1, "x.npy"), *const w_path = tool_path(2, "w.npy");
  tmaring__array x = npy_file_make(x_path, TMARING_F32, 33, 7, 9), w = npy_file_make(w_path, TMARING_F32, 8, 0, 10);
  tool_result r =
      tool_run("run", "y = x * w[N]", "--in", npy_file_binding(in[0], "x", x_path, NULL), "--in",
               npy_file_binding(in[1], "w", w_path, NULL), "--out", "y=/dev/null", "--backend", "cpu", NULL);
  cr_expect_eq(r.code, 2, "%s", r.error);
  expect_in(r.error, "shape: got (8,), needs N = 7 as in the inputs before it");
  tool_result_free(&r);
  r = tool_run("run", "y = x * v[M]", "--in", in[0], "--in", npy_file_binding(in[1], "v", x_path, NULL), "--out",
               "y=/dev/null", "--backend", "cpu", NULL);
  cr_expect_eq(r.code, 2, "%s", r.error);
  expect_in(r.error, "v: ");
  expect_in(r.error, "shape: got (33, 7), needs one dimension for [M], or one value for all rows; save a.ravel(), or "
                     "declare it [M,N]");
  tmaring__array_free(&x), tmaring__array_free(&w);
  tool_result_free(&r);
  unlink(x_path), unlink(w_path);
}

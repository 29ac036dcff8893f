/* tmaring run on every shape of tensor and every kind of file, on the cpu backend. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/noise.h"
#include "support/npy_file.h"
#include "support/number.h"
#include "support/tool.h"

static void expect_in(const char *text, const char *words)
{
  cr_expect(strstr(text, words), "'%s' is not in:\n%s", words, text);
}

/* Runs with --verify on the cpu; wants success and returns what was said. */
#define RUNS(result, ...)                                                                                              \
  tool_result result = tool_run("run", __VA_ARGS__, "--backend", "cpu", "--verify", NULL);                             \
  cr_assert_eq(result.code, 0, "%s: exit code %d: %s", #__VA_ARGS__, result.code, result.error)

#define REFUSES(wanted, words, ...)                                                                                    \
  do {                                                                                                                 \
    tool_result r_ = tool_run("run", __VA_ARGS__, "--backend", "cpu", NULL);                                           \
    cr_expect_eq(r_.code, wanted, "%s: exit code %d, not %d: %s", #__VA_ARGS__, r_.code, wanted, r_.error);            \
    expect_in(r_.error, words);                                                                                        \
    tool_result_free(&r_);                                                                                             \
  } while (0)

Test(cli_shapes, groups_of_columns_in_and_out, .timeout = 30)
{
  char x_in[320], s_out[320], s_in[320];
  const char *const x_path = tool_path(1, "x.npy"), *const s_path = tool_path(2, "s.npy");
  tmaring__array x = npy_file_make(x_path, TMARING_BF16, 7, 100, 1);
  npy_file_binding(x_in, "x", x_path, "bf16");
  RUNS(first, "s = gamax(x, 32)", "--in", x_in, "--out", npy_file_binding(s_out, "s", s_path, NULL));
  tool_result_free(&first);
  npy_file_binding(s_in, "s", s_path, NULL);
  RUNS(second, "f(x[M,N], s[M,N/32]) = x / s", "--in", x_in, "--in", s_in, "--out", "y=/dev/null");
  tool_result_free(&second);
  REFUSES(2, "s: ", "f(x[M,N], s[M,N/16]) = x / s", "--in", x_in, "--in", s_in, "--out", "y=/dev/null");
  REFUSES(2, "shape: got (7, 4), needs 7 columns: N = 100 in groups of 16", "f(x[M,N], s[M,N/16]) = x / s", "--in",
          x_in, "--in", s_in, "--out", "y=/dev/null");
  tmaring__array s = npy_file_take(s_path, TMARING_F32);
  cr_assert(s.dims == 2 && s.shape[0] == 7 && s.shape[1] == 4);
  for (size_t row = 0; row < 7; ++row) {
    for (size_t g = 0; g < 4; ++g) {
      double largest = 0;
      for (size_t col = 32 * g; col < 32 * g + 32 && col < 100; ++col)
        largest = fmax(largest, fabs(npy_file_value(&x, row * 100 + col)));
      cr_expect_eq(npy_file_value(&s, row * 4 + g), largest);
    }
  }
  tmaring__array_free(&x), tmaring__array_free(&s);
  unlink(x_path);
}

Test(cli_shapes, rows_of_two_halves, .timeout = 30)
{
  static const char *const formulas[] = {"f(x[M,2N]) = first(x) - 2 * second(x)", "f(x[M,2N]) = even(x) - 2 * odd(x)"};
  char in[320], out[320];
  const char *const x_path = tool_path(1, "x.npy"), *const y_path = tool_path(2, "y.npy");
  tmaring__array x = npy_file_make(x_path, TMARING_F16, 5, 66, 2);
  for (int k = 0; k < 2; ++k) {
    RUNS(r, formulas[k], "--in", npy_file_binding(in, "x", x_path, NULL), "--out",
         npy_file_binding(out, "y", y_path, NULL));
    tmaring__array y = npy_file_take(y_path, TMARING_F16);
    cr_assert(y.dims == 2 && y.shape[0] == 5 && y.shape[1] == 33);
    for (size_t i = 0; i < 5 * 33; ++i) {
      const size_t row = i / 33 * 66, col = i % 33;
      const double a = npy_file_value(&x, row + (k ? 2 * col : col)),
                   b = npy_file_value(&x, row + (k ? 2 * col + 1 : 33 + col));
      cr_assert_eq(npy_file_value(&y, i), number_round(TMARING_F16, a - 2 * b));
    }
    tmaring__array_free(&y);
    tool_result_free(&r);
  }
  tmaring__array_free(&x);
  x = npy_file_make(x_path, TMARING_F16, 5, 33, 2);
  REFUSES(2, "shape: got (5, 33), needs rows of an even number of columns for [M,2N]", formulas[0], "--in", in, "--out",
          "y=/dev/null");
  tmaring__array_free(&x);
  unlink(x_path);
}

Test(cli_shapes, reductions_over_columns, .timeout = 30)
{
  char in[320], out[3][320];
  const char *const x_path = tool_path(1, "x.npy"), *const y_path = tool_path(2, "y.npy");
  tmaring__array x = npy_file_make(x_path, TMARING_F32, 133, 33, 3);
  RUNS(r, "s = colsum(x); y = x + x", "--in", npy_file_binding(in, "x", x_path, NULL), "--out",
       npy_file_binding(out[0], "s", y_path, NULL), "--out", "y=/dev/null");
  expect_in(r.error, "verify s: ok");
  tmaring__array s = npy_file_take(y_path, TMARING_F32);
  cr_assert(s.dims == 1 && s.shape[0] == 33);
  for (size_t col = 0; col < 33; ++col) {
    double sum = 0, magnitude = 0;
    for (size_t row = 0; row < 133; ++row) {
      sum += npy_file_value(&x, row * 33 + col);
      magnitude += fabs(npy_file_value(&x, row * 33 + col));
    }
    cr_expect_float_eq(npy_file_value(&s, col), sum, 133 * 0x1p-24 * magnitude);
  }
  tmaring__array_free(&x), tmaring__array_free(&s);
  tool_result_free(&r);
  unlink(x_path);
}

/* Types of outputs that nobody named, as the files say them. */
Test(cli_shapes, outputs_have_types_of_their_own, .timeout = 60)
{
  static const struct {
    tmaring_dtype x, y, other;
    const char *y_type;
  } cases[] = {{TMARING_BF16, TMARING_BF16, TMARING_F32, NULL},  {TMARING_F64, TMARING_F64, TMARING_F64, NULL},
               {TMARING_I32, TMARING_I32, TMARING_F64, NULL},    {TMARING_I8, TMARING_I8, TMARING_F32, NULL},
               {TMARING_F32, TMARING_E4M3, TMARING_F32, "e4m3"}, {TMARING_F32, TMARING_F64, TMARING_F64, "f64"},
               {TMARING_F16, TMARING_E5M2, TMARING_F32, "e5m2"}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    char in[320], out[4][320], path[4][256];
    static const char *const names[4] = {"y", "r", "c", "g"};
    const char *const x_path = tool_path(1, "x.npy");
    tmaring__array x = npy_file_make_scaled(x_path, cases[k].x, 9, 64, k, 8);
    for (int i = 0; i < 4; ++i) {
      snprintf(path[i], sizeof path[i], "%s", tool_path(2, names[i]));
      npy_file_binding(out[i], names[i], path[i], i == 0 ? cases[k].y_type : NULL);
    }
    RUNS(r, "y = x + x; r = sum(x); c = colsum(x); g = gsum(x, 16)", "--in",
         npy_file_binding(in, "x", x_path, npy_file_code_type(cases[k].x)), "--out", out[0], "--out", out[1], "--out",
         out[2], "--out", out[3]);
    for (int i = 0; i < 4; ++i) {
      tmaring__array a = npy_file_take(path[i], i == 0 ? cases[k].y : cases[k].other);
      cr_expect_eq(a.dims, i == 1 || i == 2 ? 1 : 2);
      cr_expect_eq(a.shape[a.dims - 1], i == 1 ? 9 : i == 3 ? 4 : 64);
      tmaring__array_free(&a);
    }
    tmaring__array_free(&x);
    tool_result_free(&r);
    unlink(x_path);
  }
}

Test(cli_shapes, leading_dimensions_are_rows, .timeout = 30)
{
  char in[320], out[320];
  const char *const x_path = tool_path(1, "x.npy"), *const y_path = tool_path(2, "y.npy");
  tmaring__array x = npy_file_make(x_path, TMARING_F32, 30, 7, 4);
  x.dims = 4, x.shape[0] = 2, x.shape[1] = 3, x.shape[2] = 5, x.shape[3] = 7;
  npy_file_put(x_path, &x);
  npy_file_binding(in, "x", x_path, NULL);
  RUNS(r, "y = x + x", "--in", in, "--out", npy_file_binding(out, "y", y_path, NULL));
  tmaring__array y = npy_file_take(y_path, TMARING_F32);
  cr_assert(y.dims == 2 && y.shape[0] == 30 && y.shape[1] == 7);
  for (size_t i = 0; i < 210; ++i) cr_assert_eq(npy_file_value(&y, i), 2 * npy_file_value(&x, i));
  REFUSES(2, "shape: got (2, 3, 5, 7), needs one dimension for [N]", "f(z[M,N], x[N]) = z + x", "--in", in, "--in",
          npy_file_binding(out, "z", x_path, NULL), "--out", "y=/dev/null");
  tmaring__array_free(&x), tmaring__array_free(&y);
  tool_result_free(&r);
  unlink(x_path);
}

Test(cli_shapes, one_value_serves_all_rows, .timeout = 30)
{
  char in[2][320], out[320];
  const char *const x_path = tool_path(1, "x.npy"), *const s_path = tool_path(2, "s.npy"),
                    *const y_path = tool_path(3, "y.npy");
  tmaring__array x = npy_file_make(x_path, TMARING_F32, 9, 33, 5), s = npy_file_make(s_path, TMARING_F32, 1, 0, 6);
  for (s.dims = 0; s.dims <= 1; ++s.dims) {
    npy_file_put(s_path, &s);
    RUNS(r, "y = x * s[M]", "--in", npy_file_binding(in[0], "x", x_path, NULL), "--in",
         npy_file_binding(in[1], "s", s_path, NULL), "--out", npy_file_binding(out, "y", y_path, NULL));
    tmaring__array y = npy_file_take(y_path, TMARING_F32);
    for (size_t i = 0; i < 9 * 33; ++i)
      cr_assert_eq(npy_file_value(&y, i), (float)(npy_file_value(&x, i) * npy_file_value(&s, 0)));
    tmaring__array_free(&y);
    tool_result_free(&r);
  }
  tmaring__array_free(&x), tmaring__array_free(&s);
  unlink(x_path), unlink(s_path);
}

Test(cli_shapes, labels_are_i64, .timeout = 30)
{
  char in[2][320], out[320];
  const char *const x_path = tool_path(1, "x.npy"), *const l_path = tool_path(2, "l.npy"),
                    *const y_path = tool_path(3, "y.npy");
  tmaring__array x = npy_file_make(x_path, TMARING_F32, 7, 33, 7);
  tmaring__array l = {.dtype = TMARING_I64, .dims = 1, .shape = {7}};
  cr_assert_eq(tmaring__array_allocate(&l), TMARING_OK);
  for (int64_t row = 0; row < 7; ++row) ((int64_t *)l.data)[row] = row == 3 ? -100 : row * 5;
  npy_file_put(l_path, &l);
  RUNS(r, "f(x[M,N], l[M]) = where(l == -100, 0, x[l])", "--in", npy_file_binding(in[0], "x", x_path, NULL), "--in",
       npy_file_binding(in[1], "l", l_path, NULL), "--out", npy_file_binding(out, "y", y_path, NULL));
  tmaring__array y = npy_file_take(y_path, TMARING_F32);
  for (size_t row = 0; row < 7; ++row)
    cr_expect_eq(npy_file_value(&y, row), row == 3 ? 0 : npy_file_value(&x, row * 33 + row * 5));
  tool_result_free(&r);
  RUNS(found, "a = argmax(x)", "--in", in[0], "--out", npy_file_binding(out, "a", y_path, "i64"));
  expect_in(found.error, "verify a: ok: largest error 0 (rtol 0, atol 0)");
  tool_result_free(&found);
  tmaring__array a = npy_file_take(y_path, TMARING_I64);
  cr_expect(a.dims == 1 && a.shape[0] == 7);
  tmaring__array_free(&a), tmaring__array_free(&x), tmaring__array_free(&y), tmaring__array_free(&l);
  unlink(x_path), unlink(l_path);
}

Test(cli_shapes, shape_serves_where_no_input_tells, .timeout = 30)
{
  char in[320], out[320];
  const char *const path = tool_path(1, "x.npy"), *const y_path = tool_path(2, "y.npy");
  RUNS(r, "f(; value) = value + col", "--shape", "5,33", "--scalar", "value=3", "--out",
       npy_file_binding(out, "y", y_path, "i8"));
  tmaring__array y = npy_file_take(y_path, TMARING_I8);
  cr_assert(y.shape[0] == 5 && y.shape[1] == 33);
  for (size_t i = 0; i < 5 * 33; ++i) cr_assert_eq(npy_file_value(&y, i), 3 + (double)(i % 33));
  tmaring__array_free(&y);
  tool_result_free(&r);
  REFUSES(1, "--shape: got no input that tells M and N, needs them; add --shape M,N", "f(; value) = value", "--scalar",
          "value=3", "--out", "y=/dev/null");
  tmaring__array x = npy_file_make(path, TMARING_F32, 5, 33, 8);
  npy_file_binding(in, "x", path, NULL);
  REFUSES(2, "needs M = 6 as --shape says; drop it", "y = x", "--in", in, "--shape", "6,33", "--out", "y=/dev/null");
  tmaring__array_free(&x);
  unlink(path);
}

/* A .safetensors file of two tensors, `gap` bytes apart and so askew by as many; what x and w are. */
static void make_model(const char *path, size_t gap, float x[2][3][5], float w[5])
{
  char header[512];
  noise n = noise_seed(gap);
  for (int i = 0; i < 30; ++i) x[i / 15][i / 5 % 3][i % 5] = (float)data_value(&n, DATA_PLAIN, 0);
  for (int i = 0; i < 5; ++i) w[i] = (float)data_value(&n, DATA_PLAIN, 0);
  const int length = snprintf(header, sizeof header,
                              "{\"x:f16\":{\"dtype\":\"F32\",\"shape\":[2,3,5],\"data_offsets\":[%zu,%zu]},"
                              "\"model.w\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[%zu,%zu]}}",
                              gap, gap + 120, 2 * gap + 120, 2 * gap + 140);
  const int padded = (length + 7) / 8 * 8;
  FILE *const file = fopen(path, "wb");
  cr_assert_not_null(file);
  const unsigned char size[8] = {(unsigned char)padded, (unsigned char)(padded >> 8)}, hole[16] = {0};
  fwrite(size, 8, 1, file);
  fprintf(file, "%-*s", padded, header);
  fwrite(hole, gap, 1, file), fwrite(x, 120, 1, file);
  fwrite(hole, gap, 1, file), fwrite(w, 20, 1, file);
  cr_assert_eq(fclose(file), 0);
}

Test(cli_shapes, tensors_of_a_model, .timeout = 60)
{
  for (size_t gap = 0; gap < 16; ++gap) {
    char in[2][320], out[320];
    float x[2][3][5], w[5];
    const char *const path = tool_path(1, "m.safetensors"), *const y_path = tool_path(2, "y.npy");
    make_model(path, gap, x, w);
    npy_file_binding(in[0], "x", path, "x:f16");
    npy_file_binding(in[1], "w", path, "model.w");
    RUNS(r, "y = x * w[N]", "--in", in[0], "--in", in[1], "--out", npy_file_binding(out, "y", y_path, NULL));
    cr_expect_eq(strstr(r.error, "tmaring: --in x: copied to memory: its data begin at byte ") != NULL, gap % 4 != 0,
                 "gap %zu: %s", gap, r.error);
    tmaring__array y = npy_file_take(y_path, TMARING_F32);
    cr_assert(y.dims == 2 && y.shape[0] == 6 && y.shape[1] == 5);
    for (size_t i = 0; i < 30; ++i) cr_assert_eq(npy_file_value(&y, i), x[i / 15][i / 5 % 3][i % 5] * w[i % 5]);
    tmaring__array_free(&y);
    tool_result_free(&r);
    unlink(path);
  }
}

Test(cli_shapes, models_are_only_read, .timeout = 30)
{
  char in[320], out[320];
  float x[2][3][5], w[5];
  const char *const path = tool_path(1, "m.safetensors");
  make_model(path, 0, x, w);
  npy_file_binding(in, "x", path, "x:f32");
  REFUSES(3, "tensor: got 'x:f32', needs one of the 2 in the file; near it: x:f16, model.w", "y = x", "--in", in,
          "--out", "y=/dev/null");
  npy_file_binding(in, "x", path, NULL);
  REFUSES(3, "tensor: got no name, needs one of the 2 in the file", "y = x", "--in", in, "--out", "y=/dev/null");
  npy_file_binding(in, "x", path, "");
  REFUSES(3, "tensor: got no name, needs one of the 2 in the file", "y = x", "--in", in, "--out", "y=/dev/null");
  npy_file_binding(in, "x", path, "x:f16");
  npy_file_binding(out, "y", path, NULL);
  REFUSES(1, "needs a .npy file: .safetensors files are read only", "y = x", "--in", in, "--out", out);
  npy_file_binding(out, "y", path, "y");
  REFUSES(1, "needs a .npy file: .safetensors files are read only", "y = x", "--in", in, "--out", out);
  cr_expect_eq(access(path, F_OK), 0);
  unlink(path);
}

/* A name for the input's file by another way: a link, which an output goes to. */
Test(cli_shapes, an_output_may_go_over_a_mapped_input, .timeout = 30)
{
  char in[320], out[320];
  const char *const x_path = tool_path(1, "x.npy"), *const link_path = tool_path(2, "link.npy");
  tmaring__array x = npy_file_make(x_path, TMARING_F32, 333, 257, 9);
  cr_assert_eq(symlink(x_path, link_path), 0);
  RUNS(r, "y = x + x", "--in", npy_file_binding(in, "x", x_path, NULL), "--out",
       npy_file_binding(out, "y", link_path, NULL));
  tmaring__array y = npy_file_take(x_path, TMARING_F32);
  for (size_t i = 0; i < tmaring__array_count(&x); ++i) cr_assert_eq(npy_file_value(&y, i), 2 * npy_file_value(&x, i));
  tmaring__array_free(&x), tmaring__array_free(&y);
  tool_result_free(&r);
  unlink(link_path);
}

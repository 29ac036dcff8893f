/* Known ways to get an op wrong, run through the library or written by hand, and fed to the judge: each is rejected on
 * data on which the right op passes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/op_trial.h"

typedef struct mutant {
  const char *name, *op;
  const char *formula; /* the wrong one; NULL: `tamper` */
  op_tamper *tamper;
  tmaring_dtype in, out;
  int64_t rows, cols;
  data_kind data;
  op_filler *fill;
} mutant;

/* ---- data ---- */

static void nan_in_odd_rows(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  noise n = noise_seed((uint64_t)row + 1);
  (void)t;
  (void)input;
  for (int64_t i = 0; i < count; ++i) values[i] = data_value(&n, DATA_PLAIN, row);
  if (row % 2) values[row * 5 % count] = NAN;
}

static void below_zero(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  noise n = noise_seed((uint64_t)row + 1);
  (void)t;
  (void)input;
  for (int64_t i = 0; i < count; ++i) values[i] = noise_between(&n, -220.0, -200.0);
}

static void above_zero(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  below_zero(t, input, row, values, count);
  for (int64_t i = 0; i < count; ++i) values[i] = -values[i];
}

static void all_300(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  (void)t;
  (void)row;
  for (int64_t i = 0; i < count; ++i) values[i] = input == 0 ? 300.0 : 1.0;
}

static void zeros(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  (void)t;
  (void)input;
  (void)row;
  for (int64_t i = 0; i < count; ++i) values[i] = 0.0;
}

/* ---- wrong results by hand ---- */

/* Each row summed up in f16. */
static void sum_in_f16(op_state *s)
{
  double x[1024];
  for (int64_t r = 0; r < s->trial->rows; ++r) {
    double sum = 0.0;
    op_read(s, op_input_tensor(s, 0), 0, r, x);
    for (int64_t i = 0; i < s->trial->cols; ++i) sum = number_round(TMARING_F16, sum + x[i]);
    number_write(s->trial->out, op_element_at(s, op_output(s, 0), 1, r, 0), sum);
  }
}

/* Rows [0, again) count twice in each column: what 1056 slots over 1000 rows wrap onto. */
static void count_again(op_state *s, int64_t again)
{
  double y[1024], x[1024];
  op_read(s, op_output(s, 0), 1, 0, y);
  for (int64_t r = 0; r < again; ++r) {
    op_read(s, op_input_tensor(s, 0), 0, r, x);
    for (int64_t i = 0; i < s->trial->cols; ++i) y[i] += x[i];
  }
  for (int64_t i = 0; i < s->trial->cols; ++i)
    number_write(s->trial->out, op_element_at(s, op_output(s, 0), 1, 0, i), y[i]);
}

static void count_56_rows_again(op_state *s)
{
  count_again(s, 56);
}

static void count_one_row_again(op_state *s)
{
  count_again(s, 1);
}

/* The result of the row below. */
static void shift_rows(op_state *s)
{
  double y[1024];
  for (int64_t r = 0; r + 1 < s->trial->rows; ++r) {
    op_read(s, op_output(s, 0), 1, r + 1, y);
    for (int64_t i = 0; i < op_output(s, 0)->count; ++i)
      number_write(s->trial->out, op_element_at(s, op_output(s, 0), 1, r, i), y[i]);
  }
}

/* One code further from zero, once per row, where the value is not beside a midpoint: half of them are not. */
static void next_code(op_state *s)
{
  for (int64_t r = 0; r < s->trial->rows; ++r) {
    unsigned char *code = op_element_at(s, op_output(s, 1), 1, r, r % s->trial->cols);
    if ((*code & 0x7f) < 0x7d) *code += 1;
  }
}

static const mutant mutants[] = {
    {"variance by squares", "layernorm",
     "f(x[M,N], w[N], b[N]; eps = 1e-5) = m = mean(x); y = (x - m) * rsqrt(mean(x * x) - m * m + eps) * w + b", NULL,
     TMARING_F32, TMARING_F32, 33, 512, DATA_OFFSET, NULL},
    {"variance over N - 1", "layernorm",
     "f(x[M,N], w[N], b[N]; eps = 1e-5) = d = x - mean(x); y = d * rsqrt(sum(d * d) / (N - 1) + eps) * w + b", NULL,
     TMARING_BF16, TMARING_F32, 33, 512, DATA_PLAIN, NULL},
    {"variance by squares, backward", "layernorm_backward",
     "f(dy[M,N], x[M,N], w[N]; eps = 1e-5) = m = mean(x); rs = rsqrt(mean(x * x) - m * m + eps); xh = (x - m) * rs; "
     "g = dy * w; dx = rs * (g - mean(g) - xh * mean(g * xh)); dw = colsum(dy * xh); db = colsum(dy)",
     NULL, TMARING_F32, TMARING_F32, 33, 512, DATA_OFFSET, NULL},
    {"sums in f16", "row_sum", NULL, sum_in_f16, TMARING_F16, TMARING_F32, 33, 512, DATA_POSITIVE, NULL},
    {"squares in f16", "rmsnorm",
     "f(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(cast(f16, mean(cast(f16, x * x))) + eps) * w", NULL, TMARING_F16,
     TMARING_F16, 5, 512, DATA_PLAIN, all_300},
    {"terms in f16", "rmsnorm", "f(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(cast(f16, x * x)) + eps) * w", NULL,
     TMARING_F32, TMARING_F32, 33, 512, DATA_PLAIN, NULL},
    {"fp8 by way of bf16", "quantize_fp8", "f(x[M,N], s[M]) = q = cast(bf16, x / s)", NULL, TMARING_F32, TMARING_F32,
     33, 512, DATA_PLAIN, NULL},
    {"fp8 by way of f16", "quantize_fp8", "f(x[M,N], s[M]) = q = cast(f16, x / s)", NULL, TMARING_F32, TMARING_F32, 133,
     1024, DATA_PLAIN, NULL},
    {"cast by way of bf16", "cast", "y = cast(bf16, x)", NULL, TMARING_F32, TMARING_E4M3, 33, 512, DATA_PLAIN, NULL},
    {"cast by way of f16", "cast", "y = cast(f16, x)", NULL, TMARING_F64, TMARING_E5M2, 133, 1024, DATA_PLAIN, NULL},
    {"cast of double by way of f32", "cast", "y = cast(f32, x)", NULL, TMARING_F64, TMARING_F64, 3, 512, DATA_PLAIN,
     NULL},
    {"NaN dropped from the maximum", "row_max", "f(x[M,N]) = max(where(x == x, x, -3e38))", NULL, TMARING_F32,
     TMARING_F32, 8, 257, DATA_PLAIN, nan_in_odd_rows},
    {"NaN dropped from the minimum", "row_min", "f(x[M,N]) = min(where(x == x, x, 3e38))", NULL, TMARING_BF16,
     TMARING_F32, 8, 257, DATA_PLAIN, nan_in_odd_rows},
    {"NaN dropped from amax", "row_amax", "f(x[M,N]) = amax(where(x == x, x, 0))", NULL, TMARING_F32, TMARING_F32, 8,
     257, DATA_PLAIN, nan_in_odd_rows},
    {"NaN dropped from the columns", "col_max", "f(x[M,N]) = y = colmax(where(x == x, x, -3e38))", NULL, TMARING_F32,
     TMARING_F32, 8, 257, DATA_PLAIN, nan_in_odd_rows},
    {"NaN dropped from a scale", "quantize_fp8_row",
     "f(x[M,N]) = out s = max(amax(where(x == x, x, 0)) / 448, 1 / (448 * 512)); q = x / s", NULL, TMARING_F32,
     TMARING_F32, 8, 257, DATA_PLAIN, nan_in_odd_rows},
    {"NaN no maximum", "row_argmax", "f(x[M,N]) = argmax(where(x == x, x, -3e38))", NULL, TMARING_F32, TMARING_F32, 8,
     257, DATA_PLAIN, nan_in_odd_rows},
    {"zero fill in the maximum", "row_max", "f(x[M,N]) = max(max(x), 0)", NULL, TMARING_F32, TMARING_F32, 8, 257,
     DATA_PLAIN, below_zero},
    {"zero fill in the minimum", "row_min", "f(x[M,N]) = min(min(x), 0)", NULL, TMARING_F16, TMARING_F32, 8, 257,
     DATA_PLAIN, above_zero},
    {"zero fill in a softmax", "softmax", "f(x[M,N]) = e = exp(x - max(max(x), 0)); y = e / sum(e)", NULL, TMARING_F32,
     TMARING_F32, 8, 257, DATA_PLAIN, below_zero},
    {"no maximum", "log_softmax", "f(x[M,N]) = y = x - log(sum(exp(x)))", NULL, TMARING_F32, TMARING_F32, 8, 257,
     DATA_PLAIN, above_zero},
    {"56 wrapped rows counted", "col_sum", NULL, count_56_rows_again, TMARING_F32, TMARING_F32, 1000, 64, DATA_PLAIN,
     NULL},
    {"one wrapped row counted", "col_sum", NULL, count_one_row_again, TMARING_BF16, TMARING_F32, 8191, 64, DATA_PLAIN,
     NULL},
    {"gather of the neighbour", "cross_entropy",
     "f(x[M,N], label[M]) = l = where(label + 1 < N, label + 1, label); "
     "loss = where(label == -100, 0, logsumexp(x) - x[l])",
     NULL, TMARING_F32, TMARING_F32, 64, 257, DATA_PLAIN, NULL},
    {"gather of a clamped label", "cross_entropy",
     "f(x[M,N], label[M]) = l = clamp(label, 0, N - 1); loss = where(label == -100, 0, logsumexp(x) - x[l])", NULL,
     TMARING_F32, TMARING_F32, 64, 257, DATA_PLAIN, NULL},
    {"the last of equal maxima", "row_argmax", "f(x[M,N]) = argmax(x + col * 0.001)", NULL, TMARING_F32, TMARING_F32, 8,
     257, DATA_WHOLE, NULL},
    {"rounded before the weight", "rmsnorm", "f(x[M,N], w[N]; eps = 1e-6) = cast(x, x * rsqrt(mean(x * x) + eps)) * w",
     NULL, TMARING_BF16, TMARING_BF16, 33, 512, DATA_PLAIN, NULL},
    {"not rounded before the weight", "rmsnorm_hf", "f(x[M,N], w[N]; eps = 1e-6) = x * rsqrt(mean(x * x) + eps) * w",
     NULL, TMARING_F16, TMARING_F16, 33, 512, DATA_PLAIN, NULL},
    {"norm of the unrounded sum", "add_rmsnorm",
     "f(x[M,N], r[M,N], w[N]; eps = 1e-6) = out h = x + r; y = h * rsqrt(mean(h * h) + eps) * w", NULL, TMARING_BF16,
     TMARING_BF16, 33, 512, DATA_PLAIN, NULL},
    {"norm of the rounded sum", "add_rmsnorm_f32sum",
     "f(x[M,N], r[M,N], w[N]; eps = 1e-6) = out h = cast(x, x + r); y = h * rsqrt(mean(h * h) + eps) * w", NULL,
     TMARING_F16, TMARING_F16, 33, 512, DATA_PLAIN, NULL},
    {"product not rounded before its scale", "silu_mul_quantize_fp8_row",
     "f(x[M,2N]) = y = silu(first(x)) * second(x); out s = max(amax(y) / 448, 1 / (448 * 512)); q = y / s", NULL,
     TMARING_BF16, TMARING_BF16, 33, 512, DATA_PLAIN, NULL},
    {"halves exchanged", "silu_mul", "f(x[M,2N]) = silu(second(x)) * first(x)", NULL, TMARING_BF16, TMARING_BF16, 3, 64,
     DATA_PLAIN, NULL},
    {"halves for pairs", "swiglu_clamp_interleaved",
     "f(x[M,2N]; limit, alpha, beta) = g = min(first(x), limit); "
     "y = g * sigmoid(alpha * g) * (clamp(second(x), -limit, limit) + beta)",
     NULL, TMARING_BF16, TMARING_BF16, 3, 64, DATA_PLAIN, NULL},
    {"the other gelu", "gelu_erf", "f(x[M,N]) = 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))",
     NULL, TMARING_F32, TMARING_F32, 3, 512, DATA_PLAIN, NULL},
    {"groups of 64", "quantize_fp8_group",
     "f(x[M,N]) = out s = max(gamax(x, 128), 1e-10) / 448; q = x / max(gamax(x, 64), 1e-10) * 448", NULL, TMARING_F32,
     TMARING_F32, 9, 512, DATA_PLAIN, NULL},
    {"no floor under the scale", "quantize_fp8_row", "f(x[M,N]) = out s = amax(x) / 448; q = x / s", NULL, TMARING_F32,
     TMARING_F32, 3, 64, DATA_PLAIN, zeros},
    {"a neighbouring code", "quantize_fp8_row", NULL, next_code, TMARING_F32, TMARING_F32, 33, 64, DATA_PLAIN, NULL},
    {"scales of the row below", "quantize_i8_row", NULL, shift_rows, TMARING_F32, TMARING_F32, 33, 64, DATA_PLAIN,
     NULL},
};

static op_trial trial_of(const mutant *m)
{
  op_trial t = op_trial_begin(m->op, m->in, m->rows, m->cols);
  t.out = m->out;
  t.data = m->data;
  t.fill = m->fill;
  return t;
}

/* The judge itself must object: a formula that does not parse, or a launch that fails, has a status. */
static int is_caught(const mutant *m, const venue *v)
{
  op_trial t = trial_of(m);
  t.formula = m->formula;
  t.tamper = m->tamper;
  const trial_result result = op_trial_run(&t, v);
  cr_expect_eq(result.status, TMARING_OK, "%s: %s", m->name, result.text);
  return result.outcome == TRIAL_FAILED && result.status == TMARING_OK;
}

static void run_mutants(const venue *v)
{
  const int count = (int)(sizeof mutants / sizeof mutants[0]);
  int caught = 0;
  for (int i = 0; i < count; ++i) {
    const op_trial right = trial_of(&mutants[i]);
    const trial_result result = op_trial_run(&right, v);
    cr_expect_eq(result.outcome, TRIAL_PASSED, "%s: the right one: %s", mutants[i].name, result.text);
    const int seen = is_caught(&mutants[i], v);
    cr_expect(seen, "%s: not seen", mutants[i].name);
    caught += seen;
  }
  printf("op mutants: %d of %d caught (%s)\n", caught, count, v->name);
}

Test(op_mutant, each_is_caught_cpu, .timeout = 120)
{
  venue v;
  cr_assert_null(venue_open(&v, TMARING_BACKEND_CPU));
  run_mutants(&v);
}

Test(op_mutant, each_is_caught_cuda, .timeout = 300)
{
  venue v;
  VENUE_NEED_CUDA(&v);
  run_mutants(&v);
  venue_close(&v);
}

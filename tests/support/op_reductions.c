/* Reductions over rows and columns, and what is made of exponentials. */
#include "op_evaluate.h"

ball *op_load(const op_row *in, int tensor, int scratch)
{
  ball *to = in->scratch[scratch];
  for (int64_t i = 0; i < in->cols; ++i) to[i] = op_input(in, tensor, i);
  return to;
}

static ball total(const op_row *in, const ball *x)
{
  ball_sum s = ball_sum_begin();
  for (int64_t i = 0; i < in->cols; ++i) ball_sum_add(&s, x[i]);
  return ball_sum_end(&in->a, &s, in->a.depth);
}

ball op_mean(const op_row *in, const ball *x)
{
  return ball_div(&in->a, total(in, x), ball_constant(&in->a, (double)in->cols));
}

void op_row_sum(const op_row *in, const expected_row *out)
{
  op_put(out, 0, total(in, op_load(in, 0, 0)));
}

void op_row_mean(const op_row *in, const expected_row *out)
{
  op_put(out, 0, op_mean(in, op_load(in, 0, 0)));
}

/* Greatest of the row, NaN if there is one. sign -1: least. */
static ball extreme(const op_row *in, double sign, int magnitudes)
{
  double most = -INFINITY;
  for (int64_t i = 0; i < in->cols; ++i) {
    const double x = magnitudes ? fabs(in->input[0][i]) : sign * in->input[0][i];
    if (isnan(x)) return ball_exact(NAN);
    if (x > most) most = x;
  }
  return ball_exact(sign * most);
}

void op_row_max(const op_row *in, const expected_row *out)
{
  op_put(out, 0, extreme(in, 1.0, 0));
}

void op_row_min(const op_row *in, const expected_row *out)
{
  op_put(out, 0, extreme(in, -1.0, 0));
}

void op_row_amax(const op_row *in, const expected_row *out)
{
  op_put(out, 0, extreme(in, 1.0, 1));
}

void op_row_argmax(const op_row *in, const expected_row *out)
{
  const double *x = in->input[0];
  int64_t best = 0;
  for (int64_t i = 1; i < in->cols && !isnan(x[best]); ++i) {
    if (isnan(x[i]) || x[i] > x[best]) best = i;
  }
  op_put(out, 0, ball_exact((double)best));
}

/* The terms of a column reduction are the elements themselves. */
void op_col_terms(const op_row *in, const expected_row *out)
{
  for (int64_t i = 0; i < in->cols; ++i) op_put(out, i, op_input(in, 0, i));
}

/* Greatest value, the exponentials below it (in place of x), and their sum. A running maximum multiplies what it has by
 * exp(old - new) at every step: up to `depth` more factors, each of 2 ulp and a product, and the distances to the
 * maximum rounded once more. */
static ball exponentials(const op_row *in, ball *x, ball *sum)
{
  const arithmetic *a = &in->a;
  ball most = x[0];
  double drift = 0.0;
  ball_sum s = ball_sum_begin();
  for (int64_t i = 1; i < in->cols; ++i) most = ball_max(most, x[i]);
  for (int64_t i = 0; i < in->cols; ++i) {
    const ball below = ball_sub(a, x[i], most);
    x[i] = ball_exp(a, below);
    if (isfinite(below.v)) drift += x[i].v * -below.v;
    ball_sum_add(&s, x[i]);
  }
  *sum = ball_sum_end(a, &s, 6.0 * a->depth);
  if (isfinite(sum->v) && in->cols > 1) sum->e += ball_unit(a) * drift;
  return most;
}

static void softmax_of(const op_row *in, ball *x, const expected_row *out)
{
  ball sum;
  exponentials(in, x, &sum);
  for (int64_t i = 0; i < in->cols; ++i) op_put(out, i, ball_div(&in->a, x[i], sum));
}

void op_softmax(const op_row *in, const expected_row *out)
{
  softmax_of(in, op_load(in, 0, 0), out);
}

void op_softmax_scaled(const op_row *in, const expected_row *out)
{
  ball *x = op_load(in, 0, 0);
  for (int64_t i = 0; i < in->cols; ++i) x[i] = ball_div(&in->a, x[i], op_scalar(in, 0));
  softmax_of(in, x, out);
}

static ball log_sum_exp(const op_row *in)
{
  ball sum;
  const ball most = exponentials(in, op_load(in, 0, 0), &sum);
  return ball_add(&in->a, most, ball_log(&in->a, sum));
}

void op_log_softmax(const op_row *in, const expected_row *out)
{
  ball sum;
  const ball most = exponentials(in, op_load(in, 0, 0), &sum), log = ball_log(&in->a, sum);
  for (int64_t i = 0; i < in->cols; ++i)
    op_put(out, i, ball_sub(&in->a, ball_sub(&in->a, op_input(in, 0, i), most), log));
}

/* Label -100 gives 0, another one outside the row NaN. */
void op_cross_entropy(const op_row *in, const expected_row *out)
{
  const double label = in->input[1][0];
  ball loss = ball_exact(NAN);
  if (label >= 0.0 && label < (double)in->cols)
    loss = ball_sub(&in->a, log_sum_exp(in), op_input(in, 0, (int64_t)label));
  op_put(out, 0, label == -100.0 ? ball_exact(0.0) : loss);
}

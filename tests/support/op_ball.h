/* Arithmetic with error bounds: what a formula gives, and how far a backend's fp32 (or double) result may be from it.
 * Written for the tests, operation by operation, from the documented error of each.
 *
 * A ball is a value and a radius. Radius 0: the backend holds this very value. Infinite radius: it may hold anything
 * (only next to an overflow). Sums and quotients of exact values are rounded as the backend rounds them, and are exact
 * again. A product is left as it is, with what rounding it costs as its radius: so it holds for a product that is rounded
 * and for one that is fused into the sum that follows. */
#ifndef TMARING_TESTS_OP_BALL_H
#define TMARING_TESTS_OP_BALL_H

#include <math.h>
#include <stdint.h>

#include "number.h"

typedef struct ball {
  double v, e;
} ball;

/* The backend's arithmetic, and the roundings along the longest chain of additions of a row. */
typedef struct arithmetic {
  int wide; /* double, as the reference: then a radius covers the reference's own roundings too */
  double depth;
} arithmetic;

/* Half an ulp of 1, a little more for the reference's own rounding. */
static inline double ball_unit(const arithmetic *a)
{
  return a->wide ? 0x1p-52 : 0x1.000002p-24;
}

static inline ball ball_of(double v, double e)
{
  const ball b = {v, e};
  return b;
}

static inline ball ball_exact(double v)
{
  return ball_of(v, 0.0);
}

static inline ball ball_any(void)
{
  return ball_of(0.0, INFINITY);
}

/* A number of the formula or a scalar parameter: the backend's is the nearest. */
static inline ball ball_constant(const arithmetic *a, double v)
{
  return ball_of(v, a->wide || !isfinite(v) ? 0.0 : fabs((double)(float)v - v));
}

/* Overflow of fp32: past the middle between its largest value and 2^128. */
static inline ball ball_in_range(const arithmetic *a, double v, double e)
{
  const double end = 0x1.ffffffp127;
  if (a->wide || fabs(v) + e < end) return ball_of(v, e);
  return fabs(v) - e >= end ? ball_of(copysign(INFINITY, v), 0.0) : ball_any();
}

/* A sum or quotient of exact values, which in double is v with an error of at most `slip`. */
static inline ball ball_nearest(const arithmetic *a, double v, double slip)
{
  if (a->wide || !isfinite(v)) return ball_exact(v);
  const double nearest = (float)v;
  if (slip == 0.0 || isinf(nearest)) return ball_exact(nearest);
  return ball_of(nearest, fmax((float)(v + slip) - nearest, nearest - (float)(v - slip)));
}

/* The same of values with errors: e is what comes of them. */
static inline ball ball_rounded(const arithmetic *a, double v, double e)
{
  return ball_in_range(a, v, e + ball_unit(a) * (fabs(v) + e) + (a->wide ? 0.0 : 0x1p-150));
}

/* A function within `ulps` units in the last place. */
static inline ball ball_function(const arithmetic *a, double v, double e, double ulps)
{
  if (!isfinite(v)) return ball_of(v, 0.0);
  const double least = a->wide ? 0x1p-1074 : 0x1p-149;
  return ball_in_range(a, v, e + 2.0 * ulps * ball_unit(a) * (fabs(v) + e) + ulps * least);
}

/* An operand that may be anything decides the result, unless the other one is NaN. */
static inline int ball_undecided(ball x, ball y, ball *result)
{
  if (!isinf(x.e) && !isinf(y.e)) return 0;
  *result = isnan(x.v) || isnan(y.v) ? ball_exact(NAN) : ball_any();
  return 1;
}

static inline ball ball_add(const arithmetic *a, ball x, ball y)
{
  ball undecided;
  if (ball_undecided(x, y, &undecided)) return undecided;
  const double v = x.v + y.v, back = v - x.v;
  if (!isfinite(v)) return ball_exact(v);
  if (x.e + y.e > 0.0) return ball_rounded(a, v, x.e + y.e);
  return ball_nearest(a, v, fabs((x.v - (v - back)) + (y.v - back)));
}

static inline ball ball_negative(ball x)
{
  return ball_of(-x.v, x.e);
}

static inline ball ball_sub(const arithmetic *a, ball x, ball y)
{
  return ball_add(a, x, ball_negative(y));
}

static inline ball ball_mul(const arithmetic *a, ball x, ball y)
{
  ball undecided;
  if (ball_undecided(x, y, &undecided)) return undecided;
  const double v = x.v * y.v;
  if (isnan(v) && x.e + y.e > 0.0 && !isnan(x.v) && !isnan(y.v)) return ball_any(); /* infinity by about 0 */
  if (!isfinite(v)) return ball_exact(v);
  if (x.e + y.e > 0.0) return ball_rounded(a, v, fabs(x.v) * y.e + fabs(y.v) * x.e + x.e * y.e);
  if (a->wide) return ball_of(v, fabs(fma(x.v, y.v, -v)));
  const double nearest = (float)v;
  return isinf(nearest) ? ball_exact(nearest) : ball_of(v, fabs(nearest - v));
}

static inline ball ball_div(const arithmetic *a, ball x, ball y)
{
  ball undecided;
  if (ball_undecided(x, y, &undecided)) return undecided;
  if (y.e > 0.0 && y.e >= fabs(y.v)) return isnan(x.v) ? x : ball_any();
  const double v = x.v / y.v;
  if (!isfinite(v) || isinf(y.v)) return ball_exact(v);
  if (x.e + y.e > 0.0) return ball_rounded(a, v, (x.e + fabs(v) * y.e) / (fabs(y.v) - y.e));
  return ball_nearest(a, v, 0.0); /* 53 bits are enough for a quotient of two of 24 to round right twice */
}

static inline ball ball_max(ball x, ball y)
{
  if (isnan(x.v) || isnan(y.v)) return ball_exact(NAN);
  if (isinf(x.e) || isinf(y.e)) return ball_any();
  if (x.v - x.e >= y.v + y.e) return x;
  if (y.v - y.e >= x.v + x.e) return y;
  return ball_of(x.v > y.v ? x.v : y.v, x.e > y.e ? x.e : y.e);
}

static inline ball ball_min(ball x, ball y)
{
  return ball_negative(ball_max(ball_negative(x), ball_negative(y)));
}

static inline ball ball_abs(ball x)
{
  return ball_of(fabs(x.v), x.e);
}

static inline ball ball_exp(const arithmetic *a, ball x)
{
  if (isinf(x.e)) return ball_any();
  const double v = exp(x.v);
  if (isinf(x.v)) return ball_exact(v);
  return ball_function(a, v, x.e > 0.0 && isfinite(v) ? v * expm1(x.e) : 0.0, 2);
}

static inline ball ball_log(const arithmetic *a, ball x)
{
  if (isinf(x.e) || (x.e > 0.0 && x.v <= x.e)) return ball_any();
  return ball_function(a, log(x.v), x.e > 0.0 ? -log1p(-x.e / x.v) : 0.0, 2);
}

static inline ball ball_rsqrt(const arithmetic *a, ball x)
{
  if (isinf(x.e) || (x.e > 0.0 && x.v <= x.e)) return ball_any();
  const double v = 1.0 / sqrt(x.v);
  if (isinf(x.v)) return ball_exact(v);
  return ball_function(a, v, x.e > 0.0 ? v * (1.0 / sqrt(1.0 - x.e / x.v) - 1.0) : 0.0, 2);
}

static inline ball ball_tanh(const arithmetic *a, ball x)
{
  if (isinf(x.e)) return ball_any();
  if (fabs(x.v) - x.e > 20.0) return ball_exact(copysign(1.0, x.v)); /* to the last bit */
  const double v = tanh(x.v), low = fabs(v) > x.e ? fabs(v) - x.e : 0.0;
  return ball_function(a, v, x.e * (1.0 - low * low), 2);
}

static inline ball ball_erf(const arithmetic *a, ball x)
{
  if (isinf(x.e)) return ball_any();
  if (fabs(x.v) - x.e > 8.0) return ball_exact(copysign(1.0, x.v));
  const double near = fabs(x.v) > x.e ? fabs(x.v) - x.e : 0.0;
  return ball_function(a, erf(x.v), x.e > 0.0 ? x.e * 1.1284 * exp(-near * near) : 0.0, 2);
}

static inline ball ball_sigmoid(const arithmetic *a, ball x)
{
  if (isinf(x.e)) return ball_any();
  const double v = x.v >= 0.0 ? 1.0 / (1.0 + exp(-x.v)) : exp(x.v) / (1.0 + exp(x.v));
  if (isinf(x.v) || x.v - x.e > 40.0) return ball_exact(isinf(x.v) ? v : 1.0);
  const double steepest = fmin(0.25, v * (1.0 - v) + x.e);
  return ball_function(a, v, x.e > 0.0 ? x.e * steepest : 0.0, 4);
}

/* Rounded to a type and back. */
static inline ball ball_cast(tmaring_dtype dtype, ball x)
{
  if (isinf(x.e)) return x;
  const double v = number_round(dtype, x.v);
  if (x.e == 0.0 || isnan(v)) return ball_exact(v);
  const double low = number_round(dtype, x.v - x.e), high = number_round(dtype, x.v + x.e);
  if (low == high) return ball_exact(v);
  return isinf(low) || isinf(high) ? ball_any() : ball_of(v, fmax(high - v, v - low));
}

/* To the nearest whole number. */
static inline ball ball_whole(ball x)
{
  if (isinf(x.e) || !isfinite(x.v)) return x;
  const double v = nearbyint(x.v);
  return ball_of(v, fmax(nearbyint(x.v + x.e) - v, v - nearbyint(x.v - x.e)));
}

/* A sum over many terms in an unknown order. */
typedef struct ball_sum {
  long double v;
  double size, e; /* of the magnitudes; of the radii */
  double special; /* sum of the infinities and NaNs */
  int64_t count;
  int fraction; /* some term is not a whole number */
  int any;
} ball_sum;

static inline ball_sum ball_sum_begin(void)
{
  const ball_sum s = {0.0L, 0.0, 0.0, 0.0, 0, 0, 0};
  return s;
}

static inline void ball_sum_add(ball_sum *s, ball x)
{
  s->count += 1;
  if (!isfinite(x.v)) {
    s->special += x.v;
    return;
  }
  if (isinf(x.e)) {
    s->any = 1;
    return;
  }
  s->v += x.v;
  s->size += fabs(x.v);
  s->e += x.e;
  s->fraction |= x.v != nearbyint(x.v);
}

/* Whole numbers whose magnitudes stay below 2^24 (double: 2^53) add up exactly in any order. Where finite magnitudes
 * leave the range but the terms have both signs, the order decides. `depth`: roundings along the longest chain. */
static inline ball ball_sum_end(const arithmetic *a, const ball_sum *s, double depth)
{
  const double v = (double)s->v, most = s->size + s->e;
  if (isnan(s->special)) return ball_exact(NAN);
  if (s->any || (!a->wide && most >= 0x1.fffffep127 && fabs(v) < s->size)) return ball_any();
  if (s->special != 0.0) return ball_exact(s->special);
  if (s->count <= 1) return ball_of(v, s->e);
  if (!s->fraction && s->e == 0.0 && most <= (a->wide ? 0x1p53 : 0x1p24)) return ball_exact(v);
  return ball_in_range(a, v, s->e + ball_unit(a) * depth * most);
}

#endif

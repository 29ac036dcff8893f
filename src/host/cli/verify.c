#include "verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "element.h"

typedef struct tolerance {
  double relative, absolute;
} tolerance;

typedef struct outcome {
  size_t wrong; /* elements past their tolerance */
  double error; /* largest |got - reference| where both are finite */
  size_t worst; /* element with the largest error for its tolerance */
  double excess;
} outcome;

static size_t element_count(const tmaring__npy *array)
{
  return array->bytes / tmaring_dtype_bytes((tmaring_i32)array->dtype);
}

/* A tensor as doubles; NULL when out of memory. */
static double *widen(const tmaring__npy *array)
{
  const size_t count = element_count(array);
  double *const wide = malloc((count + 1) * sizeof *wide);
  for (size_t i = 0; wide && i < count; ++i) wide[i] = tmaring__element(array->data, array->dtype, i);
  return wide;
}

static tolerance tolerance_of(const tmaring__job *job, const tmaring__npy *array, const double *reference)
{
  const tmaring__request *const request = job->request;
  const double inner = (64.0 + (double)job->cols / 16.0) * 0x1p-24;
  double largest = 0;
  for (size_t i = 0; i < element_count(array); ++i)
    if (isfinite(reference[i]) && fabs(reference[i]) > largest) largest = fabs(reference[i]);
  tolerance t = {2 * tmaring__element_roundoff(array->dtype) + inner,
                 inner * largest + tmaring__element_smallest(array->dtype)};
  if (request->relative >= 0) t.relative = request->relative;
  if (request->absolute >= 0) t.absolute = request->absolute;
  return t;
}

/* Error in units of what is allowed: at most 1 passes. */
static double excess_of(double got, double reference, double largest, tolerance t)
{
  const double allowed = t.relative * fabs(reference) + t.absolute;
  if (isnan(got) || isnan(reference)) return isnan(got) && isnan(reference) ? 0 : INFINITY;
  if (isinf(got) && signbit(got) == signbit(reference) && fabs(reference) * (1 + t.relative) > largest) return 0;
  if (got == reference) return 0;
  return isinf(got) || isinf(reference) || allowed == 0 ? INFINITY : fabs(got - reference) / allowed;
}

static outcome compare(const tmaring__npy *array, const double *reference, tolerance t)
{
  outcome o = {0, 0, 0, 0};
  const double largest = tmaring__element_largest(array->dtype);
  for (size_t i = 0; i < element_count(array); ++i) {
    const double got = tmaring__element(array->data, array->dtype, i);
    const double excess = excess_of(got, reference[i], largest, t);
    if (isfinite(got) && isfinite(reference[i]) && fabs(got - reference[i]) > o.error)
      o.error = fabs(got - reference[i]);
    if (excess > o.excess) o.excess = excess, o.worst = i;
    o.wrong += excess > 1;
  }
  return o;
}

static void print_outcome(const char *name, const tmaring__npy *array, const double *reference, outcome o, tolerance t)
{
  const size_t cols = array->dims == 2 && array->shape[1] > 0 ? (size_t)array->shape[1] : 1;
  fprintf(stderr, "tmaring: verify %s: %s: largest error %.3g (rtol %.3g, atol %.3g)", name,
          o.wrong ? "MISMATCH" : "ok", o.error, t.relative, t.absolute);
  if (o.wrong)
    fprintf(stderr, "; %zu of %zu elements, worst at row %zu, column %zu: got %.9g, needs %.9g", o.wrong,
            element_count(array), o.worst / cols, o.worst % cols, tmaring__element(array->data, array->dtype, o.worst),
            reference[o.worst]);
  fputc('\n', stderr);
}

static int compare_outputs(const tmaring__operands *operands, const tmaring__job *job, double *const *wide)
{
  int code = 0;
  for (int32_t i = 0; i < job->count; ++i) {
    if (!job->parameter[i].is_output) continue;
    const tmaring__npy *const array = &operands->array[i];
    const tolerance t = tolerance_of(job, array, wide[i]);
    const outcome o = compare(array, wide[i], t);
    print_outcome(job->parameter[i].name, array, wide[i], o, t);
    if (o.wrong) code = TMARING__EXIT_FAILED;
  }
  return code;
}

int tmaring__verify(const tmaring__operands *operands, const tmaring__job *job)
{
  double *wide[TMARING__MAX_TENSORS] = {NULL};
  double scalar[TMARING_MAX_SCALARS];
  int code = 0;
  for (int32_t i = 0; i < job->scalar_count; ++i) scalar[i] = job->scalar[i];
  for (int32_t i = 0; i < job->count && !code; ++i) {
    wide[i] = widen(&operands->array[i]);
    if (!wide[i])
      code = tmaring__complain(
          tmaring__fail(TMARING_ERROR_MEMORY, "got no memory for doubles, needs 8 bytes per element; use a smaller M"),
          "verify");
  }
  if (!code) {
    const tmaring_status status = tmaring_formula_evaluate(job->formula, job->rows, job->cols, wide, scalar);
    code = status == TMARING_OK ? compare_outputs(operands, job, wide) : tmaring__complain(status, "verify");
  }
  for (int32_t i = 0; i < job->count; ++i) free(wide[i]);
  return code;
}

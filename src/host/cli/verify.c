#include "verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "element.h"

typedef struct outcome {
  size_t wrong; /* elements past their tolerance */
  double error; /* largest |got - reference| where both are finite */
  size_t worst; /* element furthest past its tolerance */
  double excess;
} outcome;

/* A tensor as doubles, dense as the oracle takes it; NULL when out of memory. */
static double *widen(const tmaring__operands *operands, const tmaring__job *job, int32_t index)
{
  const tmaring__array *const array = &operands->array[index];
  const int one = tmaring__operands_is_one_value(operands, job, index);
  const size_t count = one ? (size_t)job->rows : tmaring__array_count(array);
  double *const wide = malloc((count + 1) * sizeof *wide);
  for (size_t i = 0; wide && i < count; ++i) wide[i] = tmaring__element(array->data, array->dtype, one ? 0 : i);
  return wide;
}

static double largest_of(const double *reference, size_t count)
{
  double largest = 0;
  for (size_t i = 0; i < count; ++i)
    if (isfinite(reference[i]) && fabs(reference[i]) > largest) largest = fabs(reference[i]);
  return largest;
}

double tmaring__tolerance_excess(tmaring__tolerance t, tmaring_dtype dtype, double got, double reference)
{
  const double e = isfinite(reference) ? t.relative * fabs(reference) + t.absolute : 0;
  const double low = tmaring__element_round(dtype, reference - e), high = tmaring__element_round(dtype, reference + e);
  if (isnan(low) || isnan(got)) return isnan(low) && isnan(got) ? 0 : INFINITY;
  if (got >= low && got <= high) return 0;
  return got < low ? low - got : got - high;
}

static outcome compare(const tmaring__array *array, const double *reference, tmaring__tolerance t)
{
  outcome o = {0, 0, 0, 0};
  const size_t count = tmaring__array_count(array);
  for (size_t i = 0; i < count; ++i) {
    const double got = tmaring__element(array->data, array->dtype, i);
    const double excess = tmaring__tolerance_excess(t, array->dtype, got, reference[i]);
    if (isfinite(got) && isfinite(reference[i]) && fabs(got - reference[i]) > o.error)
      o.error = fabs(got - reference[i]);
    if (excess > o.excess) o.excess = excess, o.worst = i;
    o.wrong += excess > 0;
  }
  return o;
}

static void print_outcome(const tmaring_parameter *parameter, const tmaring__array *array, const double *reference,
                          outcome o, tmaring__tolerance t)
{
  const size_t cols = parameter->shape == TMARING_SHAPE_COLUMN ? 1 : (size_t)tmaring__array_cols(array);
  fprintf(stderr, "tmaring: verify %s: %s: largest error %.3g (rtol %.3g, atol %.3g)", parameter->name,
          o.wrong ? "MISMATCH" : "ok", o.error, t.relative, t.absolute);
  if (o.wrong)
    fprintf(stderr, "; %zu of %zu elements, worst at row %zu, column %zu: got %.9g, needs %.9g in %s", o.wrong,
            tmaring__array_count(array), o.worst / cols, o.worst % cols,
            tmaring__element(array->data, array->dtype, o.worst), reference[o.worst], tmaring_dtype_name(array->dtype));
  fputc('\n', stderr);
}

static int compare_outputs(const tmaring__operands *operands, const tmaring__job *job, double *const *wide)
{
  int code = 0;
  for (int32_t i = 0; i < job->count; ++i) {
    if (!job->parameter[i].is_output) continue;
    const tmaring__array *const array = &operands->array[i];
    const tmaring__tolerance t = tmaring__tolerance_of(job, i, largest_of(wide[i], tmaring__array_count(array)));
    const outcome o = compare(array, wide[i], t);
    print_outcome(&job->parameter[i], array, wide[i], o, t);
    if (o.wrong) code = TMARING__EXIT_FAILED;
  }
  return code;
}

static int evaluate(const tmaring__job *job, double *const *wide)
{
  tmaring_dtype dtype[TMARING__MAX_TENSORS];
  for (int32_t i = 0; i < job->count; ++i) dtype[i] = job->tensor[i].dtype;
  const tmaring_status status =
      tmaring_formula_evaluate(job->formula, job->rows, job->cols, wide, job->scalar_count ? job->scalar : NULL, dtype);
  return status == TMARING_OK ? 0 : tmaring__complain(status, "verify");
}

int tmaring__verify(const tmaring__operands *operands, const tmaring__job *job)
{
  double *wide[TMARING__MAX_TENSORS] = {NULL};
  int code = 0;
  for (int32_t i = 0; i < job->count && !code; ++i) {
    wide[i] = widen(operands, job, i);
    if (!wide[i])
      code = tmaring__complain(
          tmaring__fail(TMARING_ERROR_MEMORY, "got no memory for doubles, needs 8 bytes per element; use a smaller M"),
          "verify");
  }
  if (!code) code = evaluate(job, wide);
  if (!code) code = compare_outputs(operands, job, wide);
  for (int32_t i = 0; i < job->count; ++i) free(wide[i]);
  return code;
}

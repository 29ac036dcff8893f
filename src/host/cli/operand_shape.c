/* M and N from the shapes of the inputs. Nothing is reshaped by guess: [N] and [M] are files of one dimension; of the
 * others the last dimension is a row, and those before it are folded into rows. */
#include <inttypes.h>
#include <stdio.h>

#include "operand.h"

/* Fails with "--in x: file: got ..., needs ...". */
static int misfit(const tmaring__operands *operands, const tmaring__job *job, int32_t index, const char *needs)
{
  char shape[192];
  const tmaring__binding *const file = operands->file[index];
  tmaring__array_shape_text(&operands->array[index], shape, sizeof shape);
  const tmaring_status status =
      tmaring__fail(TMARING_ERROR_SHAPE, "%s: %s%s%.200s: shape: got %s, needs %s", job->parameter[index].name,
                    file->path, file->tensor ? ":" : "", file->tensor ? file->tensor : "", shape, needs);
  return tmaring__complain(status, "--in");
}

static int check_dims(const tmaring__operands *operands, const tmaring__job *job, int32_t index)
{
  const tmaring_shape shape = job->parameter[index].shape;
  const int32_t dims = operands->array[index].dims;
  if (shape == TMARING_SHAPE_ROW)
    return dims == 1 ? 0 : misfit(operands, job, index, "one dimension for [N]; save a.ravel(), or declare it [M,N]");
  if (shape == TMARING_SHAPE_COLUMN) {
    if (dims == 1 || dims == 0) return 0;
    return misfit(operands, job, index,
                  "one dimension for [M], or one value for all rows; save a.ravel(), or declare it [M,N]");
  }
  if (dims >= 2) return 0;
  return misfit(operands, job, index,
                "two dimensions or more for [M,N], [M,2N] and [M,N/k]; save a.reshape(1, -1), or declare it [N]");
}

/* M and N come from --shape or from the first input that has them; every later one must agree. */
static int match_extent(const tmaring__operands *operands, const tmaring__job *job, int32_t index, int64_t found,
                        int64_t *extent, const char *letter)
{
  char needs[96];
  if (*extent < 0) *extent = found;
  if (*extent == found) return 0;
  snprintf(needs, sizeof needs, "%s = %" PRId64 " as %s", letter, *extent,
           job->request->has_shape ? "--shape says; drop it" : "in the inputs before it; use files of one size");
  return misfit(operands, job, index, needs);
}

static int match_rows(const tmaring__operands *operands, tmaring__job *job, int32_t index)
{
  const tmaring__array *const a = &operands->array[index];
  switch (job->parameter[index].shape) {
  case TMARING_SHAPE_ROW: return 0;
  case TMARING_SHAPE_COLUMN: {
    const int64_t count = (int64_t)tmaring__array_count(a);
    return count == 1 ? 0 : match_extent(operands, job, index, count, &job->rows, "M");
  }
  default: return match_extent(operands, job, index, tmaring__array_rows(a), &job->rows, "M");
  }
}

static int match_cols(const tmaring__operands *operands, tmaring__job *job, int32_t index)
{
  const tmaring_shape shape = job->parameter[index].shape;
  const int64_t cols = tmaring__array_cols(&operands->array[index]);
  if (shape == TMARING_SHAPE_COLUMN || shape == TMARING_SHAPE_GROUP) return 0;
  if (shape != TMARING_SHAPE_DOUBLE) return match_extent(operands, job, index, cols, &job->cols, "N");
  if (cols % 2 != 0) return misfit(operands, job, index, "rows of an even number of columns for [M,2N]");
  return match_extent(operands, job, index, cols / 2, &job->cols, "N");
}

/* Groups do not tell N, but how many they are follows from it. */
static int match_groups(const tmaring__operands *operands, const tmaring__job *job, int32_t index)
{
  char needs[128];
  const tmaring_parameter *const parameter = &job->parameter[index];
  if (parameter->is_output || parameter->shape != TMARING_SHAPE_GROUP) return 0;
  const int64_t groups = tmaring_ceil_div(job->cols, parameter->group_cols);
  if (tmaring__array_cols(&operands->array[index]) == groups) return 0;
  snprintf(needs, sizeof needs, "%" PRId64 " columns: N = %" PRId64 " in groups of %d", groups, job->cols,
           parameter->group_cols);
  return misfit(operands, job, index, needs);
}

/* An [M] file of one value is 1 row where nothing else tells M. */
static void settle_rows(const tmaring__operands *operands, tmaring__job *job)
{
  for (int32_t i = 0; i < job->count && job->rows < 0; ++i)
    if (!job->parameter[i].is_output && job->parameter[i].shape == TMARING_SHAPE_COLUMN &&
        tmaring__array_count(&operands->array[i]) == 1)
      job->rows = 1;
}

int tmaring__operands_size(const tmaring__operands *operands, tmaring__job *job)
{
  int code = 0;
  job->rows = job->request->has_shape ? job->request->rows : -1;
  job->cols = job->request->has_shape ? job->request->cols : -1;
  for (int32_t i = 0; i < job->count && !code; ++i) {
    if (job->parameter[i].is_output) continue;
    code = check_dims(operands, job, i);
    if (!code) code = match_rows(operands, job, i);
    if (!code) code = match_cols(operands, job, i);
  }
  if (code) return code;
  settle_rows(operands, job);
  if (job->rows < 0 || job->cols < 0)
    return tmaring__misuse(job->request->command,
                           "--shape: got no input that tells M and N, needs them; add --shape M,N");
  for (int32_t i = 0; i < job->count && !code; ++i) code = match_groups(operands, job, i);
  return code;
}

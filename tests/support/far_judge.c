/* What far cases are judged by: references in double, made from what the tensors were filled with. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "far_state.h"
#include "noise.h"
#include "number.h"

#define SUM_COLUMNS 24
#define EPSILON     1e-6
#define INT32_MOST  2147483647ll

static uint32_t bytes_of(const tmaring_tensor *t)
{
  return tmaring_dtype_bytes((tmaring_i32)t->dtype);
}

/* ---- which rows ---- */

static void add_row(far_state *s, int64_t row)
{
  if (row < 0 || row >= s->c->rows || s->rows == FAR_MAX_ROWS) return;
  for (int32_t i = 0; i < s->rows && s->rows < 64; ++i) {
    if (s->row[i] == row) return;
  }
  s->row[s->rows++] = row;
}

/* The last row that begins at or before an offset. */
static int64_t row_at(const tmaring_tensor *t, int64_t offset)
{
  int64_t low = 0, high = t->rows - 1;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (far_row(t, middle) <= offset)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static void pick_rows(far_state *s)
{
  const tmaring_tensor *x = &s->tensor[0];
  noise n = noise_seed(1 + (uint64_t)s->c->rows);
  for (int64_t row = 0; row < 3; ++row) {
    add_row(s, row);
    add_row(s, s->c->rows - 1 - row);
  }
  for (int bits = 29; bits <= 32; ++bits) {
    for (int64_t near = -1; near <= 1; ++near) add_row(s, row_at(x, 1ll << bits) + near);
  }
  if (s->c->rows <= 64) {
    for (int64_t row = 0; row < s->c->rows; ++row) add_row(s, row);
    return;
  }
  for (int32_t i = 0; i < FAR_RANDOM_ROWS; ++i) add_row(s, (int64_t)(noise_next(&n) % (uint64_t)s->c->rows));
}

/* The case is what it is for: some tensor passes 2^31 elements, in number or in offset. */
static int check_size(far_state *s)
{
  int64_t numel = 0, offset = 0;
  for (int32_t i = 0; i < s->count; ++i) {
    const tmaring_tensor *t = &s->tensor[i];
    if (t->rows * t->cols > numel) numel = t->rows * t->cols;
    if (far_extent(t) - 1 > offset) offset = far_extent(t) - 1;
  }
  return numel > INT32_MOST || offset > INT32_MOST ||
         far_fail(s, "at most %lld elements and offset %lld: the case is too small", (long long)numel,
                  (long long)offset);
}

/* The elements of x on both sides of 2^31 are judged, those that there are. */
static int check_boundary(far_state *s)
{
  const tmaring_tensor *x = &s->tensor[0];
  int32_t judged = 0, there = 0;
  for (int64_t offset = INT32_MOST - 1; offset <= INT32_MOST + 2; ++offset) {
    const int64_t row = row_at(x, offset);
    if (offset - far_row(x, row) >= x->cols) continue; /* between rows, or past the last one */
    there += 1;
    for (int32_t i = 0; i < s->rows; ++i) judged += s->row[i] == row;
  }
  return judged >= there || far_fail(s, "%d of the %d elements around 2^31 are judged", judged, there);
}

/* ---- the judge ---- */

/* Row of x as it lies in memory, which has to be what was written. */
static int read_x(far_state *s, int64_t row)
{
  const tmaring_tensor *x = &s->tensor[0];
  const int64_t first = far_row(x, row);
  const uint32_t bytes = bytes_of(x);
  if (!far_read(&s->memory[0], (size_t)first * bytes, s->line, (size_t)x->cols * bytes))
    return far_fail(s, "row %lld of x could not be read", (long long)row);
  for (int64_t col = 0; col < x->cols; ++col) {
    s->x[col] = number_read(x->dtype, s->line + col * bytes);
    if (s->x[col] != far_value(x->dtype, (uint64_t)(first + col)))
      return far_fail(s, "x(%lld, %lld) has changed: %g", (long long)row, (long long)col, s->x[col]);
  }
  return 1;
}

static double sum_of(const double *x, int64_t n, double (*term)(double))
{
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += term(x[i]);
  return sum;
}

static double itself(double x)
{
  return x;
}

static double square(double x)
{
  return x * x;
}

static double most(const double *x, int64_t n)
{
  double m = 0;
  for (int64_t i = 0; i < n; ++i) m = fmax(m, fabs(x[i]));
  return m;
}

/* Value of a row and group: a sum, or a scale. */
static int judge_value(far_state *s, int32_t i, int64_t row, int64_t group, double due, double *got)
{
  const tmaring_tensor *t = &s->tensor[i];
  const int64_t at = far_row(t, row) + group * (t->step > 0 ? t->step : 1);
  float value;
  if (!far_read(&s->memory[i], (size_t)at * 4, &value, 4)) return far_fail(s, "tensor %d could not be read", i);
  *got = value;
  if (fabs(value - due) <= 1e-6 * fabs(due) + 1e-30) return 1;
  return far_fail(s, "value (%lld, %lld): got %.9g, needs %.9g", (long long)row, (long long)group, value, due);
}

/* What element `col` of the result is, `scale` being what its row needs for all of them. */
static double due_of(const far_state *s, int64_t col, double scale)
{
  switch (s->c->work) {
  case FAR_DOUBLE: return 2 * s->x[col];
  case FAR_SOFTMAX: return exp(s->x[col]) * scale;
  case FAR_RMSNORM: return s->x[col] * scale * far_value(TMARING_BF16, (uint64_t)col);
  case FAR_QUANTIZE:
  case FAR_QUANTIZE_GROUPS: return s->x[col] / scale;
  default: return s->x[col];
  }
}

static int judge_elements(far_state *s, int32_t i, int64_t row, int64_t first, int64_t end, double scale)
{
  const tmaring_tensor *t = &s->tensor[i];
  const uint32_t bytes = bytes_of(t);
  const size_t at = (size_t)(far_row(t, row) + first) * bytes;
  const int exact = s->c->work == FAR_COPY || s->c->work == FAR_DOUBLE;
  if (!far_read(&s->memory[i], at, s->line, (size_t)(end - first) * bytes))
    return far_fail(s, "row %lld of the result could not be read", (long long)row);
  for (int64_t col = first; col < end; ++col) {
    const double got = number_read(t->dtype, s->line + (col - first) * bytes), due = due_of(s, col, scale);
    const double bound = exact ? 0 : 1.001 * number_half_ulp(t->dtype, due) + 1e-5 * fabs(due);
    if (!(fabs(got - due) <= bound))
      return far_fail(s, "element (%lld, %lld), offset %lld: got %g, needs %g within %g", (long long)row,
                      (long long)col, (long long)(far_row(t, row) + col), got, due, bound);
  }
  return 1;
}

static int judge_groups(far_state *s, int32_t values, int32_t y, int64_t row)
{
  for (int64_t first = 0, group = 0; first < s->c->cols; first += FAR_GROUP_COLS, ++group) {
    const int64_t end = first + FAR_GROUP_COLS < s->c->cols ? first + FAR_GROUP_COLS : s->c->cols;
    double scale;
    if (!judge_value(s, values, row, group, most(s->x + first, end - first) / 448, &scale)) return 0;
    if (!judge_elements(s, y, row, first, end, scale)) return 0;
  }
  return 1;
}

static int32_t find_part(const far_state *s, far_part p)
{
  for (int32_t i = 0; i < s->count; ++i) {
    if (s->part[i] == p) return i;
  }
  return -1;
}

static int judge_row(far_state *s, int64_t row)
{
  const int32_t y = find_part(s, FAR_Y), values = find_part(s, FAR_VALUES);
  const int64_t n = s->c->cols;
  double scale = 1;
  if (!read_x(s, row)) return 0;
  switch (s->c->work) {
  case FAR_ROW_SUM: return judge_value(s, values, row, 0, sum_of(s->x, n, itself), &scale);
  case FAR_SOFTMAX: scale = 1 / sum_of(s->x, n, exp); break;
  case FAR_RMSNORM: scale = 1 / sqrt(sum_of(s->x, n, square) / (double)n + EPSILON); break;
  case FAR_QUANTIZE_GROUPS: return judge_groups(s, values, y, row);
  case FAR_QUANTIZE:
    if (!judge_value(s, values, row, 0, most(s->x, n) / 448, &scale)) return 0;
    break;
  case FAR_COL_SUM: return 1;
  default: break;
  }
  return judge_elements(s, y, row, 0, n, scale);
}

/* Sums of some columns over all rows, from what x was filled with. Terms are few bits: fp32 adds them without error, or
 * within one rounding of the sum of magnitudes. */
static int judge_sums(far_state *s, int32_t i)
{
  noise n = noise_seed(5);
  for (int32_t k = 0; k < SUM_COLUMNS; ++k) {
    const int64_t col = k == 0 ? 0 : k == 1 ? s->c->cols - 1 : noise_below(&n, (int32_t)s->c->cols);
    double due = 0, magnitude = 0;
    float got;
    for (int64_t row = 0; row < s->c->rows; ++row) {
      const double x = far_value(s->c->dtype, (uint64_t)(far_row(&s->tensor[0], row) + col));
      due += x;
      magnitude += fabs(x);
    }
    if (!far_read(&s->memory[i], (size_t)col * 4, &got, 4)) return far_fail(s, "sums could not be read");
    if (!(fabs(got - due) <= magnitude / 16777216.0))
      return far_fail(s, "sum of column %lld: got %.9g, needs %.9g", (long long)col, got, due);
  }
  return 1;
}

/* Where a row of tensor i would go if its offset lost its upper bits: nothing may have been written there, unless it is
 * a row's place. */
static int check_wrapped(far_state *s, int32_t i, int64_t row, int bits)
{
  const tmaring_tensor *t = &s->tensor[i];
  const uint64_t bytes = bytes_of(t), true_at = (uint64_t)far_row(t, row) * bytes;
  const uint64_t at = true_at & (((uint64_t)1 << bits) - 1),
                 begin = (uint64_t)far_row(t, row_at(t, (int64_t)(at / bytes))) * bytes;
  const uint64_t width = (uint64_t)t->cols * bytes, past = begin + width;
  if (at == true_at || at < past || t->step > 1) return 1;
  const size_t count = (size_t)(width < s->memory[i].bytes - at ? width : s->memory[i].bytes - at);
  if (!far_read(&s->memory[i], (size_t)at, s->line, count)) return far_fail(s, "a gap could not be read");
  for (size_t k = 0; k < count && row_at(t, (int64_t)((at + k) / bytes)) == row_at(t, (int64_t)(at / bytes)); ++k) {
    if (s->line[k] != s->memory[i].poison)
      return far_fail(s, "tensor %d: byte %llu is written, which is row %lld's place modulo 2^%d", i,
                      (unsigned long long)(at + k), (long long)row, bits);
  }
  return 1;
}

int far_judge(far_state *s)
{
  const int32_t sums = find_part(s, FAR_SUMS);
  pick_rows(s);
  if (!check_size(s) || !check_boundary(s)) return 0;
  for (int32_t i = 0; i < s->rows; ++i) {
    if (!judge_row(s, s->row[i])) return 0;
    for (int32_t t = 0; t < s->count; ++t) {
      if (s->part[t] != FAR_Y && s->part[t] != FAR_VALUES) continue;
      if (!check_wrapped(s, t, s->row[i], 31) || !check_wrapped(s, t, s->row[i], 32)) return 0;
    }
  }
  return sums < 0 || judge_sums(s, sums);
}

/* Decides on the width of indexes, and on grids. */
#include "tmaring/index.h"

#include "../base/detail.h"

/* ---- arithmetic that stops at INT64_MAX; factors and terms are 0 or more ---- */

static int64_t times(int64_t a, int64_t b)
{
  return b > 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

static int64_t plus(int64_t a, int64_t b)
{
  return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static int64_t magnitude(int64_t a)
{
  return a >= 0 ? a : a == INT64_MIN ? INT64_MAX : -a;
}

/* ---- what one tensor takes ---- */

typedef struct reach {
  int64_t numel, offset;
} reach;

static reach view_reach(const tmaring_strided *v)
{
  int64_t numel = 1, above = 0, below = 0;
  for (int32_t d = 0; d < v->rank; ++d) {
    if (v->dims[d] == 0) return (reach){0, 0};
  }
  for (int32_t d = 0; d < v->rank; ++d) {
    const int64_t span = times(v->dims[d] - 1, magnitude(v->strides[d]));
    numel = times(numel, v->dims[d]);
    if (v->strides[d] < 0)
      below = plus(below, span);
    else
      above = plus(above, span);
  }
  return (reach){numel, above > below ? above : below};
}

/* Elements from row 0 to the row that lies furthest: the last one, or, where a group reaches further than the next one
 * begins, the last row of the last whole group. */
static int64_t rows_reach(const tmaring_tensor *t, int64_t pitch)
{
  const int64_t last = t->rows - 1;
  if (t->group_rows == 0) return times(last, pitch);
  const int64_t group = last / t->group_rows, row = last - group * t->group_rows;
  const int64_t end = plus(times(group, t->group_pitch), times(row, pitch));
  if (group == 0) return end;
  const int64_t before = plus(times(group - 1, t->group_pitch), times(t->group_rows - 1, pitch));
  return end > before ? end : before;
}

static reach tensor_reach(const tmaring_tensor *t)
{
  const int64_t pitch = t->pitch == TMARING_ONE_VALUE ? 0 : t->pitch == 0 ? t->cols : t->pitch;
  const int64_t step = t->step == 0 ? 1 : t->step;
  if (t->rows == 0 || t->cols == 0) return (reach){0, 0};
  return (reach){times(t->rows, t->cols), plus(rows_reach(t, pitch), times(t->cols - 1, step))};
}

/* ---- the decision ---- */

static int fits(reach r)
{
  return r.numel < TMARING_INDEX_LIMIT && r.offset < TMARING_INDEX_LIMIT;
}

static int64_t larger_of(reach r)
{
  return r.numel > r.offset ? r.numel : r.offset;
}

static void begin(tmaring_index_report *report)
{
  report->width = 32;
  report->tensor = -1;
  report->numel = report->offset = 0;
}

/* Takes tensor i in; once 64 bits are needed the first such tensor stays. */
static void join(tmaring_index_report *report, int32_t i, reach r)
{
  const reach so_far = {report->numel, report->offset};
  if (report->width == 64) return;
  if (report->tensor >= 0 && fits(r) && larger_of(r) <= larger_of(so_far)) return;
  report->width = fits(r) ? 32 : 64;
  report->tensor = i;
  report->numel = r.numel;
  report->offset = r.offset;
}

static tmaring_status check_field(int32_t i, const char *field, int64_t got, int64_t least)
{
  if (got >= least) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE, "tensors[%d].%s: got %lld, needs %lld or more", (int)i, field,
                       (long long)got, (long long)least);
}

static tmaring_status check_tensor(int32_t i, const tmaring_tensor *t)
{
  if (t->size != sizeof *t) {
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "tensors[%d].size: got %zu, needs %zu; start from TMARING_TENSOR_INIT",
                         (int)i, t->size, sizeof *t);
  }
  if (tmaring_dtype_bytes((tmaring_i32)t->dtype) == 0)
    return tmaring__fail(TMARING_ERROR_TYPE, "tensors[%d].dtype: got %d, needs a tmaring_dtype", (int)i, (int)t->dtype);
  TMARING__TRY(check_field(i, "rows", t->rows, 0));
  TMARING__TRY(check_field(i, "cols", t->cols, 0));
  TMARING__TRY(check_field(i, "pitch", t->pitch, TMARING_ONE_VALUE));
  TMARING__TRY(check_field(i, "step", t->step, 0));
  TMARING__TRY(check_field(i, "group_rows", t->group_rows, 0));
  return check_field(i, "group_pitch", t->group_pitch, 0);
}

static tmaring_status check_view(int32_t i, const tmaring_strided *v)
{
  if (v->size != sizeof *v) {
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "views[%d].size: got %zu, needs %zu; start from TMARING_STRIDED_INIT",
                         (int)i, v->size, sizeof *v);
  }
  if (v->rank < 0 || v->rank > TMARING_MAX_STRIDED_RANK) {
    return tmaring__fail(TMARING_ERROR_SHAPE, "views[%d].rank: got %d, needs 0 .. %d; merge dimensions that are one",
                         (int)i, (int)v->rank, TMARING_MAX_STRIDED_RANK);
  }
  for (int32_t d = 0; d < v->rank; ++d) {
    if (v->dims[d] >= 0) continue;
    return tmaring__fail(TMARING_ERROR_SHAPE, "views[%d].dims[%d]: got %lld, needs 0 or more", (int)i, (int)d,
                         (long long)v->dims[d]);
  }
  return TMARING_OK;
}

static tmaring_status check_count(const char *name, int32_t count, const void *first)
{
  if (count < 0) return tmaring__fail(TMARING_ERROR_ARGUMENT, "count: got %d, needs 0 or more", (int)count);
  if (count == 0 || first) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ARGUMENT, "%s: got NULL, needs an array of %d", name, (int)count);
}

tmaring_status tmaring_index_width(const tmaring_tensor *tensors, int32_t count, tmaring_index_report *report)
{
  TMARING__NEED_SIZE(report);
  TMARING__TRY(check_count("tensors", count, tensors));
  begin(report);
  for (int32_t i = 0; i < count; ++i) {
    TMARING__TRY(check_tensor(i, &tensors[i]));
    join(report, i, tensor_reach(&tensors[i]));
  }
  return TMARING_OK;
}

tmaring_status tmaring_index_width_of_strided(const tmaring_strided *views, int32_t count, tmaring_index_report *report)
{
  TMARING__NEED_SIZE(report);
  TMARING__TRY(check_count("views", count, views));
  begin(report);
  for (int32_t i = 0; i < count; ++i) {
    TMARING__TRY(check_view(i, &views[i]));
    join(report, i, view_reach(&views[i]));
  }
  return TMARING_OK;
}

/* ---- grids ---- */

static tmaring_status check_grid(const int64_t items[3], const int32_t threads[3], int32_t ctas_per_sm,
                                 const tmaring_machine *machine)
{
  int64_t all = 1;
  for (int d = 0; d < 3; ++d) {
    if (items[d] < 0)
      return tmaring__fail(TMARING_ERROR_SHAPE, "items[%d]: got %lld, needs 0 or more", d, (long long)items[d]);
    if (threads[d] < 1 || threads[d] > 1024)
      return tmaring__fail(TMARING_ERROR_ARGUMENT, "threads[%d]: got %d, needs 1 .. 1024", d, (int)threads[d]);
    all *= threads[d];
  }
  if (all > 1024)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "threads: got %lld in all, a CTA has at most 1024", (long long)all);
  if (ctas_per_sm < 1 || ctas_per_sm > 32)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "ctas_per_sm: got %d, needs 1 .. 32", (int)ctas_per_sm);
  if (machine->sm_count >= 1 && machine->sm_count <= 65536) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ARGUMENT,
                       "machine.sm_count: got %d, needs 1 .. 65536; start from tmaring_machine_h200",
                       (int)machine->sm_count);
}

/* CTAs along an axis: as many as its items take, at most what is left of the budget, and the axis's limit. */
static uint32_t along(int64_t items, int32_t threads, int64_t *budget, int64_t limit)
{
  const int64_t wanted = items / threads + (items % threads != 0); /* items + threads may pass 64 bits */
  const int64_t ctas = tmaring_max_i64(1, tmaring_min_i64(wanted, tmaring_min_i64(*budget, limit)));
  *budget /= ctas;
  return (uint32_t)ctas;
}

tmaring_status tmaring_grid_for(tmaring_launch_grid *grid, const int64_t items[3], const int32_t threads[3],
                                int32_t ctas_per_sm, const tmaring_machine *machine)
{
  TMARING__NEED_SIZE(grid);
  TMARING__NEED(items);
  TMARING__NEED(threads);
  TMARING__NEED_SIZE(machine);
  TMARING__TRY(check_grid(items, threads, ctas_per_sm, machine));
  int64_t budget = (int64_t)machine->sm_count * ctas_per_sm;
  grid->x = along(items[0], threads[0], &budget, TMARING_MAX_GRID_X);
  grid->y = along(items[1], threads[1], &budget, TMARING_MAX_GRID_YZ);
  grid->z = along(items[2], threads[2], &budget, TMARING_MAX_GRID_YZ);
  return TMARING_OK;
}

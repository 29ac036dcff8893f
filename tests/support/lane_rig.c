#include "lane_rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

void lane_begin(lane_case *c, int64_t rows, int32_t cols)
{
  memset(c, 0, sizeof *c);
  c->rows = rows;
  c->cols = cols;
  c->way = lane_way_make(0);
}

/* ---- tensors ---- */

int64_t lane_tensor_offset(const lane_tensor *t, int64_t row, int64_t col)
{
  if (t->group_rows == 0) return row * t->pitch + col * t->step;
  return row / t->group_rows * t->group_pitch + row % t->group_rows * t->pitch + col * t->step;
}

#define BAND 512

int32_t lane_tensor_take(lane_case *c, const lane_tensor *like, int64_t shift,
                         double (*value)(int64_t row, int64_t col))
{
  lane_tensor *t = &c->tensor[c->tensor_count];
  const int64_t elem = tmaring_dtype_bytes(like->dtype);
  cr_assert_lt(c->tensor_count, LANE_TENSORS);
  *t = *like;
  t->bytes = 2 * BAND + (size_t)shift * (size_t)elem;
  if (t->rows > 0) t->bytes += (size_t)(lane_tensor_offset(t, t->rows - 1, t->cols - 1) + elem);
  t->block = aligned_alloc(256, (t->bytes + 255) / 256 * 256);
  t->before = malloc(t->bytes);
  cr_assert(t->block && t->before, "out of memory");
  memset(t->block, 0xff, t->bytes);
  t->base = t->block + BAND + shift * elem;
  for (int64_t i = 0; i < t->rows; ++i) {
    for (int64_t j = 0; j < t->cols; ++j) number_write(t->dtype, t->base + lane_tensor_offset(t, i, j), value(i, j));
  }
  return c->tensor_count++;
}

int32_t lane_tensor_make(lane_case *c, tmaring_dtype dtype, int64_t rows, int64_t cols, int64_t gap,
                         double (*value)(int64_t row, int64_t col))
{
  const int64_t elem = tmaring_dtype_bytes(dtype);
  const lane_tensor like = {.dtype = dtype, .rows = rows, .cols = cols, .pitch = (cols + gap) * elem, .step = elem};
  return lane_tensor_take(c, &like, 1, value);
}

int32_t lane_matrix_make(lane_case *c, tmaring_dtype dtype, int64_t cols, double (*value)(int64_t row, int64_t col))
{
  const int64_t elem = tmaring_dtype_bytes(dtype);
  lane_tensor like = {.dtype = dtype, .rows = c->rows, .cols = cols, .step = elem, .group_rows = c->way.group_rows};
  like.pitch = (cols + c->way.gap) * elem;
  like.group_pitch = like.group_rows * like.pitch + 7 * elem;
  return lane_tensor_take(c, &like, c->way.shift, value);
}

double lane_value(const lane_case *c, int32_t tensor, int64_t row, int64_t col)
{
  const lane_tensor *t = &c->tensor[tensor];
  return number_read(t->dtype, t->base + lane_tensor_offset(t, row, col));
}

static void take_workspace(lane_case *c)
{
  const tmaring_args *a = &c->args;
  const size_t partials = (size_t)(a->column_output_count * tmaring_column_chunks(&a->walk) * tmaring_column_seats(a) *
                                   tmaring_column_stride(a)) *
                          8;
  free(c->workspace);
  c->workspace = malloc(TMARING_PARTIALS_OFFSET + partials);
  cr_assert_not_null(c->workspace);
  memset(c->workspace, 0xff, TMARING_PARTIALS_OFFSET + partials); /* partial results left out would be NaN */
  memset(c->workspace, 0, TMARING_WORKSPACE_BYTES);
  c->args.counter_address = (uint64_t)(uintptr_t)c->workspace;
  c->args.partials_address = c->args.counter_address + TMARING_PARTIALS_OFFSET;
}

tmaring_status lane_try(lane_case *c)
{
  lane_set_args(c);
  take_workspace(c);
  for (int32_t i = 0; i < c->tensor_count; ++i) memcpy(c->tensor[i].before, c->tensor[i].block, c->tensor[i].bytes);
  return tmaring__cpu_run(&c->args, NULL, &c->code, &c->program, c->way.seed, NULL);
}

/* ---- results ---- */

static int is_written(const lane_case *c, int32_t tensor)
{
  const tmaring__program *p = &c->program;
  int any = 0;
  for (int32_t i = 0; i < p->output_count; ++i) any |= c->output[i] == tensor;
  for (int32_t i = 0; i < p->row_output_count; ++i) any |= c->row_output[i] == tensor;
  for (int32_t i = 0; i < p->group_output_count; ++i) any |= c->group_output[i] == tensor;
  for (int32_t i = 0; i < p->column_output_count; ++i) any |= c->column_output[i] == tensor;
  return any;
}

static void expect_intact(const lane_case *c, int32_t tensor)
{
  const lane_tensor *t = &c->tensor[tensor];
  for (int64_t i = 0; is_written(c, tensor) && i < t->rows; ++i) {
    for (int64_t j = 0; j < t->cols; ++j) {
      const size_t at = (size_t)(t->base - t->block) + (size_t)lane_tensor_offset(t, i, j);
      memcpy(t->before + at, t->block + at, tmaring_dtype_bytes(t->dtype));
    }
  }
  cr_assert_arr_eq(t->before, t->block, t->bytes, "tensor %d: bytes were written that are no elements", tensor);
}

void lane_run(lane_case *c)
{
  cr_assert_eq(lane_try(c), TMARING_OK, "%s", tmaring_last_detail());
  for (int32_t i = 0; i < c->tensor_count; ++i) expect_intact(c, i);
}

void lane_end(lane_case *c)
{
  for (int32_t i = 0; i < c->tensor_count; ++i) {
    free(c->tensor[i].block);
    free(c->tensor[i].before);
  }
  free(c->workspace);
}

void lane_expect(const lane_case *c, int32_t tensor, int64_t row, int64_t col, double due, double slack)
{
  const tmaring_dtype dtype = c->tensor[tensor].dtype;
  const double got = lane_value(c, tensor, row, col), near = number_round(dtype, due);
  const double limit = slack > 0 ? slack + number_half_ulp(dtype, due) : 0;
  cr_assert(isnan(near) ? isnan(got) != 0 : got == near || fabs(got - due) <= limit,
            "tensor %d, row %lld, column %lld: got %.17g, due %.17g", tensor, (long long)row, (long long)col, got, due);
}

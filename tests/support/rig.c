#include "rig.h"

#include <string.h>

#include "modes.h"
#include "noise.h"

int rig_furnish(rig *r, const venue *v, int64_t rows, int64_t cols)
{
  const size_t bytes = (size_t)cols * sizeof(float);
  memset(r, 0, sizeof *r);
  r->venue = v;
  r->rows = rows;
  r->cols = cols;
  return guarded_take(&r->x, v->place, rows, bytes, bytes, 0, GUARD_BAND_BYTES) &&
         guarded_take(&r->y, v->place, rows, bytes, bytes, 0, GUARD_BAND_BYTES) &&
         (r->workspace = v->place->take(TMARING_WORKSPACE_BYTES)) != NULL && rig_refill(r, 1);
}

tmaring_status rig_prepare(rig *r, const tmaring_plan_options *options)
{
  const tmaring_tensor empty = TMARING_TENSOR_INIT;
  tmaring_tensor tensor[2] = {empty, empty};
  tmaring_plan_options own;
  tmaring_plan_options_init(&own);
  if (options) own = *options;
  mode_override_release(&own);
  for (int i = 0; i < 2; ++i) {
    tensor[i].rows = r->rows;
    tensor[i].cols = r->cols;
  }
  tmaring_status status = tmaring_formula_parse(&r->formula, "y = x + x");
  if (status != TMARING_OK) return status;
  status = tmaring_plan_create(&r->plan, r->formula, tensor, 2, &r->venue->machine, &own);
  if (status != TMARING_OK) return status;
  status = tmaring_prepare(&r->kernel, r->plan, r->venue->backend);
  if (status != TMARING_OK || tmaring_workspace_bytes(r->plan, r->rows) == 0) return status;
  if (tmaring_workspace_bytes(r->plan, r->rows) > TMARING_WORKSPACE_BYTES) return TMARING_ERROR_MEMORY;
  return tmaring_workspace_init(r->kernel, r->workspace, r->venue->stream);
}

int rig_make(rig *r, const venue *v, int64_t rows, int64_t cols, const tmaring_plan_options *options)
{
  return rig_furnish(r, v, rows, cols) && rig_prepare(r, options) == TMARING_OK;
}

void rig_free(rig *r)
{
  tmaring_kernel_free(r->kernel);
  tmaring_plan_free(r->plan);
  tmaring_formula_free(r->formula);
  if (r->workspace) r->venue->place->give(r->workspace);
  if (r->x.place) guarded_give(&r->x);
  if (r->y.place) guarded_give(&r->y);
  memset(r, 0, sizeof *r);
}

int rig_refill(rig *r, uint64_t seed)
{
  noise n = noise_seed(seed);
  for (int64_t row = 0; row < r->rows; ++row) {
    unsigned char *to = guarded_row(&r->x, row);
    for (int64_t i = 0; i < r->cols; ++i) {
      const float value = (float)data_value(&n, DATA_PLAIN, row);
      memcpy(to + (size_t)i * sizeof value, &value, sizeof value);
    }
    memset(guarded_row(&r->y, row), GUARD_POISON, r->y.row_bytes);
  }
  return guarded_upload(&r->x) && guarded_upload(&r->y);
}

tmaring_status rig_launch(const rig *r, int64_t rows, struct CUstream_st *stream, uint32_t flags)
{
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  void *data[2] = {r->x.data, r->y.data};
  params.rows = rows;
  params.data = data;
  params.workspace = r->workspace;
  params.flags = flags;
  return tmaring_launch(r->kernel, &params, stream);
}

/* Writes what y must hold into its image. */
static void expect(rig *r, int64_t rows)
{
  for (int64_t row = 0; row < rows; ++row) {
    const unsigned char *from = guarded_row(&r->x, row);
    unsigned char *to = guarded_row(&r->y, row);
    for (int64_t i = 0; i < r->cols; ++i) {
      float value;
      memcpy(&value, from + (size_t)i * sizeof value, sizeof value);
      value += value;
      memcpy(to + (size_t)i * sizeof value, &value, sizeof value);
    }
  }
}

int rig_right(rig *r, int64_t rows)
{
  ptrdiff_t at;
  expect(r, rows);
  return guarded_download(&r->x) && guarded_download(&r->y) && guarded_intact(&r->x, 1, &at) &&
         guarded_intact(&r->y, 1, &at);
}

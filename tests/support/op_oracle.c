/* The library's oracle in place of a backend. */
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "op_trial.h"

static int64_t rows_of(const op_state *s, const op_tensor *tensor)
{
  return tensor->shape == TMARING_SHAPE_ROW ? 1 : s->trial->rows;
}

/* A dense copy in double; of outputs just the room. */
static double *dense_of(op_state *s, op_tensor *tensor)
{
  const int64_t rows = rows_of(s, tensor);
  double *dense = calloc((size_t)(rows * tensor->count) + 1, sizeof *dense);
  for (int64_t r = 0; dense && !tensor->is_output && r < rows; ++r) op_read(s, tensor, 0, r, dense + r * tensor->count);
  return dense;
}

/* As if it had been downloaded. */
static void enter(op_state *s, op_tensor *tensor, const double *dense)
{
  guarded *g = op_memory(s, tensor);
  memcpy(g->after, g->image, g->total);
  if (!tensor->is_output) return;
  for (int64_t r = 0; r < rows_of(s, tensor); ++r) {
    for (int64_t i = 0; i < tensor->count; ++i)
      number_write(tensor->described.dtype, op_element_at(s, tensor, 1, r, i), dense[r * tensor->count + i]);
  }
}

int op_ask_oracle(op_state *s)
{
  double *data[OP_MAX_TENSORS] = {NULL};
  tmaring_dtype dtypes[OP_MAX_TENSORS];
  int whole = 1;
  for (int32_t i = 0; i < s->count; ++i) {
    data[i] = dense_of(s, &s->tensor[i]);
    dtypes[i] = s->tensor[i].described.dtype;
    whole &= data[i] != NULL;
  }
  const tmaring_status status =
      whole ? tmaring_formula_evaluate(s->formula, s->trial->rows, s->trial->cols, data, s->scalar, dtypes)
            : TMARING_ERROR_MEMORY;
  for (int32_t i = 0; status == TMARING_OK && i < s->count; ++i) enter(s, &s->tensor[i], data[i]);
  for (int32_t i = 0; i < s->count; ++i) free(data[i]);
  return status == TMARING_OK ? 1 : op_fail(s, "tmaring_formula_evaluate: %s", tmaring_last_detail());
}

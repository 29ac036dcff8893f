/* Memory of an op's tensors: how they lie, what they hold, reading them. */
#include "op_trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

#define PALETTE 4096

op_tensor *op_output(op_state *s, int32_t index)
{
  for (int32_t i = 0; i < s->count; ++i) {
    if (s->tensor[i].is_output && s->tensor[i].index == index) return &s->tensor[i];
  }
  return NULL;
}

op_tensor *op_input_tensor(op_state *s, int32_t index)
{
  return index < s->count && !s->tensor[index].is_output ? &s->tensor[index] : NULL;
}

guarded *op_memory(op_state *s, op_tensor *tensor)
{
  return tensor->memory.memory ? &tensor->memory : &s->tensor[s->trial->in_place].memory;
}

/* Row of memory and byte in it of a value. */
static size_t place_of(const op_tensor *tensor, int64_t row, int64_t i, int64_t *line)
{
  const size_t bytes = tmaring_dtype_bytes(tensor->described.dtype);
  const int by_rows = tensor->shape == TMARING_SHAPE_MATRIX || tensor->shape == TMARING_SHAPE_DOUBLE;
  *line = by_rows ? row : 0;
  if (tensor->shape == TMARING_SHAPE_ROW || by_rows) return (size_t)i * bytes;
  if (tensor->described.pitch == TMARING_ONE_VALUE) return 0;
  if (tensor->shape == TMARING_SHAPE_COLUMN && tensor->described.pitch == 0) return (size_t)row * bytes;
  *line = tensor->by_cols ? i : row;
  return (size_t)(tensor->by_cols ? row : i) * bytes;
}

unsigned char *op_element_at(op_state *s, op_tensor *tensor, int after, int64_t row, int64_t i)
{
  int64_t line;
  const size_t offset = place_of(tensor, row, i, &line);
  guarded *g = op_memory(s, tensor);
  return (unsigned char *)(after ? guarded_row_after(g, line) : guarded_row(g, line)) + offset;
}

void op_read(op_state *s, op_tensor *tensor, int after, int64_t row, double *to)
{
  const tmaring_dtype dtype = tensor->described.dtype;
  if (!tensor->by_cols) {
    number_read_row(dtype, to, op_element_at(s, tensor, after, row, 0), tensor->count);
    return;
  }
  for (int64_t i = 0; i < tensor->count; ++i) to[i] = number_read(dtype, op_element_at(s, tensor, after, row, i));
}

/* A value of the input's kind. Scales are positive; of the labels some are -100 and some lie outside of the row. */
static double draw(const op_trial *t, const op_tensor *tensor, noise *n)
{
  const char letter = t->op->types[tensor->index];
  if (letter == 's') return noise_between(n, 0.004, 0.04);
  if (letter == 'l') {
    const int32_t kind = noise_below(n, 16);
    return kind == 0   ? -100.0
           : kind == 1 ? (double)t->cols
           : kind == 2 ? -1.0
                       : (double)noise_below(n, (int32_t)t->cols);
  }
  if (!number_is_integer(tensor->described.dtype)) return data_value(n, letter == 'w' ? DATA_PLAIN : t->data, 0);
  const double whole = 1.0 + noise_below(n, tensor->described.dtype == TMARING_I8 ? 127 : 3000);
  return t->data == DATA_WHOLE ? data_value(n, DATA_WHOLE, 0) : noise_below(n, 2) ? whole : -whole;
}

/* The type's codes of PALETTE random values, from which rows are drawn: fast enough for gigabytes. */
static unsigned char *palette_of(const op_trial *t, const op_tensor *tensor, noise *n)
{
  const size_t bytes = tmaring_dtype_bytes(tensor->described.dtype);
  unsigned char *palette = malloc(PALETTE * bytes);
  for (size_t i = 0; palette && i < PALETTE; ++i)
    number_write(tensor->described.dtype, palette + i * bytes, draw(t, tensor, n));
  return palette;
}

/* Five draws from one random number. */
#define DRAW_ROW(type)                                                                                                 \
  for (int64_t i = 0; i < count; ++i, bits >>= 12) {                                                                   \
    if (i % 5 == 0) bits = noise_next(n);                                                                              \
    memcpy(to + i * (int64_t)sizeof(type), palette + (bits & (PALETTE - 1)) * sizeof(type), sizeof(type));             \
  }

static void draw_row(size_t bytes, const unsigned char *palette, noise *n, unsigned char *to, int64_t count)
{
  uint64_t bits = 0;
  switch (bytes) {
  case 1: DRAW_ROW(uint8_t) break;
  case 2: DRAW_ROW(uint16_t) break;
  case 4: DRAW_ROW(uint32_t) break;
  default: DRAW_ROW(uint64_t) break;
  }
}

static int fill_random(op_state *s, op_tensor *tensor)
{
  const op_trial *t = s->trial;
  const size_t bytes = tmaring_dtype_bytes(tensor->described.dtype);
  guarded *g = &tensor->memory;
  noise n = noise_seed(s->seed * 16 + (uint64_t)tensor->index + 1);
  unsigned char *palette = palette_of(t, tensor, &n);
  for (int64_t line = 0; palette && line < g->rows; ++line)
    draw_row(bytes, palette, &n, guarded_row(g, line), (int64_t)(g->row_bytes / bytes));
  free(palette);
  return palette != NULL;
}

/* A value as an input holds it: stores turn infinities of e5m2 into its largest number, loads know them. */
static void enter(tmaring_dtype dtype, unsigned char *at, double value)
{
  if (dtype == TMARING_E5M2 && isinf(value)) {
    *at = value > 0.0 ? 0x7c : 0xfc;
  } else {
    number_write(dtype, at, value);
  }
}

static int fill_given(op_state *s, op_tensor *tensor)
{
  const op_trial *t = s->trial;
  const int single = tensor->shape == TMARING_SHAPE_ROW || tensor->described.pitch == TMARING_ONE_VALUE;
  const int64_t rows = single && t->rows > 0 ? 1 : t->rows;
  double *values = malloc((size_t)tensor->count * sizeof *values);
  for (int64_t r = 0; values && r < rows; ++r) {
    t->fill(t, tensor->index, r, values, tensor->count);
    for (int64_t i = 0; i < tensor->count; ++i)
      enter(tensor->described.dtype, op_element_at(s, tensor, 0, r, i), values[i]);
  }
  free(values);
  return values != NULL;
}

/* Rows of memory, and values in each. */
static int take(op_state *s, op_tensor *tensor)
{
  const tmaring_tensor *d = &tensor->described;
  const size_t bytes = tmaring_dtype_bytes(d->dtype), band = s->trial->own_memory ? 0 : GUARD_BAND_BYTES;
  const size_t shift = s->trial->layout == OP_SHIFTED ? bytes : 0;
  int64_t rows = s->trial->rows, count = tensor->count, pitch = d->pitch;
  if (tensor->shape == TMARING_SHAPE_ROW || pitch == TMARING_ONE_VALUE) rows = 1, pitch = count;
  if (tensor->shape == TMARING_SHAPE_COLUMN && d->pitch == 0) rows = s->trial->rows > 0, count = s->trial->rows;
  if (tensor->by_cols) rows = tensor->count, count = s->trial->rows, pitch = d->step;
  if (s->trial->rows == 0 && tensor->shape != TMARING_SHAPE_ROW) rows = 0;
  return guarded_take_grouped(&tensor->memory, s->venue->place, rows, (size_t)count * bytes,
                              (size_t)(pitch ? pitch : count) * bytes, d->group_rows, (size_t)d->group_pitch * bytes,
                              shift, band);
}

/* Values of an input, or poison for an output. */
static int fill(op_state *s, op_tensor *tensor)
{
  guarded *g = &tensor->memory;
  if (!tensor->is_output) return s->trial->fill ? fill_given(s, tensor) : fill_random(s, tensor);
  for (int64_t line = 0; line < g->rows; ++line) memset(guarded_row(g, line), GUARD_POISON, g->row_bytes);
  return 1;
}

int op_refill(op_state *s, uint64_t seed)
{
  s->seed = seed;
  for (int32_t i = 0; i < s->count; ++i) {
    op_tensor *tensor = &s->tensor[i];
    if (tensor->memory.memory && !(fill(s, tensor) && guarded_upload(&tensor->memory)))
      return op_fail(s, "%s was not filled", tensor->name);
  }
  return 1;
}

int op_furnish(op_state *s)
{
  for (int32_t i = 0; i < s->count; ++i) {
    op_tensor *tensor = &s->tensor[i];
    if (tensor->is_output && tensor->index == 0 && s->trial->in_place >= 0) continue;
    if (!take(s, tensor)) return op_fail(s, "no memory for %s", tensor->name);
    if (!tensor->is_output && !fill(s, tensor)) return op_fail(s, "no memory for the values of %s", tensor->name);
    if (!guarded_upload(&tensor->memory)) return op_fail(s, "upload of %s failed", tensor->name);
  }
  return 1;
}

int op_fill_gaps(op_state *s, op_tensor *tensor, double value)
{
  const size_t bytes = tmaring_dtype_bytes(tensor->described.dtype);
  guarded *g = &tensor->memory;
  for (int64_t r = 0; r + 1 < g->rows; ++r) {
    unsigned char *at = guarded_row(g, r) + g->row_bytes;
    for (; at < guarded_row(g, r + 1); at += bytes) number_write(tensor->described.dtype, at, value);
  }
  return guarded_upload(g) ? 1 : op_fail(s, "upload of %s failed", tensor->name);
}

void op_fill_ones(const op_trial *t, int32_t input, int64_t row, double *values, int64_t count)
{
  (void)t;
  (void)input;
  (void)row;
  for (int64_t i = 0; i < count; ++i) values[i] = 1.0;
}

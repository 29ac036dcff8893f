#include "op_layout.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

tmaring_dtype op_type_of(const op_trial *t, char letter)
{
  switch (letter) {
  case 'y': return t->out;
  case 'w': return t->mixed ? TMARING_F32 : t->in;
  case 's': return TMARING_F32;
  case 'l':
  case 'n': return t->mixed ? TMARING_I32 : TMARING_I64;
  case 'q': return t->mixed ? TMARING_E5M2 : TMARING_E4M3;
  case 'e': return TMARING_E4M3;
  case 'i': return TMARING_I8;
  default: return t->in;
  }
}

op_trial op_trial_begin(const char *op, tmaring_dtype in, int64_t rows, int64_t cols)
{
  op_trial t;
  memset(&t, 0, sizeof t);
  t.op = op_reference_find(op);
  t.in = in;
  t.out = in;
  t.rows = rows;
  t.cols = cols;
  t.in_place = -1;
  t.seed = 1;
  t.hint = -1;
  for (int i = 0; i < OP_MAX_SCALARS; ++i) t.scalar[i] = NAN;
  tmaring_plan_options_init(&t.options);
  return t;
}

static void lay_matrix(tmaring_tensor *d, op_layout layout, int64_t cols)
{
  const int64_t bytes = tmaring_dtype_bytes(d->dtype);
  const int64_t wide = (int64_t)tmaring_round_up((tmaring_u64)(cols * bytes), 16) / bytes + 16 / bytes;
  if (layout == OP_PITCHED || layout == OP_GROUPED) d->pitch = wide;
  if (layout == OP_ODD) d->pitch = (cols | 1) + 2;
  if (layout != OP_GROUPED) return;
  d->group_rows = 3;
  d->group_pitch = 3 * wide + 64 / bytes;
}

static void lay_groups(op_tensor *tensor, const op_trial *t)
{
  tmaring_tensor *d = &tensor->described;
  tensor->by_cols = t->layout == OP_PITCHED;
  if (t->layout == OP_ODD) d->pitch = d->cols + 1;
  if (!tensor->by_cols) return;
  d->pitch = 1;
  d->step = tmaring_max_i64(t->rows, d->rows) + 3;
}

void op_lay_out(op_tensor *tensor, const op_trial *t, char letter)
{
  const tmaring_tensor empty = TMARING_TENSOR_INIT;
  tmaring_tensor *d = &tensor->described;
  *d = empty;
  d->dtype = op_type_of(t, letter);
  d->rows = tensor->shape == TMARING_SHAPE_ROW ? 1 : t->hint < 0 ? t->rows : t->hint;
  d->alignment = t->layout == OP_SHIFTED ? tmaring_dtype_bytes(d->dtype) : 16;
  switch (tensor->shape) {
  case TMARING_SHAPE_COLUMN: d->cols = 1; break;
  case TMARING_SHAPE_GROUP: d->cols = tmaring_ceil_div(t->cols, tensor->group_cols); break;
  case TMARING_SHAPE_DOUBLE: d->cols = 2 * t->cols; break;
  default: d->cols = t->cols; break;
  }
  tensor->count = d->cols;
  if (tensor->shape == TMARING_SHAPE_MATRIX || tensor->shape == TMARING_SHAPE_DOUBLE) lay_matrix(d, t->layout, d->cols);
  if (tensor->shape == TMARING_SHAPE_GROUP) lay_groups(tensor, t);
  if (tensor->shape == TMARING_SHAPE_COLUMN && t->layout == OP_ODD) d->pitch = 3;
  if (tensor->shape == TMARING_SHAPE_COLUMN && t->one_value && !tensor->is_output) d->pitch = TMARING_ONE_VALUE;
}

int op_trial_may_alias(const op_trial *t, int32_t input)
{
  const int32_t inputs = (int32_t)strcspn(t->op->types, ">");
  return input < t->op->over && op_type_of(t, op_reference_letter(t->op, inputs)) == t->in;
}

int64_t op_trial_bytes(const op_trial *t)
{
  int64_t bytes = 0;
  for (const char *letter = t->op->types; *letter; ++letter) {
    const int matrix = *letter == 'x' || *letter == 'y' || *letter == 'q' || *letter == 'e' || *letter == 'i';
    const int64_t halves = t->op->family == OP_GATED || strstr(t->op->name, "silu_mul_quantize") ? 2 : 1;
    if (matrix)
      bytes += t->rows * t->cols * tmaring_dtype_bytes(op_type_of(t, *letter)) * (*letter == 'x' ? halves : 1);
  }
  return bytes;
}

#define OPTION(name, field)                                                                                            \
  {                                                                                                                    \
    name, offsetof(tmaring_plan_options, field)                                                                        \
  }

static const struct {
  const char *name;
  size_t offset; /* of an int32_t */
} named_options[] = {OPTION("mode", mode),
                     OPTION("war", war),
                     OPTION("axis", role_axis),
                     OPTION("x", consumers[0]),
                     OPTION("y", consumers[1]),
                     OPTION("z", consumers[2]),
                     OPTION("stages", stages),
                     OPTION("prefetch", prefetch),
                     OPTION("order", order),
                     OPTION("policy", policy),
                     OPTION("release", release),
                     OPTION("store", store),
                     OPTION("scope", scope),
                     OPTION("warps", warps_per_row),
                     OPTION("lanes", lanes_per_row),
                     OPTION("tile", tile_rows),
                     OPTION("piece", piece_cols),
                     OPTION("workers", workers),
                     OPTION("cluster", cluster),
                     OPTION("load", load),
                     OPTION("load 0", loads[0]),
                     OPTION("load 1", loads[1]),
                     OPTION("load 2", loads[2]),
                     OPTION("load 3", loads[3]),
                     OPTION("squads", squads),
                     OPTION("turns", turns),
                     OPTION("registers", registers[0])};

/* Every option that is not left to the planner. */
static void add_options(const tmaring_plan_options *o, char *text, size_t size)
{
  for (size_t i = 0; i < sizeof named_options / sizeof named_options[0]; ++i) {
    const size_t used = strlen(text);
    int32_t value;
    memcpy(&value, (const char *)o + named_options[i].offset, sizeof value);
    if (value != TMARING_AUTO) snprintf(text + used, size - used, " %s %d", named_options[i].name, (int)value);
  }
}

void op_trial_name(const op_trial *t, char *text, size_t size)
{
  static const char *const layouts[] = {"dense", "shifted", "pitched", "odd", "grouped"};
  snprintf(text, size, "%s %s->%s%s [%lld,%lld] %s data %d seed %llu", t->op->name, tmaring_dtype_name(t->in),
           tmaring_dtype_name(t->out), t->mixed ? " mixed" : "", (long long)t->rows, (long long)t->cols,
           layouts[t->layout], (int)t->data, (unsigned long long)t->seed);
  const size_t used = strlen(text);
  if (t->in_place >= 0) snprintf(text + used, size - used, " over input %d", (int)t->in_place);
  if (t->one_value) snprintf(text + strlen(text), size - strlen(text), " one value");
  add_options(&t->options, text, size);
}

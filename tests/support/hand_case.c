#include "hand_case.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

static const char *const formula_text[HAND_COUNT] = {
    "y = x + x",
    "rmsnorm(x[M,N], w[N]) = x * rsqrt(mean(x*x) + 1e-6) * w",
    "y = exp(x - max(x)) / sum(exp(x - max(x)))",
    "ln(x[M,N], w[N], b[N]) = (x - mean(x)) * rsqrt(mean((x - mean(x)) * (x - mean(x))) + 1e-5) * w + b",
    "s = sum(x)",
    "scale(x[M,N], s[M]) = x * s",
};

hand_spec hand_spec_make(hand_formula formula, tmaring_dtype dtype, int64_t rows, int32_t cols)
{
  hand_spec s;
  memset(&s, 0, sizeof s);
  s.formula = formula;
  s.dtype = dtype;
  s.rows = rows;
  s.cols = cols;
  s.mode = TMARING_MODE_WARP_SPECIALIZED;
  s.scope = TMARING_SCOPE_WARP;
  s.lanes_log2 = 5;
  s.warps = s.tile_rows = 4;
  s.per_row = 1;
  s.stages = 3;
  s.distance = 2;
  s.order = TMARING_ORDER_BLOCKED;
  s.policy = TMARING_POLICY_EXACT;
  s.workers = 3;
  return s;
}

const char *hand_text(const hand_spec *s)
{
  static char text[400];
  snprintf(
      text, sizeof text,
      "%s %s [%lld,%d] shift %d/%d gap %d mode %d war %d release %d scope %d lanes %d warps %d/%d S=%d P=%d R=%d "
      "staged %d order %d policy %d workers %d pieces %d spread %d seed %d path %d tiled store %d together %d box %d",
      formula_text[s->formula], tmaring_dtype_name(s->dtype), (long long)s->rows, s->cols, s->in_shift, s->out_shift,
      s->pitch_gap, s->mode, s->war, s->release, s->scope, s->lanes_log2, s->warps, s->per_row, s->stages, s->distance,
      s->tile_rows, s->staged, s->order, s->policy, s->workers, s->pieces, s->spread, (int)s->seed, s->path,
      s->tiled_store, s->together, s->box_cols);
  return text;
}

/* ---- memory ---- */

static void take(guarded *g, int64_t rows, size_t row_bytes, size_t pitch, size_t shift, size_t band)
{
  cr_assert(guarded_take(g, place_host(), rows, row_bytes, pitch, shift, band), "out of memory");
}

static void fill_row(hand_case *c, noise *n, unsigned char *to, int32_t count, data_kind kind, int64_t row)
{
  const uint32_t bytes = tmaring_dtype_bytes(c->spec.dtype);
  for (int32_t i = 0; i < count; ++i) number_write(c->spec.dtype, to + (size_t)i * bytes, data_value(n, kind, row));
}

static void take_memory(hand_case *c)
{
  const hand_spec *s = &c->spec;
  const size_t bytes = tmaring_dtype_bytes(s->dtype), row = (size_t)s->cols * bytes;
  const size_t pitch = row + (size_t)s->pitch_gap * bytes;
  noise n = noise_seed(17);
  take(&c->in, s->rows, row, pitch, (size_t)s->in_shift, s->exact_global ? GUARD_BAND_BYTES : 0);
  for (int64_t r = 0; r < s->rows; ++r) fill_row(c, &n, guarded_row(&c->in, r), s->cols, s->data, r);
  if (s->formula == HAND_ROW_SUM) {
    take(&c->out, s->rows, bytes, bytes, (size_t)s->out_shift, GUARD_BAND_BYTES);
  } else if (!s->exact_global) {
    take(&c->out, s->rows, row, pitch, (size_t)s->out_shift, GUARD_BAND_BYTES);
  }
  for (int i = 0; i < 2; ++i) {
    take(&c->vector_data[i], 1, row, row, bytes, 0);
    fill_row(c, &n, guarded_row(&c->vector_data[i], 0), s->cols, DATA_PLAIN, 0);
  }
  take(&c->column_data, s->rows, bytes, bytes, bytes, 0);
  for (int64_t r = 0; r < s->rows; ++r) fill_row(c, &n, guarded_row(&c->column_data, r), 1, DATA_PLAIN, r);
}

/* ---- arguments ---- */

static int is_aligned(const hand_spec *s)
{
  const int32_t bytes = (int32_t)tmaring_dtype_bytes(s->dtype),
                piece = s->pieces > 1 ? (s->cols + s->pieces - 1) / s->pieces : s->cols;
  return s->cols * bytes % 16 == 0 && piece * bytes % 16 == 0 && s->in_shift % 16 == 0 && s->out_shift % 16 == 0 &&
         s->pitch_gap * bytes % 16 == 0;
}

static void make_walk(hand_case *c, const tmaring__program *program)
{
  const hand_spec *s = &c->spec;
  tmaring_walk *w = &c->args.walk;
  w->cols = s->cols;
  w->workers = s->workers;
  w->order = s->order;
  w->policy = s->policy;
  w->chunk = 1;
  w->pieces = s->pieces > 1 ? s->pieces : 1;
  w->piece_cols = (s->cols + w->pieces - 1) / w->pieces;
  if (w->pieces > 1 && c->code.aligned) w->piece_cols = (w->piece_cols + 7) / 8 * 8;
  w->pieces = (s->cols + w->piece_cols - 1) / w->piece_cols;
  w->tile_rows = w->pieces > 1 ? 1 : s->tile_rows;
  w->passes = w->pieces > 1 && !s->spread ? program->passes : 1;
  w->spread = s->spread && w->pieces > 1;
  w->split_stages = s->stages;
  tmaring_walk_set_rows(w, s->rows);
  c->code.pieces = w->pieces > 1 && !w->spread;
}

static void make_scope(hand_case *c)
{
  const hand_spec *s = &c->spec;
  tmaring_scope *scope = &c->args.scope;
  const int32_t units = s->warps / s->per_row;
  const int64_t elems = (int64_t)c->args.walk.tile_rows * c->args.walk.piece_cols;
  scope->kind = s->scope;
  scope->vec = c->code.vec = 16 / (int32_t)tmaring_dtype_bytes(s->dtype);
  scope->lanes_log2 = s->lanes_log2;
  scope->warps_per_row = s->per_row;
  scope->unit_rows = (c->args.walk.tile_rows + units - 1) / units;
  if (s->scope == TMARING_SCOPE_FLAT) {
    scope->chunk_vecs = (int32_t)(((elems + scope->vec - 1) / scope->vec + 1 + s->warps - 1) / s->warps);
  }
  c->code.flat = s->scope == TMARING_SCOPE_FLAT;
  c->code.group = s->per_row > 1;
}

static void make_cta(hand_case *c)
{
  const hand_spec *s = &c->spec;
  tmaring_cta *cta = &c->args.cta;
  cta->mode = c->code.mode = s->mode;
  cta->war = s->war;
  cta->release = s->release;
  cta->consumers[0] = 32 * s->warps;
  cta->consumers[1] = cta->consumers[2] = 1;
  cta->slab = s->mode == TMARING_MODE_WARP_SPECIALIZED ? 32 : 0;
}

static void make_stream(const hand_case *c, tmaring_stream *t, const guarded *g)
{
  const tmaring_walk *w = &c->args.walk;
  t->dtype = c->spec.dtype;
  t->elem_bytes = tmaring_dtype_bytes(t->dtype);
  t->base = (uint64_t)(uintptr_t)g->data;
  t->pitch = (int64_t)g->pitch_bytes;
  t->hull_end = t->base + (g->rows > 0 ? (uint64_t)(g->rows - 1) * g->pitch_bytes + g->row_bytes : 0);
  t->dense = g->pitch_bytes == g->row_bytes;
  t->slot_row = tmaring_run_slot_row((uint32_t)w->piece_cols * t->elem_bytes, c->code.aligned);
  t->slot_bytes =
      tmaring_run_slot_bytes((uint32_t)w->piece_cols * t->elem_bytes, w->tile_rows, t->dense, c->code.aligned);
}

/* Elements (of the tensor's own size), rows. */
static void make_map(hand_case *c, const tmaring_stream *t, int32_t at, int32_t cols, int32_t rows)
{
  const tmaring_tensor_map_tiled empty = TMARING_TENSOR_MAP_TILED_INIT;
  tmaring_tensor_map_tiled *m = &c->boxes.map[at];
  *m = empty;
  m->dtype = (tmaring_dtype)t->dtype;
  m->rank = 2;
  m->address = t->base;
  m->dims[0] = (uint64_t)c->spec.cols;
  m->dims[1] = (uint64_t)c->spec.rows;
  m->strides[1] = (uint64_t)t->pitch;
  m->box[0] = (uint32_t)cols;
  m->box[1] = (uint32_t)rows;
}

/* The tiled stream `at` of tmaring_tiles: boxes of whole 128 bytes side by side, or one that has all of a row. */
static void make_tiled(hand_case *c, tmaring_stream *t, int32_t at, int32_t together)
{
  const tmaring_walk *w = &c->args.walk;
  tmaring_tile *tile = &c->boxes.tile[at];
  const int32_t unit = 128 / (int32_t)t->elem_bytes, wide = (w->piece_cols + unit - 1) / unit * unit;
  const int32_t most = c->spec.box_cols > 0 ? c->spec.box_cols : 256;
  int32_t cols = wide < most ? wide : most, rows = 1;
  if (together && w->piece_cols <= 256) { /* rows follow one another: 16 bytes are enough */
    cols = (int32_t)tmaring_round_up((uint32_t)w->piece_cols * t->elem_bytes, 16) / (int32_t)t->elem_bytes;
    rows = w->tile_rows;
  }
  c->boxes.used |= 1 << at;
  tile->rank = 2;
  tile->by_row = rows == 1;
  tile->boxes = tile->along = (w->piece_cols + cols - 1) / cols;
  tile->box_bytes = tile->box_pitch = (uint32_t)(cols * rows) * t->elem_bytes;
  tile->box_step[0] = tile->boxes > 1 ? cols : 0;
  tile->follows[0] = TMARING_TILE_COLUMN;
  tile->follows[1] = TMARING_TILE_ROW;
  t->slot_row = (uint32_t)(cols * tile->boxes) * t->elem_bytes;
  if (tile->by_row) t->slot_row = (uint32_t)tmaring_round_up(t->slot_row, 128);
  t->dense = t->dense && t->slot_row == (uint32_t)w->piece_cols * t->elem_bytes;
  t->slot_bytes = (uint32_t)tmaring_round_up(t->slot_row * (uint32_t)w->tile_rows, 128);
  make_map(c, t, at, cols, rows);
}

static void make_input(hand_case *c)
{
  const hand_spec *s = &c->spec;
  tmaring_stream *in = &c->args.input[0];
  make_stream(c, in, &c->in);
  in->path = c->code.load[0] = s->path;
  if (s->path == TMARING_LOAD_TILE) make_tiled(c, in, 0, s->together && !s->tiled_store);
  if (s->path == TMARING_LOAD_DIRECT) in->slot_bytes = 0;
}

/* In place it is laid out as the input is. */
static void make_output(hand_case *c, const guarded *out)
{
  const hand_spec *s = &c->spec;
  const tmaring_stream *in = &c->args.input[0];
  tmaring_stream *t = &c->args.output[0];
  const int tiled = s->tiled_store && c->code.staged;
  const int in_place = s->staged == 1 && s->path != TMARING_LOAD_DIRECT && (!tiled || s->path == TMARING_LOAD_TILE);
  make_stream(c, t, out);
  t->path = c->code.tiled_store = tiled;
  if (tiled) make_tiled(c, t, TMARING_TILED_OUTPUTS, 0);
  if (!c->code.staged) return;
  t->slot = in_place ? 0 : in->slot_bytes;
  if (!in_place) return;
  t->dense = in->dense;
  t->slot_row = in->slot_row;
  t->slot_bytes = in->slot_bytes;
}

static void make_vector(const hand_case *c, tmaring_vector *v, const guarded *g)
{
  v->base = (uint64_t)(uintptr_t)g->data;
  v->dtype = c->spec.dtype;
  v->smem = TMARING_NOT_STAGED;
  v->pitch = (int64_t)g->pitch_bytes; /* read where it is a value per row */
}

static void make_tensors(hand_case *c, const tmaring__program *program)
{
  tmaring_args *a = &c->args;
  const guarded *out = c->spec.exact_global ? &c->in : &c->out;
  a->input_count = program->input_count;
  a->output_count = program->output_count;
  a->vector_count = program->vector_count;
  a->row_scalar_count = program->row_scalar_count;
  a->row_output_count = program->row_output_count;
  make_input(c);
  if (program->output_count) make_output(c, out);
  for (int i = 0; i < program->vector_count; ++i) make_vector(c, &a->vector[i], &c->vector_data[i]);
  if (program->row_scalar_count) make_vector(c, &a->row_scalar[0], &c->column_data);
  if (program->row_output_count) make_vector(c, &a->row_output[0], &c->out);
  const int apart = c->code.staged && (a->output[0].slot > 0 || a->input[0].slot_bytes == 0);
  tmaring_smem_layout(&a->smem, a->stages, a->input[0].slot_bytes + (apart ? a->output[0].slot_bytes : 0), 0, 0,
                      c->code.group ? (uint32_t)c->spec.warps : 0);
}

void hand_make(hand_case *c, const hand_spec *spec)
{
  const tmaring__program *program;
  memset(c, 0, sizeof *c);
  c->spec = *spec;
  cr_assert_eq(tmaring_formula_parse(&c->formula, formula_text[spec->formula]), TMARING_OK, "%s",
               tmaring_last_detail());
  program = tmaring__formula_program(c->formula);
  take_memory(c);
  c->args.abi_version = TMARING_ABI_VERSION;
  c->args.stages = (uint32_t)spec->stages;
  c->args.distance = (uint32_t)spec->distance;
  c->args.store_lag = tmaring_ring_store_lag(c->args.stages, c->args.distance, 1);
  c->args.counter_address = (uint64_t)(uintptr_t)c->workspace;
  c->code.aligned = is_aligned(spec);
  c->code.staged = spec->staged > 0 && program->output_count > 0;
  make_walk(c, program);
  make_scope(c);
  make_cta(c);
  make_tensors(c, program);
}

void hand_free(hand_case *c)
{
  guarded_give(&c->in);
  if (c->out.place) guarded_give(&c->out);
  guarded_give(&c->vector_data[0]);
  guarded_give(&c->vector_data[1]);
  guarded_give(&c->column_data);
  tmaring_formula_free(c->formula);
}

tmaring_status hand_run(hand_case *c, tmaring__fault_note *fault)
{
  const guarded *all[] = {&c->in, &c->out, &c->vector_data[0], &c->vector_data[1], &c->column_data};
  tmaring_status status;
  for (int i = 0; i < 5; ++i) cr_assert(!all[i]->place || guarded_upload(all[i]));
  status = tmaring__cpu_run(&c->args, &c->boxes, &c->code, tmaring__formula_program(c->formula), c->spec.seed, fault);
  cr_assert(guarded_download(&c->in) && (!c->out.place || guarded_download(&c->out)));
  return status;
}

/* ---- oracle ---- */

typedef struct moments {
  double sum, magnitude, mean, square, deviation, max, exponentials;
} moments;

static moments moments_of(const double *x, int32_t n)
{
  moments m = {0, 0, 0, 0, 0, -INFINITY, 0};
  for (int32_t i = 0; i < n; ++i) {
    m.sum += x[i];
    m.magnitude += fabs(x[i]);
    m.square += x[i] * x[i];
    m.max = x[i] > m.max ? x[i] : m.max;
  }
  m.mean = m.sum / n;
  for (int32_t i = 0; i < n; ++i) {
    m.deviation += (x[i] - m.mean) * (x[i] - m.mean);
    m.exponentials += exp(x[i] - m.max);
  }
  return m;
}

static double due(const hand_spec *s, const moments *m, double x, double w, double b, double column)
{
  switch (s->formula) {
  case HAND_DOUBLE: return x + x;
  case HAND_RMSNORM: return x / sqrt(m->square / s->cols + 1e-6) * w;
  case HAND_SOFTMAX: return exp(x - m->max) / m->exponentials;
  case HAND_LAYERNORM: return (x - m->mean) / sqrt(m->deviation / s->cols + 1e-5) * w + b;
  case HAND_ROW_SUM: return m->sum;
  default: return x * column;
  }
}

/* One rounding of the result, and 64 roundings of fp32 relative to what was added up. */
static double allowed(const hand_spec *s, const moments *m, double value, double x, double w)
{
  const double eps = 0x1p-24, rounding = number_half_ulp(s->dtype, value) * 1.001;
  if (s->formula == HAND_DOUBLE) return 0;
  if (s->formula == HAND_ROW_SUM) return rounding + 64 * eps * m->magnitude;
  if (s->formula == HAND_LAYERNORM)
    return rounding +
           64 * eps * (1 + fabs(value) + (fabs(x) + fabs(m->mean)) * fabs(w) / sqrt(m->deviation / s->cols + 1e-5));
  return rounding + 64 * eps * fabs(value) + 1e-37;
}

static void verify_value(const hand_case *c, const moments *m, double got, const double *x, int64_t row, int32_t col)
{
  const uint32_t bytes = tmaring_dtype_bytes(c->spec.dtype);
  const double w = number_read(c->spec.dtype, guarded_row(&c->vector_data[0], 0) + (size_t)col * bytes);
  const double b = number_read(c->spec.dtype, guarded_row(&c->vector_data[1], 0) + (size_t)col * bytes);
  const double value = due(&c->spec, m, x[col], w, b, number_read(c->spec.dtype, guarded_row(&c->column_data, row)));
  const double error = fabs(got - value), limit = allowed(&c->spec, m, value, x[col], w);
  cr_assert(error <= limit, "%s: row %lld, column %d: got %.9g, due %.9g, error %.3g above %.3g", hand_text(&c->spec),
            (long long)row, col, got, value, error, limit);
}

void hand_verify(hand_case *c)
{
  const hand_spec *s = &c->spec;
  const guarded *out = s->exact_global ? &c->in : &c->out;
  const uint32_t bytes = tmaring_dtype_bytes(s->dtype);
  double *x = malloc((size_t)s->cols * sizeof *x);
  ptrdiff_t at;
  cr_assert_not_null(x);
  for (int64_t row = 0; row < s->rows; ++row) {
    moments m;
    number_read_row(s->dtype, x, guarded_row(&c->in, row), s->cols);
    m = moments_of(x, s->cols);
    for (int32_t col = 0; col < (s->formula == HAND_ROW_SUM ? 1 : s->cols); ++col) {
      verify_value(c, &m, number_read(s->dtype, guarded_row_after(out, row) + (size_t)col * bytes), x, row, col);
    }
  }
  cr_assert(guarded_intact(out, 0, &at), "%s: byte %lld from the output's base was written", hand_text(s),
            (long long)at);
  cr_assert(s->exact_global || guarded_intact(&c->in, 1, &at), "%s: the input was written", hand_text(s));
  free(x);
}

void hand_pass(const hand_spec *spec)
{
  hand_case c;
  hand_make(&c, spec);
  cr_assert_eq(hand_run(&c, NULL), TMARING_OK, "%s: %s", hand_text(spec), tmaring_last_detail());
  hand_verify(&c);
  hand_free(&c);
}

/* Bytes as a formula: the first three choose M, N, options of the plan and the types of the tensors, the rest is the
 * text. What parses is evaluated, planned, proved, emitted and run on the cpu backend, whose emulator reports faults
 * of its own. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/host/jit/code_store.h"
#include "fuzz.h"
#include "tmaring/tmaring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_case {
  tmaring_formula *formula;
  tmaring_plan *plan;
  int64_t rows, cols;
  int32_t count;
  tmaring_parameter parameter[TMARING__MAX_TENSORS];
  tmaring_tensor tensor[TMARING__MAX_TENSORS];
  tmaring_dtype dtype[TMARING__MAX_TENSORS];
  double *wide[TMARING__MAX_TENSORS];
  void *data[TMARING__MAX_TENSORS];
  double scalar[TMARING_MAX_SCALARS];
} fuzz_case;

/* Elements of a tensor, dense. */
static size_t elements_of(const fuzz_case *c, int32_t index)
{
  return (size_t)(c->tensor[index].rows * c->tensor[index].cols);
}

static void describe(fuzz_case *c, int32_t index, unsigned types)
{
  const tmaring_tensor blank = TMARING_TENSOR_INIT;
  tmaring_parameter *const p = &c->parameter[index];
  tmaring_tensor *const t = &c->tensor[index];
  p->size = sizeof *p;
  FUZZ_NEED(tmaring_formula_tensor(c->formula, index, p) == TMARING_OK);
  *t = blank;
  t->dtype =
      types < 128 ? (tmaring_dtype)(types % 3) : (tmaring_dtype)((types + (unsigned)index) % TMARING_DTYPE_COUNT);
  t->rows = p->shape == TMARING_SHAPE_ROW ? 1 : c->rows;
  t->cols = p->shape == TMARING_SHAPE_COLUMN   ? 1
            : p->shape == TMARING_SHAPE_DOUBLE ? 2 * c->cols
            : p->shape == TMARING_SHAPE_GROUP  ? tmaring_ceil_div(c->cols, p->group_cols)
                                               : c->cols;
  c->dtype[index] = t->dtype;
}

static void furnish(fuzz_case *c)
{
  for (int32_t i = 0; i < c->count; ++i) {
    const size_t count = elements_of(c, i);
    c->wide[i] = malloc((count + 1) * sizeof(double));
    c->data[i] = aligned_alloc(16, (count * tmaring_dtype_bytes((tmaring_i32)c->dtype[i]) / 16 + 1) * 16);
    FUZZ_NEED(c->wide[i] && c->data[i]);
    for (size_t k = 0; k < count; ++k) c->wide[i][k] = (double)(k * 7 % 23) - 11;
    memset(c->data[i], 0x3c, count * tmaring_dtype_bytes((tmaring_i32)c->dtype[i]));
  }
  for (int32_t i = 0; i < TMARING_MAX_SCALARS; ++i) c->scalar[i] = 1.5;
}

static void emit(const fuzz_case *c)
{
  tmaring__text source = {NULL, 0, 0, 0}, listing = {NULL, 0, 0, 0};
  FUZZ_NEED(tmaring__plan_source(c->plan, &source) == TMARING_OK);
  FUZZ_NEED(tmaring__plan_listing(c->plan, &listing) == TMARING_OK);
  FUZZ_NEED(strlen(source.data) == source.length && strlen(listing.data) == listing.length);
  tmaring__text_free(&source);
  tmaring__text_free(&listing);
}

static void launch(fuzz_case *c)
{
  tmaring_kernel *kernel = NULL;
  tmaring_launch_params params = TMARING_LAUNCH_PARAMS_INIT;
  FUZZ_NEED(tmaring_prepare(&kernel, c->plan, TMARING_BACKEND_CPU) == TMARING_OK);
  params.rows = c->rows;
  params.data = c->data;
  params.scalars = c->scalar;
  params.workspace = malloc(tmaring_workspace_bytes(c->plan, c->rows) + 1);
  FUZZ_NEED(tmaring_workspace_init(kernel, params.workspace, NULL) == TMARING_OK);
  FUZZ_NEED(tmaring_launch(kernel, &params, NULL) == TMARING_OK);
  free(params.workspace);
  tmaring_kernel_free(kernel);
}

/* 0 leaves everything to the planner. What a plan cannot do is refused. */
static void choose(tmaring_plan_options *options, unsigned walk, unsigned way)
{
  tmaring_plan_options_init(options);
  if (walk % 5) options->order = (int32_t)(walk % 5) - 1;
  if (walk / 5 % 4) options->policy = (int32_t)(walk / 5 % 4) - 1;
  if (walk / 20 % 2) options->mode = TMARING_MODE_PIPELINED;
  if (way % 7) options->scope = (int32_t)(way % 7);
  if (way / 7 % 3) options->store = (int32_t)(way / 7 % 3) - 1;
  if (way / 21) options->piece_cols = 64;
  if (way % 7 == TMARING_SCOPE_CLUSTER) options->cluster = 2 << walk % 3;
}

static void use(fuzz_case *c, const tmaring_plan_options *options)
{
  tmaring_machine machine;
  furnish(c);
  FUZZ_NEED(tmaring_formula_evaluate(c->formula, c->rows, c->cols, c->wide, c->scalar, c->dtype) == TMARING_OK);
  tmaring_machine_h200(&machine);
  if (tmaring_plan_create(&c->plan, c->formula, c->tensor, c->count, &machine, options) == TMARING_OK) {
    FUZZ_NEED(tmaring_check(c->plan, c->rows, NULL) == TMARING_OK);
    emit(c);
    launch(c);
  } else {
    FUZZ_NEED(tmaring_last_detail()[0]);
  }
  tmaring_plan_free(c->plan);
  for (int32_t i = 0; i < c->count; ++i) free(c->wide[i]), free(c->data[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const int64_t rows[] = {3, 1, 0, 17, 140}, cols[] = {17, 1, 2, 64, 130, 257, 1000};
  static fuzz_case c;
  tmaring_plan_options options;
  memset(&c, 0, sizeof c);
  if (size < 3) return 0;
  c.rows = rows[data[0] % (sizeof rows / sizeof rows[0])];
  c.cols = cols[data[1] % (sizeof cols / sizeof cols[0])];
  char *const text = fuzz_text(data + 3, size - 3);
  if (tmaring_formula_parse(&c.formula, text) == TMARING_OK) {
    c.count = tmaring_formula_tensor_count(c.formula);
    FUZZ_NEED(c.count <= TMARING__MAX_TENSORS);
    for (int32_t i = 0; i < c.count; ++i) describe(&c, i, data[2]);
    choose(&options, data[0] / 5u, data[1] / 7u);
    use(&c, &options);
  } else {
    FUZZ_NEED(c.formula == NULL && tmaring_last_detail()[0]);
  }
  tmaring_formula_free(c.formula);
  free(text);
  return 0;
}

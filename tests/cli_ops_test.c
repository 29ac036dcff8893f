/* The catalogue through the tool: every op from file to file, verified; what ops and emit print. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/npy_file.h"
#include "support/number.h"
#include "support/tool.h"
#include "tmaring/ops.h"

enum { ROWS = 9, COLS = 257 };

static void expect_in(const char *text, const char *words)
{
  cr_expect(strstr(text, words), "'%s' is not in:\n%s", words, text);
}

static json_t *list_ops(void)
{
  json_error_t at;
  tool_result r = tool_run("ops", "--json", NULL);
  cr_assert_eq(r.code, 0, "%s", r.error);
  json_t *const list = json_loads(r.out, JSON_REJECT_DUPLICATES, &at);
  cr_assert(json_is_array(list), "line %d: %s", at.line, at.text);
  tool_result_free(&r);
  return list;
}

static const char *text_of(const json_t *object, const char *key)
{
  const json_t *const value = json_object_get(object, key);
  cr_assert(json_is_string(value), "%s is no string", key);
  return json_string_value(value);
}

/* The input's type: f16 where it may have it, as most ops do; else the usual one. */
static tmaring_dtype type_of(const json_t *tensor)
{
  tmaring_dtype dtype = TMARING_F16;
  if (json_object_get(tensor, "usual_type")) tmaring_dtype_parse(text_of(tensor, "usual_type"), &dtype);
  return dtype;
}

/* Columns of the file, 0 for one dimension, and its rows. */
static int64_t cols_of(const char *shape, int64_t *rows)
{
  *rows = strcmp(shape, "[N]") == 0 ? COLS : ROWS;
  if (strcmp(shape, "[N]") == 0 || strcmp(shape, "[M]") == 0) return 0;
  return strcmp(shape, "[M,2N]") == 0 ? 2 * COLS : COLS;
}

/* Random files for the inputs; labels in and out of range. */
static void make_input(const json_t *tensor, const char *path, uint64_t seed)
{
  int64_t rows;
  const tmaring_dtype dtype = type_of(tensor);
  const int64_t cols = cols_of(text_of(tensor, "shape"), &rows);
  tmaring__array a = npy_file_make(path, dtype, rows, cols, seed);
  for (int64_t i = 0; i < rows && number_is_integer(dtype) && cols == 0; ++i)
    number_write(dtype, (char *)a.data + i * (int64_t)tmaring_dtype_bytes((tmaring_i32)dtype),
                 i == 4 ? -100 : (double)(i * 31));
  npy_file_put(path, &a);
  tmaring__array_free(&a);
}

typedef struct command {
  const char *words[40];
  int count;
  char text[16][320];
  char path[8][256];
  int texts, paths;
} command;

static void add(command *c, const char *word)
{
  c->words[c->count++] = word;
}

static void add_tensor(command *c, const json_t *tensor)
{
  char *const text = c->text[c->texts++];
  const char *const name = text_of(tensor, "name");
  const int is_output = json_is_true(json_object_get(tensor, "output"));
  add(c, is_output ? "--out" : "--in");
  add(c, text);
  if (is_output) {
    npy_file_binding(text, name, "/dev/null", NULL);
    return;
  }
  char *const path = c->path[c->paths++];
  snprintf(path, sizeof c->path[0], "%s", tool_path(1, name));
  make_input(tensor, path, (uint64_t)c->paths);
  npy_file_binding(text, name, path, npy_file_code_type(type_of(tensor)));
}

static void add_scalars(command *c, const json_t *scalars)
{
  for (size_t i = 0; i < json_array_size(scalars); ++i) {
    const json_t *const scalar = json_array_get(scalars, i);
    if (json_object_get(scalar, "default")) continue;
    char *const text = c->text[c->texts++];
    snprintf(text, sizeof c->text[0], "%s=1.5", text_of(scalar, "name"));
    add(c, "--scalar");
    add(c, text);
  }
}

static tool_result run_command(const command *c)
{
  const char *const *const w = c->words;
  return tool_run(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14], w[15],
                  w[16], w[17], w[18], w[19], w[20], w[21], w[22], w[23], w[24], w[25], w[26], w[27], NULL);
}

static void run_op(const json_t *op)
{
  command c;
  memset(&c, 0, sizeof c);
  const json_t *const tensors = json_object_get(op, "tensors");
  add(&c, "run"), add(&c, "--op"), add(&c, text_of(op, "name"));
  for (size_t i = 0; i < json_array_size(tensors); ++i) add_tensor(&c, json_array_get(tensors, i));
  add_scalars(&c, json_object_get(op, "scalars"));
  add(&c, "--backend"), add(&c, "cpu"), add(&c, "--verify");
  if (c.paths == 0) add(&c, "--shape"), add(&c, "9,257");
  tool_result r = run_command(&c);
  cr_expect_eq(r.code, 0, "%s: exit code %d: %s", text_of(op, "name"), r.code, r.error);
  expect_in(r.error, ": ok: ");
  tool_result_free(&r);
  for (int i = 0; i < c.paths; ++i) unlink(c.path[i]);
}

Test(cli_ops, every_op_runs_from_file_to_file, .timeout = 120)
{
  json_t *const list = list_ops();
  cr_expect_eq(json_array_size(list), (size_t)tmaring_op_count());
  for (size_t i = 0; i < json_array_size(list); ++i) run_op(json_array_get(list, i));
  json_decref(list);
}

Test(cli_ops, text_and_json_agree, .timeout = 60)
{
  json_t *const list = list_ops();
  tool_result r = tool_run("ops", NULL);
  cr_assert_eq(r.code, 0, "%s", r.error);
  for (size_t i = 0; i < json_array_size(list); ++i) {
    const json_t *const op = json_array_get(list, i);
    char line[512];
    snprintf(line, sizeof line, "%s (%s)\n  ", text_of(op, "name"), text_of(op, "group"));
    expect_in(r.out, line);
    expect_in(r.out, text_of(op, "formula"));
    expect_in(r.out, text_of(op, "alias"));
  }
  expect_in(r.out, "  out s[M,N/128]: ");
  expect_in(r.out, "  in  x[M,2N]: ");
  tool_result_free(&r);
  json_decref(list);
}

/* What the catalogue says of types where nobody else does. */
Test(cli_ops, usual_types, .timeout = 30)
{
  char in[320], out[2][320];
  const char *const x_path = tool_path(1, "x.npy"), *const q_path = tool_path(2, "q.npy"),
                    *const s_path = tool_path(3, "s.npy");
  tmaring__array x = npy_file_make(x_path, TMARING_BF16, ROWS, COLS, 1);
  tool_result r = tool_run("run", "--op", "quantize_fp8_row", "--in", npy_file_binding(in, "x", x_path, "bf16"),
                           "--out", npy_file_binding(out[0], "q", q_path, NULL), "--out",
                           npy_file_binding(out[1], "s", s_path, NULL), "--backend", "cpu", "--verify", NULL);
  cr_assert_eq(r.code, 0, "%s", r.error);
  tool_result_free(&r);
  tmaring__array q = npy_file_take(q_path, TMARING_E4M3), s = npy_file_take(s_path, TMARING_F32);
  double largest = 0;
  for (size_t i = 0; i < ROWS * COLS; ++i) {
    const double code = npy_file_value(&q, i);
    largest = code > largest ? code : largest;
    /* Half a step of e4m3, and what fp32 makes of x / s. */
    const double due = npy_file_value(&x, i) / npy_file_value(&s, i / COLS);
    cr_assert_float_eq(code, due, number_half_ulp(TMARING_E4M3, due) * (1 + 1e-5), "%g: %g", due, code);
  }
  cr_expect_eq(largest, 448);
  r = tool_run("plan", "--op", "quantize_fp8_row", "--shape", "9,257", "--type", "bf16", NULL);
  cr_assert_eq(r.code, 0, "%s", r.error);
  expect_in(r.out, "in  x[M,N] bf16");
  expect_in(r.out, "out q[M,N] e4m3");
  expect_in(r.out, "out s[M] f32");
  tool_result_free(&r);
  tmaring__array_free(&x), tmaring__array_free(&q), tmaring__array_free(&s);
  unlink(x_path);
}

Test(cli_ops, refuses_names_and_formulas_beside_them, .timeout = 30)
{
  tool_result r = tool_run("plan", "--op", "rmsnrom", "--shape", "3,4", NULL);
  cr_expect_eq(r.code, 1);
  expect_in(r.error, "--op: got 'rmsnrom', needs a name of the catalogue (tmaring ops); near it: rmsnorm");
  tool_result_free(&r);
  r = tool_run("plan", "--op", "rmsnorm", "y = x", "--shape", "3,4", NULL);
  cr_expect_eq(r.code, 1);
  expect_in(r.error, "got 'y = x', needs no formula beside --op");
  tool_result_free(&r);
  r = tool_run("ops", "rmsnorm", NULL);
  cr_expect_eq(r.code, 1);
  expect_in(r.error, "got 'rmsnorm', needs no argument");
  tool_result_free(&r);
}

Test(cli_ops, emits_the_source_of_a_plan, .timeout = 30)
{
  tool_result r = tool_run("emit", "y = x + x", "--shape", "8191,256", "--type", "bf16", NULL);
  cr_assert_eq(r.code, 0, "%s", r.error);
  cr_expect_str_empty(r.error);
  expect_in(r.out, "#include \"tmaring/device/");
  expect_in(r.out, "struct tmaring_formula");
  expect_in(r.out, "tmaring_kernel(");
  tool_result other = tool_run("emit", "y = x + x", "--shape", "8191,256", "--tensor", "x=f16", "--tensor", "y=f32",
                               "--mode", "pipelined", NULL);
  cr_assert_eq(other.code, 0, "%s", other.error);
  cr_expect_str_neq(other.out, r.out);
  tool_result_free(&other);
  tool_result_free(&r);
  r = tool_run("emit", "--op", "col_sum", "--shape", "8191,256", NULL);
  cr_assert_eq(r.code, 0, "%s", r.error);
  expect_in(r.out, "tmaring_columns_kernel");
  tool_result_free(&r);
  r = tool_run("emit", "y = x +", "--shape", "8191,256", NULL);
  cr_expect_eq(r.code, 2);
  cr_expect_str_empty(r.out);
  tool_result_free(&r);
}

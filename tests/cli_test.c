/* The command-line tool: exit codes, messages, help, plan, check, bench and info. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

#include "support/tool.h"
#include "tmaring/abi/base.h"

static void expect_in(const char *text, const char *words)
{
  cr_expect(strstr(text, words), "'%s' is not in:\n%s", words, text);
}

/* Runs the tool; wants an exit code and words on standard error, and nothing on standard output. */
#define REFUSES(wanted, words, ...)                                                                                    \
  do {                                                                                                                 \
    tool_result r_ = tool_run(__VA_ARGS__, NULL);                                                                      \
    cr_expect_eq(r_.code, wanted, "%s: exit code %d, not %d: %s", #__VA_ARGS__, r_.code, wanted, r_.error);            \
    expect_in(r_.error, "tmaring: ");                                                                                  \
    expect_in(r_.error, words);                                                                                        \
    cr_expect_str_empty(r_.out);                                                                                       \
    tool_result_free(&r_);                                                                                             \
  } while (0)

/* Runs the tool; wants success, and returns what it printed parsed as JSON. */
#define JSON_OF(json, ...)                                                                                             \
  do {                                                                                                                 \
    json_error_t at_;                                                                                                  \
    tool_result r_ = tool_run(__VA_ARGS__, NULL);                                                                      \
    cr_assert_eq(r_.code, 0, "%s: exit code %d: %s", #__VA_ARGS__, r_.code, r_.error);                                 \
    json = json_loads(r_.out, JSON_REJECT_DUPLICATES, &at_);                                                           \
    cr_assert(json, "line %d: %s\n%s", at_.line, at_.text, r_.out);                                                    \
    tool_result_free(&r_);                                                                                             \
  } while (0)

/* Integer at object.key; fails the test where it is none. */
static json_int_t integer_at(const json_t *json, const char *object, const char *key)
{
  const json_t *const value = json_object_get(object ? json_object_get(json, object) : json, key);
  cr_assert(json_is_integer(value), "%s.%s is no integer", object ? object : "", key);
  return json_integer_value(value);
}

static const char *text_at(const json_t *json, const char *object, const char *key)
{
  const json_t *const value = json_object_get(object ? json_object_get(json, object) : json, key);
  cr_assert(json_is_string(value), "%s.%s is no string", object ? object : "", key);
  return json_string_value(value);
}

Test(cli, helps, .timeout = 60)
{
  static const char *const commands[] = {"run", "plan", "check", "bench", "emit", "ops", "info"};
  tool_result whole = tool_run("--help", NULL);
  cr_assert_eq(whole.code, 0, "%s", whole.error);
  expect_in(whole.out, "Exit codes");
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i) {
    char usage[64];
    snprintf(usage, sizeof usage, "  tmaring %s", commands[i]);
    expect_in(whole.out, usage);
    tool_result by_option = tool_run(commands[i], "--help", NULL), by_word = tool_run("help", commands[i], NULL);
    cr_expect_eq(by_option.code, 0);
    cr_expect_eq(by_word.code, 0);
    cr_expect_str_eq(by_option.out, by_word.out);
    expect_in(by_option.out, "\nExamples\n  tmaring ");
    expect_in(by_option.out, "\nOptions\n  --");
    tool_result_free(&by_option);
    tool_result_free(&by_word);
  }
  tool_result_free(&whole);
}

Test(cli, prints_its_version, .timeout = 10)
{
  tool_result r = tool_run("--version", NULL);
  cr_expect_eq(r.code, 0);
  cr_expect_str_eq(r.out, "tmaring 0.1.0\n");
  tool_result_free(&r);
}

Test(cli, refuses_a_wrong_command_line_with_1, .timeout = 60)
{
  tool_result none = tool_run(NULL);
  cr_expect_eq(none.code, 1);
  expect_in(none.error, "got no command, needs run, plan, check, bench, emit, ops, info or help");
  tool_result_free(&none);
  REFUSES(1, "got 'plane', needs a command", "plane");
  REFUSES(1, "got 'plane', needs a command", "help", "plane");
  REFUSES(1, "formula: got none", "plan", "--shape", "3,4");
  REFUSES(1, "got 'x' after the formula", "plan", "y", "x", "--shape", "3,4");
  REFUSES(1, "--shape: got none", "plan", "y = x");
  REFUSES(1, "--shape: got '3'", "plan", "y = x", "--shape", "3");
  REFUSES(1, "--shape: got '-3,4'", "plan", "y = x", "--shape", "-3,4");
  REFUSES(1, "--shape: got '\t3,4'", "plan", "y = x", "--shape", "\t3,4");
  REFUSES(1, "--shape: got '3,0'", "plan", "y = x", "--shape", "3,0");
  REFUSES(1, "--shape: got '3,2147483648'", "plan", "y = x", "--shape", "3,2147483648");
  REFUSES(1, "--shape: got '99999999999999999999,4'", "plan", "y = x", "--shape", "99999999999999999999,4");
  REFUSES(1, "--bogus: got an unknown or ambiguous option", "plan", "y = x", "--shape", "3,4", "--bogus");
  REFUSES(1, "Try 'tmaring plan --help'", "plan", "y = x", "--shape", "3,4", "--bogus");
  REFUSES(1, "-q: got an unknown option", "plan", "y = x", "-q");
  REFUSES(1, "--shape: got nothing after it", "plan", "y = x", "--shape");
  REFUSES(1, "--json=1: got a value, needs none", "plan", "y = x", "--json=1");
  REFUSES(1, "--verify: got an option that 'plan' does not take", "plan", "y = x", "--verify");
  REFUSES(1, "needs split, blocked, cyclic or ticket", "plan", "y = x", "--order", "zigzag");
  REFUSES(1, "needs pipelined, ws-x, ws-y or ws-z", "plan", "y = x", "--mode", "ws");
  REFUSES(1, "--stages: got '4x'", "plan", "y = x", "--stages", "4x");
  REFUSES(1, "--workers: got '0'", "plan", "y = x", "--workers", "0");
  REFUSES(1, "--consumers: got '32,,2'", "plan", "y = x", "--consumers", "32,,2");
  REFUSES(1, "--registers: got '40'", "plan", "y = x", "--registers", "40");
  REFUSES(1, "--tensor x: got 'f65', needs a type (f32, f16, bf16, f64, e4m3, e5m2, i8, i32 or i64), pitch=", "plan",
          "y = x", "--shape", "3,4", "--tensor", "x=f65");
  REFUSES(1, "--tensor x: got 'step=0'", "plan", "y = x", "--shape", "3,4", "--tensor", "x=step=0");
  REFUSES(1, "--type: got 'f65', needs f32, f16, bf16, f64, e4m3, e5m2, i8, i32 or i64", "plan", "y = x", "--type",
          "f65");
  REFUSES(1, "--tensor: got 'x' twice", "plan", "y = x", "--shape", "3,4", "--tensor", "x=f32", "--tensor", "x=f16");
  REFUSES(1, "--tensor: got 'z', needs a tensor of the formula: x, y", "plan", "y = x", "--shape", "3,4", "--tensor",
          "z=f16");
  REFUSES(1, "got 'now', needs no argument", "info", "now");
  REFUSES(1, "got M = 0", "bench", "y = x", "--shape", "0,4");
  REFUSES(1, "which has no default; add --scalar eps=VALUE", "bench", "f(x[M,N]; eps) = x + eps", "--shape", "3,4");
  REFUSES(1, "--scalar eps: got 'small'", "bench", "f(x[M,N]; eps) = x + eps", "--shape", "3,4", "--scalar",
          "eps=small");
  REFUSES(1, "--scalar eps: got '1e-400', needs a number that a double can hold", "bench", "f(x[M,N]; eps) = x + eps",
          "--shape", "3,4", "--scalar", "eps=1e-400");
  REFUSES(1, "--scalar eps: got '-1e309', needs a number that a double can hold", "bench", "f(x[M,N]; eps) = x + eps",
          "--shape", "3,4", "--scalar", "eps=-1e309");
  REFUSES(1, "--scalar: got 'esp'", "bench", "f(x[M,N]; eps=1) = x + eps", "--shape", "3,4", "--scalar", "esp=1");
}

Test(cli, refuses_a_formula_or_a_plan_with_2, .timeout = 30)
{
  REFUSES(2, "line 1, column 9", "plan", "y = x + * x", "--shape", "3,4");
  REFUSES(2, "  y = x + * x\n          ^\n", "plan", "y = x + * x", "--shape", "3,4");
  REFUSES(2, "  y = x + * x\n          ^\n", "check", "y = x + * x", "--shape", "3,4");
  REFUSES(2, "99", "plan", "y = x", "--shape", "3,4", "--stages", "99");
  REFUSES(2, "pitch", "plan", "y = x", "--shape", "3,4", "--tensor", "x=f32,pitch=3");
}

Test(cli, plans_as_text, .timeout = 30)
{
  tool_result r = tool_run("plan", "y = x + x", "--shape", "8191,256", "--stages", "4", "--order", "split", "--policy",
                           "wrap", "--tile-rows", "1", "--workers", "132", "--mode", "ws-y", "--explain", NULL);
  cr_assert_eq(r.code, 0, "%s", r.error);
  expect_in(r.out, "order split, policy wrap: 8191 tiles for 132 workers");
  expect_in(r.out, "8448 in all, 257 surplus");
  expect_in(r.out, "4 stages of 1024 bytes");
  expect_in(r.out, "ws-y");
  expect_in(r.out, "shared memory: ");
  expect_in(r.out, "| full barriers ");
  expect_in(r.out, "\nnotes  ");
  tool_result_free(&r);
}

Test(cli, plans_as_json, .timeout = 30)
{
  json_t *json;
  JSON_OF(json, "plan", "y = x + x", "--shape", "8191,256", "--stages", "4", "--order", "split", "--policy", "wrap",
          "--tile-rows", "1", "--workers", "132", "--prefetch", "-1", "--mode", "pipelined", "--war", "mbarrier",
          "--json");
  cr_expect_eq(integer_at(json, NULL, "rows"), 8191);
  cr_expect_eq(integer_at(json, "walk", "tiles"), 8191);
  cr_expect_eq(integer_at(json, "walk", "slots"), 8448);
  cr_expect_eq(integer_at(json, "walk", "surplus_slots"), 257);
  cr_expect_eq(integer_at(json, "ring", "stages"), 4);
  cr_expect_eq(integer_at(json, "ring", "prefetch"), 3);
  cr_expect_str_eq(text_at(json, "cta", "mode"), "pipelined");
  cr_expect_str_eq(text_at(json, "cta", "war"), "mbarrier");
  json_int_t end = 0;
  const json_t *const regions = json_object_get(json_object_get(json, "smem"), "regions");
  cr_assert_eq(json_array_size(regions), 8);
  for (size_t i = 0; i < json_array_size(regions); ++i) {
    const json_t *const region = json_array_get(regions, i);
    cr_expect_geq(integer_at(region, NULL, "offset"), end, "regions overlap");
    end = integer_at(region, NULL, "offset") + integer_at(region, NULL, "bytes");
  }
  cr_expect_eq(integer_at(json, "smem", "total_bytes"), end);
  json_decref(json);
}

Test(cli, plans_exact_integers_types_and_machines, .timeout = 30)
{
  json_t *json;
  JSON_OF(json, "plan", "y = x * w[N]; s = sum(x)", "--shape", "99999999977,33", "--type", "bf16", "--tensor",
          "x=pitch=48,align=2", "--sms", "78", "--json");
  cr_expect_eq(integer_at(json, NULL, "rows"), 99999999977);
  cr_expect_eq(integer_at(json, "machine", "sm_count"), 78);
  static const struct {
    const char *name, *shape, *type;
    int output, pitch, alignment;
  } wanted[] = {{"x", "[M,N]", "bf16", 0, 48, 2},
                {"w", "[N]", "bf16", 0, 33, 16},
                {"y", "[M,N]", "bf16", 1, 33, 16},
                {"s", "[M]", "f32", 1, 1, 16}};
  const json_t *const tensors = json_object_get(json, "tensors");
  cr_assert_eq(json_array_size(tensors), 4);
  for (size_t i = 0; i < 4; ++i) {
    const json_t *const t = json_array_get(tensors, i);
    cr_expect_str_eq(text_at(t, NULL, "name"), wanted[i].name);
    cr_expect_str_eq(text_at(t, NULL, "shape"), wanted[i].shape);
    cr_expect_str_eq(text_at(t, NULL, "type"), wanted[i].type);
    cr_expect_eq(json_is_true(json_object_get(t, "output")), wanted[i].output);
    cr_expect_eq(integer_at(t, NULL, "pitch_elems"), wanted[i].pitch);
    cr_expect_eq(integer_at(t, NULL, "alignment_bytes"), wanted[i].alignment);
  }
  json_decref(json);
}

Test(cli, plans_clusters, .timeout = 30)
{
  json_t *json;
  JSON_OF(json, "plan", "e = exp(x - max(x)); y = e / sum(e)", "--shape", "64,151937", "--type", "bf16", "--scope",
          "cluster", "--cluster", "4", "--json");
  cr_expect_eq(integer_at(json, "walk", "cluster"), 4);
  cr_expect_str_eq(text_at(json, "scope", "kind"), "cluster");
  json_decref(json);
  REFUSES(2, "cluster: got 3, needs 1, 2, 4 or 8", "plan", "y = sum(x)", "--shape", "3,4", "--cluster", "3");
  REFUSES(1, "--cluster: got '16', needs an integer from 1 to 8", "plan", "y = sum(x)", "--shape", "3,4", "--cluster",
          "16");
}

Test(cli, plans_groups_and_columns, .timeout = 30)
{
  json_t *json;
  JSON_OF(json, "plan", "out s = gamax(x, 128); q = x / s; c = colsum(x)", "--shape", "8191,1000", "--type", "bf16",
          "--tensor", "s=pitch=1,step=8192", "--tensor", "q=e4m3", "--json");
  cr_expect_eq(integer_at(json, "groups", "cols_least"), 128);
  cr_expect_eq(integer_at(json, "groups", "cols_most"), 128);
  cr_expect_geq(integer_at(json, "groups", "lanes"), 16);
  cr_expect_eq(integer_at(json, "columns", "outputs"), 1);
  cr_expect_geq(integer_at(json, "columns", "seats"), 1);
  const json_int_t rows = integer_at(json, "walk", "tile_rows") * integer_at(json, "walk", "chunk");
  cr_expect_eq(integer_at(json, "columns", "chunks"), (8191 + rows - 1) / rows);
  cr_expect_gt(integer_at(json, "path", "workspace_bytes"), integer_at(json, "columns", "chunks") * 1000 * 4);
  cr_expect(json_is_false(json_object_get(json_object_get(json, "path"), "wide")));
  cr_expect(json_is_true(json_object_get(json_object_get(json, "scope"), "fixed")));
  const json_t *const s = json_array_get(json_object_get(json, "tensors"), 1);
  cr_expect_str_eq(text_at(s, NULL, "name"), "s");
  cr_expect_str_eq(text_at(s, NULL, "shape"), "[M,N/128]");
  cr_expect_str_eq(text_at(s, NULL, "type"), "f32");
  cr_expect_eq(integer_at(s, NULL, "pitch_elems"), 1);
  cr_expect_eq(integer_at(s, NULL, "step_elems"), 8192);
  json_decref(json);
  tool_result r = tool_run("plan", "y = x * s[M]; c = colmean(x)", "--shape", "8191,1000", "--type", "f64", "--tensor",
                           "x=group-rows=32,group-pitch=50000,pitch=1200", "--tensor", "s=pitch=one", NULL);
  cr_assert_eq(r.code, 0, "%s", r.error);
  expect_in(r.out, "x[M,N] f64, pitch 1200, groups of 32 rows every 50000, aligned");
  expect_in(r.out, "s[M] f64, one value for all rows");
  expect_in(r.out, "out c[N] f64");
  expect_in(r.out, "arithmetic in double");
  expect_in(r.out, "\ncolumns  1 output of ");
  expect_in(r.out, "2 elements per thread and step");
  tool_result_free(&r);
}

Test(cli, checks, .timeout = 60)
{
  json_t *json;
  JSON_OF(json, "check", "y = x + x", "--shape", "1000,1024", "--order", "split", "--policy", "wrap", "--stages", "2",
          "--tile-rows", "1", "--workers", "132", "--json");
  cr_expect(json_is_true(json_object_get(json, "ok")));
  cr_expect_eq(integer_at(json, NULL, "tiles"), 1000);
  cr_expect_eq(integer_at(json, NULL, "fills"), 1056);
  cr_expect_eq(integer_at(json, NULL, "surplus_slots"), 56);
  /* The ring is played for each distinct trip count, not for each worker: at least a wait and a release for each of 8
   * fills. */
  cr_expect_gt(integer_at(json, NULL, "steps"), 2 * 8);
  json_decref(json);
  tool_result r = tool_run("check", "s = sum(x)", "--shape", "131,33", "--mode", "ws-z", NULL);
  cr_expect_eq(r.code, 0, "%s", r.error);
  expect_in(r.out, "ok: 131 x 33");
  expect_in(r.out, "each stored exactly once");
  tool_result_free(&r);
}

Test(cli, benches_on_the_cpu, .timeout = 120)
{
  json_t *json;
  JSON_OF(json, "bench", "f(x[M,N], w[N]; eps) = x * w + eps", "--shape", "133,33", "--scalar", "eps=0.5", "--reps",
          "3", "--backend", "cpu", "--type", "f16", "--tensor", "x=pitch=40,align=2", "--json");
  cr_expect_str_eq(text_at(json, NULL, "backend"), "cpu");
  cr_expect_eq(integer_at(json, NULL, "read_bytes"), 2 * (133 * 33 + 33));
  cr_expect_eq(integer_at(json, NULL, "written_bytes"), 2 * 133 * 33);
  cr_expect_eq(integer_at(json, "time_us", "count"), 3);
  cr_expect_gt(json_real_value(json_object_get(json_object_get(json, "time_us"), "median")), 0);
  cr_expect_gt(json_real_value(json_object_get(json_object_get(json, "ceiling"), "gb_s")), 0);
  json_decref(json);
}

Test(cli, informs, .timeout = 30)
{
  json_t *json;
  JSON_OF(json, "info", "--json");
  cr_expect_str_eq(text_at(json, NULL, "version"), "0.1.0");
  cr_expect_eq(integer_at(json, NULL, "abi_version"), TMARING_ABI_VERSION);
  cr_expect_geq(integer_at(json, NULL, "builtin_kernels"), 0);
  const json_t *const cuda = json_object_get(json_object_get(json, "backends"), "cuda");
  const int usable = json_is_true(json_object_get(cuda, "usable"));
  cr_expect_neq(usable, json_object_get(cuda, "why") != NULL, "a reason, exactly where it cannot be used");
  /* What info says of cuda is what --backend cuda does. */
  tool_result r = tool_run("bench", "y = x + x", "--shape", "133,32", "--reps", "1", "--backend", "cuda", NULL);
  cr_expect_eq(r.code, usable ? 0 : 4, "exit code %d: %s", r.code, r.error);
  tool_result_free(&r);
  json_decref(json);
}

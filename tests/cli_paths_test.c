/* The tool's words for load and store paths, squads and multicast. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

#include "support/tool.h"

static void expect_in(const char *text, const char *words)
{
  cr_expect(strstr(text, words), "'%s' is not in:\n%s", words, text);
}

/* Runs `tmaring plan --json`; `more`: up to four words. */
static json_t *plan_of(const char *formula, const char *const more[4])
{
  json_error_t at;
  tool_result r = tool_run("plan", formula, "--shape", "1000,1024", "--json", more[0], more[1], more[2], more[3], NULL);
  cr_assert_eq(r.code, 0, "exit code %d: %s", r.code, r.error);
  json_t *json = json_loads(r.out, JSON_REJECT_DUPLICATES, &at);
  cr_assert(json, "line %d: %s\n%s", at.line, at.text, r.out);
  tool_result_free(&r);
  return json;
}

static const char *load_at(const json_t *json, size_t input)
{
  const json_t *const loads = json_object_get(json_object_get(json, "path"), "loads");
  const char *const text = json_string_value(json_array_get(loads, input));
  return text ? text : "none";
}

Test(cli_paths, one_word_for_all_inputs, .timeout = 60)
{
  static const char *const words[] = {"bulk", "tile", "async", "ordinary", "direct"};
  for (int i = 0; i < 5; ++i) {
    json_t *const json = plan_of("y = a * b", (const char *const[4]){"--load", words[i]});
    cr_expect_str_eq(load_at(json, 0), words[i]);
    cr_expect_str_eq(load_at(json, 1), words[i]);
    const json_t *const boxes = json_object_get(json_object_get(json, "path"), "boxes");
    cr_expect_eq(json_array_size(boxes), i == 1 ? 2 : 0);
    json_decref(json);
  }
}

Test(cli_paths, a_word_for_one_input, .timeout = 30)
{
  json_t *const json = plan_of("y = a * b", (const char *const[4]){"--load", "b=async", "--load", "tile"});
  cr_expect_str_eq(load_at(json, 0), "tile");
  cr_expect_str_eq(load_at(json, 1), "async");
  cr_expect_eq(json_integer_value(json_object_get(json_object_get(json, "ring"), "full_count")), 33);
  json_decref(json);
}

/* Both halves take it. */
Test(cli_paths, halves_are_one_input, .timeout = 30)
{
  json_t *const json = plan_of("y = first(x[M,2N]) * second(x)", (const char *const[4]){"--load", "x=direct"});
  cr_expect_str_eq(load_at(json, 0), "direct");
  cr_expect_str_eq(load_at(json, 1), "direct");
  json_decref(json);
}

Test(cli_paths, boxes_are_told, .timeout = 30)
{
  json_t *const json = plan_of("y = x * max(x)", (const char *const[4]){"--load", "tile", "--store", "tile"});
  const json_t *const boxes = json_object_get(json_object_get(json, "path"), "boxes");
  cr_assert_eq(json_array_size(boxes), 2);
  const json_t *const load = json_array_get(boxes, 0), *const store = json_array_get(boxes, 1);
  cr_expect_str_eq(json_string_value(json_object_get(load, "of")), "input");
  cr_expect_str_eq(json_string_value(json_object_get(store, "of")), "output");
  cr_expect_eq(json_integer_value(json_object_get(load, "elem_bytes")), 8);
  cr_expect_eq(json_integer_value(json_array_get(json_object_get(load, "box"), 0)), 256);
  cr_expect(json_is_true(json_object_get(store, "by_row")));
  json_decref(json);
}

Test(cli_paths, squads_are_told, .timeout = 30)
{
  json_t *const json = plan_of("y = x * max(x)", (const char *const[4]){"--squads", "2", "--turns", "cooperative"});
  const json_t *const cta = json_object_get(json, "cta");
  cr_expect_eq(json_integer_value(json_object_get(cta, "squads")), 2);
  cr_expect_str_eq(json_string_value(json_object_get(cta, "turns")), "cooperative");
  json_decref(json);
}

Test(cli_paths, text_says_the_path, .timeout = 30)
{
  tool_result r =
      tool_run("plan", "y = a * b", "--shape", "1000,1024", "--load", "tile", "--load", "b=direct", "--explain", NULL);
  cr_assert_eq(r.code, 0, "%s", r.error);
  expect_in(r.out, "input 0: boxes by tensor-map copies");
  expect_in(r.out, "input 1: by each thread from global memory");
  expect_in(r.out, "a: load tile: boxes of 256 x 2 elements of 8 bytes");
  tool_result_free(&r);
}

/* The barrier of vectors by multicast, and the vectors after it, each under its name. */
Test(cli_paths, the_map_has_the_barrier_of_the_vectors, .timeout = 60)
{
  for (int ctas = 1; ctas <= 4; ctas += 3) {
    json_t *const json = plan_of("y = x * w[N]", (const char *const[4]){"--multicast", ctas == 1 ? "1" : "4"});
    const json_t *const regions = json_object_get(json_object_get(json, "smem"), "regions");
    const json_t *const barrier = json_array_get(regions, 4), *const vectors = json_array_get(regions, 5);
    cr_expect_str_eq(json_string_value(json_object_get(barrier, "name")), "barrier of the vectors");
    cr_expect_str_eq(json_string_value(json_object_get(vectors, "name")), "row vectors");
    cr_expect_eq(json_integer_value(json_object_get(barrier, "bytes")), ctas == 1 ? 0 : 16);
    if (ctas > 1) cr_expect_eq(json_integer_value(json_object_get(vectors, "bytes")), 4096);
    json_decref(json);
  }
}

static void expect_refused(int code, const char *words, const char *option, const char *value)
{
  tool_result r = tool_run("plan", "y = x * w[N]", "--shape", "1000,1023", option, value, NULL);
  cr_expect_eq(r.code, code, "%s %s: exit code %d: %s", option, value, r.code, r.error);
  expect_in(r.error, words);
  tool_result_free(&r);
}

Test(cli_paths, what_is_no_path_is_refused, .timeout = 60)
{
  expect_refused(1, "--load: got 'fast', needs bulk, tile, async, ordinary or direct", "--load", "fast");
  expect_refused(1, "--load: got 'x=fast'", "--load", "x=fast");
  expect_refused(1, "--load: got 'w', needs an [M,N] input", "--load", "w=tile");
  expect_refused(1, "--load: got 'z'", "--load", "z=tile");
  expect_refused(1, "--store: got 'box', needs direct, bulk or tile", "--store", "box");
  expect_refused(1, "--squads: got '3'", "--squads", "3");
  expect_refused(1, "--turns: got 'both'", "--turns", "both");
  expect_refused(1, "--multicast: got '9'", "--multicast", "9");
}

/* F01 from the command line. */
Test(cli_paths, a_stride_is_refused_by_name, .timeout = 30)
{
  tool_result r = tool_run("plan", "y = x + x", "--shape", "128,1733", "--load", "tile", NULL);
  cr_expect_neq(r.code, 0);
  expect_in(r.error, "x: load tile: stride in bytes between rows: got 6932, needs a multiple of 16");
  tool_result_free(&r);
}

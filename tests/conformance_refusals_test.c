/* Conformance list, section 7: what cannot run is refused on the host, with a message that names the field, what it got and
 * what it needs. A cell passes where the status and every word are right. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/conformance.h"
#include "support/modes.h"
#include "tmaring/tensor_map.h"

enum { MAX_WORDS = 3 };

static void count_refusal(conformance *c, const char *what, tmaring_status status, tmaring_status needs,
                          const char *const *words)
{
  trial_result result;
  memset(&result, 0, sizeof result);
  const char *detail = tmaring_last_detail();
  int named = status == needs;
  for (int i = 0; i < MAX_WORDS; ++i) named &= strstr(detail, words[i]) != NULL;
  result.outcome = named ? TRIAL_PASSED : TRIAL_FAILED;
  snprintf(result.text, sizeof result.text, "%s: %s, \"%s\", needs %s and \"%s\", \"%s\", \"%s\"", what,
           tmaring_status_name(status), detail, tmaring_status_name(needs), words[0], words[1], words[2]);
  conformance_count(c, &result);
}

/* ---- tensor maps ---- */

/* f32 [128,1024] in boxes of 8 x 64, with one field changed. */
typedef struct map_case {
  const char *what;
  tmaring_dtype dtype;
  uint64_t address, inner_stride, stride;
  uint32_t box[2];
  tmaring_status status;
  const char *words[MAX_WORDS];
} map_case;

static const map_case map_cases[] = {
    {"base 4 bytes off",
     TMARING_F32,
     0x1004,
     4,
     4096,
     {64, 8},
     TMARING_ERROR_ALIGNMENT,
     {"address", "got 0x1004", "needs a multiple of 16"}},
    {"base 8 bytes off",
     TMARING_BF16,
     0x1008,
     2,
     4096,
     {64, 8},
     TMARING_ERROR_ALIGNMENT,
     {"address", "got 0x1008", "needs a multiple of 16"}},
    {"stride of 4100 bytes",
     TMARING_F32,
     0x1000,
     4,
     4100,
     {64, 8},
     TMARING_ERROR_ALIGNMENT,
     {"strides[1]", "got 4100 bytes", "needs a multiple of 16"}},
    {"stride of 2046 bytes",
     TMARING_BF16,
     0x1000,
     2,
     2046,
     {64, 8},
     TMARING_ERROR_ALIGNMENT,
     {"strides[1]", "got 2046 bytes", "needs a multiple of 16"}},
    {"box of 8 bytes, f32",
     TMARING_F32,
     0x1000,
     4,
     4096,
     {2, 8},
     TMARING_ERROR_ALIGNMENT,
     {"box[0]", "got 2 elements of 4 bytes, 8 bytes", "needs a multiple of 16 bytes"}},
    {"box of 8 bytes, f16",
     TMARING_F16,
     0x1000,
     2,
     4096,
     {4, 8},
     TMARING_ERROR_ALIGNMENT,
     {"box[0]", "got 4 elements of 2 bytes, 8 bytes", "needs a multiple of 16 bytes"}},
    {"inner box of 260",
     TMARING_F32,
     0x1000,
     4,
     4096,
     {260, 8},
     TMARING_ERROR_SHAPE,
     {"box[0]", "got 260", "needs 1 .. 256"}},
    {"outer box of 257",
     TMARING_F32,
     0x1000,
     4,
     4096,
     {64, 257},
     TMARING_ERROR_SHAPE,
     {"box[1]", "got 257", "needs 1 .. 256"}},
    {"inner stride of two elements, f32",
     TMARING_F32,
     0x1000,
     8,
     4096,
     {64, 8},
     TMARING_ERROR_UNSUPPORTED,
     {"strides[0]", "got 8 bytes", "needs 4"}},
    {"inner stride of two elements, f16",
     TMARING_F16,
     0x1000,
     4,
     4096,
     {64, 8},
     TMARING_ERROR_UNSUPPORTED,
     {"strides[0]", "got 4 bytes", "needs 2"}},
};

static tmaring_tensor_map_tiled map_of(const map_case *m)
{
  tmaring_tensor_map_tiled map = TMARING_TENSOR_MAP_TILED_INIT;
  map.dtype = m->dtype;
  map.rank = 2;
  map.address = m->address;
  map.dims[0] = 1024;
  map.dims[1] = 128;
  map.strides[0] = m->inner_stride;
  map.strides[1] = m->stride;
  map.box[0] = m->box[0];
  map.box[1] = m->box[1];
  return map;
}

CONFORMANCE_TEST(map_refusals, 7, "tensor maps")
{
  (void)v;
  for (size_t i = 0; i < sizeof map_cases / sizeof map_cases[0]; ++i) {
    const map_case *m = &map_cases[i];
    const tmaring_tensor_map_tiled map = map_of(m);
    if (conformance_takes(c)) count_refusal(c, m->what, tmaring_tensor_map_check_tiled(&map), m->status, m->words);
  }
}

/* What is refused is the changed field: without the change the map passes. */
Test(conformance, the_map_without_a_change_passes, .timeout = 10)
{
  const map_case right = {"", TMARING_F32, 0x1000, 4, 4096, {64, 8}, TMARING_OK, {"", "", ""}};
  const tmaring_tensor_map_tiled map = map_of(&right);
  cr_assert_eq(tmaring_tensor_map_check_tiled(&map), TMARING_OK, "%s", tmaring_last_detail());
}

/* ---- blocks and registers ---- */

typedef struct block_case {
  const char *what;
  mode_choice mode;
  int32_t consumers[3], registers[2];
  const char *words[MAX_WORDS];
} block_case;

static const block_case block_cases[] = {
    {"16 threads, producer on x",
     MODE_SPECIALIZED_X,
     {16, 1, 1},
     {0, 0},
     {"consumers", "got 16x1x1 = 16 threads", "a multiple of 32"}},
    {"16 threads, producer on y",
     MODE_SPECIALIZED_Y,
     {8, 2, 1},
     {0, 0},
     {"consumers", "got 8x2x1 = 16 threads", "a multiple of 32"}},
    {"31 threads, producer on z",
     MODE_SPECIALIZED_Z,
     {31, 1, 1},
     {0, 0},
     {"consumers", "got 31x1x1 = 31 threads", "a multiple of 32"}},
    {"24 threads, one of them prefetches, WAR by CTA barrier",
     MODE_PIPELINED_CTA,
     {24, 1, 1},
     {0, 0},
     {"consumers", "got 24x1x1 = 24 threads", "a multiple of 32"}},
    {"1 thread, WAR by mbarrier",
     MODE_PIPELINED_MBARRIER,
     {1, 1, 1},
     {0, 0},
     {"consumers", "got 1x1x1 = 1 threads", "a multiple of 32"}},
    {"producer of 16",
     MODE_SPECIALIZED_X,
     {256, 1, 1},
     {16, 168},
     {"registers of the producer", "got 16", "24 .. 256"}},
    {"producer of 0", MODE_SPECIALIZED_X, {256, 1, 1}, {0, 168}, {"registers of the producer", "got 0", "24 .. 256"}},
    {"consumers of 264",
     MODE_SPECIALIZED_Y,
     {256, 1, 1},
     {64, 264},
     {"registers of the consumers", "got 264", "24 .. 256"}},
    {"producer of 60",
     MODE_SPECIALIZED_X,
     {256, 1, 1},
     {60, 168},
     {"registers of the producer", "got 60", "multiple of 8"}},
    {"consumers of 172",
     MODE_SPECIALIZED_Z,
     {256, 1, 1},
     {64, 172},
     {"registers of the consumers", "got 172", "multiple of 8"}},
    {"producer above consumers",
     MODE_SPECIALIZED_X,
     {256, 1, 1},
     {168, 64},
     {"registers: got 168 for the producer", "at most the 64", "consumers"}},
};

static op_trial block_trial(const block_case *b)
{
  op_trial t = conformance_trial(CONFORMANCE_DOUBLE, 1000, 256);
  mode_choose(&t.options, b->mode);
  for (int i = 0; i < 3; ++i) t.options.consumers[i] = b->consumers[i];
  for (int i = 0; i < 2; ++i) t.options.registers[i] = b->registers[i];
  return t;
}

CONFORMANCE_TEST(block_refusals, 7, "blocks and registers")
{
  for (size_t i = 0; i < sizeof block_cases / sizeof block_cases[0]; ++i) {
    const block_case *b = &block_cases[i];
    const op_trial t = block_trial(b);
    if (!conformance_takes(c)) continue;
    const trial_result result = conformance_run(&t, v);
    count_refusal(c, b->what, result.status, TMARING_ERROR_UNSUPPORTED, b->words);
  }
}

/* ---- tensors of a plan by tensor map ---- */

typedef struct tensor_case {
  const char *what;
  op_layout layout;
  int64_t cols;
  const char *words[MAX_WORDS];
} tensor_case;

static const tensor_case tensor_cases[] = {
    {"base one element off", OP_SHIFTED, 256, {"x: load tile", "base alignment in bytes: got 4", "needs 16"}},
    {"pitch of 259 elements",
     OP_ODD,
     256,
     {"x: load tile", "stride in bytes between rows: got 1036", "multiple of 16"}},
    {"rows of 33 elements", OP_DENSE, 33, {"x: load tile", "stride in bytes between rows: got 132", "multiple of 16"}},
};

CONFORMANCE_TEST(tensor_refusals, 7, "plans by tensor map")
{
  for (size_t i = 0; i < sizeof tensor_cases / sizeof tensor_cases[0]; ++i) {
    const tensor_case *tensor = &tensor_cases[i];
    op_trial t = conformance_trial(CONFORMANCE_DOUBLE, 100, tensor->cols);
    t.layout = tensor->layout;
    t.options.load = TMARING_LOAD_TILE;
    if (!conformance_takes(c)) continue;
    const trial_result result = conformance_run(&t, v);
    count_refusal(c, tensor->what, result.status, TMARING_ERROR_UNSUPPORTED, tensor->words);
  }
}

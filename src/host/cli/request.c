/* The table of options, and the reading of a command line with it. */
#define _GNU_SOURCE
#include "request.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"

#define FIELD(name) offsetof(tmaring__request, name)
#define SHAPED      (TMARING__FOR_PLAN | TMARING__FOR_CHECK | TMARING__FOR_BENCH | TMARING__FOR_EMIT)
#define PLANNED     (TMARING__FOR_RUN | SHAPED)
#define LAUNCHED    (TMARING__FOR_RUN | TMARING__FOR_BENCH)
#define ON_PAPER    (TMARING__FOR_PLAN | TMARING__FOR_CHECK | TMARING__FOR_EMIT)
#define IN_JSON     (TMARING__FOR_PLAN | TMARING__FOR_CHECK | TMARING__FOR_BENCH | TMARING__FOR_INFO | TMARING__FOR_OPS)
#define ALONE       (TMARING__FOR_INFO | TMARING__FOR_OPS)
#define WORD(name, value, commands, field, words, help)                                                                \
  {                                                                                                                    \
    name, value, commands, tmaring__read_word, FIELD(field), words, 0, 0, help                                         \
  }
#define NUMBER(name, value, commands, field, low, high, help)                                                          \
  {                                                                                                                    \
    name, value, commands, tmaring__read_number, FIELD(field), NULL, low, high, help                                   \
  }
#define FLAG(name, commands, field, help)                                                                              \
  {                                                                                                                    \
    name, NULL, commands, tmaring__read_flag, FIELD(field), NULL, 0, 0, help                                           \
  }
#define READ(name, value, commands, reader, help)                                                                      \
  {                                                                                                                    \
    name, value, commands, reader, 0, NULL, 0, 0, help                                                                 \
  }

static const tmaring__option table[] = {
    READ("op", "NAME", PLANNED, tmaring__read_op, "a formula of the catalogue (tmaring ops), in place of one"),
    READ("in", "NAME=FILE[:TYPE]", TMARING__FOR_RUN, tmaring__read_in,
         "an input: a .npy file (:bf16, :e4m3, :e5m2 where it holds codes), or FILE.safetensors:TENSOR"),
    READ("out", "NAME=FILE[:TYPE]", TMARING__FOR_RUN, tmaring__read_out,
         "an output, .npy; [M,N]: type of the first [M,N] input; others: f32, f64 where the formula runs in double"),
    READ("shape", "M,N", PLANNED, tmaring__read_shape, "rows and columns; run: where no input tells them"),
    WORD("type", "TYPE", SHAPED, type, tmaring__words_type,
         "of the inputs: f32 (default), f16, bf16, f64, e4m3, e5m2, i8, i32, i64; outputs as with run"),
    READ("tensor", "NAME=ATTRIBUTE[,...]", SHAPED, tmaring__read_tensor,
         "one tensor: TYPE, pitch=ELEMENTS (one: all rows share a value), step=, group-rows=, group-pitch=, "
         "align=BYTES"),
    READ("scalar", "NAME=VALUE", LAUNCHED, tmaring__read_scalar,
         "a scalar parameter without default, or instead of it"),
    WORD("backend", "auto|cuda|cpu", LAUNCHED, backend, tmaring__words_backend, "where it runs (auto)"),
    WORD("machine", "h200|device", ON_PAPER, machine, tmaring__words_machine,
         "machine to plan for: built in, or this one's device 0 (h200)"),
    NUMBER("sms", "COUNT", SHAPED, sm_count, 1, 65536, "plan for so many SMs"),
    WORD("order", "split|blocked|cyclic|ticket", PLANNED, plan.order, tmaring__words_order, "order of the walk"),
    WORD("policy", "wrap|skip|exact", PLANNED, plan.policy, tmaring__words_policy, "what surplus slots do"),
    NUMBER("workers", "CTAS", PLANNED, plan.workers, 1, INT32_MAX, "persistent CTAs (or clusters)"),
    NUMBER("tile-rows", "ROWS", PLANNED, plan.tile_rows, 1, INT32_MAX, "rows per fill"),
    NUMBER("piece-cols", "COLUMNS", PLANNED, plan.piece_cols, 1, INT32_MAX,
           "columns per piece of a row; N: whole rows"),
    NUMBER("stages", "COUNT", PLANNED, plan.stages, 1, INT32_MAX, "stages S of the ring"),
    NUMBER("prefetch", "FILLS", PLANNED, plan.prefetch, INT32_MIN + 1, INT32_MAX,
           "distance P, -S to S-1; negative: S+P"),
    READ("mode", "pipelined|ws-x|ws-y|ws-z", PLANNED, tmaring__read_mode, "roles of the CTA"),
    WORD("war", "cta|mbarrier", PLANNED, plan.war, tmaring__words_war, "pipelined: what frees a stage"),
    WORD("release", "warp|thread", PLANNED, plan.release, tmaring__words_release, "who arrives at the empty barrier"),
    READ("consumers", "X[,Y[,Z]]", PLANNED, tmaring__read_consumers, "threads of the consumer block"),
    READ("registers", "P,C", PLANNED, tmaring__read_registers, "register sharing of producer and consumers; 0,0: none"),
    WORD("scope", "flat|lanes|warp|group|cta|cluster", PLANNED, plan.scope, tmaring__words_scope,
         "threads that share a row"),
    NUMBER("lanes-per-row", "COUNT", PLANNED, plan.lanes_per_row, 1, 32, "scope lanes"),
    NUMBER("cluster", "COUNT", PLANNED, plan.cluster, 1, TMARING_MAX_CLUSTER,
           "CTAs of a cluster that share a row: 2, 4 or 8; 1: none"),
    NUMBER("warps-per-row", "COUNT", PLANNED, plan.warps_per_row, 1, 32, "scope group"),
    READ("load", "[NAME=]PATH", PLANNED, tmaring__read_load,
         "how inputs, or one of them, are loaded: bulk, tile, async, ordinary, direct"),
    WORD("store", "direct|bulk|tile", PLANNED, plan.store, tmaring__words_store, "how results go out"),
    NUMBER("squads", "COUNT", PLANNED, plan.squads, 1, 2, "groups of consumer warps with fills of their own"),
    WORD("turns", "cooperative|alternating", PLANNED, plan.turns, tmaring__words_turns,
         "squads share each tile, or take tiles in turn"),
    NUMBER("multicast", "CTAS", PLANNED, plan.multicast, 1, TMARING_MAX_CLUSTER,
           "CTAs of a cluster that receive [N] inputs together: 2, 4 or 8; 1: none"),
    FLAG("debug", PLANNED, plan.debug, "bounded waits and a fault record"),
    FLAG("verify", TMARING__FOR_RUN, verify, "compare the results with an evaluation in double"),
    {"rtol", "R", TMARING__FOR_RUN, tmaring__read_real, FIELD(relative), NULL, 0, 0, "--verify: relative tolerance"},
    {"atol", "A", TMARING__FOR_RUN, tmaring__read_real, FIELD(absolute), NULL, 0, 0, "--verify: absolute tolerance"},
    NUMBER("reps", "COUNT", TMARING__FOR_BENCH, repetitions, 1, 100000, "repetitions to take the median of (20)"),
    FLAG("explain", TMARING__FOR_PLAN, explain, "say what was chosen, changed and given up, and why"),
    FLAG("json", IN_JSON, json, "print JSON"),
    FLAG("help", PLANNED | ALONE, help, "print this"),
};

#define OPTION_COUNT ((int)(sizeof table / sizeof table[0]))

static void set_defaults(tmaring__request *request, const char *command, unsigned bit)
{
  memset(request, 0, sizeof *request);
  request->command = command;
  request->bit = bit;
  request->op = -1;
  request->type = TMARING_F32;
  request->backend = TMARING__BACKEND_AUTO;
  request->repetitions = 20;
  request->relative = request->absolute = -1;
  tmaring_plan_options_init(&request->plan);
}

/* getopt_long's copy of the table. 'h' is --help, the others are 256 + index. */
static void make_long_options(struct option *list)
{
  for (int i = 0; i < OPTION_COUNT; ++i) {
    const struct option entry = {table[i].name, table[i].value ? required_argument : no_argument, NULL, 256 + i};
    list[i] = entry;
  }
  memset(&list[OPTION_COUNT], 0, sizeof list[0]);
}

static int refuse_option(const tmaring__request *request, int kind, char **argv)
{
  const char *const text = argv[optind - 1];
  if (kind == ':') return tmaring__misuse(request->command, "%s: got nothing after it, needs a value", text);
  if (optopt >= 256) return tmaring__misuse(request->command, "%s: got a value, needs none", text);
  if (optopt)
    return tmaring__misuse(request->command, "-%c: got an unknown option; options are written out (--help)", optopt);
  return tmaring__misuse(request->command, "%s: got an unknown or ambiguous option, needs one of 'tmaring %s --help'",
                         text, request->command);
}

static int apply(tmaring__request *request, int index, const char *value)
{
  const tmaring__option *const option = &table[index];
  if (!(option->commands & request->bit))
    return tmaring__misuse(request->command, "--%s: got an option that '%s' does not take", option->name,
                           request->command);
  return option->read(request, option, value);
}

static int take_formula(tmaring__request *request, int argc, char **argv)
{
  if (request->op >= 0 || (request->bit & ALONE)) {
    if (optind == argc) return 0;
    return tmaring__misuse(request->command, "got '%s', needs no %s", argv[optind],
                           request->op >= 0 ? "formula beside --op" : "argument");
  }
  if (optind >= argc) return tmaring__misuse(request->command, "formula: got none, needs one, in quotes: 'y = x + x'");
  if (optind + 1 < argc)
    return tmaring__misuse(request->command,
                           "got '%s' after the formula, needs one formula; put it in quotes: 'y = x + x'",
                           argv[optind + 1]);
  request->formula = argv[optind];
  return 0;
}

int tmaring__request_parse(tmaring__request *request, const char *command, unsigned bit, int argc, char **argv)
{
  struct option list[OPTION_COUNT + 1];
  int kind, code;
  set_defaults(request, command, bit);
  make_long_options(list);
  opterr = 0;
  optind = 0; /* glibc: start anew */
  while ((kind = getopt_long(argc, argv, ":h", list, NULL)) != -1) {
    if (kind == ':' || kind == '?') return refuse_option(request, kind, argv);
    if (kind == 'h')
      request->help = 1;
    else if ((code = apply(request, kind - 256, optarg)) != 0)
      return code;
  }
  if (request->help) return 0;
  if ((code = take_formula(request, argc, argv)) != 0) return code;
  if ((bit & SHAPED) && !request->has_shape)
    return tmaring__misuse(command, "--shape: got none, needs M,N (--shape 8191,256)");
  return 0;
}

void tmaring__request_free(tmaring__request *request)
{
  for (int32_t i = 0; i < TMARING__MAX_TENSORS; ++i) {
    free(request->in[i].path);
    free(request->in[i].tensor);
    free(request->out[i].path);
    free(request->out[i].tensor);
  }
}

void tmaring__request_print_options(unsigned bit)
{
  char left[64];
  for (int i = 0; i < OPTION_COUNT; ++i) {
    if (!(table[i].commands & bit)) continue;
    snprintf(left, sizeof left, "--%s%s%s", table[i].name, table[i].value ? " " : "",
             table[i].value ? table[i].value : "");
    printf("  %-40s %s\n", left, table[i].help);
  }
}

#include "help.h"

#include <stdio.h>

#include "request.h"

typedef struct page {
  unsigned bit;
  const char *usage, *about, *examples;
} page;

static const page pages[] = {
    {TMARING__FOR_RUN, "run FORMULA --in NAME=FILE[:TYPE] ... --out NAME=FILE[:TYPE] ... [options]",
     "Reads .npy files, runs the formula through the ring, writes .npy files.\n"
     "M and N come from the inputs: [M,N] is a file of two dimensions, [N] and [M] are files of one. Files are\n"
     "little endian, C order, <f4 (f32) or <f2 (f16); bf16 is <V2 (or <u2) with :bf16 after the file's name.\n"
     "--verify allows |error| <= rtol * |reference| + atol, where, with u = 2^-24 and u_T the roundoff of the\n"
     "output's type, rtol = 2 u_T + (64 + N/16) u and atol = (64 + N/16) u * largest |reference|.\n",
     "  tmaring run 'y = x + x' --in x=in.npy --out y=y.npy --verify\n"
     "  tmaring run 'rmsnorm(x[M,N], w[N]; eps) = x * rsqrt(mean(x*x) + eps) * w' \\\n"
     "      --in x=x.npy:bf16 --in w=w.npy:bf16 --scalar eps=1e-6 --out y=y.npy --backend cpu\n"
     "  tmaring run 'y = x + x' --in x=in.npy --out y=y.npy --stages 4 --prefetch -1 --mode ws-y --policy wrap\n"},
    {TMARING__FOR_PLAN, "plan FORMULA --shape M,N [options]",
     "Shows how a formula would run: walk, ring, CTA, scope, path, variants, and the map of shared memory.\n"
     "Needs no GPU and no driver.\n",
     "  tmaring plan 'y = x + x' --shape 8191,256 --explain\n"
     "  tmaring plan 'y = x + x' --shape 8191,256 --order split --policy wrap --stages 4 --sms 78 --json\n"
     "  tmaring plan 'y = x * w[N]' --shape 4096,769 --type bf16 --tensor x=bf16,pitch=1024,align=2\n"},
    {TMARING__FOR_CHECK, "check FORMULA --shape M,N [options]",
     "Proves the plan for M rows: bounds, alignment, each row stored exactly once, arrival and byte counts, and\n"
     "no wait that cannot end. Exit code 5 and the place of the first fault where it does not hold.\n",
     "  tmaring check 'y = x + x' --shape 1000,1024 --order split --policy wrap --stages 2\n"
     "  tmaring check 's = sum(x)' --shape 997,33 --mode ws-z --json\n"},
    {TMARING__FOR_BENCH, "bench FORMULA --shape M,N [options]",
     "Measures the formula on random data, and a copy of the same number of bytes in the same run as the ceiling.\n"
     "cuda: replays of a CUDA graph whose launches rotate over buffers past twice the L2, so operands are cold;\n"
     "the ceiling is cuMemcpyDtoDAsync on the stream. cpu: the wall time of a launch; the ceiling is memcpy.\n"
     "A copy reads as much as it writes: where the formula's mix differs, the ratio says so.\n",
     "  tmaring bench 'y = x + x' --shape 1048573,256\n"
     "  tmaring bench 'y = x + x' --shape 8191,256 --order ticket --reps 100 --json\n"},
    {TMARING__FOR_INFO, "info [--json]", "Versions, devices, and which backends can be used or why not.\n",
     "  tmaring info\n"
     "  tmaring info --json\n"},
};

static void print_exit_codes(void)
{
  printf("\nExit codes\n");
#define PRINT_EXIT(name, value, text) printf("  %d  %s\n", value, text);
  TMARING__EXIT_LIST(PRINT_EXIT)
#undef PRINT_EXIT
}

void tmaring__help_print(void)
{
  printf("tmaring runs row formulas over big matrices, at memory speed on a Hopper GPU, or on the CPU.\n\nUsage\n");
  for (size_t i = 0; i < sizeof pages / sizeof pages[0]; ++i) printf("  tmaring %s\n", pages[i].usage);
  printf("  tmaring help [COMMAND]\n  tmaring --version\n\nExamples\n");
  for (size_t i = 0; i < sizeof pages / sizeof pages[0]; ++i) printf("%s", pages[i].examples);
  print_exit_codes();
  printf("\nResults go to standard output, everything else to standard error.\n");
}

void tmaring__help_print_command(unsigned bit)
{
  for (size_t i = 0; i < sizeof pages / sizeof pages[0]; ++i) {
    if (pages[i].bit != bit) continue;
    printf("Usage: tmaring %s\n\n%s\nOptions\n", pages[i].usage, pages[i].about);
    tmaring__request_print_options(bit);
    printf("\nExamples\n%s", pages[i].examples);
  }
  print_exit_codes();
}

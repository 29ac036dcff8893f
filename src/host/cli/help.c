#include "help.h"

#include <stdio.h>

#include "request.h"

typedef struct page {
  unsigned bit;
  const char *usage, *about, *examples;
} page;

static const page pages[] = {
    {TMARING__FOR_RUN, "run FORMULA --in NAME=FILE[:TYPE] ... --out NAME=FILE[:TYPE] ... [options]",
     "Reads .npy and .safetensors files, runs the formula through the ring, writes .npy files.\n"
     "M and N come from the inputs. [N] and [M] are files of one dimension, an [M] file of a single value serves\n"
     "all rows. [M,N], [M,2N] and [M,N/k] are files of two dimensions; leading dimensions of more are folded into\n"
     "rows ([T,H,d] is [T*H,d]). Files are little endian, in C order, and mapped, never written.\n"
     ".npy: f8 f4 f2 i1 i4 i8. numpy has no bf16 and no fp8: codes in <u2 or V2 need :bf16 after the file's name,\n"
     "codes in u1, V1 or f1 need :e4m3 or :e5m2. Outputs of these types are written as <u2 and |u1.\n"
     ".safetensors: F64 F32 F16 BF16 F8_E4M3 F8_E5M2 I8 I32 I64. The tensor's name is all that follows the first\n"
     "'.safetensors:', its own colons included; its type is the file's.\n"
     "--verify: an element passes where rounding some number within rtol * |reference| + atol of the reference to\n"
     "the output's type gives it: an fp8 code may be the next one only close to a midpoint. With u = 2^-24 (2^-53\n"
     "where the formula runs in double) rtol is (64 + N/16) u, and 2 roundoffs more for each cast; atol is as much\n"
     "of the largest |reference|, for fp8 and integers 8 u of it.\n",
     "  tmaring run 'y = x + x' --in x=in.npy --out y=y.npy --verify\n"
     "  tmaring run 'rmsnorm(x[M,N], w[N]; eps) = x * rsqrt(mean(x*x) + eps) * w' \\\n"
     "      --in x=x.npy:bf16 --in w=w.npy:bf16 --scalar eps=1e-6 --out y=y.npy --backend cpu\n"
     "  tmaring run --op rmsnorm_quantize_fp8_row --in x=x.npy:bf16 --in w=model.safetensors:model.norm.weight \\\n"
     "      --out q=q.npy --out s=s.npy --verify\n"
     "  tmaring run 'y = x + x' --in x=in.npy --out y=y.npy --stages 4 --prefetch -1 --mode ws-y --policy wrap\n"},
    {TMARING__FOR_PLAN, "plan FORMULA --shape M,N [options]",
     "Shows how a formula would run: walk, ring, CTA, scope, path, variants, and the map of shared memory.\n"
     "Needs no GPU and no driver.\n",
     "  tmaring plan 'y = x + x' --shape 8191,256 --explain\n"
     "  tmaring plan 'y = x + x' --shape 8191,256 --order split --policy wrap --stages 4 --sms 78 --json\n"
     "  tmaring plan 'y = a + b' --shape 4096,4096 --load tile --load b=async --store tile\n"
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
    {TMARING__FOR_EMIT, "emit FORMULA --shape M,N [options]",
     "Prints the CUDA C that is compiled for the plan. It includes headers that the library carries.\n"
     "Needs no GPU and no driver.\n",
     "  tmaring emit 'y = x + x' --shape 8191,256 --type bf16\n"
     "  tmaring emit --op add_rmsnorm --shape 16384,4096 --type bf16 --tensor w=f32\n"},
    {TMARING__FOR_OPS, "ops [--json]",
     "The catalogue: names, formulas, shapes and types of the tensors, and what may share memory. Every command that\n"
     "takes a formula takes --op NAME in its place.\n",
     "  tmaring ops\n"
     "  tmaring plan --op softmax --shape 1024,151937 --type bf16\n"},
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

/* Every file of the fuzz targets' corpora, through the targets themselves. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each target has the function that libFuzzer calls: here under a name of its own. */
#define LLVMFuzzerTestOneInput replay_npy
#include "fuzz/fuzz_npy.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput replay_safetensors
#include "fuzz/fuzz_safetensors.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput replay_formula
#include "fuzz/fuzz_formula.c"
#undef LLVMFuzzerTestOneInput

enum { LARGEST = 1 << 20 };

/* 1 where the file went through. */
static int replay_file(const char *path, int (*target)(const uint8_t *, size_t))
{
  FILE *const file = fopen(path, "rb");
  uint8_t *const data = malloc(LARGEST);
  cr_assert(file && data, "%s cannot be read", path);
  const size_t size = fread(data, 1, LARGEST, file);
  cr_assert(feof(file), "%s is too large", path);
  fclose(file);
  target(data, size);
  free(data);
  return 1;
}

static void replay(const char *name, int (*target)(const uint8_t *, size_t))
{
  char folder[256], path[1024];
  int count = 0;
  snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", name);
  DIR *const list = opendir(folder);
  cr_assert(list, "%s: no such folder; run from the root of the sources", folder);
  for (const struct dirent *entry; (entry = readdir(list)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    count += replay_file(path, target);
  }
  closedir(list);
  cr_expect_geq(count, 20, "%s: %d files", folder, count);
}

Test(fuzz_replay, npy, .timeout = 60)
{
  replay("npy", replay_npy);
}

Test(fuzz_replay, safetensors, .timeout = 60)
{
  replay("safetensors", replay_safetensors);
}

Test(fuzz_replay, formula, .timeout = 300)
{
  replay("formula", replay_formula);
}

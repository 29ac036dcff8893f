#define _GNU_SOURCE
#include "code_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* File: magic, source bytes, cubin bytes, hash of the cubin, source, cubin. The hash tells a file that a crash of the
 * machine left half written: a damaged cubin would make every later load fail. */
struct entry_head {
  char magic[8];
  uint64_t source_bytes, cubin_bytes, cubin_hash;
};

static const char magic[8] = "TMARING2";

static int entry_path(const uint64_t key[2], char *path, size_t size)
{
  const char *directory = getenv("TMARING_CACHE_DIR");
  if (!directory || !*directory) return 0;
  const int count = snprintf(path, size, "%s/%016llx%016llx.cubin", directory, (unsigned long long)key[0],
                             (unsigned long long)key[1]);
  return count > 0 && (size_t)count < size;
}

static int same_source(FILE *file, const char *source, uint64_t bytes)
{
  if (bytes != strlen(source)) return 0;
  char *stored = malloc(bytes + 1);
  if (!stored) return 0;
  const int same = fread(stored, 1, bytes, file) == bytes && memcmp(stored, source, bytes) == 0;
  free(stored);
  return same;
}

int tmaring__cache_read(const uint64_t key[2], const char *source, void **cubin, size_t *bytes)
{
  char path[4096];
  if (!entry_path(key, path, sizeof path)) return 0;
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  struct entry_head head;
  int found = fread(&head, sizeof head, 1, file) == 1 && memcmp(head.magic, magic, sizeof magic) == 0 &&
              head.cubin_bytes > 0 && head.cubin_bytes < (1u << 28) && same_source(file, source, head.source_bytes);
  if (found && (*cubin = malloc(head.cubin_bytes))) {
    *bytes = head.cubin_bytes;
    found = fread(*cubin, 1, *bytes, file) == *bytes && XXH3_64bits(*cubin, *bytes) == head.cubin_hash;
    if (!found) free(*cubin);
  } else {
    found = 0;
  }
  fclose(file);
  return found;
}

void tmaring__cache_write(const uint64_t key[2], const char *source, const void *cubin, size_t bytes)
{
  char path[4096], temporary[4160];
  if (!entry_path(key, path, sizeof path)) return;
  snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
  const int descriptor = mkstemp(temporary);
  if (descriptor < 0) return;
  FILE *file = fdopen(descriptor, "wb");
  if (!file) {
    close(descriptor);
    unlink(temporary);
    return;
  }
  struct entry_head head = {{0}, strlen(source), bytes, XXH3_64bits(cubin, bytes)};
  memcpy(head.magic, magic, sizeof magic);
  int good = fwrite(&head, sizeof head, 1, file) == 1 &&
             fwrite(source, 1, head.source_bytes, file) == head.source_bytes && fwrite(cubin, 1, bytes, file) == bytes;
  good = fclose(file) == 0 && good;
  if (!good || rename(temporary, path) != 0) unlink(temporary);
}

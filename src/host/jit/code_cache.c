#define _GNU_SOURCE
#include "code_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- the folder ---- */

static int join(char *path, size_t size, const char *folder, const char *name)
{
  const int count = snprintf(path, size, "%s/%s", folder, name);
  return count > 0 && (size_t)count < size;
}

/* Under the user's own caches. A relative name there is no name. */
static int usual_folder(char *path, size_t size)
{
  const char *caches = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
  if (caches && caches[0] == '/') return join(path, size, caches, "tmaring");
  return home && home[0] == '/' && join(path, size, home, ".cache/tmaring");
}

/* 0: there is no cache. */
static int find_folder(char *path, size_t size, int *usual)
{
  const char *off = secure_getenv("TMARING_CACHE"), *named = secure_getenv("TMARING_CACHE_DIR");
  if (off && strcmp(off, "off") == 0) return 0;
  *usual = !named;
  if (*usual) return usual_folder(path, size);
  if (!*named || strlen(named) >= size) return 0;
  strcpy(path, named);
  return 1;
}

static int is_usable(const char *folder, int usual)
{
  struct stat status;
  if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode)) return 0;
  return !usual || status.st_uid == geteuid();
}

/* As mkdir -p. */
static void make_folders(char *folder)
{
  for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(folder, 0700);
    *slash = '/';
  }
  mkdir(folder, 0700);
}

static int entry_path(const uint64_t key[2], int create, char *path, size_t size)
{
  char folder[4000], name[40];
  int usual;
  if (!find_folder(folder, sizeof folder, &usual)) return 0;
  if (!is_usable(folder, usual)) {
    if (!create) return 0;
    make_folders(folder);
    if (!is_usable(folder, usual)) return 0;
  }
  snprintf(name, sizeof name, "%016llx%016llx.cubin", (unsigned long long)key[0], (unsigned long long)key[1]);
  return join(path, size, folder, name);
}

/* ---- entries ---- */

/* File: this, source, cubin. The hash tells a file that a crash of the machine left half written: a damaged cubin would
 * make every later load fail. */
struct entry_head {
  char magic[8];
  uint64_t source_bytes, cubin_bytes, cubin_hash, compiler;
};

static const char magic[8] = "TMARING3";

static int same_source(FILE *file, const char *source, uint64_t bytes)
{
  if (bytes != strlen(source)) return 0;
  char *stored = malloc(bytes + 1);
  if (!stored) return 0;
  const int same = fread(stored, 1, bytes, file) == bytes && memcmp(stored, source, bytes) == 0;
  free(stored);
  return same;
}

static int read_head(FILE *file, const char *source, struct entry_head *head)
{
  return fread(head, sizeof *head, 1, file) == 1 && memcmp(head->magic, magic, sizeof magic) == 0 &&
         head->cubin_bytes > 0 && head->cubin_bytes < (1u << 28) && same_source(file, source, head->source_bytes);
}

static int read_entry(FILE *file, const char *source, tmaring__cache_entry *entry)
{
  struct entry_head head;
  if (!read_head(file, source, &head)) return 0;
  entry->bytes = head.cubin_bytes;
  entry->compiler = (int32_t)head.compiler;
  entry->cubin = malloc(entry->bytes);
  if (!entry->cubin) return 0;
  if (fread(entry->cubin, 1, entry->bytes, file) == entry->bytes &&
      XXH3_64bits(entry->cubin, entry->bytes) == head.cubin_hash)
    return 1;
  free(entry->cubin);
  return 0;
}

int tmaring__cache_read(const uint64_t key[2], const char *source, tmaring__cache_entry *entry)
{
  char path[4096];
  if (!entry_path(key, 0, path, sizeof path)) return 0;
  FILE *file = fopen(path, "rbe");
  if (!file) return 0;
  const int found = read_entry(file, source, entry);
  fclose(file);
  return found;
}

static int write_entry(FILE *file, const char *source, const tmaring__cache_entry *entry)
{
  struct entry_head head = {
      {0}, strlen(source), entry->bytes, XXH3_64bits(entry->cubin, entry->bytes), (uint64_t)entry->compiler};
  memcpy(head.magic, magic, sizeof magic);
  const int good = fwrite(&head, sizeof head, 1, file) == 1 &&
                   fwrite(source, 1, head.source_bytes, file) == head.source_bytes &&
                   fwrite(entry->cubin, 1, entry->bytes, file) == entry->bytes;
  return fclose(file) == 0 && good;
}

void tmaring__cache_write(const uint64_t key[2], const char *source, const tmaring__cache_entry *entry)
{
  char path[4096], temporary[4160];
  if (!entry_path(key, 1, path, sizeof path)) return;
  snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
  const int descriptor = mkostemp(temporary, O_CLOEXEC);
  if (descriptor < 0) return;
  FILE *file = fdopen(descriptor, "wb");
  if (!file) close(descriptor);
  if (!file || !write_entry(file, source, entry) || rename(temporary, path) != 0) unlink(temporary);
}

/* The cache of compiled kernels on disk: where it lies, what it gives back, and what it does not take for an entry. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../src/host/jit/code_cache.h"
#include "../src/host/jit/code_store.h"
#include "../src/host/jit/nvrtc.h"

static const uint64_t key[2] = {0x0123456789abcdefull, 42};
static const char source[] = "a source";
static char top[64]; /* a folder of the running test's own */

static void begin(void)
{
  snprintf(top, sizeof top, "/tmp/tmaring-cache.XXXXXX");
  cr_assert_not_null(mkdtemp(top));
  unsetenv("TMARING_CACHE");
  unsetenv("XDG_CACHE_HOME");
  setenv("TMARING_CACHE_DIR", top, 1);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
  (void)status, (void)type, (void)walk;
  return remove(path);
}

static void end(void)
{
  nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

TestSuite(code_cache, .init = begin, .fini = end, .timeout = 60);

static const char *within(const char *name)
{
  static char path[4][160];
  static int turn;
  char *to = path[turn++ % 4];
  snprintf(to, sizeof path[0], "%s/%s", top, name);
  return to;
}

static void put(const char *code, int32_t compiler)
{
  const tmaring__cache_entry entry = {(void *)code, strlen(code), compiler};
  tmaring__cache_write(key, source, &entry);
}

/* 1 where the entry has these bytes. */
static int has(const char *code)
{
  tmaring__cache_entry entry;
  if (!tmaring__cache_read(key, source, &entry)) return 0;
  const int same = entry.bytes == strlen(code) && memcmp(entry.cubin, code, entry.bytes) == 0;
  free(entry.cubin);
  return same;
}

static int is_found(void)
{
  tmaring__cache_entry entry;
  const int found = tmaring__cache_read(key, source, &entry);
  if (found) free(entry.cubin);
  return found;
}

static const char *entry_file(const char *folder)
{
  static char path[200];
  snprintf(path, sizeof path, "%s/%016llx%016llx.cubin", folder, (unsigned long long)key[0],
           (unsigned long long)key[1]);
  return path;
}

static int mode_of(const char *path)
{
  struct stat status;
  return stat(path, &status) == 0 ? (int)(status.st_mode & 0777) : -1;
}

Test(code_cache, entries_come_back)
{
  tmaring__cache_entry entry;
  cr_expect_not(is_found());
  put("machine code", 1204);
  cr_assert(tmaring__cache_read(key, source, &entry));
  cr_expect_eq(entry.bytes, strlen("machine code"));
  cr_expect_arr_eq(entry.cubin, "machine code", entry.bytes);
  cr_expect_eq(entry.compiler, 1204);
  free(entry.cubin);
  put("newer", 1300);
  cr_expect(has("newer"));
}

Test(code_cache, another_source_or_key_is_another_entry)
{
  const uint64_t other[2] = {key[0], key[1] + 1};
  tmaring__cache_entry entry;
  put("code", 1204);
  cr_expect_not(tmaring__cache_read(key, "a sourcf", &entry));
  cr_expect_not(tmaring__cache_read(key, "a source and more", &entry));
  cr_expect_not(tmaring__cache_read(other, source, &entry));
  cr_expect(has("code"));
}

static void flip_byte(const char *path, long at)
{
  FILE *file = fopen(path, "r+b");
  cr_assert_not_null(file);
  fseek(file, at, SEEK_SET);
  const int byte = fgetc(file);
  fseek(file, at, SEEK_SET);
  fputc(byte ^ 1, file);
  fclose(file);
}

/* Whatever byte is damaged, in the head, the source or the code, there is no entry; nor where bytes are missing. */
Test(code_cache, damaged_files_are_no_entries)
{
  struct stat status;
  put("some machine code", 1204);
  const char *path = entry_file(top);
  cr_assert_eq(stat(path, &status), 0);
  for (long at = 0; at < status.st_size; ++at) {
    if (at >= 32 && at < 40) continue; /* the compiler's version is the caller's to judge */
    flip_byte(path, at);
    cr_expect_not(is_found(), "byte %ld", at);
    flip_byte(path, at);
  }
  cr_expect(has("some machine code"));
  for (long length = status.st_size - 1; length >= 0; length -= 7) {
    cr_assert_eq(truncate(path, length), 0);
    cr_expect_not(is_found(), "%ld bytes", length);
  }
  put("written anew", 1204);
  cr_expect(has("written anew"));
}

Test(code_cache, the_folder_is_chosen_in_order)
{
  setenv("HOME", within("home"), 1);
  setenv("XDG_CACHE_HOME", within("xdg"), 1);
  setenv("TMARING_CACHE_DIR", within("named/deep"), 1);
  put("named", 1);
  cr_expect_eq(access(entry_file(within("named/deep")), F_OK), 0);
  unsetenv("TMARING_CACHE_DIR");
  cr_expect_not(is_found());
  put("xdg", 1);
  cr_expect_eq(access(entry_file(within("xdg/tmaring")), F_OK), 0);
  setenv("XDG_CACHE_HOME", "not/absolute", 1);
  cr_expect_not(is_found());
  put("home", 1);
  cr_expect_eq(access(entry_file(within("home/.cache/tmaring")), F_OK), 0);
  cr_expect(has("home"));
  setenv("TMARING_CACHE_DIR", within("named/deep"), 1);
  cr_expect(has("named"));
}

Test(code_cache, folders_are_the_owners_alone)
{
  unsetenv("TMARING_CACHE_DIR");
  setenv("XDG_CACHE_HOME", within("xdg"), 1);
  umask(0);
  cr_expect_not(is_found());
  cr_expect_eq(access(within("xdg"), F_OK), -1, "reading must not create a folder");
  put("code", 1);
  cr_expect_eq(mode_of(within("xdg")), 0700);
  cr_expect_eq(mode_of(within("xdg/tmaring")), 0700);
  cr_expect_eq(mode_of(entry_file(within("xdg/tmaring"))), 0600);
}

Test(code_cache, it_can_be_turned_off)
{
  put("code", 1);
  setenv("TMARING_CACHE", "off", 1);
  cr_expect_not(is_found());
  put("other", 1);
  unsetenv("TMARING_CACHE");
  cr_expect(has("code"), "off must not write either");
  setenv("XDG_CACHE_HOME", within("xdg"), 1);
  setenv("TMARING_CACHE_DIR", "", 1);
  cr_expect_not(is_found());
  put("code", 1);
  cr_expect_eq(access(within("xdg"), F_OK), -1, "an empty TMARING_CACHE_DIR turns it off");
}

Test(code_cache, without_a_folder_nothing_is_kept)
{
  fclose(fopen(within("file"), "w"));
  setenv("TMARING_CACHE_DIR", within("file/below"), 1);
  put("code", 1);
  cr_expect_not(is_found());
  unsetenv("TMARING_CACHE_DIR");
  unsetenv("HOME");
  put("code", 1);
  cr_expect_not(is_found());
}

Test(code_cache, a_folder_of_another_user_must_be_named)
{
  if (geteuid() != 0) cr_skip_test("needs root, to give a folder away");
  setenv("XDG_CACHE_HOME", top, 1);
  unsetenv("TMARING_CACHE_DIR");
  put("code", 1);
  cr_expect(has("code"));
  cr_assert_eq(chown(within("tmaring"), 1, 1), 0);
  cr_expect_not(is_found());
  setenv("TMARING_CACHE_DIR", within("tmaring"), 1);
  cr_expect(has("code"));
}

/* Readers see whole entries while several processes write, each its own. */
static void write_often(char letter)
{
  char code[5000];
  memset(code, letter, sizeof code);
  code[1000 * (letter - 'a' + 1)] = 0;
  for (int i = 0; i < 100; ++i) put(code, letter);
  _exit(0);
}

static int is_whole(const tmaring__cache_entry *entry)
{
  const char *code = entry->cubin;
  for (size_t i = 0; i < entry->bytes; ++i)
    if (code[i] != entry->compiler) return 0;
  return entry->bytes == 1000u * (size_t)(entry->compiler - 'a' + 1);
}

Test(code_cache, writers_do_not_disturb_readers)
{
  int status, left = 3, found = 0, whole = 0;
  for (char letter = 'a'; letter < 'd'; ++letter)
    if (fork() == 0) write_often(letter);
  while (left > 0) {
    tmaring__cache_entry entry;
    while (waitpid(-1, &status, WNOHANG) > 0) --left;
    if (!tmaring__cache_read(key, source, &entry)) continue;
    ++found;
    whole += is_whole(&entry);
    free(entry.cubin);
  }
  cr_expect_gt(found, 0);
  cr_expect_eq(whole, found);
}

/* ---- with the other places that code comes from ---- */

static void enter(const char *text, int32_t compiler)
{
  const tmaring__cache_entry entry = {"cubin", 5, compiler};
  uint64_t its_key[2];
  tmaring__code_key(text, its_key);
  tmaring__cache_write(its_key, text, &entry);
}

Test(code_cache, without_a_compiler_any_entry_serves)
{
  tmaring__machine_code code;
  setenv("TMARING_NVRTC", "/nowhere/libnvrtc.so", 1);
  cr_assert_eq(tmaring__nvrtc_present(), 0);
  cr_expect_eq(tmaring__machine_code_find("some text", 0, &code), TMARING_ERROR_NO_COMPILER);
  enter("some text", 9999);
  const clock_t start = clock();
  cr_assert_eq(tmaring__machine_code_find("some text", 0, &code), TMARING_OK);
  cr_expect_lt((double)(clock() - start) / CLOCKS_PER_SEC, 0.020);
  cr_expect_eq(code.origin, TMARING__CODE_CACHE);
  cr_expect_eq(code.bytes, 5);
  tmaring__machine_code_free(&code);
}

Test(code_cache, an_entry_of_another_compiler_is_compiled_anew)
{
  static const char text[] = "extern \"C\" __global__ void tmaring_kernel(int *x) { *x = 1; }";
  tmaring__machine_code code;
  const int present = tmaring__nvrtc_present();
  if (!present) cr_skip_test("no NVRTC here");
  enter(text, present + 1);
  cr_assert_eq(tmaring__machine_code_find(text, 0, &code), TMARING_OK, "%s", tmaring_last_detail());
  cr_expect_eq(code.origin, TMARING__CODE_COMPILED);
  tmaring__machine_code_free(&code);
  cr_assert_eq(tmaring__machine_code_find(text, 0, &code), TMARING_OK);
  cr_expect_eq(code.origin, TMARING__CODE_CACHE);
  cr_expect_gt(code.bytes, 5);
  tmaring__machine_code_free(&code);
}

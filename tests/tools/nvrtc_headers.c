/* Compiles one file with NVRTC, without any include path: nvrtc_headers LIBNVRTC.SO OPTION... -- FILE HEADER...
 * The headers are handed over in memory, under each name by which one of them may include another. Prints the
 * compiler's log, and exits 1 when FILE does not compile. NVRTC_CUBIN in the environment names a file for the machine
 * code. Needs no GPU. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES   64
#define MAX_ALIASES 3

typedef struct compiler {
  int (*create)(void **program, const char *source, const char *name, int count, const char *const *headers,
                const char *const *names);
  int (*compile)(void *program, int count, const char *const *options);
  int (*log_size)(void *program, size_t *bytes);
  int (*log)(void *program, char *text);
  int (*cubin_size)(void *program, size_t *bytes);
  int (*cubin)(void *program, char *code);
  int (*destroy)(void **program);
} compiler;

typedef struct header_set {
  int count;
  const char *texts[MAX_FILES * MAX_ALIASES];
  const char *names[MAX_FILES * MAX_ALIASES];
} header_set;

static int find(void *library, const char *name, void *function, size_t bytes)
{
  void *address = dlsym(library, name);
  if (!address) fprintf(stderr, "%s: not in the library\n", name);
  memcpy(function, &address, bytes);
  return address != NULL;
}

static int open_compiler(compiler *nvrtc, const char *path)
{
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 0;
  }
  return find(library, "nvrtcCreateProgram", &nvrtc->create, sizeof nvrtc->create) &&
         find(library, "nvrtcCompileProgram", &nvrtc->compile, sizeof nvrtc->compile) &&
         find(library, "nvrtcGetProgramLogSize", &nvrtc->log_size, sizeof nvrtc->log_size) &&
         find(library, "nvrtcGetProgramLog", &nvrtc->log, sizeof nvrtc->log) &&
         find(library, "nvrtcGetCUBINSize", &nvrtc->cubin_size, sizeof nvrtc->cubin_size) &&
         find(library, "nvrtcGetCUBIN", &nvrtc->cubin, sizeof nvrtc->cubin) &&
         find(library, "nvrtcDestroyProgram", &nvrtc->destroy, sizeof nvrtc->destroy);
}

/* The whole file, zero-terminated; kept until the program ends. */
static char *read_text(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  const long bytes = ftell(file);
  rewind(file);
  char *text = bytes < 0 ? NULL : calloc((size_t)bytes + 1, 1);
  if (text && fread(text, 1, (size_t)bytes, file) != (size_t)bytes) text = NULL;
  fclose(file);
  return text;
}

/* include/tmaring/abi/walk.h is included as "walk.h" by its neighbours and as "../abi/walk.h" or "tmaring/abi/walk.h"
 * by others. */
static int add_header(header_set *set, const char *path)
{
  char *text = read_text(path);
  if (!text) return 0;
  const char *stem = path, *folder = path;
  for (const char *p = path; *p; p++) {
    if (*p != '/') continue;
    folder = stem;
    stem = p + 1;
  }
  char names[MAX_ALIASES][256];
  snprintf(names[0], sizeof names[0], "%s", stem);
  snprintf(names[1], sizeof names[1], "../%s", folder);
  snprintf(names[2], sizeof names[2], "tmaring/%s", folder);
  for (int i = 0; i < MAX_ALIASES; i++) {
    set->texts[set->count] = text;
    set->names[set->count++] = strdup(names[i]);
  }
  return 1;
}

static void print_log(const compiler *nvrtc, void *program)
{
  size_t bytes = 0;
  if (nvrtc->log_size(program, &bytes) != 0 || bytes < 2) return;
  char *text = calloc(bytes + 1, 1);
  if (text && nvrtc->log(program, text) == 0) printf("%s\n", text);
  free(text);
}

static int write_cubin(const compiler *nvrtc, void *program, const char *path)
{
  size_t bytes = 0;
  if (!path) return 1;
  if (nvrtc->cubin_size(program, &bytes) != 0 || bytes == 0) return 0;
  char *code = malloc(bytes);
  FILE *file = fopen(path, "wb");
  const int written = code && file && nvrtc->cubin(program, code) == 0 && fwrite(code, 1, bytes, file) == bytes;
  free(code);
  return file && fclose(file) == 0 && written;
}

static int compile_file(const compiler *nvrtc, const header_set *set, const char *path, int option_count,
                        const char *const *options)
{
  char *source = read_text(path);
  void *program = NULL;
  if (!source || nvrtc->create(&program, source, path, set->count, set->texts, set->names) != 0) {
    printf("%s: could not be read or handed over\n", path);
    return 0;
  }
  const int result = nvrtc->compile(program, option_count, options);
  if (result) printf("%s: NVRTC status %d\n", path, result);
  print_log(nvrtc, program);
  const int done = result == 0 && write_cubin(nvrtc, program, getenv("NVRTC_CUBIN"));
  if (result == 0 && !done) printf("%s: no machine code could be written\n", path);
  nvrtc->destroy(&program);
  free(source);
  return done;
}

int main(int argc, char **argv)
{
  int file = 2;
  compiler nvrtc;
  static header_set set;
  while (file < argc && strcmp(argv[file], "--") != 0) file++;
  const int options = file - 2;
  file++;
  if (file >= argc || argc - file > MAX_FILES) {
    fprintf(stderr, "usage: nvrtc_headers LIBNVRTC.SO OPTION... -- FILE HEADER...\n");
    return 2;
  }
  if (!open_compiler(&nvrtc, argv[1])) return 1;
  for (int i = file + 1; i < argc; i++) {
    if (!add_header(&set, argv[i])) {
      fprintf(stderr, "%s: cannot be read\n", argv[i]);
      return 1;
    }
  }
  return compile_file(&nvrtc, &set, argv[file], options, (const char *const *)argv + 2) ? 0 : 1;
}

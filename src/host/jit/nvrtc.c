#define _GNU_SOURCE
#include "nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded.h"

/* The part of nvrtc.h that is used; declared here so that building needs no toolkit. Stable since CUDA 11.1. */
typedef struct _nvrtcProgram *nvrtc_program;
typedef struct nvrtc_calls {
  int (*version)(int *major, int *minor);
  int (*create)(nvrtc_program *program, const char *source, const char *name, int headers, const char *const *texts,
                const char *const *names);
  int (*destroy)(nvrtc_program *program);
  int (*compile)(nvrtc_program program, int count, const char *const *options);
  int (*cubin_size)(nvrtc_program program, size_t *bytes);
  int (*cubin)(nvrtc_program program, char *cubin);
  int (*log_size)(nvrtc_program program, size_t *bytes);
  int (*log)(nvrtc_program program, char *log);
} nvrtc_calls;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static nvrtc_calls calls;
static int loaded, version_major, version_minor;
static const char *file_name;

static int find(void *library, const char *name, void *member)
{
  void *address = dlsym(library, name);
  *(void **)member = address;
  return address != NULL;
}

static int find_all(void *library)
{
  return find(library, "nvrtcVersion", &calls.version) && find(library, "nvrtcCreateProgram", &calls.create) &&
         find(library, "nvrtcDestroyProgram", &calls.destroy) && find(library, "nvrtcCompileProgram", &calls.compile) &&
         find(library, "nvrtcGetCUBINSize", &calls.cubin_size) && find(library, "nvrtcGetCUBIN", &calls.cubin) &&
         find(library, "nvrtcGetProgramLogSize", &calls.log_size) && find(library, "nvrtcGetProgramLog", &calls.log);
}

static void load_once(void)
{
  static const char *const usual[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                      "/usr/local/cuda/lib64/libnvrtc.so"};
  const char *named = getenv("TMARING_NVRTC");
  const size_t count = named ? 1 : sizeof usual / sizeof *usual;
  for (size_t i = 0; i < count && !loaded; ++i) {
    const char *name = named ? named : usual[i];
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    loaded = find_all(library) && calls.version(&version_major, &version_minor) == 0 && version_major >= 12;
    if (!loaded) dlclose(library);
    file_name = name;
  }
}

tmaring_status tmaring__nvrtc_version(int *major, int *minor, const char **file)
{
  pthread_once(&once, load_once);
  if (!loaded)
    return tmaring__fail(
        TMARING_ERROR_NO_COMPILER,
        "libnvrtc: not found or older than 12.0; needs NVRTC 12 or 13 for a formula that is not built in; "
        "install it or name it in TMARING_NVRTC");
  *major = version_major;
  *minor = version_minor;
  *file = file_name;
  return TMARING_OK;
}

int tmaring__nvrtc_present(void)
{
  pthread_once(&once, load_once);
  return loaded ? version_major * 100 + version_minor : 0;
}

/* ---- a source that does not compile: a fault of the library's, shown as such ---- */

/* The lines of the compiler's log that say "error", or else its head, in one line. */
static void first_errors(const char *log, char *text, size_t size)
{
  const char *line = strstr(log, "error") ? log : "";
  size_t used = 0;
  snprintf(text, size, "%.*s", (int)strcspn(log, "\n"), log);
  while (*line && used + 1 < size) {
    const size_t length = strcspn(line, "\n");
    const char *error = strstr(line, "error");
    if (error && error < line + length) {
      snprintf(text + used, size - used, "%s%.*s", used ? " | " : "", (int)length, line);
      used = strlen(text);
    }
    line += length + (line[length] == '\n');
  }
}

/* Writes the source into the folder that TMARING_KEEP_SOURCE names, as a file named after its hash: 1, and its path. */
static int keep_source(const char *source, char *path, size_t size)
{
  const char *folder = getenv("TMARING_KEEP_SOURCE");
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  for (const char *p = source; *p; ++p) hash = (hash ^ (unsigned char)*p) * 1099511628211u;
  if (!folder || !*folder) return 0;
  const int count = snprintf(path, size, "%s/tmaring_%016llx.cu", folder, (unsigned long long)hash);
  FILE *file = count > 0 && (size_t)count < size ? fopen(path, "w") : NULL;
  if (!file) return 0;
  const int written = fputs(source, file) >= 0;
  return fclose(file) == 0 && written;
}

static tmaring_status fail_compile(nvrtc_program program, const char *source, int result)
{
  size_t bytes = 0;
  char *log = NULL, errors[480], path[300];
  if (calls.log_size(program, &bytes) == 0 && bytes > 1 && (log = malloc(bytes))) calls.log(program, log);
  first_errors(log ? log : "no log", errors, sizeof errors);
  free(log);
  if (keep_source(source, path, sizeof path)) {
    return tmaring__fail(TMARING_ERROR_COMPILE,
                         "kernel: NVRTC %d.%d refused generated code, which is a fault of the library (code %d): %s; "
                         "please report it with the source, kept in %s",
                         version_major, version_minor, result, errors, path);
  }
  return tmaring__fail(TMARING_ERROR_COMPILE,
                       "kernel: NVRTC %d.%d refused generated code, which is a fault of the library (code %d): %s; "
                       "please report it with the source: set TMARING_KEEP_SOURCE to a folder to have it kept there",
                       version_major, version_minor, result, errors);
}

static tmaring_status take_cubin(nvrtc_program program, void **cubin, size_t *cubin_bytes)
{
  if (calls.cubin_size(program, cubin_bytes) != 0 || *cubin_bytes == 0)
    return tmaring__fail(TMARING_ERROR_COMPILE, "NVRTC gave no cubin for sm_90a; needs NVRTC 12.0 or newer");
  *cubin = malloc(*cubin_bytes);
  if (!*cubin) return tmaring__fail(TMARING_ERROR_MEMORY, "cubin: could not allocate %zu bytes", *cubin_bytes);
  if (calls.cubin(program, *cubin) != 0) {
    free(*cubin);
    *cubin = NULL;
    return tmaring__fail(TMARING_ERROR_COMPILE, "NVRTC did not hand over the cubin");
  }
  return TMARING_OK;
}

/* NVRTC finds a header by the very words of the include: its full name, its file name (from its own folder), or
 * "../abi/…" (from device/). Each source is served under all three. */
#define MAX_SOURCES 32

static int create(nvrtc_program *program, const char *source)
{
  const char *texts[3 * MAX_SOURCES], *names[3 * MAX_SOURCES];
  char above[MAX_SOURCES][64];
  int count = 0;
  if (tmaring__source_count > MAX_SOURCES) return -1;
  for (size_t i = 0; i < tmaring__source_count; ++i) {
    const char *file = strrchr(tmaring__sources[i].name, '/') + 1;
    snprintf(above[i], sizeof above[i], "../abi/%s", file);
    const char *const served[] = {tmaring__sources[i].name, file, above[i]};
    for (int k = 0; k < 3; ++k, ++count) {
      names[count] = served[k];
      texts[count] = tmaring__sources[i].text;
    }
  }
  return calls.create(program, source, "tmaring_formula.cu", count, texts, names);
}

const char *const tmaring__nvrtc_option[TMARING__NVRTC_OPTIONS] = {"--gpu-architecture=sm_90a", "--std=c++17",
                                                                   "--modify-stack-limit=false"};

tmaring_status tmaring__nvrtc_compile(const char *source, int debug, void **cubin, size_t *cubin_bytes)
{
  int major = 0, minor = 0;
  const char *file = NULL;
  TMARING__TRY(tmaring__nvrtc_version(&major, &minor, &file));
  const char *options[TMARING__NVRTC_OPTIONS + 1];
  memcpy(options, tmaring__nvrtc_option, sizeof tmaring__nvrtc_option);
  options[TMARING__NVRTC_OPTIONS] = "--generate-line-info";
  nvrtc_program program;
  if (create(&program, source) != 0)
    return tmaring__fail(TMARING_ERROR_COMPILE, "NVRTC %d.%d did not accept a program", major, minor);
  const int result = calls.compile(program, TMARING__NVRTC_OPTIONS + (debug != 0), options);
  const tmaring_status status =
      result == 0 ? take_cubin(program, cubin, cubin_bytes) : fail_compile(program, source, result);
  calls.destroy(&program);
  return status;
}

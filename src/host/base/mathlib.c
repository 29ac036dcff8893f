#define _GNU_SOURCE
#include "mathlib.h"

#include <dlfcn.h>
#include <pthread.h>

tmaring__mathlib tmaring__math;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int loaded;

static void load_once(void)
{
  void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  loaded = 1;
#define LOAD(name, type)                                                                                               \
  *(void **)(&tmaring__math.name) = dlsym(library, #name);                                                             \
  loaded = loaded && tmaring__math.name;
  TMARING__MATHLIB_LIST(LOAD)
#undef LOAD
}

tmaring_status tmaring__mathlib_load(void)
{
  pthread_once(&once, load_once);
  if (loaded) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_INTERNAL, "libm.so.6: not found or incomplete, needs the C library's mathematics; "
                                               "install it or use the cuda backend");
}

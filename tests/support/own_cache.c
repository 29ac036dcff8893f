/* Test programs leave nothing in the user's cache of compiled kernels, nor take anything from it, unless told where. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

__attribute__((constructor)) static void keep_out_of_home(void)
{
  setenv("TMARING_CACHE_DIR", "", 0);
}

/* NVRTC, found at run time. */
#ifndef TMARING_HOST_NVRTC_H
#define TMARING_HOST_NVRTC_H

#include <stddef.h>

#include "../base/detail.h"

/* Version of the NVRTC library that is found, and its file name; ERROR_NO_COMPILER without one. TMARING_NVRTC in the
 * environment names a library to use instead of the usual names. Loaded once; any thread. */
tmaring_status tmaring__nvrtc_version(int *major, int *minor, const char **file);

/* Its version as major * 100 + minor; 0 without one. As above, but says nothing. */
int tmaring__nvrtc_present(void);

/* What every kernel is compiled with, beside --generate-line-info for debug kernels. */
#define TMARING__NVRTC_OPTIONS 3
extern const char *const tmaring__nvrtc_option[TMARING__NVRTC_OPTIONS];

/* Compiles a translation unit for sm_90a; its includes are served from the embedded sources. *cubin is the caller's
 * (free). ERROR_NO_COMPILER, MEMORY, or ERROR_COMPILE with the compiler's error lines: the detail names the file that
 * keeps the source, in the folder that TMARING_KEEP_SOURCE names, or how to get it. Any thread. */
tmaring_status tmaring__nvrtc_compile(const char *source, int debug, void **cubin, size_t *cubin_bytes);

#endif

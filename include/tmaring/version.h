/* Version of the library and export marker of its calls. */
#ifndef TMARING_VERSION_H
#define TMARING_VERSION_H

#define TMARING_VERSION_MAJOR  0
#define TMARING_VERSION_MINOR  1
#define TMARING_VERSION_PATCH  0
#define TMARING_VERSION_STRING "0.1.0"

#if defined(TMARING_BUILD_SHARED)
#define TMARING_API __attribute__((visibility("default")))
#else
#define TMARING_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library that is running: major * 10000 + minor * 100 + patch. Compare with the macros to find a header
 * that belongs to another library. Any thread; never fails. */
TMARING_API int tmaring_version(void);

#ifdef __cplusplus
}
#endif

#endif

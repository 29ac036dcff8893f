/* The cache of compiled kernels on disk. */
#ifndef TMARING_HOST_CODE_CACHE_H
#define TMARING_HOST_CODE_CACHE_H

#include <stddef.h>
#include <stdint.h>

/* Reads the entry of a key whose source is equal to `source`: 1 and *cubin (the caller's, free), or 0. An unreadable or
 * foreign file is as good as none. */
int tmaring__cache_read(const uint64_t key[2], const char *source, void **cubin, size_t *bytes);

/* Writes an entry, through a temporary file and a rename. A failure to write is not an error: the next caller compiles
 * again. */
void tmaring__cache_write(const uint64_t key[2], const char *source, const void *cubin, size_t bytes);

#endif

/* The cache of compiled kernels on disk, one file each, kept from process to process.
 *
 * It lies in TMARING_CACHE_DIR, else in XDG_CACHE_HOME/tmaring, else in HOME/.cache/tmaring. TMARING_CACHE=off turns it
 * off, and so does an empty TMARING_CACHE_DIR. What is missing of the folder is created for its owner alone, by the
 * first entry written; a folder of another user is taken where TMARING_CACHE_DIR names it, and only there. A program
 * that runs with another user's rights has no cache. */
#ifndef TMARING_HOST_CODE_CACHE_H
#define TMARING_HOST_CODE_CACHE_H

#include <stddef.h>
#include <stdint.h>

typedef struct tmaring__cache_entry {
  void *cubin; /* the caller's: free */
  size_t bytes;
  int32_t compiler; /* tmaring__nvrtc_present of the process that wrote it */
} tmaring__cache_entry;

/* Reads the entry of a key whose source is equal to `source`: 1, or 0. An unreadable, damaged or foreign file is as good
 * as none. Any thread. */
int tmaring__cache_read(const uint64_t key[2], const char *source, tmaring__cache_entry *entry);

/* Writes an entry, through a temporary file and a rename: other processes see all of it or nothing. A failure to write
 * is not an error: the next caller compiles again. Any thread. */
void tmaring__cache_write(const uint64_t key[2], const char *source, const tmaring__cache_entry *entry);

#endif

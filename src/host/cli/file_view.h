/* A file as memory: mapped read-only, so that a large model costs what is read of it. */
#ifndef TMARING_HOST_FILE_VIEW_H
#define TMARING_HOST_FILE_VIEW_H

#include <stddef.h>

#include "../base/detail.h"

typedef struct tmaring__file_view {
  const unsigned char *data; /* never written; of a mapped file from a page's start */
  size_t bytes;
  int mapped, owned; /* a mapping, or memory of its own, which a pipe is read into */
} tmaring__file_view;

/* Opens a regular file by mapping it, a pipe by reading it to its end. Of a pipe that does not begin with the
 * `start_bytes` bytes at `start` only these are read. Devices and folders are refused. ERROR_IO and ERROR_MEMORY; the
 * detail begins with the path. tmaring__file_view_close gives it back; nothing is left to close on failure. */
tmaring_status tmaring__file_view_open(tmaring__file_view *view, const char *path, const char *start,
                                       size_t start_bytes);
void tmaring__file_view_close(tmaring__file_view *view);

/* A mapped file that someone cuts short while it is read stops the process: from now on with a message and the exit
 * code for files. */
void tmaring__file_view_guard(void);

/* Puts a path in front of the thread's last detail; returns the status. */
tmaring_status tmaring__at_path(tmaring_status status, const char *path);
/* ERROR_IO with errno's text: a file that cannot be "read" or "written". */
tmaring_status tmaring__cannot(const char *path, const char *verb);

#endif

#define _POSIX_C_SOURCE 200809L
#include "file_view.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

#define FIRST_BYTES 65536

tmaring_status tmaring__at_path(tmaring_status status, const char *path)
{
  char detail[1024];
  snprintf(detail, sizeof detail, "%s", tmaring_last_detail());
  return tmaring__fail(status, "%s: %s", path, detail);
}

tmaring_status tmaring__cannot(const char *path, const char *verb)
{
  const char *const reason = strerror(errno);
  return tmaring__fail(TMARING_ERROR_IO,
                       "%s: got '%s', needs a file that can be %s; check the path and its permissions", path, reason,
                       verb);
}

static tmaring_status map(tmaring__file_view *view, int file, size_t bytes, const char *path)
{
  view->data = (const unsigned char *)""; /* an empty file has no mapping */
  if (bytes == 0) return TMARING_OK;
  void *const data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED) return tmaring__cannot(path, "mapped");
  view->data = data;
  view->bytes = bytes;
  view->mapped = 1;
  return TMARING_OK;
}

/* Makes room for more; the view's data are its own. */
static tmaring_status grow(tmaring__file_view *view, size_t *capacity)
{
  const size_t larger = *capacity ? *capacity * 2 : FIRST_BYTES;
  void *const data = realloc((void *)view->data, larger);
  if (!data) return tmaring__fail(TMARING_ERROR_MEMORY, "pipe: got no memory, needs %zu bytes; pass a file", larger);
  view->data = data;
  view->owned = 1;
  *capacity = larger;
  return TMARING_OK;
}

/* 1 where what was read so far may be the start that is wanted. */
static int may_start(const tmaring__file_view *view, const char *start, size_t start_bytes)
{
  const size_t count = view->bytes < start_bytes ? view->bytes : start_bytes;
  return count == 0 || memcmp(view->data, start, count) == 0;
}

static tmaring_status drain(tmaring__file_view *view, int file, const char *path, const char *start, size_t start_bytes)
{
  size_t capacity = 0;
  ssize_t got = 1;
  tmaring_status status = TMARING_OK;
  while (status == TMARING_OK && got > 0 && may_start(view, start, start_bytes)) {
    if (view->bytes == capacity) status = grow(view, &capacity);
    if (status != TMARING_OK) break;
    got = read(file, (unsigned char *)view->data + view->bytes, capacity - view->bytes);
    if (got < 0 && errno == EINTR)
      got = 1;
    else if (got < 0)
      status = tmaring__cannot(path, "read");
    else
      view->bytes += (size_t)got;
  }
  return status;
}

static tmaring_status take(tmaring__file_view *view, int file, const char *path, const char *start, size_t start_bytes)
{
  struct stat info;
  if (fstat(file, &info) != 0) return tmaring__cannot(path, "read");
  if (S_ISREG(info.st_mode)) return map(view, file, (size_t)info.st_size, path);
  if (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)) return drain(view, file, path, start, start_bytes);
  return tmaring__fail(TMARING_ERROR_IO, "%s: got a %s, needs a file or a pipe; check the path", path,
                       S_ISDIR(info.st_mode) ? "folder" : "device");
}

tmaring_status tmaring__file_view_open(tmaring__file_view *view, const char *path, const char *start,
                                       size_t start_bytes)
{
  memset(view, 0, sizeof *view);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return tmaring__cannot(path, "read");
  const tmaring_status status = take(view, file, path, start, start_bytes);
  close(file);
  if (status != TMARING_OK) tmaring__file_view_close(view);
  return status;
}

void tmaring__file_view_close(tmaring__file_view *view)
{
  if (view->mapped)
    munmap((void *)view->data, view->bytes);
  else if (view->owned)
    free((void *)view->data);
  memset(view, 0, sizeof *view);
}

static void stop(int number)
{
  static const char text[] = "tmaring: a file was cut short while it was read; write it again, then run again\n";
  (void)number;
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(TMARING__EXIT_INTERNAL);
  _exit(TMARING__EXIT_FILE);
}

void tmaring__file_view_guard(void)
{
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = stop;
  sigaction(SIGBUS, &action, NULL);
}

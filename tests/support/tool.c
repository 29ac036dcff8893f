#define _GNU_SOURCE
#include "tool.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_ARGUMENTS 40

extern char **environ;

static const char *program(void)
{
  const char *const named = getenv("TMARING_CLI");
  return named ? named : "./tmaring";
}

const char *tool_path(int slot, const char *name)
{
  static char path[4][256];
  const char *const folder = getenv("TMPDIR");
  snprintf(path[slot], sizeof path[slot], "%s/tmaring_test_%ld_%s", folder ? folder : "/tmp", (long)getpid(), name);
  return path[slot];
}

/* Whole contents of a file, which is then removed. */
static char *take_file(const char *path)
{
  FILE *const file = fopen(path, "rb");
  char *text = calloc(1, 1);
  size_t length = 0;
  char part[4096];
  for (size_t got; file && (got = fread(part, 1, sizeof part, file)) > 0; length += got) {
    text = realloc(text, length + got + 1);
    memcpy(text + length, part, got);
    text[length + got] = 0;
  }
  if (file) fclose(file);
  unlink(path);
  return text;
}

/* The child replaces this process's image at once, so the test framework never runs in it. */
static int spawn(char **arguments, const char *out, const char *error)
{
  posix_spawn_file_actions_t actions;
  const int flags = O_WRONLY | O_CREAT | O_TRUNC;
  pid_t child;
  int state = 0;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out, flags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error, flags, 0600);
  const int failed = posix_spawn(&child, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed || waitpid(child, &state, 0) != child) return -1;
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

tool_result tool_run(const char *first, ...)
{
  char *arguments[MOST_ARGUMENTS + 2] = {(char *)program()};
  char out[256], error[256];
  va_list rest;
  va_start(rest, first);
  int count = 1;
  for (const char *a = first; a && count <= MOST_ARGUMENTS; a = va_arg(rest, const char *))
    arguments[count++] = (char *)a;
  va_end(rest);
  snprintf(out, sizeof out, "%s", tool_path(0, "out"));
  snprintf(error, sizeof error, "%s", tool_path(0, "error"));
  tool_result result = {spawn(arguments, out, error), NULL, NULL};
  result.out = take_file(out);
  result.error = take_file(error);
  return result;
}

void tool_result_free(tool_result *result)
{
  free(result->out);
  free(result->error);
}

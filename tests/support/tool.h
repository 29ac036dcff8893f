/* The command-line tool as a script sees it: arguments in; exit code, standard output and standard error out. */
#ifndef TMARING_TESTS_TOOL_H
#define TMARING_TESTS_TOOL_H

#include <stddef.h>

typedef struct tool_result {
  int code;    /* exit code; -1 where the tool did not start or did not exit by itself */
  char *out;   /* standard output, zero-terminated */
  char *error; /* standard error */
} tool_result;

/* Runs the tool ($TMARING_CLI, else ./tmaring) with up to 40 arguments, the last one NULL. */
tool_result tool_run(const char *first, ...);
void tool_result_free(tool_result *result);

/* A path in the temporary folder, of this process and this name. Static storage, one per slot 0 .. 3; tool_run uses
 * slot 0. */
const char *tool_path(int slot, const char *name);

#endif

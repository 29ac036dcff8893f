/* Which command, and its request. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "help.h"

typedef struct command {
  const char *name;
  unsigned bit;
  int (*call)(const tmaring__request *request);
} command;

static const command commands[] = {
    {"run", TMARING__FOR_RUN, tmaring__run_command},       {"plan", TMARING__FOR_PLAN, tmaring__plan_command},
    {"check", TMARING__FOR_CHECK, tmaring__check_command}, {"bench", TMARING__FOR_BENCH, tmaring__bench_command},
    {"emit", TMARING__FOR_EMIT, tmaring__emit_command},    {"ops", TMARING__FOR_OPS, tmaring__ops_command},
    {"info", TMARING__FOR_INFO, tmaring__info_command},
};

static const command *find(const char *name)
{
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i)
    if (strcmp(commands[i].name, name) == 0) return &commands[i];
  return NULL;
}

static int refuse(const char *name)
{
  return tmaring__misuse(NULL, "got '%s', needs a command: run, plan, check, bench, emit, ops, info or help", name);
}

static int help(int argc, char **argv)
{
  const command *const found = argc > 2 ? find(argv[2]) : NULL;
  if (argc > 2 && !found) return refuse(argv[2]);
  if (found)
    tmaring__help_print_command(found->bit);
  else
    tmaring__help_print();
  return 0;
}

static int call(const command *c, int argc, char **argv)
{
  tmaring__request request;
  int code = tmaring__request_parse(&request, c->name, c->bit, argc, argv);
  if (!code && request.help)
    tmaring__help_print_command(c->bit);
  else if (!code)
    code = c->call(&request);
  tmaring__request_free(&request);
  return code;
}

static int dispatch(int argc, char **argv)
{
  if (argc < 2) return tmaring__misuse(NULL, "got no command, needs run, plan, check, bench, emit, ops, info or help");
  if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
    return help(argc, argv);
  if (strcmp(argv[1], "--version") == 0) {
    printf("tmaring %s\n", TMARING_VERSION_STRING);
    return 0;
  }
  const command *const c = find(argv[1]);
  return c ? call(c, argc - 1, argv + 1) : refuse(argv[1]);
}

int tmaring__cli(int argc, char **argv)
{
  const int code = dispatch(argc, argv);
  /* A full disk or a closed pipe is seen at the latest here. */
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  if (code) return code;
  return tmaring__complain(
      tmaring__fail(TMARING_ERROR_IO, "got a failing write, needs an open standard output; check the disk"), NULL);
}

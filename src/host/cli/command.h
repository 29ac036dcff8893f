/* The commands. Each returns the tool's exit code. */
#ifndef TMARING_HOST_COMMAND_H
#define TMARING_HOST_COMMAND_H

#include "request.h"

int tmaring__run_command(const tmaring__request *request);
int tmaring__plan_command(const tmaring__request *request);
int tmaring__check_command(const tmaring__request *request);
int tmaring__bench_command(const tmaring__request *request);
int tmaring__emit_command(const tmaring__request *request);
int tmaring__ops_command(const tmaring__request *request);
int tmaring__info_command(const tmaring__request *request);

/* The whole tool: argv as main has it. */
int tmaring__cli(int argc, char **argv);

#endif

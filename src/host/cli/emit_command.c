/* tmaring emit: the CUDA C that a plan is compiled from. */
#include "../jit/code_store.h"

#include <stdio.h>

#include "command.h"
#include "job.h"

static int print_source(const tmaring__job *job)
{
  tmaring__text source = {NULL, 0, 0, 0};
  const tmaring_status status = tmaring__plan_listing(job->plan, &source);
  if (status != TMARING_OK) return tmaring__complain(status, "emit");
  fwrite(source.data, 1, source.length, stdout);
  tmaring__text_free(&source);
  return 0;
}

int tmaring__emit_command(const tmaring__request *request)
{
  tmaring__job job;
  int code = tmaring__job_make_plan(&job, request);
  if (!code) code = print_source(&job);
  tmaring__job_end(&job);
  return code;
}

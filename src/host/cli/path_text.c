#include "path_text.h"

#include <stdio.h>
#include <string.h>

#include "words.h"

const char *tmaring__mode_text(const tmaring_cta *cta)
{
  static const char *const specialized[3] = {"ws-x", "ws-y", "ws-z"};
  return cta->mode == TMARING_MODE_PIPELINED ? "pipelined" : specialized[cta->role_axis];
}

void tmaring__path_text(const tmaring_plan *plan, int64_t rows, char *out, size_t capacity)
{
  tmaring_args args;
  tmaring_plan_info info;
  memset(&info, 0, sizeof info);
  info.size = sizeof info;
  out[0] = 0;
  if (tmaring_plan_args(plan, rows, &args) != TMARING_OK || tmaring_plan_describe(plan, &info) != TMARING_OK) return;
  snprintf(out, capacity, "%s, %u stages, scope %s, %s loads, %s stores%s", tmaring__mode_text(&args.cta), args.stages,
           tmaring__word_text(tmaring__words_scope, args.scope.kind), info.aligned ? "aligned" : "window",
           tmaring__word_text(tmaring__words_store, info.store), info.in_place ? " in place" : "");
}
